//! Gradients of kernels: against differences of values, at corners, and what is refused.

use crate::table::{EXPRESSIONS, INPUTS, LEAVES, rows};
use bochner::kernel::{Similarity, catalogue};
use bochner::{Error, Kernel};
use bochner_testkit::{normals, uniforms};

/// What the table of kernels leaves out: corners, other orders, and each rule of the algebra on what needs all of it.
const MORE: [&str; 31] = [
    "arc_cosine(order=0)",
    "arc_cosine(order=1)[5,0..3]",
    "matern(nu=0.5,scale=2)",
    "matern(nu=0.3,scale=2)",
    "matern(nu=1,scale=3)",
    "matern(nu=3.7,scale=2)",
    "exponential(scale=[3,2,1,2,3,4,5])",
    "rational_quadratic(alpha=2,scale=[3,2,1,2,3,4,5])",
    "cauchy(scale=[3,2,1,2,3,4,5])",
    "sinc(scale=[3,2])[4,1]",
    "radial_sinc(scale=[3,2,0.3])[4,1,6]",
    "hat(width=[9,8])[4,1]",
    "bilinear(diagonal=[1,0.5])[4,1]",
    "bilinear(factor=[[1,0.5],[2,-1],[0.3,0]])[4,1]",
    "monomials(degree=4)[5,0..3]",
    "interactions(degree=7)",
    "all_subsets",
    "2*normalised(chi2)",
    "normalised(intersection)",
    "normalised(linear*intersection + 0.5*chi2[0..3])",
    "normalised(exp(0.2*linear + 0.1*intersection))",
    "normalised(weighted(decay,linear + exp(0.1*chi2)))",
    "normalised(arc_cosine(order=2) + constant)",
    "normalised(bilinear(matrix=[[2,1],[1,2]])[3,0])*parabolic",
    "normalised(normalised(poly(degree=2,c=1)) + monomials(degree=2))",
    "exp(normalised(all_subsets[0..5]))",
    "weighted(norm,gaussian(sigma=2))",
    "weighted(norm[2,0],gaussian(sigma=2)[1..4])",
    "weighted(inverse_sum[1..5],series(coefficients=[1,0,0.3]))",
    "weighted(decay[3],matern(nu=1.5,scale=2))*(linear + constant)*hat(width=20)",
    "weighted(inverse_norm,weighted(norm[1,2],exponential_chi2(gamma=0.3)))",
];

fn table() -> Vec<Kernel> {
    LEAVES.into_iter().chain(EXPRESSIONS).chain(MORE).map(|text| text.parse().unwrap()).collect()
}

/// ∂k/∂xⱼ by differences to both sides.
fn differences(kernel: &Kernel, x: &[f64], y: &[f64]) -> Vec<f64> {
    let slope = |j: usize, h: f64| (moved(kernel, x, y, j, h) - moved(kernel, x, y, j, -h)) / (2.0 * h);
    (0..x.len()).map(|j| limit(|h| slope(j, h))).collect()
}

/// The same to the right, where the domain ends or a derivative is that of one side.
fn differences_to_the_right(kernel: &Kernel, x: &[f64], y: &[f64]) -> Vec<f64> {
    let slope = |j: usize, h: f64| (moved(kernel, x, y, j, h) - kernel.value(x, y)) / h;
    (0..x.len()).map(|j| limit(|h| slope(j, h))).collect()
}

/// k(x + h·eⱼ, y).
fn moved(kernel: &Kernel, x: &[f64], y: &[f64], j: usize, h: f64) -> f64 {
    let mut x = x.to_vec();
    x[j] += h;
    kernel.value(&x, y)
}

/// For h → 0, by three of them so that errors of first order (of one side, at corners) and of second order cancel.
fn limit(slope: impl Fn(f64) -> f64) -> f64 {
    let second = |h: f64| 2.0 * slope(h) - slope(2.0 * h);
    (4.0 * second(1e-4) - second(2e-4)) / 3.0
}

