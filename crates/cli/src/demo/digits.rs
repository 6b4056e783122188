//! The digits that come with the program.

use bochner::table::Column;
use bochner::{Arrays, Engine, LabelKind, Labels, Matrix, Rows, Target};

use crate::exit::Failure;

/// 1,797 digits of 8 × 8 pixels: `data/README.md`.
const DIGITS: &[u8] = include_bytes!("../../data/digits.csv.gz");

pub(super) const CREDIT: &str = "UCI Optical Recognition of Handwritten Digits, E. Alpaydin and C. Kaynak (1998), \
                                 doi.org/10.24432/C50P49, CC BY 4.0";

/// Classes of the experiment: 0 to 8.
pub(super) const CLASSES: usize = 9;

/// Digits 0 to 8 in the order of the file.
pub(super) struct Digits {
    /// Pixels, 0 to 16.
    pub(super) images: Matrix<f64>,
    pub(super) classes: Vec<usize>,
    /// The first half, pixels divided by 16 and centred.
    pub(super) training: Part,
    /// The second half.
    pub(super) test: Part,
}

/// Rows with their classes.
pub(super) struct Part {
    pub(super) x: Matrix<f64>,
    /// One column.
    pub(super) y: Matrix<f64>,
    target: Target,
}

impl Digits {
    pub(super) fn read() -> Result<Digits, Failure> {
        let file = bochner_io::from_bytes(
            "digits.csv.gz",
            DIGITS,
            &bochner_io::Options { infer: false, ..Default::default() },
        )?;
        let (mut images, mut classes) = (Vec::new(), Vec::new());
        let engine = Engine::single_thread();
        let mut reader = file.open(&engine)?;
        while let Some(table) = reader.next(bochner::sweep::BLOCK)? {
            let number = |column: usize, row: usize| match &table.columns[column] {
                Column::Number(values) => values[row],
                Column::Text(texts) => texts.get(row).parse().unwrap_or(f64::NAN),
                _ => f64::NAN,
            };
            let pixels = table.columns.len() - 1;
            for row in 0..table.rows {
                // What is not a number is no class; the file that comes with the program has none such.
                let class = number(pixels, row);
                if class < CLASSES as f64 {
                    images.extend((0..pixels).map(|column| number(column, row)));
                    classes.push(class as usize);
                }
            }
        }
        let n = classes.len();
        let images = Matrix::new(n, images.len() / n.max(1), images)?;
        let mean = |j: usize| (0..n).map(|i| images.row(i)[j] / 16.0).sum::<f64>() / n as f64;
        let means: Vec<f64> = (0..images.columns()).map(mean).collect();
        let part = |rows: std::ops::Range<usize>| Part {
            x: Matrix::from_fn(rows.len(), images.columns(), |i, j| {
                images.row(rows.start + i)[j] / 16.0 - means[j]
            }),
            y: Matrix::from_fn(rows.len(), 1, |i, _| classes[rows.start + i] as f64),
            target: target(),
        };
        let (training, test) = (part(0..n / 2), part(n / 2..n));
        Ok(Digits { images, classes, training, test })
    }
}

fn target() -> Target {
    let texts = (0..CLASSES).map(|class| class.to_string()).collect();
    Target::Classes { labels: Labels::new(LabelKind::Integer, texts) }
}

impl Part {
    /// As a source to learn from.
    pub(super) fn source(&self) -> Result<Arrays<'_>, Failure> {
        Ok(Arrays::new(Rows::from(&self.x), self.y.view(), None, self.target.clone())?)
    }

    pub(super) fn class(&self, i: usize) -> usize {
        self.y.row(i)[0] as usize
    }

    /// The share of rows that a model gives their class.
    pub(super) fn accuracy(&self, classes: &[usize]) -> f64 {
        let right = classes.iter().enumerate().filter(|&(i, class)| *class == self.class(i)).count();
        right as f64 / classes.len().max(1) as f64
    }
}
