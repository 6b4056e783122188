//! Kernels as text: one grammar, one printer, exact round trip.
//!
//! ```text
//! kernel    = term { "+" term }
//! term      = factor { "*" factor }                                          a number is the factor of what it stands before or after
//! factor    = number | primary { "[" column { "," column } "]" }
//! primary   = "(" kernel ")" | "exp" "(" kernel ")" | "normalised" "(" kernel ")" | "weighted" "(" function "," kernel ")"
//!           | name [ "(" [ parameter "=" value { "," parameter "=" value } ] ")" ]
//! value     = number | "quoted text" | "[" number { "," number } "]" | "[" list { "," list } "]"
//! column    = number | number ".." number | name | "quoted name"
//! ```
//! `gamma` is accepted on input where it is another spelling of the width and printed as the kernel's own parameter. Numbers print with
//! as many digits as it takes to read them back exactly. Columns of an expression are printed with each of its kernels.

mod atom;
mod read;

use std::fmt;
use std::str::FromStr;

pub use atom::{Entry, catalogue};

use super::{Column, Kernel, sequence};
use crate::error::number;
use crate::{Error, Result};

impl FromStr for Kernel {
    type Err = Error;

    fn from_str(text: &str) -> Result<Kernel> {
        read::Reader::new(text).whole()
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kernel::Constant => f.write_str("constant"),
            Kernel::Linear => f.write_str("linear"),
            Kernel::Bilinear { form } => write!(f, "bilinear({form})"),
            Kernel::Polynomial { degree, gamma, c } => {
                write!(f, "poly(degree={degree}")?;
                #[expect(clippy::float_cmp, reason = "one is one, nothing is nothing")]
                let (usual, none) = (*gamma == 1.0, *c == 0.0);
                if !usual {
                    write!(f, ",gamma={}", number(*gamma))?;
                }
                if !none {
                    write!(f, ",c={}", number(*c))?;
                }
                f.write_str(")")
            }
            Kernel::Series { coefficients } => {
                let texts: Vec<String> = coefficients.iter().map(|a| number(*a)).collect();
                write!(f, "series(coefficients=[{}])", texts.join(","))
            }
            Kernel::Parabolic => f.write_str("parabolic"),
            Kernel::AllSubsets => f.write_str("all_subsets"),
            Kernel::Monomials { degree } => write!(f, "monomials(degree={degree})"),
            Kernel::Interactions { degree } => write!(f, "interactions(degree={degree})"),
            Kernel::Gaussian { sigma } => write!(f, "gaussian(sigma={sigma})"),
            Kernel::Laplace { scale } => write!(f, "laplace(scale={scale})"),
            Kernel::Exponential { scale } => write!(f, "exponential(scale={scale})"),
            Kernel::Matern { nu, scale } => write!(f, "matern(nu={},scale={scale})", number(*nu)),
            Kernel::RationalQuadratic { alpha, scale } => {
                write!(f, "rational_quadratic(alpha={},scale={scale})", number(*alpha))
            }
            Kernel::Cauchy { scale } => write!(f, "cauchy(scale={scale})"),
            Kernel::Sinc { scale } => write!(f, "sinc(scale={scale})"),
            Kernel::RadialSinc { scale } => write!(f, "radial_sinc(scale={scale})"),
            Kernel::Hat { width } => write!(f, "hat(width={width})"),
            Kernel::Chi2 => f.write_str("chi2"),
            Kernel::ExponentialChi2 { gamma } => write!(f, "exponential_chi2(gamma={})", number(*gamma)),
            Kernel::Intersection => f.write_str("intersection"),
            Kernel::ArcCosine { order } => write!(f, "arc_cosine(order={order})"),
            Kernel::Sequence { grams, tf_idf, width, nonzeros } => {
                sequence::print(f, grams, *tf_idf, *width, *nonzeros)
            }
            Kernel::Scaled { factor, kernel } => {
                write!(f, "{}*", number(*factor))?;
                // A product's factors follow the number as they are.
                if let Kernel::Product { .. } = **kernel { write!(f, "{kernel}") } else { inside(f, kernel) }
            }
            Kernel::Sum { terms } => joined(f, terms, " + ", |f, term| write!(f, "{term}")),
            Kernel::Product { factors } => joined(f, factors, "*", inside),
            Kernel::Weighted { function, kernel } => write!(f, "weighted({function},{kernel})"),
            Kernel::Exp { kernel } => write!(f, "exp({kernel})"),
            Kernel::Normalised { kernel } => write!(f, "normalised({kernel})"),
            Kernel::Restricted { columns: chosen, kernel } => {
                write!(f, "{kernel}")?;
                columns(f, chosen)
            }
        }
    }
}

/// A factor: in parentheses where it is a sum or has a factor of its own.
fn inside(f: &mut fmt::Formatter<'_>, kernel: &Kernel) -> fmt::Result {
    match kernel {
        Kernel::Sum { .. } | Kernel::Scaled { .. } | Kernel::Product { .. } => write!(f, "({kernel})"),
        _ => write!(f, "{kernel}"),
    }
}

fn joined(
    f: &mut fmt::Formatter<'_>,
    kernels: &[Kernel],
    between: &str,
    print: impl Fn(&mut fmt::Formatter<'_>, &Kernel) -> fmt::Result,
) -> fmt::Result {
    for (i, kernel) in kernels.iter().enumerate() {
        f.write_str(if i > 0 { between } else { "" })?;
        print(f, kernel)?;
    }
    Ok(())
}

/// `[age,3..9]`
pub(super) fn columns(f: &mut fmt::Formatter<'_>, columns: &[Column]) -> fmt::Result {
    let texts: Vec<String> = columns.iter().map(Column::to_string).collect();
    write!(f, "[{}]", texts.join(","))
}

#[cfg(test)]
mod tests;
