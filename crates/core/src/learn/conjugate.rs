//! Ridge by conjugate gradients: rows are read and mapped in every step, or once where their features can be kept, and D² numbers only where they fit.
//!
//! ```text
//! pass 1   means, right sides, squares                   pass 2   the guide: sums of a sample of rows, or products with random vectors
//! then     one pass a step:  S·p = Zᵀw∘(Zp − z̄·p)/Σw      the constant drops out by centring
//! ```
//! λ is chosen on one part of K that is left out, a whole row of λ at once and from the largest on, so that a pass serves all of them: each group starts from where the one before ended, and the
//! smallest λ, which take the most steps, are left alone as soon as the error rises. (Sums are made of all K parts at little more than the cost of one; passes are not.)
//!
//! A guide under which ten steps do not divide the residual by ten is changed for a better one: a sample of rows for a sketch of all rows, a diagonal for random vectors, these for twice as many.
//! `docs/book/solvers.md`.

use bochner_simd::Aligned;

use super::kept::Kept;
use super::lambda::strongest;
use super::ridge::{CurvePoint, GRID, Lambda, Units};
use super::streamed::{Job, Shown, Streamed, Visitor};
use crate::engine::Check;
use crate::linalg::dot;
use crate::model::Outcome;
use crate::plan::{ENOUGH_RANK, FIRST_RANK, LAMBDAS_TOGETHER, RidgeShape, SKETCH_ROWS};
use crate::solve::pcg::{self, Column, Guide, Limits, Nystrom, Operator, Sketch, Vectors};
use crate::solve::{Normal, Preconditioner, Solution, Stop};
use crate::source::{Batch, Source};
use crate::stat::{Gram, Sample};
use crate::{Engine, Event, Map, Matrix, MatrixView, Result, Scalar};

/// Of a residual while λ is chosen: the error on other rows is known no better.
const ROUGH: f64 = 1e-4;

/// Errors that rise by this part beyond the best end the search.
const RISEN: f64 = 0.02;

/// λ of a factor that leads, as a multiple of λ: directions that few rows stand for are too flat in a sample, by chance.
const CAUTION: f64 = 3.0;

/// A fit on its way.
pub(super) struct Conjugate<'a> {
    pub(super) engine: &'a Engine,
    pub(super) source: &'a dyn Source,
    pub(super) map: &'a Map,
    pub(super) sample: &'a Sample,
    pub(super) units: &'a Units,
    pub(super) shape: RidgeShape,
    pub(super) lambda: Lambda,
    pub(super) intercept: bool,
    pub(super) limits: Limits,
    /// To begin with.
    pub(super) guide: Preconditioner,
    /// Whether features are made once and kept.
    pub(super) keeps: bool,
}

/// What a fit gave.
pub(super) struct Found {
    pub(super) rows: u64,
    pub(super) lambda: f64,
    pub(super) curve: Vec<CurvePoint>,
    /// None by conjugate gradients, which leave one fold out.
    pub(super) fold_errors: Vec<f64>,
    pub(super) solution: Solution,
    pub(super) outcome: Outcome,
}

/// (S + λI)c = s of all rows, or of all but those left out.
struct Equations<'a> {
    stream: Streamed<'a>,
    feature_means: Vec<f64>,
    target_means: Vec<f64>,
    sides: Vectors,
    weight: f64,
    leaves_out: bool,
    /// Σ w(y − ŷ)² over rows left out, of the vectors whose residuals were last found.
    errors: Vec<f64>,
}

/// What the first pass finds of some rows.
#[derive(Clone)]
struct Sides {
    /// Σ w·y·z of each output, then Σ w·z.
    vectors: Vectors,
    /// Σ w·y of each output, then Σ w.
    plain: Vec<f64>,
}

impl Sides {
    fn add(&mut self, other: &Sides) {
        for (to, from) in self.vectors.iter_mut().zip(&other.vectors) {
            to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
        }
        self.plain.iter_mut().zip(&other.plain).for_each(|(to, from)| *to += from);
    }
}

