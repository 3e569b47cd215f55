"""softcuda's cuFFTW: FFTW's interface on the host's memory, beside NumPy, and with results of a GPU's stream."""

import ctypes

import numpy as np
import pytest
from library_calls import argument, load, random

from pycuda import gpuarray

FORWARD, BACKWARD, ESTIMATE = -1, 1, 1
PREFIX = {"f4": "fftwf", "f8": "fftw"}


class Library:
    """The functions of one precision; all pointers are 64-bit, plans too."""

    def __init__(self, library, real):
        self.library, self.prefix = library, PREFIX[real]
        self.real = np.dtype(real)
        self.complex = np.result_type(self.real, np.complex64)

    def __getattr__(self, name):
        function = getattr(self.library, f"{self.prefix}_{name}")
        function.restype = ctypes.c_double if name == "cost" else ctypes.c_void_p
        return lambda *arguments: function(*map(argument, arguments))

    def plan(self, name, *arguments):
        plan = getattr(self, f"plan_{name}")(*arguments)
        return plan and ctypes.c_void_p(plan)


@pytest.fixture(params=["11", "12"])
def library(device, request):
    return load(f"libcufftw.so.{request.param}")


@pytest.fixture(params=PREFIX)
def fftw(library, request):
    return Library(library, request.param)


@pytest.fixture
def rng():
    return np.random.default_rng(12)


def close(got, wanted):
    eps = np.finfo(got.dtype).eps
    assert abs(got - wanted).max() <= 50 * eps * max(abs(wanted).max(), 1)


