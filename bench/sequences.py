"""Errors of string kernels on DNA and text, beside linear baselines.

    python bench/sequences.py [--data FOLDER] [--only promoters,splice_junctions,sms_spam,c_elegans_acceptor] [--write]

Baselines are linear machines on the letters themselves (DNA: one column for each letter at each position) or on single words (text), scikit-learn's LinearSVC with C by cross-validation
on the training part. String kernels are SequenceFeatures with a linear machine (KernelClassifier, squared hinge, λ by cross-validation on the training part), and a Gaussian on top of them by 2,048 Fourier features and
ridge. Errors are means over the test parts of stratified ten-fold cross-validation (promoters: leave one out), ± their standard error; c_elegans_acceptor, whose windows overlap, is cut by
position: the first four fifths of each chromosome to train, the rest to test, and as three rows in a hundred are positive, areas under the precision-recall curve stand beside errors.
"""

import argparse
import csv
import gzip
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
from against_sklearn import HERE, lines, machine, say
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import average_precision_score
from sklearn.model_selection import GridSearchCV, LeaveOneOut, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from sklearn.svm import LinearSVC

from bochner import KernelClassifier, SequenceFeatures

csv.field_size_limit(sys.maxsize)


def read(folder, name):
    with gzip.open(Path(folder) / f"{name}.csv.gz", "rt", newline="") as file:
        rows = list(csv.DictReader(file))
    return rows, np.array([row["target"] for row in rows])


def letters(texts):
    return np.array([list(text) for text in texts])


def tuned():
    return GridSearchCV(LinearSVC(dual="auto", max_iter=10_000), {"C": [1e-3, 1e-2, 0.1, 1, 10]}, cv=5)


def one_hot():
    return make_pipeline(FunctionTransformer(letters), OneHotEncoder(handle_unknown="ignore"), tuned())


def linear(**grams):
    return make_pipeline(SequenceFeatures(**grams), KernelClassifier("linear", loss="squared_hinge", standardize=False))


def gaussian(sigma, **grams):
    return make_pipeline(SequenceFeatures(**grams), KernelClassifier(f"gaussian(sigma={sigma})", n_components=2048, standardize=False, random_state=0))


def folds(texts, y, splitter, model):
    texts = np.array(texts, dtype=object)
    return [np.mean(clone(model).fit(texts[a], y[a]).predict(texts[b]) != y[b]) for a, b in splitter.split(texts, y)]


def table(title, models, evaluate):
    say(f"\n### {title}\n")
    say("| features and machine | error, % |")
    say("|---|--:|")
    for label, model in models.items():
        errors = 100 * np.array(evaluate(model))
        say(f"| {label} | {errors.mean():.2f} ± {errors.std(ddof=1) / np.sqrt(len(errors)):.2f} |")


def promoters(folder):
    rows, y = read(folder, "promoters")
    texts = [row["sequence"] for row in rows]
    models = {
        "letters at positions, LinearSVC": make_pipeline(FunctionTransformer(letters), OneHotEncoder(handle_unknown="ignore"), LinearSVC(C=0.1, dual="auto")),
        "spectrum(k=3), linear": linear(k=3),
        "spectrum(k=4), linear": linear(k=4),
        "mismatch(k=4,m=1), linear": linear(grams="mismatch", k=4),
        "gapped(length=6,k=4), linear": linear(grams="gapped", length=6, k=4),
    }
    table(f"promoters: {len(texts)} sequences of {len(texts[0])} letters, leave one out", models, lambda model: folds(texts, y, LeaveOneOut(), model))


def splice_junctions(folder):
    rows, y = read(folder, "splice_junctions")
    texts = [row["sequence"] for row in rows]
    splitter = StratifiedKFold(10, shuffle=True, random_state=0)
    # What lies before the junction and behind it are two texts: letters of the one are written small, so that their words differ.
    sided = lambda texts: [text[:30].lower() + "|" + text[30:] for text in texts]
    models = {
        "letters at positions, LinearSVC": one_hot(),
        "spectrum(k=4), linear": linear(k=4),
        "spectrum(k=5), linear": linear(k=5),
        "spectrum(k=5) of each side, linear": make_pipeline(FunctionTransformer(sided), *linear(k=5, n_components=8192)),
        "gapped(length=8,k=5) of each side, linear": make_pipeline(FunctionTransformer(sided), *linear(grams="gapped", length=8, k=5, n_components=8192)),
        "gapped(length=8,k=5) of each side, Gaussian on top": make_pipeline(FunctionTransformer(sided), *gaussian(0.8, grams="gapped", length=8, k=5, n_components=8192)),
    }
    table(f"splice_junctions: {len(texts):,} sequences of {len(texts[0])} letters, ten folds", models, lambda model: folds(texts, y, splitter, model))


