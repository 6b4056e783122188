"""Data frames of any library: categories, texts, dates, booleans and missing cells, from fit to a file and back."""

import csv
import datetime
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import cross_val_score, train_test_split

import bochner
from bochner import (
    BinningFeatures,
    FourierFeatures,
    KernelClassifier,
    KernelMap,
    KernelRegressor,
    KernelRidge,
    KernelSVC,
    LandmarkFeatures,
    Lifting,
    RandomProjection,
    SketchFeatures,
)

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")

ROWS = 240
COLOURS = ["red", "green", "blue"]


@pytest.fixture
def columns(rng):
    """A column of each kind, all of which matter, with cells missing in two."""
    size = rng.normal(size=ROWS)
    size[::17] = np.nan
    colour = [None if i % 29 == 0 else COLOURS[k] for i, k in enumerate(rng.integers(3, size=ROWS))]
    start = datetime.datetime(2024, 1, 1)
    return {
        "size": size,
        "colour": colour,
        "fresh": rng.random(ROWS) < 0.5,
        "day": [start + datetime.timedelta(days=int(d), hours=int(d) % 24) for d in rng.integers(365, size=ROWS)],
        "count": rng.integers(10, size=ROWS),
    }


@pytest.fixture
def y(columns, rng):
    """A number that follows from colour, freshness, and the season, with noise."""
    colour = np.array([{"red": 2.0, "green": -1.0, "blue": 0.0, None: 4.0}[c] for c in columns["colour"]])
    month = np.array([day.month for day in columns["day"]])
    signal = colour + 1.5 * columns["fresh"] + np.cos(2 * np.pi * month / 12) + np.nan_to_num(columns["size"])
    return signal + 0.1 * rng.normal(size=ROWS)


#: How each library holds the same columns.
LIBRARIES = {
    "pandas": pandas.DataFrame,
    "pandas, categorical": lambda columns: pandas.DataFrame(columns).astype({"colour": "category"}),
    "pandas, nullable": lambda columns: pandas.DataFrame(columns).convert_dtypes(),
    "polars": lambda columns: polars.DataFrame({**columns, "size": columns["size"]}, nan_to_null=True),
    "polars, Categorical": lambda columns: polars.DataFrame(columns).with_columns(polars.col("colour").cast(polars.Categorical)),
    "polars, Enum": lambda columns: polars.DataFrame(columns).with_columns(polars.col("colour").cast(polars.Enum(COLOURS))),
    "pyarrow": pyarrow.table,
    "pyarrow, dictionary": lambda columns: pyarrow.table({**columns, "colour": pyarrow.array(columns["colour"]).dictionary_encode()}),
    "any stream": lambda columns: Stream(pyarrow.table(columns)),
}


class Stream:
    """Nothing but the protocol, in two batches."""

    def __init__(self, table):
        self._table = pyarrow.Table.from_batches(table.to_batches(max_chunksize=100))

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


def small(cls=KernelRegressor, **words):
    return cls("gaussian(sigma=2)", n_components=256, regularization=1e-3, metric="none", **words)


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_library_gives_one_model(library, columns, y):
    expected = small().fit(pandas.DataFrame(columns), y)
    frame = LIBRARIES[library](columns)
    model = small().fit(frame, y)
    assert model._model.to_bytes() == expected._model.to_bytes()
    np.testing.assert_array_equal(model.predict(frame), expected.predict(pandas.DataFrame(columns)))
    assert model.score(frame, y) > 0.9
    assert model.n_features_in_ == 5
    assert model.feature_names_in_.tolist() == list(columns)


