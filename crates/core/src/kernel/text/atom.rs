//! The kernels that have names: parameters, formula, and how one is made of its arguments.

use super::super::width::WIDTHS;
use super::super::{Kernel, Quadratic, Width, gaussian};
use crate::Error;
use crate::encode::{Grams, Sequence};
use crate::error::number;

/// A kernel that can be written by its name.
#[derive(Clone, Copy)]
pub struct Entry {
    /// How it is written.
    pub name: &'static str,
    /// Other spellings that are understood.
    pub aliases: &'static [&'static str],
    /// Its parameters.
    pub parameters: &'static [&'static str],
    /// What it is.
    pub formula: &'static str,
    /// An example.
    pub example: &'static str,
    pub(super) make: fn(&mut Arguments) -> Result<Kernel, Wrong>,
}

impl std::fmt::Debug for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Entry").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The kernels that can be written by name.
pub fn catalogue() -> &'static [Entry] {
    &ATOMS
}

pub(super) fn find(name: &str) -> Option<&'static Entry> {
    ATOMS.iter().find(|atom| atom.name == name || atom.aliases.contains(&name))
}

/// Everything that a kernel can start with.
pub(super) fn names() -> Vec<&'static str> {
    ATOMS.iter().map(|atom| atom.name).chain(["exp", "normalised", "weighted"]).collect()
}

/// What may be wrong with arguments.
pub(super) enum Wrong {
    /// What should stand there.
    Missing(String),
    /// A value outside its domain.
    Value(Error),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Number(f64),
    List(Vec<f64>),
    Matrix(Vec<Vec<f64>>),
    Text(String),
}

/// Parameters and their values.
#[derive(Debug, Default)]
pub(super) struct Arguments(Vec<(&'static str, Value)>);

impl Arguments {
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(other, _)| *other == name)
    }

    pub(super) fn add(&mut self, name: &'static str, value: Value) {
        self.0.push((name, value));
    }

    fn take(&mut self, name: &str) -> Option<Value> {
        let at = self.0.iter().position(|(other, _)| *other == name)?;
        Some(self.0.remove(at).1)
    }

    fn number(&mut self, name: &'static str, usual: Option<f64>) -> Result<f64, Wrong> {
        match (self.take(name), usual) {
            (Some(Value::Number(value)), _) => Ok(value),
            (Some(_), _) => Err(Wrong::Missing(format!("{name}=…, one number"))),
            (None, Some(usual)) => Ok(usual),
            (None, None) => Err(Wrong::Missing(format!("{name}=…"))),
        }
    }

    fn list(&mut self, name: &'static str) -> Result<Vec<f64>, Wrong> {
        match self.take(name) {
            Some(Value::List(values)) => Ok(values),
            Some(Value::Number(value)) => Ok(vec![value]),
            _ => Err(Wrong::Missing(format!("{name}=[…]"))),
        }
    }

    fn whole(&mut self, name: &'static str, usual: Option<f64>) -> Result<u32, Wrong> {
        let value = self.number(name, usual)?;
        #[expect(clippy::float_cmp, reason = "a whole number is one")]
        if value >= 0.0 && value <= f64::from(u32::MAX) && value.trunc() == value {
            return Ok(value as u32);
        }
        Err(Wrong::Value(Error::Parameter { name, expected: "a whole number", found: number(value) }))
    }

    fn text(&mut self, name: &'static str, usual: &str) -> Result<String, Wrong> {
        match self.take(name) {
            Some(Value::Text(value)) => Ok(value),
            Some(_) => Err(Wrong::Missing(format!("{name}=\"…\", a text in quotation marks"))),
            None => Ok(usual.to_owned()),
        }
    }

    /// A width given by its own name or by gamma, not by both.
    fn width(&mut self, name: &'static str, of_gamma: Option<fn(f64) -> f64>) -> Result<Width, Wrong> {
        let or_gamma = if of_gamma.is_some() { " or gamma=…" } else { "" };
        let (own, gamma) = (self.take(name), self.take("gamma"));
        match (own, gamma, of_gamma) {
            (Some(_), Some(_), _) => Err(Wrong::Missing(format!("either {name} or gamma, not both"))),
            (Some(Value::Number(width)), None, _) => Ok(Width::One(width)),
            (Some(Value::List(widths)), None, _) => Ok(Width::Each(widths)),
            (None, Some(Value::Number(gamma)), Some(of)) => width_of(gamma, of).map(Width::One),
            (None, Some(Value::List(gammas)), Some(of)) => {
                gammas.into_iter().map(|gamma| width_of(gamma, of)).collect::<Result<_, _>>().map(Width::Each)
            }
            _ => Err(Wrong::Missing(format!("{name}=…{or_gamma}"))),
        }
    }
}

