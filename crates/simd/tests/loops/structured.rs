//! Walsh–Hadamard transforms and the frequencies made of them, on every instruction set against the definition.

use bochner_simd::{
    Aligned, Apply, Distance, Element, HingeOrder, Isa, RowsRef, SparseRowsRef, Structured, structured,
    structured_sparse, walsh_hadamard,
};
use bochner_testkit::{Absolute, assert_close, densify, normals, sincos_turns, sparse};

fn typed<T: Element>(values: &[f64]) -> Vec<T> {
    values.iter().map(|&x| T::from_f64(x)).collect()
}

fn doubles<T: Element>(values: &[T]) -> Vec<f64> {
    values.iter().map(|x| x.to_f64()).collect()
}

/// Entry (i, j) of H: −1 to the number of ones that i and j share.
fn entry(i: usize, j: usize) -> f64 {
    if (i & j).count_ones().is_multiple_of(2) { 1.0 } else { -1.0 }
}

fn naive_transform(x: &[f64]) -> Vec<f64> {
    (0..x.len()).map(|i| x.iter().enumerate().map(|(j, x)| entry(i, j) * x).sum()).collect()
}

fn transform_is_the_definition<T: Element>(tolerance: f64) {
    for power in 0..=12 {
        let (rows, length) = (3, 1 << power);
        let x = typed::<T>(&normals(rows, length, 1));
        let mut reference: Option<Vec<T>> = None;
        for isa in Isa::available() {
            let mut data = x.clone();
            walsh_hadamard(isa, &mut data, length);
            for (row, x) in data.chunks(length).zip(x.chunks(length)) {
                let expected = naive_transform(&doubles(x));
                assert_close(
                    &doubles(row),
                    &expected,
                    Absolute(tolerance * (length as f64).sqrt() * f64::from(power)),
                );
            }
            assert_eq!(&data, reference.get_or_insert_with(|| data.clone()), "other bits on {isa:?}");
        }
    }
}

#[test]
fn transforms_are_those_of_the_definition_and_the_same_on_every_instruction_set() {
    transform_is_the_definition::<f32>(3e-7);
    transform_is_the_definition::<f64>(5e-15);
}

#[test]
fn a_transform_twice_is_the_length_times_the_row() {
    for isa in Isa::available() {
        for power in 0..=12 {
            let length = 1 << power;
            // Whole numbers: every sum is exact.
            let x: Vec<f32> = (0..2 * length).map(|i| ((i * 7919) % 61) as f32 - 30.0).collect();
            let mut data = x.clone();
            walsh_hadamard(isa, &mut data, length);
            walsh_hadamard(isa, &mut data, length);
            let expected: Vec<f32> = x.iter().map(|x| x * length as f32).collect();
            assert_eq!(data, expected, "{length} on {isa:?}");
        }
    }
}

/// Signs and lengths of `count` frequencies of three rounds; phases of normal rows are a few turns.
fn frequencies(padded: usize, count: usize) -> (Vec<f64>, Vec<f64>) {
    frequencies_of(3, padded, count)
}

fn frequencies_of(rounds: usize, padded: usize, count: usize) -> (Vec<f64>, Vec<f64>) {
    let signs = normals(count.div_ceil(padded), rounds * padded, 2).iter().map(|s| s.signum()).collect();
    let size = (padded as f64).powf(-0.5 * rounds as f64);
    (signs, normals(count, 1, 3).iter().map(|l| (0.5 + l.abs()) * size).collect())
}

/// The sums of one row, by the formula, in f64.
fn naive_sums(x: &[f64], padded: usize, rounds: usize, signs: &[f64], lengths: &[f64]) -> Vec<f64> {
    let mut sums = Vec::new();
    for signs in signs.chunks(rounds * padded) {
        let mut row = x.to_vec();
        row.resize(padded, 0.0);
        for round in signs.chunks(padded) {
            let signed: Vec<f64> = row.iter().zip(round).map(|(x, s)| x * s).collect();
            row = naive_transform(&signed);
        }
        sums.extend(row);
    }
    sums.iter().zip(lengths).map(|(s, l)| s * l).collect()
}

