//! The kernels of all products of columns: with repetition (monomials) and without (interactions).
//!
//! ```text
//! monomials      k(x, y) = Σ_{1 ≤ |a| ≤ p} xᵃ·yᵃ                   = h₁(u) + … + hₚ(u)          C(d + p, p) − 1 features of weight 1
//! interactions   k(x, y) = Σ_{1 ≤ |S| ≤ p} ∏_{j∈S} xⱼyⱼ            = e₁(u) + … + eₚ(u)          C(d, 1) + … + C(d, p)
//!
//! uⱼ = xⱼyⱼ;  h and e the complete and the elementary symmetric polynomials:   hₙ(u, v) = hₙ(u) + v·hₙ₋₁(u, v),   eₙ(u, v) = eₙ(u) + v·eₙ₋₁(u)
//! ```
//! One pass over the columns with p sums. Neither counts the constant: `constant + monomials(degree=2)` does. Interactions are the ANOVA kernels of degrees 1 … p added.

/// The highest degree.
pub(crate) const MOST: usize = 64;

/// The sum of degrees 1 … p, given the products of two rows' columns.
pub(super) fn value(products: impl Iterator<Item = f64>, degree: u32, repeated: bool) -> f64 {
    let degree = (degree as usize).min(MOST);
    let mut sums = [0.0; MOST + 1];
    sums[0] = 1.0;
    products.for_each(|u| add(&mut sums[..=degree], u, repeated));
    sums[1..=degree].iter().sum()
}

/// The sums of each degree with one more product.
fn add(sums: &mut [f64], u: f64, repeated: bool) {
    // Upwards a column's own products are multiplied with it again, downwards they are not.
    if repeated {
        (1..sums.len()).for_each(|n| sums[n] += u * sums[n - 1]);
    } else {
        (1..sums.len()).rev().for_each(|n| sums[n] += u * sums[n - 1]);
    }
}

/// Its derivative in each product:
///
/// ```text
/// ∂hₙ/∂uⱼ = hₙ₋₁(u, uⱼ)        ∂eₙ/∂uⱼ = eₙ₋₁ of the others
/// ```
pub(super) fn slopes(products: impl Iterator<Item = f64>, degree: u32, repeated: bool) -> Vec<f64> {
    let degree = (degree as usize).min(MOST);
    let mut sums = [0.0; MOST + 1];
    sums[0] = 1.0;
    // The sums before each product: without the last degree, which no product follows.
    let mut before = Vec::new();
    let mut slopes: Vec<f64> = products
        .inspect(|&u| {
            if !repeated {
                before.extend_from_slice(&sums[..degree]);
            }
            add(&mut sums[..=degree], u, repeated);
        })
        .collect();
    if repeated {
        for slope in &mut slopes {
            let mut twice = sums;
            add(&mut twice[..degree], *slope, true);
            *slope = twice[..degree].iter().sum();
        }
        return slopes;
    }
    // The whole is Σ weights[n]·(the sum of degree n + 1), backwards over the products; nothing is subtracted.
    let mut weights = [1.0; MOST];
    for (slope, before) in slopes.iter_mut().zip(before.chunks_exact(degree)).rev() {
        let u = *slope;
        *slope = weights.iter().zip(before).map(|(weight, sum)| weight * sum).sum();
        (1..degree).for_each(|n| weights[n - 1] += u * weights[n]);
    }
    slopes
}
