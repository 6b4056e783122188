"""Random binning beside a NumPy prototype: one process, two threads, alternating runs, medians, ratios.

    python bench/binning.py [--data FOLDER] [--runs 3] [--grids 50] [--write]

Rows are covtype's (522,911 × 54, f32, the first nine tenths), or as many random ones where the file is missing. Both sides give a CSR matrix of the same
shape: P grids, bins fitted to the rows. The prototype is what NumPy does well: one grid at a time, whole arrays at once, integers hashed by a product
with random odd numbers and named by np.unique.
"""

import argparse
import statistics
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from against_sklearn import HERE, THREADS, head, lines, machine, row, say, seconds

from bochner import BinningFeatures

ROWS = 522_911


class Prototype:
    """Random binning in NumPy."""

    def __init__(self, scale, grids, seed):
        self.scale, self.grids, self.rng = scale, grids, np.random.default_rng(seed)

    def fit_transform(self, x):
        n, d = x.shape
        columns, start = np.empty((n, self.grids), np.int64), 0
        for g in range(self.grids):
            pitch = self.rng.gamma(2, self.scale, d).astype(x.dtype)
            shift = (self.rng.random(d) * pitch).astype(x.dtype)
            factors = self.rng.integers(1, 2**62, d) | 1
            cells = np.floor((x - shift) / pitch).astype(np.int64) @ factors
            names, inverse = np.unique(cells, return_inverse=True)
            columns[:, g] = start + inverse
            start += len(names)
        values = np.full(n * self.grids, self.grids**-0.5, x.dtype)
        return sp.csr_matrix((values, columns.ravel(), np.arange(0, n * self.grids + 1, self.grids)), shape=(n, start))


def covtype(folder):
    file = folder / "covtype.csv.gz"
    if not file.exists():
        say(f"no {file.name} in {folder}: random rows")
        return np.random.default_rng(0).standard_normal((ROWS, 54), dtype=np.float32)
    import pandas as pd

    x = pd.read_csv(file).to_numpy(np.float32)[:ROWS, :54]
    return (x - x.mean(axis=0)) / np.maximum(x.std(axis=0), 1e-6)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=HERE / "../../shared/data")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--grids", type=int, default=50)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    say(machine())
    say(f"`python bench/binning.py --runs {args.runs} --grids {args.grids}`")
    say()
    x = covtype(args.data)
    scale = 20.0

    def ours():
        return BinningFeatures(scale=scale, n_components=args.grids, random_state=0, n_jobs=THREADS).fit_transform(x)

    def theirs():
        return Prototype(scale, args.grids, 0).fit_transform(x)

    bins, names = ours().shape[1], theirs().shape[1]
    pairs = [(seconds(ours), seconds(theirs)) for _ in range(args.runs)]
    times = tuple(statistics.median(side) for side in zip(*pairs))
    head("NumPy prototype")
    reading = statistics.median(seconds(lambda: x.sum()) for _ in range(3))
    row(f"binning {len(x):,}×{x.shape[1]} → {args.grids} grids, f32", *times, [("reading the rows", reading)], f"{bins:,} and {names:,} bins")
    if args.write:
        (HERE / "results/binning.md").write_text("# Random binning\n\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
