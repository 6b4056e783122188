"""A learnt metric on tables: bochner's default fit without and with it, beside exact kernels and boosted trees, on every numeric or mixed data set of a folder.

    python bench/tables.py [--data FOLDER] [--only NAME,…] [--seeds 5] [--rows 20000] [--budget SECONDS] [--threads 2] [--built COMMIT] [--keep FOLDER [--kept]] [--write]

Each data set is cut four fifths to one at random, --seeds times; one with a published split is used as it is cut, once. At most --rows rows are learnt from, drawn at random. Methods, on the same rows and as many threads:

    none, auto    KernelRegressor or KernelClassifier(metric=…): default fits, unless there is a --budget
    rbf + ridge   StandardScaler, RBFSampler(gamma="scale", n_components=1024), RidgeCV or RidgeClassifierCV over ten decades of α; with more features its singular values take minutes
    exact         StandardScaler, SVC or SVR (rbf; targets standardised), unless --rows is above 20,000
    hist          HistGradientBoosting
    lightgbm      LightGBM, where it is installed

Columns of texts are categories for trees, and 0 and 1 for each value for the others. Errors on test rows: RMSE over the standard deviation of the test targets, or the share of wrong classes, in per cent. The mean over cuts; its standard error with the correction of Nadeau and Bengio (2003) for cuts that overlap,
√(1/k + 1/4); of one split, row by row, which knows nothing of the draw of the rows to learn from, nor that rows of kddcup99 are repeated. The last column is auto less none in standard errors: the larger of the one over cuts and the one over rows of all cuts, since a metric that is taken in one cut only
hides in the spread over cuts. Of N data sets without any difference about N/20 exceed two by chance. --keep stores what each method predicts, by its parameters and by the build that is installed, and reads it the next time: an interrupted run goes on, and two runs of different data sets with one thread each share a machine of two processors (seconds are slower by that; errors of ours are the same, being the same bits on any number of threads). With --kept nothing is run: the table is of the cuts that all methods have. --built is the commit of that build, for the record. --write
stores the table in bench/results/tables.md and a plot in bench/results/tables.svg.
"""

import argparse
import hashlib
import json
import re
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
OURS = ["none", "auto"]
METHODS = ["none", "auto", "rbf + ridge", "exact", "hist", "lightgbm"]
MOST_EXACT = 20_000


def model_of(method, is_classes, options):
    """An estimator; none where the method is not for so many rows."""
    ours = KernelClassifier if is_classes else KernelRegressor
    alphas = np.logspace(-6, 3, 10)
    if method in OURS:
        return ours(metric=method, budget=options.budget, n_jobs=options.threads)
    if method == "rbf + ridge":
        ridge = RidgeClassifierCV(alphas) if is_classes else RidgeCV(alphas)
        return make_pipeline(StandardScaler(), RBFSampler(gamma="scale", n_components=1024, random_state=0), ridge)
    if method == "exact" and options.rows <= MOST_EXACT:
        return make_pipeline(StandardScaler(), SVC(cache_size=1000) if is_classes else _scaled_svr())
    if method == "hist":
        return HistGradientBoostingClassifier(random_state=0) if is_classes else HistGradientBoostingRegressor(random_state=0)
    if method == "lightgbm" and LGBMRegressor is not None:
        words = {"random_state": 0, "n_jobs": options.threads, "verbose": -1}
        return LGBMClassifier(**words) if is_classes else LGBMRegressor(**words)
    return None


def _scaled_svr():
    """SVR's defaults are for targets of deviation one."""
    from sklearn.compose import TransformedTargetRegressor

    return TransformedTargetRegressor(SVR(cache_size=1000), transformer=StandardScaler())


def build():
    """What is installed: a model of the same name and parameters may be made by other code."""
    core = Path(bochner._core.__file__)
    return hashlib.sha256(core.read_bytes()).hexdigest()[:12]


def key(model, is_ours):
    words = re.sub(r"\s+", " ", repr(model)) + (build() if is_ours else "")
    return hashlib.sha256(words.encode()).hexdigest()[:12]


