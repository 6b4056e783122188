//! Texts: their grams against naive code, hashing, tf–idf, tables with texts, and the models of such.

use std::collections::HashMap;

use bochner::encode::{
    Columns, Declared, Documents, Grams, Inputs, Sequence, TableProfile, TableRows, inputs,
};
use bochner::model::file::FileError;
use bochner::stat::Statistic;
use bochner::table::{Column, ColumnInfo, ColumnKind, Table, TableReader, TableSource, TextColumn};
use bochner::{
    Auto, Csr, Engine, Error, Kernel, KernelChoice, LabelKind, Labels, Lambda, Loss, MapSpec, Matrix, Method,
    Model, Result, Rows,
};
use bochner_testkit::{Chance, Relative, assert_close, assert_same_bits};
use proptest::prelude::*;

use crate::hostile::forged;
use crate::table::engine;

type Counts = HashMap<String, f64>;

fn count(grams: impl IntoIterator<Item = String>) -> Counts {
    let mut counts = Counts::new();
    grams.into_iter().for_each(|gram| *counts.entry(gram).or_default() += 1.0);
    counts
}

fn windows(text: &str, k: usize) -> Vec<Vec<u8>> {
    text.as_bytes().windows(k).map(<[u8]>::to_vec).collect()
}

/// All words of so many letters.
fn all_words(alphabet: &[u8], length: usize) -> Vec<Vec<u8>> {
    (0..length).fold(vec![Vec::new()], |words, _| {
        words.iter().flat_map(|word| alphabet.iter().map(move |&c| [&word[..], &[c]].concat())).collect()
    })
}

/// Counts by the definition of each kind, written without regard to time.
fn naive(grams: &Grams, text: &str) -> Counts {
    let name = |bytes: &[u8]| format!("{bytes:?}");
    match grams {
        Grams::Spectrum { k } => count(windows(text, *k as usize).iter().map(|w| name(w))),
        Grams::Gapped { length, k } => {
            let (length, k) = (*length as usize, *k as usize);
            let patterns: Vec<u64> = (0..1u64 << length).filter(|p| p.count_ones() as usize == k).collect();
            count(windows(text, length).into_iter().flat_map(|window| {
                let gapped = |pattern: &u64| {
                    let kept = |at: usize| (pattern >> at & 1 == 1).then(|| window[at]);
                    format!("{:?}", (0..length).map(kept).collect::<Vec<_>>())
                };
                patterns.iter().map(gapped).collect::<Vec<_>>()
            }))
        }
        Grams::Mismatch { k, mismatches, alphabet } => {
            let words = all_words(alphabet.as_bytes(), *k as usize);
            let mut counts = Counts::new();
            for window in windows(text, *k as usize) {
                let is_other = |c: &u8| !alphabet.as_bytes().contains(c);
                // Letters outside the alphabet stay; the word has them where the window has them.
                let mut near = std::collections::HashSet::new();
                for word in &words {
                    let kept = |at: usize| if is_other(&window[at]) { window[at] } else { word[at] };
                    let word: Vec<u8> = (0..window.len()).map(kept).collect();
                    if word.iter().zip(&window).filter(|(a, b)| a != b).count() <= *mismatches as usize {
                        near.insert(word);
                    }
                }
                near.iter().for_each(|word| *counts.entry(name(word)).or_default() += 1.0);
            }
            counts
        }
        Grams::Characters { from, to } => {
            let characters: Vec<char> = text.chars().collect();
            count((*from..=*to).flat_map(|n| {
                characters.windows(n as usize).map(|w| w.iter().collect()).collect::<Vec<String>>()
            }))
        }
        Grams::Positional { from, to } => {
            let characters: Vec<char> = text.chars().collect();
            count((*from..=*to).flat_map(|n| {
                let runs = characters.windows(n as usize).enumerate();
                runs.map(|(at, run)| format!("{at}: {}", run.iter().collect::<String>())).collect::<Vec<_>>()
            }))
        }
        Grams::Words { from, to } => {
            let characters: Vec<char> = text.replace('’', "'").chars().collect();
            let is_letter = |at: usize| characters.get(at).is_some_and(|c| c.is_alphanumeric());
            let mut apart = String::new();
            for (at, c) in characters.iter().enumerate() {
                match c {
                    c if c.is_alphanumeric() => apart.extend(c.to_lowercase()),
                    '\'' if at > 0 && is_letter(at - 1) && is_letter(at + 1) => apart.push('\''),
                    _ => apart.push(' '),
                }
            }
            let words: Vec<&str> = apart.split(' ').filter(|word| !word.is_empty()).collect();
            count(
                (*from..=*to)
                    .flat_map(|n| words.windows(n as usize).map(|w| w.join(" ")).collect::<Vec<String>>()),
            )
        }
        _ => unreachable!("no other grams"),
    }
}

fn inner(a: &Counts, b: &Counts) -> f64 {
    a.iter().map(|(gram, count)| count * b.get(gram).unwrap_or(&0.0)).sum()
}

