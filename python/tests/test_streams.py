"""Streams that hand over their rows once: held in memory while they are short, in an unnamed file where they are long."""

import os
import sqlite3
import tempfile

import numpy as np
import pytest
from sklearn.base import clone

from bochner import KernelClassifier, KernelRegressor, LandmarkFeatures, _frames

pyarrow = pytest.importorskip("pyarrow")
polars = pytest.importorskip("polars")

ROWS = 3000
BATCH = 700


@pytest.fixture
def table(rng):
    words = np.array(["old", "new", "used", "rare", "mint"])
    colour = rng.integers(3, size=ROWS)
    return pyarrow.table(
        {
            "size": pyarrow.array(rng.normal(size=ROWS), mask=rng.random(ROWS) < 0.1),
            "colour": pyarrow.array(np.array(["red", "green", "blue"])[colour]).dictionary_encode(),
            "text": [" ".join(words[rng.integers(5, size=4)]) for _ in range(ROWS)],
            "day": pyarrow.array(rng.integers(0, 10**9, size=ROWS), pyarrow.timestamp("s", tz="Asia/Tokyo")),
            "count": pyarrow.array(rng.integers(100, size=ROWS), pyarrow.int16()),
            "tags": pyarrow.array([["a"], []] * (ROWS // 2)),
        }
    )


@pytest.fixture
def y(table):
    size = np.nan_to_num(table["size"].to_numpy())
    return size + (np.array(table["colour"].to_pylist()) == "red")


@pytest.fixture(params=[None, 50_000], ids=["held", "in a file"])
def most(request, monkeypatch):
    """Bytes that are held in memory."""
    monkeypatch.setattr(_frames, "HELD_BYTES", request.param)
    return request.param


def once(table):
    """A reader whose batches are made when they are asked for, by Python."""
    return pyarrow.RecordBatchReader.from_batches(table.schema, iter(table.to_batches(max_chunksize=BATCH)))


def small(cls=KernelRegressor, **words):
    return cls("gaussian(sigma=2)", n_components=32, regularization=1e-3, metric="none", **words)


def test_a_stream_is_read_once_and_makes_the_model_of_its_table(table, y, most):
    table = table.drop_columns("tags")
    expected = small().fit(table, y)
    model = small().fit(once(table), y)
    assert model._model.to_bytes() == expected._model.to_bytes()
    assert model.feature_names_in_.tolist() == table.column_names
    predictions = expected.predict(table)
    np.testing.assert_array_equal(model.predict(once(table)), predictions)
    np.testing.assert_array_equal(model.predict(once(table.select(table.column_names[::-1]))), predictions)
    assert model.score(once(table), y) > 0.4


def test_methods_read_a_stream_once(table, y, most):
    table = table.drop_columns("tags")
    model = small(deviation=True, held_out=0.2).fit(once(table), y)
    for method, words in [("predict", {"return_std": True}), ("predict_interval", {}), ("encode", {})]:
        ours, theirs = getattr(model, method)(once(table), **words), getattr(model, method)(table, **words)
        for a, b in zip(ours, theirs, strict=True) if isinstance(ours, tuple) else [(ours.toarray(), theirs.toarray())]:
            np.testing.assert_array_equal(a, b)
    classes = small(KernelClassifier, loss="logistic").fit(once(table), y > 0.5)
    np.testing.assert_array_equal(classes.predict_proba(once(table)), classes.predict_proba(table))
    table = table.drop_columns("text")
    features = LandmarkFeatures(gamma=0.1, n_components=20, random_state=0)
    np.testing.assert_array_equal(clone(features).fit(once(table)).transform(once(table)), features.fit(table).transform(table))


def test_a_stream_of_numbers(rng, most):
    table = pyarrow.table({"a": rng.normal(size=ROWS), "b": rng.normal(size=ROWS)})
    y = table["a"].to_numpy()
    expected = small().fit(table.to_pandas(), y)  # an array, in double precision
    model = small().fit(once(table), y)
    np.testing.assert_allclose(model.predict(once(table)), expected.predict(table.to_pandas()), atol=1e-3)
    np.testing.assert_array_equal(model.predict(once(table)), model.predict(table))


def test_columns_that_nobody_looks_at_are_not_kept(table, y, most):
    with pytest.raises(ValueError, match="tags.*list"):
        small().fit(once(table), y)
    model = small().fit(once(table.drop_columns("tags")), y)
    np.testing.assert_array_equal(model.predict(once(table)), model.predict(table))
    with pytest.raises(ValueError, match='"colour"'):
        model.predict(once(table.drop_columns("colour")))


def test_dictionaries_may_change_from_batch_to_batch(y, most):
    schema = pyarrow.schema({"colour": pyarrow.dictionary(pyarrow.int32(), pyarrow.string()), "x": pyarrow.float64()})

    def batches():
        for start in range(0, ROWS, 500):
            names = [f"c{(start // 500 + i) % 5}" for i in range(5)]
            colour = pyarrow.DictionaryArray.from_arrays(np.arange(500, dtype="i4") % 5, names)
            yield pyarrow.record_batch([colour, pyarrow.array(y[start : start + 500])], schema=schema)

    model = small().fit(pyarrow.RecordBatchReader.from_batches(schema, batches()), y)
    plain = pyarrow.Table.from_batches(list(batches())).to_pandas().astype({"colour": str})
    np.testing.assert_array_equal(model.predict(pyarrow.RecordBatchReader.from_batches(schema, batches())), model.predict(plain))


def test_what_goes_wrong_in_a_stream_is_said(table, y, most):
    def broken():
        yield from table.to_batches(max_chunksize=BATCH)[:2]
        raise RuntimeError("the source is gone")

    reader = pyarrow.RecordBatchReader.from_batches(table.schema, broken())
    with pytest.raises(ValueError, match="the source is gone"):
        small().fit(reader, y)
    used = once(table.drop_columns("tags"))
    small().fit(used, y)
    with pytest.raises(ValueError):  # nothing is left of it
        small().fit(used, y)


def test_ctrl_c_ends_a_stream(table, y, most):
    import _thread

    def endless():
        while True:
            yield table.to_batches(max_chunksize=BATCH)[0]
            _thread.interrupt_main()

    with pytest.raises(KeyboardInterrupt):
        small().fit(pyarrow.RecordBatchReader.from_batches(table.schema, endless()), y)


def test_a_stream_is_read_on_the_thread_that_gives_it(most, y):
    """SQLite's connections, for one, want that."""
    connection = sqlite3.connect(":memory:")
    connection.execute("create table t (a real, b text)")
    connection.executemany("insert into t values (?, ?)", [(i, f"w{i % 3}") for i in range(ROWS)])
    schema = pyarrow.schema({"a": pyarrow.float64(), "b": pyarrow.string()})

    def batches():
        cursor = connection.execute("select a, b from t")
        while rows := cursor.fetchmany(BATCH):
            a, b = zip(*rows, strict=True)
            yield pyarrow.record_batch([pyarrow.array(a), pyarrow.array(b)], schema=schema)

    model = small().fit(pyarrow.RecordBatchReader.from_batches(schema, batches()), y)
    assert model.n_features_in_ == 2


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="open files are looked at in /proc")
def test_the_file_has_no_name_and_is_gone_after_the_fit(table, y, monkeypatch, tmp_path):
    monkeypatch.setattr(_frames, "HELD_BYTES", 1000)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)

    def unnamed():
        links = [os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if os.path.islink(f"/proc/self/fd/{fd}")]
        return [link for link in links if link.startswith(str(tmp_path))]

    seen = []

    def batches():
        for batch in table.drop_columns("tags").to_batches(max_chunksize=BATCH):
            seen.append((unnamed(), os.listdir(tmp_path)))
            yield batch

    schema = table.drop_columns("tags").schema
    small().fit(pyarrow.RecordBatchReader.from_batches(schema, batches()), y)
    assert len(seen[-1][0]) == 1 and all(listed == [] for _, listed in seen)
    assert unnamed() == []


def test_polars_streams(table, y, most):
    frame = polars.from_arrow(table.drop_columns("tags"))
    np.testing.assert_array_equal(small().fit(frame, y).predict(frame), small().fit(table.drop_columns("tags"), y).predict(table))
