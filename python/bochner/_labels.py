"""Classes of scikit-learn's kinds as the names that a model file keeps, and back."""

from __future__ import annotations

import numpy as np


def labels_of(classes: np.ndarray) -> tuple[str, list[str]]:
    """What the classes are, and their names in order."""
    kind = {"b": "boolean", "i": "integer", "u": "integer", "f": "number"}.get(classes.dtype.kind, "text")
    return kind, [_text(kind, label) for label in classes.tolist()]


def _text(kind: str, label: object) -> str:
    match kind:
        case "boolean":
            return "true" if label else "false"
        case "number":
            return repr(label).removesuffix(".0")
        case _:
            return str(label)


def classes_of(kind: str, texts: list[str]) -> np.ndarray:
    """The classes that a model file names, in the kind that they had."""
    match kind:
        case "boolean":
            return np.array([text == "true" for text in texts])
        case "integer":
            return np.array([int(text) for text in texts])
        case "number":
            return np.array([float(text) for text in texts])
        case _:
            return np.array(texts)