def where(name, seed, method, model, options):
    """The file of what a model predicts; none where nothing is kept."""
    if not options.keep:
        return None
    return Path(options.keep) / f"{name}-{options.rows}-{seed}-{method.replace(' ', '')}-{key(model, method in OURS)}.json"


def cuts(name, options):
    """The seeds to cut by: as many as are asked for, or those that all methods have."""
    seeds = range(1 if name in SPLIT + MIXED_CLASSES else options.seeds)
    if not options.kept:
        return list(seeds)
    models = {method: model_of(method, name in CLASSES + MIXED_CLASSES, options) for method in METHODS}
    return [seed for seed in seeds if all(where(name, seed, method, model, options).exists() for method, model in models.items() if model is not None)]


def predicted(name, seed, method, options):
    """Losses of test rows, one each, and seconds; from the folder where they are kept."""
    is_classes = name in CLASSES + MIXED_CLASSES
    model = model_of(method, is_classes, options)
    if model is None:
        return None, None
    kept = where(name, seed, method, model, options)
    if kept and kept.exists():
        found = json.loads(kept.read_text())
        return np.array(found["losses"]), found["seconds"]
    are_categories = method in ("hist", "lightgbm")
    x, y, new, known = mixed(options.data, name, options.rows, seed, are_categories) if name in MIXED else load(options.data, name, options.rows, seed)
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


def over_cuts(errors):
    """The standard error of a mean over cuts that share most of their rows."""
    return np.std(errors, ddof=1) * np.sqrt(1 / len(errors) + 1 / 4)


def over_rows(losses, is_classes):
    """The standard error of an error by the spread of its rows."""
    slope = 100 if is_classes else 50 / np.sqrt(losses.mean())
    return slope * np.std(losses) / np.sqrt(len(losses))


def in_errors(mean, deviation):
    return mean / deviation if deviation > 0 else np.sign(mean) * np.inf if mean else 0.0


def less(auto, none, is_classes):
    """How much worse auto is than none, in standard errors: over cuts and over rows of all cuts, whichever says more."""
    pairs = [a - b for a, b in zip(auto, none, strict=True)]
    mean = np.mean([pair.mean() for pair in pairs])
    by_rows = np.sqrt(np.mean([np.var(pair) / len(pair) for pair in pairs]) / len(pairs))
    found = [in_errors(mean, by_rows)]
    if len(pairs) > 1:
        differences = np.array([error(a, is_classes) - error(b, is_classes) for a, b in zip(auto, none, strict=True)])
        found.append(in_errors(differences.mean(), over_cuts(differences)))
    return max(found, key=abs)


def row(name, options):
    """A line of the table: errors, times, and auto less none in standard errors."""
    is_classes = name in CLASSES + MIXED_CLASSES
    seeds = cuts(name, options)
    if not seeds:
        return None
    kept, seconds, cells, found = {}, {}, [], {}
    for method in METHODS:
        runs = [predicted(name, seed, method, options) for seed in seeds]
        if runs[0][0] is None:
            cells.append("")
            continue
        kept[method], seconds[method] = [losses for losses, _ in runs], np.median([took for _, took in runs])
        errors = [error(losses, is_classes) for losses in kept[method]]
        spread = over_cuts(errors) if len(errors) > 1 else over_rows(kept[method][0], is_classes)
        found[method] = float(np.mean(errors)), float(spread)
        cells.append(f"{found[method][0]:.2f} ± {spread:.2f} ({seconds[method]:.1f} s)")
    paired = less(kept["auto"], kept["none"], is_classes)
    say(f"| {name} | {'published' if name in SPLIT + MIXED_CLASSES else len(seeds)} | {' | '.join(cells)} | {paired:+.1f} |")
    return found, paired


