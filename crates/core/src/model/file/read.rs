//! From the tensors and the metadata of a file to a model: every size is checked against the file before memory is taken for it.

use bochner_simd::CELL_PRIME;
use safetensors::tensor::{Dtype, SafeTensors};

use super::{
    ColumnsMeta, FileError, HeadMeta, HeldOutMeta, MOST_REGENERATED, Meta, MetricMeta, PosteriorMeta,
    RootMeta, checksum, container, fingerprint,
};
use crate::certify::conformal::MOST_SCORES;
use crate::encode::{
    ADDED, Columns, Documents, Encoding, Input, Labels, Metric, NumberEncoding, Root, Scaling, Sequence,
    SequenceEncoder, TextEncoding,
};
use crate::map::{Binning, Bins, Landmarks};
use crate::model::{Head, HeldOut, Model, Posterior, Provenance};
use crate::{Encoder, Engine, Error, Map, Matrix, Method, Result};

impl Meta {
    /// Columns of the source: those of the map's rows without the ones that a metric adds.
    fn source_columns(&self) -> Result<usize> {
        let Some(MetricMeta { root: RootMeta::Added { kept, .. }, .. }) = self.metric else {
            return Ok(self.input_dim);
        };
        let columns =
            self.input_dim.checked_sub(kept).filter(|columns| *columns > 0 && (1..=ADDED).contains(&kept));
        columns.ok_or_else(|| {
            FileError::Mismatch {
                what: "columns beyond the added ones",
                expected: kept.saturating_add(1),
                found: self.input_dim,
            }
            .into()
        })
    }
}

/// A file that is being read.
pub(super) struct File<'a> {
    pub(super) tensors: SafeTensors<'a>,
}

impl<'a> File<'a> {
    /// The checksum is that of the content.
    pub(super) fn check(&self, meta: &Meta) -> Result<()> {
        let mut names: Vec<&str> = self.tensors.names().into_iter().collect();
        names.sort_unstable();
        let views = names
            .iter()
            .map(|name| Ok((*name, self.tensors.tensor(name).map_err(container)?.data())))
            .collect::<Result<Vec<_>>>()?;
        let found = checksum(meta, views.into_iter())?;
        if found == meta.checksum {
            Ok(())
        } else {
            Err(FileError::Checksum { expected: meta.checksum.clone(), found }.into())
        }
    }

    pub(super) fn model(&self, meta: Meta) -> Result<Model> {
        let head = self.head(&meta)?;
        let map = self.map(&meta)?;
        let encoder = self.encoder(&meta)?;
        let coefficients = self.matrix("coefficients", meta.outputs, meta.output_dim)?;
        let intercept = self.numbers("intercept", &[meta.outputs])?;
        let posterior = self.posterior(&meta)?;
        let held_out = self.held_out(&meta)?;
        let Meta { target, ids, training, calibration, certificate, version, instruction_set, .. } = meta;
        let provenance = Provenance { version, instruction_set };
        Ok(Model {
            encoder,
            target,
            ids,
            map,
            coefficients,
            intercept,
            head,
            calibration,
            posterior,
            held_out,
            certificate,
            training,
            provenance,
        })
    }

    /// The factor of a regression's normal equations: positive on its diagonal, so that it can be solved with.
    fn posterior(&self, meta: &Meta) -> Result<Option<Posterior>> {
        let Some(PosteriorMeta { weight, centred }) = meta.posterior else { return Ok(None) };
        let wrong = |name, expected: &str| {
            let (expected, found) = (expected.to_owned(), "others".to_owned());
            Error::from(FileError::Tensor { name, expected, found })
        };
        if meta.head != HeadMeta::Regression || !(weight > 0.0 && weight.is_finite()) {
            let reason = format!(
                "a posterior of weight {weight}, where only a regression has one, of a positive weight"
            );
            return Err(FileError::Metadata { reason }.into());
        }
        let entries = usize::try_from(Posterior::entries(meta.output_dim)).unwrap_or(usize::MAX);
        let factor = self.numbers("posterior.factor", &[entries])?;
        let means = if centred { self.numbers("posterior.means", &[meta.output_dim])? } else { Vec::new() };
        let noise = self.numbers("posterior.noise", &[meta.outputs])?;
        if !(0..meta.output_dim).all(|j| factor[j * (j + 3) / 2] > 0.0) {
            return Err(wrong("posterior.factor", "a triangle with a positive diagonal"));
        }
        if noise.iter().any(|s| *s < 0.0) {
            return Err(wrong("posterior.noise", "deviations, which are not negative"));
        }
        Ok(Some(Posterior::new(factor, means, weight, noise)))
    }

