//! Every loop on every instruction set against one line of naive arithmetic.

use bochner_simd::{
    Apply, CELL_PRIME, Distance, Element, Extent, Grids, HingeOrder, Isa, Panels, Room, RowsRef,
    SparseRowsRef, TILE, apply, apply_sparse, best_partner, cells, cross_tile, decays, move_errors,
    pack_columns, project, project_back, rank_tile,
};
use bochner_testkit::{Absolute, assert_close, assert_same_bits, densify, exp_reference, normals, sparse};

fn typed<T: Element>(values: &[f64]) -> Vec<T> {
    values.iter().map(|&x| T::from_f64(x)).collect()
}

fn doubles<T: Element>(values: &[T]) -> Vec<f64> {
    values.iter().map(|x| x.to_f64()).collect()
}

fn pack<T: Element>(isa: Isa, b: &[f64], depth: usize, columns: usize) -> Panels<T> {
    Panels::pack(isa, depth, columns, &mut |j, column| {
        (0..depth).for_each(|k| column[k] = T::from_f64(b[k * columns + j]));
    })
}

/// Σ op(x, b) for each row and column, from the rounded inputs.
fn sums<T: Element>(x: &[f64], b: &[f64], depth: usize, columns: usize, op: fn(f64, f64) -> f64) -> Vec<f64> {
    let round = |v: f64| T::from_f64(v).to_f64();
    let cell =
        |i: usize, j: usize| (0..depth).map(|k| op(round(x[i * depth + k]), round(b[k * columns + j]))).sum();
    (0..x.len() / depth).flat_map(|i| (0..columns).map(move |j| (i, j))).map(|(i, j)| cell(i, j)).collect()
}

const HINGES: [HingeOrder; 3] = [HingeOrder::Step, HingeOrder::Linear, HingeOrder::Square];

fn hinge(order: HingeOrder, s: f64) -> f64 {
    match order {
        HingeOrder::Step => f64::from(u8::from(s > 0.0)),
        HingeOrder::Linear => s.max(0.0),
        HingeOrder::Square => s.max(0.0).powi(2),
    }
}

const SHAPES: [(usize, usize, usize); 6] =
    [(1, 1, 1), (3, 2, 5), (9, 7, 48), (17, 5, 49), (65, 3, 100), (8, 64, 97)];

fn each_ending<T: Element>(tolerance: f64) {
    for isa in Isa::available() {
        for (n, depth, columns) in SHAPES {
            let (x, b) = (normals(n, depth, 1), normals(depth, columns, 2));
            let (rows, panels) = (typed::<T>(&x), pack::<T>(isa, &b, depth, columns));
            let rows = RowsRef { data: &rows, count: n, stride: depth };
            let run = |what: &Apply<'_, T>, width: usize| {
                let mut out = vec![T::from_f64(9.0); n * width];
                apply(rows, &panels, what, &mut out, width);
                doubles(&out)
            };
            let dot = sums::<T>(&x, &b, depth, columns, |a, b| a * b);
            assert_close(&run(&Apply::Product, columns), &dot, Absolute(tolerance * depth as f64));

            let turn = std::f64::consts::TAU;
            let expected: Vec<f64> =
                dot.iter().flat_map(|t| [0.5 * (turn * t).cos(), 0.5 * (turn * t).sin()]).collect();
            let half = T::from_f64(0.5);
            let pairs = run(
                &Apply::Pairs { scale: half, exact: &|_, _| panic!("no phase is large"), stream: false },
                2 * columns,
            );
            assert_close(&pairs, &expected, Absolute(8.0 * tolerance * depth as f64));

            let offsets: Vec<f64> = (0..columns).map(|j| j as f64 / columns as f64).collect();
            let expected: Vec<f64> = dot
                .iter()
                .enumerate()
                .map(|(at, t)| 0.5 * (turn * (t + offsets[at % columns])).cos())
                .collect();
            let what =
                Apply::Offset { scale: half, offsets: &typed(&offsets), exact: &|_, _| panic!("none") };
            assert_close(&run(&what, columns), &expected, Absolute(8.0 * tolerance * depth as f64));

            // The square of a sum s has 2|s| times its error; a step is right unless its sum is within the error of zero.
            let most = dot.iter().fold(1.0, |most: f64, s| most.max(s.abs()));
            for order in HINGES {
                let hinges = run(&Apply::Hinge { order, scale: half }, columns);
                for (&s, value) in dot.iter().zip(hinges) {
                    if order != HingeOrder::Step || s.abs() > tolerance * depth as f64 {
                        let error = (value - 0.5 * hinge(order, s)).abs();
                        assert!(
                            error <= 2.0 * most * tolerance * depth as f64,
                            "{order:?} of {s} on {isa:?}"
                        );
                    }
                }
            }

            for (distance, op) in [
                (Distance::Squared, (|a, b| (a - b) * (a - b)) as fn(f64, f64) -> f64),
                (Distance::Absolute, |a, b| (a - b).abs()),
            ] {
                let sums = sums::<T>(&x, &b, depth, columns, op);
                let distances = run(&Apply::Distance(distance), columns);
                assert_close(&distances, &sums, Absolute(4.0 * tolerance * depth as f64));
                let expected: Vec<f64> = sums.iter().map(|s| (-0.3 * s).exp()).collect();
                let what = Apply::Exponential { distance, rate: 0.3 };
                assert_close(&run(&what, columns), &expected, Absolute(4.0 * tolerance));
            }
        }
    }
}

