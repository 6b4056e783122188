"""Kernels as expressions: what similarity means.

>>> from bochner import Gaussian, Laplace, Polynomial
>>> print(0.7 * Gaussian(sigma=2)["age", "income"] + Laplace(scale=1) * Polynomial(degree=2, c=1))
0.7*gaussian(sigma=2)[age,income] + laplace(scale=1)*poly(degree=2,c=1)

A :class:`Kernel` is its text, as the library prints it. Operators write a longer text, and the library reads it: what it refuses is refused
here with the same reason.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, NoReturn

import numpy as np
from sklearn.utils import check_array

from . import _core
from ._frames import names_of
from ._validation import ROWS, as_rows, threads_of


class Kernel:
    """A notion of similarity: a formula, or an expression of such.

    Kernels are added, multiplied, multiplied with numbers above 0, restricted to columns (``kernel["age", "income"]``, ``kernel[3:9]``,
    ``kernel[0, 2]``), and called with rows for their values. They do not change; equal ones have equal texts.

    Parameters
    ----------
    kernel : str or Kernel
        The text, such as ``"0.7*gaussian(sigma=2)[age,income] + linear"``. Each kernel with a name has a function of that name here, such as
        :func:`~bochner.Gaussian`; ``bochner kernel list`` on the command line shows all of them with their formulas.

    See Also
    --------
    KernelMap : Features of any kernel.
    check_gram : Whether a matrix can be one of kernel values.

    Notes
    -----
    Columns are those of the rows, by name where rows are a DataFrame, by number from 0 otherwise. They may be chosen once for each part of an
    expression. A difference of kernels is no kernel: ``-`` and factors that are not positive raise.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import Gaussian, Kernel, Linear
    >>> kernel = Gaussian(sigma=2)[0:2] + 0.5 * Linear()
    >>> kernel
    Kernel('gaussian(sigma=2)[0..2] + 0.5*linear')
    >>> kernel == Kernel("gaussian(gamma=0.125)[0..2] + 0.5*linear")
    True
    >>> kernel(np.eye(3)).round(3)
    array([[1.5  , 0.779, 0.882],
           [0.779, 1.5  , 0.882],
           [0.882, 0.882, 1.5  ]])
    """

    __slots__ = ("_text",)
    _text: str

    #: NumPy's numbers leave `0.7 * kernel` to us.
    __array_ufunc__ = None

    #: A kernel has columns, but is no sequence of them.
    __iter__ = None

    def __init__(self, kernel: str | Kernel):
        if not isinstance(kernel, (str, Kernel)):
            raise TypeError(f"expected a kernel or its text, found {type(kernel).__name__}")
        text = kernel._text if isinstance(kernel, Kernel) else _core.canonical_kernel(kernel)
        object.__setattr__(self, "_text", text)

    def __add__(self, other: Any) -> Kernel:
        return Kernel(f"{self} + {_operand(other)}") if isinstance(other, (Kernel, Real)) else NotImplemented

    def __radd__(self, other: Any) -> Kernel:
        if isinstance(other, Real):
            # 0 is where sum() starts.
            return self if other == 0 else Kernel(f"{_operand(other)} + {self}")
        return NotImplemented

    def __mul__(self, other: Any) -> Kernel:
        return Kernel(f"({self})*{_operand(other)}") if isinstance(other, (Kernel, Real)) else NotImplemented

    def __rmul__(self, other: Any) -> Kernel:
        return Kernel(f"{_operand(other)}*({self})") if isinstance(other, Real) else NotImplemented

    # A difference is no kernel: the library refuses these, and says why.
    def __sub__(self, other: Any) -> Kernel:
        return Kernel(f"{self} - {other}")

    def __rsub__(self, other: Any) -> Kernel:
        return Kernel(f"constant - {self}")

    def __neg__(self) -> Kernel:
        return Kernel(f"-1*({self})")

    def __getitem__(self, columns: Any) -> Kernel:
        chosen = columns if isinstance(columns, (tuple, list, np.ndarray)) else (columns,)
        return Kernel(f"({self})[{','.join(map(_column, chosen))}]")

    def exp(self) -> Kernel:
        """Give exp(k(x, y)).

        Returns
        -------
        kernel : Kernel
            ``exp(…)``.
        """
        return Kernel(f"exp({self})")

    def normalized(self) -> Kernel:
        """Give k(x, y) / √(k(x, x) k(y, y)): the cosine in the kernel's own space.

        Returns
        -------
        kernel : Kernel
            ``normalised(…)``.
        """
        return Kernel(f"normalised({self})")

    def weighted(self, function: str) -> Kernel:
        """Give f(x) k(x, y) f(y).

        Parameters
        ----------
        function : {"norm", "inverse_norm", "inverse_sum", "decay"}
            ‖x‖, 1/‖x‖, 1/‖x‖₁ or exp(-‖x‖²/2); with columns if wanted, as in ``"inverse_norm[0,1]"``.

        Returns
        -------
        kernel : Kernel
            ``weighted(…)``.
        """
        return Kernel(f"weighted({function},{self})")

    def __call__(self, X, Y=None, *, n_jobs=None) -> np.ndarray:
        """Compute the Gram matrix, exactly.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples_X, n_features)
            Rows. The names of a DataFrame's columns are those of the kernel.
        Y : {array-like, sparse matrix} of shape (n_samples_Y, n_features), default=None
            Other rows; None means X.
        n_jobs : int or None, default=None
            Threads; None and -1 mean all processors.

        Returns
        -------
        K : ndarray of shape (n_samples_X, n_samples_Y)
            k(x, y), in single precision if all rows are, in double otherwise.
        """
        text, X, Y = self._admit(X, Y)
        return _core.gram(text, X, Y, threads_of(n_jobs))

    def diagonal(self, X) -> np.ndarray:
        """Compute k(x, x).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        values : ndarray of shape (n_samples,)
            k(x, x), in double precision.
        """
        text, X, _ = self._admit(X, None)
        return _core.diagonal(text, X)

    def distance(self, X, Y=None, *, n_jobs=None) -> np.ndarray:
        """Compute distances in the kernel's own space, √(k(x, x) + k(y, y) - 2 k(x, y)).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples_X, n_features)
            Rows.
        Y : {array-like, sparse matrix} of shape (n_samples_Y, n_features), default=None
            Other rows; None means X.
        n_jobs : int or None, default=None
            Threads; None and -1 mean all processors.

        Returns
        -------
        D : ndarray of shape (n_samples_X, n_samples_Y)
            Distances, in double precision.
        """
        text, X, Y = self._admit(X, Y)
        return _core.distances(text, X, Y, threads_of(n_jobs))

    def explain(self, features: int = 2048, columns=None, bins: int | None = None) -> str:
        """Say what the compiler makes of the kernel: the tree of choices, with each part's share of features and variance.

        Parameters
        ----------
        features : int, default=2048
            Features, D.
        columns : int or sequence of str, default=None
            How many columns rows have, or their names; None means as many as the kernel speaks of by number or by lists, or 10.
        bins : int, default=None
            Slots of each grid, to have laplace and hat as hashed bins.

        Returns
        -------
        text : str
            One line for each part.
        """
        if columns is None or isinstance(columns, Integral):
            return _core.explain(self._text, columns, features, bins)
        names = [str(name) for name in columns]
        return _core.explain(_core.canonical_kernel(self._text, names), len(names), features, bins)

    def _admit(self, X: Any, Y: Any) -> tuple[str, Any, Any]:
        """The text with columns by number, and rows of one precision as the library takes them."""
        names = names_of(X)
        if Y is not None and None not in (names, names_of(Y)) and names != names_of(Y):
            raise ValueError(f"expected the columns of X ({', '.join(names)}) in Y, found {', '.join(names_of(Y))}")
        names = names_of(Y) if names is None and Y is not None else names
        X = as_rows(check_array(X, **ROWS))
        if Y is not None:
            Y = as_rows(check_array(Y, **ROWS))
            X, Y = (rows.astype(np.result_type(X, Y), copy=False) for rows in (X, Y))
        return _core.canonical_kernel(self._text, names), X, Y

    def __eq__(self, other: object) -> bool:
        return self._text == other._text if isinstance(other, Kernel) else NotImplemented

    def __hash__(self) -> int:
        return hash((Kernel, self._text))

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"Kernel({self._text!r})"

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"a kernel does not change: make another instead of setting {name}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a kernel does not change: {name} stays")

    def __copy__(self) -> Kernel:
        return self

    def __deepcopy__(self, memo: dict) -> Kernel:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return Kernel, (self._text,)


def _operand(other: Kernel | Real) -> str:
    return f"({other})" if isinstance(other, Kernel) else number_text("the factor", other)


def _column(column: Any) -> str:
    """A column by name or number, or a range of numbers, as the library reads it."""
    if isinstance(column, str):
        escaped = column.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    if isinstance(column, Integral) and not isinstance(column, (bool, np.bool_)) and column >= 0:
        return str(int(column))
    if isinstance(column, slice) and column.step in (None, 1) and column.stop is not None:
        start = 0 if column.start is None else column.start
        if isinstance(start, Integral) and isinstance(column.stop, Integral) and start >= 0 and column.stop >= 0:
            return f"{int(start)}..{int(column.stop)}"
    raise ValueError(f"expected columns by name, by number from 0, or as a range with an end such as 3:9, found {column!r}")


def number_text(name: str, value: Any) -> str:
    """A number as the library reads it, with all its digits."""
    number = float(value)
    if not np.isfinite(number):
        raise ValueError(f"expected {name} to be a finite number, found {number}")
    return repr(number)


def value_text(name: str, value: Any) -> str:
    """A number, a list of numbers or a list of such lists as the library reads it."""
    if isinstance(value, Real):
        return number_text(name, value)
    numbers = np.asarray(value)
    if numbers.dtype.kind not in "fiub" or numbers.ndim > 2:
        raise ValueError(f"expected {name} to be a number or an array of numbers, found {value!r}")
    if numbers.ndim == 0:
        return number_text(name, numbers.item())
    return f"[{','.join(value_text(name, entry) for entry in numbers)}]"


def _named(name: str, **parameters: Any) -> Kernel:
    """The kernel of a name, with the parameters that were given."""
    given = (f"{word}={value_text(word, value)}" for word, value in parameters.items() if value is not None)
    return Kernel(f"{name}({','.join(given)})")


def Gaussian(sigma=None, *, gamma=None) -> Kernel:
    """exp(-‖x - y‖² / (2 sigma²)).

    Parameters
    ----------
    sigma : float or array-like of shape (n_features,), default=None
        The width in the units of the rows; an array has one for each column.
    gamma : float or array-like of shape (n_features,), default=None
        Its other spelling, 1 / (2 sigma²).

    Examples
    --------
    >>> from bochner import Gaussian
    >>> Gaussian(gamma=0.125), Gaussian([1, 2.5])
    (Kernel('gaussian(sigma=2)'), Kernel('gaussian(sigma=[1,2.5])'))
    """
    return _named("gaussian", sigma=sigma, gamma=gamma)


def Laplace(scale=None, *, gamma=None) -> Kernel:
    """exp(-‖x - y‖₁ / scale), the product over columns of exp(-|xⱼ - yⱼ| / scale).

    Parameters
    ----------
    scale : float or array-like of shape (n_features,), default=None
        The width in the units of the rows; an array has one for each column.
    gamma : float or array-like of shape (n_features,), default=None
        Its other spelling, 1 / scale.

    Examples
    --------
    >>> from bochner import Laplace
    >>> Laplace(scale=2)
    Kernel('laplace(scale=2)')
    """
    return _named("laplace", scale=scale, gamma=gamma)


def Exponential(scale=None, *, gamma=None) -> Kernel:
    """exp(-‖x - y‖₂ / scale).

    Parameters
    ----------
    scale : float or array-like of shape (n_features,), default=None
        The width in the units of the rows; an array has one for each column.
    gamma : float or array-like of shape (n_features,), default=None
        Its other spelling, 1 / scale.

    Examples
    --------
    >>> from bochner import Exponential
    >>> Exponential(scale=2)
    Kernel('exponential(scale=2)')
    """
    return _named("exponential", scale=scale, gamma=gamma)


def Matern(*, nu, scale) -> Kernel:
    """Matérn's kernel of smoothness nu, with the parameters of scikit-learn's Gaussian processes.

    Parameters
    ----------
    nu : float
        The smoothness, from 0.05 to 100: 0.5 is the exponential kernel, infinity would be the Gaussian.
    scale : float or array-like of shape (n_features,)
        The width in the units of the rows; an array has one for each column.

    Examples
    --------
    >>> from bochner import Matern
    >>> Matern(nu=1.5, scale=2)
    Kernel('matern(nu=1.5,scale=2)')
    """
    return _named("matern", nu=nu, scale=scale)


def RationalQuadratic(*, alpha, scale) -> Kernel:
    """(1 + ‖x - y‖² / (2 alpha scale²))^(-alpha), a mixture of Gaussians.

    Parameters
    ----------
    alpha : float
        How alike the widths in the mixture are, from 0.01 to 10,000.
    scale : float or array-like of shape (n_features,)
        The width in the units of the rows; an array has one for each column.

    Examples
    --------
    >>> from bochner import RationalQuadratic
    >>> RationalQuadratic(alpha=1, scale=2)
    Kernel('rational_quadratic(alpha=1,scale=2)')
    """
    return _named("rational_quadratic", alpha=alpha, scale=scale)


def Cauchy(scale=None, *, gamma=None) -> Kernel:
    """∏ 1 / (1 + (xⱼ - yⱼ)² / scale²).

    Parameters
    ----------
    scale : float or array-like of shape (n_features,), default=None
        The width in the units of the rows; an array has one for each column.
    gamma : float or array-like of shape (n_features,), default=None
        Its other spelling, 1 / scale.

    Examples
    --------
    >>> from bochner import Cauchy
    >>> Cauchy(scale=2)
    Kernel('cauchy(scale=2)')
    """
    return _named("cauchy", scale=scale, gamma=gamma)


def Sinc(scale=None, *, gamma=None) -> Kernel:
    """∏ sin(uⱼ) / uⱼ with u = (x - y) / scale.

    Parameters
    ----------
    scale : float or array-like of shape (n_features,), default=None
        The width in the units of the rows; an array has one for each column.
    gamma : float or array-like of shape (n_features,), default=None
        Its other spelling, 1 / scale.

    Examples
    --------
    >>> from bochner import Sinc
    >>> Sinc(scale=0.5)
    Kernel('sinc(scale=0.5)')
    """
    return _named("sinc", scale=scale, gamma=gamma)


def RadialSinc(scale=None, *, gamma=None) -> Kernel:
    """sin(r) / r with r = ‖x - y‖ / scale, for at most three columns.

    Parameters
    ----------
    scale : float or array-like of shape (n_features,), default=None
        The width in the units of the rows; an array has one for each column.
    gamma : float or array-like of shape (n_features,), default=None
        Its other spelling, 1 / scale.

    Examples
    --------
    >>> from bochner import RadialSinc
    >>> RadialSinc(scale=0.5)[0:3]
    Kernel('radial_sinc(scale=0.5)[0..3]')
    """
    return _named("radial_sinc", scale=scale, gamma=gamma)


def Hat(width) -> Kernel:
    """∏ max(0, 1 - |xⱼ - yⱼ| / width).

    Parameters
    ----------
    width : float or array-like of shape (n_features,)
        Where each factor ends, in the units of the rows; an array has one for each column.

    Examples
    --------
    >>> from bochner import Hat
    >>> Hat(width=3)
    Kernel('hat(width=3)')
    """
    return _named("hat", width=width)


def Linear() -> Kernel:
    """x·y.

    Examples
    --------
    >>> from bochner import Linear
    >>> Linear()
    Kernel('linear')
    """
    return _named("linear")


def Bilinear(*, diagonal=None, factor=None, matrix=None) -> Kernel:
    """xᵀAy with A = diag(diagonal), factorᵀ factor or matrix: one of them is given.

    Parameters
    ----------
    diagonal : array-like of shape (n_features,), default=None
        The diagonal of A, not negative.
    factor : array-like of shape (n_rows, n_features), default=None
        B with A = BᵀB.
    matrix : array-like of shape (n_features, n_features), default=None
        A itself, symmetric; one with a negative eigenvalue is refused with that eigenvalue.

    Examples
    --------
    >>> from bochner import Bilinear
    >>> Bilinear(diagonal=[1, 0.5])
    Kernel('bilinear(diagonal=[1,0.5])')
    """
    return _named("bilinear", diagonal=diagonal, factor=factor, matrix=matrix)


def Polynomial(degree, *, gamma=1.0, c=0.0) -> Kernel:
    """(gamma x·y + c)^degree.

    Parameters
    ----------
    degree : int
        The power, from 1 to 64.
    gamma : float, default=1.0
        The factor of x·y.
    c : float, default=0.0
        What is added, not negative.

    Examples
    --------
    >>> from bochner import Polynomial
    >>> Polynomial(degree=2, c=1)
    Kernel('poly(degree=2,c=1)')
    """
    return _named("poly", degree=degree, gamma=gamma, c=c)


def AllSubsets() -> Kernel:
    """∏ (1 + xⱼyⱼ): the products of all subsets of columns.

    Examples
    --------
    >>> from bochner import AllSubsets
    >>> AllSubsets()
    Kernel('all_subsets')
    """
    return _named("all_subsets")


def Series(coefficients) -> Kernel:
    """Σ aₙ (x·y)ⁿ: any function of x·y with Taylor coefficients that are not negative.

    Parameters
    ----------
    coefficients : array-like of shape (n_coefficients,)
        a₀, a₁, …, up to degree 64.

    Examples
    --------
    >>> from bochner import Series
    >>> Series([1, 1, 0.5])
    Kernel('series(coefficients=[1,1,0.5])')
    """
    return _named("series", coefficients=coefficients)


def Parabolic() -> Kernel:
    """x·y + ‖x‖² ‖y‖²: the kernel of (x, ‖x‖²), whose hyperplanes are spheres.

    Examples
    --------
    >>> from bochner import Parabolic
    >>> Parabolic()
    Kernel('parabolic')
    """
    return _named("parabolic")


def Monomials(degree) -> Kernel:
    """Σ xᵃ yᵃ over all monomials of degree 1 to ``degree``, each of weight 1.

    Parameters
    ----------
    degree : int
        The highest degree, from 1 to 64.

    Examples
    --------
    >>> from bochner import Constant, Monomials
    >>> Constant() + Monomials(degree=2)
    Kernel('constant + monomials(degree=2)')
    """
    return _named("monomials", degree=degree)


def Interactions(degree) -> Kernel:
    """Σ ∏ xⱼyⱼ over all sets of 1 to ``degree`` different columns.

    Parameters
    ----------
    degree : int
        Columns of the largest product, from 1 to 64.

    Examples
    --------
    >>> from bochner import Interactions
    >>> Interactions(degree=2)
    Kernel('interactions(degree=2)')
    """
    return _named("interactions", degree=degree)


def Chi2() -> Kernel:
    """Σ 2xⱼyⱼ / (xⱼ + yⱼ), for entries that are not negative.

    Notes
    -----
    With scikit-learn's ``additive_chi2_kernel``, -Σ (xⱼ - yⱼ)² / (xⱼ + yⱼ), it is (Σ xⱼ + Σ yⱼ + that) / 2. scikit-learn's ``chi2_kernel`` is
    :func:`ExponentialChi2`.

    Examples
    --------
    >>> from bochner import Chi2
    >>> Chi2()
    Kernel('chi2')
    """
    return _named("chi2")


def ExponentialChi2(gamma=1.0) -> Kernel:
    """exp(-gamma Σ (xⱼ - yⱼ)² / (xⱼ + yⱼ)), for entries that are not negative; scikit-learn's ``chi2_kernel``.

    Parameters
    ----------
    gamma : float, default=1.0
        The rate.

    Examples
    --------
    >>> from bochner import ExponentialChi2
    >>> ExponentialChi2(gamma=0.5)
    Kernel('exponential_chi2(gamma=0.5)')
    """
    return _named("exponential_chi2", gamma=gamma)


def Intersection() -> Kernel:
    """Σ min(xⱼ, yⱼ), for entries that are not negative.

    Examples
    --------
    >>> from bochner import Intersection
    >>> Intersection()
    Kernel('intersection')
    """
    return _named("intersection")


def ArcCosine(order=1) -> Kernel:
    """Infinitely many units max(0, w·x)^order with random weights w: the kernel of a wide layer.

    Parameters
    ----------
    order : {0, 1, 2}, default=1
        The power of a unit.

    Examples
    --------
    >>> from bochner import ArcCosine
    >>> ArcCosine(order=0)
    Kernel('arc_cosine(order=0)')
    """
    return _named("arc_cosine", order=order)


def Constant() -> Kernel:
    """1 everywhere: the kernel of an intercept.

    Examples
    --------
    >>> from bochner import Constant, Linear
    >>> Linear() + 0.1 * Constant()
    Kernel('linear + 0.1*constant')
    """
    return _named("constant")
