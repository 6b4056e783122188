//! From a linear separator of lifted rows back to a region of the rows' own space.
//!
//! ```text
//! φ(x) = (x, ‖x‖²)      w·x + a·‖x‖² + b ≥ 0
//!
//! a < 0   ‖x − c‖² ≤ r²      a ball           c = −w/(2a),   r² = ‖c‖² − b/a;   r² < 0: nothing
//! a > 0   ‖x − c‖² ≥ r²      its outside                                        r² ≤ 0: everything
//! a = 0   w·x + b ≥ 0        a half-space;    w = 0 too: everything if b ≥ 0, else nothing
//! ```
//! As w·x + a‖x‖² + b = a·(‖x − c‖² − r²). Spheres whose radius is more than 10¹² times what there is to see are planes: their centres are rounding. So a ball that is positive inside has a negative last weight: it lies below the plane. `docs/book/liftings.md`.

use crate::{Error, Result};

/// The largest radius, as a multiple of the plane's distance from the origin, or of 1: beyond it a sphere is a plane.
const LARGEST: f64 = 1e12;

/// Where a linear function of (x, ‖x‖²) is not negative.
#[derive(Clone, Debug, PartialEq)]
pub enum Region {
    /// ‖x − centre‖ ≤ radius
    Ball {
        /// Its centre.
        centre: Vec<f64>,
        /// Its radius, which may be 0.
        radius: f64,
    },
    /// ‖x − centre‖ ≥ radius
    Outside {
        /// The centre of the ball that is left out.
        centre: Vec<f64>,
        /// Its radius, above 0.
        radius: f64,
    },
    /// normal·x + offset ≥ 0
    HalfSpace {
        /// Not zero.
        normal: Vec<f64>,
        /// b.
        offset: f64,
    },
    /// No point.
    Empty,
    /// All points.
    Everything,
}

impl Region {
    /// Of weights for (x, ‖x‖²), the last for ‖x‖², and an intercept.
    pub fn of_separator(weights: &[f64], intercept: f64) -> Result<Region> {
        let Some((&last, normal)) = weights.split_last() else { return Err(Error::NoColumns) };
        if let Some(&found) = weights.iter().chain([&intercept]).find(|w| !w.is_finite()) {
            let found = found.to_string();
            return Err(Error::Parameter { name: "weights and intercept", expected: "finite", found });
        }
        if last == 0.0 {
            return Ok(match (normal.iter().all(|w| *w == 0.0), intercept >= 0.0) {
                (false, _) => Region::HalfSpace { normal: normal.to_vec(), offset: intercept },
                (true, true) => Region::Everything,
                (true, false) => Region::Empty,
            });
        }
        let centre: Vec<f64> = normal.iter().map(|w| -0.5 * (w / last)).collect();
        let square = centre.iter().map(|c| c * c).sum::<f64>() - intercept / last;
        // How far the plane is from the origin, were the last weight zero.
        let length = normal.iter().map(|w| w * w).sum::<f64>().sqrt();
        let reach = (intercept / length).abs().max(1.0);
        if length > 0.0 && (!square.is_finite() || square.abs().sqrt() > LARGEST * reach) {
            return Ok(Region::HalfSpace { normal: normal.to_vec(), offset: intercept });
        }
        Ok(match (last < 0.0, square) {
            (true, square) if square >= 0.0 => Region::Ball { centre, radius: square.sqrt() },
            (true, _) => Region::Empty,
            (false, square) if square > 0.0 => Region::Outside { centre, radius: square.sqrt() },
            (false, _) => Region::Everything,
        })
    }

    /// Weights for (x, ‖x‖²) and an intercept whose region this is: the way there, for `columns` columns.
    pub fn separator(&self, columns: usize) -> (Vec<f64>, f64) {
        let sphere = |centre: &[f64], radius: f64, last: f64| {
            let weights = centre.iter().map(|c| -2.0 * last * c).chain([last]).collect();
            (weights, last * (centre.iter().map(|c| c * c).sum::<f64>() - radius * radius))
        };
        match self {
            Region::Ball { centre, radius } => sphere(centre, *radius, -1.0),
            Region::Outside { centre, radius } => sphere(centre, *radius, 1.0),
            Region::HalfSpace { normal, offset } => (normal.iter().copied().chain([0.0]).collect(), *offset),
            Region::Empty => (vec![0.0; columns + 1], -1.0),
            Region::Everything => (vec![0.0; columns + 1], 1.0),
        }
    }

    /// Whether a point lies in it.
    pub fn contains(&self, point: &[f64]) -> bool {
        let distance =
            |centre: &[f64]| centre.iter().zip(point).map(|(c, x)| (x - c) * (x - c)).sum::<f64>().sqrt();
        match self {
            Region::Ball { centre, radius } => distance(centre) <= *radius,
            Region::Outside { centre, radius } => distance(centre) >= *radius,
            Region::HalfSpace { normal, offset } => {
                normal.iter().zip(point).map(|(w, x)| w * x).sum::<f64>() + offset >= 0.0
            }
            Region::Empty => false,
            Region::Everything => true,
        }
    }
}
