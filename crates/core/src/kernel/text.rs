//! Kernels as text: one grammar, one printer, exact round trip.
//!
//! ```text
//! kernel     = name [ "(" [ argument { "," argument } ] ")" ]
//! argument   = parameter "=" number
//! ```
//! `gamma` is accepted on input for any width and printed as the kernel's own parameter. Numbers print with
//! as many digits as it takes to read them back exactly.

use std::fmt;
use std::str::FromStr;

use super::{Kernel, WIDTHS, gaussian, laplace};
use crate::error::{edits, number};
use crate::{Error, Result};

/// The names that the grammar knows.
const NAMES: [&str; 4] = ["linear", "gaussian", "laplace", "hat"];

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kernel::Linear => f.write_str("linear"),
            Kernel::Gaussian { sigma } => write!(f, "gaussian(sigma={sigma})"),
            Kernel::Laplace { scale } => write!(f, "laplace(scale={scale})"),
            Kernel::Hat { width } => write!(f, "hat(width={width})"),
        }
    }
}

impl FromStr for Kernel {
    type Err = Error;

    fn from_str(text: &str) -> Result<Kernel> {
        let mut reader = Reader { text, at: 0 };
        let kernel = reader.kernel()?;
        reader.skip_space();
        if reader.rest().is_empty() { Ok(kernel) } else { Err(reader.expected("the end")) }
    }
}

struct Reader<'a> {
    text: &'a str,
    /// Byte position.
    at: usize,
}

impl<'a> Reader<'a> {
    fn kernel(&mut self) -> Result<Kernel> {
        self.skip_space();
        let start = self.at;
        let name = self.word();
        let kernel = match name {
            "linear" => {
                self.arguments(&[])?;
                Kernel::Linear
            }
            "gaussian" => {
                let [sigma, gamma] = self.arguments(&["sigma", "gamma"])?;
                Kernel::Gaussian { sigma: self.width("sigma", sigma, gamma, gaussian::sigma)? }
            }
            "laplace" => {
                let [scale, gamma] = self.arguments(&["scale", "gamma"])?;
                Kernel::Laplace { scale: self.width("scale", scale, gamma, laplace::scale)? }
            }
            "hat" => {
                let [width] = self.arguments(&["width"])?;
                Kernel::Hat { width: width.ok_or_else(|| self.expected("width=…"))? }
            }
            _ => {
                self.at = start;
                let nearest = NAMES.iter().min_by_key(|known| edits(name, known)).unwrap_or(&"");
                let hint =
                    if name.is_empty() { String::new() } else { format!(" (did you mean {nearest}?)") };
                return Err(self.expected(&format!("one of {}{hint}", NAMES.join(", "))));
            }
        };
        kernel.validate()?;
        Ok(kernel)
    }

    /// A width given by its own name or by gamma, not by both.
    fn width(&self, name: &str, own: Option<f64>, gamma: Option<f64>, of: fn(f64) -> f64) -> Result<f64> {
        match (own, gamma) {
            (Some(width), None) => Ok(width),
            (None, Some(gamma)) if WIDTHS.contains(&of(gamma)) => Ok(of(gamma)),
            (None, Some(gamma)) => Err(Error::Parameter {
                name: "gamma",
                expected: "above 0, with a width between 1e-18 and 1e18",
                found: number(gamma),
            }),
            (None, None) => Err(self.expected(&format!("{name}=… or gamma=…"))),
            (Some(_), Some(_)) => Err(self.expected(&format!("either {name} or gamma, not both"))),
        }
    }