fn kinds() -> Vec<Grams> {
    let mismatch =
        |k, mismatches, alphabet: &str| Grams::Mismatch { k, mismatches, alphabet: alphabet.to_owned() };
    vec![
        Grams::Spectrum { k: 1 },
        Grams::Spectrum { k: 3 },
        Grams::Gapped { length: 5, k: 3 },
        Grams::Gapped { length: 3, k: 3 },
        Grams::Gapped { length: 4, k: 1 },
        Grams::Gapped { length: 17, k: 16 },
        Grams::Gapped { length: 16, k: 15 },
        mismatch(3, 1, "ACGT"),
        mismatch(4, 2, "ACGT"),
        mismatch(3, 3, "AC"),
        mismatch(2, 0, "ACGT"),
        Grams::Characters { from: 1, to: 3 },
        Grams::Positional { from: 1, to: 3 },
        Grams::Words { from: 1, to: 2 },
        Grams::Words { from: 2, to: 3 },
    ]
}

const TEXTS: [&str; 12] = [
    "ACGTACGGTTAACCGTA",
    "ACGNNACGTacgt",
    "TTTTTTTT",
    "AC",
    "",
    "été à l'été, ’tis the Été!",
    "Don't; don’t 'quote' it. It's 3.14 — İstanbul ΣΑΣ",
    "日本語のテキスト 日本",
    "  spaces\tand\nlines  ",
    "🦀🦀 crab 🦀",
    "A",
    "GTAACCGTACGTACGGT",
];

#[test]
fn exact_values_are_those_of_naive_counts() {
    for grams in kinds() {
        let sequence = Sequence::new(grams.clone());
        let counts: Vec<Counts> = TEXTS.iter().map(|text| naive(&grams, text)).collect();
        for (a, x) in TEXTS.iter().zip(&counts) {
            for (b, y) in TEXTS.iter().zip(&counts) {
                let off = sequence.exact(a, b).unwrap() - inner(x, y);
                assert!(off.abs() <= 0.0, "{sequence} of {a:?} and {b:?}: off by {off}");
            }
        }
    }
}

proptest! {
    #[test]
    fn exact_values_are_those_of_naive_counts_for_any_text(
        a in "[ACGT]{0,30}|[ -~éß’İ日]{0,20}", b in "[ACGTN]{0,30}|[ -~éß’İ日]{0,20}", kind in 0usize..14
    ) {
        let grams = kinds()[kind].clone();
        let exact = Sequence::new(grams.clone()).exact(&a, &b).unwrap();
        prop_assert!((exact - inner(&naive(&grams, &a), &naive(&grams, &b))).abs() <= 0.0);
    }
}

/// In so many columns, nearly every gram has its own.
fn wide(grams: Grams) -> Sequence {
    Sequence { width: 1 << 20, nonzeros: 1, seed: 3, ..Sequence::new(grams) }
}

fn texts(all: &[&str]) -> TextColumn {
    all.iter().copied().collect()
}

/// In most of nine seeds no two grams of a pair of texts share a column.
#[test]
fn hashed_rows_have_the_exact_inner_products_where_nothing_collides() {
    for grams in kinds() {
        let sequence = wide(grams);
        let gram = |seed: u64| {
            let encoder = Sequence { seed, ..sequence.clone() }.build().unwrap();
            let rows = encoder.encode::<f64>(&engine(2), &texts(&TEXTS)).unwrap();
            Matrix::from_fn(TEXTS.len(), TEXTS.len(), |i, j| {
                Kernel::Linear.eval(&Rows::from(&rows), i, &Rows::from(&rows), j)
            })
        };
        let grams: Vec<Matrix<f64>> = (0..9).map(gram).collect();
        for (i, a) in TEXTS.iter().enumerate() {
            for (j, b) in TEXTS.iter().enumerate() {
                let exact = sequence.exact(a, b).unwrap();
                let equal = grams.iter().filter(|gram| gram.row(i)[j].total_cmp(&exact).is_eq()).count();
                assert!(equal >= 5 || exact == 0.0, "{sequence} of {a:?} and {b:?}: {exact} {equal} times");
            }
        }
    }
}

#[test]
fn rows_have_length_one_where_asked_and_texts_without_grams_are_zero() {
    let sequence = Sequence { normalise: true, ..Sequence::new(Grams::Spectrum { k: 3 }) };
    let encoder = sequence.build().unwrap();
    let rows = encoder.encode::<f64>(&engine(1), &texts(&TEXTS)).unwrap();
    let single = encoder.encode::<f32>(&engine(1), &texts(&TEXTS)).unwrap();
    for (i, text) in TEXTS.iter().enumerate() {
        let square: f64 = rows.view().row(i).1.iter().map(|z| z * z).sum();
        let expected = if text.len() < 3 { 0.0 } else { 1.0 };
        assert!((square - expected).abs() < 1e-14, "{text}");
        assert_eq!(rows.view().row(i).0, single.view().row(i).0);
        assert!((encoder.exact(text, text) - expected).abs() < 1e-14, "{text}");
    }
    assert!(encoder.exact("AC", "ACG") == 0.0);
}

