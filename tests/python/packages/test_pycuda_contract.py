"""Behaviour that PyCUDA's documentation or test suite defines, and on which programs rely."""

import types
import warnings
from collections.abc import Iterable

import numpy as np
import pytest

import pycuda.autoinit
import pycuda.driver as cuda
from pycuda import compiler, cumath, curandom, elementwise, gpuarray, reduction, tools
from pycuda.compiler import DynamicSourceModule, SourceModule

pytestmark = pytest.mark.usefixtures("device")

HOST = np.arange(12, dtype=np.float32).reshape(3, 4)
ADD = 'extern "C" __global__ void add(int *x) { x[threadIdx.x] += 1; }'


@pytest.mark.parametrize("no", [0, np.False_, None, "", False])
@pytest.mark.parametrize("yes", [1, np.True_, "yes", True])
def test_options_are_truth_values(yes, no, capsys):
    module = SourceModule(ADD, no_extern_c=yes, keep=no)
    assert module.get_function("add") is not None
    assert SourceModule(ADD, no_extern_c=yes, keep=yes).get_function("add") is not None
    assert "compiler output in" in capsys.readouterr().out
    template = "template <class T> __global__ void f(T *x) { }"
    with pytest.raises(cuda.CompileError, match="extern"):
        SourceModule(template, no_extern_c=no)


def test_reshape_is_a_view_in_the_requested_order():
    array = gpuarray.to_gpu(HOST)
    memory = HOST.ravel()
    for shape, order in [((4, 3), "F"), ((3, 4), "F"), ((4, 3), "C"), ((2, -1), "F")]:
        seen = array.reshape(shape, order=order)
        assert seen.ptr == array.ptr
        assert seen.flags.f_contiguous if order == "F" else seen.flags.c_contiguous
        np.testing.assert_array_equal(seen.get(), memory.reshape(shape, order=order))
    fortran = gpuarray.to_gpu(np.asfortranarray(HOST))
    for seen in (fortran.reshape(12), fortran.ravel()):
        assert seen.ptr == fortran.ptr
        np.testing.assert_array_equal(seen.get(), HOST.ravel("F"))
    assert fortran.reshape((3, 4)).flags.c_contiguous
    assert fortran.reshape((3, 4), order="F") is fortran
    with pytest.raises(ValueError, match="order"):
        array.reshape(12, order="K")


def test_numpys_reshape_keeps_numpys_order():
    for host in (HOST, np.asfortranarray(HOST), HOST[:, ::2]):
        array = (
            gpuarray.to_gpu(HOST)[:, ::2]
            if host.base is HOST
            else gpuarray.to_gpu(host)
        )
        for order in "CFA":
            np.testing.assert_array_equal(
                np.reshape(array, host.size, order=order).get(),
                np.reshape(host, host.size, order=order),
            )
            np.testing.assert_array_equal(
                np.ravel(array, order).get(), np.ravel(host, order)
            )
        np.testing.assert_array_equal(array.ravel("C").get(), host.ravel("C"))
    gaps = gpuarray.to_gpu(HOST)[:, ::2]
    np.testing.assert_array_equal(gaps.reshape(6).get(), HOST[:, ::2].reshape(6))


def test_functions_of_numpy_use_numpys_order_of_a_fortran_array():
    fortran = np.asfortranarray(HOST)
    array = gpuarray.to_gpu(fortran)
    for function in (
        np.cumsum,
        np.sort,
        np.unique,
        np.repeat,
        np.roll,
        np.argmax,
        np.tile,
    ):
        extra = () if function in (np.cumsum, np.unique, np.argmax) else (2,)
        extra = (None,) if function is np.sort else extra
        np.testing.assert_array_equal(
            function(array, *extra).get(), function(fortran, *extra), str(function)
        )


def test_a_mask_for_a_kernel_with_float_arguments_is_an_error():
    """A comparison returns bool, like numpy's; PyCUDA's returns the operands' type."""
    array = gpuarray.to_gpu(HOST)
    mask = array > 2
    assert mask.dtype == np.bool_
    module = SourceModule(
        "__global__ void f(float *mask, bool *flags, int *n) { }"
        "__global__ void g(float *mask) { }"
    )
    f, g = module.get_function("f"), module.get_function("g")
    flags, number = gpuarray.zeros(12, np.bool_), gpuarray.zeros(1, np.int32)
    with pytest.warns(UserWarning, match="argument 0.*float.*bool"):
        f(mask, flags, number, block=(1, 1, 1))
    with pytest.warns(UserWarning, match="argument 0.*float.*bool"):
        g(cuda.In(np.ones(12, np.bool_)), block=(1, 1, 1))
    with pytest.warns(UserWarning, match="argument 2.*int.*bool"):
        f(array, flags, flags, block=(1, 1, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f(array, mask, number, block=(1, 1, 1))


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint16, np.float32, np.int64])
def test_sums_have_the_type_of_the_elements(dtype):
    array = gpuarray.to_gpu(np.arange(20).astype(dtype))
    places = gpuarray.to_gpu(np.array([1, 3, 5], np.int32))
    for result, expected in (
        (gpuarray.sum(array), 190),
        (gpuarray.subset_sum(places, array), 9),
    ):
        assert result.dtype == dtype
        assert result.get() == np.array(expected).astype(dtype)
    assert gpuarray.sum(array, dtype=np.float64).dtype == np.float64
    assert gpuarray.subset_sum(places, array, dtype=np.float64).dtype == np.float64
    host = array.get()
    assert np.sum(array).dtype == array.sum().dtype == host.sum().dtype
    assert int(array.sum().get()) == 190


