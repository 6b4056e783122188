"""DNA, proteins and text as hashed counts of their pieces."""

from __future__ import annotations

import json
from collections.abc import Mapping, Set
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context
from sklearn.utils._missing import is_pandas_na, is_scalar_nan
from sklearn.utils._param_validation import Interval, Options, StrOptions
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from ._core import Texts
from ._validation import SHARED_CONSTRAINTS, seed_of, threads_of

#: The longest pieces.
LONGEST = 64


class SequenceFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Counts of the pieces of texts, hashed to a fixed number of columns: string kernels as sparse features.

    With normalised rows ``z(x) @ z(y)`` is the cosine of two texts' counts, that of the spectrum, gapped or mismatch kernel, up to the error of hashing, 1/√n_components.

    Parameters
    ----------
    grams : {"spectrum", "gapped", "mismatch", "characters", "positional", "words"}, default="spectrum"
        What is counted. ``"spectrum"``: all windows of ``k`` bytes. ``"gapped"``: every choice of ``k`` of the ``length`` places of every window. ``"mismatch"``: each window of ``k`` letters counts for
        all words with at most ``mismatches`` other letters of the ``alphabet``. ``"characters"`` and ``"words"``: runs of ``ngram_range`` of them. ``"positional"``: runs of characters, each at its position, for aligned texts.
    k : int, default=5
        Letters that matter, of the first three.
    length : int, default=8
        Places of a window of ``"gapped"``.
    mismatches : int, default=1
        Of ``"mismatch"``.
    alphabet : str, default="ACGT"
        Of ``"mismatch"``.
    ngram_range : tuple (min_n, max_n), default=(1, 2)
        Of ``"characters"``, ``"positional"`` and ``"words"``.
    tf_idf : bool, default=False
        Whether pieces that many texts have count less: times ln((1 + n)/(1 + df)) + 1, fitted to the texts. How many have a piece is counted in 2¹⁸ slots, so that rare pieces may share one with frequent ones.
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
        "grams": [StrOptions({"spectrum", "gapped", "mismatch", "characters", "positional", "words"})],
        "k": [Interval(Integral, 1, LONGEST, closed="both")],
        "length": [Interval(Integral, 1, LONGEST, closed="both")],
        "mismatches": [Interval(Integral, 0, LONGEST, closed="both")],
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
        if self.grams in ("characters", "positional", "words"):
            whole = all(isinstance(n, Integral) for n in self.ngram_range)
            if len(self.ngram_range) != 2 or not whole or not 1 <= self.ngram_range[0] <= self.ngram_range[1] <= LONGEST:
                raise ValueError(f"expected ngram_range to be two integers (min_n, max_n) with 1 <= min_n <= max_n <= {LONGEST}, found {self.ngram_range!r}")
            low, high = (int(n) for n in self.ngram_range)
            return {"kind": self.grams, "from": low, "to": high}
        found: dict[str, Any] = {"kind": self.grams, "k": int(self.k)}
        if self.grams == "gapped":
            if self.k > self.length:
                raise ValueError(f"expected k to be at most length, found k={self.k} with length={self.length}: raise length or lower k")
            found["length"] = int(self.length)
        if self.grams == "mismatch":
            if self.mismatches > self.k:
                raise ValueError(f"expected mismatches to be at most k, found mismatches={self.mismatches} with k={self.k}: lower mismatches")
            found |= {"mismatches": int(self.mismatches), "alphabet": self.alphabet}
        return found

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None, sample_weight=None):
        """Learn how many texts have each piece, for ``tf_idf``; without it nothing is learned.

        Parameters
        ----------
        X : iterable of str
            Texts, or a table whose one column they are.
        y : Ignored
            Present for scikit-learn's sake.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each text counts, for ``tf_idf``.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        grams, texts = self._grams(), _texts_of(X)
        if self.nonzeros > self.n_components:
            raise ValueError(
                f"expected nonzeros to be at most n_components, found nonzeros={self.nonzeros} with n_components={self.n_components}: lower nonzeros"
            )
        sequence = {
            "grams": grams,
            "tf_idf": bool(self.tf_idf),
            "normalise": bool(self.normalise),
            "width": int(self.n_components),
            "nonzeros": int(self.nonzeros),
            "seed": seed_of(self.random_state),
        }
        weights = None
        if sample_weight is not None:
            weights = np.ascontiguousarray(_check_sample_weight(sample_weight, texts, dtype=np.float64, ensure_non_negative=True))
        self._texts = Texts.fit(texts, sequence=json.dumps(sequence), threads=threads_of(self.n_jobs), weights=weights)
        self.kernel_ = self._texts.kernel
        self._n_features_out = self._texts.width
        return self

    def transform(self, X):
        """Count and hash.

        Parameters
        ----------
        X : iterable of str
            Texts, or a table whose one column they are.

        Returns
        -------
        X_new : csr_matrix of shape (n_samples, n_components)
            Hashed counts.
        """
        check_is_fitted(self)
        parts = self._texts.transform(_texts_of(X), threads_of(self.n_jobs), self.dtype is np.float32)
        ends, columns, values = parts
        return sp.csr_matrix((values, columns, ends), shape=(len(ends) - 1, self._texts.width))

    def fit_transform(self, X, y=None, sample_weight=None):
        """Fit to texts, then count and hash them: each is read once, so that a generator will do.

        Parameters
        ----------
        X : iterable of str
            Texts, or a table whose one column they are.
        y : Ignored
            Present for scikit-learn's sake.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each text counts, for ``tf_idf``.

        Returns
        -------
        X_new : csr_matrix of shape (n_samples, n_components)
            Hashed counts.
        """
        texts = _texts_of(X)
        return self.fit(texts, y, sample_weight).transform(texts)

    def similarity(self, a, b) -> float:
        """The kernel of two texts without hashing: what inner products of their rows estimate.

        Parameters
        ----------
        a : str
            A text.
        b : str
            Another.

        Returns
        -------
        similarity : float
            The cosine of their counts, or with ``normalise=False`` the inner product.

        Examples
        --------
        >>> from bochner import SequenceFeatures
        >>> features = SequenceFeatures(k=3, normalise=False).fit([])
        >>> features.similarity("ACGTACG", "TACGT")
        4.0
        """
        check_is_fitted(self)
        for text in (a, b):
            if not isinstance(text, str):
                raise TypeError(f"expected two strings, found {type(text).__name__}: compare more texts by the inner products of their rows")
        return self._texts.exact(a, b)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = True
        return tags


def _texts_of(X: Any) -> list[Any]:
    """Texts as a list, out of anything that has them in one column; that all are strings is left to the library, save for missing ones."""
    if isinstance(X, (str, bytes)):
        raise ValueError("expected an iterable of strings, found one string: put it in a list")
    if isinstance(X, (Mapping, Set)):
        raise ValueError(f"expected one column of texts, found a {type(X).__name__}: give its texts as a list, in their order")
    if sp.issparse(X):
        raise ValueError("expected one column of texts, found a sparse matrix: give texts as a list")
    shape = getattr(X, "shape", None)
    if shape is not None and len(shape) != 1:
        if len(shape) != 2:
            raise ValueError(f"expected one column of texts, found an array of {len(shape)} dimensions: give texts as a list")
        if shape[1] != 1:
            raise ValueError(f"expected one column of texts, found a table of {shape[1]} columns: choose one, as df['text']")
        X = np.asarray(X).ravel()
    texts = list(X)
    for place, text in enumerate(texts):
        if not isinstance(text, str) and (text is None or is_scalar_nan(text) or is_pandas_na(text)):
            raise ValueError(f"expected strings, found {text} at {place}: fill them in, as with fillna('')")
    return texts
