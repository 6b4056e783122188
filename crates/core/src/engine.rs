//! The context of a run: threads, backend, memory limit, observer.
//!
//! Every function that computes on blocks takes an [`Engine`] and hands its parallel parts to it;
//! nothing else names rayon or chooses an instruction set. Progress, warnings and cancellation go
//! through the [`Observer`] and nowhere else. There is no global pool and no ambient setting. An
//! engine may be shared by threads and survives a fork: the child builds a pool of its own.
//!
//! Parallel parts are lists of jobs that share nothing they write: `for_each_chunk`,
//! `for_each_mut`, `map`. They take references to closures, so that the pool's code is compiled
//! once and not for each loop.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

pub use bochner_simd::Isa;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::plan::available_memory;
use crate::{Error, Result};

/// What block functions are computed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Backend {
    /// This computer's processor, by one of its instruction sets.
    Cpu(Isa),
}

/// The processor, by its best instruction set or the one that the environment variable
/// `BOCHNER_ISA` names.
impl Default for Backend {
    fn default() -> Self {
        Backend::Cpu(Isa::default())
    }
}

/// What an engine is made of.
#[derive(Clone, Default)]
pub struct EngineSpec {
    /// Threads to work with; 0 means one for each processor that the process may use.
    pub threads: usize,
    /// Bytes that a job may take; none means nine tenths of what the system has free.
    pub memory_limit: Option<u64>,
    /// Who is told of progress and may stop the work.
    pub observer: Option<Arc<dyn Observer>>,
    /// What block functions are computed on.
    pub backend: Backend,
}

impl EngineSpec {
    /// An engine; its threads start with the first job.
    pub fn build(self) -> Engine {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        Engine {
            threads: if self.threads == 0 { all() } else { self.threads },
            memory_limit: self.memory_limit,
            observer: self.observer,
            backend: self.backend,
            pool: Mutex::new(None),
        }
    }
}

/// Threads, a backend, a memory limit and an observer.
pub struct Engine {
    threads: usize,
    memory_limit: Option<u64>,
    observer: Option<Arc<dyn Observer>>,
    backend: Backend,
    /// The pool and the process that started it.
    pool: Mutex<Option<(u32, Arc<ThreadPool>)>>,
}

impl Default for Engine {
    fn default() -> Self {
        EngineSpec::default().build()
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine")
            .field("threads", &self.threads)
            .field("memory_limit", &self.memory_limit)
            .field("backend", &self.backend)
            .finish()
    }
}

