//! What this machine does in a second, measured in less than one.
//!
//! The loops that a fit runs are run on a small problem each, with the engine's threads. Counts follow from shapes; a count over a rate is a time. Rates are data:
//! kept with a forecast, they give the same forecast anywhere.

use std::time::Instant;

use bochner_simd::Aligned;
use serde::{Deserialize, Serialize};

use crate::content::{ContentHash, hashes_of_rows};
use crate::linalg::{Band, Cholesky};
use crate::random::{Draws, Stream};
use crate::stat::{Gram, Moments};
use crate::{Csr, Engine, Kernel, MapSpec, Matrix, OwnedRows, Result, Rows, Scalar};

/// Rates of a machine with some number of threads, by the second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Threads that were used.
    pub threads: usize,
    /// In single precision.
    pub single: Rates,
    /// In double precision.
    pub double: Rates,
    /// Multiply-adds of a reduction to a band, the work of cross-validation, of a large matrix ([`cubic`]).
    pub band: f64,
    /// Multiply-adds of a Cholesky factor, likewise.
    pub factor: f64,
}

/// Columns of a matrix that is reduced, or factored, at half of the speed of a large one: what is done a row at a time waits for memory.
const HALF: f64 = 2048.0;

/// D³, and for a small D what is lost there.
pub(crate) fn cubic(columns: f64) -> f64 {
    columns * columns * (columns + HALF)
}

/// Rates of what runs in the precision of the features.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rates {
    /// Multiply-adds of rows with frequencies.
    pub products: f64,
    /// The same of sparse rows.
    pub sparse: f64,
    /// Features made of phases.
    pub features: f64,
    /// Multiply-adds of sums of products of features.
    pub sums: f64,
    /// Entries of rows that are hashed and looked at.
    pub entries: f64,
    /// Multiply-adds with numbers that come from memory, each once.
    pub streamed: f64,
}

/// Seconds that each rate is measured for, about.
const SECONDS: f64 = 0.03;

/// Rows of the small problems, and features.
const ROWS: usize = 2048;
const FEATURES: usize = 1024;

impl Machine {
    /// Measures this machine.
    pub fn measure(engine: &Engine) -> Result<Machine> {
        let side = 768;
        let matrix =
            Matrix::from_fn(side, side, |i, j| if i == j { 2.0 } else { 1.0 / (1.0 + i.abs_diff(j) as f64) });
        let cube = cubic(side as f64);
        let free = |_: f64| Ok(());
        let band = rate(2.0 / 3.0 * cube, || Band::new(engine, matrix.clone(), &free).map(|_| ()))?;
        let factor = rate(cube / 6.0, || Cholesky::new(engine, matrix.clone(), &free).map(|_| ()))?;
        Ok(Machine {
            threads: engine.threads(),
            single: Rates::measure::<f32>(engine)?,
            double: Rates::measure::<f64>(engine)?,
            band,
            factor,
        })
    }

    /// The rates for entries of so many bytes.
    pub(crate) fn of(&self, scalar_bytes: usize) -> &Rates {
        if scalar_bytes == 4 { &self.single } else { &self.double }
    }
}

