//! How far features are from their kernel, and how far the bounds allow them to be.
//!
//! ```text
//! one pair       P(|z·z′ − k| ≥ ε) ≤ 2·exp(−ε²/v)          v = 4/D pairs, 8/D offsets, 1/(2P) binning (Hoeffding)
//! all pairs of N points at once                            ε = √(v·(2·ln N − ln δ))
//! ```

use bochner::certify::{Bound, Certificate};
use bochner::stat::Sample;
use bochner::{Bins, Engine, FourierForm, FrequencyDraw, Kernel, Map, MapSpec, Matrix, Method, Rows};
use serde::Serialize;

use super::digits::Digits;
use super::experiment::{fourier, gaussian, mean};
use crate::exit::Failure;
use crate::text;

/// Rows of the test half that are compared with each other.
const POINTS: usize = 200;

/// Numbers of features.
const SIZES: [usize; 8] = [32, 64, 128, 256, 512, 1024, 2048, 4096];

/// Repetitions with other seeds.
const SEEDS: u64 = 3;

/// The error of one kind of features against their number.
#[derive(Serialize)]
pub(super) struct KernelError {
    pub(super) name: &'static str,
    pub(super) points: Vec<ErrorPoint>,
}

#[derive(Serialize)]
pub(super) struct ErrorPoint {
    pub(super) features: usize,
    /// Over all pairs of points: root of the mean square, and the largest.
    pub(super) typical: f64,
    pub(super) largest: f64,
    /// ε that one pair, and that all pairs, exceed with probability 5 % at most; none where no bound holds.
    pub(super) one_pair: Option<f64>,
    pub(super) all_pairs: Option<f64>,
}

impl KernelError {
    /// The certificate of 256 features in a line: what was measured, and the bound; none where no bound holds.
    pub(super) fn text(&self) -> Option<String> {
        let point = self.points.iter().find(|point| point.features == 256)?;
        Some(format!(
            "Kernel error of {} {}: {} typically, {} at most on pairs of {POINTS} digits; bound {} for all of them, with probability 0.95.",
            point.features,
            self.name,
            text::significant(point.typical, 2),
            text::significant(point.largest, 2),
            text::significant(point.all_pairs?, 2),
        ))
    }
}

pub(super) fn measure(
    engine: &Engine,
    digits: &Digits,
    laplace: Kernel,
    seed: u64,
    mut step: impl FnMut() -> Result<(), Failure>,
) -> Result<Vec<KernelError>, Failure> {
    use FourierForm::{Offset, Pairs};
    use FrequencyDraw::{Independent, Orthogonal};
    let rows = Matrix::from_fn(POINTS, digits.test.x.columns(), |i, j| digits.test.x.row(i)[j]);
    let kinds = [
        ("pairs (cos, sin)", gaussian(), fourier(Pairs, Independent)),
        ("offsets cos(ω·x + b)", gaussian(), fourier(Offset, Independent)),
        ("orthogonal pairs", gaussian(), fourier(Pairs, Orthogonal)),
        ("binning, Laplace", laplace, Method::Binning { bins: Bins::Fitted }),
    ];
    let mut found = Vec::new();
    for (name, kernel, method) in kinds {
        let exact = kernel.gram(engine, &Rows::from(&rows), &Rows::from(&rows))?;
        let mut points = Vec::new();
        for features in SIZES {
            let spec = MapSpec { kernel: kernel.clone(), method, features, seed };
            points.push(point(engine, &spec, &rows, &exact)?);
        }
        found.push(KernelError { name, points });
        for _ in 0..4 {
            step()?;
        }
    }
    Ok(found)
}

fn point(
    engine: &Engine,
    spec: &MapSpec,
    rows: &Matrix<f64>,
    exact: &Matrix<f64>,
) -> Result<ErrorPoint, Failure> {
    let (mut squares, mut largest, mut bounds) = (Vec::new(), 0.0f64, (None, None));
    let none = vec![0.0; rows.rows()];
    let sample = Sample::of(engine, &(rows, &none), rows.rows() + 1, spec.seed)?;
    for offset in 0..SEEDS {
        let spec = MapSpec { seed: spec.seed.wrapping_add(offset), ..spec.clone() };
        let map = spec.fit(engine, &sample)?;
        let approximate = products(engine, &map, rows)?;
        for i in 0..rows.rows() {
            for j in 0..i {
                let error = (approximate.row(i)[j] - exact.row(i)[j]).abs();
                squares.push(error * error);
                largest = largest.max(error);
            }
        }
        if offset == 0 {
            let certificate = Certificate::measure(engine, &map, &sample)?;
            if let Bound::FiniteSet { epsilon, one_pair, holds: true, .. } = certificate.bound {
                bounds = (one_pair, Some(epsilon));
            }
        }
    }
    Ok(ErrorPoint {
        features: spec.features,
        typical: mean(&squares).sqrt(),
        largest,
        one_pair: bounds.0,
        all_pairs: bounds.1,
    })
}

/// z(xᵢ)·z(xⱼ) for all pairs.
fn products(engine: &Engine, map: &Map, rows: &Matrix<f64>) -> Result<Matrix<f64>, Failure> {
    if map.spec().is_sparse() {
        let features = map.transform_sparse(engine, &Rows::from(rows))?;
        let view = Rows::from(&features);
        let n = rows.rows();
        return Ok(Matrix::from_fn(
            n,
            n,
            |i, j| {
                if j < i { Kernel::Linear.eval(&view, i, &view, j) } else { 0.0 }
            },
        ));
    }
    let features = map.transform(engine, &Rows::from(rows))?;
    Ok(Kernel::Linear.gram(engine, &Rows::from(&features), &Rows::from(&features))?)
}
