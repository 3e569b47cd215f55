#!/usr/bin/env python3
"""softcuda's cuBLAS, cuSOLVER and cuFFT beside NumPy and SciPy on the same cores.

    ./run benchmarks/closed_libraries.py [--rounds N]

Prints a table in Markdown: the least wall-clock time of each side, of N rounds, and their quotient. Both sides compute
on their own copy of the same data in column order, in place where the library's function does. The sides take turns of
several calls: the threads of an OpenBLAS poll for work for about 30 ms after a call, on the cores that the other side
needs. The last rows are calls whose work is negligible: the time of a call through ctypes, less that of a call that
does nothing.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.fft
import scipy.linalg
import softcuda_libraries

import pycuda.autoinit  # noqa: F401
import pycuda.driver as cuda
from pycuda import gpuarray

FLOATS = {"S": np.float32, "D": np.float64, "C": np.complex64, "Z": np.complex128}


def compare(ours: np.ndarray, theirs: np.ndarray) -> None:
    """Raises AssertionError if a result is not NumPy's, but for rounding."""
    largest = np.abs(theirs).max()
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-4 * largest)


@dataclass(frozen=True)
class Row:
    """A measurement: the library's call and the other side's, each with its preparation."""

    name: str
    prepare: Callable[[], object]
    ours: Callable[[object], None]
    theirs: Callable[[object], None]


def library(name: str) -> ctypes.CDLL:
    return ctypes.CDLL(os.path.join(softcuda_libraries.FOLDER, name))


def address(array: gpuarray.GPUArray | np.ndarray) -> ctypes.c_void_p:
    if isinstance(array, np.ndarray):
        return ctypes.c_void_p(array.ctypes.data)
    return ctypes.c_void_p(int(array.gpudata))


def check(status: int) -> None:
    if status != 0:
        raise RuntimeError(f"the library returned {status}")


class Sides:
    """The handles of the libraries, and rows that use them."""

    def __init__(self) -> None:
        self.blas, self.solver = (
            library("libcublas.so.13"),
            library("libcusolver.so.12"),
        )
        self.fft = library("libcufft.so.12")
        self.rng = np.random.default_rng(2)
        self.blas_handle, self.solver_handle = ctypes.c_void_p(), ctypes.c_void_p()
        check(self.blas.cublasCreate_v2(ctypes.byref(self.blas_handle)))
        check(self.solver.cusolverDnCreate(ctypes.byref(self.solver_handle)))
        self.info = gpuarray.zeros(1, np.int32)
        self.pivots = gpuarray.zeros(4096, np.int32)

    def matrix(self, m: int, n: int, dtype: type) -> np.ndarray:
        values = self.rng.standard_normal((m, n))
        if np.issubdtype(dtype, np.complexfloating):
            values = values + 1j * self.rng.standard_normal((m, n))
        return np.asfortranarray(values.astype(dtype))

    def gemm(self, letter: str, n: int) -> Row:
        dtype = FLOATS[letter]
        a, b, c = (self.matrix(n, n, dtype) for _ in range(3))
        on = [gpuarray.to_gpu(x.ravel(order="K")) for x in (a, b, c)]
        one, zero = np.ones(1, dtype), np.zeros(1, dtype)
        call, size = getattr(self.blas, f"cublas{letter}gemm_v2"), ctypes.c_int(n)

        def ours(_: object) -> None:
            x, y, z = map(address, on)
            check(
                call(
                    *(self.blas_handle, 0, 0, size, size, size, address(one)),
                    *(x, size, y, size, address(zero), z, size),
                )
            )
            cuda.Context.synchronize()

        ours(None)
        compare(on[2].get(), np.matmul(a, b).ravel(order="F"))
        return Row(
            f"`{letter}gemm`, {n}", lambda: None, ours, lambda _: np.matmul(a, b, out=c)
        )

    def solve(self, n: int) -> Row:
        a, b = self.matrix(n, n, np.float64), self.matrix(n, 1, np.float64)
        work = gpuarray.zeros(1, np.float64)

        def prepare() -> object:
            return [gpuarray.to_gpu(x.ravel(order="K")) for x in (a, b)]

        def ours(made: object) -> None:
            x, y = map(address, made)
            info, pivots = address(self.info), address(self.pivots)
            check(
                self.solver.cusolverDnDgetrf(
                    self.solver_handle, n, n, x, n, address(work), pivots, info
                )
            )
            check(
                self.solver.cusolverDnDgetrs(
                    self.solver_handle, 0, n, 1, x, n, pivots, y, n, info
                )
            )
            cuda.Context.synchronize()

        return Row(
            f"solution (`Dgetrf`, `Dgetrs`), {n}",
            prepare,
            ours,
            lambda _: np.linalg.solve(a, b),
        )

    def eigenvalues(self, n: int) -> Row:
        a = self.matrix(n, n, np.float64)
        a = np.asfortranarray(a + a.T)
        values, work = gpuarray.zeros(n, np.float64), gpuarray.zeros(1, np.float64)

        def ours(made: object) -> None:
            check(
                self.solver.cusolverDnDsyevd(
                    *(self.solver_handle, 1, 0, n, address(made), n),
                    *(address(values), address(work), 1, address(self.info)),
                )
            )
            cuda.Context.synchronize()

        return Row(
            f"eigenvectors (`Dsyevd`), {n}",
            lambda: gpuarray.to_gpu(a.ravel(order="K")),
            ours,
            lambda _: scipy.linalg.eigh(a, driver="evd", check_finite=False),
        )

    def singular_values(self, n: int) -> Row:
        a = self.matrix(n, n, np.float64)
        values, work = gpuarray.zeros(n, np.float64), gpuarray.zeros(1, np.float64)
        u, vt = gpuarray.zeros(n * n, np.float64), gpuarray.zeros(n * n, np.float64)

        def ours(made: object) -> None:
            check(
                self.solver.cusolverDnDgesvd(
                    *(self.solver_handle, ord("S"), ord("S"), n, n, address(made), n),
                    *(address(values), address(u), n, address(vt), n, address(work)),
                    *(1, None, address(self.info)),
                )
            )
            cuda.Context.synchronize()

        return Row(
            f"singular vectors (`Dgesvd`), {n}",
            lambda: gpuarray.to_gpu(a.ravel(order="K")),
            ours,
            lambda _: scipy.linalg.svd(
                a, full_matrices=False, lapack_driver="gesvd", check_finite=False
            ),
        )

    def transform(self, shape: tuple[int, ...], letter: str, batch: int = 1) -> Row:
        dtype, kind = FLOATS[letter], {"C": 0x29, "Z": 0x69}[letter]
        a = np.ascontiguousarray(self.matrix(batch, int(np.prod(shape)), dtype))
        a = a.reshape(batch, *shape)
        plan, sizes = ctypes.c_int(), (ctypes.c_int * len(shape))(*shape)
        check(
            self.fft.cufftPlanMany(
                *(
                    ctypes.byref(plan),
                    len(shape),
                    sizes,
                    None,
                    1,
                    0,
                    None,
                    1,
                    0,
                    kind,
                    batch,
                )
            )
        )
        on, to = gpuarray.to_gpu(a), gpuarray.zeros(a.shape, dtype)
        execute = self.fft.cufftExecC2C if letter == "C" else self.fft.cufftExecZ2Z

        def ours(_: object) -> None:
            check(execute(plan, address(on), address(to), -1))
            cuda.Context.synchronize()

        axes = tuple(range(1, len(shape) + 1))
        workers = len(os.sched_getaffinity(0))
        ours(None)
        compare(to.get(), scipy.fft.fftn(a, axes=axes))
        name = " x ".join(map(str, shape)) + (f", {batch} times" if batch > 1 else "")
        return Row(
            f"FFT ({letter}), {name}",
            lambda: None,
            ours,
            lambda _: scipy.fft.fftn(a, axes=axes, workers=workers),
        )


