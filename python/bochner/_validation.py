"""What stands at the door: arrays as the library takes them, threads, seeds."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import _check_y, check_consistent_length, validate_data

from ._core import Frame
from ._frames import column_names, is_frame, is_table, names_of, read_for, read_to_fit
from ._targets import present_targets

#: Domains of the parameters that all estimators share, beside those of the kernel.
SHARED_CONSTRAINTS: dict[str, list[Any]] = {
    "random_state": ["random_state"],
    "n_jobs": [Interval(Integral, None, -1, closed="right"), Interval(Integral, 1, None, closed="left"), None],
}

#: A number of features that an array can have.
COMPONENTS = Interval(Integral, 1, np.iinfo(np.intp).max, closed="left")

#: What rows may be. Whether they are finite is left to the library, which says where they are not.
ROWS: dict[str, Any] = {
    "accept_sparse": "csr",
    "dtype": [np.float64, np.float32],
    "order": "C",
    "ensure_all_finite": False,
}


def check_rows(estimator: Any, X: Any, *, reset: bool, rows: dict[str, Any] = ROWS) -> Any:
    """Rows alone: an array in C order or a CSR matrix, of float32 or float64; a :class:`Frame` where columns are more than numbers or cells are missing."""
    if reset:
        return _rows_to_fit(estimator, X, rows)
    if isinstance(X, Frame):
        return X
    model = estimator._model if hasattr(estimator, "_model") else estimator._map
    if is_table(X) or (is_frame(X) and _are_found_by_name(estimator, model, X)):
        return read_for(model, X, threads_of(estimator.n_jobs))
    given = X
    X = validated(estimator, X, rows, reset=False)
    if model.reads_tables:
        return _table_of(estimator, given, X.toarray() if sp.issparse(X) else X)
    if hasattr(model, "decide") and not sp.issparse(X) and _has_missing(X):
        return _table_of(estimator, None, X)  # which takes the mean of the column
    return X


def check_rows_and_targets(
    estimator: Any, X: Any, y: Any, *, rows: dict[str, Any] = ROWS, group: str | None = None, **targets: Any
) -> tuple[Any, Any, np.ndarray | None]:
    """Rows to fit to, and their targets. Rows of a frame may lack one: which have one, or None where all have."""
    if not is_frame(X):
        if group is not None:
            raise ValueError(f"expected a data frame with the column of groups, {group!r}, found {type(X)}")
        given = X
        X, y = validated(estimator, X, rows, y=y, **targets)
        return _with_gaps(estimator, given, X), y, None
    X = _rows_to_fit(estimator, X, rows, group)
    y, present = present_targets(y)
    y = _check_y(y, estimator=estimator, **targets)
    check_consistent_length(X, y if present is None else present)
    return X, y, present


def _rows_to_fit(estimator: Any, X: Any, rows: dict[str, Any], group: str | None = None) -> Any:
    if is_table(X) or group is not None:
        return _read(estimator, X, group)
    return _with_gaps(estimator, X, validated(estimator, X, rows, reset=True))


def _are_found_by_name(estimator: Any, model: Any, X: Any) -> bool:
    """Whether the columns of a frame of numbers are, wherever they stand: those of a table, and of a model whose file has names of which the
    estimator knows nothing, as x0 and x1 may be those of an array."""
    if hasattr(estimator, "feature_names_in_"):
        return model.reads_tables
    names = getattr(model, "columns", None)
    return names is not None and set(names) <= set(names_of(X) or ())


def validated(estimator: Any, X: Any, rows: dict[str, Any], **words: Any) -> Any:
    """What scikit-learn lets through."""
    try:
        found = validate_data(estimator, X, **words, **rows)
    except ValueError as error:
        if "could not convert string to float" in str(error):
            raise ValueError(f"{error}: strings in an array are refused, as categories or texts they are columns of a DataFrame") from error
        raise
    return (as_rows(found[0]), found[1]) if isinstance(found, tuple) else as_rows(found)


def _read(estimator: Any, X: Any, group: str | None = None) -> Frame:
    """A table to fit to; the estimator notes its columns."""
    frame = read_to_fit(X, getattr(estimator, "kernel", ""), threads_of(estimator.n_jobs), group)
    names = column_names(X, frame)
    estimator.n_features_in_ = len(frame.names)
    if names is not None:
        estimator.feature_names_in_ = names
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    return frame


def _with_gaps(estimator: Any, given: Any, X: Any) -> Any:
    """Rows to fit to, as a table where cells are missing, or numbers become others before they are scaled."""
    scaling = getattr(estimator, "scaling", "standard")
    if sp.issparse(X):
        if scaling != "standard":
            raise ValueError(f"expected dense rows for scaling={scaling!r}, found a sparse matrix")
        return X
    if scaling == "standard" and not _has_missing(X) and not (is_frame(given) and np.isinf(X).any()):
        return X
    return _table_of(estimator, given, X)


def _table_of(estimator: Any, given: Any, X: Any) -> Frame:
    """An array as a table."""
    return Frame.from_array(X, _names(estimator), is_frame=is_frame(given), threads=threads_of(getattr(estimator, "n_jobs", None)))


def _has_missing(X: np.ndarray) -> bool:
    with np.errstate(invalid="ignore", over="ignore"):
        # A sum is NaN if an entry is, or if there are infinities of both signs.
        return bool(np.isnan(X.sum())) and bool(np.isnan(X).any())


def _names(estimator: Any) -> list[str] | None:
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else list(names)


@contextmanager
def keeping_the_last_fit(estimator: Any) -> Iterator[None]:
    """What scikit-learn notes of the rows before a fit is as before if the fit fails."""
    names = ("n_features_in_", "feature_names_in_")
    before = {name: getattr(estimator, name) for name in names if hasattr(estimator, name)}
    try:
        yield
    except BaseException:
        for name in names:
            if name in before:
                setattr(estimator, name, before[name])
            elif hasattr(estimator, name):
                delattr(estimator, name)
        raise


def as_rows(X: Any) -> Any:
    """What scikit-learn let through, as the library takes it: aligned, indices ascending and without repeats."""
    if not sp.issparse(X):
        return np.require(X, requirements=["C_CONTIGUOUS", "ALIGNED"])
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def threads_of(n_jobs: int | None) -> int:
    """Threads for the library, which reads 0 as all."""
    if n_jobs is None or n_jobs == -1:
        return 0
    if n_jobs < 0:
        allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return max(1, allowed + 1 + int(n_jobs))
    return int(n_jobs)


def seed_of(random_state: Any) -> int:
    """A seed for the library: an integer is itself, anything else is drawn from.

    Drawn seeds are such that they may be given as integers again.
    """
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**32, dtype=np.uint32))


def variance(X: Any, weights: Any = None) -> float:
    """The variance of all entries of a dense or sparse array, whose rows may have weights."""
    if isinstance(X, Frame):
        return X.variance(weights if weights is not None and weights.sum() > 0 else None)
    if weights is not None and weights.sum() > 0:
        share = weights / (weights.sum() * X.shape[1])
        mean = float(share @ np.asarray(X.sum(axis=1, dtype=np.float64)).ravel())
        return float(share @ _squares(X, mean))
    if sp.issparse(X):
        return float(_squares(X, float(X.mean(dtype=np.float64))).sum() / (X.shape[0] * X.shape[1]))
    with np.errstate(invalid="ignore", over="ignore"):  # what is not finite is refused with its place, later
        return float(X.var())


def _squares(X: Any, mean: float) -> np.ndarray:
    """Σ (x - mean)² of each row."""
    with np.errstate(invalid="ignore", over="ignore"):
        if not sp.issparse(X):
            return ((X - np.float64(mean)) ** 2).sum(axis=1)
        # Entries that are not stored are zero.
        stored = sp.csr_matrix(((X.data - np.float64(mean)) ** 2, X.indices, X.indptr), shape=X.shape)
        return np.asarray(stored.sum(axis=1)).ravel() + (X.shape[1] - np.diff(X.indptr)) * mean**2
