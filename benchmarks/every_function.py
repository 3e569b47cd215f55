"""Every public function of arrays beside the function of the same name in CuPy and torch, or in NumPy on the CPU.

    ./run benchmarks/every_function.py [--sizes 1Ki,1Mi] [--kinds f4,f8] [--only GROUP] [--minutes M] [--rows FILE] [names]

The rows come from the registry of array functions (function_calls.py), so a new function has a row. Each row is
measured for 1 Ki and 1 Mi elements, and for 64 Mi on a GPU or 4 Mi on the CPU; contiguous and with every second
element; float32 and float64. ``--sizes`` and ``--kinds`` choose among them; ``--quick`` is contiguous float32 arrays of
1 Ki and 1 Mi elements; ``--only`` is a group of functions (``--groups`` prints the groups).

A row is printed on stderr as soon as it is measured. The table at the end has the smallest ratios first. It is printed
as well when the time of ``--minutes`` is over, at SIGTERM and at Ctrl-C. ``--rows`` is a file that keeps the rows: a run
with the same file measures the other rows only, and its table has all of them.

Most of the time of a first run is that of compilers. So with many processors, other processes make each call of up to
1 Mi elements once before the measurement begins, which fills the caches on disk (``--processes``).

A time is that of a call that waits for the device, the least of several; results are allocated. The ratio is the
quickest peer's time divided by ours. Values of 1 Ki elements are compared with NumPy's; rows with other values are marked.
"""

import argparse
import contextlib
import importlib
import math
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from function_calls import MORE, Operands, arguments, function_calls, function_groups
from measured_rows import Row, Rows, Stopped, stopped_by_signals

import pycuda.autoinit  # noqa: F401
import pycuda.driver as cuda
from pycuda import gpuarray, special

ON_CPU = "softcuda" in cuda.get_driver_path()
SIZES = ["1 Ki", "1 Mi", "4 Mi" if ON_CPU else "64 Mi"]
LONGEST = (
    1.0  # seconds; a call that takes a 64th of this is not measured for larger arrays
)
COMPILED = 1 << 20  # calls on more elements are not made before the measurement

NAMES = ["pycuda", "NumPy"] if ON_CPU else ["pycuda", "CuPy", "torch"]
KINDS = ["f4", "f4 strided", "f8"]

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
    """The number of elements that a size such as "64 Mi" or "64Mi" means."""
    return int(size[:-2]) << {"Ki": 10, "Mi": 20}[size[-2:]]


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


def libraries(with_torch: bool = True) -> list[Library]:
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
    if not with_torch:
        return found
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


class Plan:
    """What is measured, by the options: names with the texts of their arguments, types with layouts, sizes."""

    def __init__(self, options) -> None:
        calls = {**dict.fromkeys(MORE, ""), **function_calls()}
        groups = function_groups()
        names = options.names or [
            one for one in calls if options.only in ("", groups[one])
        ]
        if not names:
            raise SystemExit(
                f"no group {options.only!r}; the groups are {', '.join(sorted(set(groups.values())))}"
            )
        self.calls = {one: calls[one] for one in names}
        sizes = options.sizes.split(",") if options.sizes else SIZES
        self.sizes = [f"{one[:-2].strip()} {one[-2:]}" for one in sizes]
        kinds = options.kinds.split(",") if options.kinds else KINDS
        if options.quick:
            self.sizes, kinds = SIZES[:2], KINDS[:1]
        self.kinds = [(one[:2], one.endswith(" strided")) for one in kinds]

    def steps(self, all_libraries):
        """The types, layouts and sizes, each with new operands in ``all_libraries``."""
        for dtype, strided in self.kinds:
            for size in self.sizes:
                host: dict = {}
                for one in all_libraries:
                    one.data = Operands(one.array, count_of(size), dtype, strided, host)
                yield dtype, strided, size


