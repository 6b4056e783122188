"""Texts as hashed counts."""

import pickle
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from bochner import FourierFeatures, Gaussian, KernelClassifier, KernelMap, KernelRegressor, KernelRidge, KernelSVC, SequenceFeatures

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
    ("features", "count", "mutant"),
    [
        (SequenceFeatures(k=3), spectrum(3), spectrum(4)),
        (SequenceFeatures("gapped", length=4, k=2), gapped(4, 2), gapped(4, 3)),
        (SequenceFeatures("mismatch", k=3), mismatch(3), mismatch(2)),
    ],
)
def test_inner_products_are_those_of_counts(features, count, mutant):
    """In the mean over hashings; one to 2²⁰ columns has hardly a collision. All seeds are fixed, so that there is no false alarm; counts of another k are off by more than either bound."""
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
    other = cosines([mutant(text) for text in TEXTS])
    for found in ((Z @ Z.T).toarray(), mean):
        assert abs(found - other).max() > 0.1, "the test has no power"
    features.fit(TEXTS)
    np.testing.assert_allclose([[features.similarity(a, b) for b in TEXTS] for a in TEXTS], exact, rtol=1e-12)


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
        (SequenceFeatures("words", ngram_range=(1, 2.5)), ["a"], r"two integers .*, found \(1, 2.5\)"),
        (SequenceFeatures("words", ngram_range=(1, 2, 3)), ["a"], "two integers"),
        (SequenceFeatures("characters", ngram_range=(1, 65)), ["a"], "max_n <= 64"),
        (SequenceFeatures("gapped", length=4, k=6), ["a"], "expected k to be at most length, found k=6 with length=4"),
        (SequenceFeatures("mismatch", k=3, mismatches=4), ["a"], "expected mismatches to be at most k"),
        (SequenceFeatures("mismatch", k=30, mismatches=20), ["a"], "10,000"),
        (SequenceFeatures(nonzeros=8, n_components=4), ["a"], "expected nonzeros to be at most n_components"),
        (SequenceFeatures(), {"t": ["a"]}, "expected one column of texts, found a dict"),
        (SequenceFeatures(), {"a", "b"}, "expected one column of texts, found a set"),
        (SequenceFeatures(), np.full((4, 3), "a"), "found a table of 3 columns: choose one, as df"),
        (SequenceFeatures(), np.full((4, 1, 1), "a"), "found an array of 3 dimensions"),
        (SequenceFeatures(), ["a", None], r"found None at 1: fill them in, as with fillna\(''\)"),
        (SequenceFeatures(), ["a", "b", float("nan")], "found nan at 2: fill them in"),
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


def test_tables_are_refused_unless_they_have_one_column():
    pandas = pytest.importorskip("pandas")
    features = SequenceFeatures(k=3)
    expected = features.fit_transform(TEXTS)
    frame = pandas.DataFrame({"t": TEXTS, "n": range(len(TEXTS))})
    for column in (frame[["t"]], frame[["t"]].to_numpy(), np.array(TEXTS)[:, None]):
        assert (features.fit_transform(column) != expected).nnz == 0
        assert (features.transform(column) != expected).nnz == 0
    for call in (features.fit, features.transform, features.fit_transform):
        with pytest.raises(ValueError, match="found a table of 2 columns: choose one"):
            call(frame)
    for missing in (pandas.Series(["a", pandas.NA]), pandas.Series(["a", None], dtype="string"), pandas.DataFrame({"t": ["a", None]})):
        with pytest.raises(ValueError, match=r"at 1: fill them in, as with fillna"):
            features.fit(missing)


def test_columns_of_every_make_give_the_same():
    features = SequenceFeatures(k=3, tf_idf=True)
    expected = features.fit_transform(TEXTS)
    makes = [lambda: (text for text in TEXTS), lambda: tuple(TEXTS), lambda: np.array(TEXTS), lambda: np.array(TEXTS, dtype=object), lambda: map(str, TEXTS)]
    try:
        import pandas

        for index in (range(10, 16), list("fbcadd"), [0.5] * 6):
            makes.append(lambda index=index: pandas.Series(TEXTS, index=index))
    except ImportError:
        pass
    for make in makes:
        for found in (clone(features).fit_transform(make()), clone(features).fit(make()).transform(make())):
            assert found.shape == expected.shape and expected.nnz > 0
            assert (found != expected).nnz == 0


