//! Sketches of the polynomial kernel, for more monomials than there is room for.
//!
//! ```text
//! k(x, y) = (γ·x·y + c)ᵖ = (u·v)ᵖ,    u = (√γ·x, √c)
//!
//! product   a(ℓ) = ∏ₜ (H·Pₜ·Sₜ·u)(ℓ)                   S signs 1, i, −1, −i;  P permutations;  H Walsh–Hadamard;  fresh ones for each block of draws ℓ
//! tensor    a(k) = ∏ₜ Σⱼ sₜ(j)·uⱼ·e^(−2πi·hₜ(j)·k/m)   s signs ±1;  h places among m: the Fourier transforms of count sketches
//!
//! z(x) = (Re a, Im a, …)/√draws                        E[z(x)·z(y)] = k(x, y)
//! ```
//! Each factor of a draw has E[aₜ(u)·conj aₜ(v)] = u·v, and factors are independent. The inverse transform with which TensorSketch usually ends is orthogonal (Parseval): leaving it out changes no inner product, and no
//! linear model with a Euclidean penalty. A row costs p·D·log₂ d additions in the one, p·(nnz + 2·D·log₂ D) in the other. With N = ‖u‖²‖v‖² − Σuⱼ²vⱼ² and M = (u·v)² − Σuⱼ²vⱼ²
//! both have the variance {((u·v)² + N)ᵖ + ((u·v)² + M)ᵖ − 2(u·v)²ᵖ}/D at first order; count sketches add a term in 1/D², Hadamard blocks take one away: `certify::sketch_variance`,
//! `docs/book/sketches.md`. Pham & Pagh (2013); Hamid, Xiao, Gittens, DeCoste (2014); Wacker, Kanagawa, Filippone (2022).

use bochner_simd::{RowsRef, SparseRowsRef};
use serde::{Deserialize, Serialize};

use super::packed::{Family, PerPrecision};
use super::prepared;
use crate::random::{Draws, Stream};
use crate::{Engine, Error, Kernel, OwnedRows, Result, Rows, Scalar};

/// How a polynomial kernel is sketched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sketch {
    /// Count sketches, multiplied as Fourier transforms (TensorSketch): for wide and sparse rows, any number of features.
    Tensor,
    /// Complex signs and Walsh–Hadamard transforms: lower variance, for dense rows; an even number of features.
    Product,
}

/// The one that costs less for its variance: transforms of the columns where at least as many features are wanted, count sketches for wider rows.
pub(super) fn usual(polynomial: &Kernel, columns: usize, features: usize) -> Sketch {
    let variables = columns + usize::from(matches!(polynomial, Kernel::Polynomial { c, .. } if *c > 0.0));
    if features > 1 && variables.next_power_of_two() <= features { Sketch::Product } else { Sketch::Tensor }
}

impl Sketch {
    /// Features that are made of so many.
    pub(super) fn features(self, budget: usize) -> usize {
        match self {
            Sketch::Tensor => budget,
            Sketch::Product => budget / 2 * 2,
        }
    }

    pub(super) fn validate(self, kernel: &Kernel, features: usize) -> Result<()> {
        if !matches!(kernel.bare(), Kernel::Polynomial { .. }) {
            return Err(Error::Unsupported {
                what: format!("a sketch of {kernel}"),
                reason: "sketches are of powers of x·y",
                instead: "use a compiled map, which sketches the powers in an expression",
            });
        }
        if features > 1 << 31 {
            return Err(Error::Overflow { what: "the features of a sketch" });
        }
        if self.features(features) != features {
            return Err(Error::Parameter {
                name: "features",
                expected: "even, as features of this sketch come in pairs",
                found: features.to_string(),
            });
        }
        Ok(())
    }

    /// Numbers that a map of so many features keeps, in units of 20 bytes.
    pub(super) fn entries(self, kernel: &Kernel, columns: usize, features: usize) -> f64 {
        let &Kernel::Polynomial { degree, .. } = kernel.bare() else { return 0.0 };
        let variables = (columns + 1) as f64;
        let blocks = match self {
            Sketch::Tensor => f64::from(features.count_ones()),
            Sketch::Product => (features as f64 / 2.0 / variables).ceil(),
        };
        blocks * variables * f64::from(degree) + features as f64
    }
}

