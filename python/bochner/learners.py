"""Linear models on features of a kernel, under any loss: numbers and classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin, _fit_context
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from ._core import Model
from ._kernel import refuse_texts
from ._labels import as_labels, classes_of, labels_of
from ._learner import KernelLearner
from ._targets import spread
from ._validation import check_rows, check_rows_and_targets, keeping_the_last_fit, threads_of


class KernelRegressor(RegressorMixin, KernelLearner):
    """Kernel regression at the cost of a linear model.

    Minimises (1/Σw) Σ wᵢ loss(yᵢ, c·z(xᵢ) + b) + λ ‖c‖² on features z of a kernel: squared errors, that is kernel ridge regression, or
    others. The width of the kernel and λ are chosen by cross-validation where they are not given.

    Parameters
    ----------
    kernel : str or Kernel, default="auto"
        ``"gaussian"``, exp(-gamma ‖x - y‖²), ``"laplace"``, exp(-gamma ‖x - y‖₁), or ``"exponential"``, exp(-‖x - y‖ / scale), with a width from one of the next
        three parameters, or chosen by cross-validation if there is none; ``"auto"``, the best of these three; or a whole one, which stands alone: any :class:`Kernel` or its text,
        such as ``"gaussian(sigma=2)[age,income] + linear"``. It sees columns after standardization; kernels of entries that are not negative need
        ``standardize=False``.
    gamma : float, default=None
        The width as scikit-learn spells it.
    sigma : float or array-like of shape (n_features,), default=None
        The width of the Gaussian, in the units of the rows after standardization: gamma = 1 / (2 sigma²). An array has one for each column.
    scale : float or array-like of shape (n_features,), default=None
        The width of the Laplace kernel, in the units of the rows after standardization: gamma = 1 / scale. An array has one for each column.
    n_components : int, default=None
        Features, D. None means as many as pay: they are doubled, from 512 on, while the error on left-out rows falls by more than chance; few distinct rows (up to
        2,048) become landmarks, all of them. For binning, grids; None means 256 or fewer.
    method : {"auto", "compiled", "exact", "fourier", "orthogonal", "quasi", "turned", "structured", "offset", "landmarks", "k-means++", "leverage", "cholesky", "binning"}, default="auto"
        How features are made: what the compiler makes of the expression; the kernel's own features, where they are finitely many; Fourier pairs
        with independent, orthogonal, quasi-random, turned or structured frequencies, or Fourier features with offsets; whitened kernel values at rows of
        the data, chosen uniformly, by distance, by leverage or by pivots; cells of random grids (for Laplace and hats). ``"auto"`` is the
        kernel's usual one (orthogonal for the Gaussian, independent for Laplace, none for linear, compiled for expressions; offsets if ``n_components`` is odd).
    loss : str, default="ridge"
        What is minimised beside λ ‖c‖²: ``"ridge"``, squared errors; ``"huber"`` or ``"huber(epsilon=1.35)"``, squares of small errors and sizes
        of large ones, large beginning at epsilon times their own size, which is fitted too, as in ``HuberRegressor``; ``"quantile(level=0.9)"``, for
        the value below which that part of the targets lies; ``"insensitive(epsilon=0.1)"``, errors beyond epsilon, as in ``SVR``. All but the first hold the features of all rows in memory.
    regularization : "cv" or float, default="cv"
        λ of the objective; ``"cv"`` chooses it by cross-validation, from 21 values (up to 8 under other losses than ridge).
    folds : int, default=5
        Folds of the cross-validation of λ, from 2 to 64. A row's fold depends on its content.
    standardize : bool, default=True
        Whether columns are brought to mean 0 and deviation 1 first (sparse ones to deviation 1).
    scaling : {"standard", "quantile", "robust"}, default="standard"
        What becomes of a column of numbers before that: nothing; its rank, as a quantile of a normal distribution, for skewed columns; or the distance from its
        median in those of the quartiles, outliers squashed. Of dense rows.
    tol : float, default=1e-4
        What may be left to gain, as a part of the objective, where it is found in steps: under other losses than ridge.
    budget : float, default=None
        Seconds for the whole fit: kernel and ``n_components``, where they are left open, are searched for as long as it allows. None means an amount of work,
        about a minute of two processor cores, and no clock is asked.
    solver : {"auto", "gram", "cg"}, default="auto"
        How squares are minimised: by sums of D² numbers, in one pass over the rows; by conjugate gradients, which keep features where they are few, make them anew
        in every step where not, and choose λ by the error on one left-out part of ``folds``; ``"auto"`` takes sums unless they do not fit into memory or cost more.
    metric : {"auto", "none", "diagonal", "full"}, default="auto"
        How rows are compared: as columns are scaled; by a learnt factor for each column; by a learnt matrix, along the directions in which the fitted function changes;
        ``"auto"`` learns one where the kernel is left open, and takes it if rows that it has not seen are predicted better. It is learnt from a sample of the rows.
    warm_start : bool, default=False
        Whether a fit goes on from the coefficients of the one before, if its features are the same; under other losses than ridge and hinge.
    deviation : bool, default=False
        Whether to keep what :meth:`predict` needs for ``return_std=True``: D²/2 numbers. Under ridge loss only.
    held_out : float, default=None
        The share of the rows, between 0 and 1, that is held out of the fit for :meth:`predict_interval`. The model learns from the others alone.
    random_state : int, RandomState instance or None, default=0
        Of all chance.
    n_jobs : int or None, default=None
        Threads; None and -1 mean all processors. The result does not depend on them.
    verbose : int, default=0
        1 prints the phases of a fit, 2 their progress too.

    Attributes
    ----------
    coef_ : ndarray of shape (n_components_,) or (n_outputs, n_components_)
        Coefficients of the features.
    intercept_ : float or ndarray of shape (n_outputs,)
        The constant.
    lambda_ : float
        λ, given or chosen.
    cv_curve_ : ndarray of shape (n_lambdas, 2)
        λ and mean squared error on left-out rows (mean loss under other losses), summed over outputs; empty if λ was given.
    degrees_of_freedom_ : float or None
        tr S(S + λI)⁻¹: how many coefficients the data decide; None for other losses than ridge and for conjugate gradients.
    objective_ : float or None
        (1/Σw) Σ w loss + λ ‖c‖², summed over outputs; None for ridge.
    dual_objective_ : float or None
        What no coefficients can be better than, where it is known: the gap certifies the solution.
    n_iter_ : int or None
        Steps that were made; None for ridge by sums.
    stopped_by_ : {"gap", "gain", "residual", "stagnation", "steps"} or None
        Why no more were made: the gap between the two objectives was small enough; another step would have gained too little; the residual was small enough; rounding left nothing to gain; ``"steps"``, with a
        warning: there were too many. None for ridge by sums.
    residual_ : float or None
        What conjugate gradients left of the equations, as a part of their right side.
    error_scale_ : float or None
        The size of an error under Huber's loss, the largest of all outputs.
    kernel_ : str
        The kernel with its width, as text.
    n_components_ : int
        Features, D.
    plan_ : dict
        All that was settled before the fit, what was tried, and why ``n_components_`` is not larger.
    metric_ : {ndarray, csr_array} of shape (n_features_in_, n_features_in_) or (n_features_in_,), or None
        The matrix by which scaled rows are multiplied, or the factors of their columns, where a metric was learnt. Sparse, and wider by at most 16 columns, where
        leading directions are added to columns that are otherwise multiplied by one number: of more than 1,024 columns, or 256 of sparse rows.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Where a metric was learnt: what part of the mean square of the gradient each column has, of the function that the metric was learnt from, per deviation of the column.
        Of a data frame, one for each of ``encoded_names_``.
    encoded_names_ : ndarray
        What the columns are called that the kernel compares: ``colour=red`` for a level, ``size is missing`` for an indicator; an array's are ``x0``, ``x1``, …
    metric_directions_ : ndarray of shape (n_directions, n_features_in_)
        The leading directions of the gradient, unit vectors.
    metric_shares_ : ndarray of shape (n_directions,)
        What part of its mean square each has.
    certificate_ : Certificate
        The kernel error: a bound, and what was measured on a sample of the rows.
    n_held_out_ : int or None
        Distinct rows that were held out of the fit.
    n_features_in_ : int
        Columns of the rows; after :meth:`fit_file` and :meth:`load`, those that are looked at.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they have any.

    See Also
    --------
    KernelClassifier : The same for classes.
    FourierFeatures : The features alone.
    KernelRidge : With the exact kernel, in time n³ and memory n².

    Notes
    -----
    Sums are double for rows of either precision. Weighting a row equals repeating it, up to rounding. A fit gives the same
    bits for any number of threads.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import KernelRegressor
    >>> X = np.linspace(0, 10, 500)[:, None]
    >>> y = np.sin(X[:, 0])
    >>> model = KernelRegressor(n_components=256).fit(X, y)
    >>> bool(abs(model.predict([[0.5]])[0] - np.sin(0.5)) < 1e-3)
    True
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **KernelLearner._parameter_constraints,
        "loss": [str],
        "deviation": ["boolean"],
    }

    _head = "regression"

    def __init__(
        self,
        kernel="auto",
        *,
        gamma=None,
        sigma=None,
        scale=None,
        n_components=None,
        method="auto",
        loss="ridge",
        regularization="cv",
        folds=5,
        standardize=True,
        scaling="standard",
        tol=1e-4,
        budget=None,
        solver="auto",
        metric="auto",
        warm_start=False,
        deviation=False,
        held_out=None,
        random_state=0,
        n_jobs=None,
        verbose=0,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.sigma = sigma
        self.scale = scale
        self.n_components = n_components
        self.method = method
        self.loss = loss
        self.regularization = regularization
        self.folds = folds
        self.standardize = standardize
        self.scaling = scaling
        self.tol = tol
        self.budget = budget
        self.solver = solver
        self.metric = metric
        self.warm_start = warm_start
        self.deviation = deviation
        self.held_out = held_out
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None, *, group=None):
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
        group : str, default=None
            A column of a data frame whose equal cells mark rows that belong together, such as those of a patient: it is not learnt from, and they are never on both sides of a
            validation.

        Returns
        -------
        self : object
            The fitted regressor.
        """
        refuse_texts(self.kernel, X)
        name = getattr(y, "name", None)
        with keeping_the_last_fit(self):
            rows, y, present = check_rows_and_targets(self, X, y, multi_output=True, y_numeric=True, group=group)
            model = self._learn(rows, spread(y.reshape(len(y), -1), present), sample_weight, None, name, group)
        return self._adopt(model, one_column=y.ndim == 1)

    def predict(self, X, return_std=False):
        """Predict targets.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows. Columns of a data frame are found by their names, wherever they stand, and others are not looked at; columns that were all numbers stand as in
            the fit. A level that is new, or a cell that cannot be read, is no error.
        return_std : bool, default=False
            Whether to return deviations too; needs ``deviation=True``.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Predictions, in the precision of the rows.
        std : ndarray of the same shape
            The standard deviation of a new observation, if it is asked for: of the posterior of a ridge regression whose errors have one size, as ``BayesianRidge`` has it. Far from
            all rows it says too little, where the kernel has more features than were drawn.
        """
        check_is_fitted(self)
        if return_std and not self._model.has_deviation:
            raise ValueError("return_std=True needs a fit with deviation=True")
        rows = check_rows(self, X, reset=False)
        outputs = self._outputs_of(rows)
        if not return_std:
            return self._shaped(outputs)
        deviations = self._model.deviations(rows, threads_of(self.n_jobs)).astype(rows.dtype, copy=False)
        return self._shaped(outputs), self._shaped(deviations)

    def predict_interval(self, X, coverage=0.9):
        """Predict intervals that hold the targets of new rows.

        Needs a fit with ``held_out``. If distinct rows are exchangeable, the target of a row unlike those of the fit lies in its interval with at least the probability asked for, whatever the
        law of the data and however good the model: on average over rows, for each output by itself.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows. Columns of a data frame are found by their names, wherever they stand, and others are not looked at; columns that were all numbers stand as in
            the fit. A level that is new, or a cell that cannot be read, is no error.
        coverage : float, default=0.9
            The probability, between 0 and 1.

        Returns
        -------
        lower : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Where intervals begin, in double precision whatever that of the rows, because rounding might leave a target outside; minus infinity where so few rows were held out that only everything covers as much.
        upper : ndarray of the same shape
            Where they end.
        """
        check_is_fitted(self)
        rows = check_rows(self, X, reset=False)
        lower, upper = self._model.intervals(rows, float(coverage), threads_of(self.n_jobs))
        return self._shaped(lower), self._shaped(upper)

    def _shaped(self, outputs: np.ndarray) -> np.ndarray:
        """One number a row where targets were a vector."""
        return outputs[:, 0] if self._one_column else outputs

    @classmethod
    def _words_of(cls, model: Model) -> dict[str, Any]:
        return {**super()._words_of(model), "deviation": model.has_deviation}

    def _adopt(self, model: Model, one_column: bool | None = None):
        super()._adopt(model)
        # A file does not tell one column from a vector.
        self._one_column = len(self.intercept_) == 1 if one_column is None else one_column
        if self._one_column:
            self.coef_ = self.coef_[0]
            self.intercept_ = float(self.intercept_[0])
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class Classifies(ClassifierMixin):
    """What classifiers share: classes as codes, and a model that gives them back."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Fit to rows and their classes.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows. A data frame is whatever has ``__arrow_c_stream__``: of pandas, Polars, pyarrow, or a reader that gives its rows once. Its columns may be
            numbers, booleans, categories, dates and times, or texts, which are hashed; strings are what they are found to be. Any cell may be missing, as
            NaN in an array. Long streams are kept in an unnamed temporary file, so that memory stays constant.
        y : array-like of shape (n_samples,)
            Classes: integers, booleans, numbers or strings, which come back as they are. Beside a data frame some may be missing: their rows are left
            out, with a warning.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, not negative; None means all one.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        return self._fit(X, y, sample_weight)

    def _fit(self, X, y, sample_weight, **grouped):
        """The same, and with ``group`` where rows belong together."""
        refuse_texts(self.kernel, X)
        name = getattr(y, "name", None)
        with keeping_the_last_fit(self):
            rows, y, present = check_rows_and_targets(self, X, as_labels(y), **grouped)
            check_classification_targets(y)
            classes, codes = np.unique(y, return_inverse=True)
            if len(classes) == 1:
                raise ValueError(f"expected at least two classes, found one class: {classes[0]!r}")
            if getattr(self, "class_weight", None) is not None:
                weight = spread(compute_sample_weight(self.class_weight, y), present, filling=0.0)
                sample_weight = weight if sample_weight is None else weight * _check_sample_weight(sample_weight, rows)
            model = self._learn(rows, spread(codes.reshape(-1, 1), present), sample_weight, labels_of(classes), name, **grouped)
        return self._adopt(model, classes)

    def predict(self, X):
        """Predict classes.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows. Columns of a data frame are found by their names, wherever they stand, and others are not looked at; columns that were all numbers stand as in
            the fit. A level that is new, or a cell that cannot be read, is no error.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The classes.
        """
        check_is_fitted(self)
        rows = check_rows(self, X, reset=False)
        return self.classes_[self._model.classify(rows, threads_of(self.n_jobs))]


