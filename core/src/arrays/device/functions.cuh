// functions.cuh -- functions of elements. Each part begins with its name; a kernel contains only
// the parts that it uses (device_code.cpp).
//
// It would join the lists of macros with the names of parts:
// clang-format off
#pragma once

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
    if (!array_is_integer<T>::value || x != T(0))
        return T(1) / x;
    // As in NumPy on x86-64: the lowest int or long long, 0 of other types.
    return sizeof(T) >= 4 && T(-1) < T(0) ? T(T(1) << (8 * sizeof(T) - 1)) : T(0);
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
//: array_betaln
/// The difference between lgamma(x) and Stirling's formula, for x of at least 10.
FUNCTION T array_beyond_stirling(T x) {
    const T y = 1 / (x * x);
    return (T(1.0 / 12) - y * (T(1.0 / 360) - y * (T(1.0 / 1260) - y * (T(1.0 / 1680) -
            y * (T(1.0 / 1188) - y * (T(691.0 / 360360) - y * T(1.0 / 156))))))) / x;
}
FUNCTION T array_betaln(T a, T b) {
    // Differences of large logarithms would lose all digits, so Stirling's formula is subtracted
    // from itself.
    const T p = a < b ? a : b, q = a < b ? b : a, sum = a + b;
    if (isinf(q))
        return lgamma(p) - p * q;
    if (!(q >= 10 && sum >= 10))
        return lgamma(a) + lgamma(b) - lgamma(sum);
    const T rest = array_beyond_stirling(q) - array_beyond_stirling(sum);
    if (p < 10)
        return lgamma(p) + rest + (q - T(0.5)) * log1p(-p / sum) + p - p * log(sum);
    return T(0.918938533204672741780329736406) - T(0.5) * log(q) + array_beyond_stirling(p) + rest +
           (p - T(0.5)) * log(p / sum) + q * log1p(-p / sum);
}
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
        const T rest = x - rint(x); // exact
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
