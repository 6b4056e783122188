//! The root of an increasing function of one number, of which value and slope can be had.

/// Where `at`, which gives a value and a slope, is zero up to `enough`: Newton's steps, halved into the interval that is known to hold the root. An end that is not known
/// is infinite, and looked for in steps that double from `unit` on. None where it is not found.
pub(super) fn root(
    mut at: impl FnMut(f64) -> (f64, f64),
    start: f64,
    (mut low, mut high): (f64, f64),
    unit: f64,
    enough: f64,
) -> Option<f64> {
    let (mut x, mut stride) = (start, unit);
    for round in 1..=240 {
        let (value, slope) = at(x);
        if value.abs() <= enough {
            return Some(x);
        }
        if value > 0.0 {
            high = x
        } else {
            low = x
        }
        let newton = x - value / slope;
        let next = match (low.is_finite(), high.is_finite()) {
            // Every third step halves what is left, whatever the function is like.
            (true, true) if newton > low && newton < high && round % 3 != 0 => newton,
            (true, true) => 0.5 * (low + high),
            // One end is open: no further than twice as far as before.
            _ => {
                stride *= 2.0;
                let limit = if value > 0.0 { x - stride } else { x + stride };
                let is_near = newton.is_finite() && (newton - x).abs() <= stride;
                if is_near { newton } else { limit }
            }
        };
        if next.to_bits() == x.to_bits() || !next.is_finite() || !value.is_finite() {
            break;
        }
        x = next;
    }
    (low.is_finite() && high.is_finite()).then_some(x)
}

#[cfg(test)]
mod tests {
    use super::root;
    use bochner_testkit::{Absolute, assert_close};

    #[test]
    fn roots_are_found_from_afar() {
        let open = (f64::NEG_INFINITY, f64::INFINITY);
        let find = |f: &dyn Fn(f64) -> (f64, f64), start| root(f, start, open, 1.0, 1e-13).unwrap();
        assert_close(&[find(&|x| (x * x * x - 8.0, 3.0 * x * x), -50.0)], &[2.0], Absolute(1e-12));
        // Flat nearly everywhere.
        let step = |x: f64| ((x - 700.0).tanh(), 1.0 / (x - 700.0).cosh().powi(2));
        assert_close(&[find(&step, 0.0)], &[700.0], Absolute(1e-12));
        let kink = |x: f64| if x < 3.0 { (0.001 * (x - 3.0), 0.001) } else { (1e6 * (x - 3.0), 1e6) };
        assert_close(&[find(&kink, 1e5)], &[3.0], Absolute(1e-9));
        assert!(root(|_| (1.0, 0.0), 0.0, open, 1.0, 0.0).is_none());
    }
}
