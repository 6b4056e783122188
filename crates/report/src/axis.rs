//! An axis as the caller describes it, and the numbers it spans.

/// How numbers are spread along an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences take equal room.
    #[default]
    Linear,
    /// Equal ratios take equal room. Numbers that are not positive are left out.
    Log,
}

/// An axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// What is measured.
    pub label: String,
    /// In what unit; empty for none.
    pub unit: String,
    /// Linear or logarithmic.
    pub scale: Scale,
    /// The first and the last number; from the data if none.
    pub range: Option<(f64, f64)>,
    /// Where ticks stand and what they say; chosen if empty.
    pub ticks: Vec<(f64, String)>,
    /// Draws neither line nor ticks nor label.
    pub hidden: bool,
}

impl Axis {
    /// A linear axis over the range of the data.
    pub fn linear(label: impl Into<String>, unit: impl Into<String>) -> Self {
        Axis { label: label.into(), unit: unit.into(), ..Axis::default() }
    }

    /// A logarithmic axis over the range of the data.
    pub fn log(label: impl Into<String>, unit: impl Into<String>) -> Self {
        Axis { scale: Scale::Log, ..Axis::linear(label, unit) }
    }

    /// A range without anything drawn.
    pub fn hidden(first: f64, last: f64) -> Self {
        Axis { hidden: true, ..Axis::default() }.between(first, last)
    }

    /// The same axis with a range of its own.
    #[must_use]
    pub fn between(self, first: f64, last: f64) -> Self {
        Axis { range: Some((first, last)), ..self }
    }

    /// `label (unit)`
    pub(crate) fn title(&self) -> String {
        match (self.label.as_str(), self.unit.as_str()) {
            (label, "") => label.to_owned(),
            ("", unit) => unit.to_owned(),
            (label, unit) => format!("{label} ({unit})"),
        }
    }
}

/// The span of an axis: finite, not empty, and positive where the scale is logarithmic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Domain {
    pub(crate) scale: Scale,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// Larger numbers are treated as this one, so that differences stay finite.
const HUGE: f64 = 1e250;
/// The room left beside the data, as a part of their span.
const MARGIN: f64 = 0.04;

impl Domain {
    /// The axis's own range where it has a usable one, that of the values with a margin otherwise.
    pub(crate) fn of(axis: &Axis, values: impl IntoIterator<Item = f64>) -> Self {
        let usable = |value: f64| value.is_finite() && (axis.scale == Scale::Linear || value >= 1.0 / HUGE);
        let span = |(low, high): (f64, f64), value: f64| (low.min(value), high.max(value));
        let empty = (f64::INFINITY, f64::NEG_INFINITY);
        let given = axis.range.filter(|&(first, last)| usable(first) && usable(last));
        let (low, high) = match given {
            Some((first, last)) => (first.min(last), first.max(last)),
            None => values.into_iter().filter(|&value| usable(value)).fold(empty, span),
        };
        let (low, high) = (low.clamp(-HUGE, HUGE), high.clamp(-HUGE, HUGE));
        let (low, high, margin) = match (low > high, axis.scale) {
            (true, Scale::Linear) => (0.0, 1.0, 0.0),
            (true, Scale::Log) => (1.0, 10.0, 0.0),
            (false, _) => (low, high, if given.is_some() { 0.0 } else { MARGIN }),
        };
        match axis.scale {
            Scale::Linear => linear(low, high, margin),
            Scale::Log => logarithmic(low, high, margin),
        }
    }

    /// 0 at the low end, 1 at the high end; none if the value has no place on the scale.
    pub(crate) fn fraction(&self, value: f64) -> Option<f64> {
        let fraction = match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log => (value.ln() - self.low.ln()) / (self.high.ln() - self.low.ln()),
        };
        Some(fraction).filter(|fraction| value.is_finite() && fraction.is_finite())
    }

    /// Whether the value lies on the axis, ends included up to rounding.
    pub(crate) fn contains(&self, value: f64) -> bool {
        self.fraction(value).is_some_and(|fraction| (-1e-9..=1.0 + 1e-9).contains(&fraction))
    }
}

fn linear(low: f64, high: f64, margin: f64) -> Domain {
    let size = low.abs().max(high.abs());
    // One value, or values that differ by rounding: a span around them.
    let (low, high) = match high - low > 1e-9 * size.max(1.0 / HUGE) {
        true => (low, high),
        false if size > 1.0 / HUGE => (low - 0.1 * size, high + 0.1 * size),
        false => (-1.0, 1.0),
    };
    let room = margin * (high - low);
    // A margin does not lead below zero what never is.
    let bottom = if low >= 0.0 { (low - room).max(0.0) } else { low - room };
    Domain { scale: Scale::Linear, low: bottom, high: high + room }
}

fn logarithmic(low: f64, high: f64, margin: f64) -> Domain {
    let (low, high) = if high.ln() - low.ln() > 1e-9 { (low, high) } else { (low / 1.5, high * 1.5) };
    let room = (margin * (high.ln() - low.ln())).exp();
    Domain { scale: Scale::Log, low: low / room, high: high * room }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) -> bool {
        (found - expected).abs() <= 1e-12 * expected.abs().max(1.0)
    }

    #[test]
    fn a_linear_scale_is_linear_and_a_log_scale_has_equal_decades() {
        let linear = Domain::of(&Axis::linear("", "").between(-1.0, 3.0), []);
        assert!(
            [(-1.0, 0.0), (0.0, 0.25), (3.0, 1.0)]
                .iter()
                .all(|&(v, f)| close(linear.fraction(v).unwrap(), f))
        );
        let log = Domain::of(&Axis::log("", "").between(1000.0, 1.0), []);
        let thirds = [(1.0, 0.0), (10.0, 1.0 / 3.0), (100.0, 2.0 / 3.0), (1000.0, 1.0)];
        assert!(thirds.iter().all(|&(v, f)| close(log.fraction(v).unwrap(), f)));
    }

    #[test]
    fn values_without_a_place_have_none() {
        let log = Domain::of(&Axis::log("", "").between(1.0, 10.0), []);
        let linear = Domain::of(&Axis::linear("", ""), [0.0, 1.0]);
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!((linear.fraction(value), log.fraction(value)), (None, None));
        }
        assert_eq!((log.fraction(0.0), log.fraction(-1.0)), (None, None));
        assert!(linear.contains(0.5) && !linear.contains(2.0) && !linear.contains(f64::NAN));
    }

    #[test]
    fn every_input_gives_a_usable_span() {
        let bad = [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e308, -1e308, 5e-324, 3.0];
        for axis in [Axis::linear("", ""), Axis::log("", "")] {
            for a in bad {
                for b in bad {
                    for domain in [Domain::of(&axis.clone().between(a, b), [2.0]), Domain::of(&axis, [a, b])]
                    {
                        assert!(
                            domain.low < domain.high && (domain.high - domain.low).is_finite(),
                            "{domain:?}"
                        );
                        assert!(axis.scale == Scale::Linear || domain.low > 0.0);
                    }
                }
            }
        }
    }

    #[test]
    fn counts_start_at_zero() {
        assert!(Domain::of(&Axis::linear("", ""), [0.0, 100.0]).low.abs() < 1e-12);
    }
}
