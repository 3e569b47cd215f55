"""The kernels, the memory traffic and the Python calls of every public function of arrays, on the software device.

    ./run benchmarks/launches.py [--elements N] [--traffic] [--all] [names]

The rows are those of every_function.py. A row says how much work one call is, which does not depend on the machine:

- launches: kernels. copies: copies, fills and waits of the host.
- traffic: bytes that the kernels read and wrote, divided by the bytes of the operands and results: 1.0 is one pass.
  With ``--traffic``, because kernels that count their accesses are compiled anew, which takes minutes.
- Python: calls of Python and C functions inside the package, per call.
- thread: the processor time of the calling thread in µs, the least of several rounds, without the wait for the results.
  This depends on the machine. With ``SOFTCUDA_THREADS=1`` small kernels run in the calling thread.

Rows with more than one launch, with a copy or a wait, or with a traffic above 1.5 are printed, the largest number of
launches first; ``--all`` prints all rows, and names print their rows. The counts are those of a second call, which finds its kernels compiled.
"""

import argparse
import math
import sys
import time
import warnings

from every_function import ON_CPU, Library, _Pycuda
from function_calls import MORE, Operands, function_calls

import pycuda
import pycuda.autoinit  # noqa: F401
import pycuda.driver as cuda
from pycuda import gpuarray

SECTOR = 32


class Count:
    """What one call did."""

    def __init__(self, run, data: Operands, with_traffic: bool) -> None:
        run()  # compiles the kernels
        cuda.Context.synchronize()
        with pycuda.profile(counters=False) as profile:
            run()
        self.launches, self.copies = 0, 0
        for event in profile.events:
            self.launches += event.activity == "kernel"
            self.copies += event.activity != "kernel"
        if profile.events:  # the profile's own wait
            self.copies -= profile.events[-1].activity == "host wait"
        self.traffic = traffic(run, data) if with_traffic else 0.0
        self.calls = python_calls(run)
        self.thread = thread_time(run)

    @property
    def is_composite(self) -> bool:
        return self.launches > 1 or self.copies > 0 or self.traffic > 1.5

    @property
    def cost(self) -> tuple:
        return (self.launches + self.copies, self.traffic, self.calls)


def traffic(run, data: Operands) -> float:
    """The bytes that a call moves, divided by the bytes of its operands and results."""
    with pycuda.profile(timeline=False):
        run()  # compiles the kernels that count
        cuda.Context.synchronize()
    with pycuda.profile(timeline=False) as profile:
        result = run()
    sectors = sum(
        access.sectors
        for kernel in profile.kernels
        for access in kernel.accesses
        if access.space == "global"
    )
    return SECTOR * sectors / max(operand_bytes(data) + result_bytes(result), 1)


def operand_bytes(data: Operands) -> int:
    """The bytes of the operands that were made, which are those of one call."""
    return sum(map(result_bytes, vars(data).values()))


def result_bytes(result) -> int:
    if isinstance(result, (tuple, list)):
        return sum(map(result_bytes, result))
    return result.nbytes if isinstance(result, gpuarray.GPUArray) else 0


def python_calls(run) -> int:
    """The calls of Python functions and of C functions that a call makes."""
    count = 0

    def on_event(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(on_event)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count - 2  # `run` and the end of the profile


def thread_time(run) -> float:
    """The processor time of the calling thread for one call, in microseconds."""
    least, calls = math.inf, 1
    for _ in range(10):
        start = time.thread_time()
        for _ in range(calls):
            run()
        seconds = (time.thread_time() - start) / calls
        cuda.Context.synchronize()
        least = min(least, seconds)
        calls = min(max(int(2e-3 / max(seconds, 1e-7)), 1), 200)
    return 1e6 * least


def line(name: str, count: Count) -> str:
    """A row of the table."""
    moved = f"{count.traffic:.1f}" if count.traffic else ""
    return f"| {name} | {count.launches} | {count.copies} | {moved} | {count.calls} | {count.thread:.1f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--elements", type=int, default=1 << 16)
    parser.add_argument("--traffic", action="store_true")
    parser.add_argument("--all", action="store_true", help="print all rows")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if not ON_CPU:
        sys.exit(
            "launches.py counts with the software device: set PYCUDA_DRIVER=softcuda"
        )
    warnings.simplefilter("ignore")
    ours = Library("pycuda", _Pycuda(), gpuarray.to_gpu, cuda.Context.synchronize)
    calls = {**dict.fromkeys(MORE, ""), **function_calls()}
    rows = []
    for name in options.names or calls:
        ours.data = Operands(ours.array, options.elements)
        try:
            run = ours.call(name, calls[name])
            rows.append((name, Count(run, ours.data, options.traffic)))
            print(line(*rows[-1]), file=sys.stderr, flush=True)
        except Exception as error:  # noqa: BLE001 -- a row that says so
            print(f"{name}: {type(error).__name__}: {str(error)[:100]}")
    print("| function | launches | copies | traffic | Python | thread, µs |")
    print("|---|---|---|---|---|---|")
    for name, count in sorted(rows, key=lambda row: row[1].cost, reverse=True):
        if count.is_composite or options.all or options.names:
            print(line(name, count))
    composite = sum(count.is_composite for _, count in rows)
    print(f"{len(rows)} functions, {composite} of them above")


if __name__ == "__main__":
    main()
