"""The texts that ``tools/front_end_differences.py`` compiles by nvcc and by this package.

A text is a kernel ``k(double *o)``: lines before it and its body. The first numbers of ``o`` are the kernel's input,
so that a compiler does not know them. ``@`` in a name becomes a number, so that many texts fit into one file.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """One text. ``@`` is a number in its place.

    ``alone``: it may change how the texts behind it in the same file are read. ``header``: the text of a file that the
    text includes.
    """

    group: str
    name: str
    body: str
    before: str = ""
    alone: bool = False
    header: str = ""


UNARY = (
    "acos acosh asin asinh atan atanh cbrt ceil cos cosh cospi erf erfc erfcinv erfcx erfinv exp exp10 exp2 expm1 "
    "fabs floor ilogb isfinite isinf isnan signbit j0 j1 lgamma llrint llround log log10 log1p log2 logb lrint lround "
    "nearbyint normcdf normcdfinv rcbrt rint round rsqrt sin sinh sinpi sqrt tan tanh tgamma trunc y0 y1 "
    "cyl_bessel_i0 cyl_bessel_i1 abs labs llabs fabsf sqrtf expf sinf rsqrtf __sinf __expf"
).split()
BINARY = (
    "atan2 copysign fdim fmax fmin fmod hypot nextafter pow remainder max min rhypot fdivide ldexp scalbn scalbln jn yn "
    "fmaxf powf atan2f fmodf __powf umin umax"
).split()
TERNARY = "fma fmaf norm3d rnorm3d hypot".split()
TYPES = (
    "float",
    "double",
    "int",
    "unsigned",
    "long",
    "unsigned long",
    "long long",
    "short",
    "unsigned char",
    "bool",
    "char",
)
PAIRS = TYPES[:6] + TYPES[7:10]


# Functions of numbers up to 1, or between 0 and 1: they are called with 0.5.
SMALL = "acos asin atanh erfinv normcdfinv erfcinv".split()


def _call(name: str, types: tuple[str, ...], prefix: str = "") -> Case:
    first = 3 if name in SMALL else 0
    numbers = "".join(
        f"{kind} a{i} = ({kind})o[{first + i}]; " for i, kind in enumerate(types)
    )
    call = f"{prefix}{name}({', '.join(f'a{i}' for i in range(len(types)))})"
    body = f"{numbers}auto r = {call}; o[0] = r; o[1] = sizeof(r); o[2] = decltype(r)(1) / 2 == 0;"
    return Case("mathematics", f"{prefix}{name}({', '.join(types)})", body)


def mathematics() -> list[Case]:
    """Each function of math_functions.h with each type, or with pairs and triples of types."""
    cases = [_call(name, (a,)) for name in UNARY for a in TYPES]
    cases += [_call(name, (a, b)) for name in BINARY for a in PAIRS for b in PAIRS]
    some = ("float", "double", "int")
    cases += [
        _call(name, (a, b, c))
        for name in TERNARY
        for a in some
        for b in some
        for c in some
    ]
    for name in ("pow", "abs", "sqrt", "fmin"):
        for types in (("float", "int"), ("float", "double"), ("int", "int")):
            used = types[:1] if name in ("abs", "sqrt") else types
            cases.append(_call(name, used, "std::"))
            cases.append(_call(name, used, "::"))
    for a in ("float", "double", "int"):
        for kind in ("float", "double", "int"):
            for name in ("frexp", "modf"):
                body = f"{a} x = ({a})o[0]; {kind} p; o[0] = {name}(x, &p); o[1] = p;"
                cases.append(Case("mathematics", f"{name}({a}, {kind} *)", body))
            body = f"{a} x = ({a})o[0]; {kind} s, c; sincos(x, &s, &c); o[0] = s; o[1] = c;"
            cases.append(Case("mathematics", f"sincos({a}, {kind} *)", body))
            body = f"{a} x = ({a})o[0]; {kind} y = ({kind})o[1]; int q; o[0] = remquo(x, y, &q); o[1] = q;"
            cases.append(Case("mathematics", f"remquo({a}, {kind}, int *)", body))
    return list(dict.fromkeys(cases))


SCALARS = (
    "int",
    "unsigned",
    "long",
    "size_t",
    "char",
    "bool",
    "float",
    "double",
    "unsigned long long",
    "short",
)
# Initialisers of `T c@`, computed from the constants a@ and b@ of type T.
INITIALISERS = {
    "a number": "= 3",
    "a constant": "= a@",
    "arithmetic": "= a@ * b@ + 1",
    "division": "= a@ / b@",
    "negative": "= -a@ + b@ * 2",
    "a comparison": "= a@ < b@",
    "a choice": "= a@ > 1 ? a@ : b@",
    "a cast": "= (T)(a@ * 2.5)",
    "sizeof": "= sizeof(a@) + a@",
    "braces": "{a@}",
    "parentheses": "(3)",
    "a function": "= sqrtf(2.0f)",
}
DECLARATIONS = {
    "static": ("static const float a@ = 2, b@ = a@ / 4;", "b@"),
    "east const": ("float const a@ = 2; float const b@ = a@ / 4;", "b@"),
    "constexpr": ("constexpr float a@ = 2; constexpr float b@ = a@ / 4;", "b@"),
    "constexpr of a constant": (
        "const float a@ = 2; constexpr float b@ = a@ / 4;",
        "b@",
    ),
    "inline": ("inline const float a@ = 2; inline const float b@ = a@ / 4;", "b@"),
    "volatile": ("const volatile float a@ = 2;", "1"),
    "extern": ('extern "C" const float a@ = 2; const float b@ = a@ * a@;', "b@"),
    "a namespace": (
        "namespace n@ { const float a = 2; const float b = a / 4; }",
        "n@::b",
    ),
    "no name": ("namespace { const float a@ = 2; const float b@ = a@ / 4; }", "b@"),
    "a member": (
        "struct S@ { static const int a = 2; }; const int b@ = S@::a * 3;",
        "b@",
    ),
    "a member of float": (
        "struct S@ { static constexpr float a = 2; }; const float b@ = S@::a * 3;",
        "b@",
    ),
    "an enumerator": ("enum { a@ = 3 }; const float b@ = a@ * .5f;", "b@"),
    "an array": ("const float a@[3] = {1, 2, 3};", "a@[int(o[0])]"),
    "an array of constants": (
        "const float a@ = 2; const float b@[2] = {a@, a@ * 3};",
        "b@[int(o[0]) & 1]",
    ),
    "an array's size": (
        "const int a@ = 2; const int b@ = a@ * 3; __device__ float c@[b@];",
        "sizeof(c@)",
    ),
    "a vector, unused": ("const float2 a@ = make_float2(1, 2);", "1"),
    "a vector": ("const float2 a@ = {1, 2};", "1"),
    "a class, unused": (
        "struct S@ { int v; S@(int n) : v(n) {} }; const S@ a@(3);",
        "1",
    ),
    "a variable, unused": ("float a@ = 3;", "1"),
    "a static variable, unused": ("static int a@;", "1"),
    "a pointer, unused": ("const float a@[2] = {1, 2}; const float *b@ = a@;", "1"),
    "a string": ('const char a@[] = "abc";', "a@[1]"),
    "a pointer to a string, unused": ('const char *const a@ = "abc";', "1"),
    "a device variable": ("const float a@ = 2; __device__ float b@ = a@ * 3;", "b@"),
    "a constant variable": (
        "const float a@ = 2; __constant__ float b@ = a@ * 3;",
        "b@",
    ),
    "a constant array": (
        "const float a@ = 2; __constant__ float b@[2] = {a@, a@ / 3};",
        "b@[int(o[0]) & 1]",
    ),
    "a managed variable": ("__managed__ int a@ = 3;", "a@"),
    "a template's argument": (
        "const int a@ = 2; const int b@ = a@ * 4; template <int N> __device__ int f@() { return N; }",
        "f@<b@>()",
    ),
    "a macro": (
        "#define H@ 0.5f\nconst float a@ = H@ * H@; const float b@ = a@ / H@;",
        "b@",
    ),
    "a typedef": (
        "typedef double real@; const real@ a@ = 1.0 / 3; const real@ b@ = a@ * a@;",
        "b@",
    ),
    "several lines": (
        "const float a@ =\n    2.0f *\n    3; const float b@ = a@\n / 4;",
        "b@",
    ),
    "a function of constants": (
        "constexpr __host__ __device__ float f@(float x) { return x * x; } const float a@ = 2; const float b@ = f@(a@);",
        "b@",
    ),
    "a function of the host, unused": (
        "float f@(float x) { return x; } const float b@ = f@(2);",
        "1",
    ),
    "shadowed": (
        "const float a@ = 2; const float b@ = a@ * 2;",
        "[&] { float b@ = 1; return b@; }()",
    ),
    "a local constant": (
        "const float a@ = 2;",
        "[&] { const float b = a@ * 2; return b; }()",
    ),
    "a local static": (
        "const float a@ = 2;",
        "[&] { static const float b = 3; return b; }()",
    ),
    "a reference": ("const float a@ = 2;", "[](const float &x) { return x; }(+a@)"),
}


def declarations() -> list[Case]:
    """Constants at file scope: types, initialisers, and other forms."""
    cases = []
    for kind in SCALARS:
        for name, value in INITIALISERS.items():
            before = f"const T a@ = 5; const T b@ = 2; const T c@ {value};".replace(
                "T", kind
            )
            unused = name == "a function"
            body = "o[0] = 1;" if unused else "o[0] = c@;"
            cases.append(Case("declarations", f"const {kind} of {name}", body, before))
    cases += [
        Case("declarations", name, f"o[0] = {value};", before)
        for name, (before, value) in DECLARATIONS.items()
    ]
    return cases


MACROS = (
    "__CUDACC__ __NVCC__ __CUDA_ARCH__ __CUDACC_VER_MAJOR__ __CUDACC_VER_MINOR__ __CUDA_ARCH_LIST__ __CUDACC_RTC__ "
    "__CUDA_API_VER_MAJOR__ __CUDACC_RELAXED_CONSTEXPR__ __CUDACC_EXTENDED_LAMBDA__ __GNUC__ __GNUC_MINOR__ __GNUG__ "
    "__clang__ _MSC_VER __EDG__ __cplusplus __STDC__ __STDC_HOSTED__ __LP64__ _LP64 __linux__ __linux linux __unix__ "
    "__unix unix __gnu_linux__ __x86_64__ __x86_64 __amd64__ __ELF__ _WIN32 __APPLE__ __OPTIMIZE__ NDEBUG __DATE__ "
    "__TIME__ __FILE__ __LINE__ __COUNTER__ __func__ __FUNCTION__ __VERSION__ __INT_MAX__ __LONG_MAX__ __LONG_LONG_MAX__ "
    "__SHRT_MAX__ __SCHAR_MAX__ __CHAR_BIT__ __SIZEOF_INT__ __SIZEOF_LONG__ __SIZEOF_POINTER__ __SIZEOF_FLOAT__ "
    "__SIZEOF_DOUBLE__ __SIZEOF_SIZE_T__ __SIZEOF_INT128__ __FLT_MAX__ __FLT_MIN__ __FLT_EPSILON__ __DBL_MAX__ "
    "__DBL_MIN__ __DBL_EPSILON__ __BYTE_ORDER__ __ORDER_LITTLE_ENDIAN__ __SIZE_TYPE__ __EXCEPTIONS __GXX_RTTI "
    "_GNU_SOURCE __GLIBC__ __GLIBCXX__ _GLIBCXX_CMATH _MATH_H _STDIO_H _STDLIB_H _LIMITS_H CHAR_BIT SCHAR_MAX SHRT_MAX "
    "INT_MAX INT_MIN UINT_MAX LONG_MAX ULONG_MAX LLONG_MAX ULLONG_MAX FLT_MAX DBL_MAX FLT_EPSILON M_PI M_E M_SQRT2 "
    "__BYTE_ORDER __BIG_ENDIAN BYTE_ORDER BIG_ENDIAN __WORDSIZE __SIZE_MAX__ __FLT_EVAL_METHOD__ __WCHAR_MAX__ PATH_MAX "
    "INFINITY NAN HUGE_VAL HUGE_VALF NULL EOF RAND_MAX EXIT_SUCCESS INT32_MAX UINT64_MAX SIZE_MAX CLOCKS_PER_SEC BUFSIZ "
    "CUDART_VERSION CUDA_VERSION CUDART_PI_F CUDART_INF_F FP_NAN FP_INFINITE MATH_ERRNO offsetof assert va_start "
    "__align__ __noinline__ __forceinline__ __restrict__ __cdecl __THROW __host__ __device__ __managed__ "
    "__grid_constant__ __launch_bounds__ __builtin_align__ __CUDA_FTZ __CUDA_PREC_DIV __USE_FAST_MATH__ minor major"
).split()
VALUES = (
    "__CUDA_ARCH__ __cplusplus __INT_MAX__ __LONG_MAX__ __CHAR_BIT__ __SIZEOF_INT__ __SIZEOF_LONG__ __SIZEOF_POINTER__ "
    "__FLT_MAX__ __FLT_EPSILON__ __DBL_MAX__ INT_MAX INT_MIN UINT_MAX LONG_MAX LONG_MIN LLONG_MAX CHAR_BIT M_PI M_E "
    "M_SQRT2 M_PI_2 M_LN2 M_LOG2E M_2_SQRTPI INFINITY HUGE_VAL HUGE_VALF RAND_MAX CHAR_MIN CHAR_MAX SHRT_MIN USHRT_MAX "
    "EXIT_FAILURE __BYTE_ORDER__ __LINE__ __SIZEOF_SIZE_T__ __FLT_MANT_DIG__ __DBL_DIG__ warpSize"
).split()


def macros() -> list[Case]:
    """Whether a macro is defined, in the text and in its header, and its value."""
    cases = []
    for name in MACROS:
        asks = f"\n#ifdef {name}\no[0] = 1;\n#else\no[0] = 2;\n#endif\n"
        header = asks.replace("o[0]", f"const int with_{name}")
        cases += [
            Case("macros", f"#ifdef {name}", asks),
            Case(
                "macros", f"in a header: {name}", f"o[0] = with_{name};", header=header
            ),
        ]
    cases += [
        Case("macros", name, f"o[0] = {name};") for name in VALUES if name != "__LINE__"
    ]
    return cases
