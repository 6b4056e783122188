"""Expected Fourier features, from the definitions alone: crates/suite/tests/suite/golden.rs reads what this prints.

    python golden/features.py > golden/features.json        (needs mpmath)

Philox4x32-10, Box-Muller, the Cauchy law, Haar matrices by reflections, offsets: each written here from
docs/book/chance.md and docs/book/fourier.md with 40 digits, independently of the Rust code.
"""

import json
from mpmath import mp, mpf, cos, sin, tan, log, sqrt, pi

mp.dps = 40
MASK = 0xFFFFFFFF
FREQUENCIES, OFFSETS, REFLECTIONS, LENGTHS = 1, 2, 3, 4


def philox(counter, key):
    c, k = list(counter), list(key)
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k[0], p1 & MASK, (p0 >> 32) ^ c[3] ^ k[1], p0 & MASK]
        k = [(k[0] + 0x9E3779B9) & MASK, (k[1] + 0xBB67AE85) & MASK]
    return c


class Draws:
    def __init__(self, seed, stream, index):
        self.key = (seed & MASK, seed >> 32)
        self.tail = (stream, index & MASK, index >> 32)
        self.block, self.words, self.spare = 0, [], None

    def word(self):
        if not self.words:
            self.words = philox((self.block, *self.tail), self.key)
            self.block += 1
        return self.words.pop(0)

    def uniform(self):
        high, low = self.word(), self.word()
        return mpf((((high << 32) | low) >> 11) | 1) / 2**53

    def normal(self):
        if self.spare is not None:
            value, self.spare = self.spare, None
            return value
        radius = sqrt(-2 * log(self.uniform()))
        angle = 2 * pi * self.uniform()
        self.spare = radius * sin(angle)
        return radius * cos(angle)

    def cauchy(self):
        return tan(pi * (self.uniform() - mpf(1) / 2))


def haar_column(seed, block, column, d):
    """Column `column` of H0 H1 ... H(d-2) diag(signs); reflections after that number leave the unit vector alone."""
    reflections = []
    for k in range(column + 1):
        draws = Draws(seed, REFLECTIONS, (block << 32) | k)
        v = [draws.normal() for _ in range(k, d)]
        sign = -1 if v[0] < 0 else 1
        if k == d - 1:
            last = sign
            break
        v[0] += sign * sqrt(sum(x * x for x in v))
        last = -sign
        reflections.append(v)
    c = [mpf(0)] * d
    c[column] = mpf(last)
    for k in reversed(range(len(reflections))):
        v = reflections[k]
        along = 2 * sum(a * b for a, b in zip(c[k:], v)) / sum(x * x for x in v)
        for i in range(k, d):
            c[i] -= along * v[i - k]
    return c


def frequency(case, j, d):
    seed, width = case["seed"], mpf(case["width"])
    if case["draw"] == "orthogonal":
        draws = Draws(seed, LENGTHS, j)
        length = sqrt(sum(draws.normal() ** 2 for _ in range(d))) / width
        return [length * x for x in haar_column(seed, j // d, j % d, d)]
    draws = Draws(seed, FREQUENCIES, j)
    return [(draws.normal() if case["kernel"] == "gaussian" else draws.cauchy()) / width for _ in range(d)]


def features(case, x):
    out = []
    pairs = case["form"] == "pairs"
    count = case["features"] // 2 if pairs else case["features"]
    for j in range(count):
        phase = sum(mpf(a) * w for a, w in zip(x, frequency(case, j, len(x))))
        if pairs:
            out += [cos(phase) / sqrt(count), sin(phase) / sqrt(count)]
        else:
            offset = 2 * pi * Draws(case["seed"], OFFSETS, j).uniform()
            out.append(sqrt(mpf(2) / count) * cos(phase + offset))
    return [float(v) for v in out]


ROWS = [[0.25, -1.5, 3.0], [0.0, 0.0, 0.0], [10.0, 0.125, -7.0]]
CASES = [
    {"kernel": kernel, "width": width, "form": form, "draw": draw, "features": 10, "seed": seed}
    for kernel, width, draw, seed in (
        ("gaussian", 2.0, "independent", 7),
        ("gaussian", 0.5, "orthogonal", 2**40 + 3),
        ("laplace", 4.0, "independent", 11),
    )
    for form in ("pairs", "offset")
]

if __name__ == "__main__":
    print(json.dumps([{**case, "rows": ROWS, "expected": [features(case, x) for x in ROWS]} for case in CASES], indent=1))
