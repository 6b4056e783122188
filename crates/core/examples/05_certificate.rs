//! What is promised before, what is measured after, and how many features a promise takes.
//!
//! `cargo run --example 05_certificate`

#![allow(clippy::print_stdout, reason = "an example prints")]

use bochner::certify::{Bound, features_for, features_for_distance, fourier_variance, grids_for};
use bochner::{Bins, Engine, FourierForm, Kernel, MapSpec, Matrix, Method, Result, Rows};

pub(crate) fn main() -> Result<()> {
    let engine = Engine::default();
    let gaussian = Kernel::gaussian(1.0);
    let n = 1000;
    let x = Matrix::from_fn(n, 3, |i, j| ((i * (j + 2)) as f64 * 0.61 + j as f64).sin() * 1.5);
    let y = vec![0.0; n];
    let source = (&x, &y);
    let rows = Rows::from(&x);

    // From an error to a number of features, and back.
    let features = features_for(&gaussian, FourierForm::Pairs, n as u64, 0.1, 0.05)?;
    println!("{gaussian}: all pairs of {n} rows within 0.1 take {features} Fourier features");
    let spec = MapSpec { features, seed: 1, ..MapSpec::fourier(gaussian.clone()) };
    let (_, certificate) = spec.fit_certified(&engine, &source)?;
    println!("  {certificate}");
    if let Bound::FiniteSet { epsilon, .. } = certificate.bound {
        assert!(epsilon <= 0.1);
    }

    // The same for grids, which Laplace prefers.
    let laplace = Kernel::laplace(2.0);
    let grids = grids_for(&laplace, n as u64, 0.1, 0.05)?;
    let method = Method::Binning { bins: Bins::Fitted };
    let (_, certificate) = MapSpec { kernel: laplace.clone(), method, features: grids, seed: 1 }
        .fit_certified(&engine, &source)?;
    println!("{laplace}: {grids} random grids\n  {certificate}");

    // Landmarks promise without chance, after they have seen the rows.
    let spec = MapSpec { features: 100, seed: 1, ..MapSpec::landmarks(gaussian.clone()) };
    println!("{gaussian}: 100 landmarks\n  {}", spec.fit_certified(&engine, &source)?.1);

    // The variance of one pair over seeds, by the formula and by 500 maps.
    let (i, j) = (0, 7);
    let exact = gaussian.eval(&rows, i, &rows, j);
    let formula = fourier_variance(&gaussian, FourierForm::Pairs, 64, &rows, (i, j))?;
    let pair = Matrix::from_fn(2, 3, |r, c| x.row([i, j][r])[c]);
    let mut sum = 0.0;
    for seed in 0..500 {
        let map = MapSpec { features: 64, seed, ..MapSpec::fourier(gaussian.clone()) }.build(3)?;
        let z = map.transform(&engine, &Rows::from(&pair))?;
        sum += (z.row(0).iter().zip(z.row(1)).map(|(a, b)| a * b).sum::<f64>() - exact).powi(2);
    }
    println!("one pair, k = {exact:.3}, 64 features: variance {formula:.5}, of 500 seeds {:.5}", sum / 500.0);

    // Relative errors of distances need a fourth moment of the frequencies.
    let features = features_for_distance(&gaussian, 0.1, 0.05)?;
    println!("{gaussian}: a squared distance within 10 %: {features} features");
    if let Err(refusal) = features_for_distance(&laplace, 0.1, 0.05) {
        println!("{laplace}: {refusal}");
    }

    // Doubling until the measured error is small enough, with δ/2ʲ for round j.
    let spec = MapSpec { features: 256, seed: 1, ..MapSpec::auto(gaussian) };
    let adapted = spec.fit_adaptively(&engine, &source, 0.02, 0.05, 1 << 14)?;
    println!("mean error at most 0.02, with probability 0.95 over all rounds:");
    for (features, measured) in &adapted.rounds {
        println!("  {features:>5} features: {measured}");
    }
    Ok(())
}
