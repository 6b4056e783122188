//! Eigenvectors of a tridiagonal matrix by divide and conquer.
//!
//! ```text
//! T = diag(T₁, T₂) + ρvvᵀ,   v = (0, …, 1, ±1, …, 0),   Tᵢ = UᵢᵀDᵢUᵢ       T ~ diag(d) + ρzzᵀ,   z = (last column of U₁, first of U₂)
//! λ: zeros of 1/ρ + Σ zᵢ²/(dᵢ − λ)        vector j of diag(d) + ρẑẑᵀ: ẑᵢ/(dᵢ − λⱼ), normalised
//! ```
//! The ẑ are the weights whose eigenvalues are exactly the λ found, by Löwner's formula: that is
//! what makes vectors orthogonal, however close their eigenvalues are. Deflation: poles with a
//! negligible weight, and one of each pair of nearly equal poles after a rotation, have their
//! eigenvectors already and are left out. Cuppen (1981); Gu & Eisenstat (1995).

use bochner_simd::{loewner_factors, rotate, secular_differences, secular_vector};

use super::product::{add_product, operand, share};
use super::secular::{Secular, Zero};
use crate::engine::Check;
use crate::{Engine, Error, Matrix, Result};

/// Sizes that are not divided.
const LEAF: usize = 32;

/// Zeros or weights that a thread takes at once.
const SHARE: usize = 32;

/// Off-diagonal entries below this are negligible, the largest of the whole matrix being about one.
const NEGLIGIBLE: f64 = 1e-290;

/// Rows of a product after which the caller is asked whether to go on.
const STRIP: usize = 512;

/// The part of the time that is over when two halves remain to be merged: Σ (n/2ⁱ)³·2ⁱ over i ≥ 1,
/// of the sum over i ≥ 0.
const HALVES: f64 = 0.25;

/// Replaces d by the eigenvalues, ascending, and zeros `u` by the eigenvectors, one in each row, of
/// the tridiagonal matrix with diagonal `d` and off-diagonal `e`, which is overwritten.
pub(super) fn divide(
    engine: &Engine,
    d: &mut [f64],
    e: &mut [f64],
    u: Vec<&mut [f64]>,
    check: Check<'_>,
) -> Result<()> {
    check(0.0)?;
    let n = d.len();
    if n <= LEAF {
        return leaf(engine, d, e, u);
    }
    let middle = n / 2;
    let (left, right) = e.split_at_mut(middle - 1);
    let (coupling, right) = (right[0], &mut right[1..]);
    d[middle - 1] -= coupling.abs();
    d[middle] -= coupling.abs();
    let mut u = u;
    {
        let (first, second) = d.split_at_mut(middle);
        let (top, bottom) = u.split_at_mut(middle);
        let top = top.iter_mut().map(|row| &mut row[..middle]).collect();
        let bottom = bottom.iter_mut().map(|row| &mut row[middle..]).collect();
        let mut halves = [(first, left, Some(top), Ok(())), (second, right, Some(bottom), Ok(()))];
        engine.for_each_mut(&mut halves, &|_, (d, e, u, done)| {
            *done = divide(engine, d, e, u.take().unwrap_or_default(), &|_| check(0.0));
        });
        halves.into_iter().try_for_each(|(.., done)| done)?;
    }
    merge(engine, d, coupling, middle, u, &|part| check(HALVES + (1.0 - HALVES) * part))
}

/// Where the entries of a vector are that are not zero.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    First,
    Second,
    Both,
}

/// The poles that are left after deflation, and the eigenvectors that are known already.
struct Deflated {
    kept: Vec<usize>,
    known: Vec<usize>,
    halves: Vec<Half>,
}

