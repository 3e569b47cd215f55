"""Texts of ``tools/front_end_differences.py`` about the language: extensions, pragmas, attributes, headers, types."""

from __future__ import annotations

from front_end.cases import Case

_S = "struct S@ { int a, b; };"
EXTENSIONS = {
    "#import": ("o[0] = sqrtf(4);", "#import <math.h>"),
    "#import twice": ("o[0] = sqrtf(4);", "#import <math.h>\n#import <math.h>"),
    "#include_next": ("o[0] = 1;", "#include_next <math.h>"),
    "#warning": ("o[0] = 1;", "#warning text"),
    "#ident": ("o[0] = 1;", '#ident "text"'),
    "compound literal": ("float2 v = (float2){1, 2}; o[0] = v.y;", ""),
    "compound literal of a struct": ("o[0] = (S@){1, 2}.b;", _S),
    "compound literal with the keyword": ("S@ s = (struct S@){1, 2}; o[0] = s.b;", _S),
    "compound literal of an array": ("o[0] = ((int[]){1, 2, 3})[int(o[0]) & 1];", ""),
    "compound literal of a number": ("o[0] = (int){3};", ""),
    "compound literal, narrowing": ("float2 v = (float2){o[0], o[1]}; o[0] = v.x;", ""),
    "compound literal as an argument": (
        "o[0] = f@((S@){1, 2});",
        _S + " __device__ int f@(S@ s) { return s.b; }",
    ),
    "compound literal, designated": ("S@ s = (S@){.a = 1, .b = 2}; o[0] = s.b;", _S),
    "compound literal in a macro": (
        "o[0] = V@(1.f, 2.f).y;",
        "#define V@(x, y) (float2){x, y}",
    ),
    "compound literal, assigned": ("S@ s; s = (S@){1, 2}; o[0] = s.b;", _S),
    "compound literal, its address": ("S@ *s = &(S@){1, 2}; o[0] = s->b;", _S),
    "compound literal, returned": (
        "o[0] = f@().b;",
        _S + " __device__ S@ f@() { return (S@){1, 2}; }",
    ),
    "statement expression": ("o[0] = ({ int a = 3; a + 1; });", ""),
    "statement expression in a macro": (
        "o[0] = M@(o[0], o[1]);",
        "#define M@(a, b) ({ auto a_ = (a); auto b_ = (b); a_ > b_ ? a_ : b_; })",
    ),
    "statement expression with typeof": (
        "o[0] = M@(o[0], 3.f);",
        "#define M@(a, b) ({ __typeof__(a) a_ = (a); __typeof__(b) b_ = (b); a_ > b_ ? a_ : b_; })",
    ),
    "statement expression, nested": (
        "o[0] = M@(1, M@(o[0], 3));",
        "#define M@(a, b) ({ __typeof__(a) a_ = (a); __typeof__(b) b_ = (b); a_ > b_ ? a_ : b_; })",
    ),
    "statement expression with a loop": (
        "o[0] = ({ int s = 0; for (int i = 0; i < 4; ++i) s += i; s; });",
        "",
    ),
    "statement expression that breaks": (
        "for (int i = 0; i < 9; ++i) o[0] = ({ if (i == 3) break; i; });",
        "",
    ),
    "statement expression that returns": ("o[0] = ({ if (o[0] > 1) return; 3; });", ""),
    "statement expression without a value": (
        "({ o[0] = 2; if (o[1] > 9) o[0] = 3; });",
        "",
    ),
    "statement expression of an lvalue": ("int a = 1; ({ a; }); o[0] = a;", ""),
    "typeof": ("typeof(o[0]) a = 2; o[0] = a;", ""),
    "__typeof": ("__typeof(o[0]) a = 2; o[0] = a;", ""),
    "__typeof__ of a type": ("__typeof__(float) a = 2.5; o[0] = a;", ""),
    "__typeof__ of a pointer": ("__typeof__(*o) a = 2.5; o[0] = a;", ""),
    "__typeof__ of an expression": (
        "__typeof__(1 + 2.f) a = 2.5; o[0] = sizeof(a);",
        "",
    ),
    "__auto_type": ("__auto_type a = 2.5; o[0] = a;", ""),
    "__extension__": ("__extension__ int a = 2; o[0] = a;", ""),
    "a ?: b": ("int a = (int)o[0] - 2; o[0] = a ?: 5;", ""),
    "a ?: b with a call": (
        "o[0] = f@(o) ?: 5;",
        "__device__ int f@(double *o) { return ++o[1]; }",
    ),
    "a ?: b ?: c": ("int a = 0, b = 0; o[0] = a ?: b ?: 5;", ""),
    "case range": (
        "switch ((int)o[0]) { case 1 ... 4: o[0] = 1; break; default: o[0] = 2; }",
        "",
    ),
    "case range of characters": (
        "switch ('b') { case 'a' ... 'z': o[0] = 1; break; default: o[0] = 2; }",
        "",
    ),
    "case range of names": (
        "switch ((int)o[0]) { case A@ ... B@: o[0] = 1; break; default: o[0] = 2; }",
        "enum { A@ = 1, B@ = 4 };",
    ),
    "zero-length array": ("o[0] = sizeof(Z@);", "struct Z@ { int n; float d[0]; };"),
    "flexible array": ("o[0] = sizeof(Z@);", "struct Z@ { int n; float d[]; };"),
    "flexible array, used": (
        "Z@ *z = (Z@ *)o; z->d[2] = 3; o[0] = z->d[2];",
        "struct Z@ { int n; float d[]; };",
    ),
    "empty struct": ("o[0] = sizeof(Z@);", "struct Z@ {};"),
    "anonymous struct": (
        "U@ u; u.a = 1; u.b = 2; o[0] = u.v[1];",
        "union U@ { struct { int a, b; }; int v[2]; };",
    ),
    "variable array": ("int n = (int)o[0]; float a[n]; a[0] = 1; o[0] = a[0];", ""),
    "designators": ("S@ s = {.a = 1, .b = 2}; o[0] = s.b;", _S),
    "designators, old": ("S@ s = {a: 1, b: 2}; o[0] = s.b;", _S),
    "designators, another order": ("S@ s = {.b = 1, .a = 2}; o[0] = s.a;", _S),
    "designators of an array": ("int a[3] = {[1] = 5}; o[0] = a[1];", ""),
    "designators, some": ("S@ s = {.b = 2}; o[0] = s.a + s.b;", _S),
    "label address": ("void *p = &&end; if (o[0] > 9) goto *p; o[0] = 2; end:;", ""),
    "local label": (
        "({ __label__ end; if (o[0] > 9) goto end; o[0] = 2; end:; });",
        "",
    ),
    "nested function": ("int f(int x) { return x; } o[0] = f(3);", ""),
    "binary number": ("o[0] = 0b1010;", ""),
    "digit separator": ("o[0] = 1'000;", ""),
    "hexadecimal float": ("o[0] = 0x1p4;", ""),
    "imaginary number": ("o[0] = sizeof(1.0i);", ""),
    "escape \\e": ("o[0] = '\\e';", ""),
    "dollar in a name": ("int a$b = 2; o[0] = a$b;", ""),
    "## __VA_ARGS__": (
        "o[0] = F@(3); ",
        "#define G@(a, ...) a\n#define F@(a, ...) G@(a, ##__VA_ARGS__)",
    ),
    "args...": (
        "o[0] = F@(3, 4);",
        "#define F@(args...) f@(args)\n__device__ int f@(int a, int b) { return b; }",
    ),
    "__VA_OPT__": ("o[0] = F@(3);", "#define F@(a, ...) a __VA_OPT__(+) __VA_ARGS__"),
    "void pointer arithmetic": ("void *p = o; p = p + 8; o[0] = *(double *)p;", ""),
    "sizeof(void)": ("o[0] = sizeof(void);", ""),
    "pointer to int": (
        "int *p = o == 0 ? 0 : (int *)o; long a = (long)p; o[0] = a != 0;",
        "",
    ),
    "string to char *": ('char *p = "abc"; o[0] = p[1];', ""),
    "implicit int": ("const n = 3; o[0] = n;", ""),
    "__complex__": ("__complex__ float a; __real__ a = 2; o[0] = __real__ a;", ""),
    "__int128": ("__int128 a = (__int128)1 << 100; o[0] = (double)(a >> 98);", ""),
    "unsigned __int128": ("unsigned __int128 a = 3; o[0] = (double)a;", ""),
    "vector_size": (
        "v@ a = {1, 2, 3, 4}; o[0] = a[2];",
        "typedef float v@ __attribute__((vector_size(16)));",
    ),
    "alternative tokens": ("o[0] = not (o[0] > 9 and o[1] > 9) ? 1 : 2;", ""),
    "register": ("register int a = 2; o[0] = a;", ""),
    "restrict": ("double *restrict p = o; o[0] = *p;", ""),
    "__restrict__": ("double *__restrict__ p = o; o[0] = *p;", ""),
    "inline asm, GNU keywords": (
        'int a; __asm__ volatile("mov.u32 %0, 3;" : "=r"(a)); o[0] = a;',
        "",
    ),
    "asm with names": ('int a; asm("mov.u32 %[x], 3;" : [x] "=r"(a)); o[0] = a;', ""),
    "asm with an immediate": (
        'int a; asm("add.s32 %0, %1, 2;" : "=r"(a) : "n"(3)); o[0] = a;',
        "",
    ),
    "__func__": ("o[0] = sizeof(__func__) > 1;", ""),
    "__PRETTY_FUNCTION__": ("o[0] = __PRETTY_FUNCTION__[0] != 0;", ""),
    "__builtin_constant_p": ("o[0] = __builtin_constant_p(3);", ""),
    "__builtin_choose_expr": ("o[0] = __builtin_choose_expr(1, 2, 3);", ""),
    "__builtin_types_compatible_p": (
        "o[0] = __builtin_types_compatible_p(int, int);",
        "",
    ),
    "__builtin_offsetof": ("o[0] = __builtin_offsetof(S@, b);", _S),
    "offsetof": ("o[0] = offsetof(S@, b);", "#include <stddef.h>\n" + _S),
}
BUILTINS = {
    name: f"o[0] = (double){call};"
    for name, call in {
        "popcount": "__builtin_popcount((int)o[0] + 7)",
        "popcountll": "__builtin_popcountll((long long)o[0] + 7)",
        "clz": "__builtin_clz((int)o[0] + 7)",
        "clzll": "__builtin_clzll((long long)o[0] + 7)",
        "ctz": "__builtin_ctz((int)o[0] + 6)",
        "ffs": "__builtin_ffs((int)o[0] + 6)",
        "parity": "__builtin_parity((int)o[0] + 6)",
        "bswap32": "__builtin_bswap32((int)o[0])",
        "bswap64": "__builtin_bswap64((long long)o[0])",
        "expect": "__builtin_expect(o[0] > 1, 1)",
        "abs": "__builtin_abs((int)o[0] - 9)",
        "sqrt": "__builtin_sqrt(o[0])",
        "sqrtf": "__builtin_sqrtf((float)o[0])",
        "fabs": "__builtin_fabs(o[0])",
        "sin": "__builtin_sin(o[0])",
        "pow": "__builtin_pow(o[0], o[1])",
        "fmaf": "__builtin_fmaf((float)o[0], 2.f, 1.f)",
        "isnan": "__builtin_isnan(o[0])",
        "inf": "__builtin_inf()",
        "huge_val": "__builtin_huge_val()",
        "nan": '__builtin_nan("")',
        "memcpy": "(__builtin_memcpy(o, o + 1, 8), o[0])",
        "memset": "(__builtin_memset(o, 0, 8), o[0])",
        "strlen": '__builtin_strlen("abc")',
        "alloca": "(__builtin_alloca(8) != 0)",
        "bit_cast": "__builtin_bit_cast(int, 1.f)",
        "add_overflow": "[&] { int r; return __builtin_add_overflow((int)o[0], 1, &r); }()",
        "rotateleft": "__builtin_rotateleft32(1, 3)",
        "is_constant_evaluated": "__builtin_is_constant_evaluated()",
    }.items()
}
STATEMENTS = {
    "__builtin_unreachable": "if (o[0] > 99) __builtin_unreachable(); o[0] = 1;",
    "__builtin_trap": "if (o[0] > 99) __builtin_trap(); o[0] = 1;",
    "__builtin_assume": "__builtin_assume(o[0] > 0); o[0] = 1;",
    "__builtin_prefetch": "__builtin_prefetch(o); o[0] = 1;",
    "__sync_fetch_and_add": "int a = 1; o[0] = __sync_fetch_and_add(&a, 2);",
    "__atomic_add_fetch": "int a = 1; o[0] = __atomic_add_fetch(&a, 2, 0);",
    "printf": 'if (o[0] > 99) printf("%f", o[0]); o[0] = 1;',
    "assert": "assert(o[0] < 99); o[0] = 1;",
    "malloc": "int *p = (int *)malloc(4); free(p); o[0] = p != 0;",
    "new": "int *p = new int(3); o[0] = *p; delete p;",
    "memcpy": "memcpy(o, o + 1, 8);",
    "memset": "memset(o, 0, 8);",
    "memmove": "memmove(o, o + 1, 8);",
    "memcmp": "o[0] = memcmp(o, o + 1, 8);",
    "strlen": 'o[0] = strlen("abc");',
    "strcmp": 'o[0] = strcmp("abc", "abd");',
    "strcpy": 'char a[4]; strcpy(a, "abc"); o[0] = a[1];',
    "rand": "o[0] = rand();",
    "clock": "o[0] = clock() != 0;",
    "time": "o[0] = time(0) != 0;",
    "exit": "if (o[0] > 99) exit(1);",
    "abort": "if (o[0] > 99) abort();",
    "atoi": 'o[0] = atoi("3");',
    "qsort": "qsort(o, 2, 8, 0);",
    "swap": "float a = 1, b = 2; std::swap(a, b); o[0] = a;",
    "std::min": "o[0] = std::min(o[0], o[1]);",
    "std::max": "o[0] = std::max((int)o[0], 3);",
    "std::abs": "o[0] = std::abs((int)o[0] - 9) + std::abs(-2.5f);",
    "std::move": "int a = 3; int b = std::move(a); o[0] = b;",
    "std::numeric_limits": "o[0] = std::numeric_limits<float>::max();",
    "std::size_t": "std::size_t a = 3; o[0] = a;",
    "std::sqrt": "o[0] = std::sqrt(o[0]);",
    "std::isnan": "o[0] = std::isnan(o[0]);",
    "std::printf": 'if (o[0] > 99) std::printf("%f", o[0]); o[0] = 1;',
    "std::is_same": "o[0] = std::is_same<int, int>::value;",
    "std::conditional_t": "std::conditional_t<true, int, float> a = 2.5; o[0] = a;",
    "std::array": "std::array<int, 2> a = {1, 2}; o[0] = a[1];",
    "std::pair": "std::pair<int, float> p(1, 2); o[0] = p.second;",
    "std::complex": "std::complex<float> z(1, 2); o[0] = z.imag();",
    "std::tuple": "std::tuple<int, int> t(1, 2); o[0] = std::get<1>(t);",
    "std::initializer_list": "std::initializer_list<int> a = {1, 2}; o[0] = a.size();",
    "std::uint32_t": "std::uint32_t a = 3; o[0] = a;",
    "std::nullptr_t": "std::nullptr_t p = nullptr; o[0] = p == nullptr;",
    "assignment in a condition": "int a; if ((a = (int)o[0])) o[0] = a;",
    "goto": "if (o[0] > 9) goto end; o[0] = 2; end:;",
    "goto over a declaration": "if (o[0] > 9) goto end; int a; a = 2; o[0] = a; end:;",
    "VLA of a constant": "const int n = 4; float a[n]; a[1] = 2; o[0] = a[1];",
    "shared memory": "__shared__ float s[4]; s[0] = 3; o[0] = s[0];",
    "dynamic shared memory": "extern __shared__ float x@[]; o[0] = sizeof(x@[0]);",
    "local __constant__": "__constant__ int a = 3; o[0] = a;",
    "try": "try { o[0] = 1; } catch (...) {}",
    "throw": "if (o[0] > 99) throw 1;",
    "dynamic_cast": "struct A { virtual __device__ int f() { return 3; } }; A a; o[0] = a.f();",
    "typeid": "o[0] = typeid(int) == typeid(int);",
    "kernel launch": "if (o[0] > 99) g@<<<1, 1>>>(); o[0] = 1;",
}
PRAGMAS = [
    "unroll",
    "unroll 4",
    "unroll(4)",
    "unroll 1",
    "nounroll",
    "GCC unroll 4",
    "GCC ivdep",
    "GCC diagnostic push",
    'GCC diagnostic ignored "-Wall"',
    "GCC system_header",
    'GCC optimize ("O3")',
    "GCC poison zork",
    "clang loop unroll(full)",
    "omp parallel for",
    "once",
    "pack(push, 1)",
    "pack(1)",
    "nv_diag_suppress 177",
    "nv_diag_default 177",
    "nv_exec_check_disable",
    "hd_warning_disable",
    "diag_suppress 177",
    "warning(disable: 4996)",
    "region",
    "STDC FP_CONTRACT ON",
    'message("text")',
    "weak zork",
    "ident",
    "vector aligned",
    "ivdep",
    "zork",
]
ATTRIBUTES = (
    "noinline always_inline unused used aligned aligned(16) packed const pure deprecated weak cold hot flatten noreturn "
    'may_alias visibility("default") section("x") optimize("O3") target("avx") format(printf,1,2) nonnull '
    'malloc no_instrument_function constructor alias("x") warn_unused_result fallthrough global device host shared '
    "launch_bounds(32) zork"
).split()
SPECIFIERS = (
    '__forceinline__ __noinline__ inline __inline__ __inline static "extern" __host__ constexpr [[nodiscard]] '
    "[[maybe_unused]] [[deprecated]] [[gnu::always_inline]] [[zork]] __declspec(noinline) __nv_pure__ __tile__"
).split()
HEADERS = (
    "stdio.h stdlib.h string.h math.h stdint.h inttypes.h limits.h float.h stddef.h stdbool.h assert.h time.h ctype.h "
    "errno.h signal.h stdarg.h unistd.h memory.h malloc.h alloca.h complex.h fenv.h tgmath.h setjmp.h wchar.h locale.h "
    "sys/types.h sys/time.h sys/stat.h pthread.h dlfcn.h omp.h values.h strings.h endian.h features.h "
    "cstdio cstdlib cstring cmath cstdint cinttypes climits cfloat cstddef cassert ctime cctype cerrno csignal cstdarg "
    "algorithm array atomic bitset chrono complex deque exception fstream functional future initializer_list iomanip ios "
    "iostream istream iterator limits list map memory mutex new numeric optional ostream queue random ratio set span "
    "sstream stack stdexcept string string_view thread tuple type_traits typeinfo unordered_map unordered_set utility "
    "valarray variant vector concepts bit numbers "
    "cuda.h cuda_runtime.h cuda_runtime_api.h device_launch_parameters.h device_functions.h math_functions.h "
    "math_constants.h vector_types.h vector_functions.h builtin_types.h host_defines.h driver_types.h cuComplex.h "
    "cuda_fp16.h cuda_bf16.h cuda_fp8.h cooperative_groups.h curand_kernel.h curand.h cublas_v2.h mma.h "
    "sm_20_atomic_functions.h sm_30_intrinsics.h device_atomic_functions.h texture_types.h surface_types.h "
    "texture_fetch_functions.h crt/math_functions.h crt/host_defines.h cuda_texture_types.h channel_descriptor.h "
    "cuda/std/atomic cuda/std/complex cuda/std/array cuda/atomic cuda/barrier cub/cub.cuh thrust/complex.h "
    "thrust/device_vector.h thrust/functional.h nv/target helper_math.h helper_cuda.h"
).split()
NAMES_OF_TYPES = (
    "uint ushort ulong uchar u_int u_char u_short u_long int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t "
    "intptr_t uintptr_t intmax_t size_t ssize_t ptrdiff_t time_t clock_t off_t wchar_t char16_t char8_t quad_t byte bool "
    "_Bool __int8 __int64 __half half __nv_bfloat16 __float128 _Float16 __fp16 long_double float2 float3 float4 double2 "
    "double4 int2 uint4 char4 uchar4 longlong2 ulonglong4 dim3 uint3 cudaError_t cudaStream_t cudaTextureObject_t "
    "cuFloatComplex cuDoubleComplex CUdeviceptr FILE va_list div_t complex string int_fast32_t uint_least8_t id_t pid_t "
    "fpos_t locale_t jmp_buf max_align_t __int128_t __uint128_t"
).split()
FEATURES = {
    "a generic lambda": ("auto f = [](auto x) { return x * 2; }; o[0] = f(o[0]);", ""),
    "a lambda that captures": (
        "int a = 3; auto f = [=] { return a; }; o[0] = f();",
        "",
    ),
    "a lambda by reference": ("int a = 3; auto f = [&] { a++; }; f(); o[0] = a;", ""),
    "a device lambda": (
        "auto f = [] __device__(int x) { return x; }; o[0] = f(3);",
        "",
    ),
    "a host device lambda": (
        "auto f = [] __host__ __device__(int x) { return x; }; o[0] = f(3);",
        "",
    ),
    "a lambda at file scope": ("o[0] = 1;", "auto f@ = [](int x) { return x; };"),
    "a constexpr lambda": (
        "constexpr auto f = [](int x) { return x * 2; }; o[0] = f(2);",
        "",
    ),
    "a lambda as a template's argument": (
        "o[0] = g@([](int x) { return x + 1; });",
        "template <class F> __device__ int g@(F f) { return f(2); }",
    ),
    "structured binding": ("S@ s = {1, 2}; auto [a, b] = s; o[0] = b;", _S),
    "if constexpr": ("if constexpr (sizeof(int) == 4) o[0] = 1; else o[0] = 2;", ""),
    "if with initialiser": (
        "if (int a = (int)o[0]; a > 1) o[0] = 1; else o[0] = 2;",
        "",
    ),
    "fold expression": (
        "o[0] = f@(1, 2, 3);",
        "template <class... T> __device__ int f@(T... t) { return (t + ...); }",
    ),
    "variadic template": (
        "o[0] = f@(1, 2.5f);",
        "template <class... T> __device__ int f@(T...) { return sizeof...(T); }",
    ),
    "deduction guide": (
        "P@ p(3); o[0] = p.v;",
        "template <class T> struct P@ { T v; __device__ P@(T x) : v(x) {} };",
    ),
    "variable template": (
        "o[0] = v@<float>;",
        "template <class T> constexpr T v@ = T(2.5);",
    ),
    "auto template parameter": (
        "o[0] = f@<3>();",
        "template <auto N> __device__ int f@() { return N; }",
    ),
    "alias template": ("V@<int> a = 3; o[0] = a;", "template <class T> using V@ = T;"),
    "template of the host's constant": (
        "o[0] = f@<n@>();",
        "const int n@ = 4; template <int N> __device__ int f@() { return N; }",
    ),
    "constexpr function": (
        "o[0] = f@(3);",
        "constexpr int f@(int x) { return x * 2; }",
    ),
    "constexpr function at compile time": (
        "constexpr int a = f@(3); o[0] = a;",
        "constexpr int f@(int x) { return x * 2; }",
    ),
    "consteval": ("o[0] = f@(3);", "consteval int f@(int x) { return x * 2; }"),
    "concept": (
        "o[0] = f@(3);",
        "template <class T> concept C@ = sizeof(T) == 4; template <C@ T> __device__ int f@(T x) { return x; }",
    ),
    "auto parameter": ("o[0] = f@(3);", "__device__ int f@(auto x) { return x; }"),
    "spaceship": ("o[0] = (3 <=> 4) < 0;", "#include <compare>"),
    "range for": ("int a[3] = {1, 2, 3}, s = 0; for (int x : a) s += x; o[0] = s;", ""),
    "enum class": ("o[0] = (int)E@::B;", "enum class E@ : char { A, B };"),
    "virtual function": (
        # B50 would be a macro of <termios.h>.
        "Derived@ b; Base@ *a = &b; o[0] = a->f();",
        "struct Base@ { __device__ virtual int f() { return 1; } };"
        " struct Derived@ : Base@ { __device__ int f() override { return 2; } };",
    ),
    "function pointer": (
        "int (*p)(int) = f@; o[0] = p(3);",
        "__device__ int f@(int x) { return x; }",
    ),
    "member pointer": ("int S@::*p = &S@::b; S@ s = {1, 2}; o[0] = s.*p;", _S),
    "operator": (
        "float2 a = {1, 2}; a = a + a; o[0] = a.y;",
        "__device__ float2 operator+(float2 a, float2 b) { return {a.x + b.x, a.y + b.y}; }",
    ),
    "user literal": (
        "o[0] = 3_x@;",
        '__device__ constexpr int operator""_x@(unsigned long long n) { return n; }',
    ),
    "function without __device__": ("o[0] = f@(3);", "int f@(int x) { return x; }"),
    "unused host function": ("o[0] = 1;", "int f@(int x) { return x; }"),
    "host function that prints": (
        "o[0] = 1;",
        '#include <stdio.h>\nvoid f@() { printf("x"); }',
    ),
    "main": ("o[0] = 1;", "int main() { return 0; }"),
    "static member function": (
        "o[0] = S::f(3);",
        "struct S { static __device__ int f(int x) { return x; } };",
    ),
    "class without specifiers": (
        "S@ s(3); o[0] = s.f();",
        "struct S@ { int v; S@(int n) : v(n) {} int f() { return v; } };",
    ),
    "defaulted members": (
        "S@ s; S@ t = s; t.a = 2; o[0] = t.a;",
        "struct S@ { int a; S@() = default; S@(const S@ &) = default; };",
    ),
    "bit field": (
        "S@ s; s.a = 9; o[0] = s.a;",
        "struct S@ { unsigned a : 3; unsigned b : 5; };",
    ),
    "signed char": ("char a = (char)(o[0] + 198); o[0] = a;", ""),
    "long double": ("long double a = o[0]; o[0] = sizeof(a);", ""),
    "wide character": ("o[0] = sizeof(L'a');", ""),
    "u8 string": ('o[0] = sizeof(u8"ab");', ""),
    "raw string": ('o[0] = sizeof(R"(a"b)");', ""),
    "static_assert": ("static_assert(sizeof(long) == 8); o[0] = sizeof(long);", ""),
    "shift of a negative": ("int a = -(int)o[0]; o[0] = a >> 1;", ""),
    "integer division": ("int a = -(int)o[0]; o[0] = a / 2 + 10 * (a % 2);", ""),
    "signed overflow": ("int a = 2147483647; a += (int)o[0]; o[0] = a;", ""),
    "float to unsigned": ("float a = -(float)o[0]; o[0] = (unsigned)a;", ""),
    "double to int": ("double a = o[0] * 1e12; o[0] = (int)a;", ""),
    "float constant": ("float a = 0.1; o[0] = a == 0.1;", ""),
    "contracted product": (
        "float a = (float)o[0] * 1.1f, b = a * a - a; o[0] = b;",
        "",
    ),
    "double constant in float": ("float a = (float)o[0]; a = a * 0.1; o[0] = a;", ""),
    "min of int and unsigned": ("o[0] = min(-1, (unsigned)o[0]);", ""),
    "max of float and double": ("o[0] = max((float)o[0], o[1]);", ""),
    "abs of unsigned": ("o[0] = abs((int)(unsigned)o[0]);", ""),
    "printf of a double": ('o[0] = printf("");', ""),
    "dim3": ("dim3 d(2); o[0] = d.x + d.y + blockDim.x;", ""),
    "int3 of braces": ("int3 a{1, 2, 3}; o[0] = a.z;", ""),
    "make_float3": ("o[0] = make_float3(1, 2, 3).z;", ""),
    "atomicAdd of double": ("o[0] = atomicAdd(o, 1.0);", ""),
    "__shfl_sync": ("o[0] = __shfl_sync(1, (float)o[0], 0);", ""),
    "__shfl": ("o[0] = __shfl((float)o[0], 0);", ""),
    "__ballot": ("o[0] = __ballot(1);", ""),
    "__syncthreads_count": ("o[0] = __syncthreads_count(1);", ""),
    "__ldg": ("o[0] = __ldg(o);", ""),
    "clock64": ("o[0] = clock64() != 0;", ""),
    "__float2int_rn": ("o[0] = __float2int_rn((float)o[0]);", ""),
    "__fdividef": ("o[0] = __fdividef((float)o[0], 4.f);", ""),
    "__launch_bounds__": (
        "o[0] = 1;",
        "__global__ void __launch_bounds__(64) g@(int *a) {}",
    ),
    "old texture": (
        "if (o[0] > 99) o[0] = tex1Dfetch(t@, 0);",
        "texture<float, 1> t@;",
    ),
    "kernel named as a function": ("o[0] = 1;", "__global__ void sin(float *a) {}"),
    "variable named as a function": ("o[0] = y1;", "__device__ float y1 = 2;"),
    "name in extern C twice": (
        "o[0] = f@(1);",
        'extern "C" __device__ int f@(int x) { return x; }',
    ),
    "overloads": (
        "o[0] = f@(1) + f@(1.f);",
        "__device__ int f@(int x) { return 1; } __device__ int f@(float x) { return 2; }",
    ),
    "using namespace std": (
        "o[0] = sqrt(o[0]);",
        "#include <cmath>\nusing namespace std;",
    ),
}
ALONE = {
    "consteval",  # an error, and so wrong errors of later texts
    "concept",
    "using namespace std",
    "old texture",
    "enum class",
    "__shfl",
    "__ballot",
    "main",
    "variable named as a function",
    "kernel named as a function",
}


