use super::*;
use crate::Rows;
use crate::solve::{Hinge, LinearSvm, SvmSolution};
use crate::{Csr, Engine, EngineSpec, Matrix};
use bochner_testkit::{Absolute, assert_close, assert_same_bits, normals};

/// Rows of four classes that overlap, columns of very different sizes.
fn rows(n: usize) -> (Matrix<f64>, Vec<usize>) {
    let x = normals(n, 5, 1);
    let scale = [1.0, 10.0, 0.1, 1.0, 3.0];
    // Numbers that single precision holds too.
    let rows = Matrix::from_fn(n, 5, |i, j| f64::from((x[i * 5 + j] * scale[j]) as f32));
    let noise = normals(n, 1, 2);
    let class = |i: usize| ((x[i * 5] + 0.4 * noise[i] > 0.0) as usize) + 2 * (x[i * 5 + 1] > 0.3) as usize;
    (rows, (0..n).map(class).collect())
}

/// Targets as a loss wants them: 0/1 or ±1 for each of four classes, or two columns of numbers with errors of heavy tails.
fn targets(loss: Loss, classes: &[usize], x: &Matrix<f64>) -> (Vec<f64>, usize) {
    let low = match loss {
        Loss::Logistic => 0.0,
        _ => -1.0,
    };
    let n = classes.len();
    if loss.wants_classes() {
        let code = |class: usize, o: usize| if class == o { 1.0 } else { low };
        return (classes.iter().flat_map(|&class| (0..4).map(move |o| code(class, o))).collect(), 4);
    }
    let noise = normals(n, 2, 7);
    let number = |i: usize, o: usize| {
        let e = noise[2 * i + o];
        20.0 + x.row(i)[0] - 0.2 * x.row(i)[1] + 0.3 * e * e * e
    };
    ((0..n).flat_map(|i| [number(i, 0), number(i, 1)]).collect(), 2)
}

/// All entries, as sparse rows.
fn sparse_of(x: &Matrix<f64>) -> Csr<f64> {
    let (n, d) = (x.rows(), x.columns());
    let starts = (0..=n).map(|i| i * d).collect();
    let columns = (0..n * d).map(|k| (k % d) as u32).collect();
    Csr::new(d, starts, columns, x.as_slice().to_vec()).unwrap()
}

fn losses() -> Vec<Loss> {
    vec![
        Loss::Squares,
        Loss::Logistic,
        Loss::margins(Hinge::Squared),
        Loss::margins(Hinge::Plain),
        Loss::Insensitive { epsilon: 0.2 },
        Loss::Huber { epsilon: 1.35 },
        Loss::Quantile { level: 0.8 },
    ]
}

fn engine(threads: usize) -> Engine {
    EngineSpec { threads, ..EngineSpec::default() }.build()
}

fn solve<T: Scalar>(newton: &Newton<'_, T>, tolerance: f64) -> Vec<Minimum> {
    newton.solve(tolerance, 500, &|_| Ok(())).unwrap()
}

/// F of given weights, by plain loops over formulas written out anew.
fn objective(newton: &Newton<'_, f64>, weights: &[Vec<f64>], first: usize, scale: f64) -> f64 {
    let size = newton.features.rows().columns();
    let mut sum = 0.0;
    for w in weights {
        let held = if newton.constant == Constant::Held { w.len() } else { size };
        sum += 0.5 * w[..held].iter().map(|w| w * w).sum::<f64>();
    }
    for i in 0..newton.costs.len() {
        let score = |w: &Vec<f64>| {
            let constant = if newton.constant == Constant::None { 0.0 } else { w[size] };
            newton.features.rows().entries(i).map(|(j, z)| z * w[j as usize]).sum::<f64>() + constant
        };
        let (s, y) =
            (weights.iter().map(score).collect::<Vec<f64>>(), &newton.targets[i * newton.outputs + first..]);
        let (r, m) = (y[0] - s[0], y[0] * s[0]);
        let loss = match newton.loss {
            Loss::Squares => r * r,
            Loss::Logistic if s.len() == 1 => (1.0 + (-m).exp()).ln(),
            Loss::Logistic => {
                s.iter().map(|s| s.exp()).sum::<f64>().ln() - s.iter().zip(y).map(|(s, y)| s * y).sum::<f64>()
            }
            Loss::Margins { hinge: Hinge::Squared } => (1.0 - m).max(0.0).powi(2),
            Loss::Margins { hinge: Hinge::Plain } => (1.0 - m).max(0.0),
            Loss::Insensitive { epsilon } => (r.abs() - epsilon).max(0.0),
            Loss::Quantile { level } => {
                if r > 0.0 {
                    level * r
                } else {
                    (level - 1.0) * r
                }
            }
            Loss::Huber { epsilon } => {
                let u = (r / scale).abs();
                scale + scale * if u < epsilon { u * u } else { 2.0 * epsilon * u - epsilon * epsilon }
            }
        };
        sum += newton.costs[i] * loss;
    }
    sum
}