/// From the eigenvectors of both halves to those of the whole.
fn merge(
    engine: &Engine,
    d: &mut [f64],
    coupling: f64,
    middle: usize,
    mut u: Vec<&mut [f64]>,
    check: Check<'_>,
) -> Result<()> {
    let n = d.len();
    let scale = std::f64::consts::FRAC_1_SQRT_2; // both parts of z have length one
    let sign = 1f64.copysign(coupling);
    let entry = |i: usize| if i < middle { u[i][middle - 1] } else { sign * u[i][middle] };
    let mut z: Vec<f64> = (0..n).map(|i| scale * entry(i)).collect();
    let rho = 2.0 * coupling.abs();
    let Deflated { kept, known, halves } = deflate(engine, d, &mut z, rho, middle, &mut u);
    let poles: Vec<f64> = kept.iter().map(|&i| d[i]).collect();
    let weights: Vec<f64> = kept.iter().map(|&i| z[i]).collect();
    let (found, vectors) = rank_one(engine, &Secular { isa: engine.isa(), d: &poles, z: &weights, rho });
    check(0.0)?;

    // The rows of both sides of the products: what is zero in a half is left out there.
    let side =
        |other: Half| -> Vec<usize> { (0..kept.len()).filter(|&p| halves[kept[p]] != other).collect() };
    let (first, second) = (side(Half::Second), side(Half::First));
    let old_first = Matrix::from_fn(first.len(), middle, |p, j| u[kept[first[p]]][j]);
    let old_second = Matrix::from_fn(second.len(), n - middle, |p, j| u[kept[second[p]]][middle + j]);
    let old_known = Matrix::from_fn(known.len(), n, |p, j| u[known[p]][j]);
    let values: Vec<f64> = found.iter().copied().chain(known.iter().map(|&i| d[i])).collect();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let (mut left, mut right) = (Vec::with_capacity(found.len()), Vec::with_capacity(found.len()));
    for ((row, &from), d) in u.iter_mut().zip(&order).zip(d) {
        *d = values[from];
        if from < found.len() {
            row.fill(0.0);
            let (a, b) = row.split_at_mut(middle);
            left.push((from, a));
            right.push((from, b));
        } else {
            row.copy_from_slice(old_known.row(from - found.len()));
        }
    }
    multiply(engine, &vectors, &first, &old_first, left, &|part| check(0.5 * part))?;
    multiply(engine, &vectors, &second, &old_second, right, &|part| check(0.5 + 0.5 * part))
}

/// Rows ← (some columns of the vectors)·(old rows), each with the number of its vector.
fn multiply(
    engine: &Engine,
    vectors: &Matrix<f64>,
    columns: &[usize],
    old: &Matrix<f64>,
    mut to: Vec<(usize, &mut [f64])>,
    check: Check<'_>,
) -> Result<()> {
    to.sort_by_key(|&(from, _)| from);
    let chosen = Matrix::from_fn(vectors.rows(), columns.len(), |j, p| vectors.row(j)[columns[p]]);
    let mut to: Vec<&mut [f64]> = to.into_iter().map(|(_, row)| row).collect();
    for (strip, to) in to.chunks_mut(STRIP).enumerate() {
        let start = strip * STRIP;
        let chosen = operand(&chosen).part(start..start + to.len(), 0..columns.len());
        add_product(engine, 1.0, chosen, operand(old), to.iter_mut().map(|row| &mut **row).collect());
        check((start + to.len()) as f64 / vectors.rows() as f64)?;
    }
    Ok(())
}

