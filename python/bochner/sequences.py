"""DNA, proteins and text as hashed counts of their pieces."""

from __future__ import annotations

import json
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context
from sklearn.utils._param_validation import Interval, Options, StrOptions
from sklearn.utils.validation import check_is_fitted

from ._core import Texts
from ._validation import SHARED_CONSTRAINTS, seed_of, threads_of


class SequenceFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Counts of the pieces of texts, hashed to a fixed number of columns: string kernels as sparse features.

    With normalised rows ``z(x) @ z(y)`` is the cosine of two texts' counts, that of the spectrum, gapped or mismatch kernel, up to the error of hashing, 1/√n_components.

    Parameters
    ----------
    grams : {"spectrum", "gapped", "mismatch", "characters", "words"}, default="spectrum"
        What is counted. ``"spectrum"``: all windows of ``k`` bytes. ``"gapped"``: every choice of ``k`` of the ``length`` places of every window. ``"mismatch"``: each window of ``k`` letters counts for
        all words with at most ``mismatches`` other letters of the ``alphabet``. ``"characters"`` and ``"words"``: runs of ``ngram_range`` of them.
    k : int, default=5
        Letters that matter, of the first three.
    length : int, default=8
        Places of a window of ``"gapped"``.
    mismatches : int, default=1
        Of ``"mismatch"``.
    alphabet : str, default="ACGT"
        Of ``"mismatch"``.
    ngram_range : tuple (min_n, max_n), default=(1, 2)
        Of ``"characters"`` and ``"words"``.
    tf_idf : bool, default=False
        Whether pieces that many texts have count less: times ln((1 + n)/(1 + df)) + 1, fitted to the texts.
    normalise : bool, default=True
        Whether rows are brought to length 1; that of a text without pieces stays zero.
    n_components : int, default=4096
        Columns, at most 2²⁰.
    nonzeros : int, default=4
        Columns that each piece is added to, with random signs; 1 is feature hashing as in ``HashingVectorizer``.
    dtype : {float64, float32}, default=float64
        Of the features.
    random_state : int, RandomState instance or None, default=0
        Of the hashing. The same integer gives the same features here, on the command line and in Rust; it is not None by default, so that two pipelines agree.
    n_jobs : int or None, default=None
        Threads; None and -1 mean all processors.

    Attributes
    ----------
    kernel_ : str
        The kernel of plain counts, as text: what ``bochner fit --kernel`` takes, with the column in brackets.

    See Also
    --------
    KernelMap : A Gaussian or Laplace kernel on top of such rows.
    RandomProjection : The same hashing, of columns of numbers.
    sklearn.feature_extraction.text.HashingVectorizer : Words and characters, one column each.

    Notes
    -----
    Leslie, Eskin and Noble (2002), *The spectrum kernel*; Ghandi, Lee, Mohammad-Noori and Beer (2014), *Enhanced regulatory sequence prediction using gapped k-mer features*; Weinberger et al. (2009), *Feature hashing
    for large scale multitask learning*. Words are runs of letters and digits in lower case; an apostrophe between two of them belongs to the word.

    Examples
    --------
    >>> from bochner import SequenceFeatures
    >>> Z = SequenceFeatures(k=3).fit_transform(["ACGTACGTAC", "ACGTACGAAC", "TTTTTTTTTT"])
    >>> Z.shape
    (3, 4096)
    >>> similarity = (Z @ Z.T).toarray()
    >>> bool(similarity[0, 1] > 0.7 > similarity[0, 2])
    True
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **SHARED_CONSTRAINTS,
        "grams": [StrOptions({"spectrum", "gapped", "mismatch", "characters", "words"})],
        "k": [Interval(Integral, 1, 64, closed="both")],
        "length": [Interval(Integral, 1, 64, closed="both")],
        "mismatches": [Interval(Integral, 0, 64, closed="both")],
        "alphabet": [str],
        "ngram_range": [tuple],
        "tf_idf": ["boolean"],
        "normalise": ["boolean"],
        "n_components": [Interval(Integral, 1, 2**20, closed="both")],
        "nonzeros": [Interval(Integral, 1, 64, closed="both")],
        "dtype": [Options(type, {np.float64, np.float32})],
    }

    def __init__(
        self,
        grams="spectrum",
        *,
        k=5,
        length=8,
        mismatches=1,
        alphabet="ACGT",
        ngram_range=(1, 2),
        tf_idf=False,
        normalise=True,
        n_components=4096,
        nonzeros=4,
        dtype=np.float64,
        random_state=0,
        n_jobs=None,
    ):
        self.grams = grams
        self.k = k
        self.length = length
        self.mismatches = mismatches
        self.alphabet = alphabet
        self.ngram_range = ngram_range
        self.tf_idf = tf_idf
        self.normalise = normalise
        self.n_components = n_components
        self.nonzeros = nonzeros
        self.dtype = dtype
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _grams(self) -> dict[str, Any]:
        """What is counted, in the words of the model file."""
        if self.grams in ("characters", "words"):
            if len(self.ngram_range) != 2:
                raise ValueError(f"expected ngram_range to be two numbers, found {self.ngram_range!r}")
            low, high = (int(n) for n in self.ngram_range)
            if not 1 <= low <= high:
                raise ValueError(f"expected ngram_range to be (min_n, max_n) with 1 <= min_n <= max_n, found {self.ngram_range!r}")
            return {"kind": self.grams, "from": low, "to": high}
        found: dict[str, Any] = {"kind": self.grams, "k": int(self.k)}
        if self.grams == "gapped":
            found["length"] = int(self.length)
        if self.grams == "mismatch":
            found |= {"mismatches": int(self.mismatches), "alphabet": self.alphabet}
        return found

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None, sample_weight=None):
        """Learn how many texts have each piece, for ``tf_idf``; without it nothing is learned.

        Parameters
        ----------
        X : iterable of str
            Texts.
        y : Ignored
            Present for scikit-learn's sake.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each text counts.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        sequence = {
            "grams": self._grams(),
            "tf_idf": bool(self.tf_idf),
            "normalise": bool(self.normalise),
            "width": int(self.n_components),
            "nonzeros": int(self.nonzeros),
            "seed": seed_of(self.random_state),
        }
        weights = None if sample_weight is None else np.ascontiguousarray(sample_weight, dtype=np.float64)
        self._texts = Texts.fit(X, sequence=json.dumps(sequence), threads=threads_of(self.n_jobs), weights=weights)
        self.kernel_ = self._texts.kernel
        self._n_features_out = self._texts.width
        return self

    def transform(self, X):
        """Count and hash.

        Parameters
        ----------
        X : iterable of str
            Texts.

        Returns
        -------
        X_new : csr_matrix of shape (n_samples, n_components)
            Hashed counts.
        """
        check_is_fitted(self)
        parts = self._texts.transform(X, threads_of(self.n_jobs), self.dtype is np.float32)
        ends, columns, values = parts
        return sp.csr_matrix((values, columns, ends), shape=(len(ends) - 1, self._texts.width))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = True
        return tags
