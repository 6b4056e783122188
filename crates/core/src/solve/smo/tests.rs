use std::ops::ControlFlow;
use std::sync::Arc;

use super::*;
use crate::{Csr, EngineSpec, Event, Matrix, Observer};
use bochner_testkit::{Absolute, Relative, assert_close, assert_same_bits, normals};

struct Data {
    x: Matrix<f64>,
    signs: Vec<f64>,
}

/// Two classes that overlap.
fn data(n: usize, d: usize) -> Data {
    let x = Matrix::new(n, d, normals(n, d, 1)).unwrap();
    let noise = normals(n, 1, 2);
    let signs = (0..n).map(|i| (x.row(i)[0] * x.row(i)[1] + 0.5 * noise[i] + 0.2).signum()).collect();
    Data { x, signs }
}

fn kernels() -> [Kernel; 4] {
    ["gaussian(sigma=1.5)", "laplace(scale=2)", "linear", "hat(width=2.5)"].map(|text| text.parse().unwrap())
}

impl Data {
    fn svm<'a>(&'a self, kernel: &'a Kernel, costs: &'a [f64]) -> KernelSvm<'a, f64> {
        KernelSvm { kernel, rows: Rows::from(&self.x), signs: &self.signs, costs, cache_bytes: 1 << 20 }
    }

    /// Σ αᵢyᵢk(xᵢ, xⱼ) + b, by definition.
    fn decisions(&self, kernel: &Kernel, alpha: &[f64], b: f64) -> Vec<f64> {
        let rows = Rows::from(&self.x);
        let n = rows.count();
        let sum =
            |j| -> f64 { (0..n).map(|i| alpha[i] * self.signs[i] * kernel.eval(&rows, i, &rows, j)).sum() };
        (0..n).map(|j| sum(j) + b).collect()
    }

    /// The dual by the plainest of methods: the pair that violates most, in f64, with the whole kernel matrix and nothing left out.
    fn oracle(&self, kernel: &Kernel, costs: &[f64], tolerance: f64) -> (Vec<f64>, f64) {
        let rows = Rows::from(&self.x);
        let (n, y) = (rows.count(), &self.signs);
        let k: Vec<Vec<f64>> =
            (0..n).map(|i| (0..n).map(|j| kernel.eval(&rows, i, &rows, j)).collect()).collect();
        let (mut alpha, mut errors) = (vec![0.0; n], y.clone());
        loop {
            let may =
                |i: usize, way: f64| if y[i] * way > 0.0 { alpha[i] < costs[i] } else { alpha[i] > 0.0 };
            let by = |a: &usize, b: &usize| f64::total_cmp(&errors[*a], &errors[*b]);
            let i = (0..n).filter(|&i| may(i, 1.0)).max_by(by).unwrap();
            let j = (0..n).filter(|&j| may(j, -1.0)).min_by(by).unwrap();
            if errors[i] - errors[j] <= tolerance {
                let gain: f64 = alpha.iter().sum();
                let square: f64 = (0..n).map(|i| alpha[i] * (1.0 - y[i] * errors[i])).sum();
                return (alpha, gain - 0.5 * square);
            }
            let room = |i: usize, way: f64| if y[i] * way > 0.0 { costs[i] - alpha[i] } else { alpha[i] };
            let step = ((errors[i] - errors[j]) / (k[i][i] + k[j][j] - 2.0 * k[i][j]).max(1e-12))
                .min(room(i, 1.0))
                .min(room(j, -1.0));
            alpha[i] = (alpha[i] + y[i] * step).clamp(0.0, costs[i]);
            alpha[j] = (alpha[j] - y[j] * step).clamp(0.0, costs[j]);
            for t in 0..n {
                errors[t] -= step * (k[i][t] - k[j][t]);
            }
        }
    }
}

fn solve(svm: KernelSvm<'_, f64>, tolerance: f64) -> KernelSvmSolution {
    svm.solve(&Engine::default(), tolerance, 10_000_000).unwrap()
}

fn without_rest(svm: KernelSvm<'_, f64>, tolerance: f64) -> KernelSvmSolution {
    let until = Until { tolerance, most: 10_000_000, shrinking: false };
    svm.descend(&Engine::default(), until, &|_| Ok(())).unwrap()
}