#[test]
fn threads_do_not_matter() {
    let mut chance = Chance::new(5);
    let mut word = || (0..40).map(|_| ['A', 'C', 'G', 'T'][(chance.uniform() * 4.0) as usize]).collect();
    let words: Vec<String> = (0..1000).map(|_| word()).collect();
    let column: TextColumn = words.iter().map(String::as_str).collect();
    for sequence in [
        Sequence { tf_idf: true, normalise: true, ..Sequence::new(Grams::Gapped { length: 5, k: 3 }) },
        Sequence { nonzeros: 7, width: 1000, ..Sequence::new(Grams::Spectrum { k: 6 }) },
    ] {
        let encoded = |threads| {
            let engine = engine(threads);
            sequence.fit(&engine, &column, None).unwrap().encode::<f32>(&engine, &column).unwrap()
        };
        assert_eq!(encoded(1), encoded(3));
    }
}

/// Asks to stop when it is asked for the last time that it allows.
struct StopAfter(std::sync::atomic::AtomicUsize);

impl bochner::Observer for StopAfter {
    fn event(&self, _: &bochner::Event<'_>) -> std::ops::ControlFlow<()> {
        use std::sync::atomic::Ordering::SeqCst;
        let left = self.0.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1));
        if left.is_ok() { std::ops::ControlFlow::Continue(()) } else { std::ops::ControlFlow::Break(()) }
    }
}

#[test]
fn an_observer_can_stop_the_reading_of_texts() {
    let stopping = |looks: usize| {
        let observer: std::sync::Arc<dyn bochner::Observer> = std::sync::Arc::new(StopAfter(looks.into()));
        bochner::EngineSpec { threads: 2, observer: Some(observer), ..Default::default() }.build()
    };
    // 16 pieces of 256 texts are one step, and there are three.
    let column: TextColumn = (0..3 * 16 * 256).map(|i| if i % 2 == 0 { "ACGTA" } else { "" }).collect();
    let plain = Sequence::new(Grams::Spectrum { k: 2 });
    let encoder = plain.build().unwrap();
    assert_eq!(encoder.encode::<f32>(&stopping(3), &column).unwrap().view().starts().len(), 1 + column.len());
    assert!(matches!(encoder.encode::<f32>(&stopping(2), &column), Err(Error::Interrupted)));
    let weighted = Sequence { tf_idf: true, ..plain };
    assert!(weighted.fit(&stopping(3), &column, None).is_ok());
    assert!(matches!(weighted.fit(&stopping(2), &column, None), Err(Error::Interrupted)));
}

/// √(2/m) where s divides m, and the sum over blocks where it does not.
#[test]
fn the_deviation_of_hashing_is_that_of_its_blocks() {
    let of =
        |width, nonzeros| Sequence { width, nonzeros, ..Sequence::new(Grams::Spectrum { k: 2 }) }.deviation();
    assert_close(&[of(4096, 4)], &[(2.0f64 / 4096.0).sqrt()], Relative(1e-15));
    // Blocks of 3, 3 and 4 rows.
    let expected = (2.0 * (2.0f64 / 3.0 + 0.25)).sqrt() / 3.0;
    assert_close(&[of(10, 3)], &[expected], Relative(1e-15));
}

/// A kernel of rows is written again as it was for the table.
#[test]
fn a_bound_kernel_is_written_as_it_was() {
    let column = |name: &str, kind| ColumnInfo { name: name.to_owned(), kind };
    let table = [
        column("age", ColumnKind::Number),
        column("size", ColumnKind::Number),
        column("dna", ColumnKind::Text),
        column("note", ColumnKind::Text),
    ];
    let declared = [Declared { column: "note".to_owned(), sequence: "words".parse().unwrap() }];
    for (text, declared) in [
        ("normalised(spectrum(k=4)[dna])", &[][..]),
        ("normalised(spectrum(k=4)[dna]) + gaussian(sigma=1)[age]", &[]),
        ("spectrum(k=4)[dna]*spectrum(k=5)[dna] + linear[size,age] + constant", &[]),
        ("spectrum(k=4)[dna] + laplace(scale=1)[note] + chi2[size]", &declared[..]),
    ] {
        let kernel: Kernel = text.parse().unwrap();
        let table = TableProfile::new(&table);
        let Inputs { columns, kernel: bound, .. } = inputs(Some(&kernel), &table, &[], declared, 3).unwrap();
        let bound = bound.unwrap();
        assert!(bound != kernel, "{bound}");
        assert_eq!(bound.written(&columns), kernel, "{bound}");
    }
}

