"""Inputs for instructions: combinations of the special values of each type, then random values.

The same on every machine and with every version of NumPy: recordings are compared by hash.
"""

import functools

import numpy as np

#: Threads that run each instruction, each with different inputs.
COUNT = 5120
#: Special values of each type; the first HARD * HARD threads have all pairs of them.
HARD = 60

BITS = {
    "pred": 1,
    **{f"{kind}{bits}": bits for kind in "usb" for bits in (8, 16, 32, 64)},
    **{
        "f16": 16,
        "bf16": 16,
        "f16x2": 32,
        "bf16x2": 32,
        "tf32": 32,
        "f32": 32,
        "f64": 64,
    },
    **{"e4m3x2": 16, "e5m2x2": 16, "u16x2": 32, "s16x2": 32},
}
_FLOATS = {
    "f16": (5, 10),
    "bf16": (8, 7),
    "f32": (8, 23),
    "tf32": (8, 23),
    "f64": (11, 52),
}
_PACKED = {"f16x2": "f16", "bf16x2": "bf16"}


#: Edges of integer types, ties of narrower floats, and factors whose product is just less than the
#: smallest normal number: whether .ftz flushes that shows when the hardware tests for denormals.
_EXTREMES = {
    "f16": [0x3810, 0x07E0, 0x57F8, 0x7800],
    "f32": [0x4F000000, 0xCF000000, 0x477FF000, 0x3F000400, 0x00FFF800, 0x5F000000],
    "f64": [
        0x3FF0000010000000,
        0x3FF0000030000000,
        0x43E0000000000000,
        0x41DFFFFFFFE00000,
    ],
}


def splitmix(seed, count):
    """`count` 64-bit numbers that look random: splitmix64."""
    with np.errstate(over="ignore"):
        z = np.uint64(seed) * np.uint64(0x5851F42D4C957F2D) + np.arange(
            1, count + 1, dtype=np.uint64
        ) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def _hard_floats(exponent_bits, mantissa_bits):
    one = 1 << mantissa_bits
    top = 1 << (exponent_bits + mantissa_bits)
    unit = ((1 << (exponent_bits - 1)) - 1) << mantissa_bits  # 1.0
    infinity = ((1 << exponent_bits) - 1) << mantissa_bits
    magnitudes = [
        0,
        1,
        2,
        one // 2 + 1,
        one - 1,
        one,
        one + 1,
    ]  # denormals and the smallest
    magnitudes += [unit, unit + 1, unit - 1, unit + one // 2, unit + one, unit - one]
    magnitudes += [unit + one + one // 4, unit + 3 * one, unit + 3 * one + one // 3]
    magnitudes += [
        infinity - 1,
        infinity - one,
        infinity,
        infinity + 1,
        infinity + one // 2,
    ]
    magnitudes += [infinity + one - 1, unit - 24 * one if unit > 24 * one else 3]
    return [value | sign for value in magnitudes for sign in (0, top)]


def _ties(mantissa_bits):
    """f32 values between neighbours of a format with fewer mantissa bits."""
    half = 1 << (22 - mantissa_bits)
    unit = 0x3F800000
    return [unit + half, unit + 3 * half, unit + half - 1, unit + half + 1]


@functools.cache
def hard_values(kind):
    """HARD bit patterns that have caused errors before."""
    if kind in _PACKED:
        low = hard_values(_PACKED[kind])
        return low | np.roll(low, 7) << np.uint64(16)
    if kind in _FLOATS:
        values = _hard_floats(*_FLOATS[kind])
        values += _EXTREMES.get(kind, [])
        if kind in ("f32", "tf32"):
            values += _ties(10) + _ties(7)
    else:
        bits = BITS[kind]
        top = 1 << (bits - 1)
        values = [
            0,
            1,
            2,
            3,
            4,
            5,
            7,
            8,
            15,
            16,
            24,
            31,
            32,
            33,
            63,
            64,
            65,
            127,
            128,
            255,
        ]
        values += [
            2 * top - 1,
            2 * top - 2,
            2 * top - 8,
            top,
            top - 1,
            top + 1,
            top >> 1,
            top >> 8,
        ]
        values += [
            0x5A,
            0x8080,
            0x7F7F,
            0xFFFF,
            0x10000,
            0x7FFF,
            0x8000,
            0xAAAAAAAA,
            0x3210,
        ]
        values += [1000003, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x100000000, 0x7654]
        values = [value % (2 * top) for value in values]
    values = values[:HARD]
    filler = [
        int(v) % (1 << BITS[kind]) for v in splitmix(len(kind) + BITS[kind], HARD)
    ]
    return np.array(values + filler[: HARD - len(values)], dtype=np.uint64)


def _random_values(kind, seed, count):
    bits = BITS[kind]
    raw = splitmix(seed, count)
    if kind in _FLOATS:  # half of them near 1, to test sums and rounding
        exponent_bits, mantissa_bits = _FLOATS[kind]
        bias = (1 << (exponent_bits - 1)) - 1
        near = np.uint64(bias - 3) + (raw >> np.uint64(56)) % np.uint64(7)
        mantissa = raw & np.uint64((1 << mantissa_bits) - 1)
        sign = raw >> np.uint64(55) & np.uint64(1)
        close = (
            sign << np.uint64(bits - 1) | near << np.uint64(mantissa_bits) | mantissa
        )
        return np.where(np.arange(count) % 2 == 0, close, raw >> np.uint64(64 - bits))
    if kind in _PACKED:
        low, high = (_random_values(_PACKED[kind], seed + i, count) for i in (0, 1000))
        return low | high << np.uint64(16)
    small = (
        raw >> np.uint64(64 - bits) >> raw % np.uint64(bits)
    )  # a third of the integers is small
    return np.where(np.arange(count) % 3 == 0, small, raw >> np.uint64(64 - bits))


@functools.cache
def inputs(kind, position):
    """COUNT bit patterns for the operand at `position` (0 to 3), 64 bits each."""
    thread = np.arange(HARD * HARD)
    pick = [thread, thread // HARD, thread * 7 + thread // HARD * 5, thread * 11 + 3][
        position
    ]
    hard = hard_values(kind)[pick % HARD]
    seed = BITS[kind] * 64 + len(kind) * 4 + position
    return np.concatenate([hard, _random_values(kind, seed, COUNT - HARD * HARD)])
