"""Examples run; stubs say what is there."""

import doctest
import importlib
import os
import pkgutil
import subprocess
import sys

import pytest

import bochner

MODULES = sorted(module.name for module in pkgutil.iter_modules(bochner.__path__, "bochner."))


@pytest.mark.parametrize("name", ["bochner", *(name for name in MODULES if not name.endswith("__main__"))])
def test_examples(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0


@pytest.mark.parametrize("name", [name for name in bochner.__all__ if name[0].isupper()])
def test_docstrings_have_their_sections_in_order(name):
    text = getattr(bochner, name).__doc__
    sections = ["Parameters", "Attributes", "See Also", "Notes", "Examples"]
    if name == "Certificate":
        sections = ["Parameters"]
    positions = [text.find(f"    {section}\n    {'-' * len(section)}\n") for section in sections]
    assert -1 not in positions and positions == sorted(positions)
    if hasattr(getattr(bochner, name), "get_params"):
        for parameter in getattr(bochner, name)().get_params():
            assert f"\n    {parameter} : " in text, parameter


def test_stubs_match_the_extension():
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy.stubtest", "bochner._core", "--concise"]
    environment = {**os.environ, "MYPY_CACHE_DIR": os.devnull}
    result = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert result.returncode == 0, result.stdout + result.stderr


def test_version():
    from importlib.metadata import version

    assert bochner.__version__ == version("bochner")