#[test]
fn every_ending_in_single_precision() {
    each_ending::<f32>(4e-7);
}

#[test]
fn every_ending_in_double_precision() {
    each_ending::<f64>(1e-15);
}

#[test]
fn a_row_has_the_same_bits_wherever_it_stands() {
    for isa in Isa::available() {
        let (n, depth, columns) = (71, 13, 50);
        let (x, b) = (typed::<f32>(&normals(n, depth, 3)), normals(depth, columns, 4));
        let panels = pack::<f32>(isa, &b, depth, columns);
        let what = Apply::Pairs { scale: 1.0, exact: &|_, _| 0.0, stream: false };
        let mut whole = vec![0.0; n * 2 * columns];
        apply(RowsRef { data: &x, count: n, stride: depth }, &panels, &what, &mut whole, 2 * columns);
        for i in 0..n {
            let mut alone = vec![0.0; 2 * columns];
            apply(
                RowsRef { data: &x[i * depth..], count: 1, stride: depth },
                &panels,
                &what,
                &mut alone,
                2 * columns,
            );
            assert_eq!(alone, whole[i * 2 * columns..(i + 1) * 2 * columns], "row {i} on {isa:?}");
        }
    }
}

#[test]
fn sparse_rows_equal_their_dense_form() {
    for isa in Isa::available() {
        let (n, depth, columns) = (20, 40, 60);
        let (starts, indices, values) = sparse(n, depth, 0.2, 5);
        let dense = densify(&starts, &indices, &values, depth);
        let panels = pack::<f64>(isa, &normals(depth, columns, 6), depth, columns);
        let exact = |_: usize, _: usize| 0.0;
        let choices = [
            (Apply::Product, columns, 0.0),
            (Apply::Pairs { scale: 0.5, exact: &exact, stream: false }, 2 * columns, 0.0),
            (Apply::Hinge { order: HingeOrder::Step, scale: 0.5 }, columns, 0.0),
            (Apply::Hinge { order: HingeOrder::Linear, scale: 0.5 }, columns, 0.0),
            (Apply::Hinge { order: HingeOrder::Square, scale: 0.5 }, columns, 0.0),
            (Apply::Distance(Distance::Squared), columns, 2e-13),
            (Apply::Distance(Distance::Absolute), columns, 1e-13),
            (Apply::Exponential { distance: Distance::Squared, rate: 0.05 }, columns, 1e-14),
            (Apply::Exponential { distance: Distance::Absolute, rate: 0.05 }, columns, 1e-14),
        ];
        for (what, width, tolerance) in choices {
            let (mut a, mut b) = (vec![0.0; n * width], vec![0.0; n * width]);
            apply(RowsRef { data: &dense, count: n, stride: depth }, &panels, &what, &mut a, width);
            let rows = SparseRowsRef { starts: &starts, indices: &indices, values: &values };
            apply_sparse(rows, &panels, &what, &mut b, width);
            // Products skip only zeros, so they agree to the bit.
            assert_close(&b, &a, Absolute(tolerance));
        }
    }
}

