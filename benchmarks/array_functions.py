"""NumPy's functions on long arrays: ours compared with CuPy's and torch's, or with NumPy's on the CPU.

    ./run benchmarks/array_functions.py [--one-thread] [names of operations]

Milliseconds of a call that waits for the device, the best of three rounds; results are allocated. An array has
64 Mi elements on a GPU (the peers: CuPy and torch, where they are installed), 4 Mi on the CPU (the peer: NumPy,
on one thread). The ratio is the quickest peer's time divided by ours; the smallest ratios come first.
``--one-thread`` uses one thread of the CPU for each side, and prints the least time of 20 calls of both in turn.
Processor time would count the polls of the waiting thread, too.
"""

import os
import sys
import time
import types

if "--one-thread" in sys.argv:  # set before the libraries are loaded
    os.environ |= dict.fromkeys(("SOFTCUDA_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    os.environ["PYCUDA_DRIVER"] = "softcuda"

import numpy as np
import timing

import pycuda.autoinit  # noqa: F401
import pycuda.driver as cuda
from pycuda import gpuarray

ONE_THREAD = "--one-thread" in sys.argv
ON_CPU = "softcuda" in cuda.get_driver_path()
COUNT = 1 << 22 if ON_CPU else 1 << 26
SIDE = 1 << (COUNT.bit_length() // 2)


def operands(array):
    """The operands of the operations, which ``array`` makes from numpy's arrays."""
    random = np.random.default_rng(0)
    x = random.random(COUNT, dtype=np.float32)
    flat = array(x)
    return types.SimpleNamespace(
        x=flat,
        y=array(x[::-1] + np.float32(0.1)),
        m=flat.reshape(SIDE, -1),
        cube=flat.reshape(COUNT >> 18, 512, 512),
        half=array(x.astype(np.float16)),
        double=array(x[: COUNT // 2].astype(np.float64)),
        whole=array((x * 1e6).astype(np.int32)),
        mask=array(x > 0.5),
        none=array(x > 2),
        places=array(random.integers(0, COUNT, COUNT // 4)),
        sorted=array(np.sort(x[: COUNT // 64])),
    )


#: name: (in numpy's words, in torch's; None where torch has no such function).
OPERATIONS = {
    "transpose": (lambda np, d: d.m.T.copy("C"), lambda t, d: d.m.T.contiguous()),
    "m + m.T": (lambda np, d: d.m + d.m.T, lambda t, d: d.m + d.m.T),
    "transpose (2, 0, 1)": (
        lambda np, d: d.cube.transpose(2, 0, 1).copy("C"),
        lambda t, d: d.cube.permute(2, 0, 1).contiguous(),
    ),
    "astype float16": (lambda np, d: d.x.astype(np.float16), lambda t, d: d.x.half()),
    "astype float64": (lambda np, d: d.x.astype(np.float64), lambda t, d: d.x.double()),
    "float16 + float16": (lambda np, d: d.half + d.half, lambda t, d: d.half + d.half),
    "matrix + row": (lambda np, d: d.m + d.m[0], lambda t, d: d.m + d.m[0]),
    "matrix + column": (lambda np, d: d.m + d.m[:, :1], lambda t, d: d.m + d.m[:, :1]),
    "x[::2] + y[::2]": (lambda np, d: d.x[::2] + d.y[::2], lambda t, d: d.x[::2] + d.y[::2]),
    "where": (lambda np, d: np.where(d.mask, d.x, d.y), lambda t, d: t.where(d.mask, d.x, d.y)),
    "x > 0.5": (lambda np, d: d.x > 0.5, lambda t, d: d.x > 0.5),
    "clip": (lambda np, d: np.clip(d.x, 0.2, 0.7), lambda t, d: t.clip(d.x, 0.2, 0.7)),
    "sin": (lambda np, d: np.sin(d.x), lambda t, d: t.sin(d.x)),
    "x ** y": (lambda np, d: d.x**d.y, lambda t, d: d.x**d.y),
    "x // y": (lambda np, d: d.x // d.y, lambda t, d: d.x // d.y),
    "integers // 7": (lambda np, d: d.whole // 7, lambda t, d: d.whole // 7),
    "x[indices]": (lambda np, d: d.x[d.places], lambda t, d: d.x[d.places]),
    "x[indices] = 1": (
        lambda np, d: d.y.__setitem__(d.places, 1),
        lambda t, d: d.y.__setitem__(d.places, 1),
    ),
    "x[mask]": (lambda np, d: d.x[d.mask], lambda t, d: d.x[d.mask]),
    "x[mask] = 1": (lambda np, d: d.y.__setitem__(d.mask, 1), lambda t, d: d.y.__setitem__(d.mask, 1)),
    "nonzero": (lambda np, d: np.nonzero(d.mask), lambda t, d: t.nonzero(d.mask)),
    "count_nonzero": (lambda np, d: np.count_nonzero(d.mask), lambda t, d: t.count_nonzero(d.mask)),
    "concatenate": (lambda np, d: np.concatenate([d.x, d.y]), lambda t, d: t.cat([d.x, d.y])),
    "concatenate, axis 1": (lambda np, d: np.concatenate([d.m, d.m], 1), lambda t, d: t.cat([d.m, d.m], 1)),
    "roll": (lambda np, d: np.roll(d.x, 1000), lambda t, d: t.roll(d.x, 1000)),
    "flip": (lambda np, d: np.flip(d.x).copy(), lambda t, d: t.flip(d.x, [0])),
    "tile": (lambda np, d: np.tile(d.x, 2), lambda t, d: d.x.repeat(2)),
    "repeat": (lambda np, d: np.repeat(d.x, 2), lambda t, d: t.repeat_interleave(d.x, 2)),
    "pad": (lambda np, d: np.pad(d.m, 1), lambda t, d: t.nn.functional.pad(d.m, (1, 1, 1, 1))),
    "diff": (lambda np, d: np.diff(d.x), lambda t, d: t.diff(d.x)),
    "max": (lambda np, d: d.x.max(), lambda t, d: d.x.max()),
    "argmax": (lambda np, d: d.x.argmax(), lambda t, d: d.x.argmax()),
    "argmax, axis 0": (lambda np, d: d.m.argmax(0), lambda t, d: d.m.argmax(0)),
    "argmax, axis 1": (lambda np, d: d.m.argmax(1), lambda t, d: d.m.argmax(1)),
    "any of none": (lambda np, d: d.none.any(), lambda t, d: d.none.any()),
    "sum of float64": (lambda np, d: d.double.sum(), lambda t, d: d.double.sum()),
    "mean, axis 0": (lambda np, d: d.m.mean(0), lambda t, d: d.m.mean(0)),
    "sum, axis 1 of 3": (lambda np, d: d.cube.sum(1), lambda t, d: d.cube.sum(1)),
    "sum, axes 0 and 2": (lambda np, d: d.cube.sum((0, 2)), lambda t, d: d.cube.sum((0, 2))),
    "std": (lambda np, d: d.x.std(), lambda t, d: d.x.std()),
    "var, axis 0": (lambda np, d: d.m.var(0), lambda t, d: d.m.var(0)),
    "var, axis 1": (lambda np, d: d.m.var(1), lambda t, d: d.m.var(1)),
    "cumsum, axis 0": (lambda np, d: d.m.cumsum(0), lambda t, d: d.m.cumsum(0)),
    "cumsum, axis 1": (lambda np, d: d.m.cumsum(1), lambda t, d: d.m.cumsum(1)),
    "cumprod of float64": (lambda np, d: d.double.cumprod(), lambda t, d: d.double.cumprod(0)),
    "sort, axis 1": (lambda np, d: np.sort(d.m, 1), lambda t, d: t.sort(d.m, 1)),
    "argsort": (lambda np, d: np.argsort(d.x), lambda t, d: t.argsort(d.x)),
    "unique": (lambda np, d: np.unique(d.whole), lambda t, d: t.unique(d.whole)),
    "searchsorted": (
        lambda np, d: np.searchsorted(d.sorted, d.x),
        lambda t, d: t.searchsorted(d.sorted, d.x),
    ),
    "partition, 1000th": (lambda np, d: np.partition(d.x, 1000), lambda t, d: t.topk(d.x, 1000)),
    "median": (lambda np, d: np.median(d.x), lambda t, d: t.median(d.x)),
    "einsum ij,j->i": (
        lambda np, d: np.einsum("ij,j->i", d.m, d.m[0]),
        lambda t, d: t.einsum("ij,j->i", d.m, d.m[0]),
    ),
    "matrix @ vector": (lambda np, d: d.m @ d.m[0], lambda t, d: d.m @ d.m[0]),
    "outer": (lambda np, d: np.outer(d.m[0], d.m[1]), lambda t, d: t.outer(d.m[0], d.m[1])),
    "histogram": (lambda np, d: np.histogram(d.x, 100), lambda t, d: t.histc(d.x, 100)),
    "bincount": (lambda np, d: np.bincount(d.whole), lambda t, d: t.bincount(d.whole)),
}  # fmt: skip


def peers():
    """Each peer's name, its namespace, the index of its spelling in OPERATIONS, its arrays and its wait."""
    if ON_CPU:
        return [("NumPy", np, 0, operands(np.array), lambda: None)]
    found = []
    try:
        import cupy

        found.append(
            (
                "CuPy",
                cupy,
                0,
                operands(cupy.asarray),
                cupy.cuda.runtime.deviceSynchronize,
            )
        )
    except ImportError as error:
        print(f"without CuPy: {error}")
    try:
        import torch

        def array(host):
            return torch.from_numpy(np.ascontiguousarray(host)).cuda()

        found.append(("torch", torch, 1, operands(array), torch.cuda.synchronize))
    except ImportError as error:
        print(f"without torch: {error}")
    return found


def milliseconds(library, words):
    _, namespace, which, data, wait = library
    return 1e3 * timing.best(lambda: words[which](namespace, data), wait, 3, 3)


def milliseconds_in_turn(libraries, words):
    """The least time of a call of each library, in several rounds of all."""
    least = [float("inf")] * len(libraries)
    for _ in range(20):
        for k, (_, namespace, which, data, wait) in enumerate(libraries):
            start = time.perf_counter()
            words[which](namespace, data)
            wait()
            least[k] = min(least[k], 1e3 * (time.perf_counter() - start))
    return least


def main():
    libraries = [
        ("pycuda", np, 0, operands(gpuarray.to_gpu), cuda.Context.synchronize),
        *peers(),
    ]
    wanted = [name for name in sys.argv[1:] if name != "--one-thread"] or OPERATIONS
    rows = []
    for name in wanted:
        words = OPERATIONS[name]
        if ONE_THREAD:
            times = milliseconds_in_turn(libraries, words)
        else:
            times = [milliseconds(each, words) for each in libraries]
        ratio = min(times[1:], default=float("nan")) / times[0]
        rows.append((ratio, name, times))
    print(
        f"| {COUNT >> 20} Mi elements, ms | "
        + " | ".join(each[0] for each in libraries)
        + " | ratio |"
    )
    print("|---" * (len(libraries) + 2) + "|")
    for ratio, name, times in sorted(rows):
        print(
            f"| {name} | "
            + " | ".join(f"{one:.3g}" for one in times)
            + f" | {ratio:.2f} |"
        )


if __name__ == "__main__":
    main()
