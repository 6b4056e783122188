//! The page of the digits experiment.

use bochner::Engine;
use bochner_report::{Block, Column, Page, Table, Text};

use super::digits::{CREDIT, Digits};
use super::experiment::{CERTIFIED, Experiment, FEATURES, Line, MANY_GRIDS};
use super::figures;
use crate::exit::Failure;
use crate::text;

pub(super) fn of(engine: &Engine, digits: &Digits, found: &Experiment) -> Result<Page, Failure> {
    let mut page = Page::new("Handwritten digits, by exact kernels and by features of them");
    page.subtitle =
        format!("{} digits to learn from, {} to test, classes 0 to 8", found.training_rows, found.test_rows);
    page.intro = vec![
        Text::from(
            "A support vector machine with a Gaussian kernel tells these digits apart better than a linear one, but needs the kernel between all pairs of \
             rows. Random features turn the kernel into a few hundred columns, on which a linear machine does nearly as well. Here are both, and the part \
             that was missing in the lecture notes this experiment comes from: ",
        )
        .strong("random binning")
        .plain(", sparse features of the Laplace kernel."),
    ];
    page.heading("Accuracy");
    page.table(accuracy(found));
    page.paragraph(format!(
        "Binning is for the Laplace kernel exp(−‖x − y‖₁/s). Its s = {} and C = {} are those with the fewest errors, {:.1} %, in 5-fold cross-validation \
         on the training half. The exact machine of this kernel has them too. All others have C = 1 and, for the Gaussian, γ = 0.2, as in the notes.",
        text::number(found.binning.scale),
        text::number(found.binning.cost),
        100.0 * found.binning.error
    ));
    page.heading("What the maps do");
    page.figure(figures::circle(engine)?);
    page.figure(figures::grids(engine)?);
    page.heading("What the models see");
    page.figure(figures::images(digits));
    page.figure(figures::accuracy(found));
    page.figure(figures::surfaces(engine, digits, found)?);
    page.heading("What it costs to ask a model");
    page.table(costs(found));
    page.paragraph(
        "The exact machine keeps its support vectors and compares each new row with all of them. A Fourier map keeps a seed and its coefficients; landmarks \
         keep the landmarks; binning keeps the names of the cells that were seen.",
    );
    page.table(margins(found));
    page.heading("How near the features are to the kernel");
    page.figure(figures::kernel_errors(found));
    let command =
        format!("bochner demo digits --seed {} --seeds {} --out digits.html", found.seed, found.seeds);
    page.made = vec![
        Block::Preformatted(command),
        Block::Paragraph(Text::from(format!(
            "bochner {}. Exact machines: SMO, hinge, one class against one. Linear machines: squared hinge, one against the rest, the problem of LIBLINEAR's \
             default. Times are of this run on this machine.",
            env!("CARGO_PKG_VERSION")
        ))),
        Block::Paragraph(Text::from(format!("Data: {CREDIT}"))),
    ];
    Ok(page)
}

fn accuracy(found: &Experiment) -> Table {
    let row = |line: &Line| {
        vec![
            line.name.to_owned(),
            line.features.map_or(String::new(), |features| text::count(features as u64)),
            format!("{:.2} %", 100.0 * line.accuracy),
            line.deviation.map_or(String::new(), |deviation| format!("± {:.2}", 100.0 * deviation)),
            line.notes.map_or(String::new(), |notes| format!("{:.1} %", 100.0 * notes)),
        ]
    };
    Table {
        caption: Text::from(format!(
            "Accuracy on the test half, {} seeds where chance plays a part (mean and deviation), beside what the notes print. Binning at {FEATURES} and at \
             {MANY_GRIDS} grids.",
            found.seeds
        )),
        columns: vec![
            Column::text("machine"),
            Column::number("features"),
            Column::number("accuracy"),
            Column::number("deviation"),
            Column::number("the notes"),
        ],
        rows: found.table.iter().map(row).collect(),
        highlighted: Vec::new(),
    }
}

fn costs(found: &Experiment) -> Table {
    let row = |line: &Line| {
        vec![
            line.name.to_owned(),
            match (line.features, line.support_vectors) {
                (Some(features), _) => text::count(features as u64),
                (None, Some(vectors)) => format!("{} rows", text::count(vectors as u64)),
                (None, None) => String::new(),
            },
            format!("{} ms", text::significant(1e3 * line.seconds, 2)),
            format!("{} µs", text::significant(1e6 * line.seconds_per_row, 2)),
            bochner::plan::bytes(line.bytes),
        ]
    };
    Table {
        caption: Text::from(
            "Features, or rows that are support vectors; time to train; time to predict a row (of a batch, all threads); bytes of the model file.",
        ),
        columns: vec![
            Column::text("machine"),
            Column::number("size"),
            Column::number("to train"),
            Column::number("a row"),
            Column::number("model"),
        ],
        rows: found.table.iter().map(row).collect(),
        highlighted: Vec::new(),
    }
}

fn margins(found: &Experiment) -> Table {
    let row = |line: &Line| {
        vec![
            line.name.to_owned(),
            line.features.map_or(String::new(), |features| text::count(features as u64)),
            text::significant(line.margin, 2),
            text::percent(line.gap),
            if line.certified { "yes" } else { "no" }.to_owned(),
        ]
    };
    Table {
        caption: Text::from(format!(
            "The normalised margin γ = 1/(‖w‖·max ‖z‖), the smallest of a model's machines, and the gap between the primal and the dual objective, as a fraction of \
             the primal: the objective is at most this fraction above the optimum. Of several seeds, the margin of the last and the largest gap. A solution is certified \
             if its gap is at most {}.",
            text::percent(CERTIFIED)
        )),
        columns: vec![
            Column::text("machine"),
            Column::number("features"),
            Column::number("margin γ"),
            Column::number("gap"),
            Column::text("certified"),
        ],
        rows: found.table.iter().map(row).collect(),
        highlighted: Vec::new(),
    }
}
