// cuda_runtime.h -- CUDA's runtime API for programs of the corpus, over the driver API.
//
// g++ compiles a program's host code with this header instead of NVIDIA's. It also compiles the
// device code, so that a kernel has a type and an address, but device code runs only on the device:
// the functions that it calls are declared here and never defined. This header has only what the
// corpus uses.
#pragma once
#include <algorithm>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define __global__
#define __device__
#define __host__
#define __shared__
#define __constant__
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define CUDART_CB
#define CUDART_PI_F 3.141592654f
#define CUDART_INF_F INFINITY

struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x = 1, y = 1, z = 1;
    dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
extern const uint3 threadIdx, blockIdx;
extern const dim3 blockDim, gridDim;
extern const int warpSize;

#define CORPUS_VECTORS(type, name, one, two, four)                                                 \
    struct name##1 { type x; };                                                                    \
    struct __align__(two) name##2 { type x, y; };                                                  \
    struct name##3 { type x, y, z; };                                                              \
    struct __align__(four) name##4 { type x, y, z, w; };                                           \
    inline name##2 make_##name##2(type x, type y) { return {x, y}; }                               \
    inline name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; }                    \
    inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
CORPUS_VECTORS(float, float, 4, 8, 16)
CORPUS_VECTORS(double, double, 8, 16, 16)
CORPUS_VECTORS(int, int, 4, 8, 16)
CORPUS_VECTORS(char, char, 1, 2, 4)
CORPUS_VECTORS(unsigned char, uchar, 1, 2, 4)
CORPUS_VECTORS(short, short, 2, 4, 8)
CORPUS_VECTORS(unsigned short, ushort, 2, 4, 8)
struct __align__(8) uint2 {
    unsigned x, y;
};
struct __align__(16) uint4 {
    unsigned x, y, z, w;
};
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

// ---- names for device code ----------------------------------------------------------------

void __syncthreads();
void __syncwarp(unsigned mask = ~0u);
void __threadfence();
void __threadfence_block();
int __syncthreads_or(int), __syncthreads_and(int), __syncthreads_count(int);
template <class T, class U> T atomicAdd(T *, U);
template <class T, class U> T atomicSub(T *, U);
template <class T, class U> T atomicMax(T *, U);
template <class T, class U> T atomicMin(T *, U);
template <class T, class U> T atomicExch(T *, U);
template <class T, class U> T atomicAnd(T *, U);
template <class T, class U> T atomicOr(T *, U);
template <class T, class U> T atomicXor(T *, U);
template <class T, class U> T atomicInc(T *, U);
template <class T, class U, class V> T atomicCAS(T *, U, V);
template <class T> T __ldg(const T *);
template <class T> T __shfl_sync(unsigned, T, int, int = 32);
template <class T> T __shfl_up_sync(unsigned, T, unsigned, int = 32);
template <class T> T __shfl_down_sync(unsigned, T, unsigned, int = 32);
template <class T> T __shfl_xor_sync(unsigned, T, int, int = 32);
unsigned __ballot_sync(unsigned, int), __activemask();
int __any_sync(unsigned, int), __all_sync(unsigned, int);
int __popc(unsigned), __clz(int), __ffs(int), __popcll(unsigned long long), __float_as_int(float);
int __float2int_rn(float), __float2int_rz(float), __mul24(int, int), __mulhi(int, int);
unsigned __umulhi(unsigned, unsigned), __brev(unsigned), __float_as_uint(float);
unsigned __umul24(unsigned, unsigned), __byte_perm(unsigned, unsigned, unsigned);
unsigned __funnelshift_l(unsigned, unsigned, unsigned),
    __funnelshift_r(unsigned, unsigned, unsigned);
unsigned __vabsdiffu4(unsigned, unsigned), __dp4a(unsigned, unsigned, unsigned);
float __int_as_float(int), __uint_as_float(unsigned), __expf(float), __logf(float), __log2f(float);
float __sinf(float), __cosf(float), __powf(float, float), __fdividef(float, float), rsqrtf(float);
float __frsqrt_rn(float), __frcp_rn(float), __fsqrt_rn(float), __fdiv_rn(float, float),
    __saturatef(float);
float __fmul_rn(float, float), __fadd_rn(float, float), __fmaf_rn(float, float, float);
float sinpif(float), cospif(float), normcdff(float), erfcinvf(float), __exp10f(float);
double rsqrt(double), normcdf(double), sinpi(double), cospi(double);
double __longlong_as_double(long long);
long long __double_as_longlong(double);
long long clock64();
inline int min(int a, int b) { return a < b ? a : b; }
inline int max(int a, int b) { return a > b ? a : b; }
inline unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
inline unsigned max(unsigned a, unsigned b) { return a > b ? a : b; }
inline long min(long a, long b) { return a < b ? a : b; }
inline long max(long a, long b) { return a > b ? a : b; }
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }

// ---- the runtime ---------------------------------------------------------------------------

