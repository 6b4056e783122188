//! From what is wanted to how much it takes, and what is known beforehand.
//!
//! ```text
//! all pairs of N points within ε, probability 1 − δ      D = (4/ε²)·ln(N²/δ) pairs,  (8/ε²)·ln(N²/δ) offsets,  P = ln(N²/δ)/(2ε²) grids      (k(0) = 1)
//! variance of pairs                                      (1 + k(2Δ) − 2k(Δ)²)/D;     offsets (1 + k(2Δ)/2 − k(Δ)²)/D;      fitted grids k(1 − k)/P
//! everywhere in a domain of diameter ℓ                   the D at which the bound of `bound.rs` is δ; none where E‖ω‖² is infinite
//! squared kernel distance, one pair, relative ε          D = V/(ε²δ),  V = sup (1 + k(2Δ) − 2k²)/(1 − k)²                               (Chebyshev)
//! landmarks, margin γ, error ε                           m = (8/ε)·(1/γ² + ln(1/δ))                                        (Balcan, Blum, Vempala 2006)
//! ```
//! Var(2 − 2k̂) = 4·Var k̂ and the distance squared is 2(1 − k), hence V; for the Gaussian it is (1 + k)² ≤ 4. As Δ → 0, V tends to 2·Var(t²)/(E t²)², t = ω·Δ: 4 for the Gaussian, 4 + 6/α for the rational quadratic, 2(3(ν − 1)/(ν − 2) − 1) for Matérn's; without a fourth moment
//! of frequencies it is infinite, and no number of features keeps small distances relatively. `docs/book/certificate.md`.

use crate::kernel::{Form, Spectrum};
use crate::{Error, FourierForm, Kernel, Result, Rows, Scalar};

pub(super) fn between(name: &'static str, value: f64) -> Result<()> {
    if value > 0.0 && value < 1.0 {
        return Ok(());
    }
    Err(Error::Parameter { name, expected: "between 0 and 1", found: value.to_string() })
}

fn positive(name: &'static str, value: f64) -> Result<()> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(Error::Parameter { name, expected: "above 0", found: value.to_string() })
}

fn spectrum(kernel: &Kernel, what: &str) -> Result<Spectrum> {
    kernel.spectrum().ok_or_else(|| Error::Unsupported {
        what: format!("{what} of {kernel}"),
        reason: "it is not a function of x − y",
        instead: "measure the error instead",
    })
}

/// There is such a row.
pub(super) fn check_row<T: Scalar>(rows: &Rows<'_, T>, i: usize) -> Result<()> {
    if i < rows.count() {
        return Ok(());
    }
    let found = format!("row {i} of {}", rows.count());
    Err(Error::Parameter { name: "a row's number", expected: "below the number of rows", found })
}

/// A count that is at least `least` and can be one.
pub(super) fn count(least: f64) -> Result<usize> {
    if least <= 1e15 {
        Ok(least.ceil().max(1.0) as usize)
    } else {
        let found = format!("{least:.1e}");
        Err(Error::Parameter {
            name: "the number of features that this takes",
            expected: "at most 1e15",
            found,
        })
    }
}

/// Fourier features, D, with which all pairs of `points` points are within `epsilon` of the kernel with probability 1 − `delta`.
pub fn features_for(
    kernel: &Kernel,
    form: FourierForm,
    points: u64,
    epsilon: f64,
    delta: f64,
) -> Result<usize> {
    kernel.validate()?;
    between("delta", delta)?;
    let mass = spectrum(kernel, "the number of Fourier features")?.mass;
    positive("epsilon", epsilon)?;
    let one = super::bound::fourier_spread(form, 1) * mass * mass;
    let needed = one / (epsilon * epsilon) * (2.0 * libm::log(points.max(2) as f64) - libm::log(delta));
    Ok(count(needed)?.next_multiple_of(if form == FourierForm::Pairs { 2 } else { 1 }))
}

/// Fourier features, D, with which all points of a box of `columns` columns and this diameter are within `epsilon` of the kernel with probability 1 − `delta`.
///
/// Refused where no such number exists: for laws whose frequencies have no second moment.
pub fn features_for_domain(
    kernel: &Kernel,
    form: FourierForm,
    (columns, diameter): (usize, f64),
    epsilon: f64,
    delta: f64,
) -> Result<usize> {
    kernel.check(columns)?;
    between("delta", delta)?;
    positive("epsilon", epsilon)?;
    positive("diameter", diameter)?;
    let Spectrum { mass, law } = spectrum(kernel, "a bound everywhere")?;
    let Some(moment) = law.second_moment(columns) else {
        return Err(Error::Unsupported {
            what: format!("a bound of Fourier features everywhere in a domain for {kernel}"),
            reason: "its frequencies have no second moment, so that features change too fast to be bounded between points",
            instead: "ask for the pairs of finitely many points, or use binning for laplace and hat",
        });
    };
    let relative = (epsilon / mass).min(1.0);
    let enough = |features: usize| {
        let bound =
            super::bound::fourier_everywhere(form, features, columns, moment.sqrt() * diameter, delta);
        bound.is_some_and(|found| found <= relative)
    };
    let Some(power) = (1..50).find(|power| enough(1 << power)) else {
        return Err(Error::Overflow { what: "the number of features" });
    };
    let (mut few, mut many) = (1usize << (power - 1), 1usize << power);
    while many - few > 1 {
        let middle = few + (many - few) / 2;
        if enough(middle) { many = middle } else { few = middle }
    }
    Ok(many.next_multiple_of(if form == FourierForm::Pairs { 2 } else { 1 }))
}

