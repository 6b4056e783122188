//! Model files that are damaged, cut short or made to harm are clear errors, never panics, and nothing large is made for them.

use bochner::model::file::FileError;
use bochner::{
    Arrays, Auto, Csr, Engine, Error, Kernel, LabelKind, Labels, Lambda, MapSpec, Matrix, Method,
    MetricChoice, Model, Ridge, Rows, Target,
};
use bochner_testkit::normals;
use proptest::prelude::*;

use crate::table::{engine, rows};

fn model(method: Option<Method>) -> Model {
    let (x, _) = rows(60);
    let y = Matrix::from_fn(60, 1, |i, _| (i % 3) as f64);
    let labels = Labels::new(LabelKind::Integer, vec!["0".into(), "1".into(), "2".into()]);
    let kernel = Kernel::gaussian(1.0);
    let usual = MapSpec { features: 12, seed: 5, ..MapSpec::auto(kernel) };
    let map = MapSpec { method: method.unwrap_or(usual.method), ..usual };
    let arrays = Arrays::new(Rows::from(&x), y.view(), None, Target::Classes { labels }).unwrap();
    Ridge { lambda: Lambda::Given { value: 1e-3 }, ..Ridge::new(map) }.fit(&engine(1), &arrays).unwrap()
}

fn file_error(bytes: &[u8]) -> FileError {
    match Model::from_bytes(bytes) {
        Err(Error::ModelFile(error)) => error,
        Err(other) => panic!("another error: {other}"),
        Ok(_) => panic!("the file was accepted"),
    }
}

/// Rewrites the JSON under the key `bochner`, leaving tensors and container consistent.
fn with_json(bytes: &[u8], change: impl Fn(&str) -> String) -> Vec<u8> {
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let mut header: serde_json::Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    let json = header["__metadata__"]["bochner"].as_str().unwrap().to_owned();
    header["__metadata__"]["bochner"] = change(&json).into();
    let header = serde_json::to_vec(&header).unwrap();
    let mut out = (header.len() as u64).to_le_bytes().to_vec();
    out.extend(header);
    out.extend(&bytes[8 + length..]);
    out
}

/// As [`with_json`], and mends the checksum, as an attacker would.
pub(crate) fn forged(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    let changed = with_json(bytes, |json| {
        assert!(json.contains(from), "{from} is not in {json}");
        json.replace(from, to)
    });
    mended(&changed)
}

/// The same file with the checksum that its content has.
pub(crate) fn mended(bytes: &[u8]) -> Vec<u8> {
    match Model::from_bytes(bytes) {
        Err(Error::ModelFile(FileError::Checksum { expected, found })) => {
            with_json(bytes, |json| json.replace(&expected, &found))
        }
        _ => bytes.to_vec(),
    }
}

#[test]
fn a_file_cut_short_anywhere_is_refused() {
    let bytes = model(None).to_bytes().unwrap();
    for length in 0..bytes.len() {
        assert!(Model::from_bytes(&bytes[..length]).is_err(), "{length} of {} bytes", bytes.len());
    }
    assert!(matches!(file_error(&bytes[..5]), FileError::Short { found: 5 }));
    let mut longer = bytes.clone();
    longer.push(0);
    assert!(matches!(file_error(&longer), FileError::Container { .. }));
}

/// Every byte, with each of two bits changed: refused, or (in the container's own spelling) without effect.
#[test]
fn a_file_damaged_anywhere_is_refused_or_the_same() {
    for method in [None, Some(Method::LANDMARKS)] {
        let original = model(method);
        let bytes = original.to_bytes().unwrap();
        for at in 0..bytes.len() {
            for bit in [1, 64] {
                let mut damaged = bytes.clone();
                damaged[at] ^= bit;
                if let Ok(read) = Model::from_bytes(&damaged) {
                    assert_eq!(read.to_bytes().unwrap(), bytes, "byte {at}");
                }
            }
        }
    }
}

