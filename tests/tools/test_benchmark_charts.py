"""The charts of docs/benchmarks.md are those of the record, and the page shows each of them."""

import re
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
sys.path.insert(0, str(DOCS / "pictures"))

import draw_benchmarks  # noqa: E402

PAGE = (DOCS / "benchmarks.md").read_text()


@pytest.mark.parametrize("name", draw_benchmarks.CHARTS)
def test_a_chart_shows_the_record(name):
    drawn = draw_benchmarks.draw(name, draw_benchmarks.RECORD.read_text())
    assert (draw_benchmarks.FOLDER / f"{name}.svg").read_text() == drawn, (
        "call docs/pictures/draw_benchmarks.py"
    )


def test_the_page_shows_each_chart():
    shown = re.findall(r"\(pictures/benchmarks/(\w+)\.svg\)", PAGE)
    assert sorted(shown) == sorted(draw_benchmarks.CHARTS)
    files = {path.stem for path in draw_benchmarks.FOLDER.glob("*.svg")}
    assert files == set(draw_benchmarks.CHARTS)


def test_a_chart_of_ratios_has_both_sides_of_one():
    text = "\n| x | r |\n|---|---|\n| slow | 0.50 |\n| fast | 2.00 |\n| none | |\n"
    chart = draw_benchmarks.Chart("t", "| x |", {"r": "r"}, ratio=True)
    drawn = draw_benchmarks.draw_ratios(chart, text)
    assert drawn.index(draw_benchmarks.SLOWER) < drawn.index(draw_benchmarks.OURS)
    assert ">slow<" in drawn and ">2.00<" in drawn and ">none<" not in drawn


def test_the_page_is_for_readers():
    assert len(PAGE.split()) < 1200
    assert not re.search(r"\baims?\b|short of", PAGE)