#[test]
fn the_gap_closes_and_the_conditions_of_an_optimum_hold() {
    let n = 150;
    let data = data(n, 4);
    for kernel in &kernels() {
        for c in [0.01, 1.0, 100.0] {
            let costs = vec![c; n];
            let found = solve(data.svm(kernel, &costs), 1e-6);
            let name =
                format!("{kernel}, C = {c}: {:?}", KernelSvmSolution { alpha: vec![], ..found.clone() });
            assert!(found.violation <= 1e-6, "{name}");
            assert!(found.gap() >= -1e-9 && found.primal - found.dual <= 2e-6 * c * n as f64, "{name}");
            let total: f64 = found.alpha.iter().sum();
            let balance: f64 = (0..n).map(|i| data.signs[i] * found.alpha[i]).sum();
            assert!(balance.abs() <= 1e-12 * total, "{name}");
            let f = data.decisions(kernel, &found.alpha, found.intercept);
            let slack = 1e-6 + 1e-12 * c;
            for i in 0..n {
                let (margin, alpha) = (data.signs[i] * f[i], found.alpha[i]);
                assert!((0.0..=c).contains(&alpha), "{name}");
                assert!(
                    alpha >= c || margin >= 1.0 - slack,
                    "{name}: row {i} at {alpha} has margin {margin}"
                );
                assert!(
                    alpha <= 0.0 || margin <= 1.0 + slack,
                    "{name}: row {i} at {alpha} has margin {margin}"
                );
            }
            let square: f64 = (0..n).map(|i| found.alpha[i] * data.signs[i] * (f[i] - found.intercept)).sum();
            let losses: f64 = (0..n).map(|i| c * (1.0 - data.signs[i] * f[i]).max(0.0)).sum();
            let slack = Absolute(slack * total.max(c * n as f64));
            assert_close(&[found.square, found.primal], &[square, 0.5 * square + losses], slack);
            assert_close(
                &[found.dual, found.margin()],
                &[total - 0.5 * square, found.square.powf(-0.5)],
                slack,
            );
        }
    }
}

#[test]
fn the_plainest_solver_finds_the_same() {
    let n = 90;
    let data = data(n, 3);
    for kernel in &kernels() {
        for c in [0.01, 1.0, 100.0] {
            let costs: Vec<f64> = (0..n).map(|i| c * (1.0 + 0.5 * (i % 3) as f64)).collect();
            let (alpha, dual) = data.oracle(kernel, &costs, 1e-10);
            let found = solve(data.svm(kernel, &costs), 1e-9);
            assert_close(&[found.dual], &[dual], Relative(1e-9));
            let expected = data.decisions(kernel, &alpha, found.intercept);
            let decisions = data.decisions(kernel, &found.alpha, found.intercept);
            let scale = expected.iter().fold(1.0, |most, f| f64::max(most, f.abs()));
            assert_close(&decisions, &expected, Absolute(1e-5 * scale));
        }
    }
}

#[test]
fn who_rests_misses_nothing() {
    let n = 400;
    let data = data(n, 3);
    for kernel in &kernels() {
        for c in [0.1, 10.0] {
            let costs = vec![c; n];
            for tolerance in [1e-3, 1e-9] {
                let a = solve(data.svm(kernel, &costs), tolerance);
                let b = without_rest(data.svm(kernel, &costs), tolerance);
                assert!(a.violation <= tolerance && b.violation <= tolerance);
                let most = if tolerance > 1e-6 { 1e-4 } else { 1e-8 };
                assert_close(&[a.dual, a.primal], &[b.dual, b.primal], Relative(most));
                // The errors of those who rested are those of the α that came out.
                let f = data.decisions(kernel, &a.alpha, a.intercept);
                let losses: f64 = (0..n).map(|i| c * (1.0 - data.signs[i] * f[i]).max(0.0)).sum();
                assert_close(&[a.primal], &[0.5 * a.square + losses], Relative(1e-10));
            }
        }
    }
}

#[test]
fn neither_cache_nor_threads_change_a_bit() {
    let data = data(300, 3);
    let costs = vec![3.0; 300];
    for kernel in &kernels() {
        let svm = data.svm(kernel, &costs);
        let expected = solve(svm, 1e-5);
        for (cache_bytes, threads) in [(0, 1), (20_000, 3), (usize::MAX, 2)] {
            let engine = EngineSpec { threads, ..EngineSpec::default() }.build();
            let found = KernelSvm { cache_bytes, ..svm }.solve(&engine, 1e-5, 10_000_000).unwrap();
            assert_same_bits(&found.alpha, &expected.alpha);
            assert_eq!(found, expected);
        }
    }
}

