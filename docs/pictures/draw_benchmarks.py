#!/usr/bin/env python3
"""Draw the charts of docs/benchmarks.md from the tables of docs/benchmarks_record.md.

    ./run docs/pictures/draw_benchmarks.py [FOLDER]      FOLDER: docs/pictures/benchmarks by default

The charts are SVG texts of this program, without a library, so that a test can compare them with the record. Their
colours are for a light and for a dark page: a browser chooses by its setting, and the site by its own switch.
"""

from __future__ import annotations

import math
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

DOCS = Path(__file__).resolve().parent.parent
RECORD = DOCS / "benchmarks_record.md"
FOLDER = DOCS / "pictures/benchmarks"

WIDTH, ROW, BAR = 480, 20, 13
LETTER = 7.1  # the mean width of a letter, in the widest of the usual fonts
# Read well on white and on black.
OURS, SLOWER, PEERS = "#2a9d5c", "#d1783a", ("#7189ad", "#b0843c", "#9a76a6")
STYLE = (
    "<style>text { font: 12px sans-serif; fill: currentColor } svg { color: #222 } "
    "@media (prefers-color-scheme: dark) { svg { color: #ddd } }</style>"
)

Table = dict[str, dict[str, str]]


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def table(text: str, head: str) -> Table:
    """The table of the record whose first line starts with ``head``: the cells of each row by column."""
    lines = text[text.index("\n" + head) + 1 :].splitlines()
    columns = cells(lines[0])[1:]
    found: Table = {}
    for line in lines[2:]:
        if not line.startswith("|"):
            break
        name, *values = cells(line)
        found[name.replace("`", "")] = dict(zip(columns, values, strict=False))
    return found


def number(cell: str) -> float | None:
    """The number of a cell such as ``3.55``, ``≈0.71`` or ``920.12 ms``."""
    found = re.match(r"≈?\s*(\d+(?:\.\d+)?(?:e[+-]?\d+)?)", cell)
    return float(found[1]) if found else None


def shown(value: float) -> str:
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:.{digits}f}"


@dataclass
class Chart:
    """Bars of one or several series for the rows of a table.

    columns: the table's columns, with the name of each in the legend. rows: the rows to draw, all if empty. A ratio has one column and a logarithmic axis, and its bars begin at 1.
    """

    title: str
    head: str
    columns: dict[str, str]
    rows: tuple[str, ...] = ()
    ratio: bool = False

    def values(self, text: str) -> list[tuple[str, list[float | None]]]:
        found = table(text, self.head)
        chosen = self.rows or tuple(name for name in found if "mean" not in name)
        rows = [
            (row, [number(found[row].get(column, "")) for column in self.columns])
            for row in chosen
        ]
        if not self.ratio:
            return rows
        return sorted((r for r in rows if r[1][0]), key=lambda row: row[1][0])


def bar(x: float, y: float, width: float, colour: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 1):.1f}" height="{BAR}" rx="2" fill="{colour}"/>'


