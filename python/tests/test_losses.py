"""Losses other than squares: objectives beside scikit-learn's, probabilities, quantiles, weights of classes, starts, files."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from bochner import KernelClassifier, KernelRegressor


@pytest.fixture(scope="module")
def data():
    chance = np.random.default_rng(3)
    x = chance.normal(size=(400, 3))
    y = np.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2] + 0.3 * chance.normal(size=400)
    return x, y


def plain(**words):
    return {"kernel": "linear", "standardize": False, "n_jobs": 2, "tol": 1e-8, **words}


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("lam", [1e-3, 0.1])
def test_logistic_is_that_of_scikit_learn(data, classes, lam):
    x, y = data
    c = np.digitize(y, [0.1] if classes == 2 else [-0.4, 0.5])
    theirs = LogisticRegression(C=1 / (2 * lam * len(x)), tol=1e-10, max_iter=10_000).fit(x, c)
    for rows in (x, sparse.csr_matrix(x), x.astype(np.float32)):
        ours = KernelClassifier(loss="logistic", regularization=lam, **plain()).fit(rows, c)
        assert ours.stopped_by_ in {"gap", "gain"}
        np.testing.assert_allclose(ours.predict_proba(rows), theirs.predict_proba(x), atol=2e-4)
        mean = -np.log(theirs.predict_proba(x)[np.arange(len(x)), c]).mean()
        assert ours.objective_ == pytest.approx(mean + lam * np.square(theirs.coef_).sum(), rel=1e-6)
        np.testing.assert_allclose(np.exp(ours.predict_log_proba(rows)).sum(axis=1), 1, rtol=1e-5)


def test_probabilities_need_logistic_loss(data):
    x, y = data
    model = KernelClassifier(loss="hinge", regularization=1e-2, n_components=32).fit(x, y > 0)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match="predict_proba"):
        model.predict_proba(x)


def test_nothing_is_left_of_the_loss_before(data):
    x, y = data
    model = KernelRegressor(loss="huber", n_components=32, regularization=1e-2).fit(x, y)
    assert model.n_iter_ > 0 and model.error_scale_ > 0
    model.set_params(loss="ridge").fit(x, y)
    assert model.n_iter_ is model.stopped_by_ is model.error_scale_ is model.objective_ is None
    classes = KernelClassifier(loss="hinge", n_components=32, regularization=1e-2).fit(x, y > 0)
    assert not hasattr(classes.set_params(loss="logistic"), "predict_proba")


def test_quantiles_divide(data):
    x, y = data
    for level in (0.1, 0.5, 0.9):
        model = KernelRegressor(loss=f"quantile(level={level})", n_components=64, regularization=1e-3, tol=1e-6).fit(x, y)
        assert np.mean(y < model.predict(x) - 1e-3) <= level
        assert np.mean(y > model.predict(x) + 1e-3) <= 1 - level
        assert model.dual_objective_ <= model.objective_


def test_two_columns_of_numbers_are_two_problems(data):
    x, y = data
    model = KernelRegressor(loss="insensitive(epsilon=0.2)", n_components=32, regularization=1e-2, tol=1e-7)
    both = clone(model).fit(x, np.column_stack([y, -2 * y])).predict(x)
    np.testing.assert_allclose(both[:, 0], clone(model).fit(x, y).predict(x), atol=1e-2)
    np.testing.assert_allclose(both[:, 1], clone(model).fit(x, -2 * y).predict(x), atol=1e-2)


def test_huber_finds_the_size_of_errors(data):
    x, y = data
    wild = y + 1000 * (np.arange(len(y)) % 25 == 0)
    fit = lambda targets: KernelRegressor("gaussian(sigma=2)", loss="huber", n_components=64, regularization=1e-3).fit(x, targets)
    clean, model = fit(y), fit(wild)
    assert model.error_scale_ < 2 * clean.error_scale_ < 2
    assert np.mean(np.abs(model.predict(x) - clean.predict(x))) < 0.2


def test_class_weights_are_sample_weights(data):
    x, y = data
    c = (y > 1).astype(int)
    weight = np.where(c == 1, 5.0, 1.0)
    for loss in ("ridge", "logistic", "squared_hinge"):
        words = dict(loss=loss, n_components=64, regularization=1e-3)
        by_class = KernelClassifier(class_weight={0: 1, 1: 5}, **words).fit(x, c)
        by_row = KernelClassifier(**words).fit(x, c, sample_weight=weight)
        np.testing.assert_array_equal(by_class.coef_, by_row.coef_)
        balanced = KernelClassifier(class_weight="balanced", **words).fit(x, c)
        assert balanced.predict(x).sum() > KernelClassifier(**words).fit(x, c).predict(x).sum()


def test_a_warm_start_goes_on(data):
    x, y = data
    model = KernelClassifier("gaussian(sigma=1)", loss="logistic", n_components=64, regularization=1e-4, warm_start=True)
    first = model.fit(x, y > 0).n_iter_
    assert model.fit(x, y > 0).n_iter_ < first


@pytest.mark.parametrize("loss", ["huber(epsilon=1.5)", "quantile(level=0.25)", "insensitive(epsilon=0.1)"])
def test_files_and_pickles_keep_the_loss(data, loss, tmp_path):
    x, y = data
    model = KernelRegressor(loss=loss, n_components=32).fit(x, y)
    model.save(tmp_path / "model.bochner")
    again = KernelRegressor.load(tmp_path / "model.bochner")
    assert again.loss == loss and again.objective_ == model.objective_
    for other in (again, pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.predict(x), model.predict(x))


def test_threads_change_no_bit(data):
    x, y = data
    for loss in ("huber", "quantile(level=0.3)"):
        one, two = (KernelRegressor(loss=loss, n_components=64, n_jobs=n).fit(x, y) for n in (1, 2))
        assert one._model.to_bytes() == two._model.to_bytes()


@pytest.mark.parametrize(
    ("loss", "says"),
    [("quantile(level=2)", "between 0 and 1"), ("hubber", "squares, logistic"), ("logistic", "for numbers"), ("huber(epsilon=1)", "above 1")],
)
def test_bad_losses_are_told(data, loss, says):
    x, y = data
    with pytest.raises(ValueError, match=says):
        KernelRegressor(loss=loss).fit(x, y)
