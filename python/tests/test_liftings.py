"""Explicit features: exact kernels, sparse products, balls."""

import math

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
            assert sp.issparse(ours) and ours.format == "csr"
            ours = ours.toarray()
        # Columns as sets: each row of features, sorted.
        np.testing.assert_allclose(np.sort(ours, axis=1), np.sort(expected, axis=1), rtol=1e-12)


@pytest.mark.parametrize(
    "lifting",
    [
        Lifting("interactions", degree=1),
        Lifting("interactions", degree=3),
        Lifting("interactions", degree=6),
        Lifting(weights="unit", degree=1),
        Lifting(weights="unit", degree=4),
        Lifting(weights="unit", degree=3, include_bias=False),
    ],
)
def test_names_are_those_of_products(lifting):
    """By value: distinct primes have distinct products."""
    row = {"a": 2.0, "b": 3.0, "c": 5.0, "d": 7.0}
    x = np.array([list(row.values())])
    lifting.fit(x)

    def value(name):
        factors = (factor.split("^") for factor in name.split())
        return np.prod([1.0 if f == ["1"] else row[f[0]] ** int((f + ["1"])[1]) for f in factors])

    names = lifting.get_feature_names_out(list(row))
    assert [value(name) for name in names] == lifting.transform(x)[0].tolist()
    theirs = PolynomialFeatures(lifting.degree, interaction_only=lifting.kind == "interactions", include_bias="1" in names).fit(x)
    assert sorted(names) == sorted(theirs.get_feature_names_out(list(row)))
    assert set(lifting.get_feature_names_out()) == set(theirs.get_feature_names_out())


def test_names_of_columns(X):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X[:, :2], columns=["u", "v"])
    Z = Lifting("parabolic").set_output(transform="pandas").fit_transform(frame)
    assert list(Z.columns) == ["u", "v", "‖x‖²"]
    np.testing.assert_allclose(Z["‖x‖²"], Z["u"] ** 2 + Z["v"] ** 2)
    unit = Lifting(weights="unit").fit(frame)
    assert list(unit.get_feature_names_out()) == ["1", "u", "v", "u^2", "u v", "v^2"]
    with pytest.raises(ValueError, match="input_features"):
        unit.get_feature_names_out(["a", "b"])
    assert list(unit.set_params(degree=5).get_feature_names_out()) == ["1", "u", "v", "u^2", "u v", "v^2"]
    assert list(Lifting(degree=1).fit(frame).get_feature_names_out()) == ["lifting0", "lifting1", "lifting2"]


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


def test_regions_are_of_rows_of_their_width():
    ball, everything = Region.of_separator([0, 0, -1], 4), Region.of_separator([0, 0, 0], 0)
    for X, shape in [([0.0, 1.0], r"\(2,\)"), ([[0.0, 1.0, 2.0]], r"\(1, 3\)"), ([[1.0]], r"\(1, 1\)")]:
        with pytest.raises(ValueError, match=f"expected rows of 2 columns, .* shape {shape}"):
            ball.contains(X)
    with pytest.raises(ValueError, match="expected rows, "):
        everything.contains([1.0, 2.0])
    assert everything.contains([[1.0, 2.0]]).tolist() == [True]
    assert ball == ball and ball != Region.of_separator([0, 0, -1], 4) and len({ball, everything}) == 2


def test_what_is_no_separator_is_refused():
    with pytest.raises(ValueError, match="one intercept"):
        Region.of_separator([1, 2], [1, 2])
    with pytest.raises(ValueError, match="finite"):
        Region.of_separator([1, np.nan], 0)


def test_too_many_features_say_how_many(X):
    wide = np.hstack([X] * 8)
    for lifting, count in [
        (Lifting(degree=20), math.comb(60, 20)),
        (Lifting(degree=20, include_bias=False), math.comb(60, 20) - 1),
        (Lifting(degree=20, weights="unit"), math.comb(60, 20)),
        (Lifting("interactions", degree=20), sum(math.comb(40, k) for k in range(1, 21))),
    ]:
        with pytest.raises((MemoryError, ValueError), match=f"found {count:,} monomials .* 40 columns: lower degree, or use SketchFeatures"):
            lifting.fit(wide)
    with pytest.raises(ValueError, match="inf"):
        Lifting("interactions").fit([[1.0, np.inf]])
