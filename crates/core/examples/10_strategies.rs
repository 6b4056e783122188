//! One descent by six strategies: what the plan says each costs, what was counted, and how long it took.
//!
//! `cargo run --example 10_strategies`

#![allow(clippy::print_stdout, reason = "an example prints")]

use std::time::Instant;

use bochner::learn::Counted;
use bochner::plan::Speed;
use bochner::random::{Draws, Stream};
use bochner::{Engine, Kernel, MapSpec, Matrix, Method, Result, Rows, Sgd, Strategy};

pub(crate) fn main() -> Result<()> {
    let (engine, n, d) = (Engine::default(), 2000, 12);
    let mut draws = Draws::new(1, Stream::Sample, 0);
    let x = Matrix::from_fn(n, d, |_, _| draws.normal());
    let y: Vec<f64> = (0..n).map(|i| x.row(i)[0] * x.row(i)[1] + 0.5 * x.row(i)[2]).collect();

    // 91 features of its own: all six strategies are possible. Of the sketch, 64.
    let kernel: Kernel = "poly(degree=2,gamma=0.1,c=1)".parse()?;
    let map = MapSpec { method: Method::Compiled { bins: None }, features: 64, kernel, seed: 7 };
    let sgd = Sgd { lambda: 1e-3, steps: 20_000, ..Sgd::new(map) };
    let plan = sgd.plan(&(&x, &y))?;
    println!("{}", plan.table(Speed::default(), None));

    println!(
        "{:<14} {:>15} {:>15} {:>12} {:>9}   first prediction",
        "", "planned", "counted", "bytes", "seconds"
    );
    for strategy in Strategy::ALL {
        let start = Instant::now();
        let (model, Counted { workload, counts }) =
            Sgd { strategy, ..sgd.clone() }.fit(&engine, &(&x, &y))?;
        let seconds = start.elapsed().as_secs_f64();
        let planned = workload.figures(strategy)?.counts;
        assert_eq!(planned, counts, "to the last multiply-add");
        let first = model.decide(&engine, Rows::from(&x))?.row(0)[0];
        println!(
            "{strategy:<14} {:>15} {:>15} {:>12} {seconds:>9.3}   {first:.12}",
            planned.multiply_adds, counts.multiply_adds, counts.memory_bytes
        );
    }
    println!("the first four agree but for rounding; the target was {:.12}", y[0]);
    Ok(())
}
