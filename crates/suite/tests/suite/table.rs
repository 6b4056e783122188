//! The table of (kernel, map) that the laws run over, and the data they run on.

use bochner::map::Sketch;
use bochner::stat::Sample;
use bochner::sweep::sweep;
use bochner::{
    Arrays, Bins, Choice, Csr, Engine, EngineSpec, FourierForm, FrequencyDraw, Kernel, Map, MapSpec, Matrix,
    MatrixView, Method, Nonzeros, Projection, Rows, Scalar, Target,
};
use bochner_testkit::{densify, sparse};

/// Columns of the rows that laws are tested on.
pub(crate) const INPUTS: usize = 7;

/// Kernels with a formula of their own, for rows of [`INPUTS`] entries that are not negative.
pub(crate) const LEAVES: [&str; 31] = [
    "constant",
    "linear",
    "bilinear(diagonal=[1,0.5,0,2,1,1,0.1])",
    "bilinear(factor=[[1,0,0,2,1,0,0],[0,1,-1,0,0.5,0,1]])",
    "bilinear(matrix=[[2,1],[1,2]])[3,0]",
    "poly(degree=2,c=1)",
    "poly(degree=3,gamma=0.2)",
    "series(coefficients=[0.5,1,0.25,0,0.02])",
    "parabolic",
    "monomials(degree=2)",
    "interactions(degree=3)",
    "interactions(degree=2)[6,0..3]",
    "all_subsets[0..5]",
    "gaussian(sigma=1.3)",
    "gaussian(sigma=[1,2,3,4,3,2,1])",
    "laplace(scale=4)",
    "laplace(scale=[4,5,6,4,5,6,9])",
    "exponential(scale=3)",
    "matern(nu=1.5,scale=2)",
    "matern(nu=2.5,scale=[1,2,3,4,3,2,1])",
    "matern(nu=0.8,scale=3)",
    "rational_quadratic(alpha=0.7,scale=2)",
    "cauchy(scale=4)",
    "sinc(scale=2)",
    "radial_sinc(scale=0.5)[1,2,3]",
    "hat(width=6)",
    "chi2",
    "exponential_chi2(gamma=0.3)",
    "intersection",
    "arc_cosine(order=1)",
    "gaussian(sigma=0.7)[5,1..3]",
];

/// Expressions of them.
pub(crate) const EXPRESSIONS: [&str; 22] = [
    "0.7*gaussian(sigma=2)[0,1] + laplace(scale=3)*poly(degree=2,c=1)[2..4]",
    "gaussian(sigma=2)*matern(nu=1.5,scale=4)",
    "2*exponential(scale=2) + linear + 0.5*constant",
    "exp(0.5*gaussian(sigma=1))",
    "exp(0.1*linear)",
    "normalised(poly(degree=2,c=1))",
    "normalised(gaussian(sigma=1) + laplace(scale=2))",
    "weighted(inverse_norm,linear)",
    "weighted(decay,exp(0.1*linear))",
    "weighted(inverse_sum,chi2[0..4])",
    "arc_cosine(order=0)*gaussian(sigma=3)",
    "arc_cosine(order=2)",
    "linear*intersection*rational_quadratic(alpha=2,scale=5)",
    "hat(width=9)*laplace(scale=[7,8])[0,3]*gaussian(sigma=4)",
    "(gaussian(sigma=2) + 2*laplace(scale=5))*cauchy(scale=9)",
    "poly(degree=4,c=0.5)",
    "exponential_chi2(gamma=0.5)[1,2]*cauchy(scale=4)",
    "poly(degree=3,c=0.5)[6,1..5]*exponential(scale=4)",
    "monomials(degree=3)",
    "constant + interactions(degree=4)",
    "series(coefficients=[0,0,1,0.5])[1..6]*gaussian(sigma=3)",
    "poly(degree=3,c=1)*poly(degree=2,gamma=0.5)[0..6]",
];