/// idf = ln((1 + n)/(1 + df)) + 1, scikit-learn's smooth one, to 24 bits.
#[test]
fn tf_idf_is_the_plain_formula() {
    let documents = ["the cat sat", "the cat ate the rat", "a dog", "", "the dog sat", "the end"];
    let grams = Grams::Words { from: 1, to: 2 };
    let counts: Vec<Counts> = documents.iter().map(|text| naive(&grams, text)).collect();
    let idf = |gram: &String| {
        let df = counts.iter().filter(|counts| counts.contains_key(gram)).count() as f64;
        ((1.0 + documents.len() as f64) / (1.0 + df)).ln() + 1.0
    };
    let weigh = |text: &str| -> Counts {
        naive(&grams, text).into_iter().map(|(gram, count)| (gram.clone(), count * idf(&gram))).collect()
    };
    let sequence = Sequence { tf_idf: true, ..wide(grams.clone()) };
    let encoder = sequence.fit(&engine(2), &texts(&documents), None).unwrap();
    let tried = ["the cat sat", "a new dog sat", "the the the", "", "unheard of"];
    let rows = encoder.encode::<f64>(&engine(2), &texts(&tried)).unwrap();
    let rows = Rows::from(&rows);
    for (i, a) in tried.iter().enumerate() {
        for (j, b) in tried.iter().enumerate() {
            let expected = inner(&weigh(a), &weigh(b));
            assert_close(&[Kernel::Linear.eval(&rows, i, &rows, j)], &[expected], Relative(3e-7));
            assert_close(&[encoder.exact(a, b)], &[expected], Relative(3e-7));
        }
    }
    let error = sequence.build().unwrap_err().to_string();
    assert!(error.contains("fit it to texts"), "{error}");
}

#[test]
fn repeating_a_text_equals_weighting_it_and_counts_merge() {
    let grams = Grams::Words { from: 1, to: 1 };
    let read = |all: &[&str], weights: Option<&[f64]>| {
        let mut documents = Documents::default();
        documents.absorb(&engine(2), &grams, &texts(all), weights).unwrap();
        documents
    };
    let repeated = read(&["a b", "c", "c", "c", "a"], None);
    assert_eq!(repeated, read(&["a b", "c", "d", "a"], Some(&[1.0, 3.0, 0.0, 1.0])));
    let mut merged = read(&["a b", "c"], None);
    merged.merge(&read(&["c", "c", "a"], None));
    assert_eq!(merged, repeated);
    let mut documents = Documents::default();
    let wrong = documents.absorb(&engine(1), &grams, &texts(&["a"]), Some(&[-1.0]));
    assert!(matches!(wrong, Err(Error::NegativeWeight { row: 0, .. })));
    assert!(documents.absorb(&engine(1), &grams, &texts(&["a"]), Some(&[])).is_err());
    assert!(documents.absorb(&engine(1), &grams, &texts(&["a"]), Some(&[f64::NAN])).is_err());
}

#[test]
fn parameters_outside_their_domains_are_refused() {
    for (text, expected) in [
        ("spectrum(k=0)", "expected k to be between 1 and 64, found 0"),
        ("spectrum(k=65)", "found 65"),
        ("spectrum(k=2.5)", "a whole number"),
        ("spectrum", "expected k=…"),
        ("gapped(length=4,k=5)", "expected k to be between 1 and the length"),
        ("gapped(length=40,k=20)", "expected the grams of one window to be at most 10,000, found 1.378e11"),
        ("mismatch(k=3,m=4)", "expected m to be between 0 and k"),
        ("mismatch(k=20,m=5)", "at most 10,000"),
        ("mismatch(k=3,alphabet=\"AA\")", "two different letters of ASCII, found \"AA\""),
        ("mismatch(k=3,alphabet=\"é\")", "letters of ASCII"),
        ("mismatch(k=3,alphabet=3)", "alphabet=\"…\", a text in quotation marks"),
        ("mismatch(k=\"3\")", "expected k=…, one number"),
        ("characters(from=3,to=2)", "expected to to be between from and 64"),
        ("words(from=0)", "expected from to be"),
        ("words(tf_idf=2)", "expected tf_idf to be 0 or 1, found 2"),
        ("words(width=0)", "expected width to be"),
        ("words(width=9999999)", "expected width to be"),
        ("words(width=3)", "expected nonzeros to be between 1 and 64, and no more than the width, found 4"),
        ("words[a,b]", "expected the column of a sequence kernel to be one, by its name"),
        ("words[3]", "one, by its name"),
        ("words[0..4]", "one, by its name"),
    ] {
        let found = text.parse::<Kernel>().unwrap_err().to_string();
        assert!(found.contains(expected), "{text}: {found}");
    }
}

