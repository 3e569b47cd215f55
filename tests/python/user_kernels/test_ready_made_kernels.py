"""get_..._kernel(): kernels that old PyCUDA programs launch themselves."""

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda import curandom, elementwise, gpuarray, reduction

X = np.arange(1, 9, dtype=np.float32)
Y = np.linspace(0.5, 4, 8, dtype=np.float32)
COMPLEX = (X + 2j * Y).astype(np.complex64)
F4, C8 = np.float32, np.complex64

# The function, its arguments, the kernel's arguments, and the expected contents of the last ones.
KERNELS = [
    ("get_copy_kernel", (np.float64, F4), [X], [X.astype(np.float64)], "dest first"),
    ("get_axpbyz_kernel", (F4, F4, F4), [2, X, 3, Y], [2 * X + 3 * Y]),
    ("get_axpbz_kernel", (F4, F4), [2, X, 3], [2 * X + 3]),
    ("get_binary_op_kernel", (F4, F4, F4, "-"), [X, Y], [X - Y]),
    ("get_binary_op_kernel", (F4, F4, F4, "*", False, True), [X, Y[:1]], [X * Y[0]]),
    ("get_rdivide_elwise_kernel", (F4, F4), [X, 8], [8 / X]),
    ("get_binary_func_kernel", ("fmaxf", F4, F4, F4), [X, Y], [np.maximum(X, Y)]),
    ("get_binary_func_scalar_kernel", ("fminf", F4, F4, F4), [X, 3], [np.minimum(X, 3)]),
    ("get_binary_minmax_kernel", ("max", F4, F4, F4, False), [X, Y], [np.maximum(X, Y)]),
    ("get_binary_minmax_kernel", ("min", F4, F4, F4, True), [X, 2], [np.minimum(X, 2)]),
    ("get_fill_kernel", (F4,), [7], [np.full(8, 7, F4)]),
    ("get_reverse_kernel", (F4,), [X], [X[::-1]]),
    ("get_real_kernel", (C8, F4), [COMPLEX], [COMPLEX.real]),
    ("get_imag_kernel", (C8, F4), [COMPLEX], [COMPLEX.imag]),
    ("get_conj_kernel", (C8, C8), [COMPLEX], [COMPLEX.conj()]),
    ("get_pow_kernel", (F4,), [2, X], [X**2]),
    ("get_pow_kernel", (C8,), [2 + 0j, COMPLEX], [COMPLEX**2]),
    ("get_pow_array_kernel", (F4, F4, F4, True, True), [X, Y], [X**Y]),
    ("get_pow_array_kernel", (F4, F4, F4, False, True), [2, Y], [2**Y]),
    ("get_fmod_kernel", (), [X, Y], [np.fmod(X, Y)]),
    ("get_modf_kernel", (), [Y], [np.modf(Y)[1], np.modf(Y)[0]]),
    ("get_frexp_kernel", (), [Y], [np.frexp(Y)[0], np.frexp(Y)[1].astype(F4)]),
    ("get_ldexp_kernel", (), [Y, X], [np.ldexp(Y, X.astype(int))]),
    ("get_unary_func_kernel", ("sqrtf", F4), [X], [np.sqrt(X)]),
    ("get_if_positive_kernel", (F4, F4), [Y - 2, X, Y], [np.where(Y > 2, X, Y)]),
    ("get_where_kernel", (F4, F4), [Y - 2, X, Y], [np.where(Y != 2, X, Y)]),
    ("get_scalar_op_kernel", (F4, F4, F4, "*"), [X, 3], [X * 3]),
    ("get_logical_not_kernel", (F4, np.bool_), [Y - 2], [Y == 2]),
]  # fmt: skip


@pytest.mark.parametrize(
    "name, types, given, wanted, order",
    [(*row, None)[:5] if len(row) == 4 else row for row in KERNELS],
    ids=[row[0] for row in KERNELS],
)
def test_elementwise_kernels(device, name, types, given, wanted, order):
    kernel = getattr(elementwise, name)(*types)
    assert getattr(elementwise, name)(*types) is kernel
    arrays = [gpuarray.to_gpu(x) if np.ndim(x) else x for x in given]
    results = [gpuarray.to_gpu(np.zeros_like(x)) for x in wanted]
    arguments = [*results, *arrays] if order else [*arrays, *results]
    pointers = [x.gpudata if isinstance(x, gpuarray.GPUArray) else x for x in arguments]
    kernel.prepared_call(results[0]._grid, results[0]._block, *pointers, 8)
    for result, expected in zip(results, wanted, strict=True):
        np.testing.assert_allclose(result.get(), expected, rtol=1e-5)


