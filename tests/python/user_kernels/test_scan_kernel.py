"""InclusiveScanKernel and ExclusiveScanKernel: sizes across all levels, types, layouts, order."""

import numpy as np
import pytest
from foreign_array import ForeignArray
from marks import slow

import pycuda.driver as cuda
from pycuda import gpuarray
from pycuda.gpuarray import GPUArray
from pycuda.scan import ExclusiveScanKernel, InclusiveScanKernel
from pycuda.tools import get_or_register_dtype

RUNNING_SUM = InclusiveScanKernel(np.int32, "a + b")
SUM_BEFORE = ExclusiveScanKernel(np.int32, "a + b", 0)


def random_array(n, dtype=np.int32, seed=0):
    return np.random.default_rng(seed).integers(0, 9, n).astype(dtype)


def before(x):
    return np.concatenate([[0], np.cumsum(x)[:-1]]) if len(x) else x


# A tile is 8192 elements; a new level begins at 32 tiles and at 1024 tiles.
@pytest.mark.parametrize(
    "n",
    [0, 1, 2, 31, 33, 1023, 8191, 8192, 8193, 32 * 8192, 32 * 8192 + 1, 1_000_003]
    + [1025 * 8192 + 7],
)
def test_sizes(device, n):
    x = random_array(n)
    out = ForeignArray(np.zeros_like(x))
    assert RUNNING_SUM(ForeignArray(x), out) is out
    np.testing.assert_array_equal(out.get(), np.cumsum(x))
    in_place = ForeignArray(x)
    assert SUM_BEFORE(in_place) is in_place
    np.testing.assert_array_equal(in_place.get(), before(x))


@pytest.mark.parametrize("dtype", [*"bQef", *slow("BhHiIqd")])
def test_types(device, dtype):
    dtype = np.dtype(dtype)
    # The float16 sums stay in the range in which all integers are exact.
    n = 3000 if dtype == np.float16 else 9000
    x = (random_array(n) % 2 == 0).astype(dtype)
    out = ForeignArray(np.zeros_like(x))
    InclusiveScanKernel(dtype, "a + b")(ForeignArray(x), out)
    exact = np.cumsum(x, dtype=np.float64 if dtype.kind == "f" else np.int64)
    np.testing.assert_array_equal(out.get(), exact.astype(dtype))
    ExclusiveScanKernel(dtype, "a < b ? b : a", 0)(ForeignArray(x), out)
    np.testing.assert_array_equal(
        out.get(), np.concatenate([[0], np.maximum.accumulate(x)[:-1]])
    )


def test_operation_that_does_not_commute(device):
    # Composition of affine maps x -> p x + q, modulo 2^32: only the right order gives this.
    affine = get_or_register_dtype(
        "scan_affine", np.dtype([("p", np.uint32), ("q", np.uint32)])
    )
    kernel = InclusiveScanKernel(
        affine,
        "then(a, b)",
        preamble="""
        struct scan_affine { unsigned p, q; };
        __device__ scan_affine then(scan_affine a, scan_affine b)
        { scan_affine r; r.p = a.p * b.p; r.q = a.q * b.p + b.q; return r; }
        """,
    )
    n = 40_000
    x = np.zeros(n, affine)
    x["p"] = np.random.default_rng(0).integers(1, 2**32, n, np.uint32) | 1
    x["q"] = np.random.default_rng(1).integers(0, 2**32, n, np.uint32)
    out = GPUArray((n,), affine)
    kernel(ForeignArray(x), out)
    expected, p, q = np.zeros_like(x), 1, 0
    for i, (this_p, this_q) in enumerate(x.tolist()):
        p, q = p * this_p & 0xFFFFFFFF, (q * this_p + this_q) & 0xFFFFFFFF
        expected[i] = p, q
    np.testing.assert_array_equal(out.get(), expected)


def test_large_elements(device):
    triple = get_or_register_dtype("scan_triple", np.dtype((np.void, 24)))
    kernel = InclusiveScanKernel(
        triple,
        "add(a, b)",
        preamble="""
        struct scan_triple { double x[3]; };
        __device__ scan_triple add(scan_triple a, scan_triple b)
        { for (int k = 0; k < 3; ++k) a.x[k] += b.x[k]; return a; }
        """,
    )
    numbers = random_array(3 * 5000, np.float64).reshape(5000, 3)
    out = GPUArray((5000,), triple)
    kernel(ForeignArray(numbers.view(triple).reshape(5000)), out)
    result = out.get().view(np.float64).reshape(5000, 3)
    np.testing.assert_array_equal(result, np.cumsum(numbers, axis=0))


