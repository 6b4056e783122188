"""Targets of which some are missing."""

from __future__ import annotations

from typing import Any

import numpy as np


def present_targets(y: Any) -> tuple[Any, np.ndarray | None]:
    """The targets that are there, and which rows have one; None where all have."""
    missing = _missing(y)
    if missing is None or not missing.any():
        return y, None
    if np.ndim(y) > 1:
        return np.asarray(y)[~missing], ~missing
    # As a list, whole numbers stay whole beside missing ones.
    return np.array([value for value, gone in zip(_listed(y), missing, strict=True) if not gone]), ~missing


def spread(values: np.ndarray, present: np.ndarray | None, filling: float = np.nan) -> np.ndarray:
    """One row for each row of the table again."""
    if present is None:
        return values
    whole = np.full((len(present), *values.shape[1:]), filling)
    whole[present] = values
    return whole


def _missing(y: Any) -> np.ndarray | None:
    """Which targets are missing; None where none can be."""
    if isinstance(y, (list, tuple)):
        y = np.array(y, dtype=object)
    if hasattr(y, "isna"):  # of pandas
        found = np.asarray(y.isna())
    elif hasattr(y, "to_pylist"):  # of pyarrow
        found = y.is_null(nan_is_null=True).to_numpy(zero_copy_only=False) if y.null_count or "double" in str(y.type) or "float" in str(y.type) else None
    elif isinstance(y, np.ndarray) and y.dtype.kind == "f":
        found = np.isnan(y)
    elif isinstance(y, np.ndarray) and y.dtype.kind != "O":
        return None
    elif np.ndim(y) == 1:
        found = np.array([_is_missing(value) for value in _listed(y)])
    else:
        values = np.asarray(y)
        found = np.isnan(values) if values.dtype.kind == "f" else None
    return found.any(axis=1) if found is not None and found.ndim == 2 else found


def _is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)


def _listed(y: Any) -> list[Any]:
    for name in ("to_pylist", "to_list"):
        if hasattr(y, name):
            return getattr(y, name)()
    return np.asarray(y, dtype=object).tolist()
