//! The model file.
//!
//! ```text
//! safetensors:  8 bytes length | JSON header | tensors         one metadata key, `bochner` = canonical JSON ≤ 1 MiB
//! ```
//! What grows with the data is a tensor: coefficients, scaling, landmarks, names (bytes and ends). Frequencies are not stored: the seed makes
//! them again, and their fingerprint says whether it made the same. A checksum covers every byte that matters. Nothing in a file
//! is code, a path or a class name, and every size is checked against the file before memory is taken for it. Two
//! fits with equal results give equal bytes: there is no time, host or thread count inside.

mod columns;
mod error;
mod read;

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

pub use self::error::FileError;
use self::read::File;
use super::{Calibration, Decision, Head, Model, Training};
use super::{HeldOut, Posterior};
use crate::encode::{Columns, Metric, Precision, Root, Sequence};
use crate::map::State;
use crate::whole::WholeFile;
use crate::{Certificate, Error, LabelKind, Map, MapSpec, Matrix, Result};

/// The format that is written. All from 1 on are read: 2 has columns of every kind, and the precision of the rows.
const FORMAT: u32 = 2;

/// The metadata key.
const KEY: &str = "bochner";

/// The largest JSON that is read.
const MOST_JSON: usize = 1 << 20;

/// The largest header: the JSON, escaped inside another, and the list of tensors.
const MOST_HEADER: u64 = 4 << 20;

/// The largest map that a file may ask for: a seed of eight bytes can ask for any size.
const MOST_REGENERATED: u64 = 4 << 30;

/// The JSON under the key. Field order is the order in the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Meta {
    format: u32,
    checksum: String,
    /// Of what the seed makes: empty if nothing is regenerated.
    fingerprint: String,
    version: String,
    instruction_set: String,
    map: MapSpec,
    input_dim: usize,
    output_dim: usize,
    outputs: usize,
    columns: ColumnsMeta,
    target: String,
    /// Columns that identify rows. From format 2 on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    ids: Vec<String>,
    head: HeadMeta,
    scaled: bool,
    shifted: bool,
    /// Of the rows that the map takes. From format 2 on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    precision: Option<Precision>,
    training: Option<Training>,
    /// Not written where there is none, as in files from before there was any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    calibration: Option<Calibration>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    metric: Option<MetricMeta>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    posterior: Option<PosteriorMeta>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    held_out: Option<HeldOutMeta>,
    certificate: Certificate,
}

/// Beside the tensors `metric.importances`, `metric.directions`, `metric.shares` and those of L.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MetricMeta {
    root: RootMeta,
    /// Directions that are told.
    directions: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum RootMeta {
    /// `metric.root`: d numbers.
    Diagonal,
    /// `metric.root`: d×d.
    Full,
    /// `metric.vectors`: kept×d; `metric.extra`: kept.
    Leading { kept: usize, floor: f64 },
    /// `metric.along`: d×kept; the map's rows have so many columns more.
    Added { kept: usize, floor: f64 },
}

/// Beside the tensors `posterior.factor`, `posterior.noise`, and `posterior.means` where there is a constant.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PosteriorMeta {
    weight: f64,
    centred: bool,
}

