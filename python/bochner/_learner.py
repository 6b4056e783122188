"""What learners share: models in files, and the way from parameters to a fit and from a fit to attributes."""

from __future__ import annotations

import json
import os
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array, csr_matrix, hstack, identity, issparse
from sklearn.base import BaseEstimator, _fit_context
from sklearn.utils import check_array
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from ._certificate import Certificate
from ._core import Model
from ._frames import is_table, read_to_fit
from ._kernel import GAMMA, KERNEL_CONSTRAINTS, kernel_text, refuse_texts
from ._method import METHODS
from ._outlook import Outlook
from ._validation import COMPONENTS, ROWS, SHARED_CONSTRAINTS, check_rows, seed_of, threads_of

#: The ways to make features that learners know: the sparse one too.
_METHODS: dict[str, dict[str, Any] | None] = {**METHODS, "binning": {"kind": "binning", "bins": {"kind": "fitted"}}}


class SavedModel(BaseEstimator):
    """An estimator whose fitted part is a model of the library: written to a file and read from one."""

    #: What the outputs of a model of this class mean, and how they decide, in the words of the model file.
    _head: ClassVar[str]
    _decision: ClassVar[str | None] = None

    def save(self, path) -> None:
        """Write the model to a file, which the command line reads too.

        Parameters
        ----------
        path : str or path-like
            Where to; by custom the name ends in ``.bochner``.
        """
        check_is_fitted(self)
        self._model.save(os.fspath(path))

    @classmethod
    def load(cls, path):
        """Read a model from a file that :meth:`save` or the command line wrote.

        Parameters
        ----------
        path : str or path-like
            The file. It is data, never code: reading one from a stranger is safe.

        Returns
        -------
        estimator : object
            A fitted estimator that predicts the same numbers for the same rows.
        """
        return cls._of_model(Model.load(os.fspath(path)))

    @classmethod
    def _of_model(cls, model: Model):
        """The estimator of a model that was read."""
        if model.head != cls._head:
            raise ValueError(f"expected a file with a {cls._head} for {cls.__name__}, found one with a {model.head}")
        if model.decision != cls._decision:
            other = "KernelSVC" if model.decision == "votes" else "KernelClassifier"
            raise ValueError(f"expected a file for {cls.__name__}, found one of classes that {other} reads")
        return cls(**cls._words_of(model))._named_by(model)._adopt(model)

    def _named_by(self, model: Model):
        """The same with the columns of a model."""
        names = model.columns
        self.n_features_in_ = model.input_dim
        # The columns of an array have only numbers.
        if names is not None and names != [f"x{j}" for j in range(len(names))]:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    def _weights(self, sample_weight, rows, present=None) -> np.ndarray | None:
        """Weights as the library takes them: none of rows that are not present."""
        if sample_weight is None and present is None:
            return None
        checked = _check_sample_weight(sample_weight, rows, dtype=np.float64, ensure_non_negative=True)
        return np.ascontiguousarray(checked if present is None else np.where(present, checked, 0.0))

    @classmethod
    def _words_of(cls, model: Model) -> dict[str, Any]:
        """The parameters of a model, as far as its file tells."""
        raise NotImplementedError

    def _adopt(self, model: Model):
        """Show what the model holds in scikit-learn's words."""
        raise NotImplementedError


def _paths(path: Any) -> list[str]:
    """One path or several."""
    several = [path] if isinstance(path, (str, os.PathLike)) else path
    return [os.fspath(one) for one in several]


def _reading(header: Any, encoding: Any, delimiter: Any, strict: Any) -> dict[str, Any]:
    """How files are read, as the library takes it."""
    return {"header": header, "encoding": encoding, "delimiter": delimiter, "strict": bool(strict)}


#: What is said of a learnt metric.
_METRIC_PARTS = ("metric_", "feature_importances_", "metric_directions_", "metric_shares_")


