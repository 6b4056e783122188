//! What conjugate gradients learn of the matrix on their way: its extreme eigenvalues.
//!
//! ```text
//! T = tridiagonal,   T(j, j) = 1/aⱼ + bⱼ₋₁/aⱼ₋₁,   T(j, j+1) = √bⱼ/aⱼ        a lengths of steps, b parts of directions that are kept
//! ```
//! T is what Lanczos' method makes of P⁻¹(S + λI) (Golub & Van Loan, §10.2): its eigenvalues lie within those of the matrix and soon reach both ends. The ends of T are found by counting signs:
//! as many eigenvalues lie below t as there are negative pivots of T − tI.

/// κ of T; 1 of no steps.
pub(super) fn condition(lengths: &[f64], kept: &[f64]) -> f64 {
    let n = lengths.len();
    let ok = |value: &f64| *value > 0.0 && value.is_finite();
    if n == 0 || kept.len() + 1 < n || !lengths.iter().all(ok) || !kept[..n - 1].iter().all(ok) {
        return 1.0;
    }
    let diagonal: Vec<f64> =
        (0..n).map(|j| 1.0 / lengths[j] + if j > 0 { kept[j - 1] / lengths[j - 1] } else { 0.0 }).collect();
    let beside: Vec<f64> = (0..n - 1).map(|j| kept[j] / (lengths[j] * lengths[j])).collect();
    let root = |j: usize| beside.get(j).map_or(0.0, |b| b.sqrt());
    let reach = |j: usize| diagonal[j] + root(j) + if j > 0 { root(j - 1) } else { 0.0 };
    let top = (0..n).map(reach).fold(0.0, f64::max);
    let below = |t: f64| {
        let (mut count, mut pivot) = (0, 1.0);
        for j in 0..n {
            let left = if j > 0 { beside[j - 1] / pivot } else { 0.0 };
            pivot = diagonal[j] - t - left;
            if pivot == 0.0 {
                pivot = f64::MIN_POSITIVE.sqrt();
            }
            count += usize::from(pivot < 0.0);
        }
        count
    };
    // The smallest t with so many eigenvalues below, on a scale of ratios.
    let find = |wanted: usize| {
        let (mut low, mut high) = (top * 1e-20, top * (1.0 + 1e-12));
        for _ in 0..100 {
            let middle = (low * high).sqrt();
            if below(middle) >= wanted { high = middle } else { low = middle }
        }
        high
    };
    find(n) / find(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps on a diagonal matrix, as many as it is large: T has its eigenvalues.
    #[test]
    fn the_condition_is_that_of_the_matrix() {
        let values = [0.01, 0.5, 1.0, 3.0, 20.0];
        let (mut r, mut p) = (vec![1.0; 5], vec![0.0; 5]);
        let (mut lengths, mut kept, mut before) = (Vec::new(), Vec::new(), f64::INFINITY);
        for _ in 0..5 {
            let square: f64 = r.iter().map(|r| r * r).sum();
            let keep = square / before;
            if before.is_finite() {
                kept.push(keep);
            }
            (0..5).for_each(|j| p[j] = r[j] + keep * p[j]);
            let bend: f64 = (0..5).map(|j| values[j] * p[j] * p[j]).sum();
            lengths.push(square / bend);
            (0..5).for_each(|j| r[j] -= square / bend * values[j] * p[j]);
            before = square;
        }
        let found = condition(&lengths, &kept);
        assert!((found / 2000.0 - 1.0).abs() < 1e-6, "{found}");
        assert!(condition(&lengths[..3], &kept) < 2000.0);
        assert!(condition(&[], &[]).total_cmp(&1.0).is_eq());
    }
}
