"""Sparse matrices: ours compared with CuPy's on a GPU, with SciPy's on a CPU, in one run.

    ./run pip install scipy                                  # and cupy-cuda13x on a GPU
    ./run benchmarks/sparse_matrices.py [--quick] [--only WORD] [--own-form blocks|serial]

Milliseconds for each call, with a wait for the device after it: the median of several rounds. Each result is
compared with SciPy's before it is timed. The columns after the times: the quickest peer's time divided by ours (above
1, ours is quicker); for products with vectors also GB/s for the matrix, read once, and both vectors, and the GB/s of
a copy.

Matrices: "banded" has 5 diagonals near and 512 off the main one, "dense band" 16 diagonals side by side, "random" 16
elements in random columns for each row, "power law" rows whose lengths follow Pareto's distribution, up to a sixteenth of
the columns. On a CPU sizes are smaller. ``--own-form`` names the kernels that ours uses: those for GPUs ("blocks") or for
a CPU's cores ("serial"), never SciPy's loops. Of conjugate gradients 100 iterations are timed.
"""

import functools
import math
import statistics
import sys
import time

import numpy as np

try:
    import scipy.sparse as sp
    import scipy.sparse.linalg
except ImportError:
    print("# SciPy makes the matrices and checks the results: ./run pip install scipy")
    sys.exit(0)

import pycuda.autoinit  # noqa: F401
import pycuda.driver as cuda
from pycuda import gpuarray, sparse
from pycuda.sparse import _host, _kernels
from pycuda.sparse.linalg import cg

ON_CPU = "softcuda" in cuda.get_driver_path()
QUICK = "--quick" in sys.argv
ONLY = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else ""
if "--own-form" in sys.argv:
    FORM = sys.argv[sys.argv.index("--own-form") + 1]
    _kernels.is_serial = lambda: FORM == "serial"
    _host.FEW_CORES = 0


class Ours:
    name = "pycuda"
    wait = staticmethod(cuda.Context.synchronize)
    cg = staticmethod(functools.partial(cg, rtol=0.0, atol=0.0, maxiter=100))

    @staticmethod
    def put(value):
        if sp.issparse(value):
            return getattr(sparse, f"{value.format}_array")(value)
        return gpuarray.to_gpu(value)

    @staticmethod
    def host(value):
        return value.get()


class SciPy:
    name = "SciPy"

    @staticmethod
    def cg(a, b):
        return scipy.sparse.linalg.cg(a, b, rtol=0.0, atol=0.0, maxiter=100)

    @staticmethod
    def put(value):
        return value

    host = put

    @staticmethod
    def wait():
        """Nothing to wait for: SciPy's functions return when they are done."""


def cupy_library():
    import cupy
    import cupyx.scipy.sparse
    import cupyx.scipy.sparse.linalg

    class CuPy:
        name = "CuPy"
        wait = staticmethod(cupy.cuda.runtime.deviceSynchronize)

        @staticmethod
        def cg(a, b):
            return cupyx.scipy.sparse.linalg.cg(a, b, rtol=0.0, atol=0.0, maxiter=100)

        @staticmethod
        def put(value):
            if sp.issparse(value):
                cls = getattr(cupyx.scipy.sparse, f"{value.format}_matrix")
                return cls(getattr(sp, f"{value.format}_matrix")(value))
            return cupy.asarray(value)

        @staticmethod
        def host(value):
            return value.get()

    return CuPy


def libraries():
    """Ours, and the peers that are installed and find a device."""
    found = [Ours]
    if not ON_CPU:
        try:
            library = cupy_library()
            library.wait()
            return [*found, library]  # SciPy would take most of the time
        except Exception as error:  # any error excludes the library from the comparison
            print(f"# without CuPy: {type(error).__name__}: {error}")
    return [*found, SciPy]


RNG = np.random.default_rng(3)


def banded(n, dtype):
    offsets = [-512, -1, 0, 1, 512]
    return sp.diags_array([RNG.random(n - abs(k)) for k in offsets], offsets=offsets, format="csr", dtype=dtype)  # fmt: skip


def dense_band(n, dtype):
    offsets = list(range(-8, 8))
    return sp.diags_array([RNG.random(n - abs(k)) for k in offsets], offsets=offsets, format="csr", dtype=dtype)  # fmt: skip


def by_lengths(lengths, n, dtype):
    starts = np.concatenate([[0], np.cumsum(lengths)])
    columns = RNG.integers(0, n, starts[-1], np.int32)
    data = RNG.random(starts[-1], np.float32).astype(dtype)
    made = sp.csr_array((data, columns, starts.astype(np.int32)), (n, n))
    made.sum_duplicates()
    return made


def random(n, dtype):
    return by_lengths(np.full(n, 16), n, dtype)


def power_law(n, dtype):
    lengths = np.minimum(RNG.pareto(1.2, n) * 4 + 1, n // 16).astype(np.int64)
    return by_lengths(lengths, n, dtype)


def poisson(side, dtype):
    line = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(side, side))
    one = sp.eye_array(side)
    return (sp.kron(line, one) + sp.kron(one, line)).tocsr().astype(dtype)