def plot(results, path):
    """Errors over those of boosting, one line a data set, with a standard error to both sides: a dot left of the line is better. What lies beyond the ends is an arrow there."""
    width, step, left, top, most = 760, 24, 170, 40, 4
    colours = {"rbf + ridge": "#c9c148", "exact": "#8d939b", "lightgbm": "#d55e00", "none": "#7fb3d5", "auto": "#0072b2"}
    names = [name for name in results if results[name]["hist"][0] > 0]
    height = top + step * len(names) + 50

    def place(ratio):
        return left + (width - left - 30) * (np.log(np.clip(ratio, 1 / most, most)) / np.log(most) + 1) / 2

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">']
    parts.append(f'<rect width="{width}" height="{height}" fill="white"/>')
    for ratio in (0.25, 0.5, 1, 2, 4):
        x = place(ratio)
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top - 8}" y2="{height - 40}" stroke="{"#444" if ratio == 1 else "#ddd"}"/>')
        parts.append(f'<text x="{x:.1f}" y="{height - 24}" text-anchor="middle">{ratio:g}</text>')
    parts.append(f'<text x="{place(1):.1f}" y="{height - 8}" text-anchor="middle">error over that of HistGradientBoosting</text>')
    for at, name in enumerate(names):
        y, hist = top + step * at, results[name]["hist"][0]
        parts.append(f'<text x="{left - 10}" y="{y + 4}" text-anchor="end">{name}</text>')
        for method, colour in colours.items():
            if method not in results[name]:
                continue
            mean, spread = (value / hist for value in results[name][method])
            x = place(mean)
            ends = place(max(mean - spread, 1e-9)), place(mean + spread)
            parts.append(f'<line x1="{ends[0]:.1f}" x2="{ends[1]:.1f}" y1="{y}" y2="{y}" stroke="{colour}" stroke-width="1.5"/>')
            if 1 / most <= mean <= most:
                parts.append(f'<circle cx="{x:.1f}" cy="{y}" r="5" fill="{colour}"><title>{method} {mean:.2f}</title></circle>')
            else:
                side = 6 if mean > 1 else -6
                parts.append(f'<path d="M{x - side:.1f} {y - 5}L{x + side:.1f} {y}L{x - side:.1f} {y + 5}z" fill="{colour}"><title>{method} {mean:.2f}</title></path>')
    for at, (method, colour) in enumerate(colours.items()):
        x = left + 115 * at
        parts.append(f'<circle cx="{x}" cy="14" r="5" fill="{colour}"/><text x="{x + 10}" y="18">{method}</text>')
    path.write_text("\n".join([*parts, "</svg>"]) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=str(HERE / "../../shared/data"))
    parser.add_argument("--only", default=",".join(REGRESSION + CLASSES + MIXED))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--budget", type=float)
    parser.add_argument("--threads", type=int, default=THREADS)
    parser.add_argument("--built", default="this commit")
    parser.add_argument("--keep")
    parser.add_argument("--kept", action="store_true")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    say("# A learnt metric on tables\n")
    say(machine(options.threads) + f"\n\nbochner as built from {options.built} ({build()}).\n")
    limit = f"{options.budget:g} s for a fit of ours" if options.budget else "default fits of ours"
    say(f"At most {options.rows:,} rows to learn from, {limit}, {options.seeds} cuts at most where none is published. Error in per cent ± its standard error (median seconds of fit and prediction). What is compared, and how standard errors are made: bench/tables.py.\n")
    say(f"| data | cuts | {' | '.join(METHODS)} | auto less none, standard errors |")
    say("|---|" + "--:|" * (len(METHODS) + 2))
    with threadpool_limits(options.threads):
        found = {name: row(name, options) for name in options.only.split(",")}
    found = {name: line for name, line in found.items() if line is not None}
    results = {name: errors for name, (errors, _) in found.items()}
    worse = [name for name, (_, paired) in found.items() if paired > 2]
    level = sum(errors["auto"][0] <= errors["hist"][0] for errors in results.values())
    say(f"\nauto worse than none by more than two standard errors: {', '.join(worse) or 'nowhere'}. auto at or below HistGradientBoosting on {level} of {len(results)}.")
    if options.write:
        (HERE / "results" / "tables.md").write_text("\n".join(lines) + "\n")
        plot(results, HERE / "results" / "tables.svg")


if __name__ == "__main__":
    main()
