"""Polynomials and functions of inner products in few features."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.kernel_approximation import PolynomialCountSketch

from bochner import Polynomial, Series, SketchFeatures


@pytest.fixture
def X(rng):
    return rng.normal(size=(60, 20)) / 4


def mean_squares(make, X, exact, seeds):
    """The mean squared errors of each seed."""
    return np.array([((lambda Z: Z @ Z.T)(make(seed).fit_transform(X)) - exact).__pow__(2).mean() for seed in range(seeds)])


@pytest.mark.parametrize("n_components", [512, 1000])
def test_errors_are_no_larger_than_scikit_learns(X, n_components):
    """Products have smaller errors at equal D; TensorSketch has those of the formula, which are scikit-learn's too, to 6.5 standard errors (α = 8e-11)."""
    exact = (0.5 * X @ X.T + 1) ** 3
    ours = {
        method: mean_squares(
            lambda seed: SketchFeatures(degree=3, gamma=0.5, c=1, n_components=n_components, method=method, random_state=seed), X, exact, 40
        )
        for method in ("auto", "product", "tensor")
    }
    theirs = mean_squares(
        lambda seed: PolynomialCountSketch(degree=3, gamma=0.5, coef0=1, n_components=n_components, random_state=seed), X, exact, 40
    )
    assert ours["auto"].mean() == ours["product"].mean() < theirs.mean()
    U = np.hstack([X * np.sqrt(0.5), np.ones((60, 1))])
    q, S, lengths = U @ U.T, (U**2) @ (U**2).T, (U**2).sum(axis=1)
    N, M = np.outer(lengths, lengths) - S, q**2 - S
    A, B = q**2 + N, q**2 + M
    first, second = A**3 + B**3 - 2 * q**6, (q**2 + N + M) ** 3 - A**3 - B**3 + q**6
    formula = (first / n_components + 2 * second / n_components**2).mean()
    for found in (ours["tensor"], theirs):
        assert abs(found.mean() - formula) < 6.5 * found.std() / np.sqrt(40)


@pytest.mark.parametrize("method", ["auto", "product", "tensor"])
def test_sparse_and_single_rows_give_the_same(X, method):
    X[X < 0.1] = 0
    sketch = SketchFeatures(degree=2, c=0.5, n_components=128, method=method, random_state=0).fit(X)
    Z = sketch.transform(X)
    np.testing.assert_allclose(sketch.transform(sp.csr_matrix(X)), Z, rtol=1e-12, atol=1e-14)
    single = sketch.transform(X.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, Z, atol=1e-5)


def test_few_monomials_are_exact():
    X = np.arange(12.0).reshape(4, 3) / 10
    sketch = SketchFeatures(degree=2, c=1, n_components=10).fit(X)
    assert sketch.n_components_ == 10 and "exactly" in sketch.recipe_
    Z = sketch.transform(X)
    np.testing.assert_allclose(Z @ Z.T, (X @ X.T + 1) ** 2, rtol=1e-12)


def test_any_function_of_inner_products(X):
    """Low degrees exactly, high ones sketched."""
    kernel = Series([1, 1, 0.5, 1 / 6, 1 / 24])
    sketch = SketchFeatures(kernel, n_components=2000, random_state=0).fit(X)
    Z = sketch.transform(X)
    assert abs(Z @ Z.T - kernel(X)).mean() < 0.02
    assert "linear" in sketch.recipe_ and "poly(degree=4)" in sketch.recipe_
    np.testing.assert_allclose(kernel(X), np.exp(X @ X.T), rtol=0.1)


def test_products_come_in_pairs(X):
    odd, even = (SketchFeatures(method="product", n_components=n, random_state=0).fit(X) for n in (7, 6))
    assert odd.n_components == 7 and odd.n_components_ == 6 and len(odd.get_feature_names_out()) == 6
    np.testing.assert_array_equal(odd.transform(X), even.transform(X))
    assert SketchFeatures(method="tensor", n_components=7).fit(X).n_components_ == 7


def test_what_does_not_go_together_is_refused(X):
    with pytest.raises(ValueError, match="even"):
        SketchFeatures(method="product", n_components=1).fit(X)
    with pytest.raises(ValueError, match="powers of x·y"):
        SketchFeatures("all_subsets", method="tensor").fit(X)
    assert SketchFeatures(Polynomial(3), n_components=50).fit(X).kernel_ == "poly(degree=3)"
