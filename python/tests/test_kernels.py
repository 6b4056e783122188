"""Kernels as expressions: what operators write is what the library reads, and values are those of others."""

import copy
import operator
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.gaussian_process import kernels as processes
from sklearn.metrics import pairwise
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

import bochner
from bochner import (
    AllSubsets,
    ArcCosine,
    Bilinear,
    Cauchy,
    Chi2,
    Constant,
    Exponential,
    ExponentialChi2,
    FourierFeatures,
    Gaussian,
    Hat,
    Interactions,
    Intersection,
    Kernel,
    KernelClassifier,
    KernelMap,
    KernelRegressor,
    KernelRidge,
    KernelSVC,
    LandmarkFeatures,
    Laplace,
    Linear,
    Matern,
    Monomials,
    Parabolic,
    Polynomial,
    RadialSinc,
    RationalQuadratic,
    Series,
    Sinc,
    _core,
    check_gram,
)

MADE = {
    "gaussian(sigma=2)": lambda: Gaussian(sigma=2),
    "gaussian(sigma=[1,2.5])": lambda: Gaussian(np.array([1, 2.5])),
    "gaussian(sigma=0.5)": lambda: Gaussian(gamma=np.float32(2)),
    "laplace(scale=4)": lambda: Laplace(gamma=0.25),
    "laplace(scale=[1,2,3])": lambda: Laplace(scale=(1, 2, 3)),
    "exponential(scale=2)": lambda: Exponential(2),
    "matern(nu=1.5,scale=2)": lambda: Matern(nu=1.5, scale=2),
    "rational_quadratic(alpha=0.1,scale=[2,1])": lambda: RationalQuadratic(alpha=0.1, scale=[2, 1]),
    "cauchy(scale=2)": lambda: Cauchy(scale=2),
    "sinc(scale=0.1)": lambda: Sinc(scale=0.1),
    "radial_sinc(scale=1)": lambda: RadialSinc(gamma=1),
    "hat(width=3)": lambda: Hat(width=3),
    "linear": lambda: Linear(),
    "bilinear(diagonal=[1,0.5])": lambda: Bilinear(diagonal=[1, 0.5]),
    "bilinear(factor=[[1,0.5]])": lambda: Bilinear(factor=np.array([[1, 0.5]])),
    "bilinear(matrix=[[2,1],[1,2]])": lambda: Bilinear(matrix=[[2, 1], [1, 2]]),
    "poly(degree=2,c=1)": lambda: Polynomial(degree=2, c=1),
    "poly(degree=3,gamma=0.5)": lambda: Polynomial(np.int64(3), gamma=0.5),
    "all_subsets": lambda: AllSubsets(),
    "series(coefficients=[1,0,0.5])": lambda: Series(np.array([1, 0, 0.5])),
    "parabolic": lambda: Parabolic(),
    "monomials(degree=3)": lambda: Monomials(3),
    "interactions(degree=2)": lambda: Interactions(degree=2),
    "chi2": lambda: Chi2(),
    "exponential_chi2(gamma=0.5)": lambda: ExponentialChi2(gamma=0.5),
    "intersection": lambda: Intersection(),
    "arc_cosine(order=2)": lambda: ArcCosine(order=2),
    "constant": lambda: Constant(),
    # The algebra.
    "0.7*gaussian(sigma=2)[age,income] + laplace(scale=1)*poly(degree=2,c=1)": lambda: (
        0.7 * Gaussian(sigma=2)["age", "income"] + Laplace(1) * Polynomial(2, c=1)
    ),
    "6*linear*chi2": lambda: np.float64(2) * Linear() * (Chi2() * 3),
    "(linear + chi2)*constant": lambda: (Linear() + Chi2()) * Constant(),
    "linear + chi2 + intersection": lambda: sum([Linear(), Chi2(), Intersection()]),
    "gaussian(sigma=1)[3..9]": lambda: Gaussian(1)[3:9],
    "gaussian(sigma=1)[0..2]": lambda: Gaussian(1)[:2],
    "gaussian(sigma=1)[0,2]": lambda: Gaussian(1)[0, 2],
    "gaussian(sigma=1)[3,0..2,age]": lambda: Gaussian(1)[3, 0:2, "age"],
    "linear[7] + 2*chi2[7]": lambda: (Linear() + 2 * Chi2())[np.int64(7)],
    "linear[0,2]": lambda: Linear()[np.array([0, 2])],
    'linear["odd \\"name\\"","3",_x]': lambda: Linear()['odd "name"', "3", "_x"],
    "exp(linear[1])": lambda: Linear().exp()[1],
    "exp(linear[age])": lambda: Linear()["age"].exp(),
    "normalised(linear + constant)": lambda: (Linear() + Constant()).normalized(),
    "weighted(inverse_norm,linear)": lambda: Linear().weighted("inverse_norm"),
    "weighted(decay[0],linear)": lambda: Linear().weighted("decay[0]"),
    "1e-300*linear": lambda: 1e-300 * Linear(),
}


