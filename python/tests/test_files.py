"""Files, data frames and the command line make one model of one table, byte for byte, and predict the same from it."""

import csv
import subprocess
import sys

import numpy as np
import pytest

import bochner
from bochner import KernelClassifier, KernelRegressor

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")

ROWS = 300

#: What is not searched for, where the search is not the point; as the estimators and as the command line say it.
FIXED = {"kernel": "gaussian(sigma=2)", "n_components": 64, "regularization": 1e-3, "metric": "none"}
OPTIONS = ["--kernel", "gaussian(sigma=2)", "--features", 64, "--lambda", 1e-3, "--metric", "none"]


def command(*arguments):
    words = [sys.executable, "-m", "bochner", *map(str, arguments)]
    result = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    return result.stdout


def bytes_of(model):
    return model._model.to_bytes()


@pytest.fixture
def table(rng):
    """A column of each kind, a category of many levels, cells missing, and all columns a target could be."""
    size = rng.normal(size=ROWS).round(3)
    size[::17] = np.nan
    city = rng.integers(60, size=ROWS)
    day = pandas.Timestamp("2024-01-01") + pandas.to_timedelta(rng.integers(0, 9000, size=ROWS), unit="h")
    colour = np.array(["red", "green", None], dtype=object)[rng.integers(3, size=ROWS)]
    signal = np.nan_to_num(size) + 2.0 * (colour == "red") + (city % 5) + 0.1 * rng.normal(size=ROWS)
    return pandas.DataFrame(
        {
            "size": size,
            "colour": colour,
            "fresh": rng.random(ROWS) < 0.5,
            "day": day,
            "count": rng.integers(10, size=ROWS),
            "city": [f"city {i}" for i in city],
            "text": [" ".join(rng.choice(["old", "new", "used", "rare"], size=5)) for _ in range(ROWS)],
            "weight": rng.integers(1, 4, size=ROWS).astype(float),
            "y": signal.round(4),
        }
    )


TARGETS = {
    "number": lambda y: y,
    "whole": lambda y: y.round().astype(int),
    "strings": lambda y: pandas.Series(np.where(y > 2, "up", "down")),
    "codes": lambda y: pandas.Series(np.where(y > 2, "01234", "99999")),
    "booleans": lambda y: y > 2,
    "floats": lambda y: pandas.Series(np.digitize(y, [1, 3]).astype(float)),
    "integers": lambda y: pandas.Series(np.digitize(y, [1, 3])),
}


@pytest.mark.parametrize("target", TARGETS)
def test_one_table_makes_one_model(target, table, tmp_path):
    table["y"] = TARGETS[target](table["y"])
    is_number = target in ("number", "whole")
    data, path = tmp_path / "data.csv", tmp_path / "model.bochner"
    table.to_csv(data, index=False)
    task = "regression" if is_number else "classification"
    command("fit", data, "--target", "y", "--weight", "weight", "--task", task, *OPTIONS, "-q", "-o", path)
    cls = KernelRegressor if is_number else KernelClassifier
    of_file = cls(**FIXED).fit_file(data, "y", weight="weight")
    assert bytes_of(of_file) == path.read_bytes()
    X, y = table.drop(columns=["y", "weight"]), table["y"]
    of_frame = cls(**FIXED).fit(X, y, sample_weight=table["weight"])
    assert bytes_of(of_frame) == path.read_bytes()
    of_polars = cls(**FIXED).fit(polars.from_pandas(X), y, sample_weight=table["weight"])
    assert bytes_of(of_polars) == path.read_bytes()

    # Labels and numbers come back as they were, and as the command line prints them.
    printed = [row["y"] for row in csv.DictReader(command("predict", path, data).splitlines())]
    loaded = bochner.load(path)
    assert type(loaded) is cls and loaded.get_params()["n_components"] == 64
    for model in (of_file, of_frame, loaded):
        for rows in (X, polars.from_pandas(X), pyarrow.Table.from_pandas(X).select(["text", *X.columns[:-1]])):
            found = model.predict(rows)
            assert found.dtype.kind in {"object": "OU", "str": "OU"}.get(str(y.dtype), "f" if is_number else y.dtype.kind)
            assert ([float(p) for p in printed] if is_number else printed) == (found.tolist() if is_number else [str(c) for c in found])
        np.testing.assert_array_equal(model.predict_file(data), model.predict(X))
    assert of_frame.score(X, y) > 0.5


