//! Where a command writes: results to one stream, everything else to another.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;

use crate::exit::Failure;

/// The two streams of a command.
pub(crate) struct Console<'a> {
    /// Results, and nothing else.
    pub(crate) out: &'a mut dyn Write,
    /// Progress, warnings, errors.
    pub(crate) messages: Messages,
}

impl Console<'_> {
    /// One object on one line.
    pub(crate) fn json(&mut self, object: &impl Serialize) -> Result<(), Failure> {
        let text = serde_json::to_string(object).map_err(io::Error::from).map_err(Failure::Stdout)?;
        self.line(&text)
    }

    /// A line of results.
    pub(crate) fn line(&mut self, text: &str) -> Result<(), Failure> {
        writeln!(self.out, "{text}").map_err(Failure::Stdout)
    }
}

/// Whoever runs the command: told of progress, warnings and errors, as a rule on stderr, and free to stop it. Shared with the observer of
/// a run.
#[derive(Clone)]
pub struct Messages {
    to: Arc<Mutex<dyn Write + Send>>,
    terminal: bool,
    stop: Arc<AtomicBool>,
}

impl Messages {
    /// Messages to `to`; `terminal` says whether somebody watches, so that a bar may move.
    pub fn new(to: impl Write + Send + 'static, terminal: bool) -> Self {
        Messages { to: Arc::new(Mutex::new(to)), terminal, stop: Arc::default() }
    }

    /// The same, with a flag that ends the work when it is set.
    #[must_use]
    pub fn stopped_by(self, stop: Arc<AtomicBool>) -> Self {
        Messages { stop, ..self }
    }

    /// Whether the work is to end.
    pub(crate) fn wants_to_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Whether somebody watches.
    pub(crate) fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// Writes a line. There is nobody left to tell if that fails.
    pub(crate) fn line(&self, text: &str) {
        let mut to = self.to.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = writeln!(to, "{text}").and_then(|()| to.flush());
    }
}
