use super::*;
use crate::Matrix;
use crate::linalg::{Cholesky, multiply};
use bochner_testkit::{Absolute, assert_close, normals};

/// S as it is, with sides.
struct Dense {
    engine: Engine,
    matrix: Matrix<f64>,
    sides: Vectors,
    passes: usize,
}

impl Operator for Dense {
    fn apply(&mut self, vectors: &[&[f64]]) -> Result<Vectors> {
        self.passes += 1;
        let n = self.matrix.rows();
        let dense = Matrix::from_fn(n, vectors.len().max(2), |i, k| vectors.get(k).map_or(0.0, |v| v[i]));
        let product = multiply(&Engine::default(), &self.matrix, &dense);
        Ok((0..vectors.len()).map(|k| (0..n).map(|i| product.row(i)[k]).collect()).collect())
    }

    fn engine(&self) -> &Engine {
        &self.engine
    }

    fn fresh(&mut self, of: &[(usize, &[f64])]) -> Result<Vectors> {
        let vectors: Vec<&[f64]> = of.iter().map(|(_, v)| *v).collect();
        let mut bent = self.apply(&vectors)?;
        for (bent, (o, _)) in bent.iter_mut().zip(of) {
            bent.iter_mut().zip(&self.sides[*o]).for_each(|(b, s)| *b = s - *b);
        }
        Ok(bent)
    }
}

/// H·diag(values)·H for a reflection H: the given eigenvalues, and no axis is special.
fn turned(values: &[f64]) -> Matrix<f64> {
    let n = values.len();
    let v = normals(n, 1, 3);
    let square: f64 = v.iter().map(|v| v * v).sum();
    let h = Matrix::from_fn(n, n, |i, j| f64::from(u8::from(i == j)) - 2.0 * v[i] * v[j] / square);
    let scaled = Matrix::from_fn(n, n, |i, j| values[i] * h.row(i)[j]);
    multiply(&Engine::default(), &h, &scaled)
}

fn problem(values: &[f64], outputs: usize) -> Dense {
    let n = values.len();
    let numbers = normals(n, outputs, 5);
    let sides = (0..outputs).map(|o| (0..n).map(|i| numbers[i * outputs + o]).collect()).collect();
    Dense { engine: Engine::default(), matrix: turned(values), sides, passes: 0 }
}

fn run(dense: &mut Dense, guide: Guide, lambdas: &[f64], limits: Limits) -> Vec<Column> {
    let mut columns: Vec<Column> = (0..dense.sides.len())
        .flat_map(|o| lambdas.iter().map(move |&lambda| (o, lambda)))
        .map(|(o, lambda)| Column::new(o, lambda, dense.sides[o].clone(), None))
        .collect();
    let mut guide = guide;
    solve(dense, &mut columns, &mut guide, &mut |guide| Ok((guide, false)), limits, &|_, _| Ok(())).unwrap();
    columns
}

fn whole(matrix: Matrix<f64>) -> Guide {
    Guide::whole(&Engine::default(), matrix, 0.0, false, &|_| Ok(())).unwrap()
}

/// Steps after which 2·ρᵏ ≤ ε, ρ = (√κ − 1)/(√κ + 1): ε·‖x*‖ in the norm of the matrix is reached by then.
fn bound(condition: f64, tolerance: f64) -> usize {
    let root = condition.sqrt();
    ((2.0 / tolerance).ln() / ((root + 1.0) / (root - 1.0)).ln()).ceil() as usize
}

const LIMITS: Limits = Limits { tolerance: 1e-8, steps: 2000 };

/// Eigenvalues that fall by half, from 1 to what rounding leaves, and a λ of 10⁻⁷.
fn falling(n: usize) -> Vec<f64> {
    (0..n).map(|j| 0.8f64.powi(j as i32)).collect()
}

