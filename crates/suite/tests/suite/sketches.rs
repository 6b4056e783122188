//! Sketches of polynomials: means, variances, and what the compiler makes of them.

use crate::table::{engine, inner};
use bochner::certify::sketch_variance;
use bochner::map::{How, Sketch};
use bochner::{Kernel, MapSpec, Matrix, Method, Rows};
use bochner_testkit::{Absolute, assert_close, normals};

/// Standard errors that a mean may be off: a right one fails with probability 8e-11, as far as it is normal.
const SIGMAS: f64 = 6.5;

/// Rows of five columns, some of them close, one of them spiky.
fn rows() -> Matrix<f64> {
    let mut rows = Matrix::new(4, 5, normals(4, 5, 17)).unwrap();
    rows.as_mut_slice().iter_mut().for_each(|x| *x *= 0.5);
    for j in 0..5 {
        rows.row_mut(1)[j] = rows.row(0)[j] + 0.05 * j as f64;
        rows.row_mut(3)[j] = if j == 2 { 1.0 } else { 0.1 };
    }
    rows
}

const PAIRS: [(usize, usize); 4] = [(0, 1), (0, 2), (2, 3), (3, 3)];

/// z(x)·z(y) of [`PAIRS`] for each seed.
fn estimates(spec: &MapSpec, seeds: u64) -> Vec<Vec<f64>> {
    let (x, engine) = (rows(), engine(1));
    let mut found = vec![Vec::new(); PAIRS.len()];
    for seed in 0..seeds {
        let map = MapSpec { seed, ..spec.clone() }.build(x.columns()).unwrap();
        let z = map.transform(&engine, &Rows::from(&x)).unwrap();
        PAIRS.iter().zip(&mut found).for_each(|(&(i, j), list)| list.push(inner(&z, i, j)));
    }
    found
}

fn mean_and_error(list: &[f64]) -> (f64, f64) {
    let n = list.len() as f64;
    let mean = list.iter().sum::<f64>() / n;
    let variance = list.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
    (mean, (variance / n).sqrt())
}

const KERNELS: [&str; 4] =
    ["poly(degree=1,c=0.5)", "poly(degree=2)", "poly(degree=3,gamma=0.7,c=0.4)", "poly(degree=4,c=0.2)"];

/// Mean and variance are the kernel and the formula, for numbers of features that are powers of two and others, blocks cut short and not. The mean of the squared errors is within 6.5 of its
/// standard errors. Mutants: a kernel a tenth larger, and the variance of real signs, which is what dropping the imaginary parts gives.
#[test]
fn sketches_have_the_mean_and_the_variance() {
    let x = rows();
    let view = Rows::from(&x);
    let (mut apart, mut real_signs) = (0, 0);
    for text in KERNELS {
        let kernel: Kernel = text.parse().unwrap();
        for (sketch, features) in [
            (Sketch::Tensor, 16),
            (Sketch::Tensor, 13),
            (Sketch::Tensor, 1),
            (Sketch::Product, 16),
            (Sketch::Product, 26),
            (Sketch::Product, 6),
        ] {
            let spec =
                MapSpec { kernel: kernel.clone(), method: Method::Sketch { sketch }, features, seed: 0 };
            for (&(i, j), list) in PAIRS.iter().zip(estimates(&spec, 6000)) {
                let exact = kernel.eval(&view, i, &view, j);
                let (mean, error) = mean_and_error(&list);
                let radius = SIGMAS * error + 1e-9;
                assert!(
                    (mean - exact).abs() <= radius,
                    "{text} {sketch:?} {features}: {mean} ± {error}, not {exact}"
                );
                apart += usize::from((mean - 1.1 * exact).abs() > radius);
                let expected = sketch_variance(&kernel, sketch, features, (&view, i), (&view, j)).unwrap();
                let squares: Vec<f64> = list.iter().map(|v| (v - exact).powi(2)).collect();
                let (variance, error) = mean_and_error(&squares);
                let radius = SIGMAS * error + 1e-9;
                assert!(
                    (variance - expected).abs() <= radius,
                    "{text} {sketch:?} {features} {i} {j}: variance {variance} ± {error}, not {expected}"
                );
                real_signs += usize::from(
                    (variance - naive_real(&kernel, &x, (i, j)) / features as f64).abs() > radius,
                );
            }
        }
    }
    assert!(apart > 50, "{apart} means tell a tenth apart");
    assert!(real_signs > 40, "{real_signs} variances are told from those of real signs");
}

