"""What is wrong is said with the numbers, in the exception that users expect."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from bochner import FourierFeatures, KernelClassifier, KernelMap, KernelRegressor, LandmarkFeatures, _core

ALL = [FourierFeatures, LandmarkFeatures, KernelMap, KernelRegressor, KernelClassifier]


@pytest.fixture(params=ALL, ids=lambda cls: cls.__name__)
def estimator(request):
    return request.param(n_components=32)


@pytest.fixture
def data(rng):
    return rng.normal(size=(20, 3)), np.arange(20) % 2


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite(estimator, data, bad):
    X, y = data
    X[4, 1] = bad
    # NaN is a missing cell, but for sparse rows, where all that is missing is zero.
    for rows in [sp.csr_array(X)] if np.isnan(bad) else [X, sp.csr_array(X), X.astype(np.float32)]:
        with pytest.raises(ValueError, match="expected a finite number, found .* at row 4, column 1"):
            estimator.fit(rows, y)


def test_the_library_names_row_and_column(data):
    X, _ = data
    X[4, 1] = np.nan
    with pytest.raises(ValueError, match="expected a finite number, found NaN at row 4, column 1 of the rows"):
        _core.Model.fit(X, np.zeros((20, 1)), None, None, settings=KernelRegressor("gaussian")._settings())
    features = _core.Map.fit(np.ones((5, 3)), kernel="linear", method='{"kind": "exact"}', features=3, seed=0, threads=1)
    with pytest.raises(ValueError, match="row 4, column 1"):
        features.transform(X, 1)
    with pytest.raises(ValueError, match="expected 3 columns, found 2"):
        features.transform(X[:, :2].copy(), 1)


def test_shapes(estimator, data):
    X, y = data
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        estimator.fit(X[:0], y[:0])
    with pytest.raises(ValueError, match=r"0 feature\(s\)"):
        estimator.fit(X[:, :0], y)
    with pytest.raises(ValueError, match="Expected 2D array"):
        estimator.fit(X[:, 0], y)
    if isinstance(estimator, (KernelRegressor, KernelClassifier)):
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            estimator.fit(X, y[:-1])
    method = "transform" if hasattr(estimator, "transform") else "predict"
    with pytest.raises(NotFittedError):
        getattr(estimator, method)(X)
    estimator.fit(X, y)
    with pytest.raises(ValueError, match="X has 2 features, but .* is expecting 3"):
        getattr(estimator, method)(X[:, :2])
    with pytest.raises(ValueError):
        getattr(estimator, method)(X[:0])


@pytest.mark.parametrize(
    "params, message",
    [
        ({"n_components": 0}, "n_components"),
        ({"n_components": -2}, "n_components"),
        ({"n_components": 10.0}, "n_components"),
        ({"sigma": 0.0}, "sigma"),
        ({"sigma": -1.0}, "sigma"),
        ({"sigma": np.inf}, "sigma"),
        ({"scale": -1.0}, "scale"),
        ({"gamma": -1.0}, "gamma"),
        ({"gamma": 1e-400 + 5e-324}, "expected gamma to be above 0, with a width between 1e-18 and 1e18, found 5e-324"),
        ({"kernel": "gausian"}, "did you mean gaussian"),
        ({"kernel": "gaussian(sigma=2"}, r"expected \",\" or \"\)\", found the end"),
        ({"kernel": "gaussian(sigma=2)", "sigma": 3.0}, "stand alone, found sigma beside it"),
        ({"kernel": "gaussian(sigma=2)", "gamma": 3.0}, "stand alone, found gamma beside it"),
        ({"sigma": 1.0, "scale": 1.0}, "expected one of gamma, sigma and scale, found sigma and scale"),
        ({"sigma": 1.0, "gamma": 2.0}, "expected one of gamma, sigma and scale, found gamma and sigma"),
        ({"kernel": "laplace", "sigma": 1.0}, "expected scale or gamma"),
        ({"kernel": "gaussian", "scale": 1.0}, "expected sigma or gamma"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"random_state": -1}, "random_state"),
    ],
    ids=str,
)
def test_parameters(estimator, data, params, message):
    with pytest.raises(ValueError, match=message):
        estimator.set_params(**params).fit(*data)


@pytest.mark.parametrize(
    "estimator, message",
    [
        (FourierFeatures("linear"), "a Fourier map of linear is not possible: .*; use a compiled map, the exact one or landmarks"),
        (FourierFeatures("laplace", draw="orthogonal"), "an orthogonal Fourier map of laplace.*; draw them independently"),
        (FourierFeatures(form="fast"), "form"),
        (LandmarkFeatures(tolerance=1.0), "tolerance"),
        (LandmarkFeatures(whiten="yes"), "whiten"),
        (LandmarkFeatures(choice="best"), "choice"),
        (FourierFeatures(draw="structured"), "structured"),
        (KernelRegressor(method="best"), "method"),
        (KernelRegressor("linear", method="fourier"), "a Fourier map of linear is not possible"),
        (KernelRegressor("laplace", method="orthogonal"), "an orthogonal Fourier map"),
        (KernelRegressor(method="fourier", n_components=33), r"even for \(cos, sin\) pairs, found 33"),
        (KernelRegressor(regularization=0.0), "regularization"),
        (KernelRegressor(regularization="best"), "regularization"),
        (KernelRegressor(folds=1), "folds"),
        (KernelClassifier(loss="best"), "loss"),
    ],
    ids=str,
)
def test_parameters_of_one(estimator, data, message):
    with pytest.raises(ValueError, match=message):
        estimator.fit(*data)


def test_one_class(data):
    X, y = data
    with pytest.raises(ValueError, match="expected at least two classes, found one class"):
        KernelClassifier().fit(X, np.zeros(20, dtype=int))
    with pytest.raises(ValueError, match="Unknown label type"):
        KernelClassifier().fit(X, X[:, 0])


def test_weights(data):
    X, y = data
    for bad, message in [(-1.0, "(?i)negative"), (np.nan, "NaN")]:
        weights = np.ones(20)
        weights[3] = bad
        with pytest.raises(ValueError, match=message):
            KernelRegressor().fit(X, y, sample_weight=weights)
    with pytest.raises(ValueError, match="weight"):
        KernelRegressor().fit(X, y, sample_weight=np.zeros(20))
    with pytest.raises(ValueError, match="sample_weight"):
        KernelRegressor().fit(X, y, sample_weight=np.ones(19))


@pytest.mark.parametrize("components", [10**9, 10**12, 2**62])
@pytest.mark.parametrize("cls", [FourierFeatures, KernelRegressor, KernelClassifier])
def test_what_does_not_fit_memory_is_refused_before_it_is_made(cls, components, rng):
    with pytest.raises(MemoryError, match="of memory and .* may be used"):
        cls(n_components=components).fit(rng.normal(size=(20, 1000)), np.arange(20) % 2)


def test_features_that_do_not_fit_memory(rng):
    features = FourierFeatures(n_components=10**5).fit(rng.normal(size=(20, 1)))
    with pytest.raises(MemoryError, match="a matrix of 50000000 × 100000 features needs"):
        features.transform(np.zeros((50_000_000, 1), dtype=np.float32))


def test_more_landmarks_than_rows_are_no_error(rng):
    assert LandmarkFeatures(n_components=10**12).fit(rng.normal(size=(20, 3))).n_components_ <= 20


def test_a_constant_target_is_a_warning(data):
    X, _ = data
    with pytest.warns(UserWarning, match="target 0 is constant") as caught:
        model = KernelRegressor().fit(X, np.full(20, 3.25))
    assert any(w.filename == __file__ for w in caught), "the warning points at the caller"
    np.testing.assert_allclose(model.predict(X), 3.25, rtol=1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning):
            KernelRegressor().fit(X, np.full(20, 3.25))


def test_a_single_row_is_learned(rng):
    with pytest.warns(UserWarning, match="too few distinct rows"):
        model = KernelRegressor().fit(rng.normal(size=(1, 3)), [2.5])
    np.testing.assert_allclose(model.predict(rng.normal(size=(4, 3))), 2.5)


def test_a_word_for_gamma_beside_a_whole_kernel():
    with pytest.raises(ValueError, match="stand alone, found gamma beside it"):
        FourierFeatures("gaussian(sigma=2)", gamma="scale").fit(np.zeros((3, 2)))


def test_a_fit_that_fails_leaves_the_fit_before_it(data):
    X, y = data
    classifier = KernelClassifier(n_components=8, regularization=1e-3).fit(X, y)
    before = classifier.predict(X)
    with pytest.raises(ValueError, match="at least two classes"):
        classifier.fit(X, np.full(len(y), 7))
    np.testing.assert_array_equal(classifier.classes_, [0, 1])
    np.testing.assert_array_equal(classifier.predict(X), before)
    regressor = KernelRegressor(n_components=8, regularization=1e-3).fit(X, y)
    with pytest.raises(ValueError, match="finite"):
        regressor.fit(np.where(X == X[0, 0], np.inf, X)[:, :2], np.column_stack([y, y]))
    assert regressor.predict(X).shape == y.shape
    features = FourierFeatures(n_components=8).fit(X)
    with pytest.raises(ValueError, match="finite"):
        features.fit(np.full((3, 7), np.inf))
    assert features.transform(X).shape == (len(X), 8)