#[test]
fn every_guide_leads_to_the_solution_of_cholesky() {
    let values = falling(150);
    let mut nystrom = Nystrom::new(150, 1);
    nystrom.grow(&mut problem(&values, 2), 60).unwrap();
    let diagonal = problem(&values, 2).matrix;
    let guides = [
        ("none", Guide::None),
        ("diagonal", Guide::Diagonal((0..150).map(|i| diagonal.row(i)[i]).collect())),
        ("whole", whole(turned(&values))),
        ("random vectors", Guide::Nystrom(nystrom)),
    ];
    for (name, guide) in guides {
        let mut dense = problem(&values, 2);
        let is_good = matches!(guide, Guide::Whole { .. } | Guide::Nystrom(_));
        let lambdas = if is_good { [1e-1, 1e-4, 1e-7] } else { [1e-1, 1e-2, 1e-3] };
        for column in run(&mut dense, guide, &lambdas, LIMITS) {
            let mut matrix = dense.matrix.clone();
            (0..150).for_each(|i| matrix.row_mut(i)[i] += column.lambda);
            let side = Matrix::new(150, 1, dense.sides[column.output].clone()).unwrap();
            let exact = Cholesky::new(&Engine::default(), matrix, &|_| Ok(()))
                .unwrap()
                .solve(&Engine::default(), side);
            let size = exact.as_slice().iter().fold(0.0f64, |a, b| a.max(b.abs()));
            assert_eq!(column.stop(), Stop::Residual, "{name}, {}", column.lambda);
            // ‖x − x*‖ ≤ κ·ε·‖x*‖ at the worst.
            let far = if is_good { 1e-6 } else { 1e-5 };
            assert_close(column.solution(), exact.as_slice(), Absolute(far * size));
        }
    }
}

/// The law that conjugate gradients obey, for a guide whose distance from the matrix is known, and how much worse they are without.
#[test]
fn steps_are_as_few_as_the_condition_says() {
    let (n, lambda) = (150, 1e-7);
    let values = falling(n);
    // Every eigenvalue of P + λI is off by a factor between ⅓ and 3: κ = 9.
    let off: Vec<f64> =
        (0..n).map(|j| (values[j] + lambda) * 3f64.powf((j as f64 * 1.7).sin()) - lambda).collect();
    let led = &run(&mut problem(&values, 1), whole(turned(&off)), &[lambda], LIMITS)[0];
    let none = &run(&mut problem(&values, 1), Guide::None, &[lambda], LIMITS)[0];
    let most = bound(9.0, LIMITS.tolerance);
    assert!(led.steps() <= most, "{} steps, at most {most}", led.steps());
    assert!(none.steps() > 4 * most, "{} steps without a guide", none.steps());
    assert!((6.0..9.1).contains(&led.condition()), "{}", led.condition());
    assert!(none.condition() > 1e5, "{}", none.condition());

    // Random vectors: κ is about 1 + λᵣ/λ.
    let mut nystrom = Nystrom::new(n, 1);
    nystrom.grow(&mut problem(&values, 1), 32).unwrap();
    let few = nystrom.last();
    nystrom.grow(&mut problem(&values, 1), 80).unwrap();
    assert!(nystrom.last() < few && nystrom.last() <= 10.0 * lambda, "{few}, {}", nystrom.last());
    let led = &run(&mut problem(&values, 1), Guide::Nystrom(nystrom), &[lambda], LIMITS)[0];
    assert!(led.steps() <= bound(28.0, LIMITS.tolerance), "{} steps", led.steps());
    assert!(led.condition() < 28.0, "{}", led.condition());
}

/// Eigenvalues as far as they are seen are not above those of the matrix, and its largest are found.
#[test]
fn random_vectors_see_the_largest_eigenvalues() {
    let values = falling(100);
    let mut nystrom = Nystrom::new(100, 7);
    nystrom.grow(&mut problem(&values, 1), 50).unwrap();
    // P⁻¹ along the first eigenvectors: (λᵣ + λ)/(value + λ).
    let led = |v: &[f64]| Guide::Nystrom(nystrom.clone()).lead(&Engine::default(), &[(v, 0.01)]).remove(0);
    let matrix = turned(&values);
    let (found, vectors) = crate::linalg::symmetric_eigen(&Engine::default(), matrix, &|_| Ok(())).unwrap();
    for k in 0..5 {
        let expected = (nystrom.last() + 0.01) / (found[k] + 0.01);
        let got = led(vectors.row(k));
        let scaled: Vec<f64> = vectors.row(k).iter().map(|v| v * expected).collect();
        assert_close(&got, &scaled, Absolute(1e-3));
    }
    assert!(nystrom.last() <= values[49] * 1.0001);
}

#[test]
fn what_was_not_reached_is_said() {
    let limits = Limits { tolerance: 1e-12, steps: 7 };
    let column = &run(&mut problem(&falling(150), 1), Guide::None, &[1e-9], limits)[0];
    assert_eq!((column.stop(), column.steps()), (Stop::Steps, 7));
    assert!(column.residual() > 1e-6);
    // A residual of nothing can not be had: rounding ends it, not the number of steps.
    let limits = Limits { tolerance: 1e-30, steps: 5000 };
    let column = &run(&mut problem(&falling(40), 1), Guide::None, &[1e-3], limits)[0];
    assert_eq!(column.stop(), Stop::Stagnation);
    assert!(column.residual() < 1e-10 && column.steps() < 500, "{} {}", column.residual(), column.steps());
}