def test_numbers_in_a_row(device):
    z = gpuarray.zeros(8, np.int32)
    arange = elementwise.get_arange_kernel(np.int32)
    arange.prepared_async_call(z._grid, z._block, None, z.gpudata, 5, 3, z.mem_size)
    np.testing.assert_array_equal(z.get(), np.arange(5, 29, 3))


def test_own_elementwise_functions(device):
    x = gpuarray.to_gpu(X)
    arguments = [elementwise.VectorArg(F4, "x"), elementwise.ScalarArg(F4, "f")]
    twice = elementwise.get_elwise_kernel(
        "float *x, float f",
        "x[i] = scaled(x[i]) + seen",
        "twice",
        preamble="__device__ float scaled(float x) { return 2 * x; }",
        loop_prep="float seen = f",
    )
    twice.prepared_call(x._grid, x._block, x.gpudata, 1, x.size)
    np.testing.assert_array_equal(x.get(), 2 * X + 1)

    module, function, declared = elementwise.get_elwise_kernel_and_types(
        arguments, "x[i] = f", "some", use_range=True
    )
    assert [argument.name for argument in declared] == ["x", "f", "start", "stop", "step"]  # fmt: skip
    assert len(arguments) == 2
    function.prepared_call(x._grid, x._block, x.gpudata, 0, 1, 8, 3)
    np.testing.assert_array_equal(np.flatnonzero(x.get() == 0), [1, 4, 7])
    function.prepared_call(x._grid, x._block, x.gpudata, -1, 6, 0, -2)
    np.testing.assert_array_equal(np.flatnonzero(x.get() == -1), [2, 4, 6])

    for make in (elementwise.get_elwise_module, elementwise.get_elwise_range_module):
        assert make(arguments, "x[i] = f", "some").get_function("some").name == "some"


def test_reduction_kernels(device):
    x, y = gpuarray.to_gpu(X), gpuarray.to_gpu(Y)
    places = gpuarray.to_gpu(np.array([1, 3, 3], np.int32))
    picked = X[[1, 3, 3]]
    results = {
        "get_sum_kernel": (reduction.get_sum_kernel(None, F4)(x), X.sum()),
        "get_any_kernel": (reduction.get_any_kernel(np.bool_, F4)(x - x), False),
        "get_all_kernel": (reduction.get_all_kernel(None, F4)(x), 1),
        "get_dot_kernel": (reduction.get_dot_kernel(F4)(x, y), X @ Y),
        "get_dot_kernel of two": (
            reduction.get_dot_kernel(None, F4, np.float64)(x, y.astype(np.float64)),
            X @ Y,
        ),
        "get_subset_sum_kernel": (
            reduction.get_subset_sum_kernel(np.float64, np.int32, F4)(places, x),
            picked.sum(),
        ),
        "get_subset_dot_kernel": (
            reduction.get_subset_dot_kernel(F4, np.int32)(places, x, y),
            picked @ Y[[1, 3, 3]],
        ),
        "get_minmax_kernel": (reduction.get_minmax_kernel("max", F4)(x), 8),
        "get_subset_minmax_kernel": (
            reduction.get_subset_minmax_kernel("min", F4, np.int32)(places, x),
            2,
        ),
    }
    for name, (result, wanted) in results.items():
        np.testing.assert_allclose(result.get(), wanted, rtol=1e-6, err_msg=name)


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.uint64, np.float64])
def test_neutral_elements_of_extremes(device, dtype):
    nothing = gpuarray.empty(0, dtype)
    limits = np.finfo(dtype) if np.dtype(dtype).kind == "f" else np.iinfo(dtype)
    for what, wanted in (("min", limits.max), ("max", limits.min)):
        assert reduction.get_minmax_neutral(what, dtype)
        found = reduction.get_minmax_kernel(what, dtype)(nothing).get()
        assert found == (wanted if np.isfinite(found) else found)
        assert np.isfinite(found) == (np.dtype(dtype).kind != "f")
    with pytest.raises(ValueError, match="most"):
        reduction.get_minmax_neutral("most", dtype)


