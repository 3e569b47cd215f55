"""Random sequences of calls of several libraries: recorded in a graph and launched twice, they give the numbers of eager calls."""

import ctypes
import random

import numpy as np
import pytest
from library_calls import Handle, argument, capture, load, synchronize

import pycuda.driver as cuda
from pycuda import gpuarray

N = 16
FLOAT, INT32 = 0, 2  # cudaDataType, cusparseIndexType_t
SIZE = ctypes.c_int64(N)


def made(library, create, *arguments):
    """The object that a function of the library makes."""
    result = ctypes.c_void_p()
    status = getattr(library, create)(ctypes.byref(result), *map(argument, arguments))
    assert status == 0
    return result


class Program:
    """Calls on one stream, by their numbers. They change `x`, `y` and `square`, and read each other's results."""

    def __init__(self, stream):
        self.stream = ctypes.c_void_p(stream.handle)
        self.lt = load("libcublasLt.so.13")
        self.blas = Handle(
            load("libcublas.so.13"), "cublas", "cublasCreate_v2", "cublasDestroy_v2"
        )
        sparse = load("libcusparse.so.12")
        self.sparse = Handle(sparse, "cusparse", "cusparseCreate", "cusparseDestroy")
        self.random = load("libcurand.so.10")
        self.generators = [
            made(self.random, "curandCreateGenerator", kind)
            for kind in (101, 121, 161, 201)
        ]
        self.fft, self.plan = load("libcufft.so.12"), ctypes.c_int()
        assert self.fft.cufftPlan1d(ctypes.byref(self.plan), N // 2, 0x29, 1) == 0
        self.blas.SetStream_v2(self.stream)
        self.sparse.SetStream(self.stream)
        assert self.fft.cufftSetStream(self.plan, self.stream) == 0
        for generator in self.generators:
            assert self.random.curandSetStream(generator, self.stream) == 0
        self.x, self.y = (gpuarray.to_gpu(np.ones(N, "f")) for _ in range(2))
        self.square = gpuarray.to_gpu(np.eye(N, dtype="f").ravel())
        self.result = gpuarray.zeros(N * N, np.float32)
        self.scalars = np.array([0.25, 0.5], np.float32)
        self.layout = made(self.lt, "cublasLtMatrixLayoutCreate", FLOAT, N, N, N)
        self.product = made(self.lt, "cublasLtMatmulDescCreate", 68, FLOAT)
        # Element i of the sparse matrix's diagonal is i.
        self.arrays = [
            gpuarray.to_gpu(np.arange(count, dtype=dtype))
            for count, dtype in ((N + 1, np.int32), (N, np.int32), (N, np.float32))
        ]
        self.matrix = made(
            *(sparse, "cusparseCreateCsr", N, N, N, *self.arrays),
            *(INT32, INT32, 0, FLOAT),
        )
        self.vectors = [
            made(sparse, "cusparseCreateDnVec", N, array, FLOAT)
            for array in (self.x, self.y)
        ]
        synchronize()

    def call(self, number):
        address = ctypes.c_void_p(int(self.x.gpudata))
        small, half = (self.scalars[i : i + 1] for i in range(2))
        if number < 4:
            uniform = self.random.curandGenerateUniform
            assert uniform(self.generators[number], address, ctypes.c_size_t(N)) == 0
        elif number == 4:
            assert self.fft.cufftExecC2C(self.plan, address, address, -1) == 0
            self.blas.Sscal_v2(N, small, self.x, 1)
        elif number == 5:
            self.sparse.SpMV(
                *(0, small, self.matrix, self.vectors[0], half, self.vectors[1]),
                *(FLOAT, 0, None),
            )
        elif number == 6:
            operands = (small, self.square, self.layout, self.square, self.layout)
            result = (half, self.result, self.layout, self.result, self.layout)
            status = self.lt.cublasLtMatmul(
                self.blas.handle,
                self.product,
                *map(argument, (*operands, *result, None, None)),
                ctypes.c_size_t(0),
                self.stream,
            )
            assert status == 0
        elif number == 7:
            self.blas.Sger_v2(N, N, small, self.x, 1, self.y, 1, self.square, N)
        else:
            self.blas.Sgemv_v2(
                *(0, N, N, small, self.result, N, self.y, 1, half, self.x, 1)
            )

    def state(self):
        synchronize()
        arrays = (self.x, self.y, self.square, self.result)
        return np.concatenate([array.get() for array in arrays])

    def close(self):
        for generator in self.generators:
            assert self.random.curandDestroyGenerator(generator) == 0
        assert self.fft.cufftDestroy(self.plan) == 0
        assert self.lt.cublasLtMatrixLayoutDestroy(self.layout) == 0
        assert self.lt.cublasLtMatmulDescDestroy(self.product) == 0
        for vector in self.vectors:
            assert self.sparse.library.cusparseDestroyDnVec(vector) == 0
        assert self.sparse.library.cusparseDestroySpMat(self.matrix) == 0
        self.sparse.close()
        self.blas.close()


@pytest.mark.parametrize("seed", range(12))
def test_a_random_sequence(device, seed):
    streams = [cuda.Stream() for _ in range(2)]
    eager, recorded = (Program(stream) for stream in streams)
    numbers = [random.Random(seed).randrange(9) for _ in range(14)]

    def calls(program):
        for number in numbers:
            program.call(number)

    before = recorded.state()
    graph = capture(streams[1], lambda: calls(recorded)).instantiate()
    np.testing.assert_array_equal(recorded.state(), before)
    for _ in range(2):
        calls(eager)
        graph.launch(streams[1])
        wanted = eager.state()
        np.testing.assert_array_equal(recorded.state(), wanted)
        assert np.isfinite(wanted).all()
        assert (wanted != before).any()
    eager.close()
    recorded.close()
