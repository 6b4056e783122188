//! An expression with columns by name: read, bound to a table, compiled, explained, and compared with the exact kernel.
//!
//! `cargo run --example 04_expression_compiled`

#![allow(clippy::print_stdout, reason = "an example prints")]

use bochner::{Engine, Kernel, MapSpec, Matrix, Result, Rows};

const TEXT: &str = "2*gaussian(sigma=0.5)[age,income] + laplace(scale=2)[age]*poly(degree=2,c=1)[visits,spend] \
                    + chi2[visits,spend] + exp(0.5*cauchy(scale=1)[income])";

/// Root mean square error of z(x)·z(y) over all pairs and ten seeds.
fn error(kernel: &Kernel, features: usize, rows: &Rows<'_, f64>) -> Result<f64> {
    let exact = kernel.gram(&Engine::default(), rows, rows)?;
    let mut sum = 0.0;
    for seed in 0..10 {
        let map = MapSpec { features, seed, ..MapSpec::auto(kernel.clone()) }.build(rows.columns())?;
        let z = map.transform(&Engine::default(), rows)?;
        let approximate = Kernel::Linear.gram(&Engine::default(), &Rows::from(&z), &Rows::from(&z))?;
        let pairs = approximate.as_slice().iter().zip(exact.as_slice());
        sum += pairs.map(|(a, e)| (a - e).powi(2)).sum::<f64>() / exact.as_slice().len() as f64;
    }
    Ok((sum / 10.0).sqrt())
}

pub(crate) fn main() -> Result<()> {
    let names = ["age", "income", "visits", "spend"].map(str::to_owned);
    let kernel: Kernel = TEXT.parse()?;
    println!("read    {kernel}");
    // Columns by number are what rows have; a name that is not there is an error that offers the nearest one.
    let bound = kernel.bind(&names)?;
    println!("bound   {bound}");
    if let Err(error) = "gaussian(sigma=1)[incom]".parse::<Kernel>()?.bind(&names) {
        println!("refused {error}");
    }

    // 120 rows: two columns between −1 and 1, two between 0 and 1.
    let x = Matrix::from_fn(120, 4, |i, j| {
        let wave = ((i * (2 * j + 3)) as f64 * 0.37 + j as f64).sin();
        if j < 2 { wave } else { wave * wave }
    });
    let rows = Rows::from(&x);

    let spec = MapSpec { features: 1024, seed: 0, ..MapSpec::auto(bound.clone()) };
    if let Some(recipe) = spec.recipe(4)? {
        println!("\n{recipe}");
    }

    let diagonal = bound.diagonal(&rows);
    let mean = diagonal.iter().sum::<f64>() / diagonal.len() as f64;
    println!("error of z(x)·z(y), root mean square; k(x, x) is {mean:.1} on average");
    for features in [256, 1024, 4096] {
        println!("{features:>8} features: {:.3}", error(&bound, features, &rows)?);
    }

    // Text is read to one canonical form.
    let other: Kernel = "(poly(c=1,degree=2))[visits]*3*laplace(gamma=0.5)[age]*0.5".parse()?;
    println!("\nread and printed: {other}");
    Ok(())
}
