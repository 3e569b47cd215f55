"""ElementwiseKernel: expressions over arrays of any layout, ranges, slices, and errors."""

import shutil

import numpy as np
import pytest
from foreign_array import ForeignArray

import pycuda.driver as cuda
from pycuda import gpuarray
from pycuda.elementwise import ElementwiseKernel, ScalarArg, VectorArg, parse_arguments
from pycuda.reduction import ReductionKernel
from pycuda.scan import ExclusiveScanKernel, InclusiveScanKernel
from pycuda.tools import get_or_register_dtype

AXPY = ElementwiseKernel(
    "float *z, float a, float *x, float *y", "z[i] = a * x[i] + y[i]", "axpy"
)
DOUBLE = ElementwiseKernel("float *x", "x[i] *= 2", "twice")


def random_array(*shape, seed=0):
    return np.random.default_rng(seed).random(shape, np.float32)


def zeros(shape, dtype=np.float32):
    return ForeignArray(np.zeros(shape, dtype))


# Arrays of 40000 elements and more, aligned and without overlap, are accessed in whole vectors.
@pytest.mark.parametrize("n", [0, 1, 31, 1000, 32768, 40003])
def test_sizes(device, n):
    x, y, z = random_array(n), random_array(n, seed=1), zeros(n)
    AXPY(z, 2, ForeignArray(x), ForeignArray(y))
    np.testing.assert_array_equal(z.get(), 2 * x + y)


@pytest.mark.parametrize(
    "value",
    [
        *(t(2) for t in (np.float16, np.float64, np.uint8, np.int32, np.int64)),
        *(np.array(2, t) for t in (np.int16, np.int32, np.int64, np.float64)),
    ],
    ids=repr,
)
def test_numbers_of_numpy_become_the_declared_type(device, value):
    x = ForeignArray(np.full(3, 5, np.float32))
    z = zeros(3)
    AXPY(z, value, x, x)
    assert (z.get() == 15).all()
    total = ReductionKernel(
        np.float32, "0", "a + b", "s * x[i]", "float *x, float s", "scaled_sum"
    )
    assert total(x, value).get() == 30


def test_wide_numbers_of_numpy_for_narrow_scalars(device):
    fill = ElementwiseKernel("int *z, int a", "z[i] = a", "fill_int")
    z = zeros(3, np.int32)
    for value in (np.int64(-7), np.uint64(7), np.array(-7)):
        fill(z, value)
        assert (z.get() == int(value)).all()
    for value in (np.int64(2**31), np.array(2**31), np.float64(1), np.array(1.0)):
        with pytest.raises(cuda.ArgumentError, match=r"argument 1: expected int"):
            fill(z, value)
    fill = ElementwiseKernel(
        "pycuda::complex<float> *z, pycuda::complex<float> a",
        "z[i] = a",
        "fill_complex",
    )
    z = zeros(3, np.complex64)
    for value in (np.complex128(1 + 2j), np.array(1 + 2j), np.float32(3)):
        fill(z, value)
        assert (z.get() == value).all()


@pytest.mark.parametrize("shape", [(), (1,), (5, 7), (2, 3, 4), (3, 0, 2)])
def test_shapes(device, shape):
    x, z = random_array(*shape), zeros(shape)
    AXPY(z, 3.0, ForeignArray(x), ForeignArray(x))
    np.testing.assert_array_equal(z.get(), np.float32(3) * x + x)


def test_unaligned_and_overlapping_arrays_of_many_elements(device):
    x = random_array(40001)
    whole = ForeignArray(x)
    DOUBLE(whole.view(lambda a: a[1:]))
    x[1:] *= 2
    np.testing.assert_array_equal(whole.get(), x)
    AXPY(whole, 1, whole, whole)
    np.testing.assert_array_equal(whole.get(), x + x)


@pytest.mark.parametrize(
    "dtype",
    "?bBhHiIqQefdFD",
)
def test_types(device, dtype):
    dtype = np.dtype(dtype)
    kernel = ElementwiseKernel(
        [VectorArg(dtype, "z"), VectorArg(dtype, "x"), VectorArg(dtype, "y")],
        "z[i] = x[i] * y[i]",
    )
    x = (np.arange(77) % 5).astype(dtype)
    y = (np.arange(77) % 3).astype(dtype)
    z = zeros(77, dtype)
    kernel(z, ForeignArray(x), ForeignArray(y))
    np.testing.assert_array_equal(z.get(), x * y)