#[test]
fn weight_equals_repetition_and_no_weight_is_not_there() {
    let data = data(60, 3);
    let weights: Vec<f64> = (0..60).map(|i| f64::from(i % 3)).collect();
    let repeated: Vec<usize> = (0..60).flat_map(|i| std::iter::repeat_n(i, i % 3)).collect();
    let present: Vec<usize> = (0..60).filter(|i| i % 3 > 0).collect();
    let take = |rows: &[usize]| Data {
        x: Matrix::from_fn(rows.len(), 3, |i, j| data.x.row(rows[i])[j]),
        signs: rows.iter().map(|&i| data.signs[i]).collect(),
    };
    for kernel in &kernels() {
        let a = solve(data.svm(kernel, &weights), 1e-9);
        let b = solve(take(&repeated).svm(kernel, &vec![1.0; repeated.len()]), 1e-9);
        assert_close(&[a.primal, a.dual], &[b.primal, b.dual], Relative(1e-8));
        let costs: Vec<f64> = present.iter().map(|&i| weights[i]).collect();
        let c = solve(take(&present).svm(kernel, &costs), 1e-9);
        let alpha: Vec<f64> = present.iter().map(|&i| a.alpha[i]).collect();
        assert_same_bits(&alpha, &c.alpha);
        assert!((0..60).all(|i| i % 3 > 0 || a.alpha[i] <= 0.0));
        assert_eq!((a.primal, a.dual, a.steps), (c.primal, c.dual, c.steps));
    }
}

#[test]
fn sparse_rows_and_single_precision_give_the_same() {
    let n = 120;
    let data = data(n, 4);
    // Columns of zeros change no kernel, only the way it is computed.
    let mut sparse = Csr::empty(40);
    (0..n).for_each(|i| sparse.push_row(Rows::from(&data.x).entries(i)));
    let single = Matrix::from_fn(n, 4, |i, j| data.x.row(i)[j] as f32);
    let costs = vec![2.0; n];
    for kernel in &kernels() {
        let dense = solve(data.svm(kernel, &costs), 1e-9);
        let found = solve(KernelSvm { rows: Rows::from(&sparse), ..data.svm(kernel, &costs) }, 1e-9);
        assert_close(&[found.primal, found.dual], &[dense.primal, dense.dual], Relative(1e-9));
        let f = data.decisions(kernel, &dense.alpha, dense.intercept);
        let g = data.decisions(kernel, &found.alpha, found.intercept);
        let scale = f.iter().fold(1.0, |most, f| f64::max(most, f.abs()));
        assert_close(&g, &f, Absolute(1e-7 * scale));
        let rows = Rows::from(&single);
        let svm = KernelSvm { kernel, rows, signs: &data.signs, costs: &costs, cache_bytes: 1 << 20 };
        let rounded = svm.solve(&Engine::default(), 1e-9, 10_000_000).unwrap();
        assert_close(&[rounded.dual], &[dense.dual], Relative(1e-5));
    }
}

#[test]
fn two_rows_have_the_widest_margin() {
    let data = Data { x: Matrix::new(2, 1, vec![2.0, -2.0]).unwrap(), signs: vec![1.0, -1.0] };
    let found = solve(data.svm(&Kernel::Linear, &[1e9, 1e9]), 1e-12);
    assert_close(&found.alpha, &[0.125, 0.125], Absolute(1e-12));
    assert_close(&[found.margin(), found.intercept, found.primal], &[2.0, 0.0, 0.125], Absolute(1e-12));
    // Out of the way of each other: k = 0, α = 1.
    let far = Kernel::hat(1.0);
    assert_close(&solve(data.svm(&far, &[9.0, 9.0]), 1e-12).alpha, &[1.0, 1.0], Absolute(1e-12));
}

