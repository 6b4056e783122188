//! From scores to probabilities.
//!
//! ```text
//! two classes    P(second | s) = 1/(1 + e^−(a·s + b))       targets (N₊ + 1)/(N₊ + 2) and 1/(N₋ + 2)     Platt (2000)
//! C classes      P(c | s) = softmax(a·s)_c                  targets (N_c + 1)/(N_c + C), 1/(N_c + C) for each other class
//! ```
//! a, and b for two classes, minimise minus the logarithm of the probability of the targets: rows of every fold scored by the model of the other folds, so that no score is that of a
//! row the model was fitted to. The targets are those that one more row of each class would give: they keep a finite where the classes are apart. Both problems are convex. A
//! weight is a number of rows.

use std::collections::BTreeMap;

use crate::content::{ContentHash, folds as folds_of, hashes};
use crate::loss::{sigmoid, softmax, softplus};
use crate::model::Calibration;
use crate::random::Stream;
use crate::source::Source;
use crate::sweep::sweep;
use crate::{AnyRows, Engine, Error, Map, Matrix, Result, Rows, Scalar};

/// Distinct rows that are scored, and scores kept of them: two numbers are fitted to these.
const MOST_ROWS: usize = 32_768;
const MOST_NUMBERS: usize = 1 << 22;

/// Rows whose sums are taken together: pieces are added in order, whichever thread made them.
const PIECE: usize = 1024;

/// Steps of Newton's method, at most.
const STEPS: usize = 200;

/// Rows with the scores of models that have not seen them.
#[derive(Clone, Debug, Default)]
pub(super) struct Scored {
    /// Scores of a row: one for two classes, one each for more.
    pub(super) columns: usize,
    pub(super) scores: Vec<f64>,
    pub(super) classes: Vec<usize>,
    pub(super) weights: Vec<f64>,
}

/// Coefficients (outputs × features) and constants of the model without one fold; none for a fold that is not used.
pub(super) type FoldModel = Option<(Matrix<f64>, Vec<f64>)>;

impl Scored {
    pub(super) fn new(columns: usize) -> Scored {
        Scored { columns, ..Scored::default() }
    }

    pub(super) fn push(&mut self, scores: &[f64], class: usize, weight: f64) {
        self.scores.extend_from_slice(scores);
        self.classes.push(class);
        self.weights.push(weight);
    }

    /// Scores the rows of a source, each by the model of the folds that it is not in: one pass. Of many rows a sample, by content.
    pub(super) fn of(
        engine: &Engine,
        source: &dyn Source,
        map: &Map,
        models: &[FoldModel],
    ) -> Result<Scored> {
        let columns = source.target().outputs();
        let seed = map.spec().seed;
        let (folds, places) = (ContentHash::new(seed, Stream::Folds), ContentHash::new(seed, Stream::Sample));
        let stacked = Stacked::new(map, models, columns);
        let capacity = (MOST_NUMBERS / columns.max(1)).clamp(1024, MOST_ROWS);
        let mut kept: BTreeMap<u64, (Vec<f64>, BTreeMap<usize, f64>)> = BTreeMap::new();
        sweep(
            engine,
            source,
            "calibration",
            || (),
            |(), batch| {
                let folds = folds_of(engine, &folds, batch, models.len());
                let places = hashes(engine, &places, batch);
                let scores = match batch.rows {
                    AnyRows::F32(rows) => stacked.scores(engine, map, &rows),
                    AnyRows::F64(rows) => stacked.scores(engine, map, &rows),
                };
                for i in 0..batch.rows.count() {
                    let fold = folds[i];
                    if !(batch.weight(i) > 0.0) || models[fold].is_none() {
                        continue;
                    }
                    let at = i * stacked.constants.len() + fold * columns;
                    let row = || (scores[at..at + columns].to_vec(), BTreeMap::new());
                    let (_, weights) = kept.entry(places[i]).or_insert_with(row);
                    *weights.entry(batch.targets.row(i)[0] as usize).or_insert(0.0) += batch.weight(i);
                    if kept.len() > capacity {
                        kept.pop_last();
                    }
                }
            },
        )?;
        let mut scored = Scored::new(columns);
        for (scores, weights) in kept.values() {
            weights.iter().for_each(|(&class, &weight)| scored.push(scores, class, weight));
        }
        Ok(scored)
    }

