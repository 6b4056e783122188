//! Random binning features, for products of one-dimensional kernels that are mixtures of hats.
//!
//! ```text
//! k(Δ) = ∫ max(0, 1 − |Δ|/δ) p(δ) dδ,   p(δ) = δ·k̈(δ)          exp(−|Δ|/s):  δ ~ Gamma(2, s)
//!
//! grid g:   cell of x = (⌊(xⱼ − uⱼ)/δⱼ⌋)ⱼ,   δⱼ ~ p,  uⱼ uniform on [0, δⱼ)
//! z(x):     1/√P at the cell of x in each of P grids, zero elsewhere
//!
//! E[z(x)·z(y)] = P(x and y share a cell) = ∏ⱼ k(xⱼ − yⱼ),        Var = k(1 − k)/P
//! ```
//! A cell is known by the hash of its indices. *Fitted* bins are the cells that the rows were seen in, numbered; a new row in a cell that
//! was empty has a zero there. *Hashed* bins are B slots for each grid with a random sign: nothing to fit or store, and
//! collisions add (1 − k)/(B·P) to the variance but no bias. One nonzero a grid: features are sparse. Costs d·P operations a row whatever the
//! number of bins. The density p must not be negative, so the kernel's profile must be convex: Laplace is, the Gaussian is not.
//!
//! A product of such kernels joins their grids: a cell of the product is a cell of each, so that grid g has a direction for each column of each factor. A factor s that is
//! shift-invariant but no mixture of hats gives each grid a frequency ω_g, and each cell two features, cos ω_g·x and sin ω_g·x: E[1(same cell)·cos ω·(x − y)] is the product.
//! Rahimi & Recht (2007). `docs/book/binning.md`.

use std::ops::Range;

use bochner_simd::{CELL_PRIME, Grids as PackedGrids, cells};

use super::fourier::Ask;
use super::lookup::Lookup;
use super::{Bins, Fourier, FourierForm, FrequencyDraw};
use crate::engine::Check;
use crate::kernel::{GridLaw, Pitch, Spectrum};
use crate::random::{Draws, Stream};
use crate::stat::CellSets;
use crate::{Csr, Engine, Error, Kernel, Result, Rows, Scalar};

/// Grids, and what their cells are called.
#[derive(Clone, Debug)]
pub(crate) struct Binning {
    grids: Grids,
    names: Names,
}

/// P grids over the columns of rows.
#[derive(Clone, Debug)]
pub(crate) struct Grids {
    packed: PackedGrids,
    /// 1/pitch, shift/pitch and hash factor, grid by grid.
    drawn: Vec<(f64, f64, u32)>,
    /// The hash of the row of zeros in each grid.
    origin: Vec<u32>,
    input_dim: usize,
    /// The column of each direction; none if they are all columns in order.
    columns: Option<Vec<usize>>,
    /// (cos, sin) of a frequency for each grid, over √P; none for kernels of grids alone.
    waves: Option<Fourier>,
    /// √k(0).
    scale: f64,
}

/// From the hash of a cell to its feature.
#[derive(Clone, Debug)]
enum Names {
    /// One feature for each hash, grid by grid in ascending order.
    Fitted(Lookup),
    /// Grid g's features are the `width` from g·width on.
    Hashed { width: usize },
}

pub(super) fn validate(kernel: &Kernel, bins: Bins, grids: usize) -> Result<()> {
    // Any number of columns shows whether the kernel is one of grids.
    let Some(law) = kernel.grid_law(1) else {
        let reason = match kernel {
            Kernel::Gaussian { .. } => {
                "its profile is not convex near zero, so it is no mixture of hat kernels: the density δ·k̈(δ) of pitches would be negative"
            }
            _ => {
                "it is not a product of one-dimensional functions of x − y, some of them mixtures of hat kernels"
            }
        };
        let instead = "use laplace or hat, or another map";
        return Err(Error::Unsupported { what: format!("random binning for {kernel}"), reason, instead });
    };
    match bins {
        Bins::Hashed { width: 0 } => {
            Err(Error::Parameter { name: "width", expected: "at least 1", found: "0".to_owned() })
        }
        Bins::Hashed { width } => {
            let features = width.checked_mul(grids).and_then(|bins| bins.checked_mul(law.outputs()));
            if features.is_some_and(|features| features <= u32::MAX as usize) {
                return Ok(());
            }
            Err(Error::Parameter {
                name: "width",
                expected: "such that grids × width is below 2³², half of that with frequencies",
                found: format!("{grids} × {width}"),
            })
        }
        Bins::Fitted => Ok(()),
    }
}

