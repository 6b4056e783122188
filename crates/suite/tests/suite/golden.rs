//! Stored values and stored files: what must not change by accident.

use std::collections::BTreeMap;
use std::path::PathBuf;

use bochner::encode::{Form, Sequence, Stretch};
use bochner::learn::{MetricPath, MetricStep};
use bochner::table::TextColumn;
use bochner::{
    Arrays, Auto, Backend, Engine, EngineSpec, FourierForm, FrequencyDraw, Isa, Kernel, KernelChoice,
    LabelKind, Labels, Lambda, MapSpec, Matrix, Method, MetricChoice, Model, Ridge, Rows, Target,
};
use bochner_testkit::{Absolute, assert_close, classification, normals};
use serde::Deserialize;

fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../golden").join(name)
}

#[derive(Deserialize)]
struct Case {
    kernel: String,
    width: f64,
    form: FourierForm,
    draw: FrequencyDraw,
    features: usize,
    seed: u64,
    rows: Vec<Vec<f64>>,
    expected: Vec<Vec<f64>>,
}

/// `golden/features.py` computes them with 40 digits from the definitions alone.
#[test]
fn features_are_those_of_an_independent_script() {
    let cases: Vec<Case> =
        serde_json::from_str(&std::fs::read_to_string(golden("features.json")).unwrap()).unwrap();
    assert_eq!(cases.len(), 6);
    for case in cases {
        let kernel = match case.kernel.as_str() {
            "gaussian" => Kernel::gaussian(case.width),
            _ => Kernel::laplace(case.width),
        };
        let method = Method::Fourier { form: case.form, draw: case.draw };
        let map = MapSpec { kernel, method, features: case.features, seed: case.seed }.build(3).unwrap();
        let x = Matrix::new(3, 3, case.rows.concat()).unwrap();
        let z = map.transform(&Engine::default(), &Rows::from(&x)).unwrap();
        assert_close(z.as_slice(), &case.expected.concat(), Absolute(1e-13));
    }
}

#[derive(Deserialize)]
struct Part {
    spec: PartSpec,
    rows: Vec<Vec<f64>>,
    expected: Vec<Vec<f64>>,
}

#[derive(Deserialize)]
struct PartSpec {
    kernel: String,
    method: Method,
    features: usize,
    seed: u64,
}

/// `golden/parts.py` computes them with 40 digits from the definitions alone.
#[test]
fn parts_of_maps_are_those_of_an_independent_script() {
    let cases: Vec<Part> =
        serde_json::from_str(&std::fs::read_to_string(golden("parts.json")).unwrap()).unwrap();
    assert_eq!(cases.len(), 27);
    for Part { spec: PartSpec { kernel, method, features, seed }, rows, expected } in cases {
        let map =
            MapSpec { kernel: kernel.parse().unwrap(), method, features, seed }.build(rows[0].len()).unwrap();
        let x = Matrix::new(rows.len(), rows[0].len(), rows.concat()).unwrap();
        let z = map.transform(&Engine::default(), &Rows::from(&x)).unwrap();
        assert_close(z.as_slice(), &expected.concat(), Absolute(1e-12));
    }
}

#[derive(Deserialize)]
struct Texts {
    texts: Vec<String>,
    cases: Vec<TextCase>,
}

#[derive(Deserialize)]
struct TextCase {
    spec: Sequence,
    rows: Vec<Vec<f64>>,
}

/// `golden/sequences.py` lists the grams by itself and hashes them with the reference implementation: keys, places and signs are part of the model format.
#[test]
fn hashed_texts_are_those_of_an_independent_script() {
    let found: Texts =
        serde_json::from_str(&std::fs::read_to_string(golden("sequences.json")).unwrap()).unwrap();
    assert_eq!(found.cases.len(), 5);
    let mut texts = TextColumn::default();
    found.texts.iter().for_each(|text| texts.push(text));
    for TextCase { spec, rows: expected } in found.cases {
        let rows = spec.build().unwrap().encode::<f64>(&Engine::default(), &texts).unwrap();
        let mut row = vec![0.0; spec.width];
        for (i, expected) in expected.iter().enumerate() {
            Rows::from(&rows).densify(i, &mut row);
            assert_close(&row, expected, Absolute(1e-14));
        }
    }
}

#[derive(Deserialize)]
struct Values {
    rows: Vec<Vec<f64>>,
    cases: Vec<KernelCase>,
}

#[derive(Deserialize)]
struct KernelCase {
    kernel: String,
    values: Vec<Vec<f64>>,
}

/// `golden/kernels.py` computes them with 40 digits from the formulas alone.
#[test]
fn kernel_values_are_those_of_an_independent_script() {
    let found: Values =
        serde_json::from_str(&std::fs::read_to_string(golden("kernels.json")).unwrap()).unwrap();
    assert_eq!(found.cases.len(), 35);
    let x = Matrix::new(4, 4, found.rows.concat()).unwrap();
    for case in found.cases {
        let kernel: Kernel = case.kernel.parse().unwrap();
        let gram = kernel.gram(&Engine::default(), &Rows::from(&x), &Rows::from(&x)).unwrap();
        // An angle near zero has half the digits of its cosine.
        let loss = if case.kernel.starts_with("arc_cosine") { 1e-8 } else { 1e-13 };
        let size = case.values.concat().into_iter().fold(1.0, f64::max);
        assert_close(gram.as_slice(), &case.values.concat(), Absolute(loss * size));
    }
}