@pytest.mark.parametrize("text", MADE)
def test_what_is_written_is_what_is_read(text):
    made = MADE[text]()
    assert isinstance(made, Kernel)
    assert str(made) == text and made == Kernel(text) and Kernel(made) == made
    assert repr(made) == f"Kernel({text!r})" and eval(repr(made), {"Kernel": Kernel}) == made


def test_every_kernel_of_the_library_has_a_function():
    names = [line.split("(")[0] for line in _core_names()]
    made = {str(make()).split("(")[0] for make in MADE.values()}
    assert set(names) <= made


def _core_names():
    """The names that an unknown one is answered with, but for those of the algebra and of texts, which are SequenceFeatures here."""
    with pytest.raises(ValueError) as error:
        Kernel("nothing_like_it")
    listed = str(error.value).split("expected one of ")[1].split(" (did")[0].split(", ")
    return [name for name in listed if name not in ("exp", "normalised", "weighted", "spectrum", "gapped", "mismatch", "characters", "positional", "words")]


def test_kernels_are_values():
    one, two = Gaussian(sigma=2)[0, 1] + Linear(), Kernel("gaussian(gamma=0.125)[0,1]+linear")
    assert one == two and hash(one) == hash(two) and len({one, two}) == 1
    assert one != Linear() and one != str(one) and not one == None  # noqa: E711
    for same in (pickle.loads(pickle.dumps(one)), copy.copy(one), copy.deepcopy(one), clone(one, safe=False)):
        assert same == one and hash(same) == hash(one)
    assert copy.deepcopy(one) is one
    with pytest.raises(AttributeError, match="does not change"):
        one._text = "linear"
    with pytest.raises(AttributeError, match="does not change"):
        one.other = 1
    with pytest.raises(AttributeError, match="does not change"):
        del one._text
    with pytest.raises(TypeError):
        iter(one)


