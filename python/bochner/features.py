"""Kernel → features, as transformers."""

from __future__ import annotations

import json
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ._certificate import Certificate
from ._core import Map
from ._kernel import is_family, kernel_for_rows, kernel_text
from ._validation import (
    COMPONENTS,
    GAMMA,
    SCALE,
    SHARED_CONSTRAINTS,
    check_rows,
    keeping_the_last_fit,
    seed_of,
    threads_of,
)


class _KernelFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """What all feature maps share: fit on a sample, apply to rows, carry a certificate."""

    _parameter_constraints: dict[str, list[Any]] = {
        **SHARED_CONSTRAINTS,
        "gamma": [GAMMA, SCALE, None],
        "n_components": [COMPONENTS],
    }

    #: The value of gamma that does not count as given, beside None.
    _usual_gamma: float | None = None

    def _method(self) -> dict[str, Any]:
        """How features are made, in the words of the model file."""
        raise NotImplementedError

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None):
        """Make the map for the rows' columns and measure its kernel error on a sample of the rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : Ignored
            Present for scikit-learn's sake.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        self._keep(self._make(Map.fit, X))
        return self

    def _make(self, make, X):
        """What ``make`` gives for the rows and the parameters."""
        with keeping_the_last_fit(self):
            rows = self._prepared(check_rows(self, X, reset=True))
            return make(
                rows,
                kernel=self._kernel_text(rows),
                method=json.dumps(self._method()),
                features=int(self.n_components),
                seed=seed_of(self.random_state),
                threads=threads_of(self.n_jobs),
            )

    def _keep(self, fitted: Map) -> None:
        self._map = fitted
        self.kernel_ = fitted.kernel
        self.certificate_ = Certificate.from_json(fitted.certificate, fitted.certificate_text)
        self._n_features_out = fitted.output_dim

    def transform(self, X):
        """Apply the map.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_features_out)
            Features, in single precision if the rows are, in double otherwise.
        """
        check_is_fitted(self)
        return self._map.transform(self._prepared(check_rows(self, X, reset=False)), threads_of(self.n_jobs))

    def _prepared(self, rows: Any) -> Any:
        """Rows as the map takes them."""
        return rows

    def _kernel_text(self, rows: Any) -> str:
        """The kernel with the width that was given, or the usual one."""
        stands_alone = not is_family(self.kernel) or self.sigma is not None or self.scale is not None
        gamma = None if stands_alone and self.gamma == self._usual_gamma else self.gamma
        return kernel_for_rows(self.kernel, rows, gamma=gamma, sigma=self.sigma, scale=self.scale)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class FourierFeatures(_KernelFeatures):
    """Random Fourier features of a shift-invariant kernel, in place of ``RBFSampler``.

    Inner products of features approximate the kernel: with (cos, sin) pairs of m frequencies drawn from the kernel's
    spectral law, ``z(x) @ z(y)`` is the mean of m terms cos ω·(x - y), whose expectation is the kernel (Bochner).

    Parameters
    ----------
    kernel : str, default="gaussian"
        ``"gaussian"``, exp(-gamma ‖x - y‖²), or ``"laplace"``, exp(-gamma ‖x - y‖₁), with a width from one of the next
        three parameters; or a whole text such as ``"gaussian(sigma=2)"``, which stands alone.
    gamma : float, "scale" or None, default=1.0
        The width as scikit-learn spells it. ``"scale"`` is 1 / (n_features * X.var()), None is 1 / n_features. The
        default gives way to ``sigma``, ``scale`` and a whole kernel text; another value beside them is an error.
    sigma : float, default=None
        The width of the Gaussian, in the units of the rows: gamma = 1 / (2 sigma²).
    scale : float, default=None
        The width of the Laplace kernel, in the units of the rows: gamma = 1 / scale.
    n_components : int, default=100
        Features, D.
    form : {"auto", "pairs", "offset"}, default="auto"
        ``"pairs"`` makes (cos ω·x, sin ω·x) of each frequency, ``"offset"`` √2 cos(ω·x + b), as ``RBFSampler`` does. Pairs
        have the lower variance for the Gaussian at every distance; ``"auto"`` takes them if ``n_components`` is even.
    draw : {"independent", "orthogonal"}, default="independent"
        How frequencies are drawn; ``"orthogonal"``, for the Gaussian, has the lower variance as a rule.
    random_state : int, RandomState instance or None, default=None
        Of all chance. The same integer gives the same map here, on the command line and in Rust.
    n_jobs : int or None, default=None
        Threads; None and -1 mean all processors.

    Attributes
    ----------
    kernel_ : str
        The kernel with its width, as text.
    certificate_ : Certificate
        The kernel error: a bound, and what was measured on a sample of the rows that the map was fitted to.
    n_features_in_ : int
        Columns of the rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they have any.

    See Also
    --------
    LandmarkFeatures : Features from kernel values at rows of the data.
    KernelRegressor : Ridge regression on such features.
    sklearn.kernel_approximation.RBFSampler : The same idea with offsets, in NumPy.

    Notes
    -----
    Rahimi and Recht (2007), *Random Features for Large-Scale Kernel Machines*; Yu et al. (2016), *Orthogonal Random
    Features*. Frequencies are not stored: a pickle holds the seed.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import FourierFeatures
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> features = FourierFeatures(gamma=0.5, n_components=2000, random_state=0).fit(X)
    >>> Z = features.transform(X)
    >>> Z.shape
    (50, 2000)
    >>> exact = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(-1))
    >>> bool(abs(Z @ Z.T - exact).max() < 0.2)
    True
    >>> features.certificate_.bound["kind"]
    'finite_set'
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **_KernelFeatures._parameter_constraints,
        "form": [StrOptions({"auto", "pairs", "offset"})],
        "draw": [StrOptions({"independent", "orthogonal"})],
    }

    _usual_gamma = 1.0

    def __init__(
        self,
        kernel="gaussian",
        *,
        gamma=1.0,
        sigma=None,
        scale=None,
        n_components=100,
        form="auto",
        draw="independent",
        random_state=None,
        n_jobs=None,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.sigma = sigma
        self.scale = scale
        self.n_components = n_components
        self.form = form
        self.draw = draw
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _method(self) -> dict[str, Any]:
        if self.form == "pairs" and self.n_components % 2:
            raise ValueError(
                f"expected n_components to be even for (cos, sin) pairs, found {self.n_components}; "
                f"take {self.n_components + 1}, or form='offset'"
            )
        form = ("offset" if self.n_components % 2 else "pairs") if self.form == "auto" else self.form
        return {"kind": "fourier", "form": form, "draw": self.draw}


class LandmarkFeatures(_KernelFeatures):
    """Kernel values at rows of the data, whitened (Nyström), in place of ``Nystroem``.

    Inner products of whitened features are those of the kernel's own features projected on the span of the landmarks:
    exact at the landmarks, never too large on the diagonal, for every kernel.

    Parameters
    ----------
    kernel : str, default="gaussian"
        ``"gaussian"``, exp(-gamma ‖x - y‖²), or ``"laplace"``, exp(-gamma ‖x - y‖₁), with a width from one of the next
        three parameters; ``"linear"``; or a whole text such as ``"gaussian(sigma=2)"``, which stands alone.
    gamma : float, "scale" or None, default=None
        The width as scikit-learn spells it. ``"scale"`` is 1 / (n_features * X.var()), None is 1 / n_features.
    sigma : float, default=None
        The width of the Gaussian, in the units of the rows: gamma = 1 / (2 sigma²).
    scale : float, default=None
        The width of the Laplace kernel, in the units of the rows: gamma = 1 / scale.
    n_components : int, default=100
        Landmarks, drawn from the distinct rows; all of them if there are fewer.
    whiten : bool, default=True
        Whether inner products should approximate the kernel. Otherwise features are the plain kernel values.
    tolerance : float, default=1e-7
        A landmark is left out when what the others miss of it is at most this part of the largest k(x, x).
    random_state : int, RandomState instance or None, default=None
        Of the choice of landmarks, which depends on the rows' content and not on their order.
    n_jobs : int or None, default=None
        Threads; None and -1 mean all processors.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features_in_)
        The landmarks that were kept.
    n_components_ : int
        Their number: the rank found, and the number of features.
    kernel_ : str
        The kernel with its width, as text.
    certificate_ : Certificate
        The kernel error: a bound, and what was measured on a sample of the rows that the map was fitted to.
    n_features_in_ : int
        Columns of the rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they have any.

    See Also
    --------
    FourierFeatures : Features from the kernel's spectrum, without a look at the data.
    KernelClassifier : Classification on such features.
    sklearn.kernel_approximation.Nystroem : The same idea with a symmetric factor, in NumPy.

    Notes
    -----
    Williams and Seeger (2001), *Using the Nyström Method to Speed Up Kernel Machines*. The factor is a pivoted Cholesky
    factor, so that landmarks which the others explain drop out.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import LandmarkFeatures
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> features = LandmarkFeatures(sigma=1.0, n_components=50, random_state=0).fit(X)
    >>> features.n_components_ <= 50
    True
    >>> Z = features.transform(X)
    >>> exact = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(-1))
    >>> bool(abs(Z @ Z.T - exact).max() < 1e-6)
    True
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **_KernelFeatures._parameter_constraints,
        "whiten": ["boolean"],
        "tolerance": [Interval(Real, 0, 1, closed="neither")],
    }

    def __init__(
        self,
        kernel="gaussian",
        *,
        gamma=None,
        sigma=None,
        scale=None,
        n_components=100,
        whiten=True,
        tolerance=1e-7,
        random_state=None,
        n_jobs=None,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.sigma = sigma
        self.scale = scale
        self.n_components = n_components
        self.whiten = whiten
        self.tolerance = tolerance
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _method(self) -> dict[str, Any]:
        return {"kind": "landmarks", "whiten": bool(self.whiten), "tolerance": float(self.tolerance)}

    @property
    def n_components_(self) -> int:
        """The number of landmarks kept."""
        check_is_fitted(self)
        return self._map.output_dim

    @property
    def components_(self) -> np.ndarray:
        """The landmarks kept."""
        check_is_fitted(self)
        return self._map.landmarks


class BinningFeatures(_KernelFeatures):
    """Random binning features of the Laplace kernel: sparse, local, and as cheap for a million bins as for a hundred.

    Each of ``n_components`` random grids cuts the space of the rows into boxes; a row has one feature a grid that is not zero, at
    its box. Two rows share a box with the probability that is the kernel, so ``z(x) @ z(y)`` is the mean of that many coins.

    Parameters
    ----------
    kernel : str, default="laplace"
        ``"laplace"``, exp(-gamma ‖x - y‖₁), with a width from one of the next two parameters; or a whole text such as
        ``"laplace(scale=2)"`` or ``"hat(width=1)"``, which stands alone. The Gaussian is refused: it is no mixture of boxes.
    gamma : float, "scale" or None, default=None
        The width as scikit-learn spells it. ``"scale"`` is 1 / (n_features * X.var()), None is 1 / n_features.
    scale : float or array-like of shape (n_features,), default=None
        The width of the Laplace kernel, in the units of the rows: gamma = 1 / scale. An array has one for each column, ∏ exp(-|xⱼ - yⱼ| / scaleⱼ):
        columns that matter more have smaller ones.
    n_components : int, default=100
        Grids, P: features of a row that are not zero.
    bins : {"fitted", "hashed"}, default="fitted"
        ``"fitted"`` has a feature for each box that a row was seen in, and none for others; ``"hashed"`` has ``n_slots`` features for each
        grid, shared by all its boxes with random signs, whatever the rows.
    n_slots : int, default=256
        Features of each grid if they are hashed.
    random_state : int, RandomState instance or None, default=None
        Of all chance. The same integer gives the same map here and in Rust.
    n_jobs : int or None, default=None
        Threads; None and -1 mean all processors.

    Attributes
    ----------
    kernel_ : str
        The kernel with its width, as text; of rows in units of ``scales_`` where there are some.
    scales_ : ndarray of shape (n_features_in_,) or None
        The width of each column, if ``scale`` had one for each.
    certificate_ : Certificate
        The kernel error: a bound, and what was measured on a sample of the rows that the map was fitted to.
    n_features_in_ : int
        Columns of the rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they have any.

    See Also
    --------
    FourierFeatures : Features from the kernel's spectrum: dense and smooth.

    Notes
    -----
    Rahimi and Recht (2007), *Random Features for Large-Scale Kernel Machines*. The variance of ``z(x) @ z(y)`` is k(1 - k)/P for
    fitted bins, (k(1 - k) + (1 - k)/n_slots)/P for hashed ones.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import BinningFeatures
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> Z = BinningFeatures(scale=5.0, n_components=2000, random_state=0).fit_transform(X)
    >>> Z.nnz == 50 * 2000
    True
    >>> exact = np.exp(-abs(X[:, None] - X[None]).sum(-1) / 5.0)
    >>> bool(abs((Z @ Z.T).toarray() - exact).max() < 0.06)
    True
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **_KernelFeatures._parameter_constraints,
        "scale": [Interval(Real, 0, None, closed="neither"), "array-like", None],
        "bins": [StrOptions({"fitted", "hashed"})],
        "n_slots": [COMPONENTS],
    }
    _parameter_constraints.pop("sigma")

    #: The Laplace kernel has no other width.
    sigma = None

    def __init__(
        self,
        kernel="laplace",
        *,
        gamma=None,
        scale=None,
        n_components=100,
        bins="fitted",
        n_slots=256,
        random_state=None,
        n_jobs=None,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.scale = scale
        self.n_components = n_components
        self.bins = bins
        self.n_slots = n_slots
        self.random_state = random_state
        self.n_jobs = n_jobs

    def transform(self, X):
        """Apply the map.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        X_new : csr_matrix of shape (n_samples, n_features_out)
            Features, in single precision if the rows are, in double otherwise.
        """
        check_is_fitted(self)
        rows = self._prepared(check_rows(self, X, reset=False))
        return self._csr(*self._map.transform_sparse(rows, threads_of(self.n_jobs)))

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_transform(self, X, y=None):
        """Fit to the rows and apply the map to them: what ``fit(X).transform(X)`` gives, with the boxes of rows found once.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : Ignored
            Present for scikit-learn's sake.

        Returns
        -------
        X_new : csr_matrix of shape (n_samples, n_features_out)
            Features, in single precision if the rows are, in double otherwise.
        """
        fitted, features = self._make(Map.fit_transform_sparse, X)
        self._keep(fitted)
        return self._csr(*features)

    def _csr(self, ends, columns, values):
        return sp.csr_matrix((values, columns, ends), shape=(len(ends) - 1, self._map.output_dim))

    def _prepared(self, rows: Any) -> Any:
        """Rows in units of the columns' scales, where there is one for each."""
        if self.scales_ is None:
            return rows
        factors = (1.0 / self.scales_).astype(rows.dtype)
        if not sp.issparse(rows):
            return rows * factors
        scaled = rows.copy()
        scaled.data *= factors[scaled.indices]
        return scaled

    def _make(self, make, X):
        before = getattr(self, "scales_", None)
        self.scales_ = self._checked_scales(X) if self._has_scales() else None
        try:
            return super()._make(make, X)
        except BaseException:
            self.scales_ = before
            raise

    def _checked_scales(self, X: Any) -> np.ndarray:
        """A copy of the scales, one for each column."""
        scales, columns = np.array(self.scale, dtype=np.float64), np.shape(X)[1] if len(np.shape(X)) == 2 else 0
        if scales.shape != (columns,):
            raise ValueError(f"expected scale to be {columns} positive numbers, one for each column, found shape {scales.shape}")
        good = np.isfinite(scales) & (scales > 0)
        if not good.all():
            at = int(np.argmin(good))
            raise ValueError(f"expected scale to be {columns} positive numbers, one for each column, found {scales[at]} at {at}")
        return scales

    def _has_scales(self) -> bool:
        return self.scale is not None and not isinstance(self.scale, Real)

    def _kernel_text(self, rows: Any) -> str:
        if not self._has_scales():
            return super()._kernel_text(rows)
        if not is_family(self.kernel) or self.gamma is not None:
            raise ValueError(
                f"expected kernel='laplace' and no gamma beside a scale for each column, found {self.kernel!r} and {self.gamma!r}"
            )
        return kernel_text(self.kernel, gamma=None, sigma=None, scale=1.0)

    def _method(self) -> dict[str, Any]:
        if self.bins == "fitted":
            return {"kind": "binning", "bins": {"kind": "fitted"}}
        return {"kind": "binning", "bins": {"kind": "hashed", "width": int(self.n_slots)}}