def least(call: Callable[[object], None], prepare: Callable[[], object]) -> float:
    made = prepare()
    cuda.Context.synchronize()
    start = time.perf_counter()
    call(made)
    return time.perf_counter() - start


IN_A_ROW = 10


def in_turn(row: Row, rounds: int) -> tuple[float, float]:
    ours, theirs = float("inf"), float("inf")
    for start in range(0, rounds, IN_A_ROW):
        calls = range(min(IN_A_ROW, rounds - start))
        time.sleep(0.05)
        ours = min(ours, *(least(row.ours, row.prepare) for _ in calls))
        time.sleep(0.05)
        theirs = min(theirs, *(least(row.theirs, lambda: None) for _ in calls))
    return ours, theirs


def of_a_call(call: Callable[[], object], rounds: int) -> float:
    """The least mean time of 100 calls."""
    best = float("inf")
    for _ in range(10 * rounds):
        start = time.perf_counter()
        for _ in range(100):
            call()
        best = min(best, (time.perf_counter() - start) / 100)
    return best


def small_calls(sides: Sides, rounds: int) -> list[str]:
    plan = ctypes.c_int()
    check(sides.fft.cufftPlan1d(ctypes.byref(plan), 64, 0x29, 1))
    a = gpuarray.zeros(64, np.complex64)
    at, one = address(a), np.ones(1, np.float32)
    n, by, stream = ctypes.c_int(4), address(one), ctypes.c_void_p()
    get, handle = sides.blas.cublasGetStream_v2, sides.blas_handle
    gemm = sides.blas.cublasSgemm_v2
    nothing = of_a_call(lambda: get(handle, ctypes.byref(stream)), rounds)
    rows = []
    for name, call in [
        (
            "`Sgemm` of 4 x 4",
            lambda: gemm(handle, 0, 0, n, n, n, by, at, n, at, n, by, at, n),
        ),
        ("`cufftExecC2C` of 64", lambda: sides.fft.cufftExecC2C(plan, at, at, -1)),
    ]:
        rows.append(
            f"| {name} | {1e6 * (of_a_call(call, rounds) - nothing):.1f} us | | |"
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=30)
    options = parser.parse_args()
    sides = Sides()
    rows = [
        *(sides.gemm("S", 256), sides.gemm("S", 1024), sides.gemm("D", 1024)),
        *(sides.gemm("Z", 512), sides.solve(512), sides.solve(1500)),
        *(sides.eigenvalues(300), sides.singular_values(200)),
        *(sides.transform((1 << 16,), "C"), sides.transform((1 << 20,), "C")),
        *(sides.transform((1000,), "Z", 200), sides.transform((512, 512), "C")),
        sides.transform((64, 64, 64), "Z"),
    ]
    print("| | softcuda | NumPy, SciPy | quotient |\n|---|---:|---:|---:|")
    for row in rows:
        ours, theirs = in_turn(row, options.rounds)
        print(
            f"| {row.name} | {1e3 * ours:.2f} ms | {1e3 * theirs:.2f} ms | {theirs / ours:.2f} |"
        )
    print("\n".join(small_calls(sides, options.rounds)))


if __name__ == "__main__":
    main()
