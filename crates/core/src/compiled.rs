//! Every public function that computes on rows, compiled here for both precisions and nowhere else.
//!
//! A generic function is compiled again in each crate that calls it, with all that it calls. The
//! compiler shares it only where it is `#[inline(never)]` and its own crate has compiled it for the
//! same type. So each public generic function that does more than hand out an entry has that
//! attribute and a line below; `make symbols` finds those that were forgotten.

use std::hint::black_box;

use crate::certify::{fourier_variance, inner_mean, inner_variance, sketch_variance};
use crate::content::ContentHash;
use crate::encode::{Metric, Scaling, SequenceEncoder};
use crate::learn::Principal;
use crate::map::Map;
use crate::solve::{KernelSvm, LinearSvm};
use crate::stat::{Gradients, Gram, Moments};
use crate::{Csr, CsrView, Kernel, MapSpec, Matrix, MatrixView, Model, Rows};

/// A pointer to a function compiles it.
macro_rules! compile {
    ($($T:ty),*) => {$(
        black_box(Model::decide::<$T> as fn(_, _, _) -> _);
        black_box(Model::encode::<$T> as fn(_, _, _) -> _);
        black_box(Model::deviation::<$T> as fn(_, _, _) -> _);
        black_box(Model::mean_deviation::<$T> as fn(_, _, _) -> _);
        black_box(Model::intervals::<$T> as fn(_, _, _, _) -> _);
        black_box(Map::transform::<$T> as fn(_, _, _) -> _);
        black_box(Map::transform_sparse::<$T> as fn(_, _, _) -> _);
        black_box(Map::transform_into::<$T> as fn(_, _, _, _) -> _);
        black_box(MapSpec::fit_transform_sparse::<$T> as fn(_, _, _) -> _);
        black_box(Kernel::eval::<$T> as fn(_, _, _, _, _) -> _);
        black_box(Kernel::distance::<$T> as fn(_, _, _, _, _) -> _);
        black_box(Kernel::diagonal::<$T> as fn(_, _) -> _);
        black_box(Kernel::gram::<$T> as fn(_, _, _, _) -> _);
        black_box(Kernel::gram_into::<$T> as fn(_, _, _, _, _) -> _);
        black_box(Kernel::distances_into::<$T> as fn(_, _, _, _, _) -> _);
        black_box(ContentHash::of::<$T> as fn(_, _, _) -> _);
        black_box(Gram::absorb::<$T> as fn(_, _, _, _, _, _, _));
        black_box(Moments::absorb::<$T> as fn(_, _, _, _));
        black_box(Gradients::absorb::<$T> as fn(_, _, _, _, _, _) -> _);
        black_box(inner_mean::<$T> as fn(_, _, _, _) -> _);
        black_box(inner_variance::<$T> as fn(_, _, _, _) -> _);
        black_box(fourier_variance::<$T> as fn(_, _, _, _, _) -> _);
        black_box(sketch_variance::<$T> as fn(_, _, _, _, _) -> _);
        black_box(SequenceEncoder::encode::<$T> as fn(_, _, _) -> _);
        black_box(Scaling::rows::<$T, f32> as fn(_, _) -> _);
        black_box(Scaling::rows::<$T, f64> as fn(_, _) -> _);
        black_box(Metric::rows::<$T> as fn(_, _, _) -> _);
        black_box(Principal::coordinates::<$T> as fn(_, _) -> _);
        black_box(LinearSvm::<$T>::solve as fn(_, _, _, _) -> _);
        black_box(KernelSvm::<$T>::solve as fn(_, _, _, _) -> _);
        black_box(Csr::<$T>::new as fn(_, _, _, _) -> _);
        black_box(CsrView::<$T>::new as fn(_, _, _, _) -> _);
        black_box(Matrix::<$T>::zeros as fn(_, _) -> _);
        black_box(MatrixView::<$T>::to_matrix as fn(_) -> _);
        black_box(Rows::<$T>::chosen as fn(_, _) -> _);
        black_box(Rows::<$T>::check_finite as fn(_, _) -> _);
        black_box(Rows::<$T>::densify as fn(_, _, _));
        black_box(Csr::<$T>::append as fn(_, _));
    )*};
}

/// Compiles every public function that computes on rows, for `f32` and `f64`.
#[doc(hidden)]
pub fn compiled() {
    compile!(f32, f64);
}