/// The distance of a sparse row to itself is a sum that cancels: about half of them come out below zero.
fn no_distance_is_negative<T: Element>(tolerance: f64) {
    let (n, depth) = (50, 40);
    let (starts, indices, values) = sparse(n, depth, 0.5, 5);
    let dense = densify(&starts, &indices, &values, depth);
    let rows = SparseRowsRef { starts: &starts, indices: &indices, values: &typed::<T>(&values) };
    for isa in Isa::available() {
        let panels = Panels::pack(isa, depth, n, &mut |j, column| {
            (0..depth).for_each(|k| column[k] = T::from_f64(dense[j * depth + k]));
        });
        for distance in [Distance::Squared, Distance::Absolute] {
            let mut out = vec![T::from_f64(9.0); n * n];
            apply_sparse(rows, &panels, &Apply::Distance(distance), &mut out, n);
            assert!(out.iter().all(|&s| s >= T::default()), "{distance:?} on {isa:?}");
            let to_itself: Vec<f64> = (0..n).map(|i| out[i * n + i].to_f64()).collect();
            assert_close(&to_itself, &vec![0.0; n], Absolute(tolerance));
        }
    }
}

#[test]
fn no_distance_of_sparse_rows_is_negative() {
    no_distance_is_negative::<f32>(1e-4);
    no_distance_is_negative::<f64>(2e-13);
}

#[test]
fn a_distance_that_is_not_a_number_stays_so() {
    for isa in Isa::available() {
        let panels = pack::<f32>(isa, &[f64::INFINITY, 1.0], 1, 2);
        for distance in [Distance::Squared, Distance::Absolute] {
            let (mut dense, mut sparse) = ([9f32; 2], [9f32; 2]);
            let x = [f32::INFINITY];
            let what = Apply::Distance(distance);
            apply(RowsRef { data: &x, count: 1, stride: 1 }, &panels, &what, &mut dense, 2);
            let rows = SparseRowsRef { starts: &[0, 1], indices: &[0], values: &x };
            apply_sparse(rows, &panels, &what, &mut sparse, 2);
            for out in [dense, sparse] {
                assert!(out[0].is_nan() && out[1] == f32::INFINITY, "{out:?}, {distance:?} on {isa:?}");
            }
        }
    }
}

fn hinges_of<T: Element>(special: &[f64]) {
    for isa in Isa::available() {
        let panels = pack::<T>(isa, &[1.0], 1, 1);
        let x = typed::<T>(special);
        for order in HINGES {
            let mut out = vec![T::from_f64(9.0); x.len()];
            let what = Apply::Hinge { order, scale: T::from_f64(2.0) };
            apply(RowsRef { data: &x, count: x.len(), stride: 1 }, &panels, &what, &mut out, 1);
            let expected: Vec<T> = x.iter().map(|x| T::from_f64(2.0 * hinge(order, x.to_f64()))).collect();
            assert_eq!(out, expected, "{order:?} on {isa:?}");
        }
    }
}

