"""Whole programs of CUDA C++ as sources of kernels: nvcc drops what is for the host, and so does this package without nvcc."""

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda.compiler import SourceModule

PROGRAM = r"""
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <vector>
#include <chrono>
#include <cuda_runtime.h>
using namespace std;

#define CHECK(call) \
    do { cudaError_t e = (call); if (e) { printf("%s\n", cudaGetErrorString(e)); exit(1); } } while (0)

const int BLOCK = 32;
static std::vector<float> table;
cudaStream_t stream;

struct pair { float a, b; };

struct pair *make_pairs(int count) { /* { */ return (struct pair *)malloc(count * sizeof(pair)); }

__host__ int blocks(int n);

float twice(float x) { return 2 * x; }

__global__ void apply(float *x, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n) x[i] = twice(x[i]) + 1;
}

__host__ int blocks(int n) { std::vector<int> v(n); return (v.size() + BLOCK - 1) / BLOCK; }

template <class T> void run(std::vector<T> &v) {
    T *d;
    CHECK(cudaMalloc(&d, v.size() * sizeof(T)));
    apply<<<blocks(v.size()), BLOCK>>>(d, v.size());
    CHECK(cudaMemcpy(v.data(), d, v.size() * sizeof(T), cudaMemcpyDeviceToHost));
}

int main(int argc, char **argv) {
    srand(time(NULL));
#ifdef VERBOSE
    cout << "{" << endl;
#endif
    std::vector<float> v(100, 1.0f);
    run(v);
    std::sort(v.begin(), v.end());
    std::cout << v[0] << std::endl;
    return 0;
}
"""


def compile_alone(source, **how):
    return SourceModule(source, nvcc="nvrtc", cache_dir=False, **how)


@pytest.mark.parametrize("no_extern_c", [False, True])
def test_a_whole_program(device, no_extern_c):
    source = PROGRAM
    if no_extern_c:
        source = source.replace("__global__", 'extern "C" __global__')
    else:  # templates are not allowed in extern "C", for nvcc neither
        begin, end = source.index("template"), source.index("int main")
        source = source[:begin] + source[end:].replace("    run(v);", "")
    x = np.arange(50, dtype=np.float32)
    kernel = compile_alone(source, no_extern_c=no_extern_c).get_function("apply")
    kernel(cuda.InOut(x), np.int32(40), block=(32, 1, 1), grid=(2, 1))
    wanted = np.arange(50, dtype=np.float32)
    wanted[:40] = 2 * wanted[:40] + 1
    np.testing.assert_array_equal(x, wanted)


@pytest.mark.parametrize("name", ["timer.h", "sub/../timer.h", "./timer.h"])
def test_host_code_in_a_header(device, tmp_path, name):
    (tmp_path / "sub").mkdir()
    (tmp_path / "timer.h").write_text(
        "#include <sys/time.h>\n"
        "static struct timeval begin;\n"
        "static inline void start() { gettimeofday(&begin, NULL); }\n"
        "#define HALF 0.5f\n"
    )
    source = f'#include "{name}"\n'
    source += "__global__ void half(float *x) { *x *= HALF; }\nint main() { start(); }"
    x = np.ones(1, np.float32)
    module = compile_alone(source, include_dirs=[str(tmp_path)])
    module.get_function("half")(cuda.InOut(x), block=1)
    assert x[0] == 0.5


def errors_of(source):
    with pytest.raises(cuda.CompileError) as caught:
        compile_alone(source)
    return str(caught.value)


def test_an_error_in_a_kernel_beside_main_is_the_error(device):
    said = errors_of(
        "__global__ void f(float *x) { *x = 1 }\nint main() { f<<<1, 1>>>(0); return 0; }\n"
    )
    assert 'kernel.cu(1): error: expected a ";"' in said
    assert "host code" not in said and "kernel.cu(2): error" not in said


@pytest.mark.parametrize(
    "macro, head",
    [
        ("__global__", "KERNEL void f"),
        ("__global__", "KERNEL __launch_bounds__(64) void f"),
        ("__global__", "__launch_bounds__(64) KERNEL void f"),
        ("__global__ void", "KERNEL f"),
        ("__global__ void", "static KERNEL f"),
    ],
)
def test_a_kernel_behind_a_macro_is_not_dropped(device, macro, head):
    said = errors_of(
        f"#define KERNEL {macro}\n{head}(float *x) {{ *x = unknown; }}\n"
        "int main() { cudaDeviceReset(); }\n"
    )
    assert 'kernel.cu(2): error: identifier "unknown" is undefined' in said


@pytest.mark.parametrize("word", ["_global_", "__global", "__kernel"])
def test_a_misspelt_kernel_is_not_dropped(device, word):
    said = errors_of(
        f"{word} void f(float *x) {{ x[threadIdx.x] = 1; }}\n__global__ void g(float *x) {{}}\n"
        "int main() { cudaDeviceReset(); }\n"
    )
    assert f"{word}" in said


def test_an_error_in_a_helper_is_not_dropped(device):
    """A helper without __device__ may be one that a kernel calls."""
    said = errors_of(
        "float helper(float x) { return x + unknown; }\n"
        "__global__ void f(float *x) { *x = helper(*x); }\n"
    )
    assert 'kernel.cu(1): error: identifier "unknown" is undefined' in said


def test_lines_stay_those_of_the_user(device):
    said = errors_of(
        "int main()\n{\n  cudaDeviceReset();\n  return 0;\n}\n\n__global__ void f(int *x)\n{\n  *x = unknown;\n}\n"
    )
    assert 'kernel.cu(9): error: identifier "unknown" is undefined' in said
