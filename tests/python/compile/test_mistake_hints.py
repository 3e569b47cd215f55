"""Hints for mistakes in sources, and at the first calls."""

import math
import warnings

import numpy as np
import pytest
from conftest import is_softcuda

import pycuda
import pycuda.driver as cuda
from pycuda import gpuarray
from pycuda.compiler import SourceModule
from pycuda.elementwise import ElementwiseKernel
from pycuda.fusion import FusionError


@pytest.mark.parametrize(
    "source, advice",
    [
        ('__global__ void f() {\n  printf("x\n");\n}\n', 'begin the source with r"""'),
        (
            "__global__ void f(float *a) { half x = a[0]; a[1] = x; }",
            "#include <cuda_fp16.h>",
        ),
        ("__global__ void f(half *a) { a[1] = a[0]; }", "#include <cuda_fp16.h>"),
        ("__global__ void f() { curandState s; }", "#include <curand_kernel.h>"),
        (
            "namespace cg = cooperative_groups;\n__global__ void f() { cg::this_grid().sync(); }",
            "#include <cooperative_groups.h>",
        ),
        (
            "__kernel void f(__global float *a) { a[get_global_id(0)] = 1; }",
            "the source is OpenCL",
        ),
        (
            "__global__ void f(float *a) { for i in range(3): a[i] = 1; }",
            "for (int i = 0; i < n; ++i)",
        ),
        ("__global__ void f(float *a) { a[0] = np.sin(a[0]); }", "sinf(x)"),
        ("__global__ void f() { print(1); }", "use printf"),
        ("__global__ void f(int *a) { a[threadidx.x] = 1; }", "use threadIdx"),
        ("__global__ void f(bool *a) { a[0] = True; }", "use true"),
        ("__global__ void f() { std::vector<int> v; }", "std::vector does not exist"),
        (
            "__global__ void f(float *a, int n) { __shared__ float t[n]; t[0] = a[0]; a[1] = t[0]; }",
            "extern __shared__",
        ),
        (
            "#include <iostream>\n__global__ void f(float *a) { std::cout << *a; }",
            "std::cout is for the host; a kernel prints with printf()",
        ),
        (
            "#include <vector>\n__global__ void f(std::vector<float> a) { a[0] = 1; }",
            "std::vector is for the host; a kernel takes a pointer",
        ),
        ("@cuda.jit\ndef f(a):\n    a[0] = 1\n", "the source is Python"),
        ("__global__ void f(int *a) { a[get_local_id(0)] = 1; }", "use threadIdx.x"),
        ("__global__ void f(int *a) { a[cuda.threadIdx.x] = 1; }", "without 'cuda.'"),
        (
            "__global__ void f(int *a) { if (a[0]) a[1] = 1; elif (a[2]) a[1] = 2; }",
            "use else if",
        ),
        (
            "__global__ void f(float *a) { a[0] = __shfl_down(a[1], 1); }",
            "use __shfl_down_sync(",
        ),
        ("__global__ void f() { syncthreads(); }", "use __syncthreads"),
        ("__global__ void f() { __syncthread(); }", "use __syncthreads"),
        ("__global__ void f(int *a) { atomic_add(a, 1); }", "use atomicAdd"),
        ("__global__ void f(int *a) { a[threadId.x] = 1; }", "use threadIdx"),
        (
            "__global__ void f(float *a) { a[threadIdx.y][threadIdx.x] = 1; }",
            "a pointer takes one index: a[row * width + column]",
        ),
        ("__global__ void f(float *a) { a[0] = a[1] ** 2; }", "no operator for powers"),
        ("__global__ void f(float *a) { a[0] = a[1] ^ 2; }", "no operator for powers"),
        ("__global__ void f(float *a) { a[0] = a[1] % 2; }", "fmodf(x, y)"),
        ("# a comment\n__global__ void f() {}", "a comment of C++ begins with //"),
        (
            "__global__ void f(int *a) { *a = %(value)s; }",
            "a placeholder that Python has not replaced",
        ),
        (
            "__global__ void f(int *a) { *a = {{ value }}; }",
            "a placeholder that Python has not replaced",
        ),
        (
            "__global__ int f(int *a) { return *a; }",
            "a kernel returns nothing; it writes its results",
        ),
        (
            "__global__ void f(float *a, int n) { a[0] = min(n, 2.0f); }",
            "both arguments of min must have the same type",
        ),
        (
            "__global__ void f(float *a) { a[0] = std::max(a[0], a[1]); }",
            "without std::",
        ),
        ("__global__ void f(float *a) { atomicMax(a, 1.0f); }", "are for integers"),
        (
            "__global__ void f(int *a) {\n  int i = threadIdx.x\n  a[i] = 1;\n}\n",
            "a semicolon is missing at the end of the line before",
        ),
        (
            "__global__ void f(int *a) { if (a[0]) { a[1] = 1; ",
            "a { of the source has no }",
        ),
        (
            "__global__ void f(int *a) {\n  if (a[0] > 1):\n    a[1] = 1;\n}\n",
            "a condition of Python",
        ),
        (
            "__global__ void f(int *a, int n) { int t[n]; *a = t[0]; }",
            "must be a constant",
        ),
        ("__global__ void f(complex<float> *a) { *a = 1; }", "<pycuda-complex.hpp>"),
        (
            "__global__ void f(float *a) { a[0] = half_of(a[1]); }\n"
            "__device__ float half_of(float x) { return x / 2; }",
            "'half_of' is used above its declaration",
        ),
    ],
)
def test_a_mistake_in_a_source_has_a_hint(device, source, advice):
    with pytest.raises(cuda.CompileError) as raised:
        SourceModule(source)
    assert advice in raised.value.msg


