"""Loops that threads leave at different times and by different ways."""

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda.compiler import SourceModule

WAYS_OUT = {
    "one": ("if (a > 40000) break;", lambda a, b: a > 40000),
    "two": (
        "if (a > 40000) break; if (a < 10000) continue; if ((b & 3) == 1) break;",
        lambda a, b: a > 40000 or (a >= 10000 and b & 3 == 1),
    ),
    "three": (
        "if (a > 50000) break; if (a < 5000) continue; if ((b & 3) == 1) { a += 70000; break; }"
        "if (b > 60000) { a += 140000; break; }",
        lambda a, b: a > 50000 or (a >= 5000 and (b & 3 == 1 or b > 60000)),
    ),
}


def leave(state, wanted, name):
    while True:
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        a = state >> 16
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        b = state >> 16
        if wanted(a, b):
            if name == "three" and a <= 50000:
                a += 70000 if b & 3 == 1 else 140000
            return a


@pytest.mark.parametrize("name", WAYS_OUT)
def test_each_thread_keeps_what_it_left_with(device, name):
    text, wanted = WAYS_OUT[name]
    kernel = SourceModule(
        """
        __global__ void leave(unsigned *out)
        {
            const unsigned own = blockIdx.x * blockDim.x + threadIdx.x;
            unsigned state = own, a;
            for (;;) {
                state = state * 1664525u + 1013904223u; a = state >> 16;
                state = state * 1664525u + 1013904223u; [[maybe_unused]] const unsigned b = state >> 16;
                WAYS
            }
            out[own] = a;
        }
        """.replace("WAYS", text)
    ).get_function("leave")
    out = np.zeros(256, np.uint32)
    kernel(cuda.Out(out), block=(64, 1, 1), grid=(4, 1))
    assert out.tolist() == [leave(i, wanted, name) for i in range(256)]
