#!/usr/bin/env python3
"""Build the documentation in build/docs/html; ./test docs calls this program.

    ./run tools/docs_site.py

The sources are collected in build/docs/source: the pages of docs/, the changelog, CONTRIBUTING.md, and
references generated from the docstrings (tools/reference.py) and from the headers of libpycuda (tools/cpp_reference.py). Tables of benchmarks get charts. Sphinx then builds
the pages. A warning is an error: a link to a page or heading that does not exist, an invalid docstring.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parent))
import cpp_reference  # noqa: E402
import reference  # noqa: E402
import source_pages  # noqa: E402

ROOT = reference.ROOT
SITE = ROOT / "build/docs"
# The position of the repository's pages in the documentation.
MOVED = {
    "../CHANGELOG.md": "changelog.md",
    "../CONTRIBUTING.md": "contributing.md",
    "../README.md": "index.md",
    "../core/include/pycuda": "cpp_reference/index.rst",
}
PEERS = ("CuPy", "torch", "NumPy", "cuda.core", "hand-written", "PoCL", "raw C++")
OURS = ("pycuda", "softcuda")
COLOURS = ("#2a9d5c", "#8fa3bf", "#d9a05b", "#b48ead")


@dataclass
class Table:
    """A table of a Markdown page that compares our numbers with those of others."""

    unit: str
    columns: list[str]
    rows: list[tuple[str, list[float | None]]]


def moved(text: str) -> str:
    """A page's text with the links of the documentation."""
    for old, new in MOVED.items():
        text = text.replace(f"]({old})", f"]({new})")
    return re.sub(r"\]\((?:\.\./)?docs/([\w/.]+\.md)", r"](\1", text)


def number(cell: str) -> float | None:
    """The number at the start of a cell; None if there is none, or if it is a range."""
    found = re.fullmatch(r"≈?\s*(\d+(?:\.\d+)?(?:e[+-]?\d+)?)", cell.strip())
    return float(found[1]) if found else None


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def read_table(lines: list[str]) -> Table | None:
    """The comparison in a table's lines, or None if there is nothing to draw."""
    head = cells(lines[0])
    chosen = [
        i
        for i, name in enumerate(head)
        if i and name.startswith((*OURS, *PEERS)) and "/" not in name
    ]
    if len(chosen) < 2 or not any(head[i].startswith(OURS) for i in chosen):
        return None
    chosen.sort(key=lambda i: not head[i].startswith(OURS))
    rows = []
    for line in lines[2:]:
        row = cells(line)
        values = [number(row[i]) if i < len(row) else None for i in chosen]
        if values[0] is not None and any(value is not None for value in values[1:]):
            rows.append((row[0].replace("`", ""), values))
    return Table(head[0], [head[i] for i in chosen], rows) if len(rows) >= 3 else None


def draw(table: Table, path: Path) -> None:
    """Draws bars, one group for each row; with a logarithmic axis if the numbers differ widely."""
    numbers = [v for _, values in table.rows for v in values if v]
    height = 0.22 * len(table.rows) * len(table.columns) + 1.1
    figure, axes = pyplot.subplots(figsize=(8, height), layout="constrained")
    width = 0.8 / len(table.columns)
    for k, name in enumerate(table.columns):
        places = [
            i + (k - (len(table.columns) - 1) / 2) * width
            for i in range(len(table.rows))
        ]
        values = [values[k] or 0 for _, values in table.rows]
        axes.barh(places, values, width, label=name, color=COLOURS[k % len(COLOURS)])
    axes.set_yticks(
        range(len(table.rows)), [name for name, _ in table.rows], fontsize=8
    )
    axes.invert_yaxis()
    axes.set_ylim(len(table.rows) - 0.5, -0.5)
    if max(numbers) > 50 * min(numbers):
        axes.set_xscale("log")
    axes.set_xlabel(table.unit, fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(
        frameon=False, fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=4
    )
    figure.savefig(path)
    pyplot.close(figure)


def with_charts(text: str, folder: Path) -> tuple[str, int]:
    """A page with a chart before each comparing table, and the number of charts."""
    folder.mkdir(parents=True, exist_ok=True)
    blocks, count = text.split("\n\n"), 0
    for place, block in enumerate(blocks):
        lines = block.split("\n")
        table = (
            read_table(lines) if len(lines) > 3 and lines[0].startswith("|") else None
        )
        if table:
            count += 1
            draw(table, folder / f"chart{count}.svg")
            label = f"{', '.join(table.columns)}: {table.unit or 'the table below'}"
            blocks[place] = f"![{label}](charts/chart{count}.svg)\n\n{block}"
    return "\n\n".join(blocks), count


def without_cells(text: str) -> str:
    """A notebook's text with its cells as blocks of code."""

    def block(found: re.Match) -> str:
        language = "cuda" if found[2].startswith("%%cuda\n") else "python"
        return f"```{language}\n{found[2]}```"

    cell = r"^```\{code-cell\} ipython3\n(:tags: [^\n]*\n\n)?(.*?)^```$"
    return re.sub(cell, block, text, flags=re.MULTILINE | re.DOTALL)


def gather(source: Path) -> int:
    """Copies all sources to a folder; returns the number of charts."""
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(ROOT / "docs", source, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "python/pycuda/_version.py", source)
    shutil.copy(ROOT / "CHANGELOG.md", source / "changelog.md")
    shutil.copy(ROOT / "CONTRIBUTING.md", source / "contributing.md")
    charts = 0
    for path in source.glob("*.md"):
        text = moved(path.read_text())
        if path.stem == "benchmarks":
            text, charts = with_charts(text, source / "charts")
        path.write_text(text)
    for path in (source / "course").glob("*.md"):
        path.write_text(without_cells(path.read_text()))
    references = {
        "reference": reference.pages(ROOT),
        "cpp_reference": cpp_reference.pages(),
    }
    for folder, pages in references.items():
        (source / folder).mkdir()
        for name, text in pages.items():
            (source / folder / name).write_text(text)
    return charts


def main() -> int:
    source, html = SITE / "source", SITE / "html"
    print(f"{gather(source)} charts drawn")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-j", "2"]
    status = subprocess.call([*command, "-d", SITE / "doctrees", source, html])
    if status == 0:
        source_pages.write(source, html / "source")
        print(f"the site is {html}/index.html")
    return status


if __name__ == "__main__":
    sys.exit(main())
