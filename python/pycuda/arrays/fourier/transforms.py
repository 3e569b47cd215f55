"""Fourier transforms over any axes, by the three methods that pycuda.fft names: NumPy, cuFFT, kernels of this package."""

from __future__ import annotations

import functools
import math

import numpy as np

from pycuda import _device_code, _driver
from pycuda.arrays.creation.conversion import as_array, put_into
from pycuda.arrays.creation.filled import zeros
from pycuda.arrays.fourier import library, spectra
from pycuda.arrays.fourier.types import complex_type, empty, real_type, scale_of
from pycuda.arrays.interop import host as _host
from pycuda.tools import context_dependent_memoize

# Stockham's algorithm. After passes of radix r1, r2, ..., let `done` be r1 * r2 * ... . Then every `done` neighbours
# are the transform of elements with the stride n / done. No pass is needed to reorder the elements. A thread reads
# `radix` elements with the stride n / radix, multiplies them by the twiddle factors, transforms them, and writes them
# with the stride `done`.


@context_dependent_memoize
def _roots(n: int, single: bool, inverse: bool):
    """exp(-2 pi i k / n) for k < n (exp(+2 pi i k / n) for the inverse). Each value is rounded once."""
    angles = np.arange(n) * (2 * math.pi / n)
    roots = np.exp(angles * (1j if inverse else -1j))
    return as_array(roots.astype(np.complex64 if single else np.complex128))


