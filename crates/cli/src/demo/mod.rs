//! `bochner demo`: experiments on data that come with the program.

mod approximation;
mod digits;
mod experiment;
mod figures;
mod page;

use std::path::Path;
use std::time::Instant;

use crate::args::{DemoArgs, Demonstration};
use crate::console::Console;
use crate::exit::Failure;
use crate::output;
use crate::progress::Progress;
use crate::text;

use approximation::KernelError;
use digits::Digits;
use experiment::{CERTIFIED, Experiment, Line};

/// Runs the command.
pub(crate) fn run(args: DemoArgs, console: &mut Console<'_>) -> Result<(), Failure> {
    let Demonstration::Digits = args.experiment;
    let started = Instant::now();
    if let Some(path) = &args.out {
        output::check_writable(path)?;
    }
    let progress = Progress::new(&console.messages, args.run.quiet);
    let digits = Digits::read()?;
    let engine = progress.engine(&args.run, None);
    let found = Experiment::run(&engine, &digits, args.seed, usize::from(args.seeds))?;
    if let Some(path) = &args.out {
        let page = page::of(&engine, &digits, &found)?;
        crate::page::write(path, &page)?;
    }
    if args.json {
        return console.json(&found);
    }
    console.line(&found.text(args.out.as_deref(), started.elapsed().as_secs_f64()))
}

impl Experiment {
    /// Table 1, and what to do next.
    fn text(&self, page: Option<&Path>, seconds: f64) -> String {
        let mut lines = vec![format!(
            "Handwritten digits 0 to 8, 64 pixels: the first {} to learn from, the other {} to test.",
            self.training_rows, self.test_rows
        )];
        lines.push(String::new());
        lines.push(format!(
            "{:<34} {:>8}  {:>17}  {:>9}  {:>11}  {:>9}",
            "", "features", "accuracy", "to train", "to predict", "model"
        ));
        lines.extend(self.table.iter().map(Line::text));
        lines.push(String::new());
        let tuned = &self.binning;
        lines.push(format!(
            "Binning: scale {} and C = {} by 5-fold cross-validation on the training half.",
            text::number(tuned.scale),
            text::number(tuned.cost),
        ));
        lines.push(self.certified());
        lines.extend(self.kernel_errors.iter().find_map(KernelError::text));
        lines.push(format!(
            "{} where chance plays a part: mean ± deviation. {}.",
            text::counted(self.seeds as u64, "seed", "seeds"),
            text::seconds(seconds)
        ));
        lines.push(match page {
            Some(path) => format!("The figures are in {}.", path.display()),
            None => "With figures: bochner demo --out digits.html".to_owned(),
        });
        lines.push(String::new());
        lines.push(digits::CREDIT.to_owned());
        let next =
            "Your own: bochner fit FILE --target COLUMN -o MODEL; then bochner evaluate, predict, inspect.";
        lines.push(next.to_owned());
        lines.join("\n")
    }
}

impl Experiment {
    /// Which solutions are certified, and by what.
    fn certified(&self) -> String {
        let limit = text::percent(CERTIFIED);
        let open = self.table.iter().filter(|line| !line.certified);
        let open: Vec<String> =
            open.map(|line| format!("{} ({})", line.name, text::percent(line.gap))).collect();
        if open.is_empty() {
            let largest = self.table.iter().map(|line| line.gap).fold(0.0, f64::max);
            return format!(
                "Solutions are certified: duality gaps of {} of the objective at most, {limit} allowed.",
                text::percent(largest)
            );
        }
        format!("Not certified, duality gap above {limit} of the objective: {}.", open.join(", "))
    }
}

impl Line {
    fn text(&self) -> String {
        let accuracy = match self.deviation {
            Some(deviation) => format!("{:.2} ± {:.2} %", 100.0 * self.accuracy, 100.0 * deviation),
            None => format!("{:.2} %", 100.0 * self.accuracy),
        };
        let features = self.features.map_or(String::new(), |features| text::count(features as u64));
        format!(
            "{:<34} {features:>8}  {accuracy:>17}  {:>6} ms  {:>8} µs  {:>9}",
            self.name,
            text::significant(1e3 * self.seconds, 2),
            text::significant(1e6 * self.seconds_per_row, 2),
            bochner::plan::bytes(self.bytes),
        )
    }
}
