//! The tree of choices, for people.

use std::fmt;

use super::combination::Combinations;
use super::compile::{How, Recipe};
use super::sketch::Sketch;
use super::{FourierForm, FrequencyDraw, fourier};

impl Recipe {
    /// The parts that this one is made of.
    pub fn parts(&self) -> &[Recipe] {
        match &self.how {
            How::Join(parts) | How::Tensor(parts) | How::Multiply(parts) => parts,
            How::Projected(part)
            | How::OfDistance { part, .. }
            | How::Positive(part)
            | How::Scale { part, .. }
            | How::Weight { part, .. }
            | How::Normalise(part) => std::slice::from_ref(part),
            _ => &[],
        }
    }

    /// The variance of z(x)·z(y) for rows that are far apart, so that k is nearly zero: what the part adds to the error at most distances. None where it depends on the
    /// rows' lengths.
    pub fn variance(&self) -> Option<f64> {
        let features = self.features as f64;
        match &self.how {
            How::Exact | How::Constant | How::Taylor { .. } | How::Homogeneous { .. } => Some(0.0),
            // (1 + k(2Δ) − 2k²)/D of pairs and (1 + k(2Δ)/2 − k²)/D of offsets are both 1/D there.
            How::Fourier { .. } => {
                self.kernel.spectrum().map(|spectrum| spectrum.mass * spectrum.mass / features)
            }
            How::OfDistance { .. } => Some(1.0 / features),
            // k(1 − k)/P + (1 − k)/(width·P)
            How::Grids { .. } => self.kernel.constant_diagonal().map(|mass| mass * mass / features),
            How::Join(parts) => parts.iter().map(Recipe::variance).sum(),
            How::Scale { factor, part } => part.variance().map(|variance| factor * factor * variance),
            How::Weight { part, .. } | How::Normalise(part) => {
                part.variance().filter(|variance| *variance <= 0.0)
            }
            How::Tensor(parts) => {
                parts.iter().map(Recipe::variance).sum::<Option<f64>>().filter(|sum| *sum <= 0.0)
            }
            How::Hinges
            | How::Subsets
            | How::Sketch { .. }
            | How::Hashed
            | How::Projected(_)
            | How::Projection { .. }
            | How::Positive(_)
            | How::Multiply(_) => None,
        }
    }

    /// Numbers that the built map keeps.
    pub(crate) fn entries(&self, columns: usize) -> f64 {
        let (d, features) = (columns as f64, self.features as f64);
        let inner: f64 = self.parts().iter().map(|part| part.entries(columns)).sum();
        let from_inner = || self.parts().first().map_or(d, |part| part.features as f64);
        let own = match &self.how {
            How::Fourier { draw: FrequencyDraw::Structured, .. } => 4.0 * features,
            How::Fourier { form, draw: FrequencyDraw::Turned } => {
                let spectrum = self.kernel.spectrum();
                let place = spectrum.as_ref().and_then(|spectrum| spectrum.law.isotropic());
                let columns = place.map_or(columns, |(_, place)| place.len(columns));
                fourier::turned_entries(columns, form.frequencies(self.features))
            }
            How::Fourier { form: FourierForm::Pairs, .. } => d * features / 2.0,
            How::Fourier { .. } | How::Hinges | How::Subsets => d * features,
            How::Grids { width } => d * features / *width as f64,
            How::Projection { how } => how.entries(self.features, columns),
            How::Projected(_) | How::OfDistance { .. } | How::Positive(_) => from_inner() * features,
            How::Sketch { sketch } => sketch.entries(&self.kernel, columns, self.features),
            // Products of columns have places by a formula.
            How::Exact if Combinations::of(self.kernel.bare()).is_some() => 64.0 * d,
            // Parents and variables of all degrees, weights, and the monomials of two degrees while they are made.
            How::Exact | How::Taylor { .. } => 6.0 * features,
            _ => 0.0,
        };
        own + inner
    }

