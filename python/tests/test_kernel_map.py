"""Features of any kernel against its Gram matrix."""

import numpy as np
import pytest
import scipy.sparse as sp

from bochner import ArcCosine, Gaussian, Hat, Kernel, KernelMap, Laplace, Linear, Matern, Polynomial

#: Expressions, what the certificate says of their maps, and a kernel that they are not.
EXPRESSIONS = {
    "gaussian(sigma=2)": ("finite_set", "gaussian(sigma=1)"),
    "gaussian(sigma=[1,2,4])": ("finite_set", "gaussian(sigma=[4,2,1])"),
    "matern(nu=1.5,scale=2)": ("finite_set", "matern(nu=1.5,scale=6)"),
    "cauchy(scale=1)*laplace(scale=3)[0]": ("finite_set", "cauchy(scale=1)*laplace(scale=0.3)[0]"),
    "0.7*gaussian(sigma=2)[0,2] + 0.5*linear": ("finite_set", "gaussian(sigma=2)[0,2] + 0.5*linear"),
    "gaussian(sigma=2)*poly(degree=2,c=1)[1]": ("finite_set", "gaussian(sigma=2)*poly(degree=1,c=1)[1]"),
    "normalised(linear + constant)": ("exact", "normalised(linear + 2*constant)"),
    "poly(degree=3,c=1)": ("exact", "poly(degree=3,c=1.1)"),
    "all_subsets": ("exact", "poly(degree=3,c=1)"),
    "bilinear(matrix=[[2,1,0],[1,2,0],[0,0,1]])": ("exact", "linear"),
    "chi2": ("deterministic", "intersection"),
    "intersection": ("deterministic", "chi2"),
    "exponential_chi2(gamma=0.5)": ("finite_set", "exponential_chi2(gamma=5)"),
    "arc_cosine(order=1)": ("measured_only", "arc_cosine(order=2)"),
    "weighted(inverse_norm,arc_cosine(order=1))": ("measured_only", "normalised(linear)"),
    "exp(0.1*linear)": ("measured_only", "exp(0.5*linear)"),
    "gaussian(sigma=2)*chi2": ("measured_only", "0.1*gaussian(sigma=2)*chi2"),
}


def certified(certificate, Z, exact):
    """Whether inner products of features are where the certificate has them."""
    errors = np.abs(Z @ Z.T - exact)
    bound, measured = certificate.bound, certificate.measured
    match bound["kind"]:
        case "exact":
            return errors.max() < 1e-9 * np.abs(exact).max()
        case "finite_set" | "deterministic":
            return errors.max() <= bound["epsilon"]
        case "residual":
            return errors.max() <= bound["largest"] + 1e-9
        case _:
            mean = errors[np.triu_indices(len(exact), 1)].mean()
            return abs(mean - measured["mean"]) <= measured["radius"]


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_features_are_where_the_certificate_has_them(rng, text):
    kind, other = EXPRESSIONS[text]
    X = np.abs(rng.normal(size=(300, 3)))
    features = KernelMap(text, n_components=4000, method="compiled", random_state=0).fit(X)
    assert features.certificate_.bound["kind"] == kind and features.kernel_ == text
    Z = features.transform(X)
    assert Z.shape == (300, features.n_components_) and features.n_components_ <= 4000
    assert certified(features.certificate_, Z, Kernel(text)(X))
    assert not certified(features.certificate_, Z, Kernel(other)(X)), "the test has no power"


