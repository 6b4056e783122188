//! Ridge regression from its normal equations, and what is read off it.
//!
//! ```text
//! minimise  (1/Σw) Σᵢ wᵢ (yᵢ − zᵢ·c − b)² + λ‖c‖²     over c, and over b where there is an intercept
//!
//! [ (1/Σw) Σ w z zᵀ + λI    (1/Σw) Σ w z ] [ c ]     [ (1/Σw) Σ w z y ]
//! [ (1/Σw) Σ w zᵀ                 1      ] [ b ]  =  [ (1/Σw) Σ w y   ]
//! ```
//! One matrix for all targets, solved afresh for every λ and every fold. The answer is good to about ε times
//! the condition number of that matrix, so tests compare predictions, or keep λ away from 0.

use super::kernel::linear;
use super::linear::{solve, symmetric_eigen};

/// The minimiser for z of n×features and y of n×targets: coefficients (features×targets) and intercept
/// (targets, zeros where there is none). No weights means all 1.
#[expect(
    clippy::too_many_arguments,
    reason = "plain slices and their shapes: the crate has no matrix type to hold them"
)]
pub fn ridge(
    z: &[f64],
    n: usize,
    features: usize,
    y: &[f64],
    targets: usize,
    weights: Option<&[f64]>,
    lambda: f64,
    intercept: bool,
) -> (Vec<f64>, Vec<f64>) {
    let w = normalised(weights, n);
    check(z, n, features, y, targets);
    let unknowns = features + usize::from(intercept);
    // The intercept is the coefficient of a last feature that is 1 everywhere and goes unpenalised.
    let feature = |i: usize, j: usize| if j < features { z[i * features + j] } else { 1.0 };
    let (mut a, mut b) = (vec![0.0; unknowns * unknowns], vec![0.0; unknowns * targets]);
    for i in 0..n {
        for j in 0..unknowns {
            for k in 0..unknowns {
                a[j * unknowns + k] += w[i] * feature(i, j) * feature(i, k);
            }
            for k in 0..targets {
                b[j * targets + k] += w[i] * feature(i, j) * y[i * targets + k];
            }
        }
    }
    (0..features).for_each(|j| a[j * unknowns + j] += lambda);
    let mut coefficients = solve(&a, &b, unknowns, targets);
    let mut constant = coefficients.split_off(features * targets);
    constant.resize(targets, 0.0);
    (coefficients, constant)
}

/// z·c + b for each row: n×targets, where targets = `intercept.len()`.
pub fn predict(z: &[f64], n: usize, features: usize, coefficients: &[f64], intercept: &[f64]) -> Vec<f64> {
    let targets = intercept.len();
    check(z, n, features, &[], 0);
    assert_eq!(coefficients.len(), features * targets, "coefficients are {features}×{targets}");
    let entry = |i: usize, j: usize| -> f64 {
        (0..features).map(|k| z[i * features + k] * coefficients[k * targets + j]).sum()
    };
    (0..n * targets).map(|e| entry(e / targets, e % targets) + intercept[e % targets]).collect()
}

/// α of n×targets with (K + nλI) α = y: the coefficients of k(·, xᵢ) in the minimiser of
/// (1/n) Σ (yᵢ − f(xᵢ))² + λ‖f‖², for the n×n Gram matrix K.
pub fn kernel_ridge(gram: &[f64], n: usize, y: &[f64], targets: usize, lambda: f64) -> Vec<f64> {
    check(gram, n, n, y, targets);
    let shift = |e: usize| if e % n == e / n { n as f64 * lambda } else { 0.0 };
    let a: Vec<f64> = (0..n * n).map(|e| gram[e] + shift(e)).collect();
    solve(&a, y, n, targets)
}