impl Conjugate<'_> {
    pub(super) fn fit(&self) -> Result<Found> {
        let quiet = self.engine.quiet();
        let coded = |batch: &Batch<'_>| self.units.targets(self.source.target(), batch);
        let (source, map, targets, unit) = (self.source, self.map, &coded, self.units.weight);
        let anew = |folds: usize| Streamed {
            engine: &quiet,
            source,
            map,
            targets,
            unit,
            folds,
            left: 0,
            kept: None,
        };
        let folds = self.lambda.folds();
        self.tell(&Event::Started { phase: "sides" })?;
        // Plain values of landmarks have no squares of features, which only these ask for.
        let kept = self.keeps.then(|| Kept::of(&anew(folds), self.may_be_plain())).transpose()?;
        let stream = |folds: usize| Streamed { kept: kept.as_ref(), ..anew(folds) };
        let (kept, left, rows, squares) = self.look(&stream(folds))?;
        let mut all = kept.clone();
        left.iter().for_each(|left| all.add(left));
        self.tell(&Event::Finished { phase: "sides" })?;
        let mut whole = Equations::new(stream(1), &all, self.intercept, false);
        let diagonal: Vec<f64> = squares
            .iter()
            .zip(&whole.feature_means)
            .map(|(s, m)| (s / whole.weight - m * m).max(0.0))
            .collect();

        let mut guide = self.first_guide(&mut whole, diagonal.clone())?;
        let (mut lambda, mut curve, mut start) = (0.0, Vec::new(), None);
        match (self.lambda, left) {
            (Lambda::Given { value }, _) => lambda = value,
            (Lambda::CrossValidated { .. }, left) => {
                let square = squares.iter().sum::<f64>() / whole.weight;
                let unit: f64 = diagonal.iter().sum();
                let unit = if unit > 1e-6 * square { unit } else { square.max(f64::MIN_POSITIVE) };
                let left_weight = left.as_ref().map_or(0.0, |left| left.plain[self.outputs()]);
                if left_weight > 0.0 && kept.plain[self.outputs()] > 0.0 {
                    let mut part = Equations::new(stream(folds), &kept, self.intercept, true);
                    (lambda, curve, start) =
                        self.choose(&mut part, &mut whole, &mut guide, unit, left_weight)?;
                }
                if curve.is_empty() {
                    let text = "too few distinct rows to leave some out: λ is 1e-3 times the size of the features; give a λ to choose it yourself";
                    self.tell(&Event::Warning { text })?;
                    lambda = 1e-3 * unit;
                }
            }
        }
        let (solution, outcome) = self.solve(&mut whole, &mut guide, lambda, start)?;
        Ok(Found { rows, lambda, curve, fold_errors: Vec::new(), solution, outcome })
    }

    fn outputs(&self) -> usize {
        self.shape.outputs
    }

    /// Whether landmarks may be kept as plain values: in single precision whitened features are rounded once more, which is to be small beside λ.
    fn may_be_plain(&self) -> bool {
        let is_precise = self.source.scalar_bytes() == 8;
        let is_large = matches!(self.lambda, Lambda::Given { value } if value >= 1e-6);
        !self.needs_squares() && (is_precise || is_large)
    }

    /// Whether anybody asks for Σ w·z²: the size of features is what λ is measured in.
    fn needs_squares(&self) -> bool {
        self.guide == Preconditioner::Diagonal || matches!(self.lambda, Lambda::CrossValidated { .. })
    }

    fn tell(&self, event: &Event<'_>) -> Result<()> {
        self.engine.tell(event)
    }

    /// The first pass: sides of rows that are kept and left out, the number of rows, Σ w·z² of each feature.
    fn look(&self, stream: &Streamed<'_>) -> Result<(Sides, Option<Sides>, u64, Vec<f64>)> {
        let outputs = self.outputs();
        let each = outputs + 1;
        let parts = if stream.folds > 1 { 2 } else { 1 };
        let total = stream.pass(&Job {
            directions: &[],
            constants: &[],
            back: parts * each,
            plain: 1,
            squares: self.needs_squares(),
            values: &|block, i, _, out| {
                let weight = block.weights[i];
                let first = if block.is_left_out(i) { each } else { 0 };
                let to = &mut out[first..first + each];
                to.iter_mut().zip(block.targets.row(i)).for_each(|(to, y)| *to = weight * y);
                to[outputs] = weight;
                out[parts * each] = f64::from(u8::from(weight > 0.0));
            },
        })?;
        let vectors = total.vectors;
        let part = |k: usize| Sides {
            vectors: vectors[k * each..(k + 1) * each].to_vec(),
            plain: total.plain[k * each..(k + 1) * each].to_vec(),
        };
        let rows = total.plain[parts * each] as u64;
        Ok((part(0), (parts > 1).then(|| part(1)), rows, total.squares))
    }

    /// What leads at first.
    fn first_guide(&self, whole: &mut Equations<'_>, diagonal: Vec<f64>) -> Result<Guide> {
        self.tell(&Event::Started { phase: "guide" })?;
        let guide = match self.guide {
            Preconditioner::Diagonal => Guide::Diagonal(diagonal),
            Preconditioner::Sample => self.by_sample(&whole.stream)?,
            Preconditioner::Sketch => self.by_sketch(whole)?,
            Preconditioner::Nystrom { rank } => {
                let mut nystrom = Nystrom::new(self.map.output_dim(), self.map.spec().seed);
                let mut wanted = rank.min(FIRST_RANK);
                loop {
                    nystrom.grow(whole, wanted)?;
                    // Where λ is still to be found, slow steps will tell.
                    let is_enough = match self.lambda {
                        Lambda::Given { value } => nystrom.last() <= 10.0 * value,
                        Lambda::CrossValidated { .. } => true,
                    };
                    if is_enough || wanted >= rank.min(ENOUGH_RANK) {
                        break;
                    }
                    wanted = (2 * wanted).min(rank);
                }
                Guide::Nystrom(nystrom)
            }
        };
        self.tell(&Event::Finished { phase: "guide" })?;
        Ok(guide)
    }

    /// Of the sums of a sample of rows.
    fn by_sample(&self, stream: &Streamed<'_>) -> Result<Guide> {
        let features = self.map.output_dim();
        let distinct = self.sample.distinct().max(1.0);
        let share = self.shape.guide_rows(distinct) / distinct;
        let gram = Gram::zero(self.engine, features, 0, 1);
        let mut sums = SampleSums { engine: self.engine, gram };
        stream.visit(share, &mut sums)?;
        let mut is_all = share >= 1.0;
        if sums.gram.rows() == 0 {
            // Few enough that all of them can be looked at.
            stream.visit(1.0, &mut sums)?;
            is_all = true;
        }
        let check = |_| self.tell(&Event::Alive);
        let total = sums.gram.total(self.engine);
        // There may be no room for both.
        drop(sums);
        let caution = if is_all { 1.0 } else { CAUTION };
        self.whole(Normal::new(self.engine, total, self.intercept).matrix, caution, false, &check)
    }

    /// Of a sketch of all rows.
    fn by_sketch(&self, whole: &Equations<'_>) -> Result<Guide> {
        let (features, seed) = (self.map.output_dim(), self.map.spec().seed);
        let rows = (SKETCH_ROWS * features as f64) as usize;
        let means = &whole.feature_means;
        let slab = super::slab(features);
        let mut square = if self.source.scalar_bytes() == 4 {
            let mut sketched =
                Sketched { engine: self.engine, sketch: Sketch::<f32>::zero(rows, features, seed), means };
            whole.stream.visit(1.0, &mut sketched)?;
            sketched.sketch.square(self.engine, slab)
        } else {
            let mut sketched =
                Sketched { engine: self.engine, sketch: Sketch::<f64>::zero(rows, features, seed), means };
            whole.stream.visit(1.0, &mut sketched)?;
            sketched.sketch.square(self.engine, slab)
        };
        square.as_mut_slice().iter_mut().for_each(|s| *s /= whole.weight);
        let check = |_| self.tell(&Event::Alive);
        self.whole(square, CAUTION, true, &check)
    }

    /// Of a matrix like S: a factor for the λ that is given, or a form for every λ.
    fn whole(&self, matrix: Matrix<f64>, caution: f64, is_sketch: bool, check: Check<'_>) -> Result<Guide> {
        match self.lambda {
            Lambda::Given { value } => {
                Guide::factored(self.engine, matrix, caution * value, self.rounding(), is_sketch, check)
            }
            Lambda::CrossValidated { .. } => {
                Guide::whole(self.engine, matrix, self.rounding(), is_sketch, check)
            }
        }
    }

    fn rounding(&self) -> f64 {
        if self.source.scalar_bytes() == 4 { f64::from(f32::EPSILON) } else { f64::EPSILON }
    }

    /// From a guide that is slow to a better one, where there is room.
    fn better(&self, whole: &mut Equations<'_>, guide: Guide) -> Result<(Guide, bool)> {
        let limit = self.engine.memory_limit();
        let grown = |whole: &mut Equations<'_>, mut nystrom: Nystrom, rank: usize| {
            nystrom.grow(whole, rank)?;
            Ok((Guide::Nystrom(nystrom), true))
        };
        match guide {
            Guide::Whole { is_sketch: false, .. } | Guide::Factor { is_sketch: false, .. }
                if self.shape.has_room(Preconditioner::Sketch, limit, self.keeps) =>
            {
                drop(guide);
                Ok((self.by_sketch(whole)?, true))
            }
            Guide::Nystrom(nystrom) => match self.shape.rank(2 * nystrom.rank(), limit, self.keeps) {
                Some(rank) if rank > nystrom.rank() => grown(whole, nystrom, rank),
                _ => Ok((Guide::Nystrom(nystrom), false)),
            },
            Guide::Diagonal(diagonal) => match self.shape.rank(FIRST_RANK, limit, self.keeps) {
                Some(rank) => grown(whole, Nystrom::new(self.map.output_dim(), self.map.spec().seed), rank),
                None => Ok((Guide::Diagonal(diagonal), false)),
            },
            other => Ok((other, false)),
        }
    }

    /// λ with the smallest error on rows left out, the curve, and coefficients to begin with.
    fn choose(
        &self,
        part: &mut Equations<'_>,
        whole: &mut Equations<'_>,
        guide: &mut Guide,
        unit: f64,
        left_weight: f64,
    ) -> Result<(f64, Vec<CurvePoint>, Option<Vectors>)> {
        let phase = "choice of λ";
        self.tell(&Event::Started { phase })?;
        let grid: Vec<f64> = GRID.rev().map(|e| unit * 10f64.powf(f64::from(e) / 2.0)).collect();
        let outputs = self.outputs();
        let limits = Limits { tolerance: ROUGH.max(self.limits.tolerance), ..self.limits };
        let mut points: Vec<CurvePoint> = Vec::new();
        // λ whose steps ended for another reason than a small residual, and the residual.
        let mut rough: Vec<(f64, f64)> = Vec::new();
        let mut best: Option<(CurvePoint, Vectors)> = None;
        let mut start: Option<Vectors> = None;
        for (number, lambdas) in grid.chunks(LAMBDAS_TOGETHER).enumerate() {
            let column = |l: usize, o: usize| {
                Column::new(o, lambdas[l], part.sides[o].clone(), start.as_ref().map(|s| s[o].clone()))
            };
            let mut columns: Vec<Column> =
                (0..lambdas.len() * outputs).map(|k| column(k / outputs, k % outputs)).collect();
            let told = |step: usize, _| {
                let fraction = (number as f64 + step as f64 / (step + 10) as f64) / 3.0;
                self.tell(&Event::Progress { phase, rows: 0, fraction: Some(fraction) })
            };
            let better = &mut |guide: Guide| self.better(whole, guide);
            pcg::solve(part, &mut columns, guide, better, limits, &told)?;
            let of: Vec<(usize, &[f64])> = columns.iter().map(|c| (c.output, c.solution())).collect();
            part.fresh(&of)?;
            let mut has_risen = false;
            for (l, errors) in part.errors.chunks(outputs.max(1)).enumerate() {
                let error = errors.iter().sum::<f64>() / left_weight;
                if !error.is_finite() {
                    has_risen = true;
                    break;
                }
                let point = CurvePoint { lambda: lambdas[l], error };
                points.push(point);
                let unsettled = columns[l * outputs..(l + 1) * outputs].iter();
                let unsettled = unsettled.filter(|column| column.stop() != Stop::Residual);
                rough.extend(unsettled.map(|column| (lambdas[l], column.residual())));
                if best.as_ref().is_none_or(|(best, _)| error < best.error) {
                    let solutions = &columns[l * outputs..(l + 1) * outputs];
                    best = Some((point, solutions.iter().map(|c| c.solution().to_vec()).collect()));
                }
                // The first valley from the side of large λ: another beyond the hill is chance.
                has_risen = best.as_ref().is_some_and(|(best, _)| error > best.error * (1.0 + RISEN));
                if has_risen {
                    break;
                }
            }
            if has_risen {
                break;
            }
            let last = columns.split_off((lambdas.len() - 1) * outputs);
            start = Some(last.into_iter().map(Column::into_solution).collect());
        }
        self.tell(&Event::Finished { phase })?;
        points.reverse();
        let lambda = strongest(&points).map_or(0.0, |at| points[at].lambda);
        let mut unsettled = rough.iter().filter(|(at, _)| at.to_bits() == lambda.to_bits());
        if let Some((_, residual)) = unsettled.next() {
            let text = format!(
                "λ was chosen by errors of coefficients whose residual is {residual:.1e} instead of {:.1e}: another may be better; allow more steps, or give a λ",
                limits.tolerance
            );
            self.tell(&Event::Warning { text: &text })?;
        }
        Ok((lambda, points, best.map(|(_, start)| start)))
    }

    /// The coefficients at one λ.
    fn solve(
        &self,
        whole: &mut Equations<'_>,
        guide: &mut Guide,
        lambda: f64,
        start: Option<Vectors>,
    ) -> Result<(Solution, Outcome)> {
        let phase = "solve";
        self.tell(&Event::Started { phase })?;
        let column =
            |o: usize| Column::new(o, lambda, whole.sides[o].clone(), start.as_ref().map(|s| s[o].clone()));
        let mut columns: Vec<Column> = (0..self.outputs()).map(column).collect();
        let told = |_: usize, residual: f64| {
            let done = residual.max(f64::MIN_POSITIVE).ln() / self.limits.tolerance.ln();
            self.tell(&Event::Progress { phase, rows: 0, fraction: Some(done.clamp(0.0, 1.0)) })
        };
        // Another pair of hands on the same rows: the equations are at work while a better guide is made.
        let mut other = whole.again();
        let better = &mut |guide: Guide| self.better(&mut other, guide);
        pcg::solve(whole, &mut columns, guide, better, self.limits, &told)?;
        self.tell(&Event::Finished { phase })?;
        let most = |f: &dyn Fn(&Column) -> f64| columns.iter().map(f).fold(0.0, f64::max);
        let stops: Vec<Stop> = columns.iter().map(Column::stop).collect();
        let stop = [Stop::Stagnation, Stop::Steps].into_iter().find(|stop| stops.contains(stop));
        let outcome = Outcome::Conjugate {
            preconditioner: guide.kind(),
            steps: columns.iter().map(Column::steps).max().unwrap_or(0),
            residual: most(&|column| column.residual()),
            condition: most(&|column| column.condition()).max(1.0),
            stop: stop.unwrap_or(Stop::Residual),
        };
        if let Some(stop) = stop {
            self.warn(stop, &outcome)?;
        }
        let coefficients: Vectors = columns.into_iter().map(Column::into_solution).collect();
        let intercept = coefficients
            .iter()
            .zip(&whole.target_means)
            .map(|(c, y)| y - dot(c, &whole.feature_means))
            .collect();
        let coefficients =
            Matrix::from_fn(self.map.output_dim(), coefficients.len(), |j, o| coefficients[o][j]);
        Ok((Solution { coefficients, intercept }, outcome))
    }

    /// What was not reached, and what to do.
    fn warn(&self, stop: Stop, outcome: &Outcome) -> Result<()> {
        let Outcome::Conjugate { steps, residual, condition, .. } = outcome else { return Ok(()) };
        let wanted = self.limits.tolerance;
        let instead = if stop == Stop::Steps {
            "allow more steps, or more memory for a better guide, or take a larger λ"
        } else {
            "rounding leaves no more to gain: take a larger λ, or features in double precision"
        };
        let text = format!(
            "conjugate gradients ended after {steps} steps with a residual of {residual:.1e} instead of {wanted:.1e} (condition {condition:.1e}): {instead}"
        );
        self.tell(&Event::Warning { text: &text })
    }
}

