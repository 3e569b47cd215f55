"""Legal kernels with values that some lanes, or some paths, leave undefined; each once had a wrong result.

test_legal_kernels.py runs them in each of softcuda's tiers.
"""

import numpy as np
from test_legal_kernels import HEADER, from_cuda, from_ptx, same

import pycuda.driver as cuda


def test_undefined_on_other_side(device):
    """A register that each side of a branch leaves undefined for the other keeps both values."""
    kernel = from_ptx(
        HEADER
        + """
.visible .entry k(.param .u64 a, .param .u64 out) {
    .reg .pred %p;
    .reg .b32 %t, %one, %x, %y;
    .reg .b64 %a, %o, %d;
    ld.param.u64 %a, [a];
    ld.param.u64 %o, [out];
    cvta.to.global.u64 %a, %a;
    cvta.to.global.u64 %o, %o;
    mov.u32 %t, %tid.x;
    mul.wide.u32 %d, %t, 4;
    add.u64 %o, %o, %d;
    and.b32 %one, %t, 1;
    setp.ne.u32 %p, %one, 0;
    @%p bra ODD;
    ld.global.u32 %x, [%a];
    bra JOIN;
ODD:
    ld.global.u32 %y, [%a+4];
JOIN:
    bar.sync 0;
    @%p bra STORE_ODD;
    st.global.u32 [%o], %x;
    ret;
STORE_ODD:
    st.global.u32 [%o], %y;
    ret;
}
""",
        "k",
    )
    out = np.zeros(64, np.int32)
    kernel(cuda.In(np.array([11, 22], np.int32)), cuda.Out(out), block=(64, 1, 1))
    same(out, np.where(np.arange(64) % 2, 22, 11))


def test_undefined_in_cuda(device):
    """Variables that are set on one side only, and used on that side again after a barrier."""
    kernel = from_cuda(
        """
extern "C" __global__ void k(const int *a, const double *b, int *out)
{
    int i = threadIdx.x, x;
    double y;
    if (i & 1)
        x = *a;
    else
        y = *b;
    __syncthreads();
    if (i & 1)
        out[i] = x;
    else
        out[i] = (int)y + 1;
}
""",
        "k",
    )
    out = np.zeros(64, np.int32)
    kernel(
        cuda.In(np.array([5], np.int32)),
        cuda.In(np.array([8.0])),
        cuda.Out(out),
        block=(64, 1, 1),
    )
    same(out, np.where(np.arange(64) % 2, 5, 9))


def test_pointer_of_lanes_that_do_not_arrive(device):
    """Lanes 0 to 10 never reach the join that makes the pointer: their values there are not addresses."""
    kernel = from_cuda(
        """
extern "C" __global__ void k(unsigned *scratch, unsigned *out, int n)
{
    __shared__ unsigned near[1024];
    int t = threadIdx.x, lane = t & 31, block = blockIdx.x + gridDim.x * blockIdx.y;
    for (int i = t; i < 1024; i += 256)
        near[i] = i;
    __syncthreads();
    unsigned sum = 1;
    if ((threadIdx.x & 31) >= 11) {
        unsigned *p = (threadIdx.x & 31) < 6 ? &near[t * 4 + (n >> 8 & 3)]
                                             : &scratch[(lane + 2 * n & 15) * 512 + block * 256 + t];
        *p += sum;
        sum += *p;
    }
    out[block * 256 + t] = sum;
}
""",
        "k",
    )
    gid = np.arange(512)
    places = (gid % 32 + 10) % 16 * 512 + gid
    scratch, out = np.arange(8192, dtype=np.uint32), np.zeros(512, np.uint32)
    kernel(
        cuda.InOut(scratch), cuda.Out(out), np.int32(5), block=(256, 1, 1), grid=(2, 1)
    )
    same(out, np.where(gid % 32 >= 11, 1 + places + 1, 1))
