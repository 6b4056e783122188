"""A model file as the estimator that it is."""

from __future__ import annotations

import json
import os

from ._core import Model


def load(path):
    """Read a model from a file, whatever it predicts.

    Parameters
    ----------
    path : str or path-like
        A file that an estimator's ``save`` or the command line wrote. It is data, never code: reading one from a stranger is safe.

    Returns
    -------
    estimator : object
        A fitted :class:`KernelClassifier`, :class:`KernelRegressor`, :class:`KernelSVC` or :class:`KernelRidge`, which predicts of arrays, and of data
        frames with the columns that it was fitted to.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from bochner import KernelRegressor, load
    >>> X = np.linspace(0, 1, 100)[:, None]
    >>> path = os.path.join(tempfile.mkdtemp(), "model.bochner")
    >>> KernelRegressor("linear").fit(X, 3 * X[:, 0]).save(path)
    >>> load(path).predict([[0.5]]).round(2)
    array([1.5])
    """
    model = Model.load(os.fspath(path))
    return _class_of(model)._of_model(model)


def _class_of(model: Model):
    """The class of estimators whose file it is."""
    from .exact import KernelRidge, KernelSVC
    from .learners import KernelClassifier, KernelRegressor

    match model.head:
        case "classification":
            return KernelSVC if model.decision == "votes" else KernelClassifier
        case "regression":
            is_exact = not model.standardized and json.loads(model.method).get("choice") == "given"
            return KernelRidge if is_exact else KernelRegressor
    raise ValueError(f"expected a file with a model that predicts, found one with {model.head}")
