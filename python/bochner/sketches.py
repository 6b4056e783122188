"""Polynomials and other functions of x·y in few features."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ._validation import COMPONENTS, SHARED_CONSTRAINTS
from .features import _KernelFeatures
from .kernels import Kernel


class SketchFeatures(_KernelFeatures):
    """Features of (gamma x·y + c)^degree, in place of ``PolynomialCountSketch``, and of any other function of inner products.

    All monomials, if they are no more than ``n_components``; else a sketch, ``z(x) @ z(y)`` having the kernel for its mean.

    Parameters
    ----------
    kernel : str, Kernel or None, default=None
        None is the polynomial kernel of the next three parameters, which count for nothing else. Others: ``"series(coefficients=[1,1,0.5])"``, any function of x·y by its Taylor
        coefficients; ``"all_subsets"``, ``"interactions(degree=2)"``, ``"exp(0.5*linear)"``, and expressions of them.
    degree : int, default=2
        The power.
    gamma : float, default=1.0
        The factor of x·y.
    c : float, default=0.0
        What is added, not negative; scikit-learn calls it ``coef0``.
    n_components : int, default=100
        Features, D; fewer where the kernel has fewer of its own, and one fewer where the number is odd and ``"product"`` needs an even one.
    method : {"auto", "product", "tensor"}, default="auto"
        ``"product"``: products of complex random signs, by Hadamard transforms, for dense rows. ``"tensor"``: count sketches multiplied as Fourier transforms (TensorSketch), for wide
        and sparse rows. ``"auto"`` has the monomials where they fit, else the one that suits the number of columns. Other kernels than the polynomial have ``"auto"`` only.
    random_state : int, RandomState instance or None, default=None
        Of all chance. The same integer gives the same map here, on the command line and in Rust.
    n_jobs : int or None, default=None
        Threads; None and -1 mean all processors.

    Attributes
    ----------
    kernel_ : str
        The kernel, as text.
    recipe_ : str
        What became of it: one line for each part, with its share of the features.
    certificate_ : Certificate
        The kernel error that was measured on a sample of the rows that the map was fitted to.
    n_components_ : int
        Features that come out.
    n_features_in_ : int
        Columns of the rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they have any.

    See Also
    --------
    Lifting : All monomials, exactly.
    KernelMap : Features of any kernel.
    sklearn.kernel_approximation.PolynomialCountSketch : TensorSketch in NumPy.

    Notes
    -----
    Pham and Pagh (2013), *Fast and Scalable Polynomial Kernels via Explicit Feature Maps*; Wacker, Kanagawa and Filippone (2022), *Improved Random Features for Dot Product
    Kernels*. The inverse Fourier transform that ends TensorSketch is left out: it changes no inner product, hence no linear model with a Euclidean penalty.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import SketchFeatures
    >>> X = np.random.default_rng(0).normal(size=(30, 20)) / 5
    >>> Z = SketchFeatures(degree=3, c=1, n_components=1000, random_state=0).fit_transform(X)
    >>> bool(abs(Z @ Z.T - (X @ X.T + 1) ** 3).mean() < 0.2)
    True
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **SHARED_CONSTRAINTS,
        "kernel": [str, Kernel, None],
        "degree": [Interval(Integral, 1, 64, closed="both")],
        "gamma": [Interval(Real, 0, None, closed="neither")],
        "c": [Interval(Real, 0, None, closed="left")],
        "n_components": [COMPONENTS],
        "method": [StrOptions({"auto", "product", "tensor"})],
    }

    def __init__(
        self,
        kernel=None,
        *,
        degree=2,
        gamma=1.0,
        c=0.0,
        n_components=100,
        method="auto",
        random_state=None,
        n_jobs=None,
    ):
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.c = c
        self.n_components = n_components
        self.method = method
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _features(self, rows: Any) -> int:
        asked = int(self.n_components)
        # Products come in pairs; that there is no pair at all is for the library to say.
        return asked - asked % 2 if self.method == "product" and asked > 1 else asked

    def _method(self) -> dict[str, Any]:
        if self.method == "auto":
            return {"kind": "compiled", "bins": None}
        return {"kind": "sketch", "sketch": self.method}

    def _kernel_text(self, rows: Any) -> str:
        if self.kernel is not None:
            return str(self.kernel)
        return f"poly(degree={int(self.degree)},gamma={float(self.gamma)!r},c={float(self.c)!r})"

    @property
    def recipe_(self) -> str:
        """What became of the kernel."""
        check_is_fitted(self)
        return self._map.recipe

    @property
    def n_components_(self) -> int:
        """Features that come out."""
        check_is_fitted(self)
        return self._map.output_dim
