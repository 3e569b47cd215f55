"""Programs whose calls cannot all be inlined, and calls through pointers."""

import numpy as np
from conftest import is_softcuda

import pycuda.driver as cuda
from pycuda.compiler import SourceModule

U = np.uint32


def tree(levels, leaf, more=""):
    """Functions that each call the one before three times."""
    text = [f"__device__ __noinline__ unsigned f0(unsigned x) {{ {leaf} }}"]
    for i in range(1, levels + 1):
        text.append(
            f"__device__ __noinline__ unsigned f{i}(unsigned x) {{ {more} unsigned a = f{i - 1}(x);"
            f" a = f{i - 1}(a ^ {i}u); return f{i - 1}(a + {i}u) ^ x; }}"
        )
    return "\n".join(text)


def host_tree(level, x, leaf):
    if level == 0:
        return leaf(x)
    a = host_tree(level - 1, x, leaf)
    a = host_tree(level - 1, a ^ U(level), leaf)
    return host_tree(level - 1, a + U(level), leaf) ^ x


def run(module, name, threads, *arguments, dtype=U):
    out = np.zeros(threads, dtype)
    module.get_function(name)(*arguments, cuda.Out(out), block=(threads, 1, 1))
    return out


def test_tree_of_functions(device):
    source = tree(9, "return x * 1664525u + 1013904223u;")
    module = SourceModule(
        source
        + "__global__ void k(unsigned *o) { o[threadIdx.x] = f9(threadIdx.x); }"
        + "__global__ void some(unsigned *o) { o[threadIdx.x] = threadIdx.x % 3 ? f4(threadIdx.x) : 7; }"
    )
    t = np.arange(64, dtype=U)

    def leaf(x):
        return x * U(1664525) + U(1013904223)

    assert np.array_equal(run(module, "k", 64), host_tree(9, t, leaf))
    assert np.array_equal(
        run(module, "some", 64), np.where(t % 3, host_tree(4, t, leaf), 7)
    )


def test_barriers_and_exchanges_in_functions(device):
    """In functions that stay functions all threads meet, as in inlined ones."""
    source = tree(
        8,
        "__shared__ unsigned s[64]; __syncthreads(); s[threadIdx.x] = x; __syncthreads();"
        " return s[threadIdx.x ^ 33] + __shfl_xor_sync(~0u, x, 3);",
    )
    module = SourceModule(
        source + "__global__ void k(unsigned *o) { o[threadIdx.x] = f8(threadIdx.x); }"
    )
    t = np.arange(64, dtype=U)
    wanted = host_tree(8, t, lambda x: x[t ^ 33] + x[t ^ 3])
    assert np.array_equal(run(module, "k", 64), wanted)


def test_local_memory_of_functions(device):
    """Each function has an array of its own, and those of all levels are alive at the same time: 24 KB."""
    text = [
        "__device__ __noinline__ unsigned f0(const unsigned *a, unsigned x) { return a[x & 511] + x; }"
    ]
    for i in range(1, 13):
        calls = 3 if i < 9 else 1
        text.append(f"""
__device__ __noinline__ unsigned f{i}(const unsigned *a, unsigned x)
{{
    unsigned own[512];
    for (int i = 0; i < 512; i++) own[i] = a[i] + {i};
    unsigned r = f{i - 1}(own, x);
    {f"r = f{i - 1}(own, r ^ {i}); r = f{i - 1}(own, r + {i});" if calls == 3 else ""}
    return r + own[x & 511] - a[r & 511];
}}""")
    text.append("""
__global__ void k(unsigned *o)
{
    unsigned a[512];
    for (int i = 0; i < 512; i++) a[i] = i * 3;
    o[threadIdx.x] = f12(a, threadIdx.x);
}""")

    def host(i, a, x):
        if i == 0:
            return a[x & U(511)] + x
        own = a + U(i)
        r = host(i - 1, own, x)
        if i < 9:
            r = host(i - 1, own, r ^ U(i))
            r = host(i - 1, own, r + U(i))
        return r + own[x & U(511)] - a[r & U(511)]

    table = np.arange(512, dtype=U) * U(3)
    wanted = host(12, table, np.arange(32, dtype=U))
    assert np.array_equal(run(SourceModule("".join(text)), "k", 32), wanted)


POINTERS = """
typedef void (*F)(unsigned *, unsigned);
%s
__device__ F table[%d] = {%s};
__global__ void k(unsigned *out)
{
    unsigned t = threadIdx.x, s[16];
    for (int i = 0; i < 16; i++) s[i] = t * 7 + i;
    %s
    unsigned h = 0;
    for (int i = 0; i < 16; i++) h = h * 31 + s[i];
    out[t] = h;
}
"""