def test_parameters_and_state():
    """What scikit-learn's suite, which has no texts, leaves out."""
    features = SequenceFeatures("gapped", k=2, length=4, n_components=64).fit(TEXTS)
    copy = clone(features)
    assert copy.get_params() == features.get_params() and copy is not features
    for call in (lambda: copy.transform(TEXTS), lambda: copy.similarity("a", "b"), copy.get_feature_names_out):
        with pytest.raises(NotFittedError):
            call()
    assert list(features.get_feature_names_out()[:2]) == ["sequencefeatures0", "sequencefeatures1"]
    again = features.set_params(grams="words", ngram_range=(1, 1), n_components=32).fit(["a b", "b c"])
    assert again is features and features.kernel_.startswith("words")
    assert features.transform(["a"]).shape == (1, 32) and len(features.get_feature_names_out()) == 32
    fresh = SequenceFeatures("words", ngram_range=(1, 1), n_components=32).fit(["other"])
    assert (fresh.transform(["a b"]) != features.transform(["a b"])).nnz == 0
    other = pickle.loads(pickle.dumps(features))
    assert other.similarity("a b", "b c") == features.similarity("a b", "b c") == pytest.approx(0.5)
    with pytest.raises(TypeError, match="expected two strings, found list"):
        features.similarity(["a"], "b")


@pytest.mark.parametrize("tf_idf", [False, True])
def test_weights_are_checked_whether_they_count_or_not(tf_idf):
    features = SequenceFeatures(k=3, tf_idf=tf_idf)
    for call in (features.fit, features.fit_transform):
        with pytest.raises(ValueError, match="sample_weight"):
            call(TEXTS, sample_weight=[1.0, 2.0])
        with pytest.raises(ValueError, match="[Nn]egative"):
            call(TEXTS, sample_weight=[-1.0] * 6)
    weights = np.arange(1.0, 7.0)
    found = features.fit_transform((text for text in TEXTS), sample_weight=weights)
    assert (features.fit(TEXTS, sample_weight=weights).transform(TEXTS) != found).nnz == 0


@pytest.fixture
def motifs(rng):
    """Texts of two classes, one with a motif of five letters."""
    letters = np.array(list("ACGT"))
    texts = ["".join(rng.choice(letters, 30)) for _ in range(120)]
    y = np.arange(120) % 2
    return [text[:10] + "GATTA" * 2 + text[20:] if label else text for text, label in zip(texts, y)], y


def test_searches_over_its_parameters(motifs):
    texts, y = motifs
    search = GridSearchCV(make_pipeline(SequenceFeatures(n_components=512), LogisticRegression()), {"sequencefeatures__k": [1, 5]}, cv=3)
    search.fit(texts, y)
    assert search.best_params_ == {"sequencefeatures__k": 5} and search.best_score_ > 0.9


def test_one_column_of_a_table_by_name_and_by_list(motifs):
    pandas = pytest.importorskip("pandas")
    texts, y = motifs
    frame = pandas.DataFrame({"n": np.zeros(len(y)), "t": texts}, index=np.arange(len(y))[::-1])
    found = []
    for column in ("t", ["t"]):
        table = make_column_transformer((SequenceFeatures(n_components=64), column), ("passthrough", ["n"]), sparse_threshold=1.0)
        assert table.fit_transform(frame).shape == (120, 65)
        names = table.get_feature_names_out()
        assert names[0] == "sequencefeatures__sequencefeatures0" and names[-1] == "passthrough__n"
        found.append(make_pipeline(table, LogisticRegression()).fit(frame, y).decision_function(frame))
    np.testing.assert_array_equal(*found)


def test_weights_are_routed():
    texts, weights = ["a b", "a c", "d"], np.array([2.0, 1.0, 3.0])
    with config_context(enable_metadata_routing=True):
        features = SequenceFeatures("words", tf_idf=True, n_components=512).set_fit_request(sample_weight=True)
        model = make_pipeline(features, LogisticRegression().set_fit_request(sample_weight=False))
        model.fit(texts, [0, 1, 0], sample_weight=weights)
    direct = clone(features).fit(texts, sample_weight=weights).transform(texts)
    assert (model[0].transform(texts) != direct).nnz == 0
    assert (clone(features).fit_transform(texts) != direct).nnz > 0, "weights count for nothing here"


@pytest.mark.parametrize("make", [KernelClassifier, KernelRegressor, KernelRidge, KernelSVC, KernelMap, FourierFeatures])
@pytest.mark.parametrize("kernel", ["spectrum(k=3)[dna]", "gaussian(sigma=1)[x] + 2 * words (from=1,to=2)[t]", "words[t]"])
def test_kernels_of_texts_are_no_kernels_of_numbers(make, kernel):
    for rows in ([["ACGT"], ["AC"]], [[1.0], [2.0]]):
        with pytest.raises(ValueError, match="expected a kernel of numbers, found .*, which is one of texts: give a DataFrame with the columns it names, or put SequenceFeatures"):
            make(kernel).fit(rows, [0, 1])


def test_columns_may_be_called_like_kernels_of_texts():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"words": [1.0, 2.0, 4.0], "gapped(x)": [0.0, 1.0, 0.0]})
    assert KernelMap(Gaussian(1)["words", "gapped(x)"]).fit(frame).transform(frame).shape[0] == 3
