"""Estimators of data frames inside scikit-learn's searches, pipelines and validations, and what survives copies of them."""

import pickle

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.inspection import permutation_importance
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from bochner import KernelClassifier, KernelMap, KernelRegressor

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pytest.importorskip("pyarrow")

ROWS = 200
COLUMNS = ["size", "colour", "note", "fresh"]


@pytest.fixture
def frame(rng):
    size = rng.normal(size=ROWS)
    size[::11] = np.nan
    return pandas.DataFrame(
        {
            "size": size,
            "colour": rng.choice(["red", "green", "blue"], size=ROWS),
            "note": [" ".join(rng.choice(["old", "new", "used"], size=4)) for _ in range(ROWS)],
            "fresh": rng.random(ROWS) < 0.5,
        }
    )


@pytest.fixture
def y(frame):
    return (3 * (frame["colour"] == "red") + frame["size"].fillna(0)).rename("price")


def small(cls=KernelRegressor, **words):
    return cls("gaussian(sigma=2)", n_components=256, regularization=1e-3, metric="none", **words)


@pytest.mark.parametrize("library", [lambda frame: frame, polars.from_pandas], ids=["pandas", "polars"])
def test_searches_and_validations(library, frame, y):
    X = library(frame)
    search = GridSearchCV(small(), {"kernel": ["gaussian(sigma=2)", "gaussian(sigma=0.01)"]}, cv=3).fit(X, y)
    assert search.best_params_ == {"kernel": "gaussian(sigma=2)"} and search.best_score_ > 0.6
    assert cross_val_score(small(KernelClassifier), X, y > 1, cv=3).mean() > 0.8
    assert cross_val_predict(small(), X, y, cv=3).shape == (ROWS,)


def test_pipelines_and_column_transformers(frame, y):
    scaled = ColumnTransformer(
        [("numbers", StandardScaler(), ["size"]), ("levels", OneHotEncoder(), ["colour"])], remainder="passthrough", verbose_feature_names_out=False
    )
    model = make_pipeline(scaled, small())
    # Before what knows no texts, as arrays; after what keeps frames, as frames.
    with pytest.raises(ValueError, match="DataFrame"):
        model.fit(frame, y)
    assert make_pipeline(FunctionTransformer(), small()).fit(frame, y).score(frame, y) > 0.8
    parts = ColumnTransformer(
        [
            ("words", KernelMap("gaussian(sigma=1)", n_components=16, random_state=0), ["note"]),
            ("others", KernelMap("gaussian(sigma=1)", n_components=64, random_state=0), make_column_selector(pattern="size|colour")),
        ]
    )
    model = make_pipeline(parts, KernelRegressor("linear", regularization=1e-3, metric="none")).fit(frame, y)
    assert model.score(frame, y) > 0.8
    assert len(parts.fit(frame).get_feature_names_out()) == parts.transform(frame).shape[1]


def test_set_output_keeps_frames_inside_a_pipeline(frame, y):
    keep = ColumnTransformer([("keep", "passthrough", ["colour", "size"])], verbose_feature_names_out=False).set_output(transform="pandas")
    model = make_pipeline(keep, small()).fit(frame, y)
    assert model[-1].feature_names_in_.tolist() == ["colour", "size"]
    assert model.score(frame, y) > 0.8


def test_importances_of_columns(frame, y):
    model = small().fit(frame, y)
    found = permutation_importance(model, frame, y, n_repeats=2, random_state=0).importances_mean
    assert np.argsort(found)[-2:].tolist() == [0, 1] or np.argsort(found)[-2:].tolist() == [1, 0]
    learnt = KernelRegressor("gaussian(sigma=2)", n_components=64, regularization=1e-3, metric="diagonal").fit(frame.drop(columns="note"), y)
    names = learnt.encoded_names_
    assert len(names) == len(learnt.feature_importances_) and "colour=red" in names and "size is missing" in names
    assert set(names[i] for i in np.argsort(learnt.feature_importances_)[-4:]) & {"size", "colour=red"}


@pytest.mark.parametrize("cls", [KernelRegressor, KernelClassifier])
def test_copies_of_models_of_frames(cls, frame, y, tmp_path):
    y = y if cls is KernelRegressor else y > 1
    model = small(cls).fit(frame, y)
    expected = model.predict(frame)
    joblib.dump(model, tmp_path / "m.joblib")
    for again in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "m.joblib"), clone(model).fit(frame, y)):
        np.testing.assert_array_equal(again.predict(frame), expected)
        assert again.feature_names_in_.tolist() == COLUMNS
        np.testing.assert_array_equal(again.predict(frame[COLUMNS[::-1]]), expected)
    assert not hasattr(clone(model), "feature_names_in_")
    refitted = model.fit(frame[["size"]], y)
    with pytest.raises(ValueError, match='expected a column "size"'):
        refitted.predict(frame[["size"]].rename(columns={"size": "Size"}))
