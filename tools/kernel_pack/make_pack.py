#!/usr/bin/env python3
"""Generate kernels.pack or gpu_kernels.pack: the library's own kernels for the usual operations and types.

    make_pack.py OUT --package FOLDER --driver LIBRARY [--jobs N] [--gpus ARCHITECTURE...]

FOLDER contains the built package. LIBRARY is libskip_launches.so, a driver that runs only the kernels in RUNNING,
whose results later launches depend on. Each operation of operations() is called once: on softcuda's device, whose
kernels are PTX, or on a device that looks like a GPU of each ARCHITECTURE, such as 80, whose kernels are machine code
and PTX. If NVRTC or NumPy is missing, the pack is empty, and kernels are compiled at their first use. Entries of the
old OUT are reused. core/src/compile/cache/kernel_pack.h describes the format.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import hashlib
import os
import re
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np

MAGIC = b"PyCUDA kernels 3"
ROW = struct.Struct("<32s32sQIHH")

#: The PTX version of GPUs' entries: as old as their instructions permit, because a driver refuses a version that is
#: newer than the driver. CUDA 12.0 introduced version 8.0.
GPU_VERSION = b"8.0"

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
#: For GPUs, which choose kernels by the number of elements.
SIZED = (
    "x + y|2 * x|x.sum()|x.max()|x.argmax()|x.mean()|x.var()|x.cumsum()|gpuarray.sort(x)|gpuarray.argsort(x)|"
    "gpuarray.median(x)|gpuarray.unique(x)|gpuarray.dot(x, y)"
).split("|")
SIZES = (100, 10_000, 1 << 20, 1 << 24)
#: Whose kernels GPUs choose by the logarithm of the number of elements, for each such number.
HELD, HELD_SIZES = "gpuarray.median(x)", tuple(1 << bits for bits in range(5, 16))
#: For GPUs only.
LARGER = (
    "np.concatenate([x, y])|np.concatenate([long, long])|m[:16, :16].copy()|m.max()|np.histogram(long, 50)|"
    "np.histogram(long, 50, (0, 1))|np.histogram(x, 50)|np.percentile(long, [10, 90])|gpuarray.median(long)|np.where(long_b, long, long)|"
    "np.searchsorted(long, long)"
).split("|")
PRODUCTS = (
    "m @ long[:512]|np.einsum('ij,ij->i', m, m)|np.einsum('ij->i', m)|np.linalg.inv(matrices)|"
    "np.linalg.solve(matrices, matrices)|np.linalg.det(matrices)|m.std()|m.std(axis=0)|m.std(axis=1)|m.T @ long[:512]|"
    "m.copy(order='F')"
).split("|")
#: Whose steps are calls of cuSOLVER and cuFFT with kernels of the library between them; see without_libraries().
BY_LIBRARIES = (
    "np.linalg.solve(m, long[:512])|np.linalg.solve(m, m)|np.linalg.inv(m)|np.linalg.det(m)|np.linalg.slogdet(m)|"
    "np.linalg.cholesky(m)|np.linalg.qr(m)|"
    "np.fft.fft(x)|np.fft.ifft(x)|np.fft.irfft(x)|np.fft.ihfft(x)|np.fft.ifft(x + 0j)"
).split("|")
#: What needs no kernel of the library on a GPU.
CUBLAS = "square @ square"
RUNNING = (
    *("x[b]", "long[long_b]", "np.nonzero(long_b)"),
    *("np.bincount(long)", "np.histogram(long, 50)", "np.histogram(x, 50)"),
)
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
        yield dtype, f"gpuarray.arange(9, dtype='{dtype}')"
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
    yield "float64", "gpuarray.linspace(0, 1, 9)"
    for cast in CASTS:
        source, target = cast.split(":")
        yield source, f"x.astype('{target}')"


def operands(dtype: str, length: int = 1024) -> dict[str, object]:
    """The arrays that the texts of operations() name."""
    from pycuda import gpuarray

    long = gpuarray.zeros(1 << 18, dtype)
    x = (
        gpuarray.zeros(length, dtype)
        if length <= 1024
        else gpuarray.empty(length, dtype)
    )
    return {
        "x": x,
        "y": x.copy(),
        "long": long,
        "m": long.reshape(512, 512),
        "square": long[:256].reshape(16, 16),  # larger ones go to BLAS
        "matrices": long[:4096].reshape(64, 8, 8),
    }


@contextlib.contextmanager
def without_libraries() -> Iterator[None]:
    """Make the calls of cuSOLVER and cuFFT do nothing, because neither starts without a GPU.

    The kernels between the calls are then launched, that is recorded. Their results do not matter: the host reads zeros,
    which report no error.
    """
    from pycuda import _driver

    def do_nothing(*arguments: object, **keywords: object) -> None:
        pass

    def takes(library: str, dtype: object) -> bool:
        return True

    def read_zeros(array: object, target: np.ndarray, stream: object) -> None:
        target.fill(0)

    replaced = {name: do_nothing for name in dir(_driver) if name.startswith("_library_")}  # fmt: skip
    replaced |= {"_array_library_takes": takes, "_array_get_bytes": read_zeros}
    kept = {name: getattr(_driver, name) for name in replaced}
    try:
        for name, function in replaced.items():
            setattr(_driver, name, function)
        yield
    finally:
        for name, function in kept.items():
            setattr(_driver, name, function)


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
    work = [(*operation, 1024) for operation in operations()]
    if "SKIP_LAUNCHES_AS_GPU" in os.environ:
        work = [operation for operation in work if operation[1] != CUBLAS]
        work += [(dtype, text, n) for dtype in REAL for text in SIZED for n in SIZES]
        work += [
            (dtype, HELD, n) for dtype in ("float32", "float64") for n in HELD_SIZES
        ]
        work += [(dtype, text, 1024) for dtype in REAL for text in LARGER]
        work += [(dtype, text, 1024) for dtype in REAL[:2] for text in PRODUCTS]
        work += [(dtype, text, 1024) for dtype in REAL[:2] for text in BY_LIBRARIES]
        work += [(dtype, "np.bincount(long)", 1024) for dtype in REAL[2:]]
    for dtype, text, length in work[part::parts]:
        names |= operands(dtype, length)
        skip_launches(text not in RUNNING)
        by_library = text in BY_LIBRARIES
        try:
            with without_libraries() if by_library else contextlib.nullcontext():
                eval(text, names)
        except Exception as error:
            print(f"kernel pack: {text} of {dtype}: {error}", file=sys.stderr)


def without_comments(ptx: bytes) -> bytes:
    """PTX without comments, empty lines and indentation."""
    lines = (re.sub(rb"//.*", b"", line).strip() for line in ptx.split(b"\n"))
    return b"\n".join(line for line in lines if line) + b"\n"


class Entry(NamedTuple):
    """What finds an image: the request's hash, the architecture, and the CUDA version of machine code; 0 for PTX."""

    key: bytes
    architecture: int
    cuda: int