#[test]
fn kernels_of_texts_are_written_and_read_back() {
    for (text, canonical) in [
        ("spectrum(k=5)[sequence]", "spectrum(k=5)[sequence]"),
        ("spectrum(width=4096,nonzeros=4,k=5,tf_idf=0)", "spectrum(k=5)"),
        (
            "gapped(k=4, length=7, width=100, nonzeros=2)[\"my dna\"]",
            "gapped(length=7,k=4,width=100,nonzeros=2)[\"my dna\"]",
        ),
        ("mismatch(k=5,alphabet=\"ACGT\")", "mismatch(k=5,m=1)"),
        ("mismatch(k=5,m=0,alphabet=\"A\\\"\\\\\")", "mismatch(k=5,m=0,alphabet=\"A\\\"\\\\\")"),
        ("characters(from=2)", "characters(from=2,to=2)"),
        ("words", "words(from=1,to=1)"),
        (
            "0.5*normalised(words(from=1,to=2,tf_idf=1)[text]) + linear[age]",
            "0.5*normalised(words(from=1,to=2,tf_idf=1)[text]) + linear[age]",
        ),
        ("(words + spectrum(k=2))[text]", "words(from=1,to=1)[text] + spectrum(k=2)[text]"),
    ] {
        let kernel: Kernel = text.parse().unwrap();
        assert_eq!(kernel.to_string(), canonical);
        assert_eq!(canonical.parse::<Kernel>().unwrap(), kernel);
        let json = serde_json::to_string(&kernel).unwrap();
        assert_eq!(serde_json::from_str::<Kernel>(&json).unwrap(), kernel);
    }
    let sequence: Sequence = "mismatch(k=4,m=1,width=512)".parse().unwrap();
    assert!(sequence.normalise);
    assert_eq!(sequence.to_string(), "mismatch(k=4,m=1,width=512)");
    let json = serde_json::to_string(&sequence).unwrap();
    assert_eq!(serde_json::from_str::<Sequence>(&json).unwrap(), sequence);
}

#[test]
fn arrays_have_no_texts() {
    let x = Matrix::<f64>::zeros(3, 2);
    for text in ["spectrum(k=3)[dna]", "spectrum(k=3)", "linear + 2*words[dna]", "normalised(words)"] {
        let kernel: Kernel = text.parse().unwrap();
        let errors = [
            kernel.gram(&Engine::default(), &Rows::from(&x), &Rows::from(&x)).unwrap_err(),
            MapSpec::auto(kernel.clone()).build(2).unwrap_err(),
            MapSpec::landmarks(kernel.clone()).check_for(2).unwrap_err(),
        ];
        for error in errors {
            let error = error.to_string();
            assert!(error.contains("of rows of numbers is not possible: it compares the texts"), "{error}");
            assert!(error.contains("fit to a table that has it as text"), "{error}");
        }
    }
    let error = "words[dna]".parse::<Kernel>().unwrap().bind(&["dna".to_owned()]).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
}

/// A table in memory.
struct Tables {
    columns: Vec<ColumnInfo>,
    table: Table,
}

struct Once<'a>(Option<&'a Table>);

impl TableSource for Tables {
    fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    fn open<'a>(&'a self, _: &'a Engine) -> Result<Box<dyn TableReader + 'a>> {
        Ok(Box::new(Once(Some(&self.table))))
    }
}

impl TableReader for Once<'_> {
    fn next(&mut self, most: usize) -> Result<Option<Table>> {
        Ok(self.0.take().inspect(|table| assert!(table.rows <= most)).cloned())
    }

    fn fraction(&self) -> Option<f64> {
        None
    }
}

fn info(name: &str, kind: ColumnKind) -> ColumnInfo {
    ColumnInfo { name: name.to_owned(), kind }
}

/// age, dna, kind, note, zero: two kinds that differ in what follows TATA, and in age.
fn tables(rows: usize, seed: u64) -> Tables {
    let mut chance = Chance::new(seed);
    let (mut age, mut dna, mut kind, mut note) =
        (vec![], TextColumn::default(), TextColumn::default(), TextColumn::default());
    for i in 0..rows {
        let which = chance.uniform() < 0.5;
        let mut letters: String =
            (0..60).map(|_| ['A', 'C', 'G', 'T'][(chance.uniform() * 4.0) as usize]).collect();
        letters.replace_range(20..28, if which { "TATAACGT" } else { "TATAGGCA" });
        dna.push(&letters);
        kind.push(if which { "yes" } else { "no" });
        note.push(&format!("Row {i}, or so"));
        age.push(20.0 + 3.0 * chance.normal() + f64::from(u8::from(which)));
    }
    let columns = vec![
        info("age", ColumnKind::Number),
        info("dna", ColumnKind::Text),
        info("kind", ColumnKind::Text),
        info("note", ColumnKind::Text),
        info("zero", ColumnKind::Number),
    ];
    let data = vec![
        Column::Number(age),
        Column::Text(dna),
        Column::Text(kind),
        Column::Text(note),
        Column::Number(vec![0.0; rows]),
    ];
    Tables { columns, table: Table { rows, columns: data, first_row: 0 } }
}

fn bound(kernel: &str, declared: &[(&str, &str)]) -> Result<(Columns, Kernel)> {
    let declared: Vec<Declared> = declared
        .iter()
        .map(|(column, text)| Declared { column: (*column).to_owned(), sequence: text.parse().unwrap() })
        .collect();
    let kernel: Kernel = kernel.parse().unwrap();
    let table = TableProfile::new(&tables(1, 0).columns);
    let Inputs { columns, kernel, .. } = inputs(Some(&kernel), &table, &["kind"], &declared, 7)?;
    Ok((columns, kernel.unwrap()))
}

