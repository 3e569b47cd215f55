"""softcuda's cuFFT: values beside NumPy's in each type, dimension and layout, streams, captures, errors."""

import ctypes

import numpy as np
import pytest
from library_calls import argument, capture, load, random, synchronize

import pycuda.driver as cuda
from pycuda import gpuarray

C2C, R2C, C2R, Z2Z, D2Z, Z2D = 0x29, 0x2A, 0x2C, 0x69, 0x6A, 0x6C
FORWARD, INVERSE = -1, 1
# cufftType: (input, output, name of the function)
TYPES = {
    C2C: (np.complex64, np.complex64, "C2C"),
    R2C: (np.float32, np.complex64, "R2C"),
    C2R: (np.complex64, np.float32, "C2R"),
    Z2Z: (np.complex128, np.complex128, "Z2Z"),
    D2Z: (np.float64, np.complex128, "D2Z"),
    Z2D: (np.complex128, np.float64, "Z2D"),
}


class Plan:
    """A plan, made by the function with the name."""

    def __init__(self, library, form, *arguments):
        self.library, self.handle = library, ctypes.c_int()
        function = getattr(library, f"cufftPlan{form}")
        status = function(ctypes.byref(self.handle), *map(argument, arguments))
        assert status == 0, f"cufftPlan{form} returned {status}"

    def run(self, kind, source, target, *direction):
        function = getattr(self.library, f"cufftExec{TYPES[kind][2]}")
        return function(self.handle, *map(argument, (source, target, *direction)))

    def close(self):
        assert self.library.cufftDestroy(self.handle) == 0


@pytest.fixture(params=["11", "12"])
def fft(device, request):
    return load(f"libcufft.so.{request.param}")


@pytest.fixture
def rng():
    return np.random.default_rng(11)


def close(got, wanted):
    tolerance = 1e-6 if got.dtype in (np.complex64, np.float32) else 1e-15
    scale = max(abs(wanted).max(), 1)
    assert got.shape == wanted.shape
    assert abs(got - wanted).max() <= tolerance * scale * 8


