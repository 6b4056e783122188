//! From rows as they are to a model, with everything chosen that was not given.
//!
//! ```text
//! pass 1   column means and deviations, a sample of rows
//!          standardise; width of the kernel on the sample
//! pass 2   features and their sums;  λ by cross-validation
//! ```

use super::{Bandwidth, Family, Ridge};
use crate::certify::SAMPLE;
use crate::encode::{Encoder, Scaled, Scaling};
use crate::engine::Event;
use crate::matrix::with_rows;
use crate::source::Source;
use crate::stat::{Moments, Sample};
use crate::sweep::sweep;
use crate::{Engine, Kernel, Lambda, MapSpec, Method, Model, Result, Target};

/// A kernel, or the family in which to find one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KernelChoice {
    /// This one.
    Given(Kernel),
    /// The width is chosen by cross-validation around the median distance.
    Tuned(Family),
}

/// A fit with everything chosen from the data that is not given.
#[derive(Clone, Debug, PartialEq)]
pub struct Auto {
    /// The kernel.
    pub kernel: KernelChoice,
    /// The method; none for the kernel's usual one.
    pub method: Option<Method>,
    /// D; none for 2,048, or twice the number of distinct rows where that is less.
    pub features: Option<usize>,
    /// Of all chance.
    pub seed: u64,
    /// How λ is found.
    pub lambda: Lambda,
    /// Whether columns are brought to mean 0 and deviation 1 first (sparse ones to deviation 1).
    pub standardise: bool,
}

impl Default for Auto {
    fn default() -> Self {
        Auto {
            kernel: KernelChoice::Tuned(Family::Gaussian),
            method: None,
            features: None,
            seed: 0,
            lambda: Lambda::CrossValidated { folds: 5 },
            standardise: true,
        }
    }
}

impl Auto {
    /// Fits to all rows of the source.
    pub fn fit(&self, engine: &Engine, source: &dyn Source) -> Result<Model> {
        self.spec(self.anchor(), MapSpec::FEATURES).check(source.input_dim())?;
        let (moments, sample) = sweep(
            engine,
            source,
            "columns",
            || {
                let capacity = SAMPLE.max(self.features.unwrap_or(0));
                (Moments::zero(source.input_dim()), Sample::zero(capacity, source.input_dim(), self.seed))
            },
            |(moments, sample), batch| {
                with_rows!(batch.rows, rows => moments.absorb(&rows, |i| batch.weight(i)));
                sample.absorb(batch, source.target());
            },
        )?;
        self.warn(engine, source, &sample)?;
        let scaling = self.standardise.then(|| Scaling::new(&moments, sample.is_sparse()));
        let sample = scaling.as_ref().map_or_else(|| sample.clone(), |scaling| scaling.sample(&sample));
        let kernel = match self.kernel {
            KernelChoice::Given(kernel) => kernel,
            KernelChoice::Tuned(family) => {
                Bandwidth::default().choose(engine, family, &sample, self.seed)?
            }
        };
        let map = self.spec(kernel, default_features(MapSpec::FEATURES, &sample));
        let ridge = Ridge { map, lambda: self.lambda, intercept: true };
        let Some(scaling) = scaling else { return ridge.fit_with(engine, source, &sample) };
        let model = ridge.fit_with(engine, &Scaled::new(source, &scaling), &sample)?;
        Ok(model.with_encoder(Encoder::identity(source.input_dim()).with_scaling(scaling)))
    }

    /// A constant target is a model that predicts it, with a warning.
    fn warn(&self, engine: &Engine, source: &dyn Source, sample: &Sample) -> Result<()> {
        let Target::Numbers { outputs } = source.target() else { return Ok(()) };
        for output in 0..*outputs {
            let mut values = sample.iter().map(|row| row.targets[output]);
            let first = values.next();
            if sample.len() > 1 && values.all(|y| Some(y.to_bits()) == first.map(f64::to_bits)) {
                let text = format!("target {output} is constant in all sampled rows: the model predicts the constant");
                engine.tell(&Event::Warning { text: &text })?;
            }
        }
        Ok(())
    }

    fn anchor(&self) -> Kernel {
        match self.kernel {
            KernelChoice::Given(kernel) => kernel,
            KernelChoice::Tuned(Family::Gaussian) => Kernel::Gaussian { sigma: 1.0 },
            KernelChoice::Tuned(Family::Laplace) => Kernel::Laplace { scale: 1.0 },
        }
    }

    fn spec(&self, kernel: Kernel, features: usize) -> MapSpec {
        let usual = MapSpec::auto(kernel);
        let method = self.method.unwrap_or(usual.method);
        MapSpec { method, features: self.features.unwrap_or(features), seed: self.seed, ..usual }
    }
}

/// `most` features, or two for each distinct row where that is less: more would only repeat what the rows can tell.
pub(super) fn default_features(most: usize, sample: &Sample) -> usize {
    most.min(2 * sample.len()).max(32)
}