def test_struct_elements(device):
    pair = get_or_register_dtype(
        "elementwise_pair", np.dtype([("a", np.float32), ("b", np.int32)])
    )
    kernel = ElementwiseKernel(
        [VectorArg(pair, "p"), ScalarArg(pair, "q"), VectorArg(np.float32, "out")],
        "out[i] = p[i].a * p[i].b + q.a",
        preamble="struct elementwise_pair { float a; int b; };",
    )
    pairs = np.zeros(10, pair)
    pairs["a"], pairs["b"] = np.arange(10) / 2, np.arange(10)
    one = np.zeros((), pair)
    one["a"] = 100
    out = zeros(10)
    kernel(ForeignArray(pairs), one, out)
    np.testing.assert_array_equal(out.get(), pairs["a"] * pairs["b"] + 100)


LAYOUTS = [
    lambda a: a,
    lambda a: a.T,
    lambda a: a[::-1],
    lambda a: a[:, ::2],
    lambda a: a[::-2, 1:],
    lambda a: np.swapaxes(a, 0, 1)[1:, ::-1],
]


@pytest.mark.parametrize("first", range(len(LAYOUTS)))
@pytest.mark.parametrize("second", range(len(LAYOUTS)))
def test_layouts_pair_elements_as_numpy_does(device, first, second):
    base_x, base_y = random_array(12, 12), random_array(12, 12, seed=1)
    x, y = LAYOUTS[first](base_x), LAYOUTS[second](base_y)
    rows, columns = min(x.shape[0], y.shape[0]), min(x.shape[1], y.shape[1])

    def cut(layout):
        return lambda a: layout(a)[:rows, :columns]

    z = zeros((rows, columns))
    AXPY(
        z,
        1,
        ForeignArray(base_x).view(cut(LAYOUTS[first])),
        ForeignArray(base_y).view(cut(LAYOUTS[second])),
    )
    np.testing.assert_array_equal(z.get(), x[:rows, :columns] + y[:rows, :columns])


def test_fortran_order_counts_memory(device):
    # All arrays in one order: i counts elements in memory, as in PyCUDA.
    kernel = ElementwiseKernel("int *z", "z[i] = i")
    z = ForeignArray(np.zeros((3, 4), np.int32, order="F"))
    kernel(z)
    assert z.get().ravel("F").tolist() == list(range(12))
    # With a C array, i counts elements.
    both = ElementwiseKernel("int *z, int *c", "z[i] = i + c[i]")
    both(z, zeros((3, 4), np.int32))
    assert z.get().ravel("C").tolist() == list(range(12))


def test_strided_argument_is_usable_at_other_indices(device):
    kernel = ElementwiseKernel(
        "float *z, float *x", "z[i] = x[n - 1 - i] + *(x + i) + x[0]"
    )
    base = random_array(6, 8)
    x, z = base[:, ::2], zeros(24)
    kernel(z, ForeignArray(base).view(lambda a: a[:, ::2]))
    flat = x.ravel()
    np.testing.assert_array_equal(z.get(), flat[::-1] + flat + flat[0])


def test_a_table_may_have_another_size(device):
    kernel = ElementwiseKernel(
        "float *z, int *index, float *table", "z[i] = table[index[i]]"
    )
    index = np.array([2, 0, 1, 2, 1], np.int32)
    table, z = random_array(3), zeros(5)
    kernel(z, ForeignArray(index), ForeignArray(table))
    np.testing.assert_array_equal(z.get(), table[index])


@pytest.mark.parametrize(
    "selection",
    [
        slice(None),
        slice(3, 50),
        slice(None, None, 7),
        slice(None, None, -3),
        slice(-10, None),
        slice(60, 3, -1),
        slice(90, 200),
        slice(5, 5),
    ],
)
def test_slice_and_range(device, selection):
    expected = random_array(100)
    x = ForeignArray(expected)
    DOUBLE(x, slice=selection)
    expected[selection] *= 2
    np.testing.assert_array_equal(x.get(), expected)
    exact = slice(*selection.indices(100))
    if exact.stop >= 0:
        DOUBLE(x, range=exact)
        expected[selection] *= 2
        np.testing.assert_array_equal(x.get(), expected)
    DOUBLE(x)  # a range does not change the plain kernel
    np.testing.assert_array_equal(x.get(), expected * 2)


def test_range_without_step(device):
    x = zeros(10)
    ElementwiseKernel("float *x", "x[i] = i")(x, range=slice(2, 5))
    assert x.get().tolist() == [0, 0, 2, 3, 4, 0, 0, 0, 0, 0]


