"""bochner beside scikit-learn: one process, two threads, alternating runs, medians, ratios.

    python bench/against_sklearn.py [--data FOLDER] [--runs 5] [--only fourier,landmarks,ridge,errors] [--types float32,float64] [--seeds 20] [--write]

Both sides allocate the memory they write to, inside the time that is measured; each run starts after half a second of rest. bochner keeps
the memory of a large result for the next one, so two lines say what a call costs on new memory and after that. Beside each ratio stand the limits, with our time as a multiple of each:
writing the result's bytes with two threads and nothing else, to memory of the same kind (new, or that of an earlier result), and the matrix product alone (NumPy's, with half the frequencies for pairs: what dense
frequencies would take; turned ones take less).
`errors` fits the two ridge classifiers with as many seeds as asked for and compares their test errors, without a clock.
--write stores the table in bench/results/against_sklearn.md.
"""

import argparse
import gzip
import os
import platform
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import sklearn
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import RidgeClassifier
from threadpoolctl import threadpool_limits

import bochner
from bochner import _memory

THREADS = 2
TYPES = [np.float32, np.float64]
HERE = Path(__file__).parent
lines = []


def say(line=""):
    print(line, flush=True)
    lines.append(line)


def seconds(call):
    time.sleep(0.5)  # OpenBLAS's threads go on spinning after a product and would take a core from whoever runs next
    start = time.perf_counter()
    result = call()
    elapsed = time.perf_counter() - start
    del result
    return elapsed


def compare(ours, theirs, runs, *others):
    """Medians of alternating runs, those of others (which take their own time) last; one run of each beforehand is not counted."""
    ours(), theirs()
    rounds = [(seconds(ours), seconds(theirs), *(other() for other in others)) for _ in range(runs)]
    return tuple(statistics.median(side) for side in zip(*rounds))


def product_limit(x, columns, runs):
    """X·W alone, into memory that NumPy allocates."""
    w = np.ones((x.shape[1], columns), x.dtype)
    return statistics.median(seconds(lambda: x @ w) for _ in range(runs))


def write_limits(rows, columns, dtype, runs):
    """Writing rows × columns once, half by each thread: to new memory, and to that of an earlier result."""

    def write():
        out = _memory.empty(rows, columns, dtype)
        half = rows // 2
        list(pool.map(lambda part: part.fill(1), (out[:half], out[half:])))
        return out

    with ThreadPoolExecutor(THREADS) as pool:
        rounds = [(first_call(write), seconds(write)) for _ in range(runs)]
    return tuple(statistics.median(kind) for kind in zip(*rounds))


def first_call(call):
    """The time of a call that finds no memory left by an earlier one."""
    _memory._kept.clear()
    return seconds(call)


def row(name, ours, theirs, limits, extra=""):
    limits = ", ".join(f"{label} {value:.3f} s ({ours / value:.1f}×)" for label, value in limits)
    say(f"| {name} | {ours:.3f} | {theirs:.3f} | {theirs / ours:.1f}× | {limits} | {extra} |")


def head(other="scikit-learn"):
    say(f"| task | bochner, s | {other}, s | ratio | limits | |")
    say("|---|--:|--:|--:|---|---|")


def fourier(runs):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((50_000, 64))
    for dtype in TYPES:
        xt = x.astype(dtype)
        theirs = RBFSampler(gamma=1 / 128, n_components=4096, random_state=0).fit(xt)
        ours = bochner.FourierFeatures(gamma=1 / 128, n_components=4096, random_state=0, n_jobs=THREADS).fit(xt)
        new = lambda: first_call(lambda: ours.transform(xt))
        *times, fresh = compare(lambda: ours.transform(xt), lambda: theirs.transform(xt), runs, new)
        product, (to_new, to_kept) = product_limit(xt, 2048, runs), write_limits(50_000, 4096, dtype, runs)
        name, draw = f"Fourier 50,000×64 → 4,096, {dtype.__name__}", ours.draw_
        row(f"{name}, new memory", fresh, times[1], [("writing", to_new), ("dense product", product)], draw)
        row(f"{name}, memory of an earlier result", *times, [("writing", to_kept), ("dense product", product)], f"kernel error {rms(ours, xt)} vs {rms(theirs, xt)}")


def rms(estimator, x, gamma=1 / 128, rows=500):
    """Root mean square error of kernel values of some pairs of rows."""
    x = x[:rows].astype(np.float64)
    z = estimator.transform(x)
    squares = (x**2).sum(1)
    exact = np.exp(-gamma * (squares[:, None] + squares - 2 * x @ x.T))
    return f"{np.sqrt(np.square((z @ z.T - exact)[np.triu_indices(rows, 1)]).mean()):.2e}"


def landmarks(runs):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((50_000, 64))
    for dtype in TYPES:
        xt = x.astype(dtype)
        theirs = Nystroem(gamma=1 / 128, n_components=1024, random_state=0).fit(xt)
        ours = bochner.LandmarkFeatures(gamma=1 / 128, n_components=1024, random_state=0, n_jobs=THREADS).fit(xt)
        times = compare(lambda: ours.transform(xt), lambda: theirs.transform(xt), runs)
        z = theirs.transform(xt)
        limits = [("product", product_limit(z, 1024, runs)), ("writing", write_limits(50_000, 1024, dtype, runs)[1])]
        row(f"landmarks 50,000×64 → 1,024, {dtype.__name__}", *times, limits, f"rank {ours.n_components_}")