/// To 1e-6 of the largest entry, and what differences lose by rounding.
fn assert_gradient(kernel: &Kernel, (x, y): (&[f64], &[f64]), expected: &[f64]) {
    let gradient = kernel.gradient(x, y).unwrap();
    let size = expected.iter().fold(0.0f64, |most, g| most.max(g.abs()));
    let tolerance = 1e-6 * size + 1e-11 * kernel.value(x, y).abs().max(0.1);
    for (j, (found, expected)) in gradient.iter().zip(expected).enumerate() {
        let error = (found - expected).abs();
        assert!(error <= tolerance, "{kernel}, column {j}: {found}, expected {expected}");
    }
}

#[test]
fn gradients_are_the_limits_of_differences() {
    let positive: Vec<f64> = uniforms(16, INPUTS, 3).iter().map(|u| 0.1 + 2.0 * u).collect();
    let any = normals(16, INPUTS, 4);
    for kernel in table() {
        let mut pairs = 0;
        for pair in positive.chunks_exact(2 * INPUTS).chain(any.chunks_exact(2 * INPUTS)) {
            let (x, y) = pair.split_at(INPUTS);
            match kernel.gradient(x, y) {
                Ok(_) => assert_gradient(&kernel, (x, y), &differences(&kernel, x, y)),
                Err(Error::OutsideDomain { .. }) => continue,
                Err(other) => panic!("{kernel}: {other}"),
            }
            pairs += 1;
        }
        assert!(pairs >= 8, "{kernel}");
    }
}

#[test]
fn every_kernel_with_a_name_has_a_gradient() {
    for entry in catalogue() {
        let kernel: Kernel = entry.example.parse().unwrap();
        let d = kernel.columns_named().unwrap_or(3);
        let numbers: Vec<f64> = uniforms(2, d, 9).iter().map(|u| 0.1 + 2.0 * u).collect();
        let (x, y) = numbers.split_at(d);
        match kernel.gradient(x, y) {
            Ok(_) => assert_gradient(&kernel, (x, y), &differences(&kernel, x, y)),
            Err(error) => assert!(error.to_string().contains("compares the texts"), "{kernel}: {error}"),
        }
    }
}

/// Rows of many zeros, most of them shared.
#[test]
fn zeros_have_derivatives_too() {
    let (x, _) = rows(12);
    for kernel in table() {
        let text = kernel.to_string();
        for p in 0..6 {
            let (x, y) = (x.row(2 * p), x.row(2 * p + 1));
            match kernel.gradient(x, y) {
                // χ² and intersection end at zero.
                Ok(_) if text.contains("chi2") || text.contains("intersection") => {}
                Ok(_) => assert_gradient(&kernel, (x, y), &differences(&kernel, x, y)),
                Err(error) => assert!(matches!(error, Error::OutsideDomain { .. }), "{kernel}: {error}"),
            }
        }
    }
    for text in [
        "chi2",
        "intersection",
        "normalised(chi2)",
        "normalised(intersection)",
        "normalised(exp(intersection))",
        "normalised(2*linear*intersection + chi2)",
        "normalised(weighted(decay,chi2))",
    ] {
        let kernel: Kernel = text.parse().unwrap();
        for p in 0..12 {
            // The last ones are rows with themselves.
            let (x, y) = (x.row(p), x.row(if p < 6 { p + 6 } else { p }));
            assert_gradient(&kernel, (x, y), &differences_to_the_right(&kernel, x, y));
        }
    }
}

