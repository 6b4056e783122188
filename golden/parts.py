"""Expected features of the parts of compiled maps, from the definitions alone: crates/suite/tests/suite/golden.rs reads what this prints.

    python golden/parts.py > golden/parts.json        (needs mpmath)

Spectral laws, signs, rectified units, positive features, sampled spectra, structured and turned frequencies, sketches, hashed products and projections, each written here from docs/book/fourier.md, compiler.md, sketches.md, liftings.md and projections.md
with 40 digits;
Philox, normals and Haar matrices are those of features.py.
"""

import json
from itertools import combinations

from mpmath import cos, cosh, exp, expjpi, log, mpc, mpf, pi, sin, sqrt

from features import FREQUENCIES, LENGTHS, Draws, haar_column

SIGNS = 11
HASHES = 14
SKETCHES = 15


def gamma(draws, shape):
    """Marsaglia and Tsang (2000)."""
    if shape < 1:
        lifted = gamma(draws, shape + 1)
        return lifted * exp(log(draws.uniform()) / shape)
    d = shape - mpf(1) / 3
    while True:
        x = draws.normal()
        v = (1 + x / sqrt(9 * d)) ** 3
        if v > 0 and log(draws.uniform()) < x * x / 2 + d * (1 - v + log(v)):
            return d * v


def laplace(draws):
    u = draws.uniform()
    return log(2 * u) if u < 0.5 else -log(2 * (1 - u))


def gaussian_law(draws, d, sigma):
    return [draws.normal() / mpf(sigma) for _ in range(d)]


def cauchy_law(draws, d, scale):
    return [draws.cauchy() / mpf(scale) for _ in range(d)]


def student(draws, d, nu, scale):
    length = sqrt(mpf(nu) / gamma(draws, mpf(nu)))
    return [length * draws.normal() / mpf(scale) for _ in range(d)]


def add(*frequencies):
    return [sum(column) for column in zip(*frequencies)]


def mixture(draws, laws):
    """[(share, law)]: one of them."""
    left = draws.uniform()
    for share, law in laws:
        left -= share
        if left < 0:
            return law(draws)
    return laws[-1][1](draws)


def compound(draws, d, rate, law):
    """A Poisson number of frequencies, by the inverse of its distribution function."""
    u, n, term = draws.uniform(), 0, exp(-mpf(rate))
    total = term
    while total <= u:
        n += 1
        term *= mpf(rate) / n
        total += term
    return add([mpf(0)] * d, *[law(draws) for _ in range(n)])


def pairs(rows, frequencies, mass=1):
    m = len(frequencies)
    out = []
    for x in rows:
        phases = [sum(mpf(a) * w for a, w in zip(x, frequency)) for frequency in frequencies]
        out.append([sqrt(mpf(mass) / m) * f(t) for t in phases for f in (cos, sin)])
    return out


