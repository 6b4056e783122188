//! Dense linear algebra as it is taught.
//!
//! ```text
//! A X = B              Gaussian elimination, the largest entry of each column taken as pivot
//! A = V diag(μ) Vᵀ     Jacobi: rotate one off-diagonal entry to zero at a time until none is left
//! ```
//! Both are slow and backward stable: residuals are of the size of rounding, whatever the condition number.

/// X of n×t with A X = B, for A of n×n and B of n×t. Panics where A is singular.
pub fn solve(a: &[f64], b: &[f64], n: usize, t: usize) -> Vec<f64> {
    assert_eq!(a.len(), n * n, "A is {n}×{n}");
    assert_eq!(b.len(), n * t, "B is {n}×{t}");
    let (mut a, mut x) = (a.to_vec(), b.to_vec());
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i * n + k].abs().total_cmp(&a[j * n + k].abs())).unwrap_or(k);
        assert!(a[pivot * n + k].abs() > 0.0, "the matrix is singular: no pivot in column {k}");
        swap_rows(&mut a, n, k, pivot);
        swap_rows(&mut x, t, k, pivot);
        for i in k + 1..n {
            let factor = a[i * n + k] / a[k * n + k];
            (k..n).for_each(|j| a[i * n + j] -= factor * a[k * n + j]);
            (0..t).for_each(|j| x[i * t + j] -= factor * x[k * t + j]);
        }
    }
    for i in (0..n).rev() {
        for j in 0..t {
            let known: f64 = (i + 1..n).map(|k| a[i * n + k] * x[k * t + j]).sum();
            x[i * t + j] = (x[i * t + j] - known) / a[i * n + i];
        }
    }
    x
}

fn swap_rows(matrix: &mut [f64], columns: usize, i: usize, j: usize) {
    (0..columns).for_each(|column| matrix.swap(i * columns + column, j * columns + column));
}

/// The eigenvalues of a symmetric n×n matrix, ascending, and its orthonormal eigenvectors: an n×n matrix
/// whose **column** j belongs to value j, so that A = V diag(μ) Vᵀ.
pub fn symmetric_eigen(a: &[f64], n: usize) -> (Vec<f64>, Vec<f64>) {
    assert_eq!(a.len(), n * n, "A is {n}×{n}");
    let size = a.iter().map(|x| x * x).sum::<f64>().sqrt();
    let asymmetry = (0..n * n).map(|e| (a[e] - a[e % n * n + e / n]).abs()).fold(0.0, f64::max);
    assert!(size.is_finite() && asymmetry <= 1e-10 * size, "expected a symmetric matrix, off by {asymmetry}");
    let mut a = a.to_vec();
    let mut vectors: Vec<f64> = (0..n * n).map(|e| f64::from(u8::from(e % n == e / n))).collect();
    let mut sweeps = 0;
    while off_diagonal(&a, n) > f64::EPSILON * size {
        for p in 0..n {
            for q in p + 1..n {
                rotate(&mut a, &mut vectors, n, (p, q));
            }
        }
        sweeps += 1;
        assert!(sweeps < 60, "Jacobi's rotations did not converge in {sweeps} sweeps");
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| a[i * n + i].total_cmp(&a[j * n + j]));
    let values = order.iter().map(|&j| a[j * n + j]).collect();
    (values, (0..n * n).map(|e| vectors[e / n * n + order[e % n]]).collect())
}

/// The Euclidean norm of what is not on the diagonal.
fn off_diagonal(a: &[f64], n: usize) -> f64 {
    (0..n * n).filter(|e| e % n != e / n).map(|e| a[e] * a[e]).sum::<f64>().sqrt()
}

