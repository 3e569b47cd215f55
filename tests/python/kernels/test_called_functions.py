"""Functions that are not inlined, because they call themselves: their variables and their arguments."""

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda.compiler import SourceModule

SOURCE = """
// As fib(n), with `work` on the way; compilers cannot make a loop of it.
#define TREE(name, work) \\
    __device__ __noinline__ int name(int n, int *out, int deep) \\
    { \\
        if (n < 2) return n; \\
        int a = name(n - 1, out, deep + 1); \\
        work; \\
        return a + name(n - 2, out, deep + 1); \\
    }

__device__ int lock, counter;
__device__ volatile int turn;
extern __shared__ int dynamic[];

TREE(locking, while (atomicCAS(&lock, 0, 1) != 0); counter++; __threadfence(); atomicExch(&lock, 0))
TREE(ending, if (deep == 3 && (threadIdx.x & 1)) { out[threadIdx.x] = -n; asm volatile("exit;"); })
TREE(in_turn, if (n == 5) { while (turn != threadIdx.x); turn = threadIdx.x + 1; })
TREE(sharing, dynamic[threadIdx.x] += n)

__global__ void locks(int *out)
{
    int v = locking(threadIdx.x % 7, out, 0);
    __syncthreads();
    out[threadIdx.x] = v * 10000 + counter;
}

__global__ void ends(int *out)
{
    int v = ending(threadIdx.x % 8, out, 0);
    __syncwarp();
    out[threadIdx.x] = v;
}

__global__ void takes_turns(int *out) { out[threadIdx.x] = in_turn(5, out, 0); }

// Dynamic shared memory begins behind the kernel's own.
__global__ void shares(int *out)
{
    __shared__ int own[7];
    own[threadIdx.x % 7] = 1;
    dynamic[threadIdx.x] = 0;
    __syncthreads();
    int v = sharing(6, out, 0);
    out[threadIdx.x] = v * 1000 + dynamic[threadIdx.x] * 10 + own[threadIdx.x % 7];
}

struct Sums { double all; int by[5]; };

__device__ __noinline__ Sums add(int n, Sums s)
{
    if (n == 0) return s;
    s.all += n;
    s.by[n % 5] += n;
    Sums q = add(n - 1, s), p = add(n / 2, s);
    q.all += p.all;
    return q;
}

__global__ void passes_structs(int *out)
{
    Sums s = add(threadIdx.x % 6, Sums{});
    out[threadIdx.x] = (int)s.all * 100 + s.by[3];
}
"""


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def calls(n):
    """The number of times that TREE does its work."""
    return 0 if n < 2 else 1 + calls(n - 1) + calls(n - 2)


def ended(n, deep=0):
    """The value of n at which a thread ends, or None."""
    if n < 2:
        return None
    inner = ended(n - 1, deep + 1)
    if inner is None and deep == 3:
        return n
    return inner if inner is not None else ended(n - 2, deep + 1)


def work_of(n):
    return 0 if n < 2 else n + work_of(n - 1) + work_of(n - 2)


def sums(n, total, by):
    if n == 0:
        return total, by
    total += n
    by = [b + n * (k == n % 5) for k, b in enumerate(by)]
    all_, kept = sums(n - 1, total, by)
    return all_ + sums(n // 2, total, by)[0], kept


def struct_result(t):
    total, by = sums(t % 6, 0, [0] * 5)
    return total * 100 + by[3]


def end_result(t):
    end = ended(t % 8) if t & 1 else None
    return fibonacci(t % 8) if end is None else -end


EXPECTED = {
    "locks": lambda t: fibonacci(t % 7) * 10000 + sum(calls(u % 7) for u in range(64)),
    "ends": end_result,
    "takes_turns": lambda t: 5,
    "shares": lambda t: 8000 + work_of(6) * 10 + 1,
    "passes_structs": struct_result,
}


ALLOWED = {
    "takes_turns": (
        "race",
        "sync",
    ),  # by a plain load, which the memory model calls a race
    "ends": ("sync",),  # its mask names lanes that have ended
}


@pytest.fixture(scope="module")
def module(primary_context):
    with primary_context:
        yield SourceModule(SOURCE)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.cuda_check_allow(*ALLOWED.get(name, ())))
        for name in EXPECTED
    ],
)
def test_recursive_functions(device, module, name):
    out = np.zeros(64, np.int32)
    module.get_function(name)(cuda.Out(out), block=(64, 1, 1), shared=256)
    assert out.tolist() == [EXPECTED[name](t) for t in range(64)]


