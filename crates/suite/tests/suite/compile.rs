//! Expressions → maps: what is chosen, what it says of itself, what is refused.

use crate::table::{INPUTS, engine, inner};
use bochner::map::How;
use bochner::{Bins, Engine, FourierForm, FrequencyDraw, Kernel, MapSpec, Matrix, Method, Recipe, Rows};
use bochner_testkit::{Relative, assert_close};
use proptest::prelude::*;
use proptest::strategy::ValueTree;

/// Leaves of moderate width for rows of three entries that are not negative.
fn leaf() -> impl Strategy<Value = Kernel> {
    let width = || 0.7f64..5.0;
    prop_oneof![
        Just(Kernel::Constant),
        Just(Kernel::Linear),
        Just(Kernel::AllSubsets),
        Just(Kernel::Chi2),
        Just(Kernel::Intersection),
        width().prop_map(Kernel::gaussian),
        width().prop_map(Kernel::laplace),
        width().prop_map(Kernel::exponential),
        width().prop_map(|w| Kernel::hat(2.0 * w)),
        width().prop_map(|w| Kernel::Cauchy { scale: w.into() }),
        width().prop_map(|w| Kernel::Sinc { scale: w.into() }),
        width().prop_map(|w| Kernel::RadialSinc { scale: w.into() }),
        (0.3f64..4.0, width()).prop_map(|(nu, w)| Kernel::matern(nu, w)),
        (0.3f64..4.0, width()).prop_map(|(alpha, w)| Kernel::RationalQuadratic { alpha, scale: w.into() }),
        (0.1f64..1.0).prop_map(|gamma| Kernel::ExponentialChi2 { gamma }),
        (0u32..3).prop_map(|order| Kernel::ArcCosine { order }),
        (1u32..4, 0.0f64..1.0).prop_map(|(degree, c)| Kernel::polynomial(degree, c)),
        prop::collection::vec(0.1f64..1.0, 1..4).prop_map(|coefficients| Kernel::Series { coefficients }),
        (1u32..4).prop_map(|degree| Kernel::Monomials { degree }),
        (1u32..4).prop_map(|degree| Kernel::Interactions { degree }),
        Just(Kernel::Parabolic),
        (width(), 0usize..3).prop_map(|(w, j)| Kernel::gaussian(w).on([j]).unwrap()),
        (width(), width()).prop_map(|(a, b)| Kernel::laplace(vec![a, b]).on([2usize, 0]).unwrap()),
    ]
}

/// Random expressions of them.
pub(crate) fn expression() -> impl Strategy<Value = Kernel> {
    leaf().prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            (0.2f64..3.0, inner.clone()).prop_map(|(c, k)| c * k),
            prop::collection::vec(inner.clone(), 2..4).prop_map(Kernel::sum),
            prop::collection::vec(inner.clone(), 2..4).prop_map(Kernel::product),
            inner.clone().prop_map(|k| k.scaled(0.3).exp()),
            inner.clone().prop_map(|k| (k + Kernel::Constant).normalised()),
            inner.prop_map(|k| k.weighted(bochner::kernel::FunctionName::Decay)),
        ]
    })
}

/// Whether features are unbiased: no deterministic approximation, and no random features inside an exponential.
pub(crate) fn is_unbiased(recipe: &Recipe) -> bool {
    let nested = matches!(recipe.how, How::Positive(_))
        && recipe.parts().iter().any(|part| part.variance() != Some(0.0));
    !nested
        && !matches!(recipe.how, How::Homogeneous { .. } | How::OfDistance { .. } | How::Taylor { .. })
        && recipe.parts().iter().all(is_unbiased)
}