def test_numpys_meaning_that_stays():
    """Each of these is a row of docs/migration.md."""
    flags = gpuarray.to_gpu(np.array([True, False, True, True]))
    assert gpuarray.sum(flags).get() == 3
    integers, floats = (
        gpuarray.to_gpu(np.arange(3, dtype=np.int32)),
        gpuarray.to_gpu(HOST[0, :3]),
    )
    assert gpuarray.minimum(integers, floats).dtype == np.float64
    assert gpuarray.maximum(integers, floats).dtype == np.float64
    assert (integers / integers).dtype == np.float64
    assert np.isnan(gpuarray.max(gpuarray.to_gpu(np.array([1, np.nan, 2]))).get())
    assert (floats > 1).dtype == np.bool_


def test_memory_of_an_array_is_a_device_allocation():
    array = gpuarray.to_gpu(HOST)
    memory = array.gpudata
    assert isinstance(memory, cuda.DeviceAllocation)
    assert (
        array.gpudata is memory
        and int(memory) == array.ptr
        and memory.size == HOST.nbytes
    )
    out = np.empty_like(HOST)
    cuda.memcpy_dtoh(out, memory)
    np.testing.assert_array_equal(out, HOST)
    with pytest.raises((cuda.LogicError, ValueError)):
        cuda.memcpy_dtoh(np.empty(13, np.float32), memory)
    f = (
        SourceModule(ADD, no_extern_c=True)
        .get_function("add")
        .bind(memory, block=(1, 1, 1))
    )
    memory.free()
    with pytest.raises(cuda.LogicError, match="freed"):
        f()
    with pytest.raises(cuda.LogicError, match="freed"):
        array.get()
    with pytest.raises(cuda.LogicError, match="freed"):
        cuda.memset_d8(memory, 0, 1)
    with pytest.raises(cuda.LogicError, match="freed"):
        memory.free()


def test_a_buffer_over_the_memory_of_an_array():
    array = gpuarray.to_gpu(HOST)
    view = array.gpudata.as_buffer(HOST.nbytes - 4, 4)
    assert isinstance(view, memoryview) and view.nbytes == HOST.nbytes - 4
    with pytest.raises(ValueError, match="does not fit"):
        array.gpudata.as_buffer(HOST.nbytes + 1)


def test_the_allocator_of_an_array_can_be_called():
    array = gpuarray.to_gpu(HOST)
    assert array.allocator is cuda.mem_alloc
    assert isinstance(array.allocator(16), cuda.DeviceAllocation)
    like = gpuarray.GPUArray(array.shape, array.dtype, allocator=array.allocator)
    assert like.allocator is cuda.mem_alloc and isinstance(
        like.gpudata, cuda.DeviceAllocation
    )
    assert gpuarray.empty(3, np.int32, allocator=None).allocator is cuda.mem_alloc


def test_curand_version():
    assert cuda.get_curand_version() == curandom.get_curand_version() >= (5, 0, 0)


def test_the_result_of_compile_can_be_loaded():
    for image in (
        compiler.compile(ADD, no_extern_c=True),
        compiler.compile(ADD, no_extern_c=True, target="cubin"),
        compiler.compile_plain(ADD, [], False, "nvcc", None),
    ):
        add = cuda.module_from_buffer(image).get_function("add")
        numbers = gpuarray.zeros(4, np.int32)
        add(numbers, block=(4, 1, 1))
        assert numbers.get().tolist() == [1, 1, 1, 1]


def test_modules_that_pycudas_modules_have():
    for module, name, same in (
        (gpuarray, "drv", cuda),
        (gpuarray, "elementwise", elementwise),
        (tools, "cuda", cuda),
        (cuda, "np", np),
        (pycuda.autoinit, "cuda", cuda),
        (cumath, "gpuarray", gpuarray),
        (cumath, "elementwise", elementwise),
        (curandom, "drv", cuda),
    ):
        found = getattr(module, name)
        assert isinstance(found, types.ModuleType) and found is same, (module, name)


