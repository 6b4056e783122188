//! A source of one's own: a million rows that are never in memory together.
//!
//! `cargo run --example 03_rows_that_do_not_fit`

#![allow(clippy::print_stdout, reason = "an example prints")]

use bochner::random::{Draws, Stream};
use bochner::{
    AnyRows, Batch, Batches, Engine, Kernel, Lambda, MapSpec, Matrix, Result, Ridge, Rows, Source, Target,
};

const ROWS: u64 = 1_000_000;
const COLUMNS: usize = 4;

/// Row i is made from its number; the target is a product of two columns.
struct Generated;

struct Position {
    at: u64,
    rows: Matrix<f32>,
    targets: Matrix<f64>,
}

impl Source for Generated {
    fn input_dim(&self) -> usize {
        COLUMNS
    }

    fn target(&self) -> &Target {
        &Target::Numbers { outputs: 1 }
    }

    fn row_count(&self) -> Option<u64> {
        Some(ROWS)
    }

    fn scalar_bytes(&self) -> usize {
        4
    }

    fn open(&self) -> Result<Box<dyn Batches + '_>> {
        Ok(Box::new(Position { at: 0, rows: Matrix::zeros(0, COLUMNS), targets: Matrix::zeros(0, 1) }))
    }
}

impl Batches for Position {
    fn next(&mut self, most: usize) -> Result<Option<Batch<'_>>> {
        let count = most.min((ROWS - self.at) as usize);
        if count == 0 {
            return Ok(None);
        }
        let first_row = self.at;
        self.rows = Matrix::zeros(count, COLUMNS);
        for i in 0..count {
            let mut draws = Draws::new(1, Stream::Sample, first_row + i as u64);
            self.rows.row_mut(i).fill_with(|| draws.uniform() as f32 * 2.0 - 1.0);
        }
        self.targets = Matrix::from_fn(count, 1, |i, _| f64::from(self.rows.row(i)[0] * self.rows.row(i)[1]));
        self.at += count as u64;
        let rows = AnyRows::F32(Rows::from(&self.rows));
        Ok(Some(Batch::new(rows, self.targets.view(), first_row)))
    }

    fn fraction(&self) -> Option<f64> {
        Some(self.at as f64 / ROWS as f64)
    }
}

pub(crate) fn main() -> Result<()> {
    let map = MapSpec { features: 128, seed: 3, ..MapSpec::auto(Kernel::gaussian(1.5)) };
    let ridge = Ridge { lambda: Lambda::CrossValidated { folds: 5 }, ..Ridge::new(map) };
    let engine = Engine::default();
    println!(
        "plan: {} at the peak, however many rows",
        bochner::plan::bytes(ridge.plan(&Generated)?.peak_bytes)
    );
    let model = ridge.fit(&engine, &Generated)?;
    println!("{}", model.certificate());
    let x = Matrix::new(1, COLUMNS, vec![0.5, -0.8, 0.1, 0.9])?;
    let prediction = model.decide(&engine, Rows::from(&x))?.row(0)[0];
    println!("0.5 × -0.8 = {prediction:.4}");
    assert!((prediction + 0.4).abs() < 0.01);
    Ok(())
}
