"""Random projections: distances kept, theorems, sparse rows."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import euclidean_distances

from bochner import RandomProjection, dimension_for, margin_dimension

KINDS = ["gaussian", "signs", "orthonormal", "hadamard", "sparse"]


@pytest.mark.parametrize("kind", KINDS)
def test_distances_are_kept(rng, kind):
    """With the outputs that the Gaussian theorem asks for; the seeds are fixed."""
    X = rng.normal(size=(40, 3000))
    m = dimension_for(points=40, n_features=3000, epsilon=0.25)
    Z = RandomProjection(m, kind=kind, random_state=0).fit_transform(X)
    upper = np.triu_indices(40, 1)
    ratio = (euclidean_distances(Z) ** 2 / np.maximum(euclidean_distances(X) ** 2, 1e-300))[upper]
    assert abs(ratio - 1).max() < 0.25
    assert Z.shape == (40, m)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_rows_give_the_same(kind, dtype):
    X = sp.random(50, 300, 0.05, "csr", dtype=dtype, random_state=0)
    projection = RandomProjection(64, kind=kind, random_state=1).fit(X)
    Z = projection.transform(X)
    assert Z.dtype == dtype
    np.testing.assert_allclose(Z, projection.transform(X.toarray()), rtol=1e-4 if dtype == np.float32 else 1e-11, atol=1e-6)


def test_the_number_of_outputs_is_left_to_the_lemma(rng):
    X = sp.random(60, 5000, 0.01, "csr", random_state=0)
    assert 600 < RandomProjection(eps=0.3, random_state=0).fit(X).n_components_ < 650
    with pytest.raises(ValueError, match="larger than the original space"):
        RandomProjection(eps=0.1).fit(X[:, :500])


@pytest.mark.parametrize("n_components", ["auto", 90])
def test_no_more_nonzeros_than_outputs(rng, n_components):
    X = rng.normal(size=(10, 400))
    projection = RandomProjection(n_components, eps=0.9, nonzeros=300, random_state=0).fit(X)
    m = projection.n_components_
    assert m < 300 and n_components in ("auto", m)
    same = RandomProjection(m, nonzeros=m, random_state=0).fit_transform(X)
    np.testing.assert_array_equal(projection.transform(X), same)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_outputs_may_be_sparse(dtype):
    X = sp.random(50, 3000, 0.002, "csr", dtype=dtype, random_state=0)
    dense = RandomProjection(500, nonzeros=2, random_state=1).fit_transform(X)
    assert isinstance(dense, np.ndarray)
    for rows in (X, X.toarray()):
        Z = RandomProjection(500, nonzeros=2, random_state=1, dense_output=False).fit_transform(rows)
        assert sp.issparse(Z) and Z.format == "csr" and Z.dtype == dtype and Z.shape == (50, 500)
        assert Z.nnz <= 2 * X.nnz
        np.testing.assert_allclose(Z.toarray(), dense, rtol=1e-5, atol=1e-6)
    for kind in KINDS[:-1]:
        assert isinstance(RandomProjection(5, kind=kind, dense_output=False).fit_transform(X), np.ndarray)


def test_unsigned_hashing_is_biased(rng):
    """By (s/m)(Σx Σy − x·y) in the mean: rows of ones, over 300 seeds."""
    X = np.ones((2, 30))
    found = [
        float(np.prod(RandomProjection(20, nonzeros=1, signed=signed, random_state=seed).fit_transform(X), axis=0).sum())
        for signed in (True, False)
        for seed in range(300)
    ]
    signed, unsigned = np.mean(found[:300]), np.mean(found[300:])
    assert abs(signed - 30) < 4
    assert abs(unsigned - (30 + (900 - 30) / 20)) < 4


def test_dimensions_fall_with_epsilon_and_margin():
    of = [dimension_for(points=1000, n_features=500, epsilon=eps, kind="signs") for eps in (0.1, 0.2, 0.4)]
    assert of == sorted(of, reverse=True)
    assert dimension_for(1000, 500, 0.2) <= dimension_for(1000, 500, 0.2, kind="signs")
    assert margin_dimension(0.1, 0.05) > margin_dimension(0.3, 0.05)
    with pytest.raises(ValueError, match="kept"):
        dimension_for(10, 10, 0.1, kept="angles")
    with pytest.raises(ValueError, match="expected kind to be 'gaussian', .* or 'sparse', found 'foo'"):
        dimension_for(10, 10, 0.1, kind="foo")
    with pytest.raises(ValueError, match="between 0 and 1"):
        dimension_for(10, 10, 1.5)


def test_overlaps_of_columns(rng):
    X = rng.normal(size=(5, 300))
    worst, limit = RandomProjection(64, nonzeros=8, random_state=0).fit(X).overlap_
    assert 1 <= worst <= 8 and limit == 2 * 8**2 / 64
    assert RandomProjection(64, kind="signs", random_state=0).fit(X).overlap_ is None


def test_certificates_say_how_far(rng):
    X = rng.normal(size=(200, 100))
    certificate = RandomProjection(50, kind="gaussian", random_state=0).fit(X).certificate_
    assert certificate.measured is not None and certificate.measured["mean"] > 0