class KernelLearner(SavedModel):
    """What regression and classification share: everything but the meaning of the targets."""

    _parameter_constraints: dict[str, list[Any]] = {
        **KERNEL_CONSTRAINTS,
        **SHARED_CONSTRAINTS,
        "gamma": [GAMMA, None],
        "n_components": [COMPONENTS, None],
        "method": [StrOptions(set(_METHODS))],
        "regularization": [StrOptions({"cv"}), Interval(Real, 0, None, closed="neither")],
        "folds": [Interval(Integral, 2, 64, closed="both")],
        "standardize": ["boolean"],
        "scaling": [StrOptions({"standard", "quantile", "robust"})],
        "tol": [Interval(Real, 0, 1, closed="neither")],
        "budget": [Interval(Real, 0, None, closed="neither"), None],
        "solver": [StrOptions({"auto", "gram", "cg"})],
        "metric": [StrOptions({"auto", "none", "diagonal", "full"})],
        "warm_start": ["boolean"],
        "held_out": [Interval(Real, 0, 1, closed="neither"), None],
        "verbose": ["verbose"],
    }

    @classmethod
    def _words_of(cls, model: Model) -> dict[str, Any]:
        chosen = json.loads(model.method)
        return {
            "kernel": model.kernel,
            "loss": "ridge" if model.loss == "squares" else model.loss,
            "n_components": model.features_asked,
            "method": next((word for word, method in _METHODS.items() if method == chosen), "auto"),
            "regularization": "cv" if model.folds > 1 else model.regularization,
            "folds": model.folds if model.folds > 1 else 5,
            "standardize": model.standardized,
            "scaling": model.scaling,
            "metric": model.metric,
            "held_out": model.held_out_share,
            "random_state": model.seed if model.seed < 2**32 else None,  # larger ones are not scikit-learn's
        }

    def plan(self, X, y):
        """What fitting will take on this machine, before it is done: nothing is fitted, and nothing about the estimator changes.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows. A data frame is whatever has ``__arrow_c_stream__``: of pandas, Polars, pyarrow, or a reader that gives its rows once. Its columns may be
            numbers, booleans, categories, dates and times, or texts, which are hashed; strings are what they are found to be. Any cell may be missing, as
            NaN in an array. Long streams are kept in an unnamed temporary file, so that memory stays constant.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets.

        Returns
        -------
        outlook : Outlook
            Seconds, memory, and a table of them; ``print`` shows it.
        """
        refuse_texts(self.kernel, X)
        self._validate_params()
        X = read_to_fit(X, self.kernel, threads_of(self.n_jobs)) if is_table(X) else check_array(X, **ROWS)
        outputs = self._output_count(y)
        settings = self._settings()
        if settings["solver"] == "auto" and settings["calibrate"]:
            settings["solver"] = "gram"  # probabilities of scores are made of sums
        source, text = Model.forecast(
            rows=X.shape[0],
            columns=X.shape[1],
            entries=X.nnz if issparse(X) else None,
            scalar_bytes=X.dtype.itemsize,
            outputs=outputs,
            settings=settings,
            threads=threads_of(self.n_jobs),
        )
        return Outlook.from_json(source, text)

    def _output_count(self, y) -> int:
        """Numbers that are learnt for each row."""
        return 1 if np.ndim(y) < 2 else np.shape(y)[1]

    def _settings(self) -> dict[str, Any]:
        """The parameters as the library takes them."""
        if self.scaling != "standard" and not self.standardize:
            raise ValueError(f"expected scaling='standard' beside standardize=False, found {self.scaling!r}: columns are then taken as they are")
        method = _METHODS[self.method]
        return {
            "kernel": kernel_text(self.kernel, gamma=self.gamma, sigma=self.sigma, scale=self.scale),
            "method": None if method is None else json.dumps(method),
            "features": None if self.n_components is None else int(self.n_components),
            "loss": self.loss,
            "seed": seed_of(self.random_state),
            "regularization": None if self.regularization == "cv" else float(self.regularization),
            "folds": int(self.folds),
            "standardize": bool(self.standardize),
            "scaling": self.scaling,
            # The usual one goes without saying, as on the command line.
            "tolerance": None if self.tol == 1e-4 else float(self.tol),
            "budget": None if self.budget is None else float(self.budget),
            "solver": self.solver,
            "metric": self.metric,
            "deviation": bool(getattr(self, "deviation", False)),
            "held_out": None if self.held_out is None else float(self.held_out),
            "calibrate": bool(getattr(self, "probability", False)),
        }

    def _learn(self, rows, targets, sample_weight, labels, target, group=None) -> Model:
        """A model of validated rows and targets (one column for each output)."""
        sample_weight = self._weights(sample_weight, rows)
        names = getattr(self, "feature_names_in_", None)
        return Model.fit(
            rows,
            np.ascontiguousarray(targets, dtype=np.float64),
            sample_weight,
            labels,
            settings=self._settings(),
            start=getattr(self, "_model", None) if self.warm_start else None,
            columns=None if names is None else list(names),
            target=target if isinstance(target, str) else "",
            group=group,
            threads=threads_of(self.n_jobs),
            verbose=min(int(self.verbose), 2),
        )

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_file(
        self, path, target, *, ignore=(), kinds=None, weight=None, group=None, header=None, encoding=None, delimiter=None, strict=False
    ):
        """Fit to files, in constant memory.

        The model is the one that ``bochner fit`` makes of the same files and settings, bit for bit. Rows without a target are left out, with a warning.

        Parameters
        ----------
        path : str, path-like or list of them
            A file (CSV or another format that the command line reads, compressed or not), a folder, a pattern such as ``"data/*.csv"``, or several of them, which are one table.
        target : str
            The column to predict; ``"target"`` is the label of a LIBSVM file.
        ignore : str or list of str, default=()
            Columns not to learn from: names, or patterns with ``*`` and ``?``.
        kinds : dict, default=None
            What columns hold, where it should not be found out: ``{"zip": "category"}``, or ``"number"``, ``"boolean"``, ``"date"``, ``"text"``.
        weight : str, default=None
            A column that says how much each row counts.
        group : str, default=None
            A column whose equal cells mark rows that belong together: they are never on both sides of a validation.
        header : bool, default=None
            Whether a CSV file starts with the names of its columns; otherwise they are ``c1``, ``c2``, … None: unless its first line holds numbers.
        encoding : str, default=None
            The encoding of texts, such as ``"latin1"``; None: UTF-8, or UTF-16 where the first bytes say so.
        delimiter : str, default=None
            What separates the fields of a CSV file: one character, or ``"tab"``; None: found in the first lines.
        strict : bool, default=False
            Whether a cell that is not what its column holds is an error; otherwise it is missing, with a warning.

        Returns
        -------
        self : object
            The fitted estimator, which predicts of data frames, arrays and files.
        """
        if getattr(self, "class_weight", None) is not None:
            raise ValueError("class_weight is for fit: give files a column of weights, and its name as weight")
        if self.warm_start:
            raise ValueError("warm_start is for fit: a fit to files starts from nothing")
        model = Model.fit_files(
            _paths(path),
            target,
            settings=self._settings(),
            is_classification=self._head == "classification",
            ignore=[ignore] if isinstance(ignore, str) else list(ignore),
            kinds=list((kinds or {}).items()),
            weight=weight,
            group=group,
            reading=_reading(header, encoding, delimiter, strict),
            threads=threads_of(self.n_jobs),
            verbose=min(int(self.verbose), 2),
        )
        return self._named_by(model)._adopt(model)

    def predict_file(self, path, *, header=None, encoding=None, delimiter=None, strict=False):
        """Predict the rows of files, which are read block by block.

        Parameters
        ----------
        path : str, path-like or list of them
            Files, folders and patterns, as :meth:`fit_file` takes them. Columns are found by their names, others are not looked at.
        header, encoding, delimiter, strict
            How they are read, as :meth:`fit_file` has it.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            What :meth:`predict` gives for these rows.
        """
        check_is_fitted(self)
        reading = _reading(header, encoding, delimiter, strict)
        return self.predict(self._model.files(_paths(path), reading, threads_of(self.n_jobs)))

    def _adopt(self, model: Model):
        """Show what the model holds in scikit-learn's words."""
        self._model = model
        parts = model.metric_parts()
        self.metric_ = None
        for name, part in zip(_METRIC_PARTS, parts or (None,) * len(_METRIC_PARTS), strict=True):
            # What is not there has no attribute: meta-estimators ask for it.
            if isinstance(part, tuple):
                factor, along = part
                part = csr_array(hstack([factor * identity(len(along)), csr_matrix(along)]))
            if part is not None:
                setattr(self, name, part)
            elif name in vars(self) and name != "metric_":
                delattr(self, name)
        self.coef_ = model.coefficients
        self.intercept_ = model.intercept
        self.lambda_ = model.regularization
        self.cv_curve_ = np.array(model.curve, dtype=np.float64).reshape(-1, 2)
        self.degrees_of_freedom_ = model.degrees_of_freedom
        self.objective_, self.dual_objective_, self.margin_ = model.margins or (None, None, None)
        self.n_iter_ = self.stopped_by_ = self.error_scale_ = self.residual_ = None
        if model.conjugate is not None:
            _, self.n_iter_, self.stopped_by_, self.residual_, _ = model.conjugate
        if model.minimised is not None:
            self.objective_, self.dual_objective_, self.n_iter_, self.stopped_by_, self.error_scale_ = model.minimised
        self.kernel_ = model.kernel
        self.n_components_ = model.features
        self.plan_ = None if model.plan is None else json.loads(model.plan)
        self.certificate_ = Certificate.from_json(model.certificate, model.certificate_text)
        self.n_held_out_ = model.held_out_rows
        return self

    @property
    def encoded_names_(self) -> np.ndarray:
        """Names of the columns that the kernel compares."""
        check_is_fitted(self)
        return np.array(self._model.encoded_names, dtype=object)

    def _outputs(self, X) -> np.ndarray:
        """Outputs of the model, one column each, in the precision of the rows."""
        check_is_fitted(self)
        return self._outputs_of(check_rows(self, X, reset=False))

    def _outputs_of(self, rows) -> np.ndarray:
        """The same of validated rows."""
        return self._model.decide(rows, threads_of(self.n_jobs)).astype(rows.dtype, copy=False)

    def encode(self, X):
        """Rows as the kernel compares them: standardized, and stretched by the learnt metric if there is one.

        For whatever else compares rows by their distances: neighbours, clusters, kernel principal components.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features_in_)
            Rows.

        Returns
        -------
        X_encoded : {ndarray, csr_matrix} of shape (n_samples, n_features_in_)
            In the precision of the rows; sparse where they are and their zeros stay zero; with as many columns more as ``metric_`` adds.
        """
        check_is_fitted(self)
        rows = check_rows(self, X, reset=False)
        encoded = self._model.encode(rows, threads_of(self.n_jobs))
        if not isinstance(encoded, tuple):
            return encoded
        ends, columns, values = encoded
        return csr_matrix((values, columns, ends), shape=(len(ends) - 1, self._model.encoded_dim))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags
