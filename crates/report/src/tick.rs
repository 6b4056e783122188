//! Where ticks stand and what they say.
//!
//! Linear axes step by 1, 2 or 5 times a power of ten. Logarithmic axes name decades and mark 2 to 9 between them;
//! an axis of less than two decades names 1, 2 and 5, or steps as a linear one.

use crate::axis::{Axis, Domain, Scale};
use crate::number;

/// A tick with a label.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    pub(crate) at: f64,
    pub(crate) label: String,
}

/// The ticks of an axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Ticks {
    pub(crate) major: Vec<Tick>,
    /// Between them, without labels.
    pub(crate) minor: Vec<f64>,
}

/// More labels than this crowd an axis.
const MOST: usize = 7;
/// Plain numbers up to here, powers of ten beyond.
const PLAIN_EXPONENTS: std::ops::RangeInclusive<i32> = -2..=5;

impl Ticks {
    /// The densest ticks whose labels fit.
    pub(crate) fn choose(axis: &Axis, domain: &Domain, fit: impl Fn(&[Tick]) -> bool) -> Self {
        if axis.hidden {
            return Ticks::default();
        }
        if !axis.ticks.is_empty() {
            let inside = axis.ticks.iter().filter(|(at, _)| domain.contains(*at));
            let major = inside.map(|(at, label)| Tick { at: *at, label: label.clone() }).collect();
            return Ticks { major, minor: Vec::new() };
        }
        let mut candidates = match domain.scale {
            Scale::Linear => linear_candidates(domain),
            Scale::Log => log_candidates(domain),
        };
        let chosen = candidates.iter().position(|ticks| fit(&ticks.major));
        chosen.or(candidates.len().checked_sub(1)).map(|i| candidates.swap_remove(i)).unwrap_or_default()
    }
}

fn linear_candidates(domain: &Domain) -> Vec<Ticks> {
    (1..=MOST)
        .rev()
        .map(|most| Ticks { major: linear(domain.low, domain.high, most), minor: Vec::new() })
        .collect()
}

/// At most so many ticks, and one more where both ends fall on one.
fn linear(low: f64, high: f64, most: usize) -> Vec<Tick> {
    let step = nice((high - low) / most as f64);
    let first = (low / step - 1e-6).ceil();
    let last = (high / step + 1e-6).floor();
    let count = (last - first).clamp(-1.0, MOST as f64) as i64;
    let label = labels(step, low.abs().max(high.abs()));
    (0..=count)
        .map(|i| {
            let at = (first + i as f64) * step;
            Tick { at, label: label(at) }
        })
        .collect()
}

/// The smallest of 1, 2, 5 times a power of ten that is not below.
fn nice(step: f64) -> f64 {
    let exponent = step.log10().floor();
    let unit = 10f64.powf(exponent);
    // Divided where the power is negative: 0.3 and not 0.30000000000000004.
    let times = |factor: f64| if exponent < 0.0 { factor / 10f64.powf(-exponent) } else { factor * unit };
    [1.0, 2.0, 5.0].into_iter().map(times).find(|&nice| nice >= step * (1.0 - 1e-9)).unwrap_or(times(10.0))
}

/// One form for all the labels of an axis.
fn labels(step: f64, largest: f64) -> Box<dyn Fn(f64) -> String> {
    let decimals = (-(step.log10() + 1e-9).floor()).max(0.0) as usize;
    if largest >= 1e7 || decimals > 4 {
        let digits = ((largest / step).log10().floor() as i64 + 2).clamp(1, 15) as usize;
        // A multiple of the step that is zero up to rounding is zero.
        Box::new(move |at| number::scientific(if at.abs() < step / 2.0 { 0.0 } else { at }, digits))
    } else {
        Box::new(move |at| number::fixed(at, decimals))
    }
}

fn log_candidates(domain: &Domain) -> Vec<Ticks> {
    let (first, last) = decades(domain);
    let minor = multiples(domain, &[2, 3, 4, 5, 6, 7, 8, 9]);
    if last - first < 1 {
        let major = |factors: &[u8]| multiples(domain, factors).into_iter().map(tick).collect::<Vec<_>>();
        let mut candidates: Vec<Ticks> = [&[1, 2, 5][..], &[1, 3], &[1]]
            .into_iter()
            .map(|factors| Ticks { major: major(factors), minor: minor.clone() })
            .filter(|ticks| ticks.major.len() >= 2)
            .collect();
        candidates.extend(linear_candidates(domain));
        return candidates;
    }
    let plain = PLAIN_EXPONENTS.contains(&first) && PLAIN_EXPONENTS.contains(&last);
    let decades = (1..=last - first)
        .map(|step| {
            let named = |&exponent: &i32| exponent.rem_euclid(step) == 0;
            let major = (first..=last).filter(named).map(|exponent| decade(exponent, plain)).collect();
            // Where decades are left out, they are the small ticks.
            let minor = match step {
                1 if last - first <= 4 => minor.clone(),
                1 => Vec::new(),
                6.. => Vec::new(),
                _ => (first..=last).filter(|exponent| !named(exponent)).map(power).collect(),
            };
            Ticks { major, minor }
        })
        .filter(|ticks| ticks.major.len() <= MOST + 2);
    // Two decades alone say little: name 1, 2 and 5 where there is room.
    let finer =
        Ticks { major: multiples(domain, &[1, 2, 5]).into_iter().map(tick).collect(), minor: minor.clone() };
    let finer = Some(finer).filter(|_| plain && last - first == 1);
    finer.into_iter().chain(decades).collect()
}