fn structured_is_the_formula<T: Element>(tolerance: f64) {
    for (n, columns, padded, count, rounds) in [
        (1, 1, 16, 1, 3),
        (3, 16, 16, 100, 3),
        (5, 60, 64, 64, 3),
        (66, 64, 64, 830, 3),
        (66, 64, 64, 830, 1),
        (5, 32, 32, 1000, 1),
        (3, 784, 1024, 1500, 1),
        (2, 100, 128, 127, 2),
        (2, 130, 256, 1025, 3),
        (2, 300, 512, 513, 3),
        (3, 784, 1024, 1500, 3),
        (1, 1500, 2048, 7, 3),
        (1, 4096, 4096, 4099, 3),
    ] {
        let x = typed::<T>(&normals(n, columns, 1));
        let (signs, lengths) = frequencies_of(rounds, padded, count);
        let (signs, lengths) = (typed::<T>(&signs), typed::<T>(&lengths));
        let frequencies = Structured { padded, rounds, signs: &signs, lengths: &lengths };
        let rows = RowsRef { data: &x, count: n, stride: columns };
        let sums: Vec<f64> = x
            .chunks(columns)
            .flat_map(|x| naive_sums(&doubles(x), padded, rounds, &doubles(&signs), &doubles(&lengths)))
            .collect();
        let offsets: Vec<f64> = (0..count).map(|j| j as f64 / count as f64).collect();
        let turn = std::f64::consts::TAU;
        let pairs: Vec<f64> =
            sums.iter().flat_map(|t| [0.5 * (turn * t).cos(), 0.5 * (turn * t).sin()]).collect();
        let cosines: Vec<f64> =
            sums.iter().enumerate().map(|(at, t)| 0.5 * (turn * (t + offsets[at % count])).cos()).collect();
        for isa in Isa::available() {
            let run = |what: &Apply<'_, T>, width: usize| {
                let stride = width + 3;
                let mut out = vec![T::from_f64(9.0); n * stride];
                structured(isa, rows, columns, &frequencies, what, &mut out, stride);
                assert!(out.chunks(stride).all(|row| row[width..] == [T::from_f64(9.0); 3]), "wrote too far");
                out.chunks(stride).flat_map(|row| doubles(&row[..width])).collect::<Vec<_>>()
            };
            let (scale, exact) = (T::from_f64(0.5), |_: usize, _: usize| panic!("no phase is large"));
            assert_close(&run(&Apply::Product, count), &sums, Absolute(tolerance));
            let what = Apply::Pairs { scale, exact: &exact, stream: false };
            assert_close(&run(&what, 2 * count), &pairs, Absolute(4.0 * tolerance));
            let what = Apply::Offset { scale, offsets: &typed(&offsets), exact: &exact };
            assert_close(&run(&what, count), &cosines, Absolute(4.0 * tolerance));
            let ramps: Vec<f64> = sums.iter().map(|s| 0.5 * s.max(0.0)).collect();
            let what = Apply::Hinge { order: HingeOrder::Linear, scale };
            assert_close(&run(&what, count), &ramps, Absolute(tolerance));
        }
    }
}

#[test]
fn structured_sums_are_those_of_the_formula() {
    structured_is_the_formula::<f32>(4e-6);
    structured_is_the_formula::<f64>(2e-13);
}

fn pairs_of(isa: Isa, x: &[f32], columns: usize, of: &Structured<'_, f32>, stream: bool) -> Vec<f32> {
    let (n, width) = (x.len() / columns, 2 * of.lengths.len());
    let mut out = Aligned::zeros(n * width);
    let what = Apply::Pairs { scale: 1.0, exact: &|_, _| 0.0, stream };
    let rows = RowsRef { data: x, count: n, stride: columns };
    structured(isa, rows, columns, of, &what, out.as_mut_slice(), width);
    out.as_slice().to_vec()
}

