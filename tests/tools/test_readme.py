"""The figures of README.md are those of docs/benchmarks_record.md."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
BENCHMARKS = (ROOT / "docs/benchmarks_record.md").read_text()


def cells(text: str, start: str) -> list[str]:
    """The cells of the first row of a table that begins with ``start``, without the first one."""
    rows = [line for line in text.splitlines() if line.startswith(f"| {start}")]
    return [cell.strip() for cell in rows[0].strip("| ").split("|")][1:]


def numbers(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"\d+\.?\d*", text)]


def test_the_launch():
    row = cells(BENCHMARKS, "`func(a, b, n, block=, grid=)`")
    assert numbers(cells(README, "a launch from Python")[0]) == [
        round(float(time) + 1e-9, 1) for time in row[1:4]
    ]


def test_the_sum_of_arrays():
    table = BENCHMARKS[BENCHMARKS.index("| GB/s, 1 GiB float32 |") :]
    assert numbers(cells(README, "`x + y` of 1 GiB")[0]) == [
        float(cell) for cell in cells(table, "add")[:3]
    ]


def test_the_kernels_on_the_cpu():
    mean = [cell for cell in cells(BENCHMARKS, "geometric mean") if cell]
    assert numbers(cells(README, "17 kernels on the CPU")[0]) == [
        float(mean[0]),
        round(float(mean[-1]), 1),
    ]