enum cudaError_t { cudaSuccess = 0, cudaErrorUnknown = 999 };
enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};
enum { cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1 };
enum { cudaEventDefault = 0, cudaStreamNonBlocking = 1, cudaMemAttachGlobal = 1 };
typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
struct cudaDeviceProp {
    char name[256] = "corpus";
    size_t totalGlobalMem = 1ull << 32, sharedMemPerBlock = 48 * 1024;
    int multiProcessorCount = 132, warpSize = 32, maxThreadsPerBlock = 1024, major = 9, minor = 0;
    int maxThreadsDim[3] = {1024, 1024, 64}, maxGridSize[3] = {2147483647, 65535, 65535};
    int maxThreadsPerMultiProcessor = 2048, regsPerBlock = 65536;
};

namespace corpus {
[[noreturn]] void fail(const char *call, int result);
void *allocate(size_t bytes);
void release(void *pointer);
void copy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);
void set(void *pointer, int byte, size_t bytes);
void *symbol_address(const void *symbol);
void launch(const void *kernel, dim3 grid, dim3 block, size_t shared, void **arguments);
void synchronize();
cudaEvent_t make_event();
void record(cudaEvent_t event);
float milliseconds(cudaEvent_t from, cudaEvent_t to);

/// `kernel<<<grid, block, shared, stream>>>(arguments...)`, as a function call.
struct Launch {
    dim3 grid, block;
    size_t shared = 0;
    Launch(dim3 grid_, dim3 block_, size_t shared_ = 0, cudaStream_t = nullptr)
        : grid(grid_), block(block_), shared(shared_) {}
    template <class... P, class... A> void operator()(void (*kernel)(P...), A &&...given) const {
        run(kernel, static_cast<P>(given)...);
    }

  private:
    template <class... P> void run(void (*kernel)(P...), P... arguments) const {
        void *pointers[] = {(void *)&arguments..., nullptr};
        launch((const void *)kernel, grid, block, shared, pointers);
    }
};
} // namespace corpus

template <class T> cudaError_t cudaMalloc(T **pointer, size_t bytes) {
    *pointer = (T *)corpus::allocate(bytes);
    return cudaSuccess;
}
template <class T> cudaError_t cudaMallocHost(T **pointer, size_t bytes) {
    *pointer = (T *)malloc(bytes);
    return cudaSuccess;
}
inline cudaError_t cudaFreeHost(void *p) { return free(p), cudaSuccess; }
inline cudaError_t cudaFree(void *p) { return corpus::release(p), cudaSuccess; }
inline cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
    return corpus::copy(to, from, bytes, kind), cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t = nullptr) {
    return corpus::copy(to, from, bytes, kind), cudaSuccess;
}
inline cudaError_t cudaMemset(void *p, int byte, size_t bytes) {
    return corpus::set(p, byte, bytes), cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void *p, int byte, size_t bytes, cudaStream_t = nullptr) {
    return corpus::set(p, byte, bytes), cudaSuccess;
}
template <class T>
cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *from, size_t bytes, size_t offset = 0,
                               cudaMemcpyKind = cudaMemcpyHostToDevice) {
    char *place = (char *)corpus::symbol_address((const void *)&symbol);
    return corpus::copy(place + offset, from, bytes, cudaMemcpyHostToDevice), cudaSuccess;
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void *to, const T &symbol, size_t bytes, size_t offset = 0,
                                 cudaMemcpyKind = cudaMemcpyDeviceToHost) {
    char *place = (char *)corpus::symbol_address((const void *)&symbol);
    return corpus::copy(to, place + offset, bytes, cudaMemcpyDeviceToHost), cudaSuccess;
}
template <class T> cudaError_t cudaGetSymbolAddress(T **p, const void *symbol) {
    return *p = (T *)corpus::symbol_address(symbol), cudaSuccess;
}
inline cudaError_t cudaDeviceSynchronize() { return corpus::synchronize(), cudaSuccess; }
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaPeekAtLastError() { return cudaSuccess; }
inline const char *cudaGetErrorString(cudaError_t) { return "an error"; }
inline const char *cudaGetErrorName(cudaError_t) { return "an error"; }
inline cudaError_t cudaSetDevice(int) { return cudaSuccess; }
inline cudaError_t cudaGetDevice(int *device) { return *device = 0, cudaSuccess; }
inline cudaError_t cudaGetDeviceCount(int *count) { return *count = 1, cudaSuccess; }
inline cudaError_t cudaDeviceReset() { return cudaSuccess; }
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int) {
    return *p = cudaDeviceProp(), cudaSuccess;
}
template <class T> cudaError_t cudaFuncSetCacheConfig(T, int) { return cudaSuccess; }
inline cudaError_t cudaEventCreate(cudaEvent_t *e) {
    return *e = corpus::make_event(), cudaSuccess;
}
inline cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t = nullptr) {
    return corpus::record(e), cudaSuccess;
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaDeviceSynchronize(); }
inline cudaError_t cudaEventElapsedTime(float *time, cudaEvent_t from, cudaEvent_t to) {
    return *time = corpus::milliseconds(from, to), cudaSuccess;
}
inline cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaStreamCreate(cudaStream_t *stream) { return *stream = nullptr, cudaSuccess; }
inline cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaDeviceSynchronize(); }