#[test]
fn a_row_has_the_same_bits_wherever_it_stands_and_however_many_frequencies_follow() {
    for isa in Isa::available() {
        for (columns, padded, count) in [(40, 64, 1000), (200, 256, 500), (1000, 1024, 2100)] {
            let n = 67;
            let x = typed::<f32>(&normals(n, columns, 4));
            let (signs, lengths) = frequencies(padded, count);
            let (signs, lengths) = (typed::<f32>(&signs), typed::<f32>(&lengths));
            let all = Structured { padded, rounds: 3, signs: &signs, lengths: &lengths };
            let whole = pairs_of(isa, &x, columns, &all, false);
            assert_eq!(pairs_of(isa, &x, columns, &all, true), whole, "streamed on {isa:?}");
            let fewer = count * 2 / 3 - 1;
            let signs = &signs[..fewer.div_ceil(padded) * 3 * padded];
            let some = Structured { padded, rounds: 3, signs, lengths: &lengths[..fewer] };
            for i in [0, 1, 63, 64, 66] {
                let (row, expected) =
                    (&x[i * columns..(i + 1) * columns], &whole[i * 2 * count..(i + 1) * 2 * count]);
                assert_eq!(pairs_of(isa, row, columns, &all, false), expected, "row {i} on {isa:?}");
                assert_eq!(
                    pairs_of(isa, row, columns, &some, false),
                    expected[..2 * fewer],
                    "row {i} on {isa:?}"
                );
            }
        }
    }
}

#[test]
fn structured_sparse_rows_have_the_bits_of_their_dense_form() {
    for isa in Isa::available() {
        let (n, columns, padded, count) = (70, 100, 128, 300);
        let (starts, indices, values) = sparse(n, columns, 0.2, 5);
        let dense = densify(&starts, &indices, &values, columns);
        let (signs, lengths) = frequencies(padded, count);
        let of = Structured { padded, rounds: 3, signs: &signs, lengths: &lengths };
        let what = Apply::Pairs { scale: 0.5, exact: &|_, _| 0.0, stream: false };
        let (mut a, mut b) = (vec![0.0; n * 2 * count], vec![0.0; n * 2 * count]);
        let rows = RowsRef { data: &dense, count: n, stride: columns };
        structured(isa, rows, columns, &of, &what, &mut a, 2 * count);
        let rows = SparseRowsRef { starts: &starts, indices: &indices, values: &values };
        structured_sparse(isa, rows, columns, &of, &what, &mut b, 2 * count);
        assert!(a == b, "{isa:?}");
    }
}

/// The matrix that unit rows show: all its rows have length ℓ·p^(3/2), any two of a block are orthogonal.
#[test]
fn the_frequencies_of_a_block_are_orthogonal() {
    let (padded, count) = (64, 128);
    let (signs, _) = frequencies(padded, count);
    let lengths = vec![0.5; count];
    let unit: Vec<f64> =
        (0..padded * padded).map(|at| f64::from(u8::from(at / padded == at % padded))).collect();
    for isa in Isa::available() {
        let of = Structured { padded, rounds: 3, signs: &signs, lengths: &lengths };
        let mut w = vec![9.0; padded * count];
        let rows = RowsRef { data: &unit, count: padded, stride: padded };
        structured(isa, rows, padded, &of, &Apply::Product, &mut w, count);
        let dot = |i: usize, j: usize| (0..padded).map(|k| w[k * count + i] * w[k * count + j]).sum::<f64>();
        for b in [0, padded] {
            for i in b..b + padded {
                for j in b..b + padded {
                    let expected = if i == j { 0.25 * (padded as f64).powi(3) } else { 0.0 };
                    assert_close(&[dot(i, j)], &[expected], Absolute(0.0));
                }
            }
        }
        // Between blocks they are not, or the second would be the first.
        assert!((0..padded).any(|i| dot(i, i + padded).abs() > 0.0));
    }
}