/// The exponents of the powers of ten on the axis.
fn decades(domain: &Domain) -> (i32, i32) {
    ((domain.low.log10() - 1e-9).ceil() as i32, (domain.high.log10() + 1e-9).floor() as i32)
}

fn power(exponent: i32) -> f64 {
    10f64.powi(exponent)
}

fn decade(exponent: i32, plain: bool) -> Tick {
    let at = power(exponent);
    let label =
        if plain { number::fixed(at, (-exponent).max(0) as usize) } else { number::power_of_ten(exponent) };
    Tick { at, label }
}

fn tick(at: f64) -> Tick {
    Tick { at, label: number::plain(at) }
}

/// These multiples of every power of ten on the axis.
fn multiples(domain: &Domain, factors: &[u8]) -> Vec<f64> {
    let (first, last) = decades(domain);
    (first - 1..=last)
        .flat_map(|exponent| factors.iter().map(move |&factor| f64::from(factor) * power(exponent)))
        .filter(|&at| domain.contains(at))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(axis: &Axis, most: usize) -> Vec<String> {
        let ticks = Ticks::choose(axis, &Domain::of(axis, []), |ticks| ticks.len() <= most);
        ticks.major.into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn linear_ticks_step_by_one_two_five() {
        let axis = |low, high| Axis::linear("", "").between(low, high);
        assert_eq!(chosen(&axis(0.0, 1.0), 7), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(chosen(&axis(0.0, 1.0), 3), ["0.0", "0.5", "1.0"]);
        assert_eq!(chosen(&axis(-3.2, 41.0), 7), ["0", "10", "20", "30", "40"]);
        assert_eq!(chosen(&axis(-0.3, 0.3), 7), ["−0.3", "−0.2", "−0.1", "0.0", "0.1", "0.2", "0.3"]);
        assert_eq!(chosen(&axis(0.0, 20_000.0), 5), ["0", "5,000", "10,000", "15,000", "20,000"]);
        assert_eq!(chosen(&axis(0.0, 4e9), 5), ["0", "10⁹", "2×10⁹", "3×10⁹", "4×10⁹"]);
        assert_eq!(chosen(&axis(0.0, 3e-7), 4), ["0", "10⁻⁷", "2×10⁻⁷", "3×10⁻⁷"]);
    }

    #[test]
    fn log_ticks_name_decades() {
        let axis = |low, high| Axis::log("", "").between(low, high);
        assert_eq!(chosen(&axis(8.0, 20_000.0), 9), ["10", "100", "1,000", "10,000"]);
        assert_eq!(chosen(&axis(1e-3, 1.0), 9), ["10⁻³", "10⁻²", "10⁻¹", "10⁰"]);
        assert_eq!(chosen(&axis(0.01, 1.0), 9), ["0.01", "0.1", "1"]);
        assert_eq!(chosen(&axis(1e-12, 1.0), 5), ["10⁻¹²", "10⁻⁹", "10⁻⁶", "10⁻³", "10⁰"]);
        assert_eq!(chosen(&axis(3.0, 60.0), 9), ["5", "10", "20", "50"]);
        assert_eq!(chosen(&axis(110.0, 140.0), 9), ["110", "115", "120", "125", "130", "135", "140"]);
    }

    #[test]
    fn small_ticks_stand_between_decades() {
        let axis = Axis::log("", "").between(1.0, 100.0);
        let ticks = Ticks::choose(&axis, &Domain::of(&axis, []), |_| true);
        assert_eq!(ticks.minor.len(), 16);
    }

    #[test]
    fn own_ticks_and_hidden_axes_are_respected() {
        let ticks = vec![(64.0, "2⁶".to_owned()), (f64::NAN, "?".to_owned()), (1e9, "out".to_owned())];
        let axis = Axis { ticks, ..Axis::log("", "").between(10.0, 100.0) };
        assert_eq!(chosen(&axis, 0), ["2⁶"]);
        assert!(chosen(&Axis::hidden(0.0, 1.0), 9).is_empty());
    }

    #[test]
    fn any_range_has_few_ticks_inside_it() {
        let ends = [-1e300, -1e9, -1.0, 0.0, 1e-300, 1e-9, 0.1, 1.0, 1.000_001, 7.3, 1e9, 1e300];
        for axis in [Axis::linear("", ""), Axis::log("", "")] {
            for low in ends {
                for high in ends {
                    let domain = Domain::of(&axis, [low, high]);
                    let ticks = Ticks::choose(&axis, &domain, |_| true);
                    assert!(ticks.major.len() <= 9 && ticks.minor.len() <= 80, "{domain:?} {ticks:?}");
                    assert!(ticks.major.iter().all(|tick| domain.contains(tick.at)), "{domain:?} {ticks:?}");
                }
            }
        }
    }
}
