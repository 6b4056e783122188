//! The labels of horizontal lines: each stands at its line where the data leave the most room.

use crate::chart::Chart;
use crate::frame::{Frame, UNDER, words};
use crate::label;
use crate::markup::Markup;

/// A rectangle: left, top, right, bottom.
type Area = [f64; 4];

/// One of the places where a label can stand.
#[derive(Clone, Copy)]
struct Spot {
    area: Area,
    /// At the right end of its line, rather than the left.
    right: bool,
    /// Above its line, rather than below.
    above: bool,
}

/// Writes the label of every level that the plot shows.
pub(crate) fn labels(markup: &mut Markup, frame: &Frame, chart: &Chart, font: f64) {
    let data = traces(frame, chart);
    let lines: Vec<f64> = chart.levels.iter().filter_map(|level| frame.down(level.value)).collect();
    let mut taken: Vec<Area> = Vec::new();
    for level in chart.levels.iter().filter(|level| !level.label.is_empty() && frame.shows_level(level.value))
    {
        let Some(y) = frame.down(level.value) else { continue };
        let cost = |area: &Area| {
            let [_, top, _, bottom] = *area;
            let outside = top < frame.top || bottom > frame.top + frame.height;
            let points = data.iter().filter(|&&point| covers(area, point)).count();
            let others = taken.iter().filter(|other| overlap(area, other)).count();
            let crossed = lines.iter().filter(|&&line| top < line && line < bottom).count();
            1000 * usize::from(outside) + 100 * others + 20 * crossed + points
        };
        let spots = spots(frame, y, label::width(&level.label, font), font);
        if let Some(spot) = spots.into_iter().min_by_key(|spot| cost(&spot.area)) {
            taken.push(spot.area);
            let class = if spot.right { "level-label end" } else { "level-label" };
            let x = if spot.right { spot.area[2] } else { spot.area[0] };
            let (gap, down) = if spot.above { (-0.4 * font, 0.0) } else { (0.35 * font, UNDER) };
            words(markup, class, (x, y + gap), down, &level.label);
        }
    }
}

/// Where the label can stand, best first: at the right or left end, above or below its line.
fn spots(frame: &Frame, y: f64, width: f64, font: f64) -> Vec<Spot> {
    let inset = 0.4 * font;
    let mut spots = Vec::new();
    for right in [true, false] {
        let left = if right { frame.left + frame.width - inset - width } else { frame.left + inset };
        for above in [true, false] {
            let top = if above { y - 1.4 * font } else { y + 0.15 * font };
            spots.push(Spot { area: [left, top, left + width, top + 1.25 * font], right, above });
        }
    }
    spots
}

/// Points along all that is drawn, close enough together that a label cannot slip between.
fn traces(frame: &Frame, chart: &Chart) -> Vec<(f64, f64)> {
    let mut points = Vec::new();
    for series in &chart.series {
        let placed: Vec<_> = series.points.iter().filter_map(|&point| frame.point(point)).collect();
        for pair in placed.windows(2) {
            let steps = ((pair[1].0 - pair[0].0).abs() / 6.0).clamp(1.0, 100.0) as usize;
            points.extend((0..steps).map(|i| {
                let part = i as f64 / steps as f64;
                (pair[0].0 + part * (pair[1].0 - pair[0].0), pair[0].1 + part * (pair[1].1 - pair[0].1))
            }));
        }
        points.extend(placed.last());
    }
    points
}

fn covers([left, top, right, bottom]: &Area, (x, y): (f64, f64)) -> bool {
    (*left..=*right).contains(&x) && (*top..=*bottom).contains(&y)
}

fn overlap(a: &Area, b: &Area) -> bool {
    a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]
}
