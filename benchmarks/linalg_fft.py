"""Linear algebra and Fourier transforms: ours compared with CuPy's, torch's and NumPy's, in one run.

    ./run benchmarks/linalg_fft.py [--quick] [--own] [--only WORD]

Milliseconds for each call, with a wait for the device after it: the median of several rounds. Every result is
checked before it is timed: a solution by its residual, factors by their product, a transform by comparison with
NumPy's of a part of the data. The last column is the quickest peer's time divided by ours: above 1, ours is quicker.

On a CPU the sizes are smaller, and the peers are NumPy and, if it is installed, torch. ``--own`` leaves
NVIDIA's and NumPy's libraries out of ours. ``--only`` selects the rows whose name contains the word.
"""

import functools
import math
import os
import statistics
import sys
import time
import types

if "--own" in sys.argv:
    os.environ["PYCUDA_LIBRARIES"] = "none"

import numpy as np

import pycuda.autoinit  # noqa: F401
import pycuda.driver as cuda
from pycuda import fft, gpuarray, linalg

ON_CPU = "softcuda" in cuda.get_driver_path()
QUICK = "--quick" in sys.argv
ONLY = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else ""


class Ours:
    name = "pycuda"
    linalg, fft = linalg, fft
    array = staticmethod(gpuarray.to_gpu)
    wait = staticmethod(cuda.Context.synchronize)

    @staticmethod
    def host(array):
        return array.get()


class NumPy:
    name = "NumPy"
    linalg, fft = np.linalg, np.fft
    array = staticmethod(np.asarray)
    host = staticmethod(np.asarray)

    @staticmethod
    def wait():
        """Nothing to wait for: NumPy's functions return when they are done."""


def cupy_library():
    import cupy

    class CuPy:
        name = "CuPy"
        linalg, fft = cupy.linalg, cupy.fft
        array = staticmethod(cupy.asarray)
        host = staticmethod(cupy.asnumpy)
        wait = staticmethod(cupy.cuda.runtime.deviceSynchronize)

    return CuPy


def torch_library():
    import torch

    def transform(name):
        """The transform with this name of numpy.fft, with its keywords."""
        function = getattr(torch.fft, name)
        several = name.endswith(("n", "2"))

        def call(a, n=None, axis=-1, axes=None):
            if several:
                return function(a) if axes is None else function(a, dim=axes)
            return function(a, n, axis)

        return call

    class Torch:
        name = "torch"
        linalg = torch.linalg
        fft = types.SimpleNamespace(
            **{n: transform(n) for n in dir(np.fft) if hasattr(torch.fft, n)}
        )

        @staticmethod
        def array(host):
            tensor = torch.from_numpy(np.ascontiguousarray(host))
            return tensor if ON_CPU else tensor.cuda()

        @staticmethod
        def host(tensor):
            return tensor.cpu().numpy()

        @staticmethod
        def wait():
            if not ON_CPU:
                torch.cuda.synchronize()

    return Torch


def libraries():
    """Ours, and the peers that are installed and find a device."""
    found = [Ours]
    for make in (torch_library,) if ON_CPU else (cupy_library, torch_library):
        try:
            library = make()
            library.wait()
            found.append(library)
        except Exception as error:  # any error excludes the library from the comparison
            print(f"# without {make.__name__}: {type(error).__name__}: {error}")
    return [*found, NumPy]


RNG = np.random.default_rng(3)


def square(n, *stack):
    """Well-conditioned matrices."""
    a = RNG.standard_normal((*stack, n, n), dtype=np.float32)
    return a + np.float32(2 * math.sqrt(n)) * np.eye(n, dtype=np.float32)


def symmetric(n, *stack):
    a = RNG.standard_normal((*stack, n, n), dtype=np.float32)
    return (a + a.swapaxes(-1, -2)) / 2


def positive(n, *stack):
    a = RNG.standard_normal((*stack, n, n), dtype=np.float32)
    return a @ a.swapaxes(-1, -2) + np.float32(n) * np.eye(n, dtype=np.float32)


def close(one, other, limit=2e-3):
    error = np.abs(one - other).max() / max(np.abs(other).max(), 1e-30)
    if not error < limit:
        raise AssertionError(f"the result is wrong: an error of {error:.2g}")


def turned(a):
    return a.swapaxes(-1, -2).conj()


def check_solution(x, a, b):
    close(a @ x if x.ndim > 1 else a @ x, b)