/// (‖u‖²‖v‖² + 2q² − 2S)ᵖ − q²ᵖ: one product of real sign projections.
fn naive_real(kernel: &Kernel, x: &Matrix<f64>, (i, j): (usize, usize)) -> f64 {
    let &Kernel::Polynomial { degree, gamma, c } = kernel else { panic!() };
    let lifted =
        |i: usize| -> Vec<f64> { x.row(i).iter().map(|x| x * gamma.sqrt()).chain([c.sqrt()]).collect() };
    let (u, v) = (lifted(i), lifted(j));
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let q = dot(&u, &v);
    let shared: f64 = u.iter().zip(&v).map(|(a, b)| (a * b).powi(2)).sum();
    (dot(&u, &u) * dot(&v, &v) + 2.0 * q * q - 2.0 * shared).powi(degree as i32) - q.powi(2 * degree as i32)
}

/// At equal D, of 200 pairs of random rows of each degree: where Σ_{i≠j} uᵢvᵢuⱼvⱼ is positive, which is where kernel values are large, the product sketch has the least variance and real signs have the most; and
/// so it is in the mean over all pairs.
#[test]
fn variances_are_below_those_of_peers() {
    let x = Matrix::new(40, 6, normals(40, 6, 5)).unwrap();
    let view = Rows::from(&x);
    for degree in 2..=5 {
        let kernel = Kernel::Polynomial { degree, gamma: 0.3, c: 0.5 };
        let (mut means, mut positive) = ([0.0; 3], 0);
        for p in 0..200 {
            let (i, j) = (p % 40, (p * 7 + p / 40) % 40);
            let of = |sketch| sketch_variance(&kernel, sketch, 64, (&view, i), (&view, j)).unwrap();
            let found = [of(Sketch::Product), of(Sketch::Tensor), naive_real(&kernel, &x, (i, j)) / 64.0];
            means.iter_mut().zip(found).for_each(|(mean, variance)| *mean += variance / 200.0);
            let product = |k: usize| 0.3 * x.row(i)[k] * x.row(j)[k];
            let sum: f64 = (0..6).map(product).sum::<f64>() + 0.5;
            if sum * sum > (0..6).map(|k| product(k).powi(2)).sum::<f64>() + 0.25 {
                positive += 1;
                assert!(found.is_sorted_by(|a, b| *a <= b * (1.0 + 1e-12)), "{degree}: {found:?}");
            }
        }
        assert!(positive > 50, "{positive}");
        assert!(means.is_sorted(), "{degree}: {means:?}");
    }
    // Of degree 1 the Hadamard blocks are orthogonal: whole blocks have no variance at all.
    let linear = Kernel::Polynomial { degree: 1, gamma: 1.0, c: 0.0 };
    let none = sketch_variance(&linear, Sketch::Product, 64, (&view, 0), (&view, 1)).unwrap();
    assert_close(&[none], &[0.0], Absolute(1e-12));
}

/// A map of half the features is the start of one of all: blocks are drawn one by one.
#[test]
fn fewer_product_features_are_the_first_ones() {
    let x = rows();
    let of = |features| {
        let spec = MapSpec {
            kernel: Kernel::polynomial(3, 0.5),
            method: Method::Sketch { sketch: Sketch::Product },
            features,
            seed: 4,
        };
        spec.build(5).unwrap().transform(&engine(1), &Rows::from(&x)).unwrap()
    };
    let (few, many) = (of(20), of(40));
    let scale = 2f64.sqrt();
    for i in 0..4 {
        let scaled: Vec<f64> = many.row(i)[..20].iter().map(|z| scale * z).collect();
        assert_close(few.row(i), &scaled, Absolute(1e-14));
    }
}

