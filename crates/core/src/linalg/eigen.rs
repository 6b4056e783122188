//! Eigenvalues and eigenvectors of a symmetric matrix: to tridiagonal form, divide and conquer, and
//! back.

use super::divide::divide;
use super::power_of_two;
use super::product::rows;
use super::tridiagonal::Tridiagonal;
use crate::engine::Check;
use crate::{Engine, Error, Matrix, Result};

/// Eigenvalues in descending order, and one row for each eigenvector, its largest entry positive.
/// The lower triangle is read.
pub(crate) fn symmetric_eigen(
    engine: &Engine,
    mut matrix: Matrix<f64>,
    check: Check<'_>,
) -> Result<(Vec<f64>, Matrix<f64>)> {
    const OVERFLOW: Error = Error::Overflow { what: "the eigenvalues" };
    let n = matrix.rows();
    let mut largest = 0f64;
    for i in 0..n {
        for entry in &matrix.row(i)[..=i] {
            largest = if entry.abs() > largest || entry.is_nan() { entry.abs() } else { largest };
        }
    }
    if !largest.is_finite() {
        return Err(OVERFLOW);
    }
    // Squares of entries must neither vanish nor overflow. (Half of the largest: the power next to
    // the largest number is none.)
    let unit = power_of_two((0.5 * largest).max(f64::from_bits(1)));
    for i in 0..n {
        let (lower, upper) = matrix.row_mut(i).split_at_mut(i + 1);
        lower.iter_mut().for_each(|entry| *entry /= unit);
        upper.fill(0.0);
    }
    // Shares of the time, roughly.
    let mut form = Tridiagonal::new(engine, matrix, &|part| check(0.6 * part))?;
    let mut vectors = Matrix::zeros(n, n);
    let (d, e) = (&mut form.diagonal, &mut form.off_diagonal);
    divide(engine, d, e, rows(vectors.as_mut_slice(), n), &|part| check(0.6 + 0.2 * part))?;
    form.rotate_back(engine, &mut vectors, &|part| check(0.8 + 0.2 * part))?;
    let values: Vec<f64> = form.diagonal.iter().rev().map(|value| value * unit).collect();
    if values.iter().any(|value| !value.is_finite()) {
        return Err(OVERFLOW);
    }
    let mut ordered = rows(vectors.as_mut_slice(), n);
    let (first, second) = ordered.split_at_mut(n / 2);
    first.iter_mut().zip(second.iter_mut().rev()).for_each(|(a, b)| a.swap_with_slice(b));
    ordered.into_iter().for_each(make_positive);
    Ok((values, vectors))
}