def compile_part(plan: Plan, part: int, parts: int) -> None:
    """Make every call once in each library, for its compilers' caches on disk."""
    all_libraries = libraries(with_torch=False)
    plan.sizes = [one for one in plan.sizes if count_of(one) <= COMPILED]
    names = list(plan.calls)[part::parts]
    for _ in plan.steps(all_libraries):
        for name in names:
            for library in all_libraries:
                # A call that fails is reported when it is measured.
                with contextlib.suppress(Exception):
                    library.call(name, plan.calls[name])()
                    library.wait()


def compile_all(processes: int, seconds: float) -> None:
    """Run compile_part() in processes, for ``seconds`` at most."""
    command = [sys.executable, *sys.argv]
    running = [
        subprocess.Popen(
            [*command, "--part", f"{part}/{processes}"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for part in range(processes)
    ]
    end = time.monotonic() + seconds
    try:
        for one in running:
            with contextlib.suppress(subprocess.TimeoutExpired):
                one.wait(
                    max(end - time.monotonic(), 0.0) if seconds < math.inf else None
                )
    finally:
        for one in running:
            one.kill()
            one.wait()


def measured(ours: Library, peers, name: str, text: str, kind: str, first: bool) -> Row:
    """The row of one call. first: compare the values with NumPy's."""
    row = Row(name, kind)
    try:
        row.other_values = first and values_differ(ours, name, text)
        row.times[ours.name] = ours.best(ours.call(name, text))
    except Exception as error:  # noqa: BLE001 -- a row that says so
        row.error = f"{type(error).__name__}: {str(error)[:100]}"
        return row
    for peer in peers:
        microseconds = try_best(peer, name, text)
        if microseconds == microseconds:
            row.times[peer.name] = microseconds
    return row


def measure(plan: Plan, rows: Rows, all_libraries) -> None:
    """Measure the rows that are not yet in ``rows``."""
    ours, *peers = all_libraries
    for dtype, strided, size in plan.steps(all_libraries):
        layout = f"{'strided ' if strided else ''}{dtype}"
        shorter = [f"{one} {layout}" for one in plan.sizes[: plan.sizes.index(size)]]
        for name, text in plan.calls.items():
            kind = f"{size} {layout}"
            if (name, kind) in rows or is_slow(rows, name, shorter):
                continue
            first = size == plan.sizes[0]
            rows.add(measured(ours, peers, name, text, kind, first))


def is_slow(rows: Rows, name: str, kinds) -> bool:
    """Whether a call on fewer elements has failed or taken long."""
    earlier = [rows.get(name, one) for one in kinds]
    return any(
        one and (one.error or one.times["pycuda"] > 1e6 * LONGEST / 64)
        for one in earlier
    )


def options_of_program() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--sizes", default="", help="for example 1Ki,64Mi")
    parser.add_argument(
        "--kinds",
        default="",
        help="for example 'f4,f4 strided,f8,i4': types and layouts",
    )
    parser.add_argument("--only", default="", help="a group of functions")
    parser.add_argument("--groups", action="store_true", help="print the groups")
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--rows", type=Path, help="the file that keeps the rows")
    parser.add_argument("--worst", type=int, default=0, help="print so many rows only")
    parser.add_argument(
        "--processes",
        type=int,
        default=min((os.cpu_count() or 1) - 2, 12),
        help="how many processes compile before the measurement; 0: none",
    )
    parser.add_argument("--part", default="", help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*")
    return parser.parse_args()


def main() -> None:
    options = options_of_program()
    if options.groups:
        groups = function_groups()
        for group in sorted(set(groups.values())):
            print(
                f"{group}: {', '.join(one for one in groups if groups[one] == group)}"
            )
        return
    warnings.simplefilter("ignore")
    plan = Plan(options)
    if options.part:
        compile_part(plan, *map(int, options.part.split("/")))
        return
    rows = Rows(options.rows, NAMES)
    try:
        with stopped_by_signals(60 * options.minutes):
            if options.processes > 1:
                compile_all(options.processes, 30 * options.minutes)
            measure(plan, rows, libraries())
    except Stopped as signal:
        print(f"stopped by {signal}: rows are missing")
    rows.report(options.worst)


if __name__ == "__main__":
    main()
