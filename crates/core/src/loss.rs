//! What a wrong score costs.
//!
//! ```text
//! squares         (y − s)²                                             numbers, and classes as codes
//! logistic        ln(1 + e^−ys), y = ±1;  ln Σₒ e^sₒ − s_y for more     classes
//! squared hinge   max(0, 1 − ys)²                                      classes
//! hinge           max(0, 1 − ys)                                       classes
//! insensitive     max(0, |y − s| − ε)                                  numbers
//! quantile        max(τr, (τ − 1)r),  r = y − s                        numbers
//! huber           σ + σ·H(r/σ),  H(u) = u² up to |u| = ε, 2ε|u| − ε² beyond;  σ, the size of an error, is fitted too
//! ```
//! The three that have corners are the largest of straight lines, ℓ(r) = max {αr − ℓ*(α) : a ≤ α ≤ b}. With −μα²/2 added inside, the corners are
//! rounded over a width of μ: the rounded loss is smooth, lies at most μ·max(a², b²)/2 below, and its slopes α are points of the same dual problem, so that its solution comes with
//! a bound for the problem with corners. `docs/book/losses.md`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::solve::Hinge;
use crate::{Error, Result};

/// What is minimised, beside λ‖w‖².
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Loss {
    /// (y − s)², for numbers and for the codes of classes.
    #[default]
    Squares,
    /// Minus the logarithm of the probability of what was seen; for classes.
    Logistic,
    /// Margins that are too small; for classes, each against the rest.
    Margins {
        /// What such a margin costs.
        hinge: Hinge,
    },
    /// Errors beyond ε; for numbers.
    Insensitive {
        /// ε ≥ 0, in units of the target.
        epsilon: f64,
    },
    /// Squares of small errors, sizes of large ones; for numbers.
    Huber {
        /// ε > 1: where large begins, in units of the error's own size σ, which is fitted too.
        epsilon: f64,
    },
    /// What makes the score a quantile; for numbers.
    Quantile {
        /// τ, between 0 and 1: the part of targets that lies below.
        level: f64,
    },
}

impl Loss {
    /// ε of [`Loss::Huber`] where none is given, as in scikit-learn: about 89 % as good as squares where errors are normal.
    pub const HUBER: f64 = 1.35;

    /// Hinge loss, or its square.
    pub fn margins(hinge: Hinge) -> Loss {
        Loss::Margins { hinge }
    }

    /// Parameters are in range.
    pub fn validate(&self) -> Result<()> {
        let wrong =
            |name, expected, found: f64| Error::Parameter { name, expected, found: found.to_string() };
        match *self {
            Loss::Insensitive { epsilon } if !(epsilon >= 0.0 && epsilon.is_finite()) => {
                Err(wrong("epsilon", "finite and not negative", epsilon))
            }
            Loss::Huber { epsilon } if !(epsilon > 1.0 && epsilon.is_finite()) => {
                Err(wrong("epsilon", "above 1, in units of the errors' own size", epsilon))
            }
            Loss::Quantile { level } if !(level > 0.0 && level < 1.0) => {
                Err(wrong("level", "between 0 and 1", level))
            }
            _ => Ok(()),
        }
    }

    /// Whether it is about classes only.
    pub fn wants_classes(&self) -> bool {
        matches!(self, Loss::Logistic | Loss::Margins { .. })
    }

    /// Whether it is about numbers only.
    pub fn wants_numbers(&self) -> bool {
        matches!(self, Loss::Insensitive { .. } | Loss::Huber { .. } | Loss::Quantile { .. })
    }

    /// Whether it has corners.
    pub fn has_corners(&self) -> bool {
        matches!(
            self,
            Loss::Margins { hinge: Hinge::Plain } | Loss::Insensitive { .. } | Loss::Quantile { .. }
        )
    }

    /// For one target and one score, with its corners, errors being of size 1.
    pub fn pointwise(self) -> Pointwise {
        Pointwise { loss: self, rounding: 0.0, scale: 1.0 }
    }
}

/// A loss of one target and one score: its value, slope and bend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pointwise {
    /// The loss.
    pub loss: Loss,
    /// μ ≥ 0: over which its corners are rounded.
    pub rounding: f64,
    /// σ > 0: the size of an error, for [`Loss::Huber`].
    pub scale: f64,
}

