"""Direction numbers of Sobol sequences, and their scrambling, computed on the host.

Dimension k > 1 uses primitive polynomial k - 1 over GF(2), ordered by degree and then by value, and as many
odd initial numbers as its degree. For the first dimensions, they are Joe and Kuo's, chosen for good
two-dimensional projections (S. Joe, F. Y. Kuo, SIAM J. Sci. Comput. 30, 2635 (2008), table
new-joe-kuo-6.21201). For later dimensions, they are a hash of the dimension: each single dimension is
equally uniform, but pairs of dimensions are not optimised.
"""

from __future__ import annotations

import functools

import numpy as np

MOST_DIMENSIONS = 20000

# Degree, polynomial without its first and last coefficient, initial numbers; from dimension 2 on.
_JOE_KUO = """
1 0 1|2 1 1 3|3 1 1 3 1|3 2 1 1 1|4 1 1 1 3 3|4 4 1 3 5 13|5 2 1 1 5 5 17|5 4 1 1 5 5 5
5 7 1 1 7 11 19|5 11 1 1 5 1 1|5 13 1 1 1 3 11|5 14 1 3 5 5 31|6 1 1 3 3 9 7 49
6 13 1 1 1 15 21 21|6 16 1 3 1 13 27 49|6 19 1 1 1 15 7 5|6 22 1 3 1 15 13 25
6 25 1 1 5 5 19 61|7 1 1 3 7 11 23 15 103|7 4 1 3 7 13 13 15 69|7 7 1 1 3 13 7 35 63
7 8 1 3 5 9 1 25 53|7 14 1 3 1 13 9 35 107|7 19 1 3 1 5 27 61 31|7 21 1 1 5 11 19 41 61
7 28 1 3 5 3 3 13 69|7 31 1 1 7 13 1 19 1|7 32 1 3 7 5 13 19 59|7 37 1 1 3 9 25 29 41
7 41 1 3 5 13 23 1 55|7 42 1 3 7 3 13 59 17|7 50 1 3 1 3 5 53 69|7 55 1 1 5 5 23 33 13
7 56 1 1 7 7 1 61 123|7 59 1 1 7 9 13 61 49|7 62 1 3 3 5 3 55 33
8 14 1 3 1 15 31 13 49 245|8 21 1 3 5 15 31 59 63 97|8 22 1 3 1 11 11 11 77 249
8 38 1 3 1 11 27 43 71 9|8 47 1 1 7 15 21 11 81 45|8 49 1 3 7 3 25 31 65 79
8 50 1 3 1 1 19 11 3 205|8 52 1 1 5 9 19 21 29 157|8 56 1 3 7 11 1 33 89 185
8 67 1 3 3 3 15 9 79 71|8 70 1 3 7 11 15 39 119 27|8 84 1 1 3 1 11 31 97 225
8 97 1 1 1 3 23 43 57 177|8 103 1 3 7 7 17 17 37 71|8 115 1 3 1 5 27 63 123 213
8 122 1 1 3 5 11 43 53 133|9 8 1 3 5 5 29 17 47 173 479|9 13 1 3 3 11 3 1 109 9 69
9 16 1 1 1 5 17 39 23 5 343|9 22 1 3 1 5 25 15 31 103 499|9 25 1 1 1 11 11 17 63 105 183
9 44 1 1 5 11 9 29 97 231 363|9 47 1 1 5 15 19 45 41 7 383|9 52 1 3 7 7 31 19 83 137 221
9 55 1 1 1 3 23 15 111 223 83|9 59 1 1 5 13 31 15 55 25 161|9 62 1 1 3 13 25 47 39 87 257
"""


def _multiply(a, b, polynomial, degree: int):
    """Products over GF(2) modulo polynomials."""
    result = np.zeros_like(polynomial)
    a = np.broadcast_to(a, polynomial.shape).copy()
    for bit in range(degree):
        result ^= np.where(b >> bit & 1, a, 0)
        a <<= 1
        a ^= np.where(a >> degree & 1, polynomial, 0)
    return result


def _power_of_x(exponent: int, polynomial, degree: int):
    result = np.ones_like(polynomial)
    base = np.full_like(polynomial, 2)
    if degree == 1:
        base ^= polynomial
    while exponent:
        if exponent & 1:
            result = _multiply(result, base, polynomial, degree)
        base = _multiply(base, base, polynomial, degree)
        exponent >>= 1
    return result


def _prime_factors(n: int) -> list[int]:
    factors = []
    for candidate in range(2, int(n**0.5) + 1):
        if n % candidate == 0:
            factors.append(candidate)
            while n % candidate == 0:
                n //= candidate
    return factors + [n] if n > 1 else factors


def _parity(numbers):
    for shift in (16, 8, 4, 2, 1):
        numbers = numbers ^ numbers >> shift
    return numbers & 1