    /// Scores in ascending order, of a model that can make some.
    fn held_out(&self, meta: &Meta) -> Result<Option<HeldOut>> {
        let Some(HeldOutMeta { rows, share }) = meta.held_out else { return Ok(None) };
        let columns = match meta.head {
            HeadMeta::Regression => Some(meta.outputs),
            HeadMeta::Classification { .. } if meta.calibration.is_some() => Some(1),
            _ => None,
        };
        let (true, Some(columns)) =
            (share > 0.0 && share < 1.0 && (1..=MOST_SCORES).contains(&rows), columns)
        else {
            let reason = format!(
                "{rows} held-out rows, a share of {share}, where 1 to {MOST_SCORES} of a regression or of classes with probabilities can be"
            );
            return Err(FileError::Metadata { reason }.into());
        };
        let scores = self.matrix("held_out.scores", columns, rows)?;
        let ascend = |column: usize| {
            let row = scores.row(column);
            row[0] >= 0.0 && row.windows(2).all(|pair| pair[0] <= pair[1])
        };
        if !(0..columns).all(ascend) {
            let (expected, found) = ("ascending scores, none negative".to_owned(), "others".to_owned());
            return Err(FileError::Tensor { name: "held_out.scores", expected, found }.into());
        }
        Ok(Some(HeldOut::new(scores, share)))
    }

    /// Where the bins of each grid end, and their hashes, ascending within a grid.
    fn bins(&self, grids: usize, count: usize) -> Result<(Vec<usize>, Vec<u32>)> {
        let ends = self.bytes("bins.ends", Dtype::U64, &[grids])?.chunks_exact(8);
        let ends: Vec<u64> = ends.map(|b| u64::from_le_bytes(b.try_into().unwrap_or_default())).collect();
        let hashes = self.bytes("bins.hashes", Dtype::U32, &[count])?.chunks_exact(4);
        let hashes: Vec<u32> = hashes.map(|b| u32::from_le_bytes(b.try_into().unwrap_or_default())).collect();
        let in_order = ends.windows(2).all(|w| w[0] <= w[1]) && ends.last() == Some(&(count as u64));
        let mut start = 0;
        let ascend = in_order
            && ends.iter().all(|&end| {
                let grid = &hashes[start..end as usize];
                start = end as usize;
                grid.windows(2).all(|w| w[0] < w[1]) && grid.last().is_none_or(|&h| h < CELL_PRIME)
            });
        if !ascend {
            let (expected, found) = ("ascending hashes for each grid".to_owned(), "others".to_owned());
            return Err(FileError::Tensor { name: "bins.hashes", expected, found }.into());
        }
        Ok((ends.into_iter().map(|end| end as usize).collect(), hashes))
    }

    fn head(&self, meta: &Meta) -> Result<Head> {
        let (head, expected) = match &meta.head {
            HeadMeta::Features => (Head::Features, 0),
            HeadMeta::Regression => (Head::Regression, meta.outputs.max(1)),
            HeadMeta::Classification { labels, count, decision } => {
                let texts = self.names("labels.bytes", "labels.ends", *count)?;
                let distinct = texts.iter().collect::<std::collections::BTreeSet<_>>().len();
                if distinct != *count || *count < 2 {
                    let (what, expected) = ("different labels", (*count).max(2));
                    return Err(FileError::Mismatch { what, expected, found: distinct }.into());
                }
                let labels = Labels::new(*labels, texts);
                (Head::Classification { labels, decision: *decision }, decision.outputs(*count))
            }
        };
        if expected != meta.outputs {
            return Err(FileError::Mismatch { what: "outputs", expected, found: meta.outputs }.into());
        }
        Ok(head)
    }

