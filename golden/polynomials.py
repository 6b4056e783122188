"""Coefficients of the polynomials in crates/simd/src/{trig,exp,log}.rs.

Each is the interpolant at Chebyshev nodes, computed with 60 digits, of
    S(u) = sin(2*pi*sqrt(u)) / sqrt(u)    on 0 <= u <= 1/16      (one quarter of a turn)
    E(f) = (2**f - 1) / f                 on -1/2 <= f <= 1/2
    Q(u) = 2*artanh(sqrt(u)) / sqrt(u)    on 0 <= u <= ((sqrt(2) - 1)/(sqrt(2) + 1))**2     (logarithms)
and the script prints the largest relative error of each before rounding, so that the choice of degree
can be checked.      python golden/polynomials.py
"""

from mpmath import atanh, mp, mpf, pi, sin, cos, sqrt, matrix, lu_solve, fabs, log, exp

mp.dps = 60


def interpolate(function, low, high, terms):
    """Coefficients c with sum_k c[k] x**k = function(x) at the Chebyshev nodes."""
    nodes = [(low + high) / 2 + (high - low) / 2 * cos(pi * (2 * i + 1) / (2 * terms)) for i in range(terms)]
    system = matrix(terms, terms)
    values = matrix(terms, 1)
    for i, x in enumerate(nodes):
        for k in range(terms):
            system[i, k] = x**k
        values[i] = function(x)
    return list(lu_solve(system, values))


def worst(function, coefficients, low, high, first_power=0, constant=0):
    """Largest relative error on a grid of 2,001 points."""
    error = mpf(0)
    for i in range(2001):
        x = low + (high - low) * i / 2000
        value = constant + sum(c * x ** (k + first_power) for k, c in enumerate(coefficients))
        error = max(error, fabs(value / function(x) - 1))
    return error


def show(name, coefficients, error):
    print(f"{name}: largest relative error {mp.nstr(error, 3)}")
    for c in coefficients:
        print(f"    {float(c)!r},")


def s(u):
    return 2 * pi if u == 0 else sin(2 * pi * sqrt(u)) / sqrt(u)


def two_to(f):
    return exp(f * log(mpf(2)))


for terms, name in ((5, "sine, f32"), (9, "sine, f64")):
    c = interpolate(s, mpf(0), mpf(1) / 16, terms)
    show(name, c, worst(s, c, mpf(0), mpf(1) / 16))
half = mpf(1) / 2
for terms, name in ((6, "exp2 - 1, f32"), (11, "exp2 - 1, f64")):
    c = interpolate(lambda f: log(mpf(2)) if fabs(f) < 1e-30 else (two_to(f) - 1) / f, -half, half, terms)
    show(name, c, worst(two_to, c, -half, half, first_power=1, constant=1))
top = ((sqrt(mpf(2)) - 1) / (sqrt(mpf(2)) + 1)) ** 2
q = lambda u: mpf(2) if u == 0 else 2 * atanh(sqrt(u)) / sqrt(u)
c = interpolate(q, mpf(0), top, 8)
show("2 artanh, f64", c, worst(q, c, mpf(0), top))