/// A ← JᵀAJ and V ← VJ, with J the rotation in the plane of p and q that makes A's entry there zero.
fn rotate(a: &mut [f64], vectors: &mut [f64], n: usize, (p, q): (usize, usize)) {
    let entry = a[p * n + q];
    if entry.abs() <= 0.0 {
        return;
    }
    // tan θ is the smaller root of t² + 2ht − 1 = 0, so that |θ| ≤ π/4.
    let h = (a[q * n + q] - a[p * n + p]) / (2.0 * entry);
    let tan = 1.0_f64.copysign(h) / (h.abs() + h.hypot(1.0));
    let cos = 1.0 / tan.hypot(1.0);
    let sin = tan * cos;
    let turn = |x: f64, y: f64| (cos * x - sin * y, sin * x + cos * y);
    for i in 0..n {
        (a[i * n + p], a[i * n + q]) = turn(a[i * n + p], a[i * n + q]);
        (vectors[i * n + p], vectors[i * n + q]) = turn(vectors[i * n + p], vectors[i * n + q]);
    }
    for i in 0..n {
        (a[p * n + i], a[q * n + i]) = turn(a[p * n + i], a[q * n + i]);
    }
    (a[p * n + q], a[q * n + p]) = (0.0, 0.0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Absolute, assert_close, normals};

    /// A·B for A of n×m and B of m×t.
    fn product(a: &[f64], b: &[f64], n: usize, m: usize, t: usize) -> Vec<f64> {
        let entry = |e: usize| (0..m).map(|k| a[e / t * m + k] * b[k * t + e % t]).sum();
        (0..n * t).map(entry).collect()
    }

    fn transpose(a: &[f64], n: usize) -> Vec<f64> {
        (0..n * n).map(|e| a[e % n * n + e / n]).collect()
    }

    #[test]
    fn solve_by_hand() {
        // 2x + y = 5, x + 3y = 10 has x = 1, y = 3; a zero in the first pivot's place forces an exchange.
        assert_close(&solve(&[2.0, 1.0, 1.0, 3.0], &[5.0, 10.0], 2, 1), &[1.0, 3.0], Absolute(1e-14));
        let swapped = solve(&[0.0, 2.0, 4.0, 0.0], &[6.0, 2.0, 8.0, 4.0], 2, 2);
        assert_close(&swapped, &[2.0, 1.0, 3.0, 1.0], Absolute(1e-14));
    }

    #[test]
    fn solve_leaves_no_residual() {
        let (n, t) = (20, 3);
        let (a, b) = (normals(n, n, 1), normals(n, t, 2));
        assert_close(&product(&a, &solve(&a, &b, n, t), n, n, t), &b, Absolute(1e-11));
    }

    #[test]
    #[should_panic(expected = "singular: no pivot in column 1")]
    fn singular_matrices_are_refused() {
        solve(&[1.0, 2.0, 2.0, 4.0], &[1.0, 1.0], 2, 1);
    }

    #[test]
    fn eigen_by_hand() {
        // [2 1; 1 2] has 1 along (1, −1) and 3 along (1, 1); the path −1, 2, −1 of length n has 2 − 2
        // cos(kπ/(n+1)).
        let (values, vectors) = symmetric_eigen(&[2.0, 1.0, 1.0, 2.0], 2);
        assert_close(&values, &[1.0, 3.0], Absolute(1e-15));
        let half = 0.5_f64.sqrt();
        assert_close(&vectors.iter().map(|v| v.abs()).collect::<Vec<_>>(), &[half; 4], Absolute(1e-15));
        assert!(vectors[0] * vectors[2] < 0.0 && vectors[1] * vectors[3] > 0.0);

        let n = 12;
        let path = |e: usize| [2.0, -1.0].get((e / n).abs_diff(e % n)).copied().unwrap_or(0.0);
        let (values, _) = symmetric_eigen(&(0..n * n).map(path).collect::<Vec<_>>(), n);
        let angle = |k: usize| std::f64::consts::PI * k as f64 / (n + 1) as f64;
        let expected: Vec<f64> = (1..=n).map(|k| 2.0 - 2.0 * angle(k).cos()).collect();
        assert_close(&values, &expected, Absolute(1e-13));
    }

    #[test]
    fn eigen_rebuilds_the_matrix() {
        let n = 25;
        let x = normals(n, n, 3);
        let a: Vec<f64> = x.iter().zip(transpose(&x, n)).map(|(a, b)| a + b).collect();
        let (values, vectors) = symmetric_eigen(&a, n);
        assert!(values.is_sorted() && values[0] < 0.0);
        let scaled: Vec<f64> = (0..n * n).map(|e| vectors[e] * values[e % n]).collect();
        assert_close(&product(&scaled, &transpose(&vectors, n), n, n, n), &a, Absolute(1e-12));
        let identity: Vec<f64> = (0..n * n).map(|e| f64::from(u8::from(e % n == e / n))).collect();
        assert_close(&product(&transpose(&vectors, n), &vectors, n, n, n), &identity, Absolute(1e-13));
    }

    #[test]
    #[should_panic(expected = "expected a symmetric matrix")]
    fn eigen_refuses_what_is_not_symmetric() {
        symmetric_eigen(&[1.0, 2.0, 3.0, 4.0], 2);
    }
}
