"""Expected values of special functions, from their definitions: the tests in crates/core/src/special read what this prints.

    python golden/special.py > golden/special.txt           (needs mpmath; a minute)
    python golden/special.py 5000 > many.txt                 (the same at 5,000 random arguments each; 1,250 gamma_quantile)

One line per value: name, arguments, value. Arguments are doubles, taken exactly; values are correct to the last digit printed.
Each function is computed with 60 digits or more, by other means than the Rust code: mpmath's Bessel and sine integrals,
the power series of the incomplete gamma function, roots by bisection in mpmath.
"""

import random
import sys

from mpmath import besselk, cos, erfc, erfinv, exp, findroot, gamma, log, loggamma, mp, mpf, pi, si, sqrt

mp.dps = 60


def log_bessel_k(nu, x):
    return log(besselk(nu, x))


def matern(nu, r):
    if r == 0:
        return mpf(1)
    z = sqrt(2 * nu) * r
    return 2 ** (1 - nu) / gamma(nu) * z**nu * besselk(nu, z)


def matern_complement(nu, r):
    with mp.workdps(120):
        return 1 - matern(nu, r)


def gamma_p(a, x):
    """x^a e^-x / gamma(a + 1) times 1 + x/(a + 1) + x^2/((a + 1)(a + 2)) + ..., all terms positive."""
    if x == 0:
        return mpf(0)
    total, term, n = mpf(1), mpf(1), 0
    while term > total * mpf(10) ** (-mp.dps - 5):
        n += 1
        term *= x / (a + n)
        total += term
    return exp(a * log(x) - x - loggamma(a + 1)) * total


def increasing_root(function, low, high):
    """Bisection to a narrow interval, then the secant method inside it."""
    for _ in range(40):
        middle = (low + high) / 2
        if function(middle) < 0:
            low = middle
        else:
            high = middle
    return findroot(function, (low, high), solver="anderson", tol=mpf(10) ** (-2 * mp.dps + 30), verify=False)


def gamma_quantile(a, u):
    """The root in ln x of P - u, to the right of where x^a/gamma(a + 1) = u."""
    first = (log(u) + loggamma(a + 1)) / a
    if first < -600:
        return exp(first)
    excess = lambda y: gamma_p(a, exp(y)) - u
    low, step = first, mpf(1) / 4
    while excess(low + step) < 0:
        low, step = low + step, step * 1.5
    return exp(increasing_root(excess, low, low + step))


def gamma_upper_quantile(a, q):
    """The root in x of ln q - ln(1 - P), with 400 digits for tails down to 1e-300."""
    with mp.workdps(400):
        tail = lambda x: log(q) - log(1 - gamma_p(a, x))
        low, high = mpf(1) / 1000, a + 10
        while tail(high) < 0:
            low, high = high, 2 * high
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if tail(middle) < 0 else (low, middle)
        return low


def chi_quantile(d, u):
    return sqrt(2 * gamma_quantile(d / 2, u))


def normal_quantile(u):
    if 0.01 < u < 0.99:
        return sqrt(2) * erfinv(2 * u - 1)
    tail = min(u, 1 - u)
    size = findroot(lambda x: log(erfc(x / sqrt(2)) / 2) - log(tail), sqrt(-2 * log(tail)) * 0.95)
    return size if u > 0.5 else -size


def hat_central(w):
    return (si(w) - (1 - cos(w)) / w) / pi if w else mpf(0)


def hat_tail(w):
    return mpf(1) / 2 - hat_central(w)


def hat_quantile(u):
    tail = min(u, 1 - u)
    high = 2 / (pi * tail)  # since the density is at most 2/(pi w^2)
    low = high / 2 - 2 if high / 2 > 8 else mpf(0)
    high = high / 2 + 2 if high / 2 > 8 else high
    size = increasing_root(lambda w: tail - hat_tail(w), low, high)
    return size if u > 0.5 else -size


UNIFORMS = [2.0**-53, 1e-12, 1e-6, 0.003, 0.04, 0.2, 0.4999, 0.5001, 0.7, 0.93, 0.999, 1 - 1e-9, 1 - 2.0**-53]
SHAPES = [0.01, 0.3, 0.5, 1.0, 2.5, 17.0, 400.0, 1e4]