impl Rates {
    fn measure<T: Scalar>(engine: &Engine) -> Result<Rates> {
        let (narrow, wide) = (8usize, 264usize);
        let mut out = Aligned::<T>::default();
        let mut seconds = |columns: usize| -> Result<f64> {
            let map =
                MapSpec { features: FEATURES, ..MapSpec::fourier(Kernel::gaussian(1.0)) }.build(columns)?;
            let rows = uniform::<T>(columns);
            let out = out.sized(ROWS * FEATURES);
            let rate = rate(1.0, || {
                map.apply_in_parallel(engine, &Rows::from(&rows), out, false);
                Ok(())
            });
            rate.map(|rate| 1.0 / rate)
        };
        // Two equations: features, and what a column more costs.
        let (few, many) = (seconds(narrow)?, seconds(wide)?);
        let a_column = ((many - few) / (wide - narrow) as f64).max(few * 1e-3);
        let product = (ROWS * FEATURES / 2) as f64;
        let rest = (few - narrow as f64 * a_column).max(few * 0.1);

        // Every eighth entry of a wide row.
        let map = MapSpec { features: FEATURES, ..MapSpec::fourier(Kernel::gaussian(1.0)) }.build(wide)?;
        let mut thin = Csr::empty(wide);
        let entries =
            |i: usize| (i % 8..wide).step_by(8).map(|j| (j as u32, T::from_f64(1.0 / (1 + j) as f64)));
        (0..ROWS).for_each(|i| thin.push_row(entries(i)));
        let thin = OwnedRows::Sparse(thin);
        let out = out.sized(ROWS * FEATURES);
        let seconds_of_sparse = rate(1.0, || {
            map.apply_in_parallel(engine, &thin.view(), out, false);
            Ok(())
        });
        let sparse = product * (wide / 8) as f64 / (1.0 / seconds_of_sparse? - rest).max(few * 0.01);

        let z = uniform::<T>(FEATURES);
        let y = Matrix::zeros(ROWS, 1);
        let mut packed = Aligned::default();
        let mut gram = Gram::zero(engine, FEATURES, 1, 1);
        let sums = rate((ROWS * FEATURES * FEATURES / 2) as f64, || {
            gram.absorb(engine, z.view(), y.view(), &|_| 1.0, &|_| 0, &mut packed);
            Ok(())
        })?;
        let hash = ContentHash::new(0, Stream::Sample);
        let rows = uniform::<T>(64);
        let entries = rate((ROWS * 64) as f64, || {
            let mut moments = Moments::zero(64);
            moments.absorb(engine, &Rows::from(&rows), &|_| 1.0);
            std::hint::black_box((hashes_of_rows(engine, &hash, &Rows::from(&rows)), moments));
            Ok(())
        })?;
        // Memory that was never written to is one page of zeros, which no cache misses.
        let held = Matrix::from_fn(8, 1 << 20, |i, j| T::from_f64((i + j % 7) as f64));
        let streamed = rate(held.as_slice().len() as f64, || {
            let sum = |row: usize| held.row(row).iter().map(|z| z.to_f64()).sum::<f64>();
            std::hint::black_box(engine.map(held.rows(), &sum));
            Ok(())
        })?;
        let (products, features) = (product / a_column, (ROWS * FEATURES) as f64 / rest);
        Ok(Rates { products, sparse, features, sums, entries, streamed })
    }
}

/// Rows of uniform numbers.
fn uniform<T: Scalar>(columns: usize) -> Matrix<T> {
    let mut draws = Draws::new(0, Stream::Pairs, 0);
    Matrix::from_fn(ROWS, columns, |_, _| T::from_f64(draws.uniform()))
}

/// How much work is done in a second, by doing it for a while: the median of its times. The first does not count.
fn rate(work: f64, mut job: impl FnMut() -> Result<()>) -> Result<f64> {
    job()?;
    let mut times = Vec::new();
    while times.len() < 3 || times.iter().sum::<f64>() < SECONDS {
        let started = Instant::now();
        job()?;
        times.push(started.elapsed().as_secs_f64().max(1e-9));
    }
    times.sort_by(f64::total_cmp);
    Ok(work / times[times.len() / 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_measured_in_a_second_or_so_and_kept_as_data() {
        let started = Instant::now();
        let machine = Machine::measure(&Engine::default()).unwrap();
        // Ten times what is promised: tests share the machine.
        assert!(started.elapsed().as_secs_f64() < 10.0);
        for rates in [machine.single, machine.double] {
            let Rates { products, sparse, features, sums, entries, streamed } = rates;
            for rate in [products, sparse, features, sums, entries, streamed] {
                assert!(rate > 1e4 && rate.is_finite(), "{machine:?}");
            }
        }
        let text = serde_json::to_string(&machine).unwrap();
        assert_eq!(serde_json::from_str::<Machine>(&text).unwrap(), machine);
    }
}
