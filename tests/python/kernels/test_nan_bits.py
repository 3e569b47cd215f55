"""The bits of a NaN: kept where a float is only moved, those of the hardware where an operation made the NaN."""

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda.compiler import SourceModule

SOURCE = """
__device__ __noinline__ float pick(float a, float b, int n)
{
    return n == 0 ? a : pick(b, a, n - 1);
}

__global__ void moved(const float *a, const int *c, unsigned *out)
{
    int t = threadIdx.x, n = blockDim.x;
    float x = a[t], made = x * 2.0f;
    out[t] = __float_as_uint(c[t] ? x : made);                       // select
    float y = made;
    if (c[t]) { y = x; } else { for (int i = 0; i < (t & 3); i++) y = y * 0.5f; }
    out[n + t] = __float_as_uint(y);                                 // phi
    out[2 * n + t] = __float_as_uint(__shfl_xor_sync(~0u, c[t] ? x : made, 1));
    float z = x;
    for (int i = 0; i < c[t] * 3; i++) z = z + 1.0f;                 // no iteration, or three
    out[3 * n + t] = __float_as_uint(z);
    out[4 * n + t] = __float_as_uint(pick(x, made, c[t]));           // arguments and results
    float marked = x + 1.0f;
    if (t % 3 == 0) marked = __int_as_float(-1);
    out[5 * n + t] = __float_as_uint(marked);
    out[6 * n + t] = __float_as_uint(copysignf(made, c[t] ? -1.0f : 1.0f));
}

__global__ void narrowed(const double *a, unsigned short *out)
{
    int t = threadIdx.x;
    unsigned short h;
    asm("cvt.rn.f16.f64 %0, %1;" : "=h"(h) : "d"(a[t]));
    out[t] = h;
    asm("cvt.rn.f16.f64 %0, %1;" : "=h"(h) : "d"(a[3]));
    out[blockDim.x + t] = h;
}
"""
CANONICAL = 0x7FFFFFFF


@pytest.fixture(scope="module")
def module(primary_context):
    with primary_context:
        return SourceModule(SOURCE)


@pytest.mark.parametrize("uniform", [False, True], ids=["each lane", "all lanes"])
def test_moves_keep_a_payload(device, module, uniform):
    t = np.arange(64)
    bits = np.full(64, np.float32(3).view(np.uint32), np.uint32)
    bits[1::4], bits[2::8], bits[3::16] = 0x7FC01234, 0xFFC00077, 0x7F800001
    c = (t // 2 % 2).astype(np.int32)
    if uniform:
        bits[:], c[:] = 0xFFC12345, 1
    a = bits.view(np.float32)
    out = np.zeros(7 * 64, np.uint32)
    module.get_function("moved")(
        cuda.In(a), cuda.In(c), cuda.Out(out), block=(64, 1, 1)
    )
    out = out.reshape(7, 64)

    def computed(values):
        return np.where(
            np.isnan(a), CANONICAL, values.astype(np.float32).view(np.uint32)
        )

    with np.errstate(invalid="ignore"):
        made = computed(a * np.float32(2))
        halved = computed(
            a * np.float32(2) * np.float32(0.5) ** (t & 3).astype(np.float32)
        )
        raised = computed(a + np.float32(3))
        plus_one = computed(a + np.float32(1))
    chosen = np.where(c, bits, made)
    wanted = {
        "select": chosen,
        "phi": np.where(c, bits, halved),
        "shuffle": chosen[t ^ 1],
        "loop": np.where(c, raised, bits),
        "call": np.where(c, made, bits),
        "marker": np.where(t % 3 == 0, 0xFFFFFFFF, plus_one),
        "copysign": np.where(c, made | 0x80000000, made & 0x7FFFFFFF),
    }
    for number, (name, expected) in enumerate(wanted.items()):
        row = out[number]
        assert np.array_equal(row, expected), (
            name,
            [
                (i, hex(row[i]), hex(expected[i]))
                for i in np.nonzero(row != expected)[0][:4]
            ],
        )


def test_nans_of_doubles_as_halves(device, module):
    a = np.array(
        [0x7FF8000000000000, 0xFFF8000000000000, 0x7FF0000000000001, 0xFFFFFFFFFFFFFFFF]
        * 8,
        np.uint64,
    ).view(np.float64)
    out = np.zeros(64, np.uint16)
    module.get_function("narrowed")(cuda.In(a), cuda.Out(out), block=(32, 1, 1))
    wanted = [0x7E00, 0xFE00, 0x7E00, 0xFFFF] * 8 + [0xFFFF] * 32  # as on an H200
    assert out.tolist() == wanted, [hex(v) for v in out]