def dense(*shape, dtype):
    return RNG.random(shape).astype(dtype)


def times(library, a, b):
    return a @ b


def compress(library, a):
    return a.tocsr()


def transpose(library, a):
    """The transpose as CSR. Each call has a new matrix, because ours stores the order that it computes."""
    if library is Ours:
        a = sparse.csr_array._of(
            sparse._compressed.Structure(
                a.indptr, a.indices, *a.shape, (a.has_sorted_indices, a.has_canonical_format)
            ),
            a.data,
        )  # fmt: skip
    return a.T.tocsr()


def compress_fresh(library, a):
    """As :func:`transpose`, from coordinates."""
    if library is Ours:
        a = a._of(a._pair, a.data, a.shape, False, False)
    return a.tocsr()


def solve(library, a, b):
    return library.cg(a, b)[0]


def shuffled(a):
    rows = a.tocoo()
    order = RNG.permutation(rows.nnz)
    return sp.coo_array((rows.data[order], (rows.row[order], rows.col[order])), rows.shape)  # fmt: skip


def rows(dtype):
    """(name, operands, call, bytes or None) of each row of the table."""
    n = 1 << (18 if ON_CPU or QUICK else 22)
    few = n // 4
    side = 512 if ON_CPU or QUICK else 2048
    size = np.dtype(dtype).itemsize

    def moved(a):
        return a.nnz * (size + 4) + (a.shape[0] + 1) * 4 + sum(a.shape) * size

    for make in (banded, dense_band, random, power_law):
        a = make(n, dtype)
        name = make.__name__.replace("_", " ")
        yield f"{name}, vector", (a, dense(n, dtype=dtype)), times, moved(a)
    for make in (banded, random, power_law):
        a = make(few, dtype)
        name = make.__name__.replace("_", " ")
        for wide in (8, 64):
            b = dense(few, wide, dtype=dtype)
            yield f"{name}, {wide} columns", (a, b), times, None
        yield f"{name}, COO to CSR", (shuffled(a),), compress_fresh, None
        yield f"{name}, transposed", (a,), transpose, None
        if make is not power_law:  # its square is dense
            yield f"{name}, squared", (a, a), times, None
    a = random(few, dtype).tocsc()
    yield "random in CSC, vector", (a, dense(few, dtype=dtype)), times, None
    yield f"Poisson {side}², 100 x CG", (poisson(side, dtype), dense(side * side, dtype=dtype)), solve, None  # fmt: skip


def median(run, wait):
    """Seconds: of at least 3 rounds, and of as many as fit into half a second."""
    taken = []
    end = time.perf_counter() + (0.2 if QUICK else 0.5)
    while len(taken) < 3 or (time.perf_counter() < end and len(taken) < 200):
        start = time.perf_counter()
        run()
        wait()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def check(result, expected, limit):
    if sp.issparse(expected):
        result = sp.csr_array(result)
        size = abs(expected).max()
        error = abs(result - sp.csr_array(expected)).max() / size
    else:
        error = np.abs(result - expected).max() / np.abs(expected).max()
    if not error < limit:
        raise AssertionError(f"the result is wrong: an error of {error:.2g}")


def measure(library, operands, run, expected, limit):
    arrays = [library.put(one) for one in operands]
    check(library.host(run(library, *arrays)), expected, limit)
    return median(lambda: run(library, *arrays), library.wait)


def copy_rate():
    """GB/s of a large copy."""
    x = gpuarray.zeros(1 << (25 if ON_CPU else 28), np.float32)
    y = gpuarray.empty_like(x)
    taken = median(lambda: cuda.memcpy_dtod(y.gpudata, x.gpudata, x.nbytes), Ours.wait)  # fmt: skip
    return 2 * x.nbytes / taken / 1e9


def main():
    found = libraries()
    print(f"# {cuda.Context.get_device().name()}; milliseconds, medians; a copy moves {copy_rate():.0f} GB/s")  # fmt: skip
    print(f"{'':34}" + "".join(f"{one.name:>11}" for one in found) + "   peer / ours   GB/s")  # fmt: skip
    for dtype in (np.float32, np.float64):
        for name, operands, run, moved in rows(dtype):
            name = f"{name}, {np.dtype(dtype).name}"
            if ONLY not in name:
                continue
            expected = run(SciPy, *operands)
            limit = 1e-4 if dtype == np.float32 else 1e-10
            limit = (
                limit if run is not solve else 1e-2
            )  # the iterations of two orders of sums
            taken = []
            for library in found:
                try:
                    taken.append(measure(library, operands, run, expected, limit) * 1e3)
                except (
                    Exception
                ) as error:  # a peer that cannot do it, or a wrong result
                    print(f"# {name}, {library.name}: {type(error).__name__}: {error}")
                    taken.append(math.nan)
            peers = [one for one in taken[1:] if not math.isnan(one)]
            ratio = min(peers) / taken[0] if peers else math.nan
            line = f"{name:34}" + "".join(f"{one:11.3f}" for one in taken) + f"{ratio:14.2f}"  # fmt: skip
            print(line + (f"{moved / taken[0] / 1e6:7.0f}" if moved else ""), flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
