//! A model: what it costs, what was chosen, how far its kernel is from the exact one; saved and loaded.
//!
//! `cargo run --example 02_fit_certify_save`

#![allow(clippy::print_stdout, reason = "an example prints")]

use bochner::plan::bytes;
use bochner::{Engine, Kernel, Lambda, MapSpec, Matrix, Model, Result, Ridge, Rows};

fn wave(x: &[f64]) -> f64 {
    (2.0 * (x[0] * x[0] + x[1] * x[1])).sin()
}

pub(crate) fn main() -> Result<()> {
    // Waves on a disc: y = sin 2‖x‖²
    let n = 3000;
    let x = Matrix::from_fn(n, 2, |i, j| {
        let (radius, angle) = ((i as f64 / n as f64).sqrt() * 2.0, i as f64 * 2.399_963);
        radius * if j == 0 { angle.cos() } else { angle.sin() }
    });
    let y: Vec<f64> = (0..n).map(|i| wave(x.row(i))).collect();

    let kernel: Kernel = "gaussian(sigma=0.3)".parse()?;
    let map = MapSpec { features: 1024, seed: 7, ..MapSpec::auto(kernel) };
    let ridge = Ridge { lambda: Lambda::CrossValidated { folds: 5 }, ..Ridge::new(map) };
    let engine = Engine::default();

    let cost = ridge.plan(&(&x, &y))?;
    println!(
        "plan: {} at the peak, {:.1e} multiply-adds to solve",
        bytes(cost.peak_bytes),
        cost.multiply_adds_to_solve
    );

    let model = ridge.fit(&engine, &(&x, &y))?;
    if let Some(training) = model.training() {
        println!(
            "lambda {:.1e}, {:.0} degrees of freedom",
            training.lambda,
            training.degrees_of_freedom().unwrap_or(0.0)
        );
    }
    println!("{}", model.certificate());

    let path = std::env::temp_dir().join("waves.bochner");
    model.save(&path)?;
    let loaded = Model::load(&path)?;
    let new = Matrix::<f64>::new(2, 2, vec![0.0, 0.0, 1.0, 1.0])?;
    let predictions = loaded.decide(&engine, Rows::from(&new))?;
    for i in 0..2 {
        let truth = wave(new.row(i));
        println!("f({:?}) = {:.4}, in truth {truth:.4}", new.row(i), predictions.row(i)[0]);
        assert!((predictions.row(i)[0] - truth).abs() < 0.01);
    }
    std::fs::remove_file(&path).ok();
    Ok(())
}