def word(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def page(height: float, title: str, parts: list[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" role="img" '
        f'aria-label="{escape(title)}">{STYLE}\n' + "\n".join(parts) + "\n</svg>\n"
    )


def draw_ratios(chart: Chart, text: str) -> str:
    """Bars to the right of a line at 1 where ours is faster, to the left of it where ours is slower."""
    rows = [(name, values[0]) for name, values in chart.values(text)]
    left = LETTER * max(len(name) for name, _ in rows) + 12
    low = min(0.8, *(value for _, value in rows))
    high = max(1.25, *(value for _, value in rows))
    room = WIDTH - left - 84  # for numbers on both sides
    scale = room / math.log(high / low)
    one = left + 42 - scale * math.log(low)
    parts = []
    for i, (name, value) in enumerate(rows):
        y = i * ROW + 4
        end = one + scale * math.log(value)
        parts.append(word(left - 6, y + 11, name, "end"))
        start, width = min(one, end), abs(end - one)
        parts.append(bar(start, y, width, OURS if value >= 1 else SLOWER))
        place = (end + 4, "start") if value >= 1 else (end - 4, "end")
        parts.append(word(place[0], y + 11, shown(value), place[1]))
    height = len(rows) * ROW + 4
    line = f'<line x1="{one:.1f}" x2="{one:.1f}" y1="0" y2="{height}" stroke="currentColor" stroke-opacity="0.5"/>'
    return page(height + 4, chart.title, [*parts, line])


def draw_values(chart: Chart, text: str) -> str:
    """A group of bars for each row."""
    rows = chart.values(text)
    colours = (OURS, *PEERS)
    left = LETTER * max(len(name) for name, _ in rows) + 12
    most = max(value for _, values in rows for value in values if value)
    scale = (WIDTH - left - 48) / most
    names = list(zip(colours, chart.columns.values(), strict=False))
    widths = [LETTER * len(name) + BAR + 22 for _, name in names]
    parts, x = [], min(left, WIDTH - sum(widths))
    for (colour, name), width in zip(names, widths, strict=True):
        parts += [bar(x, 2, BAR, colour), word(x + BAR + 4, 13, name)]
        x += width
    y = 26.0
    for name, values in rows:
        drawn = [
            (value, colour)
            for value, colour in zip(values, colours, strict=False)
            if value
        ]
        middle = y + len(drawn) * (BAR + 1) / 2 + 4
        parts.append(word(left - 6, middle, name, "end"))
        for value, colour in drawn:
            parts.append(bar(left, y, scale * value, colour))
            parts.append(word(left + scale * value + 4, y + 11, shown(value)))
            y += BAR + 1
        y += 9
    return page(y, chart.title, parts)


LIBRARIES = {"pycuda": "PyCUDA", "CuPy": "CuPy", "torch": "torch"}
VERSIONS = {"pycuda": "PyCUDA", "CuPy 14.2": "CuPy", "torch 2.11": "torch"}
CHARTS = {
    "launch": Chart(
        "Time of a launch from Python, µs",
        "| µs | raw C++ | pycuda |",
        {
            "pycuda": "PyCUDA",
            "cuda.core": "cuda.core",
            "CuPy 14.2": "CuPy",
            "raw C++": "C++",
        },
        ("func(a, b, n, block=, grid=)",),
    ),
    "small_arrays": Chart(
        "Operations on 1000 elements, µs",
        "| microseconds, 1 K float32 |",
        VERSIONS,
        (
            "x + y",
            "2 * x + y",
            "exp(x)",
            "sum(x)",
            "x[1:] + y[:-1]",
            "to the device and back, 4 KB",
        ),
    ),
    "large_arrays": Chart(
        "Operations on arrays of 1 GiB, GB/s", "| GB/s, 1 GiB float32 |", LIBRARIES
    ),
    "functions": Chart(
        "NumPy's functions on 64 Mi elements, the fastest peer's time by ours",
        "| 64 Mi elements, ms |",
        {"ratio": "ratio"},
        (
            *(
                "searchsorted",
                "x > 0.5",
                "x[indices] = 1",
                "x[indices]",
                "where",
                "sin",
            ),
            *("diff", "unique", "argsort", "mean, axis 0", "max", "histogram", "pad"),
            *("std", "matrix @ vector", "matrix + row", "nonzero", "sort, axis 1"),
            *("x[mask]", "transpose", "cumsum, axis 0", "median"),
        ),
        ratio=True,
    ),
    "linear_algebra": Chart(
        "Linear algebra and Fourier transforms, the fastest peer's time by ours",
        "| | pycuda | CuPy | torch | quickest peer / ours |",
        {"quickest peer / ours": "ratio"},
        (
            *("solve 4096", "inv 2048", "cholesky 2048", "qr 2048", "eigh 2048"),
            *("svd 512", "pinv 512", "solve 4096 of 16x16", "inv 1024 of 64x64"),
            *("cholesky 1024 of 64x64", "qr 1024 of 32x32", "eigh 1024 of 32x32"),
            *("svd 1024 of 32x32", "fft 16777216 complex64", "rfft 16777216 float32"),
            *("fft 65536 rows of 256", "fft2 4096x4096", "fftn 256x256x256"),
        ),
        ratio=True,
    ),
    "random": Chart(
        "Scans, random numbers and kernels from expressions, GB/s",
        "| | pycuda | CuPy | torch |\n",
        LIBRARIES,
        (
            *("inclusive scan", "uniform, random.Generator"),
            *("normal", "x + y, ElementwiseKernel", "sum, ReductionKernel"),
            "dot, ReductionKernel",
        ),
    ),
    "sparse": Chart(
        "Sparse matrices, CuPy's time by ours",
        "| | pycuda, float32 | CuPy |",
        {"ratio": "ratio"},
        ratio=True,
    ),
    "numpy": Chart(
        "Operations on 8 Mi elements on a CPU, NumPy's time by ours",
        "| 8 Mi elements | pycuda (ms) | NumPy (ms) |",
        {"NumPy / pycuda": "ratio"},
        ratio=True,
    ),
    "numpy_functions": Chart(
        "NumPy's functions on 4 Mi elements on a CPU, NumPy's time by ours",
        "| 4 Mi elements, ms |",
        {"ratio": "ratio"},
        (
            *("argmax", "matrix @ vector", "outer", "mean, axis 0", "any of none"),
            *("pad", "bincount", "sort, axis 1", "flip", "max", "x ** y", "nonzero"),
            *("clip", "diff", "sin", "x[indices]", "histogram", "argsort", "std"),
            *("x[mask]", "median", "where", "transpose", "unique", "x // y"),
        ),
        ratio=True,
    ),
    "hand_written": Chart(
        "Kernels on a CPU, the time of hand-written SIMD code by ours",
        "| kernel | size | hand-written, ms |",
        {"to hand-written": "ratio"},
        ratio=True,
    ),
    "pocl": Chart(
        "Kernels on a CPU, PoCL's time by ours",
        "| kernel | size | hand-written, ms |",
        {"to PoCL": "ratio"},
        ratio=True,
    ),
    "openmp": Chart(
        "Programs of HeCBench on 16 cores, OpenMP's time by ours",
        "| program | kernels | device | OpenMP | ratio |",
        {"ratio": "ratio"},
        ratio=True,
    ),
}


def draw(name: str, text: str) -> str:
    chart = CHARTS[name]
    return (draw_ratios if chart.ratio else draw_values)(chart, text)


def main(arguments: list[str]) -> int:
    folder = Path(arguments[0]) if arguments else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    text = RECORD.read_text()
    for name in CHARTS:
        (folder / f"{name}.svg").write_text(draw(name, text))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
