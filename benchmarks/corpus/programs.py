"""The programs of the corpus: where each is, its arguments, and how its output is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import inputs


@dataclass
class Row:
    """A program of a collection that also has an OpenMP version (the twin).

    ``source``, ``twin``: files in the checkout. ``arguments`` are both programs', unless
    ``twin_arguments`` are given. ``time``: a regular expression for the times in the output. Its groups
    are the number and the unit; ``unit`` replaces the second group. ``check``: "pass" if the program
    compares with a reference and prints ``passed``, "output" if the two programs must print the same
    numbers, within ``tolerance``, apart from the times. ``input`` writes a file that the program reads;
    INPUT in the arguments is its path. ``edits``: pairs of texts; the second replaces the first in both
    sources, for sizes that are constants of a program.
    """

    name: str
    arguments: str = ""
    twin_arguments: str | None = None
    collection: str = "hecbench"
    source: str = ""
    twin: str = ""
    check: str = "pass"
    passed: str = "PASS"
    tolerance: float = 1e-3
    unit: str | None = None
    input: Callable[[Path], None] | None = None
    edits: tuple[tuple[str, str], ...] = ()
    time: str = (
        r"(?:time|Time)[^\n]*?([0-9.]+(?:e[+-]?\d+)?)\s*\(?(us|ms|ns|s|sec|seconds)\b"
    )

    def __post_init__(self):
        if self.collection == "hecbench":
            self.source = self.source or f"src/{self.name}-cuda/main.cu"
            self.twin = self.twin or f"src/{self.name}-omp/main.cpp"


ROWS = [
    Row("floydwarshall", "256 5 16"),
    Row("background-subtract", "1024 512 0 22"),
    Row("bilateral", "256 256 0.5 0.5 5"),
    Row(
        "concat",
        "5",
        edits=(
            ("seq_len = 1024", "seq_len = 64"),
            ("batch_size = 8", "batch_size = 1"),
        ),
    ),
    Row("cross", "1000000 10"),
    Row("gabor", "1024 1024 10"),
    Row("glu", "3 256 10"),
    Row("jenkins-hash", "256 262144 10"),
    Row("lombscargle", "1"),
    Row("mask", "128 128 128 10"),
    Row("matrix-rotate", "1000 10"),
    Row("maxpool3d", "256 256 8 10"),
    Row("mrc", "1000000 10"),
    Row("pointwise", "10 4 128 64 5"),
    Row("pool", "8 8 112 112 27 27 10"),
    Row("present", "1000 5"),
    Row("vanGenuchten", "64 64 64 20"),
    Row("zeropoint", "1000000 10"),
    Row("layout", "10"),
    Row("burger", "512 512 20"),
    Row("cbsfil", "1024 1024 5"),
    Row("depixel", "512 512 5", check="output"),
    Row("flip", "3 128 5"),
    Row("keogh", "128 200000 5"),
    Row("langevin", "1000000 10", check="output"),
    Row("lif", "1000 32 100"),
    Row("popcount", "1000000 20", passed="Success"),
    Row(
        "ace",
        "4",
        edits=(
            ("#define DATAXSIZE 400", "#define DATAXSIZE 64\n#define VERIFY"),
            ("#define DATAYSIZE 400", "#define DATAYSIZE 64"),
            ("#define DATAZSIZE 400", "#define DATAZSIZE 64"),
        ),
    ),
    Row(
        "bfs",
        "INPUT",
        source="src/bfs-cuda/bfs.cu",
        twin="src/bfs-omp/bfs.cpp",
        passed="Passed",
        input=inputs.graph,
    ),
    Row("bitonic-sort", "18 2"),
    Row("cooling", "100000 5"),
    Row(
        "gaussian",
        "-q -t -s 512",
        source="src/gaussian-cuda/gaussianElim.cu",
        twin="src/gaussian-omp/gaussianElim.cpp",
    ),
    Row("jacobi", edits=(("#define N 2048", "#define N 256"),)),
    Row("kalman", "1000 50 3 5"),
    Row("md", "0 10", check="output"),
    Row("michalewicz", "1000000 5", check="output"),
    Row("nqueen", "11 5 5", check="output"),
    Row("randomAccess", "1"),
    Row("scatterAdd", "200000 32 8 10"),
    Row("secp256k1", "5"),
    Row(
        "snake",
        "100 INPUT 30000 5",
        input=inputs.read_pairs,
        time=r"kernel time \(us\): ([0-9.]+)",
        unit="us",
    ),
]
