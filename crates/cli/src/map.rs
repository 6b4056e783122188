//! `--map` and what goes with it → a method: the same for every command.

use bochner::map::Sketch;
use bochner::{Bins, FourierForm, FrequencyDraw, Map, Method, Nonzeros, Projection};

use crate::args::{ChoiceArg, MapArg, MapArgs};
use crate::exit::Failure;
use crate::text;

/// The number of features that was asked for is not to be had of an exact map.
pub(crate) fn exact_warning(asked: Option<usize>, map: &Map) -> Option<String> {
    let (asked, found) = (asked?, map.output_dim());
    if map.spec().method != Method::Exact || asked == found {
        return None;
    }
    let found = text::counted(found as u64, "feature", "features");
    Some(format!(
        "the exact map has {found}, whatever --features says; --map sparse and other projections have as many as asked"
    ))
}

/// The method that was typed; none for the usual one of the kernel.
pub(crate) fn method(typed: &MapArgs) -> Result<Option<Method>, Failure> {
    let refuse = |text: &str| Err(Failure::Usage(text.to_owned()));
    if !matches!(typed.map, MapArg::Landmarks) && !matches!(typed.landmarks, ChoiceArg::Uniform) {
        return refuse("--landmarks says how those of --map landmarks are chosen");
    }
    if !matches!(typed.map, MapArg::Sparse) && (typed.nonzeros.is_some() || typed.unsigned) {
        return refuse("--nonzeros and --unsigned are about the entries of --map sparse");
    }
    let fourier = |form, draw| Method::Fourier { form, draw };
    let projection = |how| Method::Projection { how };
    Ok(Some(match typed.map {
        MapArg::Auto => return Ok(None),
        MapArg::Fourier => fourier(FourierForm::Pairs, FrequencyDraw::Independent),
        MapArg::Orthogonal => fourier(FourierForm::Pairs, FrequencyDraw::Orthogonal),
        MapArg::Offset => fourier(FourierForm::Offset, FrequencyDraw::Independent),
        MapArg::Quasi => fourier(FourierForm::Pairs, FrequencyDraw::Quasi),
        MapArg::Turned => fourier(FourierForm::Pairs, FrequencyDraw::Turned),
        MapArg::Structured => fourier(FourierForm::Pairs, FrequencyDraw::Structured),
        MapArg::Compiled => Method::Compiled { bins: None },
        MapArg::Exact => Method::Exact,
        MapArg::Tensor => Method::Sketch { sketch: Sketch::Tensor },
        MapArg::Product => Method::Sketch { sketch: Sketch::Product },
        MapArg::Landmarks => {
            Method::Landmarks { whiten: true, tolerance: 1e-7, choice: typed.landmarks.into() }
        }
        MapArg::Binning => Method::Binning { bins: Bins::Fitted },
        MapArg::Gaussian => projection(Projection::Gaussian),
        MapArg::Signs => projection(Projection::Signs),
        MapArg::Orthonormal => projection(Projection::Orthonormal),
        MapArg::Hadamard => projection(Projection::Hadamard),
        MapArg::Sparse => projection(Projection::Sparse {
            nonzeros: typed.nonzeros.unwrap_or(Nonzeros::Count { count: 8 }),
            signed: !typed.unsigned,
        }),
    }))
}
