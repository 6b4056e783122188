//! What can be typed. What it means is checked by each command.

use std::path::PathBuf;

use bochner::encode::{ColumnScaling, Declared, Precision, Task};
use bochner::table::ColumnKind;
use bochner::{Choice, Kernel, KernelChoice, Loss, MetricChoice, Nonzeros, Solver};
use bochner_io::{Encoding, FeatureFormat, Format};
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

use crate::value;

/// Kernel machines at the cost of linear models
///
/// Fits kernel ridge regression, classification and support vector machines to tables as they are (CSV, JSON lines, Parquet, Arrow, LIBSVM, NPY), with randomized features, and says how far the model is from the exact kernel's.
#[derive(Debug, Parser)]
#[command(name = "bochner", version, arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  bochner demo                                                  handwritten digits, nothing needed
  bochner summary houses.csv                                    what is in a file
  bochner fit houses.csv --target price -o houses.bochner       learn to predict a column
  bochner evaluate houses.bochner test.csv                      how good it is, with intervals
  bochner predict houses.bochner new.csv > prices.csv           one line for each row; --interval 0.9 for its bounds
  bochner transform news.libsvm --map sparse -o small.npy       features of rows, for other programs
  bochner kernel explain 'gaussian(sigma=2)*linear'             what an expression becomes
  bochner plan houses.csv --target price                        what a fit will cost
  bochner strategies --rows 100000 --columns 100                what gradient descent costs, six ways

Exit codes: 0 done, 2 wrong usage, 3 wrong data, 4 too little memory or disk, 5 stopped by Ctrl-C.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Learn to predict a column of a file
    Fit(FitArgs),
    /// Predict the rows of a file, as CSV
    Predict(PredictArgs),
    /// Measure a model on a file with known targets
    Evaluate(EvaluateArgs),
    /// Write the features of the rows of a file, as CSV, NPY or LIBSVM
    Transform(TransformArgs),
    /// Show the columns of a data file: what they hold, their range, what is missing
    Summary(SummaryArgs),
    /// Show what is in a model
    Inspect(InspectArgs),
    /// What kernels there are, and what an expression of them becomes
    #[command(subcommand)]
    Kernel(KernelCommand),
    /// What a fit will cost, before it is made
    Plan(PlanArgs),
    /// What kernel gradient descent costs, by each of six strategies
    Strategies(StrategiesArgs),
    /// An experiment on data that come with the program
    Demo(DemoArgs),
}

/// How data files are read.
#[derive(Clone, Debug, ClapArgs)]
#[command(next_help_heading = "Reading")]
pub(crate) struct ReadArgs {
    /// Format of the data: csv, parquet, arrow, libsvm or npy [default: found by the file's content]
    #[arg(long, value_name = "NAME", value_parser = value::format)]
    pub(crate) format: Option<Format>,
    /// Encoding of the text, such as latin1 or utf-16le [default: utf-8, or utf-16 where the first bytes say so]
    #[arg(long, value_name = "NAME", value_parser = value::encoding)]
    pub(crate) encoding: Option<Encoding>,
    /// What separates the fields of a CSV file: one character, or tab [default: found in the first lines]
    #[arg(long, value_name = "CHAR", value_parser = value::delimiter)]
    pub(crate) delimiter: Option<u8>,
    /// The CSV file starts with data; its columns are c1, c2, … [default: if its first line holds numbers]
    #[arg(long)]
    pub(crate) no_header: bool,
    /// The CSV file starts with the names of its columns, also if these are numbers
    #[arg(long, conflicts_with = "no_header")]
    pub(crate) header: bool,
    /// Stop at a cell that is not what its column holds, instead of taking it as missing
    #[arg(long)]
    pub(crate) strict: bool,
    /// Folder for what comes through a pipe and is read more than once: an unnamed file, gone at the end [default: the system's]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) tmp_dir: Option<PathBuf>,
}

