// host_arithmetic.h -- CUDA's and PTX's arithmetic that C++ does not have, written in plain C++.
#pragma once
#include <cmath>
#include <cstring>

// ---- arithmetic ----------------------------------------------------------------------------

#define MINMAX(type)                                                                               \
    DEVICE type min(type a, type b) { return a < b ? a : b; }                                      \
    DEVICE type max(type a, type b) { return a > b ? a : b; }
MINMAX(u32)
MINMAX(i32)
MINMAX(u64)
MINMAX(i64)

DEVICE int __popc(u32 x) { return __builtin_popcount(x); }
DEVICE int __popcll(u64 x) { return __builtin_popcountll(x); }
DEVICE int __clz(i32 x) { return x ? __builtin_clz((u32)x) : 32; }
DEVICE int __clzll(i64 x) { return x ? __builtin_clzll((u64)x) : 64; }
DEVICE int __ffs(i32 x) { return __builtin_ffs(x); }
DEVICE u32 __brev(u32 x) {
    u32 result = 0;
    for (int i = 0; i < 32; i++)
        result |= (x >> i & 1) << (31 - i);
    return result;
}
DEVICE u32 __umulhi(u32 a, u32 b) { return (u32)((u64)a * b >> 32); }
DEVICE i32 __mulhi(i32 a, i32 b) { return (i32)((i64)a * b >> 32); }
DEVICE u64 __umul64hi(u64 a, u64 b) { return (u64)((unsigned __int128)a * b >> 64); }
DEVICE i64 __mul64hi(i64 a, i64 b) { return (i64)((__int128)a * b >> 64); }
DEVICE u32 __usad(u32 a, u32 b, u32 c) { return (a > b ? a - b : b - a) + c; }
DEVICE u32 __uhadd(u32 a, u32 b) { return (u32)(((u64)a + b) >> 1); }
DEVICE u32 __byte_perm(u32 a, u32 b, u32 s) {
    u64 both = (u64)b << 32 | a;
    u32 result = 0;
    for (int i = 0; i < 4; i++)
        result |= (u32)(both >> 8 * (s >> 4 * i & 7) & 0xff) << 8 * i;
    return result;
}
DEVICE u32 __funnelshift_l(u32 low, u32 high, u32 by) {
    return (u32)((((u64)high << 32 | low) << (by & 31)) >> 32);
}
DEVICE u32 __funnelshift_r(u32 low, u32 high, u32 by) {
    return (u32)(((u64)high << 32 | low) >> (by & 31));
}
DEVICE u32 __dp4a(u32 a, u32 b, u32 c) {
    for (int i = 0; i < 4; i++)
        c += (a >> 8 * i & 0xff) * (b >> 8 * i & 0xff);
    return c;
}

// ---- two halves, or four bytes, of a word --------------------------------------------------

template <class T, class F> static u32 by_parts(u32 a, u32 b, F combine) {
    const u32 size = 8 * sizeof(T), ones = (1u << size) - 1;
    u32 result = 0;
    for (u32 at = 0; at < 32; at += size)
        result |= ((u32)combine((i32)(T)(a >> at), (i32)(T)(b >> at)) & ones) << at;
    return result;
}
#define BY_PARTS(name, type, expression)                                                           \
    DEVICE u32 name(u32 ua, u32 ub) {                                                              \
        return by_parts<type>(ua, ub, [](i32 a, i32 b) -> i32 { return expression; });             \
    }