/// A sketch that can be applied.
#[derive(Clone, Debug)]
pub(crate) struct Sketched {
    features: usize,
    degree: usize,
    columns: usize,
    /// √c
    constant: f64,
    /// √γ for each column, so that each factor of a product has its share and none overflows; none if it is 1.
    factors: Vec<f64>,
    tables: Tables,
}

#[derive(Clone, Debug)]
enum Tables {
    /// Powers of two that add up to D, the largest first: each a sketch of its own, weighted by its share.
    Tensor {
        blocks: Vec<CountSketches>,
        packed: PerPrecision<OfSigns>,
    },
    Product {
        padded: usize,
        places: Vec<u32>,
        turns: Vec<u8>,
    },
}

/// Places and signs for each degree of each column and the constant.
#[derive(Clone, Debug)]
struct CountSketches {
    buckets: usize,
    places: Vec<u32>,
    signs: Vec<f64>,
}

/// Signs and tables of a transform for each block.
struct OfSigns;

impl Family for OfSigns {
    type Of<T: Scalar> = Vec<(Vec<T>, bochner_simd::Fft<T>)>;
}

impl Sketched {
    pub(super) fn new(
        sketch: Sketch,
        (degree, gamma, c): (u32, f64, f64),
        features: usize,
        columns: usize,
        seed: u64,
    ) -> Sketched {
        let degree = degree as usize;
        let tables = match sketch {
            Sketch::Tensor => {
                let powers = (0..usize::BITS).rev().map(|bit| 1 << bit).filter(|m| features & m != 0);
                let blocks =
                    powers.enumerate().map(|(b, m)| CountSketches::draw(m, degree, columns, seed, b));
                Tables::Tensor { blocks: blocks.collect(), packed: PerPrecision::default() }
            }
            Sketch::Product => product_tables(features / 2, degree, columns, c > 0.0, seed),
        };
        #[expect(clippy::float_cmp, reason = "one is one")]
        let factors = if gamma == 1.0 { Vec::new() } else { vec![gamma.sqrt(); columns] };
        Sketched { features, degree, columns, constant: c.sqrt(), factors, tables }
    }

    pub(super) fn output_dim(&self) -> usize {
        self.features
    }

    /// Whether features come in pairs that are one draw each.
    pub(super) fn is_paired(&self) -> bool {
        matches!(self.tables, Tables::Product { .. })
    }

    pub(super) fn regenerated(&self, add: &mut dyn FnMut(&[f64])) {
        let mut numbers = |list: &mut dyn Iterator<Item = f64>| add(&list.collect::<Vec<_>>());
        match &self.tables {
            Tables::Tensor { blocks, .. } => {
                for block in blocks {
                    numbers(
                        &mut block.places.iter().zip(&block.signs).map(|(p, s)| s * (1.0 + f64::from(*p))),
                    );
                }
            }
            Tables::Product { places, turns, .. } => {
                numbers(&mut places.iter().zip(turns).map(|(p, t)| f64::from(4 * *p) + f64::from(*t)));
            }
        }
    }

    pub(super) fn apply<T: Scalar>(&self, engine: &Engine, rows: &Rows<'_, T>, out: &mut [T], stride: usize) {
        debug_assert_eq!(rows.columns(), self.columns);
        let constant = T::from_f64(self.constant);
        let scaled = prepared(rows, None, &self.factors);
        let rows = &scaled.as_ref().map_or(*rows, OwnedRows::view);
        match &self.tables {
            Tables::Tensor { blocks, packed } => {
                let packed = packed.get(engine.isa(), || {
                    let signs = |block: &CountSketches| block.signs.iter().map(|s| T::from_f64(*s)).collect();
                    blocks.iter().map(|b| (signs(b), bochner_simd::Fft::new(b.buckets))).collect()
                });
                let mut start = 0;
                for (block, (signs, fft)) in blocks.iter().zip(packed) {
                    let share = (block.buckets as f64 / self.features as f64).sqrt();
                    let sketch = bochner_simd::TensorSketch {
                        buckets: block.buckets,
                        degree: self.degree,
                        places: &block.places,
                        signs,
                        constant,
                        scale: T::from_f64(share),
                        fft,
                    };
                    tensor(engine, rows, &sketch, &mut out[start..], stride);
                    start += block.buckets;
                }
            }
            Tables::Product { padded, places, turns } => {
                let draws = self.features / 2;
                let sketch = bochner_simd::ProductSketch {
                    padded: *padded,
                    degree: self.degree,
                    draws,
                    places,
                    turns,
                    constant,
                    scale: T::from_f64((1.0 / draws as f64).sqrt()),
                };
                product(engine, rows, &sketch, out, stride);
            }
        }
    }
}