def test_float_result_is_equal_in_every_run_and_at_every_address(device):
    x = np.random.default_rng(0).random(300_001, np.float32)
    kernel = InclusiveScanKernel(np.float32, "a + b")
    outs = []
    for shift in (0, 0, 1, 3):
        padded = np.concatenate([np.zeros(shift, np.float32), x])
        source = ForeignArray(padded).view(lambda a, shift=shift: a[shift:])
        out = ForeignArray(np.zeros_like(x))
        kernel(source, out)
        outs.append(out.get())
    np.testing.assert_allclose(outs[0], np.cumsum(x, dtype=np.float64), rtol=1e-6)
    for other in outs[1:]:
        np.testing.assert_array_equal(other, outs[0])


@pytest.mark.parametrize(
    "change", [lambda a: a[::2], lambda a: a[::-1], lambda a: a[5:-3:3]]
)
def test_strided(device, change):
    x = random_array(30_000)
    out = ForeignArray(np.zeros_like(change(x)))
    RUNNING_SUM(ForeignArray(x).view(change), out)
    np.testing.assert_array_equal(out.get(), np.cumsum(change(x)))
    whole = ForeignArray(x)
    SUM_BEFORE(whole.view(change))
    expected = x.copy()
    change(expected)[...] = before(change(x))
    np.testing.assert_array_equal(whole.get(), expected)


def test_new_output_allocator_and_stream(device):
    x = random_array(5000)
    sizes = []

    def allocate(size):
        sizes.append(size)
        return cuda.mem_alloc(size)

    stream = cuda.Stream()
    source = ForeignArray(x)
    out = RUNNING_SUM(source, "new", allocator=allocate, stream=stream)
    stream.synchronize()
    assert isinstance(out, GPUArray) and sizes == [x.nbytes]
    np.testing.assert_array_equal(out.get(), np.cumsum(x))
    np.testing.assert_array_equal(source.get(), x)


def test_attributes_and_source():
    kernel = ExclusiveScanKernel(np.float64, "max(a, b)", "-1e300", name_prefix="best")
    assert kernel.dtype == np.float64 and kernel.neutral == "-1e300"
    assert "void __launch_bounds__(256) best(" in kernel.source()


@pytest.mark.parametrize("output", [None, "new"])
def test_integers_of_the_other_sign_are_scanned_as_bits(device, output):
    values = np.array([5, 2**31, 2**31 + 7, 2**32 - 1, 3], np.uint32)
    running_sum = InclusiveScanKernel(np.int32, "a + b")
    found = running_sum(gpuarray.to_gpu(values), output).get()
    np.testing.assert_array_equal(found.view(np.uint32), values.cumsum(dtype=np.uint32))
    with pytest.raises(
        TypeError, match="the scan has dtype int32, but the array has dtype uint64"
    ):
        running_sum(gpuarray.to_gpu(values.astype(np.uint64)))


def test_what_is_refused(device):
    x = ForeignArray(random_array(10))
    with pytest.raises(
        ValueError, match="neutral element is required for exclusive scan"
    ):
        ExclusiveScanKernel(np.int32, "a + b")
    with pytest.raises(ValueError, match="must have the same shape"):
        RUNNING_SUM(x, ForeignArray(random_array(9)))
    with pytest.raises(
        TypeError, match="the scan has dtype int32, but the array has dtype float32"
    ):
        RUNNING_SUM(ForeignArray(random_array(10, np.float32)))
    with pytest.raises(ValueError, match="must be C-contiguous"):
        RUNNING_SUM(ForeignArray(random_array(12).reshape(3, 4)).view(lambda a: a.T))
    with pytest.raises(TypeError, match="is in host memory"):
        RUNNING_SUM(random_array(10))
    with pytest.raises(ValueError, match='an array, None or "new"'):
        RUNNING_SUM(x, "old")


@pytest.mark.slow
def test_more_than_2_to_the_31_elements(device):
    n = (1 << 31) + 12_345
    ones = GPUArray((n,), np.uint8, gpudata=(memory := cuda.mem_alloc(n)))
    cuda.memset_d8(memory, 1, n)
    InclusiveScanKernel(np.uint8, "a + b")(ones)
    tail = np.empty(1000, np.uint8)
    cuda.memcpy_dtoh(tail, int(memory) + n - 1000)
    np.testing.assert_array_equal(
        tail, ((np.arange(n - 1000, n) + 1) % 256).astype(np.uint8)
    )


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("dtype", ["i4", "i8", "c16"])
@pytest.mark.parametrize("n", [2**22 + 1, 2**22 + 8193, 2**24 + 12_345])
def test_long_scans_again_and_again(device, n, dtype):
    x = (np.random.default_rng(n).integers(0, 64, n) == 0).astype(dtype)
    running_sum = InclusiveScanKernel(x.dtype, "a + b")
    source, out = ForeignArray(x), ForeignArray(np.zeros_like(x))
    for repetition in range(2 if "softcuda" in cuda.get_driver_path() else 10):
        running_sum(source, out)
        assert np.array_equal(out.get(), np.cumsum(x)), repetition