/// Straight pieces: α from a to b, with the width ε around zero that costs nothing.
struct Pieces {
    low: f64,
    high: f64,
    idle: f64,
}

impl Pointwise {
    /// ℓ(y, s); y is ±1 for classes.
    pub fn value(&self, y: f64, s: f64) -> f64 {
        match self.loss {
            Loss::Squares => (y - s) * (y - s),
            Loss::Logistic => softplus(-y * s),
            Loss::Margins { hinge: Hinge::Squared } => (1.0 - y * s).max(0.0).powi(2),
            Loss::Huber { epsilon } => {
                let u = (y - s) / self.scale;
                let h = if u.abs() <= epsilon { u * u } else { 2.0 * epsilon * u.abs() - epsilon * epsilon };
                self.scale * (1.0 + h)
            }
            loss => {
                let pieces = loss.pieces();
                let (r, alpha) = (self.error(y, s), self.alpha(y, s));
                alpha * r - pieces.idle * alpha.abs() - 0.5 * self.rounding * alpha * alpha
            }
        }
    }

    /// ∂ℓ/∂s; at a corner, one of its slopes.
    pub fn slope(&self, y: f64, s: f64) -> f64 {
        match self.loss {
            Loss::Squares => -2.0 * (y - s),
            Loss::Logistic => -y * sigmoid(-y * s),
            Loss::Margins { hinge: Hinge::Squared } => -2.0 * y * (1.0 - y * s).max(0.0),
            Loss::Huber { epsilon } => -2.0 * ((y - s) / self.scale).clamp(-epsilon, epsilon),
            Loss::Margins { hinge: Hinge::Plain } => -y * self.alpha(y, s),
            Loss::Insensitive { .. } | Loss::Quantile { .. } => -self.alpha(y, s),
        }
    }

    /// ∂²ℓ/∂s², where there is one; zero on straight pieces.
    pub fn bend(&self, y: f64, s: f64) -> f64 {
        match self.loss {
            Loss::Squares => 2.0,
            Loss::Logistic => {
                let p = sigmoid(y * s);
                p * (1.0 - p)
            }
            Loss::Margins { hinge: Hinge::Squared } => 2.0 * f64::from(u8::from(y * s < 1.0)),
            Loss::Huber { epsilon } => {
                let is_small = (y - s).abs() <= epsilon * self.scale;
                if is_small { 2.0 / self.scale } else { 0.0 }
            }
            loss => {
                let pieces = loss.pieces();
                let r = self.error(y, s);
                let alpha = (r - r.signum() * pieces.idle) / self.rounding;
                let is_round = r.abs() >= pieces.idle && alpha > pieces.low && alpha < pieces.high;
                if is_round { 1.0 / self.rounding } else { 0.0 }
            }
        }
    }

    /// What the conjugate takes from the dual value: ℓ*(α) with αᵢ = −∂ℓ/∂s, at the slope of (y, s). The corners, not their rounding, are meant.
    pub(crate) fn conjugate(&self, y: f64, s: f64) -> f64 {
        // ℓ(s) + ℓ*(g) = s·g for smooth losses (Fenchel); lines are looked up.
        let g = self.slope(y, s);
        match self.loss {
            Loss::Margins { hinge: Hinge::Plain } => y * g,
            Loss::Insensitive { epsilon } => y * g + epsilon * g.abs(),
            Loss::Quantile { .. } => y * g,
            _ => s * g - self.value(y, s),
        }
    }

    /// r: what the straight pieces are about.
    fn error(&self, y: f64, s: f64) -> f64 {
        match self.loss {
            Loss::Margins { .. } => 1.0 - y * s,
            _ => y - s,
        }
    }

    /// The α at which αr − ℓ*(α) − μα²/2 is largest.
    fn alpha(&self, y: f64, s: f64) -> f64 {
        let Pieces { low, high, idle } = self.loss.pieces();
        let r = self.error(y, s);
        let beyond = r.signum() * (r.abs() - idle).max(0.0);
        if self.rounding > 0.0 {
            (beyond / self.rounding).clamp(low, high)
        } else if beyond > 0.0 {
            high
        } else if beyond < 0.0 {
            low
        } else {
            0.0
        }
    }
}

