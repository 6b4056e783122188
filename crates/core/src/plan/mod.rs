//! What a job will cost, before it starts.
//!
//! Here: the peak memory of a ridge fit, which the engine checks against its limit, and its arithmetic; `strategy`: six ways to run a stochastic gradient
//! descent, counted. These depend on shapes only. `machine` asks a clock what can be done in a second, and `forecast` makes seconds of counts.

mod cg;
mod forecast;
mod machine;
mod newton;
mod strategy;

use bochner_simd::TILE;
use serde::{Deserialize, Serialize};

use crate::certify::capacity;
use crate::sweep::{BLOCK, GROUP};
use crate::{MapSpec, Method};

pub(crate) use self::cg::{
    Conjugate, ENOUGH_RANK, FIRST_RANK, SKETCH_ROWS, TOGETHER as LAMBDAS_TOGETHER, Way,
};
pub use self::forecast::{Forecast, Phase};
pub(crate) use self::machine::cubic;
pub use self::machine::{Machine, Rates};
pub use self::strategy::{Counts, Figures, Speed, Strategy, StrategyTable, Workload, exact_features};
pub(crate) use self::strategy::{ROUND, TOGETHER};

/// The cost of a fit: passes over the rows, multiply-adds, and bytes at the peak.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Times that the rows are read.
    pub passes: u32,
    /// Multiply-adds for one million rows.
    pub multiply_adds_per_million_rows: f64,
    /// Multiply-adds of the solve, once.
    pub multiply_adds_to_solve: f64,
    /// Bytes at the peak, whatever the number of rows.
    pub peak_bytes: u64,
}

impl Cost {
    /// Multiply-adds for so many rows.
    pub fn multiply_adds(&self, rows: u64) -> f64 {
        self.multiply_adds_per_million_rows * (rows as f64 / 1e6) + self.multiply_adds_to_solve
    }
}

/// The shape of a ridge fit.
#[derive(Clone, Debug, PartialEq)]
pub struct RidgeShape {
    /// The map.
    pub map: MapSpec,
    /// Features that it gives, D.
    pub features: usize,
    /// Columns of the rows, d.
    pub inputs: usize,
    /// Entries of a row that are stored: d, or fewer where rows are sparse.
    pub entries: u64,
    /// Target columns, t.
    pub outputs: usize,
    /// Partial sums kept: one for each fold, one without cross-validation.
    pub folds: usize,
    /// Bytes of an entry of the features: 4 or 8.
    pub scalar_bytes: usize,
    /// The number of rows, where it is known.
    pub rows: Option<u64>,
}

impl RidgeShape {
    /// Predicts the cost; saturates instead of overflowing, so that absurd shapes are refused, not wrapped.
    pub fn cost(&self) -> Cost {
        let f = |n: usize| n as f64;
        let (entries, t, scalar) = (self.entries as f64, f(self.outputs), f(self.scalar_bytes));
        let features = f(self.features);
        let square = features * features * 8.0;
        // Tiles of the upper triangle, whole ones.
        let tiles = (features / f(TILE)).ceil();
        let tile = f(TILE * TILE) * 8.0;
        let sums = f(self.folds) * (tiles * (tiles + 1.0) / 2.0 * tile + features * (t + 1.0) * 8.0);
        // More groups than one need a second set.
        let many_groups = self.rows.is_none_or(|n| n > (BLOCK * GROUP) as u64);
        let sums = if many_groups { 2.0 * sums } else { sums };
        // A block of features and its packed copy.
        let rows = self.rows.map_or(f(BLOCK), |n| f(BLOCK).min(n as f64));
        let block = rows * features * scalar * 2.0;
        // Its targets, coded and in packed order.
        let targets = rows * (2.0 * t + 1.0) * 8.0;
        // A fold's decomposition holds the matrix of its complement and the fold's own; the final one holds one.
        let solve = if self.folds > 1 { 2.0 * square + 3.0 * features * 21.0 * t * 8.0 } else { square };
        // The sample as (index, value) entries and dense beside it, and what its certificate is measured with.
        let sampled = f(capacity(&self.map, self.inputs)).min(self.rows.map_or(f64::INFINITY, |n| n as f64));
        let sample = sampled * entries * (16.0 + 8.0) + 512.0 * features * 8.0;
        let (made, kept) = (self.map.bytes(self.inputs) as f64, self.map.bytes_kept(self.inputs) as f64);
        Cost {
            passes: 2,
            multiply_adds_per_million_rows: 1e6 * (self.to_make_a_row() + features * (features / 2.0 + t)),
            // A band form for each fold; a Cholesky factor and the trace of its inverse at the end.
            multiply_adds_to_solve: (if self.folds > 1 { f(self.folds) * 2.0 / 3.0 } else { 0.0 }
                + 1.0 / 3.0)
                * features.powi(3),
            peak_bytes: (sample + made.max(kept + sums + targets + block.max(solve))) as u64,
        }
    }
}

impl RidgeShape {
    /// Multiply-adds to make the features of a row: with frequencies or landmarks, and a triangle that whitens these.
    fn to_make_a_row(&self) -> f64 {
        let (entries, features) = (self.entries as f64, self.features as f64);
        match self.map.method {
            Method::Landmarks { whiten: true, .. } => features * (entries + features / 2.0),
            _ => features * entries,
        }
    }
}

/// Bytes for people: `25.0 MiB`.
pub fn bytes(count: u64) -> String {
    let mut value = count as f64;
    for unit in ["B", "KiB", "MiB", "GiB", "TiB", "PiB"] {
        if value < 1024.0 {
            return if unit == "B" { format!("{value} B") } else { format!("{value:.1} {unit}") };
        }
        value /= 1024.0;
    }
    format!("{value:.1} EiB")
}

/// Bytes that the system could still give to this process, where it says so (Linux, control groups included).
pub fn available_memory() -> Option<u64> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let meminfo = read("/proc/meminfo")?;
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let free = line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024;
    let number = |path: &str| read(path)?.trim().parse::<u64>().ok();
    // What a group has read from files counts as used but is given back when needed.
    let cached = || {
        read("/sys/fs/cgroup/memory.stat")?
            .lines()
            .find_map(|l| l.strip_prefix("inactive_file ")?.parse::<u64>().ok())
    };
    let group = number("/sys/fs/cgroup/memory.max").map(|limit| {
        let used = number("/sys/fs/cgroup/memory.current").unwrap_or(0).saturating_sub(cached().unwrap_or(0));
        limit.saturating_sub(used)
    });
    Some(group.map_or(free, |group| group.min(free)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kernel;

    #[test]
    fn bytes_read_well() {
        assert_eq!([bytes(12), bytes(2048), bytes(5 << 30)], ["12 B", "2.0 KiB", "5.0 GiB"]);
    }

    #[test]
    fn absurd_shapes_saturate() {
        let map = MapSpec { features: usize::MAX, ..MapSpec::landmarks(Kernel::Linear) };
        let huge = usize::MAX;
        let shape = RidgeShape {
            map,
            features: huge,
            inputs: huge,
            entries: u64::MAX,
            outputs: huge,
            folds: 5,
            scalar_bytes: 8,
            rows: None,
        };
        assert_eq!(shape.cost().peak_bytes, u64::MAX);
    }
}
