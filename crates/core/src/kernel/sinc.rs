//! Kernels of bounded spectrum: the sinc, as a product over columns and of the distance.
//!
//! ```text
//! sinc          k(x, y) = ∏ⱼ sin(uⱼ)/uⱼ,   u = (x − y)/s        ω uniform on the cube [−1/s, 1/s]ᵈ
//! radial_sinc   k(x, y) = sin(r)/r,        r = ‖x − y‖/s        ω = the first d coordinates of a uniform point on the sphere S², over s
//! ```
//! The product is positive semidefinite for any number of columns; the radial one only up to three: a uniform point on a sphere of S² projects to one, two or three
//! dimensions, and Schoenberg's theorem says that it is the last function of its kind. `gamma` = 1/s is the other spelling of the scale.

/// sin(u)/u.
fn sinc(u: f64) -> f64 {
    // The next term, u⁴/120, is below half a unit in the last place.
    if u.abs() < 1e-4 { 1.0 - u * u / 6.0 } else { libm::sin(u) / u }
}

/// Its derivative over u: (u·cos u − sin u)/u³.
fn sinc_slope(u: f64) -> f64 {
    let v = u * u;
    // Near 0 the difference loses its digits; the next term, u¹²/93405312000, is below half a unit in the last place.
    if u.abs() < 0.2 {
        let last = 1.0 / 45_360.0 - v * (1.0 / 3_991_680.0 - v / 518_918_400.0);
        return -1.0 / 3.0 + v * (1.0 / 30.0 - v * (1.0 / 840.0 - v * last));
    }
    (u * libm::cos(u) - libm::sin(u)) / (u * v)
}

/// The factor of one column.
pub(super) fn factor(x: f64, y: f64, scale: f64) -> f64 {
    sinc((x - y) / scale)
}

/// Its derivative in x.
pub(super) fn slope(x: f64, y: f64, scale: f64) -> f64 {
    let u = (x - y) / scale;
    sinc_slope(u) * u / scale
}

/// Of q = Σ ((xⱼ − yⱼ)/sⱼ)².
pub(super) fn profile(q: f64, _: f64) -> f64 {
    sinc(q.sqrt())
}

/// Its derivative in q.
pub(super) fn profile_slope(q: f64, _: f64) -> f64 {
    0.5 * sinc_slope(q.sqrt())
}

/// The most columns for which the radial one is positive semidefinite.
pub(super) const MOST_COLUMNS: usize = 3;
