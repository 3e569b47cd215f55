// standard_headers.cpp -- replacements for host headers that device code includes.
//
// Types and macros are spelled as in CUDA's own <cuda/std/...> for NVRTC, so that a source may
// include both.
#include "compile/source/standard_headers.h"

#include <map>

#include "compile/source/source_text.h"
#include "driver/never_destroyed.h"

namespace pycuda::compile_detail {
namespace {

// NVRTC has built-in declarations of all of it (printf, malloc, memcpy, assert, clock, cudaError_t,
// float4, ...).
constexpr const char *nothing = "#pragma once\n";

// NVRTC's own macro reads NDEBUG at the beginning of the source. In C, each include reads NDEBUG.
constexpr const char *assert_h = R"(
#undef assert
#ifdef NDEBUG
#define assert(condition) (static_cast<void>(0))
#else
#define assert(condition) ((condition) ? static_cast<void>(0) : __assertfail(#condition, __FILE__, \
    __LINE__, __PRETTY_FUNCTION__, sizeof(char)))
#endif
)";

constexpr const char *limits_h = R"(
#ifndef CHAR_BIT
#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define CHAR_MIN SCHAR_MIN
#define CHAR_MAX SCHAR_MAX
#define SHRT_MIN (-SHRT_MAX - 1)
#define SHRT_MAX 0x7fff
#define USHRT_MAX 0xffff
#define INT_MIN (-INT_MAX - 1)
#define INT_MAX 0x7fffffff
#define UINT_MAX 0xffffffff
#define LONG_MIN (-LONG_MAX - 1)
#define LONG_MAX LLONG_MAX
#define ULONG_MAX ULLONG_MAX
#define LLONG_MIN (-LLONG_MAX - 1)
#define LLONG_MAX 0x7fffffffffffffffLL
#define ULLONG_MAX 0xffffffffffffffffUL
#endif
)";

constexpr const char *stdint_h = R"(
#ifndef INT8_MAX
#define PYCUDA_INTEGERS(bits, type) \
    using int##bits##_t = signed type; using uint##bits##_t = unsigned type; \
    using int_fast##bits##_t = signed type; using uint_fast##bits##_t = unsigned type; \
    using int_least##bits##_t = signed type; using uint_least##bits##_t = unsigned type;
PYCUDA_INTEGERS(8, char) PYCUDA_INTEGERS(16, short)
PYCUDA_INTEGERS(32, int) PYCUDA_INTEGERS(64, long long)
#undef PYCUDA_INTEGERS
using intptr_t = int64_t;
using uintptr_t = uint64_t;
using intmax_t = int64_t;
using uintmax_t = uint64_t;
#define INT8_MIN SCHAR_MIN
#define INT16_MIN SHRT_MIN
#define INT32_MIN INT_MIN
#define INT64_MIN LLONG_MIN
#define INT8_MAX SCHAR_MAX
#define INT16_MAX SHRT_MAX
#define INT32_MAX INT_MAX
#define INT64_MAX LLONG_MAX
#define UINT8_MAX UCHAR_MAX
#define UINT16_MAX USHRT_MAX
#define UINT32_MAX UINT_MAX
#define UINT64_MAX ULLONG_MAX
#define INTPTR_MIN INT64_MIN
#define INTPTR_MAX INT64_MAX
#define UINTPTR_MAX UINT64_MAX
#define INTMAX_MIN INT64_MIN
#define INTMAX_MAX INT64_MAX
#define UINTMAX_MAX UINT64_MAX
#define PTRDIFF_MIN INT64_MIN
#define PTRDIFF_MAX INT64_MAX
#define SIZE_MAX UINT64_MAX
#endif
)";

constexpr const char *wchar_h = R"(
#ifndef WCHAR_MAX
#define WCHAR_MIN INT_MIN
#define WCHAR_MAX INT_MAX
#endif
)";

