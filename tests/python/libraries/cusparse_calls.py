"""Calls of softcuda's cuSPARSE for tests: descriptors, and functions that become fixtures."""

import ctypes

import numpy as np
import pytest
from library_calls import Handle, argument, load, random

from pycuda import gpuarray

sparse = pytest.importorskip("scipy.sparse")

TYPES = {"f2": 2, "f4": 0, "f8": 1, "c8": 4, "c16": 5, "i1": 3, "i4": 10}
INDICES = {"u2": 1, "i4": 2, "i8": 3}
HOST, DEVICE = 0, 1
BY_COLUMNS, BY_ROWS = 1, 2


def code(dtype):
    return TYPES[np.dtype(dtype).str[1:]]


class Descriptors:
    """Makes descriptors, keeps their arrays, and destroys both."""

    def __init__(self, library):
        self.library, self.made, self.arrays = library, [], []

    def call(self, name, *arguments):
        status = getattr(self.library, f"cusparse{name}")(*map(argument, arguments))
        assert status == 0, f"cusparse{name} returned {status}"

    def new(self, name, *arguments):
        """What the function makes at its first argument."""
        made = ctypes.c_void_p()
        create = getattr(self.library, f"cusparse{name}")
        assert create(ctypes.byref(made), *map(argument, arguments)) == 0
        return made

    def make(self, kind, *arguments, destroy):
        made = self.new(f"Create{kind}", *arguments)
        self.made.append((destroy, made))
        self.arrays += arguments
        return made

    def matrix(self, a, form="Csr", index="i4", base=0):
        """The descriptor, and the arrays on the device."""
        a = a.asformat(form.lower())
        dtype, number = np.dtype(index), INDICES[index]
        put = lambda x: gpuarray.to_gpu(np.asarray(x + base, dtype))  # noqa: E731
        values = gpuarray.to_gpu(a.data)
        if form == "Coo":
            major, minor, types = put(a.row), put(a.col), [number]
        else:
            major, minor, types = put(a.indptr), put(a.indices), [number, number]
        arguments = (*a.shape, a.nnz, major, minor, values, *types, base, code(a.dtype))
        return self.make(form, *arguments, destroy="DestroySpMat"), (
            major,
            minor,
            values,
        )

    def dense(self, array, order=BY_COLUMNS):
        """The descriptor, and a function that reads the matrix."""
        rows, count = array.shape
        host = np.asarray(array, order="F" if order == BY_COLUMNS else "C")
        there = gpuarray.to_gpu(host)
        leading = rows if order == BY_COLUMNS else count
        made = self.make(
            "DnMat",
            rows,
            count,
            leading,
            there,
            code(array.dtype),
            order,
            destroy="DestroyDnMat",
        )
        return made, lambda: there.get()

    def vector(self, array):
        there = gpuarray.to_gpu(array)
        return self.make(
            "DnVec", array.size, there, code(array.dtype), destroy="DestroyDnVec"
        ), there

    def close(self):
        for destroy, made in self.made:
            self.call(destroy, made)


def handle_of_library(device):
    handle = Handle(
        load("libcusparse.so.12"), "cusparse", "cusparseCreate", "cusparseDestroy"
    )
    yield handle
    handle.close()


def descriptors_of_test(blas):
    descriptors = Descriptors(blas.library)
    yield descriptors
    descriptors.close()


def random_numbers():
    return np.random.default_rng(11)


def matrix(rng, rows, columns, dtype, density=0.3):
    pattern = rng.random((rows, columns)) < density
    return sparse.csr_matrix(
        (random(rng, (rows, columns), dtype) * pattern).astype(dtype)
    )


def operation(a, op):
    return a if op == 0 else a.T if op == 1 else a.conj().T


def close(got, wanted):
    tolerance = 1e-4 if np.finfo(got.dtype).eps > 1e-10 else 1e-12
    np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance)


def size(blas, name, *arguments):
    wanted = np.zeros(1, np.uint64)
    getattr(blas, name)(*arguments, wanted)
    return gpuarray.zeros(int(wanted[0]), np.uint8)