/// How a command runs.
#[derive(Clone, Debug, ClapArgs)]
#[command(next_help_heading = "Running")]
pub(crate) struct RunArgs {
    /// Threads; 0 for one a processor. The result does not depend on it
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) threads: usize,
    /// No progress, no warnings
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// How features are made.
#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct MapArgs {
    /// How features are made of the kernel
    #[arg(long, value_enum, default_value = "auto")]
    pub(crate) map: MapArg,
    /// How landmarks are chosen
    #[arg(long, value_enum, default_value = "uniform")]
    pub(crate) landmarks: ChoiceArg,
    /// Of --map sparse: entries of a column that are not zero, or theorem for √(D·ln d) of them [default: 8]
    #[arg(long, value_name = "N|theorem", value_parser = value::nonzeros)]
    pub(crate) nonzeros: Option<Nonzeros>,
    /// Of --map sparse: entries without signs, so that features of counts are not negative; inner products are biased
    #[arg(long)]
    pub(crate) unsigned: bool,
}

/// What a model is to know of its own errors.
#[derive(Clone, Copy, Debug, ClapArgs)]
#[command(next_help_heading = "Uncertainty")]
pub(crate) struct DoubtArgs {
    /// Hold this share of the rows out of the fit, for predict --interval; the model learns from the others alone
    #[arg(long, value_name = "SHARE", value_parser = value::share, allow_negative_numbers = true)]
    pub(crate) held_out: Option<f64>,
    /// Keep what the deviation of a prediction is made of, for predict --deviation: D²/2 numbers more in the model. Of squares of numbers only
    #[arg(long)]
    pub(crate) deviation: bool,
    /// Make probabilities of the scores of classes, on left-out folds: one more solve for each
    #[arg(long)]
    pub(crate) calibrate: bool,
}