/// Beside the tensor `held_out.scores`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HeldOutMeta {
    rows: usize,
    share: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum ColumnsMeta {
    Unnamed,
    /// Of format 1: numbers.
    Named,
    Sparse {
        name: String,
    },
    /// Of format 1: names of numbers, then of texts, are tensors; so are the counts of texts that tf–idf needs.
    Texts {
        numbers: usize,
        sequences: Vec<Sequence>,
    },
    /// Names, and how each column is encoded, are tensors (`columns.rs`).
    Encoded {
        inputs: usize,
        categories: usize,
        sequences: Vec<Sequence>,
        /// Categories that are encoded by the target, and the columns of each.
        #[serde(default, skip_serializing_if = "is_zero")]
        targets: usize,
        #[serde(default, skip_serializing_if = "is_zero")]
        target_width: usize,
    },
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum HeadMeta {
    Features,
    Regression,
    Classification {
        labels: LabelKind,
        count: usize,
        /// Not written where it is the usual one: files from before there was another are read, and written, alike.
        #[serde(default, skip_serializing_if = "is_usual")]
        decision: Decision,
    },
}

fn is_usual(decision: &Decision) -> bool {
    *decision == Decision::default()
}

impl Model {
    /// Writes the model to a file: to a temporary one beside it first, then renamed, so that no torn file is ever seen.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.save_to(path.as_ref())
    }

    fn save_to(&self, path: &Path) -> Result<()> {
        let io = |source| Error::Io { path: path.to_owned(), source };
        let bytes = self.to_bytes()?;
        let mut file = WholeFile::create(path).map_err(io)?;
        file.write_all(&bytes).and_then(|()| file.commit()).map_err(io)
    }

    /// Reads a model from a file.
    pub fn load(path: impl AsRef<Path>) -> Result<Model> {
        Model::load_from(path.as_ref())
    }

    fn load_from(path: &Path) -> Result<Model> {
        let io = |source| Error::Io { path: path.to_owned(), source };
        let mut file = std::fs::File::open(path).map_err(io)?;
        let size = file.metadata().map_err(io)?.len();
        let mut start = [0u8; 8];
        if size < 8 {
            return Err(FileError::Short { found: size }.into());
        }
        std::io::Read::read_exact(&mut file, &mut start).map_err(io)?;
        check_header(&start, size)?;
        let limit = crate::plan::available_memory().unwrap_or(u64::MAX);
        if size > limit / 2 {
            return Err(Error::Memory { what: "reading the model".to_owned(), needed: 2 * size, limit });
        }
        let mut bytes = Vec::from(start);
        std::io::Read::read_to_end(&mut file, &mut bytes).map_err(io)?;
        Model::from_bytes(&bytes)
    }

    /// The model as the bytes of its file.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let tensors = self.tensors();
        let mut meta = self.meta();
        meta.checksum = checksum(&meta, tensors.iter().map(|t| (t.name, t.bytes.as_slice())))?;
        let json = json(&meta)?;
        if json.len() > MOST_JSON {
            let reason = format!("{} bytes of it, more than {MOST_JSON}", json.len());
            return Err(FileError::Metadata { reason }.into());
        }
        let views = tensors
            .iter()
            .map(|t| Ok((t.name, TensorView::new(t.dtype, t.shape.clone(), &t.bytes).map_err(container)?)))
            .collect::<Result<Vec<_>>>()?;
        let metadata = HashMap::from([(KEY.to_owned(), json)]);
        safetensors::serialize(views, Some(metadata)).map_err(container)
    }

    /// A model from the bytes of its file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Model> {
        let size = bytes.len() as u64;
        let Some(start) = bytes.first_chunk::<8>() else {
            return Err(FileError::Short { found: size }.into());
        };
        check_header(start, size)?;
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(container)?;
        let json = header.metadata().as_ref().and_then(|map| map.get(KEY)).ok_or(FileError::NotAModel)?;
        let meta = read_meta(json)?;
        let file = File { tensors: SafeTensors::deserialize(bytes).map_err(container)? };
        file.check(&meta)?;
        file.model(meta)
    }

    fn meta(&self) -> Meta {
        let columns = match self.encoder.columns() {
            Columns::Unnamed { .. } => ColumnsMeta::Unnamed,
            Columns::Sparse { name, .. } => ColumnsMeta::Sparse { name: name.clone() },
            Columns::Named { inputs } => columns::meta(inputs),
        };
        let head = match &self.head {
            Head::Features => HeadMeta::Features,
            Head::Regression => HeadMeta::Regression,
            Head::Classification { labels, decision } => {
                HeadMeta::Classification { labels: labels.kind(), count: labels.len(), decision: *decision }
            }
        };
        Meta {
            format: FORMAT,
            checksum: String::new(),
            fingerprint: fingerprint(&self.map),
            version: self.provenance.version.clone(),
            instruction_set: self.provenance.instruction_set.clone(),
            map: self.map.spec().clone(),
            input_dim: self.map.input_dim(),
            output_dim: self.map.output_dim(),
            outputs: self.intercept.len(),
            columns,
            target: self.target.clone(),
            ids: self.ids.clone(),
            head,
            scaled: self.encoder.scaling().is_some(),
            shifted: self.encoder.scaling().is_some_and(|s| !s.shift().is_empty()),
            precision: self.encoder.precision(),
            training: self.training.clone(),
            calibration: self.calibration,
            metric: self.encoder.metric().map(|metric| MetricMeta {
                root: match metric.root() {
                    Root::Diagonal(_) => RootMeta::Diagonal,
                    Root::Full { .. } => RootMeta::Full,
                    Root::Leading { floor, extra, .. } => {
                        RootMeta::Leading { kept: extra.len(), floor: *floor }
                    }
                    Root::Added { floor, along } => RootMeta::Added { kept: along.columns(), floor: *floor },
                },
                directions: metric.shares().len(),
            }),
            posterior: self
                .posterior
                .as_ref()
                .map(|p| PosteriorMeta { weight: p.weight, centred: !p.means.is_empty() }),
            held_out: self.held_out.as_ref().map(|h| HeldOutMeta { rows: h.rows(), share: h.share }),
            certificate: self.certificate.clone(),
        }
    }

    fn tensors(&self) -> Vec<Tensor> {
        let (features, outputs) = (self.map.output_dim(), self.intercept.len());
        let mut list = vec![
            Tensor::numbers("coefficients", vec![outputs, features], self.coefficients.as_slice()),
            Tensor::numbers("intercept", vec![outputs], &self.intercept),
        ];
        if let Some(Posterior { factor, means, noise, .. }) = &self.posterior {
            list.push(Tensor::numbers("posterior.factor", vec![factor.len()], factor));
            list.push(Tensor::numbers("posterior.noise", vec![noise.len()], noise));
            if !means.is_empty() {
                list.push(Tensor::numbers("posterior.means", vec![means.len()], means));
            }
        }
        if let Some(HeldOut { scores, .. }) = &self.held_out {
            let shape = vec![scores.rows(), scores.columns()];
            list.push(Tensor::numbers("held_out.scores", shape, scores.as_slice()));
        }
        if let Some(scaling) = self.encoder.scaling() {
            list.push(Tensor::numbers("scaling.factor", vec![scaling.factor().len()], scaling.factor()));
            if !scaling.shift().is_empty() {
                list.push(Tensor::numbers("scaling.shift", vec![scaling.shift().len()], scaling.shift()));
            }
        }
        if let Some(metric) = self.encoder.metric() {
            list.extend(Tensor::of_metric(metric));
        }
        if let State::Landmarks(landmarks) = self.map.state() {
            let rows = landmarks.rows();
            list.push(Tensor::numbers("landmarks", vec![rows.rows(), rows.columns()], rows.as_slice()));
            if let Some(w) = landmarks.whitening() {
                list.push(Tensor::numbers("whitening", vec![w.rows(), w.columns()], w.as_slice()));
            }
        }
        if let State::Binning(binning) = self.map.state()
            && let Some((ends, hashes)) = binning.bins()
        {
            let numbers = ends.iter().flat_map(|&end| (end as u64).to_le_bytes()).collect();
            list.push(Tensor {
                name: "bins.ends",
                dtype: Dtype::U64,
                shape: vec![ends.len()],
                bytes: numbers,
            });
            let numbers = hashes.iter().flat_map(|hash| hash.to_le_bytes()).collect();
            list.push(Tensor {
                name: "bins.hashes",
                dtype: Dtype::U32,
                shape: vec![hashes.len()],
                bytes: numbers,
            });
        }
        list.extend(columns::tensors(self.encoder.columns().inputs()));
        if let Head::Classification { labels, .. } = &self.head {
            list.extend(Tensor::names("labels.bytes", "labels.ends", labels.texts()));
        }
        list.sort_by_key(|tensor| tensor.name);
        list
    }
}