// Functions, because CUDA's own macros of these names differ between versions.
constexpr const char *int_constants = R"(
#if !defined(INT64_C) && !defined(PYCUDA_INT_CONSTANTS)
#define PYCUDA_INT_CONSTANTS
extern "C++" {
template <class T> __device__ constexpr int8_t INT8_C(T x) { return x; }
template <class T> __device__ constexpr int16_t INT16_C(T x) { return x; }
template <class T> __device__ constexpr int32_t INT32_C(T x) { return x; }
template <class T> __device__ constexpr int64_t INT64_C(T x) { return x; }
template <class T> __device__ constexpr uint8_t UINT8_C(T x) { return x; }
template <class T> __device__ constexpr uint16_t UINT16_C(T x) { return x; }
template <class T> __device__ constexpr uint32_t UINT32_C(T x) { return x; }
template <class T> __device__ constexpr uint64_t UINT64_C(T x) { return x; }
}
#endif
)";

constexpr const char *float_h = R"(#pragma once
#define FLT_RADIX 2
#define FLT_MANT_DIG 24
#define FLT_DIG 6
#define FLT_MIN_EXP (-125)
#define FLT_MAX_EXP 128
#define FLT_MIN_10_EXP (-37)
#define FLT_MAX_10_EXP 38
#define FLT_EPSILON 1.19209290e-07f
#define FLT_MIN 1.17549435e-38f
#define FLT_MAX 3.40282347e+38f
#define DBL_MANT_DIG 53
#define DBL_DIG 15
#define DBL_MIN_EXP (-1021)
#define DBL_MAX_EXP 1024
#define DBL_MIN_10_EXP (-307)
#define DBL_MAX_10_EXP 308
#define DBL_EPSILON 2.2204460492503131e-16
#define DBL_MIN 2.2250738585072014e-308
#define DBL_MAX 1.7976931348623157e+308
)";

constexpr const char *math_h = R"(#pragma once
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
#endif
#define HUGE_VALF __int_as_float(0x7f800000)
#define HUGE_VAL __longlong_as_double(0x7ff0000000000000LL)
)";

constexpr const char *std_math = R"(
#ifndef PYCUDA_STD_MATH
#define PYCUDA_STD_MATH
namespace std {
using ::abs; using ::acos; using ::acosh; using ::asin; using ::asinh; using ::atan; using ::atan2;
using ::atanh; using ::cbrt; using ::ceil; using ::copysign; using ::cos; using ::cosh; using ::erf;
using ::erfc; using ::exp; using ::exp2; using ::expm1; using ::fabs; using ::fdim; using ::floor;
using ::fma; using ::fmax; using ::fmin; using ::fmod; using ::frexp; using ::hypot; using ::ilogb;
using ::isfinite; using ::isinf; using ::isnan; using ::ldexp; using ::lgamma; using ::llrint;
using ::llround; using ::log; using ::log10; using ::log1p; using ::log2; using ::logb;
using ::lrint; using ::lround; using ::modf; using ::nearbyint; using ::nextafter; using ::pow;
using ::remainder; using ::remquo; using ::rint; using ::round; using ::scalbln; using ::scalbn;
using ::signbit; using ::sin; using ::sinh; using ::sqrt; using ::tan; using ::tanh; using ::tgamma;
using ::trunc;
#ifdef pow // nvcc_names.h
using ::pycuda_pow;
#endif
}
#endif
)";

// NVRTC's own offsetof uses a builtin that NVRTC does not have. This one uses a builtin of its
// front end.
constexpr const char *stddef_h = R"(#pragma once
#undef offsetof
#define offsetof(type, member) ((size_t)__INTADDR__(&(((type *)0)->member)))
)";

constexpr const char *stdlib_h = R"(#pragma once
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
)";

constexpr const char *std_int = R"(
#ifndef PYCUDA_STD_INT
#define PYCUDA_STD_INT
namespace std {
using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t;
using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t;
using ::intptr_t; using ::uintptr_t; using ::intmax_t; using ::uintmax_t;
}
#endif
)";