def transformed(kind, host, shape, axes):
    """What cuFFT gives: no factors; the inverse real transform ignores what a real result cannot have."""
    if kind in (R2C, D2Z):
        return np.fft.rfftn(host, axes=axes).astype(TYPES[kind][1])
    if kind in (C2R, Z2D):
        factor = np.prod([shape[a] for a in axes])
        sizes = [shape[a] for a in axes]
        return (np.fft.irfftn(host, sizes, axes=axes) * factor).astype(TYPES[kind][1])
    return np.fft.fftn(host, axes=axes).astype(TYPES[kind][1])


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("shape", [(16,), (15,), (1009,), (12, 10), (7, 9), (6, 5, 8)])
def test_dimensions(fft, rng, kind, shape):
    complex_shape = (*shape[:-1], shape[-1] // 2 + 1)
    source_type, target_type, _ = TYPES[kind]
    source_shape = complex_shape if kind in (C2R, Z2D) else shape
    target_shape = complex_shape if kind in (R2C, D2Z) else shape
    host = random(rng, source_shape, source_type)
    if kind in (C2R, Z2D):  # the spectrum of a real array
        host = np.fft.rfftn(rng.standard_normal(shape)).astype(source_type)
    source, target = gpuarray.to_gpu(host), gpuarray.zeros(target_shape, target_type)
    more = (1,) if len(shape) == 1 else ()
    plan = Plan(fft, f"{len(shape)}d", *shape, kind, *more)
    direction = (FORWARD,) if kind in (C2C, Z2Z) else ()
    assert plan.run(kind, source, target, *direction) == 0
    close(target.get(), transformed(kind, host, shape, tuple(range(len(shape)))))
    if direction:
        assert plan.run(kind, target, target, INVERSE) == 0  # in place
        close(target.get(), host * np.prod(shape))
    plan.close()


@pytest.mark.parametrize("real, complex_, forward, back", [
    (np.float32, np.complex64, R2C, C2R), (np.float64, np.complex128, D2Z, Z2D),
])  # fmt: skip
@pytest.mark.parametrize("shape", [(10,), (9,), (4, 6), (3, 4, 5)])
def test_real_transforms_in_place_have_padded_rows(
    fft, rng, real, complex_, forward, back, shape
):
    batch = 3 if len(shape) == 1 else 1
    rows = (*shape[:-1], 2 * (shape[-1] // 2 + 1))
    memory = np.zeros((batch, *rows), real)
    host = random(rng, (batch, *shape), real)
    memory[..., : shape[-1]] = host
    device = gpuarray.to_gpu(memory)
    more = (batch,) if len(shape) == 1 else ()
    plan = Plan(fft, f"{len(shape)}d", *shape, forward, *more)
    assert plan.run(forward, device, device) == 0
    axes = tuple(range(1, len(shape) + 1))
    close(device.get().view(complex_), np.fft.rfftn(host, axes=axes).astype(complex_))
    inverse = Plan(fft, f"{len(shape)}d", *shape, back, *more)
    assert inverse.run(back, device, device) == 0
    close(device.get()[..., : shape[-1]], host * np.prod(shape, dtype=real))


def ints(*values):
    return np.array(values, np.int32)


def test_advanced_layouts(fft, rng):
    """Columns of a matrix, and a part of a larger array."""
    host = random(rng, (8, 5), np.complex64)
    source, target = gpuarray.to_gpu(host), gpuarray.zeros((5, 8), np.complex64)
    plan = Plan(
        fft, "Many", 1, ints(8), ints(8), 5, 1, ints(8), 1, 8, C2C, 5
    )  # columns to rows
    assert plan.run(C2C, source, target, FORWARD) == 0
    close(target.get(), np.fft.fft(host, axis=0).T.astype(np.complex64))
    big = random(rng, (3, 6, 9), np.float64)
    source = gpuarray.to_gpu(big)
    plan = Plan(
        *(fft, "Many", 2, ints(4, 6), ints(6, 9), 1, 54, ints(4, 8), 2, 64, D2Z, 2),
    )
    target = gpuarray.zeros((2, 4, 8, 2), np.complex128)
    assert plan.run(D2Z, source, target) == 0
    wanted = np.fft.rfftn(big[:2, :4, :6], axes=(1, 2))
    close(target.get()[..., :4, 0], wanted)
    assert not target.get()[..., 1].any() and not target.get()[..., 4:, :].any()


def test_in_place_with_two_layouts(fft, rng):
    """The rows move while they are transformed."""
    host = random(rng, (4, 8), np.complex64)
    memory = np.zeros(48, np.complex64)
    memory[:32] = host.ravel()
    device = gpuarray.to_gpu(memory)
    plan = Plan(fft, "Many", 1, ints(8), ints(8), 1, 8, ints(8), 1, 12, C2C, 4)
    assert plan.run(C2C, device, device, FORWARD) == 0
    close(device.get().reshape(4, 12)[:, :8], np.fft.fft(host).astype(np.complex64))


def test_large_transforms_use_threads(fft, rng):
    host = random(rng, (512, 1024), np.complex64)
    device = gpuarray.to_gpu(host)
    plan = Plan(fft, "2d", 512, 1024, C2C)
    assert plan.run(C2C, device, device, FORWARD) == 0
    close(device.get(), np.fft.fft2(host).astype(np.complex64))


def test_streams_and_captures(fft, rng):
    stream = cuda.Stream()
    host = random(rng, 4096, np.complex128)
    source, target = gpuarray.to_gpu(host), gpuarray.zeros(4096, np.complex128)
    plan = Plan(fft, "1d", 4096, Z2Z, 1)
    assert fft.cufftSetStream(plan.handle, ctypes.c_void_p(stream.handle)) == 0
    synchronize()

    def work():
        cuda.memcpy_dtod_async(target.gpudata, source.gpudata, host.nbytes, stream)
        assert plan.run(Z2Z, target, target, FORWARD) == 0

    graph = capture(stream, work).instantiate()
    plan.close()  # the graph keeps what it needs
    for _ in range(2):
        target.fill(0)
        synchronize()
        graph.launch(stream)
        stream.synchronize()
        close(target.get(), np.fft.fft(host))


def test_errors_are_cuffts_own(fft, capfd):
    handle = ctypes.c_int()
    array = gpuarray.zeros(64, np.complex64)
    plan1d = fft.cufftPlan1d
    assert plan1d(ctypes.byref(handle), 8, 0x33, 1) == 3  # invalid type
    assert plan1d(ctypes.byref(handle), 0, C2C, 1) == 8  # invalid size
    assert plan1d(ctypes.byref(handle), 8, C2C, -1) == 8
    assert plan1d(None, 8, C2C, 1) == 4
    assert fft.cufftDestroy(123456) == 1
    assert fft.cufftExecC2C(123456, argument(array), argument(array), FORWARD) == 1
    plan = Plan(fft, "1d", 64, C2C, 1)
    assert plan.run(Z2Z, array, array, FORWARD) == 3
    assert plan.run(C2C, array, array, 5) == 4
    capfd.readouterr()
    short = gpuarray.zeros(4, np.complex64)
    assert plan.run(C2C, array, short, FORWARD) == 6
    assert "the output must be device memory of 512 bytes" in capfd.readouterr().err
    assert plan.run(C2C, array, array, FORWARD) == 0
    assert fft.cufftXtSetCallback(plan.handle, None, 0, None) == 16
    assert "cufftXtSetCallback: not supported" in capfd.readouterr().err
    plan.close()
    assert plan.run(C2C, array, array, FORWARD) == 1


def test_made_in_two_steps(fft, rng):
    handle, size = ctypes.c_int(), ctypes.c_size_t()
    assert fft.cufftCreate(ctypes.byref(handle)) == 0
    assert fft.cufftMakePlan2d(handle, 4, 6, C2C, ctypes.byref(size)) == 0
    assert size.value > 0
    assert fft.cufftMakePlan2d(handle, 4, 6, C2C, ctypes.byref(size)) == 1
    host = random(rng, (4, 6), np.complex64)
    device = gpuarray.to_gpu(host)
    assert fft.cufftXtExec(handle, argument(device), argument(device), FORWARD) == 0
    close(device.get(), np.fft.fft2(host).astype(np.complex64))


HALF, COMPLEX_HALF, BFLOAT, COMPLEX_BFLOAT = 2, 6, 14, 15  # cudaDataType


@pytest.mark.parametrize(
    ("real", "complex_", "digits"),
    [(HALF, COMPLEX_HALF, 11), (BFLOAT, COMPLEX_BFLOAT, 8)],
)
def test_elements_of_16_bits(fft, rng, real, complex_, digits):
    """Computed in float and rounded; what lies between the output's elements stays."""

    def bits(values):
        if real == HALF:
            return values.astype(np.float16).view(np.uint16)
        return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)

    def values(bits):
        if real == HALF:
            return bits.view(np.float16).astype(np.float32)
        return (bits.astype(np.uint32) << 16).view(np.float32)

    def close(got, wanted):
        got, wanted = (
            np.ascontiguousarray(x).view(np.float32).ravel() for x in (got, wanted)
        )
        assert abs(got - wanted).max() <= 2.0**-digits * abs(wanted).max() * 1.01

    n, batch, size = 16, 3, ctypes.c_size_t()

    def plan(source, target, stride, distance, execution=complex_):
        handle = ctypes.c_int()
        assert fft.cufftCreate(ctypes.byref(handle)) == 0
        one = np.array([n], np.int64)
        status = fft.cufftXtMakePlanMany(
            handle,
            *map(argument, (1, one, one, 1, n if source != complex_ or target == complex_ else n // 2 + 1)),
            ctypes.c_int(source),
            *map(argument, (one, stride, distance)),
            ctypes.c_int(target), argument(batch), ctypes.byref(size), ctypes.c_int(execution),
        )  # fmt: skip
        return handle, status

    source = values(bits(rng.standard_normal((batch, n))))
    other = values(bits(rng.standard_normal((batch, n))))
    both = np.stack([source, other], -1)
    x = gpuarray.to_gpu(bits(both))
    y = gpuarray.full((batch, n, 2, 2), 0x1234, np.uint16)  # a stride of two numbers
    handle, status = plan(complex_, complex_, 2, 2 * n)
    assert status == 0
    assert fft.cufftXtExec(handle, argument(x), argument(y), FORWARD) == 0
    synchronize()
    got = y.get()
    assert (got[:, :, 1] == 0x1234).all()
    wanted = np.fft.fft(source + 1j * other).astype(np.complex64)
    close(values(np.ascontiguousarray(got[:, :, 0])), wanted)

    half = n // 2 + 1
    handle, status = plan(real, complex_, 1, half)
    assert status == 0
    real_side, complex_side = (
        gpuarray.to_gpu(bits(source)),
        gpuarray.zeros((batch, half, 2), np.uint16),
    )
    assert fft.cufftXtExec(handle, argument(real_side), argument(complex_side), 0) == 0
    synchronize()
    close(values(complex_side.get()), np.fft.rfft(source).astype(np.complex64))
    handle, status = plan(complex_, real, 1, n)
    assert status == 0
    assert fft.cufftXtExec(handle, argument(complex_side), argument(real_side), 0) == 0
    synchronize()
    assert abs(values(real_side.get()) / n - source).max() < 2.0 ** (4 - digits)

    assert plan(real, complex_, 1, half, execution=4)[1] == 16  # other precisions
    assert fft.cufftPlan1d(ctypes.byref(handle), n, 0x09, 1) == 3  # no cufftType


def test_rows_of_one_transform_in_place_with_other_steps(fft, rng):
    """The sides' rows begin at other bytes, so the input is read before the output is written."""
    shape, wide = np.array([4, 6], np.int32), np.array([4, 9], np.int32)
    x = random(rng, (4, 6), np.complex64)
    memory = np.zeros(36, np.complex64)
    memory[:24] = x.ravel()
    on_device = gpuarray.to_gpu(memory)
    plan = Plan(fft, "Many", 2, shape, shape, 1, 24, wide, 1, 77, C2C, 1)
    assert plan.run(C2C, on_device, on_device, FORWARD) == 0
    synchronize()
    close(on_device.get().reshape(4, 9)[:, :6], np.fft.fft2(x).astype(np.complex64))
    plan.close()


def test_plans_are_freed(fft):
    def make(count):
        for _ in range(count):
            Plan(fft, "1d", 64, C2C, 2).close()

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1])

    make(1000)
    before = resident()
    make(10000)
    assert resident() - before < 256  # pages: 1 MB


def test_properties_of_plans(fft):
    plan, value = ctypes.c_int(), ctypes.c_longlong()
    assert fft.cufftCreate(ctypes.byref(plan)) == 0
    patient, threads = 1, 2
    for number, initial, new in ((patient, 0, 1), (threads, 1, 8)):
        get = fft.cufftGetPlanPropertyInt64
        assert get(plan, number, ctypes.byref(value)) == 0 and value.value == initial
        set_to = lambda x, n=number: fft.cufftSetPlanPropertyInt64(  # noqa: E731
            plan, n, ctypes.c_longlong(x)
        )
        assert set_to(new) == 0 and set_to(-1) == 4  # CUFFT_INVALID_VALUE
        assert get(plan, number, ctypes.byref(value)) == 0 and value.value == new
        assert fft.cufftResetPlanProperty(plan, number) == 0
        assert get(plan, number, ctypes.byref(value)) == 0 and value.value == initial
    assert fft.cufftResetPlanProperty(plan, 3) == 16  # CUFFT_NOT_SUPPORTED
    assert fft.cufftDestroy(plan) == 0
    assert fft.cufftResetPlanProperty(plan, patient) == 1  # CUFFT_INVALID_PLAN
