//! How columns are encoded, as tensors: there may be a million of them, and as many levels.
//!
//! ```text
//! columns.bytes, columns.ends   names                                   n
//! columns.kinds                 kind and flags, a byte each             n × 2
//! columns.numbers               fill, least, most                       one row for each number that has them
//! columns.quantiles, .robust    what becomes of numbers                 one row for each number that is scaled so
//! columns.origins, .fills       earliest, what stands for a missing one one for each date
//! levels.counts, .bytes, .ends  how many, and their names               one for each category, each level
//! targets.counts, .hashes       how many, and their hashes              one for each category of many levels, each level
//! targets.values                means of the outputs, ln frequency      one row for each level, and one for new ones
//! texts.totals, texts.counts    what tf–idf was fitted to               one for each text that has it
//! ```

use safetensors::tensor::Dtype;

use super::read::{File, array};
use super::{ColumnsMeta, FileError, Tensor};
use crate::encode::{
    BooleanEncoding, CategoryEncoding, Columns, Curve, DateEncoding, Documents, Encoding, Input, KNOTS,
    NumberEncoding, Sequence, TargetEncoding,
};
use crate::table::ColumnKind;
use crate::{Error, Matrix, Result};

/// The number of a category that is encoded by the target.
const TARGET: u8 = 5;

/// Numbers of the kinds.
const KINDS: [ColumnKind; 5] =
    [ColumnKind::Number, ColumnKind::Boolean, ColumnKind::Category, ColumnKind::Date, ColumnKind::Text];

/// Missing cells have a column.
const INDICATOR: u8 = 1;
/// A number: there is something that stands for a missing one. A category: other levels share a column.
const FILLED: u8 = 2;
/// A number: texts have a decimal comma. A date: the day stands first.
const WRITTEN: u8 = 4;
/// A date has columns for its month, weekday, hour.
const MONTH: u8 = 8;
const WEEKDAY: u8 = 16;
const HOUR: u8 = 32;
/// A number becomes a quantile, is squashed.
const QUANTILE: u8 = 64;
const ROBUST: u8 = 128;

fn flag(is: bool, flag: u8) -> u8 {
    if is { flag } else { 0 }
}

fn flags(encoding: &Encoding) -> u8 {
    match encoding {
        Encoding::Number(number) => {
            flag(number.indicator, INDICATOR)
                | flag(number.range.is_some(), FILLED)
                | flag(number.decimal_comma, WRITTEN)
                | match number.curve {
                    Curve::None => 0,
                    Curve::Quantile { .. } => QUANTILE,
                    Curve::Robust { .. } => ROBUST,
                }
        }
        Encoding::Boolean(boolean) => flag(boolean.indicator, INDICATOR),
        Encoding::Category(category) => flag(category.indicator, INDICATOR) | flag(category.pooled, FILLED),
        Encoding::Date(date) => {
            flag(date.indicator, INDICATOR)
                | flag(date.day_first, WRITTEN)
                | flag(date.month, MONTH)
                | flag(date.weekday, WEEKDAY)
                | flag(date.hour, HOUR)
        }
        Encoding::Target(_) | Encoding::Text(_) => 0,
    }
}

/// The number of an encoding.
fn code(encoding: &Encoding) -> u8 {
    let place = KINDS.iter().position(|kind| *kind == encoding.kind()).unwrap_or(KINDS.len());
    if let Encoding::Target(_) = encoding { TARGET } else { place as u8 }
}

fn targets(inputs: &[Input]) -> impl Iterator<Item = &TargetEncoding> {
    inputs.iter().filter_map(|input| match &input.encoding {
        Encoding::Target(target) => Some(target),
        _ => None,
    })
}

/// What stands in the metadata.
pub(super) fn meta(inputs: &[Input]) -> ColumnsMeta {
    let is_category = |input: &&Input| matches!(input.encoding, Encoding::Category(_));
    let texts = inputs.iter().filter_map(Input::as_text);
    ColumnsMeta::Encoded {
        inputs: inputs.len(),
        categories: inputs.iter().filter(is_category).count(),
        sequences: texts.map(|text| text.sequence.clone()).collect(),
        targets: targets(inputs).count(),
        target_width: targets(inputs).map(TargetEncoding::width).next().unwrap_or(0),
    }
}