def test_a_loop_over_a_range_of_cpp_has_no_hint_about_python(device):
    source = "struct R { int *begin(); int *end(); }; __global__ void f(R in) { for (int i : in) x; }"
    with pytest.raises(cuda.CompileError) as raised:
        SourceModule(source)
    assert "Python" not in raised.value.msg


def test_a_function_that_is_no_kernel(device):
    with pytest.raises(cuda.LogicError, match="a kernel begins with __global__"):
        SourceModule("void f(float *a) { a[0] = 1; }").get_function("f")


def test_a_list_for_a_pointer(device):
    kernel = SourceModule("__global__ void f(float *a) {}").get_function("f")
    with pytest.raises(cuda.ArgumentError, match=r"got a list; .*numpy.array\("):
        kernel([1, 2, 3], block=(1, 1, 1))


def test_launches_as_in_cupy_and_numba(device):
    kernel = SourceModule("__global__ void f(float *a) {}").get_function("f")
    array = gpuarray.zeros(8, np.float32)
    with pytest.raises(ValueError, match=r"keywords: f\(a, b, grid=..., block=...\)"):
        kernel((1,), (8,), (array,))
    with pytest.raises(TypeError, match=r"write kernel\(a, b, grid=..., block=...\)"):
        kernel[1, 8](array)
    with pytest.raises(cuda.CompileError, match=r'get_function\("scale"\)'):
        SourceModule("__global__ void scale(float *a) {}", "scale")


def test_a_parameter_that_is_a_pointer_to_pointers(device):
    kernel = SourceModule("__global__ void f(float **a) {}").get_function("f")
    with pytest.warns(
        UserWarning, match=r"float \*\*, an array of addresses.*a\[row \* width"
    ):
        kernel(cuda.In(np.zeros((4, 4), np.float32)), block=(1, 1, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kernel(gpuarray.zeros(4, np.uint64), block=(1, 1, 1))


def test_two_indices_in_one_bracket(device):
    with pytest.warns(UserWarning, match=r"a\[y, x\] means a\[x\] in C\+\+"):
        SourceModule("__global__ void f(int *a) { a[threadIdx.y, threadIdx.x] = 1; }")


def test_an_array_too_large_for_shared_memory(device):
    source = """
        __global__ void f(float *a) {
            __shared__ float tile[80000];
            tile[threadIdx.x] = a[threadIdx.x];
            __syncthreads();
            a[0] = tile[a[1] > 0 ? 1 : 2];
        }"""
    with pytest.raises(cuda.CompileError, match="MAX_DYNAMIC_SHARED_SIZE_BYTES, BYTES"):
        SourceModule(source)


def test_types_of_numpy_in_a_declaration():
    with pytest.raises(ValueError, match=r"numpy's float32 is float in C.*: float \*x"):
        ElementwiseKernel("float32 x, float32 y", "float32 z", "z = x + y")


def test_a_number_of_a_device_as_text(device):
    with pytest.raises(cuda.LogicError, match=r"number is an int: Device\(0\)"):
        cuda.Device("0")


def test_a_shape_that_is_a_float():
    with pytest.raises(TypeError, match="an int or a tuple of ints, not 5.0"):
        cuda.pagelocked_empty(5.0, np.float32)


def test_functions_of_math_in_a_fused_function(device):
    @pycuda.fuse
    def wave(x):
        return math.sin(x)

    with pytest.raises(FusionError, match="numpy.sin, instead of those of math"):
        wave(gpuarray.zeros(4, np.float32))


def test_get_global_for_an_address(device):
    module = SourceModule(
        "__constant__ float c[4]; __global__ void f(float *a) { *a = c[0]; }"
    )
    with pytest.raises(
        TypeError, match="an address and a number of bytes, pass the first"
    ):
        cuda.memcpy_htod(module.get_global("c"), np.zeros(4, np.float32))


def test_functions_of_arrays_are_looked_for_in_the_package():
    with pytest.raises(
        AttributeError, match="functions of arrays are in pycuda.gpuarray"
    ):
        pycuda.array([1, 2])


def test_a_function_of_python_is_no_source(device):
    def kernel(a):
        a[0] = 1

    with pytest.raises(TypeError, match="not function: a kernel is written in CUDA C"):
        SourceModule(kernel)


@pytest.mark.parametrize("source", [None, b"__global__ void f() {}", ["a"], 3])
def test_a_source_is_text(device, source):
    with pytest.raises(TypeError, match="source must be text, not"):
        SourceModule(source)


def test_an_unknown_name_has_no_hint(device):
    with pytest.raises(cuda.CompileError) as raised:
        SourceModule("__global__ void f() { halfway x; }")
    assert "#include" not in raised.value.msg


@pytest.mark.skipif(not is_softcuda(), reason="softcuda's devices are a setting")
def test_a_device_that_does_not_exist(device):
    with pytest.raises(cuda.LogicError, match="SOFTCUDA_DEVICES=100 "):
        cuda.Device(99)


def test_a_refused_launch_begins_with_the_kernel(device):
    kernel = SourceModule("__global__ void f(int *a) {}").get_function("f")
    with pytest.raises(cuda.LogicError, match="^kernel 'f' takes 1 argument"):
        kernel(block=(1, 1, 1))


@pytest.mark.skipif(not is_softcuda(), reason="softcuda describes an address")
def test_a_number_for_a_pointer(run_program):
    result = run_program("""
        import pycuda.autoinit
        import pycuda.driver as cuda
        from pycuda.compiler import SourceModule

        kernel = SourceModule("__global__ void f(int *a) { *a = 1; }").get_function("f")
        kernel(12, block=(1, 1, 1))
        try:
            cuda.Context.synchronize()
        except cuda.LogicError as error:
            print(error)
    """)
    assert "writing 0xc, 12 bytes after a null pointer" in result.stdout
