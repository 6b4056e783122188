"""Tables as they are, by default fits: bochner beside skrub's pipelines with boosting and with a linear model.

    python bench/raw_tables.py [--data FOLDER] [--only NAME,…] [--rows 20000] [--bochner PROGRAM] [--write]

Ours: `bochner fit TRAIN.csv --target target`, nothing else said, and `bochner predict`. Theirs:
skrub.tabular_pipeline with HistGradientBoosting, and with LogisticRegression or RidgeCV, on what
pandas.read_csv makes of the same files. Same rows: published splits, or four fifths at random (seed 0);
at most --rows to learn from and 10,000 to test on. The error is the share of wrong classes, or RMSE over
the standard deviation of the test targets. "difference" is that of squared errors or of wrong classes,
row by row, ours less theirs, over its standard error: below -2 ours is better, above 2 worse. Seconds
are of the clock, of a fit on all processors. --write stores the table in bench/results/raw_tables.md.
"""

import argparse
import os
import platform
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import sklearn
import skrub
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, RidgeCV

HERE = Path(__file__).resolve().parent
CLASSES = ["adult", "kddcup99", "sms_spam", "splice_junctions", "promoters"]
NUMBERS = ["diamonds", "bike_sharing_hour"]
TESTED = 10_000
#: The names of these spell the class ("ATRINS-DONOR-521"): skrub's n-grams of them make no error, and
#: bochner leaves them out as identifiers.
TELLING = {"splice_junctions": ["name"]}


def parts(folder, name, most):
    """Rows to learn from and to test on."""
    rng = np.random.default_rng(0)
    read = lambda part: pd.read_csv(Path(folder) / f"{name}{part}.csv.gz", dtype=str, keep_default_na=False)
    if (Path(folder) / f"{name}.csv.gz").exists():
        table = read("").drop(columns=TELLING.get(name, []))
        order = rng.permutation(len(table))
        cut = len(table) * 4 // 5
        train, test = table.iloc[order[:cut]], table.iloc[order[cut:]]
    else:
        train, test = read(".train"), read(".test")
    cut = lambda table, most: table.iloc[rng.permutation(len(table))[:most]] if len(table) > most else table
    return cut(train, most), cut(test, TESTED)


def ours(program, folder, is_classes):
    train, test, model = (folder / name for name in ("train.csv", "test.csv", "model.bochner"))
    start = time.perf_counter()
    done = subprocess.run([program, "fit", train, "--target", "target", "-o", model], capture_output=True, text=True)
    took = time.perf_counter() - start
    if done.returncode:
        raise RuntimeError(done.stderr)
    predicted = folder / "predicted.csv"
    subprocess.run([program, "predict", model, test, "-o", predicted, "--quiet"], check=True)
    found = pd.read_csv(predicted, dtype=str if is_classes else float)
    return found["target"].to_numpy(), took


def theirs(learner, folder, is_classes):
    train, test = (pd.read_csv(folder / name) for name in ("train.csv", "test.csv"))
    y = train["target"].astype(str) if is_classes else train["target"]
    pipeline = skrub.tabular_pipeline(learner)
    start = time.perf_counter()
    pipeline.fit(train.drop(columns="target"), y)
    took = time.perf_counter() - start
    return pipeline.predict(test.drop(columns="target")), took


def compare(options, name):
    is_classes = name in CLASSES
    train, test = parts(options.data, name, options.rows)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        train.to_csv(folder / "train.csv", index=False)
        test.to_csv(folder / "test.csv", index=False)
        # Early stopping wants two rows of each class.
        stops = "auto" if not is_classes or train["target"].value_counts().min() > 1 else False
        boosted = (HistGradientBoostingClassifier if is_classes else HistGradientBoostingRegressor)(random_state=0, early_stopping=stops)
        linear = LogisticRegression(max_iter=1000) if is_classes else RidgeCV(np.logspace(-6, 6, 25))
        found = [ours(options.bochner, folder, is_classes), theirs(boosted, folder, is_classes), theirs(linear, folder, is_classes)]
    known = test["target"].to_numpy() if is_classes else test["target"].astype(float).to_numpy()
    loss = (lambda p: (p != known).astype(float)) if is_classes else (lambda p: (p - known) ** 2)
    losses = [loss(predicted) for predicted, _ in found]
    errors = [100 * (x.mean() if is_classes else np.sqrt(x.mean()) / known.std()) for x in losses]

    def difference(other):
        x = losses[0] - losses[other]
        error = x.std() / np.sqrt(len(x))
        return x.mean() / error if error > 0 else 0.0

    cells = [name, f"{len(train):,}", f"{errors[0]:.2f}", f"{errors[1]:.2f}", f"{difference(1):+.1f}", f"{errors[2]:.2f}", f"{difference(2):+.1f}"]
    cells += [f"{took:.1f}" for _, took in found]
    line = f"| {' | '.join(cells)} |"
    print(line, flush=True)
    return line


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=str(HERE / "../../shared/data"))
    parser.add_argument("--only", default=",".join(NUMBERS + CLASSES))
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--bochner", default=str(HERE / "../target/release/bochner"))
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    header = [
        "| table | rows | bochner | boosting | difference | linear | difference | bochner, s | boosting, s | linear, s |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    print("\n".join(header), flush=True)
    lines = [compare(options, name) for name in options.only.split(",")]
    if options.write:
        commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=HERE).stdout.strip()
        cpu = next((line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")), platform.processor())
        made = f"{cpu}, {os.cpu_count()} processors; skrub {skrub.__version__}, scikit-learn {sklearn.__version__}; commit {commit}."
        text = ["# Raw tables", "", f"`python bench/raw_tables.py --write`, {made}", "", "Errors in per cent; the script says how they are measured.", "", *header, *lines, ""]
        (HERE / "results" / "raw_tables.md").write_text("\n".join(text))


main()
