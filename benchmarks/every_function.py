"""Every public function of arrays beside the function of the same name in CuPy and torch, or in NumPy on the CPU.

    ./run benchmarks/every_function.py [--quick] [--seconds N] [--worst N] [names]

The rows come from the registry of array functions (function_calls.py), so a new function has a row. Each row is
measured for 1 Ki and 1 Mi elements, and for 64 Mi on a GPU or 4 Mi on the CPU; contiguous and with every second
element; float32 and float64. ``--quick`` measures contiguous float32 arrays of 1 Ki and 1 Mi elements only; ``--sizes`` and ``--kinds`` name others.
``--seconds`` ends the measurement after this time: rows not reached are counted in the last line. Each row is printed on
stderr as soon as it is measured.

A time is that of a call that waits for the device, the least of several; results are allocated. The ratio is the
quickest peer's time divided by ours. The rows with the smallest ratios come first. Values of 1 Ki elements are
compared with NumPy's; rows with other values are marked.
"""

import argparse
import importlib
import math
import sys
import time
import warnings

import numpy as np
from function_calls import MORE, Operands, arguments, function_calls

import pycuda.autoinit  # noqa: F401
import pycuda.driver as cuda
from pycuda import gpuarray, special

ON_CPU = "softcuda" in cuda.get_driver_path()
SIZES = ["1 Ki", "1 Mi", "4 Mi" if ON_CPU else "64 Mi"]
LONGEST = 1.0  # a call that takes more seconds is not measured for larger arrays

#: NumPy's functions that do not call other libraries' functions for their arrays.
NOT_DISPATCHED = {"ascontiguousarray", "asfortranarray"}
#: Functions whose results are not unique.
NOT_COMPARED = {
    "argpartition", "partition", "unique_values", "empty", "empty_like", "linalg.qr", "linalg.svd", "linalg.eigh",
}  # fmt: skip

#: torch's names of NumPy's functions.
TORCH_NAMES = {
    "concatenate": "cat", "conjugate": "conj_physical", "conj": "conj_physical", "invert": "bitwise_not",
    "left_shift": "bitwise_left_shift", "right_shift": "bitwise_right_shift", "power": "pow",
    "repeat": "repeat_interleave", "degrees": "rad2deg", "radians": "deg2rad", "rint": "round",
    "linalg.matmul": "matmul", "vecdot": "linalg.vecdot", "cross": "linalg.cross", "absolute": "abs",
    "equal": "eq", "not_equal": "ne", "negative": "neg", "fix": "trunc", "expand_dims": "unsqueeze",
    "nanpercentile": "nanquantile", "transpose": "t", "permute_dims": "permute", "flatnonzero": "nonzero",
}  # fmt: skip


def count_of(size: str) -> int:
    """The number of elements that a size such as "64 Mi" means."""
    number, unit = size.split()
    return int(number) << {"Ki": 10, "Mi": 20}[unit]


def _special_of(module: str):
    try:
        return importlib.import_module(module)
    except ImportError:
        return None


#: Where other libraries have special functions.
SPECIAL_OF = {
    "NumPy": lambda: _special_of("scipy.special"),
    "CuPy": lambda: _special_of("cupyx.scipy.special"),
}


class Library:
    """One library: its namespace, its arrays, and its wait."""

    def __init__(self, name, namespace, array, wait) -> None:
        self.name, self.namespace, self.array, self.wait = name, namespace, array, wait
        self.data = None

    def function(self, name: str):
        """The function of NumPy's name; None if the library has none."""
        owner = self.namespace
        if self.name == "torch":
            name = TORCH_NAMES.get(name, name)
        if name.startswith("special.") and self.name in SPECIAL_OF:
            owner = SPECIAL_OF[self.name]()
            name = name.partition(".")[2]
        for part in name.split("."):
            owner = getattr(owner, part, None)
        return owner

    def call(self, name: str, text: str):
        """A function without arguments that makes the call; None if the library has no such call."""
        if name in MORE:
            words = MORE[name][self.name == "torch"]
            return None if words is None else lambda: words(self.namespace, self.data)
        given, keywords = arguments(text, self.data, self.namespace)
        function = self.function(name)
        if self.name == "pycuda" and not holds_arrays((*given, *keywords.values())):
            # NumPy's function would make an array of the host.
            function = own_function(name) or function
        if function is None:
            return None
        return lambda: function(*given, **keywords)

    def best(self, run, rounds: int = 5) -> float:
        """The least time of a call in microseconds."""
        run()
        self.wait()
        least, calls = math.inf, 1
        for _ in range(rounds):
            start = time.perf_counter()
            for _ in range(calls):
                run()
            self.wait()
            seconds = (time.perf_counter() - start) / calls
            least = min(least, seconds)
            calls = min(max(int(2e-3 / max(seconds, 1e-7)), 1), 200)
            if seconds > LONGEST:
                break
        return 1e6 * least