def _has_probabilities(self) -> bool:
    """Whether scores become probabilities; the message of the error says what would make them so."""
    model = getattr(self, "_model", None)
    will_have = self.loss == "logistic" or self.probability or self.held_out is not None
    if not (will_have if model is None else model.has_probabilities):
        raise AttributeError(f"probabilities need loss='logistic' or probability=True, found loss={self.loss!r}")
    return True


class KernelClassifier(Classifies, KernelLearner):
    """Kernel classification at the cost of a linear model.

    Ridge regression of classes coded as ±1 (two) or as one column of 0/1 each (more) on features of a kernel, logistic regression, or a linear
    support vector machine for each class against the rest, decided by the sign or by the largest. The width of the kernel and λ are chosen by cross-validation where they are not given.

    Parameters
    ----------
    kernel : str or Kernel, default="auto"
        ``"gaussian"``, exp(-gamma ‖x - y‖²), ``"laplace"``, exp(-gamma ‖x - y‖₁), or ``"exponential"``, exp(-‖x - y‖ / scale), with a width from one of the next
        three parameters, or chosen by cross-validation if there is none; ``"auto"``, the best of these three; or a whole one, which stands alone: any :class:`Kernel` or its text,
        such as ``"gaussian(sigma=2)[age,income] + linear"``. It sees columns after standardization; kernels of entries that are not negative need
        ``standardize=False``.
    gamma : float, default=None
        The width as scikit-learn spells it.
    sigma : float or array-like of shape (n_features,), default=None
        The width of the Gaussian, in the units of the rows after standardization: gamma = 1 / (2 sigma²). An array has one for each column.
    scale : float or array-like of shape (n_features,), default=None
        The width of the Laplace kernel, in the units of the rows after standardization: gamma = 1 / scale. An array has one for each column.
    n_components : int, default=None
        Features, D. None means as many as pay: they are doubled, from 512 on, while the error on left-out rows falls by more than chance; few distinct rows (up to
        2,048) become landmarks, all of them. For binning, grids; None means 256 or fewer.
    method : {"auto", "compiled", "exact", "fourier", "orthogonal", "quasi", "turned", "structured", "offset", "landmarks", "k-means++", "leverage", "cholesky", "binning"}, default="auto"
        How features are made: what the compiler makes of the expression; the kernel's own features, where they are finitely many; Fourier pairs
        with independent, orthogonal, quasi-random, turned or structured frequencies, or Fourier features with offsets; whitened kernel values at rows of
        the data, chosen uniformly, by distance, by leverage or by pivots; cells of random grids (for Laplace and hats). ``"auto"`` is the
        kernel's usual one (orthogonal for the Gaussian, independent for Laplace, none for linear, compiled for expressions; offsets if ``n_components`` is odd).
    loss : {"ridge", "logistic", "squared_hinge", "hinge"}, default="ridge"
        What is minimised beside λ ‖c‖²: squared differences from the codes of the classes; minus the logarithm of the probability of the class, which
        :meth:`predict_proba` then gives (``LogisticRegression`` with C = 1 / (2 λ n)); or margins that are too small, max(0, 1 - m)² or
        max(0, 1 - m), of each class against the rest (a linear support vector machine, as ``LinearSVC`` has it with
        C = 1 / (2 λ n), its constant penalised like the coefficients). All but ridge hold the features of all rows in memory.
    regularization : "cv" or float, default="cv"
        λ of the objective; ``"cv"`` chooses it by cross-validation, from 21 values (up to 8 under other losses than ridge).
    folds : int, default=5
        Folds of the cross-validation of λ, from 2 to 64. A row's fold depends on its content.
    standardize : bool, default=True
        Whether columns are brought to mean 0 and deviation 1 first (sparse ones to deviation 1).
    scaling : {"standard", "quantile", "robust"}, default="standard"
        What becomes of a column of numbers before that: nothing; its rank, as a quantile of a normal distribution, for skewed columns; or the distance from its
        median in those of the quartiles, outliers squashed. Of dense rows.
    class_weight : dict, "balanced" or None, default=None
        Factors of the weights of rows, by class; ``"balanced"`` is n / (classes × rows of the class), as everywhere in scikit-learn.
    tol : float, default=1e-4
        What may be left to gain, as a part of the objective, where it is found in steps: under other losses than ridge.
    budget : float, default=None
        Seconds for the whole fit: kernel and ``n_components``, where they are left open, are searched for as long as it allows. None means an amount of work,
        about a minute of two processor cores, and no clock is asked.
    solver : {"auto", "gram", "cg"}, default="auto"
        How squares are minimised: by sums of D² numbers, in one pass over the rows; by conjugate gradients, which keep features where they are few, make them anew
        in every step where not, and choose λ by the error on one left-out part of ``folds``; ``"auto"`` takes sums unless they do not fit into memory or cost more.
    metric : {"auto", "none", "diagonal", "full"}, default="auto"
        How rows are compared: as columns are scaled; by a learnt factor for each column; by a learnt matrix, along the directions in which the fitted function changes;
        ``"auto"`` learns one where the kernel is left open, and takes it if rows that it has not seen are predicted better. It is learnt from a sample of the rows.
    warm_start : bool, default=False
        Whether a fit goes on from the coefficients of the one before, if its features are the same; under other losses than ridge and hinge.
    probability : bool, default=False
        Whether to make probabilities of scores, on left-out folds: Platt's two numbers for two classes, one temperature for more; one more solve for each fold. Scores
        under logistic loss are probabilities as they are; this mends their size.
        The likelier of two classes may be another than the predicted one near the border, as for ``SVC``: scores decide.
    held_out : float, default=None
        The share of the rows, between 0 and 1, that is held out of the fit for :meth:`predict_set`. The model learns from the others alone, and has probabilities.
    random_state : int, RandomState instance or None, default=0
        Of all chance.
    n_jobs : int or None, default=None
        Threads; None and -1 mean all processors. The result does not depend on them.
    verbose : int, default=0
        1 prints the phases of a fit, 2 their progress too.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    coef_ : ndarray of shape (1, n_components_) or (n_classes, n_components_)
        Coefficients of the features: one row for two classes, one each for more.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The constants.
    lambda_ : float
        λ, given or chosen.
    cv_curve_ : ndarray of shape (n_lambdas, 2)
        λ and mean squared error on left-out rows, summed over outputs (the share of wrong classes where margins were
        minimised, the mean loss under logistic loss); empty if λ was given.
    degrees_of_freedom_ : float or None
        tr S(S + λI)⁻¹: how many coefficients the data decide; None for other losses than ridge and for conjugate gradients.
    objective_ : float or None
        ½ (‖c‖² + b²) + C Σ loss, summed over classes, where margins were minimised; (1/Σw) Σ w loss + λ ‖c‖² under logistic loss; None for ridge.
    dual_objective_ : float or None
        What no coefficients can be better than, where it is known: the gap certifies the solution.
    n_iter_ : int or None
        Steps that were made, under logistic loss and by conjugate gradients.
    stopped_by_ : {"gap", "gain", "residual", "stagnation", "steps"} or None
        Why no more were made: the gap between the two objectives was small enough; another step would have gained too little; the residual was small enough; rounding left nothing to gain; ``"steps"``, with a
        warning: there were too many.
    residual_ : float or None
        What conjugate gradients left of the equations, as a part of their right side.
    margin_ : float or None
        γ = 1 / (‖c‖ max ‖z‖), the smallest of all classes, where margins were minimised.
    kernel_ : str
        The kernel with its width, as text.
    n_components_ : int
        Features, D.
    plan_ : dict
        All that was settled before the fit, what was tried, and why ``n_components_`` is not larger.
    metric_ : {ndarray, csr_array} of shape (n_features_in_, n_features_in_) or (n_features_in_,), or None
        The matrix by which scaled rows are multiplied, or the factors of their columns, where a metric was learnt. Sparse, and wider by at most 16 columns, where
        leading directions are added to columns that are otherwise multiplied by one number: of more than 1,024 columns, or 256 of sparse rows.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Where a metric was learnt: what part of the mean square of the gradient each column has, of the function that the metric was learnt from, per deviation of the column.
        Of a data frame, one for each of ``encoded_names_``.
    encoded_names_ : ndarray
        What the columns are called that the kernel compares: ``colour=red`` for a level, ``size is missing`` for an indicator; an array's are ``x0``, ``x1``, …
    metric_directions_ : ndarray of shape (n_directions, n_features_in_)
        The leading directions of the gradient, unit vectors.
    metric_shares_ : ndarray of shape (n_directions,)
        What part of its mean square each has.
    certificate_ : Certificate
        The kernel error: a bound, and what was measured on a sample of the rows.
    n_held_out_ : int or None
        Distinct rows that were held out of the fit.
    n_features_in_ : int
        Columns of the rows; after :meth:`fit_file` and :meth:`load`, those that are looked at.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they have any.

    See Also
    --------
    KernelRegressor : The same for numbers.
    KernelSVC : With the exact kernel.
    LandmarkFeatures : Features alone, from rows of the data.
    sklearn.linear_model.RidgeClassifierCV : The same loss on the columns themselves.

    Notes
    -----
    A class that occurs only with weight 0 stays in ``classes_`` and is never predicted. Weighting a row equals repeating
    it, up to rounding.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import KernelClassifier
    >>> X = np.random.default_rng(0).normal(size=(400, 2))
    >>> y = np.where((X ** 2).sum(axis=1) > 1, "outside", "inside")
    >>> model = KernelClassifier(n_components=256).fit(X, y)
    >>> print(*model.predict([[0.1, 0.1], [2.0, 0.0]]))
    inside outside
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **KernelLearner._parameter_constraints,
        "loss": [StrOptions({"ridge", "logistic", "squared_hinge", "hinge"})],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "probability": ["boolean"],
    }

    _head = "classification"
    _decision = "largest"

    def __init__(
        self,
        kernel="auto",
        *,
        gamma=None,
        sigma=None,
        scale=None,
        n_components=None,
        method="auto",
        loss="ridge",
        regularization="cv",
        folds=5,
        standardize=True,
        scaling="standard",
        class_weight=None,
        tol=1e-4,
        budget=None,
        solver="auto",
        metric="auto",
        warm_start=False,
        probability=False,
        held_out=None,
        random_state=0,
        n_jobs=None,
        verbose=0,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.sigma = sigma
        self.scale = scale
        self.n_components = n_components
        self.method = method
        self.loss = loss
        self.regularization = regularization
        self.folds = folds
        self.standardize = standardize
        self.scaling = scaling
        self.class_weight = class_weight
        self.tol = tol
        self.budget = budget
        self.solver = solver
        self.metric = metric
        self.warm_start = warm_start
        self.probability = probability
        self.held_out = held_out
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None, *, group=None):
        """Fit to rows and their classes.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows. A data frame is whatever has ``__arrow_c_stream__``: of pandas, Polars, pyarrow, or a reader that gives its rows once. Its columns may be
            numbers, booleans, categories, dates and times, or texts, which are hashed; strings are what they are found to be. Any cell may be missing, as
            NaN in an array. Long streams are kept in an unnamed temporary file, so that memory stays constant.
        y : array-like of shape (n_samples,)
            Classes: integers, booleans, numbers or strings, which come back as they are. Beside a data frame some may be missing: their rows are left
            out, with a warning.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, not negative; None means all one.
        group : str, default=None
            A column of a data frame whose equal cells mark rows that belong together, such as those of a patient: it is not learnt from, and they are never on both sides of a
            validation.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        return self._fit(X, y, sample_weight, group=group)

    def decision_function(self, X):
        """Score classes.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows. Columns of a data frame are found by their names, wherever they stand, and others are not looked at; columns that were all numbers stand as in
            the fit. A level that is new, or a cell that cannot be read, is no error.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes, positive where the second is predicted; for more, the largest is. In the precision of
            the rows.
        """
        outputs = self._outputs(X)
        return outputs[:, 0] if len(self.classes_) == 2 else outputs

    @available_if(_has_probabilities)
    def predict_proba(self, X):
        """Predict probabilities of classes.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows. Columns of a data frame are found by their names, wherever they stand, and others are not looked at; columns that were all numbers stand as in
            the fit. A level that is new, or a cell that cannot be read, is no error.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            One column for each class, in the order of ``classes_`` and in the precision of the rows.
        """
        check_is_fitted(self)
        rows = check_rows(self, X, reset=False)
        return self._model.probabilities(rows, threads_of(self.n_jobs)).astype(rows.dtype, copy=False)

    @available_if(_has_probabilities)
    def predict_log_proba(self, X):
        """Predict logarithms of probabilities of classes.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows. Columns of a data frame are found by their names, wherever they stand, and others are not looked at; columns that were all numbers stand as in
            the fit. A level that is new, or a cell that cannot be read, is no error.

        Returns
        -------
        logarithms : ndarray of shape (n_samples, n_classes)
            One column for each class, in the order of ``classes_``.
        """
        return np.log(self.predict_proba(X))

    def predict_set(self, X, coverage=0.9):
        """Predict sets of classes that hold those of new rows.

        Needs a fit with ``held_out``. If distinct rows are exchangeable, the class of a row unlike those of the fit is in its set with at least the probability asked for, whatever the law of the
        data and however good the model: on average over rows, not for each class by itself.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows. Columns of a data frame are found by their names, wherever they stand, and others are not looked at; columns that were all numbers stand as in
            the fit. A level that is new, or a cell that cannot be read, is no error.
        coverage : float, default=0.9
            The probability, between 0 and 1.

        Returns
        -------
        sets : ndarray of bool of shape (n_samples, n_classes)
            Whether each of ``classes_`` is in the set of each row: one at least, and all where so few rows were held out that nothing less covers as much.
        """
        check_is_fitted(self)
        rows = check_rows(self, X, reset=False)
        return self._model.sets(rows, float(coverage), threads_of(self.n_jobs))

    @classmethod
    def _words_of(cls, model: Model) -> dict[str, Any]:
        return {**super()._words_of(model), "probability": model.is_calibrated}

    def _adopt(self, model: Model, classes: np.ndarray | None = None):
        super()._adopt(model)
        self.classes_ = classes_of(*model.labels) if classes is None else classes
        return self

    def _output_count(self, y) -> int:
        """Two classes have one score, more have one each."""
        classes = len(np.unique(y))
        return 1 if classes == 2 else classes