def read_recorded(folder: Path) -> dict[Entry, bytes]:
    """The images that record_kernel() has written."""
    recorded = {}
    for file in folder.iterdir():
        key, architecture, cuda = file.name.split("-")
        image = file.read_bytes()
        entry = Entry(bytes.fromhex(key), int(architecture), int(cuda))
        recorded[entry] = image if entry.cuda else without_comments(image)
    return recorded


def for_gpus(recorded: dict[Entry, bytes]) -> dict[Entry, bytes]:
    """Machine code, and PTX of GPU_VERSION without that which is the same as an older architecture's."""
    entries = {}
    last = (b"", b"")
    for entry, image in sorted(recorded.items()):
        if entry.cuda:
            entries[entry] = image
            continue
        ptx = re.sub(rb"(?m)^\.version .*$", b".version " + GPU_VERSION, image, count=1)
        body = re.sub(rb"(?m)^\.target .*$", b"", ptx, count=1)
        if last != (entry.key, body):
            entries[entry] = ptx
            last = (entry.key, body)
    return entries


def write_pack(path: Path, entries: dict[Entry, bytes]) -> None:
    """Write the file."""
    place = len(MAGIC) + 8 + ROW.size * len(entries)
    head = [MAGIC, struct.pack("<Q", len(entries))]
    for entry, image in sorted(entries.items()):
        digest = hashlib.sha256(image).digest()
        row = (place, len(image), entry.architecture, entry.cuda)
        head.append(ROW.pack(entry.key, digest, *row))
        place += len(image)
    unfinished = path.with_suffix(f".{os.getpid()}")
    unfinished.write_bytes(
        b"".join(head + [entries[entry] for entry in sorted(entries)])
    )
    unfinished.replace(path)


def missing() -> str:
    """The name of a missing package that is required; empty if there is none."""
    probe = "import numpy, pycuda.compiler as c; c.compile('', target='ptx', cache_dir=False)"
    run = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=False
    )
    return run.stderr.strip().splitlines()[-1] if run.returncode else ""


def record_all(folder: Path, settings: dict[str, str], jobs: int) -> None:
    """Call record() in processes with these environment variables, which write to the folder."""
    folder.mkdir()
    environment = {**os.environ, **settings, "PYCUDA_RECORD_KERNELS": str(folder)}
    command = [sys.executable, *sys.argv, f"--jobs={jobs}"]
    parts = [
        subprocess.Popen([*command, f"--part={part}"], env=environment)
        for part in range(jobs)
    ]
    for part in parts:
        if part.wait() != 0:
            print(
                f"kernel pack: a process ended with {part.returncode}", file=sys.stderr
            )


def main() -> None:
    """Start processes that record kernels, then merge their results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--package", required=True, help="the folder that holds pycuda")
    parser.add_argument("--driver", required=True, help="libskip_launches.so")
    parser.add_argument("--jobs", type=int, default=min(os.cpu_count() or 1, 8))
    parser.add_argument("--gpus", type=int, nargs="*", help="such as 75 80 90")
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
        )
        os.environ.pop("PYCUDA_DISABLE_CACHE", None)
        if lack := missing():
            print(f"kernel pack: left empty: {lack}", file=sys.stderr)
            return write_pack(options.out, {})
        if not options.gpus:
            record_all(Path(folder, "softcuda"), {}, options.jobs)
            return write_pack(options.out, read_recorded(Path(folder, "softcuda")))
        recorded = {}
        for gpu in options.gpus:
            settings = {"SKIP_LAUNCHES_AS_GPU": "1", "SOFTCUDA_ARCH": str(gpu)}
            record_all(Path(folder, f"gpu-{gpu}"), settings, options.jobs)
            recorded |= read_recorded(Path(folder, f"gpu-{gpu}"))
        write_pack(options.out, for_gpus(recorded))


if __name__ == "__main__":
    main()