    /// The map: regenerated from its seed and compared, or from its stored state.
    fn map(&self, meta: &Meta) -> Result<Map> {
        let mismatch = |what, expected, found| Error::from(FileError::Mismatch { what, expected, found });
        let spec = meta.map.clone();
        // Shapes that coefficients confirm come first: nothing is made whose size the file does not back.
        self.numbers("coefficients", &[meta.outputs, meta.output_dim])?;
        spec.check(
            meta.input_dim,
            crate::plan::available_memory().unwrap_or(u64::MAX).min(MOST_REGENERATED),
        )?;
        let is_fitted = spec.method == Method::Binning { bins: Bins::Fitted };
        let most = if is_fitted { u32::MAX as usize } else { spec.output_dim(meta.input_dim) };
        if !(1..=most).contains(&meta.output_dim) {
            return Err(mismatch("features", most, meta.output_dim));
        }
        let map = match spec.method {
            Method::Binning { bins: Bins::Fitted } => {
                let grids = spec.grids(&Engine::single_thread(), meta.input_dim, &|_| Ok(()))?;
                let (ends, hashes) = self.bins(spec.features, meta.output_dim / grids.outputs())?;
                Map::from_binning(spec, Binning::from_parts(grids, ends, hashes)?)
            }
            Method::Landmarks { whiten, .. } => {
                let rows = self.matrix("landmarks", meta.output_dim, meta.input_dim)?;
                let whitening =
                    whiten.then(|| self.matrix("whitening", meta.output_dim, meta.output_dim)).transpose()?;
                let lower = |w: &Matrix<f64>| (1..w.rows()).any(|i| w.row(i)[..i].iter().any(|x| *x != 0.0));
                if whitening.as_ref().is_some_and(lower) {
                    let (expected, found) = ("an upper triangle".to_owned(), "entries below it".to_owned());
                    return Err(FileError::Tensor { name: "whitening", expected, found }.into());
                }
                Map::from_landmarks(spec, Landmarks::new(rows, whitening))
            }
            _ => {
                let expected = spec.output_dim(meta.input_dim);
                if expected != meta.output_dim {
                    return Err(mismatch("features", expected, meta.output_dim));
                }
                spec.build(meta.input_dim)?
            }
        };
        if map.output_dim() != meta.output_dim {
            return Err(mismatch("features", map.output_dim(), meta.output_dim));
        }
        let found = fingerprint(&map);
        if found != meta.fingerprint {
            return Err(FileError::Fingerprint { expected: meta.fingerprint.clone(), found }.into());
        }
        Ok(map)
    }

    fn encoder(&self, meta: &Meta) -> Result<Encoder> {
        let width = meta.source_columns()?;
        let columns = match &meta.columns {
            ColumnsMeta::Unnamed => Columns::Unnamed { count: width },
            ColumnsMeta::Named => Columns::numbers(self.names("columns.bytes", "columns.ends", width)?),
            ColumnsMeta::Sparse { name } => Columns::Sparse { name: name.clone(), width },
            ColumnsMeta::Texts { numbers, sequences } => self.texts(width, *numbers, sequences)?,
            ColumnsMeta::Encoded { inputs, categories, sequences, targets, target_width } => {
                self.encoded(width, *inputs, *categories, sequences, (*targets, *target_width))?
            }
        };
        let mut encoder = Encoder::identity(width).with_columns(columns);
        if let Some(precision) = meta.precision {
            encoder = encoder.with_precision(precision);
        }
        if let Some(metric) = meta.metric {
            encoder = encoder.with_metric(self.metric(metric, width)?);
        }
        if !meta.scaled {
            return Ok(encoder);
        }
        let factor = self.numbers("scaling.factor", &[width])?;
        // What texts are hashed to is not shifted.
        let shifted = encoder.columns().scaled();
        let shift = if meta.shifted { self.numbers("scaling.shift", &[shifted])? } else { Vec::new() };
        Ok(encoder.with_scaling(Scaling::from_parts(shift, factor)?))
    }

    /// L, with what is told of it: factors that are positive, parts of a whole, shapes that the tensors back.
    fn metric(&self, meta: MetricMeta, columns: usize) -> Result<Metric> {
        let all = |name, expected: &str, values: &[f64], is_right: fn(&f64) -> bool| {
            let Some(at) = values.iter().position(|x| !is_right(x)) else { return Ok(()) };
            let (expected, found) = (expected.to_owned(), format!("{} at {at}", values[at]));
            Err(Error::from(FileError::Tensor { name, expected, found }))
        };
        let positive = |name, values: &[f64]| all(name, "positive numbers", values, |x| *x > 0.0);
        // Up to rounding.
        let parts = |name, values: &[f64]| {
            all(name, "parts of a whole", values, |x| (-1e-9..=1.0 + 1e-9).contains(x))
        };
        let root = match meta.root {
            RootMeta::Diagonal => {
                let factors = self.numbers("metric.root", &[columns])?;
                positive("metric.root", &factors)?;
                Root::Diagonal(factors)
            }
            RootMeta::Full => Root::full(self.matrix("metric.root", columns, columns)?),
            RootMeta::Leading { kept, floor } => {
                positive("metric.floor", &[floor])?;
                let extra = self.numbers("metric.extra", &[kept])?;
                Root::leading(floor, extra, self.matrix("metric.vectors", kept, columns)?)
            }
            RootMeta::Added { kept, floor } => {
                positive("metric.floor", &[floor])?;
                Root::Added { floor, along: self.matrix("metric.along", columns, kept)? }
            }
        };
        let importances = self.numbers("metric.importances", &[columns])?;
        let shares = self.numbers("metric.shares", &[meta.directions])?;
        parts("metric.importances", &importances)?;
        parts("metric.shares", &shares)?;
        let directions = self.matrix("metric.directions", meta.directions, columns)?;
        Ok(Metric::from_parts(root, importances, directions, shares))
    }

