"""Explicit features: the parabola, monomials, products of columns; and balls out of separators."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, combinations, combinations_with_replacement
from math import comb
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from ._core import Map, region_of
from ._validation import SHARED_CONSTRAINTS, check_rows
from .features import _KernelFeatures


@dataclass(frozen=True, eq=False)
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
        vector = self.normal if self.kind == "half-space" else self.centre
        if X.ndim != 2 or vector is not None and X.shape[1] != len(vector):
            columns = "" if vector is None else f" of {len(vector)} columns"
            raise ValueError(f"expected rows{columns}, as an array of two dimensions, found one of shape {X.shape}: give rows as they were before lifting")
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
    Features are in the order of their degrees, the constant first; those of one degree by their last column, then by the one before it: x0², x0·x1, x1², x0·x2.

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
        if sp.issparse(rows) and self._products is not None:
            return self._transformed_sparse(rows)
        return self._transformed(rows)

    def get_feature_names_out(self, input_features=None):
        """Names of the features.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the columns; None has those of the rows that were fitted, or ``x0``, ``x1``, ….

        Returns
        -------
        feature_names_out : ndarray of str objects
            Products as scikit-learn's ``PolynomialFeatures`` writes them, such as ``"x0 x1^2"``, and ``"‖x‖²"`` for the parabola's height. Monomials with multinomial weights are numbered only.
        """
        check_is_fitted(self)
        if self._products is None and not self._parabolic:
            return super().get_feature_names_out(input_features)
        names = _check_feature_names_in(self, input_features)
        if self._map.reads_tables:
            names = self._map.encoded_names
        if self._parabolic:
            return np.array([*names, "‖x‖²"], dtype=object)
        degree, repeated, constant = self._products
        written = (_written(product, names) for product in _products(len(names), degree, repeated))
        return np.array([*["1"] * constant, *written], dtype=object)

    def _fitted(self, X) -> Map:
        return self._make(self._fit_or_count, X)

    def _fit_or_count(self, rows: Any, **words: Any) -> Map:
        """A fitted map; where there are too many features, how many."""
        try:
            return Map.fit(rows, **words)
        except (MemoryError, ValueError) as error:
            columns, degree = rows.shape[1], int(self.degree)
            count = self._count(columns)
            if self.kind == "parabolic" or isinstance(error, ValueError) and count < 2**32:
                raise
            raise type(error)(
                f"expected features that can be held, found {count:,} monomials up to degree {degree} of {columns} columns: lower degree, or use SketchFeatures"
            ) from error

    def _count(self, columns: int) -> int:
        """Products of so many columns, and the constant."""
        degree = int(self.degree)
        if self.kind == "interactions":
            return sum(comb(columns, k) for k in range(1, degree + 1))
        return comb(columns + degree, degree) - (not self.include_bias)

    def _keep(self, fitted: Map) -> None:
        super()._keep(fitted)
        # What names and sparse features are made of: as it was when the map was made.
        self._parabolic = self.kind == "parabolic"
        self._products = None
        if self.kind == "interactions":
            self._products = (int(self.degree), False, False)
        elif self.kind == "polynomial" and self.weights == "unit":
            self._products = (int(self.degree), True, bool(self.include_bias))


def _products(columns: int, degree: int, repeated: bool) -> Iterator[tuple[int, ...]]:
    """Columns of all products, in the library's order: by degree, then by the last column, the one before it and so on."""
    choose = combinations_with_replacement if repeated else combinations
    of = (sorted(choose(range(columns), k), key=lambda product: product[::-1]) for k in range(1, degree + 1))
    return chain.from_iterable(of)


def _written(product: tuple[int, ...], names: Any) -> str:
    """A product as scikit-learn writes it."""
    powers = ((names[column], product.count(column)) for column in dict.fromkeys(product))
    return " ".join(name if power == 1 else f"{name}^{power}" for name, power in powers)
