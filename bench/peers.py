"""Fit and predict beside scikit-learn's pipelines: same rows, same D, two threads, one process, alternating runs, medians, ratios; and what the plan had foretold.

    python bench/peers.py [--data FOLDER] [--only a9a,mnist,covtype] [--features 2048] [--runs 3] [--forecasts] [--write]

Ridge: KernelClassifier with λ given beside RBFSampler + RidgeClassifier and Nystroem + RidgeClassifier, the width and λ being the same (RidgeClassifier's α is nλ); rows in single precision and standardised beforehand (a9a and mnist as they are, mnist over 255). Logistic:
beside RBFSampler + LogisticRegression at the same λ, whose tolerance is the largest power of ten at which its objective is within 1e-4 of the smallest that it finds at 1e-8, as ours is by its own rule. covtype: 200,000 of its rows train, class 2 against the others, because the peers hold features of all
rows several times over. The plan is asked before each of these fits, in a process of its own: seconds foretold over seconds taken, and bytes foretold over the growth of the process's peak. --forecasts does this alone. --write stores the tables in bench/results/peers.md.
"""

import argparse
import ctypes
import multiprocessing
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from against_sklearn import HERE, THREADS, compare, lines, machine, say
from data import load
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

from bochner import KernelClassifier


def read(folder, name):
    x, y, new, known = load(folder, name, 200_000)
    if name == "covtype":
        labels = 1  # class 2, counted from 0
        y, known = (y == labels).astype(int), (known == labels).astype(int)
        mean, deviation = x.mean(axis=0), x.std(axis=0)
        x, new = (x - mean) / np.where(deviation > 0, deviation, 1), (new - mean) / np.where(deviation > 0, deviation, 1)
        new, known = new[:50_000], known[:50_000]
    if name == "mnist":
        x, new = x / 255, new / 255
    gamma = {"a9a": 0.05, "mnist": 0.02, "covtype": 0.1}[name]
    return np.ascontiguousarray(x, np.float32), y, np.ascontiguousarray(new, np.float32), known, gamma


def ridge(name, x, y, new, known, gamma, options):
    lam = 1e-5
    ours = KernelClassifier("gaussian", gamma=gamma, n_components=options.features, regularization=lam, standardize=False, n_jobs=THREADS)
    peers = {
        "RBFSampler + RidgeClassifier": RBFSampler(gamma=gamma, n_components=options.features, random_state=0),
        "Nystroem + RidgeClassifier": Nystroem(gamma=gamma, n_components=options.features, random_state=0),
    }
    method = {"RBFSampler + RidgeClassifier": "auto", "Nystroem + RidgeClassifier": "landmarks"}
    for label, features in peers.items():
        model = ours.set_params(method=method[label])
        peer = make_pipeline(features, RidgeClassifier(alpha=lam * len(x)))
        errors = []
        run = lambda m: errors.append((m is model, np.mean(m.fit(x, y).predict(new) != known)))
        times = compare(lambda: run(model), lambda: run(peer), options.runs)
        error = [100 * np.mean([e for is_ours, e in errors if is_ours is side]) for side in (True, False)]
        say(f"| {name} | {label} | {times[0]:.2f} | {times[1]:.2f} | {times[1] / times[0]:.1f}× | {error[0]:.2f} | {error[1]:.2f} |")


def objective(z, y, w, b, lam):
    scores = z @ w + b
    return np.mean(np.logaddexp(0, -np.where(y == 1, 1, -1) * scores)) + lam * np.sum(w * w)