@pytest.mark.parametrize(
    "wrong, message",
    [
        (lambda: Linear() - Chi2(), r"character 8: expected \"\+\": a difference of kernels is no kernel"),
        (lambda: 1 - Chi2(), "a difference of kernels is no kernel"),
        (lambda: -Linear(), "character 1: expected a factor above 0 .*kernels are not subtracted"),
        (lambda: -2 * Linear(), "character 1: expected a factor above 0"),
        (lambda: Linear() * -2, "expected a factor above 0"),
        (lambda: 0 * Linear(), "expected a factor above 0"),
        (lambda: np.nan * Linear(), "expected the factor to be a finite number, found nan"),
        (lambda: Linear() + 1, r"expected a kernel \(\"constant\" is the one that is 1 everywhere\)"),
        (lambda: 1 + Linear(), "expected a kernel"),
        (lambda: Linear()["a"]["b"], "expected columns once for each kernel"),
        (lambda: Linear()[0, 0:2], "each column once, found 0 twice"),
        (lambda: Linear()[5:2], "ranges that are not empty, found 5..2"),
        (lambda: Linear()[-1], "by number from 0, .* found -1"),
        (lambda: Linear()[True], "found True"),
        (lambda: Linear()[2:], "a range with an end such as 3:9"),
        (lambda: Linear()[0:4:2], "a range with an end"),
        (lambda: Linear()[1.5], "found 1.5"),
        (lambda: Linear()[()], "expected a column"),
        (lambda: Kernel("gaussian(sigma=2) + gausian(sigma=1)"), r"character 21: .*did you mean gaussian\?"),
        (lambda: Kernel("gaussian"), "expected sigma=… or gamma=…, found the end"),
        (lambda: Kernel(""), "expected one of gaussian"),
        (lambda: Gaussian(), "expected sigma=… or gamma=…"),
        (lambda: Gaussian(sigma=1, gamma=1), "either sigma or gamma, not both"),
        (lambda: Gaussian(sigma=-1), "expected sigma to be between 1e-18 and 1e18, found -1"),
        (lambda: Gaussian(sigma=[1, np.inf]), "expected sigma to be a finite number, found inf"),
        (lambda: Gaussian(sigma=[]), "expected a number"),
        (lambda: Gaussian(sigma="wide"), "expected sigma to be a number or an array of numbers, found 'wide'"),
        (lambda: Matern(nu=0, scale=1), "expected nu to be between 0.05 and 100, found 0"),
        (lambda: Polynomial(degree=2.5), "expected degree to be a whole number, found 2.5"),
        (lambda: ArcCosine(order=3), "expected order to be 0, 1 or 2, found 3"),
        (lambda: Bilinear(matrix=[[1, 2], [2, 1]]), "found the eigenvalue -1e0"),
        (lambda: Bilinear(), "expected one of diagonal="),
        (lambda: Linear().weighted("invers_norm"), r"did you mean inverse_norm\?"),
    ],
)
def test_what_is_no_kernel_is_refused_with_the_reason(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong()


@pytest.mark.parametrize("operation", [operator.add, operator.mul])
def test_other_things_are_no_kernels(operation):
    for other in ("linear", None, [1.0], np.eye(2)):
        with pytest.raises(TypeError):
            operation(Linear(), other)
        with pytest.raises(TypeError):
            operation(other, Linear())
    with pytest.raises(TypeError, match="expected a kernel or its text, found int"):
        Kernel(3)


def process(kernel):
    """Values of a kernel for Gaussian processes."""
    return lambda X, Y: kernel(X, Y)


def polynomial(X, Y):
    return pairwise.polynomial_kernel(X, Y, degree=3, gamma=0.5, coef0=2.0)


def additive(X, Y):
    """Σ 2xy/(x + y) = (Σ x + Σ y - Σ (x - y)²/(x + y)) / 2."""
    return (X.sum(1)[:, None] + Y.sum(1)[None] + pairwise.additive_chi2_kernel(X, Y)) / 2


ARD = [0.5, 2.0, 3.0, 1.5]

#: Kernels of ours, the same of scikit-learn, and whether entries are not negative.
SAME = {
    "rbf": (Gaussian(gamma=0.3), lambda X, Y: pairwise.rbf_kernel(X, Y, gamma=0.3), False),
    "rbf, widths": (Gaussian(ARD), process(processes.RBF(ARD)), False),
    "laplacian": (Laplace(gamma=0.3), lambda X, Y: pairwise.laplacian_kernel(X, Y, gamma=0.3), False),
    "linear": (Linear(), pairwise.linear_kernel, False),
    "polynomial": (Polynomial(3, gamma=0.5, c=2), polynomial, False),
    "cosine": (Linear().normalized(), pairwise.cosine_similarity, False),
    "cosine, weighted": (Linear().weighted("inverse_norm"), pairwise.cosine_similarity, False),
    "chi2": (ExponentialChi2(gamma=0.7), lambda X, Y: pairwise.chi2_kernel(X, Y, gamma=0.7), True),
    "additive_chi2": (Chi2(), additive, True),
    "matern 0.5": (Matern(nu=0.5, scale=1.3), process(processes.Matern(1.3, nu=0.5)), False),
    "exponential": (Exponential(1.3), process(processes.Matern(1.3, nu=0.5)), False),
    "matern 1.5": (Matern(nu=1.5, scale=1.3), process(processes.Matern(1.3, nu=1.5)), False),
    "matern 2.5": (Matern(nu=2.5, scale=1.3), process(processes.Matern(1.3, nu=2.5)), False),
    "matern 0.7": (Matern(nu=0.7, scale=1.3), process(processes.Matern(1.3, nu=0.7)), False),
    "matern, widths": (Matern(nu=1.5, scale=ARD), process(processes.Matern(ARD, nu=1.5)), False),
    "matern 0.7, widths": (Matern(nu=0.7, scale=ARD), process(processes.Matern(ARD, nu=0.7)), False),
    "rational quadratic": (
        RationalQuadratic(alpha=0.8, scale=1.3),
        process(processes.RationalQuadratic(1.3, alpha=0.8)),
        False,
    ),
    "expression": (
        0.7 * Gaussian(2)[0, 3] + Laplace(1) * Polynomial(2, c=1)[1:3],
        lambda X, Y: 0.7 * pairwise.rbf_kernel(X[:, [0, 3]], Y[:, [0, 3]], gamma=0.125)
        + pairwise.laplacian_kernel(X, Y, gamma=1) * (X[:, 1:3] @ Y[:, 1:3].T + 1) ** 2,
        False,
    ),
    "exponential of an inner product": ((0.5 * Linear()).exp(), lambda X, Y: np.exp(X @ Y.T / 2), False),
}


@pytest.mark.parametrize("name", SAME)
def test_values_are_those_of_scikit_learn(rng, name):
    kernel, theirs, positive = SAME[name]
    X, Y = rng.normal(size=(300, 4)), rng.normal(size=(7, 4))
    X, Y = (np.abs(X), np.abs(Y)) if positive else (X, Y)
    np.testing.assert_allclose(kernel(X, Y), theirs(X, Y), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(kernel(X), theirs(X, X), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(X), np.diag(theirs(X, X)), rtol=1e-12, atol=1e-12)
    own = theirs(np.vstack([X[:20], Y]), np.vstack([X[:20], Y]))
    squares = np.diag(own)[:, None] + np.diag(own)[None] - 2 * own
    found = kernel.distance(X[:20], Y)
    np.testing.assert_allclose(found**2, np.maximum(squares[:20, 20:], 0), atol=1e-11 * own.max())
    assert kernel.distance(X[:20]).diagonal().max() < 1e-6 * np.sqrt(own.max())


@pytest.mark.parametrize("name", SAME)
def test_rows_may_be_of_any_kind(rng, name):
    kernel, theirs, positive = SAME[name]
    X = rng.normal(size=(40, 4)) * (rng.random((40, 4)) < 0.5)
    X[~X.any(axis=1), 0] = 1.0
    X = np.abs(X) if positive else X
    Y = X[::3].copy()
    expected, size = theirs(X, Y), np.abs(theirs(X, X)).max()
    sparse, half = sp.csr_array(X), X.astype(np.float32)
    for rows, others in [(sparse, sp.csc_array(Y)), (sparse, Y), (X, sp.csr_matrix(Y)), (X.tolist(), np.asfortranarray(Y))]:
        found = kernel(rows, others)
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11 * size)
    single, exact = kernel(half, half[::3]), theirs(half.astype(float), half[::3].astype(float))
    assert single.dtype == np.float32 and kernel(half, Y).dtype == np.float64
    # √ of a distance that rounding made is what a kernel that is not smooth sees.
    np.testing.assert_allclose(single, exact, rtol=1e-4, atol=2e-3 * size)
    np.testing.assert_allclose(kernel(sp.csr_array(half), half[::3]), exact, rtol=1e-4, atol=2e-3 * size)
    np.testing.assert_array_equal(kernel(X, n_jobs=1), kernel(X, n_jobs=3))
    np.testing.assert_array_equal(kernel.distance(X, n_jobs=1), kernel.distance(X, n_jobs=3))


@pytest.mark.parametrize("text", [text for text in MADE if "age" not in text and "name" not in text])
def test_gram_matrices_are_positive_semidefinite(rng, text):
    kernel = Kernel(text)
    for columns in (3, 2, 10):  # lists of widths have two or three, and columns are chosen up to the ninth
        X = np.abs(rng.normal(size=(30, columns)))
        try:
            K = kernel(X)
        except ValueError:
            continue
        assert check_gram(K).holds, check_gram(K)
        return
    raise AssertionError("no rows fit")


def test_names_are_those_of_the_columns(rng):
    pandas = pytest.importorskip("pandas")
    X = rng.normal(size=(20, 3))
    frame = pandas.DataFrame(X, columns=["age", "income", "a b"])
    kernel = Gaussian(2)["income"] + Linear()["a b", "age"]
    expected = (Gaussian(2)[1] + Linear()[2, 0])(X)
    np.testing.assert_array_equal(kernel(frame), expected)
    np.testing.assert_array_equal(kernel(frame, frame[:5]), expected[:, :5])
    np.testing.assert_array_equal(kernel(frame, X[:5]), expected[:, :5])
    np.testing.assert_array_equal(kernel(X, frame[:5]), expected[:, :5])
    np.testing.assert_allclose(kernel.diagonal(frame), np.diag(expected))
    np.testing.assert_array_equal(kernel.distance(frame), (Gaussian(2)[1] + Linear()[2, 0]).distance(X))
    np.testing.assert_array_equal(Linear()[0](frame), Linear()[0](X))
    with pytest.raises(ValueError, match=r"expected the columns of X \(age, income, a b\) in Y, found income, age, a b"):
        kernel(frame, frame[["income", "age", "a b"]])
    with pytest.raises(ValueError, match='expected a column "incom", found "age", "income", "a b"; did you mean "income"'):
        Linear()["incom"](frame)
    with pytest.raises(ValueError, match='expected a column "age"'):
        Linear()["age"](X)
    with pytest.raises(ValueError, match="expected a column below 3, found 3 in the kernel"):
        Linear()[3](frame)


@pytest.mark.parametrize("method", ["__call__", "diagonal", "distance"])
def test_rows_that_have_no_value(rng, method):
    X = rng.normal(size=(300, 3))
    X[280, 1] = np.nan
    with pytest.raises(ValueError, match="expected a finite number, found NaN at row 280, column 1"):
        getattr(Gaussian(1), method)(X)
    X[280] = 0.0
    with pytest.raises(ValueError, match=r"normalised\(linear\) expects .*linear above 0 of a row with itself, found 0 at row 280"):
        getattr(Linear().normalized(), method)(X)
    with pytest.raises(ValueError, match="chi2 expects entries that are not negative, found -.* at row 281"):
        getattr(Chi2(), method)(np.vstack([np.abs(X[:281]), -np.abs(X[281:])]))
    with pytest.raises(ValueError, match="expected 3 widths, one for each column, found 2|expected 2"):
        getattr(Gaussian([1, 2]), method)(X)
    with pytest.raises(ValueError, match="at most three dimensions"):
        getattr(RadialSinc(1), method)(rng.normal(size=(5, 4)))
    with pytest.raises(ValueError, match="Expected 2D array"):
        getattr(Linear(), method)(X[0])


def test_values_that_are_no_numbers(rng):
    X = rng.normal(size=(600, 2))
    X[555] = 1e200
    with pytest.raises(ValueError, match="expected a finite number, found inf at row 555, column 555 of the kernel values"):
        Linear()(X)
    assert np.isfinite(Gaussian(1)(X)).all()


def test_columns_of_both_sides(rng):
    for values in (Linear(), Linear().distance):
        with pytest.raises(ValueError, match="expected 3 columns, found 2"):
            values(rng.normal(size=(5, 3)), rng.normal(size=(4, 2)))
    with pytest.raises(MemoryError, match="a matrix of 10000000 × 10000000 kernel values"):
        Linear()(sp.csr_array((10_000_000, 1)))


def test_explanations():
    kernel = 0.7 * Gaussian(2)["age", "income"] + Laplace(1) * Polynomial(2, c=1)
    text = kernel.explain(features=1000, columns=["income", "age"])
    lines = text.splitlines()
    assert lines[0].startswith("0.7*gaussian(sigma=2)[1,0] + laplace(scale=1)*poly(degree=2,c=1)  ─  side by side: ")
    assert any("Fourier pairs, orthogonal frequencies" in line for line in lines)
    assert any("its own features, exactly" in line for line in lines)
    assert "random grids, hashed to 64 bins each" in Laplace(1).explain(bins=64)
    assert Linear().explain() == "linear  ─  its own features, exactly: 10 features, no variance"
    assert Linear().explain(columns=3).endswith("3 features, no variance")
    assert Bilinear(diagonal=[1, 2]).explain().endswith("2 features, no variance")
    assert (Linear()[3:7] + Gaussian(1)[9]).explain() == (Linear()[3:7] + Gaussian(1)[9]).explain(columns=10)
    with pytest.raises(ValueError, match='expected a column "age"'):
        kernel.explain()
    with pytest.raises(ValueError, match="features"):
        Linear().explain(features=0)


@pytest.mark.parametrize(
    "cls", [FourierFeatures, LandmarkFeatures, KernelMap, KernelRegressor, KernelClassifier, KernelSVC, KernelRidge], ids=lambda c: c.__name__
)
def test_every_estimator_takes_kernels_and_names(waves, cls):
    pandas = pytest.importorskip("pandas")
    X, y = waves
    y = y > 0 if cls in (KernelClassifier, KernelSVC) else y
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    size = {} if cls in (KernelSVC, KernelRidge) else {"n_components": 64, "random_state": 0}
    results = []
    for kernel, rows in [
        (Gaussian(1.5)["a", "c"] * Laplace(3)["b"], frame),
        ("gaussian(sigma=1.5)[a,c]*laplace(scale=3)[b]", frame),
        (Gaussian(1.5)[0, 2] * Laplace(3)[1], X),
    ]:
        estimator = clone(cls(kernel, **size))
        assert estimator.kernel == kernel
        estimator.fit(rows, y)
        assert estimator.kernel_ == "gaussian(sigma=1.5)[0,2]*laplace(scale=3)[1]"
        results.append(getattr(estimator, "transform", getattr(estimator, "predict", None))(rows))
        assert pickle.loads(pickle.dumps(estimator)).get_params()["kernel"] == kernel
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])
    with pytest.raises(ValueError, match='expected a column "d", found "a", "b", "c"'):
        cls(Gaussian(1)["d"], **size).fit(frame, y)
    with pytest.raises(ValueError, match="expected a column below 3, found 5"):
        cls(Gaussian(1)[5], **size).fit(X, y)
    with pytest.raises(ValueError, match="stand alone, found sigma beside it"):
        cls(Gaussian(1), sigma=2.0, **size).fit(X, y)
    with pytest.raises(ValueError, match="'kernel' parameter"):
        cls(3.0, **size).fit(X, y)