/// What is learnt from a file, and how.
#[derive(Debug, ClapArgs)]
pub(crate) struct LearnArgs {
    /// The data: files, folders or patterns such as 'sales/*.csv', all with the same columns; - for standard input
    #[arg(required = true, value_name = "DATA")]
    pub(crate) data: Vec<PathBuf>,
    /// The column to predict: "target", the label, for LIBSVM files; x0, x1, … for NPY files, or another .npy file with the targets
    #[arg(long, short, value_name = "COLUMN")]
    pub(crate) target: Option<String>,
    /// Columns not to learn from: names with commas between them, with * and ? for other characters; may be repeated
    #[arg(long, value_name = "COLUMNS")]
    pub(crate) ignore: Vec<String>,
    /// What a column holds, such as zip=category: number, boolean, category, date or text; may be repeated [default: found by reading the file]
    #[arg(long, value_name = "COLUMN=KIND", value_parser = value::kind)]
    pub(crate) kind: Vec<(String, ColumnKind)>,
    /// What columns hold and what they are for, as summary -o writes it and a person has edited it; what is typed here counts more
    #[arg(long, value_name = "SCHEMA.toml")]
    pub(crate) schema: Option<PathBuf>,
    /// A column that names the rows: not learned from, and copied to the predictions; may be repeated
    #[arg(long, value_name = "COLUMN")]
    pub(crate) id: Vec<String>,
    /// A column that says how much each row counts
    #[arg(long, value_name = "COLUMN")]
    pub(crate) weight: Option<String>,
    /// A column whose equal cells mark rows that belong together, such as a patient: they are never on both sides of a validation
    #[arg(long, value_name = "COLUMN")]
    pub(crate) group: Option<String>,
    /// Whether the target is a number or a class
    #[arg(long, value_enum, default_value = "auto")]
    pub(crate) task: TaskArg,
    /// auto for the best of gaussian, laplace and exponential; one of these to have its width tuned; or any expression of kernels: 'gaussian(sigma=2)[age,income] + linear' (see bochner kernel list)
    #[arg(long, value_name = "TEXT", value_parser = value::kernel, default_value = "auto")]
    pub(crate) kernel: KernelChoice,
    /// How a column of text becomes numbers that every kernel can look at, such as 'message=words(from=1,to=2)'; rows have length 1; may be repeated
    #[arg(long, value_name = "COLUMN=TEXT", value_parser = value::sequence)]
    pub(crate) sequence: Vec<Declared>,
    #[command(flatten)]
    pub(crate) made: MapArgs,
    /// What is minimised: squares; for classes logistic, squared-hinge, hinge; for numbers huber(epsilon=1.35), quantile(level=0.5), insensitive(epsilon=0.1)
    #[arg(long, default_value = "squares")]
    pub(crate) loss: Loss,
    /// How squares are minimised: gram, by sums of D² numbers in one pass; cg, by conjugate gradients, which keep features where they are few and read the rows in every step where not; auto, by sums unless these do not fit or cost more
    #[arg(long, default_value = "auto")]
    pub(crate) solver: Solver,
    /// How rows are compared: auto, along directions learnt from the data where that predicts better; diagonal, by a learnt factor for each column; full, by a learnt matrix; none, as columns are scaled
    #[arg(long, default_value = "auto")]
    pub(crate) metric: MetricChoice,
    /// Number of features D: more is closer to the kernel; time grows with D² [default: doubled while the error on left-out rows falls; 256 grids for binning]
    #[arg(long, short = 'D', value_name = "D")]
    pub(crate) features: Option<usize>,
    /// Time for the whole fit, such as 60s or 5m: kernel and D are searched for as long as it allows [default: an amount of work, about a minute]
    #[arg(long, value_name = "TIME", value_parser = value::seconds)]
    pub(crate) budget: Option<f64>,
    /// A plan, or a model whose plan to take: with the same rows it gives the same model again. What columns hold and what they are for is no part of it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["kernel", "features", "budget", "lambda", "folds", "seed", "loss", "precision", "scaling", "no_standardise", "map", "landmarks", "nonzeros", "unsigned", "solver", "metric", "held_out", "deviation", "calibrate"])]
    pub(crate) plan: Option<PathBuf>,
    /// Regularisation λ in (1/n)Σ loss + λ‖w‖² [default: chosen by cross-validation]
    #[arg(long, value_name = "L", value_parser = value::positive, allow_negative_numbers = true, conflicts_with = "folds")]
    pub(crate) lambda: Option<f64>,
    /// Folds of the cross-validation that chooses λ, 2 to 64 [default: 5]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u8).range(2..=64))]
    pub(crate) folds: Option<u8>,
    /// Seed of all chance
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Precision of rows and features; sums and coefficients are double in any case
    #[arg(long, value_enum, default_value = "single")]
    pub(crate) precision: PrecisionArg,
    /// How columns of numbers are scaled; auto is standard
    #[arg(long, value_name = "NAME", value_enum, default_value = "auto")]
    pub(crate) scaling: ScalingArg,
    /// Take columns as they are, instead of to mean 0 and deviation 1
    #[arg(long, visible_alias = "no-standardize", conflicts_with = "scaling")]
    pub(crate) no_standardise: bool,
    #[command(flatten)]
    pub(crate) doubt: DoubtArgs,
    /// Number of columns of a LIBSVM file [default: its largest index]
    #[arg(long, value_name = "N", help_heading = "Reading")]
    pub(crate) width: Option<usize>,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    /// Memory that may be used, such as 4GiB or 500M [default: nine tenths of what is free]
    #[arg(long, value_name = "SIZE", value_parser = value::bytes, help_heading = "Running")]
    pub(crate) max_memory: Option<u64>,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// Learn to predict a column of a file
#[derive(Debug, ClapArgs)]
#[command(after_help = FIT_EXAMPLES)]
pub(crate) struct FitArgs {
    #[command(flatten)]
    pub(crate) learn: LearnArgs,
    /// Where to write the model [default: the name of the data with .bochner, in this folder]
    #[arg(long, short, value_name = "MODEL")]
    pub(crate) output: Option<PathBuf>,
    /// Write a page with figures of the model: columns that matter, directions of a learnt metric, the choice of λ
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    /// Print one JSON object instead of the summary
    #[arg(long, help_heading = "Running")]
    pub(crate) json: bool,
}

const FIT_EXAMPLES: &str = "\
Examples:
  bochner fit houses.csv --target price
  bochner fit 'sales/*.parquet' --target amount --id order --group customer -o sales.bochner
  bochner fit houses.csv --target price --kind zip=category --ignore 'note*' --features 4096 -o houses.bochner
  bochner fit houses.csv --target price --held-out 0.1 --deviation -o houses.bochner
  bochner fit cover.csv --target cover --kernel 'laplace(scale=10)' --map binning --loss hinge -o cover.bochner
  bochner fit rows.npy --target labels.npy --kernel 'gaussian(sigma=4)' -o labels.bochner
  bochner fit train.libsvm.gz --kernel 'laplace(scale=20)' --lambda 1e-6 -o model.bochner
  bochner fit genes.csv --target kind --kernel 'normalised(spectrum(k=5)[dna]) + gaussian(sigma=1)[age]' -o genes.bochner
  bochner fit mails.csv --target spam --sequence 'text=words(from=1,to=2,tf_idf=1)' --kernel linear --loss hinge -o mails.bochner
  bochner fit news.libsvm --kernel linear --map sparse --features 4096 -o news.bochner";

/// Predict the rows of a file, as CSV
#[derive(Debug, ClapArgs)]
pub(crate) struct PredictArgs {
    /// A model that `bochner fit` wrote
    pub(crate) model: PathBuf,
    /// The data, - for standard input; columns are found by name, others are ignored
    #[arg(required = true, value_name = "DATA")]
    pub(crate) data: Vec<PathBuf>,
    /// Where to write the predictions [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// A column to copy to the predictions, in front of them; may be repeated [default: those that the model was fitted with --id]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) id: Vec<String>,
    /// For classes: also one column of scores for each class; the largest decides
    #[arg(long)]
    pub(crate) scores: bool,
    /// For classes, if the model was fitted under logistic loss or with --calibrate: also one column of probabilities for each class
    #[arg(long, conflicts_with = "scores")]
    pub(crate) probabilities: bool,
    /// If the model was fitted with --held-out: also the ends of an interval that holds the number, or a set of classes that holds the class, of a new row with this probability, such as 0.9
    #[arg(long, value_name = "COVERAGE", value_parser = value::share, allow_negative_numbers = true, conflicts_with_all = ["scores", "probabilities"])]
    pub(crate) interval: Option<f64>,
    /// If the model was fitted with --deviation: also the standard deviation of a new observation
    #[arg(long, conflicts_with_all = ["scores", "probabilities"])]
    pub(crate) deviation: bool,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// Measure a model on a file with known targets
#[derive(Debug, ClapArgs)]
pub(crate) struct EvaluateArgs {
    /// A model that `bochner fit` wrote
    pub(crate) model: PathBuf,
    /// The data, with the target; - for standard input
    #[arg(required = true, value_name = "DATA")]
    pub(crate) data: Vec<PathBuf>,
    /// The column with the truth, or an .npy file with it [default: the column the model was fitted to]
    #[arg(long, short, value_name = "COLUMN")]
    pub(crate) target: Option<String>,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Print one JSON object
    #[arg(long, help_heading = "Running")]
    pub(crate) json: bool,
}

/// Write the features of the rows of a file, as CSV, NPY or LIBSVM
#[derive(Debug, ClapArgs)]
#[command(after_help = TRANSFORM_EXAMPLES)]
pub(crate) struct TransformArgs {
    /// The data: files, folders or patterns such as 'sales/*.csv', all with the same columns; - for standard input
    #[arg(required = true, value_name = "DATA")]
    pub(crate) data: Vec<PathBuf>,
    /// Where to write the features [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Format of the features: csv, npy (needs a file) or libsvm [default: by the file's name, csv for standard output]
    #[arg(long, value_name = "NAME", value_parser = value::feature_format)]
    pub(crate) output_format: Option<FeatureFormat>,
    /// A column to keep as it is: the last one of CSV, the label of LIBSVM [default: the label, from LIBSVM to LIBSVM]
    #[arg(long, short, value_name = "COLUMN")]
    pub(crate) target: Option<String>,
    /// Columns to leave out: names with commas between them, with * and ? for other characters; may be repeated
    #[arg(long, value_name = "COLUMNS")]
    pub(crate) ignore: Vec<String>,
    /// What a column holds, such as zip=category: number, boolean, category, date or text; may be repeated [default: found by reading the file]
    #[arg(long, value_name = "COLUMN=KIND", value_parser = value::kind)]
    pub(crate) kind: Vec<(String, ColumnKind)>,
    /// Any expression of kernels with its widths: 'gaussian(sigma=2)[age,income] + linear' (see bochner kernel list)
    #[arg(long, value_name = "TEXT", value_parser = value::given_kernel, default_value = "linear")]
    pub(crate) kernel: Kernel,
    /// How a column of text becomes numbers that every kernel can look at, such as 'message=words(from=1,to=2)'; rows have length 1; may be repeated
    #[arg(long, value_name = "COLUMN=TEXT", value_parser = value::sequence)]
    pub(crate) sequence: Vec<Declared>,
    #[command(flatten)]
    pub(crate) made: MapArgs,
    /// Number of features D: more is closer to the kernel [default: 2048; 256 grids for binning; what there are for exact maps]
    #[arg(long, short = 'D', value_name = "D")]
    pub(crate) features: Option<usize>,
    /// Seed of all chance
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Precision of rows and features
    #[arg(long, value_enum, default_value = "single")]
    pub(crate) precision: PrecisionArg,
    /// Bring columns to mean 0 and deviation 1 first, as fit does; here they are taken as they are unless this is said
    #[arg(long, visible_alias = "standardize")]
    pub(crate) standardise: bool,
    /// Number of columns of a LIBSVM file [default: its largest index]
    #[arg(long, value_name = "N", help_heading = "Reading")]
    pub(crate) width: Option<usize>,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    /// Memory that may be used, such as 4GiB or 500M [default: nine tenths of what is free]
    #[arg(long, value_name = "SIZE", value_parser = value::bytes, help_heading = "Running")]
    pub(crate) max_memory: Option<u64>,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Print one JSON object about the features; they need --output
    #[arg(long, help_heading = "Running", requires = "output")]
    pub(crate) json: bool,
}

const TRANSFORM_EXAMPLES: &str = "\
Examples:
  bochner transform houses.csv --target price --kernel 'gaussian(sigma=2)' -D 512 > features.csv
  bochner transform news.libsvm.gz --map sparse -D 4096 -o small.libsvm
  bochner transform images.csv --map hadamard -D 256 -o small.npy
  bochner transform words.libsvm --kernel 'poly(degree=2,c=1)' --map tensor -o pairs.npy
  bochner transform genes.csv --kernel 'spectrum(k=5)[dna]' --target kind -o genes-5.csv

Inner products of features are close to the kernel of the rows; stderr says how close. Features are functions of the row and the seed. Only --map landmarks, --map binning, --standardise and tf_idf look at all rows of the file, so that the same words make another map of another file.";

/// Show the columns of a data file: what they hold, their range, what is missing
#[derive(Debug, ClapArgs)]
pub(crate) struct SummaryArgs {
    /// The data: files, folders or patterns such as 'sales/*.csv', all with the same columns; - for standard input
    #[arg(required = true, value_name = "DATA")]
    pub(crate) data: Vec<PathBuf>,
    /// The column that is to be predicted: columns that tell it by themselves are pointed at
    #[arg(long, short, value_name = "COLUMN")]
    pub(crate) target: Option<String>,
    /// Write what the columns hold and what they are for, to be edited and given to fit --schema
    #[arg(long, short, value_name = "SCHEMA.toml")]
    pub(crate) output: Option<PathBuf>,
    /// Write a page with all columns
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    /// What a column holds, such as zip=category: number, boolean, category, date or text; may be repeated [default: found by reading the file]
    #[arg(long, value_name = "COLUMN=KIND", value_parser = value::kind)]
    pub(crate) kind: Vec<(String, ColumnKind)>,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Print one JSON object, with all columns
    #[arg(long, help_heading = "Running")]
    pub(crate) json: bool,
}

/// Show what is in a model; of a data file, its summary
#[derive(Debug, ClapArgs)]
pub(crate) struct InspectArgs {
    /// A model or a data file
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    /// Write a page with figures of a model: columns that matter, directions of a learnt metric, the choice of λ
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    /// No progress, no warnings
    #[arg(long, short, help_heading = "Running")]
    pub(crate) quiet: bool,
    /// Print one JSON object, with all columns
    #[arg(long, help_heading = "Running")]
    pub(crate) json: bool,
}

/// What kernels there are, and what an expression of them becomes
#[derive(Debug, Subcommand)]
pub(crate) enum KernelCommand {
    /// The kernels that can be written, with their formulas
    List {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// How an expression is compiled to features: the tree of choices, with each part's share of features and variance
    #[command(
        after_help = "Example:\n  bochner kernel explain 'gaussian(sigma=2)*poly(degree=2,c=1)' --features 4096 --columns 8"
    )]
    Explain(ExplainArgs),
    /// The value for two rows, the distance, and the error that features would have
    #[command(after_help = "Example:\n  bochner kernel evaluate 'gaussian(sigma=2) + linear' 1,2,3 2,2,1")]
    Evaluate(EvaluateKernelArgs),
    /// The profile along a line, in the terminal
    #[command(after_help = "Example:\n  bochner kernel plot 'matern(nu=1.5,scale=2)'")]
    Plot(ProfileArgs),
}

/// How an expression is compiled.
#[derive(Debug, ClapArgs)]
pub(crate) struct ExplainArgs {
    /// The expression
    #[arg(value_parser = value::whole_kernel)]
    pub(crate) kernel: Kernel,
    /// Number of features D
    #[arg(long, short = 'D', value_name = "D", default_value_t = 2048)]
    pub(crate) features: usize,
    /// Columns of the rows: how many, or their names (age,income,…) [default: as many as the kernel speaks of, or 10]
    #[arg(long, value_name = "N|NAMES")]
    pub(crate) columns: Option<String>,
    /// Slots of each grid, to have laplace and hat as hashed bins
    #[arg(long, value_name = "SLOTS")]
    pub(crate) bins: Option<usize>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// What a fit will cost, before it is made
#[derive(Debug, ClapArgs)]
#[command(after_help = PLAN_EXAMPLES)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) learn: LearnArgs,
    /// Rates of a machine: those in the file, which is written if it is not there [default: measured, in less than a second]
    #[arg(long, value_name = "FILE", help_heading = "Running")]
    pub(crate) machine: Option<PathBuf>,
    /// Print one JSON object instead of the table
    #[arg(long, help_heading = "Running")]
    pub(crate) json: bool,
}

const PLAN_EXAMPLES: &str = "\
Examples:
  bochner plan houses.csv --target price
  bochner plan houses.csv --target price --budget 60s --max-memory 2GiB
  bochner plan cover.csv --target cover --features 4096 --machine this.json";

/// What kernel gradient descent costs, by each of six strategies
#[derive(Debug, ClapArgs)]
#[command(after_help = STRATEGIES_EXAMPLES)]
pub(crate) struct StrategiesArgs {
    #[command(flatten)]
    pub(crate) shape: ShapeArgs,
    /// What similarity means: whether it has finitely many features of its own decides what can be done
    #[arg(long, value_name = "TEXT", value_parser = value::given_kernel, default_value = "gaussian(sigma=1)")]
    pub(crate) kernel: Kernel,
    /// Number of features D of the map that approximates
    #[arg(long, short = 'D', value_name = "D", default_value_t = 2048)]
    pub(crate) features: usize,
    /// Steps T: rows visited, one after another [default: ten times the rows]
    #[arg(long, short = 'T', value_name = "T")]
    pub(crate) steps: Option<u64>,
    /// Precision of rows, features and kernel values
    #[arg(long, value_enum, default_value = "single")]
    pub(crate) precision: PrecisionArg,
    /// Memory that may be used beyond the data, such as 4GiB or 500M [default: any]
    #[arg(long, value_name = "SIZE", value_parser = value::bytes)]
    pub(crate) max_memory: Option<u64>,
    /// Print one JSON object instead of the table
    #[arg(long)]
    pub(crate) json: bool,
}

/// The shape of data that are not there.
#[derive(Clone, Debug, ClapArgs)]
#[command(next_help_heading = "Shape")]
pub(crate) struct ShapeArgs {
    /// Number of rows n
    #[arg(long, short, value_name = "N")]
    pub(crate) rows: u64,
    /// Number of columns d
    #[arg(long, short, value_name = "D")]
    pub(crate) columns: u32,
    /// Entries that are not zero in all rows, where they are sparse [default: rows × columns]
    #[arg(long, value_name = "NNZ")]
    pub(crate) entries: Option<u64>,
    /// Numbers to predict, or classes if there are more than two
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) outputs: u64,
}

