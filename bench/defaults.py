"""What a fit without any numbers is worth: bochner's default beside the usual recipe, on every numeric data set of a folder.

    python bench/defaults.py [--data FOLDER] [--only NAME,…] [--budget 60] [--kernel auto] [--rows 40000] [--keep FOLDER [--theirs]] [--write]

Ours: KernelRegressor(budget=60) or KernelClassifier(budget=60), nothing else said. Theirs: StandardScaler, RBFSampler(gamma="scale", n_components=4096), RidgeCV or RidgeClassifierCV with α from 1e-6 to 1e3 by decades (their
default has three values). Same rows, two threads. Errors on test rows: RMSE over the standard deviation of the test targets, or the share of wrong classes. The paired difference is that of squared errors (or of wrong classes) row by row, ours less
theirs, over its standard error: below −2 ours is better, above 2 worse. HistGradientBoosting with its defaults stands beside them, on raw columns. Tables of more rows than --rows are cut to so many at random, because RidgeCV holds the
features of all rows several times over. --keep stores what the other two predict and reads it the next time (they take most of an hour, and know no clock); with --theirs nothing else is done. --write stores the table in bench/results/defaults.md.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from against_sklearn import HERE, THREADS, lines, machine, say
from data import CLASSES, REGRESSION, load
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import RidgeClassifierCV, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from bochner import KernelClassifier, KernelRegressor


def theirs(name, x, y, new, options):
    """Predictions of the usual recipe and of boosting, from the folder where they are kept."""
    kept = Path(options.keep) / f"{name}-{options.rows}.npy" if options.keep else None
    if kept and kept.exists():
        return np.load(kept)
    is_classes = name in CLASSES
    alphas = np.logspace(-6, 3, 10)
    usual = make_pipeline(StandardScaler(), RBFSampler(gamma="scale", n_components=4096, random_state=0), RidgeClassifierCV(alphas) if is_classes else RidgeCV(alphas))
    boosted = HistGradientBoostingClassifier(random_state=0) if is_classes else HistGradientBoostingRegressor(random_state=0)
    predicted = np.array([model.fit(x, y).predict(new) for model in (usual, boosted)])
    if kept:
        kept.parent.mkdir(parents=True, exist_ok=True)
        np.save(kept, predicted)
    return predicted


def compare(folder, name, options):
    x, y, new, known = load(folder, name, options.rows)
    is_classes = name in CLASSES
    q, b = theirs(name, x, y, new, options)
    if options.theirs:
        return say(name)
    ours = (KernelClassifier if is_classes else KernelRegressor)(options.kernel, budget=options.budget, n_jobs=THREADS)
    start = time.perf_counter()
    ours.fit(x, y)
    took = time.perf_counter() - start
    p = ours.predict(new)
    loss = (lambda p: (p != known).astype(float)) if is_classes else (lambda p: (p - known) ** 2)
    difference = loss(p) - loss(q)
    error = np.std(difference) / np.sqrt(len(difference))
    paired = difference.mean() / error if error > 0 else 0.0
    shown = [100 * loss(r).mean() if is_classes else 100 * np.sqrt(loss(r).mean()) / np.std(known) for r in (p, q, b)]
    plan = ours.plan_
    say(
        f"| {name} | {len(x):,}×{x.shape[1]} | {shown[0]:.2f} | {shown[1]:.2f} | {paired:+.1f} | {shown[2]:.2f} | {took:.1f} | {ours.n_components_:,} | {ours.kernel_.replace('|', '')}, "
        f"{plan['enough']['kind'] if plan else ''} |"
    )
    return paired


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=str(HERE / "../../shared/data"))
    parser.add_argument("--only", default=",".join(REGRESSION + CLASSES))
    parser.add_argument("--budget", type=float, default=60)
    parser.add_argument("--kernel", default="auto")
    parser.add_argument("--rows", type=int, default=40_000)
    parser.add_argument("--keep")
    parser.add_argument("--theirs", action="store_true")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if options.theirs and not options.keep:
        parser.error("--theirs is of use with --keep FOLDER alone: nothing would remain of it")
    warnings.simplefilter("ignore")
    say("# Fits without numbers\n")
    say(machine() + "\n")
    say(f"Budget {options.budget:g} s, kernel {options.kernel}.\n")
    say("| data | rows to train | ours, % | RBFSampler 4,096 + RidgeCV, % | paired difference, standard errors | boosting, % | a fit of ours, s | D | kernel, why no more |")
    say("|---|--:|--:|--:|--:|--:|--:|--:|---|")
    with threadpool_limits(THREADS):
        paired = [compare(options.data, name, options) for name in options.only.split(",")]
    if options.theirs:
        return
    better = sum(p < 0 for p in paired)
    say(f"\nBetter on {better} of {len(paired)}; worse by more than two standard errors on {sum(p > 2 for p in paired)}.")
    if options.write:
        (HERE / "results" / "defaults.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
