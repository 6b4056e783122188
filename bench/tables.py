"""A learnt metric on tables: bochner's default fit without and with it, beside exact kernels and boosted trees, on every numeric or mixed data set of a folder.

    python bench/tables.py [--data FOLDER] [--only NAME,…] [--seeds 5] [--rows 20000] [--budget 60] [--keep FOLDER] [--write]

Each data set is cut four fifths to one at random, --seeds times; one with a published split is used as it is cut, once. At most --rows rows are learnt from, drawn at random. Methods, each with its defaults and two threads:

    none, auto    KernelRegressor or KernelClassifier(metric=…, budget=…)
    rbf + ridge   StandardScaler, RBFSampler(gamma="scale", n_components=1024), RidgeCV or RidgeClassifierCV
    exact         StandardScaler, SVC or SVR (rbf) where there are at most 20,000 rows
    hist          HistGradientBoosting on raw columns
    lightgbm      LightGBM, where it is installed

Columns of texts are coded by their order for trees, and as 0 and 1 for each value for the others. Errors on test rows: RMSE over the standard deviation of the test targets, or the share of wrong classes, in per cent; the mean over seeds and its standard error (row by row for one split). --keep stores what
each method predicts, and reads it the next time: an interrupted run goes on. --write stores the table in bench/results/tables.md and a plot in bench/results/tables.svg.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
from against_sklearn import HERE, THREADS, lines, machine, say
from data import CLASSES, REGRESSION, SPLIT, load, mixed
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import RidgeClassifierCV, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from threadpoolctl import threadpool_limits

import bochner
from bochner import KernelClassifier, KernelRegressor

try:
    from lightgbm import LGBMClassifier, LGBMRegressor
except ImportError:
    LGBMClassifier = LGBMRegressor = None

#: Data sets with columns of texts.
MIXED = ["diamonds", "adult", "kddcup99"]
#: Of these, the ones that classify and have a published split.
MIXED_CLASSES = ["adult", "kddcup99"]
METHODS = ["none", "auto", "rbf + ridge", "exact", "hist", "lightgbm"]
MOST_EXACT = 20_000


def model_of(method, is_classes, rows, budget):
    """An estimator; none where the method is not for so many rows."""
    ours = KernelClassifier if is_classes else KernelRegressor
    alphas = np.logspace(-6, 3, 10)
    if method in ("none", "auto"):
        return ours(metric=method, budget=budget, n_jobs=THREADS)
    if method == "rbf + ridge":
        ridge = RidgeClassifierCV(alphas) if is_classes else RidgeCV(alphas)
        return make_pipeline(StandardScaler(), RBFSampler(gamma="scale", n_components=1024, random_state=0), ridge)
    if method == "exact" and rows <= MOST_EXACT:
        return make_pipeline(StandardScaler(), SVC(cache_size=1000) if is_classes else _scaled_svr())
    if method == "hist":
        return HistGradientBoostingClassifier(random_state=0) if is_classes else HistGradientBoostingRegressor(random_state=0)
    if method == "lightgbm" and LGBMRegressor is not None:
        words = {"random_state": 0, "n_jobs": THREADS, "verbose": -1}
        return LGBMClassifier(**words) if is_classes else LGBMRegressor(**words)
    return None


def _scaled_svr():
    """SVR's defaults are for targets of deviation one."""
    from sklearn.compose import TransformedTargetRegressor

    return TransformedTargetRegressor(SVR(cache_size=1000), transformer=StandardScaler())


def predicted(name, seed, method, options):
    """Losses of test rows, one each, and seconds; from the folder where they are kept."""
    ours = f"-{bochner.__version__}-{options.budget:g}s" if method in ("none", "auto") else ""
    kept = Path(options.keep) / f"{name}-{options.rows}-{seed}-{method.replace(' ', '')}{ours}.json" if options.keep else None
    if kept and kept.exists():
        found = json.loads(kept.read_text())
        return np.array(found["losses"]), found["seconds"]
    is_trees = method in ("hist", "lightgbm")
    x, y, new, known = mixed(options.data, name, options.rows, seed, is_trees) if name in MIXED else load(options.data, name, options.rows, seed)
    is_classes = name in CLASSES + MIXED_CLASSES
    model = model_of(method, is_classes, len(x), options.budget)
    if model is None:
        return None, None
    start = time.perf_counter()
    found = model.fit(x, y).predict(new)
    seconds = time.perf_counter() - start
    losses = (found != known).astype(float) if is_classes else (found - known) ** 2 / np.var(known)
    if kept:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps({"losses": losses.tolist(), "seconds": seconds}))
    return losses, seconds


def error(losses, is_classes):
    return 100 * losses.mean() if is_classes else 100 * np.sqrt(losses.mean())