const STRATEGIES_EXAMPLES: &str = "\
Examples:
  bochner strategies --rows 100000 --columns 100
  bochner strategies --rows 20000 --columns 50000 --entries 2000000 --kernel linear --steps 200000
  bochner strategies --rows 60000 --columns 784 --kernel 'poly(degree=2,c=1)' --features 4096 --max-memory 8GiB";

/// The value for two rows.
#[derive(Debug, ClapArgs)]
pub(crate) struct EvaluateKernelArgs {
    /// The expression
    #[arg(value_parser = value::whole_kernel)]
    pub(crate) kernel: Kernel,
    /// A row: numbers separated by commas
    #[arg(allow_hyphen_values = true)]
    pub(crate) x: String,
    /// Another row
    #[arg(allow_hyphen_values = true)]
    pub(crate) y: String,
    /// Names of the columns, where the kernel speaks of them
    #[arg(long, value_name = "NAMES")]
    pub(crate) columns: Option<String>,
    /// Number of features D to state the error for
    #[arg(long, short = 'D', value_name = "D", default_value_t = 2048)]
    pub(crate) features: usize,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// The profile along a line.
#[derive(Debug, ClapArgs)]
pub(crate) struct ProfileArgs {
    /// The expression
    #[arg(value_parser = value::whole_kernel)]
    pub(crate) kernel: Kernel,
    /// The point that others are compared with [default: 0 for functions of x − y, else 1]
    #[arg(long, value_name = "A", allow_negative_numbers = true)]
    pub(crate) at: Option<f64>,
    /// How far to either side [default: as far as the kernel changes]
    #[arg(long, value_name = "R", value_parser = value::positive)]
    pub(crate) reach: Option<f64>,
    /// Columns of the rows, all moved alike: how many, or their names [default: 1]
    #[arg(long, value_name = "N|NAMES")]
    pub(crate) columns: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// An experiment on data that come with the program
///
/// digits: handwritten digits by exact support vector machines and by linear ones on Fourier, Nyström and binning features: what each gets right, and what it costs.
#[derive(Debug, ClapArgs)]
pub(crate) struct DemoArgs {
    /// Which one
    #[arg(value_enum, default_value = "digits")]
    pub(crate) experiment: Demonstration,
    /// Where to write a page with all figures, as HTML
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Repetitions with other seeds, for the points of the table
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u8).range(1..))]
    pub(crate) seeds: u8,
    /// Seed of all chance
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Print one JSON object
    #[arg(long, help_heading = "Running")]
    pub(crate) json: bool,
}

