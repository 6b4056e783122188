"""Support vector machines with the exact kernel: what the approximate learners are measured by."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ._core import Model
from ._kernel import GAMMA, KERNEL_CONSTRAINTS, SCALE, is_family, kernel_for_rows
from ._labels import classes_of
from ._validation import SHARED_CONSTRAINTS, check_rows, threads_of
from .learners import Classifies, SavedModel


class KernelSVC(Classifies, SavedModel):
    """Support vector machine with the exact kernel, one class against one, in place of ``SVC``.

    Minimises ½ ‖w‖² + C Σ wᵢ max(0, 1 - yᵢ f(xᵢ)) for each pair of classes, f(x) = Σ αᵢ yᵢ k(xᵢ, x) + b, as LIBSVM does, by sequential
    minimal optimisation. Both objectives are reported; their gap certifies the solution.

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
        sample_weight = self._weights(sample_weight, rows)
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
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

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
        return tags
