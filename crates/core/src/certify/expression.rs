//! Bounds of compiled expressions.
//!
//! ```text
//! z(x)·z(y) − k(x, y) = deterministic part + Σ independent terms, term t in an interval of length R_t
//! P(|…| ≥ offset + ε) ≤ 2·exp(−ε²/spread),    spread = ½·Σ R_t²                                (Hoeffding over all terms of all parts at once)
//!
//! fourier    mass²·4/D pairs, mass²·8/D offsets      scale c        c²·spread, c·offset        join   sums of both
//! grids      mass²·2/P                               f·K·f          (max f²)²·spread, …        tensor of one random part with exact ones   (∏ max K(x, x))²·spread
//! ```
//! Maxima are over the rows looked at, and where these are not all, the bound is for as many points as were looked at. Projections, rectified units of order above 0 and products draw by draw have terms without useful bounds: for those the error is measured.

use super::{DELTA, Probe};
use crate::map::{Homogeneous, How, Recipe};
use crate::{FrequencyDraw, Kernel};

/// P(|ẑ − k| ≥ offset + ε) ≤ 2·exp(−ε²/spread).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tail {
    pub(super) spread: f64,
    pub(super) offset: f64,
    /// Whether the terms are independent, so that the bound holds and is no mere reference.
    pub(super) is_independent: bool,
    /// Whether it is about rows like those looked at: something in it is the largest over them.
    pub(super) of_rows: bool,
}

impl Tail {
    const NONE: Tail = Tail { spread: 0.0, offset: 0.0, is_independent: true, of_rows: false };

    fn random(spread: f64, is_independent: bool) -> Option<Tail> {
        spread.is_finite().then_some(Tail { spread, is_independent, ..Tail::NONE })
    }

    fn certain(offset: f64) -> Option<Tail> {
        offset.is_finite().then_some(Tail { offset, of_rows: true, ..Tail::NONE })
    }

    fn times(self, factor: f64) -> Option<Tail> {
        let (spread, offset) = (factor * factor * self.spread, factor * self.offset);
        (spread.is_finite() && offset.is_finite()).then_some(Tail { spread, offset, ..self })
    }

    fn plus(self, other: Tail) -> Tail {
        Tail {
            spread: self.spread + other.spread,
            offset: self.offset + other.offset,
            is_independent: self.is_independent && other.is_independent,
            of_rows: self.of_rows || other.of_rows,
        }
    }

    fn of_rows(self) -> Tail {
        Tail { of_rows: true, ..self }
    }
}