    /// What is done, in words.
    pub fn what(&self) -> String {
        let draw = |draw: &FrequencyDraw| match draw {
            FrequencyDraw::Independent => "independent",
            FrequencyDraw::Orthogonal => "orthogonal",
            FrequencyDraw::Quasi => "quasi-random",
            FrequencyDraw::Turned => "turned orthogonal",
            FrequencyDraw::Structured => "structured (bias below 4e-4)",
        };
        match &self.how {
            How::Exact => "its own features, exactly".to_owned(),
            How::Taylor { degree } => format!("its series up to degree {degree}"),
            How::Fourier { form: FourierForm::Pairs, draw: d } => {
                format!("Fourier pairs, {} frequencies", draw(d))
            }
            How::Fourier { form: FourierForm::Offset, draw: d } => {
                format!("Fourier with offsets, {} frequencies", draw(d))
            }
            How::Homogeneous { steps } => {
                format!("sampled spectrum, {} features a column, no chance", 2 * steps + 1)
            }
            How::Hinges => "random rectified units".to_owned(),
            How::Subsets => "random signs of the columns".to_owned(),
            How::Grids { width } => {
                let outputs = self.kernel.grid_law(1).map_or(1, |law| law.outputs());
                let grids = self.features / (width * outputs).max(1);
                let waves = if outputs == 2 { ", a frequency in each" } else { "" };
                format!("{grids} random grids, hashed to {width} bins each{waves}")
            }
            How::Sketch { sketch: Sketch::Tensor } => {
                "TensorSketch: count sketches, multiplied as Fourier transforms".to_owned()
            }
            How::Sketch { sketch: Sketch::Product } => {
                "products of complex signs, by Hadamard transforms".to_owned()
            }
            How::Hashed => "products of columns, hashed with signs".to_owned(),
            How::Constant => "a constant".to_owned(),
            How::Projected(_) => "random signs, projecting".to_owned(),
            How::Projection { how } => how.to_string(),
            How::OfDistance { form: FourierForm::Pairs, .. } => "Fourier pairs of a Gaussian on".to_owned(),
            How::OfDistance { .. } => "Fourier features with offsets of a Gaussian on".to_owned(),
            How::Positive(_) => "positive features of exp on".to_owned(),
            How::Join(_) => "side by side".to_owned(),
            How::Tensor(_) => "all products of".to_owned(),
            How::Multiply(_) => "products, draw by draw, of".to_owned(),
            How::Scale { factor, .. } => format!("√{} times", crate::error::number(*factor)),
            How::Weight { function, .. } => format!("{function} times"),
            How::Normalise(_) => "over √K(x, x)".to_owned(),
        }
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, whole: &Recipe, before: &str, branch: &str) -> fmt::Result {
        write!(f, "{branch}{}  ─  {}: {} features", self.kernel, self.what(), self.features)?;
        let share = 100.0 * self.features as f64 / whole.features.max(1) as f64;
        let is_part = !std::ptr::eq(self, whole);
        if is_part && self.features <= whole.features {
            write!(f, " ({share:.0} %)")?;
        }
        match (self.variance(), whole.variance()) {
            (Some(variance), _) if variance <= 0.0 => write!(f, ", no variance")?,
            (Some(variance), Some(all)) if is_part && variance <= all => {
                write!(f, ", variance {variance:.2e} ({:.0} %)", 100.0 * variance / all)?;
            }
            (Some(variance), _) => write!(f, ", variance {variance:.2e} far apart")?,
            (None, _) => write!(f, ", variance depends on the rows")?,
        }
        writeln!(f)?;
        let count = self.parts().len();
        for (i, part) in self.parts().iter().enumerate() {
            let last = i + 1 == count;
            let branch = format!("{before}{}", if last { "└─ " } else { "├─ " });
            part.write(f, whole, &format!("{before}{}", if last { "   " } else { "│  " }), &branch)?;
        }
        Ok(())
    }
}

/// One line for each part: what it is of, what is done, its share of the features and of the variance.
impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, self, "", "")
    }
}
