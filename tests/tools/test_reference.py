"""tools/reference.py: the pages in docs/reference are current, and every name is described."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import reference  # noqa: E402

MADE = reference.pages(ROOT)


@pytest.mark.parametrize("name", MADE)
def test_a_page_is_current(name):
    path = ROOT / reference.PAGES / name
    assert path.read_text() == MADE[name], "run tools/reference.py"


def test_every_public_name_has_a_docstring():
    assert reference.undocumented(ROOT) == []


@pytest.fixture
def package(tmp_path):
    """A small package with what the tool has to understand."""
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
    page = reference.page(reference.Sources(package), "driver")
    assert page.startswith("# pycuda.driver\n\nAbout.\n\n```pycon\n>>> f(1)\n```\n")
    assert "## flags\n\nConstants: FAST\n" in page
    assert "g(a) -> int\n```\n\nWhat g does.\n" in page
    assert "f(x: int, /, *, y=2) -> str\n```\n\nWhat f does.\n" in page
    assert "```python\nC(a)\n```\n" in page
    assert "_private" not in page


def test_what_has_no_docstring_is_told(package, monkeypatch):
    monkeypatch.setattr(reference, "MODULES", ["driver"])
    assert reference.undocumented(package) == ["pycuda.driver.C.method"]
