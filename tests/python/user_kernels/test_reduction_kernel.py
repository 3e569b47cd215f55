"""ReductionKernel: any expression, type, layout and size; the same result every time."""

import numpy as np
import pytest
from foreign_array import ForeignArray
from marks import slow

import pycuda.driver as cuda
from pycuda.gpuarray import GPUArray
from pycuda.reduction import ReductionKernel
from pycuda.tools import get_or_register_dtype

SUM = ReductionKernel(np.float32, "0", "a + b", name="sum_all")
DOT = ReductionKernel(
    np.float32, 0, "a + b", "x[i] * y[i]", "float *x, float *y", "dot"
)


def random_array(*shape, seed=0):
    return np.random.default_rng(seed).random(shape, np.float32)


def test_results_are_gpu_arrays_without_an_import_of_gpuarray(run_program):
    done = run_program("""
        import numpy
        import pycuda.autoinit
        import pycuda.driver as cuda
        from pycuda.reduction import ReductionKernel

        class Four:
            memory = cuda.to_device(numpy.ones(4, numpy.float32))
            __cuda_array_interface__ = {
                "shape": (4,), "typestr": "<f4", "data": (int(memory), False), "version": 3,
            }

        total = ReductionKernel(numpy.float32, "0", "a + b", "x[i]", "float *x")
        print(total(Four()).get())
    """)
    assert (done.stdout, done.stderr) == ("4.0\n", "")


# One tile is 4096 elements; one block reduces up to four tiles.
@pytest.mark.parametrize(
    "n", [0, 1, 5, 255, 4095, 4096, 4097, 16384, 16385, 100_000, 1_234_567]
)
def test_sizes(device, n):
    x, y = random_array(n), random_array(n, seed=1)
    result = DOT(ForeignArray(x), ForeignArray(y))
    assert isinstance(result, GPUArray)
    assert result.shape == () and result.dtype == np.float32
    np.testing.assert_allclose(result.get(), np.dot(x.astype(np.float64), y), rtol=3e-7)


def test_sum_is_as_accurate_as_pairwise_summation(device):
    x = random_array(3_000_000) * 1000
    exact = x.sum(dtype=np.float64)
    # A running sum in float32 is wrong in the fourth digit here.
    assert abs(float(SUM(ForeignArray(x)).get()) - exact) / exact < 2e-7


def test_result_is_the_same_for_every_layout_and_run(device):
    base = random_array(400, 500)
    expected = SUM(ForeignArray(base)).get()
    padded = np.zeros((400, 501), np.float32)
    padded[:, 1:] = base
    strided = ForeignArray(padded).view(lambda a: a[:, 1:])
    unaligned = ForeignArray(np.append(np.float32(0), base)).view(lambda a: a[1:])
    for array in (strided, unaligned, ForeignArray(base)):
        assert SUM(array).get() == expected


@pytest.mark.parametrize("dtype", [*"bHiQef", *slow("BhIqd")])
def test_types(device, dtype):
    dtype = np.dtype(dtype)
    x = (np.arange(9000) % 7 - (dtype.kind != "u") * 3).astype(dtype)
    largest = ReductionKernel(dtype, "in[0]", "a < b ? b : a")
    total = ReductionKernel(np.int64, "0", "a + b", "(long)x[i]", [vector(dtype, "x")])
    assert largest(ForeignArray(x)).get() == x.max()
    assert total(ForeignArray(x)).get() == x.sum(dtype=np.int64)


def vector(dtype, name):
    from pycuda.elementwise import VectorArg

    return VectorArg(dtype, name)


def test_complex_sum(device):
    x = random_array(5000) + 1j * random_array(5000, seed=1)
    kernel = ReductionKernel(
        np.complex64, "0", "a + b", "conj(x[i])", "pycuda::complex<float> *x"
    )
    np.testing.assert_allclose(
        kernel(ForeignArray(x.astype(np.complex64))).get(), x.conj().sum(), rtol=1e-6
    )


def test_struct_result(device):
    extremes = get_or_register_dtype(
        "reduction_extremes",
        np.dtype([("low", np.int32), ("high", np.int32), ("where", np.int64)]),
    )
    # PyCUDA needs the constructors for volatile; this package does not.
    kernel = ReductionKernel(
        extremes,
        "reduction_extremes()",
        "join(a, b)",
        "reduction_extremes(x[i], i)",
        "int *x",
        preamble="""
        struct reduction_extremes {
            int low, high; long where;
            __device__ reduction_extremes() : low(2147483647), high(-2147483647 - 1), where(-1) {}
            __device__ reduction_extremes(int x, long i) : low(x), high(x), where(i) {}
            __device__ reduction_extremes(reduction_extremes const &o)
                : low(o.low), high(o.high), where(o.where) {}
            __device__ reduction_extremes(reduction_extremes const volatile &o)
                : low(o.low), high(o.high), where(o.where) {}
            __device__ reduction_extremes volatile &operator=(reduction_extremes const &o) volatile
            { low = o.low; high = o.high; where = o.where; return *this; }
        };
        __device__ reduction_extremes join(reduction_extremes a, reduction_extremes b)
        {
            reduction_extremes r = a;
            if (b.high > a.high) { r.high = b.high; r.where = b.where; }
            if (b.low < a.low) r.low = b.low;
            return r;
        }
        """,
    )
    x = np.random.default_rng(0).permutation(50_000).astype(np.int32)
    result = kernel(ForeignArray(x)).get()
    assert (result["low"], result["high"]) == (0, 49_999)
    assert result["where"] == x.argmax()