def test_texts_around_the_loop(device):
    kernel = ElementwiseKernel(
        "int *x, int *count",
        "x[i] = helper(i); ++mine",
        preamble="__device__ int helper(int i) { return i * i; }",
        loop_prep="int mine = 0",
        after_loop="if (mine) atomicAdd(count, mine)",
    )
    x, count = zeros(1000, np.int32), zeros(1, np.int32)
    kernel(x, count)
    np.testing.assert_array_equal(x.get(), np.arange(1000) ** 2)
    assert count.get()[0] == 1000


def test_operation_of_several_statements_with_continue(device):
    kernel = ElementwiseKernel("float *x", "if (x[i] < 0.5f) continue; x[i] = -x[i];")
    x = random_array(40000)
    on_device = ForeignArray(x)
    kernel(on_device)
    np.testing.assert_array_equal(on_device.get(), np.where(x < 0.5, x, -x))


def test_stream(device):
    stream = cuda.Stream()
    x = zeros(100)
    ElementwiseKernel("float *x", "x[i] = 3")(x, stream=stream)
    stream.synchronize()
    assert (x.get() == 3).all()


def test_arguments_are_not_changed(device):
    arguments = [VectorArg(np.float32, "x")]
    kernel = ElementwiseKernel(arguments, "x[i] += 1")
    x = zeros(4)
    kernel(x)
    kernel(x, slice=slice(2))
    assert x.get().tolist() == [2, 2, 1, 1]
    assert arguments == [VectorArg(np.float32, "x")]


def test_source_contains_the_texts():
    kernel = ElementwiseKernel("float *x, int n2", "x[i] += n2", "shift")
    source = kernel.source()
    assert "__global__ void shift(float *x, int n2, unsigned long long n)" in source
    assert "x[i] += n2" in source
    assert "complex" not in source
    complex_kernel = ElementwiseKernel("pycuda::complex<float> *x", "x[i] *= 2")
    assert "pycuda-complex.hpp" in complex_kernel.source()


def test_parse_arguments():
    assert parse_arguments(
        "const float *x, pycuda::complex<double> z, unsigned int n[]"
    ) == [
        VectorArg(np.float32, "x"),
        ScalarArg(np.complex128, "z"),
        VectorArg(np.uint32, "n"),
    ]
    assert parse_arguments("") == []
    with pytest.raises(ValueError, match="unknown type 'quaternion'"):
        parse_arguments("quaternion *q")


def test_what_is_refused(device):
    x = zeros(4)
    with pytest.raises(TypeError, match=r"argument 'x' must be an array of the device"):
        DOUBLE(np.zeros(4, np.float32))
    with pytest.raises(TypeError, match=r"takes 1 arguments \(float \*x\), got 2"):
        DOUBLE(x, x)
    with pytest.raises(
        TypeError, match="invalid keyword arguments specified: color, size"
    ):
        DOUBLE(x, color=1, size=2)
    with pytest.raises(TypeError, match="both range and slice"):
        DOUBLE(x, range=slice(2), slice=slice(2))
    with pytest.raises(ValueError, match="the step of a range must not be 0"):
        DOUBLE(x, range=slice(0, 4, 0))
    with pytest.raises(
        ValueError, match="array 'y' has 3 elements, but the first array has 4"
    ):
        AXPY(x, 1, x, zeros(3))
    with pytest.raises(ValueError, match="at least one array"):
        ElementwiseKernel("float a", "a")
    with pytest.raises(cuda.Error, match="argument 1: expected float"):
        AXPY(x, "two", x, x)
    with pytest.raises(
        cuda.CompileError, match=r'kernel.operation\(1\).*"nope" is undefined'
    ):
        ElementwiseKernel("float *x", "x[i] = nope")(x)


def test_arrays_of_different_sizes(device):
    """As in PyCUDA, where the first array or the range says how many elements there are."""
    copy = ElementwiseKernel("float *z, float *x", "z[i] = x[i]")
    x = gpuarray.to_gpu(np.arange(24, dtype=np.float32))
    for longer in (x, x.reshape(4, 6), x[::2], x[1:]):
        z = zeros(10)
        copy(z, longer)
        np.testing.assert_array_equal(z.get(), longer.get().ravel()[:10])
    z = gpuarray.zeros(36, np.float32)
    diagonal = ElementwiseKernel("float *z, float *v, int n", "z[i * (n + 1)] = v[i]")
    diagonal(z, x[1:7], 6, slice=slice(0, 6))
    np.testing.assert_array_equal(z.reshape(6, 6).get(), np.diag(np.arange(1.0, 7)))
    guarded = ElementwiseKernel("float *z, float *x, int m", "z[i] = i < m ? x[i] : -1")
    guarded(z, x, 24)
    np.testing.assert_array_equal(z.get(), [*range(24), *[-1] * 12])
    with pytest.raises(
        ValueError, match="array 'x' has 24 elements, but the range needs 25"
    ):
        copy(z, x, range=slice(24, 0, -3))