impl Grids {
    /// Draws `count` grids: grid g is a function of (seed, g), so that fewer grids are the first of more.
    pub(crate) fn draw(
        engine: &Engine,
        law: &GridLaw,
        count: usize,
        seed: u64,
        input_dim: usize,
        check: Check<'_>,
    ) -> Result<Grids> {
        let directions = law.columns.len();
        let mut drawn = Vec::with_capacity(count * directions);
        for g in 0..count {
            let mut draws = Draws::new(seed, Stream::Grids, g as u64);
            for direction in &law.columns {
                let pitch = match direction.pitch {
                    // The sum of two exponentials.
                    Pitch::Gamma { scale } => -scale * libm::log(draws.uniform() * draws.uniform()),
                    Pitch::Fixed { width } => width,
                };
                let shift = draws.uniform();
                drawn.push((1.0 / pitch, shift, 1 + draws.below(u64::from(CELL_PRIME) - 1) as u32));
            }
            check((g + 1) as f64 / count as f64)?;
        }
        let packed = PackedGrids::pack(directions, count, &|g, j| drawn[g * directions + j]);
        let origin = |g| {
            let sum: u64 = (0..directions).map(|j| u64::from(packed.term(g, j, 0.0))).sum();
            (sum % u64::from(CELL_PRIME)) as u32
        };
        let origin = (0..count).map(origin).collect();
        let columns: Vec<usize> = law.columns.iter().map(|direction| direction.column).collect();
        let columns = (columns != (0..input_dim).collect::<Vec<_>>()).then_some(columns);
        let waves = law.waves.as_ref().map(|waves| {
            let spectrum = Spectrum { mass: law.mass, law: waves.clone() };
            let ask =
                Ask { form: FourierForm::Pairs, draw: FrequencyDraw::Independent, features: 2 * count, seed };
            Fourier::build(engine, &spectrum, ask, input_dim, check)
        });
        Ok(Grids {
            packed,
            drawn,
            origin,
            input_dim,
            columns,
            waves: waves.transpose()?,
            scale: law.mass.sqrt(),
        })
    }

    /// Features of a cell.
    pub(crate) fn outputs(&self) -> usize {
        if self.waves.is_some() { 2 } else { 1 }
    }

    /// The number of grids, P.
    pub(crate) fn count(&self) -> usize {
        self.packed.count()
    }

    /// The hashes of the cells of some rows: row i's at `out[i·P..]`.
    pub(crate) fn hashes<T: Scalar>(&self, engine: &Engine, rows: &Rows<'_, T>, out: &mut [u32]) {
        if let Some(columns) = &self.columns {
            let chosen = (0..rows.count())
                .flat_map(|i| columns.iter().map(move |&j| rows.entry(i, j)))
                .collect::<Vec<f64>>();
            return cells(engine.isa(), &chosen, &self.packed, out);
        }
        match rows {
            Rows::Dense(dense) => {
                let mut double = Vec::with_capacity(rows.count() * rows.columns());
                (0..rows.count()).for_each(|i| double.extend(dense.row(i).iter().map(|x| x.to_f64())));
                cells(engine.isa(), &double, &self.packed, out);
            }
            Rows::Sparse(_) => {
                for (i, out) in out.chunks_exact_mut(self.count().max(1)).enumerate() {
                    let entries: Vec<(usize, f64)> =
                        rows.entries(i).map(|(j, x)| (j as usize, x.to_f64())).collect();
                    out.iter_mut().enumerate().for_each(|(g, out)| *out = self.sparse_hash(g, &entries));
                }
            }
        }
    }

    /// The origin's hash with the terms of some columns replaced.
    fn sparse_hash(&self, g: usize, entries: &[(usize, f64)]) -> u32 {
        let prime = u64::from(CELL_PRIME);
        let mut sum = u64::from(self.origin[g]);
        for &(j, x) in entries {
            let term = |x: f64| u64::from(self.packed.term(g, j, x));
            sum = (sum + term(x) + prime - term(0.0)) % prime;
        }
        sum as u32
    }
}