def independent(law):
    return lambda rows, D, seed: pairs(rows, [law(Draws(seed, FREQUENCIES, j), len(rows[0])) for j in range(D // 2)])


def normals(seed, j, d):
    """Row j of normal vectors, orthogonal within blocks of d; the draws go on after the length."""
    draws = Draws(seed, LENGTHS, j)
    length = sqrt(sum(draws.normal() ** 2 for _ in range(d)))
    return [length * x for x in haar_column(seed, j // d, j % d, d)], draws


def orthogonal_student(nu, scale):
    def features(rows, D, seed):
        frequencies = []
        for j in range(D // 2):
            row, draws = normals(seed, j, len(rows[0]))
            mixing = sqrt(mpf(nu) / gamma(draws, mpf(nu)))
            frequencies.append([mixing * w / mpf(scale) for w in row])
        return pairs(rows, frequencies)

    return features


def signs(seed, index, count):
    draws, out = Draws(seed, SIGNS, index), []
    while len(out) < count:
        word = draws.word()
        out += [1 if word >> bit & 1 == 0 else -1 for bit in range(32)]
    return out[:count]


def projected(rows, D, seed):
    return [[sum(s * mpf(a) for s, a in zip(signs(seed, i, len(x)), x)) / sqrt(mpf(D)) for i in range(D)] for x in rows]


def subsets(rows, D, seed):
    columns = [signs(seed, j, D) for j in range(len(rows[0]))]
    product = lambda x, i: sqrt(mpf(1) / D) * prod(1 + columns[j][i] * mpf(a) for j, a in enumerate(x))
    return [[product(x, i) for i in range(D)] for x in rows]


def prod(values):
    out = mpf(1)
    for value in values:
        out *= value
    return out


def hinges(order):
    def features(rows, D, seed):
        weights = [normals(seed, j, len(rows[0]))[0] for j in range(D)]
        inner = lambda w, x: sum(a * mpf(b) for a, b in zip(w, x))
        return [[sqrt(mpf(2) / D) * (inner(w, x) ** order if inner(w, x) > 0 else 0) for w in weights] for x in rows]

    return features


def positive(factor):
    """exp(factor·x·y) on √factor·x."""

    def features(rows, D, seed):
        weights = [normals(seed, j, len(rows[0]))[0] for j in range(D)]
        scaled = [[sqrt(mpf(factor)) * mpf(a) for a in x] for x in rows]
        half = lambda u: sum(a * a for a in u) / 2
        return [[exp(sum(a * b for a, b in zip(w, u)) - half(u)) / sqrt(mpf(D)) for w in weights] for u in scaled]

    return features


def chi2(rows, D, seed):
    step, steps = mpf("0.45"), 2
    spectrum = lambda t: 1 / cosh(pi * t)
    out = []
    for x in rows:
        row = []
        for a in map(mpf, x):
            root = sqrt(a)
            row.append(root * sqrt(step * spectrum(0)))
            for j in range(1, steps + 1):
                weight = root * sqrt(2 * step * spectrum(j * step))
                angle = j * step * log(a) if a > 0 else mpf(0)
                row += [weight * cos(angle), weight * sin(angle)] if a > 0 else [mpf(0), mpf(0)]
        out.append(row)
    return out


def structured(sigma):
    def features(rows, D, seed):
        d = len(rows[0])
        p = 1 << (d - 1).bit_length()
        draws = Draws(seed, SIGNS, 0)
        diagonals = [[1 if draws.word() & 1 == 0 else -1 for _ in range(p)] for _ in range(3)]
        out = []
        for x in rows:
            v = [mpf(a) for a in x] + [mpf(0)] * (p - d)
            for diagonal in diagonals:
                v = [s * a for s, a in zip(diagonal, v)]
                v = [sum(a if bin(i & j).count("1") % 2 == 0 else -a for j, a in enumerate(v)) for i in range(p)]
            row = []
            for j in range(D // 2):
                lengths = Draws(seed, LENGTHS, j)
                length = sqrt(sum(lengths.normal() ** 2 for _ in range(p)))
                phase = length * v[j] / (mpf(sigma) * mpf(p) * sqrt(mpf(p)))
                row += [cos(phase) / sqrt(mpf(D) / 2), sin(phase) / sqrt(mpf(D) / 2)]
            out.append(row)
        return out

    return features


def turned(sigma):
    """A rotation, then signs of each block and a transform: of two blocks here."""
    def features(rows, D, seed):
        d = len(rows[0])
        p = 1 << (d - 1).bit_length()
        columns = [haar_column(seed, 0, k, p) for k in range(d)]
        out = []
        for x in rows:
            y = [sum(mpf(a) * column[c] for a, column in zip(x, columns)) for c in range(p)]
            row = []
            for j in range(D // 2):
                draws = Draws(seed, SIGNS, j // p)
                signed = [a if draws.word() & 1 == 0 else -a for a in y]
                along = sum(a if bin(j % p & i).count("1") % 2 == 0 else -a for i, a in enumerate(signed))
                lengths = Draws(seed, LENGTHS, j)
                phase = sqrt(sum(lengths.normal() ** 2 for _ in range(p))) * along / (mpf(sigma) * sqrt(mpf(p)))
                row += [cos(phase) / sqrt(mpf(D) / 2), sin(phase) / sqrt(mpf(D) / 2)]
            out.append(row)
        return out

    return features


def below(draws, n):
    """Uniform on 0..n, by rejection of the words above the largest multiple of n that is not above 2^64 - 1."""
    fair = 2**64 - 1 - (2**64 - 1) % n
    while True:
        word = draws.word() << 32 | draws.word()
        if word < fair:
            return word % n


def product_sketch(degree, gamma, c):
    """Complex signs and Walsh–Hadamard transforms, the columns permuted anew for each block and factor."""

    def features(rows, D, seed):
        d, draws = len(rows[0]), D // 2
        variables = d + (c > 0)
        n = 1 << (variables - 1).bit_length()
        out = [[] for _ in rows]
        for block in range(-(-draws // n)):
            factors = []
            for t in range(degree):
                stream, order, columns = Draws(seed, SKETCHES, block << 8 | t), list(range(n)), []
                for j in range(d + 1):
                    if j < n:
                        other = j + below(stream, n - j)
                        order[j], order[other] = order[other], order[j]
                    columns.append((order[min(j, n - 1)], stream.word() & 3))
                factors.append(columns)
            for i, x in enumerate(rows):
                u = [mpf(a) for a in x] + [sqrt(mpf(c) / mpf(gamma))] * (c > 0)
                for row in range(min(n, draws - block * n)):
                    value = mpc(1)
                    for columns in factors:
                        value *= sum(mpc(0, 1) ** turn * (-1) ** bin(place & row).count("1") * a for (place, turn), a in zip(columns, u))
                    value *= mpf(gamma) ** (mpf(degree) / 2) / sqrt(mpf(draws))
                    out[i] += [value.real, value.imag]
        return out

    return features


def tensor_sketch(degree, gamma, c):
    """Count sketches into powers of two, their transforms multiplied; frequencies in the order that the module names."""

    def frequencies(m):
        step = 1
        while m // (4 * step) > 0:
            count = m // (4 * step)
            bits = count.bit_length() - 1
            yield from (step * (4 * int(f"{i:0{bits}b}"[::-1] if bits else "0", 2) + 1) for i in range(count))
            step *= 2

    def features(rows, D, seed):
        out = [[] for _ in rows]
        sizes = [1 << bit for bit in reversed(range(D.bit_length())) if D >> bit & 1]
        for block, m in enumerate(sizes):
            tables = []
            for t in range(degree):
                draws = Draws(seed, SKETCHES, block << 8 | t)
                words = [draws.word() for _ in range(len(rows[0]) + 1)]
                tables.append([((word >> 1) % m, (-1) ** (word & 1)) for word in words])
            for i, x in enumerate(rows):
                u = [mpf(a) for a in x] + [sqrt(mpf(c) / mpf(gamma))]
                transform = lambda k: prod(sum(s * a * expjpi(-mpf(2 * h * k) / m) for (h, s), a in zip(table, u)) for table in tables)
                scale = mpf(gamma) ** (mpf(degree) / 2) * sqrt(mpf(m) / D) / sqrt(mpf(m))
                for k in frequencies(m):
                    value = transform(k) * scale * sqrt(mpf(2))
                    out[i] += [value.real, value.imag]
                out[i] += [(transform(k) * scale).real for k in ([0, m // 2] if m > 1 else [0])]
        return out

    return features


def hashed_interactions(degree):
    """Products of different columns, added with a sign where the mixed columns say."""

    def mixed(key):
        key = key * 0x9E3779B97F4A7C15 % 2**64
        key = (key ^ key >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        key = (key ^ key >> 27) * 0x94D049BB133111EB % 2**64
        return key ^ key >> 31

    def features(rows, D, seed):
        out = []
        for x in rows:
            row = [mpf(0)] * D
            for size in range(1, degree + 1):
                for chosen in combinations(range(len(x)), size):
                    key = 0
                    for column in chosen:
                        key = mixed(key ^ (column + 1))
                    word = Draws(seed, HASHES, key).word()
                    row[(word >> 1) * D >> 31] += (-1) ** (word & 1) * prod(mpf(x[j]) for j in chosen)
            out.append(row)
        return out

    return features


def times(rows, matrix):
    return [[sum(w * mpf(a) for w, a in zip(row, x)) for row in matrix] for x in rows]


def gaussian_projection(rows, D, seed):
    matrix = []
    for i in range(D):
        draws = Draws(seed, FREQUENCIES, i)
        matrix.append([draws.normal() / sqrt(mpf(D)) for _ in rows[0]])
    return times(rows, matrix)


def orthonormal(rows, D, seed):
    d = len(rows[0])
    return times(rows, [[sqrt(mpf(d) / D) * w for w in haar_column(seed, i // d, i % d, d)] for i in range(D)])


def hadamard(rows, D, seed):
    d = len(rows[0])
    p = 1 << (d - 1).bit_length()
    matrix = []
    for block in range((D + p - 1) // p):
        draws = Draws(seed, SIGNS, block)
        diagonal = [1 if draws.word() & 1 == 0 else -1 for _ in range(p)]
        draws, order = Draws(seed, SKETCHES, block), list(range(p))
        for at in range(min(p, D - block * p)):
            other = at + below(draws, p - at)
            order[at], order[other] = order[other], order[at]
            sign = lambda j: diagonal[j] * (1 if bin(order[at] & j).count("1") % 2 == 0 else -1)
            matrix.append([sign(j) / sqrt(mpf(D)) for j in range(d)])
    return times(rows, matrix)


def sparse(s, signed):
    """Block i is the rows from floor(i D/s) on, below floor((i + 1) D/s)."""

    def features(rows, D, seed):
        d = len(rows[0])
        matrix = [[mpf(0)] * d for _ in range(D)]
        for j in range(d):
            draws = Draws(seed, HASHES, j)
            for i in range(s):
                start, end = i * D // s, (i + 1) * D // s
                word = draws.word()
                matrix[start + ((word >> 1) * (end - start) >> 31)][j] = (-1 if signed and word & 1 else 1) / sqrt(mpf(s))
        return times(rows, matrix)

    return features


def projection(kind, **more):
    return {"kind": "projection", "how": {"kind": kind, **more}}


def count(s):
    return {"kind": "count", "count": s}


FOURIER = {"kind": "fourier", "form": "pairs", "draw": "independent"}
COMPILED = {"kind": "compiled", "bins": None}
ROWS = [[0.25, 1.5, 3.0], [0.0, 0.0, 0.0], [1.0, 0.125, 0.5]]
WIDE = [[((i * 7 + j * 3) % 11 - 5) / 8 for j in range(40)] for i in range(2)]
CASES = [
    ("cauchy(scale=2)", FOURIER, 8, 3, ROWS, independent(lambda draws, d: [laplace(draws) / 2 for _ in range(d)])),
    ("sinc(scale=0.5)", FOURIER, 8, 4, ROWS, independent(lambda draws, d: [(2 * draws.uniform() - 1) * 2 for _ in range(d)])),
    ("matern(nu=1.5,scale=2)", FOURIER, 8, 5, ROWS, independent(lambda draws, d: student(draws, d, "1.5", 2))),
    ("exponential(scale=2)", {**FOURIER, "draw": "orthogonal"}, 8, 6, ROWS, orthogonal_student("0.5", 2)),
    ("gaussian(sigma=2)*laplace(scale=4)", FOURIER, 8, 7, ROWS, independent(lambda draws, d: add(gaussian_law(draws, d, 2), cauchy_law(draws, d, 4)))),
    ("normalised(3*gaussian(sigma=2) + laplace(scale=4))", FOURIER, 12, 8, ROWS,
     independent(lambda draws, d: mixture(draws, [(mpf("0.75"), lambda n: gaussian_law(n, d, 2)), (mpf("0.25"), lambda n: cauchy_law(n, d, 4))]))),
    ("normalised(exp(1.5*gaussian(sigma=2)))", FOURIER, 12, 9, ROWS, independent(lambda draws, d: compound(draws, d, "1.5", lambda n: gaussian_law(n, d, 2)))),
    ("gaussian(sigma=2)", {**FOURIER, "draw": "structured"}, 8, 10, WIDE, structured(2)),
    ("gaussian(sigma=2)", {**FOURIER, "draw": "turned"}, 132, 25, WIDE, turned(2)),
    ("linear", COMPILED, 2, 11, ROWS, projected),
    ("all_subsets", COMPILED, 4, 12, ROWS, subsets),
    ("arc_cosine(order=0)", COMPILED, 5, 13, ROWS, hinges(0)),
    ("arc_cosine(order=2)", COMPILED, 5, 14, ROWS, hinges(2)),
    ("exp(0.5*linear)", COMPILED, 6, 15, ROWS, positive("0.5")),
    ("chi2", COMPILED, 15, 16, ROWS, chi2),
    ("poly(degree=3,gamma=0.5,c=0.75)", COMPILED, 14, 17, ROWS, product_sketch(3, 0.5, 0.75)),
    ("poly(degree=2)", {"kind": "sketch", "sketch": "product"}, 10, 18, ROWS, product_sketch(2, 1, 0)),
    ("poly(degree=3,gamma=2,c=0.5)", {"kind": "sketch", "sketch": "tensor"}, 47, 20, ROWS, tensor_sketch(3, 2, 0.5)),
    ("interactions(degree=2)", COMPILED, 5, 19, ROWS, hashed_interactions(2)),
    ("linear", projection("gaussian"), 4, 17, ROWS, gaussian_projection),
    ("linear", projection("signs"), 4, 18, ROWS, projected),
    ("linear", projection("orthonormal"), 5, 19, ROWS, orthonormal),
    ("linear", projection("hadamard"), 6, 20, ROWS, hadamard),
    ("linear", projection("hadamard"), 9, 21, WIDE, hadamard),
    ("linear", projection("sparse", nonzeros=count(4), signed=True), 11, 22, WIDE, sparse(4, True)),
    ("linear", projection("sparse", nonzeros=count(3), signed=False), 9, 23, ROWS, sparse(3, False)),
    # ceil(sqrt(9 ln 40)) = 6
    ("linear", projection("sparse", nonzeros={"kind": "theorem"}, signed=True), 9, 24, WIDE, sparse(6, True)),
]

if __name__ == "__main__":
    print(json.dumps([
        {"spec": {"kernel": kernel, "method": method, "features": D, "seed": seed}, "rows": rows,
         "expected": [[float(v) for v in row] for row in make(rows, D, seed)]}
        for kernel, method, D, seed, rows, make in CASES
    ], indent=0))
