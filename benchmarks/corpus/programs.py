"""The programs of the corpus: where each is, its arguments, and how its output is read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Row:
    """A program of a collection that also has an OpenMP version (the twin).

    ``source``, ``twin``: files in the checkout. ``arguments`` are both programs', unless
    ``twin_arguments`` are given. ``time``: a regular expression for the times in the output. Its groups
    are the number and the unit; ``unit`` replaces the second group. ``check``: "pass" if the program
    compares with a reference and prints ``passed``, "output" if the two programs must print the same
    numbers, within ``tolerance``, apart from the times.
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
    time: str = (
        r"(?:time|Time)[^\n]*?([0-9.]+(?:e[+-]?\d+)?)\s*\(?(us|ms|ns|s|sec|seconds)\b"
    )

    def __post_init__(self):
        if self.collection == "hecbench":
            self.source = self.source or f"src/{self.name}-cuda/main.cu"
            self.twin = self.twin or f"src/{self.name}-omp/main.cpp"


ROWS = [
    Row("floydwarshall", "256 5 16"),
    Row("adam", "10000 200 10"),
    Row("background-subtract", "1024 512 0 22"),
    Row("bilateral", "512 512 0.5 0.5 5"),
    Row("chacha20", "100"),
    Row("concat", "20"),
    Row("convolution1D", "1048576 10"),
    Row("cross", "1000000 10"),
    Row("dense-embedding", "1000 64 20"),
    Row("entropy", "512 512 10"),
    Row("gabor", "1024 1024 10"),
    Row("geglu", "5"),
    Row("glu", "3 256 10"),
    Row("heat2d", "512 512 50"),
    Row("hausdorff", "4000 4000 5"),
    Row("jenkins-hash", "256 262144 10"),
    Row("lombscargle", "3"),
    Row("mask", "128 128 128 10"),
    Row("matern", "50 5"),
    Row("matrix-rotate", "1000 10"),
    Row("maxpool3d", "256 256 8 10"),
    Row("mrc", "1000000 10"),
    Row("page-rank", "-n 2000 -i 20"),
    Row("pointwise", "10 4 128 64 5"),
    Row("pool", "8 8 112 112 27 27 10"),
    Row("present", "1000 5"),
    Row("reverse", "100"),
    Row("romberg", "64 64 20"),
    Row("scan", "1048576 10"),
    Row("sosfil", "5"),
    Row("stddev", "1024 1024 10"),
    Row("surfel", "128 64 48 5"),
    Row("threadfence", "10 1000000"),
    Row("unfold", "100000 20"),
    Row("vanGenuchten", "64 64 64 20"),
    Row("wyllie", "100000 1 5"),
    Row("zeropoint", "1000000 10"),
    Row("laplace3d", "64 64 64 10 1"),
    Row("atomicCost", "1 2"),
    Row("layout", "10"),
    Row("burger", "512 512 20"),
    Row("cbsfil", "1024 1024 5"),
    Row("depixel", "512 512 5", check="output"),
    Row("flip", "3 128 5"),
    Row("keogh", "128 200000 5"),
    Row("langevin", "1000000 10", check="output"),
    Row("lif", "1000 32 100"),
    Row("popcount", "1000000 20", passed="Success"),
]