    /// The numbers that make probabilities of such scores.
    pub(super) fn calibration(&self, engine: &Engine, classes: usize) -> Result<Calibration> {
        let mut counts = vec![0.0; classes];
        self.classes.iter().zip(&self.weights).for_each(|(&class, weight)| counts[class] += weight);
        if counts.iter().filter(|count| **count > 0.0).count() < 2 {
            return Err(Error::Unsupported {
                what: "calibrating probabilities".to_owned(),
                reason: "it takes rows of two classes at least in folds that a model can do without, and there are too few distinct rows",
                instead: "give more rows, or fit with logistic loss, whose scores are logarithms of odds as they are",
            });
        }
        // In units of their own size, so that scores of any scale are as well solved.
        let size = self.size(engine);
        let found = if self.columns == 1 {
            self.platt(engine, &counts, size)
        } else {
            self.temperature(engine, &counts, size)
        };
        let Calibration { slope, offset } = found;
        if slope.is_finite() && offset.is_finite() {
            Ok(found)
        } else {
            Err(Error::Overflow { what: "the calibration of probabilities" })
        }
    }

    /// The root mean square of the scores; 1 if there is none.
    fn size(&self, engine: &Engine) -> f64 {
        let [weight, sum] =
            self.sums(engine, |scores, _, w| [w, w * scores.iter().map(|s| s * s).sum::<f64>()]);
        let size = (sum / weight / self.columns as f64).sqrt();
        if size > 0.0 && size.is_finite() { size } else { 1.0 }
    }

    fn platt(&self, engine: &Engine, counts: &[f64], size: f64) -> Calibration {
        let (no, yes) = (counts[0], counts[1]);
        let targets = [1.0 / (no + 2.0), (yes + 1.0) / (yes + 2.0)];
        let value = |a: f64, b: f64| -> f64 {
            self.sums(engine, |s, class, w| {
                let odds = a * s[0] / size + b;
                [w * (softplus(odds) - targets[class] * odds)]
            })[0]
        };
        let (mut a, mut b) = (0.0, ((yes + 1.0) / (no + 1.0)).ln());
        let mut least = value(a, b);
        let total = no + yes;
        for _ in 0..STEPS {
            let [ga, gb, haa, hab, hbb] = self.sums(engine, |s, class, w| {
                let s = s[0] / size;
                let p = sigmoid(a * s + b);
                let (g, h) = (w * (p - targets[class]), w * p * (1.0 - p));
                [g * s, g, h * s * s, h * s, h]
            });
            if ga.abs().max(gb.abs()) <= 1e-12 * total {
                break;
            }
            // A hair on the diagonal: scores that are all equal decide one number only.
            let hair = 1e-12 * total;
            let (haa, hbb) = (haa + hair, hbb + hair);
            let determinant = haa * hbb - hab * hab;
            let (da, db) = ((hab * gb - hbb * ga) / determinant, (hab * ga - haa * gb) / determinant);
            let mut step = 1.0;
            let found = loop {
                let next = value(a + step * da, b + step * db);
                if next <= least + 1e-4 * step * (ga * da + gb * db) {
                    break Some(next);
                }
                step /= 2.0;
                if step < 1e-10 {
                    break None;
                }
            };
            let Some(next) = found else { break };
            (a, b, least) = (a + step * da, b + step * db, next);
        }
        Calibration { slope: a / size, offset: b }
    }

    fn temperature(&self, engine: &Engine, counts: &[f64], size: f64) -> Calibration {
        let classes = self.columns as f64;
        // The slope and the bend of the loss at a.
        let derivatives = |a: f64| -> [f64; 2] {
            self.sums(engine, |s, class, w| {
                let mut p: Vec<f64> = s.iter().map(|s| a * s / size).collect();
                softmax(&mut p);
                let other = 1.0 / (counts[class] + classes);
                let wanted: f64 =
                    s.iter().sum::<f64>() * other + s[class] * counts[class] / (counts[class] + classes);
                let mean: f64 = p.iter().zip(s).map(|(p, s)| p * s).sum();
                let square: f64 = p.iter().zip(s).map(|(p, s)| p * (s - mean) * (s - mean)).sum();
                [w * (mean - wanted) / size, w * square / (size * size)]
            })
        };
        // The slope rises with a; no probabilities are better than equal ones where it is not negative at 0.
        let (mut low, mut high) = (0.0, 1.0);
        if derivatives(0.0)[0] >= 0.0 {
            return Calibration { slope: 0.0, offset: 0.0 };
        }
        while derivatives(high)[0] < 0.0 && high < 1e12 {
            (low, high) = (high, 4.0 * high);
        }
        let mut a = 0.5 * (low + high);
        for _ in 0..STEPS {
            let [slope, bend] = derivatives(a);
            (low, high) = if slope < 0.0 { (a, high) } else { (low, a) };
            let newton = a - slope / bend;
            let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            let is_done = (next - a).abs() <= 1e-13 * a;
            a = next;
            if is_done {
                break;
            }
        }
        Calibration { slope: a / size, offset: 0.0 }
    }

