"""The headers for kernels: pycuda-complex.hpp and pycuda-helpers.hpp, and their cost."""

import time

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda import compiler
from pycuda.compiler import SourceModule

UNARY = {
    **{
        name: getattr(np, name)
        for name in "sqrt exp log log10 sin cos tan sinh cosh tanh conj".split()
    },
    "-": np.negative,
    "+": np.positive,
}
PAIRS = {
    "a + b": np.add,
    "a - b": np.subtract,
    "a * b": np.multiply,
    "a / b": np.divide,
    "pow(a, b)": np.power,
    "a + b.real()": lambda a, b: a + b.real,
    "b.real() - a": lambda a, b: b.real - a,
    "b.real() * a": lambda a, b: b.real * a,
    "b.real() / a": lambda a, b: b.real / a,
    "pow(a, b.real())": lambda a, b: a**b.real,
    "pow(b.real(), a)": lambda a, b: b.real**a,
    "pow(a, 3)": lambda a, b: a**3,
}
A = np.array([1 + 2j, -0.5 + 0.25j, 0.75 - 1.5j, 2.0 + 0.125j])
B = np.array([0.5 - 1j, 2 + 1j, 1.25 + 0.5j, 3 - 0.5j])


def run(real, body, *arrays, results=1):
    """The values that ``body`` writes to ``out`` for each element of complex arrays ``a``, ``b``."""
    names = "ab"[: len(arrays)]
    parameters = ", ".join(f"const Z *{name}_" for name in names)
    loads = " ".join(f"Z {name} = {name}_[i];" for name in names)
    kernel = SourceModule(f"""
        #include <pycuda-complex.hpp>
        typedef pycuda::complex<{real}> Z;
        using namespace pycuda;
        __global__ void f(Z *out, {parameters}) {{ int i = threadIdx.x; {loads} {body} }}
    """).get_function("f")
    dtype = np.complex64 if real == "float" else np.complex128
    out = np.zeros(results * len(A), dtype)
    kernel(
        cuda.Out(out), *(cuda.In(x.astype(dtype)) for x in arrays), block=(len(A), 1, 1)
    )
    return out.reshape(results, -1)


