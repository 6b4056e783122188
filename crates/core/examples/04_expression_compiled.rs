//! An expression with columns by name: read, bound to a table, compiled, explained, and compared with the exact kernel.
//!
//! `cargo run --example 04_expression_compiled`

#![allow(clippy::print_stdout, reason = "an example prints")]

use bochner::{Engine, Kernel, MapSpec, Matrix, Result, Rows};

const TEXT: &str = "2*gaussian(sigma=0.5)[age,income] + laplace(scale=2)[age]*poly(degree=2,c=1)[visits,spend] \
                    + chi2[visits,spend] + exp(0.5*cauchy(scale=1)[income])";

/// Root mean square and largest error of z(x)·z(y) over all pairs.
fn errors(kernel: &Kernel, features: usize, rows: &Rows<'_, f64>) -> Result<(f64, f64)> {
    let map = MapSpec { features, seed: 5, ..MapSpec::auto(kernel.clone()) }.build(rows.columns())?;
    let z = map.transform(&Engine::default(), rows)?;
    let approximate = Kernel::Linear.gram(&Rows::from(&z), &Rows::from(&z))?;
    let exact = kernel.gram(rows, rows)?;
    let differences = approximate.as_slice().iter().zip(exact.as_slice()).map(|(a, e)| a - e);
    let (square, largest) =
        differences.fold((0.0, 0.0f64), |(sum, most), e| (sum + e * e, most.max(e.abs())));
    Ok(((square / exact.as_slice().len() as f64).sqrt(), largest))
}

fn main() -> Result<()> {
    let names = ["age", "income", "visits", "spend"].map(str::to_owned);
    let kernel: Kernel = TEXT.parse()?;
    println!("read    {kernel}");
    // Columns by number are what rows have; a name that is not there is an error that offers the nearest one.
    let bound = kernel.bind(&names)?;
    println!("bound   {bound}");
    if let Err(error) = "gaussian(sigma=1)[incom]".parse::<Kernel>()?.bind(&names) {
        println!("refused {error}");
    }

    // 300 rows: two columns between −1 and 1, two between 0 and 1.
    let x = Matrix::from_fn(300, 4, |i, j| {
        let wave = ((i * (2 * j + 3)) as f64 * 0.37 + j as f64).sin();
        if j < 2 { wave } else { wave * wave }
    });
    let rows = Rows::from(&x);

    let spec = MapSpec { features: 1024, seed: 5, ..MapSpec::auto(bound.clone()) };
    if let Some(recipe) = spec.recipe(4)? {
        println!("\n{recipe}");
    }

    println!("{:>8} {:>10} {:>10}   k(x, x) is about 7", "features", "rms error", "largest");
    for features in [128, 512, 2048, 8192] {
        let (rms, largest) = errors(&bound, features, &rows)?;
        println!("{features:>8} {rms:>10.4} {largest:>10.4}");
    }

    // The same kernel, spelt otherwise: text is read to one canonical form.
    let other: Kernel =
        "exp(cauchy(gamma=1)[income]*0.5) + (poly(c=1,degree=2))[visits,spend]*laplace(gamma=0.5)[age]"
            .parse()?;
    println!("\ntwo of its parts, spelt otherwise and read: {other}");
    Ok(())
}
