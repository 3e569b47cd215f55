#!/usr/bin/env python3
"""Generate kernels.pack: the PTX of the library's own kernels for the usual operations and types.

    make_pack.py OUT --package FOLDER --driver LIBRARY [--jobs N]

FOLDER contains the built package. LIBRARY is libskip_launches.so, a driver that runs only the kernels in RUNNING,
whose results later launches depend on. Each operation of operations() is called once. If NVRTC or NumPy is missing,
the pack is empty, and kernels are compiled at their first use. Entries of the old OUT are reused.
core/src/compile/cache/kernel_pack.h describes the format.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import os
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

MAGIC = b"PyCUDA kernels 1"
ROW = struct.Struct("<32s32sQQ")

REAL = ("float32", "float64", "int32", "int64")
NUMBERS = (*REAL, "float16", "complex64")
ARITHMETIC = (
    "x + y|x - y|x * y|x / y|x + 2|x - 2|2 * x|x / 2|1 - x|-x|abs(x)|x ** 2".split("|")
)
COMPARISONS = "x > y|x < y|x == y|x > 1|x < 1|x == 1".split("|")
INTEGERS = "x // y|x % y|x // 2|x % 2|x & y|x | y|x ^ y|x & 1|x << 1|x >> 1".split("|")
FUNCTIONS = ("exp log sqrt sin cos tan tanh floor ceil rint isnan isfinite").split()
REAL_FUNCTIONS = (
    "x // y|x % y|x ** y|np.maximum(x, y)|np.minimum(x, y)|np.maximum(x, 0)|np.clip(x, 0, 1)|np.arctan2(x, y)"
).split("|")
CASTS = (
    "float32:float64 float64:float32 int32:float32 int64:float64 int32:float64 int64:float32 float32:int32 "
    "float64:int64 int64:int32 int32:int64 float32:float16 float16:float32 bool:float32 bool:int32 bool:int64 "
    "uint8:float32 float32:uint8 float32:complex64"
).split()
SORTS = (
    "sort(x)|sort(long)|argsort(x)|median(long)|partition(long, 9)|unique(x)|searchsorted(x, y)"
).split("|")
REDUCTIONS = "sum mean max min argmax argmin".split()
FUSED = (
    "np.linalg.norm(x)|np.linalg.norm(long)|np.linalg.norm(m, axis=1)|np.ptp(x)|np.nan_to_num(x)|np.nanmean(x)|"
    "np.isclose(x, y)|np.allclose(x, y)|np.array_equal(x, y)|special.softmax(m, -1)|special.logsumexp(m, -1)"
).split("|")
RUNNING = ("x[b]", "long[long_b]", "np.nonzero(long_b)")
#: By the name of an array: contiguous, long and contiguous, a matrix by columns and by rows.
REDUCED = ("x.{}()", "long.{}()", "m.{}(axis=0)", "m.{}(axis=1)")


def operations() -> Iterator[tuple[str, str]]:
    """Each operation, with the type of the elements of `x`, `y`, `long`, `m`."""
    for dtype in NUMBERS:
        yield from ((dtype, text) for text in ARITHMETIC)
        yield from ((dtype, text) for text in ("x.copy()", "x.fill(1)", "m.T.copy()"))
        yield from (
            (dtype, text) for text in ("x[::2].copy()", "x[i]", "np.where(b, x, y)")
        )
        yield dtype, "long.sum()"
        yield dtype, "x.sum()"
    for dtype in REAL:
        yield from ((dtype, text) for text in COMPARISONS)
        yield from (
            (dtype, text)
            for text in ("m + m[0]", "m * m[0]", "m - m[0]", "m - m[:, :1]")
        )
        yield from (
            (dtype, text) for text in ("x[::2] + y[::2]", "x[b]", "long[long_b]")
        )
        yield from ((dtype, f.format(name)) for name in REDUCTIONS for f in REDUCED)
        yield from ((dtype, text) for text in ("x.cumsum()", "long.cumsum()"))
        yield from ((dtype, f"gpuarray.{text}") for text in SORTS)
    for dtype in ("int32", "int64"):
        yield from ((dtype, text) for text in INTEGERS)
    for dtype in ("float32", "float64"):
        yield from ((dtype, f"np.{name}(x)") for name in FUNCTIONS)
        yield from ((dtype, text) for text in (*REAL_FUNCTIONS, *FUSED))
        yield from ((dtype, f.format("var")) for f in REDUCED)
        yield dtype, "x.std()"
        yield from (
            (dtype, text)
            for text in (
                "square @ square",
                "square @ square[0]",
                "gpuarray.dot(x, y)",
                "np.dot(long, long)",
            )
        )
        yield dtype, "m.cumsum(axis=0)"
    yield from (
        ("bool", text)
        for text in ("x & y", "x | y", "x ^ y", "~x", "np.nonzero(long_b)")
    )
    yield from (
        ("bool", f"{array}.{name}()")
        for array in ("x", "long")
        for name in ("sum", "any", "all", "mean")
    )
    yield "float16", "long.cumsum()"
    yield "float32", "gpuarray.argsort(long)"
    yield from (("complex64", f"np.{name}(x)") for name in ("exp", "conj"))
    for dtype in ("float32", "float64"):
        yield dtype, f"rng.random(8, np.{dtype})"
        yield dtype, f"rng.standard_normal(8, np.{dtype})"
    yield "int64", "rng.integers(0, 6, 8)"
    for cast in CASTS:
        source, target = cast.split(":")
        yield source, f"x.astype('{target}')"


def record(part: int, parts: int) -> None:
    """Call every `parts`-th operation. Operations that fail are skipped and reported."""
    import numpy as np

    import pycuda.autoinit  # noqa: F401
    from pycuda import gpuarray, random, special

    names: dict[str, object] = {"np": np, "gpuarray": gpuarray, "special": special}
    names["rng"] = random.Generator(1)
    names["b"] = gpuarray.to_gpu(np.ones(1024, bool))
    names["long_b"] = gpuarray.to_gpu(np.ones(1 << 18, bool))
    names["i"] = gpuarray.zeros(1024, np.int64)
    skip_launches = ctypes.CDLL(os.environ["PYCUDA_DRIVER"]).skip_launches
    for dtype, text in list(operations())[part::parts]:
        names["x"] = gpuarray.zeros(1024, dtype)
        names["y"] = gpuarray.zeros(1024, dtype)
        names["long"] = gpuarray.zeros(1 << 18, dtype)
        names["m"] = names["long"].reshape(512, 512)
        names["square"] = names["x"][:256].reshape(16, 16)  # larger ones go to BLAS
        skip_launches(text not in RUNNING)
        try:
            eval(text, names)
        except Exception as error:
            print(f"kernel pack: {text} of {dtype}: {error}", file=sys.stderr)


def write_pack(path: Path, entries: dict[bytes, bytes]) -> None:
    """Write the file: entries by key; each contains the architecture, a line end and PTX."""
    place = len(MAGIC) + 8 + ROW.size * len(entries)
    head = [MAGIC, struct.pack("<Q", len(entries))]
    for key in sorted(entries):
        entry = entries[key]
        head.append(ROW.pack(key, hashlib.sha256(entry).digest(), place, len(entry)))
        place += len(entry)
    unfinished = path.with_suffix(f".{os.getpid()}")
    unfinished.write_bytes(b"".join(head + [entries[key] for key in sorted(entries)]))
    unfinished.replace(path)


def missing() -> str:
    """The name of a missing package that is required; empty if there is none."""
    probe = "import numpy, pycuda.compiler as c; c.compile('', target='ptx', cache_dir=False)"
    run = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=False
    )
    return run.stderr.strip().splitlines()[-1] if run.returncode else ""


def main() -> None:
    """Start processes that record kernels, then merge their results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--package", required=True, help="the folder that holds pycuda")
    parser.add_argument("--driver", required=True, help="libskip_launches.so")
    parser.add_argument("--jobs", type=int, default=min(os.cpu_count() or 1, 8))
    parser.add_argument("--part", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part is not None:
        return record(options.part, options.jobs)
    with tempfile.TemporaryDirectory() as folder:
        for name in [name for name in os.environ if name.startswith("SOFTCUDA_")]:
            del os.environ[name]
        os.environ.update(
            PYTHONPATH=options.package,
            PYCUDA_DRIVER=options.driver,
            PYCUDA_KERNEL_PACK=str(options.out),
            PYCUDA_CACHE_DIR=os.path.join(folder, "cache"),
            PYCUDA_RECORD_KERNELS=folder,
        )
        os.environ.pop("PYCUDA_DISABLE_CACHE", None)
        if lack := missing():
            print(f"kernel pack: left empty: {lack}", file=sys.stderr)
            return write_pack(options.out, {})
        parts = [
            subprocess.Popen(
                [sys.executable, *sys.argv, f"--jobs={options.jobs}", f"--part={part}"]
            )
            for part in range(options.jobs)
        ]
        for part in parts:
            if part.wait() != 0:
                print(
                    f"kernel pack: a process ended with {part.returncode}",
                    file=sys.stderr,
                )
        entries = {
            bytes.fromhex(file.name): file.read_bytes()
            for file in Path(folder).iterdir()
            if file.is_file()
        }
        write_pack(options.out, entries)


if __name__ == "__main__":
    main()