@functools.cache
def _radices(n: int) -> tuple[int, ...] | None:
    """The radices of the passes, whose product is the length; None if a prime factor is too large."""
    factors = []
    for prime in (2, 3, 5, 7, 11, 13):
        while n % prime == 0:
            factors.append(prime)
            n //= prime
    if n != 1:
        return None
    twos = factors.count(2)
    rest = [one for one in factors if one != 2]
    return (*[4] * (twos // 2), *[2] * (twos % 2), *rest)


def _transform(rows, inverse: bool, scale: float):
    """Transform the rows of a contiguous complex array (rows, n) to new memory."""
    count, n = rows.shape
    single = rows.dtype == np.complex64
    if n >= 2**31:
        raise ValueError(f"a transform of {n} elements is too long: at most 2147483647")
    radices = _radices(n)
    if radices is None:
        return _by_convolution(rows, inverse, scale)
    if not radices or count == 0:
        return rows * rows.dtype.type(scale)
    roots = _roots(n, single, inverse)
    spare = [_driver._array_empty(rows.shape, rows.dtype, None, "C", type(rows))]
    spare.append(
        _driver._array_empty(rows.shape, rows.dtype, None, "C", type(rows))
        if len(radices) > 1
        else None
    )
    done, real = 1, real_type(rows.dtype)
    for turn, radix in enumerate(radices):
        last = turn == len(radices) - 1
        out = spare[turn % 2]
        kernel = _device_code.kernel(
            "fourier", "pass", "R radix inverse", real, radix, inverse
        )
        kernel(
            rows, out, roots, n, done, count, scale if last else 1.0,
            block=(256, 1, 1), grid=(-(-count * (n // radix) // 256), 1),
        )  # fmt: skip
        rows, done = out, done * radix
    return rows


@context_dependent_memoize
def _chirp(n: int, single: bool, inverse: bool):
    """w(k) = exp(-pi i k^2 / n), and the transform of its conjugate, wrapped around a power of two."""
    length = 1 << (2 * n - 2).bit_length()
    squares = np.arange(n, dtype=object) ** 2 % (2 * n)
    w = np.exp(squares.astype(np.float64) * (math.pi / n) * (1j if inverse else -1j))
    wrapped = np.zeros((1, length), np.complex128)
    wrapped[0, :n] = w.conj()
    wrapped[0, length - n + 1 :] = w[:0:-1].conj()
    kind = np.complex64 if single else np.complex128
    spectrum = _transform(as_array(wrapped), False, 1.0).astype(kind)
    return as_array(w.astype(kind)), spectrum


def _by_convolution(rows, inverse: bool, scale: float):
    # Because j k = (j^2 + k^2 - (k - j)^2) / 2, the transform is a convolution with the chirp.
    count, n = rows.shape
    w, spectrum = _chirp(n, rows.dtype == np.complex64, inverse)
    length = spectrum.shape[1]
    padded = zeros((count, length), rows.dtype)
    padded[:, :n] = rows * w
    product = _transform(padded, False, 1.0) * spectrum
    whole = _transform(product, True, 1.0 / length)
    return whole[:, :n] * (w * rows.dtype.type(scale))


# Shared by all implementations


def _shape_with(a, lengths, axes) -> list[int]:
    shape = list(a.shape)
    for n, axis in zip(lengths, axes, strict=True):
        shape[axis] = n
    return shape


def _fitted(a, lengths, axes, kind):
    """The array cut or filled up with zeros to ``lengths`` along ``axes``, of type ``kind``, C-contiguous; and
    whether this is new memory."""
    shape = _shape_with(a, lengths, axes)
    if a.dtype == kind and a._c_contiguous and a.shape == tuple(shape):
        return a, False
    part = tuple(slice(0, min(m, n)) for m, n in zip(a.shape, shape, strict=True))
    if any(m < n for m, n in zip(a.shape, shape, strict=True)):
        wide = zeros(shape, kind)
        wide[part] = a[part]
        return wide, True
    a = a if a.shape == tuple(shape) else a[part]
    if a.dtype == kind and a._c_contiguous:
        return a, False
    fitted = empty(a.shape, kind, a)
    fitted[...] = a
    return fitted, True


def _stored(result, out):
    if out is not None:
        return put_into(out, result, "same_kind")
    return result if result._c_contiguous else result.copy("C")


def _scaled(a, scale: float):
    if scale != 1:
        whole = a if a._c_contiguous else a.transpose([*range(1, a.ndim), 0])
        parts = whole.view(real_type(a.dtype)) if a.dtype.kind == "c" else whole
        parts *= parts.dtype.type(scale)
    return a


# By NumPy on the host


def _can_take(out, a, shape, dtype) -> bool:
    """Whether NumPy may write to ``out`` while it reads ``a``."""
    return (
        isinstance(out, _driver.ArrayBase)
        and out.shape == tuple(shape)
        and out.dtype == dtype
        and not _driver._array_share_memory(out, a)
    )


def _repeat(axes) -> bool:
    """Whether an axis occurs several times in ``axes``, possibly with different lengths."""
    return len(set(axes)) < len(axes)


def _by_host(name: str, a, lengths, axes, norm, shape, dtype, out):
    """Transform with numpy.fft's function of this name; over several axes, with the function whose name ends in n.

    Returns None if the host may not use the arrays, and for repeated axes, which are transformed one after the other.
    """
    # If there are no elements, NumPy 2.4 reads uninitialised memory.
    if a.size == 0 or _repeat(axes) or not _driver._array_host_has_arrays():
        return None
    if a.dtype == np.float16:  # some versions of NumPy scale these in float16
        a = a.astype(np.float32)
    result = out
    if not _can_take(out, a, shape, dtype):
        result = empty(shape, dtype, a)
    lent = _host.views(a, result)
    if lent is None:
        return None
    source, target = lent
    several = len(axes) != 1
    function = getattr(np.fft, name + ("n" if several else ""))
    extents = (lengths, axes) if several else (lengths[0], axes[0])
    # NumPy's intermediate results must have the shape of ``out``, too.
    fits = all(
        a.shape[axis] == n
        for n, axis in zip(lengths, axes, strict=True)
        if axis != axes[-1] or name in ("fft", "ifft")
    )
    with _host.computing(f"numpy.{function.__name__}"):
        if _WRITES_TO_OUT and (fits or not several):
            function(source, *extents, norm=norm, out=target)
        else:
            target[...] = function(source, *extents, norm=norm)
    return result if result is out or out is None else _stored(result, out)


#: NumPy's transforms have the parameter ``out`` since version 2.0.
_WRITES_TO_OUT = int(np.__version__.partition(".")[0]) >= 2


# By own kernels


def _rows(a, axis: int):
    """Move ``axis`` to the end. Return the elements as contiguous rows, and the shape before."""
    order = [i for i in range(a.ndim) if i != axis] + [axis]
    moved = a.transpose(order)
    moved = moved if moved._c_contiguous else moved.copy("C")
    return moved._reshape(-1, a.shape[axis]), moved.shape


def _moved_back(rows, shape, axis: int):
    result = rows._reshape(shape)
    last = result.ndim - 1
    return result.transpose([*range(axis), last, *range(axis, last)])


def _own_complex(a, axis: int, inverse: bool, scale: float):
    rows, shape = _rows(a, axis)
    return _moved_back(_transform(rows, inverse, scale), shape, axis)


def _own_to_real(a, n: int, axis: int, scale: float):
    rows, shape = _rows(a, axis)
    half = n // 2 + 1
    whole = zeros((rows.shape[0], n), rows.dtype)
    whole[:, :half] = rows
    whole[:, 0] = rows[:, 0].real
    if n % 2 == 0:
        whole[:, half - 1] = rows[:, half - 1].real
    if n > 2:
        whole[:, half:] = rows[:, (n - 1) // 2 : 0 : -1].conj()
    result = _transform(whole, True, scale).real.copy("C")
    return _moved_back(result, (*shape[:-1], n), axis)


# Complex to complex, real to complex, complex to real; any axes


def direct(name: str, a, n, axes, norm, out):
    """The result of cuFFT for an array that needs no preparation; else None. ``axes``: a tuple, or None for all."""
    plain = (n is None or type(n) is int) and (axes is None or type(axes) is tuple)
    if out is not None or not plain:
        return None
    found = library.direct(name, a, n, axes, norm)
    return None if found is None else _scaled(*found)


def complex_transform(
    a, lengths, axes, norm, inverse: bool, out=None, *, any_order: bool = True
):
    """``any_order``: whether the result's first axis may be the last one in memory."""
    kind = complex_type(a.dtype)
    scale = scale_of(norm, math.prod(lengths), inverse)
    shape = _shape_with(a, lengths, axes)
    if not axes:  # nothing to do, as in NumPy
        return _stored(a.copy(), out)
    name = "ifft" if inverse else "fft"
    result = _by_host(name, a, lengths, axes, norm, shape, kind, out)
    if result is not None:
        return result
    if _repeat(axes):  # axis by axis, the last one first
        for n, axis in reversed(list(zip(lengths, axes, strict=True))):
            a = complex_transform(a, [n], [axis], norm, inverse)
        return _stored(a, out)
    any_order = any_order and out is None
    if any_order and a.ndim == 2 and not a._c_contiguous and a.T._c_contiguous:
        turned = [1 - axis for axis in axes]
        return complex_transform(a.T, lengths, turned, norm, inverse).T
    if a.dtype.kind != "c" and 0 not in shape and library.takes(kind):
        plan = library.whole_steps(tuple(shape), real_type(kind), tuple(axes))
        if plan is not None:
            real, _ = _fitted(a, lengths, axes, real_type(kind))
            half = library.follow(plan[0], real, False, False)
            return _stored(spectra.complete(half, plan[1], inverse, scale), out)
    result, is_new = _fitted(a, lengths, axes, kind)
    if result.size == 0:
        return _stored(result.copy(), out)
    if library.takes(kind):
        steps = library.complex_steps(result.shape, kind, tuple(axes), any_order)
        result = _scaled(library.follow(steps, result, inverse, is_new), scale)
        return result if out is None else _stored(result, out)
    for axis in reversed(axes):
        last = axis == axes[0]
        result = _own_complex(result, axis, inverse, scale if last else 1.0)
    return _stored(result, out)


def transform_of_real(a, lengths, axes, norm, out=None):
    if a.dtype.kind == "c":
        raise TypeError(f"rfft() expects real numbers, not {a.dtype}")
    kind = complex_type(a.dtype)
    scale = scale_of(norm, math.prod(lengths), inverse=False)
    last = axes[-1]
    shape = _shape_with(a, lengths, axes)
    shape[last] = lengths[-1] // 2 + 1
    result = _by_host("rfft", a, lengths, axes, norm, shape, kind, out)
    if result is not None:
        return result
    if not _repeat(axes) and a.size and library.takes(kind):
        fitted, _ = _fitted(a, lengths, axes, real_type(kind))
        steps = library.real_steps(fitted.shape, fitted.dtype, tuple(axes))
        result = _scaled(library.follow(steps, fitted, False, False), scale)
        return result if out is None else _stored(result, out)
    half = complex_transform(a, lengths[-1:], [last], norm, inverse=False)
    half = half[(slice(None),) * last + (slice(0, shape[last]),)]
    return complex_transform(
        half, lengths[:-1], axes[:-1], norm, inverse=False, out=out
    )


def transform_to_real(a, lengths, axes, norm, out=None):
    if a.dtype == np.float16:
        single = transform_to_real(a.astype(np.float32), lengths, axes, norm)
        # As in NumPy, a transform along one axis has the type of its operand.
        return _stored(single.astype(np.float16) if len(axes) == 1 else single, out)
    kind = complex_type(a.dtype)
    n, last = lengths[-1], axes[-1]
    scale = scale_of(norm, n, inverse=True)
    shape = _shape_with(a, lengths, axes)
    result = _by_host("irfft", a, lengths, axes, norm, shape, real_type(kind), out)
    if result is not None:
        return result
    several = len(axes) > 1
    if _repeat(axes):  # axis by axis, the first one first, as in NumPy
        for length, axis in zip(lengths[:-1], axes[:-1], strict=True):
            a = complex_transform(
                a, [length], [axis], norm, inverse=True, any_order=False
            )
    elif several:
        a = complex_transform(
            a, lengths[:-1], axes[:-1], norm, inverse=True, any_order=False
        )
    fitted, is_new = _fitted(a, [n // 2 + 1], [last], kind)
    if fitted.size == 0:
        return _stored(zeros(shape, real_type(kind)), out)
    if library.takes(kind):
        own = is_new or several
        fitted = spectra.with_real_ends(fitted, n, last, scale, own)
        result = library.to_real(fitted, n, last)
    else:
        result = _own_to_real(fitted, n, last, scale)
    return _stored(result, out)