/// Takes out what is an eigenvector already. Poles that are kept are ascending.
fn deflate(
    engine: &Engine,
    d: &mut [f64],
    z: &mut [f64],
    rho: f64,
    middle: usize,
    u: &mut [&mut [f64]],
) -> Deflated {
    let n = d.len();
    let largest = |x: &[f64]| x.iter().fold(0f64, |a, b| a.max(b.abs()));
    let tolerance = 8.0 * f64::EPSILON * largest(d).max(largest(z));
    let mut halves: Vec<Half> = (0..n).map(|i| if i < middle { Half::First } else { Half::Second }).collect();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| d[a].total_cmp(&d[b]));
    let (mut kept, mut known): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    for i in order {
        if rho * z[i].abs() <= tolerance {
            known.push(i);
            continue;
        }
        if let Some(&p) = kept.last() {
            let length = libm::hypot(z[p], z[i]);
            let (c, s) = (z[i] / length, z[p] / length);
            if ((d[i] - d[p]) * c * s).abs() <= tolerance {
                (z[p], z[i]) = (0.0, length);
                (d[p], d[i]) = (c * c * d[p] + s * s * d[i], c * c * d[i] + s * s * d[p]);
                let (a, b) = pair(u, i, p);
                rotate(engine.isa(), a, b, c, s);
                if halves[i] != halves[p] {
                    (halves[i], halves[p]) = (Half::Both, Half::Both);
                }
                kept.pop();
                known.push(p);
            }
        }
        kept.push(i);
    }
    Deflated { kept, known, halves }
}

/// Two rows.
fn pair<'a>(u: &'a mut [&mut [f64]], i: usize, j: usize) -> (&'a mut [f64], &'a mut [f64]) {
    let (before, from) = u.split_at_mut(i.max(j));
    let (low, high) = (&mut *before[i.min(j)], &mut *from[0]);
    if i < j { (low, high) } else { (high, low) }
}

/// The eigenvalues of diag(d) + ρzzᵀ, ascending, and its eigenvectors, one in each row.
fn rank_one(engine: &Engine, equation: &Secular<'_>) -> (Vec<f64>, Matrix<f64>) {
    let (d, k) = (equation.d, equation.d.len());
    let mut zeros = vec![Zero::default(); k];
    let mut vectors = Matrix::zeros(k, k);
    let rows = vectors.as_mut_slice().chunks_mut((SHARE * k).max(1));
    share(engine, zeros.chunks_mut(SHARE).zip(rows).enumerate().collect(), |(part, (zeros, rows))| {
        for (i, (zero, row)) in zeros.iter_mut().zip(rows.chunks_exact_mut(k)).enumerate() {
            *zero = equation.zero(part * SHARE + i);
            secular_differences(engine.isa(), d, d[zero.pole], zero.tau, row);
        }
    });
    let mut weights = vec![1.0; k];
    share(engine, weights.chunks_mut(8 * SHARE).enumerate().collect(), |(part, weights)| {
        loewner(engine, &vectors, d, part * 8 * SHARE, weights);
    });
    weights.iter_mut().zip(equation.z).for_each(|(weight, z)| *weight = weight.abs().sqrt().copysign(*z));
    let rows = vectors.as_mut_slice().chunks_mut((SHARE * k).max(1));
    share(engine, rows.collect(), |rows: &mut [f64]| {
        for row in rows.chunks_exact_mut(k) {
            let length = secular_vector(engine.isa(), &weights, row).sqrt();
            row.iter_mut().for_each(|entry| *entry /= length);
        }
    });
    (zeros.iter().map(|zero| d[zero.pole] + zero.tau).collect(), vectors)
}

/// ẑᵢ² = Πⱼ (dᵢ − λⱼ) / Π_{j ≠ i} (dᵢ − dⱼ), up to a common factor, for i from `first` on; row j
/// holds dᵢ − λⱼ.
fn loewner(engine: &Engine, differences: &Matrix<f64>, d: &[f64], first: usize, weights: &mut [f64]) {
    let end = first + weights.len();
    for j in 0..d.len() {
        let row = &differences.row(j)[first..end];
        let cut = j.clamp(first, end) - first;
        let skip = usize::from((first..end).contains(&j));
        loewner_factors(engine.isa(), &row[..cut], &d[first..first + cut], d[j], &mut weights[..cut]);
        if skip == 1 {
            weights[cut] *= row[cut];
        }
        let rest = cut + skip;
        loewner_factors(engine.isa(), &row[rest..], &d[first + rest..end], d[j], &mut weights[rest..]);
    }
}

