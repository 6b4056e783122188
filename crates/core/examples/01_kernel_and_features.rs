//! A kernel, its features, and how the error falls with their number.
//!
//! `cargo run --example 01_kernel_and_features`

#![allow(clippy::print_stdout, reason = "an example prints")]

use bochner::{Engine, Kernel, MapSpec, Matrix, Result, Rows};

pub(crate) fn main() -> Result<()> {
    let kernel: Kernel = "gaussian(sigma=2)".parse()?;
    let engine = Engine::default();

    // Two hundred points in five dimensions, from a formula.
    let x = Matrix::from_fn(200, 5, |i, j| ((i * 7 + j * 3) as f64 * 0.37).sin() * 2.0);
    let rows = Rows::from(&x);
    let exact = kernel.gram(&Engine::default(), &rows, &rows)?;

    println!("{kernel}: root mean square error of z(x)·z(y) over all pairs and 20 seeds");
    println!("{:>8} {:>12} {:>12}", "features", "independent", "orthogonal");
    for features in [64, 256, 1024, 4096] {
        let error = |spec: MapSpec| -> Result<f64> {
            let mut sum = 0.0;
            for seed in 0..20 {
                let z = MapSpec { features, seed, ..spec.clone() }.build(5)?.transform(&engine, &rows)?;
                let approximate =
                    Kernel::Linear.gram(&Engine::default(), &Rows::from(&z), &Rows::from(&z))?;
                let pairs = approximate.as_slice().iter().zip(exact.as_slice());
                sum += pairs.map(|(a, e): (&f64, &f64)| (a - e).powi(2)).sum::<f64>() / 40_000.0;
            }
            Ok((sum / 20.0).sqrt())
        };
        let independent = error(MapSpec::fourier(kernel.clone()))?;
        let orthogonal = error(MapSpec::auto(kernel.clone()))?;
        println!("{features:>8} {independent:>12.5} {orthogonal:>12.5}");
    }
    Ok(())
}
