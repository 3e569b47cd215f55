#!/usr/bin/env python3
"""Draw the pictures of docs/multiple_devices.md: what runs where.

    ./run docs/pictures/draw_devices.py [FOLDER]      FOLDER: this file's own by default

matplotlib writes SVG files without a date, so that the same picture is the same bytes.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "pycuda"
matplotlib.rcParams["svg.fonttype"] = "none"

import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch  # noqa: E402

PROCESS, DEVICE, HOST, DISK = "#dbe7f5", "#cfe8cf", "#f7e8c5", "#e6e0ec"


def box(axes, x, y, width, height, text, color, top=False):
    """A rounded box with its text in the middle, or at the top."""
    axes.add_patch(
        FancyBboxPatch(
            (x, y), width, height, boxstyle="round,pad=0.02", fc=color, ec="#555555"
        )
    )
    where = y + height - 0.12 if top else y + height / 2
    axes.text(
        x + width / 2,
        where,
        text,
        ha="center",
        va="top" if top else "center",
        fontsize=9,
    )


def arrow(axes, start, end, text="", both=True, offset=(0, 0.08)):
    """An arrow with a text beside its middle."""
    style = "<|-|>" if both else "-|>"
    axes.add_patch(
        FancyArrowPatch(
            start, end, arrowstyle=style, mutation_scale=12, color="#333333"
        )
    )
    if text:
        middle = (
            (start[0] + end[0]) / 2 + offset[0],
            (start[1] + end[1]) / 2 + offset[1],
        )
        axes.text(*middle, text, ha="center", va="bottom", fontsize=8)


def canvas(width, height):
    figure, axes = plt.subplots(figsize=(width, height))
    axes.set_xlim(0, width)
    axes.set_ylim(0, height)
    axes.axis("off")
    return figure, axes


def save(figure, folder, name):
    figure.savefig(folder / f"{name}.svg", metadata={"Date": None}, bbox_inches="tight")
    plt.close(figure)


def draw_stencil(folder):
    """MPI: a process for each band of rows; edges go to the neighbours' halos."""
    figure, axes = canvas(9, 3.2)
    for rank in range(3):
        x = 0.3 + rank * 3
        box(axes, x, 0.2, 2.2, 2.8, f"MPI process {rank}", PROCESS, top=True)
        box(axes, x + 0.15, 0.35, 1.9, 2.2, f"device {rank}", DEVICE, top=True)
        for row, text in enumerate(["edge row", "inner rows", "edge row"]):
            box(axes, x + 0.25, 0.5 + row * 0.55, 1.7, 0.4, text, "white")
    for rank in range(2):
        x = 2.5 + rank * 3
        arrow(axes, (x, 1.2), (x + 0.8, 1.2), "edges\nto halos")
    save(figure, folder, "mpi_stencil")


def draw_fit(folder):
    """NCCL: a thread for each device of one process; gradients are summed over all devices."""
    figure, axes = canvas(9, 3.6)
    box(axes, 0.2, 0.9, 8.6, 2.5, "one process", PROCESS, top=True)
    for rank in range(4):
        x = 0.4 + rank * 2.1
        box(axes, x, 1.1, 1.9, 1.9, f"thread {rank}: device {rank}", DEVICE, top=True)
        box(axes, x + 0.1, 1.8, 1.7, 0.7, "samples of part\n" + str(rank), "white")
        box(axes, x + 0.1, 1.2, 1.7, 0.45, "weights, gradient", "white")
        arrow(axes, (x + 0.95, 1.1), (x + 0.95, 0.62))
    box(axes, 0.4, 0.15, 8.2, 0.45, 'all_reduce(gradient, op="avg")', HOST)
    save(figure, folder, "nccl_fit")


def draw_dask(folder):
    """Dask: a scheduler, a worker for each device, and where chunks go that do not fit."""
    figure, axes = canvas(9, 4.2)
    box(axes, 0.2, 1.6, 1.9, 1.3, "client and\nscheduler", PROCESS)
    for rank in range(2):
        y = 0.2 + rank * 2.05
        box(axes, 3.0, y, 5.8, 1.85, f"worker process {rank}", PROCESS, top=True)
        box(axes, 3.15, y + 0.15, 1.6, 1.1, f"device {rank}:\nchunks in use", DEVICE)
        box(axes, 5.2, y + 0.15, 1.5, 1.1, "host memory:\nolder chunks", HOST)
        box(axes, 7.15, y + 0.15, 1.5, 1.1, "files:\noldest chunks", DISK)
        arrow(axes, (4.75, y + 0.7), (5.2, y + 0.7))
        arrow(axes, (6.7, y + 0.7), (7.15, y + 0.7))
        arrow(axes, (2.1, 2.25), (3.0, y + 0.95), "tasks" if rank else "")
    save(figure, folder, "dask_out_of_core")


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent
    folder.mkdir(parents=True, exist_ok=True)
    for draw in (draw_stencil, draw_fit, draw_dask):
        draw(folder)


if __name__ == "__main__":
    main()