impl Engine {
    /// The caller's thread and the default backend: for work that is too small to share.
    pub fn single_thread() -> Engine {
        EngineSpec { threads: 1, ..EngineSpec::default() }.build()
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// What block functions are computed on.
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// The instruction set of the processor's loops.
    pub(crate) fn isa(&self) -> Isa {
        let Backend::Cpu(isa) = self.backend;
        isa
    }

    /// Bytes that a job may take: as given, or nine tenths of what the system has free now.
    pub fn memory_limit(&self) -> u64 {
        self.memory_limit.unwrap_or_else(|| available_memory().map_or(u64::MAX, |free| free / 10 * 9))
    }

    /// Refuses a job that needs more memory than is allowed.
    pub fn check_memory(&self, what: impl FnOnce() -> String, needed: u64) -> Result<()> {
        let limit = self.memory_limit();
        if needed > limit { Err(Error::Memory { what: what(), needed, limit }) } else { Ok(()) }
    }

    /// Tells the observer; an error if it asks to stop.
    pub fn tell(&self, event: &Event<'_>) -> Result<()> {
        match self.observer.as_ref().map_or(ControlFlow::Continue(()), |observer| observer.event(event)) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Interrupted),
        }
    }

    /// The same threads and limits, with the observer only asked whether to go on: for work inside a phase that reports itself.
    pub fn quiet(&self) -> Engine {
        let quiet = |observer: &Arc<dyn Observer>| Arc::new(Quiet(Arc::clone(observer))) as Arc<dyn Observer>;
        Engine { observer: self.observer.as_ref().map(quiet), ..self.again() }
    }

    /// The same with so much less memory, where a limit was given: something else holds it.
    pub fn beside(&self, bytes: u64) -> Engine {
        Engine { memory_limit: self.memory_limit.map(|limit| limit.saturating_sub(bytes)), ..self.again() }
    }

    /// The same with this memory limit.
    pub(crate) fn within(&self, bytes: u64) -> Engine {
        Engine { memory_limit: Some(bytes), ..self.again() }
    }

    /// The same threads, limit, observer and backend.
    fn again(&self) -> Engine {
        let pool = Mutex::new(self.pool().map(|pool| (std::process::id(), pool)));
        Engine { memory_limit: self.memory_limit, observer: self.observer.clone(), pool, ..*self }
    }

    /// Runs a phase on this engine's threads: `job` is given a check to call with the part of the work done.
    pub(crate) fn phase<R: Send>(
        &self,
        phase: &str,
        rows: u64,
        job: impl FnOnce(Check<'_>) -> Result<R> + Send,
    ) -> Result<R> {
        self.tell(&Event::Started { phase })?;
        let check = |done: f64| self.tell(&Event::Progress { phase, rows, fraction: Some(done) });
        let result = self.install(|| job(&check))?;
        self.tell(&Event::Finished { phase })?;
        Ok(result)
    }

    /// Calls `job(i, chunk)` for the i-th chunk of `size` entries, shared by the threads; the last
    /// chunk may be shorter.
    pub fn for_each_chunk<T: Send>(
        &self,
        data: &mut [T],
        size: usize,
        job: &(dyn Fn(usize, &mut [T]) + Sync),
    ) {
        let size = size.max(1);
        // One chunk needs no threads: they start with the first work that can be shared.
        let pool = if data.len() > size { self.pool() } else { None };
        match pool {
            Some(pool) => pool.install(|| split_chunks(data, size, 0, job)),
            None => data.chunks_mut(size).enumerate().for_each(|(i, chunk)| job(i, chunk)),
        }
    }

    /// Calls `job(i, item)` for each item, shared by the threads.
    pub(crate) fn for_each_mut<T: Send>(&self, items: &mut [T], job: &(dyn Fn(usize, &mut T) + Sync)) {
        self.for_each_chunk(items, 1, &|i, item| job(i, &mut item[0]));
    }

    /// `job(i)` for each i below `count`, computed by the threads.
    pub fn map<R: Send>(&self, count: usize, job: &(dyn Fn(usize) -> R + Sync)) -> Vec<R> {
        let mut results: Vec<Option<R>> = (0..count).map(|_| None).collect();
        self.for_each_mut(&mut results, &|i, result| *result = Some(job(i)));
        results.into_iter().flatten().collect()
    }

    /// Runs a job on a thread of the pool, where it can share out parts without waking the pool for
    /// each.
    fn install<R: Send>(&self, job: impl FnOnce() -> R + Send) -> R {
        match self.pool() {
            Some(pool) => pool.install(job),
            None => job(),
        }
    }

    /// The pool of this process: after a fork the parent's threads are gone, so the child starts its own.
    fn pool(&self) -> Option<Arc<ThreadPool>> {
        if self.threads == 1 {
            return None;
        }
        let process = std::process::id();
        let mut slot = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        match slot.as_ref() {
            Some((owner, pool)) if *owner == process => return Some(Arc::clone(pool)),
            // Dropping the parent's pool would wait for threads that do not exist here.
            Some(_) => std::mem::forget(slot.take()),
            None => {}
        }
        // A system that refuses to start so many threads may still start one.
        let build = |threads| ThreadPoolBuilder::new().num_threads(threads).build().ok();
        let pool = Arc::new(build(self.threads).or_else(|| build(1))?);
        *slot = Some((process, Arc::clone(&pool)));
        Some(pool)
    }
}

/// Calls the job for the chunks of a slice, the first of which has number `first`. Halves until one
/// is left: an idle thread takes the larger halves first.
fn split_chunks<T: Send>(data: &mut [T], size: usize, first: usize, job: &(dyn Fn(usize, &mut [T]) + Sync)) {
    if data.len() <= size {
        return job(first, data);
    }
    let middle = data.len().div_ceil(size) / 2;
    let (left, right) = data.split_at_mut(middle * size);
    in_parallel(&mut || split_chunks(left, size, first, job), &mut || {
        split_chunks(right, size, first + middle, job);
    });
}

/// Runs both, the second on another thread of the pool if one is idle.
fn in_parallel(left: &mut (dyn FnMut() + Send), right: &mut (dyn FnMut() + Send)) {
    rayon::join(left, right);
}