@pytest.mark.parametrize(
    "estimator", [FourierFeatures(), LandmarkFeatures(), KernelMap(), KernelRegressor(n_components=32), KernelSVC(), KernelRidge()], ids=str
)
def test_a_width_for_each_column(waves, estimator):
    X, y = waves
    y = y > 0 if isinstance(estimator, KernelSVC) else y
    fitted = estimator.set_params(sigma=[1.0, 2.0, 4.0]).fit(X, y)
    assert fitted.kernel_ == "gaussian(sigma=[1,2,4])"
    fitted = estimator.set_params(sigma=None, kernel="cauchy", scale=np.array([1.0, 2.0, 4.0])).fit(X, y)
    assert fitted.kernel_ == "cauchy(scale=[1,2,4])"
    with pytest.raises(ValueError, match="expected 3 widths, one for each column, found 2"):
        estimator.set_params(scale=[1.0, 2.0]).fit(X, y)


def test_grids_of_kernels(rings):
    X, y = rings
    kernels = [Linear(), Gaussian(0.5), Gaussian(1)[0] + Gaussian(1)[1]]
    search = GridSearchCV(KernelClassifier(n_components=64), {"kernel": kernels, "regularization": [1e-4, 1e-2]}, cv=3)
    search.fit(X, y)
    assert search.best_params_["kernel"] in kernels[1:] and search.best_score_ > 0.8
    assert set(search.cv_results_["param_kernel"]) == set(kernels)
    assert "Kernel('gaussian(sigma=0.5)')" in repr(KernelClassifier(Gaussian(0.5)))


def test_in_machines_of_scikit_learn(rings):
    """A kernel is a function of two sets of rows, as SVC takes it."""
    X, y = rings
    kernel = Gaussian(1) + 0.1 * Linear()
    theirs, ours = SVC(kernel=kernel, tol=1e-6).fit(X, y), KernelSVC(kernel, tol=1e-6).fit(X, y)
    assert (theirs.predict(X) == ours.predict(X)).mean() > 0.99
    alpha = theirs.dual_coef_
    assert ours.objective_ > 0 and alpha.shape[0] == 2


def test_the_package_says_what_it_has():
    for name in bochner.__all__:
        assert getattr(bochner, name) is not None
    assert dir(bochner) == sorted(bochner.__all__)
