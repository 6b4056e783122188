"""Explicit features: the parabola, monomials, products of columns; and balls out of separators."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ._core import region_of
from ._validation import SHARED_CONSTRAINTS, check_rows, threads_of
from .features import _KernelFeatures


@dataclass(frozen=True)
class Region:
    """Where a linear function of (x, ‖x‖²) is not negative.

    Parameters
    ----------
    kind : {"ball", "outside", "half-space", "empty", "everything"}
        What it is: ``"ball"`` is ‖x - centre‖ ≤ radius, ``"outside"`` ‖x - centre‖ ≥ radius, ``"half-space"`` normal·x + offset ≥ 0.
    centre : ndarray or None
        Of a ball and of what a ball is the outside of.
    radius : float or None
        Of the same.
    normal : ndarray or None
        Of a half-space.
    offset : float or None
        Of a half-space.
    """

    kind: str
    centre: np.ndarray | None = None
    radius: float | None = None
    normal: np.ndarray | None = None
    offset: float | None = None

    @classmethod
    def of_separator(cls, coef, intercept) -> Region:
        """The region of a linear machine on rows that :class:`Lifting` with ``kind="parabolic"`` made.

        Parameters
        ----------
        coef : array-like of shape (n_features + 1,) or (1, n_features + 1)
            Its weights, the last for ‖x‖².
        intercept : float or array-like of shape (1,)
            Its intercept.

        Returns
        -------
        region : Region
            Where the decision is not negative.
        """
        weights = np.ascontiguousarray(coef, dtype=np.float64).ravel()
        intercept = np.asarray(intercept, dtype=np.float64).ravel()
        if intercept.shape != (1,):
            raise ValueError(f"expected one intercept, found {len(intercept)}")
        kind, vector, number = region_of(weights, float(intercept[0]))
        if kind == "half-space":
            return cls(kind, normal=vector, offset=number)
        return cls(kind, centre=vector, radius=number)

    def contains(self, X) -> np.ndarray:
        """Which rows lie in it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, not lifted.

        Returns
        -------
        inside : ndarray of bool of shape (n_samples,)
            One for each row.
        """
        X = np.asarray(X, dtype=np.float64)
        if self.kind in ("ball", "outside"):
            distance = np.sqrt(((X - self.centre) ** 2).sum(axis=1))
            return distance <= self.radius if self.kind == "ball" else distance >= self.radius
        if self.kind == "half-space":
            return X @ self.normal + self.offset >= 0
        return np.full(len(X), self.kind == "everything")


class Lifting(_KernelFeatures):
    """Features by a formula, without chance: what was curved becomes flat.

    Inner products of features are the kernel ``kernel_``, exactly. ``"parabolic"`` is (x, ‖x‖²), whose linear separators are balls, see :class:`Region`;
    ``"polynomial"`` has all monomials up to a degree, ``"interactions"`` the products of different columns.

    Parameters
    ----------
    kind : {"polynomial", "interactions", "parabolic"}, default="polynomial"
        Which features.
    degree : int, default=2
        The highest degree; the parabolic lift has none.
    weights : {"multinomial", "unit"}, default="multinomial"
        Of monomials: ``"multinomial"`` makes inner products (x·y + c)^degree, ``"unit"`` leaves monomials as they are, as scikit-learn's ``PolynomialFeatures`` does.
    c : float, default=1.0
        What is added in (x·y + c)^degree, above 0: lower degrees have more weight where it is large.
    include_bias : bool, default=True
        Whether the constant is among the features of ``"polynomial"``; of the others it never is.
    n_jobs : int or None, default=None
        Threads; None and -1 mean all processors.

    Attributes
    ----------
    kernel_ : str
        The kernel whose features these are, as text.
    certificate_ : Certificate
        That nothing is approximated.
    n_features_in_ : int
        Columns of the rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they have any.

    See Also
    --------
    SketchFeatures : As many features as wanted, where there would be too many.
    Region : The ball of a separator.
    sklearn.preprocessing.PolynomialFeatures : Monomials of weight 1, in another order.

    Notes
    -----
    Sparse rows give sparse features of ``"interactions"`` and of unit weights: products of entries that are not zero, found without forming the others.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import Lifting, Region
    >>> X = np.array([[1.0, 2.0], [3.0, -1.0]])
    >>> Z = Lifting(degree=3, c=2).fit_transform(X)
    >>> Z.shape
    (2, 10)
    >>> bool(np.allclose(Z @ Z.T, (X @ X.T + 2) ** 3))
    True
    >>> Region.of_separator([2.0, 0.0, -1.0], 3.0)
    Region(kind='ball', centre=array([1., 0.]), radius=2.0, normal=None, offset=None)
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "kind": [StrOptions({"polynomial", "interactions", "parabolic"})],
        "degree": [Interval(Integral, 1, 64, closed="both")],
        "weights": [StrOptions({"multinomial", "unit"})],
        "c": [Interval(Real, 0, None, closed="neither")],
        "include_bias": ["boolean"],
        "n_jobs": SHARED_CONSTRAINTS["n_jobs"],
    }

    #: There is no chance, and as many features as there are.
    random_state = 0
    n_components = 1

    def __init__(
        self, kind="polynomial", *, degree=2, weights="multinomial", c=1.0, include_bias=True, n_jobs=None
    ):
        self.kind = kind
        self.degree = degree
        self.weights = weights
        self.c = c
        self.include_bias = include_bias
        self.n_jobs = n_jobs

    def _method(self) -> dict[str, Any]:
        return {"kind": "exact"}

    def _kernel_text(self, rows: Any) -> str:
        if self.kind == "parabolic":
            return "parabolic"
        degree = int(self.degree)
        if self.kind == "interactions":
            return f"interactions(degree={degree})"
        if self.weights == "unit":
            return ("constant + " if self.include_bias else "") + f"monomials(degree={degree})"
        c = float(self.c)
        if self.include_bias:
            return f"poly(degree={degree},c={c!r})"
        # (x·y + c)^degree without its constant, term by term.
        terms = [0.0, *(comb(degree, n) * c ** (degree - n) for n in range(1, degree + 1))]
        return f"series(coefficients=[{','.join(map(repr, terms))}])"

    def transform(self, X):
        """Lift rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        X_new : {ndarray, csr_matrix} of shape (n_samples, n_features_out)
            Features, in single precision if the rows are, in double otherwise; sparse for products of columns of sparse rows.
        """
        check_is_fitted(self)
        rows = check_rows(self, X, reset=False)
        if not sp.issparse(rows) or self.kernel_.split("(")[0] not in ("interactions", "monomials"):
            return self._map.transform(rows, threads_of(self.n_jobs))
        ends, columns, values = self._map.transform_sparse(rows, threads_of(self.n_jobs))
        return sp.csr_matrix((values, columns, ends), shape=(len(ends) - 1, self._map.output_dim))
