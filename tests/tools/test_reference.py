"""tools/reference.py: every public name has an entry and a docstring."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import reference  # noqa: E402
import reference_groups  # noqa: E402


def test_functions_that_are_made_at_run_time_are_listed():
    made = reference.pages(ROOT)
    assert ".. py:function:: exp(x, /, *, out=None" in made["gpuarray.rst"]
    assert ".. py:function:: hypot(x1, x2, /, *, out=None" in made["gpuarray.rst"]
    assert ".. py:function:: exp(array: pycuda.gpuarray.GPUArray" in made["cumath.rst"]


def test_a_value_that_is_read_without_a_call_is_a_property():
    page = reference.pages(ROOT)["gpuarray.rst"]
    assert ".. py:property:: flags" in page and ".. py:property:: T" in page


def test_every_public_name_has_a_docstring():
    assert reference.undocumented(ROOT) == []


@pytest.fixture
def package(tmp_path):
    """A small package with all forms that the tool must understand."""
    folder = tmp_path / reference.PACKAGE
    folder.mkdir(parents=True)
    (folder / "driver.py").write_text(
        '"""About.\n\n>>> f(1)\n"""\n'
        "from pycuda._driver import *\n"
        "def f(x: int, /, *, y=2) -> str:\n"
        '    """What f does."""\n'
        "def _private(): ...\n"
        "class C:\n"
        '    """What C is."""\n'
        "    def __init__(self, a): ...\n"
        "    def method(self): ...\n"
    )
    (folder / "_driver.pyi").write_text(
        "class flags(pycuda._enum.DriverEnum):\n    names: dict = ...\n    FAST: flags = ...\n"
        'def g(a) -> int:\n    """g(a) -> int\n\n    What g does.\n    """\n'
    )
    return tmp_path


def test_a_page_of_a_small_package(package):
    page = reference.page(
        reference.Sources(package, package / reference.PACKAGE), "driver"
    )
    start = "pycuda.driver\n=============\n\n.. py:module:: pycuda.driver\n\nAbout.\n\n>>> f(1)\n"
    assert page.startswith(start)
    assert ".. py:class:: flags\n\n   Constants: ``FAST``\n" in page
    assert ".. py:function:: g(a) -> int\n\n   What g does.\n" in page
    source = "   :source:`python/pycuda/driver.py#L{}`\n\n"
    head = ".. py:function:: f(x: int, /, *, y=2) -> str\n\n"
    assert head + source.format(6) + "   What f does.\n" in page
    assert ".. py:class:: C(a)\n\n" + source.format(9) + "   What C is.\n" in page
    headings = re.findall(r"^(.+)\n-+$", page, re.MULTILINE)
    assert headings == ["Classes", "Functions", "Constants"]
    assert "_private" not in page


@pytest.mark.parametrize("module", ["gpuarray", "driver"])
def test_a_large_module_has_groups(module):
    """A new name needs a group: a pattern in reference_groups.PATTERNS or a folder in FOLDERS."""
    sources = reference.Sources(ROOT)
    groups = {}
    for item in reference.items(sources, module, reference.made_functions(module)):
        title = reference_groups.group_of(module, item.name, item.kind)
        groups.setdefault(title, []).append(item.name)
    assert set(groups) <= set(reference_groups.order(module))
    assert not {reference_groups.CLASSES, reference_groups.FUNCTIONS} & set(groups)
    assert len(groups) >= 10 and max(map(len, groups.values())) < 130


def test_a_group_has_a_table_of_its_names():
    item = reference.Item("exp", "Functions", "Compute e**x.", "")
    table = reference.summary("gpuarray", [item])
    assert "   * - :py:obj:`exp <pycuda.gpuarray.exp>`\n     - Compute e**x.\n" in table
    assert (
        reference.first_sentence("Compute a\nsum. More.\n\nRest.") == "Compute a sum."
    )


def test_parameters_become_a_list():
    text = "name: what it is,\n    and more.\nother, third: numbers"
    expected = "- **name**: what it is,\n  and more.\n- **other, third**: numbers"
    assert reference.parameter_list(text) == expected
    assert (
        reference.parameter_list("Note: one line\nof words")
        == "Note: one line\nof words"
    )


def test_names_without_docstrings_are_reported(package, monkeypatch):
    monkeypatch.setattr(reference, "MODULES", ["driver"])
    assert reference.undocumented(package) == ["pycuda.driver.C.method"]
