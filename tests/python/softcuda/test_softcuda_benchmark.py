"""The kernels of benchmarks/softcuda on small inputs, so that the benchmark keeps working.

The test runs the CUDA C++ on the device and, if it is built, the hand-written C++; both are
compared with NumPy. The OpenCL form runs if PyOpenCL and PoCL are installed.
"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks" / "softcuda"))

import cases
from sides import HandWritten, Pocl, SoftCuda


def check(case, side):
    side.run()
    assert case.complaint(side.results(), case.expected(case.arrays)) is None


@pytest.mark.parametrize("name", cases.NAMES)
def test_kernel_equals_numpy(device, name):
    case = cases.make(name, small=True)
    check(case, SoftCuda(case))


@pytest.mark.skipif(
    not HandWritten.library().exists(), reason="hand_written is not built"
)
@pytest.mark.parametrize("name", cases.NAMES)
def test_hand_written_code_equals_numpy(name):
    case = cases.make(name, small=True)
    check(case, HandWritten(case))


@pytest.mark.parametrize("name", cases.NAMES)
def test_opencl_form_equals_numpy(name):
    pytest.importorskip("pyopencl")
    case = cases.make(name, small=True)
    if not case.opencl:
        pytest.skip("has no OpenCL form")
    check(case, Pocl(case))


def test_softcuda_threads_sets_how_many_run_kernels(run_program):
    """A multiprocessor of softcuda is one of its threads; the process has other threads, too."""

    def multiprocessors_and_threads(wanted):
        done = run_program(
            """
            import os
            import numpy as np
            import pycuda.autoinit, pycuda.driver as cuda
            from pycuda.compiler import SourceModule

            add = SourceModule("__global__ void add(int *p) { atomicAdd(p, 1); }")
            total = cuda.to_device(np.zeros(1, np.int32))
            add.get_function("add")(total, grid=(10_000, 1), block=(64, 1, 1))
            assert cuda.from_device(total, 1, np.int32)[0] == 640_000
            print(cuda.Device(0).multiprocessor_count, len(os.listdir("/proc/self/task")))
            """,
            PYCUDA_DRIVER="softcuda",
            SOFTCUDA_THREADS=str(wanted),
        )
        if "there is no libsoftcuda.so" in done.stderr:
            pytest.skip("libsoftcuda.so is not built")
        assert done.stderr == ""
        return tuple(map(int, done.stdout.split()))

    few, many = 2, 32  # differ by more than the number of other threads
    (few_processors, few_threads), (many_processors, many_threads) = (
        multiprocessors_and_threads(few),
        multiprocessors_and_threads(many),
    )
    assert (few_processors, many_processors) == (few, many)
    assert abs((many_threads - few_threads) - (many - few)) <= 8


def test_complaint_names_the_value_that_is_off(device):
    case = cases.make("scan", small=True)
    side = SoftCuda(case)
    side.run()
    seen, wanted = side.results(), case.expected(case.arrays)
    seen["out"][17] += 1
    assert "1 of 2097152 values of 'out' are off" in case.complaint(seen, wanted)
