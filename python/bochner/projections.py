"""Fewer columns with the same distances."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ._core import johnson_lindenstrauss
from ._validation import COMPONENTS, SHARED_CONSTRAINTS
from .features import _KernelFeatures

#: Of the lemma, where the number of outputs is left to it.
DELTA = 0.05


class RandomProjection(_KernelFeatures):
    """Random projections, which keep distances and inner products, in place of ``GaussianRandomProjection`` and ``SparseRandomProjection``.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Outputs. ``"auto"`` is the number with which all squared distances among as many rows as are fitted stay within a factor 1 ± ``eps`` with probability 0.95, by the lemma of Johnson and
        Lindenstrauss: proved with its constant for the first three kinds, a rule of practice for the others.
    kind : {"gaussian", "signs", "orthonormal", "hadamard", "sparse"}, default="sparse"
        ``"gaussian"``: normal entries. ``"signs"``: ±1/√m. ``"orthonormal"``: orthonormal rows, the lowest variance. ``"hadamard"``: signs and a Walsh–Hadamard transform, fast for dense rows.
        ``"sparse"``: ``nonzeros`` entries in each column, fast for sparse rows.
    eps : float, default=0.1
        For ``n_components="auto"``.
    nonzeros : int or "theorem", default=8
        Entries of each column of ``"sparse"``: 8 is practice, ``"theorem"`` is ⌈√(m ln d)⌉, 1 is feature hashing; never more than outputs.
    signed : bool, default=True
        Whether entries of ``"sparse"`` have random signs. Without them inner products of rows without negative entries are too large in the mean.
    random_state : int, RandomState instance or None, default=None
        Of all chance. The same integer gives the same projection here, on the command line and in Rust.
    n_jobs : int or None, default=None
        Threads; None and -1 mean all processors.

    Attributes
    ----------
    n_components_ : int
        Outputs.
    certificate_ : Certificate
        How far inner products may be off, and how far they were found to be on a sample of the rows.
    kernel_ : str
        ``"linear"``: the inner products that are kept.
    n_features_in_ : int
        Columns of the rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they have any.

    See Also
    --------
    dimension_for : The number of outputs by the theorem of each kind.
    SequenceFeatures : The sparse projection of counts in texts.
    sklearn.random_projection.SparseRandomProjection : The same idea with 1/√d of all entries.

    Notes
    -----
    Johnson and Lindenstrauss (1984); Achlioptas (2003); Ailon and Chazelle (2006); Kane and Nelson (2014), *Sparser Johnson–Lindenstrauss transforms*.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import RandomProjection
    >>> X = np.random.default_rng(0).normal(size=(20, 10_000))
    >>> Z = RandomProjection(2000, random_state=0).fit_transform(X)
    >>> distances = lambda A: ((A[:, None] - A[None]) ** 2).sum(-1)[np.triu_indices(20, 1)]
    >>> bool(abs(distances(Z) / distances(X) - 1).max() < 0.15)
    True
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **SHARED_CONSTRAINTS,
        "n_components": [COMPONENTS, StrOptions({"auto"})],
        "kind": [StrOptions({"gaussian", "signs", "orthonormal", "hadamard", "sparse"})],
        "eps": [Interval(Real, 0, 1, closed="neither")],
        "nonzeros": [Interval(Integral, 1, None, closed="left"), StrOptions({"theorem"})],
        "signed": ["boolean"],
    }

    def __init__(
        self,
        n_components="auto",
        *,
        kind="sparse",
        eps=0.1,
        nonzeros=8,
        signed=True,
        random_state=None,
        n_jobs=None,
    ):
        self.n_components = n_components
        self.kind = kind
        self.eps = eps
        self.nonzeros = nonzeros
        self.signed = signed
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _features(self, rows: Any) -> int:
        if self.n_components != "auto":
            return int(self.n_components)
        found = johnson_lindenstrauss(rows.shape[0], float(self.eps), DELTA)
        if found > rows.shape[1]:
            raise ValueError(
                f"eps={self.eps} and n_samples={rows.shape[0]} lead to a target dimension of {found} which is larger than the original space with n_features={rows.shape[1]}"
            )
        return found

    def _method(self) -> dict[str, Any]:
        return {"kind": "projection", "how": projection(self.kind, self.nonzeros, self.signed, self.n_components)}

    def _kernel_text(self, rows: Any) -> str:
        return "linear"

    @property
    def n_components_(self) -> int:
        """Outputs."""
        check_is_fitted(self)
        return self._map.output_dim


def projection(kind: str, nonzeros: int | str = 8, signed: bool = True, most: int | str = "auto") -> dict[str, Any]:
    """A projection in the words of the model file."""
    if kind != "sparse":
        return {"kind": kind}
    if nonzeros == "theorem":
        return {"kind": "sparse", "nonzeros": {"kind": "theorem"}, "signed": bool(signed)}
    count = int(nonzeros) if most == "auto" else min(int(nonzeros), int(most))
    return {"kind": "sparse", "nonzeros": {"kind": "count", "count": count}, "signed": bool(signed)}
