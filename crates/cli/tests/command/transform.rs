//! `bochner transform`: the library's features, in every format.

use std::ffi::OsString;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use bochner::encode::{Scaling, Sequence};
use bochner::map::Sketch;
use bochner::stat::Moments;
use bochner::table::TextColumn;
use bochner::{
    Arrays, Csr, Engine, Kernel, Map, MapSpec, Matrix, MatrixView, Method, Nonzeros, Projection, Rows,
    Scalar, Target,
};
use bochner_cli::Messages;
use bochner_testkit::Chance;

use super::{Bench, Kept};

/// A table of three columns and a class, and its rows.
fn table(bench: &Bench, name: &str, rows: usize) -> Matrix<f64> {
    let mut chance = Chance::new(5);
    let x = Matrix::from_fn(rows, 3, |_, _| chance.normal());
    let mut text = "a,kind,b,c\n".to_owned();
    for i in 0..rows {
        let [a, b, c] = [0, 1, 2].map(|j| x.row(i)[j]);
        text += &format!("{a},\"k {}, or so\",{b},{c}\n", i % 3);
    }
    bench.file(name, text);
    x
}

fn single(x: &Matrix<f64>) -> Matrix<f32> {
    Matrix::from_fn(x.rows(), x.columns(), |i, j| x.row(i)[j] as f32)
}

fn spec(kernel: &str, method: Option<Method>, features: usize, seed: u64) -> MapSpec {
    let kernel: Kernel = kernel.parse::<Kernel>().unwrap().bind(&["a", "b", "c"].map(str::to_owned)).unwrap();
    let method = method.unwrap_or_else(|| Method::auto(&kernel, features));
    MapSpec { kernel, method, features, seed }
}

fn transformed<T: Scalar>(map: &Map, x: &Matrix<T>) -> Matrix<T> {
    map.transform(&Engine::default(), &Rows::from(x)).unwrap()
}

/// The numbers of a CSV file of features, without the last columns.
fn csv(text: &str, left_out: usize) -> Vec<Vec<f32>> {
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let count = names.len() - left_out;
    assert!((0..count).all(|j| names[j] == format!("f{j}")), "{names:?}");
    lines.map(|line| line.split(',').take(count).map(|cell| cell.parse().unwrap()).collect()).collect()
}

/// The labels and the numbers of a LIBSVM file.
fn libsvm(text: &str, columns: usize) -> Vec<(String, Vec<f32>)> {
    let row = |line: &str| {
        let (mut words, mut row) = (line.split(' '), vec![0.0; columns]);
        let label = words.next().unwrap().to_owned();
        for word in words {
            let (index, value) = word.split_once(':').unwrap();
            row[index.parse::<usize>().unwrap() - 1] = value.parse().unwrap();
            assert_ne!(value, "0");
        }
        (label, row)
    };
    text.lines().map(row).collect()
}

/// What NumPy would read: kind, shape, bytes.
fn npy(bytes: &[u8]) -> (String, [usize; 2], &[u8]) {
    assert!(bytes.starts_with(b"\x93NUMPY\x01\x00"));
    let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    assert!(start.is_multiple_of(64) && bytes[start - 1] == b'\n');
    let header = std::str::from_utf8(&bytes[10..start]).unwrap();
    let between = |from: &str, to: &str| {
        let rest = &header[header.find(from).unwrap() + from.len()..];
        rest[..rest.find(to).unwrap()].to_owned()
    };
    assert!(header.contains("'fortran_order': False"), "{header}");
    let shape: Vec<usize> = between("'shape': (", ")").split(", ").map(|n| n.parse().unwrap()).collect();
    (between("'descr': '", "'"), [shape[0], shape[1]], &bytes[start..])
}

fn rows(matrix: &Matrix<f32>) -> Vec<Vec<f32>> {
    (0..matrix.rows()).map(|i| matrix.row(i).to_vec()).collect()
}

