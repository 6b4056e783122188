"""What is stored predicts the same, bit for bit."""

import copy
import pickle

import joblib
import numpy as np
import pytest
import scipy.sparse as sp

from bochner import (
    ArcCosine,
    BinningFeatures,
    Certificate,
    FourierFeatures,
    Gaussian,
    KernelClassifier,
    KernelMap,
    KernelRegressor,
    LandmarkFeatures,
    Laplace,
    Linear,
    Matern,
    _core,
)

LEARNERS = [
    KernelRegressor(n_components=64),
    KernelRegressor("laplace(scale=2)", n_components=32, regularization=0.01, standardize=False),
    KernelRegressor(n_components=32, method="landmarks"),
    KernelRegressor(n_components=33, random_state=11),
    KernelRegressor("linear"),
    KernelRegressor(0.7 * Gaussian(2)[0, 2] + Laplace(3) * Linear()[1], n_components=64),
    KernelRegressor("poly(degree=2,c=1)", method="exact"),
    KernelRegressor(Matern(nu=1.5, scale=2), n_components=64, method="quasi"),
    KernelRegressor(ArcCosine(), n_components=32, method="k-means++"),
    KernelRegressor(Gaussian([1, 2, 3]), n_components=32, method="cholesky"),
    KernelClassifier(n_components=64),
]
TRANSFORMERS = [
    FourierFeatures(n_components=32, random_state=0),
    FourierFeatures("laplace(scale=2)", n_components=33),
    LandmarkFeatures(n_components=32),
    LandmarkFeatures(n_components=32, whiten=False),
    LandmarkFeatures(n_components=32, choice="leverage"),
    KernelMap(0.7 * Gaussian(2)[0, 2] + Laplace(3) * Linear()[1], n_components=64),
    KernelMap(ArcCosine() + Laplace(2), n_components=64, bins=8),
    KernelMap(sigma=3.0, method="taylor"),
    BinningFeatures(n_components=32),
    BinningFeatures("hat(width=2)", n_components=32, bins="hashed"),
]


def outputs(estimator, X):
    for method in ["transform", "decision_function", "predict"]:
        if hasattr(estimator, method):
            found = getattr(estimator, method)(X)
            return found.toarray() if sp.issparse(found) else found


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("estimator", LEARNERS + TRANSFORMERS, ids=str)
def test_pickles_predict_the_same(waves, estimator, dtype, tmp_path):
    X, y = waves[0].astype(dtype), waves[1]
    y = y > 0 if isinstance(estimator, KernelClassifier) else y
    estimator.fit(X, y)
    joblib.dump(estimator, tmp_path / "estimator.joblib")
    for other in [
        pickle.loads(pickle.dumps(estimator)),
        joblib.load(tmp_path / "estimator.joblib"),
        copy.deepcopy(estimator),
    ]:
        np.testing.assert_array_equal(outputs(other, X), outputs(estimator, X))
        assert other.certificate_ == estimator.certificate_
        assert isinstance(other.certificate_, Certificate)
        assert other.get_params() == estimator.get_params()


@pytest.mark.parametrize("estimator", LEARNERS, ids=str)
def test_files_predict_the_same(waves, estimator, tmp_path):
    X, y = waves
    y = y > 0 if isinstance(estimator, KernelClassifier) else y
    estimator.fit(X, y)
    path = tmp_path / "model.bochner"
    estimator.save(path)
    loaded = type(estimator).load(str(path))
    np.testing.assert_array_equal(outputs(loaded, X), outputs(estimator, X))
    for attribute in ["coef_", "intercept_", "lambda_", "cv_curve_", "degrees_of_freedom_", "kernel_", "n_features_in_"]:
        np.testing.assert_array_equal(getattr(loaded, attribute), getattr(estimator, attribute), err_msg=attribute)
    assert loaded.certificate_ == estimator.certificate_
    again = tmp_path / "again.bochner"
    loaded.save(again)
    assert again.read_bytes() == path.read_bytes()
    # What was loaded says how it was fitted: fitting again gives the same model.
    np.testing.assert_allclose(outputs(loaded.fit(X, y), X), outputs(estimator, X), rtol=1e-6, atol=1e-9)
    assert loaded.method == estimator.method or estimator.method == "auto"


def test_files_hold_the_names_of_columns(waves, tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = waves
    frame = pandas.DataFrame(X, columns=["a", "b", "ü"])
    model = KernelRegressor(n_components=32).fit(frame, pandas.Series(y, name="height"))
    model.save(tmp_path / "model.bochner")
    loaded = KernelRegressor.load(tmp_path / "model.bochner")
    assert loaded.feature_names_in_.tolist() == ["a", "b", "ü"]
    assert loaded._model.target == "height"
    np.testing.assert_array_equal(loaded.predict(frame), model.predict(frame))


def test_several_outputs_survive_a_file(waves, tmp_path):
    X, y = waves
    model = KernelRegressor(n_components=32).fit(X, np.stack([y, -y], axis=1))
    model.save(tmp_path / "model.bochner")
    np.testing.assert_array_equal(KernelRegressor.load(tmp_path / "model.bochner").predict(X), model.predict(X))


def test_equal_fits_give_equal_files(waves):
    X, y = waves
    one, two = (KernelRegressor(n_components=32).fit(X, y)._model.to_bytes() for _ in range(2))
    assert one == two


def test_files_that_are_none(waves, tmp_path):
    X, y = waves
    path = tmp_path / "model.bochner"
    with pytest.raises(FileNotFoundError) as missing:
        KernelRegressor.load(path)
    assert missing.value.filename == str(path)
    with pytest.raises(OSError):
        KernelRegressor(n_components=32).fit(X, y).save(tmp_path / "no" / "folder.bochner")
    KernelClassifier(n_components=32).fit(X, y > 0).save(path)
    with pytest.raises(ValueError, match="expected a file with a regression for KernelRegressor, found .* classification"):
        KernelRegressor.load(path)
    good = path.read_bytes()
    for bad in [b"", good[:7], good[:-1], good + b"\0", bytes([good[0] ^ 1]) + good[1:], good[:-9] + b"\xff" + good[-8:]]:
        path.write_bytes(bad)
        with pytest.raises(ValueError, match="not a usable model file"):
            KernelClassifier.load(path)
    with pytest.raises(ValueError, match="expected a map"):
        _core.Map.from_bytes(good)


def test_a_loaded_estimator_asks_for_what_was_asked(waves, tmp_path):
    X, y = np.round(waves[0]), waves[1]  # few distinct rows: landmarks of lower rank than asked for
    asked = KernelRegressor("gaussian(sigma=9)", n_components=60, method="landmarks", random_state=5).fit(X, y)
    assert asked.n_components_ < 60
    asked.save(tmp_path / "m.bochner")
    loaded = KernelRegressor.load(tmp_path / "m.bochner")
    assert loaded.n_components == 60 and loaded.n_components_ == asked.n_components_
    np.testing.assert_array_equal(loaded.fit(X, y).predict(X), asked.predict(X))
