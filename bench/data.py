"""The data sets that benchmarks share: rows and targets to train on and to test on, as numbers."""

import gzip
from functools import lru_cache
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file

#: Files with a published split; the others are cut at random, four fifths to train.
SPLIT = ["mnist", "optdigits", "letter", "satimage", "shuttle", "a9a"]
REGRESSION = [
    "yacht", "energy", "concrete", "wine_red", "qm7_coulomb", "cpu_act", "elevators", "bike_sharing_hour", "california_housing", "house_16H", "kin40k", "protein_casp",
]
CLASSES = [
    "sonar", "ionosphere", "optdigits", "satimage", "higgs_10984", "phishing", "letter", "a9a", "shuttle", "w8a", "mnist", "covtype",
]


def _csv(path):
    with gzip.open(path, "rt") as file:
        place = file.readline().strip().split(",").index("target")
        first = file.readline()
    is_text = not first.split(",")[place].strip().replace(".", "").replace("-", "").replace("e", "").isdigit()
    with gzip.open(path, "rt") as file:
        table = np.loadtxt(file, delimiter=",", skiprows=1, dtype=str if is_text else np.float64)
    return np.delete(table, place, axis=1).astype(np.float64), table[:, place]


@lru_cache(maxsize=2)
def _file(folder, name):
    """Rows and targets of a file, read once; one that has no test part goes by its train part."""
    for whole in (name, f"{name}.train"):
        if (path := Path(folder) / f"{whole}.csv.gz").exists():
            return _csv(path)
        if (path := Path(folder) / f"{whole}.libsvm.gz").exists():
            x, y = load_svmlight_file(str(path))
            return x.toarray(), y
    raise FileNotFoundError(f"{name} in {folder}")


def load(folder, name, most=None, seed=0):
    """x, y to train on, x, y to test on; at most so many rows to train on, drawn at random."""
    rng = np.random.default_rng(seed)
    if name in SPLIT:
        x, y = _file(folder, f"{name}.train")
        new, known = _file(folder, f"{name}.test")
        width = max(x.shape[1], new.shape[1])
        x, new = (np.pad(rows, ((0, 0), (0, width - rows.shape[1]))) for rows in (x, new))
    else:
        x, y = _file(folder, name)
        order = rng.permutation(len(x))
        cut = len(x) * 4 // 5
        x, y, new, known = x[order[:cut]], y[order[:cut]], x[order[cut:]], y[order[cut:]]
    if name in CLASSES:
        labels, y = np.unique(y, return_inverse=True)
        known = np.searchsorted(labels, known)
    else:
        y, known = y.astype(np.float64), known.astype(np.float64)
    if most is not None and len(x) > most:
        chosen = rng.permutation(len(x))[:most]
        x, y = x[chosen], y[chosen]
    return x, y, new, known


def mixed(folder, name, most=None, seed=0, are_categories=False):
    """As load, for tables with columns of texts: as categories of a frame, or as 0 and 1 for each value."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    if (Path(folder) / f"{name}.csv.gz").exists():
        table = pd.read_csv(Path(folder) / f"{name}.csv.gz")
        order = rng.permutation(len(table))
        cut = len(table) * 4 // 5
        parts = table.iloc[order[:cut]], table.iloc[order[cut:]]
    else:
        parts = tuple(pd.read_csv(Path(folder) / f"{name}.{part}.csv.gz") for part in ("train", "test"))
    train, test = parts
    if most is not None and len(train) > most:
        train = train.iloc[rng.permutation(len(train))[:most]]
    whole = pd.concat([train, test])
    y = whole.pop("target")
    if name == "kddcup99":
        # Kinds of attacks that only the test rows have could not be told apart: an attack or none, as is usual.
        y = y == "normal"
    if not pd.api.types.is_numeric_dtype(y):
        y = pd.Series(pd.factorize(y, sort=True)[0])
    texts = [column for column in whole if not pd.api.types.is_numeric_dtype(whole[column])]
    y = y.to_numpy()
    if are_categories:
        whole = whole.astype(dict.fromkeys(texts, "category"))
        return whole[: len(train)], y[: len(train)], whole[len(train) :], y[len(train) :]
    x = pd.get_dummies(whole, columns=texts).to_numpy(np.float64)
    return x[: len(train)], y[: len(train)], x[len(train) :], y[len(train) :]
