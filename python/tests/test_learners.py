"""Regression and classification against the formulas that they solve."""

import numpy as np
import pytest
import scipy.sparse as sp

from bochner import (
    Constant,
    FourierFeatures,
    Gaussian,
    KernelClassifier,
    KernelMap,
    KernelRegressor,
    KernelSVC,
    LandmarkFeatures,
    Laplace,
    Linear,
    Polynomial,
)


def ridge(Z, Y, weights, strength):
    """Coefficients and intercepts of min (1/Σw) Σ w (y - c·z - b)² + λ‖c‖², by the normal equations."""
    w = weights / weights.sum()
    z_mean, y_mean = w @ Z, w @ Y
    Zc, Yc = Z - z_mean, Y - y_mean
    S = (Zc * w[:, None]).T @ Zc + strength * np.eye(Z.shape[1])
    C = np.linalg.solve(S, (Zc * w[:, None]).T @ Yc)
    return C.T, y_mean - z_mean @ C


# The features of a learner's method, made by the transformers.
METHODS = {
    "fourier": lambda seed: FourierFeatures(sigma=2.0, n_components=40, draw="independent", random_state=seed),
    "orthogonal": lambda seed: FourierFeatures(sigma=2.0, n_components=40, draw="orthogonal", random_state=seed),
    "offset": lambda seed: FourierFeatures(sigma=2.0, n_components=40, form="offset", draw="independent", random_state=seed),
    "landmarks": lambda seed: LandmarkFeatures(sigma=2.0, n_components=40, random_state=seed),
    "quasi": lambda seed: FourierFeatures(sigma=2.0, n_components=40, draw="quasi", random_state=seed),
    "compiled": lambda seed: KernelMap(sigma=2.0, n_components=40, method="compiled", random_state=seed),
    "k-means++": lambda seed: LandmarkFeatures(sigma=2.0, n_components=40, choice="k-means++", random_state=seed),
    "leverage": lambda seed: LandmarkFeatures(sigma=2.0, n_components=40, choice="leverage", random_state=seed),
    "cholesky": lambda seed: LandmarkFeatures(sigma=2.0, n_components=40, choice="cholesky", random_state=seed),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("outputs", [None, 1, 3])
def test_coefficients_solve_the_normal_equations(waves, rng, method, outputs):
    X, y = waves
    y = y if outputs is None else np.stack([y, X[:, 0], y * X[:, 1]], axis=1)[:, :outputs]
    weights = rng.integers(0, 4, size=len(X)).astype(float)
    if method in ("k-means++", "leverage", "cholesky"):
        weights[:] = 1.0  # these choices see weights, which the transformer has not
    model = KernelRegressor(
        sigma=2.0, n_components=40, method=method, regularization=1e-3, standardize=False, random_state=5
    ).fit(X, y, sample_weight=weights)
    Z = METHODS[method](5).fit(X[weights > 0]).transform(X)
    C, b = ridge(Z, y.reshape(len(y), -1), weights, 1e-3)
    np.testing.assert_allclose(np.atleast_2d(model.coef_), C, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(np.atleast_1d(model.intercept_), b, rtol=1e-9, atol=1e-9)
    expected = Z @ C.T + b
    np.testing.assert_allclose(model.predict(X), expected[:, 0] if outputs is None else expected, rtol=1e-9, atol=1e-9)
    eigenvalues = np.linalg.eigvalsh(np.cov(Z, rowvar=False, bias=True, aweights=weights))
    assert model.degrees_of_freedom_ == pytest.approx((eigenvalues / (eigenvalues + 1e-3)).sum(), rel=1e-9)


def test_standardization_is_that_of_the_rows(waves):
    X, y = waves
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    given = dict(sigma=1.0, n_components=64, regularization=1e-3)
    ours = KernelRegressor(**given).fit(3 * X + 7, y).predict(3 * X + 7)
    theirs = KernelRegressor(**given, standardize=False).fit(scaled, y).predict(scaled)
    np.testing.assert_allclose(ours, theirs, atol=1e-3)


def test_what_is_not_given_is_chosen(waves):
    X, y = waves
    model = KernelRegressor(n_components=128, metric="none").fit(X, y)
    assert model.kernel_.startswith(("gaussian(sigma=", "laplace(scale=", "exponential(scale="))
    assert KernelRegressor("gaussian", n_components=64).fit(X, y).kernel_.startswith("gaussian(sigma=")
    assert model.cv_curve_.shape == (21, 2)
    assert model.lambda_ in model.cv_curve_[:, 0]
    chosen = model.cv_curve_[model.cv_curve_[:, 0] == model.lambda_, 1]
    assert chosen == pytest.approx(model.cv_curve_[:, 1].min(), rel=1e-2)
    assert model.n_components_ == 128
    given = KernelRegressor(kernel=model.kernel_, n_components=128, regularization=model.lambda_).fit(X, y)
    np.testing.assert_allclose(given.predict(X), model.predict(X), atol=1e-8)
    assert given.cv_curve_.shape == (0, 2)


@pytest.mark.parametrize("kernel", ["gaussian", "laplace", "linear", "laplace(gamma=0.3)"])
@pytest.mark.parametrize("components", [None, 33, 64])
def test_every_kernel_learns(waves, kernel, components):
    X, _ = waves
    y = X @ [1.0, -2.0, 0.5]
    model = KernelRegressor(kernel, n_components=components).fit(X, y)
    assert model.score(X, y) > 0.8
    # Where nothing is said, all rows are landmarks, as far as they are told apart.
    assert model.n_components_ == (3 if kernel == "linear" else components) or components is None and model.n_components_ <= 300


@pytest.mark.parametrize("method", ["auto", "landmarks", "offset"])
def test_sparse_rows_are_dense_rows(waves, method):
    X, y = waves
    X = np.where(np.abs(X) < 0.7, 0.0, X)
    model = KernelRegressor(sigma=2.0, n_components=64, method=method, standardize=False)
    dense = model.fit(X, y).predict(X)
    sparse = model.fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.predict(sp.csr_matrix(X)), dense, atol=1e-8)
    np.testing.assert_allclose(sparse.predict(X), dense, atol=1e-8)


@pytest.mark.parametrize("cls", [KernelRegressor, KernelClassifier])
def test_predictions_have_the_precision_of_the_rows(waves, cls):
    model = cls(sigma=2.0, n_components=64, regularization=1e-3)
    X, y = waves
    y = y > 0 if isinstance(model, KernelClassifier) else y
    outputs = {}
    for dtype in [np.float32, np.float64]:
        model.fit(X.astype(dtype), y)
        score = getattr(model, "decision_function", model.predict)
        outputs[dtype] = score(X.astype(dtype))
        assert outputs[dtype].dtype == dtype
    np.testing.assert_allclose(outputs[np.float32], outputs[np.float64], atol=1e-3)


def test_weighting_a_row_is_repeating_it(waves, rng):
    X, y = waves
    weights = rng.integers(0, 4, size=len(y))
    order = rng.permutation(weights.sum())
    for model in [KernelRegressor(n_components=64), KernelRegressor(method="landmarks", n_components=64)]:
        weighted = model.fit(X, y, sample_weight=weights).predict(X)
        repeated = model.fit(X.repeat(weights, axis=0)[order], y.repeat(weights)[order]).predict(X)
        np.testing.assert_allclose(weighted, repeated, rtol=1e-7, atol=1e-9)


LABELS = {
    "integer": np.array([-3, 10, 2]),
    "unsigned": np.array([1, 2, 200], dtype=np.uint8),
    "number": np.array([0.5, 1.0, 2.25])[[1, 0, 2]] * 2,
    "text": np.array(["b", "ä\n", "c c"]),
    "object": np.array(["red", "green", "blue"], dtype=object),
}


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("classes", [2, 3])
def test_classes_come_back_as_they_were(rings, kind, classes, tmp_path):
    X, codes = rings
    if kind == "number":
        y = LABELS["number"].round()[np.minimum(codes, classes - 1)]
    else:
        y = LABELS[kind][np.minimum(codes, classes - 1)]
    model = KernelClassifier(n_components=128).fit(X, y)
    np.testing.assert_array_equal(model.classes_, np.unique(y))
    assert model.predict(X).dtype == y.dtype
    assert model.score(X, y) > 0.9
    scores = model.decision_function(X)
    best = (scores > 0).astype(int) if classes == 2 else scores.argmax(axis=1)
    np.testing.assert_array_equal(model.classes_[best], model.predict(X))
    rows = 1 if classes == 2 else 3
    assert (model.coef_.shape, model.intercept_.shape) == ((rows, 128), (rows,))
    model.save(tmp_path / "model.bochner")
    loaded = KernelClassifier.load(tmp_path / "model.bochner")
    np.testing.assert_array_equal(loaded.classes_, model.classes_)
    assert loaded.classes_.dtype.kind == {"u": "i", "O": "U"}.get(y.dtype.kind, y.dtype.kind)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_booleans_are_classes(rings, tmp_path):
    X, codes = rings
    model = KernelClassifier(n_components=128).fit(X, codes > 0)
    assert model.predict(X).dtype == bool
    model.save(tmp_path / "model.bochner")
    assert KernelClassifier.load(tmp_path / "model.bochner").classes_.tolist() == [False, True]


@pytest.mark.parametrize("method", ["auto", "landmarks"])
def test_threads_do_not_change_a_bit(waves, method):
    X, y = waves
    files = {
        KernelRegressor(n_components=64, method=method, n_jobs=threads).fit(X, y)._model.to_bytes()
        for threads in [1, 2, 3, None]
    }
    assert len(files) == 1


def test_progress_is_printed_on_request(waves, capsys):
    X, y = waves
    KernelRegressor(n_components=64).fit(X, y)
    assert capsys.readouterr().out == ""
    KernelRegressor(n_components=64, verbose=2).fit(X, y)
    assert "cross-validation: done" in capsys.readouterr().out


def test_a_composed_kernel_is_worth_it(waves):
    """sin(2a) + b·c: a Gaussian of one column beside products of the others does better than one width for all."""
    X, y = waves
    train, test = slice(0, 150), slice(150, None)
    composed = Gaussian(0.5)[0] + Polynomial(2, c=1)[1, 2]
    model = KernelRegressor(composed, n_components=256).fit(X[train], y[train])
    assert model.kernel_ == str(composed)
    assert model.score(X[test], y[test]) > 0.95
    assert model.score(X[test], y[test]) > KernelRegressor(n_components=256).fit(X[train], y[train]).score(X[test], y[test])


@pytest.mark.parametrize("loss", ["ridge", "squared_hinge", "hinge"])
def test_classes_by_a_composed_kernel(rings, loss):
    X, y = rings
    composed = Gaussian(0.7) + 0.1 * Laplace(1)[0] * Linear()[1] + 0.1 * Constant()
    features = KernelClassifier(composed, n_components=256, loss=loss, regularization=1e-4).fit(X, y)
    exact = KernelSVC(composed, C=10.0).fit(X, y)
    assert features.score(X, y) > 0.93 and exact.score(X, y) > 0.93
    assert (features.predict(X) == exact.predict(X)).mean() > 0.93


def test_exact_features_are_the_kernels_own(waves):
    X, _ = waves
    y = (1 + X @ [1.0, 2.0, -1.0]) ** 2
    model = KernelRegressor(Polynomial(2, c=1), method="exact", regularization=1e-9, standardize=False).fit(X, y)
    assert model.n_components_ == 10 and model.certificate_.bound["kind"] == "exact"
    np.testing.assert_allclose(model.predict(X), y, rtol=1e-5, atol=1e-4)


def test_structured_frequencies_learn(rng):
    X = rng.normal(size=(400, 48))
    y = X[:, 0] + 0.5 * X[:, 1]
    model = KernelRegressor("gaussian(sigma=12)", method="structured", n_components=1024).fit(X, y)
    assert model.score(X, y) > 0.9