/// Everything else; nothing where columns have no names.
pub(super) fn tensors(inputs: &[Input]) -> Vec<Tensor> {
    if inputs.is_empty() {
        return Vec::new();
    }
    let names: Vec<String> = inputs.iter().map(|input| input.name.clone()).collect();
    let mut list = Vec::from(Tensor::names("columns.bytes", "columns.ends", &names));
    let (mut kinds, mut numbers, mut origins, mut fills) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut counts, mut levels, mut documents) = (Vec::new(), Vec::new(), Vec::new());
    let (mut quantiles, mut robust): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    for Input { encoding, .. } in inputs {
        kinds.extend([code(encoding), flags(encoding)]);
        match encoding {
            Encoding::Number(number) => {
                numbers.extend(number.range.into_iter().flatten());
                match &number.curve {
                    Curve::None => {}
                    Curve::Quantile { knots } => quantiles.extend(knots),
                    Curve::Robust { centre, factor } => robust.extend([centre, factor]),
                }
            }
            Encoding::Boolean(_) | Encoding::Target(_) => {}
            Encoding::Category(category) => {
                counts.extend((category.levels.len() as u64).to_le_bytes());
                levels.extend(category.levels.iter().cloned());
            }
            Encoding::Date(date) => {
                origins.extend(date.origin.to_le_bytes());
                fills.push(date.fill);
            }
            Encoding::Text(text) => documents.extend(text.documents()),
        }
    }
    list.push(Tensor { name: "columns.kinds", dtype: Dtype::U8, shape: vec![inputs.len(), 2], bytes: kinds });
    if !numbers.is_empty() {
        list.push(Tensor::numbers("columns.numbers", vec![numbers.len() / 3, 3], &numbers));
    }
    if !quantiles.is_empty() {
        list.push(Tensor::numbers("columns.quantiles", vec![quantiles.len() / KNOTS, KNOTS], &quantiles));
    }
    if !robust.is_empty() {
        list.push(Tensor::numbers("columns.robust", vec![robust.len() / 2, 2], &robust));
    }
    if !fills.is_empty() {
        let (name, dtype, shape) = ("columns.origins", Dtype::I64, vec![fills.len()]);
        list.push(Tensor { name, dtype, shape, bytes: origins });
        list.push(Tensor::numbers("columns.fills", vec![fills.len()], &fills));
    }
    if !counts.is_empty() {
        let (name, dtype, shape) = ("levels.counts", Dtype::U64, vec![counts.len() / 8]);
        list.push(Tensor { name, dtype, shape, bytes: counts });
        list.extend(Tensor::names("levels.bytes", "levels.ends", &levels));
    }
    list.extend(target_tensors(inputs));
    if !documents.is_empty() {
        let totals: Vec<f64> = documents.iter().map(|fitted: &&Documents| fitted.total()).collect();
        let counts: Vec<f64> = documents.iter().flat_map(|fitted| fitted.counts()).copied().collect();
        let shape = vec![documents.len(), Documents::SLOTS];
        list.push(Tensor::numbers("texts.totals", vec![totals.len()], &totals));
        list.push(Tensor::numbers("texts.counts", shape, &counts));
    }
    list
}

/// The levels of categories that are encoded by the target.
fn target_tensors(inputs: &[Input]) -> Vec<Tensor> {
    let Some(width) = targets(inputs).map(TargetEncoding::width).next() else { return Vec::new() };
    let counts: Vec<u64> = targets(inputs).map(|target| target.levels() as u64).collect();
    let hashes: Vec<u64> = targets(inputs).flat_map(|target| &target.levels).copied().collect();
    let values: Vec<f64> = targets(inputs).flat_map(|target| target.values.as_slice()).copied().collect();
    let whole = |name, values: &[u64]| {
        let bytes = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        Tensor { name, dtype: Dtype::U64, shape: vec![values.len()], bytes }
    };
    vec![
        whole("targets.counts", &counts),
        whole("targets.hashes", &hashes),
        Tensor::numbers("targets.values", vec![hashes.len() + counts.len(), width], &values),
    ]
}

