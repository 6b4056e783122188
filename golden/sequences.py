"""Expected rows of hashed texts, from the definitions alone: crates/suite/tests/suite/golden.rs reads what this prints.

    python golden/sequences.py > golden/sequences.json        (needs mpmath and xxhash)

Grams are listed here as Python strings and bytes, hashed by the reference implementation of XXH3, and placed by Philox (features.py) as docs/book/sequences.md says.
"""

import json
import re
from itertools import combinations, product

from mpmath import mpf, sqrt
from xxhash import xxh3_64_intdigest

from features import Draws

HASHES = 14
TEXTS = ["ACGTTACGTA", "GATTACANNACGT", "", "Don't win a PRIZE, don't", "été à l’été"]


def windows(text, k):
    text = text.encode()
    return [text[i : i + k] for i in range(len(text) - k + 1)]


def spectrum(text, k):
    return windows(text, k)


def gapped(text, length, k):
    choices = list(combinations(range(length), k))
    return [bytes(w[p] if p in choice else 0xFF for p in range(length)) for w in windows(text, length) for choice in choices]


def mismatch(text, k, mismatches, alphabet):
    found = []
    for w in windows(text, k):
        for word in product(*[sorted({c, *alphabet.encode()} if c in alphabet.encode() else {c}) for c in w]):
            if sum(a != b for a, b in zip(word, w)) <= mismatches:
                found.append(bytes(word))
    return found


def runs(pieces, between, low, high):
    return [between.join(pieces[i : i + n]).encode() for n in range(low, high + 1) for i in range(len(pieces) - n + 1)]


def characters(text, low, high):
    return runs(list(text), "", low, high)


def words(text, low, high):
    tokens = re.findall(r"[^\W_]+(?:['’][^\W_]+)*", text.lower())
    return runs([token.replace("’", "'") for token in tokens], " ", low, high)


GRAMS = {
    "spectrum": lambda text, g: spectrum(text, g["k"]),
    "gapped": lambda text, g: gapped(text, g["length"], g["k"]),
    "mismatch": lambda text, g: mismatch(text, g["k"], g["mismatches"], g["alphabet"]),
    "characters": lambda text, g: characters(text, g["from"], g["to"]),
    "words": lambda text, g: words(text, g["from"], g["to"]),
}


def row(text, spec):
    m, s = spec["width"], spec["nonzeros"]
    sums = [0] * m
    for gram in GRAMS[spec["grams"]["kind"]](text, spec["grams"]):
        draws = Draws(spec["seed"], HASHES, xxh3_64_intdigest(gram))
        for block in range(s):
            start, end, word = block * m // s, (block + 1) * m // s, draws.word()
            sums[start + ((word >> 1) * (end - start) >> 31)] += (-1) ** (word & 1)
    length = sqrt(mpf(sum(v * v for v in sums))) if spec["normalise"] else sqrt(mpf(s))
    return [float(v / length) if length else 0.0 for v in sums]


def spec(width, nonzeros, normalise, seed, **grams):
    return {"grams": grams, "tf_idf": False, "normalise": normalise, "width": width, "nonzeros": nonzeros, "seed": seed}


SPECS = [
    spec(16, 4, False, 1, kind="spectrum", k=3),
    spec(11, 3, True, 2, kind="gapped", length=4, k=2),
    spec(16, 1, False, 3, kind="mismatch", k=3, mismatches=1, alphabet="ACGT"),
    spec(12, 2, True, 4, kind="characters", **{"from": 1, "to": 2}),
    spec(16, 4, False, 5, kind="words", **{"from": 1, "to": 2}),
]

if __name__ == "__main__":
    print(json.dumps({"texts": TEXTS, "cases": [{"spec": s, "rows": [row(text, s) for text in TEXTS]} for s in SPECS]}, indent=0))
