//! What a fit will take, before anything is fitted.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::size::{WORK, within};
use crate::plan::{Forecast, bytes};

/// The search for a kernel, and a fit for each D that may be tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outlook {
    /// Rows.
    pub rows: u64,
    /// Seconds to find kernel, width and metric, as far as they are open.
    pub search: f64,
    /// Bytes at its peak.
    pub search_bytes: u64,
    /// From the smallest D to the largest; one if D is given.
    pub fits: Vec<Forecast>,
    /// Bytes that may be used.
    pub memory_limit: u64,
    /// Seconds that may be used; none for an amount of work.
    pub budget: Option<f64>,
}

impl Outlook {
    /// How many of the fits may be made, one after another: memory, budget and work allow them. Where D is given, one that fits the memory.
    pub fn allowed(&self) -> usize {
        let fits_memory = |fit: &&Forecast| fit.cost.peak_bytes <= self.memory_limit;
        if let [_] = self.fits[..] {
            return self.fits.iter().filter(fits_memory).count();
        }
        let (mut work, mut seconds) = (0.0, self.search);
        let allowed = self.fits.iter().take_while(fits_memory).enumerate().take_while(|(at, fit)| {
            work += fit.cost.multiply_adds(self.rows);
            seconds += fit.seconds();
            *at == 0 || self.budget.map_or(work <= WORK, |budget| within(seconds, budget))
        });
        allowed.count()
    }

    /// Seconds at least and at most: after two fits it may be seen that more do not help.
    pub fn seconds(&self) -> (f64, f64) {
        let allowed = self.allowed();
        let sum =
            |count: usize| self.search + self.fits.iter().take(count).map(Forecast::seconds).sum::<f64>();
        (sum(allowed.min(2)), sum(allowed))
    }

    /// Bytes at the peak of the search and of the largest fit that is allowed; of the smallest, if none is.
    pub fn peak_bytes(&self) -> u64 {
        let last = self.allowed().saturating_sub(1);
        self.fits.get(last).map_or(0, |fit| fit.cost.peak_bytes).max(self.search_bytes)
    }
}

/// A table: one line a fit.
impl fmt::Display for Outlook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:>10}  {:>7}  {:>14}  {:>10}  {:>9}",
            "D", "passes", "multiply-adds", "memory", "seconds"
        )?;
        let allowed = self.allowed();
        for (at, fit) in self.fits.iter().enumerate() {
            let note = match at {
                _ if fit.cost.peak_bytes > self.memory_limit => {
                    format!("  more than {} of memory", bytes(self.memory_limit))
                }
                at if at >= allowed && self.budget.is_some() => "  beyond the budget".to_owned(),
                at if at >= allowed => "  more work than is done without a budget".to_owned(),
                _ => String::new(),
            };
            writeln!(
                f,
                "{:>10}  {:>7}  {:>14.2e}  {:>10}  {:>9.2}{note}",
                fit.features,
                fit.cost.passes,
                fit.cost.multiply_adds(self.rows),
                bytes(fit.cost.peak_bytes),
                fit.seconds()
            )?;
        }
        let (least, most) = self.seconds();
        if self.search > 0.0 {
            let memory = bytes(self.search_bytes);
            writeln!(
                f,
                "the search for kernel, width and metric: {:.2} s and {memory} before that",
                self.search
            )?;
        }
        match self.fits.len() {
            1 => write!(f, "in all {most:.2} s"),
            _ => write!(f, "D is doubled while errors fall: in all {least:.2} s to {most:.2} s"),
        }
    }
}
