"""Whole programs of CUDA C++ as sources of kernels: nvcc drops what is for the host, and so does this package without nvcc."""

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda.compiler import SourceModule

PROGRAM = r"""
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <vector>
#include <chrono>
#include <cuda_runtime.h>
using namespace std;

#define CHECK(call) \
    do { cudaError_t e = (call); if (e) { printf("%s\n", cudaGetErrorString(e)); exit(1); } } while (0)

const int BLOCK = 32;
static std::vector<float> table;
cudaStream_t stream;

struct pair { float a, b; };

struct pair *make_pairs(int count) { /* { */ return (struct pair *)malloc(count * sizeof(pair)); }

__host__ int blocks(int n);

float twice(float x) { return 2 * x; }

__global__ void apply(float *x, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n) x[i] = twice(x[i]) + 1;
}

__host__ int blocks(int n) { std::vector<int> v(n); return (v.size() + BLOCK - 1) / BLOCK; }

template <class T> void run(std::vector<T> &v) {
    T *d;
    CHECK(cudaMalloc(&d, v.size() * sizeof(T)));
    apply<<<blocks(v.size()), BLOCK>>>(d, v.size());
    CHECK(cudaMemcpy(v.data(), d, v.size() * sizeof(T), cudaMemcpyDeviceToHost));
}

int main(int argc, char **argv) {
    srand(time(NULL));
#ifdef VERBOSE
    cout << "{" << endl;
#endif
    std::vector<float> v(100, 1.0f);
    run(v);
    std::sort(v.begin(), v.end());
    std::cout << v[0] << std::endl;
    return 0;
}
"""


def compile_alone(source, **how):
    return SourceModule(source, nvcc="nvrtc", cache_dir=False, **how)


@pytest.mark.parametrize("no_extern_c", [False, True])
def test_a_whole_program(device, no_extern_c):
    source = PROGRAM
    if no_extern_c:
        source = source.replace("__global__", 'extern "C" __global__')
    else:  # templates are not allowed in extern "C", for nvcc neither
        begin, end = source.index("template"), source.index("int main")
        source = source[:begin] + source[end:].replace("    run(v);", "")
    x = np.arange(50, dtype=np.float32)
    kernel = compile_alone(source, no_extern_c=no_extern_c).get_function("apply")
    kernel(cuda.InOut(x), np.int32(40), block=(32, 1, 1), grid=(2, 1))
    wanted = np.arange(50, dtype=np.float32)
    wanted[:40] = 2 * wanted[:40] + 1
    np.testing.assert_array_equal(x, wanted)


@pytest.mark.parametrize("name", ["timer.h", "sub/../timer.h", "./timer.h"])
def test_host_code_in_a_header(device, tmp_path, name):
    (tmp_path / "sub").mkdir()
    (tmp_path / "timer.h").write_text(
        "#include <sys/time.h>\n"
        "static struct timeval begin;\n"
        "static inline void start() { gettimeofday(&begin, NULL); }\n"
        "#define HALF 0.5f\n"
    )
    source = f'#include "{name}"\n'
    source += "__global__ void half(float *x) { *x *= HALF; }\nint main() { start(); }"
    x = np.ones(1, np.float32)
    module = compile_alone(source, include_dirs=[str(tmp_path)])
    module.get_function("half")(cuda.InOut(x), block=1)
    assert x[0] == 0.5


def errors_of(source):
    with pytest.raises(cuda.CompileError) as caught:
        compile_alone(source)
    return str(caught.value)


def test_an_error_in_a_kernel_beside_main_is_the_error(device):
    said = errors_of(
        "__global__ void f(float *x) { *x = 1 }\nint main() { f<<<1, 1>>>(0); return 0; }\n"
    )
    assert 'kernel.cu(1): error: expected a ";"' in said
    assert "host code" not in said and "kernel.cu(2): error" not in said


@pytest.mark.parametrize(
    "macro, head",
    [
        ("__global__", "KERNEL void f"),
        ("__global__", "KERNEL __launch_bounds__(64) void f"),
        ("__global__", "__launch_bounds__(64) KERNEL void f"),
        ("__global__ void", "KERNEL f"),
        ("__global__ void", "static KERNEL f"),
    ],
)
def test_a_kernel_behind_a_macro_is_not_dropped(device, macro, head):
    said = errors_of(
        f"#define KERNEL {macro}\n{head}(float *x) {{ *x = unknown; }}\n"
        "int main() { cudaDeviceReset(); }\n"
    )
    assert 'kernel.cu(2): error: identifier "unknown" is undefined' in said