/// Fitted grids, P, with which all pairs of `points` points are within `epsilon` of the kernel with probability 1 − `delta`.
pub fn grids_for(kernel: &Kernel, points: u64, epsilon: f64, delta: f64) -> Result<usize> {
    kernel.validate()?;
    between("delta", delta)?;
    positive("epsilon", epsilon)?;
    crate::MapSpec {
        kernel: kernel.clone(),
        method: crate::Method::Binning { bins: crate::Bins::Fitted },
        features: 1,
        seed: 0,
    }
    .validate()?;
    let law = kernel.grid_law(1);
    let mass = law.as_ref().map_or(1.0, |law| law.mass);
    let one = super::bound::grid_spread(crate::Bins::Fitted, law.as_ref(), 1) * mass * mass;
    count(one / (epsilon * epsilon) * (2.0 * libm::log(points.max(2) as f64) - libm::log(delta)))
}

/// The variance of z(x)·z(y) for rows i and j, over seeds, with so many independent Fourier features.
#[inline(never)]
pub fn fourier_variance<T: Scalar>(
    kernel: &Kernel,
    form: FourierForm,
    features: usize,
    rows: &Rows<'_, T>,
    (i, j): (usize, usize),
) -> Result<f64> {
    kernel.check(rows.columns())?;
    spectrum(kernel, "the variance of Fourier features")?;
    // k(2Δ)/k(0) with k(Δ)/k(0): half the width is twice the difference.
    let mass = kernel.constant_diagonal().unwrap_or(1.0);
    let value = |kernel: &Kernel| kernel.eval(rows, i, rows, j) / mass;
    let (once, twice) = (value(kernel), value(&kernel.widened(0.5)));
    let one = match form {
        FourierForm::Pairs => 1.0 + twice - 2.0 * once * once,
        FourierForm::Offset => 1.0 + 0.5 * twice - once * once,
    };
    Ok(mass * mass * one.max(0.0) / features.max(1) as f64)
}

/// Fourier pairs, D, with which the squared kernel distance of one pair of rows is within `epsilon` of itself, relatively, with probability 1 − `delta`.
///
/// For kernels of the distance ‖x − y‖ whose frequencies have a fourth moment; refused for others.
pub fn features_for_distance(kernel: &Kernel, epsilon: f64, delta: f64) -> Result<usize> {
    kernel.validate()?;
    between("epsilon", epsilon)?;
    between("delta", delta)?;
    let law = spectrum(kernel, "relative errors of distances")?.law;
    let refuse = |reason, instead| {
        Err(Error::Unsupported {
            what: format!("a relative guarantee for distances of {kernel}"),
            reason,
            instead,
        })
    };
    if !law.has_fourth_moment() {
        return refuse(
            "its frequencies have no fourth moment, so the relative error of small distances has no bound",
            "use a smoother kernel, such as matern(nu=2.5), or ask for an absolute error",
        );
    }
    let (Some(Form::Radial { profile, .. }), Some(limit)) = (bare(kernel).form(), law.small_distances())
    else {
        return refuse("it is known for kernels of ‖x − y‖ alone", "ask for an absolute error");
    };
    // sup over distances r of (1 + k(2r) − 2k(r)²)/(1 − k(r))²: the limit at zero, and a grid from where 1 − k is above rounding to where k is nothing.
    let ratio = |step: u32| {
        let r = 1e-2 * libm::exp(f64::from(step) * 0.01);
        let (once, twice) = (profile.value(r * r), profile.value(4.0 * r * r));
        (1.0 + twice - 2.0 * once * once) / ((1.0 - once) * (1.0 - once))
    };
    let largest = (0..1200).map(ratio).fold(limit, f64::max);
    // The grid may miss a supremum between its points by a little.
    Ok(count(1.001 * largest / (epsilon * epsilon * delta))?.next_multiple_of(2))
}

/// A kernel without its factor and its columns: they change no relative distance, or only which columns it is of.
fn bare(kernel: &Kernel) -> &Kernel {
    match kernel {
        Kernel::Scaled { kernel, .. } | Kernel::Normalised { kernel } | Kernel::Restricted { kernel, .. } => {
            bare(kernel)
        }
        kernel => kernel,
    }
}