def test_calls_through_a_table(device):
    """As many places as functions: not each function in each place."""
    count = 24
    functions = "\n".join(
        f"__device__ __noinline__ void f{i}(unsigned *s, unsigned n) {{"
        f" for (unsigned i = 0; i < (n & 7) + {i % 5 + 1}; i++) {{"
        f" s[i * 5 & 15] = s[i & 15] * {2 * i + 3}u + (s[i + {i % 7 + 1} & 15] >> 3);"
        f" if (s[i & 15] & 64) s[0] ^= i + {i}; }} }}"
        for i in range(count)
    )
    places = "\n".join(
        f"table[(s[{i % 16}] + t) % {count}u](s, t + {i});" for i in range(count)
    )
    names = ", ".join(f"f{i}" for i in range(count))
    module = SourceModule(POINTERS % (functions, count, names, places))

    def host(t):
        mask = 0xFFFFFFFF
        s = [(t * 7 + i) & mask for i in range(16)]
        for c in range(count):
            f, n = ((s[c % 16] + t) & mask) % count, t + c
            for i in range((n & 7) + f % 5 + 1):
                s[i * 5 & 15] = (
                    s[i & 15] * (2 * f + 3) + (s[i + f % 7 + 1 & 15] >> 3)
                ) & mask
                if s[i & 15] & 64:
                    s[0] ^= i + f
        h = 0
        for v in s:
            h = (h * 31 + v) & mask
        return h

    assert run(module, "k", 96).tolist() == [host(t) for t in range(96)]


VIRTUAL = """
struct Vec { double x, y, z; };
struct Hit { double distance; int id; };
struct Shape {
    int id;
    __device__ Shape(int id) : id(id) {}
    __device__ virtual Hit hit(Vec from, Vec to) const = 0;
    __device__ virtual Vec normal(const Vec &at) const { return {0, 0, (double)id}; }
};
template <int kind> struct Kind : Shape {
    double radius;
    __device__ Kind(int id, double r) : Shape(id), radius(r) {}
    __device__ Hit hit(Vec from, Vec to) const override
    {
        double d = from.x * to.x + from.y * to.y * (kind + 1) - radius;
        return {kind % 2 ? d * d + from.z : d - to.z * kind, id + kind};
    }
    __device__ Vec normal(const Vec &at) const override
    {
        if (kind == 3) return Shape::normal(at);
        return {at.x * radius + kind, at.y - kind, at.z * 2};
    }
};
__device__ Shape *shapes[8];

extern "C" __global__ void make()
{
    shapes[0] = new Kind<0>(0, 1.5);
    shapes[1] = new Kind<1>(1, 2.5);
    shapes[2] = new Kind<2>(2, 3.5);
    shapes[3] = new Kind<3>(3, 4.5);
    shapes[4] = new Kind<4>(4, 5.5);
    shapes[5] = new Kind<5>(5, 6.5);
    shapes[6] = new Kind<6>(6, 7.5);
    shapes[7] = new Kind<7>(7, 8.5);
}

extern "C" __global__ void trace(double *out)
{
    int t = threadIdx.x;
    Vec from = {t * 1.0, t * 0.5, 2}, to = {3, t * 0.25, 1};
    double sum = 0;
#pragma unroll
    for (int i = 0; i < 12; i++) {
        const Shape *s = shapes[(t * 5 + i) & 7];
        Hit h = s->hit(from, to);
        Vec n = s->normal(to);
        sum += h.distance * h.id + n.x + n.y * 2 + n.z;
        to.x += n.z;
        from.y -= 1;
    }
    out[t] = sum;
}
"""


def test_virtual_functions(device):
    module = SourceModule(VIRTUAL, no_extern_c=True)
    module.get_function("make")(block=(1, 1, 1))
    got = run(module, "trace", 64, dtype=np.float64)

    def host(t):
        fx, fy, fz, x, y, z = t * 1.0, t * 0.5, 2.0, 3.0, t * 0.25, 1.0
        total = 0.0
        for i in range(12):
            k = (t * 5 + i) & 7
            r = k + 1.5
            d = fx * x + fy * y * (k + 1) - r
            distance = d * d + fz if k % 2 else d - z * k
            n = (0.0, 0.0, 3.0) if k == 3 else (x * r + k, y - k, z * 2)
            total += distance * (k + k) + n[0] + n[1] * 2 + n[2]
            x += n[2]
            fy -= 1
        return total

    assert np.allclose(got, [host(t) for t in range(64)], rtol=1e-12)


OF_MODULE = """
typedef int (*F)(int);
extern "C" {
__device__ __noinline__ int twice(int x) { return 2 * x; }
__device__ __noinline__ int inc(int x) { return x + 1; }
}
__device__ F table[2] = {twice, inc};
extern "C" __global__ void numbers(unsigned long long *out)
{
    out[0] = (unsigned long long)table[0];
    out[1] = (unsigned long long)table[1];
}
"""
OF_ANOTHER = """
typedef int (*F)(int);
__device__ __noinline__ int own(int x) { return -x; }
__device__ F mine = own;
extern "C" __global__ void call(F *table, int *out)
{
    int t = threadIdx.x;
    F f = t & 1 ? mine : table[t >> 1 & 1];
    out[t] = f(t);
}
extern "C" __global__ void numbers(unsigned long long *out) { out[0] = (unsigned long long)mine; out[1] = 0; }
"""


def test_functions_of_several_modules(device):
    """The addresses differ, so no module takes the function of another for one of its own."""
    modules = [
        SourceModule(text, no_extern_c=True)
        for text in (OF_MODULE, OF_ANOTHER, OF_MODULE)
    ]
    numbers = [
        number
        for module in modules
        for number in run(module, "numbers", 2, dtype=np.uint64)
        if number
    ]
    assert len(numbers) == 5
    if is_softcuda():
        assert len(set(numbers)) == 5
