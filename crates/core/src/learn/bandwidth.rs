//! The width of a kernel, from the data.
//!
//! ```text
//! width = factor × median distance between rows,   factor ∈ {1/8, 1/4, 1/2, 1, 2} by cross-validated ridge on a sample
//! ```
//! The median distance only anchors the grid: the best width of a regression is usually a fraction of it. A small map on
//! a sample of the rows is enough, because the best width hardly depends on the number of features.

use serde::{Deserialize, Serialize};

use super::auto::default_features;
use super::ridge::Ridge;
use crate::random::{Draws, Stream};
use crate::source::{Arrays, Target};
use crate::stat::Sample;
use crate::{AnyRows, Engine, Event, Kernel, MapSpec, Result};

/// Kernels whose width can be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// [`Kernel::Gaussian`]
    Gaussian,
    /// [`Kernel::Laplace`]
    Laplace,
}

/// How the width is searched.
#[derive(Clone, Debug, PartialEq)]
pub struct Bandwidth {
    /// Widths tried, as factors of the median distance.
    pub factors: Vec<f64>,
    /// Features of the maps tried, at most.
    pub features: usize,
    /// Rows of the sample used.
    pub rows: usize,
}

impl Default for Bandwidth {
    fn default() -> Self {
        Bandwidth { factors: vec![0.125, 0.25, 0.5, 1.0, 2.0], features: 512, rows: 4096 }
    }
}

/// Pairs of rows that the median is taken of.
const PAIRS: u64 = 2000;

impl Bandwidth {
    /// The kernel of the family with the best width.
    pub fn choose(&self, engine: &Engine, family: Family, sample: &Sample, seed: u64) -> Result<Kernel> {
        let phase = "bandwidth";
        engine.tell(&Event::Started { phase })?;
        let anchor = anchor(family, sample, seed);
        let rows = sample.rows(self.rows);
        let (targets, weights) = (sample.targets(self.rows), sample.weights(self.rows));
        // Classes are numbers here: a row that was seen in several has its shares of them.
        let target = Target::Numbers { outputs: targets.columns() };
        let arrays = Arrays::new(AnyRows::F64(rows.view()), targets.view(), Some(&weights), target)?;
        let mut best = (f64::INFINITY, anchor.clone());
        for (tried, factor) in self.factors.iter().enumerate() {
            let kernel = anchor.widened(*factor);
            let features = default_features(self.features, sample);
            let map = MapSpec { features, seed, ..MapSpec::auto(kernel.clone()) };
            let ridge = Ridge::new(map);
            let error = ridge.error(engine, &arrays, sample)?;
            if error < best.0 {
                best = (error, kernel);
            }
            let fraction = Some((tried + 1) as f64 / self.factors.len() as f64);
            engine.tell(&Event::Progress { phase, rows: sample.len() as u64, fraction })?;
        }
        engine.tell(&Event::Finished { phase })?;
        Ok(best.1)
    }
}

/// The kernel whose width is the median distance, in the kernel's own metric.
fn anchor(family: Family, sample: &Sample, seed: u64) -> Kernel {
    let unit = match family {
        Family::Gaussian => Kernel::gaussian(1.0),
        Family::Laplace => Kernel::laplace(1.0),
    };
    let owned = sample.rows(sample.len());
    let rows = owned.view();
    let mut distances: Vec<f64> = (0..PAIRS)
        .filter_map(|pair| {
            let mut draws = Draws::new(seed, Stream::Pairs, pair);
            let (i, j) =
                (draws.below(sample.len() as u64) as usize, draws.below(sample.len() as u64) as usize);
            let distance = unit.spread(&rows, i, j)?;
            (distance > 0.0).then_some(distance)
        })
        .collect();
    distances.sort_by(f64::total_cmp);
    let median = distances.get(distances.len() / 2).copied().unwrap_or(1.0);
    unit.widened(median)
}