/// Landmarks, m, with which a problem that the kernel separates with margin γ (k(x, x) = 1) is separated by F₁ but for a part ε of its rows, with
/// probability 1 − `delta`; by F₂ at margin γ/2.
pub fn landmarks_for_margin(margin: f64, epsilon: f64, delta: f64) -> Result<usize> {
    between("epsilon", epsilon)?;
    between("delta", delta)?;
    if !(margin > 0.0 && margin <= 1.0) {
        return Err(Error::Parameter {
            name: "margin",
            expected: "above 0 and at most 1",
            found: margin.to_string(),
        });
    }
    count(8.0 / epsilon * (1.0 / (margin * margin) - libm::log(delta)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_by_hand() {
        let gaussian = Kernel::gaussian(1.0);
        // (4/0.01)·ln(10¹²/0.05) = 12,250.7
        assert_eq!(features_for(&gaussian, FourierForm::Pairs, 1_000_000, 0.1, 0.05).unwrap(), 12_252);
        assert_eq!(features_for(&gaussian, FourierForm::Offset, 1_000_000, 0.1, 0.05).unwrap(), 24_502);
        assert_eq!(
            features_for(&gaussian.clone().scaled(2.0), FourierForm::Pairs, 1_000_000, 0.2, 0.05).unwrap(),
            12_252
        );
        assert_eq!(grids_for(&Kernel::laplace(1.0), 1_000_000, 0.1, 0.05).unwrap(), 1_532);
        // 80·(25 + ln 20)
        assert_eq!(landmarks_for_margin(0.2, 0.1, 0.05).unwrap(), 2_240);
        // V = 4 for the Gaussian: 4/(0.01·0.05); 2(3·1.5/0.5 − 1) = 16 for ν = 2.5; 10 for α = 1.
        for (text, features) in [
            ("gaussian(sigma=1)", 8_008),
            ("3*gaussian(sigma=[1,2])[4,0]", 8_008),
            ("matern(nu=2.5,scale=1)", 32_032),
            ("matern(nu=2.01,scale=3)", 1_209_210),
            ("rational_quadratic(alpha=1,scale=1)", 20_020),
        ] {
            assert_eq!(features_for_distance(&text.parse().unwrap(), 0.1, 0.05).unwrap(), features, "{text}");
        }
        // Waves have signs: four times the grids.
        let waves: Kernel = "laplace(scale=1)*gaussian(sigma=1)".parse().unwrap();
        assert_eq!(grids_for(&waves, 1_000_000, 0.1, 0.05).unwrap(), 6_126);
        assert!(grids_for(&Kernel::laplace(1.0).scaled(5.0), 100, 2.0, 0.05).is_ok());
        // 3.5e4 for two columns and a diameter of ten, as in `bound.rs`; none for heavy tails.
        let domain = |kernel: &Kernel| features_for_domain(kernel, FourierForm::Pairs, (2, 10.0), 0.1, 0.05);
        assert!((34_000..36_000).contains(&domain(&gaussian).unwrap()), "{:?}", domain(&gaussian));
        assert!(domain(&Kernel::matern(1.5, 1.0)).is_ok());
        for heavy in
            [Kernel::laplace(1.0), Kernel::exponential(1.0), Kernel::matern(1.0, 1.0), Kernel::hat(1.0)]
        {
            assert!(domain(&heavy).unwrap_err().to_string().contains("no second moment"));
        }
        for refused in [
            "laplace(scale=1)",
            "exponential(scale=1)",
            "matern(nu=2,scale=1)",
            "matern(nu=1.5,scale=1)",
            "linear",
            "hat(width=1)",
        ] {
            let kernel: Kernel = refused.parse().unwrap();
            assert!(features_for_distance(&kernel, 0.1, 0.05).is_err(), "{refused}");
        }
        assert!(features_for_distance(&Kernel::matern(2.5, 1.0), 0.1, 0.05).is_ok());
        assert!(grids_for(&gaussian, 100, 0.1, 0.05).is_err());
        assert!(features_for(&Kernel::Linear, FourierForm::Pairs, 100, 0.1, 0.05).is_err());
        for (epsilon, delta) in [(0.0, 0.5), (0.1, 0.0), (0.1, 1.0), (f64::NAN, 0.5)] {
            assert!(features_for(&gaussian, FourierForm::Pairs, 100, epsilon, delta).is_err());
            assert!(landmarks_for_margin(0.5, epsilon, delta).is_err());
        }
        assert!(landmarks_for_margin(1.5, 0.1, 0.1).is_err());
        assert!(
            features_for(&gaussian, FourierForm::Pairs, 100, 1e-9, 0.05).is_err(),
            "more than there can be"
        );
    }
}
