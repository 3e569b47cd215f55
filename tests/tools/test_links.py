"""The links of the Markdown pages are valid, and the pages print no command that installs another package."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_of_a_page(page):
    text = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(), flags=re.DOTALL)
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text)
    local = [link for link in links if "://" not in link]
    assert [link for link in local if not (page.parent / link).exists()] == []


PACKAGES = [
    *PAGES,
    *ROOT.glob("*/README.md"),
    *ROOT.glob("softcuda/*/README.md"),
    *ROOT.glob("docs/course/*.md"),
]


def unpublished(text: str) -> list[str]:
    """Commands of a code block that would take pycuda or softcuda from PyPI, where the names are not ours."""
    command = r"(?:    |\$ |!)?.*pip install (?:-\S+ )*\"?(?:pycuda|softcuda)(?:\[\w+\])?(?:[\s\"].*)?"
    return [
        line
        for block in re.findall(r"(?:^    .*\n)+|^```.*?^```$", text, re.M | re.S)
        for line in block.splitlines()
        if re.fullmatch(command, line)
    ]


@pytest.mark.parametrize("page", PACKAGES, ids=lambda page: page.name)
def test_a_page_installs_nothing_by_a_name_that_is_not_published(page):
    assert unpublished(page.read_text()) == []


def test_a_command_with_an_unpublished_name_is_found():
    found = unpublished(
        "a\n\n    pip install -U pycuda\n    pip install ./softcuda .\n"
    )
    assert found == ["    pip install -U pycuda"]
    assert unpublished("```\n$ pip install softcuda[libraries] x\n```\n") != []
    assert unpublished('```sh\npip install "softcuda[libraries]"\n```\n') != []
    assert unpublished("`pip install pycuda` installs the original.\n") == []