@functools.cache
def primitive_polynomials(degree: int) -> np.ndarray:
    """All primitive polynomials in ascending order, without the first and last coefficient, which are 1."""
    inner = np.arange(1 << (degree - 1), dtype=np.int32)
    polynomial = 1 << degree | inner << 1 | 1
    if degree > 1:  # with an even number of terms, x + 1 divides it
        odd = _parity(polynomial) == 1
        inner, polynomial = inner[odd], polynomial[odd]
    order = (1 << degree) - 1
    for exponent in [order] + [order // factor for factor in _prime_factors(order)]:
        is_one = _power_of_x(exponent, polynomial, degree) == 1
        good = is_one if exponent == order else ~is_one
        if exponent != order or order > 1:
            inner, polynomial = inner[good], polynomial[good]
    return inner


def _hashed(dimensions, place: int, salt: int):
    """64 bits that depend on all three arguments (splitmix64's finaliser)."""
    mixed = (salt << 40) + (place << 32) + dimensions.astype(np.uint64)
    x = mixed * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ x >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ x >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return x ^ x >> np.uint64(31)


def _chosen_numbers() -> list[list[int]]:
    rows = _JOE_KUO.replace("\n", "|").strip("|").split("|")
    return [[int(word) for word in row.split()] for row in rows]


def _of_degree(degree: int, first: int, count: int, chosen) -> np.ndarray:
    """Direction numbers of 64 bits for polynomials of one degree; `first` is the first dimension."""
    inner = primitive_polynomials(degree)[:count]
    dimensions = np.arange(first, first + len(inner))
    v = np.zeros((64, len(inner)), np.uint64)
    for i in range(degree):
        number = _hashed(dimensions, i, 1) >> np.uint64(63 - i) | np.uint64(1)
        for row, numbers in enumerate(chosen[: len(inner)]):
            number[row] = numbers[2 + i]
        v[i] = number << np.uint64(63 - i)
    takes_part = [
        (inner >> (degree - 1 - k) & 1).astype(np.uint64) for k in range(degree)
    ]
    for i in range(degree, 64):
        v[i] = v[i - degree] ^ v[i - degree] >> np.uint64(degree)
        for k in range(1, degree):
            v[i] ^= v[i - k] * takes_part[k]
    return np.ascontiguousarray(v.T)


@functools.cache
def _directions(dimensions: int) -> np.ndarray:
    first = np.uint64(1) << np.arange(63, -1, -1, dtype=np.uint64)
    parts, known, degree = [first[None, :]], 1, 1
    chosen = _chosen_numbers()
    while known < dimensions:
        ours = [row for row in chosen if row[0] == degree]
        part = _of_degree(degree, known + 1, dimensions - known, ours)
        parts.append(part)
        known += len(part)
        degree += 1
    return np.concatenate(parts)


def _repeated(make, count: int) -> np.ndarray:
    if count < 0:
        raise ValueError(f"count must not be negative, but is {count}")
    known = make(max(min(count, MOST_DIMENSIONS), 1))
    return known[np.arange(count) % MOST_DIMENSIONS]


def directions(count: int, bits: int) -> np.ndarray:
    """(count, bits) of uint32 or uint64; dimensions repeat after 20000."""
    v = _repeated(_directions, count)
    if bits == 64:
        return v
    return (v[:, :32] >> np.uint64(32)).astype(np.uint32)


@functools.cache
def _scrambled(dimensions: int) -> np.ndarray:
    """Add to bit i of each number a random choice of the bits above it, the same for
    all numbers of a dimension (Matoušek's linear scrambling)."""
    v = _directions(dimensions)
    numbers = np.arange(1, dimensions + 1)
    result = np.zeros_like(v)
    for place in range(64):  # from the highest bit on
        own = 1 << (63 - place)
        above = np.uint64((1 << 64) - 2 * own)
        mask = _hashed(numbers, place, 2) & above | np.uint64(own)
        chosen = v & mask[:, None]
        for shift in (32, 16, 8, 4, 2, 1):
            chosen ^= chosen >> np.uint64(shift)
        result |= (chosen & np.uint64(1)) << np.uint64(63 - place)
    return result


def scrambled_directions(count: int, bits: int) -> np.ndarray:
    """:func:`directions`, scrambled."""
    v = _repeated(_scrambled, count)
    if bits == 64:
        return v
    return (v[:, :32] >> np.uint64(32)).astype(np.uint32)


def scramble_constants(count: int, bits: int) -> np.ndarray:
    """The initial values of scrambled sequences: one number for each dimension."""
    constants = _repeated(lambda n: _hashed(np.arange(1, n + 1), 0, 3), count)
    return constants if bits == 64 else (constants >> np.uint64(32)).astype(np.uint32)