ESTIMATORS = [
    small(),
    small(KernelClassifier),
    small(KernelClassifier, loss="logistic"),
    KernelSVC("gaussian(sigma=2)"),
    KernelSVC(),
    KernelRidge("gaussian(sigma=2)", alpha="cv"),
    KernelRidge(gamma="scale"),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_learners_survive_files_and_pickles(estimator, columns, y, tmp_path):
    y = np.where(y > 0, "up", "down") if hasattr(estimator, "decision_function") else y
    frame = pandas.DataFrame(columns)
    # Exact machines do not scale: of dates they would see nothing else.
    frame = frame if estimator.get_params().get("standardize") else frame.drop(columns="day")
    model = clone(estimator).fit(frame, y)
    path = tmp_path / "model.bochner"
    model.save(path)
    for again in (type(model).load(path), bochner.load(path), pickle.loads(pickle.dumps(model))):
        assert type(again) is type(model)
        np.testing.assert_array_equal(again.predict(frame), model.predict(frame))
        assert again.feature_names_in_.tolist() == list(frame.columns)
    assert model.score(frame, y) > 0.7


@pytest.mark.parametrize(
    "features",
    [
        FourierFeatures(gamma=0.1, random_state=0),
        FourierFeatures(gamma="scale", random_state=0),
        FourierFeatures(draw="independent", form="offset", random_state=0),
        KernelMap(random_state=0),
        KernelMap("gaussian(sigma=2)[count,size] + linear[colour]", random_state=0),
        KernelMap(tolerance=1e9, random_state=0),
        LandmarkFeatures(n_components=30, random_state=0),
        LandmarkFeatures(gamma="scale", n_components=30, random_state=0),
        SketchFeatures(random_state=0),
        RandomProjection(3, random_state=0),
        BinningFeatures(random_state=0),
        Lifting(weights="unit"),
    ],
    ids=str,
)
def test_transformers_take_frames(features, columns):
    frame = pandas.DataFrame(columns).drop(columns="day")
    Z = clone(features).fit_transform(frame)
    fitted = clone(features).fit(polars.from_pandas(frame))
    again = fitted.transform(frame[frame.columns[::-1]])
    pickled = pickle.loads(pickle.dumps(fitted)).transform(frame)
    for other in (again, pickled):
        assert Z.shape == other.shape == (ROWS, len(fitted.get_feature_names_out()))
        difference = Z - other
        assert abs(difference).max() == 0
    assert fitted.feature_names_in_.tolist() == list(frame.columns)
    assert fitted.n_features_in_ == 4


def test_products_of_encoded_columns_have_names(columns):
    frame = pandas.DataFrame({"n": columns["count"], "fresh": columns["fresh"]})
    names = Lifting(weights="unit").fit(frame).get_feature_names_out()
    assert names.tolist() == ["1", "n", "fresh", "n^2", "n fresh", "fresh^2"]


def test_columns_are_found_by_name(columns, y):
    frame = pandas.DataFrame(columns)
    model = small().fit(frame, y)
    expected = model.predict(frame)
    other = frame[frame.columns[::-1]].assign(more=[[1]] * ROWS)
    np.testing.assert_array_equal(model.predict(other), expected)
    with pytest.raises(ValueError, match='expected a column "colour", found'):
        model.predict(frame.drop(columns="colour"))


def test_the_index_is_no_column(columns, y):
    frame = pandas.DataFrame(columns)
    model = small().fit(frame, y)
    shuffled = frame.iloc[np.random.default_rng(0).permutation(ROWS)]
    again = small().fit(shuffled.rename_axis("key"), y[shuffled.index])
    assert again.feature_names_in_.tolist() == list(columns)
    np.testing.assert_array_equal(model.predict(shuffled), model.predict(frame)[shuffled.index])
    train, test, y_train, y_test = train_test_split(frame, y, random_state=0)
    assert small().fit(train, y_train).score(test, y_test) > 0.7
    assert cross_val_score(small(), frame, y, cv=3).mean() > 0.7


def test_new_levels_and_missing_cells_are_no_errors(columns, y):
    frame = pandas.DataFrame(columns)
    model = small().fit(frame, y)
    row = frame.iloc[[1]]
    assert np.isfinite(model.predict(row.assign(colour="violet"))).all()
    for name in columns:
        assert np.isfinite(model.predict(row.assign(**{name: None}))).all(), name
    # A missing colour was seen in the fit, and means something.
    assert model.predict(row.assign(colour=None)) - model.predict(row.assign(colour="green")) > 1.5


def test_cells_that_cannot_be_read_are_counted(columns, y):
    frame = pandas.DataFrame(columns)
    model = small().fit(frame, y)
    other = frame.assign(count=frame["count"].astype(str).where(frame.index != 3, "many"))
    with pytest.warns(UserWarning, match='column "count": 1 cell is not a number .*"many"'):
        predictions = model.predict(other)
    same = frame.index != 3
    np.testing.assert_array_equal(predictions[same], model.predict(frame)[same])


@pytest.mark.parametrize("types", [{"colour": "category"}, {"colour": object, "count": "int8"}, {"count": "float32", "fresh": "int64"}, {"count": str, "fresh": str}], ids=str)
def test_other_types_of_the_same_cells_predict_the_same(types, columns, y):
    frame = pandas.DataFrame(columns)
    model = small().fit(frame, y)
    np.testing.assert_array_equal(model.predict(frame.astype(types)), model.predict(frame))


def test_categories_of_numbers_are_categories(rng):
    code = rng.integers(4, size=ROWS)
    y = np.array([3.0, -2.0, 5.0, 0.0])[code]
    frame = pandas.DataFrame({"code": pandas.Categorical(code)})
    model = KernelRegressor("linear", metric="none").fit(frame, y)
    assert model.score(frame, y) > 0.999
    # Of numbers a linear kernel finds a slope alone.
    assert KernelRegressor("linear", metric="none").fit(frame.astype(int), y).score(frame.astype(int), y) < 0.5


def test_dates_are_moments_in_utc(rng):
    start = pandas.Timestamp("2024-01-01")
    day = pandas.Series([start + pandas.Timedelta(hours=int(h)) for h in rng.integers(24 * 300, size=ROWS)])
    y = np.sin(2 * np.pi * day.dt.hour / 24)
    frame = pandas.DataFrame({"day": day, "other": ["a", "b"] * (ROWS // 2)})
    model = KernelRegressor("gaussian(sigma=1)", n_components=256).fit(frame, y)
    assert model.score(frame, y) > 0.9
    expected = model.predict(frame)
    zoned = day.dt.tz_localize("UTC")
    for other in (zoned, zoned.dt.tz_convert("Asia/Tokyo"), day.astype("datetime64[s]"), day.astype(str)):
        np.testing.assert_array_equal(model.predict(frame.assign(day=other)), expected)
    days = KernelRegressor("gaussian(sigma=1)", n_components=256).fit(frame.assign(day=day.dt.date), y)
    assert days.score(frame.assign(day=day.dt.date), y) < 0.5


@pytest.mark.parametrize("library", [pandas.DataFrame, polars.DataFrame, pyarrow.table])
def test_texts_are_learnt_without_a_word(library, rng):
    words = ["good", "bad", "film", "plot", "actor", "scene"]
    texts = [" ".join(rng.choice(words, size=6)) for _ in range(300)]
    y = np.array([text.count("good") > text.count("bad") for text in texts])
    frame = library({"review": texts})
    model = KernelClassifier("linear", regularization=1e-4, solver="cg").fit(frame, y)
    assert model.score(frame, y) > 0.9
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(frame), model.predict(frame))


def test_kernels_of_texts_look_at_columns_of_frames(rng):
    dna = ["".join(rng.choice(list("ACGT"), size=20)) for _ in range(300)]
    y = np.array(["GA" in text for text in dna])
    frame = pandas.DataFrame({"dna": dna, "noise": rng.normal(size=300)})
    model = KernelClassifier("spectrum(k=2)[dna]", regularization=1e-4).fit(frame, y)
    assert model.score(frame, y) > 0.95
    with pytest.raises(ValueError, match="give a DataFrame"):
        KernelClassifier("spectrum(k=2)[dna]").fit(rng.normal(size=(300, 2)), y)


def test_what_tells_rows_apart_is_left_out(columns, y):
    frame = pandas.DataFrame(columns).assign(customer=[f"customer-{i}" for i in range(ROWS)], same="x")
    with pytest.warns(UserWarning) as warned:
        model = KernelRegressor("gaussian", n_components=64, regularization=1e-3, metric="none").fit(frame, y)
    said = " ".join(str(w.message) for w in warned)
    assert "column customer looks like an identifier and is left out" in said
    assert "column same does not vary and is left out" in said
    assert model.feature_names_in_.tolist() == [*columns, "customer", "same"]
    np.testing.assert_array_equal(model.predict(frame.assign(customer=None, same=1)), model.predict(frame))


def test_frames_of_numbers_are_arrays(waves):
    X, y = waves
    array = small().fit(X, y)
    table = pyarrow.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]})
    for frame in (pandas.DataFrame(X, columns=["a", "b", "c"]), polars.DataFrame(X, schema=["a", "b", "c"])):
        model = small().fit(frame, y)
        assert model.feature_names_in_.tolist() == ["a", "b", "c"]
        np.testing.assert_array_equal(model.predict(frame), array.predict(X))
        # As everywhere in scikit-learn, in the order of the fit.
        with pytest.raises(ValueError, match="feature names"):
            model.predict(frame[["c", "b", "a"]])
    # What is no array is read as files are: in single precision, columns by name.
    model = small().fit(table.to_reader(), y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(model.predict(table), array.predict(X), atol=1e-3)
    np.testing.assert_array_equal(model.predict(table.select(["c", "b", "a"]).to_reader()), model.predict(table))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_missing_numbers_in_arrays(dtype, waves):
    X, y = waves
    X = X.astype(dtype)
    y = np.where(np.arange(len(y)) % 7 == 0, 5.0, y)
    X[::7, 1] = np.nan
    X[:, 2] = 1.0
    model = small().fit(X, y)
    # That a number is missing says something.
    assert model.score(X, y) > 0.8
    assert model.predict(X).dtype == dtype
    assert model.n_features_in_ == 3 and not hasattr(model, "feature_names_in_")
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    filled = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    assert np.isfinite(model.predict(filled)).all()
    np.testing.assert_allclose(model.predict(sp.csr_array(filled)), model.predict(filled))
    with pytest.raises(ValueError, match="inf"):
        small().fit(np.where(np.isnan(X), np.inf, X), y)
    X[0, 0] = -np.inf
    with pytest.raises(ValueError, match="inf.* row 0"):
        small().fit(X, y)


def test_arrays_with_missing_numbers_survive_files(waves, tmp_path):
    X, y = waves
    X[::7, 1] = np.nan
    X[:, 2] = 1.0
    model = small().fit(X, y)
    model.save(tmp_path / "m.bochner")
    again = KernelRegressor.load(tmp_path / "m.bochner")
    assert again.n_features_in_ == 3 and not hasattr(again, "feature_names_in_")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    with pytest.raises(ValueError, match="3 features"):
        again.predict(X[:, :2])


def test_a_number_that_is_missing_for_the_first_time_is_the_mean(waves):
    X, y = waves
    model = small().fit(X, y)
    mean = X.copy()
    mean[:, 0] = X[:, 0].mean()
    gaps = X.copy()
    gaps[:, 0] = np.nan
    np.testing.assert_allclose(model.predict(gaps), model.predict(mean), rtol=1e-5, atol=1e-9)
    single = small().fit(X.astype(np.float32), y)
    assert single.predict(gaps.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(single.encode(gaps), single.encode(mean), atol=1e-6)
    plain = small(standardize=False).fit(X, y)
    with pytest.raises(ValueError, match="finite number, found NaN at row 0, column 0"):
        plain.predict(gaps)


def test_infinite_cells_of_frames_are_bounds(columns, y):
    frame = pandas.DataFrame(columns)
    frame.loc[5, "size"] = np.inf
    with pytest.warns(UserWarning, match='column "size": 1 cell is infinite'):
        model = small().fit(frame, y)
    largest = frame["size"][np.isfinite(frame["size"])].max()
    np.testing.assert_array_equal(model.predict(frame), model.predict(frame.replace(np.inf, largest)))


LABELS = {
    "strings": (["01234", "99", "01234"], None),
    "booleans": ([True, False, True], bool),
    "long": ([2**53 + 1, 2**53, 2**53 + 1], np.int64),
    "numbers": ([1.0, 2.0, 1.0], np.float64),
}
NULLABLE = {"strings": "string", "booleans": "boolean", "long": "Int64", "numbers": "Float64"}


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("series", ["list", "pandas", "nullable", "category", "polars", "pyarrow", "object", "dictionary"])
def test_classes_come_back_as_they_were(labels, series, tmp_path):
    values, dtype = LABELS[labels]
    frame = pandas.DataFrame({"x": ["a", "b", "a"] * 30, "z": np.arange(90.0)})
    y = values * 30
    of = {
        "list": list,
        "pandas": pandas.Series,
        "nullable": lambda y: pandas.Series(y, dtype=NULLABLE[labels]),
        "category": lambda y: pandas.Series(y, dtype="category"),
        "polars": polars.Series,
        "pyarrow": pyarrow.array,
        "object": lambda y: np.array(y, dtype=object),
        "dictionary": lambda y: pyarrow.array(y).dictionary_encode(),
    }
    model = small(KernelClassifier).fit(frame, of[series](y))
    model.save(tmp_path / "m.bochner")
    for found in (model, KernelClassifier.load(tmp_path / "m.bochner")):
        predicted = found.predict(frame)
        assert predicted.tolist() == y
        assert dtype is None or predicted.dtype == dtype


def test_weights_stand_beside_a_frame(columns, y, rng):
    frame = pandas.DataFrame(columns)
    weights = rng.integers(3, size=ROWS)
    weighted = small().fit(frame, y, sample_weight=weights.astype(float))
    repeated = small().fit(frame.loc[frame.index.repeat(weights)], np.repeat(y, weights))
    np.testing.assert_allclose(weighted.predict(frame), repeated.predict(frame), rtol=1e-4, atol=1e-4)
    with pytest.raises(ValueError):
        small().fit(frame, y, sample_weight=weights[1:])
    with pytest.raises(ValueError, match="inconsistent"):
        small().fit(frame, y[1:])


def test_many_outputs_and_intervals_of_a_frame(columns, y):
    frame = pandas.DataFrame(columns)
    Y = np.stack([y, -y], axis=1)
    model = small(deviation=True, held_out=0.3).fit(frame, Y)
    predictions, deviations = model.predict(frame, return_std=True)
    lower, upper = model.predict_interval(frame)
    assert predictions.shape == deviations.shape == lower.shape == Y.shape
    assert (lower < upper).all() and np.mean((lower <= Y) & (Y <= upper)) > 0.8
    classes = np.digitize(y, [0, 1.5])
    sets = small(KernelClassifier, loss="logistic", held_out=0.3).fit(frame, classes).predict_set(frame)
    assert np.mean(sets[np.arange(ROWS), classes]) > 0.8


def test_encoded_rows_and_plans_of_a_frame(columns, y):
    frame = pandas.DataFrame(columns)
    model = small().fit(frame, y)
    encoded = model.encode(frame)
    # size and whether it is missing, three colours and none, fresh, the day with three circles, count
    assert encoded.shape == (ROWS, 2 + 4 + 1 + 7 + 1)
    outlook = small().plan(frame, y)
    least, most = outlook.seconds
    assert 0 < least <= most and outlook.peak_bytes > ROWS * 15 * 4
    words = pandas.DataFrame({"t": ["the cat sat", "on the mat", "and slept well"] * 40})
    assert sp.issparse(small().fit(words, y[:120]).encode(words))


def test_what_cannot_be_read_is_refused_by_name(columns, y):
    lists = polars.DataFrame({"x": [1.0, 2.0], "tags": [["a"], ["b"]]})
    with pytest.raises(ValueError, match="tags"):
        small().fit(lists, [1.0, 2.0])
    with pytest.raises(ValueError, match="DataFrame"):
        small().fit(np.array([["a", "b"], ["c", "d"]], dtype=object), [1.0, 2.0])
    with pytest.raises(ValueError, match="0 sample"):
        small().fit(pandas.DataFrame({"x": []}, dtype=object), [])
    class Wrong:
        def __arrow_c_stream__(self, requested_schema=None):
            return 7

    with pytest.raises(TypeError, match="capsule"):
        small().fit(Wrong(), [1.0])
    with pytest.raises(ValueError, match="table"):
        small().fit(pyarrow.chunked_array([["a", "b"]]), [1.0, 2.0])


def test_a_failed_fit_keeps_the_last(columns, y):
    frame = pandas.DataFrame(columns)
    model = small().fit(frame, y)
    with pytest.raises(ValueError):
        model.fit(frame[["colour"]], np.full(ROWS, np.nan))
    assert model.feature_names_in_.tolist() == list(columns)
    model.fit(np.arange(2.0 * ROWS).reshape(ROWS, 2), y)
    assert model.n_features_in_ == 2 and not hasattr(model, "feature_names_in_")


def command(*arguments):
    words = [sys.executable, "-m", "bochner", *map(str, arguments)]
    result = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.fixture
def written(columns, y, tmp_path):
    """The columns, a text, and classes, in a frame and in a file."""
    rng = np.random.default_rng(3)
    texts = [" ".join(rng.choice(["old", "new", "used", "rare"], size=5)) for _ in range(ROWS)]
    frame = pandas.DataFrame(columns).assign(text=texts)
    label = pandas.Series(np.where(y > 0, "01", "02"), name="label")
    path = tmp_path / "data.csv"
    frame.assign(label=label).to_csv(path, index=False)
    return frame, label, path


def test_a_model_of_the_command_line_predicts_of_a_frame(written, tmp_path):
    frame, _, data = written
    path = tmp_path / "model.bochner"
    command("fit", data, "--target", "label", "--features", 64, "-q", "-o", path)
    model = bochner.load(path)
    assert isinstance(model, KernelClassifier) and model.classes_.tolist() == ["01", "02"]
    table = list(csv.DictReader(command("predict", path, data, "--scores").splitlines()))
    for library in (pandas.DataFrame, polars.from_pandas, pyarrow.Table.from_pandas):
        assert model.predict(library(frame)).tolist() == [row["label"] for row in table]
        scores = np.array([float(row["score_02"]) for row in table])
        np.testing.assert_array_equal(model.decision_function(library(frame)), scores)


def test_frame_and_file_give_one_model(written, tmp_path):
    frame, label, data = written
    path = tmp_path / "model.bochner"
    command("fit", data, "--target", "label", "--features", 64, "--kernel", "gaussian(sigma=2)", "--metric", "none", "-q", "-o", path)
    model = KernelClassifier("gaussian(sigma=2)", n_components=64, metric="none").fit(frame, label)
    assert model._model.to_bytes() == path.read_bytes()


def test_a_model_of_a_frame_predicts_on_the_command_line(written, tmp_path):
    frame, label, data = written
    path = tmp_path / "model.bochner"
    model = small(KernelClassifier).fit(frame, label)
    model.save(path)
    table = list(csv.DictReader(command("predict", path, data).splitlines()))
    assert model.predict(frame).tolist() == [row["label"] for row in table]


def warnings_of(work):
    """What is said while something is done, in one text."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        work()
    return "\n".join(str(warning.message) for warning in caught)


def test_cells_that_cannot_be_read_are_counted_in_a_fit(columns, y):
    frame = pandas.DataFrame(columns)
    frame["count"] = frame["count"].astype(str).where(frame.index % 20 != 3, "many")
    # pyarrow's dates reach further than ours.
    frame["then"] = pandas.arrays.ArrowExtensionArray(pyarrow.array([2**61 if i == 7 else i * 10**6 for i in range(ROWS)], pyarrow.timestamp("us")))
    for estimator in (small(), KernelRidge(gamma="scale")):
        said = warnings_of(lambda: estimator.fit(frame, y))
        assert said.count('column "count": 12 cells are not a number (first: row 4, "many"); taken as missing') == 1
        assert said.count('column "then": 1 cell is not a date') == 1


def test_a_column_that_tells_the_target_is_pointed_at(columns, y):
    frame = pandas.DataFrame(columns)
    target = pandas.Series(y, name="count")  # as a column is called, too
    classes = np.where(y > 0, "up", "down")
    numbers = frame[["size", "count"]].fillna(0.0)
    for leaky, of in [
        (frame.assign(leak=3 * y), target),
        (frame.assign(leak=classes), classes),
        (frame.assign(leak=3 * y), np.where(np.arange(ROWS) % 9, y, np.nan)),
        # A frame of numbers alone is an array, but not in this.
        (numbers.assign(leak=3 * y), target),
        (numbers.assign(leak=3 * y), y),
        (polars.from_pandas(numbers.assign(leak=3 * y)), y),
    ]:
        estimator = small(KernelClassifier if of is classes else KernelRegressor)
        said = warnings_of(lambda: estimator.fit(leaky, of))
        assert said.count('column "leak" alone predicts') == 1, said
        assert said.count("alone predicts") == 1, said
    assert "alone" not in warnings_of(lambda: small().fit(frame, y))
    assert "alone" not in warnings_of(lambda: small().fit(numbers, y))
    many = warnings_of(lambda: small(KernelClassifier).fit(frame, np.arange(ROWS) // 2 * 2 + np.arange(ROWS) % 3))
    assert "classes in 240 rows: is it the right column?" in many


@pytest.mark.parametrize("scaling", ["quantile", "robust"])
def test_columns_are_scaled_as_said(scaling, columns, y, tmp_path):
    frame = pandas.DataFrame(columns)
    frame.loc[5, "size"] = 1e9
    X = np.exp(frame[["size", "count"]].fillna(0.0).clip(upper=5).to_numpy())
    for rows in (frame, X, X.astype(np.float32), pandas.DataFrame(X, columns=["a", "b"])):
        said = warnings_of(lambda: clone(small(scaling=scaling)).fit(rows, y))
        assert "far beyond" not in said
        model = clone(small(scaling=scaling)).fit(rows, y)
        assert model.get_params()["scaling"] == scaling
        encoded = model.encode(rows)
        # The first column: the largest by far is no outlier any more.
        assert np.abs(encoded[:, 0]).max() < (20 if scaling == "robust" else 3)
        assert abs(encoded[:, 0].mean()) < 0.1
        model.save(tmp_path / "m.bochner")
        again = KernelRegressor.load(tmp_path / "m.bochner")
        assert again.scaling == scaling
        np.testing.assert_array_equal(again.predict(rows), model.predict(rows))
        difference = model.predict(rows) - small().fit(rows, y).predict(rows)
        assert np.abs(difference).max() > 0.01
    with pytest.raises(ValueError, match="dense"):
        small(scaling=scaling).fit(sp.csr_array(X), y)
    with pytest.raises(ValueError, match="standardize=False"):
        small(scaling=scaling, standardize=False).fit(X, y)


def test_columns_of_several_types_are_texts(columns, y):
    frame = pandas.DataFrame(columns)
    model = small().fit(frame, y)
    mixed = frame.assign(count=frame["count"].astype(object), colour=frame["colour"].where(frame.index != 1, 7))
    mixed.loc[2, "count"] = str(frame.loc[2, "count"])
    expected = frame.assign(colour=frame["colour"].where(frame.index != 1, "7"))
    np.testing.assert_array_equal(model.predict(mixed), model.predict(expected))
    assert mixed.loc[1, "colour"] == 7
    with pytest.raises(ValueError, match="tags"):
        small().fit(frame.assign(tags=[[1]] * ROWS), y)


def test_names_like_those_of_arrays_are_names(waves, tmp_path):
    X, y = waves
    names = ["x0", "x1", "x2"]
    frame = pandas.DataFrame(X, columns=names)
    model = small().fit(frame, y)
    model.save(tmp_path / "m.bochner")
    again = KernelRegressor.load(tmp_path / "m.bochner")
    for other in (frame, frame[names[::-1]], polars.from_pandas(frame)[names[::-1]], frame.assign(more=1.0)[["more", *names[::-1]]]):
        np.testing.assert_allclose(again.predict(other), model.predict(frame), rtol=1e-12)
    np.testing.assert_allclose(again.predict(X), model.predict(frame), rtol=1e-12)


@pytest.mark.parametrize("estimator", [small(), small(KernelClassifier), KernelSVC(), KernelRidge("gaussian(sigma=2)", alpha="cv"), KernelRidge(gamma="scale")], ids=str)
@pytest.mark.parametrize("kind", ["numbers", "mixed"])
def test_rows_of_a_frame_may_lack_a_target(estimator, kind, columns, y):
    frame = pandas.DataFrame(columns).drop(columns="day")
    frame = frame[["count"]].assign(size=frame["size"].fillna(0.0)) if kind == "numbers" else frame
    present = np.arange(ROWS) % 7 > 0
    of = np.where(y > 0, "up", "down").astype(object) if hasattr(estimator, "decision_function") else y
    of = pandas.Series(of, name="what").where(present)
    weights = np.where(np.arange(ROWS) % 2, 1.0, 2.0)
    for weight in (None, weights):
        with pytest.warns(UserWarning, match='35 rows have no "what" and are left out'):
            model = clone(estimator).fit(frame, of, sample_weight=weight)
        expected = clone(estimator).fit(frame[present], of[present], sample_weight=None if weight is None else weight[present])
        if hasattr(estimator, "decision_function"):
            np.testing.assert_allclose(model.decision_function(frame), expected.decision_function(frame), rtol=1e-5, atol=1e-6)
        else:
            np.testing.assert_allclose(model.predict(frame), expected.predict(frame), rtol=1e-5, atol=1e-6)
            assert getattr(model, "alpha_", None) == pytest.approx(getattr(expected, "alpha_", None))
    # Arrays have no room for remarks.
    with pytest.raises(ValueError, match="NaN"):
        clone(estimator).fit(np.arange(2.0 * ROWS).reshape(ROWS, 2), np.where(present, y, np.nan))


def test_rows_of_a_group_share_a_fold(rng, tmp_path):
    patient = np.repeat(np.arange(40), 8)
    level = rng.normal(size=40)[patient]
    frame = pandas.DataFrame({"x": rng.normal(size=40)[patient] + 1e-3 * rng.normal(size=320), "z": rng.normal(size=320)})
    y = pandas.Series(level + 0.1 * frame["z"], name="y")
    kernel = {"kernel": "gaussian(sigma=0.05)[x]", "method": "landmarks", "n_components": 160}
    grouped = frame.assign(patient=[f"p{i}" for i in patient])
    error = {}
    for name, model in {
        "mixed": KernelRegressor(**kernel).fit(frame, y),
        "grouped": KernelRegressor(**kernel).fit(grouped, y, group="patient"),
        "numbers": KernelRegressor(**kernel).fit(frame.assign(patient=patient), y, group="patient"),
    }.items():
        error[name] = model.cv_curve_[:, 1].min() / y.var()
    assert error["mixed"] < 0.5 and error["grouped"] > 0.7 and error["numbers"] > 0.7
    # As of files, and the column is not needed again.
    grouped.assign(y=y).to_csv(tmp_path / "data.csv", index=False)
    of_file = KernelRegressor(**kernel).fit_file(tmp_path / "data.csv", "y", group="patient")
    model = KernelRegressor(**kernel).fit(grouped, y, group="patient")
    assert model._model.to_bytes() == of_file._model.to_bytes()
    assert np.isfinite(model.predict(frame)).all()
    with pytest.raises(ValueError, match="data frame with the column of groups"):
        KernelRegressor(**kernel).fit(frame.to_numpy(), y, group="patient")
    with pytest.raises(ValueError, match='expected a column "who"'):
        KernelClassifier().fit(grouped, y > 0, group="who")