def test_a_table_of_numbers_makes_one_model(waves, tmp_path):
    X, y = waves
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    data, path = tmp_path / "data.csv", tmp_path / "model.bochner"
    frame.assign(y=y).to_csv(data, index=False)
    command("fit", data, "--target", "y", *OPTIONS, "--seed", 5, "-q", "-o", path)
    assert bytes_of(KernelRegressor(**FIXED, random_state=5).fit_file(data, "y")) == path.read_bytes()
    assert bytes_of(KernelRegressor(**FIXED, random_state=6).fit_file(data, "y")) != path.read_bytes()
    # A frame of numbers alone is an array, which is learned from in its own precision.
    of_frame = KernelRegressor(**FIXED, random_state=5).fit(frame, y)
    np.testing.assert_allclose(of_frame.predict(frame), bochner.load(path).predict(frame), atol=1e-3)


def test_a_search_finds_one_model(table, tmp_path):
    data, path = tmp_path / "data.csv", tmp_path / "model.bochner"
    table = table[["size", "colour", "city", "y"]]
    table.to_csv(data, index=False)
    command("fit", data, "--target", "y", "--kernel", "gaussian", "--features", 64, "-q", "-o", path)
    search = KernelRegressor("gaussian", n_components=64)
    assert bytes_of(search.fit(table.drop(columns="y"), table["y"])) == path.read_bytes()
    assert bytes_of(search.fit_file(data, "y")) == path.read_bytes()


@pytest.mark.parametrize("cls", [KernelRegressor, KernelClassifier])
def test_rows_without_a_target_are_left_out_and_counted(cls, table, tmp_path):
    y = table["y"] if cls is KernelRegressor else pandas.Series(np.where(table["y"] > 2, "up", "down"), name="y").astype(object)
    y[::7] = np.nan if cls is KernelRegressor else None
    X = table.drop(columns=["y", "weight"])
    data = tmp_path / "data.csv"
    X.assign(y=y).to_csv(data, index=False)
    with pytest.warns(UserWarning, match='43 rows have no "y" and are left out'):
        of_file = cls(**FIXED).fit_file(data, "y")
    forms = [y, y.tolist(), y.to_numpy(), polars.Series("y", y.tolist(), nan_to_null=True), pyarrow.array(y, from_pandas=True)]
    if cls is KernelClassifier:
        forms.append(y.astype("category"))
    for form in forms:
        with pytest.warns(UserWarning, match="43 rows have no .* and are left out"):
            of_frame = cls(**FIXED).fit(X, form)
        assert (bytes_of(of_frame) == bytes_of(of_file)) == (getattr(form, "name", None) == "y")
        np.testing.assert_array_equal(of_frame.predict(X), of_file.predict(X))
    # As if they were not there.
    present = y.notna()
    without = cls(**FIXED).fit(X[present], y[present])
    assert without.score(X[present], y[present]) == pytest.approx(of_file.score(X[present], y[present]), abs=1e-3)
    # An array has no room for remarks: scikit-learn's own error.
    with pytest.raises(ValueError, match="NaN"):
        cls(**FIXED).fit(table[["count", "weight"]].to_numpy(), np.where(np.arange(ROWS) % 7, 1.0, np.nan))
    with pytest.raises(ValueError):
        cls(**FIXED).fit(X, np.full(ROWS, np.nan))


def test_columns_are_said_by_name(table, tmp_path):
    data = tmp_path / "data.csv"
    table["zip"] = table["city"].str.removeprefix("city ")
    table.to_csv(data, index=False)
    model = KernelRegressor(**FIXED).fit_file(data, "y", ignore=["day", "co*"], kinds={"zip": "category"}, weight="weight", group="city")
    assert model.feature_names_in_.tolist() == ["size", "fresh", "zip", "text"]
    assert model.n_features_in_ == 4
    again = tmp_path / "model.bochner"
    words = ["--ignore", "day,co*", "--kind", "zip=category", "--weight", "weight", "--group", "city"]
    command("fit", data, "--target", "y", *words, "--task", "regression", *OPTIONS, "-q", "-o", again)
    assert bytes_of(model) == again.read_bytes()
    other = table.assign(more=1)[["more", "text", "zip", "fresh", "size"]]
    np.testing.assert_array_equal(model.predict(other), model.predict_file(data))
    with pytest.raises(ValueError, match='"sise"') as raised:
        model.predict(other.rename(columns={"size": "sise"}))
    assert '"size"' in str(raised.value)


