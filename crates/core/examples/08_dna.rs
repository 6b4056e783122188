//! DNA by sequence kernels: a spectrum kernel against gapped k-mers, on sequences whose motif is never whole.
//!
//! `cargo run --example 08_dna`

#![allow(clippy::print_stdout, reason = "an example prints")]

use bochner::encode::{Grams, Sequence, TableProfile, TableRows};
use bochner::random::{Draws, Stream};
use bochner::table::{Column, ColumnInfo, ColumnKind, Table, TableReader, TableSource, TextColumn};
use bochner::{Auto, Engine, KernelChoice, LabelKind, Labels, Result};

/// What a site looks like; two of its letters are read wrongly each time.
const MOTIF: &str = "GATTACAGG";
const ROWS: usize = 1200;

/// Sequences with their kind, in memory.
struct Genes {
    columns: Vec<ColumnInfo>,
    table: Table,
}

impl Genes {
    /// Half of them have a site somewhere.
    fn draw(seed: u64) -> Genes {
        let (mut dna, mut kind) = (TextColumn::default(), TextColumn::default());
        for row in 0..ROWS as u64 {
            let mut draws = Draws::new(seed, Stream::Sample, row);
            let mut letters: Vec<u8> = (0..80).map(|_| b"ACGT"[draws.below(4) as usize]).collect();
            let is_site = draws.uniform() < 0.5;
            if is_site {
                let mut site = MOTIF.as_bytes().to_vec();
                for _ in 0..2 {
                    site[draws.below(MOTIF.len() as u64) as usize] = b"ACGT"[draws.below(4) as usize];
                }
                let at = draws.below((letters.len() - site.len()) as u64) as usize;
                letters[at..at + site.len()].copy_from_slice(&site);
            }
            dna.push(&String::from_utf8_lossy(&letters));
            kind.push(if is_site { "site" } else { "none" });
        }
        let info = |name: &str| ColumnInfo { name: name.to_owned(), kind: ColumnKind::Text };
        let columns = vec![Column::Text(dna), Column::Text(kind)];
        Genes { columns: vec![info("dna"), info("kind")], table: Table { rows: ROWS, columns, first_row: 0 } }
    }
}

/// Files are read like this by `bochner-io`; here the one block is there already.
impl TableSource for Genes {
    fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    fn open<'a>(&'a self, _: &'a Engine) -> Result<Box<dyn TableReader + 'a>> {
        Ok(Box::new(Reader(Some(&self.table))))
    }
}

struct Reader<'a>(Option<&'a Table>);

impl TableReader for Reader<'_> {
    fn next(&mut self, _most: usize) -> Result<Option<Table>> {
        Ok(self.0.take().cloned())
    }

    fn fraction(&self) -> Option<f64> {
        None
    }
}

/// The share of wrong classes on other sequences, after learning with a kernel.
fn error(engine: &Engine, kernel: &str, train: &Genes, test: &Genes) -> Result<f64> {
    let auto = Auto { kernel: KernelChoice::Given(kernel.parse()?), features: Some(1024), ..Auto::default() };
    // The encoder's columns, and the kernel of its rows: spectrum(k=6)[dna] has become linear.
    let (auto, inputs) = auto.inputs(&TableProfile::of(train), &["kind"], &[])?;
    let columns = inputs.columns;
    let labels = Labels::new(LabelKind::Text, vec!["none".to_owned(), "site".to_owned()]);
    let rows = TableRows::new(engine, train, columns.clone(), "kind", Some(labels), Some(ROWS as u64))?;
    let model = auto.fit(engine, &rows)?.with_names(columns, "kind")?;

    let outputs = model.decide_table(engine, &test.table, &test.columns)?;
    let Column::Text(truth) = &test.table.columns[1] else { return Ok(f64::NAN) };
    let is_wrong = |(class, truth): (usize, &str)| (class == 1) != (truth == "site");
    let wrong = model.classes(&outputs).into_iter().zip(truth.iter()).filter(|&pair| is_wrong(pair)).count();
    Ok(wrong as f64 / ROWS as f64)
}

pub(crate) fn main() -> Result<()> {
    let engine = Engine::default();

    // One number: what two short sequences have in common, exactly and hashed.
    let (a, b) = ("GATTACAGGTTA", "CGATTAGAGG");
    for grams in [Grams::Spectrum { k: 4 }, Grams::Gapped { length: 6, k: 4 }] {
        let sequence = Sequence::new(grams);
        let rows = sequence.build()?.encode::<f64>(&engine, &[a, b].into_iter().collect())?;
        let rows = bochner::Rows::from(&rows);
        let hashed = bochner::Kernel::Linear.eval(&rows, 0, &rows, 1);
        println!("{sequence}: {} exactly, {hashed} hashed", sequence.exact(a, b)?);
    }

    let (train, test) = (Genes::draw(1), Genes::draw(2));
    let mut errors = Vec::new();
    for kernel in
        ["normalised(spectrum(k=6,width=1024)[dna])", "normalised(gapped(length=8,k=5,width=1024)[dna])"]
    {
        let wrong = error(&engine, kernel, &train, &test)?;
        println!("{kernel}: {:.1} % wrong", 100.0 * wrong);
        errors.push(wrong);
    }
    // Two letters of nine are wrong: windows of six are rarely whole, five places of eight often are.
    assert!(errors[1] < errors[0], "gaps help");
    Ok(())
}