/// The same with f + b in the place of f, b unpenalised: α (n×targets) and b (targets).
///
/// ```text
/// [ K + nλI   1 ] [ α ]     [ y ]
/// [   1ᵀ      0 ] [ b ]  =  [ 0 ]        the last row: the residuals nλα sum to 0
/// ```
pub fn kernel_ridge_with_intercept(
    gram: &[f64],
    n: usize,
    y: &[f64],
    targets: usize,
    lambda: f64,
) -> (Vec<f64>, Vec<f64>) {
    check(gram, n, n, y, targets);
    let side = n + 1;
    let entry = |i: usize, j: usize| match (i < n, j < n) {
        (true, true) if i == j => gram[i * n + j] + n as f64 * lambda,
        (true, true) => gram[i * n + j],
        (false, false) => 0.0,
        _ => 1.0,
    };
    let a: Vec<f64> = (0..side * side).map(|e| entry(e / side, e % side)).collect();
    let mut b = y.to_vec();
    b.resize(side * targets, 0.0);
    let mut alpha = solve(&a, &b, side, targets);
    let constant = alpha.split_off(n * targets);
    (alpha, constant)
}

/// Kernel ridge with weights: α of n×targets and b (zeros where there is none).
///
/// ```text
/// minimise (1/Σw) Σ wᵢ(yᵢ − f(xᵢ) − b)² + λ‖f‖²:     K + λΣw·W⁻¹ in the place of K + nλI above
/// ```
pub fn weighted_kernel_ridge(
    gram: &[f64],
    y: &[f64],
    targets: usize,
    weights: &[f64],
    lambda: f64,
    intercept: bool,
) -> (Vec<f64>, Vec<f64>) {
    let n = weights.len();
    check(gram, n, n, y, targets);
    let total: f64 = weights.iter().sum();
    let side = n + usize::from(intercept);
    let entry = |i: usize, j: usize| match (i < n, j < n) {
        (true, true) if i == j => gram[i * n + j] + lambda * total / weights[i],
        (true, true) => gram[i * n + j],
        (false, false) => 0.0,
        _ => 1.0,
    };
    let a: Vec<f64> = (0..side * side).map(|e| entry(e / side, e % side)).collect();
    let mut b = y.to_vec();
    b.resize(side * targets, 0.0);
    let mut alpha = solve(&a, &b, side, targets);
    let mut constant = alpha.split_off(n * targets);
    constant.resize(targets, 0.0);
    (alpha, constant)
}

/// The cross-validated error: each of the k folds predicted by a fit on the others.
///
/// ```text
/// (1/Σw) Σᵢ wᵢ ‖yᵢ − f₋ᵢ(zᵢ)‖²,     f₋ᵢ = ridge with the same λ on the rows j with folds[j] ≠ folds[i]
/// ```
/// Squared errors add up over the targets. The fit on a fold's complement divides by that complement's Σw.
#[expect(
    clippy::too_many_arguments,
    reason = "plain slices and their shapes: the crate has no matrix type to hold them"
)]
pub fn cross_validated_mse(
    z: &[f64],
    n: usize,
    features: usize,
    y: &[f64],
    targets: usize,
    weights: Option<&[f64]>,
    folds: &[usize],
    k: usize,
    lambda: f64,
    intercept: bool,
) -> f64 {
    check(z, n, features, y, targets);
    assert_eq!(folds.len(), n, "one fold for each row");
    assert!(folds.iter().all(|&fold| fold < k), "expected folds below {k}");
    let w = normalised(weights, n);
    let mut error = 0.0;
    for fold in 0..k {
        let (held, kept): (Vec<usize>, Vec<usize>) = (0..n).partition(|&i| folds[i] == fold);
        if held.is_empty() {
            continue;
        }
        let (z_kept, y_kept) = (gather(z, features, &kept), gather(y, targets, &kept));
        let w_kept = gather(&w, 1, &kept);
        let (c, b) = ridge(&z_kept, kept.len(), features, &y_kept, targets, Some(&w_kept), lambda, intercept);
        let fit = predict(&gather(z, features, &held), held.len(), features, &c, &b);
        for (position, &i) in held.iter().enumerate() {
            for j in 0..targets {
                error += w[i] * (y[i * targets + j] - fit[position * targets + j]).powi(2);
            }
        }
    }
    error
}