impl File<'_> {
    /// Columns that fill the width, of encodings that are sound.
    pub(super) fn encoded(
        &self,
        width: usize,
        inputs: usize,
        categories: usize,
        sequences: &[Sequence],
        (targets, target_width): (usize, usize),
    ) -> Result<Columns> {
        let wrong = |name, expected: &str, found: String| {
            Error::from(FileError::Tensor { name, expected: expected.to_owned(), found })
        };
        let names = self.names("columns.bytes", "columns.ends", inputs)?;
        let kinds = self.bytes("columns.kinds", Dtype::U8, &[inputs, 2])?;
        let count = |kind: u8, flag: u8| {
            kinds.chunks_exact(2).filter(|pair| pair[0] == kind && pair[1] & flag == flag).count()
        };
        let (filled, dates) = (count(0, FILLED), count(3, 0));
        let numbers = if filled > 0 { self.numbers("columns.numbers", &[filled, 3])? } else { Vec::new() };
        let rows = |name, count: usize, columns: usize| {
            if count > 0 { self.numbers(name, &[count, columns]) } else { Ok(Vec::new()) }
        };
        let quantiles = rows("columns.quantiles", count(0, QUANTILE), KNOTS)?;
        let robust = rows("columns.robust", count(0, ROBUST), 2)?;
        let (mut quantiles, mut robust) = (quantiles.chunks_exact(KNOTS), robust.chunks_exact(2));
        let (mut origins, mut fills) = (Vec::new(), Vec::new());
        if dates > 0 {
            let bytes = self.bytes("columns.origins", Dtype::I64, &[dates])?;
            origins = bytes.chunks_exact(8).map(|bytes| i64::from_le_bytes(array(bytes))).collect();
            fills = self.numbers("columns.fills", &[dates])?;
        }
        let mut levels = self.levels(categories)?.into_iter();
        let mut numbers = numbers.chunks_exact(3).map(|three| [three[0], three[1], three[2]]);
        let mut dates = origins.into_iter().zip(fills);
        let mut texts = self.text_encodings(sequences)?.into_iter();
        let mut targets = self.target_encodings(targets, target_width)?.into_iter();
        let mut columns = Vec::with_capacity(names.len());
        for (name, pair) in names.into_iter().zip(kinds.chunks_exact(2)) {
            let has = |flag: u8| pair[1] & flag != 0;
            let indicator = has(INDICATOR);
            let encoding = match KINDS.get(usize::from(pair[0])) {
                _ if pair[0] == TARGET => targets.next().map(Encoding::Target),
                Some(ColumnKind::Number) => {
                    let range = if has(FILLED) { numbers.next() } else { None };
                    let knots = if has(QUANTILE) { quantiles.next() } else { None };
                    let squash = if has(ROBUST) { robust.next() } else { None };
                    let curve = match (knots, squash) {
                        (Some(knots), _) => Curve::Quantile { knots: knots.to_vec() },
                        (_, Some(pair)) => Curve::Robust { centre: pair[0], factor: pair[1] },
                        _ => Curve::None,
                    };
                    let decimal_comma = has(WRITTEN);
                    Some(Encoding::Number(NumberEncoding { range, indicator, decimal_comma, curve }))
                }
                Some(ColumnKind::Boolean) => Some(Encoding::Boolean(BooleanEncoding { indicator })),
                Some(ColumnKind::Category) => levels.next().map(|levels| {
                    Encoding::Category(CategoryEncoding { levels, pooled: has(FILLED), indicator })
                }),
                Some(ColumnKind::Date) => dates.next().map(|(origin, fill)| {
                    let (month, weekday, hour) = (has(MONTH), has(WEEKDAY), has(HOUR));
                    let day_first = has(WRITTEN);
                    Encoding::Date(DateEncoding { origin, fill, month, weekday, hour, indicator, day_first })
                }),
                Some(ColumnKind::Text) => texts.next().map(Encoding::Text),
                _ => None,
            };
            let encoding = encoding.filter(Encoding::is_sound).ok_or_else(|| {
                wrong(
                    "columns.kinds",
                    "encodings of known kinds, with sound values",
                    format!("others for \"{name}\""),
                )
            })?;
            columns.push(Input { name, encoding });
        }
        let columns = Columns::Named { inputs: columns };
        let found = columns.count();
        if texts.next().is_some() || levels.next().is_some() || targets.next().is_some() {
            return Err(wrong(
                "columns.kinds",
                "as many categories and texts as the metadata say",
                "fewer".to_owned(),
            ));
        }
        if found != width {
            return Err(FileError::Mismatch { what: "columns", expected: width, found }.into());
        }
        Ok(columns)
    }

    /// What the levels of each category mean for the target.
    fn target_encodings(&self, count: usize, width: usize) -> Result<Vec<TargetEncoding>> {
        if count == 0 {
            return Ok(Vec::new());
        }
        let whole = |name, count: usize| -> Result<Vec<u64>> {
            let bytes = self.bytes(name, Dtype::U64, &[count])?;
            Ok(bytes.chunks_exact(8).map(|bytes| u64::from_le_bytes(array(bytes))).collect())
        };
        let counts = whole("targets.counts", count)?;
        let total = counts.iter().try_fold(0u64, |sum, count| sum.checked_add(*count));
        let total = total.and_then(|total| usize::try_from(total).ok()).unwrap_or(usize::MAX);
        let hashes = whole("targets.hashes", total)?;
        let values = self.numbers("targets.values", &[total.saturating_add(count), width])?;
        let (mut hashes, mut values) = (hashes.into_iter(), values.into_iter());
        let each = counts.into_iter().map(|levels| {
            // All of them are there.
            let levels = levels as usize;
            let values =
                Matrix::new(levels + 1, width, values.by_ref().take((levels + 1) * width).collect())?;
            Ok(TargetEncoding { levels: hashes.by_ref().take(levels).collect(), values, width, counted: 0 })
        });
        each.collect()
    }

    /// The levels of each category.
    fn levels(&self, categories: usize) -> Result<Vec<Vec<String>>> {
        if categories == 0 {
            return Ok(Vec::new());
        }
        let counts = self.bytes("levels.counts", Dtype::U64, &[categories])?.chunks_exact(8);
        let counts: Vec<u64> = counts.map(|bytes| u64::from_le_bytes(array(bytes))).collect();
        let total = counts.iter().try_fold(0u64, |sum, count| sum.checked_add(*count));
        let total = total.and_then(|total| usize::try_from(total).ok()).unwrap_or(usize::MAX);
        let mut names = self.names("levels.bytes", "levels.ends", total)?.into_iter();
        Ok(counts.iter().map(|&count| names.by_ref().take(count as usize).collect()).collect())
    }
}