def logistic(name, x, y, new, known, gamma, options):
    if len(np.unique(y)) > 2:
        return
    lam = 1e-5
    ours = KernelClassifier("gaussian", gamma=gamma, n_components=options.features, loss="logistic", regularization=lam, standardize=False, n_jobs=THREADS)
    sampler = RBFSampler(gamma=gamma, n_components=options.features, random_state=0).fit(x)
    z = sampler.transform(x)
    fit = lambda tol: LogisticRegression(C=1 / (2 * lam * len(x)), tol=tol, max_iter=10_000).fit(z, y)
    of = lambda model: objective(z.astype(np.float64), y, model.coef_[0], model.intercept_[0], lam)
    least = of(fit(1e-8))
    tol = next(t for t in 10.0 ** np.arange(-1, -9, -1) if of(fit(t)) <= least * (1 + 1e-4))
    del z
    peer = make_pipeline(sampler, LogisticRegression(C=1 / (2 * lam * len(x)), tol=tol, max_iter=10_000))
    times = compare(lambda: ours.fit(x, y).predict(new), lambda: peer.fit(x, y).predict(new), options.runs)
    gap = (ours.objective_ - ours.dual_objective_) / ours.objective_ if ours.dual_objective_ is not None else float("nan")
    say(
        f"| {name} | RBFSampler + LogisticRegression (tol {tol:g}) | {times[0]:.2f} | {times[1]:.2f} | {times[1] / times[0]:.1f}× | {100 * np.mean(ours.predict(new) != known):.2f} | "
        f"{100 * np.mean(peer.predict(new) != known):.2f}; objectives {ours.objective_:.5f} (gap {gap:.0e}) and {least:.5f} |"
    )


def fits(name, features):
    """The fits of the tables above, and λ by cross-validation."""
    given = dict(n_components=features, regularization=1e-5)
    yield "Fourier, ridge", given
    yield "landmarks, ridge", given | dict(method="landmarks")
    if name != "mnist":
        yield "Fourier, logistic", given | dict(loss="logistic")
    yield "Fourier, ridge, λ by cross-validation", dict(n_components=features)
    yield "Fourier, ridge, λ by cross-validation", dict(n_components=features // 2)


def foretold(name, parts, options):
    """Each fit in a process of its own, which reads nothing but its rows: what was freed before would be used again, unseen."""
    x, y, _, _, gamma = parts
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.npz"
        np.savez(file, x=x, y=y)
        for label, how in fits(name, options.features):
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                seconds, took, planned, grown = pool.apply(measured, (file, gamma, how))
            say(
                f"| {name}, {label}, D = {how['n_components']:,} | {seconds:.2f} | {took:.2f} | {seconds / took:.2f} | "
                f"{planned / 2**20:.0f} | {grown / 2**20:.0f} | {planned / grown:.2f} |"
            )


def measured(file, gamma, how):
    rows = np.load(file)
    x, y = rows["x"], rows["y"]
    model = KernelClassifier("gaussian", gamma=gamma, standardize=False, n_jobs=THREADS, **how)
    outlook = model.plan(x, y)
    ctypes.CDLL(None).malloc_trim(0)  # what the plan has freed goes back to the system, or the fit would be given it
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before = memory("VmRSS")
    start = time.perf_counter()
    model.fit(x, y)
    took = time.perf_counter() - start
    return outlook.seconds[1], took, outlook.peak_bytes, memory("VmHWM") - before


def memory(what):
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(what))
    return int(line.split()[1]) * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=str(HERE / "../../shared/data"))
    parser.add_argument("--only", default="a9a,mnist,covtype")
    parser.add_argument("--features", type=int, default=2048)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--forecasts", action="store_true")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    say("# Beside scikit-learn's pipelines\n")
    say(machine() + "\n")
    say(f"D = {options.features:,}; fit and predict.\n")
    sets = {name: read(options.data, name) for name in options.only.split(",")}
    with threadpool_limits(THREADS):
        if not options.forecasts:
            say("| data | peer | ours, s | theirs, s | ratio | our error, % | theirs, % |")
            say("|---|---|--:|--:|--:|--:|--:|")
            for name, parts in sets.items():
                ridge(name, *parts, options)
                logistic(name, *parts, options)
        say("\n| fit | foretold, s | taken, s | ratio | foretold, MiB | taken, MiB | ratio |")
        say("|---|--:|--:|--:|--:|--:|--:|")
        for name, parts in sets.items():
            foretold(name, parts, options)
    if options.write:
        (HERE / "results" / "peers.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