#[test]
fn nothing_to_solve_is_zero() {
    let mut dense = problem(&falling(20), 1);
    dense.sides[0].fill(0.0);
    let column = &run(&mut dense, Guide::None, &[1.0], LIMITS)[0];
    assert!(column.solution().iter().all(|x| *x == 0.0));
    assert_eq!(column.stop(), Stop::Residual);
}

/// A slow guide is changed, once, and the rest goes by the other.
#[test]
fn a_slow_guide_is_changed_for_a_better_one() {
    let values = falling(150);
    let mut dense = problem(&values, 1);
    let mut columns = vec![Column::new(0, 1e-7, dense.sides[0].clone(), None)];
    let (mut guide, mut changes) = (Guide::None, 0);
    let better = &mut |_: Guide| {
        changes += 1;
        Ok((whole(turned(&values)), true))
    };
    solve(&mut dense, &mut columns, &mut guide, better, LIMITS, &|_, _| Ok(())).unwrap();
    assert_eq!((changes, columns[0].stop()), (1, Stop::Residual));
    assert!(columns[0].steps() < 20, "{}", columns[0].steps());
}

/// E (SZ)ᵀ(SZ) = ZᵀWZ, and no direction is lost: all within (1 ± ½)² and a margin. Repeats count as often as they are there.
#[test]
fn a_sketch_is_like_all_rows() {
    let (n, d) = (3000, 20);
    let numbers = normals(n, d, 1);
    // A direction of a few rows alone; and a thousand equal rows.
    let z = Matrix::from_fn(n, d, |i, j| match (i < 3, j == d - 1, i > 2000) {
        (true, true, _) => 50.0,
        (_, true, _) => 0.0,
        (_, _, true) => numbers[j],
        _ => numbers[i * d + j],
    });
    let weights: Vec<f64> = (0..n).map(|i| [1.0, 2.0, 0.0][i % 3]).collect();
    let mut sketch = Sketch::<f64>::zero(8 * d, d, 3);
    let ids: Vec<u64> = (0..n as u64).collect();
    for start in (0..n).step_by(700) {
        let end = n.min(start + 700);
        sketch.absorb(
            &Engine::default(),
            z.view().slice(start..end),
            &ids[start..end],
            &weights[start..end],
            &vec![0.0; d],
        );
    }
    let square = sketch.square(&Engine::default(), 64);
    let exact = Matrix::from_fn(d, d, |a, b| (0..n).map(|i| weights[i] * z.row(i)[a] * z.row(i)[b]).sum());
    // Eigenvalues of L⁻¹(SZ)ᵀ(SZ)L⁻ᵀ by its trace in both directions: the mean of the ratios, and of their inverses.
    let ratio = |a: &Matrix<f64>, b: &Matrix<f64>| {
        let solved = Cholesky::new(&Engine::default(), a.clone(), &|_| Ok(()))
            .unwrap()
            .solve(&Engine::default(), b.clone());
        (0..d).map(|i| solved.row(i)[i]).sum::<f64>() / d as f64
    };
    let (there, back) = (ratio(&exact, &square), ratio(&square, &exact));
    assert!((0.6..1.6).contains(&there) && (0.6..1.8).contains(&back), "{there} {back}");
}

/// What is not a number is no small residual: the maximum of it and of a number is that number.
#[test]
fn a_residual_that_is_not_a_number_ends_in_no_success() {
    for wild in [f64::NAN, f64::INFINITY] {
        let mut matrix = Matrix::from_fn(4, 4, |i, j| if i == j { 1.0 + i as f64 } else { 0.0 });
        matrix.row_mut(2)[2] = wild;
        let sides = vec![vec![1.0; 4]];
        let mut columns = vec![Column::new(0, 0.1, sides[0].clone(), None)];
        let mut operator = Dense { engine: Engine::default(), matrix, sides, passes: 0 };
        let mut guide = Guide::Diagonal(vec![1.0; 4]);
        let better = &mut |guide| Ok((guide, false));
        let limits = Limits { tolerance: 1e-6, steps: 40 };
        solve(&mut operator, &mut columns, &mut guide, better, limits, &|_, _| Ok(())).unwrap();
        assert_ne!(columns[0].stop(), Stop::Residual, "{wild}");
        assert!(!(columns[0].residual() <= 1e-6), "{wild}");
    }
}