def test_wrong_element_type_is_noticed(device):
    wrong = zeros(8, np.float64)
    with pytest.warns(UserWarning, match="misread"):
        DOUBLE(wrong)
    with pytest.raises(ValueError, match="elements of 8 bytes, but float has 4"):
        DOUBLE(wrong.view(lambda a: a[::2]))


def test_compiler_warnings_reach_the_user(device):
    kernel = ElementwiseKernel("int *x", 'int unused; x[i] = "abc" - "abc"')
    with pytest.warns(UserWarning, match="The CUDA compiler succeeded, but said"):
        kernel(zeros(2, np.int32))


KINDS = {
    "elementwise": lambda **how: ElementwiseKernel("int *x", "x[i] += 1", **how),
    "reduction": lambda **how: ReductionKernel(np.int32, "0", "a + b", **how),
    "inclusive": lambda **how: InclusiveScanKernel(np.int32, "a + b", **how),
    "exclusive": lambda **how: ExclusiveScanKernel(np.int32, "a + b", 0, **how),
}
RESULTS = {
    "elementwise": [2, 3, 4],
    "reduction": 6,
    "inclusive": [1, 3, 6],
    "exclusive": [0, 1, 3],
}


@pytest.mark.parametrize("kind", KINDS)
def test_another_compiler_is_asked(device, tmp_path, kind):
    nvcc = tmp_path / "own"
    nvcc.write_text("#!/bin/sh\necho too tired >&2\nexit 1\n")
    nvcc.chmod(0o755)
    x = gpuarray.to_gpu(np.array([1, 2, 3], np.int32))
    with pytest.raises(cuda.CompileError, match="too tired"):
        KINDS[kind](nvcc=str(nvcc))(x)
    assert (x.get() == [1, 2, 3]).all()


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc on the path")
@pytest.mark.parametrize("kind", KINDS)
def test_nvcc_compiles_the_source(device, kind):
    x = gpuarray.to_gpu(np.array([1, 2, 3], np.int32))
    out = KINDS[kind](nvcc=shutil.which("nvcc"))(x)
    assert ((x if out is None else out).get() == RESULTS[kind]).all()


def test_arrays_that_are_not_aligned_are_refused(device):
    """A kernel would fail at its first access, and end the context."""
    packed = np.array([(1, 2.5), (3, 4.5)], [("a", "i2"), ("b", "f4")])
    field = gpuarray.to_gpu(packed)["b"]
    double = ElementwiseKernel("float *x", "x[i] *= 2")
    with pytest.raises(ValueError, match="'x' is not aligned"):
        double(field)
    with pytest.raises(ValueError, match="not aligned"):
        ReductionKernel(np.float32, "0", "a + b", arguments="float *x")(field)
    with pytest.raises(ValueError, match="not aligned"):
        InclusiveScanKernel(np.float32, "a + b")(field)
    copy = field.copy()
    double(copy)
    assert (copy.get() == [5, 9]).all()


@pytest.mark.parametrize("selection", [slice(-3, 5), slice(4, -2, -1)])
def test_a_range_before_the_first_element(device, selection):
    whole = gpuarray.zeros(16, np.float32)
    set_one = ElementwiseKernel("float *x", "x[i] = 1")
    with pytest.raises(ValueError, match=r"array 'x' has no element -[13]"):
        set_one(whole[8:], range=selection)
    assert not whole.get().any()
    shifted = ElementwiseKernel("float *x", "x[i + 3] = 1")
    shifted(whole[8:], range=slice(-3, 0))
    assert whole.get().nonzero()[0].tolist() == [8, 9, 10]


def test_comments_in_declarations(device):
    declared = "const float *x /* in, dense */, // the input, too\n float *z // out"
    assert parse_arguments(declared) == parse_arguments("float *x, float *z")
    x, z = gpuarray.arange(4, dtype=np.float32), gpuarray.zeros(4, np.float32)
    ElementwiseKernel(declared, "z[i] = x[i]")(x, z)
    assert (z.get() == x.get()).all()