    /// Sums over all rows of what a row's scores, class and weight give, in pieces that are added in order.
    fn sums<const N: usize>(
        &self,
        engine: &Engine,
        of: impl Fn(&[f64], usize, f64) -> [f64; N] + Sync,
    ) -> [f64; N] {
        let add =
            |sum: &mut [f64; N], part: [f64; N]| sum.iter_mut().zip(part).for_each(|(sum, x)| *sum += x);
        let piece = |p: usize| {
            let mut sum = [0.0; N];
            for i in p * PIECE..self.weights.len().min((p + 1) * PIECE) {
                let scores = &self.scores[i * self.columns..(i + 1) * self.columns];
                add(&mut sum, of(scores, self.classes[i], self.weights[i]));
            }
            sum
        };
        let pieces = engine.map(self.weights.len().div_ceil(PIECE), &piece);
        let mut total = [0.0; N];
        pieces.into_iter().for_each(|part| add(&mut total, part));
        total
    }
}

/// The coefficients of all folds, one below the other.
struct Stacked {
    coefficients: Vec<f64>,
    constants: Vec<f64>,
}

impl Stacked {
    fn new(map: &Map, models: &[FoldModel], columns: usize) -> Stacked {
        let width = map.output_dim();
        let mut stacked = Stacked { coefficients: Vec::new(), constants: Vec::new() };
        for model in models {
            match model {
                Some((coefficients, constants)) => {
                    stacked.coefficients.extend_from_slice(coefficients.as_slice());
                    stacked.constants.extend_from_slice(constants);
                }
                None => {
                    stacked.coefficients.resize(stacked.coefficients.len() + columns * width, 0.0);
                    stacked.constants.resize(stacked.constants.len() + columns, 0.0);
                }
            }
        }
        stacked
    }

    /// For each row, the scores of every fold's model.
    fn scores<T: Scalar>(&self, engine: &Engine, map: &Map, rows: &Rows<'_, T>) -> Vec<f64> {
        const TOGETHER: usize = 64;
        let (width, outputs) = (map.output_dim(), self.constants.len());
        let mut features = vec![T::default(); rows.count() * width];
        map.apply_in_parallel(engine, rows, &mut features, false);
        let mut out = self.constants.repeat(rows.count());
        engine.for_each_chunk(&mut out, TOGETHER * outputs, &|piece, out| {
            let data = &features[piece * TOGETHER * width..];
            let z = bochner_simd::RowsRef { data, count: out.len() / outputs, stride: width };
            bochner_simd::project(engine.isa(), z, width, &self.coefficients, out);
        });
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Engine, EngineSpec};
    use bochner_testkit::{Absolute, assert_close, assert_same_bits, normals, uniforms};

    /// Classes drawn with odds e^(1.5·s − 0.5), in scores of any scale.
    fn two(n: usize, scale: f64) -> Scored {
        let (s, u) = (normals(n, 1, 3), uniforms(n, 1, 4));
        let mut scored = Scored::new(1);
        for i in 0..n {
            let class = usize::from(u[i] < sigmoid(1.5 * s[i] - 0.5));
            scored.push(&[s[i] * scale], class, 1.0);
        }
        scored
    }

    /// The gradient vanishes, for scores of any scale; the numbers are those of the law up to the deviation of 20,000 draws.
    #[test]
    fn two_numbers_are_the_minimum() {
        for scale in [1e-6, 1.0, 1e6] {
            let scored = two(20_000, scale);
            let Calibration { slope, offset } = scored.calibration(&Engine::default(), 2).unwrap();
            assert_close(&[slope * scale, offset], &[1.5, -0.5], Absolute(0.15));
            let yes = scored.classes.iter().sum::<usize>() as f64;
            let targets = [1.0 / (20_000.0 - yes + 2.0), (yes + 1.0) / (yes + 2.0)];
            let gradient = scored.sums(&Engine::default(), |s, class, w| {
                let g = w * (sigmoid(slope * s[0] + offset) - targets[class]);
                [g, g * s[0] / scale]
            });
            assert_close(&gradient, &[0.0; 2], Absolute(1e-6));
        }
    }

