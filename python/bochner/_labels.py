"""Classes of scikit-learn's kinds as the names that a model file keeps, and back."""

from __future__ import annotations

from typing import Any

import numpy as np


def as_labels(y: Any) -> Any:
    """Labels that NumPy would make floats or objects of, though they are booleans or whole numbers: pandas' nullable columns, and arrays of objects."""
    dtype = getattr(y, "dtype", None)
    if hasattr(dtype, "categories") and hasattr(y, "to_numpy"):
        y = y.to_numpy()
        dtype = y.dtype
    kind = getattr(dtype, "kind", None)
    if isinstance(dtype, np.dtype):
        values = np.asarray(y)
        if kind == "O" and values.ndim == 1 and len({type(value) for value in values}) == 1 and isinstance(values[0], (bool, int, float)):
            return np.array(values.tolist())
        return y
    if kind in ("b", "i", "u") and hasattr(y, "to_numpy") and not getattr(y, "hasnans", False):
        return y.to_numpy(dtype=np.dtype(bool if kind == "b" else f"{kind}8"))
    return y


def labels_of(classes: np.ndarray) -> tuple[str, list[str]]:
    """What the classes are, and their names in order, as a file would have them: ``1.0`` is a whole number."""
    kind = {"b": "boolean", "i": "integer", "u": "integer", "f": "number"}.get(classes.dtype.kind, "text")
    if kind == "number" and (classes == np.floor(classes)).all():
        kind = "integer"
    return kind, [str(label) for label in classes.tolist()]


def classes_of(kind: str, texts: list[str]) -> np.ndarray:
    """The classes that a model file names, in the kind that they had."""
    match kind:
        case "boolean":
            return np.array([text.lower() == "true" for text in texts])
        case "integer" if any(text.lstrip("+-").isdigit() for text in texts):
            return np.array([_whole(text) for text in texts])
        case "integer":
            return np.array([float(text) for text in texts])
        case "number":
            return np.array([float(text) for text in texts])
        case _:
            return np.array(texts)


def _whole(text: str) -> int:
    """A whole number as it was written: `7`, `+7`, `7.0`."""
    try:
        return int(text)
    except ValueError:
        return int(float(text))
