// device_code.cpp -- types, conversions and functions for generated kernels, in CUDA C++.
//
// Values are loaded in their stored type, converted to the type of the operation, computed in that
// type (16-bit floats in float), and converted back. No CUDA header is included, because it would
// take longer to compile than the rest.
#include "arrays/device_code.h"

#include "arrays/device_complex.h"
#include "arrays/kernel_choice.h"

#include <pycuda/device_traits.h>

#include <algorithm>
#include <cctype>
#include <unordered_set>
#include <vector>

namespace pycuda {
namespace {

constexpr const char *basic = R"__(
template <class T, int N> struct alignas(sizeof(T) * N) Pack { T v[N]; };
template <class To, class From> struct array_conversion {
    static __device__ __forceinline__ To of(From x) { return static_cast<To>(x); }
};
template <class From> struct array_conversion<bool, From> {
    static __device__ __forceinline__ bool of(From x) { return x != From(0); }
};
template <class T> struct array_conversion<T, T> {
    static __device__ __forceinline__ T of(T x) { return x; }
};
template <> struct array_conversion<bool, bool> {
    static __device__ __forceinline__ bool of(bool x) { return x; }
};
template <class To, class From> __device__ __forceinline__ To array_convert(From x) {
    return array_conversion<To, From>::of(x);
}
)__";

/// The common part of array_half and array_bfloat16.
constexpr const char *small_float = R"__(
struct array_small_float {
    unsigned short bits;
    __device__ __forceinline__ bool is_nonzero() const { return (bits & 0x7fff) != 0; }
};
)__";

constexpr const char *half = R"__(
struct array_half : array_small_float {
    array_half() = default;
    __device__ __forceinline__ explicit array_half(float x) {
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    }
    __device__ __forceinline__ operator float() const {
        float x;
        asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
        return x;
    }
};
template <> struct array_conversion<array_half, double> {
    static __device__ __forceinline__ array_half of(double x) {
        array_half h;
        asm("cvt.rn.f16.f64 %0, %1;" : "=h"(h.bits) : "d"(x));
        return h;
    }
};
template <> struct array_conversion<bool, array_half> {
    static __device__ __forceinline__ bool of(array_half x) { return x.is_nonzero(); }
};
)__";

constexpr const char *bfloat16 = R"__(
struct array_bfloat16 : array_small_float {
    array_bfloat16() = default;
    __device__ __forceinline__ explicit array_bfloat16(float x) {
        unsigned b = __float_as_uint(x);
        bits = x != x ? b >> 16 | 0x40 : (b + 0x7fff + (b >> 16 & 1)) >> 16;
    }
    __device__ __forceinline__ operator float() const { return __uint_as_float(bits << 16); }
};
template <> struct array_conversion<bool, array_bfloat16> {
    static __device__ __forceinline__ bool of(array_bfloat16 x) { return x.is_nonzero(); }
};
)__";

