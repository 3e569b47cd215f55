"""Input files for programs whose own data is not part of their collection. The same at each call."""

from __future__ import annotations

import random
from pathlib import Path


def graph(file: Path) -> None:
    """100,000 nodes with 2 to 10 edges each, as Rodinia's bfs reads them."""
    source, nodes = random.Random(1), 100_000
    degrees = [source.randint(2, 10) for _ in range(nodes)]
    lines, start = [str(nodes)], 0
    for degree in degrees:
        lines.append(f"{start} {degree}")
        start += degree
    lines += ["", "0", "", str(start)]
    lines += [f"{source.randrange(nodes)} 1" for _ in range(start)]
    file.write_text("\n".join(lines) + "\n")


def read_pairs(file: Path) -> None:
    """30,000 pairs of DNA sequences of 100 bases; the second is the first with up to 12 edits."""
    source = random.Random(2)
    lines = []
    for _ in range(30_000):
        read = source.choices("ACGT", k=100)
        reference = read.copy()
        for _ in range(source.randint(0, 12)):
            reference[source.randrange(100)] = source.choice("ACGT")
        lines.append("".join(read) + "\t" + "".join(reference))
    file.write_text("\n".join(lines) + "\n")
