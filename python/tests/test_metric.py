"""A learnt metric: what it finds, what is said of it, and that it travels with the model."""

import pickle

import numpy as np
import pandas as pd
import pytest

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
    without, with_it = (KernelRegressor(metric=metric).plan(*slanted).search for metric in ["none", "auto"])
    assert with_it > without
