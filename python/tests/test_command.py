"""The command in the wheel, and files that go back and forth between it and the estimators."""

import csv
import subprocess
import sys

import numpy as np
import pytest

from bochner import KernelClassifier, KernelRegressor, __version__

pandas = pytest.importorskip("pandas")


def command(*arguments, code=0):
    """What the command prints; `code` is the exit code expected."""
    words = [sys.executable, "-m", "bochner", *map(str, arguments)]
    result = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert result.returncode == code, result.stderr
    return result.stdout


def column(text, name):
    return [row[name] for row in csv.DictReader(text.splitlines())]


@pytest.fixture
def frame(waves):
    X, y = waves
    return pandas.DataFrame(X, columns=["a", "b", "c"]), pandas.Series(y, name="y")


TARGETS = {
    "number": lambda y: y,
    "two": lambda y: pandas.Series(np.where(y > 0, "up", "down"), name="y"),
    "many": lambda y: pandas.Series(np.digitize(y, [-0.5, 0.5]), name="y"),
}


def outputs(model, X):
    return model.predict(X) if isinstance(model, KernelRegressor) else model.decision_function(X)


def printed(path, data, target, model):
    """Predictions and outputs that the command prints."""
    text = command("predict", path, data, *([] if target == "number" else ["--scores"]))
    match target:
        case "number":
            scores = np.array(column(text, "y"), dtype=float)
            return scores, scores
        case "two":
            return np.array(column(text, "y")), np.array(column(text, "score_up"), dtype=float)
        case _:
            scores = [np.array(column(text, f"score_{c}"), dtype=float) for c in model.classes_]
            return np.array(column(text, "y"), dtype=int), np.stack(scores, axis=1)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("fitted_by", ["command", "estimator"])
def test_a_file_predicts_the_same_bits_on_both_sides(frame, target, fitted_by, tmp_path):
    X, y = frame
    y = TARGETS[target](y)
    data, path = tmp_path / "data.csv", tmp_path / "model.bochner"
    X.assign(y=y).to_csv(data, index=False)
    cls = KernelRegressor if target == "number" else KernelClassifier
    if fitted_by == "command":
        command("fit", data, "--target", "y", "--features", 64, "-q", "-o", path)
        model = cls.load(path)
    else:
        model = cls(n_components=64).fit(X, y)
        model.save(path)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    predictions, scores = printed(path, data, target, model)
    np.testing.assert_array_equal(model.predict(X), predictions)
    np.testing.assert_array_equal(outputs(model, X), scores)


def test_the_command_does_not_wait_for_scikit_learn():
    script = "import sys, bochner.__main__; print('sklearn' in sys.modules, 'numpy' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["False", "False"]


def test_exit_codes(tmp_path):
    assert command("--version").strip() == f"bochner {__version__}"
    command("nothing-like-it", code=2)
    command("predict", tmp_path / "no.bochner", tmp_path / "no.csv", code=3)
