//! The variance of sketches of the polynomial kernel, exactly.
//!
//! ```text
//! q = u·v,   N = ‖u‖²‖v‖² − S,   M = q² − S,   S = Σ uⱼ²vⱼ²,   A = q² + N,   B = q² + M,        u = (√γ·x, √c), v the same of y
//!
//! product   {A^p + B^p − 2q²ᵖ}/D  +  Σ_b n_b(n_b − 1)/L²·{(A'^p + B'^p)/2 − q²ᵖ},      A' = q² − N/(n − 1),  B' = q² − M/(n − 1)
//! tensor    Σ_b (m_b/D)²·[ {A^p + B^p − 2q²ᵖ}/m_b + g·{(q² + N + M)^p − A^p − B^p + q²ᵖ}/m_b² ],      g = 2 (1 for m_b = 1)
//! ```
//! L = D/2 draws in blocks of n, of which n_b are in block b; sketches of m_b places, powers of two that add up to D. Derived in `docs/book/sketches.md`.

use crate::map::Sketch;
use crate::{Error, Kernel, Result, Rows, Scalar};

/// The variance over seeds of z(x)·z(y) for row i of `x` and row j of `y`, of a sketch with so many features.
#[inline(never)]
pub fn sketch_variance<T: Scalar>(
    kernel: &Kernel,
    sketch: Sketch,
    features: usize,
    (x, i): (&Rows<'_, T>, usize),
    (y, j): (&Rows<'_, T>, usize),
) -> Result<f64> {
    let &Kernel::Polynomial { degree, gamma, c } = kernel else {
        return Err(Error::Unsupported {
            what: format!("the variance of a sketch of {kernel}"),
            reason: "it is known for poly",
            instead: "measure the error instead",
        });
    };
    kernel.check(x.columns())?;
    super::needed::check_row(x, i)?;
    super::needed::check_row(y, j)?;
    if x.columns() != y.columns() {
        return Err(Error::ColumnCount { expected: x.columns(), found: y.columns() });
    }
    crate::MapSpec { kernel: kernel.clone(), method: crate::Method::Sketch { sketch }, features, seed: 0 }
        .validate()?;
    let square = |rows: &Rows<'_, T>, i: usize| {
        gamma * rows.entries(i).map(|(_, x)| x.to_f64() * x.to_f64()).sum::<f64>() + c
    };
    let q = gamma * Kernel::Linear.eval(x, i, y, j) + c;
    let shared = rows_shared((x, i), (y, j)) * gamma * gamma + c * c;
    let (n, m) = (square(x, i) * square(y, j) - shared, q * q - shared);
    let power = |base: f64| base.powi(degree as i32);
    let (a, b, exact) = (power(q * q + n), power(q * q + m), power(q * q));
    let first = a + b - 2.0 * exact;
    let size = features as f64;
    Ok(match sketch {
        Sketch::Tensor => (0..usize::BITS)
            .map(|bit| 1usize << bit)
            .filter(|buckets| features & buckets != 0)
            .map(|buckets| {
                let buckets = buckets as f64;
                let second = buckets.min(2.0) * (power(q * q + n + m) - a - b + exact);
                (buckets / size).powi(2) * (first / buckets + second / (buckets * buckets))
            })
            .sum(),
        Sketch::Product => {
            let padded = (x.columns() + usize::from(c > 0.0)).next_power_of_two();
            let draws = features / 2;
            let (whole, rest) = ((draws / padded) as f64, (draws % padded) as f64);
            let block = padded as f64;
            let pairs = (whole * block * (block - 1.0) + rest * (rest - 1.0)) / (draws * draws) as f64;
            let others = if padded == 1 {
                0.0 // one column: no two draws share a block
            } else {
                let apart = |t: f64| power(q * q - t / (block - 1.0));
                0.5 * (apart(n) + apart(m)) - exact
            };
            first / size + pairs * others
        }
    })
}

/// Σ xⱼ²yⱼ²
fn rows_shared<T: Scalar>((x, i): (&Rows<'_, T>, usize), (y, j): (&Rows<'_, T>, usize)) -> f64 {
    let theirs = |column: u32| y.entry(j, column as usize);
    x.entries(i).map(|(column, a)| (a.to_f64() * theirs(column)).powi(2)).sum()
}