def check_inverse(x, a):
    close(a @ x, np.broadcast_to(np.eye(a.shape[-1]), a.shape))


def check_cholesky(x, a):
    close(np.tril(x), x)
    close(x @ turned(x), a)


def check_qr(result, a):
    q, r = result
    close(q @ r, a)


def check_eigh(result, a):
    values, vectors = result
    close((vectors * values[..., None, :]) @ turned(vectors), a)


def check_svd(result, a):
    u, s, vh = result
    close((u * s[..., None, :]) @ vh, a)


def check_values(values, a):
    close(np.linalg.norm(values, axis=-1), np.linalg.norm(a, axis=(-2, -1)))


def check_logarithm(result, a):
    close(np.stack(result), np.stack(np.linalg.slogdet(a.astype(np.float64))))


def check_pinv(x, a):
    close(a @ x @ a, a)


# Each row: its name, the operands, the call, the check of the result with the operands.


def matrices():
    big, middle, small = (1024, 512, 256) if ON_CPU or QUICK else (4096, 2048, 512)
    count = 1024 if ON_CPU or QUICK else 4096
    few = count // 4
    a_solve = lambda lib, a, b: lib.linalg.solve(a, b)  # noqa: E731
    yield (
        f"solve {big}",
        lambda: (square(big), RNG.standard_normal((big, 1), np.float32)),
        a_solve,
        check_solution,
    )
    yield (
        f"solve {middle}, {middle} sides",
        lambda: (square(middle), square(middle)),
        a_solve,
        check_solution,
    )
    one = [
        ("inv", middle, square, lambda lib, a: lib.linalg.inv(a), check_inverse),
        ("cholesky", middle, positive, lambda lib, a: lib.linalg.cholesky(a), check_cholesky),
        ("qr", small, square, lambda lib, a: lib.linalg.qr(a), check_qr),
        ("qr", middle, square, lambda lib, a: lib.linalg.qr(a), check_qr),
        ("eigh", small, symmetric, lambda lib, a: lib.linalg.eigh(a), check_eigh),
        ("eigh", middle, symmetric, lambda lib, a: lib.linalg.eigh(a), check_eigh),
        ("eigvalsh", middle, symmetric, lambda lib, a: lib.linalg.eigvalsh(a), check_values),
        ("svd", small, square, lambda lib, a: lib.linalg.svd(a, full_matrices=False), check_svd),
        ("svd values", small, square, singular_values, check_values),
        ("slogdet", middle, square, lambda lib, a: lib.linalg.slogdet(a), check_logarithm),
        ("pinv", small, square, lambda lib, a: lib.linalg.pinv(a), check_pinv),
    ]  # fmt: skip
    for name, n, make, run, check in one:
        yield (
            f"{name} {n}",
            functools.partial(lambda m, n: (m(n),), make, n),
            run,
            check,
        )
    yield (
        f"solve {few} of 64x64",
        lambda: (square(64, few), RNG.standard_normal((few, 64, 1), np.float32)),
        a_solve, check_solution,
    )  # fmt: skip
    yield (
        f"solve {count} of 16x16",
        lambda: (square(16, count), RNG.standard_normal((count, 16, 1), np.float32)),
        a_solve, check_solution,
    )  # fmt: skip
    stacks = [
        ("inv", count, 4, square, lambda lib, a: lib.linalg.inv(a), check_inverse),
        ("inv", count, 16, square, lambda lib, a: lib.linalg.inv(a), check_inverse),
        ("inv", few, 64, square, lambda lib, a: lib.linalg.inv(a), check_inverse),
        ("slogdet", count, 16, square, lambda lib, a: lib.linalg.slogdet(a), check_logarithm),
        ("cholesky", count, 16, positive, lambda lib, a: lib.linalg.cholesky(a), check_cholesky),
        ("cholesky", few, 64, positive, lambda lib, a: lib.linalg.cholesky(a), check_cholesky),
        ("qr", few, 32, square, lambda lib, a: lib.linalg.qr(a), check_qr),
        ("eigh", few, 32, symmetric, lambda lib, a: lib.linalg.eigh(a), check_eigh),
        ("svd", few, 32, square, lambda lib, a: lib.linalg.svd(a, full_matrices=False), check_svd),
    ]  # fmt: skip
    for name, number, n, make, run, check in stacks:
        operands = functools.partial(lambda m, n, k: (m(n, k),), make, n, number)
        yield f"{name} {number} of {n}x{n}", operands, run, check