#[test]
fn sizes_that_overflow_or_do_not_fit_are_refused() {
    let bytes = model(None).to_bytes().unwrap();
    for length in [u64::MAX, 1 << 62, 100 << 20, bytes.len() as u64] {
        let mut huge = bytes.clone();
        huge[..8].copy_from_slice(&length.to_le_bytes());
        assert!(matches!(file_error(&huge), FileError::Header { found, .. } if found == length));
    }
    // A tiny file that asks for a huge map.
    let features = forged(&bytes, "\"features\":12", "\"features\":1000000000000");
    let error = Model::from_bytes(&features).unwrap_err().to_string();
    assert!(error.contains("memory") || error.contains("features"), "{error}");
    let dim = forged(&bytes, "\"input_dim\":7", "\"input_dim\":18446744073709551615");
    assert!(matches!(Model::from_bytes(&dim), Err(Error::Memory { .. })));
    let output = forged(&bytes, "\"output_dim\":12", "\"output_dim\":4611686018427387904");
    assert!(matches!(file_error(&output), FileError::Tensor { name: "coefficients", .. }));
    let outputs = forged(&bytes, "\"outputs\":3", "\"outputs\":0");
    assert!(matches!(file_error(&outputs), FileError::Mismatch { what: "outputs", .. }));
}

#[test]
fn forged_content_is_refused_for_what_it_is() {
    let bytes = model(None).to_bytes().unwrap();
    let seed = forged(&bytes, "\"seed\":5", "\"seed\":6");
    assert!(matches!(file_error(&seed), FileError::Fingerprint { .. }));
    let sigma = forged(&bytes, "\"sigma\":1.0", "\"sigma\":-1.0");
    assert!(matches!(Model::from_bytes(&sigma), Err(Error::Parameter { name: "sigma", .. })));
    let kind = with_json(&bytes, |json| json.replace("\"gaussian\"", "\"pickle\""));
    assert!(matches!(file_error(&kind), FileError::Metadata { .. }));
    let format = with_json(&bytes, |json| json.replace("\"format\":2", "\"format\":3"));
    assert!(matches!(file_error(&format), FileError::Format { known: 2, found: 3 }));
    let field = with_json(&bytes, |json| json.replace("\"outputs\":3", "\"outputs\":3,\"code\":\"rm\""));
    assert!(matches!(file_error(&field), FileError::Metadata { .. }));
    let plain = with_json(&bytes, |json| json.replace("\"seed\":5", "\"seed\":6"));
    assert!(matches!(file_error(&plain), FileError::Checksum { .. }));
    // Somebody else's safetensors file.
    let mut other = 2u64.to_le_bytes().to_vec();
    other.extend(b"{}");
    assert!(matches!(file_error(&other), FileError::NotAModel));
    assert!(matches!(file_error(b"\x80\x04\x95\x10\x00\x00\x00\x00a pickle"), FileError::Header { .. }));
}

/// A metric that claims other shapes than it has, or numbers that are none.
#[test]
fn forged_metrics_are_refused() {
    let (d, n) = (70, 80);
    let x = Matrix::new(n, d, normals(n, d, 1)).unwrap();
    let y: Vec<f64> = (0..n).map(|i| x.row(i)[0] + x.row(i)[1].powi(2)).collect();
    // The same rows among many columns of zeros.
    let mut sparse = Csr::empty(300);
    (0..n).for_each(|i| sparse.push_row(x.row(i).iter().enumerate().map(|(j, x)| (j as u32, *x))));
    let wide = Rows::from(&sparse);
    for (metric, kind) in
        [(MetricChoice::Diagonal, "diagonal"), (MetricChoice::Full, "leading"), (MetricChoice::Full, "added")]
    {
        let auto =
            Auto { metric, features: Some(16), lambda: Lambda::Given { value: 1e-3 }, ..Auto::default() };
        let rows = if kind == "added" { wide } else { Rows::from(&x) };
        let targets = Matrix::new(n, 1, y.clone()).unwrap();
        let arrays = Arrays::new(rows, targets.view(), None, Target::Numbers { outputs: 1 }).unwrap();
        let model = auto.fit(&engine(1), &arrays).unwrap();
        let bytes = model.to_bytes().unwrap();
        assert!(Model::from_bytes(&bytes).is_ok());
        let kept = [("\"kept\":", "\"kept\":9"), ("\"kept\":", "\"kept\":184467440737095516")];
        let told = format!("\"kind\":\"{kind}\"");
        for (from, to) in [
            ("\"directions\":", "\"directions\":9"),
            ("\"directions\":", "\"directions\":184467440737095516"),
            (&told, "\"kind\":\"full\""),
            (&told, "\"kind\":\"other\""),
        ]
        .into_iter()
        .chain(kept.into_iter().filter(|_| kind != "diagonal"))
        {
            let error = Model::from_bytes(&forged(&bytes, from, to)).unwrap_err();
            assert!(matches!(error, Error::ModelFile(_) | Error::Memory { .. }), "{from} → {to}: {error}");
        }
        // A share of the gradient becomes no number, or no share.
        let needle = model.encoder().metric().unwrap().shares()[0].to_le_bytes();
        let at = bytes.windows(8).position(|window| window == needle).unwrap();
        for bad in [f64::NAN, f64::INFINITY, -1.0, 1.5] {
            let mut changed = bytes.clone();
            changed[at..at + 8].copy_from_slice(&bad.to_le_bytes());
            let error = file_error(&mended(&changed));
            let is_told = match &error {
                FileError::NotFinite { name, .. } => name.starts_with("metric."),
                FileError::Tensor { name, found, .. } => {
                    name.starts_with("metric.") && found.contains(&bad.to_string())
                }
                _ => false,
            };
            assert!(is_told, "{bad}: {error}");
        }
    }
}

