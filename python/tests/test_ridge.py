"""Kernel ridge with the exact kernel: scikit-learn's numbers, and what it adds to them."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.kernel_ridge import KernelRidge as Theirs
from sklearn.model_selection import GridSearchCV

from bochner import Gaussian, KernelRegressor, KernelRidge, Laplace, Linear


@pytest.fixture
def data():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(120, 4))
    Y = np.column_stack([np.sin(X[:, 0]) + X[:, 1], X[:, 2] ** 2 - 3])
    return X, Y, rng.integers(1, 9, size=120) / 4, rng.normal(size=(30, 4))


@pytest.mark.parametrize("alpha", [1e-3, 1.0, 50.0])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "ours, theirs",
    [
        ({"kernel": "rbf"}, {"kernel": "rbf"}),
        ({"kernel": "gaussian", "gamma": 0.2}, {"kernel": "rbf", "gamma": 0.2}),
        ({"kernel": "laplacian", "gamma": 0.3}, {"kernel": "laplacian", "gamma": 0.3}),
        ({"kernel": "linear"}, {"kernel": "linear"}),
        ({"kernel": "poly(degree=3,gamma=0.5,c=1)"}, {"kernel": "poly", "degree": 3, "gamma": 0.5, "coef0": 1}),
    ],
    ids=lambda words: words["kernel"],
)
def test_predictions_are_those_of_scikit_learn(data, ours, theirs, weighted, alpha):
    X, Y, w, new = data
    w = w if weighted else None
    ours, theirs = KernelRidge(**ours, alpha=alpha).fit(X, Y, w), Theirs(**theirs, alpha=alpha).fit(X, Y, w)
    np.testing.assert_allclose(ours.predict(new), theirs.predict(new), atol=1e-8)
    # Rows are in another order, each with its coefficients.
    order = [int(np.flatnonzero((X == row).all(axis=1))[0]) for row in ours.X_fit_]
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_[order], atol=1e-6 * np.abs(theirs.dual_coef_).max())
    assert ours.alpha_ == pytest.approx(alpha)


def test_shapes_are_those_of_scikit_learn(data):
    X, Y, _, new = data
    for y in (Y[:, 0], Y[:, :1], Y):
        ours, theirs = KernelRidge().fit(X, y), Theirs(kernel="rbf").fit(X, y)
        assert ours.predict(new).shape == theirs.predict(new).shape
        assert ours.dual_coef_.shape == theirs.dual_coef_.shape
        assert np.shape(ours.intercept_) == (() if y.ndim == 1 else (y.shape[1],))
        assert np.all(np.asarray(ours.intercept_) == 0)


def test_alpha_by_cross_validation_and_an_intercept(data):
    X, Y, w, new = data
    model = KernelRidge(Gaussian(sigma=2), alpha="cv", fit_intercept=True).fit(X, Y + 100, w)
    assert model.cv_curve_.shape == (21, 2) and model.lambda_ in model.cv_curve_[:, 0]
    assert model.alpha_ == pytest.approx(model.lambda_ * w.sum())
    given = KernelRidge(Gaussian(sigma=2), alpha=model.alpha_, fit_intercept=True).fit(X, Y + 100, w)
    np.testing.assert_allclose(given.predict(new), model.predict(new), atol=1e-8)
    shifted = KernelRidge(Gaussian(sigma=2), alpha=model.alpha_, fit_intercept=True).fit(X, Y, w)
    np.testing.assert_allclose(shifted.predict(new) + 100, model.predict(new), atol=1e-8)
    assert 0 < model.degrees_of_freedom_ < len(X)


def test_weights_are_repetitions_in_any_form_of_rows(data):
    X, Y, _, new = data
    w = np.arange(120) % 3
    times = np.repeat(np.arange(120), w)
    for words in ({"alpha": 0.1}, {"alpha": "cv", "fit_intercept": True}):
        model = KernelRidge(Laplace(3) + 0.1 * Linear(), **words)
        expected = model.fit(X, Y, w).predict(new)
        assert len(model.X_fit_) == 80
        np.testing.assert_allclose(model.fit(X[times], Y[times]).predict(new), expected, atol=1e-9)
        np.testing.assert_allclose(model.fit(sp.csr_matrix(X), Y, w).predict(sp.csr_matrix(new)), expected, atol=1e-9)
        single = model.fit(X.astype(np.float32), Y, w).predict(new.astype(np.float32))
        np.testing.assert_allclose(single, expected, atol=1e-4)
        order = np.random.default_rng(0).permutation(120)
        np.testing.assert_array_equal(model.fit(X[order], Y[order], w[order]).predict(new), model.fit(X, Y, w).predict(new))


def test_it_is_saved_and_read(tmp_path, data):
    X, Y, _, new = data
    for words in ({"alpha": 0.25}, {"alpha": "cv", "fit_intercept": True, "folds": 3}):
        model = KernelRidge("gaussian(sigma=2)", **words).fit(X, Y)
        model.save(tmp_path / "model.bochner")
        again = KernelRidge.load(tmp_path / "model.bochner")
        np.testing.assert_array_equal(again.predict(new), model.predict(new))
        np.testing.assert_array_equal(again.dual_coef_, model.dual_coef_)
        found = again.get_params()
        assert found["alpha"] == (words["alpha"] if words["alpha"] == "cv" else pytest.approx(words["alpha"]))
        assert found["fit_intercept"] == model.fit_intercept and found["folds"] == model.folds
    KernelRegressor(n_components=32).fit(X, Y).save(tmp_path / "other.bochner")
    with pytest.raises(ValueError, match="KernelRegressor reads"):
        KernelRidge.load(tmp_path / "other.bochner")


def test_it_is_searched_like_any_other(data):
    X, Y, _, _ = data
    search = GridSearchCV(KernelRidge(), {"alpha": [1e-3, 1.0, 1e3], "kernel": [Gaussian(2), "linear"]}).fit(X, Y)
    assert search.best_params_["kernel"] == Gaussian(2)


def test_threads_change_nothing(data):
    X, Y, _, new = data
    one, seven = (KernelRidge(alpha="cv", n_jobs=n).fit(X, Y).predict(new) for n in (1, 7))
    np.testing.assert_array_equal(one, seven)


@pytest.mark.parametrize(
    "words, message",
    [
        ({"alpha": 0.0}, "alpha"),
        ({"alpha": "gcv"}, "alpha"),
        ({"folds": 1, "alpha": "cv"}, "folds"),
        ({"kernel": "gauss"}, "gauss"),
        ({"kernel": "linear", "gamma": 1.0}, "stand alone"),
        ({"kernel": "linear", "alpha": 1e-40}, "raise λ, or have it chosen"),
        ({"kernel": "words(from=1,to=2)"}, "kernel of numbers"),
    ],
)
def test_what_makes_no_sense_is_refused(data, words, message):
    X, Y, _, _ = data
    with pytest.raises(ValueError, match=message):
        KernelRidge(**words).fit(X, Y)


def test_rows_without_weight_are_nothing_to_learn_from(data):
    X, Y, _, _ = data
    with pytest.raises(ValueError, match="positive weight|non-zero"):
        KernelRidge().fit(X, Y, np.zeros(120))