/// Nothing near is better than what is found, and what is said of it is so: along each axis and along random directions, F rises by what a convex function that is within the tolerance of its lowest may.
#[test]
fn every_loss_is_at_its_lowest() {
    let engine = engine(2);
    let (x, classes) = rows(160);
    for loss in losses() {
        for constant in [Constant::None, Constant::Held, Constant::Free] {
            for c in [1e-3, 0.1] {
                let (targets, outputs) = targets(loss, &classes, &x);
                // Every row counts, or every third does not.
                let least = if constant == Constant::Held { 1 } else { 0 };
                let costs: Vec<f64> = (0..160).map(|i| c * f64::from(least + i % 3)).collect();
                let features = &Passes::new(&engine, Rows::from(&x), constant != Constant::None);
                let newton = Newton {
                    features,
                    targets: &targets,
                    costs: &costs,
                    outputs,
                    loss,
                    constant,
                    start: None,
                };
                let mut first = 0;
                // Corners cost digits.
                let tolerance = if loss.has_corners() { 1e-7 } else { 1e-9 };
                for found in solve(&newton, tolerance) {
                    let what =
                        format!("{loss}, {constant:?}, {c}: {:?} after {} steps", found.stop, found.steps);
                    assert!(found.stop != Stop::Steps, "{what}");
                    let value = |w: &[Vec<f64>], scale| objective(&newton, w, first, scale);
                    let here = value(&found.weights, found.scale);
                    assert_close(&[found.primal], &[here], Absolute(1e-9 * here));
                    if let Some(dual) = found.dual {
                        assert!(
                            dual <= here * (1.0 + 1e-12) && here - dual <= 10.0 * tolerance * here + 1e-12,
                            "{what}: {here} {dual}"
                        );
                    }
                    let chance = normals(40, found.weights[0].len() * found.weights.len(), 3);
                    let length = found.weights[0].len();
                    for (k, direction) in chance.chunks(length * found.weights.len()).enumerate() {
                        let size = 10f64.powi(-(k as i32 % 5));
                        let moved: Vec<Vec<f64>> = found
                            .weights
                            .iter()
                            .zip(direction.chunks(length))
                            .map(|(w, d)| w.iter().zip(d).map(|(w, d)| w + size * d).collect())
                            .collect();
                        let there = value(&moved, found.scale);
                        assert!(
                            there >= here * (1.0 - 2.0 * tolerance),
                            "{what}: {there} below {here}, {size} away"
                        );
                    }
                    if matches!(loss, Loss::Huber { .. }) {
                        for factor in [0.5, 0.9, 0.999, 1.001, 1.1, 2.0] {
                            assert!(
                                value(&found.weights, factor * found.scale) >= here * (1.0 - 1e-12),
                                "{what}"
                            );
                        }
                    }
                    first += found.weights.len();
                }
            }
        }
    }
}