/// The step is open at zero, and the smallest number is above it; what is not a number has no hinge.
#[test]
fn hinges_at_their_edges() {
    let special = [0.0, -0.0, 1.5, -1.5, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    hinges_of::<f64>(&special);
    hinges_of::<f64>(&[f64::from_bits(1), -f64::from_bits(1), f64::MIN_POSITIVE]);
    hinges_of::<f32>(&special);
    hinges_of::<f32>(&[1e-45, -1e-45, 1e-38]);
}

#[test]
fn a_triangular_factor_is_read_no_further_than_its_diagonal() {
    for isa in Isa::available() {
        let n = 101;
        let full = normals(n, n, 7);
        let upper: Vec<f64> = (0..n * n).map(|at| if at / n <= at % n { full[at] } else { 0.0 }).collect();
        let panels = pack::<f64>(isa, &upper, n, n);
        let x = normals(5, n, 8);
        let rows = RowsRef { data: &x, count: 5, stride: n };
        let (mut a, mut b) = (vec![0.0; 5 * n], vec![0.0; 5 * n]);
        apply(rows, &panels, &Apply::Product, &mut a, n);
        apply(rows, &panels.upper_triangular(), &Apply::Product, &mut b, n);
        assert_eq!(a, b);
    }
}

/// Large and overflowing phases are asked for in f64, exactly where they are.
#[test]
fn large_phases_are_reduced_in_double_precision() {
    for isa in Isa::available() {
        let columns = 60;
        let w: Vec<f64> = (0..columns).map(|j| [0.3, 1e6 + 0.125, 3e38, -5e5 - 0.25][j % 4]).collect();
        let panels = pack::<f32>(isa, &w, 1, columns);
        let x = [1.0f32, 3.0];
        let exact = |i: usize, j: usize| f64::from(x[i]) * w[j];
        let mut out = vec![0.0; 2 * 2 * columns];
        apply(
            RowsRef { data: &x, count: 2, stride: 1 },
            &panels,
            &Apply::Pairs { scale: 1.0, exact: &exact, stream: false },
            &mut out,
            2 * columns,
        );
        for i in 0..2 {
            for j in 0..columns {
                let (sin, cos) = bochner_testkit::sincos_turns(exact(i, j));
                let at = (i * columns + j) * 2;
                assert!(cos.error_of(f64::from(out[at])) < 2e-6, "row {i}, column {j} on {isa:?}");
                assert!(sin.error_of(f64::from(out[at + 1])) < 2e-6, "row {i}, column {j} on {isa:?}");
            }
        }
    }
}

#[test]
fn a_phase_that_is_not_finite_counts_as_zero() {
    for isa in Isa::available() {
        let panels = pack::<f64>(isa, &[1e308], 1, 1);
        let mut out = [9.0; 2];
        let what = Apply::Pairs { scale: 1.0, exact: &|_, _| f64::INFINITY, stream: false };
        apply(RowsRef { data: &[1e10], count: 1, stride: 1 }, &panels, &what, &mut out, 2);
        bochner_testkit::assert_same_bits(&out, &[1.0, 0.0]);
    }
}

#[test]
fn exponentials_are_good_to_their_last_digits() {
    for isa in Isa::available() {
        let s: Vec<f64> = (0..4000).map(|i| f64::from(i) * f64::from(i) * 4e-5).collect();
        let panels = pack::<f64>(isa, &[0.0], 1, 1);
        let mut out = vec![0.0; s.len()];
        let what = Apply::Exponential { distance: Distance::Absolute, rate: 1.0 };
        apply(RowsRef { data: &s, count: s.len(), stride: 1 }, &panels, &what, &mut out, 1);
        for (s, value) in s.iter().zip(&out) {
            let exact = exp_reference(-s);
            // Rounding the exponent costs |s| half-ulps.
            assert!(exact.error_of(*value) <= exact.hi * 2.3e-16 * (1.5 + s), "exp(-{s}) on {isa:?}");
        }
        let mut tiny = [9.0];
        apply(RowsRef { data: &[1e300], count: 1, stride: 1 }, &panels, &what, &mut tiny, 1);
        assert!(tiny[0] <= f64::MIN_POSITIVE && tiny[0] >= 0.0);
    }
}

fn sums_of_products<T: Element>(tolerance: f64) {
    for isa in Isa::available() {
        for (rows, columns) in [(1, 1), (5, 192), (300, 100), (257, 49)] {
            let (z, y) = (normals(rows, columns, 9), normals(rows, 3, 10));
            let typed = typed::<T>(&z);
            // Rows in another order, with factors.
            let order: Vec<(u32, f64)> = (0..rows)
                .map(|q| ((q * 7 % rows) as u32, if rows % 7 == 0 { 1.0 } else { 1.0 + (q % 3) as f64 }))
                .collect();
            let mut packed = vec![T::default(); rows * TILE];
            pack_columns(isa, &order, &|r| &typed[r * columns..(r + 1) * columns], &mut packed);
            let mut side = Vec::new();
            order.iter().for_each(|&(r, f)| side.extend(y[r as usize * 3..][..3].iter().map(|v| v * f)));
            let range = rows / 3..rows;
            let (mut gram, mut cross) = (vec![1.0; TILE * TILE], vec![1.0; 3 * TILE]);
            let whole = Extent { a: TILE, b: TILE, upper: false };
            rank_tile(isa, &packed, &packed, range.clone(), whole, &mut gram);
            cross_tile(isa, &packed, &side, range.clone(), &mut cross);
            let entry = |q: usize, j: usize| order[q].1 * typed[order[q].0 as usize * columns + j].to_f64();
            let inside = |j: usize| j < columns;
            for i in 0..TILE {
                for j in 0..TILE {
                    let sum: f64 = if inside(i) && inside(j) {
                        range.clone().map(|q| entry(q, i) * entry(q, j)).sum()
                    } else {
                        0.0
                    };
                    assert_close(
                        &[gram[i * TILE + j]],
                        &[1.0 + sum],
                        Absolute(tolerance * 9.0 * rows as f64),
                    );
                }
                for o in 0..3 {
                    let sum: f64 = if inside(i) {
                        range.clone().map(|q| entry(q, i) * side[q * 3 + o]).sum()
                    } else {
                        0.0
                    };
                    // Packed entries are rounded once; the sum itself is double.
                    assert_close(
                        &[cross[o * TILE + i]],
                        &[1.0 + sum],
                        Absolute(tolerance * 9.0 * rows as f64),
                    );
                }
            }
        }
    }
}

/// What lies inside the extent has the bits of the whole tile; what lies outside is not written.
#[test]
fn part_of_a_tile_is_a_part_of_the_tile() {
    for isa in Isa::available() {
        let rows = 150;
        let z: Vec<f32> = typed(&normals(rows, TILE, 9));
        let order: Vec<(u32, f64)> = (0..rows as u32).map(|r| (r, 1.0)).collect();
        let mut packed = vec![0.0; rows * TILE];
        pack_columns(isa, &order, &|r| &z[r * TILE..(r + 1) * TILE], &mut packed);
        let gram = |extent| {
            let mut gram = vec![1.0; TILE * TILE];
            rank_tile(isa, &packed, &packed, 0..rows, extent, &mut gram);
            gram
        };
        let whole = gram(Extent { a: TILE, b: TILE, upper: false });
        for (a, b, upper) in
            [(TILE, 64, false), (100, TILE, false), (TILE, TILE, true), (70, 70, true), (0, 5, false)]
        {
            let part = gram(Extent { a, b, upper });
            for i in 0..TILE {
                for j in 0..TILE {
                    let at = i * TILE + j;
                    if i < a && j < b && (i <= j || !upper) {
                        assert_eq!(
                            part[at].to_bits(),
                            whole[at].to_bits(),
                            "({i}, {j}) of {a}×{b} on {isa:?}"
                        );
                    } else if i >= a || j >= b {
                        assert_eq!(
                            part[at].to_bits(),
                            1f64.to_bits(),
                            "({i}, {j}) outside {a}×{b} on {isa:?}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn outer_products_add_up() {
    sums_of_products::<f64>(1e-15);
    sums_of_products::<f32>(2e-7);
}

#[test]
fn projections_are_dot_products_in_double_precision() {
    for isa in Isa::available() {
        projections::<f32>(isa);
        projections::<f64>(isa);
    }
}

fn projections<T: Element>(isa: Isa) {
    for (n, width, outputs) in [(1, 1, 1), (3, 50, 1), (5, 33, 11), (2, 16, 4), (9, 1100, 7), (7, 513, 3)] {
        // Rows need not lie one after another.
        let stride = width + 3;
        let (z, c) = (typed::<T>(&normals(n, stride, 11)), normals(outputs, width, 12));
        let mut out = vec![2.0; n * outputs];
        project(isa, RowsRef { data: &z, count: n, stride }, width, &c, &mut out);
        let cell = |i: usize, o: usize| -> f64 {
            2.0 + (0..width).map(|j| z[i * stride + j].to_f64() * c[o * width + j]).sum::<f64>()
        };
        let expected: Vec<f64> = (0..n * outputs).map(|at| cell(at / outputs, at % outputs)).collect();
        assert_close(&out, &expected, Absolute(1e-11));
        // A row gives the same bits whichever others are with it.
        for i in 0..n {
            let mut alone = vec![2.0; outputs];
            project(isa, RowsRef { data: &z[i * stride..], count: 1, stride }, width, &c, &mut alone);
            assert_same_bits(&alone, &out[i * outputs..(i + 1) * outputs]);
        }
        // So does an output.
        for o in 0..outputs {
            let mut alone = vec![2.0; n];
            let rows = RowsRef { data: &z, count: n, stride };
            project(isa, rows, width, &c[o * width..(o + 1) * width], &mut alone);
            assert_same_bits(&alone, &(0..n).map(|i| out[i * outputs + o]).collect::<Vec<_>>());
        }
    }
}

#[test]
fn sums_of_rows_are_taken_in_double_precision() {
    for isa in Isa::available() {
        sums_of_rows::<f32>(isa);
        sums_of_rows::<f64>(isa);
    }
}

fn sums_of_rows<T: Element>(isa: Isa) {
    for (n, width, outputs) in
        [(1, 1, 1), (3, 17, 2), (40, 33, 5), (64, 100, 9), (33, 70, 7), (6, 24, 5), (7, 56, 6), (5, 9, 0)]
    {
        let stride = width + 2;
        let (z, y) = (typed::<T>(&normals(n, stride, 13)), normals(n, outputs, 14));
        let mut out = vec![2.0; outputs * width];
        project_back(isa, RowsRef { data: &z, count: n, stride }, width, &y, &mut out);
        let cell = |o: usize, j: usize| -> f64 {
            2.0 + (0..n).map(|i| z[i * stride + j].to_f64() * y[i * outputs + o]).sum::<f64>()
        };
        let expected: Vec<f64> = (0..outputs * width).map(|at| cell(at / width, at % width)).collect();
        assert_close(&out, &expected, Absolute(1e-12));
        // Rows in order: some, and then the others, are the same bits.
        let (mut parts, cut) = (vec![2.0; outputs * width], n / 2);
        for rows in [0..cut, cut..n] {
            let some = RowsRef { data: &z[rows.start * stride..], count: rows.len(), stride };
            project_back(isa, some, width, &y[rows.start * outputs..rows.end * outputs], &mut parts);
        }
        assert_same_bits(&parts, &out);
        // An output gives the same bits whichever others are with it.
        for o in 0..outputs {
            let mut alone = vec![2.0; width];
            let values: Vec<f64> = (0..n).map(|i| y[i * outputs + o]).collect();
            project_back(isa, RowsRef { data: &z, count: n, stride }, width, &values, &mut alone);
            assert_same_bits(&alone, &out[o * width..(o + 1) * width]);
        }
    }
}

#[test]
fn shapes_that_do_not_fit_are_refused() {
    let panels = pack::<f64>(Isa::PORTABLE, &normals(3, 4, 1), 3, 4);
    let refuse = |rows: &[f64], count, length: usize| {
        let mut out = vec![0.0; length];
        let rows = RowsRef { data: rows, count, stride: 3 };
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            apply(rows, &panels, &Apply::Product, &mut out, 4)
        }))
        .is_err()
    };
    assert!(!refuse(&[0.0; 6], 2, 8));
    assert!(refuse(&[0.0; 5], 2, 8), "rows too short");
    assert!(refuse(&[0.0; 6], 2, 7), "output too short");
    assert!(refuse(&[0.0; 6], usize::MAX / 3 + 2, 8), "sizes that overflow");
    let indices_beyond = std::panic::catch_unwind(|| {
        let rows = SparseRowsRef { starts: &[0, 1], indices: &[3], values: &[1.0] };
        apply_sparse(rows, &panels, &Apply::Product, &mut [0.0; 4], 4);
    });
    assert!(indices_beyond.is_err());
}

/// Writing past the caches changes no bit, on lines or off them.
#[test]
fn streaming_changes_nothing() {
    for isa in Isa::available() {
        let (n, depth, columns) = (70, 9, 100);
        let x = typed::<f32>(&normals(n, depth, 3));
        let panels = pack::<f32>(isa, &normals(depth, columns, 4), depth, columns);
        let rows = RowsRef { data: &x, count: n, stride: depth };
        let run = |stream, shift: usize| {
            let mut out = bochner_simd::Aligned::<f32>::zeros(n * 208 + 16);
            let what = Apply::Pairs { scale: 1.0, exact: &|_, _| 0.0, stream };
            apply(rows, &panels, &what, &mut out.as_mut_slice()[shift..], 208);
            out.as_slice()[shift..shift + n * 208].to_vec()
        };
        let expected = run(false, 0);
        assert!(run(true, 0) == expected && run(true, 5) == expected, "{isa:?}");
    }
}

#[test]
fn sums_decay_to_kernel_values() {
    for isa in Isa::available() {
        for n in [0, 1, 7, 16, 100, 513] {
            let sums: Vec<f64> = (0..n).map(|i| f64::from(i) * 0.21 - 1e-9).collect();
            let mut out = vec![9f32; n as usize];
            decays(isa, 0.7, &sums, &mut out);
            for (s, &value) in sums.iter().zip(&out) {
                let exact = (-0.7 * s.max(0.0)).exp();
                // Half a step of f32, or of its smallest.
                assert!((f64::from(value) - exact).abs() <= exact * 6.0e-8 + 1e-45, "{s} on {isa:?}");
            }
            let mut double = vec![9f64; n as usize];
            decays(isa, 0.7, &sums, &mut double);
            let exact: Vec<f64> = sums.iter().map(|s| (-0.7 * s.max(0.0)).exp()).collect();
            assert_close(&double, &exact, Absolute(1e-15));
        }
    }
}

/// Errors, two rows, a diagonal, and which rows may rise and fall.
fn errors_and_rows(n: usize) -> (Vec<f64>, [Vec<f32>; 5]) {
    let single = |seed| typed::<f32>(&normals(n, 1, seed));
    let bound =
        |seed, infinite: f32| single(seed).iter().map(|&x| if x > 0.3 { infinite } else { 0.0 }).collect();
    let diagonal = single(4).iter().map(|x| 3.0 + x.abs()).collect();
    (normals(n, 1, 1), [single(2), single(3), diagonal, bound(5, f32::NEG_INFINITY), bound(6, f32::INFINITY)])
}

#[test]
fn a_step_moves_all_errors_and_finds_their_ends() {
    for isa in Isa::available() {
        for n in [1, 3, 16, 100, 511, 512, 1543] {
            let (before, [a, b, _, up, low]) = errors_and_rows(n);
            let mut errors = before.clone();
            let found = move_errors(isa, 0.37, [&a, &b], Room { up: &up, low: &low }, &mut errors);
            let expected: Vec<f64> =
                (0..n).map(|t| before[t] - 0.37 * (f64::from(a[t]) - f64::from(b[t]))).collect();
            assert_close(&errors, &expected, Absolute(1e-15));
            let rising = (0..n).filter(|&t| up[t] == 0.0).max_by(|&s, &t| errors[s].total_cmp(&errors[t]));
            let falling = (0..n).filter(|&t| low[t] == 0.0).min_by(|&s, &t| errors[s].total_cmp(&errors[t]));
            if let Some(t) = rising {
                assert!((found.highest_at, found.highest) == (t, errors[t]), "{n} on {isa:?}");
            }
            if let Some(t) = falling {
                assert!((found.lowest_at, found.lowest) == (t, errors[t]), "{n} on {isa:?}");
            }
            let none = vec![f32::NEG_INFINITY; n];
            let found = move_errors(isa, 0.0, [&a, &b], Room { up: &none, low: &low }, &mut errors);
            assert!(found.highest.is_infinite() && found.highest < 0.0);
        }
    }
}

#[test]
fn the_best_partner_gains_most() {
    for isa in Isa::available() {
        for n in [1, 3, 16, 100, 511, 512, 1543] {
            let (errors, [row, _, diagonal, _, low]) = errors_and_rows(n);
            let top = 0.8;
            let gain = |t: usize| {
                let short = if low[t] == 0.0 { (top - errors[t]).max(0.0) } else { 0.0 };
                short * short / (3.5 + f64::from(diagonal[t]) - 2.0 * f64::from(row[t])).max(0.1)
            };
            let best = (0..n).map(gain).fold(0.0, f64::max);
            match best_partner(isa, top, 3.5, 0.1, &row, &diagonal, &low, &errors) {
                Some(t) => assert!(gain(t) >= best * (1.0 - 1e-6) && best > 0.0, "{n} on {isa:?}"),
                None => assert!(best <= 0.0),
            }
            assert_eq!(best_partner(isa, -9.0, 3.5, 0.1, &row, &diagonal, &low, &errors), None);
        }
    }
}

/// Hashes of cells as integers of 128 bits have them.
fn naive_hash(x: &[f64], g: usize, of: impl Fn(usize, usize) -> (f64, f64, u32)) -> u32 {
    let p = i128::from(CELL_PRIME);
    let term = |(j, x): (usize, &f64)| {
        let (inverse, offset, factor) = of(g, j);
        ((x * inverse - offset).floor() as i128).rem_euclid(p) * i128::from(factor)
    };
    (x.iter().enumerate().map(term).sum::<i128>() % p) as u32
}

fn hashes(isa: Isa, rows: &[f64], grids: &Grids) -> Vec<u32> {
    let mut out = vec![7; rows.len() / grids.columns() * grids.count()];
    cells(isa, rows, grids, &mut out);
    out
}

/// Rows near zero and far from it, alone and among each other, in every number that fills a tile, a block or a panel or not.
#[test]
fn hashes_of_cells_are_those_of_integers() {
    for (n, columns, count) in
        [(1, 1, 1), (7, 3, 8), (8, 54, 50), (9, 5, 9), (64, 2, 16), (65, 54, 7), (130, 17, 23), (200, 101, 3)]
    {
        let (normal, factors) = (normals(n, columns, 21), normals(count, columns, 22));
        let of = |g: usize, j: usize| {
            let (z, k) = (factors[g * columns + j], (g * columns + j) as u32);
            (0.05 + z.abs(), z.abs().fract(), 1 + k.wrapping_mul(2_654_435_761) % (CELL_PRIME - 1))
        };
        let grids = Grids::pack(columns, count, &of);
        for far in [0, 1, 3, 10, 1000] {
            // Every `far`-th row has an entry beyond 2³¹ cells, the others have none.
            let entry = |at: usize| {
                let (i, j) = (at / columns, at % columns);
                let is_far = far > 0 && i % far == far / 2 && j == i % columns;
                normal[at] * if is_far { 1e12 } else { [1.0, 30.0, 1e4][i % 3] }
            };
            let rows: Vec<f64> = (0..n * columns).map(entry).collect();
            let row = |i: usize| &rows[i * columns..(i + 1) * columns];
            let expected: Vec<u32> =
                (0..n * count).map(|at| naive_hash(row(at / count), at % count, of)).collect();
            for isa in Isa::available() {
                assert_eq!(hashes(isa, &rows, &grids), expected, "{n} × {columns} to {count} on {isa:?}");
            }
        }
    }
}

/// On a border, one step of f64 to either side, and at the bins from which on a row no longer counts as near: factors are the largest and all
/// terms have one sign, so that a sum which is too long for its 64 bits shows.
#[test]
fn borders_and_limits_of_cells_are_exact() {
    for columns in [1, 2, 3, 54, 300, 5000] {
        let most = f64::from(CELL_PRIME).min(4_294_967_294.0 / columns as f64);
        let of = |g: usize, _: usize| ([1.0, 0.5, 3.0][g % 3], [0.0, 0.25, 0.999][g / 3], CELL_PRIME - 1);
        let grids = Grids::pack(columns, 9, &of);
        let sizes = [
            0.0,
            0.25,
            1.0,
            1.5,
            2.0,
            1e6,
            most / 3.0 - 2.0,
            most / 3.0 - 1.0,
            most / 3.0,
            most,
            2.0 * most,
            1e13,
        ];
        let steps = |x: f64| [x.next_down(), x, x.next_up()];
        let entries: Vec<f64> = sizes.iter().flat_map(|&x| [x, -x]).flat_map(steps).collect();
        let mut rows: Vec<f64> = entries.iter().flat_map(|&x| vec![x; columns]).collect();
        // Signs in turn.
        rows.extend(entries.iter().flat_map(|&x| (0..columns).map(move |j| if j % 2 == 0 { x } else { -x })));
        let row = |i: usize| &rows[i * columns..(i + 1) * columns];
        let expected: Vec<u32> =
            (0..rows.len() / columns * 9).map(|at| naive_hash(row(at / 9), at % 9, of)).collect();
        for isa in Isa::available() {
            assert_eq!(hashes(isa, &rows, &grids), expected, "{columns} columns on {isa:?}");
        }
    }
}

/// Beyond 2⁵¹ cells a hash is what f64 makes of it, but the same on every instruction set and whatever stands beside.
#[test]
fn huge_rows_have_one_hash() {
    let of = |g: usize, j: usize| (0.3 + g as f64, 0.5, 12_345 + (g * 77 + j * 1_000_003) as u32);
    let grids = Grids::pack(3, 20, &of);
    let huge = [3e15, -1e16, 1e18, -1e40, 1e300, f64::MAX, -f64::MAX, 5e-324, -0.0];
    let rows: Vec<f64> = huge.iter().flat_map(|&x| [0.5, x, -2.0]).collect();
    let expected = hashes(Isa::PORTABLE, &rows, &grids);
    assert!(expected.iter().all(|&hash| hash < CELL_PRIME));
    for isa in Isa::available() {
        assert_eq!(hashes(isa, &rows, &grids), expected, "{isa:?}");
        for (i, row) in rows.chunks(3).enumerate() {
            let alone = hashes(isa, row, &grids);
            assert_eq!(alone, expected[i * 20..(i + 1) * 20]);
            let terms = |g| (0..3).map(|j| u64::from(grids.term(g, j, row[j]))).sum::<u64>();
            assert!((0..20).all(|g| u64::from(alone[g]) == terms(g) % u64::from(CELL_PRIME)));
        }
    }
}