#[test]
fn features_are_those_of_the_library_in_every_format() {
    let bench = Bench::new();
    let x = table(&bench, "data.csv", 150);
    let projection = |how| Some(Method::Projection { how });
    let sketch = |sketch| Some(Method::Sketch { sketch });
    let sparse = |nonzeros, signed| projection(Projection::Sparse { nonzeros, signed });
    for (kernel, words, method, features) in [
        ("gaussian(sigma=1.5)", "", None, 64),
        ("laplace(scale=2)", "--map fourier", Some(MapSpec::fourier(Kernel::Linear).method), 64),
        ("gaussian(sigma=1)[c,a]+0.5*linear", "", None, 64),
        ("poly(degree=2,c=1)", "--map exact", Some(Method::Exact), 64),
        ("poly(degree=3,c=1)", "--map tensor", sketch(Sketch::Tensor), 33),
        ("poly(degree=3,c=1)", "--map product", sketch(Sketch::Product), 32),
        ("linear", "--map gaussian", projection(Projection::Gaussian), 16),
        ("linear", "--map signs", projection(Projection::Signs), 16),
        ("linear", "--map orthonormal", projection(Projection::Orthonormal), 16),
        ("linear", "--map hadamard", projection(Projection::Hadamard), 16),
        ("linear", "--map sparse", sparse(Nonzeros::Count { count: 8 }, true), 16),
        ("linear", "--map sparse --nonzeros theorem --unsigned", sparse(Nonzeros::Theorem, false), 16),
        ("linear", "--map sparse --nonzeros 1", sparse(Nonzeros::Count { count: 1 }, true), 16),
    ] {
        let map = spec(kernel, method, features, 3).build(3).unwrap();
        let expected = transformed(&map, &single(&x));
        let words = format!("@data.csv --ignore kind --kernel {kernel} {words} -D {features} --seed 3 -q");
        assert_eq!(csv(&bench.ok(&format!("transform {words}")), 0), rows(&expected), "{words}");

        bench.ok(&format!("transform {words} -o @out.npy"));
        let bytes = fs::read(bench.path("out.npy")).unwrap();
        let (kind, shape, bytes) = npy(&bytes);
        assert_eq!((kind.as_str(), shape), ("<f4", [150, map.output_dim()]), "{words}");
        let numbers = bytes.chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().unwrap()));
        assert!(numbers.eq(expected.as_slice().iter().copied()), "{words}");

        bench.ok(&format!("transform {words} -o @out.npy --precision double"));
        let bytes = fs::read(bench.path("out.npy")).unwrap();
        let (kind, _, bytes) = npy(&bytes);
        let numbers = bytes.chunks_exact(8).map(|eight| f64::from_le_bytes(eight.try_into().unwrap()));
        assert!(kind == "<f8" && numbers.eq(transformed(&map, &x).into_vec()), "{words}");

        bench.ok(&format!("transform {words} -o @out.svm"));
        let found = libsvm(&fs::read_to_string(bench.path("out.svm")).unwrap(), map.output_dim());
        for (i, (label, row)) in found.iter().enumerate() {
            assert_eq!(label, "0");
            // Sparse features may be added in another order.
            let close = row.iter().zip(expected.row(i)).all(|(a, b)| (a - b).abs() <= 1e-5 * (1.0 + b.abs()));
            assert!(close, "{words}: row {i}");
        }
        assert_eq!(found.len(), 150);
    }
}

/// Rows for maps that look at them.
fn source(x: &Matrix<f64>) -> Arrays<'_> {
    let none = MatrixView::new(&[], x.rows(), 0).unwrap();
    Arrays::new(Rows::from(x), none, None, Target::Numbers { outputs: 0 }).unwrap()
}