fn width_of(gamma: f64, of: fn(f64) -> f64) -> Result<f64, Wrong> {
    if WIDTHS.contains(&of(gamma)) {
        return Ok(of(gamma));
    }
    Err(Wrong::Value(Error::Parameter {
        name: "gamma",
        expected: "above 0, with a width between 1e-18 and 1e18",
        found: number(gamma),
    }))
}

/// The other spelling of a width that divides differences.
const INVERSE: Option<fn(f64) -> f64> = Some(|gamma| 1.0 / gamma);

const ATOMS: [Entry; 28] = [
    Entry {
        name: "gaussian",
        aliases: &["rbf"],
        parameters: &["sigma", "gamma"],
        formula: "exp(−‖x − y‖² / (2·sigma²))",
        example: "gaussian(sigma=2)",
        make: |a| Ok(Kernel::Gaussian { sigma: a.width("sigma", Some(gaussian::sigma))? }),
    },
    Entry {
        name: "laplace",
        aliases: &["laplacian"],
        parameters: &["scale", "gamma"],
        formula: "exp(−‖x − y‖₁ / scale)",
        example: "laplace(scale=2)",
        make: |a| Ok(Kernel::Laplace { scale: a.width("scale", INVERSE)? }),
    },
    Entry {
        name: "exponential",
        aliases: &[],
        parameters: &["scale", "gamma"],
        formula: "exp(−‖x − y‖₂ / scale)",
        example: "exponential(scale=2)",
        make: |a| Ok(Kernel::Exponential { scale: a.width("scale", INVERSE)? }),
    },
    Entry {
        name: "matern",
        aliases: &[],
        parameters: &["nu", "scale"],
        formula: "(2^(1−nu)/Γ(nu))·tⁿᵘ·K_nu(t),  t = √(2·nu)·‖x − y‖/scale",
        example: "matern(nu=1.5,scale=2)",
        make: |a| Ok(Kernel::Matern { nu: a.number("nu", None)?, scale: a.width("scale", None)? }),
    },
    Entry {
        name: "rational_quadratic",
        aliases: &[],
        parameters: &["alpha", "scale"],
        formula: "(1 + ‖x − y‖² / (2·alpha·scale²))^(−alpha)",
        example: "rational_quadratic(alpha=1,scale=2)",
        make: |a| {
            Ok(Kernel::RationalQuadratic { alpha: a.number("alpha", None)?, scale: a.width("scale", None)? })
        },
    },
    Entry {
        name: "cauchy",
        aliases: &[],
        parameters: &["scale", "gamma"],
        formula: "∏ 1 / (1 + (xⱼ − yⱼ)² / scale²)",
        example: "cauchy(scale=2)",
        make: |a| Ok(Kernel::Cauchy { scale: a.width("scale", INVERSE)? }),
    },
    Entry {
        name: "sinc",
        aliases: &[],
        parameters: &["scale", "gamma"],
        formula: "∏ sin(uⱼ)/uⱼ,  u = (x − y)/scale",
        example: "sinc(scale=1)",
        make: |a| Ok(Kernel::Sinc { scale: a.width("scale", INVERSE)? }),
    },
    Entry {
        name: "radial_sinc",
        aliases: &[],
        parameters: &["scale", "gamma"],
        formula: "sin(r)/r,  r = ‖x − y‖/scale, at most three columns",
        example: "radial_sinc(scale=1)",
        make: |a| Ok(Kernel::RadialSinc { scale: a.width("scale", INVERSE)? }),
    },
    Entry {
        name: "hat",
        aliases: &[],
        parameters: &["width"],
        formula: "∏ max(0, 1 − |xⱼ − yⱼ| / width)",
        example: "hat(width=3)",
        make: |a| Ok(Kernel::Hat { width: a.width("width", None)? }),
    },
    Entry {
        name: "linear",
        aliases: &[],
        parameters: &[],
        formula: "x·y",
        example: "linear",
        make: |_| Ok(Kernel::Linear),
    },
    Entry {
        name: "bilinear",
        aliases: &[],
        parameters: &["diagonal", "factor", "matrix"],
        formula: "xᵀAy,  A = diag(diagonal) or factorᵀ·factor or matrix",
        example: "bilinear(diagonal=[1,0.5])",
        make: bilinear,
    },
    Entry {
        name: "poly",
        aliases: &["polynomial"],
        parameters: &["degree", "gamma", "c"],
        formula: "(gamma·x·y + c)^degree",
        example: "poly(degree=2,c=1)",
        make: |a| {
            let (degree, gamma) = (a.whole("degree", None)?, a.number("gamma", Some(1.0))?);
            Ok(Kernel::Polynomial { degree, gamma, c: a.number("c", Some(0.0))? })
        },
    },
    Entry {
        name: "series",
        aliases: &["maclaurin"],
        parameters: &["coefficients"],
        formula: "Σ aₙ·(x·y)ⁿ,  a₀, a₁, … = coefficients, none negative",
        example: "series(coefficients=[1,1,0.5])",
        make: |a| Ok(Kernel::Series { coefficients: a.list("coefficients")? }),
    },
    Entry {
        name: "parabolic",
        aliases: &[],
        parameters: &[],
        formula: "x·y + ‖x‖²·‖y‖²: hyperplanes are spheres",
        example: "parabolic",
        make: |_| Ok(Kernel::Parabolic),
    },
    Entry {
        name: "monomials",
        aliases: &[],
        parameters: &["degree"],
        formula: "Σ xᵃ·yᵃ over all monomials of degree 1 to degree, all of weight 1",
        example: "monomials(degree=2)",
        make: |a| Ok(Kernel::Monomials { degree: a.whole("degree", None)? }),
    },
    Entry {
        name: "interactions",
        aliases: &["anova"],
        parameters: &["degree"],
        formula: "Σ ∏ xⱼyⱼ over all sets of 1 to degree different columns",
        example: "interactions(degree=2)",
        make: |a| Ok(Kernel::Interactions { degree: a.whole("degree", None)? }),
    },
    Entry {
        name: "all_subsets",
        aliases: &[],
        parameters: &[],
        formula: "∏ (1 + xⱼyⱼ)",
        example: "all_subsets",
        make: |_| Ok(Kernel::AllSubsets),
    },
    Entry {
        name: "chi2",
        aliases: &[],
        parameters: &[],
        formula: "Σ 2xⱼyⱼ/(xⱼ + yⱼ), no negative entries",
        example: "chi2",
        make: |_| Ok(Kernel::Chi2),
    },
    Entry {
        name: "exponential_chi2",
        aliases: &[],
        parameters: &["gamma"],
        formula: "exp(−gamma·Σ (xⱼ − yⱼ)²/(xⱼ + yⱼ)), no negative entries",
        example: "exponential_chi2(gamma=1)",
        make: |a| Ok(Kernel::ExponentialChi2 { gamma: a.number("gamma", Some(1.0))? }),
    },
    Entry {
        name: "intersection",
        aliases: &[],
        parameters: &[],
        formula: "Σ min(xⱼ, yⱼ), no negative entries",
        example: "intersection",
        make: |_| Ok(Kernel::Intersection),
    },
    Entry {
        name: "arc_cosine",
        aliases: &[],
        parameters: &["order"],
        formula: "‖x‖ⁿ‖y‖ⁿ·J(θ)/π,  n = order: 0, 1 or 2",
        example: "arc_cosine(order=1)",
        make: |a| Ok(Kernel::ArcCosine { order: a.whole("order", Some(1.0))? }),
    },
    Entry {
        name: "spectrum",
        aliases: &[],
        parameters: &["k", "tf_idf", "width", "nonzeros"],
        formula: "Σ count_u(a)·count_u(b), u: all windows of k bytes of the texts of one column; tf_idf=1 for weights, hashed to width columns, nonzeros for each u",
        example: "spectrum(k=5)[sequence]",
        make: |a| {
            let k = a.whole("k", None)?;
            sequence(a, Grams::Spectrum { k })
        },
    },
    Entry {
        name: "gapped",
        aliases: &[],
        parameters: &["length", "k", "tf_idf", "width", "nonzeros"],
        formula: "the same for every choice of k places of all windows of this length",
        example: "gapped(length=7,k=4)[sequence]",
        make: |a| {
            let (length, k) = (a.whole("length", None)?, a.whole("k", None)?);
            sequence(a, Grams::Gapped { length, k })
        },
    },
    Entry {
        name: "mismatch",
        aliases: &[],
        parameters: &["k", "m", "alphabet", "tf_idf", "width", "nonzeros"],
        formula: "the same for all words of k letters that differ from a window in at most m of them; alphabet=\"ACGT\" unless it is said",
        example: "mismatch(k=5,m=1)[sequence]",
        make: |a| {
            let (k, mismatches) = (a.whole("k", None)?, a.whole("m", Some(1.0))?);
            let alphabet = a.text("alphabet", Grams::DNA)?;
            sequence(a, Grams::Mismatch { k, mismatches, alphabet })
        },
    },
    Entry {
        name: "characters",
        aliases: &[],
        parameters: &["from", "to", "tf_idf", "width", "nonzeros"],
        formula: "the same for runs of from to to characters",
        example: "characters(from=2,to=4)[name]",
        make: |a| {
            let from = a.whole("from", Some(1.0))?;
            let to = a.whole("to", Some(f64::from(from)))?;
            sequence(a, Grams::Characters { from, to })
        },
    },
    Entry {
        name: "positional",
        aliases: &["weighted_degree"],
        parameters: &["from", "to", "tf_idf", "width", "nonzeros"],
        formula: "the same for runs of from to to characters at equal positions: for aligned texts",
        example: "positional(from=1,to=3)[site]",
        make: |a| {
            let from = a.whole("from", Some(1.0))?;
            let to = a.whole("to", Some(f64::from(from)))?;
            sequence(a, Grams::Positional { from, to })
        },
    },
    Entry {
        name: "words",
        aliases: &[],
        parameters: &["from", "to", "tf_idf", "width", "nonzeros"],
        formula: "the same for runs of from to to words",
        example: "words(from=1,to=2)[message]",
        make: |a| {
            let from = a.whole("from", Some(1.0))?;
            let to = a.whole("to", Some(f64::from(from)))?;
            sequence(a, Grams::Words { from, to })
        },
    },
    Entry {
        name: "constant",
        aliases: &[],
        parameters: &[],
        formula: "1",
        example: "constant",
        make: |_| Ok(Kernel::Constant),
    },
];

