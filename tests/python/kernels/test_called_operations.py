"""Kernels with so many large operations that each is a call of a function for the operation."""

import numpy as np
import pytest
from conftest import is_softcuda

import pycuda.driver as cuda
from pycuda.compiler import SourceModule

pytestmark = pytest.mark.usefixtures("device")

#: So many that softcuda does not compile them in place.
REPEATED = 12
#: Of `f`, a float with all kinds of bits, `h`, a pair of halves, `u`, and `d`, a double.
OPERATIONS = (
    'asm("sin.approx.f32 %0, %1;" : "=f"(f) : "f"(f));',
    'asm("cos.approx.ftz.f32 %0, %1;" : "=f"(f) : "f"(f));',
    'asm("ex2.approx.f32 %0, %1;" : "=f"(f) : "f"(f));',
    'asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(f) : "f"(f));',
    'asm("rsqrt.approx.f32 %0, %1;" : "=f"(f) : "f"(f));',
    'asm("div.approx.f32 %0, %1, %2;" : "=f"(f) : "f"(f), "f"(__uint_as_float(u)));',
    'asm("div.rn.f32 %0, %1, %2;" : "=f"(f) : "f"(f), "f"(__uint_as_float(u)));',
    'asm("sqrt.rz.ftz.f32 %0, %1;" : "=f"(f) : "f"(f));',
    'asm("fma.rn.f16x2 %0, %1, %2, %1;" : "=r"(h) : "r"(h), "r"(u));',
    'asm("add.rn.sat.f16x2 %0, %1, %2;" : "=r"(h) : "r"(h), "r"(u));',
    'asm("fma.rn.bf16x2 %0, %1, %2, %1;" : "=r"(h) : "r"(h), "r"(u));',
    'asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(h) : "f"(f), "f"(__uint_as_float(u)));',
    'asm("cvt.rzi.s32.f32 %0, %1;" : "=r"(h) : "f"(f));',
    "h ^= u / (h | 1u);",
    "h += u % 77u;",
    "h = __umulhi(h, u) + h;",
    "h = __byte_perm(h, u, h & 0x7777);",
    "h += __brev(u) + __popc(h) + __clz(u);",
    'asm("{ add.cc.u32 %0, %0, %1; addc.cc.u32 %0, %0, %0; addc.u32 %0, %0, 5; }" : "+r"(h) : "r"(u));',
    "d = __ddiv_rn(d, __int2double_rn((int)h));",
    "d = __fma_rd(d, 0.37, __uint2double_rn(u));",
    "h ^= (unsigned)__double2ll_rz(d);",
)


def statement(operation, number):
    """The operation for some of the threads; `number`, of its place, may be an expression."""
    return (
        f"u = u * 1664525u + {number} + t; if ((t + {number}) % 5 != 3) {{ {operation} }}"
        " sum = (sum ^ h ^ __float_as_uint(f) ^ (unsigned)__double_as_longlong(d)) * 16777619u;"
        " f = __uint_as_float(u ^ h << 7);\n"
    )


def source(form):
    if form == "loop":
        steps = [
            f"#pragma unroll 1\nfor (unsigned i = 0; i < {REPEATED}; i++) {{ {statement(o, 'i * 7')} }}\n"
            for o in OPERATIONS
        ]
    else:
        steps = [statement(o, 7 * i) for o in OPERATIONS for i in range(REPEATED)]
    return (
        "extern \"C\" __global__ void run(unsigned *out, const unsigned *in) {\n"
        " unsigned t = blockIdx.x * blockDim.x + threadIdx.x, u = in[t], h = ~u, sum = 0;\n"
        " float f = __uint_as_float(u); double d = u;\n"
        + "".join(steps)
        + " out[t] = sum; }\n"
    )  # fmt: skip


def test_calls_and_operations_in_place_give_the_same_bits():
    threads = 40  # a whole warp and a part of one
    given = np.random.default_rng(5).integers(0, 1 << 32, 2 * threads, np.uint32)
    special = [0, 0x80000000, 1, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001, 0xFFFFFFFF]  # fmt: skip
    given[: min(8, len(given))] = special[: len(given)]
    results = []
    for form in ("loop", "unrolled"):
        out = np.empty_like(given)
        kernel = SourceModule(source(form), no_extern_c=True).get_function("run")
        kernel(cuda.Out(out), cuda.In(given), block=(threads, 1, 1), grid=(2, 1))
        results.append(out)
    np.testing.assert_array_equal(*results)


@pytest.mark.skipif(not is_softcuda(), reason="a dump of softcuda")
@pytest.mark.parametrize(("count", "called"), [(20, False), (600, True)])
def test_only_a_kernel_with_many_large_operations_calls_them(
    run_program, count, called
):
    done = run_program(
        f"""
        import pycuda.autoinit
        from pycuda import gpuarray
        from pycuda.compiler import SourceModule
        step = 'asm("sin.approx.f32 %0, %1;" : "=f"(f) : "f"(f)); f = f * 7.5f;'
        source = "__global__ void k(float *x) {{ float f = x[threadIdx.x];" + step * {count} + "x[threadIdx.x] = f; }}"
        SourceModule(source).get_function("k")(gpuarray.zeros(64, "f4"), block=(64, 1, 1))
        pycuda.autoinit.context.synchronize()
        """,
        SOFTCUDA_DUMP="llvm",
    )
    assert done.returncode == 0, done.stderr
    assert ("call <32 x float> @sin" in done.stderr) == called
