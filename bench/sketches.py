"""Sketches, projections and hashed n-grams beside scikit-learn's: one process, two threads, alternating runs, medians, ratios.

    python bench/sketches.py [--data FOLDER] [--runs 5] [--seeds 40] [--only tensor,sparse,gaussian,words,errors] [--write]

tensor     (x·y + 1)³ of 10,000×64 rows in 4,096 features, beside PolynomialCountSketch, in either precision.
sparse     20,000×10,000 sparse rows, 1 % full, to 1,024 numbers, beside SparseRandomProjection.
gaussian   20,000×1,000 rows to 1,024 numbers, beside GaussianRandomProjection.
words      words and pairs of words of sms_spam, hashed, beside HashingVectorizer.
errors     mean squared errors of inner products at equal D, over seeds with standard errors, and the one-sided test (Welch) of "ours is larger" at level 1e-3.
"""

import argparse
import csv
import gzip
import re
import statistics
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from against_sklearn import HERE, THREADS, lines, machine, say, seconds
from scipy import stats
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.kernel_approximation import PolynomialCountSketch
from sklearn.random_projection import GaussianRandomProjection, SparseRandomProjection
from threadpoolctl import threadpool_limits

from bochner import RandomProjection, SequenceFeatures, SketchFeatures


def compare(label, ours, theirs, runs):
    """Times of two calls, one after the other, again and again."""
    ours(), theirs()
    a, b = (statistics.median(side) for side in zip(*[(seconds(ours), seconds(theirs)) for _ in range(runs)]))
    say(f"| {label} | {a:.4f} | {b:.4f} | {b / a:.1f}× |")


def table(title, peer):
    say(f"\n### {title}\n")
    say(f"| | bochner, s | {peer}, s | ratio |")
    say("|---|--:|--:|--:|")


def tensor(runs):
    table("(x·y + 1)³, 10,000×64 → 4,096", "PolynomialCountSketch")
    for dtype in (np.float32, np.float64):
        x = np.random.default_rng(0).standard_normal((10_000, 64)).astype(dtype)
        theirs = PolynomialCountSketch(degree=3, coef0=1, n_components=4096, random_state=0).fit(x)
        for method in ("tensor", "product"):
            ours = SketchFeatures(degree=3, c=1, n_components=4096, method=method, random_state=0, n_jobs=THREADS).fit(x[:500])
            compare(f"{method}, {np.dtype(dtype).name}", lambda: ours.transform(x), lambda: theirs.transform(x), runs)


def sparse(runs):
    table("20,000×10,000, 1 % full → 1,024", "SparseRandomProjection")
    for dtype in (np.float32, np.float64):
        x = sp.random(20_000, 10_000, 0.01, "csr", dtype=dtype, random_state=0)
        ours = RandomProjection(1024, kind="sparse", nonzeros=8, random_state=0, n_jobs=THREADS).fit(x)
        theirs = SparseRandomProjection(1024, random_state=0).fit(x)
        compare(f"8 entries a column, {np.dtype(dtype).name}", lambda: ours.transform(x), lambda: theirs.transform(x), runs)


def gaussian(runs):
    table("20,000×1,000 → 1,024", "GaussianRandomProjection")
    for dtype in (np.float32, np.float64):
        x = np.random.default_rng(0).standard_normal((20_000, 1000)).astype(dtype)
        ours = RandomProjection(1024, kind="gaussian", random_state=0, n_jobs=THREADS).fit(x[:500])
        theirs = GaussianRandomProjection(1024, random_state=0).fit(x)
        compare(f"Gaussian, {np.dtype(dtype).name}", lambda: ours.transform(x), lambda: theirs.transform(x), runs)
        fast = RandomProjection(1024, kind="hadamard", random_state=0, n_jobs=THREADS).fit(x[:500])
        compare(f"Hadamard, {np.dtype(dtype).name}", lambda: fast.transform(x), lambda: theirs.transform(x), runs)


def messages(folder):
    with gzip.open(Path(folder) / "sms_spam.csv.gz", "rt", newline="") as file:
        rows = list(csv.reader(file))
    column = 1 - rows[0].index("target")
    return [row[column] for row in rows[1:]]


def words(folder, runs):
    texts = messages(folder)
    table(f"words and pairs of words of {len(texts):,} messages → 2¹⁸", "HashingVectorizer")
    theirs = HashingVectorizer(ngram_range=(1, 2), n_features=2**18)
    ours = SequenceFeatures("words", ngram_range=(1, 2), n_components=2**18, nonzeros=1, n_jobs=THREADS).fit(texts)
    compare("hashed and normalised", lambda: ours.transform(texts), lambda: theirs.transform(texts), runs)


