"""Generic addresses: distances between spaces, addresses of parameters, and the question for the space."""

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda.compiler import SourceModule

DISTANCES = """
typedef unsigned long long u64;

// A slot contains the distance from itself to its target, in bytes or in elements.
__global__ void relative(int *g, int *out)
{
    __shared__ u64 slot[64];
    __shared__ int cell[64];
    int t = threadIdx.x, o = t ^ 5;
    cell[t] = 1000 + t;
    slot[t] = (u64)(g + (63 - t)) - (u64)&slot[t];
    __syncthreads();
    out[t] = *(int *)((u64)&slot[o] + slot[o]);
    __syncthreads();
    slot[t] = (u64)&cell[t] - (u64)(g + t);
    __syncthreads();
    out[64 + t] = *(int *)((u64)(g + o) + slot[o]);
    __syncthreads();
    slot[t] = (g + t) - &cell[t];
    __syncthreads();
    out[128 + t] = *(int *)((u64)&cell[o] + slot[o] * 4);
}

__global__ void local_and_global(int *g, int *out)
{
    __shared__ volatile u64 distance[64];
    int t = threadIdx.x;
    int own[4] = {t, t + 1, t + 2, t + 3};
    distance[t] = (u64)(g + t) - (u64)own;
    out[t] = *(int *)((u64)own + distance[t]) + own[out[t] & 3];
}

// The distance is stored by one function and used by another.
__device__ __noinline__ void link(u64 *slot, const int *target) { *slot = (u64)target ^ (u64)slot; }
__global__ void by_xor(int *g, int *out)
{
    __shared__ u64 slot[64];
    int t = threadIdx.x;
    link(&slot[t], g + t);
    __syncthreads();
    int o = t ^ 9;
    out[t] = *(int *)((u64)&slot[o] ^ slot[o]);
}
"""


@pytest.fixture(scope="module")
def distances(primary_context):
    with primary_context:
        return SourceModule(DISTANCES)


T = np.arange(64)
G = (T * 7).astype(np.int32)


def run(module, name, size, *inputs):
    out = np.zeros(size, np.int32)
    module.get_function(name)(*inputs, cuda.InOut(out), block=(64, 1, 1))
    return out


def test_distances_between_shared_and_global_memory(device, distances):
    out = run(distances, "relative", 192, cuda.In(G))
    o = T ^ 5
    assert np.array_equal(out[:64], G[63 - o])
    assert np.array_equal(out[64:128], 1000 + o)
    assert np.array_equal(out[128:], G[o])


def test_distances_between_local_and_global_memory(device, distances):
    assert np.array_equal(run(distances, "local_and_global", 64, cuda.In(G)), G + T)


def test_distances_that_are_no_differences(device, distances):
    assert np.array_equal(run(distances, "by_xor", 64, cuda.In(G)), G[T ^ 9])


PARAMETERS = """
struct P { int x[64]; };

__global__ void chosen(const __grid_constant__ P p, const int *g, int *o)
{
    int t = threadIdx.x;
    const int *q = t & 1 ? p.x + t : g + t;
    o[t] = *q;
}

__global__ void kept(const __grid_constant__ P p, const int **slots, int *o)
{
    int t = threadIdx.x;
    slots[t] = p.x + t;
    __syncthreads();
    o[t] = *((const int *volatile *)slots)[t ^ 1];
}

__device__ __noinline__ int sum(const int *x, int n)
{
    return n == 0 ? 0 : x[n - 1] + sum(x, n - 1);
}
__global__ void passed(const __grid_constant__ P p, const int *g, int *o)
{
    int t = threadIdx.x;
    o[t] = sum(t & 1 ? p.x : g, t);
}

__global__ void written(const __grid_constant__ P p, int *volatile *slot)
{
    *slot = (int *)p.x;
    __syncthreads();
    **slot = 1;
}

__global__ void beyond(const __grid_constant__ P p, const int *volatile *slot, int *o)
{
    *slot = p.x + 64;
    o[0] = (*slot)[0x10000];
}
"""


@pytest.fixture(scope="module")
def parameters(primary_context):
    with primary_context:
        return SourceModule(PARAMETERS)


X = (T * 7 + 1).astype(np.int32)
P = np.frombuffer(X.tobytes(), np.dtype([("x", np.int32, 64)]))[0]


def test_address_of_a_parameter_chosen_at_run_time(device, parameters):
    assert np.array_equal(
        run(parameters, "chosen", 64, P, cuda.In(-G)), np.where(T & 1, X, -G)
    )


def test_address_of_a_parameter_in_memory(device, parameters):
    assert np.array_equal(run(parameters, "kept", 64, P, cuda.mem_alloc(512)), X[T ^ 1])


def test_address_of_a_parameter_as_an_argument(device, parameters):
    wanted = [X[:t].sum() if t & 1 else G[:t].sum() for t in T]
    assert np.array_equal(run(parameters, "passed", 64, P, cuda.In(G)), wanted)


SPACES = """
__constant__ int constant[4] = {1, 2, 3, 4};
__device__ int global[4];
struct P { int x[4]; };

__device__ int spaces(const void *p)
{
    unsigned s, g, l, c, k;
    asm("{ .reg .pred q; isspacep.shared q, %1; selp.u32 %0, 1, 0, q; }" : "=r"(s) : "l"(p));
    asm("{ .reg .pred q; isspacep.global q, %1; selp.u32 %0, 1, 0, q; }" : "=r"(g) : "l"(p));
    asm("{ .reg .pred q; isspacep.local q, %1; selp.u32 %0, 1, 0, q; }" : "=r"(l) : "l"(p));
    asm("{ .reg .pred q; isspacep.const q, %1; selp.u32 %0, 1, 0, q; }" : "=r"(c) : "l"(p));
    asm("{ .reg .pred q; isspacep.param q, %1; selp.u32 %0, 1, 0, q; }" : "=r"(k) : "l"(p));
    return s | g << 1 | l << 2 | c << 3 | k << 4;
}

__global__ void ask(const __grid_constant__ P p, int *any, const void *volatile *slots, int *out)
{
    __shared__ int shared[4];
    int local[4] = {any[0], any[1], 2, 3};
    shared[threadIdx.x & 3] = local[any[2] & 3];
    __syncthreads();
    out[0] = spaces(shared + 1);
    out[1] = spaces(global + 1);
    out[2] = spaces(local + 1);
    out[3] = spaces(constant + 1);
    out[4] = spaces(p.x + 1);
    out[5] = spaces(any + 1);
    slots[0] = shared + 1;
    slots[1] = global + 1;
    slots[2] = local + 1;
    slots[3] = constant + 1;
    slots[4] = p.x + 1;
    slots[5] = any + 1;
    for (int i = 0; i < 6; i++) out[6 + i] = spaces(slots[i]);
    out[12] = shared[1] + local[any[3] & 3];
}
"""


def test_space_of_known_and_of_loaded_addresses(device):
    out = cuda.mem_alloc(4 * 13)
    p = np.zeros((), np.dtype([("x", np.int32, 4)]))[()]
    SourceModule(SPACES).get_function("ask")(
        p, cuda.In(np.zeros(4, np.int32)), cuda.mem_alloc(48), out, block=(1, 1, 1)
    )
    got = cuda.from_device(out, 13, np.int32)
    # The window of the parameters is in that of global memory.
    shared, in_global, local, constant, parameters = 1, 2, 4, 8, 16
    wanted = [shared, in_global, local, constant, parameters | in_global, in_global]
    assert got[6:12].tolist() == wanted, "of loaded addresses"
    assert got[:6].tolist() == wanted, "of known addresses"
