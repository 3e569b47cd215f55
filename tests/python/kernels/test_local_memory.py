"""Arrays of a thread that the compiler leaves in memory: each thread has its own."""

import numpy as np

import pycuda.driver as cuda
from pycuda.compiler import SourceModule


def test_same_local_address_is_other_memory_in_each_thread(device):
    # A value that one thread wrote under a condition must not be read by the others.
    kernel = SourceModule("""
    __global__ void join(float *out, int n)
    {
        float v[8];
        for (int k = 0; k < 8; ++k) v[k] = 0;
        if (threadIdx.x < n)
            for (int k = 0; k < 8; ++k) v[k] += 1;
    #pragma unroll 1
        for (int half = 4; half > 0; half /= 2)
    #pragma unroll 1
            for (int i = 0; i < half; ++i)
                v[i] += v[i + half];
        out[threadIdx.x] = v[0];
    }
    """).get_function("join")
    out = np.zeros(64, np.float32)
    kernel(cuda.Out(out), 3, block=(64, 1, 1))
    assert out.tolist() == [8.0] * 3 + [0.0] * 61
