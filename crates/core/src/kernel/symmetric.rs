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
    for u in products {
        // Upwards a column's own products are multiplied with it again, downwards they are not.
        if repeated {
            (1..=degree).for_each(|n| sums[n] += u * sums[n - 1]);
        } else {
            (1..=degree).rev().for_each(|n| sums[n] += u * sums[n - 1]);
        }
    }
    sums[1..=degree].iter().sum()
}