@pytest.mark.parametrize("word", ["_global_", "__global", "__kernel"])
def test_a_misspelt_kernel_is_not_dropped(device, word):
    said = errors_of(
        f"{word} void f(float *x) {{ x[threadIdx.x] = 1; }}\n__global__ void g(float *x) {{}}\n"
        "int main() { cudaDeviceReset(); }\n"
    )
    assert f"{word}" in said


def test_an_error_in_a_helper_is_not_dropped(device):
    """A helper without __device__ may be one that a kernel calls."""
    said = errors_of(
        "float helper(float x) { return x + unknown; }\n"
        "__global__ void f(float *x) { *x = helper(*x); }\n"
    )
    assert 'kernel.cu(1): error: identifier "unknown" is undefined' in said


def test_lines_stay_those_of_the_user(device):
    said = errors_of(
        "int main()\n{\n  cudaDeviceReset();\n  return 0;\n}\n\n__global__ void f(int *x)\n{\n  *x = unknown;\n}\n"
    )
    assert 'kernel.cu(9): error: identifier "unknown" is undefined' in said


KERNEL = "\n__global__ void fill(float *x) { *x = 1; }\n"

CLASSES = {
    "timer": r"""
#include <cuda_runtime.h>
#include <iostream>
struct Timer {
    cudaEvent_t start_, stop_;
    Timer() { cudaEventCreate(&start_); cudaEventCreate(&stop_); }
    ~Timer() { cudaEventDestroy(start_); cudaEventDestroy(stop_); }
    void start() { cudaEventRecord(start_, 0); }
    float stop() {
        float ms;
        cudaEventRecord(stop_, 0); cudaEventSynchronize(stop_);
        cudaEventElapsedTime(&ms, start_, stop_);
        return ms;
    }
};
int main() { Timer t; t.start(); fill<<<1,1>>>(0); std::cout << t.stop() << std::endl; }
""",
    "chrono": r"""
#include <chrono>
#include <string>
class CpuTimer {
public:
    CpuTimer(const std::string &name) : name_(name), begin_{std::chrono::high_resolution_clock::now()} {}
    ~CpuTimer() { printf("%s %f\n", name_.c_str(), seconds()); }
    double seconds() const {
        auto now = std::chrono::high_resolution_clock::now();
        return std::chrono::duration<double>(now - begin_).count();
    }
private:
    std::string name_;
    std::chrono::time_point<std::chrono::high_resolution_clock> begin_;
};
static CpuTimer all("all");
CpuTimer make(int n) { return CpuTimer("x"); }
int main(int argc, char **argv) { CpuTimer t("a"); return argc; }
""",
    "buffer": r"""
#include <vector>
template <class T> class DeviceBuffer {
    T *p_ = nullptr; size_t n_ = 0;
    std::vector<T> shadow_;
public:
    explicit DeviceBuffer(size_t n) : n_(n), shadow_(n) { cudaMalloc(&p_, n * sizeof(T)); }
    DeviceBuffer(const DeviceBuffer &) = delete;
    ~DeviceBuffer() { cudaFree(p_); }
    void upload(const std::vector<T> &v) { cudaMemcpy(p_, v.data(), n_ * sizeof(T), cudaMemcpyHostToDevice); }
    std::vector<T> download() const { std::vector<T> v(n_); return v; }
    operator T *() { return p_; }
};
int main() { DeviceBuffer<float> b(10); std::vector<float> v(10); b.upload(v); fill<<<1, 1>>>(b); }
""",
    "mixed": r"""
#include <cstdio>
#include <fstream>
struct Vec3 {
    float x, y, z;
    __host__ __device__ Vec3(float a, float b, float c) : x(a), y(b), z(c) {}
    __host__ __device__ Vec3 operator+(const Vec3 &o) const { return Vec3(x + o.x, y + o.y, z + o.z); }
    void save(FILE *f) const { fprintf(f, "%f", x); }
    void print(std::ostream &o) const { o << x << std::endl; }
    friend std::ostream &operator<<(std::ostream &o, const Vec3 &v) { return o << v.x; }
    static Vec3 random() { return Vec3(rand() / (float)RAND_MAX, drand48(), 0); }
    static std::ofstream log;
    void cpu() { std::cout << *this; }
};
std::ofstream Vec3::log;
__global__ void add(Vec3 *a, Vec3 b) { *a = *a + b; }
int main() { add<<<1,1>>>(0, Vec3::random()); }
""",
    "outside": r"""
class Solver {
public:
    Solver(int n);
    ~Solver();
    void run(float *h);
private:
    float *d_; int n_; cudaStream_t s_;
};
Solver::Solver(int n) : d_(nullptr), n_{n} { cudaMalloc(&d_, n); cudaStreamCreate(&s_); }
Solver::~Solver() { cudaFree(d_); cudaStreamDestroy(s_); }
void Solver::run(float *h) { cudaMemcpyAsync(d_, h, n_, cudaMemcpyHostToDevice, s_); fill<<<1, 1, 0, s_>>>(d_); }
int main() { Solver s(3); s.run(0); }
""",
    "virtual": r"""
#include <memory>
struct Base { virtual ~Base() { cudaDeviceSynchronize(); } virtual void go() = 0; };
struct Derived final : public Base { void go() override { cudaDeviceReset(); } int n; };
struct Holder { std::unique_ptr<Base> p; Holder() : p(new Derived) {} } holder;
int main() { std::unique_ptr<Base> b(new Derived); b->go(); }
""",
    "exception": r"""
#include <stdexcept>
#include <sstream>
class CudaError : public std::runtime_error {
public:
    CudaError(cudaError_t e, const char *file, int line) : std::runtime_error(format(e, file, line)) {}
    static std::string format(cudaError_t e, const char *f, int l) { std::stringstream s; s << f << l; return s.str(); }
};
#define CHECK(x) do { cudaError_t e = (x); if (e != cudaSuccess) throw CudaError(e, __FILE__, __LINE__); } while (0)
int main() { try { CHECK(cudaDeviceReset()); } catch (const std::exception &e) { return 1; } }
""",
    "params": r"""
#include <string>
#include <map>
struct Config { std::string file = "x"; int n = 3; std::map<std::string, int> m; bool parse(int argc, char **argv); };
bool Config::parse(int argc, char **argv) { file = argv[1]; n = atoi(argv[2]); return true; }
typedef struct { char name[20]; FILE *f; } Entry;
static Config config;
Config read(const char *p) { Config c; return c; }
enum class Mode { A, B };
int main() { Config c; Entry e; return c.n; }
""",
}


