"""What a promise takes, and whether a matrix can be one of kernel values."""

import math

import numpy as np
import pytest

from bochner import (
    FourierFeatures,
    Gaussian,
    Laplace,
    Matern,
    check_gram,
    features_for,
    features_for_distance,
    grids_for,
    landmarks_for_margin,
)


def test_numbers_by_hand():
    """ln(N²/δ) = 30.63 for a million points and 0.05."""
    needed = math.log(1e12 / 0.05)
    assert features_for(Gaussian(3), 10**6, 0.1) == 2 * math.ceil(4 / 0.01 * needed / 2)
    assert features_for("gaussian(sigma=3)", 10**6, 0.1, 0.05, form="offset") == math.ceil(8 / 0.01 * needed)
    assert features_for(2 * Gaussian(3), 10**6, 0.2) == features_for(Gaussian(3), 10**6, 0.1)
    assert grids_for(Laplace(2), 10**6, 0.1) == math.ceil(needed / 0.02)
    assert landmarks_for_margin(0.2, 0.1) == math.ceil(80 * (25 + math.log(20)))
    # Chebyshev: the variance ratio of the Gaussian is at most 4.
    assert features_for_distance(Gaussian(3), 0.1) == pytest.approx(4 / (0.01 * 0.05), rel=0.02)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: features_for("linear", 100, 0.1), "it is not a function of x − y"),
        (lambda: features_for(Gaussian(1), 100, 0.0), "epsilon"),
        (lambda: features_for(Gaussian(1), 100, 0.1, 1.0), "delta"),
        (lambda: features_for(Gaussian(1), 100, 0.1, form="halves"), "expected pairs or offset, found halves"),
        (lambda: grids_for(Gaussian(1), 100, 0.1), "not possible"),
        (lambda: features_for_distance(Laplace(1), 0.1), "no fourth moment"),
        (lambda: features_for_distance(Matern(nu=1.5, scale=1), 0.1), "no fourth moment"),
        (lambda: landmarks_for_margin(1.5, 0.1), "expected margin to be above 0 and at most 1, found 1.5"),
        (lambda: features_for("gausian(sigma=1)", 100, 0.1), "did you mean gaussian"),
    ],
)
def test_what_cannot_be_promised(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_promise_is_the_certificates_and_is_kept(rng):
    X = rng.normal(size=(60, 3))
    kernel = Gaussian(1.5)
    features = FourierFeatures(kernel, n_components=features_for(kernel, 60, 0.2), draw="independent", random_state=0).fit(X)
    assert features.certificate_.bound["epsilon"] <= 0.2 and features.certificate_.bound["holds"]
    assert FourierFeatures(kernel, n_components=features.n_components - 2, draw="independent").fit(X).certificate_.bound["epsilon"] > 0.2
    # With probability at least 0.95 for each seed: more than 6 of 20 failures have a probability below 4e-4.
    failures = 0
    for seed in range(20):
        Z = features.set_params(random_state=seed).fit_transform(X)
        failures += abs(Z @ Z.T - kernel(X)).max() > 0.2
    assert failures <= 6


def test_distances_are_kept(rng):
    """Chebyshev at 0.2 and 0.1: of 200 pairs at most a tenth is off by a fifth, hence hardly ever 40 of them."""
    kernel, X = Gaussian(1.5), rng.normal(size=(400, 3))
    exact = kernel.distance(X)[np.arange(0, 400, 2), np.arange(1, 400, 2)] ** 2
    features = features_for_distance(kernel, 0.2, 0.1)
    Z = FourierFeatures(kernel, n_components=features, draw="independent", random_state=1).fit_transform(X)
    found = ((Z[::2] - Z[1::2]) ** 2).sum(axis=1)
    assert (abs(found / exact - 1) > 0.2).sum() < 40
    few = FourierFeatures(kernel, n_components=8, draw="independent", random_state=1).fit_transform(X)
    assert (abs(((few[::2] - few[1::2]) ** 2).sum(axis=1) / exact - 1) > 0.2).sum() >= 40, "the test has no power"


def test_a_matrix_that_is_none(rng):
    x = rng.normal(size=(40, 2))
    good = check_gram(Gaussian(1)(x))
    assert good and good.holds and good.smallest > -1e-12 and good.largest > 1
    assert str(good).startswith("positive semidefinite: eigenvalues from ")
    distances = -Gaussian(1).distance(x)  # conditionally definite, not more
    bad = check_gram(distances)
    assert not bad and not bad.holds
    a = bad.combination
    assert a @ a == pytest.approx(1) and a @ distances @ a == pytest.approx(bad.smallest, rel=1e-9)
    assert bad.smallest == pytest.approx(np.linalg.eigvalsh(distances)[0], rel=1e-9)
    assert "not positive semidefinite: the square of" in str(bad)
    for wrong, message in [
        (np.ones((2, 3)), "one for each row"),
        (np.array([[1.0, 2.0], [0.0, 1.0]]), "symmetric"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), "expected a finite number, found NaN at row 0, column 1"),
        (np.ones(3), "Expected 2D array"),
    ]:
        with pytest.raises(ValueError, match=message):
            check_gram(wrong)