/// The tail of a recipe's map on rows; none where no bound is known.
pub(super) fn tail(recipe: &Recipe, rows: &Probe<'_>) -> Option<Tail> {
    let features = recipe.features as f64;
    let diagonal = |kernel: &Kernel| rows.largest(|view, i| kernel.eval(view, i, view, i));
    match &recipe.how {
        How::Exact | How::Constant => Some(Tail::NONE),
        How::Taylor { degree } => Tail::certain(taylor(&recipe.kernel, *degree, rows)),
        How::Fourier { form, draw } => {
            let mass = recipe.kernel.spectrum()?.mass;
            Tail::random(
                mass * mass * super::bound::fourier_spread(*form, recipe.features),
                *draw == FrequencyDraw::Independent,
            )
        }
        How::Homogeneous { steps } => {
            Tail::certain(additive(&recipe.kernel, *steps)? * diagonal(&additive_of(&recipe.kernel)))
        }
        How::Grids { width } => {
            let law = recipe.kernel.grid_law(rows.map.input_dim())?;
            let grids = features / (*width * law.outputs()) as f64;
            Tail::random(law.mass * law.mass * 2.0 / grids, true)
        }
        How::Hinges => match recipe.kernel.bare() {
            // Terms 0 or 2/D.
            Kernel::ArcCosine { order: 0 } => Tail::random(2.0 / features, false),
            _ => None,
        },
        How::Subsets => {
            let largest = rows.largest(|view, i| view.entries(i).map(|(_, x)| 1.0 + x.abs()).product());
            Some(Tail::random(2.0 * largest.powi(4) / features, true)?.of_rows())
        }
        How::OfDistance { form, part: inner } => {
            let Kernel::ExponentialChi2 { gamma } = recipe.kernel.bare() else { return None };
            // |e^(−γs) − e^(−γt)| ≤ γ|s − t|, and a squared distance is made of four values.
            let inner = tail(inner, rows)?.times(4.0 * gamma)?;
            let outer = Tail::random(super::bound::fourier_spread(*form, recipe.features), false)?;
            Some(inner.plus(outer))
        }
        How::Join(parts) => {
            parts.iter().map(|part| tail(part, rows)).try_fold(Tail::NONE, |sum, part| Some(sum.plus(part?)))
        }
        How::Scale { factor, part } => tail(part, rows)?.times(*factor),
        How::Weight { function, part } => {
            let largest = rows.largest(|view, i| function.eval(view, i).abs());
            Some(tail(part, rows)?.times(largest * largest)?.of_rows())
        }
        How::Normalise(part) => {
            let inverse = rows.largest(|view, i| 1.0 / part.kernel.eval(view, i, view, i));
            Some(tail(part, rows)?.times(inverse)?.of_rows())
        }
        How::Tensor(parts) => {
            let tails = parts.iter().map(|part| tail(part, rows)).collect::<Option<Vec<_>>>()?;
            let is_exact = |tail: &Tail| tail.spread <= 0.0 && tail.offset <= 0.0;
            match tails.iter().filter(|tail| !is_exact(tail)).count() {
                0 => Some(Tail::NONE),
                1 => {
                    let others = parts.iter().zip(&tails).filter(|(_, tail)| is_exact(tail));
                    let factor = others.map(|(part, _)| diagonal(&part.kernel)).product();
                    Some(tails.iter().find(|tail| !is_exact(tail))?.times(factor)?.of_rows())
                }
                _ => None,
            }
        }
        // Projections of rows have bounds of their own kind, in `projection.rs`.
        How::Sketch { .. }
        | How::Hashed
        | How::Projected(_)
        | How::Projection { .. }
        | How::Positive(_)
        | How::Multiply(_) => None,
    }
}

/// Of one column, against (x + y)/2.
fn additive(kernel: &Kernel, steps: usize) -> Option<f64> {
    Homogeneous::new(kernel.bare(), 1, steps).map(|map| map.error())
}

/// The additive kernel of a χ² distance: Σ (x + y)/2 is at most its largest value of a row with itself.
fn additive_of(kernel: &Kernel) -> Kernel {
    match kernel {
        Kernel::Restricted { columns, kernel } => {
            Kernel::Restricted { columns: columns.clone(), kernel: Box::new(additive_of(kernel)) }
        }
        Kernel::ExponentialChi2 { .. } => Kernel::Chi2,
        kernel => kernel.clone(),
    }
}

/// (‖u‖‖v‖)^(r+1)/(r+1)! for the longest row, u = x/σ.
fn taylor(kernel: &Kernel, degree: u32, rows: &Probe<'_>) -> f64 {
    let Some(width) = kernel.width() else { return f64::INFINITY };
    let square = rows.largest(|view, i| {
        view.entries(i).map(|(j, x)| (x / width.at(j as usize)) * (x / width.at(j as usize))).sum()
    });
    (1..=degree + 1).map(|n| square / f64::from(n)).product()
}

/// ε everywhere in the box of the rows: for Fourier features of laws whose frequencies have a second moment.
pub(super) fn everywhere(recipe: &Recipe, rows: &Probe<'_>) -> Option<f64> {
    let How::Fourier { form, .. } = recipe.how else { return None };
    let spectrum = recipe.kernel.spectrum()?;
    let columns = rows.map.input_dim();
    let mut used = vec![false; columns];
    spectrum.law.mark(&mut used);
    let sides = rows.sides();
    let diameter = (0..columns).filter(|&j| used[j]).map(|j| sides[j] * sides[j]).sum::<f64>().sqrt();
    let spread = spectrum.law.second_moment(columns)?.sqrt() * diameter;
    let used = used.iter().filter(|used| **used).count();
    let epsilon = super::bound::fourier_everywhere(form, recipe.features, used.max(1), spread, DELTA)?;
    Some(spectrum.mass * epsilon)
}