/// Two methods that share nothing but the problem.
#[test]
fn margins_are_what_coordinate_descent_finds() {
    let engine = engine(2);
    let (x, classes) = rows(300);
    for (hinge, c) in
        [Hinge::Squared, Hinge::Plain].into_iter().flat_map(|h| [1e-3, 0.03, 0.3].map(|c| (h, c)))
    {
        let loss = Loss::margins(hinge);
        let (signs, _) = targets(loss, &classes, &x);
        let costs: Vec<f64> = (0..300).map(|i| c * f64::from(i % 3)).collect();
        let features = Rows::from(&x);
        let passes = &Passes::new(&engine, features, true);
        let newton = Newton {
            features: passes,
            targets: &signs,
            costs: &costs,
            outputs: 4,
            loss,
            constant: Constant::Held,
            start: None,
        };
        let found = solve(&newton, 1e-7);
        for (o, found) in found.iter().enumerate() {
            let signs: Vec<f64> = signs.iter().skip(o).step_by(4).copied().collect();
            let svm =
                LinearSvm { rows: features, signs: &signs, costs: &costs, hinge, intercept: true, seed: 1 };
            let other = svm.solve(&Engine::default(), 1e-9, 1_000_000).unwrap();
            let gap = found.primal - found.dual.unwrap();
            // ½‖w − w*‖² is at most what w is worth above the best, on either side.
            let above = (2.0 * gap.max(0.0) + 1e-12).sqrt() + above(&other);
            assert_close(&found.weights[0], &other.weights, Absolute(above));
            assert!(found.primal >= other.dual * (1.0 - 1e-12) && other.gap() < 1e-6, "{}", other.gap());
            assert!(found.dual.unwrap() <= other.primal * (1.0 + 1e-12));
        }
    }

    fn above(s: &SvmSolution) -> f64 {
        (2.0 * s.gap() * s.primal + 1e-12).sqrt()
    }
}

/// Sparse rows, rows in single precision and a start from elsewhere: the same minimum.
#[test]
fn forms_of_rows_and_starts_do_not_matter() {
    let engine = engine(2);
    let (x, classes) = rows(160);
    let sparse = sparse_of(&x);
    let single = Matrix::from_fn(160, 5, |i, j| x.row(i)[j] as f32);
    let costs = vec![0.02; 160];
    for loss in losses() {
        let (targets, outputs) = targets(loss, &classes, &x);
        let start: Vec<Vec<f64>> =
            (0..outputs).map(|o| (0..6).map(|j| (o + j) as f64 - 2.0).collect()).collect();
        let (targets, costs, constant) = (&targets[..], &costs[..], Constant::Free);
        let forms = (
            Passes::new(&engine, Rows::from(&x), true),
            Passes::new(&engine, Rows::from(&sparse), true),
            Passes::new(&engine, Rows::from(&single), true),
        );
        let plain = Newton { features: &forms.0, targets, costs, outputs, loss, constant, start: None };
        let expected = solve(&plain, 1e-8);
        let others = [
            solve(&Newton { start: Some(&start), ..plain }, 1e-8),
            solve(&Newton { features: &forms.1, ..plain }, 1e-8),
            solve(&Newton { features: &forms.2, targets, costs, outputs, loss, constant, start: None }, 1e-8),
        ];
        for found in others {
            for (a, b) in expected.iter().zip(&found) {
                assert!(b.stop != Stop::Steps, "{loss}: {} steps", b.steps);
                let difference = (b.primal - a.primal).abs();
                assert!(difference <= 3e-8 * a.primal, "{loss}: {} and {}", a.primal, b.primal);
            }
        }
    }
}

#[test]
fn threads_change_no_bit() {
    let n = 3 * PIECE + 1;
    let (x, classes) = rows(n);
    let sparse = sparse_of(&x);
    let costs = vec![0.5 / n as f64; n];
    for loss in losses() {
        let (targets, outputs) = targets(loss, &classes, &x);
        for rows in [Rows::from(&x), Rows::from(&sparse)] {
            let on = |threads| {
                let engine = engine(threads);
                let features = &Passes::new(&engine, rows, true);
                let newton = Newton {
                    features,
                    targets: &targets,
                    costs: &costs,
                    outputs,
                    loss,
                    constant: Constant::Free,
                    start: None,
                };
                solve(&newton, 1e-6)
            };
            let one = on(1);
            for threads in [2, 7] {
                for (a, b) in one.iter().zip(on(threads)) {
                    a.weights.iter().zip(&b.weights).for_each(|(a, b)| assert_same_bits(a, b));
                }
            }
        }
    }
}

#[test]
fn nothing_to_learn_is_zero() {
    let engine = engine(2);
    let (x, classes) = rows(20);
    for loss in losses() {
        let (targets, outputs) = targets(loss, &classes, &x);
        let features = &Passes::new(&engine, Rows::from(&x), true);
        let newton = Newton {
            features,
            targets: &targets,
            costs: &[0.0; 20],
            outputs,
            loss,
            constant: Constant::Held,
            start: None,
        };
        for found in solve(&newton, 1e-6) {
            assert!(found.weights.iter().flatten().all(|w| *w == 0.0), "{loss}");
        }
    }
}