    /// Of format 1: numbers and texts that fill the columns.
    fn texts(&self, width: usize, numbers: usize, sequences: &[Sequence]) -> Result<Columns> {
        sequences.iter().try_for_each(Sequence::validate)?;
        let columns = sequences.iter().fold(numbers, |sum, sequence| sum.saturating_add(sequence.width));
        if columns != width {
            return Err(FileError::Mismatch { what: "columns", expected: width, found: columns }.into());
        }
        let names = self.names("columns.bytes", "columns.ends", numbers.saturating_add(sequences.len()))?;
        let texts = self.text_encodings(sequences)?.into_iter().map(Encoding::Text);
        let encodings = (0..numbers).map(|_| Encoding::Number(NumberEncoding::default())).chain(texts);
        let inputs =
            names.into_iter().zip(encodings).map(|(name, encoding)| Input { name, encoding }).collect();
        Ok(Columns::Named { inputs })
    }

    /// Encodings of texts, with the counts for tf–idf.
    pub(super) fn text_encodings(&self, sequences: &[Sequence]) -> Result<Vec<TextEncoding>> {
        sequences.iter().try_for_each(Sequence::validate)?;
        let fitted = sequences.iter().filter(|sequence| sequence.tf_idf).count();
        let (mut totals, mut counts) = (Vec::new(), Vec::new());
        if fitted > 0 {
            totals = self.numbers("texts.totals", &[fitted])?;
            counts = self.numbers("texts.counts", &[fitted, Documents::SLOTS])?;
        }
        let mut documents = totals.into_iter().zip(counts.chunks_exact(Documents::SLOTS));
        let mut text = |sequence: &Sequence| {
            let counts = if sequence.tf_idf { documents.next() } else { None };
            let counts =
                counts.map(|(total, counts)| Documents::from_parts(total, counts.to_vec())).transpose()?;
            let encoder = Some(SequenceEncoder::new(sequence.clone(), counts)?);
            Ok(TextEncoding { sequence: sequence.clone(), encoder })
        };
        sequences.iter().map(&mut text).collect()
    }

    pub(super) fn matrix(&self, name: &'static str, rows: usize, columns: usize) -> Result<Matrix<f64>> {
        Matrix::new(rows, columns, self.numbers(name, &[rows, columns])?)
    }

    pub(super) fn numbers(&self, name: &'static str, shape: &[usize]) -> Result<Vec<f64>> {
        let bytes = self.bytes(name, Dtype::F64, shape)?;
        let values: Vec<f64> = bytes.chunks_exact(8).map(|b| f64::from_le_bytes(array(b))).collect();
        match values.iter().position(|x| !x.is_finite()) {
            None => Ok(values),
            Some(at) => Err(FileError::NotFinite { name, at, value: values[at] }.into()),
        }
    }

    pub(super) fn names(&self, bytes: &'static str, ends: &'static str, count: usize) -> Result<Vec<String>> {
        let wrong = || Error::from(FileError::Names { name: bytes });
        let ends = self.bytes(ends, Dtype::U64, &[count])?;
        let length = self.tensors.tensor(bytes).map_err(container)?.data().len();
        let text = std::str::from_utf8(self.bytes(bytes, Dtype::U8, &[length])?).map_err(|_| wrong())?;
        let mut start = 0;
        let mut names = Vec::with_capacity(count);
        for end in ends.chunks_exact(8) {
            let end = usize::try_from(u64::from_le_bytes(array(end))).map_err(|_| wrong())?;
            names.push(text.get(start..end).ok_or_else(wrong)?.to_owned());
            start = end;
        }
        if start == text.len() { Ok(names) } else { Err(wrong()) }
    }

    /// The bytes of a tensor of this type and shape; the container has checked that shape and bytes agree.
    pub(super) fn bytes(&self, name: &'static str, dtype: Dtype, shape: &[usize]) -> Result<&'a [u8]> {
        let expected = format!("{dtype:?} {shape:?}");
        let Ok(tensor) = self.tensors.tensor(name) else {
            return Err(FileError::Tensor { name, expected, found: "none".to_owned() }.into());
        };
        if tensor.dtype() == dtype && tensor.shape() == shape {
            return Ok(tensor.data());
        }
        let found = format!("{:?} {:?}", tensor.dtype(), tensor.shape());
        Err(FileError::Tensor { name, expected, found }.into())
    }
}

/// Eight bytes of a slice that has eight.
pub(super) fn array(bytes: &[u8]) -> [u8; 8] {
    let mut eight = [0; 8];
    eight.copy_from_slice(bytes);
    eight
}
