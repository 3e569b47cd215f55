"""Kernels that nobody listed or tuned, beside plain C++ of one thread, in turn; processor time.

    ninja -C build/release hand_written && ./run benchmarks/softcuda/unlisted_kernels.py [NAME...]

The kernels are ``kernels/unlisted.cu``, the loops ``hand_written/unlisted.cpp``: matrices, images, text, graphs,
lattices, dynamic programming, a histogram and an interpreter. Each ratio is the least time of the C++ function divided
by softcuda's: more is better, and the worst is first. The results are compared before.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

if "--processor-time" not in sys.argv:
    sys.argv.append("--processor-time")

import numpy as np
from course_kernels import Row, least, row

from pycuda.compiler import SourceModule

SIDE, NODES, TEXT = 512, 1 << 15, 1 << 20
CELLS = SIDE * SIDE
LINE, TILE = (256, 1, 1), (32, 8, 1)
CALLS = 8  # between two looks at the clock


def cases() -> Iterator[tuple]:
    """Name, inputs, output, numbers, and threads of each kernel: a number, or columns and rows."""
    rng = np.random.default_rng(1)

    def floats(*shape: int) -> np.ndarray:
        return rng.random(shape, np.float32)

    def numbers(most: int, count: int, kind: type) -> np.ndarray:
        return rng.integers(0, most, count).astype(kind)

    image, pixels = floats(CELLS), numbers(256, 3 * CELLS, np.uint8)
    text = rng.choice(np.frombuffer(b"abc  abac", np.uint8), TEXT)
    words = rng.choice(np.frombuffer(b"acgt", np.uint8), (2, 4096, 32))
    starts = np.zeros(NODES + 1, np.int32)
    starts[1:] = np.cumsum(rng.poisson(16, NODES))
    level = rng.integers(-1, 3, NODES).astype(np.int32)
    best = numbers(1000, CELLS, np.int32)
    spins = rng.choice(np.array([-1, 1], np.int8), CELLS)
    square, many = [SIDE, SIDE], 1 << 14
    yield "mat4", [floats(many, 16), floats(many, 16)], floats(many, 16), [many], many
    yield "flip", [image], image * 0, square, CELLS
    columns = floats(4 * 9 * 128 * 128)
    yield "im2col", [floats(4, 128, 128)], columns, [4, 128, 128], columns.size
    yield "bias_nchw", [floats(64)], image, [CELLS, 64, 1024], CELLS
    yield "swap_rb", [pixels], pixels * 0, [CELLS], CELLS
    yield "bright", [pixels], pixels * 0, [CELLS, 90], CELLS
    yield "life", [numbers(2, CELLS, np.uint8)], pixels[:CELLS] * 0, square, square
    links = numbers(NODES, starts[-1], np.int32)
    yield "bfs_level", [starts, links, level], level.copy(), [NODES, 1], NODES
    counts = np.zeros(TEXT // 64, np.int32)
    yield "count_words", [text], counts, [TEXT, 64], counts.size
    yield "match4", [text], np.zeros(TEXT, np.int32), [TEXT], TEXT
    yield "edit", list(words), np.zeros(4096, np.int32), [4096, 32], 4096
    yield "odd_even", [], best.copy(), [CELLS, 1], CELLS // 2
    yield "byte_hist", [text], np.zeros(256, np.uint32), [TEXT], 64 * 256
    yield "bytecode", [numbers(5, 40, np.int32), image], image * 0, [40, CELLS], CELLS
    yield "ising", [floats(CELLS // 2)], spins, [*square, 0], CELLS // 2
    yield "rot90", [image], image * 0, square, square
    yield "knap", [best], best * 0, [CELLS - 1, 37, 91], CELLS
    yield "row_scan", [floats(1024, 256)], floats(1024, 256), [256, 1024], 1024


def launch_row(module: SourceModule, case: tuple) -> Row:
    name, inputs, output, numbers, threads = case
    if isinstance(threads, list):
        block, grid = (
            TILE,
            tuple(-(-n // t) for n, t in zip(threads, TILE[:2], strict=True)),
        )
    else:
        block, grid = LINE, (-(-threads // LINE[0]), 1)
    numbers = tuple(map(np.int32, numbers))
    return row(module, name, name, inputs, output, numbers, grid, block)


def often(run: Callable[[], None]) -> Callable[[], None]:
    def runs() -> None:
        for _ in range(CALLS):
            run()

    return runs


def main() -> None:
    source = Path(__file__).with_name("kernels") / "unlisted.cu"
    module = SourceModule(source.read_text(), no_extern_c=True)
    named = [word for word in sys.argv[1:] if not word.startswith("--")]
    rows = []
    for case in cases():
        if named and case[0] not in named:
            continue
        run, theirs, results = launch_row(module, case)
        run()
        theirs()
        np.testing.assert_allclose(*results(), rtol=1e-3, atol=1e-4, err_msg=case[0])
        ours, other = (time / CALLS for time in least([often(run), often(theirs)]))
        rows.append((other / ours, case[0], ours * 1e3, other * 1e3))
    print("| kernel | softcuda, ms | C++, ms | ratio |\n|---|---|---|---|")
    for ratio, name, ours, other in sorted(rows):
        print(f"| {name} | {ours:.3f} | {other:.3f} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