constexpr const char *complex_type_code = R"__(
template <class T> struct array_complex {
    T re, im;
    array_complex() = default;
    __device__ __forceinline__ array_complex(T r, T i = 0) : re(r), im(i) {}
};
#define COMPLEX(name) template <class T> __device__ __forceinline__ array_complex<T> name
COMPLEX(operator+)(array_complex<T> a, array_complex<T> b) { return {a.re + b.re, a.im + b.im}; }
COMPLEX(operator-)(array_complex<T> a, array_complex<T> b) { return {a.re - b.re, a.im - b.im}; }
COMPLEX(operator-)(array_complex<T> a) { return {-a.re, -a.im}; }
COMPLEX(operator*)(array_complex<T> a, array_complex<T> b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
COMPLEX(operator/)(array_complex<T> a, array_complex<T> b) {
    if (fabs(b.re) >= fabs(b.im)) {
        if (b.re == 0 && b.im == 0)
            return {a.re / fabs(b.re), a.im / fabs(b.re)};
        T ratio = b.im / b.re, scale = 1 / (b.re + b.im * ratio);
        return {(a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale};
    }
    T ratio = b.re / b.im, scale = 1 / (b.im + b.re * ratio);
    return {(a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale};
}
template <class T>
__device__ __forceinline__ bool operator==(array_complex<T> a, array_complex<T> b) {
    return a.re == b.re && a.im == b.im;
}
template <class T>
__device__ __forceinline__ bool operator!=(array_complex<T> a, array_complex<T> b) {
    return !(a == b);
}
template <class T>
__device__ __forceinline__ bool operator<(array_complex<T> a, array_complex<T> b) {
    return a.re == b.re ? a.im < b.im : a.re < b.re && a.im == a.im && b.im == b.im;
}
template <class T>
__device__ __forceinline__ bool operator<=(array_complex<T> a, array_complex<T> b) {
    return a.re == b.re ? a.im <= b.im : a.re < b.re && a.im == a.im && b.im == b.im;
}
template <class To, class From> struct array_conversion<To, array_complex<From>> {
    static __device__ __forceinline__ To of(array_complex<From> x) {
        return array_convert<To>(x.re);
    }
};
template <class From> struct array_conversion<bool, array_complex<From>> {
    static __device__ __forceinline__ bool of(array_complex<From> x) {
        return x.re != 0 || x.im != 0;
    }
};
template <class To, class From> struct array_conversion<array_complex<To>, From> {
    static __device__ __forceinline__ array_complex<To> of(From x) {
        return {array_convert<To>(x), To(0)};
    }
};
template <class To, class From> struct array_conversion<array_complex<To>, array_complex<From>> {
    static __device__ __forceinline__ array_complex<To> of(array_complex<From> x) {
        return {To(x.re), To(x.im)};
    }
};
template <class T> struct array_conversion<array_complex<T>, array_complex<T>> {
    static __device__ __forceinline__ array_complex<T> of(array_complex<T> x) { return x; }
};
)__";

constexpr const char *functions = R"__(
#define FUNCTION template <class T> __device__ __forceinline__
#define REAL_OF_ONE(name, expression)                                       \
    __device__ __forceinline__ float name(float x) { return expression; }   \
    __device__ __forceinline__ double name(double x) { return expression; }
#define REAL_OF_TWO(name, expression)                                                \
    __device__ __forceinline__ float name(float a, float b) { return expression; }   \
    __device__ __forceinline__ double name(double a, double b) { return expression; }
#define MIXED_SIGNS(name, of_signed, of_unsigned)                                             \
    __device__ __forceinline__ bool name(long long a, unsigned long long b) { return of_signed; } \
    __device__ __forceinline__ bool name(unsigned long long a, long long b) { return of_unsigned; }
//: array_true
FUNCTION bool array_true(T x) { return x != T(0); }
//: array_nan
FUNCTION bool array_nan(T x) { return x != x; }
//: array_infinite
FUNCTION bool array_infinite(T) { return false; }
__device__ __forceinline__ bool array_infinite(float x) { return isinf(x); }
__device__ __forceinline__ bool array_infinite(double x) { return isinf(x); }
//: array_abs
FUNCTION T array_abs(T x) { return x < T(0) ? T(-x) : x; }
__device__ __forceinline__ float array_abs(float x) { return fabsf(x); }
__device__ __forceinline__ double array_abs(double x) { return fabs(x); }
__device__ __forceinline__ bool array_abs(bool x) { return x; }
//: array_sign
FUNCTION T array_sign(T x) { return array_nan(x) ? x : T((T(0) < x) - (x < T(0))); }
//: array_conjugate
FUNCTION T array_conjugate(T x) { return x; }
//: array_real
FUNCTION T array_real(T x) { return x; }
//: array_imag
FUNCTION T array_imag(T) { return T(0); }
//: array_invert
FUNCTION T array_invert(T x) { return ~x; }
__device__ __forceinline__ bool array_invert(bool x) { return !x; }
//: array_equal
FUNCTION bool array_equal(T a, T b) { return a == b; }
MIXED_SIGNS(array_equal, a >= 0 && static_cast<unsigned long long>(a) == b,
            b >= 0 && a == static_cast<unsigned long long>(b))
//: array_less
FUNCTION bool array_less(T a, T b) { return a < b; }
MIXED_SIGNS(array_less, a < 0 || static_cast<unsigned long long>(a) < b,
            b >= 0 && a < static_cast<unsigned long long>(b))
//: array_less_equal
FUNCTION bool array_less_equal(T a, T b) { return a <= b; }
MIXED_SIGNS(array_less_equal, a < 0 || static_cast<unsigned long long>(a) <= b,
            b >= 0 && a <= static_cast<unsigned long long>(b))
//: array_maximum
FUNCTION T array_maximum(T a, T b) { return a < b || array_nan(b) ? b : a; }
//: array_minimum
FUNCTION T array_minimum(T a, T b) { return b < a || array_nan(b) ? b : a; }
//: array_is_integer
template <class T> struct array_is_integer { static const bool value = false; };
#define INTEGER(T) template <> struct array_is_integer<T> { static const bool value = true; };
INTEGER(bool) INTEGER(signed char) INTEGER(unsigned char) INTEGER(short) INTEGER(unsigned short)
INTEGER(int) INTEGER(unsigned) INTEGER(long long) INTEGER(unsigned long long)
//: array_reciprocal
FUNCTION T array_reciprocal(T x) {
    return array_is_integer<T>::value && x == T(0) ? T(T(1) << (8 * sizeof(T) - 1)) : T(1) / x;
}
__device__ __forceinline__ float array_reciprocal(float x) { return 1.0f / x; }
__device__ __forceinline__ double array_reciprocal(double x) { return 1.0 / x; }
//: array_remainder
FUNCTION T array_remainder(T a, T b) {
    if (b == T(0) || (T(-1) < T(0) && b == T(-1)))
        return T(0);
    T r = a % b;
    return r != T(0) && (r < T(0)) != (b < T(0)) ? T(r + b) : r;
}
//: array_floor_divide
FUNCTION T array_floor_divide(T a, T b) {
    if (b == T(0))
        return T(0);
    if (T(-1) < T(0) && b == T(-1))
        return T(0u - a);
    T q = a / b;
    return T(q * b) != a && (a < T(0)) != (b < T(0)) ? T(q - 1) : q;
}
//: array_fmod
FUNCTION T array_fmod(T a, T b) { return b == T(0) || (T(-1) < T(0) && b == T(-1)) ? T(0) : T(a % b); }
//: array_real_fmod
FUNCTION T array_real_fmod(T a, T b) {
    const T all_integers = sizeof(T) == 4 ? T(8388608.0) : T(4503599627370496.0);
    const T x = fabs(a), y = fabs(b), q = trunc(x / y);
    if (!(q < all_integers))
        return fmod(a, b);
    // Exact: a multiple of y's last place that is smaller than y. x / y may have been rounded up.
    const T r = q == 0 ? x : T(fma(-q, y, x));
    return copysign(r < 0 ? r + y : r, a);
}
//: array_real_remainder
FUNCTION T array_real_remainder(T a, T b) {
    T r = array_real_fmod(a, b);
    if (b == 0)
        return r;
    if (r == 0)
        return copysign(T(0), b);
    return (b < 0) != (r < 0) ? r + b : r;
}
//: array_real_floor_divide
FUNCTION T array_real_floor_divide(T a, T b) {
    const T all_integers = sizeof(T) == 4 ? T(8388608.0) : T(4503599627370496.0);
    const T x = fabs(a), y = fabs(b), rounded = trunc(x / y);
    if (rounded < all_integers) { // as in array_real_fmod()
        const T rest = rounded == 0 ? x : T(fma(-rounded, y, x));
        const T whole = rest < 0 ? rounded - 1 : rounded;
        if (signbit(a) == signbit(b))
            return whole;
        return copysign(rest != 0 ? whole + 1 : whole, T(-1));
    }
    if (b == 0)
        return a / b;
    T r = fmod(a, b), q = (a - r) / b;
    if (r != 0 && (b < 0) != (r < 0))
        q -= 1;
    if (q == 0)
        return copysign(T(0), a / b);
    T whole = floor(q);
    return q - whole > T(0.5) ? whole + 1 : whole;
}
//: array_remainder
REAL_OF_TWO(array_remainder, array_real_remainder(a, b))
//: array_floor_divide
REAL_OF_TWO(array_floor_divide, array_real_floor_divide(a, b))
//: array_fmod
REAL_OF_TWO(array_fmod, array_real_fmod(a, b))
//: array_float_power
__device__ __noinline__ float array_any_power(float x, float y) { return pow(x, y); }
// x ** y through log2(x) in two floats, to 1.1 units in the last place. With x = 2^e (1 + f) and s
// = 2 f / (2 + f), log2(1 + f) = log2(e) (s + s^3 / 12 + s^5 / 80 + ...), after Gal and Bachelis.
// pow() computes results, and numbers x, that are not positive normal numbers.
__device__ __forceinline__ float array_float_power(float x, float y) {
    const int bits = __float_as_int(x), exponent = (bits - 0x3f3504f3) & 0xff800000;
    const float f = __int_as_float(bits - exponent) - 1.0f, e = exponent * 0x1p-23f;
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(f + 2.0f));
    const float s = (f + f) * r, t = s * s, d = f - s, s_low = r * fmaf(-f, s, d + d);
    float q = fmaf(0.0006644894f, t, 0.0032164557f);
    q = fmaf(fmaf(q, t, 0.01803384f), t, 0.12022459f);
    const float high = fmaf(s, 1.442695f, e);
    float low = fmaf(s_low, 1.442695f, fmaf(s, 1.442695f, e - high));
    low = fmaf(s * t, q, fmaf(s, 1.9251366e-8f, low));
    const float log = high + low, log_low = low - (log - high), p = y * log;
    const float p_low = fmaf(y, log_low, fmaf(y, log, -p));
    const float n = p + 12582912.0f, g = (p - (n - 12582912.0f)) + p_low; // n: rounded
    float z = fmaf(0.00015353257f, g, 0.0013399004f);
    z = fmaf(fmaf(z, g, 0.009618439f), g, 0.05550332f);
    z = fmaf(fmaf(fmaf(z, g, 0.24022648f), g, 0.6931472f), g, 1.0f);
    if (static_cast<unsigned>(bits - 0x00800000) < 0x7f000000u && fabs(p) < 125.0f)
        return __int_as_float(__float_as_int(z) + (__float_as_int(n) << 23));
    return array_any_power(x, y);
}
//: array_power
__device__ __forceinline__ float array_power(float x, float y) { return array_float_power(x, y); }
__device__ __forceinline__ double array_power(double x, double y) { return pow(x, y); }
//: array_floor
FUNCTION T array_floor(T x) { return x; }
REAL_OF_ONE(array_floor, floor(x))
//: array_ceil
FUNCTION T array_ceil(T x) { return x; }
REAL_OF_ONE(array_ceil, ceil(x))
//: array_trunc
FUNCTION T array_trunc(T x) { return x; }
REAL_OF_ONE(array_trunc, trunc(x))
//: array_power
FUNCTION T array_power(T a, T b) {
    T result = 1;
    for (; b > T(0); b >>= 1, a *= a)
        if (b & 1)
            result *= a;
    return result;
}
//: array_magnitude
template <int bytes> struct array_unsigned { typedef unsigned type; };
template <> struct array_unsigned<8> { typedef unsigned long long type; };
FUNCTION typename array_unsigned<sizeof(T)>::type array_magnitude(T x) {
    const auto u = static_cast<typename array_unsigned<sizeof(T)>::type>(x);
    return x < T(0) ? 0 - u : u; // T cannot represent the magnitude of its least value
}
//: array_unsigned_gcd
FUNCTION T array_unsigned_gcd(T a, T b) {
    while (b != 0) {
        const T r = a % b;
        a = b, b = r;
    }
    return a;
}
//: array_gcd
FUNCTION T array_gcd(T a, T b) {
    return T(array_unsigned_gcd(array_magnitude(a), array_magnitude(b)));
}
//: array_lcm
FUNCTION T array_lcm(T a, T b) {
    const auto x = array_magnitude(a), y = array_magnitude(b), divisor = array_unsigned_gcd(x, y);
    return T(divisor == 0 ? divisor : x / divisor * y);
}
//: array_left_shift
FUNCTION T array_left_shift(T a, T b) {
    return static_cast<unsigned long long>(b) < 8 * sizeof(T) ? T(a << b) : T(0);
}
//: array_right_shift
FUNCTION T array_right_shift(T a, T b) {
    return static_cast<unsigned long long>(b) < 8 * sizeof(T) ? T(a >> b) : a < T(0) ? T(-1) : T(0);
}
//: array_logaddexp
FUNCTION T array_logaddexp(T a, T b) {
    return a == b ? a + T(0.693147180559945309417232121458) : array_nan(a - b) ? a - b
           : b < a ? a + log1p(exp(b - a)) : b + log1p(exp(a - b));
}
//: array_logaddexp2
FUNCTION T array_logaddexp2(T a, T b) {
    const T e = T(1.442695040888963407359924681002);
    return a == b ? a + 1 : array_nan(a - b) ? a - b
           : b < a ? a + e * log1p(exp2(b - a)) : b + e * log1p(exp2(a - b));
}
//: array_exponent
FUNCTION int array_exponent(T n) { return n < T(-9999) ? -9999 : n > T(9999) ? 9999 : int(n); }
//: array_frexp_mantissa
FUNCTION T array_frexp_mantissa(T x) { int e; return isinf(x) || array_nan(x) ? x : frexp(x, &e); }
//: array_frexp_exponent
FUNCTION int array_frexp_exponent(T x) {
    int e = 0;
    if (!isinf(x) && !array_nan(x))
        frexp(x, &e);
    return e;
}
//: array_modf_fraction
FUNCTION T array_modf_fraction(T x) { return copysign(isinf(x) ? T(0) : x - trunc(x), x); }
//: array_bit_count
FUNCTION int array_bit_count(T x) { // the least integer is its own magnitude: drop its sign
    return __popcll(static_cast<unsigned long long>(array_abs(x)) & ~0ull >> (64 - 8 * sizeof(T)));
}
//: array_nextafter
__device__ __forceinline__ float array_nextafter(float a, float b) { return nextafterf(a, b); }
__device__ __forceinline__ double array_nextafter(double a, double b) { return nextafter(a, b); }
template <class H> __device__ __forceinline__ H array_nextafter(H from, H to) { // 16 bits
    float a = from, b = to;
    if (a != a || b != b)
        return H(a + b);
    if (a == b)
        return to;
    H next = from;
    if (a == 0)
        next.bits = b < 0 ? 0x8001 : 1;
    else
        next.bits += (a < b) == (a > 0) ? 1 : -1;
    return next;
}
//: array_gamma_sign
FUNCTION T array_gamma_sign(T x) { return x < 0 && fmod(floor(x), T(2)) != 0 ? T(-1) : T(1); }
//: array_psi
FUNCTION T array_psi(T x) {
    // For large x an asymptotic series, for others the recurrence psi(x) = psi(x + 1) - 1 / x, and
    // for negative ones the reflection psi(1 - x) - pi / tan(pi x).
    if (x == 0)
        return -T(1) / x;
    T sum = T(0);
    if (x < 0) {
        if (x == floor(x))
            return T(0) / T(0);
        const T rest = x - floor(x);
        sum = -T(3.14159265358979323846) * cospi(rest) / sinpi(rest);
        x = 1 - x;
    }
    for (; x < 10; x += 1)
        sum -= 1 / x;
    const T y = 1 / (x * x);
    const T series =
        y * (T(1.0 / 12) -
             y * (T(1.0 / 120) -
                  y * (T(1.0 / 252) -
                       y * (T(1.0 / 240) - y * (T(1.0 / 132) - y * T(691.0 / 32760))))));
    return sum + log(x) - T(0.5) / x - series;
}
//: array_entr
FUNCTION T array_entr(T x) {
    return x > 0 ? -x * log(x) : x == 0 ? T(0) : x < 0 ? -T(1) / T(0) : x;
}
//: array_rel_entr
FUNCTION T array_rel_entr(T x, T y) {
    if (array_nan(x) || array_nan(y))
        return x + y;
    return x > 0 && y > 0 ? x * log(x / y) : x == 0 && y >= 0 ? T(0) : T(1) / T(0);
}
//: array_spacing
FUNCTION auto array_spacing(T x) {
    const auto a = +x, infinity = decltype(a)(__int_as_float(0x7f800000));
    return a - a == 0 ? array_nextafter(x, T(a < 0 ? -infinity : infinity)) - a : a - a;
}
)__";