/// Products of sums, of constants, and everything else: sixteen times the features make the error a quarter; less than 0.7 of it is asked for, as tails are heavy. A part that does not average over all
/// draws would not fall.
#[test]
fn errors_fall_with_the_number_of_features() {
    /// The errors of one map rise and fall together: fewer seeds would be noise.
    const SEEDS: u64 = 12;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let n = 30;
    let x = Matrix::from_fn(n, 3, |i, j| ((i * 7 + j * 3) as f64 * 0.61).sin().abs() * 1.2);
    let view = Rows::from(&x);
    let mut kernels: Vec<Kernel> = [
        "(constant + gaussian(sigma=1))*arc_cosine(order=1)",
        "exp(constant)*linear",
        "(laplace(scale=2) + 2*gaussian(sigma=1))*chi2",
        "all_subsets*(constant + linear)*exponential(scale=1)",
    ]
    .map(|text| text.parse().unwrap())
    .to_vec();
    kernels.extend((0..60).map(|_| expression().new_tree(&mut runner).unwrap().current()));
    let mut fell = 0;
    for kernel in kernels {
        let error = |features: usize| -> Option<f64> {
            let mut sum = 0.0;
            for seed in 0..SEEDS {
                let method = Method::Compiled { bins: None };
                let spec = MapSpec { kernel: kernel.clone(), method, features, seed };
                let recipe = spec.recipe(3).unwrap().unwrap();
                if !is_unbiased(&recipe) {
                    return None;
                }
                let map = spec.build(3).unwrap();
                let z = map.transform(&engine(1), &view).unwrap();
                let wrong =
                    |p: usize| (inner(&z, p / n, p % n) - kernel.eval(&view, p / n, &view, p % n)).abs();
                sum += (0..n * n).map(wrong).sum::<f64>() / (SEEDS as usize * n * n) as f64;
            }
            Some(sum)
        };
        let size = kernel.diagonal(&view).into_iter().fold(0.0, f64::max);
        let (Some(few), Some(many)) = (error(200), error(3200)) else { continue };
        assert!(many < 0.7 * few || many < 1e-9 * (1.0 + size), "{kernel}: {few} and {many}");
        fell += usize::from(few > 1e-9 * (1.0 + size));
    }
    assert!(fell > 20, "{fell}");
}

#[test]
fn explanations_add_up() {
    let kernel: Kernel =
        "0.7*gaussian(sigma=2)[0,1] + laplace(scale=3)*poly(degree=2,c=1)[2..4] + linear".parse().unwrap();
    let spec = MapSpec { features: 1000, ..MapSpec::auto(kernel) };
    assert_eq!(spec.method, Method::Compiled { bins: None });
    let recipe = spec.recipe(INPUTS).unwrap().unwrap();
    assert_eq!(recipe.parts().iter().map(|part| part.features).sum::<usize>(), recipe.features);
    assert!(recipe.features <= 1000 && recipe.features > 980, "{}", recipe.features);
    let text = recipe.to_string();
    for expected in [
        "├─ 0.7*gaussian(sigma=2)[0,1]",
        "orthogonal frequencies",
        "all products of",
        "its own features, exactly",
        "no variance",
        "linear  ─  its own features, exactly: 7 features (1 %)",
    ] {
        assert!(text.contains(expected), "{expected} in\n{text}");
    }
    // The shares make the sum of variances smallest: moving a tenth from one to another does not help.
    let two: Kernel = "3*gaussian(sigma=2) + laplace(scale=3)".parse().unwrap();
    let recipe = MapSpec { features: 400, ..MapSpec::auto(two) }.recipe(INPUTS).unwrap().unwrap();
    let shares: Vec<usize> = recipe.parts().iter().map(|part| part.features).collect();
    assert_eq!(shares, [300, 100]);
    let variance = |a: f64, b: f64| 9.0 / a + 1.0 / b;
    assert_close(&[recipe.variance().unwrap()], &[variance(300.0, 100.0)], Relative(1e-12));
    assert!(
        variance(310.0, 90.0) > variance(300.0, 100.0) && variance(290.0, 110.0) > variance(300.0, 100.0)
    );
}

#[test]
fn what_has_no_map_is_refused_with_the_part_and_the_way_out() {
    let message = |text: &str, method| {
        let spec = MapSpec { kernel: text.parse().unwrap(), method, features: 64, seed: 0 };
        spec.build(INPUTS).unwrap_err().to_string()
    };
    let fourier = |draw| Method::Fourier { form: FourierForm::Pairs, draw };
    let text = message(
        "gaussian(sigma=1)*(laplace(scale=2) + poly(degree=2,c=1))",
        fourier(FrequencyDraw::Independent),
    );
    assert!(text.contains("a Fourier map of poly(degree=2,c=1)") && text.contains("landmarks"), "{text}");
    let text = message("linear*gaussian(sigma=1)", Method::Exact);
    assert!(text.contains("an exact map of gaussian(sigma=1)") && text.contains("infinitely many"), "{text}");
    let text = message("laplace(scale=1)", fourier(FrequencyDraw::Orthogonal));
    assert!(text.contains("no isotropic law"), "{text}");
    let text = message("gaussian(sigma=1)", fourier(FrequencyDraw::Structured));
    assert!(text.contains("padded to fewer than 64"), "{text}");
    let text = message("gaussian(sigma=1)", fourier(FrequencyDraw::Turned));
    assert!(text.contains("padded to fewer than 32"), "{text}");
    let text = message("gaussian(sigma=1)", Method::Binning { bins: Bins::Hashed { width: 4 } });
    assert!(text.contains("not convex near zero"), "{text}");
    let text = message("laplace(scale=1)", Method::Taylor { degree: 2 });
    assert!(text.contains("series of the Gaussian"), "{text}");
    let text = message("all_subsets*poly(degree=64,c=1)*poly(degree=64,c=1)", Method::Exact);
    assert!(text.contains("needs") && text.contains("memory"), "{text}");
}