def test_kernels_of_any_and_all_take_two_types():
    array = gpuarray.to_gpu(np.array([0, 0.5, 0], np.float32))
    for out in (np.int32, np.bool_, np.float32):
        assert reduction.get_any_kernel(out, np.float32)(array).get() == 1
        assert reduction.get_all_kernel(out, np.float32)(array).get() == 0
        assert reduction.get_all_kernel(out, np.float32)(array + 1).get() == 1
        assert reduction.get_any_kernel(out, np.float32)(array).dtype == out
    assert (
        reduction.get_any_kernel(None, np.dtype(np.float32))(array).dtype == np.float32
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64])
def test_a_linear_combination_reads_factors_of_the_device_through_textures(dtype):
    x, y = (
        gpuarray.to_gpu(HOST.ravel().astype(dtype)),
        gpuarray.to_gpu(HOST.ravel().astype(dtype)),
    )
    z = gpuarray.empty_like(x)
    summands = ((True, np.dtype(dtype), x.dtype), (False, np.dtype(dtype), y.dtype),
                (True, np.dtype(dtype), y.dtype))  # fmt: skip
    function, textures = elementwise.get_linear_combination_kernel(summands, z.dtype)
    assert len(textures) == 2
    factors = [gpuarray.to_gpu(np.array([value], dtype)) for value in (3, 5)]
    for factor, texture in zip(factors, textures, strict=True):
        factor.bind_to_texref_ext(
            texture, allow_double_hack=True, allow_complex_hack=True
        )
    function.prepared_async_call(
        z._grid, z._block, None, x.gpudata, 2, y.gpudata, y.gpudata, z.gpudata, z.size
    )
    np.testing.assert_array_equal(z.get(), 10 * HOST.ravel())


def test_a_source_that_launches_no_kernels_needs_no_device_runtime(monkeypatch):
    """kernel_tuner compiles everything through DynamicSourceModule."""
    for found in (True, False):
        if not found:
            monkeypatch.setattr(compiler, "_find_cuda_library", no_library)
        numbers = gpuarray.zeros(4, np.int32)
        module = DynamicSourceModule(ADD, no_extern_c=True)
        module.get_function("add")(numbers, block=(4, 1, 1))
        assert numbers.get().tolist() == [1, 1, 1, 1]


def no_library(name, first):
    raise OSError(f"lib{name}.a was not found")


def test_a_library_that_is_needed_and_absent_is_named(monkeypatch):
    monkeypatch.setattr(compiler, "_find_cuda_library", no_library)
    calls = "extern __device__ int elsewhere(int); __global__ void f(int *x) { *x = elsewhere(*x); }"
    with pytest.raises(cuda.CompileError, match="libcudadevrt.a was not found"):
        DynamicSourceModule(calls)


@pytest.mark.parametrize("module", [SourceModule, DynamicSourceModule])
def test_too_much_shared_memory_is_an_error_of_the_compiler(module):
    """kernel_tuner skips such kernels: it searches for these words of ptxas."""
    source = "__global__ void f(double *x) { __shared__ double s[1 << 20]; s[*x] = 1; *x = s[9]; }"
    with pytest.raises(cuda.CompileError) as raised:
        module(source.replace("s[*x]", "s[(int)*x]"))
    assert "uses too much shared data" in raised.value.stderr


def test_an_alignment_after_a_struct_applies_to_it(tmp_path):
    """nvcc accepts this form; NVRTC applies it to the typedef, which changes sizeof."""
    inner = "typedef struct { int x; char y; } ALIGN(32) Inner;\n"
    (tmp_path / "inner.cuh").write_text(inner)
    source = """
    #define ALIGN(bytes) __align__(bytes)
    #include "inner.cuh"
    typedef struct Named { int a; short b; } __align__(16) Named_;
    struct Last { char c; } __attribute__((aligned(8))) last;
    __global__ void f(int *x)
    {
        x[0] = sizeof(Inner); x[1] = sizeof(Named_); x[2] = sizeof(Named); x[3] = sizeof(Last);
    }
    """
    sizes = gpuarray.zeros(4, np.int32)
    module = SourceModule(source, include_dirs=[str(tmp_path)])
    module.get_function("f")(sizes, block=(1, 1, 1))
    assert sizes.get().tolist() == [32, 16, 16, 8]


def test_an_array_is_no_iterable_of_the_abstract_class_but_iterates():
    """reikna treats an Iterable as a container of arrays."""
    array = gpuarray.to_gpu(HOST)
    assert not isinstance(array, Iterable)
    np.testing.assert_array_equal([row.get() for row in array], HOST)
    first, second, third = array
    np.testing.assert_array_equal(second.get(), HOST[1])