// The code is divided into parts at the lines "//: name". A part is added to a kernel only if its
// name occurs in the kernel or in another added part. Unused code would only take time to compile.

struct Part {
    std::string_view name; ///< empty: always needed
    std::string_view code;
};
using Parts = std::vector<Part>;

Parts parts_of(std::string_view library) {
    constexpr std::string_view marker = "//: ";
    Parts parts;
    std::string_view name;
    while (!library.empty()) {
        const std::size_t next = library.find(marker);
        parts.push_back({name, library.substr(0, next)});
        if (next == std::string_view::npos)
            break;
        library.remove_prefix(next + marker.size());
        const std::size_t line = library.find('\n');
        name = library.substr(0, line);
        library.remove_prefix(line + 1);
    }
    return parts;
}

using Names = std::unordered_set<std::string_view>;

void add_identifiers(Names &names, std::string_view code) {
    auto is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    for (auto begin = code.begin(); begin != code.end();) {
        begin = std::find_if(begin, code.end(), is_letter);
        const auto end = std::find_if_not(begin, code.end(), is_letter);
        if (begin != end)
            names.emplace(begin, end);
        begin = end;
    }
}

/// The parts that `kernel` uses, in their order.
std::string used_parts(std::span<const Parts *const> libraries, std::string_view kernel) {
    Names names = {""};
    add_identifiers(names, kernel);
    std::unordered_set<const Part *> used;
    for (bool grown = true; grown;) {
        grown = false;
        for (const Parts *parts : libraries)
            for (const Part &part : *parts)
                if (names.contains(part.name) && used.insert(&part).second) {
                    add_identifiers(names, part.code);
                    grown = true;
                }
    }
    std::string code;
    for (const Parts *parts : libraries)
        for (const Part &part : *parts)
            if (used.contains(&part))
                code += part.code;
    return code;
}

