"""The texts of ElementwiseKernel, ReductionKernel and scans: whose `i` an index is, and macros with the names of our own code."""

import pathlib
import re
import warnings

import numpy as np
import pytest
from marks import slow

from pycuda import gpuarray
from pycuda.elementwise import ElementwiseKernel
from pycuda.reduction import ReductionKernel
from pycuda.scan import InclusiveScanKernel

pytestmark = pytest.mark.usefixtures("device")

HOST = np.arange(1, 9, dtype=np.float32)
CORE = pathlib.Path(__file__).parents[3] / "core" / "src"

# name: (statements, expected elements of z, preamble)
INDICES = {
    "inner loop": ("float s = 0; for (int i = 0; i < 4; ++i) s += x[i]; z[i] = s;", np.full(8, 10), ""),
    "second declarator": ("for (int j = 0, i = 2; j < 1; ++j) z[j] = x[i];", [3, 0, 0, 0, 0, 0, 0, 0], ""),
    "lambda": ("auto f = [&](int i) { return x[i]; }; z[i] = f(0);", np.full(8, 1), ""),
    "generic lambda": ("auto f = [&](auto i) { return x[i]; }; z[i] = f(1);", np.full(8, 2), ""),
    "captured value": ("auto f = [i = 3, x] { return x[i]; }; z[i] = f();", np.full(8, 4), ""),
    "block": ("float first; { unsigned i = 0; first = x[i]; } z[i] = first;", np.full(8, 1), ""),
    "type of the user": ("index_type i = 1; z[0] = x[i];", [2, 0, 0, 0, 0, 0, 0, 0], "typedef unsigned index_type;"),
    "pointer": ("const unsigned k = i; { const unsigned *i = &k; z[*i] = x[*i]; }", HOST, ""),
    "reference": ("unsigned &r = i; const unsigned own = i; r = 0; const float y = x[i]; r = own; z[i] = y;", np.full(8, 1), ""),
    "assigned": ("const unsigned own = i; i = n - 1 - own; const float y = x[i]; i = own; z[i] = y;", HOST[::-1], ""),
    "in parentheses": ("const unsigned own = i; (i) = 0; const float y = x[i]; (i) = own; z[i] = y;", np.full(8, 1), ""),
    "incremented": ("const float y = x[i]; ++i; if (i < n) z[i - 1] = y + x[i]; --i;", [3, 5, 7, 9, 11, 13, 15, 0], ""),
    "address taken": ("unsigned *p = &i; const unsigned own = i; *p = 0; z[own] = x[i]; *p = own;", np.full(8, 1), ""),
    "changed by a function": ("const unsigned own = i; first(i); const float y = x[i]; i = own; z[i] = y;", np.full(8, 1), "__device__ void first(unsigned &k) { k = 0; }"),
    "structured binding": ("struct two { int a, b; }; auto [i, j] = two{0, 1}; z[i] = x[j];", [2, 0, 0, 0, 0, 0, 0, 0], ""),
    "macro with a loop": ("float s = 0; FOUR s += x[i]; z[i] = s;", np.full(8, 10), "#define FOUR for (int i = 0; i < 4; ++i)"),
    "macro of a macro": ("float s = 0; LOOP(4) s += x[i]; z[i] = s;", np.full(8, 10), "#define INDEX i\n#define LOOP(k) for (int INDEX = 0; INDEX < k; ++INDEX)"),
    "macro with i as a parameter": ("z[i] = AT(2);", np.full(8, 3), "#define AT(i) x[i]"),
    "joined names": ("z[i] = x[J(i,)];", HOST, "#define J(a, b) a##b"),
    "pointer kept": ("float *p = &x[i]; z[i] = i + 1 < n ? p[1] : p[0];", [2, 3, 4, 5, 6, 7, 8, 8], ""),
    "reference kept": ("float &r = x[i]; z[i] = i + 1 < n ? (&r)[1] : r;", [2, 3, 4, 5, 6, 7, 8, 8], ""),
    "only in a comment": ("z[i] = x[i]; // int i = 0;", HOST, ""),
    "a member": ("struct { unsigned i; } s; s.i = 5; z[i] = x[i] + s.i;", HOST + 5, ""),
    "read": ("z[i] = x[i] * 2 * i + (i & 1) + (i > 3 && i < 6);", [0, 5, 12, 25, 41, 62, 84, 113], ""),
}  # fmt: skip


@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize("name", INDICES)
def test_an_index_is_the_one_in_sight(name, step):
    statements, expected, preamble = INDICES[name]
    if step == 2 and "kept" in name:
        pytest.skip("neighbours in memory are not neighbours in a strided array")
    x = gpuarray.zeros(8 * step, np.float32)[::step]
    x.set(HOST) if step == 1 else x._assign(HOST)
    z = gpuarray.zeros(8, np.float32)
    ElementwiseKernel("float *z, float *x", statements, preamble=preamble)(z, x)
    np.testing.assert_array_equal(z.get(), expected)


@pytest.mark.parametrize(
    "statements",
    [
        "z[i] = x[i]",
        "z[i] = a * x[i] + i % 3",
        "const float y = x[i]; z[i] = y * i;",
        "if (i > 3) z[i] = x[i]; else z[i] = -x[i];",
        "z[i] = f(x[i]) + (float)i;",
        "float s, c; sincosf(x[i], &s, &c); z[i] = s + c;",
        "sincosf(x[i], &z[i], &x[i]);",
        "z[i] = min(i, 3u) + max((unsigned)a, i);",
        "float s = 0; for (int j = 0; j < 3; ++j) s += x[i] * j; z[i] = s;",
    ],
)
def test_usual_texts_are_walked(statements):
    """A text with a proof has no loop over threads of its own."""
    kernel = ElementwiseKernel(
        "float *z, float *x, float a",
        statements,
        preamble="__device__ float f(float x) { return x; }",
    )
    assert "pycuda_walk" in kernel.source()


