"""What the README shows works: its Python block runs, and so do its console lines."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

README = Path(__file__).parents[2] / "README.md"
PYTHON_README = Path(__file__).parents[1] / "README.md"


def blocks(language, file=README):
    return re.findall(rf"```{language}\n(.*?)```", file.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("file", [README, PYTHON_README], ids=["project", "package"])
def test_python(tmp_path, monkeypatch, file):
    monkeypatch.chdir(tmp_path)
    (block,) = blocks("python", file)
    assert file == PYTHON_README or "SequenceFeatures" in block
    exec(compile(block, str(file), "exec"), {})


def test_console(tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 3))
    price = 100 + 10 * np.sin(rows[:, 0]) + rows[:, 1]
    table = np.column_stack([rows, price])
    for name in ("houses.csv", "new.csv"):
        np.savetxt(tmp_path / name, table, delimiter=",", header="area,rooms,age,price", comments="")
    np.savetxt(tmp_path / "rows.csv", rows, delimiter=",", header="a,b,c", comments="")
    (tmp_path / "rows.libsvm").write_text("".join(f"1 3:{x} 5000:{y}\n" for x, y, _ in rows))
    genes = ["".join(rng.choice(list("ACGT"), 40)) for _ in range(200)]
    genes = [f"{gene[:10]}GATTACA{gene[17:]},motif" if i % 2 else f"{gene},none" for i, gene in enumerate(genes)]
    (tmp_path / "genes.csv").write_text("\n".join(["sequence,class", *genes]))
    mail = [f"{'win a prize now' if i % 2 else 'see you at noon'} {i},{i % 7},{i % 3},{'yes' if i % 2 else 'no'}" for i in range(100)]
    (tmp_path / "mail.csv").write_text("\n".join(["text,length,links,spam", *mail]))
    lines = [line[2:] for block in blocks("console") for line in block.splitlines() if line.startswith("$ bochner ")]
    assert len(lines) >= 4
    for line in lines:
        command = [sys.executable, "-m", "bochner", *shlex.split(line)[1:]]
        result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert result.returncode == 0, (line, result.stderr)
    prices = (tmp_path / "prices.csv").read_text().splitlines()
    assert len(prices) == 401


@pytest.mark.parametrize("link", re.findall(r"`((?:docs|crates|bench)/[\w/.-]+)`", README.read_text(encoding="utf-8")))
def test_paths_exist(link):
    assert (README.parent / link).exists()
