"""Kernel → features, as transformers."""

from __future__ import annotations

import json
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._certificate import Certificate
from ._core import Map
from ._kernel import GAMMA, KERNEL_CONSTRAINTS, SCALE, is_family, kernel_for_rows, refuse_texts
from ._method import CHOICES, METHODS, fourier, landmarks
from ._validation import (
    COMPONENTS,
    SHARED_CONSTRAINTS,
    check_rows,
    keeping_the_last_fit,
    seed_of,
    threads_of,
)


class _KernelFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """What all feature maps share: fit on a sample, apply to rows, carry a certificate."""

    _parameter_constraints: dict[str, list[Any]] = {
        **KERNEL_CONSTRAINTS,
        **SHARED_CONSTRAINTS,
        "gamma": [GAMMA, SCALE, None],
        "n_components": [COMPONENTS],
    }

    #: The value of gamma that does not count as given, beside None.
    _usual_gamma: float | None = None

    def _method(self) -> dict[str, Any] | None:
        """How features are made, in the words of the model file; None for the kernel's usual way."""
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
        self._keep(self._fitted(X))
        return self

    def _fitted(self, X) -> Map:
        """The map that is fitted to the rows."""
        return self._make(Map.fit, X)

    def _make(self, make, X):
        """What ``make`` gives for the rows and the parameters."""
        refuse_texts(getattr(self, "kernel", None), X)
        with keeping_the_last_fit(self):
            rows = check_rows(self, X, reset=True)
            features = self._features(rows)
            method, names = self._method(), getattr(self, "feature_names_in_", None)
            return make(
                rows,
                kernel=self._kernel_text(rows),
                method=None if method is None else json.dumps(method),
                features=features,
                seed=seed_of(self.random_state),
                threads=threads_of(self.n_jobs),
                columns=None if names is None else list(names),
            )

    def _features(self, rows: Any) -> int:
        """The number of features that is asked for; known before :meth:`_method` is called."""
        return int(self.n_components)

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
        return self._transformed(check_rows(self, X, reset=False))

    def _transformed(self, rows) -> np.ndarray:
        """Features, in the precision of the rows."""
        return self._map.transform(rows, threads_of(self.n_jobs)).astype(rows.dtype, copy=False)

    def _csr(self, ends, columns, values) -> sp.csr_matrix:
        """What the library's sparse transforms give, as SciPy has it."""
        return sp.csr_matrix((values, columns, ends), shape=(len(ends) - 1, self._map.output_dim))

    def _transformed_sparse(self, rows) -> sp.csr_matrix:
        """Features without their zeros, in the precision of the rows."""
        return self._csr(*self._map.transform_sparse(rows, threads_of(self.n_jobs))).astype(rows.dtype, copy=False)

    def _kernel_text(self, rows: Any) -> str:
        """The kernel with the width that was given, or the usual one."""
        stands_alone = not is_family(self.kernel) or self.sigma is not None or self.scale is not None
        gamma = None if stands_alone and self.gamma == self._usual_gamma else self.gamma
        return kernel_for_rows(self.kernel, rows, gamma=gamma, sigma=self.sigma, scale=self.scale)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _fit_transform(rows: Any, **words: Any) -> tuple[Map, tuple[Any, Any, Any]]:
    """A sparse map and its features of the rows that it is fitted to."""
    if not isinstance(rows, _core.Frame):
        return Map.fit_transform_sparse(rows, **words)
    fitted = Map.fit(rows, **words)
    return fitted, fitted.transform_sparse(rows, words["threads"])


