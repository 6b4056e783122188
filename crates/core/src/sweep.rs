//! The only loop over a source.
//!
//! ```text
//! rows ─▶ blocks of 4,096 ─▶ groups of 64 blocks:   group = 0; absorb its blocks in order;   total = total + group
//! ```
//! Blocks and groups are counted from the start of the source. Within a block threads share outputs, never rows; blocks
//! are absorbed in order; a group starts from zero; groups fold from left to right. Hence the same bits for any number of threads, and
//! for any split of the groups among workers. `docs/book/bits.md`.

use crate::engine::Event;
use crate::source::{Batch, Source, check};
use crate::stat::Statistic;
use crate::{Engine, Error, Result};

/// Rows in a block.
pub const BLOCK: usize = 4096;

/// Blocks in a group.
pub const GROUP: usize = 64;

/// Reads the whole source once into a statistic that starts as `zero()`.
///
/// Tells the observer after each block; a source without rows of
/// positive weight is an error.
pub fn sweep<S: Statistic + Send>(
    engine: &Engine,
    source: &dyn Source,
    phase: &str,
    zero: impl Fn() -> S + Sync,
    mut absorb: impl FnMut(&mut S, &Batch<'_>) + Send,
) -> Result<S> {
    try_sweep(engine, source, phase, zero, |statistic, batch| {
        absorb(statistic, batch);
        Ok(())
    })
}

/// The same where a block takes so long that `absorb` has to ask whether to go on.
pub(crate) fn try_sweep<S: Statistic + Send>(
    engine: &Engine,
    source: &dyn Source,
    phase: &str,
    zero: impl Fn() -> S + Sync,
    mut absorb: impl FnMut(&mut S, &Batch<'_>) -> Result<()> + Send,
) -> Result<S> {
    engine.tell(&Event::Started { phase })?;
    let mut batches = source.open()?;
    let (mut groups, mut rows) = (Groups::default(), 0);
    let (mut weighted, mut last) = (false, BLOCK);
    while let Some(batch) = batches.next(BLOCK)? {
        let found = if last == BLOCK { batch.rows.count() } else { last };
        if last != BLOCK || found > BLOCK {
            return Err(Error::BlockSize { expected: BLOCK, found, row: batch.first_row });
        }
        last = batch.rows.count();
        check(engine, &batch, source)?;
        weighted |= (0..batch.rows.count()).any(|i| batch.weight(i) > 0.0);
        rows += batch.rows.count() as u64;
        absorb(groups.next(&zero), &batch)?;
        engine.tell(&Event::Progress { phase, rows, fraction: batches.fraction() })?;
    }
    engine.tell(&Event::Finished { phase })?;
    groups.total().filter(|_| weighted).ok_or(Error::NoRows)
}

/// Blocks in groups, and these folded from left to right.
pub(crate) struct Groups<S> {
    total: Option<S>,
    group: Option<S>,
    blocks: usize,
}

impl<S> Default for Groups<S> {
    fn default() -> Self {
        Groups { total: None, group: None, blocks: 0 }
    }
}

impl<S: Statistic> Groups<S> {
    /// What the next block is absorbed into.
    pub(crate) fn next(&mut self, zero: impl Fn() -> S) -> &mut S {
        if self.blocks > 0 && self.blocks.is_multiple_of(GROUP) {
            self.fold();
        }
        self.blocks += 1;
        self.group.get_or_insert_with(zero)
    }

    /// All groups, if there is one.
    pub(crate) fn total(mut self) -> Option<S> {
        self.fold();
        self.total
    }

    /// total = total + group.
    fn fold(&mut self) {
        match (self.total.as_mut(), self.group.take()) {
            (Some(total), Some(group)) => total.merge(&group),
            (None, group) => self.total = group,
            (Some(_), None) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Matrix;

    /// Remembers how it was put together.
    #[derive(Clone, Debug, PartialEq)]
    struct Trace(String);

    impl Statistic for Trace {
        fn merge(&mut self, other: &Self) {
            self.0 += &format!("+{}", other.0);
        }
    }

    #[test]
    fn groups_start_from_zero_and_fold_in_order() {
        let n = BLOCK * GROUP + BLOCK + 1;
        let (x, y) = (Matrix::<f64>::zeros(n, 1), vec![0.0; n]);
        let trace = sweep(
            &Engine::default(),
            &(&x, &y),
            "test",
            || Trace("0".to_owned()),
            |trace, batch| trace.0 += &format!(",{}", batch.first_row / BLOCK as u64),
        )
        .unwrap();
        let first: String = (0..GROUP).map(|b| format!(",{b}")).collect();
        assert_eq!(trace.0, format!("0{first}+0,{GROUP},{}", GROUP + 1));
    }

    #[test]
    fn nothing_to_learn_from_is_an_error() {
        let (x, y) = (Matrix::<f64>::zeros(0, 3), vec![]);
        let result = sweep(&Engine::default(), &(&x, &y), "test", || Trace(String::new()), |_, _| {});
        assert!(matches!(result, Err(Error::NoRows)));
    }
}
