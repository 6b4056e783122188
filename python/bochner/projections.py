"""Fewer columns with the same distances."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ._core import johnson_lindenstrauss
from ._validation import COMPONENTS, SHARED_CONSTRAINTS, check_rows
from .features import _KernelFeatures

#: Kinds of projections.
KINDS = ("gaussian", "signs", "orthonormal", "hadamard", "sparse")

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
    dense_output : bool, default=True
        Whether outputs are an array. False gives a sparse matrix of those of ``"sparse"``, for few ``nonzeros`` and rows with few entries; those of the other kinds are an array in any case.
    random_state : int, RandomState instance or None, default=None
        Of all chance. The same integer gives the same projection here, on the command line and in Rust.
    n_jobs : int or None, default=None
        Threads; None and -1 mean all processors.

    Attributes
    ----------
    n_components_ : int
        Outputs.
    overlap_ : tuple (worst, limit) or None
        Outputs that two columns of a sparse projection share at worst, and 2s²/m, which the theorem wants it to be at most; None for other kinds. All pairs of columns are
        looked at, or a sample of them where they are many.
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
        "kind": [StrOptions(set(KINDS))],
        "eps": [Interval(Real, 0, 1, closed="neither")],
        "nonzeros": [Interval(Integral, 1, None, closed="left"), StrOptions({"theorem"})],
        "signed": ["boolean"],
        "dense_output": ["boolean"],
    }

    def __init__(
        self,
        n_components="auto",
        *,
        kind="sparse",
        eps=0.1,
        nonzeros=8,
        signed=True,
        dense_output=True,
        random_state=None,
        n_jobs=None,
    ):
        self.n_components = n_components
        self.kind = kind
        self.eps = eps
        self.nonzeros = nonzeros
        self.signed = signed
        self.dense_output = dense_output
        self.random_state = random_state
        self.n_jobs = n_jobs

    def transform(self, X):
        """Project rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        X_new : {ndarray, csr_matrix} of shape (n_samples, n_components_)
            Outputs, in single precision if the rows are, in double otherwise; sparse for ``dense_output=False`` and ``kind="sparse"``.
        """
        if self.dense_output or self.kind != "sparse":
            return super().transform(X)
        check_is_fitted(self)
        return self._transformed_sparse(check_rows(self, X, reset=False))

    def _features(self, rows: Any) -> int:
        self._asked = int(self.n_components) if self.n_components != "auto" else self._by_the_lemma(rows)
        return self._asked

    def _by_the_lemma(self, rows: Any) -> int:
        """Outputs that keep the distances among as many rows."""
        found = johnson_lindenstrauss(rows.shape[0], float(self.eps), DELTA)
        if found > rows.shape[1]:
            raise ValueError(
                f"eps={self.eps} and n_samples={rows.shape[0]} lead to a target dimension of {found} which is larger than the original space with n_features={rows.shape[1]}"
            )
        return found

    def _method(self) -> dict[str, Any]:
        return {"kind": "projection", "how": projection(self.kind, self.nonzeros, self.signed, self._asked)}

    def _kernel_text(self, rows: Any) -> str:
        return "linear"

    @property
    def n_components_(self) -> int:
        """Outputs."""
        check_is_fitted(self)
        return self._map.output_dim

    @property
    def overlap_(self) -> tuple[int, float] | None:
        """Outputs that two columns share at worst, and what the theorem wants."""
        check_is_fitted(self)
        found = self._map.worst_overlap
        return None if found is None else found[:2]


def projection(kind: str, nonzeros: int | str = 8, signed: bool = True, most: int | None = None) -> dict[str, Any]:
    """A projection in the words of the model file, with no more than ``most`` entries in a column."""
    if kind != "sparse":
        return {"kind": kind}
    if nonzeros == "theorem":
        return {"kind": "sparse", "nonzeros": {"kind": "theorem"}, "signed": bool(signed)}
    count = int(nonzeros) if most is None else min(int(nonzeros), most)
    return {"kind": "sparse", "nonzeros": {"kind": "count", "count": count}, "signed": bool(signed)}