/// How many coefficients the fit effectively uses: the trace of its hat matrix, the intercept not counted.
///
/// ```text
/// Σⱼ μⱼ / (μⱼ + λ),     μ the eigenvalues of (1/Σw) Σᵢ wᵢ (zᵢ − z̄)(zᵢ − z̄)ᵀ,   z̄ the weighted mean
/// ```
/// Without an intercept z̄ is 0.
pub fn degrees_of_freedom(
    z: &[f64],
    n: usize,
    features: usize,
    weights: Option<&[f64]>,
    lambda: f64,
    intercept: bool,
) -> f64 {
    check(z, n, features, &[], 0);
    assert!(lambda > 0.0, "expected lambda above 0, found {lambda}");
    let w = normalised(weights, n);
    let column = |j: usize| (0..n).map(|i| z[i * features + j]).collect::<Vec<_>>();
    let mean = |j: usize| if intercept { linear(&w, &column(j)) } else { 0.0 };
    let means: Vec<f64> = (0..features).map(mean).collect();
    let centred = |i: usize, j: usize| z[i * features + j] - means[j];
    let covariance = |j: usize, k: usize| (0..n).map(|i| w[i] * centred(i, j) * centred(i, k)).sum::<f64>();
    let matrix: Vec<f64> = (0..features * features).map(|e| covariance(e / features, e % features)).collect();
    let (values, _) = symmetric_eigen(&matrix, features);
    values.iter().map(|mu| mu.max(0.0) / (mu.max(0.0) + lambda)).sum()
}

/// The weights divided by their sum.
fn normalised(weights: Option<&[f64]>, n: usize) -> Vec<f64> {
    let weights = weights.map_or(vec![1.0; n], <[f64]>::to_vec);
    assert_eq!(weights.len(), n, "one weight for each row");
    assert!(weights.iter().all(|&w| w >= 0.0), "weights are at least 0");
    let total: f64 = weights.iter().sum();
    assert!(total > 0.0, "expected some weight among {n} rows");
    weights.iter().map(|w| w / total).collect()
}

/// The chosen rows of a table with so many columns.
fn gather(table: &[f64], columns: usize, rows: &[usize]) -> Vec<f64> {
    rows.iter().flat_map(|&i| &table[i * columns..(i + 1) * columns]).copied().collect()
}

