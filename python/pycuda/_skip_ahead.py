"""Skips ahead in XORWOW and MRG32k3a by any number of steps, for many states at once.

Both generators are linear: a step multiplies the state by a matrix, and 2**k steps multiply it by a power of the
matrix, which is computed by squaring. XORWOW's shift register is a vector of 160 bits (addition is exclusive or);
MRG32k3a has two triples of integers modulo two primes.
"""

from __future__ import annotations

import functools

import numpy as np

# XORWOW: states are rows d, v0, ..., v4 of 32 bits.

_WEYL = 362437


def seed_xorwow(seeds: np.ndarray) -> np.ndarray:
    """One state for each 64-bit seed, with cuRAND's method."""
    seeds = seeds.astype(np.uint64)
    low = seeds.astype(np.uint32) ^ np.uint32(0xAAD26B49)
    high = (seeds >> np.uint64(32)).astype(np.uint32) ^ np.uint32(0xF7DCEFDD)
    t0, t1 = np.uint32(1099087573) * low, np.uint32(2591861531) * high
    columns = [
        np.uint32(6615241) + t1 + t0,
        np.uint32(123456789) + t0,
        np.uint32(362436069) ^ t0,
        np.uint32(521288629) + t1,
        np.uint32(88675123) ^ t1,
        np.uint32(5783321) + t0,
    ]
    return np.stack(columns, axis=1)


def _apply(registers: np.ndarray, images: np.ndarray) -> np.ndarray:
    """Rows of five words times a matrix, which is given as the images of the 160 bits. Uses tables of bytes."""
    tables = np.zeros((20, 256, 5), np.uint32)
    of_bytes = images.reshape(20, 8, 5)
    for bit in range(8):
        size = 1 << bit
        tables[:, size : 2 * size] = tables[:, :size] ^ of_bytes[:, bit, None]
    octets = np.ascontiguousarray(registers, "<u4").view(np.uint8)
    moved = tables[0][octets[:, 0]]
    for octet in range(1, 20):
        moved ^= tables[octet][octets[:, octet]]
    return moved


@functools.cache
def _xorwow_power(exponent: int) -> np.ndarray:
    """The image of each bit of the register after 2**exponent steps."""
    if exponent > 0:
        half = _xorwow_power(exponent - 1)
        return _apply(half, half)
    bits = np.zeros((160, 5), np.uint32)
    numbers = np.arange(160)
    bits[numbers, numbers // 32] = np.uint32(1) << (numbers % 32).astype(np.uint32)
    t = bits[:, 0] ^ (bits[:, 0] >> np.uint32(2))
    last = bits[:, 4] ^ (bits[:, 4] << np.uint32(4)) ^ t ^ (t << np.uint32(1))
    return np.column_stack([bits[:, 1:], last])


def skip_xorwow(states: np.ndarray, steps: np.ndarray, shift: int = 0) -> np.ndarray:
    """State i after ``steps[i] * 2**shift`` steps."""
    steps = np.broadcast_to(steps, len(states)).astype(np.uint64)
    moved = states.copy()
    if shift < 32:
        moved[:, 0] += (steps << np.uint64(shift)).astype(np.uint32) * np.uint32(_WEYL)
    for bit in range(int(steps.max(initial=0)).bit_length()):
        chosen = (steps >> np.uint64(bit)) & np.uint64(1) == 1
        if chosen.any():
            moved[chosen, 1:] = _apply(moved[chosen, 1:], _xorwow_power(bit + shift))
    return moved


skip_xorwow_sequences = functools.partial(skip_xorwow, shift=67)


# MRG32k3a: states are rows of 32-bit numbers, three modulo _M1 and three modulo _M2.

_M1, _M2 = 4294967087, 4294944443
_STEPS = (
    ((0, 1, 0), (0, 0, 1), (-810728 % _M1, 1403580, 0)),
    ((0, 1, 0), (0, 0, 1), (-1370589 % _M2, 0, 527612)),
)


def seed_mrg32k3a(seeds: np.ndarray) -> np.ndarray:
    """One state for each 64-bit seed, with cuRAND's method."""
    states = np.full((len(seeds), 6), 12345, np.uint64)
    seeds = seeds.astype(np.uint64)
    chosen = seeds != 0
    low = (seeds & np.uint64(0xFFFFFFFF)) ^ np.uint64(0x55555555)
    high = (seeds >> np.uint64(32)) ^ np.uint64(0xAAAAAAAA)
    for column, (factor, modulus) in enumerate(
        [(low, _M1), (high, _M1), (low, _M1), (high, _M2), (low, _M2), (high, _M2)]
    ):
        product = factor * states[:, column] % np.uint64(modulus)
        states[chosen, column] = product[chosen]
    return states.astype(np.uint32)


@functools.cache
def _mrg_power(half: int, exponent: int) -> tuple[tuple[int, ...], ...]:
    """The matrix of 2**exponent steps, modulo _M1 or _M2."""
    if exponent == 0:
        return _STEPS[half]
    modulus = (_M1, _M2)[half]
    root = _mrg_power(half, exponent - 1)
    return tuple(
        tuple(
            sum(root[row][k] * root[k][column] for k in range(3)) % modulus
            for column in range(3)
        )
        for row in range(3)
    )


def skip_mrg32k3a(states: np.ndarray, steps: np.ndarray, shift: int = 0) -> np.ndarray:
    """State i after ``steps[i] * 2**shift`` steps."""
    steps = np.broadcast_to(steps, len(states)).astype(np.uint64)
    moved = states.astype(np.uint64)
    for bit in range(int(steps.max(initial=0)).bit_length()):
        chosen = (steps >> np.uint64(bit)) & np.uint64(1) == 1
        for half, modulus in enumerate((np.uint64(_M1), np.uint64(_M2))):
            old = moved[chosen, 3 * half : 3 * half + 3]
            matrix = np.array(_mrg_power(half, bit + shift), np.uint64)
            new = np.zeros_like(old)
            for k in range(3):  # each product is below 2**64, and each sum is reduced
                new = (new + old[:, k, None] * matrix[None, :, k] % modulus) % modulus
            moved[chosen, 3 * half : 3 * half + 3] = new
    return moved.astype(np.uint32)


skip_mrg32k3a_subsequences = functools.partial(skip_mrg32k3a, shift=76)
skip_mrg32k3a_sequences = functools.partial(skip_mrg32k3a, shift=127)
