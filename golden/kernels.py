"""Expected kernel values with 30 digits, from the formulas alone: crates/suite/tests/suite/golden.rs reads what this prints.

    python golden/kernels.py > golden/kernels.json        (needs mpmath)

Each kernel is a Python expression beside its text; Matérn's of any smoothness comes from mpmath's Bessel function.
"""

import json
from itertools import combinations, combinations_with_replacement
from mpmath import acos, besselk, cos, exp, fabs, fprod, fsum, gamma, mp, mpf, pi, sin, sqrt

mp.dps = 40
ROWS = [["0.25", "1.5", "0", "2"], ["1", "0.5", "0.75", "2"], ["0", "0", "3", "0.125"], ["0.5", "1", "0.25", "1.75"]]


def dot(x, y):
    return fsum(a * b for a, b in zip(x, y))


def products(x, y, degree, choose):
    sets = (chosen for size in range(1, degree + 1) for chosen in choose(range(len(x)), size))
    return fsum(fprod(x[j] * y[j] for j in chosen) for chosen in sets)


def over(x, y, s):
    s = s if isinstance(s, list) else [s] * len(x)
    return [(a - b) / mpf(str(w)) for a, b, w in zip(x, y, s)]


def distance(x, y, s=1):
    return sqrt(fsum(u * u for u in over(x, y, s)))


def matern(x, y, nu, s):
    t = sqrt(2 * mpf(nu)) * distance(x, y, s)
    return mpf(1) if t == 0 else 2 ** (1 - mpf(nu)) / gamma(mpf(nu)) * t ** mpf(nu) * besselk(mpf(nu), t)


def sinc(u):
    return mpf(1) if u == 0 else sin(u) / u


def chi2(x, y):
    return fsum(2 * a * b / (a + b) for a, b in zip(x, y) if a + b > 0)


def chi2_square(x, y):
    return fsum((a - b) ** 2 / (a + b) for a, b in zip(x, y) if a + b > 0)


def arc(x, y, n):
    lengths = sqrt(dot(x, x) * dot(y, y))
    c = min(mpf(1), dot(x, y) / lengths)
    t = acos(c)
    j = [pi - t, sin(t) + (pi - t) * cos(t), 3 * sin(t) * cos(t) + (pi - t) * (1 + 2 * cos(t) ** 2)][n]
    return lengths ** n * j / pi


def normal(k, x, y):
    return k(x, y) / sqrt(k(x, x) * k(y, y))


G = lambda s: lambda x, y: exp(-distance(x, y, s) ** 2 / 2)
KERNELS = {
    "constant": lambda x, y: mpf(1),
    "linear": dot,
    "bilinear(matrix=[[2,1],[1,3]])[1,3]": lambda x, y: 2 * x[1] * y[1] + x[1] * y[3] + x[3] * y[1] + 3 * x[3] * y[3],
    "poly(degree=3,gamma=0.5,c=0.25)": lambda x, y: (dot(x, y) / 2 + mpf("0.25")) ** 3,
    "series(coefficients=[0.5,1,0,0.25])": lambda x, y: mpf("0.5") + dot(x, y) + dot(x, y) ** 3 / 4,
    "parabolic": lambda x, y: dot(x, y) + dot(x, x) * dot(y, y),
    "monomials(degree=3)": lambda x, y: products(x, y, 3, combinations_with_replacement),
    "interactions(degree=3)": lambda x, y: products(x, y, 3, combinations),
    "all_subsets": lambda x, y: fprod(1 + a * b for a, b in zip(x, y)),
    "gaussian(sigma=1.5)": G("1.5"),
    "gaussian(sigma=[1,2,0.5,3])": G(["1", "2", "0.5", "3"]),
    "laplace(scale=2.5)": lambda x, y: exp(-fsum(fabs(u) for u in over(x, y, "2.5"))),
    "exponential(scale=2)": lambda x, y: exp(-distance(x, y, 2)),
    "matern(nu=0.5,scale=2)": lambda x, y: matern(x, y, "0.5", 2),
    "matern(nu=1.5,scale=2)": lambda x, y: matern(x, y, "1.5", 2),
    "matern(nu=2.5,scale=2)": lambda x, y: matern(x, y, "2.5", 2),
    "matern(nu=0.3,scale=1.25)": lambda x, y: matern(x, y, "0.3", "1.25"),
    "matern(nu=7.75,scale=[1,2,3,4])": lambda x, y: matern(x, y, "7.75", [1, 2, 3, 4]),
    "rational_quadratic(alpha=0.7,scale=2)": lambda x, y: (1 + distance(x, y, 2) ** 2 / (2 * mpf("0.7"))) ** -mpf("0.7"),
    "cauchy(scale=3)": lambda x, y: fprod(1 / (1 + u * u) for u in over(x, y, 3)),
    "sinc(scale=0.5)": lambda x, y: fprod(sinc(u) for u in over(x, y, "0.5")),
    "radial_sinc(scale=0.5)[0..3]": lambda x, y: sinc(distance(x[:3], y[:3], "0.5")),
    "hat(width=4)": lambda x, y: fprod(max(mpf(0), 1 - fabs(u)) for u in over(x, y, 4)),
    "chi2": chi2,
    "exponential_chi2(gamma=0.75)": lambda x, y: exp(-mpf("0.75") * chi2_square(x, y)),
    "intersection": lambda x, y: fsum(min(a, b) for a, b in zip(x, y)),
    "arc_cosine(order=0)": lambda x, y: arc(x, y, 0),
    "arc_cosine(order=1)": lambda x, y: arc(x, y, 1),
    "arc_cosine(order=2)": lambda x, y: arc(x, y, 2),
    "0.7*gaussian(sigma=2)[0,2] + exponential(scale=1)*linear": lambda x, y: mpf("0.7")
    * exp(-distance([x[0], x[2]], [y[0], y[2]], 2) ** 2 / 2) + exp(-distance(x, y)) * dot(x, y),
    "exp(0.5*linear)": lambda x, y: exp(dot(x, y) / 2),
    "normalised(poly(degree=2,c=1))": lambda x, y: normal(lambda a, b: (dot(a, b) + 1) ** 2, x, y),
    "weighted(decay,exp(linear))": lambda x, y: exp(-distance(x, y) ** 2 / 2),
    "weighted(inverse_norm,linear)": lambda x, y: dot(x, y) / sqrt(dot(x, x) * dot(y, y)),
    "weighted(inverse_sum,intersection)": lambda x, y: fsum(min(a, b) for a, b in zip(x, y)) / (fsum(x) * fsum(y)),
}

rows = [[mpf(v) for v in row] for row in ROWS]
cases = [{"kernel": text, "values": [[float(mp.nstr(k(x, y), 25)) for y in rows] for x in rows]} for text, k in KERNELS.items()]
print(json.dumps({"rows": [[float(v) for v in row] for row in ROWS], "cases": cases}, indent=0))