/// Gives a vector the sign that makes its largest entry positive.
pub(super) fn make_positive(vector: &mut [f64]) {
    let largest = vector.iter().fold(0.0, |a: f64, b| if b.abs() > a.abs() { *b } else { a });
    if largest < 0.0 {
        vector.iter_mut().for_each(|entry| *entry = -*entry);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{on_threads, symmetric};
    use super::super::{multiply, power_of_two};
    use super::*;
    use bochner_testkit::{Absolute, assert_close, assert_same_bits, normals};

    /// ‖Av − λv‖ ≤ c·n·ε·‖A‖, |VVᵀ − I| ≤ c·n·ε, values descending, the largest entry of each
    /// vector positive.
    fn check(name: &str, a: &Matrix<f64>) -> Vec<f64> {
        let n = a.rows();
        let (values, vectors) = symmetric_eigen(&Engine::default(), a.clone(), &|_| Ok(())).unwrap();
        assert!(values.windows(2).all(|w| w[0] >= w[1]), "{name}");
        let largest = a.as_slice().iter().fold(0f64, |a, b| a.max(b.abs()));
        let unit = power_of_two(largest * 0.5);
        let size = values.iter().fold(0f64, |a, b| a.max((b / unit).abs()));
        let bound = 6.0 * n.max(4) as f64 * f64::EPSILON;
        let scaled = Matrix::from_fn(n, n, |i, j| a.row(i)[j] / unit);
        let transposed = Matrix::from_fn(n, n, |i, j| vectors.row(j)[i]);
        let (images, overlaps) = (
            multiply(&Engine::default(), &vectors, &scaled),
            multiply(&Engine::default(), &vectors, &transposed),
        );
        for k in 0..n {
            let off = |j: usize| images.row(k)[j] - values[k] / unit * vectors.row(k)[j];
            let residual = (0..n).map(|j| off(j).powi(2)).sum::<f64>().sqrt();
            assert!(residual <= bound * size, "{name} {n}: value {k} is off by {residual:e}");
            for l in 0..n {
                let overlap = overlaps.row(k)[l] - f64::from(u8::from(k == l));
                assert!(overlap.abs() <= bound, "{name} {n}: vectors {k} and {l} overlap by {overlap:e}");
            }
            let top = vectors.row(k).iter().fold(0.0, |a: f64, b| if b.abs() > a.abs() { *b } else { a });
            assert!(top > 0.0, "{name} {n}: vector {k} points down");
        }
        values
    }

    #[test]
    fn vectors_are_orthonormal_and_rebuild_the_matrix() {
        for n in [1, 2, 17, 300, 1100] {
            let a = normals(n, n, 1);
            check("random", &Matrix::from_fn(n, n, |i, j| a[i * n + j] + a[j * n + i]));
        }
    }

    /// As Jacobi's method finds them, one rotation after the other.
    #[test]
    fn values_are_those_of_rotations() {
        for n in [1, 2, 3, 31, 33, 70] {
            let a = symmetric(n, 2);
            let (mut expected, _) = bochner_testkit::symmetric_eigen(a.as_slice(), n);
            expected.sort_by(|a, b| b.total_cmp(a));
            assert_close(&check("positive", &a), &expected, Absolute(1e-11 * expected[0].max(1.0)));
        }
    }

    #[test]
    fn hard_spectra() {
        for n in [1, 2, 5, 33, 64, 65, 150] {
            let random = normals(n, n, 1);
            let of = |entry: &dyn Fn(usize, usize) -> f64| Matrix::from_fn(n, n, entry);
            let diagonal = |entry: &dyn Fn(usize) -> f64| of(&|i, j| if i == j { entry(i) } else { 0.0 });
            assert!(
                check("identity", &diagonal(&|_| 1.0)).iter().all(|value| value.to_bits() == 1f64.to_bits())
            );
            assert!(check("zero", &diagonal(&|_| 0.0)).iter().all(|&value| value == 0.0));
            check("rank one", &of(&|i, j| random[i] * random[j]));
            check("ones", &of(&|_, _| 1.0));
            check("wide range", &diagonal(&|i| libm::exp2((i % 40) as f64 - 20.0)));
            let line = |main: &dyn Fn(usize) -> f64, link: f64| {
                of(&|i, j| match i.abs_diff(j) {
                    0 => main(i),
                    1 => link,
                    _ => 0.0,
                })
            };
            let mut expected: Vec<f64> = (1..=n)
                .map(|k| 2.0 - 2.0 * libm::cos(k as f64 * std::f64::consts::PI / (n + 1) as f64))
                .collect();
            expected.reverse();
            let values = check("laplacian", &line(&|_| 2.0, -1.0));
            assert_close(&values, &expected, Absolute(1e-15 * n.max(4) as f64));
            check("wilkinson", &line(&|i| i.abs_diff(n / 2) as f64, 1.0));
            check(
                "clustered",
                &of(&|i, j| 1e-10 * (random[i * n + j] + random[j * n + i]) + f64::from(u8::from(i == j))),
            );
            // An orthogonal matrix of reflections around three values.
            let length: f64 = random[..n].iter().map(|x| x * x).sum();
            let q = of(&|i, j| f64::from(u8::from(i == j)) - 2.0 * random[i] * random[j] / length);
            let few = multiply(
                &Engine::default(),
                &multiply(&Engine::default(), &q, &diagonal(&|i| (i % 3) as f64)),
                &q,
            );
            check("repeated", &of(&|i, j| few.row(i.max(j))[i.min(j)]));
            let graded = |i: usize| libm::exp2(-7.0 * i as f64);
            check("graded", &of(&|i, j| random[i.max(j) * n + i.min(j)] * graded(i) * graded(j)));
        }
    }

    /// A power of two changes no bit of a vector; what is not finite is an error.
    #[test]
    fn extremes_neither_overflow_nor_vanish() {
        let a = symmetric(40, 2);
        let (values, vectors) = symmetric_eigen(&Engine::default(), a.clone(), &|_| Ok(())).unwrap();
        let scaled_eigen = |scale: f64| {
            let scaled = Matrix::from_fn(40, 40, |i, j| a.row(i)[j] * scale);
            symmetric_eigen(&Engine::default(), scaled, &|_| Ok(())).unwrap()
        };
        for power in [-1000, -300, 300, 1000] {
            let scale = libm::exp2(f64::from(power));
            let (scaled, same) = scaled_eigen(scale);
            assert_same_bits(&scaled.iter().map(|x| x / scale).collect::<Vec<f64>>(), &values);
            assert_same_bits(vectors.as_slice(), same.as_slice());
        }
        for tiny in [f64::MIN_POSITIVE, 5e-324] {
            check("tiny", &Matrix::from_fn(3, 3, |i, j| if i == j { 2.0 * tiny } else { 0.0 }));
        }
        // The diagonal runs from 1e-300 to 1e300.
        check(
            "all sizes",
            &Matrix::from_fn(61, 61, |i, j| if i == j { libm::exp10(10.0 * i as f64 - 300.0) } else { 0.0 }),
        );
        for bad in [f64::NAN, f64::INFINITY] {
            for at in [0, 1599, 800] {
                let mut a = a.clone();
                a.as_mut_slice()[at] = bad;
                assert!(matches!(
                    symmetric_eigen(&Engine::default(), a, &|_| Ok(())),
                    Err(Error::Overflow { what: "the eigenvalues" })
                ));
            }
        }
        let huge = Matrix::from_fn(40, 40, |_, _| f64::MAX);
        assert!(matches!(
            symmetric_eigen(&Engine::default(), huge, &|_| Ok(())),
            Err(Error::Overflow { .. })
        ));
        assert!(symmetric_eigen(&Engine::default(), Matrix::zeros(0, 0), &|_| Ok(())).unwrap().0.is_empty());
    }

    #[test]
    fn threads_do_not_change_bits() {
        let a = symmetric(450, 3);
        let [one, two, seven] = on_threads(|engine| {
            let (values, vectors) = symmetric_eigen(engine, a.clone(), &|_| Ok(())).unwrap();
            [values, vectors.into_vec()].concat()
        });
        assert_same_bits(&one, &two);
        assert_same_bits(&one, &seven);
    }

    /// It asks whether to go on, and says how far it is.
    #[test]
    fn it_can_be_stopped() {
        use std::sync::Mutex;
        let parts = Mutex::new(Vec::new());
        symmetric_eigen(&Engine::default(), symmetric(300, 1), &|part| {
            parts.lock().unwrap().push(part);
            Ok(())
        })
        .unwrap();
        let parts = parts.into_inner().unwrap();
        assert!(parts.len() > 10 && parts.windows(2).all(|w| w[0] <= w[1]), "{parts:?}");
        assert!((0.0..=1.0).contains(&parts[0]) && (0.0..=1.0).contains(&parts[parts.len() - 1]));
        // In the tridiagonal form, in either half, in the last merge, on the way back.
        for last in [0.1, 0.59, 0.7, 0.9] {
            let asked = Mutex::new(0f64);
            let stop = |part: f64| {
                *asked.lock().unwrap() = part;
                if part > last { Err(Error::Interrupted) } else { Ok(()) }
            };
            let found = symmetric_eigen(&Engine::default(), symmetric(300, 1), &stop);
            assert!(matches!(found, Err(Error::Interrupted)));
            let stopped = asked.into_inner().unwrap();
            assert!(stopped <= last + 0.2, "asked to stop after {last}, it went on to {stopped}");
        }
    }
}
