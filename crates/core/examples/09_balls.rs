//! Balls by a linear machine: rows lifted to (x, ‖x‖²), a separator, and the way back to a centre and a radius.
//!
//! `cargo run --example 09_balls`

#![allow(clippy::print_stdout, reason = "an example prints")]

use bochner::map::Region;
use bochner::random::{Draws, Stream};
use bochner::{
    Arrays, Engine, Kernel, LabelKind, Labels, Lambda, Linear, MapSpec, Matrix, Method, Result, Rows, Target,
};

pub(crate) fn main() -> Result<()> {
    let (engine, n, d) = (Engine::default(), 2000, 3);
    let mut draws = Draws::new(1, Stream::Sample, 0);
    let x = Matrix::from_fn(n, d, |_, _| 1.5 * draws.normal());
    let lift = MapSpec { kernel: Kernel::Parabolic, method: Method::Exact, features: 1, seed: 0 };
    let ball = Region::Ball { centre: vec![0.5, -1.0, 0.25], radius: 2.0 };
    let outside = Region::Outside { centre: vec![0.0, 0.5, 0.5], radius: 2.5 };
    let half = Region::HalfSpace { normal: vec![1.0, -1.0, 0.5], offset: 0.3 };
    println!("{:>8}  {:<60} found, from {n} rows", "correct", "the rows were labelled by");
    for truth in [ball, outside, half] {
        let inside = Matrix::from_fn(n, 1, |i, _| f64::from(u8::from(truth.contains(x.row(i)))));
        let labels = Labels::new(LabelKind::Text, vec!["out".to_owned(), "in".to_owned()]);
        let source = Arrays::new(Rows::from(&x), inside.view(), None, Target::Classes { labels })?;
        let svm = Linear { lambda: Lambda::Given { value: 1e-7 }, ..Linear::svm(lift.clone()) };
        let model = svm.fit(&engine, &source)?;
        let found = Region::of_separator(model.coefficients().row(0), model.intercept()[0])?;
        let right = (0..n).filter(|&i| found.contains(x.row(i)) == truth.contains(x.row(i))).count();
        println!("{:>6.1} %  {:<60} {}", 100.0 * right as f64 / n as f64, shown(&truth), shown(&found));
    }
    Ok(())
}

/// A region, with two digits.
fn shown(region: &Region) -> String {
    let list = |values: &[f64]| values.iter().map(|v| format!("{v:.2}")).collect::<Vec<_>>().join(", ");
    match region {
        Region::Ball { centre, radius } => format!("a ball around ({}) of radius {radius:.2}", list(centre)),
        Region::Outside { centre, radius } => {
            format!("the outside of one around ({}) of radius {radius:.2}", list(centre))
        }
        Region::HalfSpace { normal, offset } => format!("({})·x + {offset:.2} ≥ 0", list(normal)),
        other => format!("{other:?}"),
    }
}