impl<'a> Equations<'a> {
    fn new(stream: Streamed<'a>, sides: &Sides, intercept: bool, leaves_out: bool) -> Equations<'a> {
        let outputs = sides.plain.len() - 1;
        let weight = sides.plain[outputs];
        let mean = |sum: &f64| if intercept { sum / weight } else { 0.0 };
        let feature_means: Vec<f64> = sides.vectors[outputs].iter().map(mean).collect();
        let target_means: Vec<f64> = sides.plain[..outputs].iter().map(mean).collect();
        let side = |o: usize| {
            let centred = |(s, m): (&f64, &f64)| s / weight - m * target_means[o];
            sides.vectors[o].iter().zip(&feature_means).map(centred).collect()
        };
        Equations {
            sides: (0..outputs).map(side).collect(),
            stream,
            feature_means,
            target_means,
            weight,
            leaves_out,
            errors: Vec::new(),
        }
    }

    /// The same, without right sides.
    fn again(&self) -> Equations<'a> {
        Equations {
            stream: self.stream,
            feature_means: self.feature_means.clone(),
            target_means: self.target_means.clone(),
            sides: Vec::new(),
            weight: self.weight,
            leaves_out: self.leaves_out,
            errors: Vec::new(),
        }
    }

    /// Σ value·(z − z̄)/Σw.
    fn centred(&self, vectors: Vectors, plain: &[f64]) -> Vectors {
        let centre = |(mut vector, sum): (Vec<f64>, &f64)| {
            vector.iter_mut().zip(&self.feature_means).for_each(|(v, m)| *v = (*v - m * sum) / self.weight);
            vector
        };
        vectors.into_iter().zip(plain).map(centre).collect()
    }

