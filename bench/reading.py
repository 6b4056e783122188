"""How fast data files are read and encoded: bochner beside pyarrow and scikit-learn.

    python bench/reading.py [--megabytes 500] [--threads 2] [--runs 3] [--folder FOLDER] [--only wide,mixed] [--write]

The script makes two tables: 50 columns of numbers, and a mixed one of numbers, categories and dates; each
as CSV, and as Parquet with the same rows. Ours is `crates/io/examples/reading`, built in release: "look" finds
the kinds of the columns from all cells, "encode" reads the file and gives blocks of rows in single precision, as a fit
sees them in each pass. Theirs: pyarrow.csv.read_csv, which guesses types from the first block; of Parquet,
pyarrow.parquet.read_table, then float32 rows through StandardScaler, and OneHotEncoder for categories. Runs alternate,
medians; each process has as many threads. A ratio is our rate over theirs: above 0.5 is asked for.
--write stores the table in bench/results/reading.md.

    python bench/reading.py --memory --bochner PROGRAM

fits a ridge with random features to 10^5 and to 10^7 rows under --max-memory 512M and prints the peak memory of both.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
LEVELS = [f"level {i}" for i in range(20)]


def batches(kind, rows, size=20_000):
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(0)
    for start in range(0, rows, size):
        n = min(size, rows - start)
        if kind == "wide":
            yield pd.DataFrame(rng.standard_normal((n, 50)).round(6), columns=[f"x{j}" for j in range(50)])
            continue
        frame = pd.DataFrame({f"x{j}": rng.standard_normal(n).round(4) for j in range(8)})
        frame["count"] = rng.integers(0, 1000, n)
        for j, levels in enumerate([2, 5, 20, 20]):
            frame[f"k{j}"] = pd.Categorical.from_codes(rng.integers(0, levels, n), LEVELS[:levels])
        frame["day"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1500, n), unit="D")
        yield frame


def make(folder, kind, megabytes):
    """The files of a table, made once: (CSV, Parquet)."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = folder / f"{kind}-{megabytes}.csv", folder / f"{kind}-{megabytes}.parquet"
    if all(name.exists() for name in names):
        return names
    head = next(batches(kind, 20_000))
    rows = round(20_000 * megabytes * 1e6 / len(head.to_csv(index=False)))
    writer = None
    with open(names[0], "w") as csv:
        for at, frame in enumerate(batches(kind, rows)):
            frame.to_csv(csv, index=False, header=at == 0)
            table = pa.Table.from_pandas(frame, preserve_index=False)
            writer = writer or pq.ParquetWriter(names[1], table.schema)
            writer.write_table(table)
    writer.close()
    return names


THEIRS = """
import sys, time
import pyarrow as pa
pa.set_cpu_count(int(sys.argv[2])); pa.set_io_thread_count(int(sys.argv[2]))
import pyarrow.csv, pyarrow.parquet as pq
import numpy as np
from sklearn.preprocessing import OneHotEncoder, StandardScaler
start = time.perf_counter()
if sys.argv[1].endswith(".csv"):
    rows = pyarrow.csv.read_csv(sys.argv[1]).num_rows
else:
    table = pq.read_table(sys.argv[1])
    rows = table.num_rows
    numbers = [name for name in table.column_names if pa.types.is_floating(table.schema.field(name).type) or pa.types.is_integer(table.schema.field(name).type)]
    X = np.empty((rows, len(numbers)), np.float32, order="F")
    for j, name in enumerate(numbers):
        X[:, j] = table[name].to_numpy()
    X = StandardScaler(copy=False).fit_transform(X)
    others = [name for name in table.column_names if pa.types.is_dictionary(table.schema.field(name).type)]
    if others:
        levels = np.stack([table[name].combine_chunks().indices.to_numpy() for name in others], axis=1)
        Z = OneHotEncoder(dtype=np.float32, sparse_output=False).fit_transform(levels)
print(time.perf_counter() - start)
"""


def measured(args):
    folder = Path(args.folder or tempfile.gettempdir())
    build = ["cargo", "build", "-q", "--release", "-p", "bochner-io", "--example", "reading"]
    subprocess.run(build, check=True, cwd=HERE.parent)
    program = Path(os.environ.get("CARGO_TARGET_DIR", HERE.parent / "target")) / "release/examples/reading"
    lines = [
        "| table | file | MB | read and encode, s | with finding the kinds, s | theirs, s | ratio | ratio with the kinds |",
        "|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    for kind in args.only.split(","):
        for file in make(folder, kind, args.megabytes):
            ours, whole, theirs = [], [], []
            for _ in range(args.runs):
                found = subprocess.run([program, "--threads", str(args.threads), file], check=True, capture_output=True, text=True)
                found = json.loads(found.stdout)
                ours.append(found["encode"])
                whole.append(found["look"] + found["encode"])
                command = [sys.executable, "-c", THEIRS, str(file), str(args.threads)]
                environment = dict(os.environ, OMP_NUM_THREADS=str(args.threads))
                theirs.append(float(subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout))
            a, b, c = map(statistics.median, (ours, whole, theirs))
            size = file.stat().st_size / 1e6
            row = f"| {kind} | {file.suffix[1:]} | {size:.0f} | {a:.2f} | {b:.2f} | {c:.2f} | {c / a:.2f} | {c / b:.2f} |"
            print(row, flush=True)
            lines.append(row)
    text = f"{platform.processor() or platform.machine()}, {args.threads} threads, {args.runs} runs, medians; pyarrow {version('pyarrow')}, scikit-learn {version('scikit-learn')}.\n\n"
    text += "\n".join(lines) + "\n"
    if args.write:
        (HERE / "results/reading.md").write_text("# Reading and encoding\n\n`python bench/reading.py`. " + text)


def version(package):
    from importlib.metadata import version

    return version(package)


def memory(args):
    """Peak memory of a fit of few and of many rows."""
    folder = Path(args.folder or tempfile.gettempdir())
    for rows in (100_000, 10_000_000):
        file = folder / f"memory-{rows}.csv"
        if not file.exists():
            with open(file, "w") as to:
                for at, frame in enumerate(batches("memory", rows)):
                    frame = frame[["x0", "x1", "count", "k2", "day"]]
                    frame = frame.assign(y=frame.x0 * frame.x1)
                    frame.to_csv(to, index=False, header=at == 0)
        command = [args.bochner, "fit", file, "--target", "y", "--kernel", "gaussian(sigma=2)", "--features", "256", "--lambda", "1e-3",
                   "--max-memory", "512M", "--threads", str(args.threads), "-o", folder / "memory.bochner", "--quiet"]
        start = time.perf_counter()
        process = subprocess.Popen(command)
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            raise SystemExit(f"fit of {rows} rows failed")
        print(f"{rows:>10,} rows, {file.stat().st_size / 1e6:.0f} MB: peak {usage.ru_maxrss / 1024:.0f} MiB, {time.perf_counter() - start:.0f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=500)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--folder")
    parser.add_argument("--only", default="wide,mixed")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--bochner", default="bochner")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    memory(args) if args.memory else measured(args)


if __name__ == "__main__":
    main()