    /// Softmax of two scores ±½s at one temperature is Platt's without its offset: both know the same minimum.
    #[test]
    fn temperature_is_the_minimum_of_a_fine_grid() {
        let (s, u) = (normals(3000, 3, 5), uniforms(3000, 1, 6));
        let mut scored = Scored::new(3);
        for i in 0..3000 {
            let row = &s[3 * i..3 * i + 3];
            let mut p: Vec<f64> = row.iter().map(|s| 2.5 * s).collect();
            softmax(&mut p);
            let class = usize::from(u[i] > p[0]) + usize::from(u[i] > p[0] + p[1]);
            scored.push(row, class, 1.0 + f64::from((i % 2) as u32));
        }
        let slope = scored.calibration(&Engine::default(), 3).unwrap().slope;
        assert_close(&[slope], &[2.5], Absolute(0.3));
        let mut counts = [0.0; 3];
        scored.classes.iter().zip(&scored.weights).for_each(|(&c, w)| counts[c] += w);
        let value = |a: f64| {
            scored.sums(&Engine::default(), |s, class, w| {
                let mut p: Vec<f64> = s.iter().map(|s| a * s).collect();
                let logarithm = softmax(&mut p);
                let target =
                    |c: usize| (if c == class { counts[class] + 1.0 } else { 1.0 }) / (counts[class] + 3.0);
                let wanted: f64 = (0..3).map(|c| target(c) * a * s[c]).sum();
                [w * (logarithm - wanted)]
            })[0]
        };
        for other in [0.999 * slope, 1.001 * slope] {
            assert!(value(slope) < value(other));
        }
    }

    #[test]
    fn classes_that_are_apart_have_finite_numbers() {
        let mut scored = Scored::new(1);
        (0..50).for_each(|i| scored.push(&[if i < 25 { -1.0 } else { 1.0 }], usize::from(i >= 25), 1.0));
        let Calibration { slope, offset } = scored.calibration(&Engine::default(), 2).unwrap();
        // All scores of a class are equal: their probability is the target, 26/27.
        assert_close(&[sigmoid(slope + offset)], &[26.0 / 27.0], Absolute(1e-9));
        let mut three = Scored::new(3);
        (0..30).for_each(|i| three.push(&[0, 1, 2].map(|c| f64::from(u8::from(c == i % 3))), i % 3, 1.0));
        let slope = three.calibration(&Engine::default(), 3).unwrap().slope;
        let mut p = [slope, 0.0, 0.0];
        softmax(&mut p);
        assert_close(&[p[0]], &[11.0 / 13.0], Absolute(1e-9));
        let mut one = Scored::new(1);
        one.push(&[1.0], 1, 1.0);
        assert!(matches!(one.calibration(&Engine::default(), 2), Err(Error::Unsupported { .. })));
        let mut equal = Scored::new(1);
        (0..9).for_each(|i| equal.push(&[3.0], usize::from(i < 6), 1.0));
        assert!(equal.calibration(&Engine::default(), 2).is_ok());
    }

    #[test]
    fn weight_is_repetition_and_threads_change_no_bit() {
        let scored = two(5000, 1.0);
        let (mut weighted, mut repeated) = (Scored::new(1), Scored::new(1));
        for i in 0..5000 {
            weighted.push(&[scored.scores[i]], scored.classes[i], (i % 3) as f64);
            (0..i % 3).for_each(|_| repeated.push(&[scored.scores[i]], scored.classes[i], 1.0));
        }
        let (a, b) = (
            weighted.calibration(&Engine::default(), 2).unwrap(),
            repeated.calibration(&Engine::default(), 2).unwrap(),
        );
        assert_close(&[a.slope, a.offset], &[b.slope, b.offset], Absolute(1e-9));
        let on = |threads: usize| {
            let engine = EngineSpec { threads, ..EngineSpec::default() }.build();
            let found = scored.calibration(&engine, 2).unwrap();
            [found.slope, found.offset]
        };
        assert_same_bits(&on(1), &on(2));
        assert_same_bits(&on(1), &on(7));
    }
}
