//! A call of the library from Python: interpreter released, Ctrl-C heard, warnings handed on.
//!
//! ```text
//! calling thread   ──detach──┬── every 50 ms: signals? ──┬── join ── warnings ── result
//! worker thread              └── work(&engine) ───────────┘
//! ```
//! Signals are handled by Python on its main thread only, and the library stops only where it tells its observer of
//! progress: the calling thread waits and asks Python, the worker works and asks the flag.

use std::ffi::CString;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bochner::{Engine, EngineSpec, Event, Observer};
use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;

use crate::error::to_python;

/// The longest that Ctrl-C goes unheard.
const STEP: Duration = Duration::from_millis(50);

/// Where a warning points: past `_fit`, `fit` and scikit-learn's wrapper of it, at the user's call.
const STACK_LEVEL: i32 = 4;

/// One call.
pub(crate) struct Job {
    engine: Engine,
    watch: Arc<Watch>,
}

impl Job {
    /// On `threads` threads, 0 for all; `verbose` 1 prints phases, 2 their progress too.
    pub(crate) fn new(threads: usize, verbose: u8) -> Job {
        let watch = Arc::new(Watch::new(verbose));
        let observer = Some(Arc::clone(&watch) as Arc<dyn Observer>);
        Job { engine: EngineSpec { threads, observer, ..EngineSpec::default() }.build(), watch }
    }

    /// For a function of each row: no more threads than there are pieces of work.
    pub(crate) fn for_rows(threads: usize, rows: usize) -> Job {
        /// Rows of a piece.
        const PIECE: usize = 64;
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        let threads = if threads == 0 { all() } else { threads };
        Job::new(threads.min(rows.div_ceil(PIECE)).max(1), 0)
    }

    /// What the work runs on.
    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Runs `work` on a thread of its own while this one waits for it and for signals.
    pub(crate) fn run<R: Send>(
        self,
        py: Python<'_>,
        work: impl FnOnce(&Engine) -> bochner::Result<R> + Send,
    ) -> PyResult<R> {
        let Job { engine, watch } = self;
        let (outcome, signal) = py.detach(|| {
            std::thread::scope(|scope| {
                // Nothing is sent: the worker's end of the channel closes when it is done, however it ends.
                let (alive, done) = channel::<()>();
                let worker = scope.spawn(move || {
                    let _alive = alive;
                    work(&engine)
                });
                let mut signal = Ok(());
                while done.recv_timeout(STEP) == Err(RecvTimeoutError::Timeout) {
                    if signal.is_ok() {
                        signal = Python::attach(|py| watch.print(py).and_then(|()| py.check_signals()));
                        watch.stop.store(signal.is_err(), Ordering::Relaxed);
                    }
                }
                (worker.join(), signal)
            })
        });
        // A panic is our own bug: it goes on as one.
        let outcome = outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        signal?;
        watch.print(py)?;
        let result = outcome.map_err(to_python)?;
        watch.warn(py)?;
        Ok(result)
    }
}

/// Hears what the work says and tells it to stop.
struct Watch {
    verbose: u8,
    started: Instant,
    stop: AtomicBool,
    said: Mutex<Said>,
}

/// What the work has said and Python has not heard yet.
#[derive(Default)]
struct Said {
    lines: Vec<String>,
    warnings: Vec<String>,
    /// Tenths of the current phase that were told.
    tenths: u32,
}

impl Watch {
    fn new(verbose: u8) -> Watch {
        Watch { verbose, started: Instant::now(), stop: AtomicBool::new(false), said: Mutex::default() }
    }

    fn said(&self) -> std::sync::MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn line(&self, text: &str) -> String {
        format!("[bochner {:6.1} s] {text}", self.started.elapsed().as_secs_f64())
    }

    /// Prints through Python, so that notebooks show it.
    fn print(&self, py: Python<'_>) -> PyResult<()> {
        let lines = std::mem::take(&mut self.said().lines);
        if lines.is_empty() {
            return Ok(());
        }
        py.import("builtins")?.getattr("print")?.call1((lines.join("\n"),))?;
        Ok(())
    }

    fn warn(&self, py: Python<'_>) -> PyResult<()> {
        let warnings = std::mem::take(&mut self.said().warnings);
        let category = py.get_type::<PyUserWarning>();
        for text in warnings {
            PyErr::warn(py, &category, &CString::new(text)?, STACK_LEVEL)?;
        }
        Ok(())
    }
}

impl Observer for Watch {
    fn event(&self, event: &Event<'_>) -> ControlFlow<()> {
        match *event {
            Event::Warning { text } => self.said().warnings.push(text.to_owned()),
            Event::Started { .. } => self.said().tenths = 0,
            Event::Finished { phase } if self.verbose >= 1 => {
                let line = self.line(&format!("{phase}: done"));
                self.said().lines.push(line);
            }
            Event::Progress { phase, rows, fraction: Some(fraction) } if self.verbose >= 2 => {
                let mut said = self.said();
                let tenths = (fraction * 10.0) as u32;
                if tenths > said.tenths && tenths < 10 {
                    said.tenths = tenths;
                    said.lines.push(self.line(&format!("{phase}: {}0 %, {rows} rows", tenths)));
                }
            }
            _ => {}
        }
        if self.stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