def test_names_that_dependents_import_from_gpuarray(device):
    x, wide = gpuarray.to_gpu(X), gpuarray.to_gpu(np.arange(3.0))
    assert gpuarray._get_common_dtype(x, wide) == np.float64
    result = gpuarray._get_broadcasted_binary_op_result(x, wide[:1], None)
    assert (result.shape, result.dtype) == ((8,), np.float64)
    grid, block = gpuarray.splay(1000)
    assert block[0] % 32 == 0 and grid[0] * block[0] >= 1000
    assert gpuarray.splay(5) == ((1, 1), (32, 1, 1))
    assert (x._grid, x._block) == gpuarray.splay(8)

    for axes in ((0, 1, 2), (2, 0, 1), (1, 2, 0)):
        host = np.zeros((2, 3, 4), np.float32).transpose(axes)
        assert gpuarray._compact_strides(host) == host.strides
        gaps = np.zeros((4, 6, 8), np.float32).transpose(axes)[::2, ::2, ::2]
        assert gpuarray._compact_strides(gaps) == gpuarray.to_gpu(gaps).strides

    target, back = gpuarray.zeros((2, 8), np.float32), np.zeros((8, 2), np.float32)
    gpuarray._memcpy_discontig(target[1], x)
    gpuarray._memcpy_discontig(target[0], X[::-1])
    gpuarray._memcpy_discontig(back.T, target)
    np.testing.assert_array_equal(back, np.stack([X[::-1], X], 1))
    with pytest.raises(ValueError, match="same shape"):
        gpuarray._memcpy_discontig(target, x)


def test_lesser_methods_of_arrays(device):
    stream = cuda.Stream()
    array = gpuarray.empty(8, np.complex64)
    array.set_async(COMPLEX, stream=stream)
    stream.synchronize()
    np.testing.assert_array_equal(array.conjugate().get(), COMPLEX.conj())
    numbers = gpuarray.empty(20000, np.float64)
    curandom.XORWOWRandomNumberGenerator().fill_log_normal(numbers, 0.5, 0.25)
    logarithms = np.log(numbers.get())
    assert abs(logarithms.mean() - 0.5) < 0.02 and abs(logarithms.std() - 0.25) < 0.02


def test_put_and_linear_combination(device):
    x, y = gpuarray.to_gpu(X), gpuarray.to_gpu(X * 2)
    places = gpuarray.to_gpu(np.arange(8, dtype=np.int32)[::-1].copy())
    first, second = gpuarray.zeros(8, np.float32), gpuarray.zeros(8, np.float32)
    put = elementwise.get_put_kernel(np.float32, np.int32, vec_count=2)
    pointers = [array.gpudata for array in (places, first, second, x, y)]
    put.prepared_call(x._grid, x._block, *pointers, 8)
    np.testing.assert_array_equal(first.get(), X[::-1])
    np.testing.assert_array_equal(second.get(), 2 * X[::-1])

    factor = gpuarray.to_gpu(np.array([3], np.float32))
    summands = ((False, np.float32, np.float32), (True, np.float32, np.float32))
    combine, textures = elementwise.get_linear_combination_kernel(summands, np.float32)
    assert len(textures) == 1
    factor.bind_to_texref_ext(textures[0])
    combine.prepared_call(x._grid, x._block, 2, x.gpudata, y.gpudata, first.gpudata, 8)
    np.testing.assert_allclose(first.get(), 8 * X)


@pytest.mark.parametrize(
    "dtype", [np.float32, np.int32, np.float64, np.complex64, np.complex128]
)
def test_take(device, dtype):
    values = [X.astype(dtype), (X * 3).astype(dtype)]
    places = np.array([7, 0, 3, 3, 5], np.int32)
    take, textures = elementwise.get_take_kernel(dtype, np.int32, vec_count=2)
    sources = [gpuarray.to_gpu(each) for each in values]
    for source, texture in zip(sources, textures, strict=True):
        source.bind_to_texref_ext(
            texture, allow_double_hack=True, allow_complex_hack=True
        )
    out = [gpuarray.zeros(5, dtype) for _ in values]
    idx = gpuarray.to_gpu(places)
    take.prepared_call(
        idx._grid, idx._block, idx.gpudata, *(each.gpudata for each in out), 5
    )
    for each, expected in zip(out, values, strict=True):
        np.testing.assert_array_equal(each.get(), expected[places])


@pytest.mark.parametrize("offset", [None, 2])
def test_take_and_put(device, offset):
    with_offsets = offset is not None
    copy, (texture,) = elementwise.get_take_put_kernel(
        np.float32, np.int32, with_offsets
    )
    source, out = gpuarray.to_gpu(X), gpuarray.zeros(8, np.float32)
    source.bind_to_texref_ext(texture)
    to, of = (gpuarray.to_gpu(np.array(i, np.int32)) for i in ([6, 1, 4], [0, 5, 2]))
    offsets = [offset] if with_offsets else []
    copy.prepared_call(
        to._grid, to._block, to.gpudata, of.gpudata, out.gpudata, *offsets, 3
    )
    expected = np.zeros(8, np.float32)
    expected[[6, 1, 4]] = X[np.array([0, 5, 2]) + (offset or 0)]
    np.testing.assert_array_equal(out.get(), expected)
