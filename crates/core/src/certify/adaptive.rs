//! Features doubled until the measured error is small enough.
//!
//! ```text
//! round j = 1, 2, …     D·2^(j−1) features, fresh pairs, confidence δ/2ʲ:     stop when mean + radius ≤ target
//! ```
//! Whoever looks again and again until the answer is right is wrong more often than each look says. The chances of the rounds sum to at most δ, so that the last
//! statement holds with probability 1 − δ however many rounds there were.

use super::{Bound, Certificate, Measured, Probe, capacity};
use crate::source::Source;
use crate::stat::Sample;
use crate::{Engine, Error, Map, MapSpec, Result};

/// A map whose mean kernel error is small enough.
#[derive(Clone, Debug)]
pub struct Adapted {
    /// The map.
    pub map: Map,
    /// Its certificate, the measured part at the confidence of the last round.
    pub certificate: Certificate,
    /// Features and measured errors of all rounds.
    pub rounds: Vec<(usize, Measured)>,
}

impl MapSpec {
    /// Doubles the features, from those of the spec on, until the mean absolute kernel error over pairs of rows is at most `target` with probability
    /// 1 − `delta`.
    ///
    /// # Errors
    /// If `most` features are not enough, with the error that was reached.
    pub fn fit_adaptively(
        &self,
        engine: &Engine,
        source: &dyn Source,
        target: f64,
        delta: f64,
        most: usize,
    ) -> Result<Adapted> {
        for (name, value, most, expected) in
            [("target", target, f64::MAX, "above 0"), ("delta", delta, 1.0, "between 0 and 1")]
        {
            if !(value > 0.0 && value < most) {
                return Err(Error::Parameter { name, expected, found: value.to_string() });
            }
        }
        if let crate::Method::Landmarks { whiten: false, .. } = self.method {
            return Err(Error::Unsupported {
                what: "fitting plain kernel values to an accuracy".to_owned(),
                reason: "they are not meant to approximate the kernel",
                instead: "whiten them",
            });
        }
        self.validate()?;
        self.check_source(engine, source)?;
        let largest = MapSpec { features: most.max(self.features), ..self.clone() };
        let sample = Sample::of(engine, source, capacity(&largest, source.input_dim()), self.seed)?;
        let mut rounds = Vec::new();
        for round in 1u32.. {
            let features = self.features.saturating_mul(1usize.checked_shl(round - 1).unwrap_or(usize::MAX));
            if features > most && round > 1 {
                break;
            }
            let spec = MapSpec { features, ..self.clone() };
            let map = spec.fit_to(engine, source, &sample)?;
            let measured = engine.phase("certificate", sample.population(), |check| {
                Measured::at(
                    &Probe::new(engine, &map, &sample),
                    round,
                    delta / 2f64.powi(round as i32),
                    check,
                )
            })?;
            let certificate = Certificate { measured, ..Certificate::measure(engine, &map, &sample)? };
            let Some(measured) = measured else { return Ok(Adapted { map, certificate, rounds }) };
            rounds.push((map.output_dim(), measured));
            // What holds without chance needs no measuring.
            let is_certain = match certificate.bound {
                Bound::Exact => true,
                Bound::Deterministic { epsilon, .. } => epsilon <= target,
                _ => false,
            };
            if is_certain || measured.mean + measured.radius <= target {
                return Ok(Adapted { map, certificate, rounds });
            }
        }
        let (features, reached) = rounds.last().map_or((0, f64::NAN), |(d, m)| (*d, m.mean + m.radius));
        Err(Error::Accuracy { target, reached, features })
    }
}