/// NaN in a tensor, with a checksum that fits.
#[test]
fn numbers_that_are_not_finite_are_refused() {
    let original = model(None);
    let bytes = original.to_bytes().unwrap();
    let needle = original.intercept()[1].to_le_bytes();
    let at = bytes.windows(8).position(|window| window == needle).unwrap();
    let mut bad = bytes.clone();
    bad[at..at + 8].copy_from_slice(&f64::NAN.to_le_bytes());
    assert!(matches!(file_error(&mended(&bad)), FileError::NotFinite { name: "intercept", at: 1, .. }));
}

#[test]
fn landmarks_of_the_wrong_shape_are_refused() {
    let bytes = model(Some(Method::LANDMARKS)).to_bytes().unwrap();
    let error = Model::from_bytes(&forged(&bytes, "\"input_dim\":7", "\"input_dim\":6"));
    assert!(matches!(error, Err(Error::ModelFile(FileError::Tensor { name: "landmarks", .. }))));
}

/// A map alone has no coefficients to back its size: what it asks for is bounded all the same, and must exist.
#[test]
fn maps_alone_are_checked_too() {
    let (x, _) = rows(30);
    let sampled = crate::table::sample(Rows::from(&x), 1);
    let bytes = |spec: MapSpec| {
        let map = spec.fit(&Engine::default(), &sampled).unwrap();
        let certificate = bochner::Certificate::measure(&Engine::default(), &map, &sampled).unwrap();
        Model::of_map(&Engine::default(), map, certificate).to_bytes().unwrap()
    };
    let kernel = Kernel::gaussian(1.0);
    let fourier = bytes(MapSpec { features: 12, seed: 5, ..MapSpec::auto(kernel.clone()) });
    let wide = forged(&fourier, "\"input_dim\":7", "\"input_dim\":300000000");
    assert!(matches!(Model::from_bytes(&wide), Err(Error::Memory { .. })));
    let landmarks = bytes(MapSpec { features: 5, seed: 5, ..MapSpec::landmarks(kernel) });
    assert!(Model::from_bytes(&landmarks).is_ok());
    let none = forged(&landmarks, "\"features\":5", "\"features\":2");
    assert!(matches!(file_error(&none), FileError::Mismatch { what: "features", .. }));
    // A sparse projection of any width is small, but its places are checked.
    let method = Method::Projection { how: bochner::Projection::SPARSE };
    let projected = bytes(MapSpec { kernel: Kernel::Linear, method, features: 12, seed: 5 });
    assert!(Model::from_bytes(&projected).is_ok());
    for (from, to) in [("\"count\":8", "\"count\":0"), ("\"count\":8", "\"count\":13")] {
        assert!(matches!(Model::from_bytes(&forged(&projected, from, to)), Err(Error::Parameter { .. })));
    }
    let other = forged(&projected, "\"signed\":true", "\"signed\":false");
    assert!(matches!(file_error(&other), FileError::Fingerprint { .. }));
}

#[test]
fn a_missing_file_and_a_folder_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(Model::load(folder.path().join("none.bochner")), Err(Error::Io { .. })));
    assert!(Model::load(folder.path()).is_err());
    assert!(matches!(model(None).save(folder.path().join("no/such/folder.bochner")), Err(Error::Io { .. })));
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = Model::from_bytes(&bytes);
    }

    #[test]
    fn no_metadata_panics(json in "\\PC{0,80}") {
        let bytes = model(None).to_bytes().unwrap();
        let _ = Model::from_bytes(&with_json(&bytes, |_| json.clone()));
    }
}

