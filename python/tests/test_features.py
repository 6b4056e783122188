"""Features against the kernels that they stand for."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from bochner import BinningFeatures, FourierFeatures, LandmarkFeatures


def gaussian(X, Y, sigma):
    return np.exp(-((X[:, None] - Y[None]) ** 2).sum(-1) / (2 * sigma**2))


def laplace(X, Y, scale):
    return np.exp(-np.abs(X[:, None] - Y[None]).sum(-1) / scale)


def radius(features, pairs, terms, alpha=1e-9):
    """All of `pairs` estimates are within this with probability 1 - alpha (Hoeffding, D/2 terms in [-1, 1] or D in [-2, 2])."""
    return np.sqrt({"pairs": 4, "offset": 8}[terms] * np.log(2 * pairs / alpha) / features)


@pytest.mark.parametrize("form", ["pairs", "offset"])
@pytest.mark.parametrize("kernel, exact", [("gaussian(sigma=1.5)", gaussian), ("laplace(scale=1.5)", laplace)])
def test_inner_products_are_the_kernel(rng, form, kernel, exact):
    X = rng.normal(size=(30, 4))
    features = 20_000
    limit = radius(features, 30 * 30, form)
    Z = FourierFeatures(kernel, n_components=features, form=form, draw="independent", random_state=1).fit_transform(X)
    assert np.abs(Z @ Z.T - exact(X, X, 1.5)).max() < limit
    assert np.abs(Z @ Z.T - exact(X, X, 2.2)).max() > limit, "the test has no power"


def test_orthogonal_frequencies_do_better(rng):
    X = rng.normal(size=(60, 16))
    exact = gaussian(X, X, 4.0)

    def error(draw):
        errors = [
            np.square(Z @ Z.T - exact).mean()
            for seed in range(20)
            for Z in [FourierFeatures(sigma=4.0, n_components=64, draw=draw, random_state=seed).fit_transform(X)]
        ]
        return np.mean(errors)

    assert error("orthogonal") < error("independent")


def test_quasi_random_frequencies_do_better_for_few_columns(rng):
    X = rng.normal(size=(60, 2))

    def error(draw):
        errors = [
            np.square(Z @ Z.T - laplace(X, X, 2.0)).mean()
            for seed in range(20)
            for Z in [FourierFeatures("laplace(scale=2)", n_components=256, draw=draw, random_state=seed).fit_transform(X)]
        ]
        return np.mean(errors)

    assert error("quasi") < 0.7 * error("independent")


def test_transforms_are_as_good_as_orthogonal_frequencies(rng):
    X = rng.normal(size=(60, 64))
    exact = gaussian(X, X, 8.0)
    errors = {}
    for draw in ["independent", "orthogonal", "turned", "structured"]:
        maps = [FourierFeatures(sigma=8.0, n_components=256, draw=draw, random_state=seed) for seed in range(20)]
        errors[draw] = np.mean([np.square(Z @ Z.T - exact).mean() for Z in (m.fit_transform(X) for m in maps)])
    for draw in ["turned", "structured"]:
        assert errors[draw] < 1.2 * errors["orthogonal"] and errors[draw] < errors["independent"]


def test_the_draw_of_auto_depends_on_kernel_and_shape(rng):
    """Turned where that is faster, orthogonal for other functions of a distance, independent for the rest; each the same as if it were asked for."""
    for kernel, columns, features, draw in [
        ("gaussian(sigma=8)", 64, 1000, "turned"),
        ("exponential(scale=8)", 64, 1000, "orthogonal"),
        ("gaussian(sigma=8)", 64, 100, "orthogonal"),
        ("gaussian(sigma=2)", 5, 1000, "orthogonal"),
        ("gaussian(sigma=2)[1,3]", 64, 1000, "orthogonal"),
        ("laplace(scale=9)", 64, 1000, "independent"),
    ]:
        X = rng.normal(size=(20, columns))
        make = lambda **given: FourierFeatures(kernel, n_components=features, random_state=3, **given).fit(X)
        assert make().draw_ == draw
        np.testing.assert_array_equal(make().transform(X), make(draw=draw).transform(X))


def test_a_fit_that_fails_leaves_the_draw_as_it_was(rng):
    narrow, wide = rng.normal(size=(20, 3)), rng.normal(size=(20, 64))
    features = FourierFeatures(n_components=1000, draw="structured", random_state=0)
    with pytest.raises(ValueError, match="padded to fewer than 64"):
        features.fit(narrow)
    with pytest.raises(NotFittedError):
        features.transform(narrow)
    with pytest.raises(NotFittedError):
        features.draw_
    features.set_params(draw="auto").fit(wide)
    assert features.draw_ == "turned"
    with pytest.raises(ValueError, match="padded to fewer than 64"):
        features.set_params(draw="structured").fit(narrow)
    assert features.draw_ == "turned" and features.transform(wide).shape == (20, 1000)
    assert pickle.loads(pickle.dumps(features)).draw_ == "turned"


@pytest.mark.parametrize("draw", ["independent", "orthogonal", "quasi", "turned", "structured"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_extreme_rows_have_features(draw, dtype):
    """Finite and of length one, whatever overflows on the way to them."""
    largest = np.finfo(dtype).max
    X = np.zeros((6, 40), dtype)
    X[0], X[1, ::2], X[2], X[3], X[4, 7] = largest, -largest, np.finfo(dtype).tiny, 1e6, largest
    for form in ["pairs", "offset"]:
        Z = FourierFeatures(sigma=0.5, n_components=200, form=form, draw=draw, random_state=0).fit(X).transform(X)
        assert np.isfinite(Z).all() and abs(Z).max() <= np.sqrt((1 if form == "pairs" else 2) / 100) * (1 + 1e-6)
        assert form == "offset" or np.allclose((Z.astype(float) ** 2).sum(axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("choice", ["uniform", "k-means++", "leverage", "cholesky"])
def test_landmarks_may_be_chosen(rng, choice):
    """A cluster of a hundredth of the rows: choices that look at the kernel find it."""
    X = np.vstack([0.05 * rng.normal(size=(1980, 3)), 0.05 * rng.normal(size=(20, 3)) + 6])
    features = LandmarkFeatures(sigma=1.0, n_components=8, choice=choice, random_state=0).fit(X)
    assert {tuple(row) for row in features.components_} <= {tuple(row) for row in X}
    found = (features.components_[:, 0] > 3).any()
    assert found or choice == "uniform"
    Z = features.transform(X)
    exact = gaussian(X[-20:], X[-20:], 1.0)
    assert (np.abs(Z[-20:] @ Z[-20:].T - exact).max() < 0.1) == found


def test_landmarks_are_exact_where_they_are_all_rows(rng):
    X = rng.normal(size=(40, 3))
    features = LandmarkFeatures(sigma=1.0, n_components=40, tolerance=1e-12, random_state=0).fit(X)
    Z = features.transform(X)
    np.testing.assert_allclose(Z @ Z.T, gaussian(X, X, 1.0), atol=1e-9)
    assert features.components_.shape == (features.n_components_, 3)
    assert {tuple(row) for row in features.components_} <= {tuple(row) for row in X}


def test_plain_landmark_features_are_kernel_values(rng):
    X = rng.normal(size=(50, 3))
    features = LandmarkFeatures("laplace(scale=2)", n_components=7, whiten=False, random_state=0).fit(X)
    np.testing.assert_allclose(features.transform(X), laplace(X, features.components_, 2.0), rtol=1e-12)
    assert features.certificate_.bound["kind"] == "no_approximation"


def test_landmarks_drop_out_where_others_explain_them(rng):
    X = rng.normal(size=(100, 3)) @ rng.normal(size=(3, 5))
    features = LandmarkFeatures("linear", n_components=50, random_state=0).fit(X)
    assert features.n_components_ == 3
    Z = features.transform(X)
    np.testing.assert_allclose(Z @ Z.T, X @ X.T, atol=1e-9)
    assert features.get_feature_names_out().tolist() == [f"landmarkfeatures{i}" for i in range(3)]


@pytest.mark.parametrize("features", [FourierFeatures(random_state=3), LandmarkFeatures(random_state=3)])
def test_widths_have_several_spellings(rng, features):
    X = rng.normal(size=(20, 4))

    def transformed(**params):
        return type(features)(**{"random_state": 3, **params}).fit_transform(X)

    reference = transformed(sigma=2.0)
    np.testing.assert_array_equal(transformed(gamma=0.125), reference)
    np.testing.assert_array_equal(transformed(kernel="gaussian(sigma=2)"), reference)
    np.testing.assert_array_equal(transformed(kernel="gaussian(gamma=0.125)"), reference)
    np.testing.assert_array_equal(transformed(gamma=None), transformed(gamma=0.25))
    np.testing.assert_array_equal(transformed(gamma="scale"), transformed(gamma=1 / (4 * X.var())))
    np.testing.assert_array_equal(transformed(kernel="laplace", gamma=0.5), transformed(kernel="laplace(scale=2)"))


def test_an_odd_number_of_features_takes_offsets():
    X = np.eye(3)
    assert FourierFeatures(n_components=7, random_state=0).fit_transform(X).shape == (3, 7)
    with pytest.raises(ValueError, match=r"even for \(cos, sin\) pairs, found 7"):
        FourierFeatures(n_components=7, form="pairs").fit(X)


def containers(X):
    """The same rows in every sparse form that scikit-learn lets through."""
    csr = sp.csr_array(X)
    wide = sp.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    unsorted = sp.csr_matrix(X)
    for i in range(X.shape[0]):
        row = slice(unsorted.indptr[i], unsorted.indptr[i + 1])
        unsorted.indices[row], unsorted.data[row] = unsorted.indices[row][::-1], unsorted.data[row][::-1]
    unsorted.has_sorted_indices = False
    unsorted.has_canonical_format = False
    coo = sp.coo_array(X)
    halves = np.concatenate([coo.data / 2, coo.data / 2])
    repeated = sp.coo_array((halves, (np.tile(coo.row, 2), np.tile(coo.col, 2))), shape=X.shape)
    starts = np.arange(X.shape[0] + 1) * X.shape[1]
    zeros = sp.csr_array((X.ravel().copy(), np.tile(np.arange(X.shape[1]), X.shape[0]), starts), shape=X.shape)
    return {
        "csr_array": csr,
        "csr_matrix": sp.csr_matrix(X),
        "int64 indices": wide,
        "descending indices": unsorted,
        "repeated entries": repeated,
        "explicit zeros": zeros,
        "csc": sp.csc_array(X),
    }


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "features",
    [
        FourierFeatures(n_components=50, random_state=0),
        FourierFeatures("laplace(scale=3)", n_components=50, form="offset", random_state=0),
        LandmarkFeatures(n_components=20, random_state=0),
        LandmarkFeatures("linear", random_state=0),
    ],
)
def test_sparse_rows_are_dense_rows(rng, features, dtype):
    X = sp.random(60, 9, density=0.3, random_state=0).toarray().astype(dtype)
    dense = features.fit_transform(X)
    assert dense.dtype == dtype
    for kind, rows in containers(X).items():
        before = rows.copy()
        sparse = features.fit(rows).transform(rows)
        assert sparse.dtype == dtype
        # Whitening magnifies rounding by up to tolerance^(-1/2).
        np.testing.assert_allclose(sparse, dense, atol=1e-4 if dtype == np.float32 else 1e-11, err_msg=kind)
        assert (before != rows).nnz == 0, f"{kind}: the caller's rows were changed"


@pytest.mark.parametrize("features", [FourierFeatures(random_state=0), LandmarkFeatures(random_state=0)])
def test_single_precision_stays_single_and_close(rng, features):
    X = rng.normal(size=(200, 5)).astype(np.float32)  # landmarks are chosen by content: it must be the same
    single, double = features.fit_transform(X), features.fit_transform(X.astype(np.float64))
    assert (single.dtype, double.dtype) == (np.float32, np.float64)
    np.testing.assert_allclose(single @ single.T, double @ double.T, atol=1e-3)


def test_layout_does_not_matter(rng):
    X = rng.normal(size=(40, 6))
    features = FourierFeatures(random_state=0).fit(X)
    reference = features.transform(X)
    readonly = X.copy()
    readonly.flags.writeable = False
    misaligned = np.frombuffer(b"\0" + X.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(X.shape)
    for rows in [np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2], X[::-1][::-1], readonly, misaligned, X.astype(">f8")]:
        np.testing.assert_array_equal(features.transform(rows), reference)


def test_the_seed_is_the_map(rng):
    X = rng.normal(size=(10, 3))
    first = FourierFeatures(random_state=5).fit_transform(X)
    np.testing.assert_array_equal(FourierFeatures(random_state=5).fit(X[:2]).transform(X), first)
    assert not np.array_equal(FourierFeatures(random_state=6).fit_transform(X), first)
    state = np.random.RandomState(0)
    one, two = (FourierFeatures(random_state=state).fit_transform(X) for _ in range(2))
    assert not np.array_equal(one, two)
    again = FourierFeatures(random_state=np.random.RandomState(0)).fit_transform(X)
    np.testing.assert_array_equal(again, one)


def test_the_certificate_tells_the_error(rng):
    X = rng.normal(size=(300, 4))
    features = FourierFeatures(sigma=2.0, n_components=400, draw="independent", random_state=0).fit(X)
    bound, measured = features.certificate_.bound, features.certificate_.measured
    assert (bound["kind"], bound["points"], bound["holds"]) == ("finite_set", 300, True)
    Z = features.transform(X)
    errors = np.abs(Z @ Z.T - gaussian(X, X, 2.0))[np.triu_indices(300, 1)]
    assert abs(measured["mean"] - errors.mean()) < measured["radius"]
    assert measured["largest"] <= errors.max() * (1 + 1e-9) and errors.max() < bound["epsilon"]
    assert str(features.certificate_).startswith("kernel error: bound")
    usual = FourierFeatures(sigma=2.0, n_components=400, random_state=0).fit(X)  # orthogonal: the bound is of independent ones
    assert not usual.certificate_.bound["holds"]


@pytest.mark.parametrize("threads", [1, 2, 5, -1, -2, None])
def test_threads_do_not_change_a_bit(rng, threads):
    X = rng.normal(size=(700, 5))
    for features in [FourierFeatures(random_state=0), LandmarkFeatures(random_state=0)]:
        one = features.set_params(n_jobs=1).fit(X).transform(X)
        np.testing.assert_array_equal(features.set_params(n_jobs=threads).fit(X).transform(X), one)


def test_binning_approximates_the_kernel(rng):
    X = rng.normal(size=(60, 4))
    exact = laplace(X, X, 5.0)
    for bins in ["fitted", "hashed"]:
        features = BinningFeatures(gamma=0.2, n_components=4000, bins=bins, n_slots=64, random_state=0)
        Z = features.fit_transform(X)
        assert sp.issparse(Z) and Z.shape[0] == 60 and Z.nnz == 60 * 4000
        # Hoeffding for 4,000 coins and 1,770 pairs at 1e-9, four times that for signed slots.
        radius = np.sqrt(np.log(2 * 1770 / 1e-9) / (2 * 4000)) * (2 if bins == "hashed" else 1)
        assert abs((Z @ Z.T).toarray() - exact).max() < radius
        np.testing.assert_array_equal(features.transform(sp.csr_array(X)).toarray(), Z.toarray())
        assert features.certificate_.bound["kind"] == "finite_set"
    assert Z.shape[1] == 64 * 4000


@pytest.mark.parametrize("bins", ["fitted", "hashed"])
@pytest.mark.parametrize("scale", [2.0, 1e-9])
def test_binning_at_once_is_fit_then_transform(rng, bins, scale):
    pandas = pytest.importorskip("pandas")
    X = rng.normal(size=(5000, 3))
    X[::7] = np.round(X[::7])
    forms = [X, X.astype(np.float32), np.asfortranarray(X), sp.csr_array(X), pandas.DataFrame(X, columns=["a", "b", "c"])]
    for rows in forms:
        for threads in [1, 2, 7]:
            features = BinningFeatures(scale=scale, n_components=20, bins=bins, random_state=3, n_jobs=threads)
            at_once, again = features.fit_transform(rows), clone(features).fit(rows)
            then = again.transform(rows)
            for part in ["indices", "indptr", "data"]:
                one, two = getattr(at_once, part), getattr(then, part)
                assert one.dtype == two.dtype
                np.testing.assert_array_equal(one, two)
            assert at_once.shape == then.shape and type(at_once) is type(then)
            assert features._map.to_bytes() == again._map.to_bytes()
            assert features.certificate_ == again.certificate_ and features.kernel_ == again.kernel_
            assert list(features.get_feature_names_out()) == list(again.get_feature_names_out())
            assert features.n_features_in_ == 3 and hasattr(features, "feature_names_in_") == (rows is forms[-1])
            np.testing.assert_array_equal(features.transform(rows).indices, at_once.indices)


def test_binning_at_once_refuses_what_fit_refuses(rng):
    X = rng.normal(size=(50, 3))
    fitted = BinningFeatures(scale=2.0, n_components=5, random_state=0)
    Z = fitted.fit_transform(X)
    for bad, message in [(np.full((4, 2), np.inf), "finite"), (np.zeros((0, 3)), "minimum|0 sample")]:
        with pytest.raises(ValueError, match=message):
            fitted.fit_transform(bad)
    assert fitted.n_features_in_ == 3 and (fitted.transform(X) != Z).nnz == 0  # the last fit is kept
    with pytest.raises(ValueError, match="n_components"):
        BinningFeatures(n_components=0).fit_transform(X)
    # scikit-learn has no tables of sparse features: as after fit, it says so.
    for call in [lambda f: f.fit_transform(X), lambda f: f.fit(X).transform(X)]:
        with pytest.raises(ValueError, match="sparse"):
            call(BinningFeatures(scale=2.0, n_components=5).set_output(transform="pandas"))


def test_boxes_nobody_was_in_have_no_feature(rng):
    features = BinningFeatures(scale=1.0, n_components=50, random_state=0).fit(rng.normal(size=(100, 3)))
    assert features.transform(np.full((1, 3), 1e6)).nnz == 0
    assert features.transform(np.zeros((1, 3))).dtype == np.float64
    assert features.transform(np.zeros((1, 3), np.float32)).dtype == np.float32


def test_no_boxes_make_a_gaussian(rng):
    with pytest.raises(ValueError, match="not convex"):
        BinningFeatures("gaussian").fit(rng.normal(size=(10, 2)))
