"""Learners with the exact kernel: what the approximate ones are measured by."""

from __future__ import annotations

import json
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ._core import Model
from ._kernel import GAMMA, KERNEL_CONSTRAINTS, SCALE, is_family, kernel_for_rows, refuse_texts
from ._labels import classes_of
from ._learner import SavedModel
from ._targets import spread
from ._validation import ROWS, SHARED_CONSTRAINTS, check_rows, check_rows_and_targets, keeping_the_last_fit, threads_of
from .learners import Classifies


class KernelSVC(Classifies, SavedModel):
    """Support vector machine with the exact kernel, one class against one, in place of ``SVC``.

    Minimises ½ ‖w‖² + C Σ wᵢ max(0, 1 - yᵢ f(xᵢ)) for each pair of classes, f(x) = Σ αᵢ yᵢ k(xᵢ, x) + b, as LIBSVM does, by sequential
    minimal optimisation. Both objectives are reported; the duality gap bounds the distance from the
    optimum. At the same ``tol`` it grows with C.

    Parameters
    ----------
    kernel : str or Kernel, default="gaussian"
        ``"gaussian"`` (or ``"rbf"``), exp(-gamma ‖x - y‖²), or ``"laplace"`` (or ``"laplacian"``), exp(-gamma ‖x - y‖₁), with a width from one of the
        next three parameters; or a whole one, which stands alone: any :class:`Kernel` or its text, such as ``"gaussian(sigma=2)[age,income] + linear"``.
    C : float, default=1.0
        What a margin that is too small costs.
    gamma : float, "scale" or None, default="scale"
        The width as scikit-learn spells it. ``"scale"`` is 1 / (n_features * X.var()), rows being weighted as in the fit, None is 1 / n_features. The default gives way to ``sigma``,
        ``scale`` and a whole kernel.
    sigma : float or array-like of shape (n_features,), default=None
        The width of the Gaussian, in the units of the rows: gamma = 1 / (2 sigma²). An array has one for each column.
    scale : float or array-like of shape (n_features,), default=None
        The width of the Laplace kernel, in the units of the rows: gamma = 1 / scale. An array has one for each column.
    tol : float, default=1e-3
        How much the conditions of an optimum may be violated.
    cache_size : float, default=200
        Megabytes for kernel values that are kept.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        One score for each class, or one for each pair of classes, as ``SVC`` has them.
    n_jobs : int or None, default=None
        Threads, which share the pairs of classes; None and -1 mean all processors. The result does not depend on them.
    verbose : int, default=0
        1 prints the phases of a fit, 2 their progress too.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    support_vectors_ : ndarray of shape (n_SV, n_features_in_)
        Rows with αᵢ > 0 for some pair of classes.
    dual_coef_ : ndarray of shape (n_pairs, n_SV)
        αᵢ yᵢ, y = 1 for the second class of a pair. Pairs are in the order (0, 1), (0, 2), … (1, 2), …
    intercept_ : ndarray of shape (n_pairs,)
        b.
    objective_ : float
        The primal value, summed over pairs.
    dual_objective_ : float
        What no other f can be better than.
    margin_ : float
        γ = 1 / (‖w‖ max √k(x, x)), the smallest of all pairs: the normalised margin.
    kernel_ : str
        The kernel with its width, as text.
    n_features_in_ : int
        Columns of the rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they have any.

    See Also
    --------
    KernelClassifier : The same at the cost of a linear model, with ``loss="hinge"``.
    sklearn.svm.SVC : LIBSVM itself.

    Notes
    -----
    Classes with equally many votes are told apart by the sum of scores, where LIBSVM takes the first. Weighting a row equals
    repeating it. A file keeps λ = 1 / (2 C Σ w): what :meth:`load` gives has the C of rows with weight one. Costs between n² and n³: for some ten thousand rows.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import KernelSVC
    >>> X = np.random.default_rng(0).normal(size=(400, 2))
    >>> y = np.where((X ** 2).sum(axis=1) > 1, "outside", "inside")
    >>> model = KernelSVC(C=10).fit(X, y)
    >>> print(*model.predict([[0.1, 0.1], [2.0, 0.0]]))
    inside outside
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **KERNEL_CONSTRAINTS,
        "C": [Interval(Real, 0, None, closed="neither")],
        "gamma": [GAMMA, SCALE, None],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "cache_size": [Interval(Real, 0, None, closed="neither")],
        "decision_function_shape": [StrOptions({"ovr", "ovo"})],
        "n_jobs": SHARED_CONSTRAINTS["n_jobs"],
        "verbose": ["verbose"],
    }

    _head = "classification"
    _decision = "votes"

    def __init__(
        self,
        kernel="gaussian",
        *,
        C=1.0,
        gamma="scale",
        sigma=None,
        scale=None,
        tol=1e-3,
        cache_size=200,
        decision_function_shape="ovr",
        n_jobs=None,
        verbose=0,
    ):
        self.kernel = kernel
        self.C = C
        self.gamma = gamma
        self.sigma = sigma
        self.scale = scale
        self.tol = tol
        self.cache_size = cache_size
        self.decision_function_shape = decision_function_shape
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _learn(self, rows, codes, sample_weight, labels, target) -> Model:
        """A model of validated rows and codes of classes."""
        present = ~np.isnan(codes).any(axis=1)
        sample_weight = self._weights(sample_weight, rows, None if present.all() else present)
        names = getattr(self, "feature_names_in_", None)
        return Model.fit_exact(
            rows,
            np.ascontiguousarray(codes, dtype=np.float64),
            sample_weight,
            labels,
            kernel=self._kernel_text(rows, sample_weight),
            cost=float(self.C),
            tolerance=float(self.tol),
            cache_bytes=int(self.cache_size * 1e6),
            columns=None if names is None else list(names),
            target=target if isinstance(target, str) else "",
            threads=threads_of(self.n_jobs),
            verbose=min(int(self.verbose), 2),
        )

    def _kernel_text(self, rows, weights) -> str:
        """The kernel with the width that was given, or the usual one, which gives way."""
        stands_alone = not is_family(self.kernel) or self.sigma is not None or self.scale is not None
        gamma = None if stands_alone and self.gamma == "scale" else self.gamma
        widths = {"gamma": gamma, "sigma": self.sigma, "scale": self.scale}
        # Repeated and weighted rows give variances that differ in their last digits, from which nothing should follow.
        return kernel_for_rows(self.kernel, rows, **widths, weights=weights, digits=12)

    def decision_function(self, X):
        """Score classes, or pairs of them.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows. Columns of a data frame are found by their names, wherever they stand, and others are not looked at; columns that were all numbers stand as in
            the fit. A level that is new, or a cell that cannot be read, is no error.

        Returns
        -------
        scores : ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
            For two classes, positive where the second is predicted; for more, votes with a part below one half that decides among equals, or
            with ``decision_function_shape="ovo"`` the values of all pairs, positive for the first class of a pair.
        """
        check_is_fitted(self)
        rows = check_rows(self, X, reset=False)
        threads = threads_of(self.n_jobs)
        if len(self.classes_) > 2 and self.decision_function_shape == "ovo":
            return -self._model.outputs_of(rows, threads)
        scores = self._model.decide(rows, threads)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    @property
    def support_vectors_(self) -> np.ndarray:
        """The support vectors."""
        check_is_fitted(self)
        return self._model.landmarks

    def _adopt(self, model: Model, classes: np.ndarray | None = None):
        self._model = model
        self.dual_coef_ = model.coefficients
        self.intercept_ = model.intercept
        self.kernel_ = model.kernel
        self.objective_, self.dual_objective_, self.margin_ = model.margins
        self.classes_ = classes_of(*model.labels) if classes is None else classes
        return self

    @classmethod
    def _words_of(cls, model: Model) -> dict[str, Any]:
        return {"kernel": model.kernel, "C": 1.0 / (2.0 * model.regularization * model.rows)}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


#: Rows of kernel ridge: coefficients may be so large that single precision of kernel values would show.
_DOUBLE: dict[str, Any] = {**ROWS, "dtype": np.float64}


class KernelRidge(RegressorMixin, SavedModel):
    """Kernel ridge regression with the exact kernel, in place of scikit-learn's ``KernelRidge``.

    Minimises Σ wᵢ (yᵢ - f(xᵢ) - b)² + alpha ‖f‖², f(x) = Σ cᵢ k(xᵢ, x), by one Cholesky factorisation. With any kernel, with an intercept that is not
    penalised if asked for, and with alpha by exact cross-validation if it is not given.

    Parameters
    ----------
    kernel : str or Kernel, default="gaussian"
        ``"gaussian"`` (or ``"rbf"``), exp(-gamma ‖x - y‖²), or ``"laplace"`` (or ``"laplacian"``), exp(-gamma ‖x - y‖₁), with a width from one of
        ``gamma``, ``sigma`` and ``scale``; or a whole one, which stands alone: any :class:`Kernel` or its text, such as ``"gaussian(sigma=2)[age,income] + linear"``.
    alpha : float or "cv", default=1.0
        How strongly f is held back: alpha = λ Σw in the words of the other learners, n λ without weights. ``"cv"`` chooses λ from 21 values by cross-validation.
    fit_intercept : bool, default=False
        Whether to fit a constant b that is not penalised.
    gamma : float, "scale" or None, default=None
        The width as scikit-learn spells it. None is 1 / n_features, ``"scale"`` is 1 / (n_features * X.var()), rows being weighted as in the fit.
    sigma : float or array-like of shape (n_features,), default=None
        The width of the Gaussian, in the units of the rows: gamma = 1 / (2 sigma²). An array has one for each column.
    scale : float or array-like of shape (n_features,), default=None
        The width of the Laplace kernel, in the units of the rows: gamma = 1 / scale. An array has one for each column.
    folds : int, default=5
        Folds of the cross-validation, from 2 to 64. A row's fold depends on its content.
    n_jobs : int or None, default=None
        Threads; None and -1 mean all processors. The result does not depend on them.
    verbose : int, default=0
        1 prints the phases of a fit, 2 their progress too.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_distinct,) or (n_distinct, n_outputs)
        cᵢ, one for each row of ``X_fit_``.
    X_fit_ : ndarray of shape (n_distinct, n_features_in_)
        The rows, equal ones of equal targets merged, those of weight 0 left out, in the order of their content.
    intercept_ : float or ndarray of shape (n_outputs,)
        b; zero without an intercept.
    alpha_ : float
        alpha, given or chosen.
    lambda_ : float
        λ = alpha / Σw.
    cv_curve_ : ndarray of shape (n_lambdas, 2)
        λ and mean squared error on left-out rows, summed over outputs; empty if alpha was given.
    degrees_of_freedom_ : float
        The trace of what takes targets to fitted values, the intercept not counted.
    kernel_ : str
        The kernel with its width, as text.
    n_features_in_ : int
        Columns of the rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they have any.

    See Also
    --------
    KernelRegressor : The same at the cost of a linear model.
    sklearn.kernel_ridge.KernelRidge : What it takes the place of.

    Notes
    -----
    Everything is computed in double precision, whatever the rows come in. Weighting a row equals repeating it, up to rounding. Costs n³ time and n² memory, twice
    for cross-validation: for some thousand rows. A file keeps λ: what :meth:`load` gives has the alpha of rows with weight one.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import KernelRidge
    >>> X = np.linspace(0, 10, 200)[:, None]
    >>> y = np.sin(X[:, 0])
    >>> model = KernelRidge("gaussian(sigma=1)", alpha=1e-6).fit(X, y)
    >>> bool(abs(model.predict([[0.5]])[0] - np.sin(0.5)) < 1e-3)
    True
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **KERNEL_CONSTRAINTS,
        "alpha": [StrOptions({"cv"}), Interval(Real, 0, None, closed="neither")],
        "fit_intercept": ["boolean"],
        "gamma": [GAMMA, SCALE, None],
        "folds": [Interval(Integral, 2, 64, closed="both")],
        "n_jobs": SHARED_CONSTRAINTS["n_jobs"],
        "verbose": ["verbose"],
    }

    _head = "regression"

    def __init__(
        self,
        kernel="gaussian",
        *,
        alpha=1.0,
        fit_intercept=False,
        gamma=None,
        sigma=None,
        scale=None,
        folds=5,
        n_jobs=None,
        verbose=0,
    ):
        self.kernel = kernel
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.gamma = gamma
        self.sigma = sigma
        self.scale = scale
        self.folds = folds
        self.n_jobs = n_jobs
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Fit to rows and their targets.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows. A data frame is whatever has ``__arrow_c_stream__``: of pandas, Polars, pyarrow, or a reader that gives its rows once. Its columns may be
            numbers, booleans, categories, dates and times, or texts, which are hashed; strings are what they are found to be. Any cell may be missing, as
            NaN in an array. Long streams are kept in an unnamed temporary file, so that memory stays constant.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets. Beside a data frame some may be missing: their rows are left out, with a warning.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, not negative; None means all one.

        Returns
        -------
        self : object
            The fitted regressor.
        """
        refuse_texts(self.kernel, X)
        name = getattr(y, "name", None)
        with keeping_the_last_fit(self):
            rows, y, present = check_rows_and_targets(self, X, y, multi_output=True, y_numeric=True, rows=_DOUBLE)
            weights = self._weights(sample_weight, rows, present)
            total = float(len(y)) if weights is None else float(weights.sum())
            targets = spread(y.reshape(len(y), -1), present)
            names = getattr(self, "feature_names_in_", None)
            widths = {"gamma": self.gamma, "sigma": self.sigma, "scale": self.scale}
            model = Model.fit_exact_ridge(
                rows,
                np.ascontiguousarray(targets, dtype=np.float64),
                weights,
                kernel=kernel_for_rows(self.kernel, rows, **widths, weights=weights, digits=12),
                # Without any weight there is nothing to learn from, which the library says.
                regularization=None if self.alpha == "cv" else float(self.alpha) / (total or 1.0),
                folds=int(self.folds),
                intercept=bool(self.fit_intercept),
                columns=None if names is None else list(names),
                target=name if isinstance(name, str) else "",
                threads=threads_of(self.n_jobs),
                verbose=min(int(self.verbose), 2),
            )
        return self._adopt(model, one_column=y.ndim == 1, total=total)

    def predict(self, X):
        """Predict targets.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows. Columns of a data frame are found by their names, wherever they stand, and others are not looked at; columns that were all numbers stand as in
            the fit. A level that is new, or a cell that cannot be read, is no error.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Predictions.
        """
        check_is_fitted(self)
        rows = check_rows(self, X, reset=False, rows=_DOUBLE)
        outputs = self._model.decide(rows, threads_of(self.n_jobs))
        return outputs[:, 0] if self._one_column else outputs

    @property
    def X_fit_(self) -> np.ndarray:
        """The rows that it was fitted to."""
        check_is_fitted(self)
        return self._model.landmarks

    def _adopt(self, model: Model, one_column: bool | None = None, total: float | None = None):
        self._model = model
        # A file does not tell one column from a vector, nor the sum of the weights.
        self._one_column = len(model.intercept) == 1 if one_column is None else one_column
        self.dual_coef_ = model.coefficients[0] if self._one_column else model.coefficients.T
        self.intercept_ = float(model.intercept[0]) if self._one_column else model.intercept
        self.lambda_ = model.regularization
        self.alpha_ = model.regularization * (model.rows if total is None else total)
        self.cv_curve_ = np.array(model.curve, dtype=np.float64).reshape(-1, 2)
        self.degrees_of_freedom_ = model.degrees_of_freedom
        self.kernel_ = model.kernel
        return self

    @classmethod
    def _words_of(cls, model: Model) -> dict[str, Any]:
        method = json.loads(model.method)
        if method.get("choice") != "given" or method.get("whiten") is not False or model.standardized:
            raise ValueError(f"expected a file for {cls.__name__}, found a regression on features that KernelRegressor reads")
        return {
            "kernel": model.kernel,
            "alpha": "cv" if model.folds > 1 else model.regularization * model.rows,
            "fit_intercept": model.has_intercept,
            "folds": model.folds if model.folds > 1 else 5,
        }

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.target_tags.multi_output = True
        return tags