def sms_spam(folder):
    rows, y = read(folder, "sms_spam")
    column = next(name for name in rows[0] if name != "target")
    texts = [row[column] for row in rows]
    splitter = StratifiedKFold(10, shuffle=True, random_state=0)
    models = {
        "words, LinearSVC": make_pipeline(CountVectorizer(), tuned()),
        "words(from=1,to=1), linear": linear(grams="words", ngram_range=(1, 1)),
        "words(from=1,to=2), linear": linear(grams="words", ngram_range=(1, 2), n_components=8192),
        "words(from=1,to=2), tf–idf, linear": linear(grams="words", ngram_range=(1, 2), tf_idf=True, n_components=8192),
        "characters(from=2,to=4), linear": linear(grams="characters", ngram_range=(2, 4), n_components=8192),
        "characters(from=2,to=4), Gaussian on top": gaussian(0.8, grams="characters", ngram_range=(2, 4), n_components=8192),
    }
    table(f"sms_spam: {len(texts):,} messages, ten folds", models, lambda model: folds(texts, y, splitter, model))


def c_elegans_acceptor(folder):
    rows, y = read(folder, "c_elegans_acceptor.train")
    places = defaultdict(list)
    for i, row in enumerate(rows):
        places[row["chr"]].append((int(row["position"]), i))
    is_test = np.zeros(len(rows), bool)
    for chromosome in places.values():
        ordered = [i for _, i in sorted(chromosome)]
        is_test[ordered[4 * len(ordered) // 5 :]] = True
    positive = sorted(set(y), key=lambda label: np.sum(y == label))[0]
    y = y == positive
    middle = len(rows[0]["sequence"]) // 2
    texts = np.array([row["sequence"] for row in rows], dtype=object)
    window = lambda before, behind: lambda texts: [text[middle - before : middle].lower() + "|" + text[middle : middle + behind] for text in texts]
    cut = lambda texts: [text[middle - 40 : middle + 40] for text in texts]
    models = {
        "letters at positions of 80, LinearSVC": make_pipeline(FunctionTransformer(cut), FunctionTransformer(letters), OneHotEncoder(handle_unknown="ignore"), LinearSVC(C=0.1, dual="auto")),
        "spectrum(k=5) of 100, linear": make_pipeline(FunctionTransformer(lambda t: [x[middle - 50 : middle + 50] for x in t]), *linear(k=5)),
        "gapped(length=6,k=4) of 50 on each side, linear": make_pipeline(FunctionTransformer(window(50, 50)), *linear(grams="gapped", length=6, k=4, n_components=8192)),
        "gapped(length=6,k=4) of 20 before and 20 behind, linear": make_pipeline(FunctionTransformer(window(20, 20)), *linear(grams="gapped", length=6, k=4, n_components=8192)),
        "gapped(length=6,k=4) of 20 before and 20 behind, Gaussian on top": make_pipeline(FunctionTransformer(window(20, 20)), *gaussian(0.8, grams="gapped", length=6, k=4, n_components=8192)),
    }
    say(f"\n### c_elegans_acceptor: {np.sum(~is_test):,} windows to train, {np.sum(is_test):,} to test, {100 * y.mean():.1f} % positive\n")
    say("| features and machine | error, % | area under precision-recall, % |")
    say("|---|--:|--:|")
    for label, model in models.items():
        model.fit(texts[~is_test], y[~is_test])
        error = np.mean(model.predict(texts[is_test]) != y[is_test])
        area = average_precision_score(y[is_test], model.decision_function(texts[is_test]))
        say(f"| {label} | {100 * error:.2f} | {100 * area:.1f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=str(HERE / "../../shared/data"))
    parser.add_argument("--only", default="promoters,splice_junctions,sms_spam,c_elegans_acceptor")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    say("# Sequences and text\n")
    say(machine())
    for name in args.only.split(","):
        {"promoters": promoters, "splice_junctions": splice_junctions, "sms_spam": sms_spam, "c_elegans_acceptor": c_elegans_acceptor}[name](args.data)
    if args.write:
        (HERE / "results" / "sequences.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