DEVICE i32 clamp_to(i32 x, i32 low, i32 high) { return x < low ? low : x > high ? high : x; }
BY_PARTS(__vadd2, u16, a + b)
BY_PARTS(__vadd4, u8, a + b)
BY_PARTS(__vsub2, u16, a - b)
BY_PARTS(__vsub4, u8, a - b)
BY_PARTS(__vminu2, u16, a < b ? a : b)
BY_PARTS(__vmins2, i16, a < b ? a : b)
BY_PARTS(__vmaxu2, u16, a > b ? a : b)
BY_PARTS(__vmaxs2, i16, a > b ? a : b)
BY_PARTS(__vminu4, u8, a < b ? a : b)
BY_PARTS(__vmins4, i8, a < b ? a : b)
BY_PARTS(__vmaxu4, u8, a > b ? a : b)
BY_PARTS(__vmaxs4, i8, a > b ? a : b)
BY_PARTS(__vabsdiffu2, u16, a > b ? a - b : b - a)
BY_PARTS(__vabsdiffu4, u8, a > b ? a - b : b - a)
BY_PARTS(__vavgu4, u8, (a + b + 1) >> 1)
BY_PARTS(__vcmpgtu2, u16, a > b ? -1 : 0)
BY_PARTS(__vcmpges4, i8, a >= b ? -1 : 0)
BY_PARTS(__vseteq2, u16, a == b)
BY_PARTS(__vaddus2, u16, clamp_to(a + b, 0, 65535))
BY_PARTS(__vaddss2, i16, clamp_to(a + b, -32768, 32767))
BY_PARTS(__vsubus4, u8, clamp_to(a - b, 0, 255))
#define ptx_add_u16x2 __vadd2
#define ptx_add_s16x2 __vadd2
#define ptx_min_u16x2 __vminu2
#define ptx_min_s16x2 __vmins2
#define ptx_max_u16x2 __vmaxu2
#define ptx_max_s16x2 __vmaxs2

// ---- single instructions -------------------------------------------------------------------

DEVICE u32 ptx_shl(u32 a, u32 b) { return b > 31 ? 0 : a << b; }
DEVICE u32 ptx_shr_u(u32 a, u32 b) { return b > 31 ? 0 : a >> b; }
DEVICE u32 ptx_shr_s(u32 a, u32 b) { return (u32)((i32)a >> (b > 31 ? 31 : b)); }
DEVICE u32 ptx_mul24_lo(u32 a, u32 b) { return (a & 0xffffff) * (b & 0xffffff); }
DEVICE i64 signed24(u32 a) { return (i32)(a << 8) >> 8; }
DEVICE u32 ptx_mul24_hi(u32 a, u32 b) { return (u32)(signed24(a) * signed24(b) >> 16); }
DEVICE u32 ptx_mad24_lo(u32 a, u32 b, u32 c) { return (u32)(signed24(a) * signed24(b)) + c; }
DEVICE u32 mask_of(u64 first, u64 count) {
    u32 result = 0;
    for (u64 i = 0; i < 32; i++)
        if (i >= first && i < first + count)
            result |= 1u << i;
    return result;
}
DEVICE u32 ptx_bmsk_clamp(u32 a, u32 b) { return mask_of(a, b); }
DEVICE u32 ptx_bmsk_wrap(u32 a, u32 b) { return mask_of(a & 31, b & 31); }
DEVICE u32 ptx_szext_clamp(u32 a, u32 b) {
    if (b == 0)
        return 0;
    return b > 31 ? a : (u32)((i32)(a << (32 - b)) >> (32 - b));
}
DEVICE u32 ptx_bfe_u32(u32 a, u32 position, u32 length) {
    position &= 0xff, length &= 0xff;
    u64 bits = position > 31 ? 0 : a >> position;
    return (u32)(length > 31 ? bits : bits & ((1ull << length) - 1));
}
DEVICE u32 ptx_bfe_s32(u32 a, u32 position, u32 length) {
    position &= 0xff, length &= 0xff;
    if (length == 0)
        return 0;
    u32 last = position + length - 1 > 31 ? 31 : position + length - 1, sign = a >> last & 1;
    u32 result = 0;
    for (u32 i = 0; i < 32; i++)
        result |= (i < length && position + i <= 31 ? a >> (position + i) & 1 : sign) << i;
    return result;
}
DEVICE u32 ptx_bfi(u32 a, u32 b, u32 position, u32 length) {
    u32 mask = mask_of(position & 0xff, length & 0xff);
    return (b & ~mask) | ((position & 0xff) > 31 ? 0 : a << (position & 0xff) & mask);
}
DEVICE u32 ptx_prmt_f4e(u32 a, u32 b, u32 c) {
    u32 s = c & 3;
    return __byte_perm(a, b, s | (s + 1) << 4 | (s + 2) << 8 | (s + 3) << 12);
}
DEVICE u32 ptx_prmt_ecl(u32 a, u32 b, u32 c) {
    u32 s = c & 3, selector = 0;
    for (u32 i = 0; i < 4; i++)
        selector |= (i > s ? i : s) << 4 * i;
    return __byte_perm(a, b, selector);
}
DEVICE u32 ptx_prmt_rc8(u32 a, u32, u32 c) { return (a >> 8 * (c & 3) & 0xff) * 0x01010101u; }
DEVICE u32 ptx_shf_l_clamp(u32 low, u32 high, u32 by) {
    return by > 31 ? low : __funnelshift_l(low, high, by);
}
#define ptx_shf_r_wrap __funnelshift_r
DEVICE u32 ptx_dp2a_lo(u32 a, u32 b, u32 c) {
    return c + (a & 0xffff) * (u32)(i32)(i8)b + (a >> 16) * (u32)(i32)(i8)(b >> 8);
}
DEVICE u64 ptx_add_with_carry(u64 a, u64 b) { return a + b; }
DEVICE u32 ptx_add_u16(u16 a, u16 b) { return (u16)(a + b); }
DEVICE u32 ptx_mad_wide_u16(u16 a, u16 b, u32 c) { return (u32)a * b + c; }
DEVICE u32 ptx_min_s16(i16 a, i16 b) { return (u32)(i32)(a < b ? a : b); }