#[test]
fn kernels_are_bound_to_the_columns_of_their_texts() {
    let numbers_of = |columns: &Columns| {
        let numbers = columns.inputs().iter().filter(|input| input.as_text().is_none());
        numbers.map(|input| input.name.clone()).collect::<Vec<_>>()
    };
    for (kernel, declared, expected, numbers) in [
        // Alone, the linear kernel of all columns; numbers that nothing looks at are left out.
        ("spectrum(k=3)[dna]", &[][..], "linear", &[][..]),
        ("normalised(spectrum(k=3)[dna])", &[], "normalised(linear)", &[]),
        (
            "spectrum(k=3,width=100)[dna] + gaussian(sigma=2)[age]",
            &[],
            "linear[1..101] + gaussian(sigma=2)[0]",
            &["age"],
        ),
        // One column twice, with one range for equal kernels and two for different ones.
        (
            "spectrum(k=3,width=100)[dna] + 2*words(width=50)[note]*spectrum(k=3,width=100)[dna] + spectrum(k=2,width=8)[dna]",
            &[],
            "linear[0..100] + 2*linear[100..150]*linear[0..100] + linear[150..158]",
            &[],
        ),
        // A kernel without columns looks at numbers and declared texts.
        (
            "words(width=50)[note] + gaussian(sigma=1)",
            &[],
            "linear[2..52] + gaussian(sigma=1)[0..2]",
            &["age", "zero"],
        ),
        ("gaussian(sigma=1)", &[("dna", "spectrum(k=3,width=100)")], "gaussian(sigma=1)", &["age", "zero"]),
        (
            "words(width=50)[note] + weighted(norm,linear) + constant",
            &[("dna", "spectrum(k=3,width=100)")],
            "linear[102..152] + weighted(norm[0..102],linear[0..102]) + constant",
            &["age", "zero"],
        ),
        // A declared text by its name.
        ("gaussian(sigma=0.7)[dna]", &[("dna", "spectrum(k=3)")], "gaussian(sigma=0.7)", &[]),
        (
            "laplace(scale=2)[dna,age] + weighted(decay[dna],linear[age])",
            &[("dna", "spectrum(k=3,width=100)")],
            "laplace(scale=2)[1..101,0] + weighted(decay[1..101],linear[0])",
            &["age"],
        ),
        // Numbers count the columns of numbers.
        ("words(width=50)[note] + linear[1]", &[], "linear[2..52] + linear[1]", &["age", "zero"]),
    ] {
        let (columns, kernel) = bound(kernel, declared).unwrap();
        assert_eq!(kernel.to_string(), expected);
        assert_eq!(numbers_of(&columns), numbers, "{expected}");
        kernel.check(columns.count()).unwrap();
    }
    let (columns, _) = bound("words(width=8)[note] + words(width=8,tf_idf=1)[dna]", &[]).unwrap();
    let texts: Vec<_> = columns.inputs().iter().filter_map(|input| input.as_text()).collect();
    assert_eq!((texts[0].sequence.seed, texts[0].sequence.normalise), (7, false));
    assert_ne!(texts[1].sequence.seed, 7, "each text is hashed in its own way");
}

#[test]
fn texts_that_cannot_be_are_refused_with_a_way_out() {
    for (kernel, declared, expected) in [
        ("spectrum(k=3)[dan]", &[][..], "did you mean \"dna\"?"),
        ("spectrum(k=3)[age]", &[], "expected texts in column \"age\", found numbers"),
        ("spectrum(k=3)[kind]", &[], "it is the target, or left out"),
        ("spectrum(k=3)", &[], "name the column, as in spectrum(k=5)[sequence]"),
        (
            "words[note] + gaussian(sigma=1)[dna]",
            &[],
            "expected numbers in column \"dna\", found texts; say how it becomes numbers",
        ),
        ("words[note] + gaussian(sigma=1)[aeg]", &[], "did you mean \"age\"?"),
        ("words[note] + gaussian(sigma=1)[2]", &[], "expected a column below 2, found 2"),
        ("linear[age]", &[("dna", "spectrum(k=3)")], "no part of the kernel looks at it"),
        ("linear", &[("dna", "spectrum(k=3)"), ("dna", "spectrum(k=4)")], "two for \"dna\""),
        ("linear", &[("age", "spectrum(k=3)")], "found numbers"),
    ] {
        let error = bound(kernel, declared).unwrap_err().to_string();
        assert!(error.contains(expected), "{kernel}: {error}");
    }
    let only = [info("dna", ColumnKind::Text)];
    let kernel: Kernel = "spectrum(k=3)[dna] + gaussian(sigma=1)".parse().unwrap();
    let error = inputs(Some(&kernel), &TableProfile::new(&only), &[], &[], 0).unwrap_err().to_string();
    assert!(
        error.contains("gaussian(sigma=1) without columns is not possible: there are texts only"),
        "{error}"
    );
}

