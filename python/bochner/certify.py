"""What can be promised: features for an error, landmarks for a margin, and whether a matrix can be one of kernel values."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_array

from . import _core
from .kernels import Kernel


def features_for(kernel: str | Kernel, points: int, epsilon: float, delta: float = 0.05, *, form: str = "pairs") -> int:
    """Say how many Fourier features keep all pairs of some points within an error.

    The theorem is of independent frequencies: ``FourierFeatures(..., draw="independent")``. Orthogonal ones, which ``draw="auto"`` takes for
    functions of ‖x - y‖, have the smaller variance as a rule, and no such theorem.

    Parameters
    ----------
    kernel : str or Kernel
        A function of x - y.
    points : int
        Points, N.
    epsilon : float
        The largest error of ``z(x) @ z(y)``, for all pairs of the points at once.
    delta : float, default=0.05
        The chance that it is larger, over the seed.
    form : {"pairs", "offset"}, default="pairs"
        The form of :class:`~bochner.FourierFeatures`.

    Returns
    -------
    n_components : int
        D: (4/ε²) ln(N²/δ) pairs, (8/ε²) ln(N²/δ) offsets, times k(x, x)².

    Examples
    --------
    >>> from bochner import Gaussian, features_for
    >>> features_for(Gaussian(sigma=1), points=1_000_000, epsilon=0.1)
    12252
    """
    return _core.features_for(str(kernel), form, points, epsilon, delta)


def grids_for(kernel: str | Kernel, points: int, epsilon: float, delta: float = 0.05) -> int:
    """Say how many grids of fitted bins keep all pairs of some points within an error.

    Parameters
    ----------
    kernel : str or Kernel
        Laplace's, a hat, or another that :class:`~bochner.BinningFeatures` takes.
    points : int
        Points, N.
    epsilon : float
        The largest error of ``z(x) @ z(y)``, for all pairs of the points at once.
    delta : float, default=0.05
        The chance that it is larger, over the seed.

    Returns
    -------
    n_components : int
        P = ln(N²/δ) / (2ε²), times k(x, x)².

    Examples
    --------
    >>> from bochner import Laplace, grids_for
    >>> grids_for(Laplace(scale=1), points=1_000_000, epsilon=0.1)
    1532
    """
    return _core.grids_for(str(kernel), points, epsilon, delta)


def features_for_distance(kernel: str | Kernel, epsilon: float, delta: float = 0.05) -> int:
    """Say how many Fourier pairs keep the squared kernel distance of one pair of rows within a part of itself.

    Parameters
    ----------
    kernel : str or Kernel
        A function of ‖x - y‖ whose frequencies have a fourth moment, such as the Gaussian; others are refused.
    epsilon : float
        The largest relative error.
    delta : float, default=0.05
        The chance that it is larger, over the seed.

    Returns
    -------
    n_components : int
        D.

    Examples
    --------
    >>> from bochner import Gaussian, features_for_distance
    >>> 8000 <= features_for_distance(Gaussian(sigma=1), epsilon=0.1) <= 8080
    True
    """
    return _core.features_for_distance(str(kernel), epsilon, delta)


def landmarks_for_margin(margin: float, epsilon: float, delta: float = 0.05) -> int:
    """Say how many landmarks keep two classes apart that the kernel keeps apart.

    Parameters
    ----------
    margin : float
        γ of the kernel's own space, where k(x, x) = 1: what :class:`~bochner.KernelSVC` has as ``margin_``.
    epsilon : float
        The part of the rows that may be lost.
    delta : float, default=0.05
        The chance that it is larger, over the choice of landmarks.

    Returns
    -------
    n_components : int
        m = (8/ε) (1/γ² + ln(1/δ)).

    Examples
    --------
    >>> from bochner import landmarks_for_margin
    >>> landmarks_for_margin(margin=0.2, epsilon=0.1)
    2240
    """
    return _core.landmarks_for_margin(margin, epsilon, delta)


def dimension_for(
    points: int,
    n_features: int,
    epsilon: float,
    delta: float = 0.05,
    kind: str = "gaussian",
    kept: str = "distances",
    nonzeros: int | str = 8,
) -> int:
    """Say how many outputs of a random projection keep all pairs of so many points, by the theorem of each kind.

    Parameters
    ----------
    points : int
        Rows.
    n_features : int
        Their columns.
    epsilon : float
        How far squared distances may be off as a part of themselves, or inner products as a part of ‖x‖‖y‖; below 1.
    delta : float, default=0.05
        The chance that a pair is further off, over the seed.
    kind : {"gaussian", "signs", "orthonormal", "hadamard", "sparse"}, default="gaussian"
        Of :class:`~bochner.RandomProjection`. For ``"sparse"`` it is the best of Chebyshev's inequality and higher moments, and the number is large.
    kept : {"distances", "inner_products"}, default="distances"
        What is to be kept.
    nonzeros : int or "theorem", default=8
        Of ``"sparse"``.

    Returns
    -------
    n_components : int
        m.

    Examples
    --------
    >>> from bochner import dimension_for
    >>> 2500 < dimension_for(points=1000, n_features=10_000, epsilon=0.15) < 3500
    True
    """
    return _core.dimension_for(_projection(kind, nonzeros, kept), kept, points, n_features, epsilon, delta)


def epsilon_for(
    n_components: int,
    points: int,
    n_features: int,
    delta: float = 0.05,
    kind: str = "gaussian",
    kept: str = "distances",
    nonzeros: int | str = 8,
) -> float:
    """Say how far pairs of so many points may be off after a random projection: :func:`dimension_for` the other way.

    Parameters
    ----------
    n_components : int
        Outputs.
    points : int
        Rows.
    n_features : int
        Their columns.
    delta : float, default=0.05
        The chance that a pair is further off, over the seed.
    kind : {"gaussian", "signs", "orthonormal", "hadamard", "sparse"}, default="gaussian"
        Of :class:`~bochner.RandomProjection`.
    kept : {"distances", "inner_products"}, default="distances"
        Squared distances as a part of themselves, or inner products as a part of ‖x‖‖y‖.
    nonzeros : int or "theorem", default=8
        Of ``"sparse"``.

    Returns
    -------
    epsilon : float
        ε.

    Examples
    --------
    >>> from bochner import dimension_for, epsilon_for
    >>> m = dimension_for(points=1000, n_features=10_000, epsilon=0.15)
    >>> 0.14 < epsilon_for(m, points=1000, n_features=10_000) <= 0.15
    True
    """
    return _core.epsilon_for(_projection(kind, nonzeros, kept), kept, points, n_features, n_components, delta)


def _projection(kind: str, nonzeros: int | str, kept: str) -> str:
    """A projection in the words of the model file, as JSON."""
    from .projections import KINDS, projection

    if kept not in ("distances", "inner_products"):
        raise ValueError(f"expected kept to be 'distances' or 'inner_products', found {kept!r}")
    if kind not in KINDS:
        raise ValueError(f"expected kind to be {', '.join(map(repr, KINDS[:-1]))} or {KINDS[-1]!r}, found {kind!r}")
    return json.dumps(projection(kind, nonzeros))


def margin_dimension(margin: float, epsilon: float, delta: float = 0.05) -> int:
    """Say how many outputs of a random projection keep half of the margin between two classes.

    Parameters
    ----------
    margin : float
        γ: y w·x ≥ γ for rows and w of length 1.
    epsilon : float
        The part of the rows that may come closer than γ/2.
    delta : float, default=0.05
        The chance that more do, over the seed.

    Returns
    -------
    n_components : int
        m = ln(4/(εδ)) / (γ²/16 - γ³/48), whatever the number of columns and rows.

    Examples
    --------
    >>> from bochner import margin_dimension
    >>> margin_dimension(margin=0.4, epsilon=0.05) < margin_dimension(margin=0.2, epsilon=0.05) / 3
    True
    """
    return _core.margin_dimension(margin, epsilon, delta)


@dataclass(frozen=True, eq=False)
class Definiteness:
    """What was found about a matrix.

    Parameters
    ----------
    holds : bool
        Whether it is positive semidefinite, to rounding.
    smallest : float
        The smallest eigenvalue.
    largest : float
        The largest one.
    combination : ndarray of shape (n_samples,)
        a of length 1 with ``a @ K @ a`` the smallest eigenvalue: where that is negative, a combination of rows with a negative square.
    text : str
        The same in words; what ``print`` shows.
    """

    holds: bool
    smallest: float
    largest: float
    combination: np.ndarray
    text: str

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        return self.text


def check_gram(K) -> Definiteness:
    """Look whether a symmetric matrix can be one of kernel values: whether it is positive semidefinite.

    Parameters
    ----------
    K : array-like of shape (n_samples, n_samples)
        Values of what may be a kernel, for all pairs of some rows.

    Returns
    -------
    found : Definiteness
        True if it can; otherwise with the combination of rows that shows why not.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import check_gram
    >>> x = np.arange(3.0)
    >>> K = np.tanh(np.outer(x, x) - 1)
    >>> found = check_gram(K)
    >>> found.holds, round(found.smallest, 3)
    (False, -1.27)
    >>> a = found.combination
    >>> round(float(a @ K @ a), 3)
    -1.27
    """
    K = np.ascontiguousarray(check_array(K, dtype=np.float64, ensure_all_finite=False))
    smallest, largest, combination, holds, text = _core.check_gram(K)
    return Definiteness(holds, smallest, largest, combination, text)
