"""Whatever comes in: a result that is finite, or an exception of the expected kinds; never a panic."""

import warnings

import numpy as np
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bochner import FourierFeatures, Kernel, KernelClassifier, KernelMap, KernelRegressor, LandmarkFeatures, _core

QUICK = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])

widths = st.one_of(st.none(), st.floats(1e-310, 1e300))
#: Kernels that stand alone, the first few never above one.
WHOLE = [
    "matern(nu=1.5,scale=2)",
    "sinc(scale=3)[0]",
    "gaussian(sigma=[1,2])",
    "gaussian(sigma=1)[0]*laplace(scale=2)[1]",
    "linear",
    "poly(degree=2,c=1)",
    "arc_cosine(order=1)",
    "chi2",
    "intersection[1]",
    "exp(0.1*linear)",
    "normalised(linear + constant)",
    "weighted(inverse_norm,linear)",
    "0.5*gaussian(sigma=1)[0] + linear*laplace(scale=2)",
]
BOUNDED = {"gaussian", "laplace", "cauchy", *WHOLE[:4]}
dtypes = st.sampled_from([np.float32, np.float64, np.int8, np.int64, np.bool_])


@st.composite
def tables(draw):
    """Rows of any size and kind: extreme, repeated, constant, sometimes not finite; dense or sparse."""
    dtype = np.dtype(draw(dtypes))
    shape = draw(st.tuples(st.integers(0, 12), st.integers(0, 5)))
    if dtype.kind == "f":
        bits = dtype.itemsize * 8
        elements = st.one_of(
            st.sampled_from([0.0, 1.0, -1.0]),
            st.floats(width=bits, allow_nan=False, allow_infinity=False),
            st.floats(-100, 100, width=bits),
        )
        elements = draw(st.sampled_from([elements, elements, elements, st.floats(width=bits)]))
    else:
        elements = None
    X = draw(arrays(dtype, shape, elements=elements))
    form = draw(st.sampled_from(["c", "fortran", "reversed", "csr", "csc"]))
    match form:
        case "fortran":
            return np.asfortranarray(X)
        case "reversed":
            return X[::-1, ::-1]
        case "csr":
            return sp.csr_array(X)
        case "csc":
            return sp.csc_matrix(X)
        case _:
            return X


@st.composite
def estimators(draw):
    shared = {
        "n_components": draw(st.sampled_from([1, 2, 7, 32, 100])),
        "n_jobs": draw(st.sampled_from([1, 2, None])),
        "random_state": draw(st.integers(0, 2**32 - 1)),
    }
    shared["kernel"] = draw(st.one_of(st.sampled_from(["gaussian", "laplace", "cauchy"]), st.sampled_from(WHOLE)))
    if shared["kernel"] not in WHOLE:
        shared["gamma"] = draw(widths)
    methods = ["auto", "compiled", "exact", "fourier", "orthogonal", "quasi", "turned", "structured", "offset", "landmarks", "k-means++", "leverage", "cholesky"]
    method = draw(st.sampled_from(methods))
    learner = {
        "method": method,
        "regularization": draw(st.sampled_from(["cv", 1e-12, 1e-3, 1e3])),
        "folds": draw(st.sampled_from([2, 5])),
        "standardize": draw(st.booleans()),
    }
    kind = draw(st.integers(0, 4))
    match kind:
        case 0:
            form, frequencies = draw(st.sampled_from(["auto", "offset"])), draw(st.sampled_from(["auto", "independent", "orthogonal", "quasi"]))
            return FourierFeatures(**shared, form=form, draw=frequencies)
        case 1:
            choice = draw(st.sampled_from(["uniform", "k-means++", "leverage", "cholesky"]))
            return LandmarkFeatures(**shared, whiten=draw(st.booleans()), choice=choice)
        case 2:
            tolerance = draw(st.sampled_from([None, None, 0.3]))
            return KernelMap(**shared, method=method, tolerance=tolerance, max_components=400)
        case 3:
            return KernelRegressor(**shared, **learner)
        case _:
            return KernelClassifier(**shared, **learner)