def close(seen, wanted, real):
    tolerance = 3e-5 if real == "float" else 1e-13
    np.testing.assert_allclose(seen, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("real", ["float", "double"])
def test_functions_of_one_complex_number(device, real):
    body = " ".join(f"out[{n} * blockDim.x + i] = {f}(a);" for n, f in enumerate(UNARY))
    seen = run(real, body, A, results=len(UNARY))
    for row, function in zip(seen, UNARY.values(), strict=True):
        with np.errstate(all="raise"):
            close(row, function(A), real)


@pytest.mark.parametrize("real", ["float", "double"])
def test_arithmetic_and_powers(device, real):
    body = " ".join(f"out[{n} * blockDim.x + i] = {f};" for n, f in enumerate(PAIRS))
    seen = run(real, body, A, B, results=len(PAIRS))
    for row, function in zip(seen, PAIRS.values(), strict=True):
        close(row, function(A, B), real)


def test_parts_of_complex_numbers(device):
    body = """
        Z z(real(a), imag(b)); z += b; z -= Z(1, 2); z *= 2; z /= Z(0, 1);
        out[i] = z;
        out[blockDim.x + i] = Z(abs(a), arg(a));
        out[2 * blockDim.x + i] = Z(norm(a), a == a && a != b ? 1 : 0);
        out[3 * blockDim.x + i] = polar(abs(a), arg(a));
        Z set = a; set.real(7); set.imag(-7);
        out[4 * blockDim.x + i] = set;
    """
    seen = run("double", body, A, B, results=5)
    close(seen[0], 2 * (A.real + 1j * B.imag + B - (1 + 2j)) / 1j, "double")
    close(seen[1], abs(A) + 1j * np.angle(A), "double")
    close(seen[2], abs(A) ** 2 + 1j, "double")
    close(seen[3], A, "double")
    close(seen[4], np.full(4, 7 - 7j), "double")


def test_division_does_not_overflow_in_between(device):
    large = np.full(4, 1e30 + 1e30j)
    close(run("float", "out[i] = a / b;", large, large)[0], np.ones(4), "float")


def test_conversions_between_the_complex_types(device):
    kernel = SourceModule("""
        #include <pycuda-complex.hpp>
        __global__ void f(double *out, pycuda::complex<float> z)
        {
            pycuda::complex<double> wide = z;
            pycuda::complex<float> narrow(wide);
            out[0] = wide._M_re; out[1] = narrow._M_im; out[2] = sizeof(z); out[3] = alignof(decltype(z));
        }
    """).get_function("f")
    out = np.zeros(4)
    kernel(cuda.Out(out), np.complex64(1.5 - 2j), block=1)
    assert out.tolist() == [1.5, -2, 8, 4]


def milliseconds(source):
    """The minimum time of some compilations."""
    times = []
    for turn in range(6):
        start = time.perf_counter()
        compiler.compile(source + f"\n// {turn}", arch="sm_86", cache_dir=False)
        times.append(1e3 * (time.perf_counter() - start))
    return min(times)


@pytest.mark.parametrize("header", ["pycuda-complex.hpp", "pycuda-helpers.hpp"])
def test_headers_cost_little_to_compile(device, header):
    """Less than 60 ms with all headers; on a busy machine, less than 40 ms more than an empty kernel."""
    empty = "__global__ void nop() {}"
    with_header = milliseconds(f"#include <{header}>\n{empty}")
    assert with_header < 60 or with_header - milliseconds(empty) < 40


@pytest.mark.parametrize("real", ["float", "double"])
def test_volatile_complex_numbers(device, real):
    """As in old reductions in shared memory; and the names in the class."""
    body = """
        __shared__ volatile Z shared[4], same[4];
        shared[i] = a;
        same[i] = a;
        __syncthreads();
        volatile Z &next = shared[(i + 1) % 4];
        out[i] = shared[i] + next;
        out[4 + i] = shared[i] * next;
        Z copy; copy = next;
        __syncthreads();
        next = same[i];
        __syncthreads();
        out[20 + i] = copy + shared[i];
        __syncthreads();
        shared[i] = (typename_value)2;
        out[8 + i] = Z(shared[i]);
        out[12 + i] = Z::_div(a, b);
        Z set; set.real(3); set.imag(a.real());
        out[16 + i] = set;
    """.replace("typename_value", "Z::value_type")
    following = np.roll(A, -1)
    wanted = [A + following, A * following, A * 0 + 2, A / B, 3 + 1j * A.real]
    wanted.append(following + np.roll(A, 1))
    close(run(real, body, A, B, results=6), wanted, real)


LIBRARIES = {
    "curand_kernel.h": (
        "curandState s; curand_init(1, 0, 0, &s); out[i] = curand_uniform(&s) >= 0;",
        1,
    ),
    "cub/cub.cuh": (
        "typedef cub::BlockReduce<float, 32> R; __shared__ typename R::TempStorage t;"
        "float sum = R(t).Sum(1.0f); if (i == 0) out[0] = sum;",
        32,
    ),
    "thrust/complex.h": (
        "thrust::complex<float> z(1, 2); out[i] = (z * z).real();",
        -3,
    ),
}


@pytest.mark.parametrize("header", LIBRARIES)
def test_headers_of_cudas_libraries(device, header):
    """They compile; or the error says what is missing: a wheel, or nvcc."""
    body, expected = LIBRARIES[header]
    source = (
        f"#include <{header}>\n"
        'extern "C" __global__ void f(float *out) { int i = threadIdx.x; ' + body + " }"
    )
    try:
        kernel = SourceModule(source, no_extern_c=True).get_function("f")
    except cuda.CompileError as error:
        assert "in the wheel nvidia-" in error.msg or "only nvcc" in error.msg
        pytest.skip(error.msg)
    out = np.zeros(32, np.float32)
    kernel(cuda.Out(out), block=(32, 1, 1))
    assert out[0] == expected


@pytest.mark.parametrize("header", ["assert.h", "cassert"])
@pytest.mark.parametrize(
    "before, options, checks",
    [
        ("", [], True),
        ("#define NDEBUG", [], False),
        ("", ["-DNDEBUG"], False),
        ("#undef NDEBUG", ["-DNDEBUG"], True),
    ],
)
def test_each_include_of_assert_reads_ndebug(device, header, before, options, checks):
    kernel = "__global__ void f(int *a) { assert(*a == 1); }"
    source = f"{before}\n#include <{header}>\n{kernel}"
    ptx = compiler.compile(source, target="ptx", arch="sm_80", options=options)
    assert (b"__assertfail" in ptx) == checks
    twice = f"#define NDEBUG\n#include <{header}>\n#undef NDEBUG\n#include <{header}>\n{kernel}"
    ptx = compiler.compile(twice, target="ptx", arch="sm_80")
    assert b"__assertfail" in ptx


@pytest.mark.parametrize("include", ["", "#include <alloca.h>"])
def test_alloca_is_declared_as_for_nvcc(device, include):
    f = SourceModule(f"""
        {include}
        __global__ void f(int *out)
        {{
            int n = threadIdx.x + 1, *values = (int *)alloca(n * sizeof(int));
            for (int i = 0; i < n; i++) values[i] = i * n;
            out[threadIdx.x] = values[n - 1];
        }}
    """).get_function("f")
    out = np.zeros(64, np.int32)
    f(cuda.Out(out), block=(64, 1, 1))
    n = np.arange(1, 65)
    np.testing.assert_array_equal(out, (n - 1) * n)