constexpr const char *std_io = "#pragma once\nnamespace std { using ::printf; }\n";
constexpr const char *std_lib = "#pragma once\nnamespace std { using ::malloc; using ::free; }\n";
constexpr const char *std_string =
    "#pragma once\nnamespace std { using ::memcpy; using ::memset; }\n";
constexpr const char *std_size = "#pragma once\nnamespace std { using ::size_t; using ::ptrdiff_t; "
                                 "typedef decltype(nullptr) nullptr_t; }\n";
constexpr const char *std_time =
    "#pragma once\nnamespace std { using ::clock; using ::clock_t; }\n";

// The parts of <cuda.h> for device code; the other parts declare host functions.
constexpr const char *cuda_h = R"(#pragma once
typedef unsigned long long CUdeviceptr;
#define CU_TENSOR_MAP_NUM_QWORDS 16
typedef struct CUtensorMap_st {
    alignas(128) unsigned long long opaque[CU_TENSOR_MAP_NUM_QWORDS];
} CUtensorMap;
#define CUDA_VERSION (__CUDACC_VER_MAJOR__ * 1000 + __CUDACC_VER_MINOR__ * 10)
)";
constexpr const char *runtime_h = R"(
#ifndef CUDART_VERSION
#define CUDART_VERSION (__CUDACC_VER_MAJOR__ * 1000 + __CUDACC_VER_MINOR__ * 10)
#endif
)";

/// The text of a replacement header is the concatenation of the texts in its row.
struct Row {
    const char *name;
    std::vector<const char *> texts;
};

std::vector<Row> host_rows() {
    return {
        {"assert.h", {assert_h}},
        {"cassert", {assert_h}},
        {"cstdio", {std_io}},
        {"stdlib.h", {stdlib_h}},
        {"cstdlib", {stdlib_h, std_lib}},
        {"cstring", {std_string}},
        {"math.h", {math_h}},
        {"cmath", {math_h, std_math}},
        {"limits.h", {limits_h}},
        {"climits", {limits_h}},
        {"stdint.h", {limits_h, wchar_h, stdint_h, int_constants}},
        {"inttypes.h", {limits_h, wchar_h, stdint_h, int_constants}},
        {"cstdint", {limits_h, wchar_h, stdint_h, int_constants, std_int}},
        {"cinttypes", {limits_h, wchar_h, stdint_h, int_constants, std_int}},
        {"wchar.h", {limits_h, wchar_h}},
        {"cwchar", {limits_h, wchar_h}},
        {"float.h", {float_h}},
        {"cfloat", {float_h}},
        {"stddef.h", {stddef_h}},
        {"cstddef", {stddef_h, std_size}},
        {"ctime", {std_time}},
        {"cuda.h", {cuda_h}},
        {"cuda_runtime.h", {runtime_h}},
        {"cuda_runtime_api.h", {runtime_h}},
    };
}

// Headers whose declarations are built into NVRTC.
constexpr std::string_view built_in = R"(
stdio.h string.h memory.h stdbool.h time.h initializer_list new
device_launch_parameters.h device_functions.h math_functions.h host_defines.h host_config.h
common_functions.h builtin_types.h device_types.h driver_types.h vector_functions.h
vector_functions.hpp vector_types.h channel_descriptor.h texture_types.h texture_fetch_functions.h
texture_indirect_functions.h surface_types.h surface_functions.h surface_indirect_functions.h
device_atomic_functions.h device_double_functions.h sm_20_atomic_functions.h sm_20_intrinsics.h
sm_30_intrinsics.h sm_32_atomic_functions.h sm_32_intrinsics.h sm_35_atomic_functions.h
sm_35_intrinsics.h sm_60_atomic_functions.h sm_61_intrinsics.h crt/host_defines.h crt/host_config.h
crt/device_functions.h crt/math_functions.h crt/common_functions.h crt/device_double_functions.h
)";