/// One model file of every format version, for ever: it loads and predicts what it did when it was written.
#[test]
fn model_files_of_every_version_still_predict_the_same() {
    for name in ["fourier", "landmarks", "diagonal", "full", "leading", "added", "bilinear"] {
        let [file, values] = ["bochner", "json"].map(|kind| golden(&format!("model-v1-{name}.{kind}")));
        let (x, (_, classes)) = (rows_of(name), classification(50, 4, 3, 31));
        if std::env::var_os("BOCHNER_WRITE_GOLDEN").is_some() && !file.exists() {
            let model = match name {
                "fourier" => write(&x, &classes, MapSpec::auto(Kernel::gaussian(2.0))),
                "landmarks" => write(&x, &classes, MapSpec::landmarks(Kernel::gaussian(2.0))),
                // Equal eigenvalues: any basis of their space would do for the factor, which the
                // file does not hold.
                "bilinear" => write(&x, &classes, MapSpec::auto(BILINEAR.parse().unwrap())),
                _ => write_metric(&x, name),
            };
            model.save(&file).unwrap();
            let outputs = model.decide(&Engine::default(), Rows::from(&x)).unwrap();
            std::fs::write(&values, serde_json::to_string(outputs.as_slice()).unwrap()).unwrap();
        }
        let model = Model::load(&file).unwrap();
        let expected: Vec<f64> = serde_json::from_str(&std::fs::read_to_string(&values).unwrap()).unwrap();
        let outputs = model.decide(&Engine::default(), Rows::from(&x)).unwrap();
        // Another instruction set may round differently.
        assert_close(outputs.as_slice(), &expected, Absolute(1e-9));
    }
}

/// The bits that the build before loops were compiled once (942d66f) predicted on each instruction
/// set, in both precisions: FNV-1a of the outputs' bytes.
#[test]
fn model_files_predict_the_same_bits_as_an_earlier_build() {
    type Hashes = BTreeMap<String, BTreeMap<String, BTreeMap<String, String>>>;
    let text = std::fs::read_to_string(golden("model-v1-bits.json")).unwrap();
    let expected: Hashes = serde_json::from_str(&text).unwrap();
    let hash = |outputs: &Matrix<f64>| {
        let bytes = outputs.as_slice().iter().flat_map(|x| x.to_le_bytes());
        let fnv = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        format!("{:016x}", bytes.fold(0xcbf2_9ce4_8422_2325, fnv))
    };
    let mut compared = 0;
    for isa in Isa::available() {
        let Some(models) = expected.get(isa.name()) else { continue };
        let engine = EngineSpec { backend: Backend::Cpu(isa), ..EngineSpec::default() }.build();
        for (name, hashes) in models {
            let model = Model::load(golden(&format!("model-v1-{name}.bochner"))).unwrap();
            let double = rows_of(name);
            let single: Vec<f32> = double.as_slice().iter().map(|&x| x as f32).collect();
            let single = Matrix::new(double.rows(), double.columns(), single).unwrap();
            let found = [
                ("double", model.decide(&engine, Rows::from(&double)).unwrap()),
                ("single", model.decide(&engine, Rows::from(&single)).unwrap()),
            ];
            for (precision, outputs) in found {
                assert_eq!(hash(&outputs), hashes[precision], "{name}, {precision}, {}", isa.name());
                compared += 1;
            }
        }
    }
    assert!(compared >= 12, "portable code runs everywhere");
}

/// The rows of a golden model.
fn rows_of(name: &str) -> Matrix<f64> {
    match name {
        "leading" => Matrix::new(300, 64, normals(300, 64, 32)).unwrap(),
        _ => Matrix::new(50, 4, classification(50, 4, 3, 31).0).unwrap(),
    }
}

/// Made once, when metrics were new: a factor for each column, a matrix, a few directions, later these as columns that are added.
fn write_metric(x: &Matrix<f64>, name: &str) -> Model {
    let y: Vec<f64> = (0..x.rows()).map(|i| (x.row(i)[1] + 0.5 * x.row(i)[2]).tanh()).collect();
    let form = match name {
        "diagonal" => Form::Diagonal,
        "added" => Form::Leading,
        _ => Form::Full,
    };
    let stretch = Stretch { form, power: 0.5, shrinkage: 0.01 };
    let steps = vec![MetricStep::Gradients { factor: 2.0, lambda: 1e-2, stretch }];
    let metric = MetricChoice::Learned(MetricPath { features: 16, landmarks: form == Form::Leading, steps });
    let kernel = KernelChoice::Given(Kernel::gaussian(2.0));
    let auto = Auto { kernel, metric, features: Some(16), seed: 9, ..Auto::default() };
    auto.fit(&Engine::default(), &(x, &y)).unwrap()
}

/// I + 11ᵀ.
const BILINEAR: &str = "bilinear(matrix=[[2,1,1,1],[1,2,1,1],[1,1,2,1],[1,1,1,2]])";

/// The factor of this file's kernel was of eigenvectors, as another build chose them: predictions
/// would be wrong.
#[test]
fn a_factor_that_was_computed_otherwise_is_refused() {
    let error = Model::load(golden("model-v1-eigenvectors.bochner")).unwrap_err().to_string();
    assert!(error.contains("fingerprint") && error.contains("fit the model again"), "{error}");
}

/// Made once, when the format was new.
fn write(x: &Matrix<f64>, classes: &[u32], spec: MapSpec) -> Model {
    let y = Matrix::new(50, 1, classes.iter().map(|&c| f64::from(c)).collect()).unwrap();
    let labels = Labels::new(LabelKind::Text, vec!["ash".into(), "beech".into(), "chêne".into()]);
    let ridge = Ridge::new(MapSpec { features: 16, seed: 9, ..spec });
    let arrays = Arrays::new(Rows::from(x), y.view(), None, Target::Classes { labels }).unwrap();
    Ridge { lambda: Lambda::CrossValidated { folds: 5 }, ..ridge }.fit(&Engine::default(), &arrays).unwrap()
}
