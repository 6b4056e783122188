//! The table of (kernel, map) that the laws run over, and the data they run on.

use bochner::stat::Sample;
use bochner::sweep::sweep;
use bochner::{
    Arrays, Bins, Csr, Engine, EngineSpec, FourierForm, FrequencyDraw, Kernel, Map, MapSpec, Matrix,
    MatrixView, Method, Rows, Target,
};
use bochner_testkit::{densify, sparse};

/// Columns of the rows that laws are tested on.
pub(crate) const INPUTS: usize = 7;

/// Every pair of a kernel and a map that exists.
pub(crate) fn specs() -> Vec<MapSpec> {
    let gaussian = Kernel::Gaussian { sigma: 1.3 };
    let laplace = Kernel::Laplace { scale: 4.0 };
    let mut specs =
        vec![MapSpec { kernel: Kernel::Linear, method: Method::Exact, features: INPUTS, seed: 1 }];
    for form in [FourierForm::Pairs, FourierForm::Offset] {
        for draw in [FrequencyDraw::Independent, FrequencyDraw::Orthogonal] {
            specs.push(MapSpec {
                kernel: gaussian,
                method: Method::Fourier { form, draw },
                features: 50,
                seed: 2,
            });
        }
        let method = Method::Fourier { form, draw: FrequencyDraw::Independent };
        specs.push(MapSpec { kernel: laplace, method, features: 50, seed: 3 });
    }
    for kernel in [Kernel::Linear, gaussian, laplace] {
        for whiten in [true, false] {
            let method = Method::Landmarks { whiten, tolerance: 1e-7 };
            specs.push(MapSpec { kernel, method, features: 30, seed: 4 });
        }
    }
    let hat = Kernel::Hat { width: 6.0 };
    specs.push(MapSpec { features: 30, seed: 4, ..MapSpec::landmarks(hat) });
    for kernel in [laplace, hat] {
        for bins in [Bins::Fitted, Bins::Hashed { width: 5 }] {
            specs.push(MapSpec { kernel, method: Method::Binning { bins }, features: 20, seed: 5 });
        }
    }
    specs
}

/// Rows with many zeros, dense and sparse.
pub(crate) fn rows(n: usize) -> (Matrix<f64>, Csr<f64>) {
    let (starts, indices, values) = sparse(n, INPUTS, 0.6, 5);
    let dense = densify(&starts, &indices, &values, INPUTS);
    (Matrix::new(n, INPUTS, dense).unwrap(), Csr::new(INPUTS, starts, indices, values).unwrap())
}

/// The same entries in single precision.
pub(crate) fn single(rows: &Matrix<f64>) -> Matrix<f32> {
    Matrix::from_fn(rows.rows(), rows.columns(), |i, j| rows.row(i)[j] as f32)
}

/// An engine with so many threads.
pub(crate) fn engine(threads: usize) -> Engine {
    EngineSpec { threads, ..EngineSpec::default() }.build()
}

/// A sample of all rows.
pub(crate) fn sample(rows: Rows<'_, f64>, seed: u64) -> Sample {
    let targets = vec![0.0; rows.count()];
    let targets = MatrixView::new(&targets, rows.count(), 1).unwrap();
    let arrays = Arrays::new(rows, targets, None, Target::Numbers { outputs: 1 }).unwrap();
    let columns = rows.columns();
    let target = Target::Numbers { outputs: 1 };
    sweep(
        &engine(1),
        &arrays,
        "sample",
        || Sample::zero(1000, columns, seed),
        |s, batch| s.absorb(batch, &target),
    )
    .unwrap()
}

/// The map of a spec, fitted to 60 rows if it looks at rows.
pub(crate) fn fitted(spec: &MapSpec) -> Map {
    let (dense, _) = rows(60);
    spec.fit(&Engine::default(), &sample(Rows::from(&dense), spec.seed)).unwrap()
}