def test_expressions_see_arguments_n_and_macros(device):
    kernel = ReductionKernel(
        np.float64,
        "0",
        "a + b * one",
        "(out_type)x[i] * factor / n",
        "float *x, double factor, double one",
    )
    x = random_array(20_000)
    result = kernel(ForeignArray(x), 3, 1.0).get()
    np.testing.assert_allclose(result, 3 * x.mean(dtype=np.float64), rtol=1e-12)


def test_strided_and_mixed_orders(device):
    x, y = random_array(60, 80), random_array(80, 60, seed=1)
    result = DOT(ForeignArray(x), ForeignArray(y).view(lambda a: a.T))
    np.testing.assert_allclose(
        result.get(), (x.astype(np.float64) * y.T).sum(), rtol=3e-7
    )
    result = DOT(
        ForeignArray(x).view(lambda a: a[::-2, 3:]),
        ForeignArray(y).view(lambda a: a.T[1::2, :-3]),
    )
    np.testing.assert_allclose(
        result.get(), (x.astype(np.float64)[::-2, 3:] * y.T[1::2, :-3]).sum(), rtol=3e-7
    )


def test_out_allocator_and_stream(device):
    x = random_array(50_000)
    on_device = ForeignArray(x)
    out = GPUArray((), np.float32)
    stream = cuda.Stream()
    assert SUM(on_device, out=out, stream=stream) is out
    stream.synchronize()
    np.testing.assert_allclose(out.get(), x.sum(dtype=np.float64), rtol=3e-7)
    sizes = []

    def allocate(size):
        sizes.append(size)
        return cuda.mem_alloc(size)

    result = SUM(on_device, allocator=allocate)
    assert sizes == [4]
    assert result.get() == out.get()


def test_what_is_refused(device):
    x = ForeignArray(random_array(10))
    with pytest.raises(ValueError, match="out must have the same dtype as dtype_out"):
        SUM(x, out=GPUArray((), np.float64))
    with pytest.raises(ValueError, match="out must have the same dtype as dtype_out"):
        SUM(x, out=GPUArray((), np.int32))
    with pytest.raises(ValueError, match="is empty"):
        SUM(x, out=GPUArray((0,), np.float32))
    with pytest.raises(TypeError, match="invalid keyword argument specified: axis"):
        SUM(x, axis=0)
    with pytest.raises(TypeError, match="takes 1 arguments"):
        SUM(x, x)
    with pytest.raises(
        ValueError, match="'y' has 3 elements, but the first array has 10"
    ):
        DOT(x, ForeignArray(random_array(3)))
    with pytest.raises(ValueError, match="at least one array"):
        ReductionKernel(np.float32, 0, "a+b", "f", "float f")
    with pytest.raises(cuda.CompileError, match=r"reduce_expr\(1\).*\"nope\""):
        ReductionKernel(np.float32, 0, "nope(a, b)")(x)


def test_stage_functions(device):
    assert SUM.stage1_func.name == "sum_all_stage1"
    assert SUM.stage2_func.name == "sum_all_stage2"
    assert SUM.block_size == 256
    assert "#define REDUCE(a, b) (a + b)" in SUM.source()


@pytest.mark.slow
def test_more_than_2_to_the_31_elements(device):
    n = (1 << 31) + 12_345
    ones = cuda.mem_alloc(n)
    cuda.memset_d8(ones, 1, n)
    ones_array = GPUArray((n,), np.int8, gpudata=ones)
    count = ReductionKernel(np.int64, "0", "a + b", "x[i]", "char *x")
    assert count(ones_array).get() == n


def test_arguments_of_the_stages(device):
    dot = ReductionKernel(np.float32, "0", "a + b", "x[i] * y", "int *x, float y")
    assert [a.name for a in dot.stage1_arg_types] == ["x", "y"]
    first = dot.stage2_arg_types[0]
    assert (first.name, first.dtype) == ("pycuda_reduction_inp", np.float32)
    assert dot.stage2_arg_types[1:] == dot.stage1_arg_types
