"""The kernels of the suite: inputs, launches, and the results that NumPy computes.

A case is the same for CUDA C++ (``kernels/NAME.cu``), OpenCL C (``kernels/NAME.cl``) and hand-written C++
(``hand_written/``): all three have the same arrays, by name, and the same numbers in the same order as arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

KERNELS = Path(__file__).parent / "kernels"
Arrays = dict[str, np.ndarray]
Argument = str | np.generic  # the name of an array, or a number


@dataclass(frozen=True)
class Launch:
    """One launch: the kernel's name, its arguments, grid and block."""

    kernel: str
    arguments: tuple[Argument, ...]
    grid: tuple[int, ...]
    block: tuple[int, ...]


@dataclass
class Case:
    """One row of the table."""

    name: str
    title: str
    size: str
    source: str
    arrays: Arrays
    launches: list[Launch]
    hand: tuple[str, tuple[Argument, ...]]
    outputs: tuple[str, ...]
    expected: Callable[[Arrays], Arrays] = field(repr=False)
    tolerance: float = 0.0  # of a value, relative to 1 + its magnitude
    exceptions: float = 0.0  # the share of values that may be wrong
    opencl: bool = True

    def text(self, language: str) -> str:
        """The kernels' source; ``language`` is "cu" or "cl"."""
        return (KERNELS / f"{self.source}.{language}").read_text()

    def complaint(self, seen: Arrays, wanted: Arrays) -> str | None:
        """A description of what is wrong with a result, or None."""
        for name in self.outputs:
            a, b = seen[name].astype(float), wanted[name].astype(float)
            off = ~(np.abs(a - b) <= self.tolerance * (1 + np.abs(b)))
            if off.sum() > self.exceptions * off.size:
                i = np.unravel_index(np.argmax(off), off.shape)
                return (
                    f"{off.sum()} of {off.size} values of {name!r} are off; "
                    f"the first, at {i}, is {a[i]}, expected {b[i]}"
                )
        return None


def numbers(n: int, seed: int = 1) -> np.ndarray:
    """n floats in [-0.5, 0.5)."""
    return np.random.default_rng(seed).random(n, np.float32) - np.float32(0.5)


def i32(value: int) -> np.int32:
    return np.int32(value)


