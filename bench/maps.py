"""Maps beside each other and beside scikit-learn's: kernel errors at equal D, structured frequencies, additive kernels.

    python bench/maps.py [--data FOLDER] [--seeds 30] [--runs 5] [--only errors,structured,chi2] [--write]

errors      mean squared error of z(x)·z(y) against the exact Gaussian over all pairs of 400 rows that no map was fitted to, for every map of it at D = 128 … 2,048,
            on two data sets; means over seeds with standard errors, and the one-sided test (Welch) of "ours is worse than the peer at equal D" at level 1e-3.
structured  Fourier features of 784 columns by Walsh-Hadamard transforms and by our own dense product, from D = 2,048 up, two threads.
chi2        the homogeneous map beside AdditiveChi2Sampler at equal numbers of features, two threads.
--write stores the errors in bench/results/maps.md with the figure in docs/book/maps.svg, times alone in bench/results/map_times.md.
"""

import argparse
import gzip
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import sklearn
from scipy import stats
from sklearn.kernel_approximation import AdditiveChi2Sampler, Nystroem, RBFSampler
from threadpoolctl import threadpool_limits

import bochner
import curves

THREADS = 2
HERE = Path(__file__).parent
SIZES = [128, 256, 512, 1024, 2048]
lines = []


def say(line=""):
    print(line, flush=True)
    lines.append(line)


def read(folder, name, rows, skip=1):
    with gzip.open(Path(folder) / name, "rt") as file:
        table = np.loadtxt(file, delimiter=",", skiprows=skip, max_rows=rows)
    return table[:, :-1]


def standardised(x):
    return (x - x.mean(axis=0)) / np.where(x.std(axis=0) > 0, x.std(axis=0), 1)


def data_sets(folder):
    """Rows, each set with the width that tuned regressions of it choose: half the median distance."""
    digits = read(folder, "mnist.train.csv.gz", 3000) / 255
    houses = standardised(read(folder, "california_housing.csv.gz", 3000))
    return {"california_housing, 8 columns": houses, "mnist, 784 columns": digits}


def half_median(x, rng):
    i, j = rng.integers(0, len(x), (2, 4000))
    return 0.5 * np.median(np.linalg.norm(x[i] - x[j], axis=1)[i != j])


def makers(sigma):
    gamma = 0.5 / sigma**2
    fourier = lambda draw: lambda D, seed: bochner.FourierFeatures(gamma=gamma, n_components=D, draw=draw, random_state=seed)
    landmarks = lambda choice: lambda D, seed: bochner.LandmarkFeatures(gamma=gamma, n_components=D, choice=choice, random_state=seed)
    return {
        "i.i.d.": fourier("independent"),
        "orthogonal": fourier("orthogonal"),
        "quasi-random": fourier("quasi"),
        "turned": fourier("turned"),
        "structured": fourier("structured"),
        "RBFSampler": lambda D, seed: RBFSampler(gamma=gamma, n_components=D, random_state=seed),
        "landmarks, uniform": landmarks("uniform"),
        "landmarks, k-means++": landmarks("k-means++"),
        "landmarks, leverage": landmarks("leverage"),
        "landmarks, Cholesky": landmarks("cholesky"),
        "Nystroem": lambda D, seed: Nystroem(gamma=gamma, n_components=D, random_state=seed),
    }


PEERS = {"RBFSampler": ["i.i.d.", "orthogonal", "quasi-random", "turned", "structured"], "Nystroem": [f"landmarks, {c}" for c in ("uniform", "k-means++", "leverage", "Cholesky")]}


