"""Examples run; stubs say what is there."""

import doctest
import importlib
import inspect
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


CLASSES = [name for name in bochner.__all__ if inspect.isclass(getattr(bochner, name))]
FUNCTIONS = [name for name in bochner.__all__ if inspect.isfunction(getattr(bochner, name))]

#: Sections of what is no estimator.
SECTIONS = {
    "Certificate": ["Parameters"],
    "Definiteness": ["Parameters"],
    "Outlook": ["Parameters"],
    "Region": ["Parameters"],
    "Kernel": ["Parameters", "See Also", "Notes", "Examples"],
}


def positions(text, sections):
    return [text.find(f"    {section}\n    {'-' * len(section)}\n") for section in sections]


@pytest.mark.parametrize("name", CLASSES)
def test_docstrings_have_their_sections_in_order(name):
    text = getattr(bochner, name).__doc__
    found = positions(text, SECTIONS.get(name, ["Parameters", "Attributes", "See Also", "Notes", "Examples"]))
    assert -1 not in found and found == sorted(found)
    if hasattr(getattr(bochner, name), "get_params"):
        for parameter in getattr(bochner, name)().get_params():
            assert f"\n    {parameter} : " in text, parameter


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_say_what_they_take_and_show_it(name):
    function = getattr(bochner, name)
    parameters = list(inspect.signature(function).parameters)
    sections = ["Parameters"] * bool(parameters) + ["Returns"] * name.islower() + ["Examples"]
    found = positions(function.__doc__, sections)
    assert -1 not in found and found == sorted(found)
    for parameter in parameters:
        assert f"\n    {parameter} : " in function.__doc__, parameter
    assert ">>> from bochner import" in function.__doc__ and name in function.__doc__.split(">>>", 1)[1]


def test_stubs_match_the_extension():
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy.stubtest", "bochner._core", "--concise"]
    environment = {**os.environ, "MYPY_CACHE_DIR": os.devnull}
    result = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert result.returncode == 0, result.stdout + result.stderr


def test_version():
    from importlib.metadata import version

    assert bochner.__version__ == version("bochner")
