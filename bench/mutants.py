"""Does a wrong hot loop fail the tests? Changes one operation at a time, in a copy of the tree, and runs the tests that are named.

    python bench/mutants.py [--write] [NAME...]        (about 40 seconds each on two cores)

A mutant that survives is an error. What was found is recorded in bench/results/mutants.md with --write.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULT = ROOT / "bench/results/mutants.md"

# Name, file in crates/simd/src, what stands there once, what is put in its place.
MUTANTS = [
    ("products: last steps of the inner loop left out", "product.rs", "for _ in 0..depth % UNROLLED {", "for _ in 0..0 * depth {"),
    ("products: a row of the tile reads its neighbour", "product.rs", "let x = L::splat(a.entry(i));", "let x = L::splat(a.entry(i.max(1)));"),
    ("triangular solves: reciprocal of another row", "triangle.rs", "let reciprocal = L::splat(*t.add(k));", "let reciprocal = L::splat(*t.add(0));"),
    ("symmetric products: one factor for all rows", "symmetric.rs", "down = a.mul_add(factors[i], down);", "down = a.mul_add(factors[0], down);"),
    ("secular sums: derivative of another power", "secular.rs", "derivative = ratio.mul_add(ratio, derivative);", "derivative = ratio.add(derivative);"),
    ("sums of products (Gram): nothing is added up", "rank.rs", "c[i][v] = x.mul_add(columns[v], c[i][v]);", "c[i][v] = x.mul_add(columns[v], columns[v]);"),
    ("sums of features and targets: upper lanes", "rank.rs", "sums[o][1] = high.mul_add(y, sums[o][1]);", "sums[o][1] = low.mul_add(y, sums[o][1]);"),
    ("squared distances of sparse rows", "operation.rs", "a.mul_add(a.sub(b.add(b)), sum)", "a.mul_add(a.sub(b), sum)"),
    ("sines: sign of the angle", "trig.rs", ".min(one).with_sign_of(r);", ".min(one);"),
    ("exponentials: power of two", "exp.rs", "let n = x.round();", "let n = x.round().add(L::constant(1.0));"),
    ("decays: negative sums", "decay.rs", "W::load(sums).max(W::constant(0.0))", "W::load(sums)"),
    ("Hadamard transforms: differences", "hadamard.rs", "unsafe { (a.add(b), a.sub(b)) }", "unsafe { (a.add(b), b.sub(a)) }"),
    ("cells of grids: offsets", "cells.rs", ".sub(offset).floor_mul_add", ".add(offset).floor_mul_add"),
    ("features times errors: upper lanes", "project.rs", "sums[o][v][1] = wide[v].1.mul_add(y, sums[o][v][1]);", "sums[o][v][1] = wide[v].0.mul_add(y, sums[o][v][1]);"),
    ("pairs of variables: direction of a step", "pair.rs", "L::Wide::constant(-step)", "L::Wide::constant(step)"),
    ("Fourier transforms: imaginary part", "fft.rs", "re: self.im.mul_sub_from(by.im, self.re.mul(by.re)),", "re: self.im.mul_add(by.im, self.re.mul(by.re)),"),
    ("sketches: places", "comb.rs", "sums[(place as usize & mask) * L::N..]", "sums[(place as usize & (mask >> 1)) * L::N..]"),
]


def tests(folder, target):
    """The names of the tests that fail, or what the compiler says."""
    command = ["cargo", "test", "-q", "-p", "bochner-simd", "--lib", "--tests", "--no-fail-fast"]
    result = subprocess.run(command, cwd=folder, env=environment(target), capture_output=True, text=True)
    out = result.stdout + result.stderr
    if "could not compile" in out:
        sys.exit(out)
    return sorted(set(re.findall(r"^    (\S+::\S+)$", out, re.MULTILINE)))


def environment(target):
    return {**os.environ, "CARGO_TARGET_DIR": str(target), "CARGO_INCREMENTAL": "0"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="only mutants whose name contains one of these")
    parser.add_argument("--write", action="store_true", help=f"record in {RESULT.relative_to(ROOT)}")
    args = parser.parse_args()
    chosen = [mutant for mutant in MUTANTS if not args.names or any(name in mutant[0] for name in args.names)]
    rows, survived = [], []
    with tempfile.TemporaryDirectory() as temporary:
        folder, target = Path(temporary) / "tree", Path(temporary) / "target"
        shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns("target", ".venv", ".git"))
        found = tests(folder, target)
        if found:
            sys.exit(f"without any mutant {', '.join(found)} fail")
        for name, file, old, new in chosen:
            path = folder / "crates/simd/src" / file
            text = path.read_text()
            if text.count(old) != 1:
                sys.exit(f"{file} has «{old}» {text.count(old)} times: mend the list in {Path(__file__).name}")
            path.write_text(text.replace(old, new))
            found = tests(folder, target)
            path.write_text(text)
            if not found:
                survived.append(name)
            print(f"{name}: {len(found)} tests fail{', such as ' + found[0] if found else ''}", flush=True)
            rows.append(f"| {name} | `{file}` | `{old}` | `{new}` | {len(found)} | {f'`{found[0]}`' if found else ''} |")
    if args.write:
        head = "# Mutants of the hot loops\n\n`python bench/mutants.py --write`: one operation is changed at a time, and `crates/simd`'s own tests are run.\n"
        table = ["| mutant | file | in place of | stands | tests that fail | the first |", "|---|---|---|---|--:|---|"]
        RESULT.write_text("\n".join([head, *table, *rows]) + "\n")
    if survived:
        sys.exit(f"survived: {', '.join(survived)}")


main()
