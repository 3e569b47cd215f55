"""tools/array_stubs.py: the stubs in the package are equal to those generated from the registry."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import array_stubs  # noqa: E402


@pytest.mark.parametrize("module", array_stubs.FUNCTIONS)
def test_stubs_are_current(module):
    assert (array_stubs.PACKAGE / f"{module}.pyi").read_text() == array_stubs.stub(
        module
    )


def test_a_stub_has_each_name_once():
    text = array_stubs.stub("gpuarray")
    assert text.count(" concatenate as concatenate,") == 1
    assert "concat = concatenate\n" in text
    assert "def max(a, stream=..., *, axis=...," in " ".join(text.split())
    assert "def __getattr__" not in text