/// Kernels that ask for what there is not, for more than there is, or for ever: refused before anything is made of them.
#[test]
fn forged_kernels_are_refused() {
    let bytes = model(Some(Method::Compiled { bins: None })).to_bytes().unwrap();
    let kernel = r#"{"kind":"gaussian","sigma":1.0}"#;
    let nested = |levels: usize, open: &str, close: &str| {
        format!("{}{kernel}{}", open.repeat(levels), close.repeat(levels))
    };
    let exp =
        r#"{"kind":"normalised","kernel":{"kind":"exp","kernel":{"kind":"scaled","factor":8.0,"kernel":"#;
    for (forgery, what) in [
        (
            r#"{"kind":"restricted","columns":[{"at":7}],"kernel":{"kind":"linear"}}"#.to_owned(),
            "a column beyond the last",
        ),
        (
            r#"{"kind":"restricted","columns":[{"range":[0,4000000000]}],"kernel":{"kind":"linear"}}"#
                .to_owned(),
            "many columns",
        ),
        (r#"{"kind":"restricted","columns":[{"name":"a"}],"kernel":{"kind":"linear"}}"#.to_owned(), "a name"),
        (r#"{"kind":"restricted","columns":[],"kernel":{"kind":"linear"}}"#.to_owned(), "no column"),
        (r#"{"kind":"gaussian","sigma":[1.0,2.0]}"#.to_owned(), "too few widths"),
        (r#"{"kind":"gaussian","sigma":[]}"#.to_owned(), "no widths"),
        (r#"{"kind":"poly","degree":4000000000,"gamma":1.0,"c":1.0}"#.to_owned(), "a degree"),
        (
            r#"{"kind":"bilinear","form":{"full":[[1.0,2.0],[2.0,1.0]]}}"#.to_owned(),
            "a matrix of another size",
        ),
        (r#"{"kind":"bilinear","form":{"factor":[]}}"#.to_owned(), "no matrix"),
        (r#"{"kind":"sum","terms":[]}"#.to_owned(), "an empty sum"),
        (r#"{"kind":"scaled","factor":-1.0,"kernel":{"kind":"linear"}}"#.to_owned(), "a negative factor"),
        (nested(100, r#"{"kind":"exp","kernel":"#, "}"), "a hundred levels"),
        (nested(8, exp, "}}}"), "nested exponentials"),
        (r#"{"kind":"arc_cosine","order":9}"#.to_owned(), "an order"),
        (r#"{"kind":"series","coefficients":[]}"#.to_owned(), "no coefficients"),
        (r#"{"kind":"series","coefficients":[0.0,-1.0]}"#.to_owned(), "a negative coefficient"),
        (format!(r#"{{"kind":"series","coefficients":[{}1.0]}}"#, "1.0,".repeat(70)), "too high a degree"),
        (r#"{"kind":"monomials","degree":4000000000}"#.to_owned(), "a degree of monomials"),
        (r#"{"kind":"interactions","degree":0}"#.to_owned(), "no degree"),
        (
            r#"{"kind":"sequence","grams":{"kind":"spectrum","k":3},"tf_idf":false,"width":64,"nonzeros":4}"#
                .to_owned(),
            "texts that no column has",
        ),
    ] {
        let start = std::time::Instant::now();
        let forged = forged(&bytes, kernel, &forgery);
        assert!(Model::from_bytes(&forged).is_err(), "{what}");
        assert!(start.elapsed().as_secs() < 5, "{what} took {:?}", start.elapsed());
    }
    // More monomials than memory, and a map of another size than the coefficients.
    for forgery in [
        r#"{"kind":"poly","degree":64,"gamma":1.0,"c":1.0}"#,
        r#"{"kind":"all_subsets"}"#,
        r#"{"kind":"interactions","degree":64}"#,
        r#"{"kind":"monomials","degree":64}"#,
        r#"{"kind":"parabolic"}"#,
        r#"{"kind":"linear"}"#,
    ] {
        let forged =
            forged(&forged(&bytes, kernel, forgery), r#""kind":"compiled","bins":null"#, r#""kind":"exact""#);
        assert!(Model::from_bytes(&forged).is_err(), "{forgery}");
    }
    assert!(Model::from_bytes(&forged(&bytes, r#""bins":null"#, r#""bins":0"#)).is_err());
    // Sketches are of polynomials, and projections of rows.
    for method in [
        r#""kind":"sketch","sketch":"tensor""#,
        r#""kind":"sketch","sketch":"product""#,
        r#""kind":"projection","how":{"kind":"hadamard"}"#,
    ] {
        assert!(
            Model::from_bytes(&forged(&bytes, r#""kind":"compiled","bins":null"#, method)).is_err(),
            "{method}"
        );
    }
}
