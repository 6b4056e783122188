"""Texts as hashed counts."""

import pickle
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from bochner import KernelClassifier, SequenceFeatures

TEXTS = ["ACGTACGTTT", "ACGTTCGTTA", "TTTTACGTAC", "GATTACAGATTACA", "AC", ""]


def spectrum(k):
    return lambda text: Counter(text[i : i + k] for i in range(len(text) - k + 1))


def gapped(length, k):
    def count(text):
        windows = (text[i : i + length] for i in range(len(text) - length + 1))
        return Counter((places, tuple(w[p] for p in places)) for w in windows for places in combinations(range(length), k))

    return count


def mismatch(k):
    def count(text):
        found = Counter()
        for i in range(len(text) - k + 1):
            window = text[i : i + k]
            found.update({window[:p] + c + window[p + 1 :] for p in range(k) for c in "ACGT"})
        return found

    return count


def words(low, high):
    def count(text):
        tokens = text.lower().split()
        return Counter(" ".join(tokens[i : i + n]) for n in range(low, high + 1) for i in range(len(tokens) - n + 1))

    return count


def cosines(counts):
    inner = np.array([[sum(a[u] * b[u] for u in a) for b in counts] for a in counts], float)
    length = np.sqrt(np.maximum(np.diag(inner), 1e-300))
    return inner / np.outer(length, length)


@pytest.mark.parametrize(
    ("features", "count"),
    [
        (SequenceFeatures(k=3), spectrum(3)),
        (SequenceFeatures("gapped", length=4, k=2), gapped(4, 2)),
        (SequenceFeatures("mismatch", k=3), mismatch(3)),
    ],
)
def test_inner_products_are_those_of_counts(features, count):
    """In the mean over hashings; one to 2²⁰ columns has hardly a collision."""
    exact = cosines([count(text) for text in TEXTS])
    Z = clone(features).set_params(n_components=2**20, nonzeros=8).fit_transform(TEXTS)
    np.testing.assert_allclose((Z @ Z.T).toarray(), exact, atol=1e-3)
    mean = np.mean(
        [
            (lambda Z: (Z @ Z.T).toarray())(clone(features).set_params(n_components=256, random_state=seed).fit_transform(TEXTS))
            for seed in range(200)
        ],
        axis=0,
    )
    np.testing.assert_allclose(mean, exact, atol=0.03)


def test_words_and_their_pairs():
    texts = ["the cat sat", "The cat  sat on the mat", "a dog", "DON'T don't"]
    Z = SequenceFeatures("words", ngram_range=(1, 2), n_components=2**20).fit_transform(texts)
    np.testing.assert_allclose((Z @ Z.T).toarray(), cosines([words(1, 2)(text) for text in texts]), atol=1e-3)


def test_tf_idf_is_scikit_learns():
    texts = ["the cat sat on the mat", "the dog sat", "a cat and a dog", "mat of the cat", "dogs"] * 3 + ["rare words here"]
    expected = TfidfVectorizer(token_pattern=r"\w+").fit_transform(texts)
    Z = SequenceFeatures("words", ngram_range=(1, 1), tf_idf=True, n_components=2**20, nonzeros=8).fit_transform(texts)
    np.testing.assert_allclose((Z @ Z.T).toarray(), (expected @ expected.T).toarray(), atol=2e-3)


def test_characters_are_unicode():
    Z = SequenceFeatures("characters", ngram_range=(1, 1), n_components=2**20).fit_transform(["été", "ete", "tété"])
    similarity = (Z @ Z.T).toarray()
    assert abs(similarity[0, 1] - 1 / np.sqrt(5 * 5)) < 1e-3


def test_weights_are_repetitions():
    texts = ["a b", "a c", "d"]
    make = lambda: SequenceFeatures("words", tf_idf=True, n_components=512)
    repeated = make().fit(["a b", "a b", "a c", "d", "d", "d"])
    weighted = make().fit(texts, sample_weight=[2, 1, 3])
    np.testing.assert_allclose(weighted.transform(texts).toarray(), repeated.transform(texts).toarray(), rtol=1e-6)


def test_pickling_and_threads():
    for tf_idf in (False, True):
        features = SequenceFeatures(k=3, tf_idf=tf_idf).fit(TEXTS)
        Z = features.transform(TEXTS)
        for other in (pickle.loads(pickle.dumps(features)), SequenceFeatures(k=3, tf_idf=tf_idf, n_jobs=1).fit(TEXTS)):
            again = other.transform(TEXTS)
            assert (again != Z).nnz == 0
    assert SequenceFeatures(dtype=np.float32).fit_transform(TEXTS).dtype == np.float32


@pytest.mark.parametrize(
    ("features", "texts", "message"),
    [
        (SequenceFeatures(), "ACGT", "put it in a list"),
        (SequenceFeatures(), ["ACGT", 3], "found int at 1"),
        (SequenceFeatures("words", ngram_range=(2, 1)), ["a"], "ngram_range"),
        (SequenceFeatures("gapped", length=4, k=6), ["a"], "length"),
        (SequenceFeatures("mismatch", k=30, mismatches=20), ["a"], "10,000"),
        (SequenceFeatures(nonzeros=8, n_components=4), ["a"], "nonzeros"),
    ],
)
def test_what_is_wrong_is_said(features, texts, message):
    with pytest.raises((ValueError, TypeError), match=message):
        features.fit(texts).transform(texts)


def test_a_classifier_of_sequences(rng):
    """A motif in one class only."""
    letters = np.array(list("ACGT"))
    texts = ["".join(rng.choice(letters, 60)) for _ in range(400)]
    y = np.arange(400) % 2
    texts = [text[:20] + "GATTACA" + text[27:] if label else text for text, label in zip(texts, y)]
    model = make_pipeline(SequenceFeatures(k=5), KernelClassifier("linear", standardize=False))
    assert model.fit(texts[:300], y[:300]).score(texts[300:], y[300:]) > 0.9
