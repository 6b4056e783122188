//! Explicit features: the parabola, polynomials, products of columns; and the way back from a separator to a ball.

use crate::table::{engine, inner};
use bochner::map::Region;
use bochner::{
    Arrays, Csr, Engine, Kernel, LabelKind, Labels, Lambda, Linear, MapSpec, Matrix, Method, Rows, Target,
};
use bochner_testkit::{Absolute, Chance, Relative, assert_close, densify, normals, sparse};

fn exact(kernel: &str) -> MapSpec {
    MapSpec { kernel: kernel.parse().unwrap(), method: Method::Exact, features: 1, seed: 0 }
}

/// The centre and the radius of a ball come back to 1e-10 from any multiple of its separator, in up to 50 dimensions.
#[test]
fn the_ball_of_a_separator_is_recovered() {
    let mut chance = Chance::new(7);
    for d in [1, 2, 3, 10, 50] {
        for _ in 0..50 {
            let centre: Vec<f64> = (0..d).map(|_| 3.0 * chance.normal()).collect();
            let radius = 0.1 + 5.0 * chance.uniform();
            for region in [
                Region::Ball { centre: centre.clone(), radius },
                Region::Outside { centre: centre.clone(), radius },
            ] {
                let (weights, intercept) = region.separator(d);
                let factor = (6.0 * chance.normal()).exp();
                let weights: Vec<f64> = weights.iter().map(|w| factor * w).collect();
                let found = Region::of_separator(&weights, factor * intercept).unwrap();
                let (Region::Ball { centre: c, radius: r } | Region::Outside { centre: c, radius: r }) =
                    &found
                else {
                    panic!("{found:?}")
                };
                assert_eq!(std::mem::discriminant(&found), std::mem::discriminant(&region));
                assert_close(c, &centre, Relative(1e-10));
                assert_close(&[*r], &[radius], Relative(1e-10));
            }
        }
    }
}

/// A point lies in the region exactly where the linear function of the lifted point is not negative: all five cases, and the printed formula of the notes, u = (2c, +1), is no such function.
#[test]
fn regions_are_where_the_function_is_not_negative() {
    let lift = exact("parabolic").build(2).unwrap();
    let x = Matrix::new(400, 2, normals(400, 2, 3)).unwrap();
    let z = lift.transform(&engine(1), &Rows::from(&x)).unwrap();
    let cases = [
        (vec![1.0, -0.5, -1.0], 0.7, "Ball"),
        (vec![1.0, -0.5, -1.0], -7.0, "Empty"),
        (vec![1.0, -0.5, 2.0], -0.3, "Outside"),
        (vec![1.0, -0.5, 2.0], 7.0, "Everything"),
        (vec![1.0, 1.0, 0.0], 0.2, "HalfSpace"),
        (vec![0.0, 0.0, 0.0], 0.0, "Everything"),
        (vec![0.0, 0.0, 0.0], -1e-300, "Empty"),
        (vec![0.0, 0.0, 1.0], 0.0, "Everything"),
        (vec![0.0, 0.0, -1.0], 0.0, "Ball"),
        // Spheres that are planes as far as can be seen.
        (vec![1.0, 0.0, -1e-20], 0.0, "HalfSpace"),
        (vec![1.0, -2.0, 1e-200], 0.5, "HalfSpace"),
    ];
    for (weights, intercept, name) in cases {
        let region = Region::of_separator(&weights, intercept).unwrap();
        assert!(format!("{region:?}").starts_with(name), "{weights:?} {intercept}: {region:?}");
        for i in 0..400 {
            let value: f64 = z.row(i).iter().zip(&weights).map(|(z, w)| z * w).sum::<f64>() + intercept;
            assert_eq!(region.contains(x.row(i)), value >= 0.0, "{region:?} at {:?}", x.row(i));
        }
    }
    // Ball of centre c: u = (2c, −1) and the threshold ‖c‖² − r²; with +1 the signs are those of another set.
    let (c, r) = ([0.4, -0.2], 1.0);
    let printed = |i: usize| {
        let row = z.row(i);
        2.0 * (c[0] * row[0] + c[1] * row[1]) + row[2] >= c[0] * c[0] + c[1] * c[1] - r * r
    };
    let ball = Region::Ball { centre: c.to_vec(), radius: r };
    assert!((0..400).any(|i| printed(i) != ball.contains(x.row(i))), "the misprint would pass");
}

#[test]
fn separators_that_are_none_are_refused() {
    for (weights, intercept) in [(vec![], 1.0), (vec![f64::NAN, 1.0], 0.0), (vec![1.0, f64::INFINITY], 0.0)] {
        assert!(Region::of_separator(&weights, intercept).is_err(), "{weights:?}");
    }
}

/// Balls are found by learning: a linear machine on lifted rows of two classes, inside and outside, names the ball.
#[test]
fn a_ball_is_learned() {
    let d = 3;
    let centre = [0.5, -0.25, 0.1];
    let x = Matrix::new(4000, d, normals(4000, d, 11)).unwrap();
    let ball = Region::Ball { centre: centre.to_vec(), radius: 1.4 };
    let classes = Matrix::from_fn(4000, 1, |i, _| f64::from(u8::from(ball.contains(x.row(i)))));
    let labels = Labels::new(LabelKind::Text, vec!["out".into(), "in".into()]);
    let source = Arrays::new(Rows::from(&x), classes.view(), None, Target::Classes { labels }).unwrap();
    let svm = Linear { lambda: Lambda::Given { value: 1e-6 }, ..Linear::svm(exact("parabolic")) };
    let model = svm.fit(&Engine::default(), &source).unwrap();
    let weights = model.coefficients();
    let (w, b): (Vec<f64>, f64) =
        (weights.row(weights.rows() - 1).to_vec(), model.intercept()[weights.rows() - 1]);
    let found = Region::of_separator(&w, b).unwrap();
    let Region::Ball { centre: c, radius } = &found else { panic!("{found:?}") };
    assert_close(c, &centre, Absolute(0.02));
    assert_close(&[*radius], &[1.4], Absolute(0.02));
}