/// The header fits the file and is no larger than a model's can be.
fn check_header(start: &[u8; 8], size: u64) -> Result<()> {
    let (found, most) = (u64::from_le_bytes(*start), MOST_HEADER.min(size - 8));
    if found > most { Err(FileError::Header { most, found }.into()) } else { Ok(()) }
}

fn container(error: safetensors::SafeTensorError) -> Error {
    FileError::Container { reason: error.to_string() }.into()
}

fn json(meta: &Meta) -> Result<String> {
    serde_json::to_string(meta).map_err(|error| FileError::Metadata { reason: error.to_string() }.into())
}

fn read_meta(json: &str) -> Result<Meta> {
    let metadata = |reason: String| Error::from(FileError::Metadata { reason });
    if json.len() > MOST_JSON {
        return Err(metadata(format!("{} bytes of it, more than {MOST_JSON}", json.len())));
    }
    // The format first: everything else may be different in another.
    let value: serde_json::Value = serde_json::from_str(json).map_err(|error| metadata(error.to_string()))?;
    match value.get("format").and_then(serde_json::Value::as_u64) {
        Some(1) => {}
        Some(found) if found == u64::from(FORMAT) => {}
        Some(found) => return Err(FileError::Format { known: FORMAT, found }.into()),
        None => return Err(metadata("no format number".to_owned())),
    }
    let meta: Meta = serde_json::from_value(value).map_err(|error| metadata(error.to_string()))?;
    let is_later = meta.precision.is_some()
        || !meta.ids.is_empty()
        || matches!(meta.columns, ColumnsMeta::Encoded { .. });
    if meta.format == 1 && is_later {
        return Err(metadata("columns or a precision that format 1 does not have".to_owned()));
    }
    Ok(meta)
}