def test_what_cannot_be_fitted_is_said_in_pythons_words(table, tmp_path):
    data = tmp_path / "data.csv"
    table.assign(key=[f"key {i}" for i in range(ROWS)]).to_csv(data, index=False)
    model = KernelRegressor(**FIXED)
    with pytest.raises(ValueError, match='expected a column "prise", found'):
        model.fit_file(data, "prise")
    with pytest.raises(FileNotFoundError, match="nothing"):
        model.fit_file(tmp_path / "nothing.csv", "y")
    with pytest.raises(ValueError, match="number, boolean, category, date or text, found zahl"):
        model.fit_file(data, "y", kinds={"size": "zahl"})
    with pytest.raises(ValueError, match="both"):
        model.fit_file(data, "y", weight="weight", ignore="weight")
    with pytest.raises(ValueError, match="class_weight"):
        KernelClassifier(**FIXED, class_weight="balanced").fit_file(data, "colour")
    with pytest.raises(ValueError, match="warm_start"):
        KernelRegressor(**FIXED, warm_start=True).fit_file(data, "y")
    with pytest.raises(ValueError, match="encoding: "):
        model.fit_file(data, "y", encoding="nonsense")
    with pytest.raises(ValueError, match='what "y" holds cannot be said: it is the target') as raised:
        model.fit_file(data, "y", kinds={"y": "category"})
    assert "--" not in str(raised.value)
    with pytest.raises(ValueError, match="n_components"):
        KernelRegressor(n_components=-1).fit_file(data, "y")
    assert not hasattr(model, "coef_")
    with pytest.warns(UserWarning) as warned:
        model.fit_file(data, "y")
    said = " ".join(str(w.message) for w in warned)
    assert "column key looks like an identifier and is left out" in said and 'kinds={"key": "category"}' in said
    assert "--" not in said


def test_several_files_are_one_table(table, tmp_path):
    for part in range(3):
        table.iloc[part * 100 : (part + 1) * 100].to_csv(tmp_path / f"part-{part}.csv", index=False)
    whole = tmp_path / "whole"
    whole.mkdir()
    table.to_csv(whole / "all.csv", index=False)
    expected = KernelRegressor(**FIXED).fit_file(whole, "y")
    paths = sorted(tmp_path.glob("part-*.csv"))
    for path in (paths, [str(path) for path in paths], str(tmp_path / "part-*.csv"), tmp_path / "part-?.csv"):
        model = KernelRegressor(**FIXED).fit_file(path, "y")
        assert bytes_of(model) == bytes_of(expected)
        np.testing.assert_array_equal(model.predict_file(path), expected.predict(table))


def write_parquet(table, path, **words):
    import pyarrow.parquet

    pyarrow.parquet.write_table(table, path, row_group_size=70, data_page_size=500, **words)


def write_feather(table, path):
    import pyarrow.feather

    pyarrow.feather.write_feather(table, path, compression="zstd", chunksize=90)


def write_stream(table, path):
    with pyarrow.OSFile(str(path), "wb") as file, pyarrow.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=50)


DELTA = {"count": "DELTA_BINARY_PACKED", "city": "DELTA_BYTE_ARRAY", "text": "DELTA_LENGTH_BYTE_ARRAY", "size": "BYTE_STREAM_SPLIT", "fresh": "RLE"}

WRITERS = {
    "parquet": write_parquet,
    "parquet, old": lambda table, path: write_parquet(table, path, version="1.0", compression="gzip", data_page_version="1.0"),
    "parquet, no dictionaries": lambda table, path: write_parquet(table, path, use_dictionary=False, compression="lz4", data_page_version="2.0"),
    "parquet, delta": lambda table, path: write_parquet(table, path, use_dictionary=False, column_encoding=DELTA, compression="zstd"),
    "feather": write_feather,
    "stream": write_stream,
}


@pytest.mark.parametrize("writer", WRITERS)
def test_files_of_other_formats_make_that_model(writer, table, tmp_path):
    table.to_csv(tmp_path / "data.csv", index=False)
    WRITERS[writer](pyarrow.Table.from_pandas(table, preserve_index=False), tmp_path / "data")
    of_csv, of_other = (KernelRegressor(**FIXED).fit_file(tmp_path / name, "y", weight="weight") for name in ("data.csv", "data"))
    assert bytes_of(of_other) == bytes_of(of_csv)
    assert np.array_equal(of_other.predict_file(tmp_path / "data"), of_csv.predict_file(tmp_path / "data.csv"))


def test_a_model_of_arrays_reads_files_with_missing_cells(waves, tmp_path):
    X, y = waves
    table = pandas.DataFrame(X, columns=["a", "b", "c"])
    gaps = table.mask(np.random.default_rng(1).random(X.shape) < 0.1)
    data, path = tmp_path / "new.csv", tmp_path / "m.bochner"
    gaps.to_csv(data, index=False)
    for model in (KernelRegressor(**FIXED).fit(table, y), KernelRegressor(**FIXED).fit(X, y)):
        model.save(path)
        rows = gaps if hasattr(model, "feature_names_in_") else gaps.to_numpy()
        expected = model.predict(rows)
        np.testing.assert_array_equal(model.predict_file(data), expected)
        printed = command("predict", path, data).splitlines()[1:]
        np.testing.assert_allclose(np.array(printed, dtype=float), expected, rtol=1e-12)
        filled = gaps.fillna(table.mean())
        np.testing.assert_allclose(model.predict(filled if rows is gaps else filled.to_numpy()), expected, rtol=1e-5, atol=1e-7)