/// All C(d + p, p) monomials: with multinomial weights they are (x·y + c)ᵖ, without the constant its series, with unit weights each is a plain product.
#[test]
fn polynomial_lifts_have_all_monomials() {
    let x = Matrix::new(5, 4, normals(5, 4, 2)).unwrap();
    let view = Rows::from(&x);
    for (text, count) in [
        ("poly(degree=3,c=2)", 35),
        ("series(coefficients=[0,12,6,1])", 34),
        ("monomials(degree=3)", 34),
        ("constant + monomials(degree=3)", 35),
    ] {
        let spec = exact(text);
        let map = spec.build(4).unwrap();
        assert_eq!(map.output_dim(), count, "{text}");
        let z = map.transform(&engine(1), &view).unwrap();
        for p in 0..25 {
            let (i, j) = (p / 5, p % 5);
            assert_close(&[inner(&z, i, j)], &[spec.kernel.eval(&view, i, &view, j)], Relative(1e-12));
        }
    }
    // (x·y + 2)³ − 8
    let (whole, series): (Kernel, Kernel) =
        ("poly(degree=3,c=2)".parse().unwrap(), "series(coefficients=[0,12,6,1])".parse().unwrap());
    let of = |k: &Kernel| k.eval(&view, 0, &view, 1);
    assert_close(&[of(&series) + 8.0], &[of(&whole)], Relative(1e-12));
    // Unit weights: the largest feature of a row of twos is 2³, and the products are those of a plain loop.
    let map = exact("monomials(degree=3)").build(2).unwrap();
    let z = map.transform(&engine(1), &Rows::from(&Matrix::new(1, 2, vec![2.0, 3.0]).unwrap())).unwrap();
    let mut found = z.row(0).to_vec();
    found.sort_by(f64::total_cmp);
    assert_close(&found, &[2.0, 3.0, 4.0, 6.0, 8.0, 9.0, 12.0, 18.0, 27.0], Relative(1e-15));
}

/// Interactions of sparse rows: the features that are not zero, in the columns where dense ones have them, for any number of threads.
#[test]
fn interactions_of_sparse_rows_do_not_form_zeros() {
    let (n, d) = (300, 40);
    let (starts, indices, values) = sparse(n, d, 0.1, 3);
    let dense = Matrix::new(n, d, densify(&starts, &indices, &values, d)).unwrap();
    let rows = Csr::new(d, starts, indices, values).unwrap();
    for (kernel, method) in [
        ("interactions(degree=3)", Method::Exact),
        ("monomials(degree=2)", Method::Exact),
        ("interactions(degree=4)", Method::Compiled { bins: None }),
    ] {
        let map = MapSpec { method, features: 64, ..exact(kernel) }.build(d).unwrap();
        let found = map.transform_sparse(&engine(1), &Rows::from(&rows)).unwrap();
        assert_eq!(map.transform_sparse(&engine(2), &Rows::from(&rows)).unwrap(), found);
        let expected = map.transform(&engine(2), &Rows::from(&dense)).unwrap();
        let mut row = vec![0.0; map.output_dim()];
        for i in 0..n {
            Rows::from(&found).densify(i, &mut row);
            assert_close(&row, expected.row(i), Relative(1e-13));
            assert!(found.view().row(i).1.iter().all(|z| *z != 0.0) || method != Method::Exact);
        }
    }
    // 10⁹ columns of features and three entries a row: nothing of that size is made.
    let wide = exact("interactions(degree=2)").build(40_000).unwrap();
    let mut row = Csr::empty(40_000);
    row.push_row([(3, 2.0), (17, 3.0), (39_999, 5.0)]);
    let z = wide.transform_sparse(&engine(1), &Rows::from(&row)).unwrap();
    assert_eq!(wide.output_dim(), 40_000 + 40_000 * 39_999 / 2);
    assert_eq!(z.view().row(0).1, [2.0, 3.0, 5.0, 6.0, 10.0, 15.0]);
    assert!(
        wide.transform(&engine(1), &Rows::from(&Csr::<f64>::empty(40_000))).is_ok(),
        "no rows, no features"
    );
    // A constant beside them, a factor, and some columns: still without zeros.
    let spec = exact("constant + 0.25*interactions(degree=2)[3..40000]");
    let z = spec.build(40_000).unwrap().transform_sparse(&engine(1), &Rows::from(&row)).unwrap();
    assert_eq!(z.view().row(0).1, [1.0, 1.0, 1.5, 2.5, 3.0, 5.0, 7.5]);
    // A row with too many products is refused, where the kernel's value is not.
    let dense = Matrix::from_fn(2, 60, |i, _| f64::from(i as u8));
    let hashed =
        MapSpec { method: Method::Compiled { bins: None }, features: 64, ..exact("interactions(degree=9)") };
    let error = hashed.build(60).unwrap().transform(&engine(1), &Rows::from(&dense)).unwrap_err().to_string();
    assert!(error.contains("at row 1") && error.contains("lower the degree"), "{error}");
    assert!(hashed.kernel.gram(&Engine::default(), &Rows::from(&dense), &Rows::from(&dense)).is_ok());
    // More features than 32 bits can number.
    let error = exact("interactions(degree=3)").build(40_000).unwrap_err().to_string();
    assert!(error.contains("32 bits") && error.contains("compiled"), "{error}");
}