def holds_arrays(arguments) -> bool:
    """Whether there is an array of the device among arguments, or in a list or tuple of them."""
    return any(
        isinstance(one, gpuarray.GPUArray)
        or isinstance(one, (tuple, list))
        and holds_arrays(one)
        for one in arguments
    )


def own_function(name: str):
    """The function of pycuda.gpuarray, pycuda.fft or pycuda.linalg."""
    module, _, function = name.rpartition(".")
    owner = importlib.import_module(f"pycuda.{module}") if module else gpuarray
    return getattr(owner, function, None)


class _Pycuda:
    """The functions of pycuda under NumPy's names, with pycuda's own ones."""

    def __getattr__(self, name):
        if name == "special":
            return special
        found = getattr(np, name, None)
        return (
            getattr(gpuarray, name)
            if found is None or name in NOT_DISPATCHED
            else found
        )


def libraries() -> list[Library]:
    ours = Library("pycuda", _Pycuda(), gpuarray.to_gpu, cuda.Context.synchronize)
    if ON_CPU:
        return [ours, Library("NumPy", np, np.array, lambda: None)]
    found = [ours]
    try:
        import cupy

        found.append(
            Library("CuPy", cupy, cupy.asarray, cupy.cuda.runtime.deviceSynchronize)
        )
    except ImportError as error:
        print(f"without CuPy: {error}")
    try:
        import torch

        torch.set_default_device("cuda")  # for functions that make arrays

        def array(host):
            return torch.from_numpy(np.ascontiguousarray(host)).cuda()

        found.append(Library("torch", torch, array, torch.cuda.synchronize))
    except ImportError as error:
        print(f"without torch: {error}")
    return found


def on_host(value):
    """Results as NumPy arrays, for comparisons."""
    if isinstance(value, (tuple, list)):
        return [on_host(one) for one in value]
    if hasattr(value, "get") and not isinstance(value, dict):
        return value.get()
    return (
        np.asarray(value)
        if isinstance(value, (np.ndarray, np.generic, int, float))
        else None
    )


def differs(ours, theirs) -> bool:
    """Whether results are not close. Results that are no arrays are not compared."""
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) != len(theirs) or any(map(differs, ours, theirs))
    if not isinstance(ours, np.ndarray) or not isinstance(theirs, np.ndarray):
        return False
    if ours.shape != theirs.shape or ours.dtype.kind != theirs.dtype.kind:
        return True
    if ours.dtype.kind not in "fc":
        return not np.array_equal(ours, theirs)
    scale = float(np.nanmax(np.abs(theirs), initial=1.0)) if theirs.size else 1.0
    return not np.allclose(ours, theirs, rtol=2e-3, atol=2e-5 * scale, equal_nan=True)


def values_differ(ours: Library, name: str, text: str) -> bool:
    """Whether our result for 1 Ki elements is not NumPy's."""
    if name in NOT_COMPARED:
        return False
    host = Library("NumPy", np, np.array, lambda: None)
    host.data = Operands(np.array, 1024)
    mine = Library(ours.name, ours.namespace, ours.array, ours.wait)
    mine.data = Operands(ours.array, 1024)
    expected = host.call(name, text)
    return expected is not None and differs(
        on_host(mine.call(name, text)()), on_host(expected())
    )