def saxpy(small: bool) -> Case:
    n = 1 << (12 if small else 24)
    arguments = (np.float32(2), "x", "y", i32(n))
    return Case(
        "saxpy", "saxpy", f"{n >> 20} Mi", "saxpy",
        {"x": numbers(n), "y": numbers(n, 2)},
        [Launch("saxpy", arguments, (n // 256,), (256,))],
        ("saxpy", arguments),
        ("y",),
        lambda a: {"y": a["y"] + np.float32(2) * a["x"]},
        1e-6,
    )  # fmt: skip


def pi_mapper(small: bool) -> Case:
    n = 1 << (12 if small else 20)
    arguments = ("dest", i32(n))
    return Case(
        "pi_mapper", "π mapper (double)", f"{n >> 20} Mi", "pi_mapper",
        {"dest": np.zeros(n, np.float32)},
        [Launch("pi_mapper", arguments, (n // 512,), (512,))],
        ("pi_mapper", arguments),
        ("dest",),
        lambda a: {"dest": 4 / (1 + (np.arange(n) / n) ** 2)},
        1e-6,
    )  # fmt: skip


def reduction(small: bool, name: str, title: str) -> Case:
    pieces = 5 if small else 8192
    return Case(
        name, title, f"{pieces * 2048 >> 20} Mi", name,
        {"x": numbers(pieces * 2048), "sums": np.zeros(pieces, np.float32)},
        [Launch(name, ("x", "sums"), (pieces,), (256,))],
        ("piece_sums", ("x", "sums", i32(pieces))),
        ("sums",),
        lambda a: {"sums": a["x"].reshape(-1, 2048).sum(1, dtype=float)},
        1e-5,
    )  # fmt: skip


def tree_reduce(small: bool) -> Case:
    return reduction(small, "tree_reduce", "tree reduction, shared memory")


def shuffle_reduce(small: bool) -> Case:
    return reduction(small, "shuffle_reduce", "shuffle reduction")


def matmul(small: bool) -> Case:
    n = 128 if small else 1024
    arguments = ("a", "b", "c", i32(n))
    return Case(
        "matmul", "16×16-tiled matmul", f"{n}²", "matmul",
        {"a": numbers(n * n), "b": numbers(n * n, 2), "c": np.zeros(n * n, np.float32)},
        [Launch("matmul", arguments, (n // 16, n // 16), (16, 16))],
        ("matmul", arguments),
        ("c",),
        lambda a: {"c": (a["a"].reshape(n, n) @ a["b"].reshape(n, n)).ravel()},
        1e-4,
    )  # fmt: skip


def transpose(small: bool) -> Case:
    n = 96 if small else 4096
    arguments = ("in", "out", i32(n))
    return Case(
        "transpose", "transpose, 32×33 tile", f"{n}²", "transpose",
        {"in": numbers(n * n), "out": np.zeros(n * n, np.float32)},
        [Launch("transpose", arguments, (n // 32, n // 32), (32, 8))],
        ("transpose", arguments),
        ("out",),
        lambda a: {"out": a["in"].reshape(n, n).T.ravel()},
    )  # fmt: skip


def escape_counts(n: int, limit: int) -> np.ndarray:
    step = np.float32(2.6) / np.float32(n)
    cx = (np.float32(-2) + np.arange(n, dtype=np.float32) * step)[None, :]
    cy = (np.float32(-1.3) + np.arange(n, dtype=np.float32) * step)[:, None]
    x, y = np.zeros((n, n), np.float32), np.zeros((n, n), np.float32)
    counts, inside = np.zeros((n, n), np.int32), np.ones((n, n), bool)
    for _ in range(limit):
        inside &= x * x + y * y <= 4
        counts += inside
        x, y = (
            np.where(inside, x * x - y * y + cx, x),
            np.where(inside, 2 * x * y + cy, y),
        )
    return counts.ravel()


def mandelbrot(small: bool) -> Case:
    n, limit = (128, 64) if small else (2048, 256)
    arguments = ("counts", i32(n), i32(n), i32(limit))
    return Case(
        "mandelbrot", f"Mandelbrot, {limit} iterations", f"{n}²", "mandelbrot",
        {"counts": np.zeros(n * n, np.int32)},
        [Launch("mandelbrot", arguments, (n // 32, n // 8), (32, 8))],
        ("mandelbrot", arguments),
        ("counts",),
        lambda a: {"counts": escape_counts(n, limit)},
        exceptions=0.01,  # near the set's edge the rounding decides
    )  # fmt: skip


def accelerations(bodies: np.ndarray) -> np.ndarray:
    place, mass = bodies[:, :3].astype(float), bodies[:, 3].astype(float)
    d = place[None, :, :] - place[:, None, :]
    scale = mass * ((d**2).sum(2) + 1e-3) ** -1.5
    result = np.zeros_like(bodies)
    result[:, :3] = (d * scale[:, :, None]).sum(1)
    return result


def n_body(small: bool) -> Case:
    n = 512 if small else 8192
    arguments = ("bodies", "accelerations", i32(n))
    bodies = np.random.default_rng(1).random((n, 4), np.float32)
    return Case(
        "n_body", "n-body, shared-memory tiles", f"{n}", "n_body",
        {"bodies": bodies, "accelerations": np.zeros_like(bodies)},
        [Launch("n_body", arguments, (n // 256,), (256,))],
        ("n_body", arguments),
        ("accelerations",),
        lambda a: {"accelerations": accelerations(a["bodies"])},
        1e-3,
    )  # fmt: skip


RATE, VOLATILITY = np.float32(0.02), np.float32(0.3)


def normal_cdf(d: np.ndarray) -> np.ndarray:
    k = 1 / (1 + 0.2316419 * np.abs(d))
    polynomial = k * (0.31938153 + k * (-0.356563782 + k * (
        1.781477937 + k * (-1.821255978 + k * 1.330274429))))  # fmt: skip
    tail = 0.39894228 * np.exp(-0.5 * d * d) * polynomial
    return np.where(d > 0, 1 - tail, tail)


def option_prices(a: Arrays) -> Arrays:
    s, x, t = (a[name].astype(float) for name in ("price", "strike", "years"))
    root = VOLATILITY * np.sqrt(t)
    d1 = (np.log(s / x) + (RATE + 0.5 * VOLATILITY**2) * t) / root
    c1, c2 = normal_cdf(d1), normal_cdf(d1 - root)
    discounted = x * np.exp(-RATE * t)
    return {
        "call": s * c1 - discounted * c2,
        "put": discounted * (1 - c2) - s * (1 - c1),
    }


def black_scholes(small: bool) -> Case:
    n = 1 << (12 if small else 22)
    random = np.random.default_rng(1)
    arguments = ("call", "put", "price", "strike", "years", RATE, VOLATILITY, i32(n))
    return Case(
        "black_scholes", "Black–Scholes", f"{n >> 20} Mi", "black_scholes",
        {
            "call": np.zeros(n, np.float32),
            "put": np.zeros(n, np.float32),
            "price": random.uniform(5, 30, n).astype(np.float32),
            "strike": random.uniform(1, 100, n).astype(np.float32),
            "years": random.uniform(0.25, 10, n).astype(np.float32),
        },
        [Launch("black_scholes", arguments, (n // 256,), (256,))],
        ("black_scholes", arguments),
        ("call", "put"),
        option_prices,
        1e-4,
    )  # fmt: skip


def jacobi(grid: np.ndarray, n: int) -> np.ndarray:
    a, out = grid.reshape(n, n), np.zeros((n, n), np.float32)
    out[1:-1, 1:-1] = 0.5 * a[1:-1, 1:-1] + 0.125 * (
        a[1:-1, :-2] + a[1:-1, 2:] + a[:-2, 1:-1] + a[2:, 1:-1]
    )
    return out.ravel()


def stencil(small: bool) -> Case:
    n = 128 if small else 4096
    arguments = ("in", "out", i32(n), i32(n))
    return Case(
        "stencil", "2-D stencil, 5 points", f"{n}²", "stencil",
        {"in": numbers(n * n), "out": np.zeros(n * n, np.float32)},
        [Launch("stencil", arguments, (n // 32, n // 8), (32, 8))],
        ("stencil", arguments),
        ("out",),
        lambda a: {"out": jacobi(a["in"], n)},
        1e-6,
    )  # fmt: skip


def heat(grid: np.ndarray, n: int) -> np.ndarray:
    a, out = grid.reshape(n, n, n).astype(float), np.zeros((n, n, n), np.float32)
    inner = a[1:-1, 1:-1, 1:-1]
    around = a[:-2, 1:-1, 1:-1] + a[2:, 1:-1, 1:-1] + a[1:-1, :-2, 1:-1]
    around += a[1:-1, 2:, 1:-1] + a[1:-1, 1:-1, :-2] + a[1:-1, 1:-1, 2:]
    out[1:-1, 1:-1, 1:-1] = inner + 0.1 * (around - 6 * inner)
    return out.ravel()


def heat_3d(small: bool) -> Case:
    n = 40 if small else 320
    arguments = ("in", "out", i32(n))
    return Case(
        "heat_3d", "3-D heat, 7 points", f"{n}³", "heat_3d",
        {"in": numbers(n**3), "out": np.zeros(n**3, np.float32)},
        [Launch("heat_3d", arguments, (-(-n // 32), -(-n // 8), n), (32, 8))],
        ("heat_3d", arguments),
        ("out",),
        lambda a: {"out": heat(a["in"], n)},
        1e-6,
        opencl=False,
    )  # fmt: skip


DIRECTIONS = ((0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1))  # fmt: skip


def lattice_step(cells: np.ndarray, n: int) -> np.ndarray:
    f = cells.reshape(9, n, n).astype(float)
    f = np.stack([np.roll(f[k], (y, x), (0, 1)) for k, (x, y) in enumerate(DIRECTIONS)])
    mass = f.sum(0)
    u, v = (sum(d[axis] * f[k] for k, d in enumerate(DIRECTIONS)) / mass for axis in (0, 1))  # fmt: skip
    for k, (x, y) in enumerate(DIRECTIONS):
        along, weight = x * u + y * v, (4 / 9, 1 / 9, 1 / 36)[abs(x) + abs(y)]
        equilibrium = (
            weight
            * mass
            * (1 - 1.5 * (u * u + v * v) + 3 * along + 4.5 * along * along)
        )
        f[k] += 0.6 * (equilibrium - f[k])
    return f.ravel()


def lattice(small: bool) -> Case:
    n = 72 if small else 1024
    arguments = ("in", "out", i32(n))
    return Case(
        "lattice", "lattice Boltzmann, 9 directions", f"{n}²", "lattice",
        {"in": numbers(9 * n * n) + np.float32(1), "out": np.zeros(9 * n * n, np.float32)},
        [Launch("lattice", arguments, (-(-n // 32), n // 8), (32, 8))],
        ("lattice", arguments),
        ("out",),
        lambda a: {"out": lattice_step(a["in"], n)},
        1e-5,
        opencl=False,
    )  # fmt: skip


def histogram(small: bool) -> Case:
    n, blocks = (10_000, 7) if small else (1 << 24, 256)
    data = np.random.default_rng(1).integers(0, 256, n, np.uint8)
    return Case(
        "histogram", "histogram, shared atomics", f"{n >> 20} Mi", "histogram",
        {"data": data, "bins": np.zeros(256, np.uint32)},
        [Launch("histogram", ("data", "bins", i32(n)), (blocks,), (256,))],
        ("histogram", ("data", "bins", i32(n))),
        ("bins",),
        lambda a: {"bins": np.bincount(a["data"], minlength=256)},
    )  # fmt: skip


def bitonic_sort(small: bool) -> Case:
    pieces = 5 if small else 8192
    keys = np.random.default_rng(1).integers(0, 1 << 32, pieces * 512, np.uint32)
    return Case(
        "bitonic_sort", "bitonic sort of 512s", f"{pieces * 512 >> 20} Mi", "bitonic_sort",
        {"in": keys, "out": np.zeros_like(keys)},
        [Launch("bitonic_sort", ("in", "out"), (pieces,), (512,))],
        ("sort_pieces", ("in", "out", i32(pieces))),
        ("out",),
        lambda a: {"out": np.sort(a["in"].reshape(-1, 512), axis=1).ravel()},
    )  # fmt: skip


def scan(small: bool) -> Case:
    blocks = 1024 * (2 if small else 16)  # so that there are three levels
    n = blocks * 1024

    def level(source: str, result: str, sums: str, blocks: int) -> Launch:
        return Launch("scan_blocks", (source, result, sums), (blocks,), (512,))

    values = np.random.default_rng(1).integers(-1000, 1000, n, np.int32)
    return Case(
        "scan", "exclusive scan", f"{n >> 20} Mi", "scan",
        {
            "in": values,
            "out": np.zeros(n, np.int32),
            "sums": np.zeros(blocks, np.int32),
            "starts": np.zeros(blocks, np.int32),
            "upper_sums": np.zeros(1024, np.int32),
            "upper_starts": np.zeros(1024, np.int32),
            "all": np.zeros(1, np.int32),
        },
        [
            level("in", "out", "sums", blocks),
            level("sums", "starts", "upper_sums", blocks // 1024),
            level("upper_sums", "upper_starts", "all", 1),
            Launch("add_sums", ("starts", "upper_starts"), (blocks // 1024,), (512,)),
            Launch("add_sums", ("out", "starts"), (blocks,), (512,)),
        ],
        ("exclusive_scan", ("in", "out", i32(n))),
        ("out",),
        lambda a: {"out": np.cumsum(a["in"]) - a["in"]},
    )  # fmt: skip


def spmv(small: bool, name: str, title: str, threads_per_row: int) -> Case:
    rows = 1 << (10 if small else 18)
    random = np.random.default_rng(1)
    lengths = random.integers(8, 25, rows)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    row_of = np.repeat(np.arange(rows), lengths)
    # Entries lie near the diagonal, as in most matrices from physics.
    columns = np.clip(row_of + random.integers(-500, 501, row_of.size), 0, rows - 1)
    values = numbers(row_of.size)
    arguments = ("starts", "columns", "values", "x", "y", i32(rows))
    return Case(
        name, title, f"{rows >> 10} Ki rows", "spmv",
        {
            "starts": starts,
            "columns": columns.astype(np.int32),
            "values": values,
            "x": numbers(rows, 2),
            "y": np.zeros(rows, np.float32),
        },
        [Launch(name, arguments, (rows * threads_per_row // 256,), (256,))],
        ("spmv", arguments),
        ("y",),
        lambda a: {"y": np.bincount(row_of, a["values"] * a["x"][a["columns"]])},
        1e-5,
        opencl=threads_per_row == 1,
    )  # fmt: skip


def spmv_thread(small: bool) -> Case:
    return spmv(small, "spmv_thread", "sparse matrix–vector, thread a row", 1)


def spmv_warp(small: bool) -> Case:
    return spmv(small, "spmv_warp", "sparse matrix–vector, warp a row", 32)


def points_inside(blocks: int, steps: int, seed: int) -> np.ndarray:
    """Philox 4x32-10 in NumPy, and the points inside, by block."""
    mask = np.uint64(0xFFFFFFFF)
    thread, step = np.meshgrid(
        np.arange(blocks * 256, dtype=np.uint64), np.arange(steps, dtype=np.uint64)
    )
    zero = np.zeros_like(step)
    c, key = [step, zero, thread, zero], [seed, 0]
    for _ in range(10):
        first, second = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [
            (second >> np.uint64(32)) ^ c[1] ^ np.uint64(key[0]),
            second & mask,
            (first >> np.uint64(32)) ^ c[3] ^ np.uint64(key[1]),
            first & mask,
        ]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    x, y, z, w = ((word >> np.uint64(8)) / 2.0**24 for word in c)
    inside = (x * x + y * y < 1).astype(int) + (z * z + w * w < 1)
    return inside.sum(0).reshape(blocks, 256).sum(1)


def monte_carlo(small: bool) -> Case:
    blocks, steps = (8, 20) if small else (128, 256)
    seed = 12345
    numbers_of_kernel = ("inside", i32(steps), np.uint32(seed))
    return Case(
        "monte_carlo", "Monte Carlo π, Philox", f"{blocks * steps * 512 >> 20} Mi", "monte_carlo",
        {"inside": np.zeros(blocks, np.uint32)},
        [Launch("monte_carlo", numbers_of_kernel, (blocks,), (256,))],
        ("monte_carlo", (*numbers_of_kernel, i32(blocks))),
        ("inside",),
        lambda a: {"inside": points_inside(blocks, steps, seed)},
        1e-4,  # for points near the circle the rounding decides
    )  # fmt: skip


def half_axpy(small: bool) -> Case:
    n = 1 << (12 if small else 24)
    x, y = numbers(n).astype(np.float16), numbers(n, 2).astype(np.float16)
    arguments = (np.float32(0.5), "x", "y", i32(n // 2))
    return Case(
        "half_axpy", "float16 axpy, half2", f"{n >> 20} Mi", "half_axpy",
        {"x": x, "y": y},
        [Launch("half_axpy", arguments, (n // 2 // 256,), (256,))],
        ("half_axpy", arguments),
        ("y",),
        lambda a: {"y": a["y"] + 0.5 * a["x"].astype(float)},
        1e-3,
    )  # fmt: skip


MAKERS: tuple[Callable[[bool], Case], ...] = (
    saxpy, pi_mapper, tree_reduce, shuffle_reduce, matmul, transpose, mandelbrot, n_body,
    black_scholes, stencil, heat_3d, lattice, histogram, bitonic_sort, scan, spmv_thread, spmv_warp, monte_carlo,
    half_axpy,
)  # fmt: skip
NAMES = tuple(maker.__name__ for maker in MAKERS)


def make(name: str, small: bool = False) -> Case:
    """The case of that name; ``small`` for tests."""
    return MAKERS[NAMES.index(name)](small)
