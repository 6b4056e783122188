"""Data frames: which are arrays of numbers, and which are read column by column.

A frame is whatever hands over an Arrow stream (``__arrow_c_stream__``): those of pandas, Polars and pyarrow, readers that hand over their rows once, and
others. Its columns are numbers, booleans, categories, dates or texts, are found by their names, and may have missing cells. A frame of numbers alone is
an array, as everywhere in scikit-learn: in its own precision, with its columns in the order of the fit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._core import Frame, texts_of

#: Bytes of a stream that are held in memory; more go to an unnamed file. None means a quarter of the memory.
HELD_BYTES: int | None = None

#: What pyarrow calls its types of numbers.
_NUMBERS = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)} | {"halffloat", "float", "double"}


def is_frame(X: Any) -> bool:
    """Whether it has columns with types of their own."""
    shape = getattr(X, "shape", None)
    return (shape is None or len(shape) == 2) and (hasattr(X, "__arrow_c_stream__") or _is_pandas(X))


def is_table(X: Any) -> bool:
    """Whether it is a frame with other columns than numbers, or one that is no array."""
    return is_frame(X) and not (hasattr(X, "__array__") and _is_numeric(X))


def _is_pandas(X: Any) -> bool:
    return hasattr(X, "iloc") and hasattr(X, "dtypes") and hasattr(X, "columns")


def _is_numeric(X: Any) -> bool:
    """By the types of the columns alone."""
    types = getattr(X, "dtypes", None)
    if types is not None:
        return all(_is_number(dtype) for dtype in types)
    types = getattr(getattr(X, "schema", None), "types", None)
    return types is not None and all(str(kind) in _NUMBERS for kind in types)


def _is_number(dtype: Any) -> bool:
    kind = getattr(dtype, "kind", None)
    if kind is not None:
        return kind in "iuf"
    return bool(hasattr(dtype, "is_integer") and (dtype.is_integer() or dtype.is_float()))


def read_to_fit(X: Any, kernel: Any, threads: int, group: str | None = None) -> Frame:
    """The columns of a frame as what they are found to be, but for texts that the kernel compares, and a column of groups."""
    texts = [*texts_of(str(kernel)), *([] if group is None else [group])]
    return _some(Frame.from_stream(_stream(X), texts=texts, threads=threads, most=HELD_BYTES))


def read_for(model: Any, X: Any, threads: int) -> Frame:
    """The columns of a frame that a model looks at, read as it reads them."""
    if _is_pandas(X) and _is_numeric(X) and not _has_pyarrow():
        wanted = model.columns
        missing = [name for name in wanted if name not in X.columns]
        if not missing:
            values = X[wanted].to_numpy(dtype=np.float64, na_value=np.nan)
            return _some(Frame.from_array(np.ascontiguousarray(values), wanted, is_frame=True, threads=threads))
    return _some(model.frame(_stream(X), threads, HELD_BYTES))


def _some(frame: Frame) -> Frame:
    if len(frame) == 0:
        raise ValueError("Found a data frame with 0 sample(s) while a minimum of 1 is required.")
    return frame


def _stream(X: Any) -> Any:
    """What hands over the columns: without pandas' index, which is none of them."""
    if not _is_pandas(X):
        return X
    if not _has_pyarrow():
        raise ImportError("pandas needs pyarrow to hand over columns that are not numbers: install pyarrow")
    X = _of_one_type(X.reset_index(drop=True))
    if hasattr(X, "__arrow_c_stream__"):
        return X
    import pyarrow

    return pyarrow.Table.from_pandas(X, preserve_index=False)


def _of_one_type(X: Any) -> Any:
    """A frame of pandas whose columns of objects have one type each: cells of several, such as 1 and "a", become texts."""
    import pyarrow

    for j, dtype in enumerate(X.dtypes):
        if dtype != object:
            continue
        column = X.iloc[:, j]
        try:
            pyarrow.array(column, from_pandas=True)
        except pyarrow.ArrowException:
            if column.dropna().map(np.isscalar).all():
                X.isetitem(j, column.map(str, na_action="ignore"))
    return X


def _has_pyarrow() -> bool:
    from importlib.util import find_spec

    return find_spec("pyarrow") is not None


def names_of(X: Any) -> list[str] | None:
    """The names of a frame's columns; None for rows without, or with other things than texts for names."""
    found = getattr(X, "column_names", None)  # of pyarrow
    found = getattr(X, "columns", None) if found is None else found
    names = None if found is None else list(found)
    return names if names is not None and all(isinstance(name, str) for name in names) else None


def column_names(X: Any, frame: Frame) -> np.ndarray | None:
    """The names of the columns as scikit-learn has them: none if they are numbers in pandas."""
    names = list(X.columns) if _is_pandas(X) else frame.names
    return np.array(names, dtype=object) if all(isinstance(name, str) for name in names) else None
