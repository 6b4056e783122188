//! A direction hidden in ten columns, found: y = sin(3·u·x) + noise, and nobody says what u is.
//!
//! Run with `cargo run --release --example 11_hidden_direction`.

#![allow(clippy::print_stdout, reason = "an example prints")]

use bochner::random::{Draws, Stream};
use bochner::{Auto, Engine, Matrix, MetricChoice, Rows};

pub(crate) fn main() -> bochner::Result<()> {
    let (n, d) = (1000, 10);
    let normal = |i: usize, j: usize| Draws::new(1, Stream::Sample, (i * d + j) as u64).normal();
    let x = Matrix::from_fn(n, d, normal);
    let length = (0..d).map(|j| ((j + 1) * (j + 1)) as f64).sum::<f64>().sqrt();
    let u: Vec<f64> = (0..d).map(|j| (j + 1) as f64 / length).collect();
    let f = |row: &[f64]| (3.0 * row.iter().zip(&u).map(|(x, u)| x * u).sum::<f64>()).sin();
    let y: Vec<f64> = (0..n).map(|i| f(x.row(i)) + 0.2 * normal(n + i, 0)).collect();
    let new = Matrix::from_fn(1000, d, |i, j| normal(2 * n + i, j));

    let engine = Engine::default();
    for metric in [MetricChoice::None, MetricChoice::Auto] {
        let model = Auto { metric, features: Some(256), ..Auto::default() }.fit(&engine, &(&x, &y))?;
        let found = model.decide(&engine, Rows::from(&new))?;
        let squares: f64 = (0..new.rows()).map(|i| (found.row(i)[0] - f(new.row(i))).powi(2)).sum();
        println!("error {:.3} of a function of deviation 0.71", (squares / new.rows() as f64).sqrt());
        if let Some(metric) = model.encoder().metric() {
            let cosine: f64 = metric.directions().row(0).iter().zip(&u).map(|(v, u)| v * u).sum();
            println!("the leading direction has {:.1} % of the gradient", 100.0 * metric.shares()[0]);
            println!("and is {:.1}° from u", cosine.abs().min(1.0).acos().to_degrees());
        }
    }
    Ok(())
}
