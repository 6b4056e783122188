//! Every loop, compiled here for both number types and nowhere else.
//!
//! A generic function is compiled again in each crate that calls it. The compiler shares it only
//! where it is `#[inline(never)]` and its own crate has compiled it for the same type. So each
//! public function that is generic has that attribute and a line below, and `make symbols` checks
//! that no other crate defines one.

use std::hint::black_box;

use crate::*;

/// Compiles every public function for `f32` and `f64`.
#[doc(hidden)]
pub fn compiled() {
    for_type::<f32>();
    for_type::<f64>();
}

/// A pointer to a function compiles it.
fn for_type<T: Element>() {
    black_box(apply::<T> as fn(_, _, _, _, _));
    black_box(apply_sparse::<T> as fn(_, _, _, _, _));
    black_box(structured::<T> as fn(_, _, _, _, _, _, _));
    black_box(structured_sparse::<T> as fn(_, _, _, _, _, _, _));
    black_box(tensor_sketch::<T> as fn(_, _, _, _, _, _));
    black_box(tensor_sketch_sparse::<T> as fn(_, _, _, _, _, _));
    black_box(product_sketch::<T> as fn(_, _, _, _, _, _));
    black_box(product_sketch_sparse::<T> as fn(_, _, _, _, _, _));
    black_box(walsh_hadamard::<T> as fn(_, _, _));
    black_box(homogeneous::<T> as fn(_, _, _, _, _));
    black_box(sincos_turns::<T> as fn(_, _, _, _));
    black_box(decays::<T> as fn(_, _, _, _));
    black_box(project::<T> as fn(_, _, _, _, _));
    black_box(project_back::<T> as fn(_, _, _, _, _));
    black_box(pack_columns::<T> as fn(_, _, _, _));
    black_box(rank_tile::<T> as fn(_, _, _, _, _, _));
    black_box(cross_tile::<T> as fn(_, _, _, _, _));
    black_box(Panels::<T>::pack as fn(_, _, _, _) -> _);
    black_box(Fft::<T>::new as fn(_) -> _);
}