def test_a_reduction_reads_the_index_in_sight():
    x = gpuarray.to_gpu(HOST)
    total = ReductionKernel(
        np.float32, "0", "a + b", "[&](int i) { return x[i]; }(1)", "float *x"
    )
    assert total(x).get() == 16
    assert total(gpuarray.to_gpu(HOST[:3])).get() == 6


# Macros


def own_names() -> list[str]:
    """All names in the device code of user's kernels, and in the sources that are made of it."""
    kernel = ElementwiseKernel("float *z, float *x", "z[i] = x[i]")
    texts = [kernel.source(), ReductionKernel(np.float32, "0", "a + b").source()]
    texts.append(InclusiveScanKernel(np.float32, "a + b").source())
    for folder in ("arrays", "kernels"):
        texts += [file.read_text() for file in (CORE / folder / "device").glob("*.cuh")]
    code = re.sub(r'//[^\n]*|/\*.*?\*/|"[^"\n]*"', " ", "\n".join(texts), flags=re.S)
    names = set(re.findall(r"\b[A-Za-z]\w*\b", code))
    return sorted(names - KEYWORDS - {"z", "x", "i", "kernel"})


KEYWORDS = set(
    """alignas alignof asm auto bool break case catch char class const constexpr continue decltype default defined delete
    do double else endif enum extern false float for friend goto if ifdef ifndef include inline int long mutable namespace
    new noexcept operator private protected public register reinterpret_cast return short signed sizeof static static_cast
    struct switch template this throw true try typedef typename union undef unsigned using virtual void volatile while
    pragma once define line unroll elif error""".split()
)  # fmt: skip
PLAUSIBLE = """LENGTH TILE ROWS AXES ROLLED IN_TURN ONE_LOOP KERNEL RESULTS OPERANDS BEGIN PACK LOAD ARRAY STEPS TURN GROUP
    BLOCK_SIZE REDUCE block per_thread Index Geometry N WORDS T Op n""".split()  # fmt: skip


@pytest.fixture
def strict():
    """Warnings of the compiler are errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def check_macros(names, value_of) -> None:
    """Each kind of kernel with all of these macros; ``value_of`` names one of them."""
    options = [f"-D{name}=3" for name in names]
    host = np.arange(100, dtype=np.float32)
    for x in (gpuarray.to_gpu(host), gpuarray.to_gpu(np.repeat(host, 2))[::2]):
        z = gpuarray.zeros(100, np.float32)
        ElementwiseKernel("float *z, float *x", f"z[i] = x[i] * {value_of}", options=options)(z, x)  # fmt: skip
        np.testing.assert_array_equal(z.get(), 3 * host)
        ElementwiseKernel("float *z, float *x", f"z[i] = x[i] * {value_of}; if (threadIdx.x > 4096) return;",
                          options=[one for one in options if "threadIdx" not in one])(z, x)  # fmt: skip
        np.testing.assert_array_equal(z.get(), 3 * host)
        total = ReductionKernel(np.float32, "0", "a + b", f"x[i] * {value_of}", "float *x",
                                options=[one for one in options if one not in ("-Da=3", "-Db=3")])  # fmt: skip
        assert total(x).get() == 3 * host.sum()
    running = InclusiveScanKernel(np.float32, f"a + b * {value_of} / 3",
                                  options=[one for one in options if one not in ("-Da=3", "-Db=3")])  # fmt: skip
    np.testing.assert_array_equal(running(gpuarray.to_gpu(host)).get(), np.cumsum(host))


@pytest.mark.parametrize("name", [*PLAUSIBLE[::3], *slow(PLAUSIBLE[1::3] + PLAUSIBLE[2::3])])  # fmt: skip
def test_a_macro_may_have_any_name(strict, name):
    check_macros([name], name)


def test_macros_may_have_all_names_of_our_code(strict):
    names = own_names()
    assert len(names) > 300
    check_macros([*names, "value_of_test"], "value_of_test")


@pytest.mark.parametrize("name", ["LENGTH", "TILE", "KERNEL", "block", "Index"])
def test_macros_of_the_preamble_end_with_the_text(strict, tmp_path, name):
    x, z = gpuarray.to_gpu(HOST), gpuarray.zeros(8, np.float32)
    ElementwiseKernel("float *z, float *x", f"z[i] = x[i] * {name}", preamble=f"#define {name} 3")(z, x)  # fmt: skip
    np.testing.assert_array_equal(z.get(), 3 * HOST)
    (tmp_path / "macros.h").write_text(f"#define {name} 3\n")
    kernel = ElementwiseKernel(
        "float *z, float *x",
        f"z[i] = x[i] * {name}",
        preamble='#include "macros.h"',
        options=["-I", str(tmp_path)],
    )
    kernel(z, x)
    np.testing.assert_array_equal(z.get(), 3 * HOST)


def test_macros_of_all_forms(strict):
    x, z = gpuarray.to_gpu(HOST), gpuarray.zeros(8, np.float32)
    options = [
        "-DFACTOR=2",
        "-D",
        "TWICE(v)=((v) * FACTOR)",
        "--define-macro=ONE",
        "-DGONE=1",
        "-UGONE",
    ]
    text = "z[i] = TWICE(x[i]) + ONE;\n#ifdef GONE\nz[i] = 0;\n#endif\n"
    ElementwiseKernel("float *z, float *x", text, options=options)(z, x)
    np.testing.assert_array_equal(z.get(), 2 * HOST + 1)