@pytest.mark.parametrize("name", CLASSES)
def test_classes_of_the_host(device, name):
    x = np.zeros(1, np.float32)
    source = KERNEL.replace("__global__", 'extern "C" __global__') + CLASSES[name]
    module = compile_alone(source, no_extern_c=True)
    module.get_function("fill")(cuda.InOut(x), block=1)
    assert x[0] == 1


def test_members_for_the_device_stay(device):
    """The host's members go; the size of the class, its data and its other members stay."""
    source = r"""
    #include <fstream>
    #include <cufft.h>
    struct Body {
        float mass; double position[3];
        __host__ __device__ float weight() const { return mass * 2; }
        Body(float m) : mass{m}, position{1, 2, 3} { cudaDeviceSynchronize(); }
        ~Body() { cudaDeviceSynchronize(); }
        void save(std::ofstream &file) const { file << mass; }
        cufftComplex transform() { cufftHandle plan; cufftExecC2C(plan, 0, 0, CUFFT_FORWARD); return cufftComplex(); }
    };
    extern "C" __global__ void weigh(Body *body, float *x, cufftComplex *z) {
        x[0] = body[1].weight();
        x[1] = sizeof(Body);
        x[2] = body[1].position[2];
        x[3] = z->y;
    }
    """
    kind = np.dtype([("mass", "f4"), ("position", "f8", 3)], align=True)
    bodies, x = np.zeros(2, kind), np.zeros(4, np.float32)
    bodies[1] = (3, (4, 5, 6))
    kernel = compile_alone(source, no_extern_c=True).get_function("weigh")
    kernel(
        cuda.In(bodies), cuda.Out(x), cuda.In(np.array([7 + 8j], np.complex64)), block=1
    )
    np.testing.assert_array_equal(x, [6, 32, 6, 8])


