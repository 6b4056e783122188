//! The hot loops of `bochner`.
//!
//! Everything a feature map or a Gram matrix spends its time in, as safe functions on slices:
//!
//! | function | formula |
//! |---|---|
//! | [`sincos_turns`] | cos 2πt, sin 2πt |
//! | [`apply`], [`apply_sparse`] | rows × packed [`Panels`], an inner operation, an ending ([`Apply`]) |
//! | [`walsh_hadamard`] | H·x of each row |
//! | [`structured`], [`structured_sparse`] | rows × frequencies made of signs and H, an ending |
//! | [`tensor_sketch`], [`tensor_sketch_sparse`] | transforms of count sketches, multiplied |
//! | [`product_sketch`], [`product_sketch_sparse`] | products of complex projections by signs and H |
//! | [`rank_tile`] | C += AᵀB on packed columns, summed in f64 |
//! | [`cross_tile`] | C += AᵀY, Y in f64 |
//! | [`cells`] | ⌊x·inverse − offset⌋ of each column, hashed to one number for each grid |
//! | [`homogeneous`] | √x·cos(j·step·ln x), √x·sin(j·step·ln x) |
//! | [`product_tile`], [`thin_product`] | C += factor·A·B on [packed](pack) f64 |
//! | [`Triangle::solve`] | X ← T⁻¹X |
//! | [`symmetric_product`], [`row_products`], [`add_rows`], [`rotate`] | matrices and vectors |
//! | [`secular_sums`], [`loewner_factors`], [`secular_vector`] | Σ zᵢ²/(dᵢ − λ), and what follows |
//! | [`decays`] | exp(−rate·s) |
//! | [`move_errors`], [`best_partner`] | the two passes of a solver that moves pairs of variables |
//! | [`project`], [`project_back`] | z·c for each output, in f64; Σ y·z over rows |
//!
//! Each loop is written once, against a private trait of vector lanes, and compiled three times: portable
//! code, AVX2+FMA and AVX-512. [`Isa`] names the choice; a value of it can only be had where the processor
//! supports it, which is what makes the functions safe. Within one [`Isa`] the result for a row does not depend
//! on the rows beside it, on where a block starts or on the number of threads: every output is one
//! chain of operations in the order of the inner index, or of the stages of a transform.

mod aligned;
mod apply;
mod cells;
mod comb;
mod compiled;
mod decay;
mod dispatch;
mod element;
mod ending;
mod exp;
mod fft;
mod hadamard;
mod homogeneous;
mod isa;
#[allow(unnameable_types, reason = "lanes are public only because the sealed trait of elements names them")]
mod lanes;
mod log;
mod operand;
mod operation;
mod pair;
mod panel;
mod product;
mod product_sketch;
mod project;
mod rank;
mod row;
mod secular;
mod soon;
mod structured;
mod symmetric;
mod tensor_sketch;
mod transpose;
mod triangle;
mod trig;

pub use aligned::{Aligned, ask_for_huge_pages};
pub use apply::{Apply, Distance, HingeOrder};
pub use cells::{CELL_PRIME, Grids, cells};
#[doc(hidden)]
pub use compiled::compiled;
pub use decay::decays;
pub use element::Element;
pub use fft::Fft;
pub use hadamard::walsh_hadamard;
pub use homogeneous::homogeneous;
pub use isa::{Isa, UnknownIsa};
pub use operand::{Operand, Side, pack, packed_size, tile_shape, transpose};
pub use pair::{Extremes, Room, best_partner, move_errors};
pub use panel::Panels;
pub use product::{product_tile, thin_product};
pub use product_sketch::{ProductSketch, product_sketch, product_sketch_sparse};
pub use project::{project, project_back};
pub use rank::{Extent, TILE, cross_tile, pack_columns, rank_tile};
pub use row::{RowsRef, SparseRowsRef, apply, apply_sparse};
pub use secular::{loewner_factors, secular_differences, secular_sums, secular_vector};
pub use structured::{Structured, structured, structured_sparse};
pub use symmetric::{add_rows, rotate, row_products, symmetric_product};
pub use tensor_sketch::{TensorSketch, tensor_sketch, tensor_sketch_sparse};
pub use triangle::Triangle;
pub use trig::sincos_turns;
