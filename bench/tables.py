"""A learnt metric on tables: bochner's default fit without and with it, beside exact kernels and boosted trees, on every numeric or mixed data set of a folder.

    python bench/tables.py [--data FOLDER] [--only NAME,…] [--seeds 5] [--rows 20000] [--budget SECONDS] [--threads 2] [--built COMMIT] [--known] [--write]

Each data set is cut four fifths to one at random, --seeds times; one with a published split is used as it is cut, once. At most --rows rows are learnt from, drawn at random. Methods, on the same rows and as many threads:

    none, auto    KernelRegressor or KernelClassifier(metric=…): default fits, unless there is a --budget
    rbf + ridge   StandardScaler, RBFSampler(gamma="scale", n_components=1024), RidgeCV or RidgeClassifierCV over ten decades of α; with more features its singular values take minutes
    exact         StandardScaler, SVC or SVR (rbf; targets standardised), unless --rows is above 20,000
    hist          HistGradientBoosting
    lightgbm      LightGBM, where it is installed

Columns of texts are categories for trees, and 0 and 1 for each value for the others. Errors on test rows: RMSE over the standard deviation of the test targets, or the share of wrong classes, in per cent. The mean over cuts; its standard error with the correction of Nadeau and Bengio (2003) for cuts that overlap,
√(1/k + 1/4); of one split, row by row, which knows nothing of the draw of the rows to learn from, nor that rows of kddcup99 are repeated. The last column is auto less none in standard errors: the larger of the one over cuts and the one over rows of all cuts, since a metric that is taken in one cut only
hides in the spread over cuts. Of N data sets without any difference about N/20 exceed two by chance; of two cuts, which have one difference between them, any number may.

All cuts take hours. bench/results/tables.json keeps what was found in each, a few numbers a method and where they were measured, so that a run goes on where another was interrupted, and two runs of different data sets with one thread each share a machine of two processors. (Seconds are the processor's where there is one thread, so that other work counts little.
Errors of ours without a budget are the same on any number of threads, being the same bits.) What ours predict is kept for one build: the last commit that changed the library, or --built; what the others do, by their names: one whose parameters change here needs another. With --known nothing is run: the table is of the cuts in which all methods are known. --write stores the table in bench/results/tables.md and a plot in bench/results/tables.svg.
"""

import argparse
import fcntl
import json
import subprocess
import time
import warnings
from pathlib import Path

import numpy as np
from against_sklearn import HERE, THREADS, lines, processor, say, versions
from data import CLASSES, REGRESSION, SPLIT, load, mixed
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import RidgeClassifierCV, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from threadpoolctl import threadpool_limits

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


#: What is known of each cut; see `Record`.
RECORD = HERE / "results" / "tables.json"


def built(options):
    """The commit that ours is built from: the last that changed the library."""
    if options.built:
        return options.built
    places = ["crates/core/src", "crates/simd/src", "python/src", "python/bochner", "Cargo.toml", "Cargo.lock"]

    def git(*words):
        return subprocess.run(["git", *words, "--", *places], capture_output=True, text=True, cwd=HERE.parent, check=True).stdout.strip()

    if git("diff", "--stat", "HEAD"):
        raise SystemExit("the library has changes that are in no commit: commit and install it, or say --built COMMIT")
    return git("log", "-1", "--format=%h", "--abbrev=7")