impl Binning {
    /// Grids whose cells are the ones that were seen.
    pub(crate) fn fitted(grids: Grids, cells: &CellSets) -> Result<Binning> {
        let (mut ends, mut hashes) = (Vec::new(), Vec::new());
        for set in cells.sorted() {
            hashes.extend(set);
            ends.push(hashes.len());
        }
        Binning::from_parts(grids, ends, hashes)
    }

    /// From stored state: ascending hashes for each grid.
    pub(crate) fn from_parts(grids: Grids, ends: Vec<usize>, hashes: Vec<u32>) -> Result<Binning> {
        if hashes.len().saturating_mul(grids.outputs()) > u32::MAX as usize {
            return Err(Error::Parameter {
                name: "grids",
                expected: "such that there are fewer than 2³² bins",
                found: format!("{} bins", hashes.len()),
            });
        }
        Ok(Binning { grids, names: Names::Fitted(Lookup::new(ends, hashes)) })
    }

    /// Grids whose cells share slots.
    pub(crate) fn hashed(grids: Grids, width: usize) -> Binning {
        Binning { grids, names: Names::Hashed { width } }
    }

    pub(super) fn input_dim(&self) -> usize {
        self.grids.input_dim
    }

    /// Features of a cell.
    pub(super) fn outputs(&self) -> usize {
        self.grids.outputs()
    }

    pub(super) fn output_dim(&self) -> usize {
        self.bin_count() * self.grids.outputs()
    }

    fn bin_count(&self) -> usize {
        match &self.names {
            Names::Fitted(lookup) => lookup.len(),
            Names::Hashed { width } => self.grids.count() * width,
        }
    }

    /// Where the bins of each grid end, and their hashes; none for hashed bins.
    pub(crate) fn bins(&self) -> Option<(&[usize], &[u32])> {
        match &self.names {
            Names::Fitted(lookup) => Some(lookup.lists()),
            Names::Hashed { .. } => None,
        }
    }

    /// What is regenerated from the seed, for the model's fingerprint.
    pub(crate) fn regenerated(&self) -> Vec<Vec<f64>> {
        let drawn = &self.grids.drawn;
        let part = |of: fn(&(f64, f64, u32)) -> f64| drawn.iter().map(of).collect();
        let mut parts = vec![part(|grid| grid.0), part(|grid| grid.1), part(|grid| f64::from(grid.2))];
        parts.extend(self.grids.waves.iter().flat_map(Fourier::regenerated).map(<[f64]>::to_vec));
        parts
    }

    /// The feature and the sign of a cell of grid g; none if it was empty. In the innermost loop.
    #[inline(always)]
    fn feature(&self, g: usize, hash: u32) -> Option<(u32, bool)> {
        match &self.names {
            Names::Fitted(lookup) => lookup.find(g, hash).map(|feature| (feature, true)),
            Names::Hashed { width } => {
                let mixed = mix(u64::from(hash) ^ (g as u64) << 32);
                let slot = ((mixed >> 32) * *width as u64) >> 32;
                Some((g as u32 * *width as u32 + slot as u32, mixed & 1 == 0))
            }
        }
    }

    /// z(x) of each row, sparse.
    pub(super) fn apply_sparse<T: Scalar>(&self, engine: &Engine, rows: &Rows<'_, T>) -> Csr<T> {
        let hashes = vec![0; rows.count() * self.grids.count()];
        let bins = self.named(engine, hashes, &|range, hashes| {
            self.grids.hashes(engine, &rows.slice(range), hashes);
        });
        self.with_waves(engine, bins, rows)
    }

    /// The features of rows, given the bins that they are in.
    pub(super) fn with_waves<T: Scalar>(&self, engine: &Engine, bins: Csr<T>, rows: &Rows<'_, T>) -> Csr<T> {
        let Some(waves) = &self.grids.waves else { return bins };
        let width = 2 * self.grids.count();
        let mut features = Csr::empty(self.output_dim());
        let mut values = vec![T::default(); width];
        for i in 0..rows.count() {
            waves.apply(engine, &rows.slice(i..i + 1), &mut values, width, false);
            let (indices, signs) = bins.view().row(i);
            features.push_row(indices.iter().zip(signs).flat_map(|(&bin, sign)| {
                let g = self.grid_of(bin);
                let sign = sign.to_f64().signum();
                let value = |at: usize| T::from_f64(sign * values[at].to_f64());
                [(2 * bin, value(2 * g)), (2 * bin + 1, value(2 * g + 1))]
            }));
        }
        features
    }