@QUICK
@given(estimator=estimators(), X=tables(), data=st.data())
def test_nothing_panics(estimator, X, data):
    count = X.shape[0]
    if isinstance(estimator, KernelClassifier):
        y = data.draw(arrays(np.int64, count, elements=st.integers(0, 3)))
    else:
        y = data.draw(arrays(np.float64, count, elements=st.floats(-1e6, 1e6)))
    weights = data.draw(st.one_of(st.none(), arrays(np.float64, count, elements=st.floats(0, 10))))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if isinstance(estimator, (KernelClassifier, KernelRegressor)):
                estimator.fit(X, y, sample_weight=weights)
                results = [estimator.predict(X)]
                if isinstance(estimator, KernelClassifier):
                    results.append(estimator.decision_function(X))
            else:
                results = [estimator.fit(X).transform(X)]
        except (ValueError, MemoryError):
            return
    for result in results:
        assert result.shape[0] == count
        # Products of extreme rows are no numbers any more; everything that decays is.
        assert estimator.kernel not in BOUNDED or np.isfinite(result).all()


@QUICK
@given(kernel=st.sampled_from(["gaussian(sigma=1)", "laplace(scale=2)", "cauchy(scale=1)[0]", *WHOLE]), X=tables())
def test_values_are_numbers_or_refused(kernel, X):
    kernel = Kernel(kernel)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            values = [kernel(X), kernel.diagonal(X), kernel.distance(X)]
        except (ValueError, MemoryError):
            return
    assert [value.shape for value in values] == [(X.shape[0],) * 2, X.shape[:1], (X.shape[0],) * 2]
    assert str(kernel) not in BOUNDED or all(np.isfinite(value).all() for value in values)


def exponential(kernel):
    """exp(K), which is refused where K is so large that it overflows; there K itself."""
    try:
        return kernel.exp()
    except ValueError:
        return kernel


@st.composite
def expressions(draw):
    """Kernels made by operators."""
    leaf = st.sampled_from([Kernel("linear"), Kernel("gaussian(sigma=2)"), Kernel("chi2[3]"), Kernel("poly(degree=2,c=1)[a,b]")])
    factors = st.floats(1e-3, 1e3)
    grow = lambda inner: st.one_of(  # noqa: E731
        st.builds(lambda a, b: a + b, inner, inner),
        st.builds(lambda a, b: a * b, inner, inner),
        st.builds(lambda c, a: c * a, factors, inner),
        st.builds(exponential, inner),
        st.builds(Kernel.normalized, inner),
        st.builds(lambda a: a.weighted("decay"), inner),
    )
    return draw(st.recursive(leaf, grow, max_leaves=8))


@QUICK
@given(kernel=expressions())
def test_expressions_are_read_as_they_are_written(kernel):
    assert Kernel(str(kernel)) == kernel and str(Kernel(str(kernel))) == str(kernel)


@QUICK
@given(text=st.one_of(st.text(max_size=30), st.from_regex(r"(gaussian|laplace|linear)\((sigma|scale|gamma)=.{0,8}\)?"), st.text("linear()[]+*-0.5e,\" ", max_size=20)))
def test_kernel_texts_are_read_or_refused(text):
    try:
        canonical = _core.canonical_kernel(text)
    except ValueError:
        return
    assert _core.canonical_kernel(canonical) == canonical


@QUICK
@given(data=st.binary(max_size=300))
def test_bytes_that_are_no_model_are_refused(data):
    for kind in (_core.Map, _core.Model):
        try:
            kind.from_bytes(data)
        except ValueError:
            continue
        raise AssertionError("a model made of noise")


FILE = KernelRegressor(n_components=8, sigma=1.0, regularization=0.1).fit(np.eye(4), np.arange(4))._model.to_bytes()


@QUICK
@given(at=st.integers(0, len(FILE) - 1), flip=st.integers(1, 255))
def test_a_damaged_model_is_refused(at, flip):
    damaged = FILE[:at] + bytes([FILE[at] ^ flip]) + FILE[at + 1 :]
    try:
        model = _core.Model.from_bytes(damaged)
    except ValueError:
        return
    # A byte that means nothing, such as a space between tokens of the header.
    assert model.to_bytes() == FILE


@QUICK
@given(
    starts=arrays(np.int64, st.integers(1, 5), elements=st.integers(-2, 9)),
    indices=arrays(np.int32, st.integers(0, 6), elements=st.integers(-1, 5)),
    columns=st.integers(0, 5),
)
def test_sparse_rows_that_make_no_sense_are_refused(starts, indices, columns):
    class Rows:
        """Looks like SciPy's, unchecked."""

        indptr = starts
        shape = (len(starts) - 1, columns)
        data = np.ones(len(indices))

    Rows.indices = indices
    try:
        features = _core.Map.fit(
            Rows, kernel="linear", method='{"kind": "exact"}', features=1, seed=0, threads=1
        ).transform(Rows, 1)
    except ValueError:
        return
    assert features.shape == Rows.shape