def test_basic_plans_of_each_rank(fftw, rng):
    for shape in [(12,), (4, 6), (3, 4, 5), (2, 3, 2, 4)]:
        name = f"dft_{len(shape)}d" if len(shape) < 4 else "dft"
        sizes = shape if len(shape) < 4 else (4, np.array(shape, np.int32))
        x = random(rng, shape, fftw.complex)
        y = np.empty_like(x)
        for sign, wanted in [
            (FORWARD, np.fft.fftn(x)),
            (BACKWARD, np.fft.ifftn(x) * x.size),
        ]:
            plan = fftw.plan(name, *sizes, x, y, sign, ESTIMATE)
            fftw.execute(plan)
            close(y, wanted)
            fftw.destroy_plan(plan)

        real = random(rng, shape, fftw.real)
        half = np.empty((*shape[:-1], shape[-1] // 2 + 1), fftw.complex)
        name = name.replace("dft", "dft_r2c")
        plan = fftw.plan(name, *sizes, real, half, ESTIMATE)
        fftw.execute(plan)
        close(half, np.fft.rfftn(real))
        fftw.destroy_plan(plan)
        again = np.empty_like(real)
        plan = fftw.plan(name.replace("r2c", "c2r"), *sizes, half, again, ESTIMATE)
        fftw.execute(plan)
        close(again / real.size, real)
        fftw.destroy_plan(plan)


def test_real_rows_in_place_are_padded(fftw, rng):
    memory = np.zeros((4, 8), fftw.real)
    memory[:, :6] = wanted = random(rng, (4, 6), fftw.real)
    plan = fftw.plan("dft_r2c_2d", 4, 6, memory, memory, ESTIMATE)
    fftw.execute(plan)
    close(memory.view(fftw.complex), np.fft.rfft2(wanted))
    back = fftw.plan("dft_c2r_2d", 4, 6, memory, memory, ESTIMATE)
    fftw.execute(back)
    close(memory[:, :6] / 24, wanted)


def test_many_with_strides_and_new_arrays(fftw, rng):
    n, embed = np.array([3, 4], np.int32), np.array([3, 5], np.int32)
    x = random(rng, (2, 3, 5, 2), fftw.complex)  # a stride of 2, rows of 5
    y = np.empty((2, 3, 4), fftw.complex)
    plan = fftw.plan(
        "many_dft", 2, n, 2, None, embed, 2, 30, None, None, 1, 12, FORWARD, ESTIMATE
    )
    fftw.execute_dft(plan, x, y)
    close(y, np.fft.fft2(x[:, :, :4, 0]))
    # In place, with other layouts on the two sides.
    both = np.zeros(60, fftw.complex)
    both[:] = x.ravel()
    plan = fftw.plan(
        "many_dft", 2, n, 1, both, embed, 2, 30, both, None, 1, 12, FORWARD, ESTIMATE
    )
    fftw.execute(plan)
    close(both[:12].reshape(3, 4), np.fft.fft2(x[0, :, :4, 0]))


@pytest.mark.parametrize("integer", [np.int32, np.int64])
def test_guru_plans_of_several_batch_dimensions(fftw, rng, integer):
    guru = "guru" if integer is np.int32 else "guru64"
    x = random(rng, (2, 3, 8), fftw.complex)
    y = np.empty((3, 2, 8), fftw.complex)
    dimensions = np.array([8, 1, 1], integer)
    batch = np.array([[2, 24, 8], [3, 8, 16]], integer)
    plan = fftw.plan(f"{guru}_dft", 1, dimensions, 2, batch, x, y, FORWARD, ESTIMATE)
    fftw.execute(plan)
    close(y, np.fft.fft(x).transpose(1, 0, 2))
    # Without a batch; real input.
    real, half = random(rng, 8, fftw.real), np.empty(5, fftw.complex)
    plan = fftw.plan(f"{guru}_dft_r2c", 1, dimensions, 0, None, real, half, ESTIMATE)
    fftw.execute(plan)
    close(half, np.fft.rfft(real))


def test_results_of_kernels_are_awaited(fftw, rng):
    """A kernel of the default stream writes the input, in memory that the host reads."""
    x = random(rng, 1 << 20, fftw.complex)
    on_device = gpuarray.to_gpu(x)
    result = np.empty_like(x)
    for _ in range(20):
        on_device *= fftw.real.type(1)
    on_device += 1
    plan = fftw.plan("dft_1d", x.size, on_device, result, FORWARD, ESTIMATE)
    fftw.execute(plan)
    close(result, np.fft.fft(x + 1))


def test_errors_are_no_plans(fftw, capfd):
    x = np.zeros(4, fftw.complex)
    assert fftw.plan("dft_1d", 0, x, x, FORWARD, ESTIMATE) is None
    assert fftw.plan("dft_1d", 4, x, x, 7, ESTIMATE) is None
    assert fftw.plan("dft", 0, None, x, x, FORWARD, ESTIMATE) is None
    fftw.execute(None)
    plan = fftw.plan("dft_1d", 4, x, x, FORWARD, ESTIMATE)
    fftw.execute_dft_r2c(plan, x, x)
    fftw.execute_dft(plan, None, x)
    lines = capfd.readouterr().err.splitlines()
    assert [line.split(": ")[-1] for line in lines] == [
        "each size must be positive",
        "the sign must be FFTW_FORWARD or FFTW_BACKWARD",
        "a transform needs at least one dimension",
        "there is no plan",
        "the plan is of another type",
        "there is no input or no output",
    ]
    assert lines[0].startswith(f"softcuda: cuFFTW: {fftw.prefix}_plan_dft_1d")


def test_memory_and_estimates(fftw):
    memory = fftw.malloc(1000)
    assert memory % 64 == 0
    fftw.free(ctypes.c_void_p(memory))
    x = np.zeros(1024, fftw.complex)
    plan = fftw.plan("dft_1d", 1024, x, x, FORWARD, ESTIMATE)
    assert 5e4 < fftw.cost(plan) < 6e4
    counts = np.full(3, -1.0)
    fftw.flops(plan, counts[:1], counts[1:2], counts[2:])
    assert counts[0] > counts[1] > counts[2] == 0