#[test]
fn corners_have_the_derivative_zero() {
    let x = [0.3, 1.25, 0.0];
    let of = |text: &str, x: &[f64], y: &[f64]| text.parse::<Kernel>().unwrap().gradient(x, y).unwrap();
    let all_zero = |gradient: &[f64]| gradient.iter().all(|g| g.abs() <= 0.0);
    for text in [
        "laplace(scale=2)",
        "laplace(scale=[1,2,3])",
        "exponential(scale=2)",
        "matern(nu=0.5,scale=2)",
        "matern(nu=0.05,scale=2)",
        "matern(nu=1,scale=2)",
        "matern(nu=1.5,scale=2)",
        "gaussian(sigma=2)",
        "rational_quadratic(alpha=1,scale=2)",
        "cauchy(scale=2)",
        "sinc(scale=2)",
        "radial_sinc(scale=2)",
        "hat(width=2)",
        "intersection",
        "exponential_chi2(gamma=2)",
        "arc_cosine(order=0)",
        "normalised(exponential(scale=2) + laplace(scale=1))",
    ] {
        assert!(all_zero(&of(text, &x, &x)), "{text}");
    }
    for text in ["laplace(scale=2)", "hat(width=2)", "intersection"] {
        let gradient = of(text, &x, &[0.5, 1.25, 0.25]);
        assert!(gradient[1].abs() <= 0.0 && gradient[0] > 0.0 && gradient[2] > 0.0, "{text}: {gradient:?}");
    }
    // Where the hat ends, and where two of its factors are zero.
    assert!(all_zero(&of("hat(width=1)", &x, &[0.3, 0.25, 0.0])));
    assert!(all_zero(&of("hat(width=0.5)", &x, &[1.3, 0.25, 0.5])));
    // One factor of a product is zero: only its column moves it.
    let gradient = of("all_subsets", &[-2.0, 1.0, 3.0], &[0.5, 1.0, 2.0]);
    assert_eq!(gradient, [0.5 * 2.0 * 7.0, 0.0, 0.0]);
    assert_eq!(of("linear*poly(degree=1,c=1)", &[1.0, -1.0], &[1.0, 1.0]), [1.0, 1.0]);
    assert_eq!(of("weighted(norm,constant)", &[0.0, 0.0], &[1.0, 1.0]), [0.0, 0.0]);
    assert_eq!(of("weighted(inverse_sum,constant)", &[0.0, 2.0], &[0.0, 0.5]), [0.0, -0.5]);
}

/// Equal rows, parallel ones, opposite ones, rows of zeros, rows that are nearly equal: numbers, or an error that says why.
#[test]
fn gradients_are_finite_everywhere() {
    let x: Vec<f64> = uniforms(1, INPUTS, 5);
    let times = |c: f64| x.iter().map(|x| c * x).collect::<Vec<f64>>();
    let near: Vec<f64> = x.iter().map(|x| x + 1e-14).collect();
    for kernel in table() {
        for (x, y) in [
            (&x, &x),
            (&x, &times(3.0)),
            (&x, &times(-1.0)),
            (&x, &times(0.0)),
            (&times(0.0), &x),
            (&x, &near),
        ] {
            match kernel.gradient(x, y) {
                Ok(gradient) => assert!(gradient.iter().all(|g| g.is_finite())),
                Err(error) => assert!(matches!(error, Error::OutsideDomain { .. }), "{kernel}: {error}"),
            }
        }
    }
}

#[test]
fn what_has_no_gradient_is_refused() {
    let of = |text: &str, x: &[f64], y: &[f64]| text.parse::<Kernel>().unwrap().gradient(x, y).unwrap_err();
    assert!(matches!(of("linear", &[1.0, 2.0], &[1.0]), Error::ColumnCount { expected: 2, found: 1 }));
    assert!(matches!(of("linear[3]", &[1.0, 2.0], &[1.0, 2.0]), Error::NoSuchColumn { column: 3, count: 2 }));
    assert!(matches!(of("linear[a]", &[1.0, 2.0], &[1.0, 2.0]), Error::MissingColumn { .. }));
    assert!(matches!(of("gaussian(sigma=[1,2,3])", &[1.0], &[1.0]), Error::Length { .. }));
    let nan = of("linear", &[1.0, 2.0], &[1.0, f64::NAN]);
    assert!(matches!(nan, Error::NotFinite { row: 1, column: 1, .. }), "{nan}");
    assert!(matches!(of("chi2", &[1.0], &[-1.0]), Error::OutsideDomain { row: 1, .. }));
    assert!(matches!(of("normalised(linear)", &[0.0], &[1.0]), Error::OutsideDomain { row: 0, .. }));
    let large = of("poly(degree=9,c=1)", &[1e200], &[1e200]);
    assert!(matches!(large, Error::NotFinite { what: "the gradient", .. }), "{large}");
    assert!(matches!(Kernel::gaussian(-1.0).gradient(&[1.0], &[1.0]), Err(Error::Parameter { .. })));
}