fn check(z: &[f64], n: usize, features: usize, y: &[f64], targets: usize) {
    assert_eq!(z.len(), n * features, "expected {n}×{features} features");
    assert_eq!(y.len(), n * targets, "expected {n}×{targets} targets");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Absolute, Relative, assert_close, gram, normals, regression, uniforms};

    #[test]
    fn one_feature_by_hand() {
        // z = −1, 0, 1 and y = 1, 2, 6: z̄ = 0, b = ȳ = 3, c = (5/3)/(2/3 + 1/3) = 5/3 at λ = 1/3.
        let (z, y) = ([-1.0, 0.0, 1.0], [1.0, 2.0, 6.0]);
        let (c, b) = ridge(&z, 3, 1, &y, 1, None, 1.0 / 3.0, true);
        assert_close(&[c[0], b[0]], &[5.0 / 3.0, 3.0], Absolute(1e-14));
        // Weights 1, 0, 1 drop the middle row: b = 3.5, c = (5/2)/(1 + 1/3).
        let (c, b) = ridge(&z, 3, 1, &y, 1, Some(&[1.0, 0.0, 1.0]), 1.0 / 3.0, true);
        assert_close(&[c[0], b[0]], &[15.0 / 8.0, 3.5], Absolute(1e-14));
        // No intercept, two targets, the second minus the first.
        let (c, b) = ridge(&[1.0, 2.0], 2, 1, &[1.0, -1.0, 3.0, -3.0], 2, None, 1.0, false);
        assert_close(&c, &[1.0, -1.0], Absolute(1e-14)); // (7/2)/(5/2 + 1)
        assert_close(&b, &[0.0, 0.0], Absolute(0.0));
    }

    /// The objective rises in every direction from the minimiser.
    #[test]
    fn the_minimiser_is_a_minimum() {
        let (n, d, lambda) = (30, 4, 0.1);
        let (z, y) = regression(n, d, 1, 1);
        let w = uniforms(n, 1, 2);
        let total: f64 = w.iter().sum();
        let objective = |c: &[f64], b: &[f64]| {
            let fit = predict(&z, n, d, c, b);
            let loss: f64 = (0..n).map(|i| w[i] * (y[i] - fit[i]).powi(2)).sum();
            loss / total + lambda * linear(c, c)
        };
        let (c, b) = ridge(&z, n, d, &y, 1, Some(&w), lambda, true);
        let least = objective(&c, &b);
        for j in 0..=d {
            for step in [-1e-3, 1e-3] {
                let (mut c, mut b) = (c.clone(), b.clone());
                *c.get_mut(j).unwrap_or(&mut b[0]) += step;
                assert!(objective(&c, &b) > least + 1e-8, "coordinate {j}");
            }
        }
    }

    #[test]
    fn a_repeated_row_is_a_doubled_weight() {
        let (n, d) = (12, 3);
        let (z, y) = regression(n, d, 2, 5);
        let (z_more, y_more) = ([&z[..], &z[..d]].concat(), [&y[..], &y[..2]].concat());
        let mut weights = vec![1.0; n];
        weights[0] = 2.0;
        let repeated = ridge(&z_more, n + 1, d, &y_more, 2, None, 0.2, true);
        let weighted = ridge(&z, n, d, &y, 2, Some(&weights), 0.2, true);
        assert_close(&weighted.0, &repeated.0, Absolute(1e-13));
        assert_close(&weighted.1, &repeated.1, Absolute(1e-13));
    }

    /// With K = ZZᵀ the dual and the primal predict the same, with and without an intercept.
    #[test]
    fn the_dual_predicts_as_the_primal() {
        let (n, d, t, lambda) = (15, 4, 2, 0.05);
        let (z, y) = regression(n, d, t, 3);
        let k = gram(&z, n, &z, n, d, linear);
        let (c, b) = ridge(&z, n, d, &y, t, None, lambda, false);
        let alpha = kernel_ridge(&k, n, &y, t, lambda);
        assert_close(&predict(&k, n, n, &alpha, &b), &predict(&z, n, d, &c, &b), Absolute(1e-11));
        let (c, b) = ridge(&z, n, d, &y, t, None, lambda, true);
        let (alpha, constant) = kernel_ridge_with_intercept(&k, n, &y, t, lambda);
        assert_close(&constant, &b, Absolute(1e-11));
        assert_close(&predict(&k, n, n, &alpha, &constant), &predict(&z, n, d, &c, &b), Absolute(1e-11));
    }

    /// The weighted dual predicts as the weighted primal, and with equal weights it is the other dual.
    #[test]
    fn the_weighted_dual_is_the_weighted_primal() {
        let (n, d, t, lambda) = (15, 4, 2, 0.05);
        let (z, y) = regression(n, d, t, 3);
        let w: Vec<f64> = uniforms(n, 1, 4).iter().map(|u| u + 0.1).collect();
        let k = gram(&z, n, &z, n, d, linear);
        for intercept in [false, true] {
            let (c, b) = ridge(&z, n, d, &y, t, Some(&w), lambda, intercept);
            let (alpha, constant) = weighted_kernel_ridge(&k, &y, t, &w, lambda, intercept);
            assert_close(&constant, &b, Absolute(1e-11));
            assert_close(&predict(&k, n, n, &alpha, &constant), &predict(&z, n, d, &c, &b), Absolute(1e-11));
        }
        let (alpha, b) = weighted_kernel_ridge(&k, &y, t, &[2.0; 15], lambda, true);
        let plain = kernel_ridge_with_intercept(&k, n, &y, t, lambda);
        assert_close(&alpha, &plain.0, Absolute(1e-9));
        assert_close(&b, &plain.1, Absolute(1e-11));
    }

    #[test]
    fn leaving_out_by_hand() {
        // Features that are all 0: each fold is predicted by the mean of the others. y = 0, 0, 6 left out one
        // at a time: errors 3², 3², 6², mean 18. With weights 1, 1, 2: 4², 4², 6²·2 over 4 = 26.
        let (z, y, folds) = ([0.0; 3], [0.0, 0.0, 6.0], [0, 1, 2]);
        let plain = cross_validated_mse(&z, 3, 1, &y, 1, None, &folds, 3, 1.0, true);
        let weighted = cross_validated_mse(&z, 3, 1, &y, 1, Some(&[1.0, 1.0, 2.0]), &folds, 3, 1.0, true);
        assert_close(&[plain, weighted], &[18.0, 26.0], Relative(1e-14));
        let two_targets = [0.0, 0.0, 0.0, 0.0, 6.0, 6.0];
        let both = cross_validated_mse(&z, 3, 1, &two_targets, 2, None, &folds, 4, 1.0, true);
        assert_close(&[both], &[36.0], Relative(1e-14));
    }

    /// Leave-one-out of a linear smoother: residual/(1 − hᵢᵢ). With λ(n)·n fixed the shortcut is exact, so
    /// each complement of n − 1 rows is asked for λ = κ/(n − 1) and the whole for κ/n.
    #[test]
    fn leaving_one_out_has_its_shortcut() {
        let (n, d, kappa) = (14, 3, 2.0);
        let (z, y) = regression(n, d, 1, 6);
        let folds: Vec<usize> = (0..n).collect();
        let found = cross_validated_mse(&z, n, d, &y, 1, None, &folds, n, kappa / (n - 1) as f64, true);
        let hat = hat_matrix(&z, n, d, None, kappa / n as f64, true);
        let fit: Vec<f64> = (0..n).map(|i| linear(&hat[i * n..(i + 1) * n], &y)).collect();
        let shortcut = |i: usize| ((y[i] - fit[i]) / (1.0 - hat[i * n + i])).powi(2);
        assert_close(&[found], &[(0..n).map(shortcut).sum::<f64>() / n as f64], Relative(1e-10));
    }

    /// H with fit = H y: one fit for each unit vector.
    fn hat_matrix(
        z: &[f64],
        n: usize,
        d: usize,
        w: Option<&[f64]>,
        lambda: f64,
        intercept: bool,
    ) -> Vec<f64> {
        let units: Vec<f64> = (0..n * n).map(|e| f64::from(u8::from(e % n == e / n))).collect();
        let (c, b) = ridge(z, n, d, &units, n, w, lambda, intercept);
        predict(z, n, d, &c, &b)
    }

    #[test]
    fn degrees_of_freedom_are_the_trace_of_the_hat_matrix() {
        let (n, d, lambda) = (20, 5, 0.3);
        let (z, w) = (normals(n, d, 7), uniforms(n, 1, 8));
        for weights in [None, Some(&w[..])] {
            for intercept in [false, true] {
                let hat = hat_matrix(&z, n, d, weights, lambda, intercept);
                let trace: f64 = (0..n).map(|i| hat[i * n + i]).sum();
                let found = degrees_of_freedom(&z, n, d, weights, lambda, intercept);
                assert_close(&[found + f64::from(u8::from(intercept))], &[trace], Relative(1e-11));
            }
        }
        // z = ±1, centred variance 1: 1/(1 + λ).
        assert_close(&[degrees_of_freedom(&[-1.0, 1.0], 2, 1, None, 3.0, true)], &[0.25], Relative(1e-15));
    }
}