def singular_values(library, a):
    if hasattr(library.linalg, "svdvals"):
        return library.linalg.svdvals(a)
    return library.linalg.svd(a, compute_uv=False)


def numbers(*shape, real=False, dtype=np.float32):
    x = RNG.standard_normal(shape, dtype)
    return x if real else x + 1j * RNG.standard_normal(shape, dtype)


def transforms():
    big = 1 << 20 if ON_CPU or QUICK else 1 << 24
    side = 1024 if ON_CPU or QUICK else 4096
    edge = 64 if ON_CPU or QUICK else 256
    rows = 100 if ON_CPU or QUICK else 1000
    table = [
        ("fft", f"{big} complex64", numbers, (big,), {}),
        ("fft", f"{big // 2} complex128", functools.partial(numbers, dtype=np.float64), (big // 2,), {}),
        ("ifft", f"{big} complex64", numbers, (big,), {}),
        ("rfft", f"{big} float32", functools.partial(numbers, real=True), (big,), {}),
        ("irfft", f"{big // 2 + 1} complex64", numbers, (big // 2 + 1,), {}),
        ("fft", f"{big // 256} rows of 256", numbers, (big // 256, 256), {}),
        ("fft", f"{rows} rows of 10007", numbers, (rows, 10007), {}),
        ("fft", f"{rows} rows of 10000", numbers, (rows, 10000), {}),
        ("fft", f"{side}x{side} along axis 0", numbers, (side, side), {"axis": 0}),
        ("fft2", f"{side}x{side}", numbers, (side, side), {}),
        ("rfft2", f"{side}x{side}", functools.partial(numbers, real=True), (side, side), {}),
        ("rfftn", f"{edge}x{edge}x{edge}", functools.partial(numbers, real=True), (edge,) * 3, {}),
        ("fftn", f"{edge}x{edge}x{edge}", numbers, (edge,) * 3, {}),
        ("fft", "1024", numbers, (1024,), {}),
    ]  # fmt: skip

    def run_of(name, options):
        return lambda lib, x: getattr(lib.fft, name)(x, **options)

    def check_of(name, options):
        return lambda y, x: close(y, getattr(np.fft, name)(x, **options), 1e-4)

    for name, what, make, shape, options in table:
        operands = functools.partial(lambda m, s: (m(*s),), make, shape)
        yield f"{name} {what}", operands, run_of(name, options), check_of(name, options)


def median(run, wait):
    """Median milliseconds of at least 3 rounds, and of as many as fit into half a second."""
    times = []
    end = time.perf_counter() + (0.2 if QUICK else 0.5)
    while len(times) < 3 or (time.perf_counter() < end and len(times) < 200):
        start = time.perf_counter()
        run()
        wait()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e3


def measure(library, operands, run, check):
    arrays = [library.array(one) for one in operands]
    result = run(library, *arrays)
    library.wait()
    parts = result if isinstance(result, (tuple, list)) else [result]
    hosts = [np.asarray(library.host(part)) for part in parts]
    wanted = [
        one.astype(np.complex128 if one.dtype.kind == "c" else np.float64)
        for one in operands
    ]
    check(hosts[0] if len(hosts) == 1 else hosts, *wanted)
    return median(lambda: run(library, *arrays), library.wait)


def main():
    found = libraries()
    device = cuda.Context.get_device().name()
    print(f"# {device}; milliseconds, medians; float32 unless it says otherwise")
    print(
        f"{'':34}"
        + "".join(f"{one.name:>10}" for one in found)
        + "   quickest peer / ours"
    )
    for name, make, run, check in [*matrices(), *transforms()]:
        if ONLY not in name:
            continue
        operands = make()
        times = []
        for library in found:
            try:
                times.append(measure(library, operands, run, check))
            except Exception as error:  # a peer that cannot do it, or a wrong result
                print(f"# {name}, {library.name}: {type(error).__name__}: {error}")
                times.append(math.nan)
        peers = [t for t in times[1:] if not math.isnan(t)]
        ratio = min(peers) / times[0] if peers else math.nan
        line = f"{name:34}" + "".join(f"{t:10.3f}" for t in times)
        print(f"{line}   {ratio:.2f}", flush=True)


if __name__ == "__main__":
    main()
