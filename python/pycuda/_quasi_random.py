"""Sobol generators with PyCUDA's names; see pycuda.curandom.

Each of ``block_count * generators_per_block`` generators has a separate dimension, that of its
row of direction numbers. Element ``i`` of an array comes from generator ``i`` modulo their number. A
generator's state is only the position in its sequence, so skipping ahead is an addition.
"""

from __future__ import annotations

import numpy as np

from pycuda import _device_code
from pycuda import _sobol_directions as _directions
from pycuda._random_filling import RandomFilling
from pycuda.arrays.creation.conversion import to_gpu
from pycuda.compiler import SourceModule
from pycuda.driver import direction_vector_set
from pycuda.gpuarray import GPUArray
from pycuda.tools import context_dependent_memoize


def _numbers_of(direction, count: int) -> np.ndarray:
    direction = direction_vector_set(direction)
    bits = 64 if direction.name.endswith("64") else 32
    scrambled = direction.name.startswith("SCRAMBLED")
    make = _directions.scrambled_directions if scrambled else _directions.directions
    return make(count, bits)


def _fill_host(dst: np.ndarray, values: np.ndarray, count: int) -> None:
    if dst.nbytes != values.nbytes:
        raise ValueError(
            f"dst has {dst.nbytes} bytes, but {count} of these numbers have {values.nbytes} bytes"
        )
    dst.reshape(-1).view(values.dtype)[:] = values.reshape(-1)


def _get_direction_vectors(direction, dst: np.ndarray, count: int) -> None:
    """Fill a host array with the direction numbers of ``count`` dimensions."""
    _fill_host(dst, _numbers_of(direction, count), count)


def _get_scramble_constants32(dst: np.ndarray, count: int) -> None:
    """Fill a host array with the constants of ``count`` dimensions, 32 bits each."""
    _fill_host(dst, _directions.scramble_constants(count, 32), count)


def _get_scramble_constants64(dst: np.ndarray, count: int) -> None:
    """Fill a host array with the constants of ``count`` dimensions, 64 bits each."""
    _fill_host(dst, _directions.scramble_constants(count, 64), count)


def generate_direction_vectors(
    count: int, direction=direction_vector_set.VECTOR_32
) -> GPUArray:
    """(count, 32) of uint32 or (count, 64) of uint64; dimensions repeat after 20000.

    >>> generate_direction_vectors(2, direction_vector_set.SCRAMBLED_VECTOR_32).shape
    (2, 32)
    """
    return to_gpu(_numbers_of(direction, count))


def generate_scramble_constants32(count: int) -> GPUArray:
    """The initial values of scrambled sequences of 32 bits, for ``count`` dimensions."""
    return to_gpu(_directions.scramble_constants(count, 32))


def generate_scramble_constants64(count: int) -> GPUArray:
    """The initial values of scrambled sequences of 64 bits, for ``count`` dimensions."""
    return to_gpu(_directions.scramble_constants(count, 64))


@context_dependent_memoize
def _module(bits: int) -> SourceModule:
    word = "unsigned long long" if bits == 64 else "unsigned"
    return _device_code.load("sobol", WORD=word)


class _SobolRandomNumberGenerator(RandomFilling):
    """Base class of the Sobol generators."""

    generator_bits: int
    has_box_muller = False
    state_type = "unsigned long long"
    _scrambled: bool

    def __init__(self, dir_vector=None, offset: int = 0) -> None:
        self._prepare(dir_vector, offset)

    def _prepare(self, dir_vector, offset: int) -> None:
        self._count_generators()
        if offset < 0:
            raise ValueError(f"offset must not be negative, but is {offset}")
        name = f"{'SCRAMBLED_' if self._scrambled else ''}VECTOR_{self.generator_bits}"
        if dir_vector is None:
            dir_vector = generate_direction_vectors(
                self.generators, getattr(direction_vector_set, name)
            )
        self._check(dir_vector, (self.generators, self.generator_bits), "dir_vector")
        self._constants = dir_vector, np.uintp(0)
        self._states = to_gpu(np.full(self.generators, offset, np.uint64))
        self.module = _module(self.generator_bits)

    def _check(self, array, shape, what: str) -> None:
        size = self.generator_bits // 8
        if not (
            isinstance(array, GPUArray)
            and array.dtype.kind in "iu"
            and array.dtype.itemsize == size
            and array.shape == shape
            and array.flags.c_contiguous
        ):
            raise TypeError(
                f"{what} must be GPUArray of integers of right length: {shape} of "
                f"{self.generator_bits} bits"
            )

    def _skip_ahead(self, i, stream) -> None:
        with self._work(stream):
            i = i if isinstance(i, GPUArray) else np.asarray(i)
            self._check_counts(i)
            self._states += i.astype(np.uint64)[()]


class Sobol32RandomNumberGenerator(_SobolRandomNumberGenerator):
    """Sobol sequences of 32 bits, one dimension for each generator.

    dir_vector: direction numbers, as :func:`generate_direction_vectors` makes them, a row for each
        generator.
    offset: how many numbers each generator skips.

    >>> Sobol32RandomNumberGenerator().gen_normal((100,), np.float32).shape
    (100,)
    """

    generator_bits = 32
    _scrambled = False


class Sobol64RandomNumberGenerator(_SobolRandomNumberGenerator):
    """Sobol sequences of 64 bits; also fills int64 and uint64."""

    generator_bits = 64
    _scrambled = False
    _uniform_types = "fdiIlL"


class _ScrambledSobolRandomNumberGenerator(_SobolRandomNumberGenerator):
    _scrambled = True

    def __init__(self, dir_vector=None, scramble_vector=None, offset: int = 0) -> None:
        self._prepare(dir_vector, offset)
        if scramble_vector is None:
            scramble_vector = to_gpu(
                _directions.scramble_constants(self.generators, self.generator_bits)
            )
        self._check(scramble_vector, (self.generators,), "scramble_vector")
        self._constants = self._constants[0], scramble_vector


class ScrambledSobol32RandomNumberGenerator(_ScrambledSobolRandomNumberGenerator):
    """Scrambled Sobol sequences of 32 bits; ``scramble_vector`` contains their initial values."""

    generator_bits = 32


class ScrambledSobol64RandomNumberGenerator(_ScrambledSobolRandomNumberGenerator):
    """Scrambled Sobol sequences of 64 bits; also fills int64 and uint64."""

    generator_bits = 64
    _uniform_types = "fdiIlL"
