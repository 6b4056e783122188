//! Rows of many columns become rows of few, and distances stay: what each kind of projection promises, and what it keeps.
//!
//! `cargo run --release --example 07_distances_kept`

#![allow(clippy::print_stdout, reason = "an example prints")]

use std::time::Instant;

use bochner::certify::{
    Kept, dimension_for, epsilon_for, inner_mean, johnson_lindenstrauss, length_interval, margin_dimension,
};
use bochner::random::{Draws, Stream};
use bochner::{Engine, Kernel, MapSpec, Matrix, Method, Nonzeros, Projection, Result, Rows};

/// ‖zᵢ − zⱼ‖² of all pairs.
fn distances(z: &Matrix<f64>) -> Vec<f64> {
    let square = |i: usize, j: usize| z.row(i).iter().zip(z.row(j)).map(|(a, b)| (a - b) * (a - b)).sum();
    (0..z.rows()).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| square(i, j)).collect()
}

pub(crate) fn main() -> Result<()> {
    let engine = Engine::default();
    let (n, d, m, delta) = (200, 3000, 512, 0.05);
    // Word counts of documents: most are zero, a few are large.
    let x = Matrix::from_fn(n, d, |i, j| {
        let u = Draws::new(i as u64, Stream::Sample, j as u64).uniform();
        if u < 0.03 { (0.03 / u).sqrt().floor().min(30.0) } else { 0.0 }
    });
    let rows = Rows::from(&x);
    let exact = distances(&x);
    let shape = (n as u64, d);

    println!(
        "{n} rows of {d} columns, projected to {m}; all {} distances at once, probability 0.95",
        exact.len()
    );
    println!("{:<76} {:>8} {:>8} {:>8} {:>9} {:>12}", "", "promised", "largest", "mean", "time", "m for 0.2");
    let hashing = Projection::Sparse { nonzeros: Nonzeros::Count { count: 1 }, signed: true };
    let theorem = Projection::Sparse { nonzeros: Nonzeros::Theorem, signed: true };
    for how in [
        Projection::Gaussian,
        Projection::Signs,
        Projection::Orthonormal,
        Projection::Hadamard,
        Projection::SPARSE,
        theorem,
        hashing,
    ] {
        let spec =
            MapSpec { kernel: Kernel::Linear, method: Method::Projection { how }, features: m, seed: 1 };
        let map = spec.build(d)?;
        map.transform(&engine, &rows.slice(0..1))?; // packed, before the clock
        let start = Instant::now();
        let z = map.transform(&engine, &rows)?;
        let time = start.elapsed();
        let errors: Vec<f64> = distances(&z).iter().zip(&exact).map(|(a, b)| (a / b - 1.0).abs()).collect();
        let (largest, sum) = errors.iter().fold((0.0f64, 0.0), |(most, sum), e| (most.max(*e), sum + e));
        let promised = epsilon_for(how, Kept::Distances, shape, m, delta)?;
        let needed = dimension_for(how, Kept::Distances, shape, 0.2, delta)?;
        let mean = sum / errors.len() as f64;
        println!(
            "{:<76} {promised:>8.3} {largest:>8.3} {mean:>8.3} {time:>9.1?} {needed:>12}",
            how.to_string()
        );
        if let Some(overlap) = map.worst_overlap() {
            println!("  {overlap}");
        }
        assert!(largest <= promised, "{how}");
    }
    println!(
        "the lemma of Johnson and Lindenstrauss asks for {}",
        johnson_lindenstrauss(n as u64, 0.2, delta)?
    );
    let (low, high) = length_interval(m, delta)?;
    println!("one length, Gaussian, exactly: ‖Ax‖²/‖x‖² in [{low:.3}, {high:.3}]");

    // Without signs hashing is biased: too large for counts, by what the formula says.
    let unsigned = Projection::Sparse { nonzeros: Nonzeros::Count { count: 1 }, signed: false };
    let exact = Kernel::Linear.eval(&rows, 0, &rows, 1);
    let biased = inner_mean(unsigned, m, &rows, (0, 1))?;
    println!("x·y = {exact:.0}; hashed to {m} without signs {biased:.1} on average, with signs {exact:.0}");

    // A margin survives in a dimension that knows neither rows nor columns.
    for margin in [0.5, 0.2, 0.1] {
        println!(
            "margin {margin}: {} outputs keep half of it for 90 % of the rows",
            margin_dimension(margin, 0.1, delta)?
        );
    }
    Ok(())
}
