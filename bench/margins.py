"""Higher the margin, lower the dimension: errors of a linear machine after random projections, for data sets of different margin.

    python bench/margins.py [--data FOLDER] [--seeds 20] [--write]

Rows of two classes, centred on the mean of all and brought to length 1. The margin is that of the widest linear separator of the rows that are trained on (LinearSVC with a large C, checked to make no error).
Each projection to m numbers is drawn anew; the machine is trained and tested on projected rows. The theorem's m for half the margin stands beside the figures. --write stores the table in
bench/results/margins.md and the figure in docs/book/margins.svg.
"""

import argparse
import gzip
from pathlib import Path

import numpy as np
from against_sklearn import HERE, lines, machine, say
from sklearn.svm import LinearSVC

import curves
from bochner import RandomProjection, margin_dimension

SIZES = [2, 4, 8, 16, 32, 64, 128]


def read(folder, name):
    with gzip.open(Path(folder) / name, "rt") as file:
        table = np.loadtxt(file, delimiter=",", skiprows=1, max_rows=20_000)
    return table[:, :-1], table[:, -1].astype(int)


def pair(folder, name, a, b):
    """Unit rows of two classes, centred, to train and to test."""
    x, y = read(folder, f"{name}.train.csv.gz")
    new, labels = read(folder, f"{name}.test.csv.gz")
    keep, keep_new = np.isin(y, [a, b]), np.isin(labels, [a, b])
    x, y, new, labels = x[keep][:4000], y[keep][:4000] == a, new[keep_new], labels[keep_new] == a
    mean = x.mean(axis=0)
    unit = lambda rows: (rows - mean) / np.linalg.norm(rows - mean, axis=1, keepdims=True)
    return unit(x), y, unit(new), labels


def margin(x, y):
    """Of the widest separator through the origin: the theorem has no intercept."""
    best = 0.0
    for C in (1e2, 1e3, 1e4):
        w = LinearSVC(C=C, fit_intercept=False, dual="auto", max_iter=200_000).fit(x, y).coef_[0]
        best = max(best, float(((2 * y - 1) * (x @ w)).min() / np.linalg.norm(w)))
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=str(HERE / "../../shared/data"))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    say("# Higher the margin, lower the dimension\n")
    say(machine())
    figure = {}
    say("\n| data | margin | theorem's m (ε = δ = 0.1) | " + " | ".join(f"m = {m}" for m in SIZES) + " | all columns |")
    say("|---|--:|--:|" + "--:|" * (len(SIZES) + 1))
    for name, a, b in [("optdigits", 0, 1), ("optdigits", 8, 9), ("mnist", 4, 9)]:
        label = f"{name}, {a} against {b}"
        x, y, new, labels = pair(args.data, name, a, b)
        gamma = margin(x, y)
        error = lambda m, seed: np.mean(fitted(x, y, m, seed).predict(projected(new, x, m, seed)) != labels)
        errors = [np.mean([error(m, seed) for seed in range(args.seeds)]) for m in SIZES]
        whole = np.mean(LinearSVC(C=10, fit_intercept=False, dual="auto", max_iter=100_000).fit(x, y).predict(new) != labels)
        say(f"| {label} | {gamma:.3f} | {margin_dimension(gamma, 0.1, 0.1):,} | " + " | ".join(f"{100 * e:.1f} %" for e in errors) + f" | {100 * whole:.1f} % |")
        figure[f"{label}: margin {gamma:.2g}"] = [max(e, 1e-4) for e in errors]
    if args.write:
        (HERE / "results" / "margins.md").write_text("\n".join(lines) + "\n")
        picture = curves.drawn(SIZES, [("problems of different margin", figure)], "outputs m; test error of a linear machine", "errors after projections by dimension", 1)
        (HERE / "../docs/book/margins.svg").write_text(picture)


def projected(rows, x, m, seed):
    return RandomProjection(m, kind="signs", random_state=seed).fit(x[:100]).transform(rows)


def fitted(x, y, m, seed):
    return LinearSVC(C=10, fit_intercept=False, dual="auto", max_iter=20_000).fit(projected(x, x, m, seed), y)


if __name__ == "__main__":
    main()