    /// The grid of a bin.
    fn grid_of(&self, bin: u32) -> usize {
        match &self.names {
            Names::Fitted(lookup) => lookup.lists().0.partition_point(|&end| end <= bin as usize),
            Names::Hashed { width } => bin as usize / width,
        }
    }

    /// As [`Binning::apply_sparse`], of rows whose hashes are there, or are written piece by piece before they are looked at.
    pub(super) fn named<T: Scalar>(
        &self,
        engine: &Engine,
        hashes: Vec<u32>,
        write: &(dyn Fn(Range<usize>, &mut [u32]) + Sync),
    ) -> Csr<T> {
        let count = self.grids.count();
        let n = hashes.len() / count;
        // One place a grid, of which the rows of unseen cells leave some at their end. Values are first written by the threads that
        // share them: the system clears a page when it is first touched.
        let (mut indices, mut values) = (hashes, vec![T::default(); n * count]);
        let mut lengths = vec![0usize; n];
        let parts = indices.chunks_mut(PIECE * count).zip(values.chunks_mut(PIECE * count));
        let mut parts: Vec<_> = parts.zip(lengths.chunks_mut(PIECE)).collect();
        engine.for_each_mut(&mut parts, &|p, ((indices, values), lengths)| {
            write(p * PIECE..n.min((p + 1) * PIECE), indices);
            let rows = indices.chunks_exact_mut(count).zip(values.chunks_exact_mut(count));
            for ((indices, values), length) in rows.zip(lengths.iter_mut()) {
                *length = self.name(indices, values);
            }
        });
        let mut starts = Vec::with_capacity(n + 1);
        starts.push(0);
        for (i, length) in lengths.into_iter().enumerate() {
            let (from, to) = (i * count, starts[i]);
            if from != to {
                indices.copy_within(from..from + length, to);
                values.copy_within(from..from + length, to);
            }
            starts.push(to + length);
        }
        indices.truncate(starts[n]);
        values.truncate(starts[n]);
        Csr::of_checked(self.bin_count(), starts, indices, values)
    }

    /// The hashes of a row's cells become its features, in place; returns how many there are.
    fn name<T: Scalar>(&self, hashes: &mut [u32], values: &mut [T]) -> usize {
        let value = self.grids.scale * (1.0 / hashes.len() as f64).sqrt();
        let signed = [T::from_f64(value), T::from_f64(-value)];
        let mut length = 0;
        for g in 0..hashes.len() {
            let found = self.feature(g, hashes[g]);
            let (feature, is_positive) = found.unwrap_or((0, true));
            (hashes[length], values[length]) = (feature, signed[usize::from(!is_positive)]);
            length += usize::from(found.is_some());
        }
        length
    }

    /// z(x) of row i, with its zeros, at `out[i·stride..]`.
    pub(super) fn apply<T: Scalar>(&self, engine: &Engine, rows: &Rows<'_, T>, out: &mut [T], stride: usize) {
        let (count, features) = (self.grids.count(), self.output_dim());
        let value = T::from_f64(self.grids.scale * (1.0 / count as f64).sqrt());
        let mut hashes = vec![0; rows.count() * count];
        self.grids.hashes(engine, rows, &mut hashes);
        let mut waves = vec![T::default(); self.grids.waves.as_ref().map_or(0, |_| rows.count() * 2 * count)];
        if let Some(fourier) = &self.grids.waves {
            fourier.apply(engine, rows, &mut waves, 2 * count, false);
        }
        for (i, (row, out)) in hashes.chunks_exact(count).zip(out.chunks_mut(stride)).enumerate() {
            out[..features].fill(T::default());
            for (g, &hash) in row.iter().enumerate() {
                let Some((bin, positive)) = self.feature(g, hash) else { continue };
                let bin = bin as usize;
                let signed = |z: T| if positive { z } else { T::from_f64(-z.to_f64()) };
                if waves.is_empty() {
                    out[bin] = signed(value);
                } else {
                    let pair = &waves[i * 2 * count + 2 * g..][..2];
                    (out[2 * bin], out[2 * bin + 1]) = (signed(pair[0]), signed(pair[1]));
                }
            }
        }
    }
}

/// Rows whose cells are found at once.
const PIECE: usize = 256;

/// Scatters a number over 64 bits (the finaliser of SplitMix64): slots and signs of a cell. Part of the model format.
fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}