// Headers of the C++ library that CUDA provides as <cuda/std/...>.
constexpr std::string_view from_cuda = "algorithm array atomic complex functional iterator limits "
                                       "numeric ratio tuple type_traits utility";

// Headers that only host code uses, but for a kernel that has names of them: CUDA provides those.
constexpr std::string_view partly_from_cuda = "bit bitset chrono concepts expected memory numbers "
                                              "optional ranges source_location span variant";

using Table = std::map<std::string, std::string, std::less<>>;

Table headers_of_cuda(std::string_view names) {
    Table table;
    for_each_piece(names, " ", [&](std::string_view piece) {
        const std::string name(piece);
        table[name] = "#pragma once\n#include <cuda/std/" + name +
                      ">\nnamespace std { using namespace cuda::std; }\n";
    });
    return table;
}

Table make_table() {
    Table table;
    for (const Row &row : host_rows())
        for (const char *text : row.texts)
            table[row.name] += text;
    for_each_piece(built_in, "\n ",
                   [&](std::string_view name) { table[std::string(name)] = nothing; });
    table.merge(headers_of_cuda(from_cuda));
    return table;
}

const Table &table_of_headers() { return made_once<make_table>(); }

// Headers that only host code uses.
constexpr std::string_view host_headers = R"(
GL/freeglut.h GL/gl.h GL/glew.h GL/glext.h GL/glu.h GL/glut.h GLFW/glfw3.h alloca.h any argp.h
arpa/inet.h barrier bit bitset byteswap.h ccomplex cctype cerrno cfenv charconv chrono clocale
codecvt compare complex.h concepts condition_variable coroutine csetjmp csignal cstdalign cstdarg
cstdbool ctgmath ctype.h cuchar cwctype deque dirent.h dlfcn.h endian.h err.h errno.h error.h
exception execinfo.h execution fcntl.h features.h fenv.h filesystem forward_list fstream ftw.h
future getopt.h glob.h iconv.h iomanip ios iosfwd iostream istream langinfo.h latch libgen.h list
locale locale.h malloc.h map memory memory_resource mpi.h mutex netdb.h netinet/in.h numbers omp.h
optional ostream poll.h pthread.h pwd.h queue random ranges regex sched.h scoped_allocator semaphore
semaphore.h set setjmp.h shared_mutex signal.h source_location span sstream stack stdalign.h
stdarg.h stdexcept stdnoreturn.h stop_token streambuf string string_view strings.h syncstream
sys/file.h sys/ioctl.h sys/mman.h sys/param.h sys/resource.h sys/socket.h sys/stat.h sys/sysinfo.h
sys/time.h sys/timeb.h sys/times.h sys/types.h sys/utsname.h sys/wait.h sysexits.h syslog.h
system_error tgmath.h thread typeindex typeinfo uchar.h ucontext.h unistd.h unordered_map
unordered_set valarray values.h variant vector version
)";

constexpr const char *pragma_once = "#pragma once\n";
constexpr const char *number_types = R"(#pragma once
#include <cuComplex.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
)";
constexpr const char *cufft_h = R"(
#ifndef CUFFT_FORWARD
#include <cuComplex.h>
#define CUFFT_FORWARD -1
#define CUFFT_INVERSE 1
typedef float cufftReal;
typedef double cufftDoubleReal;
typedef cuComplex cufftComplex;
typedef cuDoubleComplex cufftDoubleComplex;
#endif
)";