/// Every pair of a kernel and a map that exists.
pub(crate) fn specs() -> Vec<MapSpec> {
    let (forms, draws) = (
        [FourierForm::Pairs, FourierForm::Offset],
        [FrequencyDraw::Independent, FrequencyDraw::Orthogonal, FrequencyDraw::Quasi],
    );
    let mut specs = Vec::new();
    for text in LEAVES.into_iter().chain(EXPRESSIONS) {
        let kernel: Kernel = text.parse().unwrap();
        let mut add = |method, features, seed| {
            let spec = MapSpec { kernel: kernel.clone(), method, features, seed };
            // What does not go together is refused, and tested to be.
            if spec.check_for(INPUTS).is_ok() {
                specs.push(spec);
            }
        };
        for draw in draws {
            forms.iter().for_each(|&form| add(Method::Fourier { form, draw }, 50, 2));
        }
        add(Method::Exact, 1, 1);
        add(Method::Taylor { degree: 3 }, 1, 1);
        add(Method::Compiled { bins: None }, 80, 6);
        add(Method::Compiled { bins: Some(5) }, 80, 6);
        for sketch in [Sketch::Tensor, Sketch::Product] {
            add(Method::Sketch { sketch }, 44, 3);
        }
        add(Method::LANDMARKS, 30, 4);
        for bins in [Bins::Fitted, Bins::Hashed { width: 5 }] {
            add(Method::Binning { bins }, 20, 5);
        }
        // For fewer outputs than columns and for more: blocks are stacked.
        for how in projections() {
            [5, 24].into_iter().for_each(|features| add(Method::Projection { how }, features, 7));
        }
    }
    for choice in [Choice::KMeansPlusPlus, Choice::Leverage, Choice::Cholesky] {
        let method = Method::Landmarks { whiten: true, tolerance: 1e-7, choice };
        specs.push(MapSpec { kernel: Kernel::gaussian(1.3), method, features: 30, seed: 4 });
    }
    let plain = Method::Landmarks { whiten: false, tolerance: 1e-7, choice: Choice::Uniform };
    specs.push(MapSpec { kernel: Kernel::laplace(4.0), method: plain, features: 30, seed: 4 });
    specs
}

/// Every kind of projection.
pub(crate) fn projections() -> [Projection; 8] {
    let sparse = |nonzeros, signed| Projection::Sparse { nonzeros, signed };
    [
        Projection::Gaussian,
        Projection::Signs,
        Projection::Orthonormal,
        Projection::Hadamard,
        sparse(Nonzeros::Count { count: 1 }, true),
        sparse(Nonzeros::Count { count: 4 }, true),
        sparse(Nonzeros::Count { count: 3 }, false),
        sparse(Nonzeros::Theorem, true),
    ]
}

/// Rows with many zeros and no negative entries, dense and sparse; none is zero as a whole.
pub(crate) fn rows(n: usize) -> (Matrix<f64>, Csr<f64>) {
    let (starts, indices, values) = sparse(n, INPUTS, 0.6, 5);
    let mut dense = Matrix::new(n, INPUTS, densify(&starts, &indices, &values, INPUTS)).unwrap();
    dense.as_mut_slice().iter_mut().for_each(|x| *x = x.abs());
    let mut sparse = Csr::empty(INPUTS);
    for i in 0..n {
        let row = dense.row_mut(i);
        row[0] += if row.iter().all(|x| *x == 0.0) { 0.5 } else { 0.0 };
        sparse.push_row(row.iter().enumerate().filter(|(_, x)| **x != 0.0).map(|(j, x)| (j as u32, *x)));
    }
    (dense, sparse)
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
        |s, batch| s.absorb(&Engine::default(), batch, &target),
    )
    .unwrap()
}

/// The map of a spec, fitted to 60 rows if it looks at rows.
pub(crate) fn fitted(spec: &MapSpec) -> Map {
    let (dense, _) = rows(60);
    spec.fit(&Engine::default(), &sample(Rows::from(&dense), spec.seed)).unwrap()
}

/// z(x)·z(y) of rows i and j.
pub(crate) fn inner<T: Scalar>(z: &Matrix<T>, i: usize, j: usize) -> f64 {
    z.row(i).iter().zip(z.row(j)).map(|(a, b)| a.to_f64() * b.to_f64()).sum()
}

/// Remembers warnings.
#[derive(Default)]
pub(crate) struct Listener(pub(crate) std::sync::Mutex<Vec<String>>);

impl bochner::Observer for Listener {
    fn event(&self, event: &bochner::Event<'_>) -> std::ops::ControlFlow<()> {
        if let bochner::Event::Warning { text } = event {
            self.0.lock().unwrap().push((*text).to_owned());
        }
        std::ops::ControlFlow::Continue(())
    }
}
