"""Each chapter of docs/course runs from its first cell to its last, and its exercises are graded."""

import re
import sys
from pathlib import Path

import pytest
from conftest import is_softcuda

FOLDER = Path(__file__).resolve().parents[2] / "docs/course"
CHAPTERS = sorted(FOLDER.glob("[0-9]*.md"))
CELL = re.compile(
    r"^```(\{code-cell\} ipython3|cuda|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
TAGS = re.compile(r"^:tags: \[(.*)\]\n\n")

interactive = pytest.importorskip("IPython.core.interactiveshell")


def cells(chapter: Path) -> list[tuple[str, str]]:
    """The cells as (tag, text); solutions have the tag "solution"."""
    found = []
    for language, text in CELL.findall(chapter.read_text()):
        tags = TAGS.match(text)
        tag = tags[1] if tags else ""
        text = text[tags.end() :] if tags else text
        found.append((tag if language.startswith("{") else "solution", text))
    return found


@pytest.fixture
def run(device, capsys, monkeypatch):
    """Runs a cell; returns what it printed."""
    monkeypatch.chdir(FOLDER)
    monkeypatch.syspath_prepend(FOLDER)
    monkeypatch.setitem(sys.modules, "grading", None)
    del sys.modules["grading"]
    shell = interactive.InteractiveShell()

    def run_cell(text: str) -> str:
        capsys.readouterr()
        done = shell.run_cell(text, store_history=True)
        printed = "".join(capsys.readouterr())
        assert done.success, f"{text}\n{printed}"
        return printed

    yield run_cell
    shell.reset()


def test_there_are_twelve_chapters_with_two_exercises_each():
    assert len(CHAPTERS) == 12
    listed = re.findall(
        r"^(\d\d_\w+)$", (FOLDER / "index.md").read_text(), re.MULTILINE
    )
    assert listed == [chapter.stem for chapter in CHAPTERS]
    for chapter in CHAPTERS:
        tags = [tag for tag, _ in cells(chapter)]
        assert (
            tags.count("exercise") == tags.count("grade") == tags.count("solution") == 2
        )


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_chapter(run, chapter):
    grading = ""
    for tag, text in cells(chapter):
        if tag == "softcuda" and not is_softcuda():
            continue
        printed = run(text)
        if tag == "grade":  # the exercise is not solved yet
            grading = text
            assert "not yet" in printed, printed
        elif tag == "solution":
            printed = run(grading)
            assert ": right" in printed and "not yet" not in printed, printed


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_printed_results_are_those_of_the_text(run, chapter):
    """A comment behind print(a) that shows one array or number is what the cell prints."""
    for tag, text in cells(chapter):
        if tag in ("exercise", "grade", "solution") or (
            tag == "softcuda" and not is_softcuda()
        ):
            continue
        printed = run(text)
        for shown in re.findall(
            r"^print\(\w+(?:\.get\(\))?\) +# (.*)$", text, re.MULTILINE
        ):
            assert shown in printed, (shown, printed)