    fn constants(&self, vectors: &[&[f64]]) -> Vec<f64> {
        vectors.iter().map(|v| dot(&self.feature_means, v)).collect()
    }
}

impl Operator for Equations<'_> {
    fn apply(&mut self, vectors: &[&[f64]]) -> Result<Vectors> {
        let constants = self.constants(vectors);
        let total = self.stream.pass(&Job {
            directions: vectors,
            constants: &[],
            back: vectors.len(),
            plain: 0,
            squares: false,
            values: &|block, i, reach, out| {
                let is_out = self.leaves_out && block.is_left_out(i);
                let weight = if is_out { 0.0 } else { block.weights[i] };
                for ((out, reach), constant) in out.iter_mut().zip(reach).zip(&constants) {
                    *out = weight * (reach - constant);
                }
            },
        })?;
        Ok(self.centred(total.vectors, &total.plain))
    }

    fn fresh(&mut self, of: &[(usize, &[f64])]) -> Result<Vectors> {
        let vectors: Vec<&[f64]> = of.iter().map(|(_, v)| *v).collect();
        let constants = self.constants(&vectors);
        let count = of.len();
        let errors = if self.leaves_out { count } else { 0 };
        let total = self.stream.pass(&Job {
            directions: &vectors,
            constants: &[],
            back: count,
            plain: errors,
            squares: false,
            values: &|block, i, reach, out| {
                let (weight, is_out) = (block.weights[i], self.leaves_out && block.is_left_out(i));
                for (k, &(o, _)) in of.iter().enumerate() {
                    let error = block.targets.row(i)[o] - self.target_means[o] - (reach[k] - constants[k]);
                    out[k] = if is_out { 0.0 } else { weight * error };
                    if errors > 0 {
                        out[count + k] = if is_out { weight * error * error } else { 0.0 };
                    }
                }
            },
        })?;
        self.errors = total.plain[count..].to_vec();
        Ok(self.centred(total.vectors, &total.plain))
    }

    fn engine(&self) -> &Engine {
        self.stream.engine
    }
}

/// Sums of products of a sample's features.
struct SampleSums<'a> {
    engine: &'a Engine,
    gram: Gram,
}

impl Visitor for SampleSums<'_> {
    fn visit<T: Scalar>(&mut self, z: MatrixView<'_, T>, rows: &Shown<'_>, spare: &mut Aligned<T>) {
        let weights = rows.weights();
        if let Ok(none) = MatrixView::new(&[], z.rows(), 0) {
            self.gram.absorb(self.engine, z, none, &|i| weights[i], &|_| 0, spare);
        }
    }
}

/// A sketch of rows minus their means.
struct Sketched<'a, S> {
    engine: &'a Engine,
    sketch: Sketch<S>,
    means: &'a [f64],
}

impl<S: Scalar> Visitor for Sketched<'_, S> {
    fn visit<T: Scalar>(&mut self, z: MatrixView<'_, T>, rows: &Shown<'_>, _: &mut Aligned<T>) {
        self.sketch.absorb(self.engine, z, &rows.numbers(), &rows.weights(), self.means);
    }
}

#[cfg(test)]
mod tests;