/// Small texts that ask for unbounded work are refused, and quickly.
#[test]
fn expressions_of_unbounded_work_are_refused() {
    let mut nested = "gaussian(sigma=1)".to_owned();
    (0..8).for_each(|_| nested = format!("normalised(exp(8*{nested}))"));
    for text in [
        "exp(701*gaussian(sigma=1))",
        "normalised(exp(1e12*gaussian(sigma=1)))",
        &nested,
        "exp(exp(exp(exp(2*hat(width=1)))))",
    ] {
        let error = text.parse::<Kernel>().unwrap_err().to_string();
        assert!(error.contains("exp(K)") || error.contains("nested exponentials"), "{text}: {error}");
    }
    let close: Kernel = "normalised(exp(600*gaussian(sigma=1)))".parse().unwrap();
    let x = Matrix::new(2, 1, vec![0.0, 0.05]).unwrap();
    let gram = close.gram(&Engine::default(), &Rows::from(&x), &Rows::from(&x)).unwrap();
    assert_close(&[gram.row(0)[1]], &[(600.0 * ((-0.00125f64).exp() - 1.0)).exp()], Relative(1e-9));
    // Normalised by exponents: no infinity over infinity.
    let linear: Kernel = "normalised(exp(linear))".parse().unwrap();
    let far = Matrix::new(2, 1, vec![100.0, 100.5]).unwrap();
    let gram = linear.gram(&Engine::default(), &Rows::from(&far), &Rows::from(&far)).unwrap();
    assert_close(&[gram.row(0)[1]], &[(-0.125f64).exp()], Relative(1e-9));
    let over: Kernel = "exp(linear)".parse().unwrap();
    assert!(
        over.gram(&Engine::default(), &Rows::from(&far), &Rows::from(&far))
            .unwrap_err()
            .to_string()
            .contains("the kernel values")
    );
    for (length, order) in [(1e-90, 0), (1e90, 0), (1e-90, 1)] {
        let kernel = Kernel::ArcCosine { order };
        let x = Matrix::new(1, 1, vec![length]).unwrap();
        let found = kernel.eval(&Rows::from(&x), 0, &Rows::from(&x), 0);
        assert_close(&[found], &[if order == 0 { 1.0 } else { length * length }], Relative(1e-12));
    }
}

/// One, two and three features of anything that has so few: as many as the recipe says, and no panic; products in products, and powers by other names, are what they stand for.
#[test]
fn few_features_are_features_too() {
    let x = Matrix::from_fn(5, 6, |i, j| ((i * 6 + j) as f64 * 0.7).sin().abs());
    for text in [
        "poly(degree=2,c=1)*linear",
        "poly(degree=3,c=1)*gaussian(sigma=2)",
        "poly(degree=3)*poly(degree=2,c=1)",
        "series(coefficients=[0,0,1])*gaussian(sigma=2)",
        "series(coefficients=[0,0,0,2])[0..4]*linear",
        "interactions(degree=3)*exponential(scale=2)",
        "all_subsets*poly(degree=4)",
        "monomials(degree=3)",
    ] {
        for features in [1, 2, 3, 7] {
            let kernel: Kernel = text.parse().unwrap();
            let spec = MapSpec { kernel, method: Method::Compiled { bins: None }, features, seed: 1 };
            let Ok(map) = spec.build(6) else { continue };
            assert_eq!(map.output_dim(), spec.recipe(6).unwrap().unwrap().features, "{text} {features}");
            let z = map.transform(&engine(1), &Rows::from(&x)).unwrap();
            assert!(z.as_slice().iter().all(|z| z.is_finite()), "{text} {features}");
        }
    }
    let nested = Kernel::Product {
        factors: vec![
            Kernel::ArcCosine { order: 1 },
            Kernel::Product { factors: vec![Kernel::polynomial(3, 1.0), Kernel::AllSubsets] },
        ],
    };
    let spec = |kernel| MapSpec { kernel, method: Method::Compiled { bins: None }, features: 16, seed: 1 };
    let flat = "arc_cosine(order=1)*poly(degree=3,c=1)*all_subsets".parse().unwrap();
    let of = |kernel| spec(kernel).build(6).unwrap().transform(&engine(1), &Rows::from(&x)).unwrap();
    assert_eq!(of(nested), of(flat));
    // One power of x·y is sketched as a power, not projected again.
    let recipe = spec("series(coefficients=[0,0,0,2])*gaussian(sigma=2)".parse().unwrap())
        .recipe(40)
        .unwrap()
        .unwrap();
    assert!(!format!("{recipe}").contains("projecting"), "{recipe}");
}