def row(name, options):
    """A line of the table: errors, times, and auto less none in standard errors."""
    is_classes = name in CLASSES + MIXED_CLASSES
    seeds = range(1 if name in SPLIT + MIXED_CLASSES else options.seeds)
    errors, seconds, kept = {}, {}, {}
    for method in METHODS:
        runs = [predicted(name, seed, method, options) for seed in seeds]
        if runs[0][0] is None:
            continue
        kept[method] = [losses for losses, _ in runs]
        errors[method] = [error(losses, is_classes) for losses, _ in runs]
        seconds[method] = np.median([took for _, took in runs])
    if len(seeds) > 1:
        spread = {method: np.std(all, ddof=1) / np.sqrt(len(all)) for method, all in errors.items()}
        differences = np.array(errors["auto"]) - np.array(errors["none"])
        deviation = np.std(differences, ddof=1) / np.sqrt(len(differences))
        paired = differences.mean() / deviation if deviation > 0 else 0.0
    else:
        # One split: row by row.
        def over_rows(losses):
            slope = 100 if is_classes else 50 / np.sqrt(losses.mean())
            return slope * np.std(losses) / np.sqrt(len(losses))

        spread = {method: over_rows(all[0]) for method, all in kept.items()}
        differences = kept["auto"][0] - kept["none"][0]
        deviation = np.std(differences) / np.sqrt(len(differences))
        paired = differences.mean() / deviation if deviation > 0 else 0.0
    cells = [f"{np.mean(errors[m]):.2f} ± {spread[m]:.2f} ({seconds[m]:.1f} s)" if m in errors else "" for m in METHODS]
    say(f"| {name} | {' | '.join(cells)} | {paired:+.1f} |")
    return {method: float(np.mean(all)) for method, all in errors.items()}, paired


def plot(results, path):
    """Errors over those of boosting, one line a data set: a dot left of the line is better."""
    width, step, left, top = 760, 22, 170, 40
    names = list(results)
    colours = {"none": "#8aa", "auto": "#06c", "exact": "#999", "lightgbm": "#c60"}
    height = top + step * len(names) + 50

    def place(ratio):
        return left + (width - left - 30) * (np.log2(np.clip(ratio, 0.25, 4)) + 2) / 4

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">']
    parts.append(f'<rect width="{width}" height="{height}" fill="white"/>')
    for ratio in (0.25, 0.5, 1, 2, 4):
        x = place(ratio)
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top - 8}" y2="{height - 40}" stroke="{"#444" if ratio == 1 else "#ddd"}"/>')
        parts.append(f'<text x="{x:.1f}" y="{height - 24}" text-anchor="middle">{ratio:g}</text>')
    parts.append(f'<text x="{place(1):.1f}" y="{height - 8}" text-anchor="middle">error over that of HistGradientBoosting</text>')
    for at, name in enumerate(names):
        y = top + step * at
        parts.append(f'<text x="{left - 10}" y="{y + 4}" text-anchor="end">{name}</text>')
        for method, colour in colours.items():
            if method in results[name]:
                x = place(results[name][method] / results[name]["hist"])
                parts.append(f'<circle cx="{x:.1f}" cy="{y}" r="5" fill="{colour}"><title>{method}</title></circle>')
    for at, (method, colour) in enumerate(colours.items()):
        x = left + 120 * at
        parts.append(f'<circle cx="{x}" cy="14" r="5" fill="{colour}"/><text x="{x + 10}" y="18">{method}</text>')
    path.write_text("\n".join([*parts, "</svg>"]) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=str(HERE / "../../shared/data"))
    parser.add_argument("--only", default=",".join(REGRESSION + CLASSES + MIXED))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--budget", type=float, default=60)
    parser.add_argument("--keep")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    say("# A learnt metric on tables\n")
    say(machine() + "\n")
    say(f"At most {options.rows:,} rows to learn from, budget {options.budget:g} s for ours, {options.seeds} cuts where none is published. Error in per cent ± its standard error (median seconds of fit and prediction).\n")
    say(f"| data | {' | '.join(METHODS)} | auto less none, standard errors |")
    say("|---|" + "--:|" * (len(METHODS) + 1))
    with threadpool_limits(THREADS):
        found = {name: row(name, options) for name in options.only.split(",")}
    results = {name: errors for name, (errors, _) in found.items()}
    worse = [name for name, (_, paired) in found.items() if paired > 2]
    level = sum(errors["auto"] <= errors["hist"] for errors in results.values())
    say(f"\nauto worse than none by more than two standard errors: {', '.join(worse) or 'nowhere'}. auto at or below HistGradientBoosting on {level} of {len(results)}.")
    if options.write:
        (HERE / "results" / "tables.md").write_text("\n".join(lines) + "\n")
        plot(results, HERE / "results" / "tables.svg")


if __name__ == "__main__":
    main()
