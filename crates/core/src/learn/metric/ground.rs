//! Where metrics are tried: sampled rows in parts, fitted without a part and judged on it.
//!
//! A metric that is judged on rows which it was learnt from looks better than it is. Hence nothing of a part that judges is seen before: neither by the metric nor by the fit.

use super::flat::Flat;
use super::judged::{Judged, gained, wrong};
use crate::encode::Metric;
use crate::engine::Check;
use crate::learn::ridge::{GRID, Units};
use crate::learn::tune::{Family, Trial, anchored, features_of_turns, sides};
use crate::solve::{Normal, Path, Solution};
use crate::stat::{Gradients, Gram, Sample};
use crate::sweep::BLOCK;
use crate::{Engine, Event, Kernel, Loss, Map, MapSpec, Matrix, OwnedRows, Result, Scalar};

/// Features and rows of fits that a metric is learnt from and judged by, and of those that only compare families.
pub(super) const WHOLE: (usize, usize) = (1024, 8192);
pub(super) const GLANCE: (usize, usize) = (512, 4096);

/// Parts that rows are divided into.
const PARTS: usize = 5;

/// Where one part has fewer than half of so many rows, two judge in turn.
const JUDGED: usize = 512;

/// Widths beyond which double precision is needed, in median distances.
const WIDE: f64 = 1.2;

/// Rows whose gradients are taken: at most, at least, and numbers of their gradients between.
const SLOPES: usize = 4096;
const FEWEST_SLOPES: usize = 512;
const NUMBERS: usize = 1 << 24;

/// Rows of a sample, in parts.
pub(super) struct Ground<'a> {
    pub(super) engine: &'a Engine,
    pub(super) rows: OwnedRows<f64>,
    pub(super) targets: Matrix<f64>,
    pub(super) weights: Vec<f64>,
    /// The part that each row is in.
    pub(super) parts: Vec<usize>,
    pub(super) seed: u64,
    /// Features of a fit.
    pub(super) features: usize,
    /// Whether a metric is learnt from kernel values at landmarks.
    pub(super) landmarks: bool,
    /// λ, where it is given.
    pub(super) lambda: Option<f64>,
    /// Widths up to which features are compared in single precision, as parts of the median distance.
    pub(super) single: f64,
    /// Parts that judge what is tried, each in its turn: the first ones. The next as many have the last word.
    pub(super) judges: usize,
    /// What targets are shifted by.
    pub(super) shift: Vec<f64>,
    pub(super) flat: Flat,
}

/// Rows as a metric stretches them, and how features are made of them.
pub(super) struct Stretched {
    /// Of width 1 times the median distance.
    anchor: Kernel,
    rows: OwnedRows<f64>,
    made: Made,
    /// The part that is not seen.
    without: Option<usize>,
}

enum Made {
    /// Phases at the anchor's width.
    Turns(Matrix<f64>),
    /// Kernel values at these rows.
    Landmarks(OwnedRows<f64>),
}

/// A kernel at its width, or at that of the median distance.
#[derive(Clone)]
pub(super) enum Placed {
    Given(Kernel),
    Median(Kernel),
}

/// A fit at a width and a λ.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    /// Of the median distance.
    pub(super) factor: f64,
    pub(super) lambda: f64,
    /// The mean squared error on the parts that judge, summed over outputs.
    pub(super) error: f64,
}

impl Stretched {
    /// The kernel at a width.
    pub(super) fn kernel(&self, factor: f64) -> Kernel {
        self.anchor.widened(factor)
    }
}