fn fit(auto: &Auto, threads: usize, declared: &[Declared]) -> Result<Model> {
    let (engine, tables) = (engine(threads), tables(300, 1));
    let (auto, inputs) = auto.inputs(&TableProfile::of(&tables), &["kind"], declared)?;
    let columns = inputs.columns.fit(&engine, &tables)?;
    let labels = Labels::new(LabelKind::Text, vec!["no".to_owned(), "yes".to_owned()]);
    let rows = TableRows::new(&engine, &tables, columns.clone(), "kind", Some(labels), Some(300))?;
    auto.fit(&engine, &rows)?.with_names(columns, "kind")
}

fn auto(kernel: &str) -> Auto {
    Auto {
        kernel: KernelChoice::Given(kernel.parse().unwrap()),
        features: Some(300),
        seed: 5,
        ..Auto::default()
    }
}

fn wrong(model: &Model, engine: &Engine) -> usize {
    let test = tables(200, 2);
    let outputs = model.decide_table(engine, &test.table, &test.columns).unwrap();
    let Column::Text(truth) = &test.table.columns[2] else { panic!("no text") };
    model
        .classes(&outputs)
        .iter()
        .zip(truth.iter())
        .filter(|(class, truth)| **class != usize::from(*truth == "yes"))
        .count()
}

fn declared(text: &str) -> Vec<Declared> {
    vec![Declared { column: "dna".to_owned(), sequence: text.parse().unwrap() }]
}

#[test]
fn models_of_texts_are_saved_loaded_and_the_same_for_any_number_of_threads() {
    let svm = Auto {
        loss: Loss::margins(bochner::solve::Hinge::Plain),
        ..auto("spectrum(k=4,width=512,tf_idf=1)[dna]")
    };
    let given = Auto { lambda: Lambda::Given { value: 1e-3 }, ..auto("linear") };
    let landmarks =
        Auto { method: Some(Method::LANDMARKS), features: Some(100), ..auto("gaussian(sigma=1)[dna]") };
    for (auto, declared) in [
        (auto("spectrum(k=4,width=512)[dna]"), vec![]),
        (auto("normalised(gapped(length=6,k=4,width=512)[dna]) + gaussian(sigma=2)[age]"), vec![]),
        (
            auto("spectrum(k=4,width=512,tf_idf=1)[dna] + words(tf_idf=1,width=64)[note] + linear[age,zero]"),
            vec![],
        ),
        (svm, vec![]),
        (given, declared("spectrum(k=4,width=512,tf_idf=1)")),
        (auto("gaussian(sigma=1)[dna]"), declared("spectrum(k=4,width=512)")),
        (landmarks, declared("mismatch(k=4,m=1,width=512)")),
        (Auto { features: Some(128), ..Auto::default() }, declared("spectrum(k=4,width=256)")),
    ] {
        let model = fit(&auto, 1, &declared).unwrap();
        let bytes = model.to_bytes().unwrap();
        assert_eq!(bytes, fit(&auto, 3, &declared).unwrap().to_bytes().unwrap(), "{auto:?}");
        let loaded = Model::from_bytes(&bytes).unwrap();
        assert_eq!(loaded.encoder(), model.encoder());
        assert_eq!(loaded.to_bytes().unwrap(), bytes);
        let test = tables(50, 3);
        let predict = |model: &Model| model.decide_table(&engine(2), &test.table, &test.columns).unwrap();
        assert_same_bits(predict(&model).as_slice(), predict(&loaded).as_slice());
        let errors = wrong(&loaded, &engine(2));
        assert!(errors < 60, "{errors} of 200 wrong: {auto:?}");
    }
}

/// Numbers beside texts are brought to mean 0 and deviation 1, and hashed columns stay as they are.
#[test]
fn numbers_are_scaled_and_hashed_columns_are_not() {
    let model = fit(&auto("spectrum(k=2,width=64)[dna] + gaussian(sigma=1)[age]"), 1, &[]).unwrap();
    let scaling = model.encoder().scaling().unwrap();
    assert_eq!((scaling.shift().len(), scaling.factor().len()), (1, 65));
    assert!((scaling.shift()[0] - 20.5).abs() < 1.0 && scaling.factor()[0] < 0.5);
    assert!(scaling.factor()[1..].iter().all(|factor| (factor - 1.0).abs() <= 0.0));
    // A stored row and one whose number is zero.
    let rows = Csr::new(65, vec![0, 2, 3], vec![0, 5, 5], vec![21.0, 2.0, 3.0]).unwrap();
    let scaled = scaling.rows::<f64, f64>(&Rows::from(&rows));
    let value = |x: f64| (x - scaling.shift()[0]) * scaling.factor()[0];
    assert!(scaled.view().entries(0).eq([(0, value(21.0)), (5, 2.0)]));
    assert!(scaled.view().entries(1).eq([(0, value(0.0)), (5, 3.0)]));
    assert!(fit(&auto("spectrum(k=2,width=64)[dna]"), 1, &[]).unwrap().encoder().scaling().is_none());
}

