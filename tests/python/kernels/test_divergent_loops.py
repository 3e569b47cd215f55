"""Loops that threads leave at different times and through different exits."""

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
def test_each_thread_keeps_its_values_at_the_exit(device, name):
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


# Threads that begin the next round early meet the others after a point that all pass on their way
# out. x: by thread and round, different for each; n and m: the same for all. (With `++c == n` in
# `nested` an H200 never comes to an end, unless its compiler runs with -O0.)
ROUNDS = """
__device__ unsigned next(unsigned &x) { x = x * 1664525u + 1013904223u; return x >> 28; }

__global__ void counted(unsigned *out, unsigned n, unsigned)
{
    unsigned x = threadIdx.x, rounds = 0, c = 0;
    for (;;) {
        rounds++;
        if (next(x) < 9) continue;
        if (++c == n) break;
    }
    out[threadIdx.x] = rounds * 1000 + c;
}

__global__ void left_together(unsigned *out, unsigned n, unsigned m)
{
    unsigned x = threadIdx.x, rounds = 0;
    for (;;) {
        rounds++;
        if (next(x) < 9) continue;
        if (n > m) break;
        if (next(x) < 3) break;
    }
    out[threadIdx.x] = rounds;
}

__global__ void nested(unsigned *out, unsigned n, unsigned)
{
    unsigned x = threadIdx.x, rounds = 0, c = 0, inner = 0;
outer:
    for (;;) {
        rounds++;
        for (;;) {
            inner++;
            if (next(x) < 5) goto outer;
            if (next(x) < 7) break;
        }
        if (++c >= n) break;
    }
    out[threadIdx.x] = rounds * 100000 + inner * 100 + c;
}

__global__ void out_two_ways(unsigned *out, unsigned n, unsigned m)
{
    unsigned x = threadIdx.x, rounds = 0, inner = 0, late = 0;
    for (;;) {
        rounds++;
        unsigned c = 0;
        for (;;) {
            inner++;
            if (next(x) < 8) continue;
            if (++c == n) goto more;
            if (rounds == m) break;
        }
        late++;
        break;
    more:
        late += 16;
        if (rounds == m + 3) break;
    }
    out[threadIdx.x] = rounds * 100000 + inner * 100 + late;
}
"""


class Rounds:
    """The same with one thread in Python."""

    def __init__(self, thread):
        self.x = thread

    def next(self):
        self.x = (self.x * 1664525 + 1013904223) & 0xFFFFFFFF
        return self.x >> 28

    def counted(self, n, m):
        rounds = c = 0
        while c < n:
            rounds += 1
            c += self.next() >= 9
        return rounds * 1000 + c

    def left_together(self, n, m):
        rounds = 0
        while True:
            rounds += 1
            if self.next() >= 9 and (n > m or self.next() < 3):
                return rounds

    def nested(self, n, m):
        rounds = c = inner = 0
        while c < n:
            rounds += 1
            while True:
                inner += 1
                if self.next() < 5:
                    break
                if self.next() < 7:
                    c += 1
                    break
        return rounds * 100000 + inner * 100 + c

    def out_two_ways(self, n, m):
        rounds = inner = late = 0
        while True:
            rounds += 1
            c = 0
            while True:
                inner += 1
                if self.next() < 8:
                    continue
                c += 1
                if c == n or rounds == m:
                    break
            if c == n:
                late += 16
                if rounds == m + 3:
                    break
            else:
                late += 1
                break
        return rounds * 100000 + inner * 100 + late


@pytest.mark.parametrize(
    "name, n, m",
    [
        ("counted", 4, 0),
        ("left_together", 5, 2),
        ("left_together", 2, 5),
        ("nested", 5, 0),
        ("out_two_ways", 1, 2),
        ("out_two_ways", 3, 3),
    ],
)
def test_threads_that_begin_the_next_round_early(device, name, n, m):
    kernel = SourceModule(ROUNDS).get_function(name)
    out = np.zeros(96, np.uint32)
    kernel(cuda.Out(out), np.uint32(n), np.uint32(m), block=(96, 1, 1))
    assert out.tolist() == [getattr(Rounds(t), name)(n, m) for t in range(96)]
