"""Ridge by sums and by conjugate gradients: the same coefficients, and what is said of them."""

import numpy as np
import pytest

from bochner import KernelClassifier, KernelRegressor


@pytest.fixture
def data():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 3))
    return X, np.sin(X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=400)


def test_both_ways_lead_to_the_same_coefficients(data):
    X, y = data
    words = {"kernel": "gaussian(sigma=1)", "n_components": 64, "regularization": 1e-3}
    sums, steps = (KernelRegressor(**words, solver=solver).fit(X, y) for solver in ["gram", "cg"])
    np.testing.assert_allclose(steps.coef_, sums.coef_, atol=1e-4 * np.abs(sums.coef_).max())
    assert sums.n_iter_ is None and sums.residual_ is None and sums.degrees_of_freedom_ > 0
    assert steps.n_iter_ > 0 and steps.stopped_by_ == "residual" and steps.residual_ <= 1e-6
    assert steps.degrees_of_freedom_ is None


def test_lambda_is_chosen_on_a_part_that_is_left_out(data):
    X, y = data
    model = KernelRegressor("gaussian(sigma=1)", n_components=64, solver="cg").fit(X, y)
    assert model.lambda_ in model.cv_curve_[:, 0]
    assert model.score(X, y) > 0.9


def test_classes_go_the_same_way(data):
    X, y = data
    model = KernelClassifier("gaussian(sigma=1)", n_components=64, solver="cg").fit(X, np.digitize(y, [-1, 1]))
    assert model.score(X, np.digitize(y, [-1, 1])) > 0.9 and model.stopped_by_ == "residual"


def test_other_words_are_refused(data):
    with pytest.raises(ValueError, match="solver"):
        KernelRegressor(solver="lu").fit(*data)