#[test]
fn what_has_nothing_to_tell_apart_has_an_answer() {
    let n = 30;
    let mut data = data(n, 2);
    for kernel in &kernels() {
        // Tiny and huge costs.
        let tiny = solve(data.svm(kernel, &[1e-9; 30]), 1e-3);
        let fewer = data.signs.iter().filter(|&&sign| sign > 0.0).count();
        let fewer = fewer.min(n - fewer);
        assert_close(&[tiny.alpha.iter().sum()], &[2e-9 * fewer as f64], Relative(1e-9));
        let huge = data.svm(kernel, &[1e6; 30]).solve(&Engine::default(), 1e-3, 10_000).unwrap();
        assert!(huge.dual <= huge.primal && huge.primal.is_finite());
        // No steps at all.
        let none = data.svm(kernel, &[1.0; 30]).solve(&Engine::default(), 1e-3, 0).unwrap();
        assert_eq!((none.steps, none.dual, none.violation), (0, 0.0, 2.0));
        // Nobody, or nobody who counts.
        let nobody = solve(data.svm(kernel, &[0.0; 30]), 1e-3);
        assert_eq!((nobody.intercept, nobody.primal, nobody.violation, nobody.gap()), (0.0, 0.0, 0.0, 0.0));
        let empty = Data { x: Matrix::zeros(0, 2), signs: vec![] };
        assert!(solve(empty.svm(kernel, &[]), 1e-3).alpha.is_empty());
        assert!(nobody.margin().is_infinite());
        // A tolerance that rounding cannot meet ends all the same.
        assert!(solve(data.svm(kernel, &[1.0; 30]), 0.0).violation <= 1e-6);
    }
    // One sign only: f = that sign everywhere, at no cost.
    for sign in [1.0, -1.0] {
        data.signs.fill(sign);
        let one = solve(data.svm(&kernels()[0], &[1.0; 30]), 1e-3);
        assert_eq!((one.intercept, one.primal, one.dual, one.steps), (sign, 0.0, 0.0, 0));
    }
    // All rows the same: the majority has its way and the others pay 2 each.
    let same = Data {
        x: Matrix::from_fn(n, 2, |_, j| 1.0 + j as f64),
        signs: (0..n).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect(),
    };
    for kernel in &kernels() {
        let found = solve(same.svm(kernel, &[1.0; 30]), 1e-3);
        assert_close(&[found.intercept, found.dual, found.primal], &[-1.0, 20.0, 20.0], Absolute(1e-6));
    }
    // All rows zero, and so the linear kernel.
    let zero = Data { x: Matrix::zeros(n, 2), signs: same.signs };
    assert_close(&[solve(zero.svm(&Kernel::Linear, &[1.0; 30]), 1e-3).primal], &[20.0], Absolute(1e-6));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let mut data = data(20, 2);
    let refuse = |svm: KernelSvm<'_, f64>| svm.solve(&Engine::default(), 1e-3, 9).is_err();
    let svm = data.svm(&Kernel::Linear, &[1.0; 20]);
    assert!(!refuse(svm));
    assert!(refuse(KernelSvm { signs: &data.signs[1..], ..svm }));
    assert!(refuse(KernelSvm { signs: &[0.5; 20], ..svm }));
    assert!(refuse(KernelSvm { costs: &[1.0; 19], ..svm }));
    assert!(refuse(KernelSvm { costs: &[-1.0; 20], ..svm }));
    assert!(refuse(KernelSvm { costs: &[f64::INFINITY; 20], ..svm }));
    assert!(refuse(KernelSvm { kernel: &Kernel::gaussian(0.0), ..svm }));
    data.x.row_mut(3)[1] = 1e30;
    assert!(refuse(data.svm(&Kernel::Linear, &[1.0; 20])), "1e60 has no f32");
    data.x.row_mut(3)[1] = f64::NAN;
    assert!(refuse(data.svm(&Kernel::Linear, &[1.0; 20])));
}

#[test]
fn an_observer_ends_it() {
    struct Stop;
    impl Observer for Stop {
        fn event(&self, event: &Event<'_>) -> ControlFlow<()> {
            match event {
                Event::Progress { phase: "smo", fraction: Some(done), .. } => {
                    assert!((0.0..1.0).contains(done));
                    ControlFlow::Break(())
                }
                _ => ControlFlow::Continue(()),
            }
        }
    }
    let data = data(1000, 3);
    let engine = EngineSpec { observer: Some(Arc::new(Stop)), ..EngineSpec::default() }.build();
    let costs = vec![1e4; 1000];
    let error = data.svm(&kernels()[0], &costs).solve(&engine, 1e-9, usize::MAX).unwrap_err();
    assert!(matches!(error, crate::Error::Interrupted), "{error}");
}