class FourierFeatures(_KernelFeatures):
    """Random Fourier features of a shift-invariant kernel, in place of ``RBFSampler``.

    Inner products of features approximate the kernel: with (cos, sin) pairs of m frequencies drawn from the kernel's
    spectral law, ``z(x) @ z(y)`` is the mean of m terms cos ω·(x - y), whose expectation is the kernel (Bochner).

    Parameters
    ----------
    kernel : str or Kernel, default="gaussian"
        ``"gaussian"``, exp(-gamma ‖x - y‖²), ``"laplace"``, exp(-gamma ‖x - y‖₁), or another that has nothing but a width, with that from one of
        the next three parameters; or a whole one, which stands alone: a :class:`Kernel` or its text, such as ``"gaussian(sigma=2)*cauchy(scale=1)[0]"``.
        It has to be a function of x - y.
    gamma : float, "scale" or None, default=1.0
        The width as scikit-learn spells it. ``"scale"`` is 1 / (n_features * X.var()), None is 1 / n_features. The
        default gives way to ``sigma``, ``scale`` and a whole kernel; another value beside them is an error.
    sigma : float or array-like of shape (n_features,), default=None
        The width of the Gaussian, in the units of the rows: gamma = 1 / (2 sigma²). An array has one for each column.
    scale : float or array-like of shape (n_features,), default=None
        The width of the others, in the units of the rows: gamma = 1 / scale. An array has one for each column.
    n_components : int, default=100
        Features, D.
    form : {"auto", "pairs", "offset"}, default="auto"
        ``"pairs"`` makes (cos ω·x, sin ω·x) of each frequency, ``"offset"`` √2 cos(ω·x + b), as ``RBFSampler`` does. Pairs
        have the lower variance for the Gaussian at every distance; ``"auto"`` takes them if ``n_components`` is even.
    draw : {"auto", "independent", "orthogonal", "quasi", "turned", "structured"}, default="auto"
        How frequencies are drawn. ``"independent"`` is for every kernel, and the bound of its certificate is proved. ``"orthogonal"``, for functions
        of ‖x - y‖, has the lower variance as a rule; ``"turned"`` is nearly as close, for 17 columns or more, and faster where frequencies are
        several times the columns: one rotation, then signs and Hadamard transforms in place of a matrix. For these two the bound is that of
        independent ones, for reference. ``"auto"`` takes one of them for functions of ‖x - y‖, whichever is faster for dense rows, and independent
        ones for others, and where the others would take a minute to draw; it depends on ``n_components``, so that a map of twice the features
        may be another one, where with a draw that is given it begins with the same frequencies. ``"quasi"`` takes a scrambled Halton sequence,
        which is more even than chance, for few columns; ``"structured"`` has transforms alone: faster still for many columns, and biased by less
        than 4e-4.
    random_state : int, RandomState instance or None, default=None
        Of all chance. The same integer gives the same map here, on the command line and in Rust, for the same draw.
    n_jobs : int or None, default=None
        Threads; None and -1 mean all processors.

    Attributes
    ----------
    draw_ : str
        How frequencies were drawn: ``draw``, or what ``"auto"`` took.
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
    KernelMap : Features of any kernel.
    LandmarkFeatures : Features from kernel values at rows of the data.
    KernelRegressor : Ridge regression on such features.
    sklearn.kernel_approximation.RBFSampler : The same idea with offsets, in NumPy.

    Notes
    -----
    Rahimi and Recht (2007), *Random Features for Large-Scale Kernel Machines*; Yu et al. (2016), *Orthogonal Random
    Features*; Avron et al. (2016), *Quasi-Monte Carlo Feature Maps for Shift-Invariant Kernels*. Frequencies are not stored: a pickle holds the seed.

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
        "draw": [StrOptions({"auto", "independent", "orthogonal", "quasi", "turned", "structured"})],
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
        draw="auto",
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
        return fourier(self._draw, self._form())

    def _form(self) -> str:
        return ("offset" if self.n_components % 2 else "pairs") if self.form == "auto" else self.form

    def _features(self, rows: Any) -> int:
        features = super()._features(rows)
        self._draw = self.draw
        if self.draw == "auto":
            text = self._kernel_text(rows)
            if isinstance(rows, _core.Frame):
                kernel = rows.placed(text)
            else:
                names = getattr(self, "feature_names_in_", None)
                kernel = _core.canonical_kernel(text, None if names is None else list(names))
            self._draw = _core.auto_draw(kernel, rows.shape[1], features, self._form())
        return features

    @property
    def draw_(self) -> str:
        """How frequencies were drawn."""
        check_is_fitted(self)
        return self._map.draw


class KernelMap(_KernelFeatures):
    """Features of any kernel: what its expression is compiled to.

    Sums lie side by side, products are multiplied out or draw by draw, functions of x - y become Fourier features, kernels with few features of
    their own keep them, and so on down the expression; ``recipe_`` is the tree of choices.

    Parameters
    ----------
    kernel : str or Kernel, default="gaussian"
        ``"gaussian"``, exp(-gamma ‖x - y‖²), ``"laplace"``, exp(-gamma ‖x - y‖₁), or another that has nothing but a width, with that from one of
        the next three parameters; or a whole one, which stands alone: any :class:`Kernel` or its text, such as
        ``"gaussian(sigma=2)[age,income] + laplace(scale=1)*poly(degree=2,c=1)"``.
    gamma : float, "scale" or None, default=None
        The width as scikit-learn spells it. ``"scale"`` is 1 / (n_features * X.var()), None is 1 / n_features.
    sigma : float or array-like of shape (n_features,), default=None
        The width of the Gaussian, in the units of the rows: gamma = 1 / (2 sigma²). An array has one for each column.
    scale : float or array-like of shape (n_features,), default=None
        The width of the others, in the units of the rows: gamma = 1 / scale. An array has one for each column.
    n_components : int, default=100
        Features, D; fewer where the kernel has fewer of its own.
    method : {"auto", "compiled", "exact", "taylor", "fourier", "orthogonal", "quasi", "turned", "structured", "offset", "landmarks", "k-means++", "leverage", "cholesky"}, default="auto"
        ``"compiled"`` compiles the expression; ``"exact"`` does so without approximation, with as many features as it takes; ``"taylor"`` is the
        Gaussian's series, cut. The next six are Fourier features, see :class:`FourierFeatures`, and the last four landmarks, see
        :class:`LandmarkFeatures`. ``"auto"`` is the kernel's usual one: Fourier features of a function of x - y alone, landmarks of a hat, else compiled.
    bins : int, default=None
        Slots of each grid, to have laplace and hat as hashed bins when the expression is compiled; None for Fourier features.
    degree : int, default=4
        The last degree that ``"taylor"`` keeps.
    tolerance : float, default=None
        Doubles the features, from ``n_components`` on, until the mean kernel error is at most this with probability 0.95.
    max_components : int, default=65536
        Where doubling ends; if the error is still larger then, the fit fails and says what was reached.
    random_state : int, RandomState instance or None, default=None
        Of all chance. The same integer gives the same map here, on the command line and in Rust.
    n_jobs : int or None, default=None
        Threads; None and -1 mean all processors.

    Attributes
    ----------
    kernel_ : str
        The kernel with its width and with columns by number, as text.
    recipe_ : str or None
        What became of the kernel: one line for each part, with its share of features and variance. None for landmarks, which are rows.
    certificate_ : Certificate
        The kernel error: a bound where one is known, and what was measured on a sample of the rows that the map was fitted to.
    n_components_ : int
        Features that come out.
    rounds_ : ndarray of shape (n_rounds, 3) or None
        Features, mean kernel error, and how far that may be from the mean over all pairs, of each round of doubling; None without ``tolerance``.
    n_features_in_ : int
        Columns of the rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they have any.

    See Also
    --------
    Kernel : Expressions of kernels, and :meth:`Kernel.explain`, which says what becomes of one before there are rows.
    FourierFeatures : With all the ways to draw frequencies.
    LandmarkFeatures : With all the ways to choose landmarks.
    BinningFeatures : Sparse features of random grids.

    Notes
    -----
    Whoever looks again and again until the answer is right is wrong more often than each look says: the rounds of doubling share the 5 %.
    The error is measured on some thousand pairs of rows; what these leave open, the last column of ``rounds_``, counts as error, so that no
    number of features may be enough for a very small ``tolerance``.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import Gaussian, KernelMap, Linear
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> kernel = Gaussian(sigma=2)[0:2] + 0.5 * Linear()
    >>> features = KernelMap(kernel, n_components=2003, random_state=0).fit(X)
    >>> Z = features.transform(X)
    >>> bool(abs(Z @ Z.T - kernel(X)).max() < 0.1)
    True
    >>> print(features.recipe_)
    gaussian(sigma=2)[0..2] + 0.5*linear  ─  side by side: 2003 features, variance 5.00e-4 far apart
    ├─ gaussian(sigma=2)[0..2]  ─  Fourier pairs, orthogonal frequencies: 2000 features (100 %), variance 5.00e-4 (100 %)
    └─ 0.5*linear  ─  √0.5 times: 3 features (0 %), no variance
       └─ linear  ─  its own features, exactly: 3 features (0 %), no variance
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **_KernelFeatures._parameter_constraints,
        "method": [StrOptions({*METHODS, "taylor"})],
        "bins": [Interval(Integral, 1, None, closed="left"), None],
        "degree": [Interval(Integral, 0, 64, closed="both")],
        "tolerance": [Interval(Real, 0, None, closed="neither"), None],
        "max_components": [COMPONENTS],
    }

    def __init__(
        self,
        kernel="gaussian",
        *,
        gamma=None,
        sigma=None,
        scale=None,
        n_components=100,
        method="auto",
        bins=None,
        degree=4,
        tolerance=None,
        max_components=65536,
        random_state=None,
        n_jobs=None,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.sigma = sigma
        self.scale = scale
        self.n_components = n_components
        self.method = method
        self.bins = bins
        self.degree = degree
        self.tolerance = tolerance
        self.max_components = max_components
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _method(self) -> dict[str, Any] | None:
        if self.bins is not None:
            if self.method not in ("auto", "compiled"):
                raise ValueError(f"expected bins with method='compiled', found them with {self.method!r}")
            return {"kind": "compiled", "bins": int(self.bins)}
        if self.method == "taylor":
            return {"kind": "taylor", "degree": int(self.degree)}
        return METHODS[self.method]

    def _fitted(self, X) -> Map:
        if self.tolerance is None:
            fitted, rounds = super()._fitted(X), None
        else:
            limits = {"target": float(self.tolerance), "most": int(self.max_components)}
            fitted, rounds = self._make(partial(Map.fit_adaptively, **limits), X)
        self.rounds_ = None if rounds is None else np.array(rounds, dtype=np.float64).reshape(-1, 3)
        return fitted

    def _keep(self, fitted: Map) -> None:
        super()._keep(fitted)
        self.recipe_ = fitted.recipe
        self.n_components_ = fitted.output_dim


class LandmarkFeatures(_KernelFeatures):
    """Kernel values at rows of the data, whitened (Nyström), in place of ``Nystroem``.

    Inner products of whitened features are those of the kernel's own features projected on the span of the landmarks:
    exact at the landmarks, never too large on the diagonal, for every kernel.

    Parameters
    ----------
    kernel : str or Kernel, default="gaussian"
        ``"gaussian"``, exp(-gamma ‖x - y‖²), ``"laplace"``, exp(-gamma ‖x - y‖₁), or another that has nothing but a width, with that from one of
        the next three parameters; or a whole one, which stands alone: any :class:`Kernel` or its text, such as ``"linear"`` or
        ``"gaussian(sigma=2)[age,income] + linear"``.
    gamma : float, "scale" or None, default=None
        The width as scikit-learn spells it. ``"scale"`` is 1 / (n_features * X.var()), None is 1 / n_features.
    sigma : float or array-like of shape (n_features,), default=None
        The width of the Gaussian, in the units of the rows: gamma = 1 / (2 sigma²). An array has one for each column.
    scale : float or array-like of shape (n_features,), default=None
        The width of the others, in the units of the rows: gamma = 1 / scale. An array has one for each column.
    n_components : int, default=100
        Landmarks, drawn from the distinct rows; all of them if there are fewer.
    choice : {"uniform", "k-means++", "leverage", "cholesky"}, default="uniform"
        How they are drawn: any row like any other; far from those already taken, in the kernel's own space; in proportion to their ridge leverage
        scores; or in proportion to what those already taken leave of them (randomly pivoted Cholesky). All but the first look at more rows.
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
    Williams and Seeger (2001), *Using the Nyström Method to Speed Up Kernel Machines*; Chen, Epperly, Tropp and Webber (2024), *Randomly Pivoted
    Cholesky*. The factor is a pivoted Cholesky
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
        "choice": [StrOptions(set(CHOICES))],
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
        choice="uniform",
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
        self.choice = choice
        self.whiten = whiten
        self.tolerance = tolerance
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _method(self) -> dict[str, Any]:
        return landmarks(self.choice, whiten=bool(self.whiten), tolerance=float(self.tolerance))

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
    kernel : str or Kernel, default="laplace"
        ``"laplace"``, exp(-gamma ‖x - y‖₁), with a width from one of the next two parameters; or a whole one, which stands alone: a :class:`Kernel` or
        its text, such as ``"laplace(scale=2)"`` or ``"hat(width=1)[0]*laplace(scale=2)[1,2]"``. The Gaussian is refused: it is no mixture of boxes.
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
        The kernel with its width, as text.
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
        return self._transformed_sparse(check_rows(self, X, reset=False))

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
        fitted, features = self._make(_fit_transform, X)
        self._keep(fitted)
        return self._csr(*features)

    def _method(self) -> dict[str, Any]:
        if self.bins == "fitted":
            return {"kind": "binning", "bins": {"kind": "fitted"}}
        return {"kind": "binning", "bins": {"kind": "hashed", "width": int(self.n_slots)}}