/// What all sequence kernels have.
fn sequence(arguments: &mut Arguments, grams: Grams) -> Result<Kernel, Wrong> {
    let tf_idf = match arguments.whole("tf_idf", Some(0.0))? {
        0 => false,
        1 => true,
        other => {
            let found = other.to_string();
            return Err(Wrong::Value(Error::Parameter { name: "tf_idf", expected: "0 or 1", found }));
        }
    };
    let width = arguments.whole("width", Some(Sequence::WIDTH as f64))? as usize;
    let nonzeros = arguments.whole("nonzeros", Some(Sequence::NONZEROS as f64))? as usize;
    Ok(Kernel::Sequence { grams, tf_idf, width, nonzeros })
}

fn bilinear(arguments: &mut Arguments) -> Result<Kernel, Wrong> {
    let given = [arguments.take("diagonal"), arguments.take("factor"), arguments.take("matrix")];
    let form = match given {
        [Some(Value::List(a)), None, None] => Quadratic::Diagonal(a),
        [None, Some(Value::Matrix(rows)), None] => Quadratic::Factor(rows),
        [None, None, Some(Value::Matrix(rows))] => Quadratic::Full(rows),
        _ => {
            let expected = "one of diagonal=[…], factor=[[…],…] and matrix=[[…],…]";
            return Err(Wrong::Missing(expected.to_owned()));
        }
    };
    Ok(Kernel::Bilinear { form })
}