/// A hash of the metadata (without the checksum itself) and of all tensors.
fn checksum<'a>(meta: &Meta, tensors: impl Iterator<Item = (&'a str, &'a [u8])>) -> Result<String> {
    let mut hash = Xxh3::new();
    hash.update(json(&Meta { checksum: String::new(), ..meta.clone() })?.as_bytes());
    for (name, bytes) in tensors {
        hash.update(name.as_bytes());
        hash.update(&(bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    }
    Ok(format!("{:032x}", hash.digest128()))
}

/// A hash of what the seed makes.
fn fingerprint(map: &Map) -> String {
    let mut hash = Xxh3::new();
    let mut nothing = true;
    let mut add = |numbers: &[f64]| {
        nothing = false;
        numbers.iter().for_each(|x| hash.update(&x.to_bits().to_le_bytes()));
    };
    match map.state() {
        State::Part(part) => part.regenerated(&mut add),
        State::Binning(binning) => binning.regenerated().iter().for_each(|numbers| add(numbers)),
        State::Landmarks(_) => {}
    }
    // Nothing regenerated, nothing to compare.
    if nothing { String::new() } else { format!("{:032x}", hash.digest128()) }
}

/// A tensor to be written.
struct Tensor {
    name: &'static str,
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl Tensor {
    fn numbers(name: &'static str, shape: Vec<usize>, values: &[f64]) -> Tensor {
        Tensor {
            name,
            dtype: Dtype::F64,
            shape,
            bytes: values.iter().flat_map(|x| x.to_le_bytes()).collect(),
        }
    }

    fn matrix(name: &'static str, matrix: &Matrix<f64>) -> Tensor {
        Tensor::numbers(name, vec![matrix.rows(), matrix.columns()], matrix.as_slice())
    }

    fn of_metric(metric: &Metric) -> Vec<Tensor> {
        let vector = |name, values: &[f64]| Tensor::numbers(name, vec![values.len()], values);
        let mut list = vec![
            vector("metric.importances", metric.importances()),
            vector("metric.shares", metric.shares()),
            Tensor::matrix("metric.directions", metric.directions()),
        ];
        match metric.root() {
            Root::Diagonal(factors) => list.push(vector("metric.root", factors)),
            Root::Full { root, .. } => list.push(Tensor::matrix("metric.root", root)),
            Root::Leading { extra, vectors, .. } => {
                list.push(vector("metric.extra", extra));
                list.push(Tensor::matrix("metric.vectors", vectors));
            }
            Root::Added { along, .. } => list.push(Tensor::matrix("metric.along", along)),
        }
        list
    }

    /// Strings end to end, and where each ends.
    fn names(bytes: &'static str, ends: &'static str, names: &[String]) -> [Tensor; 2] {
        let text = names.concat().into_bytes();
        let mut end = 0u64;
        let positions: Vec<u8> = names
            .iter()
            .flat_map(|name| {
                end += name.len() as u64;
                end.to_le_bytes()
            })
            .collect();
        [
            Tensor { name: bytes, dtype: Dtype::U8, shape: vec![text.len()], bytes: text },
            Tensor { name: ends, dtype: Dtype::U64, shape: vec![names.len()], bytes: positions },
        ]
    }
}
