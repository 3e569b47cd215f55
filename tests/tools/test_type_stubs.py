"""tools/type_stubs.py: the stubs that the build has written belong to this module and this registry."""

import sys
from pathlib import Path

import pytest

import pycuda

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import type_stubs  # noqa: E402


@pytest.fixture(scope="module")
def stubs():
    """The text of each stub, by module."""
    return {"_driver": type_stubs.driver_stub(), **type_stubs.array_stubs()}


def test_the_build_writes_each_stub(stubs):
    package = Path(pycuda.__file__).parent
    for module, text in stubs.items():
        written = (package / f"{module}.pyi").read_text()
        assert written == text, f"{module}.pyi is old: build the target type_stubs"


def test_the_stub_of_the_module_has_types(stubs):
    text = stubs["_driver"]
    assert "def mem_alloc(bytes: int) -> DeviceAllocation: ..." in text
    assert "    WARP_SIZE: device_attribute\n" in text
    assert "    width: int\n" in text  # an attribute that can be set
    assert "class HostPointer: ...\n" in text


def test_a_stub_has_each_name_once(stubs):
    text = stubs["gpuarray"]
    assert text.count(" concatenate as concatenate") == 1
    assert "concat = concatenate\n" in text
    assert "def max(a, stream=..., *, axis=...," in text.replace(" = ", "=")
    assert "def __getattr__" not in text