/// Something that a run says while it works.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A phase begins.
    Started {
        /// Its name, for people.
        phase: &'a str,
    },
    /// A phase goes on.
    Progress {
        /// Its name.
        phase: &'a str,
        /// Rows so far.
        rows: u64,
        /// From 0 to 1, where it is known.
        fraction: Option<f64>,
    },
    /// A phase is over.
    Finished {
        /// Its name.
        phase: &'a str,
    },
    /// Nothing to show: only asks whether to go on.
    Alive,
    /// Something the user should know, with what to do about it.
    Warning {
        /// The text.
        text: &'a str,
    },
}

/// Somebody who is told of events and may stop the work.
pub trait Observer: Send + Sync {
    /// `ControlFlow::Break` ends the run with [`Error::Interrupted`].
    fn event(&self, event: &Event<'_>) -> ControlFlow<()>;
}

/// Multiply-adds between two questions whether to go on, about: a tenth of a second on two threads.
pub(crate) const UNASKED: usize = 4 << 30;

/// Told how much of the work is done, from 0 to 1; an error ends it.
pub(crate) type Check<'a> = &'a (dyn Fn(f64) -> Result<()> + Sync);

/// Passes nothing on but the question whether to go on.
struct Quiet(Arc<dyn Observer>);

impl Observer for Quiet {
    fn event(&self, _: &Event<'_>) -> ControlFlow<()> {
        self.0.event(&Event::Alive)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_runs_on_as_many_threads_as_asked() {
        for threads in [1, 2, 7] {
            let engine = EngineSpec { threads, ..EngineSpec::default() }.build();
            let seen = Mutex::new(std::collections::HashSet::new());
            let all_there = std::sync::Barrier::new(threads);
            engine.map(threads, &|_| {
                all_there.wait(); // as many at once as there are threads
                seen.lock().unwrap().insert(std::thread::current().id())
            });
            assert_eq!(seen.into_inner().unwrap().len(), threads);
        }
    }

    #[test]
    fn every_job_is_done_once_and_in_its_place() {
        for threads in [1, 2, 7] {
            let engine = EngineSpec { threads, ..EngineSpec::default() }.build();
            for count in [0, 1, 2, 3, 64, 1000] {
                assert_eq!(engine.map(count, &|i| i), (0..count).collect::<Vec<_>>());
                for size in [0, 1, 5, 7, 2000] {
                    let mut data = vec![0; count];
                    engine.for_each_chunk(&mut data, size, &|chunk, entries| {
                        for (i, entry) in entries.iter_mut().enumerate() {
                            *entry += chunk * size.max(1) + i;
                        }
                    });
                    assert_eq!(data, (0..count).collect::<Vec<_>>());
                }
            }
        }
    }

    /// A job may hand out jobs of its own, and those of another engine.
    #[test]
    fn jobs_have_jobs() {
        let engine = EngineSpec { threads: 2, ..EngineSpec::default() }.build();
        let other = EngineSpec { threads: 3, ..EngineSpec::default() }.build();
        let sums = engine.map(10, &|i| {
            let inner: usize = engine.map(i, &|j| j).iter().sum();
            inner + other.map(i, &|j| j).len()
        });
        assert_eq!(sums, (0..10).map(|i: usize| i * i.saturating_sub(1) / 2 + i).collect::<Vec<_>>());
    }

    #[test]
    fn memory_is_refused_with_the_numbers() {
        let engine = EngineSpec { memory_limit: Some(1000), ..EngineSpec::default() }.build();
        assert!(engine.check_memory(|| "it".to_owned(), 1000).is_ok());
        let error = engine.check_memory(|| "a map".to_owned(), 5 << 30).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("a map needs 5.0 GiB") && text.contains("1000 B"), "{text}");
    }

    #[test]
    fn an_observer_can_stop_the_work() {
        struct Stop;
        impl Observer for Stop {
            fn event(&self, _: &Event<'_>) -> ControlFlow<()> {
                ControlFlow::Break(())
            }
        }
        let engine = EngineSpec { observer: Some(Arc::new(Stop)), ..EngineSpec::default() }.build();
        assert!(matches!(engine.tell(&Event::Started { phase: "x" }), Err(Error::Interrupted)));
        assert!(matches!(engine.quiet().tell(&Event::Started { phase: "x" }), Err(Error::Interrupted)));
    }
}