// ---- floating point ------------------------------------------------------------------------

DEVICE u32 bits_of(f32 x) {
    u32 word;
    memcpy(&word, &x, 4);
    return x != x ? 0x7fc00000u : word;
}
DEVICE u64 bits_of(f64 x) {
    u64 word;
    memcpy(&word, &x, 8);
    return x != x ? 0x7ff8000000000000ull : word;
}
DEVICE f32 __uint_as_float(u32 word) {
    f32 x;
    memcpy(&x, &word, 4);
    return x;
}
DEVICE f64 from_half(u32 half) {
    const i32 exponent = half >> 10 & 31, fraction = half & 1023;
    f64 x = exponent == 0    ? ldexp(fraction, -24)
            : exponent == 31 ? (fraction ? NAN : INFINITY)
                             : ldexp(1024 + fraction, exponent - 25);
    return half & 0x8000 ? -x : x;
}
DEVICE u32 to_half(f64 x) {
    if (x != x)
        return 0x7fff;
    const u32 sign = std::signbit(x) ? 0x8000 : 0;
    x = fabs(x);
    if (x >= 65520.0)
        return sign | 0x7c00;
    if (x < ldexp(1.0, -14))
        return sign | (u32)nearbyint(ldexp(x, 24));
    int exponent;
    const f64 fraction = frexp(x, &exponent);
    return sign | ((u32)nearbyint(ldexp(fraction, 11)) - 1024 + (u32)(exponent + 14) * 1024);
}
template <class F> static u32 by_halves(u32 a, u32 b, F combine) {
    return to_half(combine(from_half(a & 0xffff), from_half(b & 0xffff))) |
           to_half(combine(from_half(a >> 16), from_half(b >> 16))) << 16;
}
DEVICE f64 lesser(f64 a, f64 b) {
    return a != a ? b : b != b ? a : a == b ? (std::signbit(a) ? a : b) : a < b ? a : b;
}
DEVICE u32 half2_add(u32 a, u32 b) {
    return by_halves(a, b, [](f64 x, f64 y) { return x + y; });
}
DEVICE u32 half2_sub(u32 a, u32 b) {
    return by_halves(a, b, [](f64 x, f64 y) { return x - y; });
}
DEVICE u32 half2_mul(u32 a, u32 b) {
    return by_halves(a, b, [](f64 x, f64 y) { return x * y; });
}
DEVICE u32 half2_min(u32 a, u32 b) { return by_halves(a, b, lesser); }
DEVICE u32 half2_max(u32 a, u32 b) {
    return by_halves(a, b, [](f64 x, f64 y) { return -lesser(-x, -y); });
}