struct Replacement {
    const char *text;
    std::string_view headers;
};
constexpr Replacement replacements[] = {
    {number_types,
     "cublas.h cublasLt.h cublasXt.h cublas_api.h cublas_v2.h cusolverDn.h cusolverMg.h "
     "cusolverRf.h cusolverSp.h cusparse.h cusparse_v2.h nccl.h"},
    {cufft_h, "cufft.h cufftXt.h cufftw.h"},
    {pragma_once,
     "cudaGL.h cudaProfiler.h cuda_gl_interop.h cuda_profiler_api.h cudnn.h curand.h nvJitLink.h "
     "nvToolsExt.h nvToolsExtCuda.h nvml.h nvrtc.h nvtx3/nvToolsExt.h nvtx3/nvToolsExtCuda.h "
     "nvtx3/nvtx3.hpp"},
};

// The parts of <cub/cub.cuh> for kernels; the other parts launch kernels of the host.
constexpr std::string_view parts_of_cub = R"(
block/block_adjacent_difference block/block_discontinuity block/block_exchange block/block_histogram
block/block_load block/block_merge_sort block/block_radix_rank block/block_radix_sort
block/block_reduce block/block_run_length_decode block/block_scan block/block_shuffle
block/block_store grid/grid_even_share grid/grid_mapping grid/grid_queue
iterator/arg_index_input_iterator iterator/cache_modified_input_iterator
iterator/cache_modified_output_iterator iterator/tex_obj_input_iterator thread/thread_load
thread/thread_operators thread/thread_reduce thread/thread_scan thread/thread_search
thread/thread_sort thread/thread_store util_ptx util_type warp/warp_exchange warp/warp_load
warp/warp_merge_sort warp/warp_reduce warp/warp_scan warp/warp_store
)";
constexpr std::string_view host_parts_of_cub = R"(
cub device/device_adjacent_difference device/device_copy device/device_for device/device_histogram
device/device_memcpy device/device_merge device/device_merge_sort device/device_partition
device/device_radix_sort device/device_reduce device/device_run_length_encode device/device_scan
device/device_segmented_radix_sort device/device_segmented_reduce device/device_segmented_sort
device/device_select device/device_spmv device/device_transform util_allocator
)";

std::string header_of_cub(std::string_view part) { return "cub/" + std::string(part) + ".cuh"; }

/// The versions of CUB differ in their parts.
std::string text_for_cub() {
    std::string text = "#pragma once\n#include <cub/config.cuh>\n";
    for_each_piece(parts_of_cub, "\n ", [&](std::string_view part) {
        const std::string header = "<" + header_of_cub(part) + ">";
        text += "#if __has_include(" + header + ")\n#include " + header + "\n#endif\n";
    });
    return text;
}

Table make_library_table() {
    Table table;
    for (const Replacement &replacement : replacements)
        for_each_piece(replacement.headers, " ",
                       [&](std::string_view name) { table[std::string(name)] = replacement.text; });
    for_each_piece(host_parts_of_cub, "\n ",
                   [&](std::string_view part) { table[header_of_cub(part)] = text_for_cub(); });
    return table;
}

const Table &library_table() { return made_once<make_library_table>(); }

} // namespace

const char *standard_header(std::string_view name) {
    for (const Table *table : {&table_of_headers(), &library_table()})
        if (const auto found = table->find(name); found != table->end())
            return found->second.c_str();
    return nullptr;
}

std::vector<std::string> names_of_host_headers() {
    std::vector<std::string> names;
    for_each_piece(host_headers, "\n ", [&](std::string_view name) { names.emplace_back(name); });
    for (const auto &[name, text] : table_of_headers())
        names.push_back(name);
    return names;
}

bool is_host_header(std::string_view name) {
    bool found = false;
    for_each_piece(host_headers, "\n ", [&](std::string_view known) { found |= known == name; });
    return found;
}

const char *header_of_cuda(std::string_view name) {
    static const Table *table = new Table(headers_of_cuda(partly_from_cuda));
    const auto found = table->find(name);
    return found == table->end() ? nullptr : found->second.c_str();
}

bool is_library_header(std::string_view name) { return library_table().contains(name); }

} // namespace pycuda::compile_detail