def errors(folder, seeds):
    say("\n### Mean squared errors of inner products at equal D\n")
    say("| what | D | bochner | scikit-learn | larger at level 1e-3 |")
    say("|---|--:|--:|--:|---|")
    rng = np.random.default_rng(1)
    x = rng.standard_normal((300, 64))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    x[150:] = x[:150] + 0.05 * rng.standard_normal((150, 64))
    wide = sp.random(300, 2000, 0.02, "csr", random_state=0)

    cell = lambda v: f"{v.mean():.3e} ± {v.std(ddof=1) / np.sqrt(len(v)):.0e}"

    def row(label, rows, exact, ours, theirs, D):
        def mse(make):
            found = []
            for seed in range(seeds):
                z = make(D, seed).fit_transform(rows)
                gram = z @ z.T
                gram = gram.toarray() if sp.issparse(gram) else gram
                found.append(((gram - exact) ** 2).mean())
            return np.array(found)

        a, b = mse(ours), mse(theirs)
        p = stats.ttest_ind(a, b, equal_var=False, alternative="greater").pvalue
        say(f"| {label} | {D:,} | {cell(a)} | {cell(b)} | {'yes' if p < 1e-3 else 'no'} (p = {p:.2g}) |")

    cubes = (x @ x.T + 1) ** 3
    for method in ("tensor", "product"):
        for D in (256, 1024, 4096):
            row(f"(x·y + 1)³, {method}", x, cubes,
                lambda D, seed: SketchFeatures(degree=3, c=1, n_components=D, method=method, random_state=seed),
                lambda D, seed: PolynomialCountSketch(degree=3, coef0=1, n_components=D, random_state=seed), D)
    exact = (wide @ wide.T).toarray()
    for nonzeros in (8, "theorem"):
        row(f"sparse projection, nonzeros={nonzeros}", wide, exact,
            lambda D, seed: RandomProjection(D, kind="sparse", nonzeros=nonzeros, random_state=seed),
            lambda D, seed: SparseRandomProjection(D, random_state=seed), 512)
    for kind in ("gaussian", "signs", "orthonormal", "hadamard"):
        row(f"{kind} projection", x, x @ x.T,
            lambda D, seed: RandomProjection(D, kind=kind, random_state=seed),
            lambda D, seed: GaussianRandomProjection(D, random_state=seed), 32)
    # HashingVectorizer has words of at least two letters: both sides see these only. It has one hash function: an ending that all words of a set share makes another one of it.
    texts, pairs = messages(folder), []
    for k in range(len(texts) // 400):
        part = [re.sub(r"[^\W_]+", lambda word: f"{word[0]}x{k}" if len(word[0]) > 1 else " ", text.lower()) for text in texts[400 * k : 400 * (k + 1)]]
        part = [re.sub(r"[^a-z0-9]+", " ", text) for text in part]
        ours = lambda D, **other: SequenceFeatures("words", ngram_range=(1, 2), n_components=D, random_state=k, **other).fit_transform(part)
        theirs = lambda D: HashingVectorizer(ngram_range=(1, 2), n_features=D).transform(part)
        error = lambda z, exact: ((z @ z.T - exact @ exact.T).power(2)).mean()
        pairs.append((error(ours(1024), ours(2**20, nonzeros=8)), error(theirs(1024), theirs(2**26))))
    a, b = (np.array(side) for side in zip(*pairs))
    p = stats.ttest_rel(a, b, alternative="greater").pvalue
    say(f"| words and pairs, {len(a)} sets of 400 messages | 1,024 | {cell(a)} | {cell(b)} | {'yes' if p < 1e-3 else 'no'} (p = {p:.2g}) |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=str(HERE / "../../shared/data"))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--only", default="tensor,sparse,gaussian,words,errors")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    say("# Sketches, projections, n-grams\n")
    say(machine())
    only = args.only.split(",")
    with threadpool_limits(THREADS):
        for name, run in {"tensor": lambda: tensor(args.runs), "sparse": lambda: sparse(args.runs), "gaussian": lambda: gaussian(args.runs),
                          "words": lambda: words(args.data, args.runs), "errors": lambda: errors(args.data, args.seeds)}.items():
            if name in only:
                run()
    if args.write:
        (HERE / "results" / "sketches.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