impl Loss {
    fn pieces(self) -> Pieces {
        match self {
            Loss::Insensitive { epsilon } => Pieces { low: -1.0, high: 1.0, idle: epsilon },
            Loss::Quantile { level } => Pieces { low: level - 1.0, high: level, idle: 0.0 },
            _ => Pieces { low: 0.0, high: 1.0, idle: 0.0 },
        }
    }
}

/// ln(1 + eᵗ), without overflow.
pub(crate) fn softplus(t: f64) -> f64 {
    t.max(0.0) + (-t.abs()).exp().ln_1p()
}

/// 1/(1 + e⁻ᵗ), without overflow.
pub(crate) fn sigmoid(t: f64) -> f64 {
    let e = (-t.abs()).exp();
    if t >= 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) }
}

/// Probabilities e^sₒ/Σ e^s in place of scores; ln Σ e^s comes back.
pub(crate) fn softmax(scores: &mut [f64]) -> f64 {
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut sum = 0.0;
    for s in scores.iter_mut() {
        *s = (*s - largest).exp();
        sum += *s;
    }
    scores.iter_mut().for_each(|s| *s /= sum);
    largest + sum.ln()
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Loss::Squares => write!(f, "squares"),
            Loss::Logistic => write!(f, "logistic"),
            Loss::Margins { hinge: Hinge::Squared } => write!(f, "squared_hinge"),
            Loss::Margins { hinge: Hinge::Plain } => write!(f, "hinge"),
            Loss::Insensitive { epsilon } => write!(f, "insensitive(epsilon={epsilon})"),
            Loss::Huber { epsilon } => write!(f, "huber(epsilon={epsilon})"),
            Loss::Quantile { level } => write!(f, "quantile(level={level})"),
        }
    }
}

/// As it is printed; a parameter may be left out where there is a usual value, and `-` may stand for `_`.
impl FromStr for Loss {
    type Err = Error;