class Record:
    """What is known of cuts, in a file that several runs share: by data set, cut and options the numbers of each method, those of ours with their build."""

    def __init__(self, options):
        self.options, self.built = options, built(options)
        self.places = set()

    def _place(self, name, seed, method):
        budget = f" {self.options.budget:g} s" if self.options.budget and method in OURS else ""
        return f"{name} {seed}", f"{method} {self.options.rows}{budget}"

    def find(self, name, seed, method):
        """Mean and variance of the losses of test rows, their number, seconds and where these were measured; of auto, the variance of its difference from none. None where nothing is known."""
        cut, key = self._place(name, seed, method)
        found = json.loads(RECORD.read_text()).get(cut, {}).get(key) if RECORD.exists() else None
        if not found or found.get("built", self.built) != self.built:
            return None
        self.places.add(found["on"])
        return found

    def note(self, name, seed, method, found):
        found = {**found, "on": processor(self.options.threads)}
        self.places.add(found["on"])
        if method in OURS:
            found["built"] = self.built
        cut, key = self._place(name, seed, method)
        with open(RECORD.with_suffix(".lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            known = json.loads(RECORD.read_text()) if RECORD.exists() else {}
            known.setdefault(cut, {})[key] = found
            lines = (f"{json.dumps(cut)}: {json.dumps(known[cut], sort_keys=True)}" for cut in sorted(known))
            new = RECORD.with_suffix(".new")
            new.write_text("{\n" + ",\n".join(lines) + "\n}\n")
            new.replace(RECORD)


def methods(is_classes, options):
    return [method for method in METHODS if model_of(method, is_classes, options) is not None]


def cuts(name, record, options):
    """The seeds to cut by: as many as are asked for, or those of which all is known."""
    seeds = range(1 if name in SPLIT + MIXED_CLASSES else options.seeds)
    if not options.known:
        return list(seeds)
    ours_and_others = methods(name in CLASSES + MIXED_CLASSES, options)
    return [seed for seed in seeds if all(record.find(name, seed, method) for method in ours_and_others)]


def losses_of(name, seed, method, options):
    """Losses of test rows, one each, and seconds."""
    is_classes = name in CLASSES + MIXED_CLASSES
    model = model_of(method, is_classes, options)
    are_categories = method in ("hist", "lightgbm")
    x, y, new, known = mixed(options.data, name, options.rows, seed, are_categories) if name in MIXED else load(options.data, name, options.rows, seed)
    clock = time.process_time if options.threads == 1 else time.perf_counter
    start = clock()
    found = model.fit(x, y).predict(new)
    seconds = clock() - start
    return (found != known).astype(float) if is_classes else (found - known) ** 2 / np.var(known), seconds


def measure(name, seed, record, options):
    """What each method makes of a cut; what is not known is run. None and auto are compared row by row, and so run together."""
    is_classes = name in CLASSES + MIXED_CLASSES
    known = {method: record.find(name, seed, method) for method in methods(is_classes, options)}
    if not all(known[method] for method in OURS):
        known.update(dict.fromkeys(OURS))
    ran = {}
    for method, found in known.items():
        if found:
            continue
        ran[method], seconds = losses_of(name, seed, method, options)
        losses = ran[method]
        known[method] = {"mean": losses.mean(), "variance": losses.var(), "rows": len(losses), "seconds": round(seconds, 3)}
        if method == "auto":
            known[method]["difference"] = (losses - ran["none"]).var()
        done = {"none": [], "auto": OURS}.get(method, [method])
        for method in done:
            record.note(name, seed, method, known[method])
    return known


def error(found, is_classes):
    return 100 * found["mean"] if is_classes else 100 * np.sqrt(found["mean"])


def over_cuts(errors):
    """The standard error of a mean over cuts that share most of their rows."""
    return np.std(errors, ddof=1) * np.sqrt(1 / len(errors) + 1 / 4)


def over_rows(found, is_classes):
    """The standard error of an error by the spread of its rows."""
    slope = 100 if is_classes else 50 / np.sqrt(found["mean"])
    return slope * np.sqrt(found["variance"] / found["rows"])


def in_errors(mean, deviation):
    return mean / deviation if deviation > 0 else np.sign(mean) * np.inf if mean else 0.0


def less(autos, nones, is_classes):
    """How much worse auto is than none, in standard errors: over cuts and over rows of all cuts, whichever says more."""
    mean = np.mean([a["mean"] - b["mean"] for a, b in zip(autos, nones, strict=True)])
    by_rows = np.sqrt(np.mean([a["difference"] / a["rows"] for a in autos]) / len(autos))
    found = [in_errors(mean, by_rows)]
    if len(autos) > 1:
        differences = np.array([error(a, is_classes) - error(b, is_classes) for a, b in zip(autos, nones, strict=True)])
        found.append(in_errors(differences.mean(), over_cuts(differences)))
    return max(found, key=abs)


def row(name, record, options):
    """A line of the table: errors, times, and auto less none in standard errors."""
    is_classes = name in CLASSES + MIXED_CLASSES
    runs = [measure(name, seed, record, options) for seed in cuts(name, record, options)]
    if not runs:
        return None
    cells, found = [], {}
    for method in METHODS:
        if method not in runs[0]:
            cells.append("")
            continue
        errors = [error(run[method], is_classes) for run in runs]
        spread = over_cuts(errors) if len(runs) > 1 else over_rows(runs[0][method], is_classes)
        found[method] = float(np.mean(errors)), float(spread)
        seconds = np.median([run[method]["seconds"] for run in runs])
        cells.append(f"{found[method][0]:.2f} ± {spread:.2f} ({seconds:.1f} s)")
    paired = less([run["auto"] for run in runs], [run["none"] for run in runs], is_classes)
    say(f"| {name} | {'published' if name in SPLIT + MIXED_CLASSES else len(runs)} | {' | '.join(cells)} | {paired:+.1f} |")
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
    parser.add_argument("--built")
    parser.add_argument("--known", action="store_true")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    record = Record(options)
    say("# A learnt metric on tables\n")
    say(f"{versions()}; bochner as built from {record.built}.\n")
    limit = f"{options.budget:g} s for a fit of ours" if options.budget else "default fits of ours"
    say(f"At most {options.rows:,} rows to learn from, {limit}, {options.seeds} cuts at most where none is published. Error in per cent ± its standard error (median seconds of fit and prediction). What is compared, and how standard errors are made: bench/tables.py.\n")
    say(f"| data | cuts | {' | '.join(METHODS)} | auto less none, standard errors |")
    say("|---|" + "--:|" * (len(METHODS) + 2))
    with threadpool_limits(options.threads):
        found = {name: row(name, record, options) for name in options.only.split(",")}
    found = {name: line for name, line in found.items() if line is not None}
    results = {name: errors for name, (errors, _) in found.items()}
    worse = [name for name, (_, paired) in found.items() if paired > 2]
    level = sum(errors["auto"][0] <= errors["hist"][0] for errors in results.values())
    say(f"\nauto worse than none by more than two standard errors: {', '.join(worse) or 'nowhere'}. auto at or below HistGradientBoosting on {level} of {len(results)}.")
    say(f"\nMeasured on {'; '.join(sorted(record.places))} (where that is one thread, in seconds of the processor).")
    if options.write:
        (HERE / "results" / "tables.md").write_text("\n".join(lines) + "\n")
        plot(results, HERE / "results" / "tables.svg")


if __name__ == "__main__":
    main()