bool has(std::span<const ScalarType> types, ScalarType type) {
    return std::ranges::find(types, type) != types.end();
}

std::string types_code(std::span<const ScalarType> types) {
    std::string code = basic;
    if (std::ranges::any_of(types, is_complex))
        code += complex_type_code;
    if (has(types, ScalarType::Float16) || has(types, ScalarType::BFloat16))
        code += small_float;
    if (has(types, ScalarType::Float16))
        code += half;
    if (has(types, ScalarType::BFloat16))
        code += bfloat16;
    return code;
}

} // namespace

std::string device_prelude(std::span<const ScalarType> types, std::string_view kernel) {
    static const Parts all_functions = parts_of(functions);
    static const Parts all_complex_functions = parts_of(device_complex_functions);
    std::vector<const Parts *> libraries = {&all_functions};
    if (std::ranges::any_of(types, is_complex))
        libraries.push_back(&all_complex_functions);
    return types_code(types) + used_parts(libraries, kernel);
}

std::string compute_name(ScalarType type) {
    if (type == ScalarType::Float16 || type == ScalarType::BFloat16)
        return "float";
    return std::string(cuda_name(type));
}

bool is_rolled() {
    const KernelForm form = kernel_choice.form;
    return form == KernelForm::Chosen ? runs_on_host() : form == KernelForm::Rolled;
}

} // namespace pycuda
