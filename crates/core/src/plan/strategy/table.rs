//! The six strategies beside each other, for people.

use std::fmt;

use super::{Figures, Speed, Strategy, Workload};
use crate::plan::bytes;
use crate::{Error, Result};

/// What each strategy costs, or why it is refused.
#[derive(Debug)]
pub struct StrategyTable {
    /// The job.
    pub workload: Workload,
    /// The machine.
    pub speed: Speed,
    /// In the order of the notes.
    pub rows: [(Strategy, Result<Figures>); 6],
}

impl StrategyTable {
    /// The quickest of those that are not refused and that `among` allows; the one with less memory where two are as quick.
    pub fn cheapest(&self, among: &dyn Fn(Strategy) -> bool) -> Option<Strategy> {
        let possible = self.rows.iter().filter(|(strategy, _)| among(*strategy));
        let costs = possible.filter_map(|(strategy, figures)| {
            let figures = figures.as_ref().ok()?;
            Some((*strategy, figures.seconds(self.speed), figures.counts.memory_bytes))
        });
        costs.min_by(|a, b| a.1.total_cmp(&b.1).then(a.2.cmp(&b.2))).map(|(strategy, ..)| strategy)
    }
}

impl fmt::Display for StrategyTable {
    /// One line each, the quickest with a star.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const HEADER: [&str; 7] =
            ["", "multiply-adds", "bytes moved", "memory", "time", "time grows as", "memory grows as"];
        let best = self.cheapest(&|_| true);
        let names: Vec<String> = self
            .rows
            .iter()
            .map(|(strategy, _)| {
                let star = if Some(*strategy) == best { '*' } else { ' ' };
                format!("{} {strategy} {star}", strategy.sign())
            })
            .collect();
        let cells: Vec<Option<[String; 6]>> =
            self.rows.iter().map(|(_, figures)| Some(self.cells(figures.as_ref().ok()?))).collect();
        let longest = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or(0);
        let first = longest(&mut names.iter().map(|name| name.chars().count()));
        let widths: [usize; 6] = std::array::from_fn(|j| {
            let cells = cells.iter().flatten().map(|cells| cells[j].chars().count());
            longest(&mut cells.chain([HEADER[j + 1].chars().count()]))
        });
        let line = |name: &str, cells: [&str; 6]| {
            let mut text = format!("{name:<first$}");
            for (j, (cell, width)) in cells.into_iter().zip(widths).enumerate() {
                // Numbers to the right, words to the left.
                text += &if j < 4 { format!("  {cell:>width$}") } else { format!("  {cell:<width$}") };
            }
            text.trim_end().to_owned()
        };
        writeln!(f, "{}", line("", std::array::from_fn(|j| HEADER[j + 1])))?;
        for ((name, cells), (_, figures)) in names.iter().zip(&cells).zip(&self.rows) {
            match (cells, figures) {
                (Some(cells), _) => {
                    writeln!(f, "{}", line(name, std::array::from_fn(|j| cells[j].as_str())))?
                }
                (None, Err(error)) => writeln!(f, "{name:<first$}  refused: {}", reason(error))?,
                (None, Ok(_)) => {}
            }
        }
        Ok(())
    }
}

impl StrategyTable {
    fn cells(&self, figures: &Figures) -> [String; 6] {
        let counts = figures.counts;
        let of = |count: u128| u64::try_from(count).unwrap_or(u64::MAX);
        [
            format!("{:.3e}", counts.multiply_adds as f64),
            bytes(of(counts.bytes_moved)),
            bytes(of(counts.memory_bytes)),
            duration(figures.seconds(self.speed)),
            figures.asymptotic_time.to_owned(),
            figures.asymptotic_memory.to_owned(),
        ]
    }
}

/// Why, in few words.
fn reason(error: &Error) -> String {
    match error {
        Error::Unsupported { reason, .. } => (*reason).to_owned(),
        Error::Memory { needed, limit, .. } => {
            format!("needs {} of memory, and {} may be used", bytes(*needed), bytes(*limit))
        }
        other => other.to_string(),
    }
}

/// `12 µs`, `3.4 ms`, `5.6 s`, `7.8 min`, `9.0 h`, `1.2 days`
fn duration(seconds: f64) -> String {
    for (unit, size, next) in [
        ("µs", 1e-6, 1e-3),
        ("ms", 1e-3, 1.0),
        ("s", 1.0, 60.0),
        ("min", 60.0, 3600.0),
        ("h", 3600.0, 172_800.0),
    ] {
        if seconds < next {
            return format!("{:.1} {unit}", seconds / size);
        }
    }
    match seconds / 86_400.0 {
        days if days < 1e5 => format!("{days:.1} days"),
        days => format!("{days:.1e} days"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_reads_well() {
        let job = Workload { features: 1000, steps: 1_000_000, ..Workload::dense(100_000, 100) };
        let table = job.table(Speed::default(), Some(4 << 30));
        assert_eq!(table.cheapest(&|_| true), Some(Strategy::MapCached));
        assert_eq!(table.cheapest(&Strategy::is_exact), Some(Strategy::Kernel));
        assert_eq!(
            table.to_string(),
            "\
\x20                  multiply-adds  bytes moved     memory      time  time grows as  memory grows as
① exact            refused: its own features are infinitely many
② exact-cached     refused: its own features are infinitely many
③ kernel                1.010e13      6.7 TiB   49.6 MiB  42.1 min  T·n·d          n
④ kernel-cached    refused: needs 74.5 GiB of memory, and 4.0 GiB may be used
⑤ map                   1.020e11     92.0 GiB    1.3 MiB    25.5 s  T·d·D          d·D
⑥ map-cached *          1.200e10     42.7 GiB  763.7 MiB     4.6 s  n·d·D + T·D    n·D + d·D
"
        );
    }

    #[test]
    fn durations_read_well() {
        let found = [2e-7, 3.4e-3, 5.6, 468.0, 32_400.0, 5e5, 1e15].map(duration);
        assert_eq!(found, ["0.2 µs", "3.4 ms", "5.6 s", "7.8 min", "9.0 h", "5.8 days", "1.2e10 days"]);
    }
}