/// Phases beyond the limit, and those whose sums overflow on the way, are asked for, and no others.
#[test]
fn large_structured_phases_are_reduced_in_double_precision() {
    let (columns, padded, count) = (50, 64, 200);
    let (signs, lengths) = frequencies(padded, count);
    let single = (typed::<f32>(&signs), typed::<f32>(&lengths));
    let of = Structured { padded, rounds: 3, signs: &single.0, lengths: &single.1 };
    for size in [1e4, 1e37] {
        let mut x = typed::<f32>(&normals(3, columns, 1));
        x[columns..2 * columns].iter_mut().for_each(|x| *x *= size as f32);
        let exact: Vec<f64> = x
            .chunks(columns)
            .flat_map(|x| naive_sums(&doubles(x), padded, 3, &doubles(&single.0), &doubles(&single.1)))
            .collect();
        assert!(exact[count..2 * count].iter().any(|t| t.abs() > 2048.0), "the test has no power");
        for isa in Isa::available() {
            let asked = std::sync::Mutex::new(vec![false; 3 * count]);
            let ask = |i: usize, j: usize| {
                asked.lock().unwrap()[i * count + j] = true;
                exact[i * count + j]
            };
            let mut out = vec![9f32; 3 * 2 * count];
            let rows = RowsRef { data: &x, count: 3, stride: columns };
            let what = Apply::Pairs { scale: 1.0, exact: &ask, stream: false };
            structured(isa, rows, columns, &of, &what, &mut out, 2 * count);
            for (at, asked) in asked.into_inner().unwrap().into_iter().enumerate() {
                // Next to the limit rounding decides.
                let t = exact[at].abs();
                assert!(asked == (t >= 1024.0) || (t - 1024.0).abs() < 1e-2, "{at} of {t} on {isa:?}");
                if asked || t < 4.0 {
                    let (sin, cos) = sincos_turns(exact[at]);
                    assert!(cos.error_of(f64::from(out[2 * at])) < 3e-5, "{at} of {t} on {isa:?}");
                    assert!(sin.error_of(f64::from(out[2 * at + 1])) < 3e-5, "{at} of {t} on {isa:?}");
                }
            }
        }
    }
}

#[test]
fn structured_shapes_that_do_not_fit_are_refused() {
    let refuse = |columns: usize, padded: usize, signs: usize, out: usize, what: &Apply<'_, f64>| {
        let (signs, x) = (vec![1.0; signs], vec![1.0; 2 * 20]);
        let mut out = vec![0.0; out];
        let of = Structured { padded, rounds: 3, signs: &signs, lengths: &[1.0; 40] };
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let rows = RowsRef { data: &x, count: 2, stride: 20 };
            structured(Isa::PORTABLE, rows, columns, &of, what, &mut out, 40);
        }))
        .is_err()
    };
    let product = Apply::Product;
    assert!(!refuse(20, 32, 2 * 96, 80, &product));
    assert!(!refuse(16, 16, 3 * 48, 80, &product));
    assert!(refuse(20, 16, 3 * 48, 80, &product), "more columns than a block");
    assert!(refuse(20, 48, 144, 80, &product), "not a power of two");
    assert!(refuse(8, 8, 5 * 24, 80, &product), "shorter than a vector");
    assert!(refuse(20, 32, 96, 80, &product), "signs of one block");
    assert!(refuse(21, 32, 2 * 96, 80, &product), "rows too short");
    assert!(refuse(20, 32, 2 * 96, 79, &product), "output too short");
    let offsets = Apply::Offset { scale: 1.0, offsets: &[0.0; 39], exact: &|_, _| 0.0 };
    assert!(refuse(20, 32, 2 * 96, 80, &offsets), "one offset less");
    for distance in
        [Apply::Distance(Distance::Squared), Apply::Exponential { distance: Distance::Squared, rate: 1.0 }]
    {
        assert!(refuse(20, 32, 2 * 96, 80, &distance), "a distance");
    }
    let sparse = std::panic::catch_unwind(|| {
        let rows = SparseRowsRef { starts: &[0, 1], indices: &[20], values: &[1.0] };
        let of = Structured { padded: 32, rounds: 3, signs: &[1.0; 96], lengths: &[1.0; 4] };
        structured_sparse(Isa::PORTABLE, rows, 20, &of, &Apply::Product, &mut [0.0; 4], 4);
    });
    assert!(sparse.is_err(), "an index beyond the columns");
    for (elements, length) in [(12, 12), (12, 8)] {
        let transform = || walsh_hadamard(Isa::PORTABLE, &mut vec![1.0; elements], length);
        assert!(std::panic::catch_unwind(transform).is_err(), "{elements} by {length}");
    }
}