def test_a_buffer_of_the_host_as_a_parameter(device):
    """Its constructors and its destructor are the host's; the kernel gets a copy of its bytes."""
    source = r"""
    template <class T> struct Buffer {
        T *data; int count;
        Buffer(int n) : count(n) { cudaMalloc(&data, n * sizeof(T)); }
        Buffer(const Buffer &other) : data(other.data), count(other.count) { cudaDeviceSynchronize(); }
        ~Buffer() { cudaFree(data); }
        __device__ T &operator[](int i) { return data[i]; }
    };
    extern "C" __global__ void fill(Buffer<float> b) { b[threadIdx.x] = b.count; }
    int main() { Buffer<float> b(3); fill<<<1, 3>>>(b); }
    """
    x = cuda.mem_alloc(12)
    buffer = np.zeros(1, np.dtype([("data", "u8"), ("count", "i4")], align=True))
    buffer["data"], buffer["count"] = int(x), 3
    kernel = compile_alone(source, no_extern_c=True).get_function("fill")
    kernel(buffer[0], block=3)
    np.testing.assert_array_equal(cuda.from_device(x, 3, np.float32), [3, 3, 3])


def test_a_kernel_cannot_call_a_member_of_the_host(device):
    said = errors_of(
        "struct S { int n; void stop() { cudaDeviceReset(); } };\n"
        "__global__ void f(S *s) { s->stop(); }\n"
    )
    assert "kernel.cu(1): error" in said and "cudaDeviceReset" in said


def test_a_class_that_a_kernel_needs_is_not_dropped(device):
    said = errors_of(
        "struct S { flaot x; };\n__global__ void f(S *s) { s->x = 1; }\nint main() { exit(0); }\n"
    )
    assert 'kernel.cu(1): error: identifier "flaot" is undefined' in said


def test_a_header_with_the_name_of_the_source(device, tmp_path):
    (tmp_path / "kernel.cu").write_text("#define VALUE 3\n")
    x = np.zeros(1, np.float32)
    source = '#include "kernel.cu"\n__global__ void set(float *x) { *x = VALUE; }\n'
    module = compile_alone(source, include_dirs=[str(tmp_path)])
    module.get_function("set")(cuda.InOut(x), block=1)
    assert x[0] == 3
    with pytest.raises(cuda.CompileError, match=r"\nkernel.cu\(3\): error"):
        compile_alone(
            source + "__global__ void g() { unknown = 1; }",
            include_dirs=[str(tmp_path)],
        )


def test_functions_of_the_host_with_types_of_the_library(device):
    """A qualified name or `struct name` is a type, and no misspelt __global__."""
    source = r"""
    #include <chrono>
    #include <vector>
    #include <getopt.h>
    #include <pthread.h>
    #define API __host__ inline
    typedef pthread_t Thread;
    typedef void *(*Routine)(void *);
    Thread start(Routine routine) { Thread t; pthread_create(&t, 0, routine, 0); return t; }
    std::vector<float> shuffle(std::vector<float> values, int count) { return values; }
    std::chrono::time_point<std::chrono::high_resolution_clock> now() {
        return std::chrono::high_resolution_clock::now();
    }
    static struct option options[] = {{"size", 1, 0, 's'}, {0, 0, 0, 0}};
    API int blocks(int n) { std::vector<int> v(n); return v.size(); }
    extern "C" __global__ void fill(float *x) { *x = 1; }
    int main(int argc, char **argv) { getopt_long(argc, argv, "s", options, 0); fill<<<1, 1>>>(0); }
    """
    x = np.zeros(1, np.float32)
    compile_alone(source, no_extern_c=True).get_function("fill")(cuda.InOut(x), block=1)
    assert x[0] == 1


