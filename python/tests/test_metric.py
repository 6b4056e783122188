"""A learnt metric: what it finds, what is said of it, and that it travels with the model."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.decomposition import KernelPCA
from sklearn.kernel_ridge import KernelRidge
from sklearn.preprocessing import StandardScaler

from bochner import KernelClassifier, KernelRegressor


@pytest.fixture(scope="module")
def slanted():
    """sin 4(a + b) of four columns, of which two say nothing."""
    rng = np.random.default_rng(5)
    X = pd.DataFrame(rng.uniform(0, 3, size=(700, 4)), columns=list("abcd"))
    return X, np.sin(4 * (X["a"] + X["b"])) + 0.1 * rng.normal(size=700)


def test_a_direction_is_found(slanted):
    X, y = slanted
    none, auto = (KernelRegressor(n_components=256, metric=metric).fit(X[:500], y[:500]) for metric in ["none", "auto"])
    assert none.metric_ is None and not hasattr(none, "feature_importances_")
    assert auto.metric_.shape == (4, 4) and auto.feature_importances_.shape == (4,)
    assert auto.feature_importances_.sum() == pytest.approx(1) and auto.feature_importances_[:2].sum() > 0.95
    assert abs(auto.metric_directions_[0] @ [0.5**0.5, 0.5**0.5, 0, 0]) > 0.99
    assert auto.metric_shares_[0] > 0.9
    assert auto.score(X[500:], y[500:]) > 0.9 > none.score(X[500:], y[500:])
    assert "learned" in auto.plan_["fit"]["metric"]


@pytest.mark.parametrize("metric", ["diagonal", "full"])
def test_it_travels_with_the_model(slanted, metric, tmp_path):
    X, y = slanted
    model = KernelRegressor(n_components=128, metric=metric).fit(X, y)
    expected = model.predict(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), expected)
    model.save(tmp_path / "m.bochner")
    loaded = KernelRegressor.load(tmp_path / "m.bochner")
    np.testing.assert_array_equal(loaded.predict(X), expected)
    assert loaded.metric == metric
    np.testing.assert_array_equal(loaded.metric_, model.metric_)
    assert model.metric_.ndim == (1 if metric == "diagonal" else 2)


def test_other_methods_can_compare_rows_as_the_model_does(slanted):
    """KernelRidge on encoded rows is the model's exact twin, and the first components of kernel PCA are functions of the direction that matters."""
    X, y = slanted
    model = KernelRegressor("gaussian", n_components=1024, metric="full").fit(X[:500], y[:500])
    encoded = model.encode(X)
    assert encoded.shape == X.shape and encoded.dtype == np.float64
    gamma = 1 / (2 * float(model.kernel_.removeprefix("gaussian(sigma=").removesuffix(")")) ** 2)
    exact = KernelRidge(kernel="rbf", gamma=gamma, alpha=500 * model.lambda_).fit(encoded[:500], y[:500] - y[:500].mean())
    assert np.corrcoef(exact.predict(encoded[500:]), model.predict(X[500:]))[0, 1] > 0.999
    # The part of each of the first components that depends on a + b alone: the variance between narrow intervals of it.
    place = np.argsort(np.argsort(X["a"] + X["b"])) // 20

    def told(rows):
        parts = KernelPCA(4, kernel="rbf", gamma=gamma).fit_transform(rows)
        means = np.array([parts[place == k].mean(axis=0) for k in place])
        return np.var(means, axis=0) / np.var(parts, axis=0)

    assert told(encoded).min() > 0.9 and told(StandardScaler().fit_transform(X)).min() < 0.5


@pytest.mark.parametrize("metric", ["none", "diagonal", "full"])
def test_sparse_rows_stay_sparse_where_zeros_stay_zero(slanted, metric):
    X, y = slanted
    thinned = X.to_numpy() * (np.arange(X.size).reshape(X.shape) % 3 == 0)
    model = KernelRegressor(n_components=64, metric=metric).fit(sp.csr_matrix(thinned), y)
    encoded = model.encode(sp.csr_matrix(thinned[:9].astype(np.float32)))
    assert sp.issparse(encoded) == (metric != "full") and encoded.dtype == np.float32
    dense = encoded.toarray() if metric != "full" else encoded
    np.testing.assert_allclose(dense, model.encode(thinned[:9]), rtol=1e-5, atol=1e-6)
    if metric != "full":
        assert np.array_equal(dense != 0, thinned[:9] != 0)


def test_classes_have_one_too(slanted):
    X, y = slanted
    model = KernelClassifier(n_components=256).fit(X[:500], y[:500] > 0)
    assert model.score(X[500:], y[500:] > 0) > 0.85
    assert model.feature_importances_[:2].sum() > 0.9


def test_other_words_are_refused(slanted):
    with pytest.raises(ValueError, match="metric"):
        KernelRegressor(metric="cosine").fit(*slanted)
    with pytest.raises(ValueError, match="mixes columns"):
        KernelRegressor("gaussian(sigma=1)[a]", metric="full").fit(*slanted)


def test_a_plan_knows_of_the_search(slanted):
    # In bytes: seconds are of rates that each call measures anew, and other work moves these.
    without, with_it = (KernelRegressor(metric=metric).plan(*slanted).peak_bytes for metric in ["none", "auto"])
    assert with_it > without


def test_wide_sparse_rows_have_directions_added(tmp_path):
    """Of 300 words a hundred go with z and a hundred against it: one column that says so is added, and zeros stay zero."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=700)
    sign = np.array([1, -1, 0] * 100)
    often = np.where(sign == 0, 0.1, 1 / (1 + np.exp(2 - z[:, None] * sign)))
    X = sp.csr_matrix((rng.random((700, 300)) < often).astype(np.float64))
    y = np.sin(1.5 * z)
    model = KernelRegressor("gaussian", n_components=128, metric="full", standardize=False).fit(X[:600], y[:600])
    added = model.metric_.shape[1] - 300
    assert sp.issparse(model.metric_) and 1 <= added <= 16
    encoded = model.encode(X)
    assert sp.issparse(encoded) and encoded.nnz == X.nnz + 700 * added
    np.testing.assert_allclose(encoded.toarray(), (X @ model.metric_).toarray(), atol=1e-12)
    assert abs(model.metric_directions_[0] @ sign) / np.sqrt(200) > 0.8
    model.save(tmp_path / "wide.bochner")
    loaded = KernelRegressor.load(tmp_path / "wide.bochner")
    assert loaded.n_features_in_ == 300 and loaded.encode(X.toarray()).shape == (700, 300 + added)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(loaded.metric_.toarray(), model.metric_.toarray())
    assert loaded.metric == "full" and pickle.loads(pickle.dumps(model)).predict(X).tolist() == model.predict(X).tolist()