impl CountSketches {
    fn draw(buckets: usize, degree: usize, columns: usize, seed: u64, block: usize) -> CountSketches {
        let (mut places, mut signs) = (Vec::new(), Vec::new());
        for t in 0..degree {
            let mut draws = Draws::new(seed, Stream::Sketches, index(block, t));
            for _ in 0..=columns {
                let word = draws.word();
                // 31 bits of place, exactly uniform as buckets are a power of two; one bit of sign.
                places.push((word >> 1) & (buckets as u32 - 1));
                signs.push(if word & 1 == 0 { 1.0 } else { -1.0 });
            }
        }
        CountSketches { buckets, places, signs }
    }
}

/// Permutations and turns for each block and degree of each column and the constant, which has a place even where it is zero.
fn product_tables(draws: usize, degree: usize, columns: usize, has_constant: bool, seed: u64) -> Tables {
    let padded = (columns + usize::from(has_constant)).next_power_of_two();
    let (mut places, mut turns) = (Vec::new(), Vec::new());
    let mut order: Vec<u32> = (0..padded as u32).collect();
    for block in 0..draws.div_ceil(padded) {
        for t in 0..degree {
            let mut draws = Draws::new(seed, Stream::Sketches, index(block, t));
            // The start of a permutation, by Fisher and Yates; where the one before it ended is as good a start as any other, but not a function of this block alone.
            order.iter_mut().zip(0..).for_each(|(to, i)| *to = i);
            for j in 0..=columns {
                if j < padded {
                    order.swap(j, j + draws.below((padded - j) as u64) as usize);
                }
                places.push(order[j.min(padded - 1)]);
                turns.push((draws.word() & 3) as u8);
            }
        }
    }
    Tables::Product { padded, places, turns }
}

/// Of the draws of a block and degree.
fn index(block: usize, degree: usize) -> u64 {
    (block as u64) << 8 | degree as u64
}

fn tensor<T: Scalar>(
    engine: &Engine,
    rows: &Rows<'_, T>,
    sketch: &bochner_simd::TensorSketch<'_, T>,
    out: &mut [T],
    stride: usize,
) {
    match rows {
        Rows::Dense(dense) => {
            let view = RowsRef { data: dense.as_slice(), count: dense.rows(), stride: dense.stride() };
            bochner_simd::tensor_sketch(engine.isa(), view, rows.columns(), sketch, out, stride);
        }
        Rows::Sparse(sparse) => {
            let view =
                SparseRowsRef { starts: sparse.starts(), indices: sparse.indices(), values: sparse.values() };
            bochner_simd::tensor_sketch_sparse(engine.isa(), view, rows.columns(), sketch, out, stride);
        }
    }
}

fn product<T: Scalar>(
    engine: &Engine,
    rows: &Rows<'_, T>,
    sketch: &bochner_simd::ProductSketch<'_, T>,
    out: &mut [T],
    stride: usize,
) {
    match rows {
        Rows::Dense(dense) => {
            let view = RowsRef { data: dense.as_slice(), count: dense.rows(), stride: dense.stride() };
            bochner_simd::product_sketch(engine.isa(), view, rows.columns(), sketch, out, stride);
        }
        Rows::Sparse(sparse) => {
            let view =
                SparseRowsRef { starts: sparse.starts(), indices: sparse.indices(), values: sparse.values() };
            bochner_simd::product_sketch_sparse(engine.isa(), view, rows.columns(), sketch, out, stride);
        }
    }
}