def mnist(folder, part):
    with gzip.open(folder / f"mnist.{part}.csv.gz", "rt") as file:
        table = np.loadtxt(file, delimiter=",", skiprows=1, dtype=np.float32)
    return table[:, :-1] / 255, table[:, -1].astype(int)


def ridge(folder, runs):
    if not (folder / "mnist.train.csv.gz").exists():
        say(f"ridge: skipped, no mnist.train.csv.gz in {folder}")
        return
    (x, y), (xt, yt) = mnist(folder, "train"), mnist(folder, "test")
    gamma, lam, n = 0.02, 1e-6, len(x)
    for dtype in TYPES:
        xd, xtd = x.astype(dtype), xt.astype(dtype)
        errors = {"ours": [], "theirs": []}  # models; the i-th of both sides have seed i

        def ours():
            model = bochner.KernelClassifier(
                gamma=gamma, n_components=4096, regularization=lam, standardize=False,
                random_state=len(errors["ours"]), n_jobs=THREADS,
            ).fit(xd, y)
            errors["ours"].append(model)
            return model

        def theirs():
            sampler = RBFSampler(gamma=gamma, n_components=4096, random_state=len(errors["theirs"]))
            model = RidgeClassifier(alpha=lam * n).fit(sampler.fit_transform(xd), y)
            errors["theirs"].append((sampler, model))
            return model

        times = compare(ours, theirs, runs)
        a = [1 - m.score(xtd, yt) for m in errors["ours"]]
        b = [1 - m.score(s.transform(xtd), yt) for s, m in errors["theirs"]]
        z = np.ones((20_000, 4096), dtype)
        gram = 3 * statistics.median(seconds(lambda: z.T @ z) for _ in range(2))
        limits = [("X·W", product_limit(xd, 2048, 2)), ("ZᵀZ (NumPy's syrk)", gram)]
        del z
        extra = f"error {np.mean(a):.4f} ± {np.std(a) / len(a) ** 0.5:.4f} vs {np.mean(b):.4f} ± {np.std(b) / len(b) ** 0.5:.4f}"
        row(f"ridge MNIST 60,000×784, D = 4,096, {dtype.__name__}", *times, limits, extra)


def errors(folder, seeds):
    """Test errors of both ridge classifiers, seed by seed."""
    (x, y), (xt, yt) = mnist(folder, "train"), mnist(folder, "test")
    gamma, lam, found = 0.02, 1e-6, []
    for seed in range(100, 100 + seeds):
        ours = bochner.KernelClassifier(
            gamma=gamma, n_components=4096, regularization=lam, standardize=False, random_state=seed, n_jobs=THREADS
        ).fit(x, y)
        sampler = RBFSampler(gamma=gamma, n_components=4096, random_state=seed)
        theirs = RidgeClassifier(alpha=lam * len(x)).fit(sampler.fit_transform(x), y)
        found.append((1 - ours.score(xt, yt), 1 - theirs.score(sampler.transform(xt), yt)))
    a, b = np.array(found).T
    deviation = lambda e: e.std() / len(e) ** 0.5
    say(f"ridge MNIST, D = 4,096, {seeds} seeds: error {a.mean():.5f} ± {deviation(a):.5f}, RBFSampler + RidgeClassifier {b.mean():.5f} ± {deviation(b):.5f}")


def processor(threads=THREADS):
    """Its name, the instruction set that the library takes on it, and threads."""
    with open("/proc/cpuinfo") as file:
        facts = dict(line.split(":", 1) for line in map(str.strip, file) if ":" in line)
    facts = {name.strip(): value.strip() for name, value in facts.items()}
    # As the library chooses; virtual machines may hide what the processor has.
    flags = set(facts.get("flags", "").split())
    needs = {"avx512": {"avx512f", "avx512dq", "avx512vl", "avx512bw"}, "avx2": {"avx2", "fma"}, "portable": set()}
    available = [isa for isa, needed in needs.items() if needed <= flags]
    asked = os.environ.get("BOCHNER_ISA")
    name = facts.get("model name", platform.processor())
    return f"{name} with {asked if asked in available else available[0]}, {threads} thread{'s' * (threads > 1)}"


def versions():
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=HERE).stdout.strip()
    return f"bochner {bochner.__version__} ({commit}), scikit-learn {sklearn.__version__}, NumPy {np.__version__}; Python {platform.python_version()}"


def machine(threads=THREADS):
    return f"{processor(threads)}; {versions()}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=HERE / "../../shared/data")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default="fourier,landmarks,ridge")
    parser.add_argument("--types", default="float32,float64")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    TYPES[:] = [getattr(np, name) for name in args.types.split(",")]
    say(f"{machine()}")
    say(f"`python bench/{Path(sys.argv[0]).name} {' '.join(sys.argv[1:])}`".replace(" `", "`"))
    say()
    head()
    with threadpool_limits(THREADS):
        for name in args.only.split(","):
            {"fourier": lambda: fourier(args.runs), "landmarks": lambda: landmarks(args.runs),
             "ridge": lambda: ridge(args.data, args.runs), "errors": lambda: errors(args.data, args.seeds)}[name]()
    if args.write:
        (HERE / "results").mkdir(exist_ok=True)
        (HERE / "results/against_sklearn.md").write_text("# bochner and scikit-learn\n\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
