"""Hints for mistakes in sources, and at the first calls."""

import pytest
from conftest import is_softcuda

import pycuda.driver as cuda
from pycuda.compiler import SourceModule


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