METHODS = {
    "auto": Gaussian(2),
    "compiled": Gaussian(2) + Linear(),
    "exact": Polynomial(2, c=1) * Linear()[0],
    "taylor": Gaussian(6),
    "fourier": Gaussian(2),
    "orthogonal": Matern(nu=1.5, scale=3),
    "quasi": Laplace(3),
    "turned": Gaussian(9),
    "structured": Gaussian(9),
    "offset": Laplace(3),
    "landmarks": ArcCosine(),
    "k-means++": Hat(9),
    "leverage": Gaussian(2) + Linear(),
    "cholesky": Gaussian(2) * Linear(),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_method(rng, method, dtype):
    X = rng.normal(size=(200, 40 if method in ("turned", "structured") else 3)).astype(dtype)
    X[rng.random(X.shape) < 0.3] = 0
    kernel = METHODS[method]
    features = KernelMap(kernel, n_components=500, method=method, random_state=0).fit(X)
    Z = features.transform(X)
    assert Z.dtype == dtype
    # The certificate is about features in double precision.
    assert dtype == np.float32 or certified(features.certificate_, Z, kernel(X))
    is_landmarks = method in ("landmarks", "k-means++", "leverage", "cholesky")
    assert (features.recipe_ is None) == is_landmarks
    np.testing.assert_allclose(Z @ Z.T, kernel(X), atol=0.5 * np.abs(kernel(X)).max())
    sparse = features.transform(sp.csr_array(X))
    np.testing.assert_allclose(sparse, Z, atol=2e-3 if dtype == np.float32 else 1e-8)
    assert features.rounds_ is None


def test_the_recipe_is_the_explanation(rng):
    kernel = 0.7 * Gaussian(2)[0, 2] + Laplace(1) * Polynomial(2, c=1)
    features = KernelMap(kernel, n_components=999, method="compiled").fit(rng.normal(size=(20, 3)))
    assert features.recipe_ == kernel.explain(features=999, columns=3)
    assert features.recipe_.splitlines()[0].startswith(str(kernel))
    assert f": {features.n_components_} features" in features.recipe_.splitlines()[0]
    assert len(features.get_feature_names_out()) == features.n_components_


def test_bins_are_grids(rng):
    X = rng.normal(size=(200, 3))
    kernel = Laplace(4) + 0.5 * Linear()
    features = KernelMap(kernel, n_components=4003, bins=16, random_state=0).fit(X)
    assert "random grids, hashed to 16 bins each" in features.recipe_
    assert certified(features.certificate_, features.transform(X), kernel(X))
    with pytest.raises(ValueError, match="expected bins with method='compiled', found them with 'fourier'"):
        KernelMap(kernel, bins=16, method="fourier").fit(X)


def test_features_are_doubled_until_they_are_enough(rng):
    X = rng.normal(size=(2000, 3))
    features = KernelMap(sigma=2.0, n_components=16, tolerance=0.03, random_state=0).fit(X)
    counts, means, radii = features.rounds_.T
    assert counts.tolist() == [16 * 2**i for i in range(len(counts))] and len(counts) > 2
    assert (means + radii)[-1] <= 0.03 and (means + radii)[:-1].min() > 0.03
    assert features.n_components_ == counts[-1]
    assert features.certificate_.measured["mean"] == means[-1]
    Z = features.transform(X[:500])
    assert np.abs(Z @ Z.T - Gaussian(2)(X[:500])).mean() <= 0.03
    # The same map as one of that size.
    again = KernelMap(sigma=2.0, n_components=int(counts[-1]), random_state=0).fit(X)
    np.testing.assert_array_equal(again.transform(X), features.transform(X))
    with pytest.raises(ValueError, match="expected a mean kernel error of at most 0.03, reached .* with 32 features"):
        features.set_params(max_components=63).fit(X)
    assert features.n_components_ == counts[-1] and len(features.rounds_) == len(counts)  # the last fit is kept
    features.set_params(tolerance=None).fit(X)
    assert features.rounds_ is None and features.n_components_ == 16


def test_doubling_landmarks(rng):
    X = rng.normal(size=(2000, 3))
    features = KernelMap(sigma=2.0, n_components=4, method="landmarks", tolerance=0.03, random_state=0).fit(X)
    assert len(features.rounds_) > 1 and features.recipe_ is None
    Z = features.transform(X)
    assert np.abs(Z @ Z.T - Gaussian(2)(X)).mean() <= 0.03


@pytest.mark.parametrize(
    "estimator, message",
    [
        (KernelMap(method="exact"), "its feature space has infinitely many dimensions; use a compiled map"),
        (KernelMap("laplace", method="taylor"), "it is the series of the Gaussian"),
        (KernelMap("linear", method="fourier"), "a Fourier map of linear is not possible"),
        (KernelMap(method="structured"), "structured"),
        (KernelMap(method="turned"), "a turned Fourier map of .* columns .* padded to fewer than 32"),
        (KernelMap(method="fourier", n_components=7), "even for .* pairs, found 7"),
        (KernelMap(method="binning"), "method"),
        (KernelMap(degree=65, method="taylor"), "degree"),
        (KernelMap(tolerance=0.0), "tolerance"),
        (KernelMap(bins=0), "bins"),
        (KernelMap("gausian"), "did you mean gaussian"),
        (KernelMap("matern(nu=1.5)"), "expected scale=…"),
        (KernelMap("gaussian(sigma=[1,2])"), "expected 3 widths, one for each column, found 2"),
        (KernelMap("chi2"), "chi2 expects entries that are not negative, found -1 at row 17"),
    ],
    ids=str,
)
def test_what_cannot_be_made(rng, estimator, message):
    X = np.abs(rng.normal(size=(20, 3)))
    X[17, 1] = -1
    with pytest.raises(ValueError, match=message):
        estimator.fit(X)