def errors(folder, seeds):
    figure = []
    for name, x in data_sets(folder).items():
        rng = np.random.default_rng(0)
        sigma = half_median(x, rng)
        x = x[rng.permutation(len(x))]
        test, train = x[:400], x[400:]
        squares = ((test[:, None] - test[None]) ** 2).sum(-1) if x.shape[1] < 50 else distances(test)
        exact = np.exp(-squares / (2 * sigma**2))
        off = ~np.eye(len(test), dtype=bool)
        say(f"\n### {name}, gaussian(sigma={sigma:.4g}), {len(train)} rows to choose landmarks from\n")
        say("| map | " + " | ".join(f"D = {D:,}" for D in SIZES) + " |")
        say("|---" * (1 + len(SIZES)) + "|")
        found = {}
        for label, make in makers(sigma).items():
            if x.shape[1] <= {"turned": 16, "structured": 32}.get(label, 0):
                continue
            # Landmarks are costly and vary little.
            count = seeds if label in ("RBFSampler", *PEERS["RBFSampler"]) else max(6, seeds // 4)
            for D in SIZES:
                mse = []
                for seed in range(count):
                    z = make(D, seed).fit(train).transform(test)
                    mse.append((((z @ z.T) - exact)[off] ** 2).mean())
                found[label, D] = np.array(mse)
            cell = lambda v: f"{v.mean():.2e} ± {v.std(ddof=1) / np.sqrt(len(v)):.0e}"
            say(f"| {label} | " + " | ".join(cell(found[label, D]) for D in SIZES) + " |")
        worse = []
        for peer, ours in PEERS.items():
            for label in ours:
                for D in SIZES:
                    if (label, D) in found:
                        p = stats.ttest_ind(found[label, D], found[peer, D], equal_var=False, alternative="greater").pvalue
                        if p < 1e-3:
                            worse.append(f"{label} at D = {D:,} (p = {p:.1e})")
        say(f"\nworse than the peer at level 1e-3: {', '.join(worse) if worse else 'none'}")
        figure.append((name, {label: [found[label, D].mean() for D in SIZES] for label in dict.fromkeys(k[0] for k in found)}))
    return figure


def distances(x):
    norms = (x * x).sum(1)
    return np.maximum(norms[:, None] + norms[None] - 2 * x @ x.T, 0)


def seconds(call):
    time.sleep(0.3)
    start = time.perf_counter()
    result = call()
    elapsed = time.perf_counter() - start
    del result
    return elapsed


def compare(a, b, runs):
    a(), b()
    pairs = [(seconds(a), seconds(b)) for _ in range(runs)]
    return tuple(statistics.median(side) for side in zip(*pairs))


def structured(runs):
    say("\n### Structured frequencies beside our dense product: 20,000×784, f32\n")
    say("| D | dense, s | structured, s | ratio |")
    say("|--:|--:|--:|--:|")
    x = np.random.default_rng(0).standard_normal((20_000, 784), np.float32)
    for D in [2048, 4096, 8192, 16384]:
        make = lambda draw: bochner.FourierFeatures(gamma=1e-3, n_components=D, draw=draw, random_state=0, n_jobs=THREADS).fit(x[:500])
        dense, fast = make("independent"), make("structured")
        a, b = compare(lambda: dense.transform(x), lambda: fast.transform(x), runs)
        say(f"| {D:,} | {a:.3f} | {b:.3f} | {a / b:.1f}× |")


def chi2(runs):
    say("\n### χ² beside AdditiveChi2Sampler: 20,000×256 histograms\n")
    say("| precision | features a column | bochner, s | scikit-learn, s | ratio | our error | theirs |")
    say("|---|--:|--:|--:|--:|--:|--:|")
    h = np.random.default_rng(0).gamma(0.5, size=(20_000, 256))
    h /= h.sum(1, keepdims=True)
    for dtype in (np.float32, np.float64):
        x = h.astype(dtype)
        for steps in (2, 3):
            theirs = AdditiveChi2Sampler(sample_steps=steps).fit(x)
            ours = bochner.KernelMap("chi2", n_components=(2 * steps - 1) * 256, n_jobs=THREADS).fit(x[:500])
            a, b = compare(lambda: ours.transform(x), lambda: theirs.transform(x), runs)
            sample = x[:300].astype(float)
            exact = np.array([[(2 * u * v / np.where(u + v > 0, u + v, 1)).sum() for v in sample] for u in sample])
            error = lambda z: np.abs(z @ z.T - exact).mean()
            say(f"| {np.dtype(dtype).name} | {2 * steps - 1} | {a:.3f} | {b:.3f} | {b / a:.1f}× | {error(ours.transform(sample)):.1e} | {error(theirs.transform(sample)):.1e} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=str(HERE / "../../shared/data"))
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default="errors,structured,chi2")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.processor())
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=HERE).stdout.strip()
    say("# Maps\n")
    say(f"{cpu}, {THREADS} threads; bochner {bochner.__version__} ({commit}), scikit-learn {sklearn.__version__}, NumPy {np.__version__}; Python {platform.python_version()}")
    say(f"`python bench/maps.py {' '.join(arg for arg in sys.argv[1:] if arg != '--write')}`")
    only = args.only.split(",")
    with threadpool_limits(THREADS):
        figure = errors(args.data, args.seeds) if "errors" in only else None
        if "structured" in only:
            structured(args.runs)
        if "chi2" in only:
            chi2(args.runs)
    if args.write:
        name = "maps.md" if figure else "map_times.md"
        (HERE / "results" / name).write_text("\n".join(lines) + "\n")
        if figure:
            (HERE / "../docs/book/maps.svg").write_text(curves.drawn(SIZES, figure))


if __name__ == "__main__":
    main()
