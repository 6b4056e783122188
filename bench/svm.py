"""Support vector machines beside scikit-learn's: one process, alternating runs, medians, ratios.

    python bench/svm.py [--data FOLDER] [--runs 3] [--only linear,exact] [--write]

linear: squared hinge on 1,024 Fourier features of 20,000 MNIST digits, ten classes, two threads, beside LinearSVC on the same features (LIBLINEAR, which uses one). Both objectives are evaluated
in double precision. exact: a9a (32,561 × 123, sparse), gaussian(gamma=0.05), C = 1, one thread and 200 MB of cache on both sides, beside SVC (LIBSVM); the dual objective
of SVC is computed from its coefficients.
"""

import argparse
import statistics
from pathlib import Path

import numpy as np
from against_sklearn import HERE, THREADS, head, lines, machine, mnist, row, say, seconds
from sklearn.datasets import load_svmlight_file
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC, LinearSVC

from bochner import FourierFeatures, KernelClassifier, KernelSVC


def timed(calls, runs):
    """Medians of alternating runs, and the last models."""
    models, times = {}, {name: [] for name in calls}
    for _ in range(runs):
        for name, call in calls.items():
            times[name].append(seconds(lambda name=name, call=call: models.__setitem__(name, call())))
    return [statistics.median(times[name]) for name in calls], models


def squared_hinge(model, z, y, c):
    value, scores = 0.0, z.astype(np.float64) @ model.coef_.T + model.intercept_
    for k, w in enumerate(model.coef_):
        short = np.maximum(0, 1 - np.where(y == k, 1, -1) * scores[:, k])
        value += (w @ w + model.intercept_[k] ** 2) / 2 + c * (short**2).sum()
    return value


def linear(folder, runs, n=20_000):
    x, y = mnist(folder, "train")
    x, y = x[:n], y[:n]
    z = FourierFeatures(gamma=0.02, n_components=1024, random_state=0).fit_transform(x)
    double = z.astype(np.float64)
    for c in (1.0, 30.0):
        ours = lambda: KernelClassifier(
            "linear", loss="squared_hinge", regularization=1 / (2 * c * n), standardize=False, n_jobs=THREADS
        ).fit(z, y)
        (a, b), models = timed({"ours": ours, "theirs": lambda: LinearSVC(C=c).fit(double, y)}, runs)
        mine, other = (squared_hinge(models[name], z, y, c) for name in ("ours", "theirs"))
        row(f"linear SVM {n:,}×1,024, C = {c:g}", a, b, [], f"objective {mine:.6g} and {other:.6g}: {mine / other - 1:+.1e}")


def exact(folder, runs):
    x, y = load_svmlight_file(str(folder / "a9a.train.libsvm.gz"), n_features=123)
    x.indices, x.indptr = x.indices.astype(np.int32), x.indptr.astype(np.int32)  # SVC takes no others
    for tol in (1e-3, 1e-6):
        ours = lambda: KernelSVC(gamma=0.05, tol=tol, n_jobs=1).fit(x, y)
        theirs = lambda: SVC(gamma=0.05, tol=tol).fit(x, y)
        (a, b), models = timed({"ours": ours, "theirs": theirs}, runs)
        svc = models["theirs"]
        alpha, sv = np.asarray(svc.dual_coef_.todense()).ravel(), svc.support_vectors_
        blocks = np.array_split(np.arange(len(alpha)), 8)
        square = sum(alpha[i] @ rbf_kernel(sv[i], sv, gamma=0.05) @ alpha for i in blocks)
        dual, mine = np.abs(alpha).sum() - square / 2, models["ours"].dual_objective_
        apart = np.abs(models["ours"].decision_function(x[:2000]) - svc.decision_function(x[:2000])).max()
        row(f"exact SVM a9a, tolerance {tol:g}", a, b, [], f"dual {mine:.9g} and {dual:.9g}: {mine / dual - 1:+.1e}; decisions within {apart:.1e}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=HERE / "../../shared/data")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default="linear,exact")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    say(machine())
    say(f"`python bench/svm.py --runs {args.runs} --only {args.only}`")
    say()
    head()
    for name in args.only.split(","):
        {"linear": linear, "exact": exact}[name](args.data, args.runs)
    if args.write:
        (HERE / "results/svm.md").write_text("# Support vector machines\n\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
