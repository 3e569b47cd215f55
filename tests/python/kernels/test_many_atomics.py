"""Kernels with so many atomics that each is a call of a function for its operation."""

import numpy as np
import pytest
from conftest import is_softcuda

import pycuda.driver as cuda
from pycuda.compiler import SourceModule

pytestmark = pytest.mark.usefixtures("device")

#: Of each operation: so many that softcuda does not compile them in place.
REPEATED = 8
#: Each with `x`, a number that the thread and the place in the program choose.
OPERATIONS = (
    "atomicAdd(p, x)",
    "atomicSub(p, x)",
    "atomicMin((int *)p, (int)x - 40)",
    "atomicMax(p, x)",
    "atomicInc(p, x)",
    "atomicDec(p, x)",
    "atomicAnd(p, ~x)",
    "atomicOr(p, x)",
    "atomicXor(p, x)",
    "atomicExch(p, x)",
    "atomicCAS(p, x & 3, x)",
    "(unsigned)atomicAdd((unsigned long long *)p, (unsigned long long)x << 31)",
    "(unsigned)atomicCAS((unsigned long long *)p, x & 3ull, (unsigned long long)x)",
    "__float_as_uint(atomicAdd((float *)p, __fmul_rn(x, 0.37f)))",
    "__float_as_uint(atomicAdd((float *)p, __uint_as_float(x)))",
    "(unsigned)__double_as_longlong(atomicAdd((double *)p, __dmul_rn(x, 0.37)))",
    "(atomicAdd(p, x), 0u)",
)
#: The memory of a thread, so that the results do not depend on the order of the threads.
SPACES = {
    "global": "unsigned *memory = out + 4096 + 8 * t;",
    "shared": "__shared__ unsigned own[8 * 64]; unsigned *memory = own + 8 * t;",
    "either": "__shared__ unsigned own[8 * 64];"
    " unsigned *memory = choice[t] ? own + 8 * t : out + 4096 + 8 * t;",
}


def statement(operation, thread_step, number):
    """An atomic of some of the threads; `number`, of its place, may be an expression."""
    return (
        f"{{ unsigned x = (t * {thread_step} + {number}) % 61u, *p = memory + 2 * ({number} % 4);"
        f" if ((t + {number}) % 5 != 3) h = h * 31u + {operation}; }}\n"
    )


def unrolled(operation):
    return "".join(statement(operation, 2 * i + 3, i) for i in range(REPEATED))


def loop(operation):
    body = statement(operation, "(2 * i + 3)", "i")
    return f"#pragma unroll 1\nfor (unsigned i = 0; i < {REPEATED}; i++) {body}"


def source(space, form):
    return f"""
extern "C" __global__ void k(unsigned *out, const int *choice) {{
    unsigned t = threadIdx.x, h = t;
    {SPACES[space]}
    for (int i = 0; i < 8; i++) memory[i] = 0;
    {"".join(form(operation) for operation in OPERATIONS)}
    out[t] = h;
    for (int i = 0; i < 8; i++) out[64 + 8 * t + i] = memory[i];
}}"""


def results(text):
    out = np.zeros(8192, np.uint32)
    kernel = SourceModule(text, no_extern_c=True).get_function("k")
    choice = (np.arange(64) % 3).astype(np.int32)
    kernel(cuda.InOut(out), cuda.In(choice), block=(64, 1, 1))
    return out[: 64 * 9]


@pytest.mark.parametrize("space", SPACES)
def test_as_in_loops(space):
    """The loops have few atomics, which are compiled in place."""
    many, few = results(source(space, unrolled)), results(source(space, loop))
    assert many.tolist() == few.tolist()


@pytest.mark.skipif(not is_softcuda(), reason="a GPU may not notice the access")
def test_line_of_a_wild_address(run_program):
    """The error names the line of the atomic, not of the function that does all of them."""
    text = source("global", unrolled).replace(
        "out[t] = h;", "h += atomicAdd(out + (1 << 28) + t, 1u);\nout[t] = h;"
    )
    line = 1 + text[: text.index("1 << 28")].count("\n")
    done = run_program(f"""
import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda.compiler import SourceModule
kernel = SourceModule({text!r}, no_extern_c=True).get_function("k")
kernel(cuda.mem_alloc(32768), cuda.mem_alloc(256), block=(64, 1, 1))
cuda.Context.synchronize()
""")
    assert f"failed at kernel.cu:{line} " in done.stderr, done.stderr