POINTERS = r"""
// Called through pointers in so many places that one function has the calls. `own` is used there and in
// the kernel, which uses another shared variable before.
__shared__ int *place;
typedef void (*Work)(int *);
#define LONG(at) \
    int v = place[at]; \
    _Pragma("unroll") for (int i = 0; i < 200; i++) { v = v * 5 + i; v ^= v >> 7; } \
    out[threadIdx.x] += v;
__device__ __noinline__ void first(int *out) { LONG(0) }
__device__ __noinline__ void second(int *out) { LONG(1) }
__global__ void by_pointer(int *out)
{
    __shared__ int before[2], own[2];
    before[threadIdx.x] = 10 * threadIdx.x;
    __syncthreads();
    own[threadIdx.x] = 20 - before[1 - threadIdx.x];
    place = own;
    Work works[] = {first, second};
    Work work = works[threadIdx.x & 1];
    __syncthreads();
    work(out); work(out); work(out); work(out); work(out); work(out); work(out); work(out);
    work(out); work(out); work(out); work(out); work(out); work(out); work(out); work(out);
}
"""


@pytest.mark.parametrize("tier", ["regions", "fibers", "lanes"])
def test_functions_behind_pointers_have_the_kernels_shared_variables(
    device, monkeypatch, tier
):
    monkeypatch.setenv("SOFTCUDA_TIER", tier)
    out = np.zeros(2, np.int32)
    SourceModule(POINTERS).get_function("by_pointer")(cuda.InOut(out), block=(2, 1, 1))
    expected = np.array([10, 20], np.int32)
    for i in range(200):
        expected = expected * np.int32(5) + np.int32(i)
        expected ^= expected >> 7
    assert out.tolist() == (expected * np.int32(16)).tolist()


ONE_THREAD = r"""
struct Node { int value; Node *next; };
__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ void fill(int *table, int n, int step) { for (int i = 0; i < n; i++) table[i] = i * step; }

__global__ void recursive(int *out) { out[blockIdx.x] = fibonacci(blockIdx.x); }

__global__ void local(int *out, int n)
{
    int table[16];
    fill(table, 16, n);
    int sum = 0;
    for (int i = 0; i < n; i++) sum += table[(i * 7 + n) & 15];
    out[blockIdx.x] = sum + __shfl_sync(1, sum, 0) + __activemask() + __ballot_sync(1, sum > 0);
}

__global__ void counted(int *out)
{
    int mine = atomicAdd(out + 99, 1);
    if (atomicCAS(out + mine, 0, mine + 1) != 0) atomicAdd(out + 98, 1000);
}

__global__ void listed(int *out)
{
    Node *list = nullptr;
    for (int i = 0; i < 10; i++) {
        Node *more = (Node *)__nv_aligned_device_malloc(sizeof(Node), 64);
        out[1] |= (size_t)more & 63;
        *more = Node{i, list};
        list = more;
    }
    int sum = 0;
    while (list) { sum += list->value; Node *next = list->next; free(list); list = next; }
    out[0] = sum;
}
"""


def test_blocks_of_one_thread(device):
    """Nothing differs between the lanes of such a block, so its values are not vectors."""
    module = SourceModule(ONE_THREAD, no_extern_c=False)
    out = np.zeros(100, np.int32)
    module.get_function("recursive")(cuda.InOut(out), block=(1, 1, 1), grid=(20, 1))
    assert out[:8].tolist() == [0, 1, 1, 2, 3, 5, 8, 13] and out[19] == 4181

    n = 37
    table = np.arange(16) * n
    expected = 2 * sum(int(table[(i * 7 + n) & 15]) for i in range(n)) + 2
    module.get_function("local")(
        cuda.InOut(out), np.int32(n), block=(1, 1, 1), grid=(5, 1)
    )
    assert out[:5].tolist() == [expected] * 5

    out[:] = 0
    module.get_function("counted")(cuda.InOut(out), block=(1, 1, 1), grid=(90, 1))
    assert out[:90].tolist() == list(range(1, 91)) and out[98:].tolist() == [0, 90]

    out[:] = 0
    module.get_function("listed")(cuda.InOut(out), block=(1, 1, 1))
    assert out[:2].tolist() == [45, 0]