#[test]
fn maps_that_look_at_rows_are_fitted_to_the_file() {
    let bench = Bench::new();
    let x = table(&bench, "data.csv", 300);
    let engine = Engine::default();
    for (kernel, words, method) in [
        ("gaussian(sigma=2)", "--map landmarks", Method::LANDMARKS),
        ("laplace(scale=2)", "--map binning", Method::Binning { bins: bochner::Bins::Fitted }),
    ] {
        let (map, _) = spec(kernel, Some(method), 20, 0).fit_certified(&engine, &source(&x)).unwrap();
        let words = format!("transform @data.csv --ignore kind --kernel {kernel} {words} -D 20 -q");
        bench.ok(&format!("{words} --precision double -o @out.npy"));
        let bytes = fs::read(bench.path("out.npy")).unwrap();
        let (_, shape, bytes) = npy(&bytes);
        assert_eq!(shape, [300, map.output_dim()], "{words}");
        let numbers = bytes.chunks_exact(8).map(|eight| f64::from_le_bytes(eight.try_into().unwrap()));
        assert!(numbers.eq(transformed(&map, &x).into_vec()), "{words}");
        // Told or not, sampled or not: the same features.
        let told = bench.run(&words.replace("-q", ""));
        assert!(told.err.contains("kernel error: "), "{told:?}");
        assert_eq!(told.out, bench.ok(&words));
    }
    // Scaled as a fit would.
    let mut moments = Moments::zero(3);
    moments.absorb(&engine, &Rows::from(&x), &|_| 1.0);
    let scaled = Scaling::new(&moments, false).rows::<f64, f32>(&Rows::from(&x));
    let map = spec("gaussian(sigma=2)", None, 32, 0).build(3).unwrap();
    let expected = map.transform(&engine, &scaled.view()).unwrap();
    let out = bench.ok("transform @data.csv --ignore kind --kernel gaussian(sigma=2) -D 32 -q --standardise");
    assert_eq!(csv(&out, 0), rows(&expected));
}

#[test]
fn a_sparse_file_is_projected_with_its_labels() {
    let bench = Bench::new();
    let (mut chance, mut x, mut text) = (Chance::new(2), Csr::<f32>::empty(5000), String::new());
    for i in 0..5000u32 {
        let mut places: Vec<u32> = (0..6).map(|_| (5000.0 * chance.uniform()) as u32).collect();
        places.extend((i == 0).then_some(4999));
        places.sort_unstable();
        places.dedup();
        let entries: Vec<(u32, f32)> = places.iter().map(|&j| (j, (chance.normal() as f32))).collect();
        text += ["+1", "-1", "2.5"][i as usize % 3];
        entries.iter().for_each(|(j, value)| text += &format!(" {}:{value}", j + 1));
        text.push('\n');
        x.push_row(entries);
    }
    bench.file("data.libsvm", &text);
    let method = Method::Projection { how: Projection::SPARSE };
    let map = spec("linear", Some(method), 256, 9).build(5000).unwrap();
    let expected = map.transform_sparse(&Engine::default(), &Rows::from(&x)).unwrap();
    let words = "transform @data.libsvm --map sparse -D 256 --seed 9";
    let said = bench.run(&format!("{words} -o @small.svm"));
    assert!(said.code == 0 && said.out.is_empty(), "{said:?}");
    let mut lines = said.err.lines();
    let map_line = "bochner: map: projected sparsely, 8 entries a column (practice), 256 features of linear";
    assert_eq!(lines.next(), Some(map_line), "{said:?}");
    assert!(lines.next().unwrap().starts_with("bochner: kernel error: "), "{said:?}");
    let found = libsvm(&fs::read_to_string(bench.path("small.svm")).unwrap(), 256);
    assert_eq!(found.len(), 5000);
    for (i, (label, row)) in found.iter().enumerate() {
        assert_eq!(label, ["+1", "-1", "2.5"][i % 3]);
        let mut dense = vec![0.0; 256];
        Rows::from(&expected).densify(i, &mut dense);
        assert_eq!(*row, dense, "row {i}");
    }
    // What was written can be learnt from, and CSV has the label where it is asked for.
    bench.ok("fit @small.svm --width 256 --kernel linear -o @m.bochner -q");
    assert!(bench.ok(&format!("{words} -q")).starts_with("f0,f1,"));
    let out = bench.ok(&format!("{words} -q --target target"));
    assert!(out.lines().next().unwrap().ends_with(",f255,target"));
    assert!(out.lines().nth(1).unwrap().ends_with(",+1"));
    // The rows themselves stay sparse.
    assert_eq!(bench.ok("transform @data.libsvm --output-format libsvm -q"), text);
    // The same bytes for any number of threads.
    let bytes = |threads: usize, file: &str| {
        bench.ok(&format!("{words} -q --threads {threads} -o @{file}"));
        fs::read(bench.path(file)).unwrap()
    };
    for file in ["out.libsvm", "out.csv", "out.npy"] {
        assert_eq!(bytes(1, file), bytes(3, file), "{file}");
    }
}