/// A small matrix: implicit QL steps with Wilkinson's shift, each chasing a bulge up from the end
/// of an unreduced block.
fn leaf(engine: &Engine, d: &mut [f64], e: &mut [f64], mut u: Vec<&mut [f64]>) -> Result<()> {
    let n = d.len();
    u.iter_mut().enumerate().for_each(|(i, row)| row[i] = 1.0);
    let mut steps = 0;
    for start in 0..n {
        loop {
            let small =
                |i: usize| e[i].abs() <= (f64::EPSILON * (d[i].abs() + d[i + 1].abs())).max(NEGLIGIBLE);
            let end = (start..n - 1).find(|&i| small(i)).unwrap_or(n - 1);
            if end == start {
                break;
            }
            steps += 1;
            if steps > 60 * n {
                return Err(Error::NotConverged { what: "the eigenvalues", iterations: steps - 1 });
            }
            if end == start + 1 {
                solve_pair(engine, d, e, start, &mut u);
            } else {
                ql_step(engine, d, e, start, end, &mut u);
            }
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| d[a].total_cmp(&d[b]));
    let sorted: Vec<(f64, Vec<f64>)> = order.iter().map(|&i| (d[i], u[i].to_vec())).collect();
    for ((d, u), (value, vector)) in d.iter_mut().zip(u).zip(sorted) {
        *d = value;
        u.copy_from_slice(&vector);
    }
    Ok(())
}

/// The eigenvalues of a 2×2 block: mean ± radius, which has no rounding where these have none.
fn solve_pair(engine: &Engine, d: &mut [f64], e: &mut [f64], start: usize, u: &mut [&mut [f64]]) {
    let (mean, half) = (0.5 * (d[start] + d[start + 1]), 0.5 * (d[start] - d[start + 1]));
    let radius = libm::hypot(half, e[start]);
    // (A − λ)x = 0 for the larger one, by the row that does not cancel.
    let (x, y) = if half >= 0.0 { (radius + half, e[start]) } else { (e[start], radius - half) };
    let length = libm::hypot(x, y);
    let (high, low) = pair(u, start, start + 1);
    rotate(engine.isa(), high, low, x / length, y / length);
    (d[start], d[start + 1], e[start]) = (mean + radius, mean - radius, 0.0);
}

/// One step on the rows from `start` to `end`.
fn ql_step(engine: &Engine, d: &mut [f64], e: &mut [f64], start: usize, end: usize, u: &mut [&mut [f64]]) {
    // The eigenvalue of the first 2×2 block that is nearer to its first entry.
    let half = (d[start + 1] - d[start]) / (2.0 * e[start]);
    let shift = d[start] - e[start] / (half + libm::hypot(half, 1.0).copysign(half));
    // Entry (i + 1, i + 1) without what rotations have added, and the bulge next to it.
    let (mut corner, mut c, mut s, mut added) = (d[end] - shift, 1.0, 1.0, 0.0);
    for i in (start..end).rev() {
        let (bulge, link) = (s * e[i], c * e[i]);
        let length = libm::hypot(bulge, corner);
        if i + 1 < end {
            e[i + 1] = length;
        }
        if length == 0.0 {
            // The block falls apart here.
            d[i + 1] -= added;
            return;
        }
        (s, c) = (bulge / length, corner / length);
        corner = d[i + 1] - added;
        let turn = (d[i] - corner) * s + 2.0 * c * link;
        added = s * turn;
        d[i + 1] = corner + added;
        corner = c * turn - link;
        let (high, low) = pair(u, i + 1, i);
        rotate(engine.isa(), high, low, c, s);
    }
    d[start] -= added;
    e[start] = corner;
}

#[cfg(test)]
mod tests {
    use super::super::product::rows;
    use super::super::tests::on_threads;
    use super::*;
    use bochner_testkit::{assert_same_bits, normals};

    fn eigen(engine: &Engine, d: &[f64], e: &[f64]) -> (Vec<f64>, Matrix<f64>) {
        let n = d.len();
        let (mut d, mut e, mut u) = (d.to_vec(), e.to_vec(), Matrix::zeros(n, n));
        divide(engine, &mut d, &mut e, rows(u.as_mut_slice(), n), &|_| Ok(())).unwrap();
        (d, u)
    }

    /// ‖Tv − λv‖ ≤ c·n·ε·‖T‖ and |UUᵀ − I| ≤ c·n·ε, ascending.
    fn check(name: &str, d: &[f64], e: &[f64]) {
        let n = d.len();
        let (values, u) = eigen(&Engine::default(), d, e);
        let norm = d.iter().chain(e).fold(0f64, |a, b| a.max(b.abs()));
        let bound = 4.0 * n as f64 * f64::EPSILON;
        assert!(values.windows(2).all(|w| w[0] <= w[1]), "{name}");
        for k in 0..n {
            let v = u.row(k);
            for i in 0..n {
                let mut entry = (d[i] - values[k]) * v[i];
                entry += if i > 0 { e[i - 1] * v[i - 1] } else { 0.0 };
                entry += if i + 1 < n { e[i] * v[i + 1] } else { 0.0 };
                assert!(entry.abs() <= bound * norm, "{name} {n}: vector {k} is off by {entry:e}");
            }
            for l in 0..=k {
                let overlap: f64 = v.iter().zip(u.row(l)).map(|(a, b)| a * b).sum();
                let off = (overlap - f64::from(u8::from(k == l))).abs();
                assert!(off <= bound, "{name} {n}: vectors {k} and {l} overlap by {off:e}");
            }
        }
    }

    #[test]
    fn hard_spectra() {
        for n in [1, 2, 3, 31, 32, 33, 64, 65, 130, 257] {
            let random = normals(n, 2, 7);
            let (d, e) = (&random[..n], &random[n..][..n - 1]);
            check("random", d, e);
            check("laplacian", &vec![2.0; n], &vec![-1.0; n - 1]);
            check("identity", &vec![1.0; n], &vec![0.0; n - 1]);
            check("zero", &vec![0.0; n], &vec![0.0; n - 1]);
            check("tiny links", d, &vec![1e-17; n - 1]);
            check("links of nothing", d, &vec![1e-300; n - 1]);
            let wilkinson: Vec<f64> = (0..n).map(|i| (i as f64 - (n / 2) as f64).abs()).collect();
            check("wilkinson", &wilkinson, &vec![1.0; n - 1]);
            let glued: Vec<f64> = (0..n).map(|i| (i as f64 % 21.0 - 10.0).abs()).collect();
            for glue in [1e-4, 1e-8, 1e-14] {
                let links: Vec<f64> = (1..n).map(|i| if i % 21 == 0 { glue } else { 1.0 }).collect();
                check("glued", &glued, &links);
            }
            let graded: Vec<f64> = (0..n).map(|i| libm::exp2(-(i as f64))).collect();
            check("graded", &graded, &graded[1..]);
            let upwards: Vec<f64> = graded.iter().rev().copied().collect();
            check("graded upwards", &upwards, &upwards[1..]);
            let two: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i % 2 == 0))).collect();
            check("two values", &two, &vec![1e-9; n - 1]);
        }
    }

    #[test]
    fn small_whole_numbers_are_exact() {
        let (values, _) = eigen(&Engine::default(), &[1.0, 1.0], &[2.0]);
        assert_same_bits(&values, &[-1.0, 3.0]);
    }

    #[test]
    fn threads_do_not_change_bits() {
        let random = normals(300, 2, 7);
        let [one, two, seven] = on_threads(|engine| {
            let (values, u) = eigen(engine, &random[..300], &random[300..599]);
            [values, u.into_vec()].concat()
        });
        assert_same_bits(&one, &two);
        assert_same_bits(&one, &seven);
    }
}