def try_best(library: Library, name: str, text: str) -> float:
    """The time of a peer's call; NaN if the peer does not have this call."""
    try:
        run = library.call(name, text)
        return math.nan if run is None else library.best(run)
    except Exception:  # noqa: BLE001 -- a peer refuses arguments in its own way
        return math.nan


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument(
        "--worst", type=int, default=0, help="print this many rows only"
    )
    parser.add_argument("--sizes", default="", help="for example '1 Ki,64 Mi'")
    parser.add_argument(
        "--kinds",
        default="",
        help="for example 'f4,f4 strided,f8,i4': types and layouts",
    )
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    all_libraries = libraries()
    ours, *peers = all_libraries
    calls = {**dict.fromkeys(MORE, ""), **function_calls()}
    names = options.names or list(calls)
    end = time.perf_counter() + options.seconds
    sizes = (
        options.sizes.split(",")
        if options.sizes
        else SIZES[: 2 if options.quick else 3]
    )
    kinds = [("f4", False)]
    if options.kinds:
        kinds = [
            (one[:2], one.endswith(" strided")) for one in options.kinds.split(",")
        ]
    elif not options.quick:
        kinds += [("f4", True), ("f8", False)]
    rows, left, too_long, wrong = [], 0, set(), set()
    for dtype, strided in kinds:
        for size in sizes:
            host: dict = {}
            for library in all_libraries:
                library.data = Operands(
                    library.array, count_of(size), dtype, strided, host
                )
            for name in names:
                if time.perf_counter() > end:
                    left += 1
                    continue
                if (name, dtype, strided) in too_long:
                    continue
                try:
                    if (
                        name not in wrong
                        and size == sizes[0]
                        and values_differ(ours, name, calls[name])
                    ):
                        wrong.add(name)
                    own = ours.best(ours.call(name, calls[name]))
                except Exception as error:  # noqa: BLE001 -- a row that says so
                    print(f"{name}: {type(error).__name__}: {str(error)[:100]}")
                    too_long.add((name, dtype, strided))
                    continue
                if own > 1e6 * LONGEST / 64:
                    too_long.add((name, dtype, strided))
                times = [try_best(peer, name, calls[name]) for peer in peers]
                known = [one for one in times if one == one]
                ratio = min(known) / own if known else math.nan
                kind = f"{size} {'strided ' if strided else ''}{dtype}"
                rows.append((ratio, name, kind, own, times))
                print(line(rows[-1]), file=sys.stderr, flush=True)
    report(rows, all_libraries, wrong, options.worst)
    if left:
        print(f"{left} rows were not measured in {options.seconds:.0f} s")


def line(row, mark: str = "") -> str:
    """A row of the table."""
    ratio, name, kind, own, times = row
    texts = [f"{one:.4g}" if one == one else "" for one in (own, *times)]
    return f"| {name}{mark} | {kind} | {' | '.join(texts)} | {ratio:.2f} |"


def report(rows, all_libraries, wrong, worst: int) -> None:
    heads = [one.name for one in all_libraries]
    print(
        f"| function | elements | {' | '.join(f'{one}, µs' for one in heads)} | ratio |"
    )
    print("|---" * (len(heads) + 3) + "|")
    compared = sorted(row for row in rows if row[0] == row[0])
    for row in compared[: worst or None]:
        print(line(row, " (other values)" if row[1] in wrong else ""))
    by_kind: dict[str, list[float]] = {}
    for ratio, _, kind, *_ in compared:
        by_kind.setdefault(kind, []).append(ratio)
    for kind, ratios in by_kind.items():
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        below = sum(one < 0.9 for one in ratios)
        print(
            f"{kind}: {len(ratios)} rows, geometric mean {mean:.2f}, {below} below 0.9"
        )
    alone = sorted({row[1] for row in rows} - {row[1] for row in compared})
    print(f"without a peer: {', '.join(alone)}")
    if wrong:
        print(f"other values than NumPy's: {', '.join(sorted(wrong))}")


if __name__ == "__main__":
    main()