    /// The values of the named parameters, each at most once. None of several may be left out here.
    fn arguments<const N: usize>(&mut self, names: &[&str; N]) -> Result<[Option<f64>; N]> {
        let mut values = [None; N];
        if !self.take("(") {
            return Ok(values);
        }
        if self.take(")") {
            return Ok(values);
        }
        loop {
            self.skip_space();
            let start = self.at;
            let word = self.word();
            let Some(slot) = names.iter().position(|name| *name == word) else {
                self.at = start;
                let known = if N == 0 { "\")\"".to_owned() } else { names.join(" or ") };
                return Err(self.expected(&known));
            };
            if values[slot].is_some() {
                self.at = start;
                return Err(self.expected("each parameter once"));
            }
            if !self.take("=") {
                return Err(self.expected("\"=\""));
            }
            values[slot] = Some(self.number()?);
            if self.take(")") {
                return Ok(values);
            }
            if !self.take(",") {
                return Err(self.expected("\",\" or \")\""));
            }
        }
    }

    fn number(&mut self) -> Result<f64> {
        self.skip_space();
        let length = self
            .rest()
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '+' | '-')))
            .unwrap_or(self.rest().len());
        match self.rest()[..length].parse::<f64>() {
            Ok(value) if value.is_finite() => {
                self.at += length;
                Ok(value)
            }
            _ => Err(self.expected("a number")),
        }
    }

    fn word(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn take(&mut self, token: &str) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(token);
        self.at += if found { token.len() } else { 0 };
        found
    }

    fn skip_space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn expected(&self, what: &str) -> Error {
        let found: String = self.rest().chars().take(20).collect();
        Error::KernelText {
            text: self.text.to_owned(),
            at: self.text[..self.at].chars().count() + 1,
            expected: what.to_owned(),
            found: if found.is_empty() { "the end".to_owned() } else { format!("\"{found}\"") },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_other_spelling_of_a_width_is_understood() {
        for gamma in ["-1", "0", "1e40", "1e-40"] {
            let error = format!("gaussian(gamma={gamma})").parse::<Kernel>().unwrap_err().to_string();
            assert!(error.contains("expected gamma to be above 0"), "{error}");
        }
        assert_eq!("gaussian(gamma=0.125)".parse::<Kernel>().unwrap(), Kernel::Gaussian { sigma: 2.0 });
        assert_eq!(" laplace ( gamma = 0.25 ) ".parse::<Kernel>().unwrap(), Kernel::Laplace { scale: 4.0 });
        assert_eq!("linear()".parse::<Kernel>().unwrap(), Kernel::Linear);
    }

    #[test]
    fn errors_point_at_the_character_and_offer_the_nearest_name() {
        let message = |text: &str| text.parse::<Kernel>().unwrap_err().to_string();
        let text = message("gausian(sigma=2)");
        assert!(text.contains("character 1:") && text.contains("did you mean gaussian?"), "{text}");
        let text = message("gaussian(sigm=2)");
        assert!(text.contains("character 10: expected sigma or gamma, found \"sigm=2)\""), "{text}");
        assert!(
            message("gaussian(sigma=two)").contains("character 16: expected a number"),
            "{}",
            message("gaussian(sigma=two)")
        );
        assert!(message("gaussian(sigma=2").contains("expected \",\" or \")\", found the end"));
        assert!(message("gaussian").contains("expected sigma=… or gamma=…, found the end"));
        assert!(message("gaussian(sigma=1,gamma=1)").contains("not both"));
        assert!(message("linear(c=1)").contains("expected \")\""));
        assert!(message("linear x").contains("expected the end"));
        assert!(
            message("gaussian(sigma=-1)").contains("expected sigma to be between 1e-18 and 1e18, found -1")
        );
        assert!(message("laplace(scale=0)").contains("found 0"));
        assert!(message("gaussian(sigma=1e999)").contains("expected a number"));
    }

    proptest! {
        #[test]
        fn printing_and_reading_is_exact(exponent in -17f64..17.0, laplace: bool) {
            let width = 10f64.powf(exponent);
            let kernel = if laplace { Kernel::Laplace { scale: width } } else { Kernel::Gaussian { sigma: width } };
            prop_assert_eq!(kernel.to_string().parse::<Kernel>().unwrap(), kernel);
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,40}") {
            let _ = text.parse::<Kernel>();
        }
    }
}