impl<'a> Ground<'a> {
    pub(super) fn new(
        engine: &'a Engine,
        sample: &Sample,
        loss: Loss,
        seed: u64,
        (features, rows): (usize, usize),
    ) -> Ground<'a> {
        let count = sample.len().min(rows);
        let (targets, weights) = sides(sample, count, loss);
        let rows = sample.rows(count);
        Ground {
            engine,
            flat: Flat::of(&rows.view()),
            rows,
            targets,
            weights,
            parts: sample.folds(count, PARTS),
            seed,
            features,
            landmarks: false,
            lambda: None,
            single: WIDE,
            judges: judges(count),
            shift: Units::of(sample, true).shift,
        }
    }

    /// What was tried, by the errors of rows.
    pub(super) fn trial(&self, errors: &[Judged], kernel: Kernel, rounds: usize) -> Trial {
        let nothing: Vec<Judged> = errors.iter().map(Judged::without_error).collect();
        let (error, deviation) = gained(errors, &nothing, Judged::SQUARE);
        Trial { kernel, features: self.features, rows: self.weights.len() as u64, error, deviation, rounds }
    }

    /// The variance of the targets, summed over outputs.
    pub(super) fn variance(&self) -> f64 {
        let total: f64 = self.weights.iter().sum();
        let mean = |f: &dyn Fn(usize) -> f64| {
            self.weights.iter().enumerate().map(|(i, w)| w * f(i)).sum::<f64>() / total
        };
        (0..self.targets.columns())
            .map(|o| {
                let centre = mean(&|i| self.targets.row(i)[o]);
                mean(&|i| (self.targets.row(i)[o] - centre).powi(2))
            })
            .sum()
    }

    /// Whether row i is in a part.
    fn is_in(&self, i: usize, part: usize) -> bool {
        self.parts[i] == part
    }

    /// Rows that a fit without a part may see.
    pub(super) fn seen(&self, without: Option<usize>) -> Vec<usize> {
        (0..self.weights.len()).filter(|&i| without.is_none_or(|part| !self.is_in(i, part))).collect()
    }

    /// Rows stretched, for the fit that gradients are taken of: Gaussian, of the median distance of rows that are seen.
    pub(super) fn stretched(&self, metric: Option<&Metric>, without: Option<usize>) -> Result<Stretched> {
        let unit = Family::Gaussian.unit();
        if self.landmarks {
            return self.at_landmarks(metric, Placed::Median(unit), without);
        }
        let rows = self.moved(metric)?;
        let anchor = self.anchored(unit, &rows, without);
        let spec = MapSpec { features: self.features, seed: self.seed, ..MapSpec::auto(anchor.clone()) };
        let map = spec.build_on(self.engine, rows.view().columns())?;
        // Kernels that are tried have Fourier pairs.
        let turns = map.turns(self.engine, &rows.view());
        let turns = turns.unwrap_or_else(|| Matrix::zeros(self.weights.len(), 1));
        Ok(Stretched { anchor, rows, made: Made::Turns(turns), without })
    }

    /// Rows stretched, for kernel values at some of those that are seen: nearer to a kernel with heavy tails than as many Fourier features.
    pub(super) fn at_landmarks(
        &self,
        metric: Option<&Metric>,
        kernel: Placed,
        without: Option<usize>,
    ) -> Result<Stretched> {
        let rows = self.moved(metric)?;
        let anchor = match kernel {
            Placed::Median(unit) => self.anchored(unit, &rows, without),
            Placed::Given(kernel) => kernel,
        };
        let mut landmarks = self.seen(without);
        landmarks.truncate(self.features);
        let made = Made::Landmarks(rows.view().taken(&landmarks));
        Ok(Stretched { anchor, rows, made, without })
    }

    fn moved(&self, metric: Option<&Metric>) -> Result<OwnedRows<f64>> {
        self.engine.quiet().tell(&Event::Alive)?;
        Ok(match metric {
            Some(metric) => metric.rows(self.engine, &self.rows.view()),
            None => self.rows.clone(),
        })
    }

    fn anchored(&self, unit: Kernel, rows: &OwnedRows<f64>, without: Option<usize>) -> Kernel {
        let seen = self.seen(without);
        anchored(unit, &rows.view(), seen.len(), |i| seen[i], self.seed)
    }

    /// Features of all rows.
    fn features(&self, stretched: &Stretched, factor: f64) -> Result<Matrix<f64>> {
        match &stretched.made {
            Made::Turns(turns) => Ok(features_of_turns(self.engine, turns, 0..turns.rows(), factor)),
            Made::Landmarks(_) => {
                self.map(stretched, factor)?.transform(&self.engine.quiet(), &stretched.rows.view())
            }
        }
    }

    /// The map of these features.
    fn map(&self, stretched: &Stretched, factor: f64) -> Result<Map> {
        let kernel = stretched.kernel(factor);
        match &stretched.made {
            Made::Turns(_) => {
                let spec = MapSpec { features: self.features, seed: self.seed, ..MapSpec::auto(kernel) };
                spec.build_on(self.engine, stretched.rows.view().columns())
            }
            Made::Landmarks(landmarks) => {
                MapSpec::landmarks(kernel).fit_at(&self.engine.quiet(), &landmarks.view())
            }
        }
    }

    /// The sums of rows that are seen, and of those that are not.
    fn sums<T: Scalar>(&self, z: &Matrix<T>, without: Option<usize>) -> Gram {
        let mut gram = Gram::zero(self.engine, z.columns(), self.targets.columns(), 2);
        let mut packed = Default::default();
        for start in (0..z.rows()).step_by(BLOCK) {
            let range = start..z.rows().min(start + BLOCK);
            let fold = |i: usize| usize::from(without.is_some_and(|part| self.is_in(start + i, part)));
            let targets = self.targets.view().slice(range.clone());
            gram.absorb(
                self.engine,
                z.view().slice(range),
                targets,
                &|i| self.weights[start + i],
                &fold,
                &mut packed,
            );
        }
        gram
    }

    /// The best λ of a width by the errors of all parts that judge, each with its own rows.
    pub(super) fn judged(&self, stretched: &[Stretched], factor: f64) -> Result<Setting> {
        let usual = || GRID.map(|e| 10f64.powf(f64::from(e) / 2.0)).collect();
        let grid: Vec<f64> = self.lambda.map_or_else(usual, |lambda| vec![lambda]);
        let (mut sums, mut weight) = (vec![0.0; grid.len()], 0.0);
        for stretched in stretched {
            self.engine.quiet().tell(&Event::Alive)?;
            let z = self.features(stretched, factor)?;
            // Features of a wide kernel are nearly constant, and what they differ by needs all digits; others are compared in single precision, twice as fast.
            let gram = if factor > self.single {
                self.sums(&z, stretched.without)
            } else {
                let z = Matrix::from_fn(z.rows(), z.columns(), |i, j| z.row(i)[j] as f32);
                self.sums(&z, stretched.without)
            };
            if !(gram.weight(0) > 0.0 && gram.weight(1) > 0.0) {
                continue;
            }
            let errors = self.engine.quiet().phase("metric", gram.rows(), |check: Check<'_>| {
                let path =
                    Path::new(self.engine, Normal::new(self.engine, gram.only(self.engine, 0), true), check)?;
                path.errors(self.engine, &grid, &gram.only(self.engine, 1), check)
            })?;
            sums.iter_mut().zip(errors).for_each(|(sum, error)| *sum += error);
            weight += gram.weight(1);
        }
        let mut best = Setting { factor, lambda: self.lambda.unwrap_or(1e-3), error: f64::INFINITY };
        for (lambda, sum) in grid.iter().zip(&sums) {
            let error = sum / weight;
            if error < best.error {
                best = Setting { lambda: *lambda, error, ..best };
            }
        }
        // The best λ is the smallest that the model's precision allows: so wide a kernel is not for it.
        let smallest = grid.iter().zip(&sums).find(|(_, sum)| sum.is_finite()).map(|(lambda, _)| *lambda);
        let is_cut = smallest > grid.first().copied() && smallest >= Some(best.lambda);
        if is_cut && self.single.is_infinite() {
            best.error = f64::INFINITY;
        }
        Ok(best)
    }

    /// The best width, in steps of √2 from one on.
    pub(super) fn tuned(&self, stretched: &[Stretched], from: f64) -> Result<Setting> {
        /// In one direction.
        const STEPS: usize = 8;
        let mut best = self.judged(stretched, from)?;
        for step in [std::f64::consts::FRAC_1_SQRT_2, std::f64::consts::SQRT_2] {
            let mut steps = 0;
            while steps < STEPS {
                let tried = self.judged(stretched, best.factor * step)?;
                if !(tried.error < best.error) {
                    break;
                }
                (best, steps) = (tried, steps + 1);
            }
            // Errors fall on one side only.
            if steps > 0 {
                break;
            }
        }
        Ok(best)
    }

    /// The fit without a part.
    fn fit(&self, z: &Matrix<f64>, lambda: f64, without: Option<usize>) -> Result<Solution> {
        let gram = self.sums(z, without);
        self.engine.quiet().phase("metric", gram.rows(), |check: Check<'_>| {
            let normal = Normal::new(self.engine, gram.only(self.engine, 0), true);
            // As small as it may be, a matrix of so many features has rounding errors.
            let lambda = lambda.max(1e-11 * normal.trace());
            Ok(normal.factor(self.engine, lambda, check)?.0)
        })
    }

    /// The gradients of the fit without a part, at the rows that it has seen: before they were stretched.
    pub(super) fn gradients(
        &self,
        metric: Option<&Metric>,
        stretched: &Stretched,
        at: Setting,
        mut gradients: Gradients,
    ) -> Result<Gradients> {
        let rows = stretched.rows.view();
        let mut seen = self.seen(stretched.without);
        seen.truncate(slopes(rows.columns()));
        let (chosen, weight) = (rows.taken(&seen), |i: usize| self.weights[seen[i]]);
        let map = self.map(stretched, at.factor)?;
        let z = match &stretched.made {
            Made::Turns(_) => self.features(stretched, at.factor)?,
            Made::Landmarks(_) => map.transform(&self.engine.quiet(), &rows)?,
        };
        let Solution { coefficients, .. } = self.fit(&z, at.lambda, stretched.without)?;
        let Made::Turns(_) = stretched.made else {
            let coefficients =
                Matrix::from_fn(coefficients.columns(), z.columns(), |o, j| coefficients.row(j)[o]);
            let back =
                |slopes| if let Some(metric) = metric { metric.back(self.engine, slopes) } else { slopes };
            let rows = chosen.view();
            // They are sums of differences of rows: nothing is to be taken out.
            gradients.absorb_of(self.engine, &map, &coefficients, &rows, &weight, back)?;
            return Ok(gradients);
        };
        let half = z.columns() / 2;
        // Cosines first, then sines; a map has them in pairs.
        let pairs = Matrix::from_fn(coefficients.columns(), 2 * half, |o, j| {
            coefficients.row(j / 2 + half * (j % 2))[o]
        });
        gradients.absorb(self.engine, &map, &pairs, &chosen.view(), &weight)?;
        if let Some(metric) = metric {
            metric.pull_back(self.engine, &mut gradients);
        }
        self.flat.take_out(self.engine, &self.rows.view(), &mut gradients)?;
        Ok(gradients)
    }

    /// The errors of each row of the parts that judge, in order.
    pub(super) fn row_errors(&self, stretched: &[Stretched], at: Setting) -> Result<Vec<Judged>> {
        let mut errors = Vec::new();
        for stretched in stretched {
            let z = self.features(stretched, at.factor)?;
            let Solution { coefficients, intercept } = self.fit(&z, at.lambda, stretched.without)?;
            let is_judged = |i: &usize| stretched.without.is_some_and(|part| self.is_in(*i, part));
            let rows: Vec<usize> = (0..self.weights.len()).filter(is_judged).collect();
            let of_row = |at: usize| {
                let i = rows[at];
                let output = |o: usize| {
                    let each = z.row(i).iter().enumerate();
                    each.map(|(j, z)| z * coefficients.row(j)[o]).sum::<f64>() + intercept[o]
                };
                let (targets, weight) = (self.targets.row(i), self.weights[i]);
                let outputs: Vec<f64> = (0..targets.len()).map(output).collect();
                let square = targets.iter().zip(&outputs).map(|(y, f)| (y - f).powi(2)).sum();
                Judged { weight, square, wrong: wrong(targets, &outputs, &self.shift) }
            };
            errors.extend(self.engine.map(rows.len(), &of_row));
        }
        Ok(errors)
    }
}

/// Rows whose gradients are taken, of so many columns.
pub(super) fn slopes(columns: usize) -> usize {
    (NUMBERS / columns.max(1)).clamp(FEWEST_SLOPES, SLOPES)
}

/// Parts that judge, in turn.
pub(super) fn judges(rows: usize) -> usize {
    (PARTS * JUDGED / rows.max(1)).clamp(1, PARTS / 2)
}