#[test]
fn threads_change_no_byte() {
    let bench = Bench::new();
    table(&bench, "data.csv", 5000);
    for words in ["--kernel gaussian(sigma=1) -D 50", "--kernel poly(degree=2,c=1) --map tensor -D 31"] {
        let read = |threads: usize, file: &str| {
            bench.ok(&format!(
                "transform @data.csv --target kind {words} --threads {threads} -o @{file} -q --standardise"
            ));
            fs::read(bench.path(file)).unwrap()
        };
        assert_eq!(read(1, "one.csv"), read(3, "three.csv"), "{words}");
    }
}

#[test]
fn texts_become_features() {
    let bench = Bench::new();
    let dna = ["ACGTACGT", "TTTTACGA", "", "GATTACA"];
    let lines: String = dna.iter().enumerate().map(|(i, dna)| format!("{dna},{i}.5,note {i}\n")).collect();
    bench.file("genes.csv", format!("dna,age,note\n{lines}"));
    let sequence: Sequence = "spectrum(k=3,width=64)".parse().unwrap();
    let sequence = Sequence { normalise: false, seed: 4, ..sequence };
    let texts: TextColumn = dna.into_iter().collect();
    let encoded = sequence.build().unwrap().encode(&Engine::default(), &texts).unwrap();
    let words = "transform @genes.csv --kernel spectrum(k=3,width=64)[dna] --target note --seed 4";
    let ran = bench.run(words);
    assert!(ran.err.contains("text: \"dna\" by spectrum(k=3,width=64), hashed to 64 columns"), "{ran:?}");
    let found = csv(&ran.out, 1);
    for (i, row) in found.iter().enumerate() {
        let mut dense = vec![0.0; 64];
        Rows::from(&encoded).densify(i, &mut dense);
        let dense: Vec<f32> = dense.iter().map(|x: &f64| *x as f32).collect();
        assert_eq!(*row, dense, "row {i}");
    }
    assert!(found.len() == 4 && ran.out.lines().nth(4).unwrap().ends_with(",note 3"));
    // tf–idf is fitted, and numbers stand beside texts.
    let out = bench.ok(
        "transform @genes.csv --sequence note=words(tf_idf=1,width=32) --ignore dna --output-format libsvm -q",
    );
    let found = libsvm(&out, 33);
    assert_eq!(found.iter().map(|(_, row)| row[0]).collect::<Vec<_>>(), [0.5, 1.5, 2.5, 3.5], "{out}");
    assert!(found.iter().all(|(_, row)| (row[1..].iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-5));
    // Digits are hardly texts.
    let ran = bench.run("transform @genes.csv --kernel spectrum(k=1,width=16)[age]");
    assert!(ran.err.contains("\"age\" holds numbers, and is compared as text"), "{ran:?}");
}

#[test]
fn the_summary_is_an_object_and_the_target_is_kept() {
    let bench = Bench::new();
    table(&bench, "data.csv", 40);
    let words = "transform @data.csv --target kind --kernel gaussian(sigma=1) -D 8 -o @out.csv";
    let found = bench.json(&format!("{words} --json"));
    for (key, value) in [("rows", 40), ("columns", 3), ("features", 8)] {
        assert_eq!(found[key], value, "{found}");
    }
    assert_eq!(
        (found["kernel"].as_str(), found["target"].as_str()),
        (Some("gaussian(sigma=1)"), Some("kind"))
    );
    assert_eq!(
        (found["map"]["kind"].as_str(), found["map"]["draw"].as_str()),
        (Some("fourier"), Some("orthogonal"))
    );
    assert!(
        found["certificate"]["bound"].is_object() && found["certificate"]["measured"]["mean"].is_number()
    );
    let text = fs::read_to_string(bench.path("out.csv")).unwrap();
    assert!(text.starts_with("f0,f1,f2,f3,f4,f5,f6,f7,kind\n"), "{text}");
    assert!(text.lines().nth(2).unwrap().ends_with(",\"k 1, or so\""), "{text}");
    assert_eq!(found["bytes"], text.len());
    // What the exact map has, and a word where that is not what was asked for.
    let ran = bench.run("transform @data.csv --ignore kind -D 8 -o @out.csv");
    assert!(
        ran.code == 0 && ran.err.contains("the exact map has 3 features, whatever --features says"),
        "{ran:?}"
    );
    // The numbers of a column as labels.
    let out =
        bench.ok("transform @data.csv --ignore kind --target a --output-format libsvm -q --precision double");
    let text = fs::read_to_string(bench.path("data.csv")).unwrap();
    for (line, row) in out.lines().zip(text.lines().skip(1)) {
        assert_eq!(line.split(' ').next(), row.split(',').next());
    }
}

#[test]
fn a_word_means_the_same_in_fit() {
    let bench = Bench::new();
    table(&bench, "data.csv", 200);
    for words in [
        "--kernel linear --map sparse --nonzeros 2 --unsigned",
        "--kernel linear --map gaussian",
        "--kernel linear --map signs",
        "--kernel linear --map orthonormal",
        "--kernel linear --map hadamard",
        "--kernel poly(degree=2,c=1) --map tensor",
        "--kernel poly(degree=2,c=1) --map product",
        "--kernel gaussian(sigma=1) --map landmarks --landmarks k-means++",
    ] {
        let fitted = bench.json(&format!("fit @data.csv --target kind {words} -D 20 -o @m.bochner --json"));
        let made = bench.json(&format!("transform @data.csv --target kind {words} -D 20 -o @out.csv --json"));
        assert_eq!((&fitted["method"], &fitted["kernel"]), (&made["map"], &made["kernel"]), "{words}");
        bench.ok("predict @m.bochner @data.csv");
        let said = bench.ok("inspect @m.bochner");
        assert!(!said.contains("other,"), "{said}");
    }
    for command in ["fit @data.csv --target kind -o @m.bochner", "transform @data.csv --ignore kind"] {
        for (words, expected) in [
            ("--kernel gaussian(sigma=1) --map sparse", "use the linear kernel"),
            ("--kernel linear --map signs --nonzeros 2", "are about the entries of --map sparse"),
            ("--kernel linear --map sparse --nonzeros none", "or the word theorem"),
            ("--kernel linear --map sparse --nonzeros 99 -D 32", "32"),
            ("--kernel linear --map tensor", "sketches are of powers of x·y"),
            ("--kernel poly(degree=2,c=1) --map product --features 7", "even"),
            ("--kernel linear --landmarks leverage", "--landmarks says how"),
        ] {
            let said = bench.fails(2, &format!("{command} {words}"));
            assert!(said.contains(expected), "{command} {words}: {said}");
        }
    }
}

#[test]
fn what_cannot_be_written_is_refused_and_leaves_no_file() {
    let bench = Bench::new();
    table(&bench, "data.csv", 30);
    bench.file("empty.csv", "a,b\n");
    bench.file("bad.csv", "a,b\n1,2\n3,oops\n");
    bench.file("negative.csv", format!("a,b\n{}1,-2\n", "1,2\n".repeat(4100)));
    bench.file("large.csv", "a,b\n1e20,2\n3,4\n");
    bench.file("f.csv", "f0,b\n1,2\n3,4\n");
    for (code, words, expected) in [
        (2, "@data.csv --ignore kind -o @out.parquet", "--output-format says it"),
        (2, "@data.csv --ignore kind --output-format parquet", "expected the format csv, npy or libsvm"),
        (2, "@data.csv --ignore kind --output-format npy", "say --output FILE.npy"),
        (2, "@data.csv --ignore kind --output-format npy -o /dev/null", "npy needs a file"),
        (2, "@data.csv --target kind -o @out.npy", "say --ignore kind in place of --target"),
        (2, "@data.csv --ignore kind --json", "--output"),
        (2, "@data.csv --ignore kind -o @data.csv", "would replace"),
        (2, "@data.csv --ignore kind --target kind", "both the target and ignored"),
        (2, "@data.csv --kernel gaussian", "expected a kernel with its width, as in 'gaussian(sigma=2)'"),
        (2, "@data.csv --kernel laplace", "'laplace(scale=2)'"),
        (2, "@data.csv --kernel poly(degree=2,c=1) --map product -D 7", "even"),
        (2, "@f.csv --target f0", "has the name of a feature"),
        (3, "@data.csv --target knd -o @out.csv", "did you mean \"kind\"?"),
        (3, "@data.csv --ignore knd -o @out.csv", "did you mean \"kind\"?"),
        (3, "@data.csv --ignore kind --kernel linear[z]", "\"z\""),
        (
            3,
            "@data.csv --target kind -o @out.svm",
            "expected a number as target, found \"k 0, or so\" at row 0",
        ),
        (3, "@data.csv --ignore kind --kernel gaussian(sigma=1) --map exact", "exact"),
        (
            3,
            "@bad.csv --kind b=number --strict -o @out.csv",
            "bad.csv:3:2: expected a number, found \"oops\"",
        ),
        (
            3,
            "@bad.csv --kind b=number --strict -q -o @out.csv",
            "bad.csv:3:2: expected a number, found \"oops\"",
        ),
        (3, "@empty.csv -o @out.csv", "expected at least one row"),
        (3, "@empty.csv --kernel gaussian(sigma=1) -o @out.csv", "expected at least one row"),
        (3, "@negative.csv --kernel chi2 -q -o @out.csv", "at row 4100"),
        (3, "@negative.csv --kernel chi2 -o @out.csv", "at row 4100"),
        (
            3,
            "@large.csv --kernel poly(degree=2,c=1) --map exact -o @out.csv",
            "expected the features to be finite",
        ),
        (3, "@missing.csv -o @out.csv", "No such file"),
        (4, "@data.csv --ignore kind -o @none/out.csv", "cannot be written"),
        (4, "@data.csv --ignore kind --map gaussian -D 1000000 --max-memory 1M -o @out.npy", "may be used"),
    ] {
        let before = fs::read_dir(bench.0.path()).unwrap().count();
        let ran = bench.run(&format!("transform {words}"));
        assert!(ran.code == code && ran.err.contains(expected), "{words}: {ran:?}");
        assert_eq!(fs::read_dir(bench.0.path()).unwrap().count(), before, "{words}");
    }
    assert!(
        bench.run("transform @large.csv --kernel poly(degree=2,c=1) --map exact --precision double -q").code
            == 0
    );
    // Stopped in the first pass, and in the second where there is no first.
    for words in ["--kernel gaussian(sigma=1)", "-q"] {
        let line = format!("transform --ignore kind -o {} {words}", bench.path("out.csv").display());
        let args = ["bochner".into(), OsString::from("transform")].into_iter();
        let args = args.chain(line.split(' ').skip(1).map(OsString::from));
        let args = args.chain([bench.path("data.csv").into_os_string()]);
        let stopped = Messages::new(Kept::default(), false).stopped_by(Arc::new(AtomicBool::new(true)));
        assert_eq!(bochner_cli::run(args, &mut Vec::new(), stopped), 5, "{words}");
        assert!(
            fs::read_dir(bench.0.path())
                .unwrap()
                .all(|file| { !file.unwrap().file_name().to_string_lossy().starts_with("out") })
        );
    }
}