/// Experiments that come with the program.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Demonstration {
    /// Handwritten digits, exact and by features
    Digits,
}

/// What the target is.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum TaskArg {
    /// Classes if the target is text or at most 20 whole numbers, a number otherwise
    Auto,
    /// A number
    Regression,
    /// A class
    Classification,
}

impl From<TaskArg> for Task {
    fn from(typed: TaskArg) -> Task {
        match typed {
            TaskArg::Auto => Task::Auto,
            TaskArg::Regression => Task::Regression,
            TaskArg::Classification => Task::Classification,
        }
    }
}

/// How columns of numbers are scaled.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ScalingArg {
    /// As standard
    Auto,
    /// Mean 0 and standard deviation 1
    Standard,
    /// Quantiles become those of a normal distribution: for skewed columns
    Quantile,
    /// Median and distance of the quartiles, outliers squashed
    Robust,
}

impl From<ScalingArg> for ColumnScaling {
    fn from(typed: ScalingArg) -> ColumnScaling {
        match typed {
            ScalingArg::Auto | ScalingArg::Standard => ColumnScaling::Standard,
            ScalingArg::Quantile => ColumnScaling::Quantile,
            ScalingArg::Robust => ColumnScaling::Robust,
        }
    }
}

/// How features are made.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum MapArg {
    /// The usual one for the kernel
    Auto,
    /// Fourier pairs (cos, sin) at independent frequencies
    Fourier,
    /// Fourier pairs at orthogonal frequencies: closer for the Gaussian
    Orthogonal,
    /// cos(ω·x + b) at independent frequencies
    Offset,
    /// Fourier pairs at quasi-random frequencies: closer for few columns
    Quasi,
    /// Nearly as close as orthogonal ones, by one rotation and Hadamard transforms: faster where frequencies are several times the columns
    Turned,
    /// Fourier pairs by Hadamard transforms alone: faster still for many columns, isotropic kernels, a bias below 4e-4
    Structured,
    /// What the compiler makes of the expression
    Compiled,
    /// The kernel's own features, where they are finitely many
    Exact,
    /// Products of count sketches (TensorSketch), for poly: wide and sparse rows
    Tensor,
    /// Products of random signs by Hadamard transforms, for poly: dense rows; an even number of features
    Product,
    /// Kernel values at rows of the data (Nyström)
    Landmarks,
    /// Cells of random grids, for laplace and hat: sparse
    Binning,
    /// Random projection on normal vectors, for linear
    Gaussian,
    /// Random projection on signs, for linear
    Signs,
    /// Random projection on orthonormal vectors, for linear: the lowest variance
    Orthonormal,
    /// Random projection by a Hadamard transform, for linear: fast for dense rows
    Hadamard,
    /// Random projection with few entries a column, for linear: fast for sparse rows; --nonzeros 1 is feature hashing
    Sparse,
}

/// How landmarks are chosen.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ChoiceArg {
    /// Any row like any other
    Uniform,
    /// Far from those already taken
    #[value(name = "k-means++")]
    KMeansPlusPlus,
    /// By ridge leverage scores
    Leverage,
    /// By what those already taken leave of them: randomly pivoted Cholesky
    Cholesky,
}

impl From<ChoiceArg> for Choice {
    fn from(typed: ChoiceArg) -> Choice {
        match typed {
            ChoiceArg::Uniform => Choice::Uniform,
            ChoiceArg::KMeansPlusPlus => Choice::KMeansPlusPlus,
            ChoiceArg::Leverage => Choice::Leverage,
            ChoiceArg::Cholesky => Choice::Cholesky,
        }
    }
}

/// The precision of rows and features.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum PrecisionArg {
    /// 32 bits: half the memory, twice the speed
    Single,
    /// 64 bits
    Double,
}

impl From<PrecisionArg> for Precision {
    fn from(typed: PrecisionArg) -> Precision {
        match typed {
            PrecisionArg::Single => Precision::Single,
            PrecisionArg::Double => Precision::Double,
        }
    }
}
