"""Sources that nvcc compiles: NVRTC compiles them with the same results, or nvcc is asked."""

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda import compiler, gpuarray
from pycuda.compiler import SourceModule
from pycuda.elementwise import ElementwiseKernel

ALONE = {"nvcc": "nvrtc"}  # nvcc of this machine is not asked

TYPES = {
    "float": "2.5f",
    "double": "2.5",
    "int": "3",
    "unsigned": "3u",
    "long": "3l",
    "size_t": "3",
    "short": "3",
    "bool": "true",
    "unsigned char": "3",
}


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PYCUDA_CACHE_DIR", str(tmp_path / "cache"))


def value(body, before="", **how):
    """The number that a kernel with this body writes to ``o[0]``."""
    source = f'{before}\nextern "C" __global__ void answer(double *o) {{ {body} }}'
    out = np.zeros(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # unused variables
        kernel = SourceModule(source, **{**ALONE, **how}).get_function("answer")
    kernel(cuda.InOut(out), block=1)
    return out[0]


def test_pow_has_the_types_of_cpp(device):
    """pow of two floats is a float. Each other pair is computed in double precision."""
    numbers = {kind: 1.0 if kind == "bool" else 3.0 for kind in TYPES}
    numbers.update(float=2.5, double=2.5)
    statements, wanted = [], []
    for a in TYPES:
        for b in TYPES:
            at = len(wanted)
            statements.append(
                f"{{ {a} x = {TYPES[a]}; {b} y = {TYPES[b]}; o[{2 * at}] = pow(x, y);"
                f" o[{2 * at + 1}] = sizeof(pow(x, y)); }}"
            )
            wanted += [
                (numbers[a] ** numbers[b], 4 if a == b == "float" else 8),
            ]
    out = np.zeros(2 * len(wanted))
    source = f"__global__ void k(double *o) {{ {' '.join(statements)} }}"
    SourceModule(source, **ALONE).get_function("k")(cuda.Out(out), block=1)
    np.testing.assert_allclose(out.reshape(-1, 2), wanted, rtol=1e-6)


def test_pow_of_a_float_and_an_int_is_a_double(device):
    """A float has 24 bits, so the sum tells the two types apart."""
    assert value("float x = 3; int n = 20; o[0] = pow(x, n);") == 3.0**20
    assert value("float x = 3; int n = 20; o[0] = pow(n, x);") == 20.0**3
    assert value("int a = 3, b = 30; o[0] = pow(a, b);") == 3.0**30


@pytest.mark.parametrize("header", ["", "#include <math.h>\n", "#include <cmath>\n"])
def test_pow_in_any_spelling(device, header):
    body = "float x = 3; o[0] = std::pow(x, 2.0) + ::pow(x, 2) + pow(2.0, x);"
    for no_extern_c in (False, True):
        assert value(body, header, no_extern_c=no_extern_c) == 26


def test_names_of_pow_that_are_no_calls(device):
    """The macro for calls leaves members, pasted names and functions of the source alone."""
    source = """
    struct P { int v; __device__ P pow(int n) const { return {v * n}; } };
    __device__ P pow(P p, int n) { return {p.v + n}; }
    #define PASTE_(a, b) a##b
    #define PASTE(a, b) PASTE_(a, b)
    """
    body = """int pow = 2; P p{3}; o[0] = pow + p.pow(4).v + PASTE(pow, f)(2.f, 3.f) + ::pow(p, 1).v;"""
    assert value(body, source, no_extern_c=True) == 2 + 12 + 8 + 4


@pytest.mark.parametrize(
    "call",
    ["fmod", "fmax", "fmin", "atan2", "hypot", "fdim", "copysign", "remainder"],
)
def test_functions_of_two_types_are_double(device, call):
    numbers = {"float x = 7.5f": 7.5, "int x = 7": 7}
    reference = {"fdim": lambda a, b: max(a - b, 0.0)}
    function = reference.get(call) or getattr(
        np, {"atan2": "arctan2"}.get(call, call), None
    )
    for first, a in numbers.items():
        for second, b in (("double y = 3.25", 3.25), ("int y = 3", 3)):
            size = value(f"{first}; {second}; o[0] = sizeof({call}(x, y));")
            assert size == 8
            result = value(f"{first}; {second}; o[0] = {call}(x, y);")
            expected = (
                function(a, b)
                if function
                else float(np.float64(a) - np.rint(a / b) * b)
            )
            np.testing.assert_allclose(result, expected, rtol=1e-14)


def test_functions_of_integers_are_double(device):
    assert value("int n = 2; o[0] = sqrt(n) + exp(n) - log(n);") == pytest.approx(
        2**0.5 + np.exp(2) - np.log(2), rel=1e-14
    )
    assert (
        value("int n = 3, e; o[0] = frexp(n, &e) + e + ldexp(n, 2);") == 0.75 + 2 + 12
    )
    assert value("int n = 3; o[0] = isnan(n) + 2 * isfinite(n) + lround(n);") == 5
    assert value("float x = 2; int n = 3; o[0] = fma(x, n, 0.5);") == 6.5


def test_functions_of_libcudacxx_stay_callable(device):
    source = "#include <cuda/std/cmath>\nusing namespace cuda::std;\n"
    assert value("float x = 3; o[0] = fmin(x, 2);", source, no_extern_c=True) == 2


def test_pow_of_libcudacxx_by_name(device):
    source = "#include <cuda/std/cmath>"
    body = "using cuda::std::pow; float x = 3; o[0] = pow(x, 20);"
    assert value(body, source, no_extern_c=True) == 3.0**20


def test_the_escape_of_terminals(device):
    r"""NVRTC alone reads ``\e`` as an 'e', with a warning."""
    body = r"""o[0] = '\e' + 100 * ('\\' == 92) + 1000 * ("\e1"[1] == '1');"""
    assert value(body) == 27 + 100 + 1000


def test_directives_ask_for_macros_of_headers(device):
    """nvcc has included <limits.h> and <math.h> before the source."""
    source = """
    #if defined(INT_MAX) && defined(M_PI)
    #define WHICH 1
    #else
    #define WHICH 2
    #endif
    #ifndef M_PI
    #define M_PI 3
    #endif
    """
    assert value("o[0] = WHICH + M_PI;", source) == 1 + np.pi


def test_traits_without_an_include(device):
    body = "o[0] = std::is_same<int, int>::value; std::nullptr_t p = nullptr; o[0] += p == 0;"
    try:
        assert value(body, no_extern_c=True) == 2
    except cuda.CompileError as reason:
        if "cuda/std/type_traits" not in str(reason):
            raise
        pytest.skip("this CUDA has no libcu++")


def test_headers_of_the_host_are_empty(device):
    headers = (
        "optional variant span memory filesystem pthread.h dlfcn.h sys/stat.h wchar.h "
        "any charconv clocale codecvt locale memory_resource system_error typeindex"
    )
    source = "".join(f"#include <{header}>\n" for header in headers.split())
    assert value("o[0] = 1;", source) == 1


@pytest.mark.parametrize(
    "header, before, body, expected",
    [
        (
            "concepts",
            "template <std::integral T> __device__ T twice(T x) { return 2 * x; }",
            "o[0] = twice(3);",
            6,
        ),
        ("numbers", "", "o[0] = std::numbers::pi;", np.pi),
        ("bit", "", "o[0] = std::bit_cast<int>(1.0f) >> 23;", 127),
        ("optional", "", "std::optional<int> x = 3; o[0] = *x;", 3),
        (
            "chrono",
            "",
            "o[0] = std::chrono::milliseconds(std::chrono::seconds(2)).count();",
            2000,
        ),
    ],
)
def test_headers_of_the_host_that_cuda_has(device, header, before, body, expected):
    source = f"#include <{header}>\n{before}"
    got = value(body, source, no_extern_c=True, options=["-std=c++20"])
    assert got == pytest.approx(expected)


def test_names_with_letters_beyond_ascii(device):
    body = 'double größe = 2, π = 3, 变量 = 4; const char *ö = "ö"; o[0] = größe * π + 变量 + (ö[1] != 0);'
    assert value(body + " /* → größe */", "/* ü */ struct Größe { int ö; };") == 11


def test_macros_of_gcc(device):
    """They are defined if the source asks for them, with GCC's values."""
    source = """
    #if defined(__linux__) && __SIZEOF_POINTER__ == 8 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    #define WIDTH (__CHAR_BIT__ * __SIZEOF_INT__)
    #endif
    """
    assert value("o[0] = WIDTH + (__INT_MAX__ == 2147483647);", source) == 33
    assert value("o[0] = __FLT_MAX__;") == float(np.finfo(np.float32).max)


def test_pow_in_an_elementwise_kernel(device):
    x = gpuarray.to_gpu(np.arange(1, 5, dtype=np.float32))
    y = gpuarray.empty_like(x)
    ElementwiseKernel("float *x, float *y", "y[i] = pow(x[i], 2.0)", "square")(x, y)
    assert y.get().tolist() == [1, 4, 9, 16]


def test_messages_name_pow(device):
    with pytest.raises(cuda.CompileError) as caught:
        value('o[0] = pow("a", 2);')
    assert 'function "pow"' in str(caught.value)
    assert "pycuda_pow" not in str(caught.value)


CONSTANTS = {
    "const float dx = 0.5f; const float dx2 = dx * dx;": ("dx2", 0.25),
    "const float D = 4.0, d = 0.01; const float dt = d * d / (2 * D * (d + d));": (
        "dt",
        0.000625,
    ),
    "const double PI = 3.14159265358979; const double RAD = PI / 180.0;": (
        "RAD",
        np.pi / 180,
    ),
    "const int n = 100; const float L = 1.0f; const float h = L / (n - 1);": (
        "h",
        1 / 99,
    ),
    "const float L = 4.0f, d = 0.5f; const int cells = (int)(L / d);": ("cells", 8),
    "static const double dt = 1e-3, end = 1.0; static const int steps = end / dt;": (
        "steps",
        1000,
    ),
    "const float a = 0.1f; float const b = -a;": ("b", -0.1),
    "const float a = 0.1f; const bool positive = a > 0;": ("positive", 1),
    "namespace here { const float a = 2; const float b(1.5f), c{a * 3}; }": (
        "here::b * here::c",
        9,
    ),
    "typedef double real; const real a = 3; const real w[2] = {a, a * 2};": ("w[1]", 6),
    "const unsigned long long big = 1ull << 40; const double half = big / 2.0;": (
        "half",
        2.0**39,
    ),
    "const float r = 1.0f / sqrtf(3.0f), s = 2; const float t = s * s;": ("t", 4),
    "const float2 origin = make_float2(1, 2); const float a = 2, b = a * 3;": ("b", 6),
    "const float a = 8; constexpr float b = a / 4;": ("b", 2),
    "const float a = .5f; __constant__ float c = 8 * a; const float e = a * a;": (
        "c + e",
        4.25,
    ),
}


@pytest.mark.parametrize("declarations", CONSTANTS)
def test_constants_at_file_scope_are_folded(device, declarations):
    name, wanted = CONSTANTS[declarations]
    assert value(f"o[0] = {name};", declarations) == pytest.approx(wanted, rel=1e-6)


def test_constants_in_a_header_are_folded(device, tmp_path):
    (tmp_path / "grid.h").write_text(
        "#pragma once\nconst float dx = 0.5f;\nconst float dt = dx * dx / 4;\n"
    )
    found = value("o[0] = dt;", '#include "grid.h"', include_dirs=[str(tmp_path)])
    assert found == 0.0625


def test_folding_keeps_lines_and_bodies(device):
    source = """
    const float a = 2, // width
                b = 3; /* const float c = 1; */
    const float area =
        a * b;
    __device__ float f(const float x) { const float y = x * area; return y; }
    """
    assert value("o[0] = f(2);", source) == 12
    with pytest.raises(cuda.CompileError, match=r"kernel\.cu\(8\): error") as caught:
        value("o[0] = nothing;", source)
    assert "nothing" in str(caught.value)


def test_a_constant_of_the_host_is_unknown_to_kernels(device):
    with pytest.raises(cuda.CompileError, match=r"kernel\.cu\(2\): error"):
        value("o[0] = r;", "\nconst float r = 1.0f / sqrtf(3.0f);")


EXTENSIONS = {
    "import": ("#import <math.h>\n#import <math.h>\n", "o[0] = sqrtf(M_PI) > 1.7;", 1),
    "compound literal": ("", "float2 v = (float2){1, 2}; o[0] = v.y;", 2),
    "compound literal of a struct": (
        "struct P { int a, b; }; __device__ int f(P p) { return p.b; }",
        "o[0] = f((struct P){1, 2}) + f((P){3, 4});",
        6,
    ),
    "compound literal in a macro": (
        "#define V(x, y) (float2){x, y}\n#define ONE (float2){1, 1}\n",
        "o[0] = V(3.f, 4.f).y + ONE.x;",
        5,
    ),
    "functions beside a compound literal": (
        'extern "C++" { template <bool B> __device__ float f(float x) { return x; }\n'
        "template <> __device__ float f<true>(float x)\n{ return 2 * x; }\n"
        "template <int N> __device__ int g(int) { return N; }\n"
        "template <> __device__ int g<2>(int) { return 5; }\n}\n"
        "struct S { int v; };\n"
        "__device__ S operator<<(S s, int n) { s.v += n; return s; }\n"
        "__device__ bool operator>(const S &a, const S &) { return a.v == 3; }\n",
        "S s = (S){1}; s = s << 2; o[0] = f<true>(1.f) + g<2>(0) + s.v + (s > (S){9});",
        11,
    ),
    "typeof": (
        "#define SWAP(a, b) { __typeof__(a) t_ = a; a = b; b = t_; }\n",
        "float a = 1, b = 2; SWAP(a, b); o[0] = a;",
        2,
    ),
    "statement expression": (
        "#define MAX(a, b) ({ __typeof__(a) a_ = (a); \\\n"
        "    __typeof__(b) b_ = (b); a_ > b_ ? a_ : b_; })\n",
        "o[0] = MAX(3.f, MAX(4.f, 2.f));",
        4,
    ),
    "statement expression of statements": (
        "",
        "int s = ({ int t = 0; for (int i = 0; i < 4; ++i) { t += i; } t; }); o[0] = s;",
        6,
    ),
    "no middle operand": ("", "int a = 0, b = 7; o[0] = (a ?: 5) * 10 + (b ?: 5);", 57),
    "case ranges": (
        "",
        "switch (int(o[0]) + 3) { case 1 ... 4: o[0] = 1; break; default: o[0] = 2; }",
        1,
    ),
    "builtins": (
        "",
        "o[0] = __builtin_popcount(7) + __builtin_clz(1) + __builtin_ctz(8);",
        37,
    ),
    "builtins of mathematics": (
        "",
        "float x = 2; o[0] = __builtin_sqrtf(x * x) + (__builtin_sqrt(x) == sqrt(2.0));",
        3,
    ),
    "__extension__ and __asm__": (
        "",
        '__extension__ int a; __asm__ __volatile__("mov.u32 %0, 3;" : "=r"(a)); o[0] = a;',
        3,
    ),
    "__VA_OPT__": (
        "#define F(a, ...) a __VA_OPT__(+) __VA_ARGS__\n",
        "o[0] = F(3, 4);",
        7,
    ),
    "auto parameters": (
        "__device__ auto twice(auto x) { return x + x; }\n",
        "o[0] = twice(2.5);",
        5,
    ),
    "macros": (
        "#if !defined(__NVCC__) || !defined(__GNUC__)\n#error needs nvcc\n#endif\n",
        "o[0] = 1;",
        1,
    ),
    "designated initialisers": (
        "struct P { int a, b; };",
        "P p = {.a = 1, .b = 2}; o[0] = p.b;",
        2,
    ),
}


@pytest.mark.parametrize("name", EXTENSIONS)
def test_extensions_of_gcc(device, name):
    before, body, wanted = EXTENSIONS[name]
    assert value(body, before) == wanted


def test_an_extension_in_a_header(device, tmp_path):
    (tmp_path / "max.h").write_text(
        "#define SQUARE(x) ({ float x_ = (x); x_ * x_; })\n"
    )
    found = value("o[0] = SQUARE(3);", '#include "max.h"', include_dirs=[str(tmp_path)])
    assert found == 9


@pytest.mark.parametrize(
    "body",
    [
        "o[0] = ({ if (o[0] > 1) return; 3; });",  # would leave the lambda, not the kernel
        "auto f = [&] { return ++o[0]; }; o[0] = f() ?: 5;",  # would call f twice
    ],
)
def test_extensions_without_a_standard_form_are_refused(device, body):
    with pytest.raises(cuda.CompileError, match="expected an expression"):
        value(body)


def fake_nvcc(folder, image):
    """Makes an nvcc that copies a file in place of compiling."""
    program = folder / "nvcc"
    program.write_text(
        "#!/bin/sh\n"
        'while [ $# -gt 0 ]; do [ "$1" = -o ] && out=$2; shift; done\n'
        f"echo called >> {folder}/calls\ncp {image} $out\n"
    )
    program.chmod(0o755)
    os.utime(
        program, (1e9, 1e9)
    )  # a file that is older than the image is known by its stamp


@pytest.fixture
def nvcc(tmp_path, monkeypatch):
    """An nvcc in PATH that accepts every source; returns the number of its calls."""
    image = tmp_path / "image"
    image.write_bytes(
        compiler.compile("__global__ void k(int *o) { o[0] = 5; }", target="cubin")
    )
    fake_nvcc(tmp_path, image)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    calls = tmp_path / "calls"
    return lambda: calls.read_text().count("called") if calls.exists() else 0


REFUSED = (
    "__global__ void k(int *o) { struct Z { int n; float d[0]; }; o[0] = sizeof(Z); }"
)


def test_nvcc_compiles_what_nvrtc_refuses(device, nvcc):
    out = np.zeros(1, np.int32)
    for _ in range(2):  # the second time from the cache
        SourceModule(REFUSED).get_function("k")(cuda.Out(out), block=1)
        assert out[0] == 5
        assert nvcc() == 1


@pytest.mark.parametrize(
    "body",
    [
        "void *p = o; p = p + 8; o[0] = p != o;",
        "o[0] = sizeof(FILE *);",
        "o[0] = __builtin_constant_p(3);",
        "int a$b = 2; o[0] = a$b;",
    ],
)
def test_nvcc_is_asked_about_extensions(device, nvcc, body):
    SourceModule(f"__global__ void k(int *o) {{ {body} }}")
    assert nvcc() == 1


@pytest.mark.parametrize(
    "word", ["__const", "__const__", "__signed", "__signed__", "__volatile"]
)
def test_other_spellings_of_keywords(device, word):
    out = np.zeros(1, np.int32)
    source = f"__device__ {word} int five = 5; __global__ void k(int *o) {{ {word} int a = five; o[0] = a; }}"
    SourceModule(source, nvcc="nvrtc").get_function("k")(cuda.Out(out), block=1)
    assert out[0] == 5


def test_nvcc_is_asked_about_classes_of_the_host(device, nvcc):
    """The size of such a class is known to nvcc only, which has the host's headers."""
    host = "struct table { std::vector<int> rows; int count; };\n"
    SourceModule(
        "#include <vector>\n"
        + host
        + "__global__ void k(int *o) { o[0] = sizeof(table); }"
    )
    assert nvcc() == 1


def test_nvcc_is_not_asked_about_plain_mistakes(device, nvcc):
    with pytest.raises(cuda.CompileError, match='"nothing" is undefined'):
        SourceModule("__global__ void k(int *o) { o[0] = nothing; }")
    assert nvcc() == 0


def test_if_both_compilers_refuse_nvrtc_speaks(device, tmp_path, monkeypatch):
    program = tmp_path / "nvcc"
    program.write_text("#!/bin/sh\necho nvcc speaks >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(
        cuda.CompileError, match="array must be greater than zero"
    ) as caught:
        SourceModule(REFUSED + " // not in the cache")
    assert "nvcc speaks" not in str(caught.value)
    assert "kernel.cu(1): error" in str(caught.value)


@pytest.mark.parametrize(
    "source",
    [
        REFUSED,
        "struct Z { int n; float d[]; }; __global__ void k(Z *z) { z->d[0] = z->n; }",
        "__global__ void k(void *p) { *(int *)(p + 4) = 1; }",
    ],
)
def test_the_error_says_how_to_get_nvcc(device, source):
    with pytest.raises(cuda.CompileError, match="pip install nvidia-cuda-nvcc"):
        SourceModule(source, **ALONE)


@pytest.mark.parametrize(
    "body, says",
    [
        ("o[0] = ;", "expected an expression"),
        ("o[0] = o[0] ? 1;", 'expected a ":"'),
        ("struct S s; o[0] = 1;", "incomplete type"),
        ("\n#error not for this device\n", "#error directive"),
        ("\n#nonsense\n", "preprocessing directive"),
    ],
)
def test_a_mistake_for_every_compiler_gives_no_advice_to_get_nvcc(device, body, says):
    with pytest.raises(cuda.CompileError) as caught:
        SourceModule(f"__global__ void k(int *o) {{ {body} }}", **ALONE)
    assert says in str(caught.value)
    assert "nvidia-cuda-nvcc" not in str(caught.value)


def test_the_trace_says_that_nvcc_compiled(tmp_path, nvcc):
    program = f"import pycuda.compiler as c; c.compile({REFUSED!r}, target='cubin', arch='sm_80')"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env={**os.environ, "PYCUDA_TRACE": "1"},
    )
    lines = [line for line in done.stderr.splitlines() if "which NVRTC refused" in line]
    assert len(lines) == 1, done.stderr
    assert "kernel.cu(1): error: the size of an array" in lines[0]


def test_the_verdict_about_headers_outlives_the_process(tmp_path, nvcc):
    """The second source compiles with NVRTC, but its includes had host code in an earlier process."""
    (tmp_path / "half.h").write_text(
        "#ifndef PLAIN\n#include <string>\nstruct named { std::string name; };\n#endif\n"
    )
    kernel = '#include "half.h"\n__global__ void k(int *o) { o[0] = 1; }'
    for calls, source in enumerate([kernel, f"#define PLAIN\n{kernel}"], start=1):
        program = (
            "from pycuda import compiler\n"
            f"compiler.compile({source!r}, arch='sm_80', include_dirs=[{str(tmp_path)!r}])"
        )
        subprocess.run([sys.executable, "-c", program], check=True)
        assert nvcc() == calls
