"""Explicit features: exact kernels, sparse products, balls."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import PolynomialFeatures
from sklearn.svm import LinearSVC

from bochner import Kernel, Lifting, Region


@pytest.fixture
def X(rng):
    return rng.normal(size=(40, 5))


@pytest.mark.parametrize(
    ("lifting", "kernel", "features"),
    [
        (Lifting(degree=3, c=2), lambda G, S: (G + 2) ** 3, 56),
        (Lifting(degree=3, c=2, include_bias=False), lambda G, S: (G + 2) ** 3 - 8, 55),
        (Lifting(kind="parabolic"), lambda G, S: G + np.outer(S, S), 6),
        (Lifting(degree=1), lambda G, S: G + 1, 6),
    ],
)
def test_inner_products_are_the_kernel(X, lifting, kernel, features):
    Z = lifting.fit_transform(X)
    assert Z.shape == (40, features)
    expected = kernel(X @ X.T, (X**2).sum(axis=1))
    np.testing.assert_allclose(Z @ Z.T, expected, rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(Kernel(lifting.kernel_)(X), expected, rtol=1e-10, atol=1e-11)
    assert lifting.certificate_.bound["kind"] == "exact"


@pytest.mark.parametrize(
    ("lifting", "theirs"),
    [
        (Lifting(degree=3, weights="unit"), PolynomialFeatures(3)),
        (Lifting(degree=2, weights="unit", include_bias=False), PolynomialFeatures(2, include_bias=False)),
        (Lifting("interactions", degree=3), PolynomialFeatures(3, interaction_only=True, include_bias=False)),
    ],
)
def test_the_same_features_as_scikit_learn_in_another_order(X, lifting, theirs):
    for rows in (X, sp.random(60, 5, 0.4, "csr", random_state=0)):
        ours, expected = lifting.fit_transform(rows), theirs.fit_transform(rows)
        if sp.issparse(expected):
            expected = expected.toarray()
            assert sp.issparse(ours) or lifting.include_bias and lifting.kind == "polynomial"
            ours = ours.toarray() if sp.issparse(ours) else ours
        # Columns as sets: each row of features, sorted.
        np.testing.assert_allclose(np.sort(ours, axis=1), np.sort(expected, axis=1), rtol=1e-12)


def test_products_of_very_wide_rows():
    rows = sp.csr_matrix(([2.0, 3.0, 5.0], [3, 17, 39_999], [0, 3]), shape=(1, 40_000))
    Z = Lifting("interactions", degree=2).fit(rows).transform(rows)
    assert Z.shape == (1, 40_000 + 40_000 * 39_999 // 2)
    assert sorted(Z.data) == [2, 3, 5, 6, 10, 15]


def test_balls_are_learned(rng):
    X = rng.normal(size=(3000, 2))
    inside = ((X - [0.5, -0.3]) ** 2).sum(axis=1) <= 1.44
    lift = Lifting("parabolic").fit(X)
    machine = LinearSVC(C=1e4, max_iter=100_000).fit(lift.transform(X), inside)
    ball = Region.of_separator(machine.coef_, machine.intercept_)
    assert ball.kind == "ball"
    np.testing.assert_allclose(ball.centre, [0.5, -0.3], atol=0.05)
    assert abs(ball.radius - 1.2) < 0.05
    assert (ball.contains(X) == machine.predict(lift.transform(X))).all()


@pytest.mark.parametrize(
    ("coef", "intercept", "kind"),
    [
        ([0, 0, -1], 4, "ball"),
        ([0, 0, 1], -4, "outside"),
        ([1, 2, 0], 3, "half-space"),
        ([0, 0, -1], -1, "empty"),
        ([0, 0, 0], 0, "everything"),
    ],
)
def test_regions(rng, coef, intercept, kind):
    region = Region.of_separator(coef, intercept)
    assert region.kind == kind
    X = 3 * rng.normal(size=(200, 2))
    lifted = Lifting("parabolic").fit_transform(X)
    np.testing.assert_array_equal(region.contains(X), lifted @ coef + intercept >= 0)


def test_what_is_no_separator_is_refused():
    with pytest.raises(ValueError, match="one intercept"):
        Region.of_separator([1, 2], [1, 2])
    with pytest.raises(ValueError, match="finite"):
        Region.of_separator([1, np.nan], 0)


def test_too_many_features_say_how_many(X):
    with pytest.raises(MemoryError, match="features"):
        Lifting(degree=20).fit(np.hstack([X] * 8))
