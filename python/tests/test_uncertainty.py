"""Deviations beside BayesianRidge, intervals and sets with their coverage, calibrated probabilities, files."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, DotProduct, WhiteKernel

from bochner import KernelClassifier, KernelRegressor


def drawn(n, seed):
    chance = np.random.default_rng(seed)
    x = chance.normal(size=(n, 2))
    size = 0.1 + 0.3 * np.abs(x[:, 1])
    return x, np.sin(2 * x[:, 0]) + size * chance.normal(size=n)


def classes(n, seed):
    chance = np.random.default_rng(seed)
    x = chance.normal(size=(n, 2))
    chances = 1 / (1 + np.exp(-2 * np.sin(2 * x[:, 0]) - x[:, 1]))
    return x, np.where(chance.random(n) < chances, "yes", "no"), chances


def test_deviations_are_those_of_a_gaussian_process():
    x, y = drawn(80, 1)
    y = y - y.mean()
    x = x - x.mean(axis=0)
    lam = 1e-2
    model = KernelRegressor("linear", regularization=lam, standardize=False, deviation=True).fit(x, y)
    mean, deviation = model.predict(x, return_std=True)
    np.testing.assert_array_equal(mean, model.predict(x))
    # Rows and targets are centred, so that the constant is independent of the rest: its variance is s²/n.
    coefficients, n = model.coef_, len(x)
    s2 = np.square(y - mean).sum() / (n - model.degrees_of_freedom_ - 1)
    kernel = ConstantKernel(s2 / (n * lam), "fixed") * DotProduct(0, "fixed") + WhiteKernel(s2, "fixed")
    process = GaussianProcessRegressor(kernel, optimizer=None).fit(x, y)
    _, theirs = process.predict(x, return_std=True)
    np.testing.assert_allclose(deviation**2, theirs**2 + s2 / n, rtol=1e-8)
    assert coefficients.shape == (2,)


def test_deviations_need_to_be_asked_for():
    x, y = drawn(60, 2)
    model = KernelRegressor(n_components=32).fit(x, y)
    with pytest.raises(ValueError, match="deviation=True"):
        model.predict(x, return_std=True)
    with pytest.raises(ValueError, match="posterior of a ridge regression"):
        KernelRegressor(n_components=32, loss="huber", deviation=True).fit(x, y)
    many = KernelRegressor(n_components=32, deviation=True).fit(x.astype(np.float32), np.stack([y, 2 * y], axis=1))
    mean, deviation = many.predict(x.astype(np.float32), return_std=True)
    assert mean.shape == deviation.shape == (60, 2) and deviation.dtype == np.float32
    np.testing.assert_allclose(deviation[:, 1], 2 * deviation[:, 0], rtol=1e-4)


@pytest.mark.parametrize("deviation", [False, True])
def test_intervals_cover(deviation):
    """About 250 held-out rows: the coverage of new ones deviates by 0.02 from 0.9, counted on 4,000 by 0.005 more; five of both are 0.11."""
    x, y = drawn(1000, 3)
    new, truth = drawn(4000, 4)
    model = KernelRegressor(n_components=64, held_out=0.25, deviation=deviation).fit(x, y)
    assert 150 < model.n_held_out_ < 350
    lower, upper = model.predict_interval(new, coverage=0.9)
    assert lower.shape == upper.shape == (4000,)
    assert 0.79 < np.mean((lower <= truth) & (truth <= upper)) < 0.99
    np.testing.assert_allclose((lower + upper) / 2, model.predict(new), rtol=1e-9, atol=1e-12)
    # Rounding to the precision of the rows would leave some targets outside.
    assert all(end.dtype == np.float64 for end in clone(model).fit(x.astype(np.float32), y).predict_interval(new.astype(np.float32)))
    lower, upper = model.predict_interval(new, coverage=0.9999)
    assert np.isneginf(lower).all() and np.isposinf(upper).all()
    for coverage in (0, 1, -0.5, 90, np.nan):
        with pytest.raises(ValueError, match="coverage"):
            model.predict_interval(new, coverage=coverage)
    with pytest.raises(ValueError, match="held out"):
        clone(model).set_params(held_out=None).fit(x, y).predict_interval(new)


@pytest.mark.parametrize("loss", ["ridge", "squared_hinge", "hinge", "logistic"])
def test_sets_cover_and_probabilities_are_right(loss):
    x, y, _ = classes(1500, 5)
    new, truth, chances = classes(4000, 6)
    model = KernelClassifier(n_components=64, loss=loss, held_out=0.2, probability=True, regularization=1e-3, tol=1e-3).fit(x, y)
    sets = model.predict_set(new, coverage=0.9)
    assert sets.shape == (4000, 2) and sets.dtype == bool and sets.any(axis=1).all()
    inside = sets[np.arange(4000), np.searchsorted(model.classes_, truth)]
    assert 0.8 < inside.mean() < 1.0
    assert not sets.all()
    # In tenths of what is predicted, the mean is that of the true probabilities: to 0.05, of which two numbers from 1,200 rows take 0.02.
    found = model.predict_proba(new)[:, 1]
    tenths = np.digitize(found, np.arange(0.1, 1, 0.1))
    missed = [np.abs((found - chances)[tenths == tenth].sum()) for tenth in range(10)]
    assert np.sum(missed) / len(new) < 0.05
    assert model.predict_set(new, coverage=0.9999).all()
    with pytest.raises(ValueError, match="held out"):
        clone(model).set_params(held_out=None).fit(x, y).predict_set(new)


def test_probability_makes_probabilities():
    x, y, _ = classes(300, 7)
    model = KernelClassifier(n_components=32, loss="squared_hinge", regularization=1e-2)
    assert not hasattr(model, "predict_proba") and not hasattr(model.fit(x, y), "predict_proba")
    model = clone(model).set_params(probability=True)
    assert hasattr(model, "predict_proba")
    found = model.fit(x, y).predict_proba(x)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    three = np.digitize(x[:, 0], [-0.5, 0.5])
    assert model.fit(x, three).predict_proba(x).shape == (300, 3)


def test_files_keep_what_is_known(tmp_path):
    x, y = drawn(300, 8)
    model = KernelRegressor(n_components=32, held_out=0.3, deviation=True).fit(x, y)
    model.save(tmp_path / "m.bochner")
    read = KernelRegressor.load(tmp_path / "m.bochner")
    assert read.held_out == 0.3 and read.deviation is True and read.n_held_out_ == model.n_held_out_
    for other in (read, pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.predict_interval(x), model.predict_interval(x))
        np.testing.assert_array_equal(other.predict(x, return_std=True), model.predict(x, return_std=True))
    x, y, _ = classes(300, 9)
    model = KernelClassifier(n_components=32, probability=True).fit(x, y)
    model.save(tmp_path / "c.bochner")
    read = KernelClassifier.load(tmp_path / "c.bochner")
    assert read.probability is True and read.held_out is None
    np.testing.assert_array_equal(read.predict_proba(x), model.predict_proba(x))


def test_weights_are_repetitions():
    x, y = drawn(200, 10)
    weights = np.arange(200) % 3
    words = {"n_components": 32, "kernel": "gaussian(sigma=1)", "regularization": 1e-3, "held_out": 0.3, "deviation": True}
    weighted = KernelRegressor(**words).fit(x, y, sample_weight=weights)
    repeated = KernelRegressor(**words).fit(np.repeat(x, weights, axis=0), np.repeat(y, weights))
    assert weighted.n_held_out_ == repeated.n_held_out_
    np.testing.assert_allclose(weighted.predict_interval(x), repeated.predict_interval(x), rtol=1e-6)
    np.testing.assert_allclose(weighted.predict(x, return_std=True), repeated.predict(x, return_std=True), rtol=1e-6)