def test_ids_of_a_model_without_names_stand_after_its_columns(waves, tmp_path):
    X, y = waves
    path = tmp_path / "m.bochner"
    KernelRegressor(**FIXED).fit(X, y).save(path)
    table = pandas.DataFrame(X, columns=["a", "b", "c"])
    table.assign(key=np.arange(len(X))).to_csv(tmp_path / "last.csv", index=False)
    table.insert(0, "key", np.arange(len(X)))
    table.to_csv(tmp_path / "first.csv", index=False)
    assert command("predict", path, tmp_path / "last.csv", "--id", "key").startswith("key,prediction\n0,")
    words = [sys.executable, "-m", "bochner", "predict", path, tmp_path / "first.csv", "--id", "key"]
    refused = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=120)
    assert refused.returncode == 2 and 'so "key" must stand after all 3 of them' in refused.stderr


def test_how_files_are_read_may_be_said(table, tmp_path):
    table = table[["size", "colour", "y"]]
    expected = KernelRegressor(**FIXED).fit(table.drop(columns="y"), table["y"])
    other = tmp_path / "latin.txt"
    other.write_bytes(table.rename(columns={"colour": "fär be"}).to_csv(index=False, sep=" ").encode("latin1"))
    model = KernelRegressor(**FIXED).fit_file(other, "y", encoding="latin1", delimiter=" ")
    assert model.feature_names_in_.tolist() == ["size", "fär be"]
    np.testing.assert_array_equal(model.predict_file(other, encoding="latin1", delimiter=" "), expected.predict(table))
    bare = tmp_path / "bare.csv"
    table.to_csv(bare, index=False, header=False)
    model = KernelRegressor(**FIXED).fit_file(bare, "c3", header=False)
    np.testing.assert_array_equal(model.predict_file(bare, header=False), expected.predict(table))
    wrong = tmp_path / "wrong.csv"
    table.assign(size=table["size"].astype(object).where(table.index != 2, "big")).to_csv(wrong, index=False)
    with pytest.warns(UserWarning, match=r'column "size": 1 cell is not a number .*strict=True refuses'):
        KernelRegressor(**FIXED).fit_file(wrong, "y")
    for refused in (lambda: KernelRegressor(**FIXED).fit_file(wrong, "y", strict=True), lambda: expected.predict_file(wrong, strict=True)):
        with pytest.raises(ValueError, match='wrong.csv:4:1: expected a number, found "big"') as raised:
            refused()
        assert "--" not in str(raised.value)


@pytest.mark.parametrize("cls", [KernelRegressor, KernelClassifier])
def test_a_file_of_no_rows_has_no_predictions(cls, table, tmp_path):
    y = table["y"] if cls is KernelRegressor else pandas.Series(np.digitize(table["y"], [1, 3]))
    model = cls(**FIXED, held_out=0.3).fit(table[["size", "colour"]], y)
    (tmp_path / "empty.csv").write_text("size,colour\n")
    assert model.predict_file(tmp_path / "empty.csv").shape == (0,)


@pytest.mark.parametrize("writer", ["parquet", "feather"])
def test_the_command_reads_other_formats(writer, table, tmp_path):
    table.to_csv(tmp_path / "data.csv", index=False)
    table["day"] = table["day"].astype("datetime64[ns]")
    WRITERS[writer](pyarrow.Table.from_pandas(table, preserve_index=False), tmp_path / "data")
    for name in ("data.csv", "data"):
        command("fit", tmp_path / name, "--target", "y", "--weight", "weight", *OPTIONS, "-q", "-o", tmp_path / f"{name}.bochner")
        command("transform", tmp_path / name, "--target", "y", "-q", "-o", tmp_path / f"{name}.features.csv")
    assert (tmp_path / "data.bochner").read_bytes() == (tmp_path / "data.csv.bochner").read_bytes()
    # Cells are missing in "size" and "colour".
    assert (tmp_path / "data.features.csv").read_bytes() == (tmp_path / "data.csv.features.csv").read_bytes()
    assert command("predict", tmp_path / "data.bochner", tmp_path / "data") == command("predict", tmp_path / "data.bochner", tmp_path / "data.csv")
    assert "weight" in command("summary", tmp_path / "data")