def table():
    """A few dozen arguments of each function, at the ends of its domain and where the Rust code changes formula."""
    radii = [0.0, 1e-12, 1e-5, 0.01, 0.3, 0.4999999, 0.5, 1.0, 3.0, 12.0, 100.0, 1000.0]
    for nu in [0.05, 0.5, 0.9999, 1.0, 1.5, 2.5, 4.2, 15.9, 16.0, 100.0]:
        for r in radii:
            yield matern, nu, r
            if 0 < r < 0.5:
                yield matern_complement, nu, r
    for nu in [0.01, 0.5, 1.0, 7.3, 60.0, 200.0]:
        for x in [1e-300, 1e-10, 0.1, 2.0, 30.0, 700.0, 1e5]:
            yield log_bessel_k, nu, x
    for a in SHAPES:
        for x in [1e-200, 1e-3 * a, 0.4 * a, 0.99 * a, a, 1.01 * a + 1, 2 * a, 9 * a + 30]:
            yield gamma_p, a, x
        for u in UNIFORMS:
            yield gamma_quantile, a, u
    for d in [1.0, 2.0, 3.0, 784.0]:
        for u in UNIFORMS[::2]:
            yield chi_quantile, d, u
    for u in UNIFORMS + [1e-300, 1e-100, 0.0749, 0.0751, 1.38e-11, 1.39e-11, 0.4999999999, 0.50000001, 0.9249, 0.9251]:
        yield normal_quantile, u
    for u in UNIFORMS + [1e-8, 1e-4, 0.0480, 0.0490, 0.0486, 0.9515, 0.49999999, 0.52, 0.986, 1 - 1e-7]:
        yield hat_quantile, u
    for w in [1e-15, 1e-8, 0.001, 0.1, 0.5, 1.0, 1.7, 2.0, 2.5, 3.0, 3.14, 3.5, 4.0, 4.4, 5.0, 5.2, 5.5, 5.9, 6.0, 6.28]:
        yield hat_central, w
    for w in [6.2832, 6.5, 7.0, 8.0, 9.42, 12.566370614359172, 13.0, 15.7, 20.0, 25.0]:
        yield hat_tail, w
    for w in [33.3, 50.0, 62.83185307179586, 100.0, 399.0, 401.0, 1e3, 1e5, 1e9, 1e15]:
        yield hat_tail, w
    for a in [0.5, 1.0, 2.5, 17.0, 400.0]:
        for q in [0.4, 0.02, 1e-6, 1e-18, 1e-120]:
            yield gamma_upper_quantile, a, q


def many(count):
    """Random arguments of each function, for measuring."""
    draw = random.Random(1)
    scale = lambda low, high: float(exp(draw.uniform(float(log(low)), float(log(high)))))
    sign = lambda: draw.choice([-1, 1])
    uniforms = [draw.random, lambda: scale(1e-16, 0.5), lambda: 1 - scale(1e-16, 0.5), lambda: 0.5 + sign() * scale(1e-12, 0.4)]
    uniform = lambda: draw.choice(uniforms)()
    for _ in range(count):
        nu = scale(0.05, 100)
        yield matern, nu, scale(1e-8, 100)
        yield matern_complement, nu, scale(1e-8, 0.5)
        yield log_bessel_k, scale(1e-3, 200), scale(1e-9, 1e4)
        a = scale(0.01, 1e4)
        yield gamma_p, a, scale(1e-3, 5) * (a + 1)
        yield normal_quantile, uniform()
        yield hat_quantile, uniform()
        yield hat_tail, scale(6.2832, 1e6)
        yield hat_central, scale(1e-6, 6.2832)
    for _ in range(count // 4):
        yield gamma_quantile, scale(0.01, 1e4), uniform()


if __name__ == "__main__":
    cases = many(int(sys.argv[1])) if len(sys.argv) > 1 else table()
    for function, *arguments in cases:
        value = function(*map(mpf, arguments))
        print(function.__name__, *map(repr, arguments), mp.nstr(value, 20, min_fixed=0, max_fixed=0, strip_zeros=True))
