"""Instructions of six fixed jobs, beside those recorded: what a noisy clock cannot show.

    python bench/counts.py [--jobs gram,eigen] [--tolerance 1] [--write]

Builds bench/counts and runs each job under callgrind on one thread, without the job and with it; the difference is its cost. AVX2 is forced (BOCHNER_ISA), since
valgrind has no AVX-512; portable code where the processor has no AVX2. Exit 1 if a job takes more or fewer instructions by more than the tolerance, in %.
--write records this machine's numbers in bench/results/counts.json, and as a table in counts.md. With another compiler, target or instruction set than the recorded
ones the changes are shown but not judged. Counts say nothing of caches and of waiting: a change in how memory is read needs a clock.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
REFERENCE = HERE / "results/counts.json"
TABLE = HERE / "results/counts.md"
JOBS = {
    "fourier": "`Map::transform`: 4,096 rows × 64, 2,048 Fourier features, f32",
    "gram": "`Gram::absorb`: 2,048 rows × 1,024 features, 5 folds, f32",
    "landmarks": "`Map::transform`: 4,096 rows × 32 at 512 whitened landmarks, f32",
    "binning": "`Map::transform_sparse`: 4,096 rows × 16 in 256 fitted grids, f32",
    "cholesky": "`Ridge::fit`: 64 rows × 1,024, the linear kernel, from sums",
    "eigen": "`Pca::fit`: 320 rows × 256",
}
# The same features of dependencies as the command line's, so that what one has built serves the other.
BUILD = ["cargo", "build", "--release", "-p", "bochner-cli", "-p", "bochner-counts", "--bin", "counts"]


def output(*command):
    return subprocess.run(command, cwd=HERE.parent, check=True, stdout=subprocess.PIPE, text=True).stdout


def build():
    """The path of the program, as cargo tells it."""
    lines = output(*BUILD, "--message-format=json-render-diagnostics").splitlines()
    messages = [json.loads(line) for line in lines]
    return next(path for message in messages if (path := message.get("executable")) and Path(path).stem == "counts")


def instruction_set():
    try:
        flags = Path("/proc/cpuinfo").read_text().split()
    except OSError:
        flags = []
    return "avx2" if {"avx2", "fma"} <= set(flags) else "portable"


def setting(isa):
    """What counts depend on beside the code."""
    version = dict(line.split(": ", 1) for line in output("rustc", "-vV").splitlines() if ": " in line)
    return {"rustc": f"{version['release']} ({version['commit-hash'][:9]})", "target": version["host"], "isa": isa}


def collected(program, job, times, isa):
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", program, job, str(times)]
        # No other variables: nothing of the user's settings gets into the numbers.
        result = subprocess.run(command, env={"BOCHNER_ISA": isa, "PATH": os.environ["PATH"]}, capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", result.stderr)
    if result.returncode or not found:
        sys.exit(f"counts {job} {times} failed under valgrind:\n{result.stderr}")
    return int(found.group(1))


def write(counts, where):
    # The last one that changed what is counted.
    commit = output("git", "log", "-1", "--format=%h", "--", "crates").strip() + (" and changes" if output("git", "status", "--porcelain", "--", "crates") else "")
    REFERENCE.write_text(json.dumps({**where, "commit": commit, "instructions": counts}, indent=2) + "\n")
    rows = "\n".join(f"| {job} | {JOBS[job]} | {counts[job] / 1e6:,.1f} |" for job in JOBS)
    TABLE.write_text(
        f"# Instructions of fixed jobs\n\nOne thread, {where['isa']}, {where['target']}, rustc {where['rustc']}; commit {commit}\n"
        "`make counts` compares with these, `python bench/counts.py --write` records them.\n\n"
        f"| job | what | million instructions |\n|---|---|--:|\n{rows}\n"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--jobs", default=",".join(JOBS), help="some of them")
    parser.add_argument("--tolerance", type=float, default=1.0, help="in %%")
    parser.add_argument("--write", action="store_true", help="record the numbers as the new reference")
    arguments = parser.parse_args()
    jobs = arguments.jobs.split(",")
    if unknown := [job for job in jobs if job not in JOBS]:
        sys.exit(f"expected some of {', '.join(JOBS)}, found {', '.join(unknown)}")
    if arguments.write and set(jobs) != set(JOBS):
        sys.exit("--write records all jobs: leave --jobs out")
    if not shutil.which("valgrind"):
        sys.exit("valgrind is missing: install the package valgrind (apt-get install valgrind)")

    where = setting(instruction_set())
    reference = json.loads(REFERENCE.read_text()) if REFERENCE.exists() else {}
    expected = reference.get("instructions", {})
    differs = [f"{key} {reference[key]} there, {value} here" for key, value in where.items() if expected and reference[key] != value]
    program = build()

    print(f"{where['isa']}, {where['target']}, rustc {where['rustc']}")
    if expected:
        print(f"reference: commit {reference['commit']}")
    print(f"{'job':10} {'reference':>15} {'now':>15} {'change':>9}", flush=True)
    counts, changed = {}, []
    for job in jobs:
        before, after = (collected(program, job, times, where["isa"]) for times in (0, 1))
        counts[job] = now = after - before
        if job in expected:
            change = 100 * (now / expected[job] - 1)
            print(f"{job:10} {expected[job]:15,} {now:15,} {change:+8.2f} %", flush=True)
            if abs(change) > arguments.tolerance:
                changed.append(job)
        else:
            print(f"{job:10} {'none':>15} {now:15,}", flush=True)

    if arguments.write:
        write(counts, where)
        return
    if differs:
        print(f"warning: not judged, the reference was recorded elsewhere: {'; '.join(differs)}")
    elif not expected:
        print("there is no reference: --write records one")
    elif changed:
        print(f"more than {arguments.tolerance:g} % away from the reference: {', '.join(changed)}. If that is meant, record it with --write and say why in the commit")
        sys.exit(1)


main()