#[test]
fn the_compiler_sketches_what_does_not_fit() {
    let how = |text: &str, columns: usize, features: usize| {
        let kernel: Kernel = text.parse().unwrap();
        let spec = MapSpec { kernel, method: Method::Compiled { bins: None }, features, seed: 0 };
        spec.recipe(columns).unwrap().unwrap()
    };
    assert_eq!(how("poly(degree=2,c=1)", 10, 66).how, How::Exact);
    assert_eq!(how("poly(degree=2,c=1)", 10, 65).how, How::Sketch { sketch: Sketch::Product });
    assert_eq!(how("poly(degree=2,c=1)", 10, 65).features, 64);
    assert_eq!(how("poly(degree=2,c=1)", 100, 65).how, How::Sketch { sketch: Sketch::Tensor });
    assert_eq!(how("poly(degree=2,c=1)[0..3]", 100, 5).how, How::Sketch { sketch: Sketch::Product });
    assert_eq!(how("interactions(degree=2)", 10, 54).how, How::Hashed);
    assert_eq!(how("interactions(degree=2)", 10, 55).how, How::Exact);
    assert_eq!(how("interactions(degree=2)[0..3]", 10, 6).how, How::Exact);
    // Low degrees exactly, high ones sketched with shares in proportion to their coefficients.
    assert_eq!(how("series(coefficients=[1,1,0.5,0.25])", 10, 286).how, How::Exact);
    let series = how("series(coefficients=[1,1,0.5,0.25])", 40, 1000);
    let How::Join(parts) = &series.how else { panic!("{series}") };
    assert_eq!((parts[0].features, parts[1].features), (1, 40), "{series}");
    assert_eq!(parts[2].features, 638, "two thirds of 959, even\n{series}");
    assert_eq!(parts[3].features, 320, "{series}");
    // A power of x·y in a product is multiplied with frequencies as a complex number.
    let product = how("poly(degree=3,c=1)*gaussian(sigma=2)", 20, 500);
    let How::Multiply(parts) = &product.how else { panic!("{product}") };
    assert!(parts.iter().all(|part| part.features == 500), "{product}");
}

#[test]
fn sketches_are_refused_where_there_are_none() {
    let spec = |kernel: &str, sketch, features| MapSpec {
        kernel: kernel.parse().unwrap(),
        method: Method::Sketch { sketch },
        features,
        seed: 0,
    };
    for (spec, part) in [
        (spec("gaussian(sigma=1)", Sketch::Tensor, 8), "powers of x·y"),
        (spec("poly(degree=2) + linear", Sketch::Tensor, 8), "powers of x·y"),
        (spec("poly(degree=2)", Sketch::Product, 7), "even"),
        (spec("poly(degree=2)", Sketch::Tensor, 0), "at least 1"),
    ] {
        let error = spec.build(3).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    for (text, part) in [
        ("series(coefficients=[])", "number"),
        ("series(coefficients=[1,-1])", "between 0 and 1e300"),
        ("series(coefficients=[0,0])", "above 0"),
        ("monomials(degree=0)", "between 1 and 64"),
        ("interactions(degree=65)", "between 1 and 64"),
        ("interactions", "degree=…"),
    ] {
        let error = text.parse::<Kernel>().and_then(|kernel| kernel.validate()).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}

/// Small γ and long rows: each factor of a product has its share of γ, so that no intermediate number overflows where the kernel is moderate. Single precision follows double.
#[test]
fn long_rows_and_small_gammas_do_not_overflow() {
    let x = Matrix::from_fn(6, 100, |i, j| 255.0 * (((i * 100 + j) as f64 * 0.37).sin()).abs());
    let single = Matrix::from_fn(6, 100, |i, j| x.row(i)[j] as f32);
    for sketch in [Sketch::Tensor, Sketch::Product] {
        for degree in [8, 12, 30] {
            let kernel = Kernel::Polynomial { degree, gamma: 1.0 / (100.0 * 255.0 * 255.0), c: 0.5 };
            let spec = MapSpec { kernel, method: Method::Sketch { sketch }, features: 256, seed: 2 };
            let map = spec.build(100).unwrap();
            let double = map.transform(&engine(1), &Rows::from(&x)).unwrap();
            let found = map.transform(&engine(1), &Rows::from(&single)).unwrap();
            let size = double.as_slice().iter().fold(0.0f64, |most, z| most.max(z.abs()));
            assert!(size.is_finite() && size > 0.0);
            for (a, b) in found.as_slice().iter().zip(double.as_slice()) {
                assert!((f64::from(*a) - b).abs() <= 1e-3 * size, "{sketch:?} {degree}: {a} and {b}");
            }
        }
    }
}
