//! `counts JOB TIMES`: one of six fixed jobs on one thread, repeated TIMES times.
//!
//! ```text
//! cost of a job = instructions(TIMES = 1) − instructions(TIMES = 0)
//! ```
//! `bench/counts.py` runs both under callgrind. The difference leaves out start-up and the inputs.
//! Inputs are seeded. Sizes are such that the part that gives the job its name is most of the cost.

use std::error::Error;
use std::hint::black_box;

use bochner::map::{Bins, Method};
use bochner::stat::{Gram, Sample};
use bochner::{Engine, EngineSpec, Kernel, Lambda, MapSpec, Matrix, Pca, Ridge, Rows, Solver};
use bochner_testkit::uniforms;

type Outcome = Result<(), Box<dyn Error>>;

/// Prepares its inputs, then runs so many times.
type Job = fn(&Engine, usize) -> Outcome;

const JOBS: [(&str, Job); 6] = [
    ("fourier", fourier),
    ("gram", gram),
    ("landmarks", landmarks),
    ("binning", binning),
    ("cholesky", cholesky),
    ("eigen", eigen),
];

fn main() -> Outcome {
    let names = JOBS.map(|(name, _)| name).join(", ");
    let usage = format!("usage: counts JOB TIMES, where JOB is one of {names}");
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, times] = arguments.as_slice() else { return Err(usage.into()) };
    let Some((_, job)) = JOBS.iter().find(|(job, _)| job == name) else { return Err(usage.into()) };
    // The limit is given, so that nothing depends on what the machine has free.
    let engine = EngineSpec { threads: 1, memory_limit: Some(8 << 30), ..EngineSpec::default() }.build();
    job(&engine, times.parse()?)
}

/// Cosines and sines of 1,024 independent frequencies; rows of 64 columns in f32.
fn fourier(engine: &Engine, times: usize) -> Outcome {
    let x = single(4096, 64, 1)?;
    let map =
        MapSpec { features: 2048, seed: 1, ..MapSpec::fourier("gaussian(sigma=8)".parse()?) }.build(64)?;
    for _ in 0..times {
        black_box(map.transform(engine, &Rows::from(&x))?);
    }
    Ok(())
}

/// Products of 1,024 features in f32, five folds.
fn gram(engine: &Engine, times: usize) -> Outcome {
    let (z, y) = (single(2048, 1024, 2)?, double(2048, 1, 3)?);
    let mut gram = Gram::zero(engine, 1024, 1, 5);
    for _ in 0..times {
        gram.absorb(engine, z.view(), y.view(), &|_| 1.0, &|i| i % 5, &mut Default::default());
        black_box(&gram);
    }
    Ok(())
}

/// Kernel values at 512 landmarks, whitened; rows of 32 columns in f32.
fn landmarks(engine: &Engine, times: usize) -> Outcome {
    let (x, at) = (single(4096, 32, 4)?, double(512, 32, 5)?);
    let spec = MapSpec { method: Method::LANDMARKS, ..MapSpec::auto("gaussian(sigma=8)".parse()?) };
    let map = spec.fit_at(engine, &Rows::from(&at))?;
    for _ in 0..times {
        black_box(map.transform(engine, &Rows::from(&x))?);
    }
    Ok(())
}

/// Cells of 256 grids, fitted to the same rows of 16 columns in f32.
fn binning(engine: &Engine, times: usize) -> Outcome {
    let (x, y) = (single(4096, 16, 6)?, vec![0.0; 4096]);
    let method = Method::Binning { bins: Bins::Fitted };
    let spec = MapSpec { kernel: "laplace(scale=16)".parse()?, method, features: 256, seed: 1 };
    let sample = Sample::of(engine, &(&x, &y), 64, 1)?;
    let map = spec.fit_to(engine, &(&x, &y), &sample)?;
    for _ in 0..times {
        black_box(map.transform_sparse(engine, &Rows::from(&x))?);
    }
    Ok(())
}

/// Ridge regression on 1,024 columns: few rows, so that the Cholesky factor and its inverse (for
/// the degrees of freedom) are three quarters of the cost.
fn cholesky(engine: &Engine, times: usize) -> Outcome {
    let (x, y) = (double(64, 1024, 7)?, uniforms(64, 1, 8));
    let map = MapSpec::auto(Kernel::Linear);
    let ridge = Ridge { lambda: Lambda::Given { value: 1.0 }, solver: Solver::Gram, ..Ridge::new(map) };
    for _ in 0..times {
        black_box(ridge.fit(engine, &(&x, &y))?);
    }
    Ok(())
}

/// Principal components of 256 columns: few more rows, so that the eigenvectors are five sixths of
/// the cost.
fn eigen(engine: &Engine, times: usize) -> Outcome {
    let (x, y) = (double(320, 256, 9)?, vec![0.0; 320]);
    for _ in 0..times {
        black_box(Pca { components: 16 }.fit(engine, &(&x, &y))?);
    }
    Ok(())
}

/// Uniform between −1 and 1: cheaper to draw than normals, which would take longer than most jobs.
fn double(rows: usize, columns: usize, seed: u64) -> bochner::Result<Matrix<f64>> {
    Matrix::new(rows, columns, uniforms(rows, columns, seed).into_iter().map(|x| 2.0 * x - 1.0).collect())
}

fn single(rows: usize, columns: usize, seed: u64) -> bochner::Result<Matrix<f32>> {
    let double = double(rows, columns, seed)?;
    Matrix::new(rows, columns, double.into_vec().into_iter().map(|x| x as f32).collect())
}