def test_macros_for_members_of_classes(device):
    source = r"""
    #define HOST __host__
    #define DEVICE __device__
    #define HOST_DEVICE HOST DEVICE
    template <typename T, int N> class View {
      public:
        HOST View(T *data, const int *sizes) : data_(data) { std::copy(sizes, sizes + N, sizes_); }
        template <class S, class = std::enable_if_t<(sizeof(S) > 1)>> HOST View(T *data, const S *sizes, int) : data_(data) { std::copy(sizes, sizes + N, sizes_); }
        HOST_DEVICE int size(int i) const { return sizes_[i]; }
        DEVICE T &operator[](int i) { return data_[i]; }
      protected:
        T *data_; int sizes_[N];
    };
    extern "C" __global__ void fill(View<float, 2> view) { view[1] = view.size(1); }
    """
    x = cuda.managed_zeros(2, np.float32, mem_flags=cuda.mem_attach_flags.GLOBAL)
    view = np.zeros(1, [("data", "u8"), ("sizes", "i4", 2)])
    view["data"], view["sizes"] = x.ctypes.data, (3, 4)
    kernel = compile_alone(source, no_extern_c=True).get_function("fill")
    kernel(view[0], block=1)
    cuda.Context.synchronize()
    np.testing.assert_array_equal(x, [0, 4])


def test_cub_for_blocks_beside_cub_for_the_host(device):
    source = r"""
    #include <cub/cub.cuh>
    extern "C" __global__ void sum(float *x) {
        using Reduce = cub::BlockReduce<float, 64>;
        __shared__ typename Reduce::TempStorage storage;
        float total = Reduce(storage).Sum(x[threadIdx.x]);
        if (threadIdx.x == 0) x[0] = total;
    }
    int main() {
        void *storage = nullptr; size_t bytes = 0; float *x = nullptr;
        cub::DeviceReduce::Sum(storage, bytes, x, x, 64);
        cudaMalloc(&storage, bytes);
    }
    """
    x = np.arange(64, dtype=np.float32)
    compile_alone(source, no_extern_c=True).get_function("sum")(cuda.InOut(x), block=64)
    assert x[0] == 63 * 32


CUB = """#include <cub/cub.cuh>
extern "C" __global__ void f(float *x) {
    using Reduce = cub::BlockReduce<float, 32>; __shared__ typename Reduce::TempStorage s;
    BODY
}
"""


@pytest.mark.parametrize(
    "body, error",
    [
        ("x[0] = Reduce(s).Sum(x[0])", 'expected a ";"'),
        ("x[0] = Reduce(s).Sum(x[thread]);", 'identifier "thread" is undefined'),
        ("x[0] = cub::BlockReducer<float, 32>::f();", "has no member"),
    ],
)
def test_an_error_beside_cub_is_the_error(device, body, error):
    said = errors_of(CUB.replace("BODY", body))
    assert error in said and "header for host code" not in said


def test_what_cub_has_for_the_host_alone_is_named(device):
    said = errors_of(CUB.replace("BODY", "cub::DeviceReduce::Sum(0, x, x, x, 3);"))
    assert 'followed by "::"' in said.splitlines()[0]
    assert "<cub/cub.cuh> is a header for host code" in said


def test_an_unknown_name_beside_main_is_in_the_first_line(device):
    said = errors_of(
        "#include <vector>\n__global__ void f(float *x) { *x = unknown; }\n"
        "int main() { std::vector<float> v(3); f<<<1, 1>>>(v.data()); return 0; }\n"
    )
    assert 'identifier "unknown" is undefined' in said.splitlines()[0]
    assert "kernel.cu(3): error" not in said


def test_helpers_that_call_helpers_stay_beside_host_code(device):
    source = """#include <vector>
    int more(int x) { return x + 1; }
    int most(int x) { return more(x) * 2; }
    extern "C" __global__ void f(float *x) { *x = most(3); }
    int main() { std::vector<float> v(3); return v.size(); }
    """
    x = np.zeros(1, np.float32)
    compile_alone(source, no_extern_c=True).get_function("f")(cuda.InOut(x), block=1)
    assert x[0] == 8


def test_more_definitions_than_the_compiler_reports(device):
    """NVRTC stops after 100 errors, before the last functions of the host."""
    first = "".join(f"int f{i}() {{ return cudaDeviceReset(); }}\n" for i in range(120))
    source = f"""#define RESULT void *
    {first}
    RESULT work(void *all) {{ cudaDeviceReset(); return all; }}
    extern "C" __global__ void fill(float *x) {{ *x = 1; }}
    int main() {{ return f0(); }}
    """
    x = np.zeros(1, np.float32)
    compile_alone(source, no_extern_c=True).get_function("fill")(cuda.InOut(x), block=1)
    assert x[0] == 1
