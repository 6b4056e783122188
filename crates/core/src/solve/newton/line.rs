//! How far to go along a step, when F and F′ were looked at in a few places at once.
//!
//! ```text
//! φ(t) = F(w + tp), convex, φ′(0) < 0        a the last place with φ′ < 0, b the next:  a ≤ t* ≤ b
//! φ((1 − r)a + rb) ≤ (1 − r)·φ(a) + r·φ(b)   so that a place between is safe where that is below φ(0)
//! ```
//! A pass over rows costs the same for one place and for eight. Between a and b the root of the chord of φ′ is taken, which is t* up to second order where the step is nearly the best one; a itself where that is not safe,
//! which gains the part a/t* of all that there is to gain, half of it or more where places double.

/// F and F′ at a length of a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    pub(crate) length: f64,
    pub(crate) value: f64,
    pub(crate) slope: f64,
}

/// Where to look: Newton's own step, and around it.
pub(crate) const LENGTHS: [f64; 8] = [1.0 / 32.0, 0.125, 0.25, 0.5, 1.0, 1.5, 3.0, 6.0];

/// The length to go, of points that begin with 0 and grow; none where they do not show any that is safe.
pub(crate) fn best_length(points: &[Point]) -> Option<f64> {
    let first = points.first()?;
    let falls = |point: &Point| point.slope < 0.0 && point.value <= first.value;
    let before = points.iter().take_while(|point| falls(point)).last()?;
    let at = points.iter().take_while(|point| falls(point)).count();
    let safe = (before.length > 0.0).then_some(before.length);
    let Some(after) = points.get(at).filter(|after| after.value.is_finite() && after.slope >= 0.0) else {
        return safe;
    };
    let part = before.slope / (before.slope - after.slope);
    let chord = before.value + part * (after.value - before.value);
    // As safe as the place before, or nearly: half of what that gains.
    if chord < first.value && chord <= 0.5 * (first.value + before.value) {
        return Some(before.length + part * (after.length - before.length));
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(at: impl Fn(f64) -> (f64, f64), unit: f64) -> Option<f64> {
        let point = |t: f64| {
            let (value, slope) = at(t * unit);
            Point { length: t * unit, value, slope }
        };
        let points: Vec<Point> = std::iter::once(0.0).chain(LENGTHS).map(point).collect();
        best_length(&points)
    }

    #[test]
    fn a_parabola_is_met_at_its_lowest() {
        for lowest in [0.04, 0.3, 0.999, 1.0, 1.001, 2.0, 5.0] {
            let found = search(|t| ((t - lowest) * (t - lowest), 2.0 * (t - lowest)), 1.0).unwrap();
            assert!((found - lowest).abs() < 1e-12, "{found} not {lowest}");
        }
        // Beyond all places the last; before all of them, what is safe, or none.
        assert!((search(|t| ((t - 60.0).powi(2), 2.0 * (t - 60.0)), 1.0).unwrap() - 6.0).abs() < 1e-12);
        assert!(search(|t| ((t - 1e-4).abs(), if t < 1e-4 { -1.0 } else { 1.0 }), 1.0).is_none());
        assert!(search(|t| ((t - 1e-4).abs(), if t < 1e-4 { -1.0 } else { 1.0 }), 1e-4).is_some());
    }

    /// Whatever convex function it is: lower than at first, by an eighth of what there is to gain within reach.
    #[test]
    fn every_length_gains() {
        for k in 0..200 {
            let (a, b, lowest) = (
                10f64.powf(f64::from(k % 7) - 3.0),
                10f64.powf(f64::from(k / 7 % 7) - 3.0),
                0.05 * f64::from(k + 1),
            );
            // A corner between two slopes, with a bend; and one that ends in infinity.
            let at = |t: f64| {
                let r = t - lowest;
                let slope = if r < 0.0 { -a } else { b } + 0.1 * r;
                let wall = if t > 2.5 * lowest { f64::INFINITY } else { 0.0 };
                (if r < 0.0 { -a * r } else { b * r } + 0.05 * r * r + wall, slope)
            };
            if at(0.0).1 < 0.0 {
                let found = search(at, 1.0).unwrap();
                let (start, end, least) = (at(0.0).0, at(found).0, at(lowest).0);
                let reach = (6.0 / lowest).min(1.0);
                assert!(start - end >= 0.125 * reach * (start - least), "{k}: {found} for {lowest}");
            }
        }
    }
}
