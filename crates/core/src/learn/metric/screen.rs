//! Columns by themselves, where a fit to all of them sees nothing.
//!
//! ```text
//! each column      y, and (y − mean)², of xⱼ alone          the second tells a factor of a product, whose mean effect is none
//! each pair        y of (xᵢ, xⱼ), of the best columns
//! one more         as long as that helps
//! ```
//! A kernel of all columns spreads its rows over all of them; of a function of two it sees more in the plane of these two. Every fit here has few columns and few features.

use super::ground::Ground;
use crate::solve::{Normal, Path};
use crate::stat::Gram;
use crate::{Engine, Event, Kernel, MapSpec, Matrix, Result, Rows};

/// Rows that are fitted to and judged by, in turn of four.
const ROWS: usize = 4096;

/// Columns that pairs are made of.
const PAIRED: usize = 32;

/// Sets of columns that are tried before it is asked whether to go on.
const AT_ONCE: usize = 64;

/// Columns that are chosen at most.
const MOST: usize = 8;

/// The part of the error by which one more column must lower it.
const WORTH: f64 = 0.02;

/// The columns that predict best by themselves, of rows that may be seen: a pair, and more as long as these help.
pub(super) fn columns(ground: &Ground<'_>, without: Option<usize>) -> Result<Vec<usize>> {
    let mut seen = ground.seen(without);
    seen.truncate(ROWS);
    let rows = ground.rows.view();
    let all = rows.columns();
    // In deviations: columns may not have been scaled.
    let mut table = Matrix::from_fn(all, seen.len(), |j, at| rows.entry(seen[at], j));
    for j in 0..all {
        let row = table.row_mut(j);
        let mean = row.iter().sum::<f64>() / row.len() as f64;
        let square = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / row.len() as f64;
        if square > 0.0 && square.is_finite() {
            row.iter_mut().for_each(|x| *x = (*x - mean) / square.sqrt());
        }
    }
    let outputs = ground.targets.columns();
    let weights: Vec<f64> = seen.iter().map(|&i| ground.weights[i]).collect();
    let y = |at: usize, o: usize| ground.targets.row(seen[at])[o];
    let values = Matrix::from_fn(seen.len(), outputs, y);
    // With its squares: what is left of a product where one factor is not known.
    let both = Matrix::from_fn(seen.len(), 2 * outputs, |at, o| {
        if o < outputs { y(at, o) } else { y(at, o - outputs).powi(2) }
    });
    let probe = |targets| Probe {
        engine: ground.engine,
        table: &table,
        targets,
        weights: &weights,
        seed: ground.seed,
    };
    let singles = errors(ground, &probe(&both), &(0..all).map(|j| vec![j]).collect::<Vec<_>>(), 32)?;
    let nothing = probe(&both).errors(&[], 0)?;
    // What is left of y, or of its square, whichever tells more.
    let told = |errors: &[f64]| {
        let part = |range: std::ops::Range<usize>| {
            errors[range.clone()].iter().sum::<f64>() / nothing[range].iter().sum::<f64>()
        };
        part(0..outputs).min(part(outputs..2 * outputs))
    };
    let mut order: Vec<usize> = (0..all).collect();
    order.sort_by(|&a, &b| told(&singles[a]).total_cmp(&told(&singles[b])));
    order.truncate(PAIRED);
    let best_of = |tried: Vec<Vec<usize>>, features: usize| -> Result<Option<(Vec<usize>, f64)>> {
        let errors = errors(ground, &probe(&values), &tried, features)?;
        let sums = errors.into_iter().map(|errors| errors.into_iter().sum::<f64>());
        Ok(tried.into_iter().zip(sums).min_by(|(_, a), (_, b)| a.total_cmp(b)))
    };
    let pairs = (0..order.len()).flat_map(|a| (a + 1..order.len()).map(move |b| (a, b)));
    let pairs = pairs.map(|(a, b)| vec![order[a], order[b]]).collect();
    let Some((mut chosen, mut error)) = best_of(pairs, 96)? else { return Ok(vec![0]) };
    while chosen.len() < MOST.min(all) {
        let others = order.iter().filter(|j| !chosen.contains(j));
        let more = others.map(|&j| chosen.iter().copied().chain([j]).collect()).collect();
        let best = best_of(more, 128)?.filter(|(_, found)| *found < (1.0 - WORTH) * error);
        let Some(best) = best else { break };
        (chosen, error) = best;
    }
    chosen.sort_unstable();
    Ok(chosen)
}

/// The errors of some sets of columns; between a few of them the search may be stopped.
fn errors(
    ground: &Ground<'_>,
    probe: &Probe<'_>,
    sets: &[Vec<usize>],
    features: usize,
) -> Result<Vec<Vec<f64>>> {
    let mut all = Vec::with_capacity(sets.len());
    for few in sets.chunks(AT_ONCE) {
        ground.engine.quiet().tell(&Event::Alive)?;
        for found in ground.engine.map(few.len(), &|set| probe.errors(&few[set], features)) {
            all.push(found?);
        }
    }
    Ok(all)
}

/// Rows that are fitted to and judged by.
struct Probe<'a> {
    engine: &'a Engine,
    /// One row for each column.
    table: &'a Matrix<f64>,
    targets: &'a Matrix<f64>,
    weights: &'a [f64],
    seed: u64,
}

impl Probe<'_> {
    /// The squared error of each target on every fourth row, fitted to the others by some columns, at the better of two widths.
    fn errors(&self, columns: &[usize], features: usize) -> Result<Vec<f64>> {
        /// In deviations of the columns' sum.
        const WIDTHS: [f64; 2] = [1.0, 0.3];
        if columns.is_empty() {
            return self.errors_of(&Matrix::zeros(self.targets.rows(), 1));
        }
        let rows =
            Matrix::from_fn(self.targets.rows(), columns.len(), |i, at| self.table.row(columns[at])[i]);
        let mut best = vec![f64::INFINITY; self.targets.columns()];
        for width in WIDTHS {
            let kernel = Kernel::gaussian(width * (columns.len() as f64).sqrt());
            let spec = MapSpec { features, seed: self.seed, ..MapSpec::auto(kernel) };
            let map = spec.build_on(self.engine, columns.len())?;
            let mut z = Matrix::zeros(rows.rows(), map.output_dim());
            map.apply(self.engine, &Rows::from(&rows), z.as_mut_slice());
            best.iter_mut().zip(self.errors_of(&z)?).for_each(|(best, error)| *best = best.min(error));
        }
        Ok(best)
    }

    fn errors_of(&self, z: &Matrix<f64>) -> Result<Vec<f64>> {
        /// λ of these fits.
        const LAMBDAS: [f64; 3] = [1e-5, 1e-3, 1e-1];
        let fold = |i: usize| usize::from(i % 4 == 3);
        let mut gram = Gram::zero(self.engine, z.columns(), self.targets.columns(), 2);
        gram.absorb(
            self.engine,
            z.view(),
            self.targets.view(),
            &|i| self.weights[i],
            &fold,
            &mut Default::default(),
        );
        let path =
            Path::new(self.engine, Normal::new(self.engine, gram.only(self.engine, 0), true), &|_| Ok(()))?;
        path.best_errors(self.engine, &LAMBDAS, &gram.only(self.engine, 1), &|_| Ok(()))
    }
}