def language() -> list[Case]:
    """All texts of this file."""
    cases = [
        Case("extensions", n, body, before, alone=True)
        for n, (body, before) in EXTENSIONS.items()
    ]
    cases += [Case("builtins", f"__builtin_{n}", body) for n, body in BUILTINS.items()]
    cases += [
        Case("statements", n, body, "__global__ void g@() {}" if "g@" in body else "")
        for n, body in STATEMENTS.items()
    ]
    for pragma in PRAGMAS:
        loop = f"double s = 0;\n#pragma {pragma}\nfor (int i = 0; i < 4; ++i) s += o[i]; o[0] = s;"
        cases.append(Case("pragmas", f"#pragma {pragma}", "\n" + loop, alone=True))
    cases.append(
        Case(
            "pragmas",
            "_Pragma",
            '_Pragma("unroll") for (int i = 0; i < 4; ++i) o[0] += i;',
        )
    )
    for name in ATTRIBUTES:
        for place, before in (
            (
                "function",
                f"__device__ __attribute__(({name})) int f@(int x) {{ return x; }}",
            ),
            (
                "struct",
                f"struct __attribute__(({name})) S@ {{ char a; int b; }}; __device__ int f@(int) {{ return sizeof(S@); }}",
            ),
        ):
            cases.append(
                Case(
                    "attributes",
                    f"{name} of a {place}",
                    "o[0] = f@(3);",
                    before,
                    alone=True,
                )
            )
    for name in SPECIFIERS:
        before = f"{name} __device__ int f@(int x) {{ return x; }}"
        cases.append(Case("attributes", name, "o[0] = f@(3);", before, alone=True))
    cases += [
        Case("headers", f"<{h}>", "o[0] = 1;", f"#include <{h}>", alone=True)
        for h in HEADERS
    ]
    cases += [
        Case(
            "types",
            n,
            f"o[0] = sizeof({n.replace('_double', ' double') if n == 'long_double' else n});",
        )
        for n in NAMES_OF_TYPES
    ]
    cases += [Case("features", n, b, p, n in ALONE) for n, (b, p) in FEATURES.items()]
    return cases
