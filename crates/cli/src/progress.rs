//! What a run says while it works: a bar where somebody watches, a line every ten seconds where nobody does.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bochner::{Engine, EngineSpec, Error, Event, Observer};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::args::RunArgs;
use crate::console::Messages;
use crate::text;

/// Time between two lines where there is no terminal.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// Steps of a bar.
const STEPS: u64 = 1000;

/// The observer of a run. Shows progress, prints warnings and remembers them.
pub(crate) struct Progress {
    messages: Messages,
    quiet: bool,
    between_lines: Duration,
    state: Mutex<State>,
}

struct State {
    bar: Option<ProgressBar>,
    /// Of the phase.
    started: Instant,
    last_line: Instant,
    warnings: Vec<String>,
}

impl Progress {
    /// An observer that writes to `messages`, or nowhere.
    pub(crate) fn new(messages: &Messages, quiet: bool) -> Arc<Self> {
        Arc::new(Progress::every(BETWEEN_LINES, messages, quiet))
    }

    fn every(between_lines: Duration, messages: &Messages, quiet: bool) -> Self {
        let now = Instant::now();
        let state = Mutex::new(State { bar: None, started: now, last_line: now, warnings: Vec::new() });
        Progress { messages: messages.clone(), quiet, between_lines, state }
    }

    /// An engine that tells this observer.
    pub(crate) fn engine(self: &Arc<Self>, args: &RunArgs, memory_limit: Option<u64>) -> Engine {
        let observer: Arc<dyn Observer> = Arc::clone(self) as _;
        EngineSpec { threads: args.threads, memory_limit, observer: Some(observer), ..EngineSpec::default() }
            .build()
    }

    /// Tells an event from outside an engine.
    pub(crate) fn tell(&self, event: &Event<'_>) -> bochner::Result<()> {
        match self.event(event) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Interrupted),
        }
    }

    /// Prints a warning, unless quiet, and remembers it.
    pub(crate) fn warn(&self, text: &str) {
        let mut state = self.state();
        if !self.quiet {
            let line = format!("bochner: warning: {text}");
            match &state.bar {
                Some(bar) => bar.suspend(|| self.messages.line(&line)),
                None => self.messages.line(&line),
            }
        }
        state.warnings.push(text.to_owned());
    }

    /// All warnings so far.
    pub(crate) fn warnings(&self) -> Vec<String> {
        self.state().warnings.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start(&self, phase: &str) {
        let mut state = self.state();
        state.started = Instant::now();
        if self.quiet || !self.messages.is_terminal() {
            return;
        }
        let bar = ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::stderr());
        bar.set_style(style("{prefix:>16} {spinner} {msg}"));
        bar.set_prefix(phase.to_owned());
        bar.enable_steady_tick(Duration::from_millis(250));
        state.bar = Some(bar);
    }

    fn advance(&self, phase: &str, rows: u64, fraction: Option<f64>) {
        let mut state = self.state();
        if self.quiet {
            return;
        }
        let words = describe(phase, rows, fraction, state.started.elapsed());
        if let Some(bar) = &state.bar {
            if let Some(fraction) = fraction {
                bar.set_style(style("{prefix:>16} [{bar:30}] {msg}"));
                bar.set_position((fraction * STEPS as f64) as u64);
            }
            bar.set_message(words);
        } else if !self.messages.is_terminal() && state.last_line.elapsed() >= self.between_lines {
            state.last_line = Instant::now();
            self.messages.line(&format!("bochner: {phase}: {words}"));
        }
    }

    fn finish(&self) {
        if let Some(bar) = self.state().bar.take() {
            bar.finish_and_clear();
        }
    }
}

impl Observer for Progress {
    fn event(&self, event: &Event<'_>) -> ControlFlow<()> {
        match *event {
            Event::Started { phase } => self.start(phase),
            Event::Progress { phase, rows, fraction } => self.advance(phase, rows, fraction),
            Event::Finished { .. } => self.finish(),
            Event::Warning { text } => self.warn(text),
            _ => {}
        }
        if self.messages.wants_to_stop() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.finish();
    }
}

fn style(template: &str) -> ProgressStyle {
    // The templates above are right; a wrong one would only look different.
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style.progress_chars("=> ")
}

/// `45 %, 1,234,567 rows, 98,765 rows/s, 12 s left`: what is known of it.
fn describe(phase: &str, rows: u64, fraction: Option<f64>, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64();
    let mut parts = Vec::new();
    if let Some(fraction) = fraction {
        parts.push(format!("{:.0} %", 100.0 * fraction));
    }
    parts.push(format!("{} rows", text::count(rows)));
    // These look at the same rows again and again.
    let is_pass = !matches!(phase, "map" | "certificate" | "bandwidth" | "cross-validation" | "solve");
    if is_pass && seconds > 0.5 {
        parts.push(format!("{} rows/s", text::count((rows as f64 / seconds) as u64)));
    }
    match fraction {
        Some(fraction) if fraction > 0.0 && seconds > 0.5 => {
            parts.push(format!("{} left", text::seconds((seconds / fraction - seconds).max(0.0))));
        }
        None if seconds > 0.5 => parts.push(text::seconds(seconds)),
        _ => {}
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn said(quiet: bool, between_lines: Duration) -> String {
        let kept = Kept::default();
        let progress = Progress::every(between_lines, &Messages::new(kept.clone(), false), quiet);
        for event in [
            Event::Started { phase: "fit" },
            Event::Progress { phase: "fit", rows: 4096, fraction: Some(0.5) },
            Event::Warning { text: "careful" },
            Event::Finished { phase: "fit" },
        ] {
            assert!(progress.event(&event).is_continue());
        }
        assert_eq!(progress.warnings(), ["careful"]);
        drop(progress);
        let bytes = kept.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn lines_come_seldom_and_quiet_is_quiet() {
        assert_eq!(
            said(false, Duration::ZERO),
            "bochner: fit: 50 %, 4,096 rows\nbochner: warning: careful\n"
        );
        assert_eq!(said(false, BETWEEN_LINES), "bochner: warning: careful\n");
        assert_eq!(said(true, Duration::ZERO), "");
    }

    #[test]
    fn a_stop_ends_the_run_at_the_next_event() {
        let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let messages = Messages::new(Kept::default(), false).stopped_by(Arc::clone(&stop));
        let progress = Progress::new(&messages, false);
        assert!(progress.tell(&Event::Alive).is_ok());
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(matches!(progress.tell(&Event::Alive), Err(Error::Interrupted)));
    }

    #[test]
    fn the_rest_is_estimated() {
        let words = |phase, fraction| describe(phase, 1_000_000, fraction, Duration::from_secs(10));
        assert_eq!(words("fit", Some(0.25)), "25 %, 1,000,000 rows, 100,000 rows/s, 30 s left");
        assert_eq!(words("bandwidth", Some(0.25)), "25 %, 1,000,000 rows, 30 s left");
        assert_eq!(words("fit", None), "1,000,000 rows, 100,000 rows/s, 10 s");
    }
}
