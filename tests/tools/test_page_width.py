"""Lines of code on a page fit the site's column on a desktop (docs/site.css), so that a reader need not scroll."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
WIDTH = 90
BLOCK = re.compile(
    r"^```(?:python|py|cuda|cpp|cmake|\{code-cell\} ipython3)\n(.*?)^```$", re.M | re.S
)


def long_lines(text: str) -> list[str]:
    lines = (line for block in BLOCK.findall(text) for line in block.splitlines())
    return [line for line in lines if len(line) > WIDTH]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_code_fits_the_page(page):
    assert long_lines(page.read_text()) == []


def test_a_long_line_is_found():
    assert long_lines("```python\n" + "x" * 91 + "\n```\n") == ["x" * 91]
    assert long_lines("a\n" + "x" * 91 + "\n") == []
