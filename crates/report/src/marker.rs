//! Shapes that tell series apart without colour, as pieces of an SVG path.

use crate::number::coordinate;
use crate::svg;

/// How many colours there are; a further series starts again with the first.
pub(crate) const COLOURS: usize = 10;

/// `s3`: the class that sets a colour.
pub(crate) fn class(colour: usize) -> String {
    format!("s{}", colour % COLOURS)
}

/// Corners around (0, 0), each shape with about the area of a circle of radius 1.
const SHAPES: [&[(f64, f64)]; 6] = [
    &[(-0.89, -0.89), (0.89, -0.89), (0.89, 0.89), (-0.89, 0.89)],
    &[(0.0, -1.45), (1.25, 0.8), (-1.25, 0.8)],
    &[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)],
    &[(0.0, 1.45), (1.25, -0.8), (-1.25, -0.8)],
    &[
        (-0.42, -1.3),
        (0.42, -1.3),
        (0.42, -0.42),
        (1.3, -0.42),
        (1.3, 0.42),
        (0.42, 0.42),
        (0.42, 1.3),
        (-0.42, 1.3),
        (-0.42, 0.42),
        (-1.3, 0.42),
        (-1.3, -0.42),
        (-0.42, -0.42),
    ],
    &[
        (0.0, -0.59),
        (0.62, -1.22),
        (1.22, -0.62),
        (0.59, 0.0),
        (1.22, 0.62),
        (0.62, 1.22),
        (0.0, 0.59),
        (-0.62, 1.22),
        (-1.22, 0.62),
        (-0.59, 0.0),
        (-1.22, -0.62),
        (-0.62, -1.22),
    ],
];

/// How many shapes there are: a circle, those with corners, and a ring.
const COUNT: usize = SHAPES.len() + 2;
/// The place of the ring, before the last of those with corners.
const RING: usize = COUNT - 2;

/// A closed shape: circle, square, triangle, diamond, triangle, plus, ring, cross, over and over.
pub(crate) fn path(shape: usize, (x, y): (f64, f64), radius: f64) -> String {
    let shape = shape % COUNT;
    match SHAPES.get(shape.min(RING).wrapping_sub(1)) {
        // The inner circle runs the other way, which makes it a hole.
        _ if shape == RING => circle((x, y), 1.15 * radius, 0) + &circle((x, y), 0.55 * radius, 1),
        Some(corners) => polygon(corners, (x, y), radius),
        None => circle((x, y), radius, 0),
    }
}

/// Two half circles, in the sense that SVG calls the sweep.
pub(crate) fn circle((x, y): (f64, f64), radius: f64, sweep: u8) -> String {
    let (r, d) = (coordinate(radius), coordinate(2.0 * radius));
    let start = format!("M{} {}", coordinate(x - radius), coordinate(y));
    format!("{start}a{r} {r} 0 1 {sweep} {d} 0a{r} {r} 0 1 {sweep}-{d} 0z")
}

fn polygon(corners: &[(f64, f64)], (x, y): (f64, f64), radius: f64) -> String {
    let corners = corners.iter().map(|(dx, dy)| Some((x + radius * dx, y + radius * dy)));
    svg::polyline(corners) + "z"
}

/// Dashes of a curve without markers: the first is solid, each other differs.
pub(crate) fn curve_dashes(colour: usize) -> Option<&'static str> {
    [None, Some("9 4"), Some("2 3.5"), Some("9 3 2 3"), Some("14 4")][colour % 5]
}

/// Dashes of a bound: never solid.
pub(crate) fn bound_dashes(colour: usize) -> &'static str {
    ["6 4", "2 3", "10 3 2 3", "10 4", "4 2.5"][colour % 5]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_differ_in_shape_and_dashes() {
        let shapes: Vec<String> = (0..8).map(|shape| path(shape, (0.0, 0.0), 3.0)).collect();
        assert!((0..8).all(|i| (0..i).all(|j| shapes[i] != shapes[j])));
        assert_eq!(path(0, (5.0, 5.0), 3.0), "M2 5a3 3 0 1 0 6 0a3 3 0 1 0-6 0z");
        assert_eq!(class(13), "s3");
        assert!(
            (0..4).all(|i| curve_dashes(i) != curve_dashes(i + 1) && bound_dashes(i) != bound_dashes(i + 1))
        );
    }
}
