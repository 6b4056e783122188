//! `bochner plan`: what a fit will cost, before it is made.

use std::path::Path;

use bochner::Auto;
use bochner::json::Json;
use bochner::learn::Outlook;
use bochner::plan::Machine;
use serde::Serialize;

use crate::args::PlanArgs;
use crate::console::Console;
use crate::exit::Failure;
use crate::learn::Job;
use crate::progress::Progress;
use crate::text;

/// Runs the command.
pub(crate) fn run(args: PlanArgs, console: &mut Console<'_>) -> Result<(), Failure> {
    let (json, kept, job) = (args.json, args.machine, Job::check(args.learn)?);
    let progress = Progress::new(&console.messages, job.run.quiet);
    let engine = progress.engine(&job.run, job.max_memory);
    let machine = match &kept {
        Some(path) => replayed(path, || Ok(Machine::measure(&engine)?))?,
        None => Machine::measure(&engine)?,
    };
    let opened = job.open(&engine, false, || Ok(()))?;
    let (auto, engine) = (&opened.recipe.auto, opened.engine(&engine));
    let (outlook, columns) = job.with_rows(&engine, &opened, |rows| {
        Ok((auto.forecast(&engine, rows, &machine, opened.reading())?, rows.columns().count()))
    })?;
    if json {
        return console.json(&Planned { fit: &job.recipe.auto, outlook: &outlook, machine: &machine });
    }
    let (rows, columns) =
        (text::counted(outlook.rows, "row", "rows"), text::counted(columns as u64, "column", "columns"));
    console.line(&format!(
        "{rows} of {columns}, target \"{}\", {} threads",
        opened.target(),
        machine.threads
    ))?;
    console.line("")?;
    console.line(&outlook.to_string())?;
    if outlook.allowed() > 0 {
        return Ok(());
    }
    let (needed, limit) = (outlook.peak_bytes(), outlook.memory_limit);
    let failure = Failure::from(bochner::Error::Memory { what: "the fit".to_owned(), needed, limit });
    let smaller = |features: &usize| -> bool {
        let auto = Auto { features: Some(*features), ..auto.clone() };
        let outlook = job.with_rows(&engine, &opened, |rows| auto.forecast(&engine, rows, &machine, 0.0));
        outlook.is_ok_and(|outlook| outlook.allowed() > 0)
    };
    let fits = std::iter::successors(outlook.fits.first().map(|fit| fit.features / 2), |d| Some(d / 2));
    Err(match fits.take_while(|d| *d >= 2).map(|d| d / 2 * 2).find(smaller) {
        Some(features) => failure.hint(format!("--features {features} would fit")),
        None => failure,
    })
}

/// Rates from a file, or measured and kept there.
fn replayed(path: &Path, measure: impl FnOnce() -> Result<Machine, Failure>) -> Result<Machine, Failure> {
    match std::fs::read_to_string(path) {
        Ok(text) => Machine::from_json(&text).map_err(|error| {
            let expected =
                "expected rates of a machine, as --machine writes them to a file that is not there";
            Failure::Usage(format!("{}: {error}; {expected}", path.display()))
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let machine = measure()?;
            let text = machine.to_json().unwrap_or_default() + "\n";
            std::fs::write(path, text).map_err(|source| Failure::Write { file: path.to_owned(), source })?;
            Ok(machine)
        }
        Err(error) => Err(Failure::Usage(format!("{}: {error}", path.display()))),
    }
}

#[derive(Serialize)]
struct Planned<'a> {
    fit: &'a Auto,
    #[serde(flatten)]
    outlook: &'a Outlook,
    machine: &'a Machine,
}