    fn from_str(text: &str) -> Result<Loss> {
        const KNOWN: &str = "squares, logistic, squared_hinge, hinge, insensitive(epsilon=0.1), huber(epsilon=1.35) or \
                             quantile(level=0.5)";
        let unknown = || Error::Parameter { name: "loss", expected: KNOWN, found: text.to_owned() };
        let plain = text.trim().replace('-', "_");
        let (word, argument) = match plain.split_once('(') {
            None => (plain.as_str(), None),
            Some((word, rest)) => (word.trim(), Some(rest.strip_suffix(')').ok_or_else(unknown)?)),
        };
        // The minus sign of an exponent became an underscore above.
        let number = |name: &str, usual: f64| match argument.map(str::trim) {
            None | Some("") => Ok(usual),
            Some(argument) => {
                let value = argument.strip_prefix(name).and_then(|rest| rest.trim_start().strip_prefix('='));
                value.and_then(|value| value.trim().replace('_', "-").parse().ok()).ok_or_else(unknown)
            }
        };
        let loss = match word {
            "squares" | "ridge" => Loss::Squares,
            "logistic" => Loss::Logistic,
            "squared_hinge" => Loss::margins(Hinge::Squared),
            "hinge" => Loss::margins(Hinge::Plain),
            "insensitive" => Loss::Insensitive { epsilon: number("epsilon", 0.1)? },
            "huber" => Loss::Huber { epsilon: number("epsilon", Loss::HUBER)? },
            "quantile" => Loss::Quantile { level: number("level", 0.5)? },
            _ => return Err(unknown()),
        };
        if argument.is_some() && !loss.wants_numbers() {
            return Err(unknown());
        }
        loss.validate()?;
        Ok(loss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bochner_testkit::{Absolute, assert_close, assert_same_bits};

    fn all() -> Vec<Loss> {
        vec![
            Loss::Squares,
            Loss::Logistic,
            Loss::margins(Hinge::Squared),
            Loss::margins(Hinge::Plain),
            Loss::Insensitive { epsilon: 0.3 },
            Loss::Huber { epsilon: 1.35 },
            Loss::Quantile { level: 0.8 },
        ]
    }

    /// Away from corners and knees, slopes and bends are those of differences of values and slopes.
    #[test]
    fn slopes_and_bends_are_derivatives() {
        for loss in all() {
            let rounding = if loss.has_corners() { 0.17 } else { 0.0 };
            let of = Pointwise { loss, rounding, scale: 0.7 };
            let targets = if loss.wants_classes() { [-1.0, 1.0] } else { [-0.4, 1.7] };
            for y in targets {
                // On the arc of a quantile, also where it is met exactly.
                if loss.has_corners() && loss.wants_numbers() {
                    let is_arc = matches!(loss, Loss::Quantile { .. });
                    assert_eq!(of.bend(y, y) > 0.0, is_arc);
                }
                for k in -30..=30 {
                    let (s, h) = (0.1111 * f64::from(k) + 0.0123, 1e-5);
                    let slope = (of.value(y, s + h) - of.value(y, s - h)) / (2.0 * h);
                    let bend = (of.slope(y, s + h) - of.slope(y, s - h)) / (2.0 * h);
                    assert_close(&[of.slope(y, s)], &[slope], Absolute(1e-5));
                    assert_close(&[of.bend(y, s)], &[bend], Absolute(1e-4));
                }
            }
        }
    }

    /// Rounded corners lie below by at most μ·max α²/2, and meet the corners for μ → 0.
    #[test]
    fn rounding_takes_little() {
        for loss in all().into_iter().filter(Loss::has_corners) {
            for mu in [1e-9, 0.1, 1.0] {
                let (corners, round) = (loss.pointwise(), Pointwise { rounding: mu, ..loss.pointwise() });
                for k in -40..=40 {
                    let s = 0.1 * f64::from(k);
                    let below = corners.value(1.0, s) - round.value(1.0, s);
                    assert!((-1e-12..=0.5 * mu + 1e-12).contains(&below), "{loss}: {below} at {s}");
                }
            }
        }
    }

    /// ℓ(s) + ℓ*(g) ≥ s·g for every slope, with equality at its own point.
    #[test]
    fn conjugates_bound_from_below() {
        for loss in all() {
            let of = loss.pointwise();
            for y in [-1.0, 1.0] {
                for (at, s) in (-12..=12).flat_map(|a| (-12..=12).map(move |b| (a, b))) {
                    let (at, s) = (0.31 * f64::from(at), 0.31 * f64::from(s));
                    let (g, conjugate) = (of.slope(y, at), of.conjugate(y, at));
                    assert!(of.value(y, s) + conjugate >= s * g - 1e-12, "{loss} at {at} and {s}");
                    assert_close(&[of.value(y, at) + conjugate], &[at * g], Absolute(1e-12));
                }
            }
        }
    }

    #[test]
    fn large_scores_do_not_overflow() {
        let of = Loss::Logistic.pointwise();
        let found =
            [of.value(1.0, -1e300), of.value(1.0, 1e300), of.slope(1.0, 1e300), of.slope(-1.0, 1e300)];
        assert_same_bits(&found, &[1e300, 0.0, -0.0, 1.0]);
        let mut scores = [1e300, -1e300, 1e300];
        assert_same_bits(&[softmax(&mut scores)], &[1e300]);
        assert_same_bits(&scores, &[0.5, 0.0, 0.5]);
    }

    #[test]
    fn losses_are_written_and_read() {
        for loss in all() {
            assert_eq!(loss.to_string().parse::<Loss>().unwrap(), loss);
        }
        assert_eq!("squared-hinge".parse::<Loss>().unwrap(), Loss::margins(Hinge::Squared));
        assert_eq!("huber".parse::<Loss>().unwrap(), Loss::Huber { epsilon: 1.35 });
        assert_eq!("insensitive(epsilon=1e-3)".parse::<Loss>().unwrap(), Loss::Insensitive { epsilon: 1e-3 });
        for wrong in [
            "log",
            "huber(1.35",
            "huber(level=2)",
            "logistic(epsilon=1)",
            "quantile(level=1)",
            "insensitive(epsilon=-1)",
        ] {
            assert!(wrong.parse::<Loss>().is_err(), "{wrong}");
        }
    }
}