#[test]
fn forged_files_with_texts_are_refused() {
    let bytes =
        fit(&auto("spectrum(k=4,width=64,tf_idf=1)[dna] + linear[age]"), 1, &[]).unwrap().to_bytes().unwrap();
    let refused = |from: &str, to: &str| Model::from_bytes(&forged(&bytes, from, to)).unwrap_err();
    let sequence = "\"width\":64,\"nonzeros\":4";
    for (from, to) in [
        ("\"k\":4", "\"k\":0"),
        ("\"k\":4", "\"k\":4000000000"),
        (sequence, "\"width\":64,\"nonzeros\":0"),
        (sequence, "\"width\":18446744073709551615,\"nonzeros\":4"),
        (sequence, "\"width\":63,\"nonzeros\":4"),
        ("\"inputs\":2", "\"inputs\":3"),
        ("\"inputs\":2", "\"inputs\":18446744073709551615"),
        ("\"categories\":0", "\"categories\":1"),
        ("\"categories\":0", "\"categories\":18446744073709551615"),
        ("\"format\":2", "\"format\":1"),
        ("\"tf_idf\":true", "\"tf_idf\":false,\"x\":1"),
    ] {
        let error = refused(from, to);
        assert!(!error.to_string().is_empty(), "{from} → {to}");
    }
    assert!(matches!(
        refused(sequence, "\"width\":63,\"nonzeros\":4"),
        Error::ModelFile(FileError::Mismatch { what: "columns", .. })
    ));
    // Without tf–idf the counts are of no use, and nothing is made of them.
    assert!(Model::from_bytes(&forged(&bytes, "\"tf_idf\":true", "\"tf_idf\":false")).is_ok());
    let unbound = "{\"kind\":\"sequence\",\"grams\":{\"kind\":\"spectrum\",\"k\":3},\"tf_idf\":false,\"width\":8,\"nonzeros\":1}";
    let linear = "{\"kind\":\"linear\"}";
    let error = Model::from_bytes(&forged(&bytes, linear, unbound)).unwrap_err();
    assert!(!error.to_string().is_empty());
    // A text that was plain asks for counts that are not there.
    let plain = fit(&auto("spectrum(k=4,width=64)[dna]"), 1, &[]).unwrap().to_bytes().unwrap();
    let error = Model::from_bytes(&forged(&plain, "\"tf_idf\":false", "\"tf_idf\":true")).unwrap_err();
    assert!(matches!(error, Error::ModelFile(FileError::Tensor { name: "texts.totals", .. })), "{error}");
    // Counts that are none.
    for wrong in [-1.0, 1e9] {
        let mut counts = vec![0.0; Documents::SLOTS];
        counts[7] = wrong;
        assert!(Documents::from_parts(10.0, counts).is_err());
    }
    assert!(Documents::from_parts(f64::NAN, vec![0.0; Documents::SLOTS]).is_err());
    assert!(Documents::from_parts(1.0, vec![0.0; 3]).is_err());
}

/// Kernels and maps on a wide range of sparse columns are those of the same rows with all their zeros.
#[test]
fn wide_ranges_of_sparse_rows_are_sliced() {
    let mut chance = Chance::new(9);
    let dense = Matrix::from_fn(20, 300, |_, _| if chance.uniform() < 0.1 { chance.uniform() } else { 0.0 });
    let mut sparse = Csr::empty(300);
    for i in 0..20 {
        let entries = dense.row(i).iter().enumerate().filter(|(_, x)| **x != 0.0);
        sparse.push_row(entries.map(|(j, x)| (j as u32, *x)));
    }
    let (dense, sparse) = (Rows::from(&dense), Rows::from(&sparse));
    for text in [
        "linear[30..230]",
        "gaussian(sigma=1)[30..230]",
        "gaussian(sigma=1)[3,30..230]*laplace(scale=20)[250..300]",
        "laplace(scale=9)[0..100] + linear[100..300]",
        "exponential(scale=3)[230..300,5..20]",
        "matern(nu=1.5,scale=3)[0..64]",
        "cauchy(scale=4)[200..300]",
        "chi2[30..230]",
        "intersection[30..230]",
        "poly(degree=2,c=1)[200..300]",
        "arc_cosine(order=1)[10..210]",
        "weighted(inverse_norm[10..210],linear[10..210])",
        "normalised(linear[10..210])",
    ] {
        let kernel: Kernel = text.parse().unwrap();
        let (a, b) = (
            kernel.gram(&Engine::default(), &dense, &dense).unwrap(),
            kernel.gram(&Engine::default(), &sparse, &sparse).unwrap(),
        );
        bochner_testkit::assert_close(a.as_slice(), b.as_slice(), bochner_testkit::Absolute(1e-12));
        for i in 0..20 {
            let (x, y) = (kernel.eval(&dense, i, &dense, 3), kernel.eval(&sparse, i, &sparse, 3));
            assert!((x - y).abs() < 1e-12, "{text}");
        }
        let map = MapSpec { features: 64, ..MapSpec::auto(kernel) }.build(300).unwrap();
        let (a, b) =
            (map.transform(&engine(1), &dense).unwrap(), map.transform(&engine(1), &sparse).unwrap());
        bochner_testkit::assert_close(a.as_slice(), b.as_slice(), bochner_testkit::Absolute(1e-12));
    }
}
