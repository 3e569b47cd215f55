"""Each name of tests/api_names.txt is in the module where programs written for PyCUDA use it."""

import importlib
import importlib.util
import inspect
from pathlib import Path

import numpy as np
import pytest

import pycuda
from pycuda.driver import CompileError
from pycuda.reduction import ReductionKernel

LINES = (Path(__file__).parents[2] / "api_names.txt").read_text().splitlines()
NAMES: dict[str, list[str]] = {}
for line in LINES:
    if line.strip() and not line.startswith("#"):
        module, _, names = line.partition(":")
        NAMES.setdefault(module, []).extend(names.split())

# Objects with attributes that their class does not show.
OBJECTS = {
    "CompileError": lambda: CompileError("message", "command"),
    "ReductionKernel": lambda: ReductionKernel(np.float32, "0", "a+b"),
}


def has(module, name):
    """Whether a module, a module below it or one of its classes has a name."""
    first, *rest = name.split(".")
    places = [module, *(c for c in vars(module).values() if inspect.isclass(c))]
    found = next((getattr(p, first) for p in places if hasattr(p, first)), None)
    if found is None:
        return importlib.util.find_spec(f"{module.__name__}.{name}") is not None
    for part in rest:
        owner = found if hasattr(found, part) else OBJECTS.get(first, lambda: None)()
        if not hasattr(owner, part):
            return False
        found = getattr(owner, part)
    return True


def test_the_list_is_complete():
    assert sum(map(len, NAMES.values())) > 350


def test_a_missing_name_is_found():
    driver = importlib.import_module("pycuda.driver")
    assert has(driver, "Device.count") and has(driver, "CompileError.msg")
    assert not has(driver, "Device.number") and not has(driver, "CompileError.text")


@pytest.mark.parametrize("module", [m for m in NAMES if not m.endswith(".hpp")])
def test_names_of_a_module(device, module):
    if module == "pycuda._mymako":
        pytest.importorskip("mako")
    found = importlib.import_module(module)
    assert [name for name in NAMES[module] if not has(found, name)] == []


@pytest.mark.parametrize("header", [m for m in NAMES if m.endswith(".hpp")])
def test_names_of_a_header(header):
    text = (Path(pycuda.__path__[0]) / "cuda" / header).read_text()
    assert [name for name in NAMES[header] if name.split(".")[-1] not in text] == []
