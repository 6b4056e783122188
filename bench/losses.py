"""Losses other than squares beside scikit-learn: one process, two threads, alternating runs, medians, ratios.

    python bench/losses.py [--data FOLDER] [--runs 3] [--only a9a,letter,mnist] [--write]

Logistic regression on D = 2,048 Fourier features of a Gaussian: KernelClassifier(loss="logistic") beside RBFSampler + LogisticRegression (lbfgs), fit and predict, same width, same λ, rows in single precision. scikit-learn's tolerance is the largest power of ten at which its objective is within 1e-4 of
the smallest that it finds at 1e-8, as ours is by its own rule; both objectives are evaluated on the features of their own side. --write stores the table in bench/results/losses.md.
"""

import argparse
import gzip
import warnings
from pathlib import Path

import numpy as np
from against_sklearn import HERE, THREADS, compare, lines, machine, say
from sklearn.datasets import load_svmlight_file
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

from bochner import KernelClassifier

FEATURES = 2048


def numbers(folder, name, rows=None):
    with gzip.open(Path(folder) / name, "rt") as file:
        table = np.loadtxt(file, delimiter=",", skiprows=1, max_rows=rows, dtype=np.float32)
    return np.ascontiguousarray(table[:, :-1]), table[:, -1].astype(int)


def a9a(folder):
    parts = []
    for name in ("a9a.train.libsvm.gz", "a9a.test.libsvm.gz"):
        x, y = load_svmlight_file(str(Path(folder) / name), n_features=123)
        parts += [np.ascontiguousarray(x.toarray(), dtype=np.float32), (y > 0).astype(int)]
    return (*parts, 0.05, 1e-5)


def letter(folder):
    with gzip.open(Path(folder) / "letter.train.csv.gz", "rt") as file:
        header = file.readline().strip().split(",")
    place = header.index("target")

    def read(name):
        with gzip.open(Path(folder) / name, "rt") as file:
            table = np.loadtxt(file, delimiter=",", skiprows=1, dtype=str)
        labels = np.unique(table[:, place], return_inverse=True)[1]
        return np.ascontiguousarray(np.delete(table, place, axis=1), dtype=np.float32), labels

    (x, y), (new, labels) = read("letter.train.csv.gz"), read("letter.test.csv.gz")
    mean, deviation = x.mean(axis=0), x.std(axis=0)
    return (x - mean) / deviation, y, (new - mean) / deviation, labels, 0.1, 1e-6


def mnist(folder):
    (x, y), (new, labels) = numbers(folder, "mnist.train.csv.gz", 20_000), numbers(folder, "mnist.test.csv.gz")
    return x / 255, y, new / 255, labels, 0.02, 1e-6


def objective(model, z, y, lam):
    p = model.predict_proba(z)[np.arange(len(y)), y]
    coefficients = model.coef_
    return -np.log(np.maximum(p, 1e-300)).mean() + lam * np.square(coefficients).sum()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=str(HERE / "../../shared/data"))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default="a9a,letter,mnist")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    say("# Logistic regression on Fourier features\n")
    say(machine())
    say("\n| data | rows × columns, classes | λ | ours | scikit-learn | ratio | objective, ours | theirs | error, ours | theirs |")
    say("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for name in args.only.split(","):
        x, y, new, labels, gamma, lam = {"a9a": a9a, "letter": letter, "mnist": mnist}[name](args.data)
        ours = KernelClassifier(gamma=gamma, n_components=FEATURES, loss="logistic", regularization=lam, standardize=False, n_jobs=THREADS)
        C = 1 / (2 * lam * len(x))
        with threadpool_limits(THREADS):
            z = RBFSampler(gamma=gamma, n_components=FEATURES, random_state=0).fit_transform(x)
            fit = lambda tol: LogisticRegression(C=C, tol=tol, max_iter=5000).fit(z, y)
            best = objective(fit(1e-8), z, y, lam)
            tol = next(t for t in (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7) if objective(fit(t), z, y, lam) <= best * (1 + 1e-4))
            del z
            theirs = make_pipeline(RBFSampler(gamma=gamma, n_components=FEATURES, random_state=0), LogisticRegression(C=C, tol=tol, max_iter=5000))
            a, b = compare(lambda: ours.fit(x, y).predict(new), lambda: theirs.fit(x, y).predict(new), args.runs)
            value = objective(theirs[-1], theirs[0].transform(x), y, lam)
            errors = [100 * np.mean(model.predict(new) != labels) for model in (ours, theirs)]
        say(
            f"| {name} | {len(x):,} × {x.shape[1]}, {len(set(y))} | {lam:g} | {a:.2f} s | {b:.2f} s | {b / a:.1f}× | {ours.objective_:.5f} ({ours.stopped_by_}, {ours.n_iter_} steps) | {value:.5f} (tol {tol:g}) "
            f"| {errors[0]:.2f} % | {errors[1]:.2f} % |"
        )
    if args.write:
        (HERE / "results" / "losses.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
