//! Columns by themselves, where a fit to all of them sees nothing.
//!
//! ```text
//! each column      y, and (y − mean)², of xⱼ alone          the second tells a factor of a product, whose mean effect is none
//! each pair        y of (xᵢ, xⱼ), of the best columns
//! one more         as long as that helps
//! ```
//! A kernel of all columns spreads its rows over all of them; of a function of two it sees more in the plane of these two. Every fit here has few columns and few features.

use rayon::prelude::*;

use super::ground::Ground;
use crate::solve::{Normal, Path};
use crate::stat::Gram;
use crate::{Event, Kernel, MapSpec, Matrix, Result, Rows};

/// Rows that are fitted to and judged by, in turn of four.
const ROWS: usize = 4096;

/// Columns that pairs are made of.
const PAIRED: usize = 32;

/// Columns that are chosen at most.
const MOST: usize = 8;

/// The part of the error by which one more column must lower it.
const WORTH: f64 = 0.02;

/// Columns that predict by themselves, of rows that may be seen; the best pair where none does.
pub(super) fn columns(ground: &Ground<'_>, without: Option<usize>) -> Result<Vec<usize>> {
    ground.engine.quiet().tell(&Event::Alive)?;
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
    // y, then its squares: what is left of a product where one factor is not known.
    let targets = Matrix::from_fn(seen.len(), 2 * outputs, |at, o| {
        let y = ground.targets.row(seen[at])[o % outputs];
        if o < outputs { y } else { y * y }
    });
    let probe = Probe { table: &table, targets: &targets, weights: &weights, seed: ground.seed };
    ground.engine.install(|| {
        let singles = (0..all).into_par_iter().map(|j| probe.errors(&[j], 32)).collect::<Result<Vec<_>>>()?;
        let nothing = probe.errors(&[], 0)?;
        // What is left of y, or of its square, whichever tells more.
        let told = |errors: &[f64]| {
            let part = |range: std::ops::Range<usize>| {
                errors[range.clone()].iter().sum::<f64>() / nothing[range].iter().sum::<f64>()
            };
            part(0..outputs).min(part(outputs..2 * outputs))
        };
        let of_y = |errors: &[f64]| errors[..outputs].iter().sum::<f64>();
        let mut order: Vec<usize> = (0..all).collect();
        order.sort_by(|&a, &b| told(&singles[a]).total_cmp(&told(&singles[b])));
        order.truncate(PAIRED);
        let pairs: Vec<[usize; 2]> = (0..order.len())
            .flat_map(|a| (a + 1..order.len()).map(move |b| (a, b)))
            .map(|(a, b)| [order[a], order[b]])
            .collect();
        let errors =
            pairs.par_iter().map(|pair| Ok(of_y(&probe.errors(pair, 96)?))).collect::<Result<Vec<f64>>>()?;
        let best = (0..pairs.len()).min_by(|&a, &b| errors[a].total_cmp(&errors[b]));
        let Some(best) = best else { return Ok(vec![0]) };
        let (mut chosen, mut error) = (pairs[best].to_vec(), errors[best]);
        while chosen.len() < MOST.min(all) {
            let others: Vec<usize> = order.iter().copied().filter(|j| !chosen.contains(j)).collect();
            let with = |&j: &usize| {
                let more: Vec<usize> = chosen.iter().copied().chain([j]).collect();
                Ok(of_y(&probe.errors(&more, 128)?))
            };
            let errors = others.par_iter().map(with).collect::<Result<Vec<f64>>>()?;
            let best = (0..others.len()).min_by(|&a, &b| errors[a].total_cmp(&errors[b]));
            let Some(best) = best.filter(|&at| errors[at] < (1.0 - WORTH) * error) else { break };
            chosen.push(others[best]);
            error = errors[best];
        }
        chosen.sort_unstable();
        Ok(chosen)
    })
}

/// Rows that are fitted to and judged by.
struct Probe<'a> {
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
            let map = spec.build(columns.len())?;
            let mut z = Matrix::zeros(rows.rows(), map.output_dim());
            map.apply(&Rows::from(&rows), z.as_mut_slice());
            best.iter_mut().zip(self.errors_of(&z)?).for_each(|(best, error)| *best = best.min(error));
        }
        Ok(best)
    }

    fn errors_of(&self, z: &Matrix<f64>) -> Result<Vec<f64>> {
        /// λ of these fits.
        const LAMBDAS: [f64; 3] = [1e-5, 1e-3, 1e-1];
        let fold = |i: usize| usize::from(i % 4 == 3);
        let of_target = |o: usize| {
            let targets = Matrix::from_fn(z.rows(), 1, |i, _| self.targets.row(i)[o]);
            let mut gram = Gram::zero(z.columns(), 1, 2);
            gram.absorb(z.view(), targets.view(), |i| self.weights[i], fold, &mut Default::default());
            let path = Path::new(Normal::new(gram.only(0), true), &|_| Ok(()))?;
            Ok(path.errors(&LAMBDAS, &gram.only(1)).into_iter().fold(f64::INFINITY, f64::min))
        };
        (0..self.targets.columns()).map(of_target).collect()
    }
}
