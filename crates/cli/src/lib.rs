//! The command `bochner`: arguments → library → print.
//!
//! ```text
//! typed words ─args─▶ Command ─check─▶ a job that makes sense ─▶ bochner, bochner-io ─▶ stdout: results, stderr: the rest
//! ```
//!
//! A library, so that the Python wheel ships the same command and the tests run it without a process.
//! [`main`] is the command; [`run`] is the same with its streams given. [`FileFit`] and [`open_for`] are what it does with files,
//! for programs whose arguments are no words.
//!
//! Exit codes: 0 done, 2 wrong usage, 3 wrong data, 4 too little memory or disk, 5 stopped by Ctrl-C.

#![forbid(unsafe_code)]

mod args;
mod cached;
mod console;
mod data;
mod demo;
mod evaluate;
mod exit;
mod files;
mod fit;
mod inspect;
mod kernel;
mod learn;
mod map;
mod metrics;
mod output;
mod page;
mod plan;
mod predict;
mod progress;
mod report;
mod schema;
mod strategies;
mod summary;
mod target;
mod text;
mod transform;
mod value;

use std::ffi::OsString;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use clap::Parser;

use args::{Args, Command};
use console::Console;
pub use console::Messages;
use exit::Failure;
pub use files::{FileFit, Reading, Stopped, open_for};

/// Runs the command on the streams of the process and gives its exit code.
///
/// The first argument is the name of the program, as [`std::env::args_os`] has it.
pub fn main(args: impl IntoIterator<Item = OsString>) -> i32 {
    let messages = Messages::new(io::stderr(), io::stderr().is_terminal()).stopped_by(interrupt());
    RUNNING.store(true, Ordering::Relaxed);
    let code = run(args, &mut BufWriter::new(io::stdout()), messages);
    RUNNING.store(false, Ordering::Relaxed);
    code
}

/// Whether a command runs in this process.
static RUNNING: AtomicBool = AtomicBool::new(false);

/// The longest that a command may take to end in order.
const GRACE: Duration = Duration::from_secs(5);

/// Set by Ctrl-C, so that what was begun is ended in order: no half-written file stays behind. A second one ends the process, and so
/// does the first where the command does not hear it in time.
fn interrupt() -> Arc<AtomicBool> {
    static STOP: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    let stop = STOP.get_or_init(|| {
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        // Where signals are ignored (nohup) or handled by somebody else, that stays so.
        let _ = ctrlc::try_set_handler(move || {
            if flag.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
            std::thread::spawn(|| {
                std::thread::sleep(GRACE);
                if RUNNING.load(Ordering::Relaxed) {
                    std::process::exit(130);
                }
            });
        });
        stop
    });
    stop.store(false, Ordering::Relaxed);
    Arc::clone(stop)
}

/// Runs the command with results going to `out` and everything else to `messages`; gives the exit code.
pub fn run(args: impl IntoIterator<Item = OsString>, out: &mut dyn Write, messages: Messages) -> i32 {
    let mut console = Console { out, messages };
    let result = match Args::try_parse_from(args) {
        Ok(args) => dispatch(args.command, &mut console),
        Err(error) => Err(Failure::from(error)),
    };
    exit::conclude(result, &mut console)
}

/// The commands.
fn dispatch(command: Command, console: &mut Console<'_>) -> Result<(), Failure> {
    match command {
        Command::Fit(args) => fit::run(args, console),
        Command::Predict(args) => predict::run(args, console),
        Command::Evaluate(args) => evaluate::run(args, console),
        Command::Transform(args) => transform::run(args, console),
        Command::Summary(args) => summary::run(&args, console),
        Command::Inspect(args) => inspect::run(args, console),
        Command::Kernel(command) => kernel::run(command, console),
        Command::Plan(args) => plan::run(args, console),
        Command::Strategies(args) => strategies::run(args, console),
        Command::Demo(args) => demo::run(args, console),
    }
}
