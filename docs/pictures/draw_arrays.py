#!/usr/bin/env python3
"""Draw the pictures of docs/arrays.md: memory layouts, views, broadcasting, streams.

./run docs/pictures/draw_arrays.py [FOLDER]      FOLDER: this file's own by default
"""

from __future__ import annotations

import sys
from pathlib import Path

from draw_devices import DEVICE, DISK, HOST, PROCESS, arrow, box, canvas, save
from matplotlib.patches import Rectangle

ROWS = [PROCESS, DEVICE, HOST]  # a colour for each row of the example
FADED = "#f4f4f4"
SIDE = 0.42  # of a cell


def cell(axes, x, y, text, color, style="-"):
    """A square with a number; (x, y) is the lower left corner."""
    axes.add_patch(Rectangle((x, y), SIDE, SIDE, fc=color, ec="#555555", ls=style))
    ink = "#aaaaaa" if color == FADED else "black"
    axes.text(x + SIDE / 2, y + SIDE / 2, text, ha="center", va="center", fontsize=9, color=ink)  # fmt: skip


def grid(axes, x, y, rows, colors, style="-"):
    """Rows of numbers; (x, y) is the upper left corner."""
    for i, row in enumerate(rows):
        for j, number in enumerate(row):
            cell(axes, x + j * SIDE, y - (i + 1) * SIDE, str(number), colors[i][j], style)  # fmt: skip


def label(axes, x, y, text, size=9, align="left"):
    axes.text(x, y, text, fontsize=size, ha=align, va="center")


def addresses(axes, x, y, count):
    """The offset in bytes of each element below a strip of memory."""
    for i in range(count):
        label(axes, x + (i + 0.5) * SIDE, y, str(4 * i), 7, "center")


def draw_layout(folder):
    """One matrix in C order and in Fortran order, and the steps between its elements."""
    figure, axes = canvas(9, 4.5)
    matrix = [[4 * i + j for j in range(4)] for i in range(3)]
    colors = [[color] * 4 for color in ROWS]
    label(axes, 0.1, 4.3, "x: shape (3, 4), int32")
    grid(axes, 0.1, 4.1, matrix, colors)
    orders = [
        ("C order: strides (16, 4)", [(i, j) for i in range(3) for j in range(4)]),
        (
            "Fortran order: strides (4, 12)",
            [(i, j) for j in range(4) for i in range(3)],
        ),  # fmt: skip
    ]
    for place, (title, order) in enumerate(orders):
        x, y = 3.3, 3.1 - place * 2.2
        label(axes, x, y + 1.2, title)
        for n, (i, j) in enumerate(order):
            cell(axes, x + n * SIDE, y, str(matrix[i][j]), ROWS[i])
        addresses(axes, x, y - 0.12, 12)
        label(axes, x - 0.1, y - 0.12, "offset in bytes", 7, "right")
        middle = y + SIDE + 0.06
        row, column = order.index((1, 0)), order.index((0, 1))
        for step, height, text in ((row, 0.34, "next row"), (column, 0.1, "next column")):  # fmt: skip
            end = x + (step + 0.5) * SIDE
            arrow(axes, (x + 0.5 * SIDE, middle + height), (end, middle + height), both=False)  # fmt: skip
            label(axes, end + 0.05, middle + height, f"{text}: {4 * step} bytes", 7)
    save(figure, folder, "array_layout")


def draw_views(folder):
    """Which elements of one memory the views x[1], x[:, ::2], x[::-1] and x.T see."""
    figure, axes = canvas(9, 3.3)
    views = [
        ("x", "shape (3, 4), strides (16, 4), offset 0", range(12)),
        ("x[1]", "shape (4,), strides (4,), offset 16", range(4, 8)),
        ("x[:, ::2]", "shape (3, 2), strides (16, 8), offset 0", range(0, 12, 2)),
        ("x[::-1]", "shape (3, 4), strides (-16, 4), offset 32", range(12)),
        ("x.T", "shape (4, 3), strides (4, 16), offset 0", range(12)),
    ]
    for place, (name, text, seen) in enumerate(views):
        y = 2.75 - place * 0.58
        label(axes, 0.1, y + SIDE / 2, name)
        for n in range(12):
            cell(axes, 1.1 + n * SIDE, y, str(n), ROWS[n // 4] if n in seen else FADED)
        label(axes, 1.1 + 12.4 * SIDE, y + SIDE / 2, text, 8)
    addresses(axes, 1.1, 0.3, 12)
    label(axes, 1.0, 0.3, "offset in bytes", 7, "right")
    save(figure, folder, "array_views")


def draw_broadcast(folder):
    """A column plus a row: both are read again along the axis where they have one element."""
    figure, axes = canvas(9, 2.2)
    y = 1.6
    label(axes, 0.1, 2.0, "a: shape (3, 1)")
    label(axes, 3.1, 2.0, "b: shape (4,)")
    label(axes, 6.3, 2.0, "a + b: shape (3, 4)")
    column = [[i + 1] * 4 for i in range(3)]
    row = [[10, 20, 30, 40]] * 3
    grid(axes, 0.1, y, column, [[color] + [FADED] * 3 for color in ROWS])
    grid(axes, 3.1, y, row, [[DISK] * 4] + [[FADED] * 4] * 2)
    total = [[a + b for a, b in zip(*rows, strict=True)] for rows in zip(column, row, strict=True)]  # fmt: skip
    grid(axes, 6.3, y, total, [[color] * 4 for color in ROWS])
    for x, sign in ((2.35, "+"), (5.55, "=")):
        label(axes, x, y - 1.5 * SIDE, sign, 14)
    label(axes, 0.1, 0.15, "read with strides (4, 0)", 8)
    label(axes, 3.1, 0.15, "read with strides (0, 4)", 8)
    save(figure, folder, "array_broadcast")


def draw_streams(folder):
    """The host queues work in two streams; an event orders them, get() waits for one."""
    figure, axes = canvas(9.4, 3.3)
    for y, name in ((2.55, "Python"), (1.5, "stream s"), (0.45, "stream t")):
        label(axes, 0.05, y, name)
        axes.plot([0.95, 9.3], [y, y], color="#bbbbbb", lw=1, zorder=0)

    def work(x, y, width, text, color):
        box(axes, x, y - 0.22, width, 0.44, text, color)

    work(1.0, 2.55, 0.9, "y = x + 1", HOST)
    work(2.0, 2.55, 1.05, "e.record(s)", HOST)
    work(3.15, 2.55, 1.65, "t.wait_for_event(e)", HOST)
    work(4.9, 2.55, 0.9, "z = y * 2", HOST)
    work(5.9, 2.55, 2.75, "z.get() waits for t", HOST)
    work(1.55, 1.5, 3.3, "x + 1", DEVICE)
    work(4.95, 1.5, 2.6, "later work of s", FADED)
    work(5.25, 0.45, 1.8, "y * 2", DEVICE)
    work(7.15, 0.45, 1.5, "copy to the host", DEVICE)
    arrow(axes, (4.87, 1.25), (5.22, 0.7), "e", both=False, offset=(-0.15, 0.0))
    arrow(axes, (8.65, 0.7), (8.65, 2.3), "done", both=False, offset=(0.3, 0.0))
    label(axes, 9.3, 3.05, "time →", 8, "right")
    save(figure, folder, "array_streams")


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent
    folder.mkdir(parents=True, exist_ok=True)
    for draw in (draw_layout, draw_views, draw_broadcast, draw_streams):
        draw(folder)


if __name__ == "__main__":
    main()
