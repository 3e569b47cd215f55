"""Discrete Fourier transforms, with numpy.fft's names; ``numpy.fft.fft(x)`` of a GPUArray comes here too.

>>> from pycuda import fft
>>> spectrum = fft.rfft(x, axis=0)

float16, float32 and complex64 are transformed in complex64, all else in complex128. Lengths are taken apart
into factors up to 13, one pass over memory for each (4 for two factors of 2); where a length has a larger
prime factor, Bluestein's algorithm makes a convolution of it.
"""

from __future__ import annotations

import functools
import math
import operator

import numpy as np

from pycuda import _array_indexing as _indexing
from pycuda import _driver
from pycuda._array_creation import as_array, zeros
from pycuda._array_exchange import check_device
from pycuda._array_joining import roll
from pycuda.compiler import SourceModule
from pycuda.tools import context_dependent_memoize

__all__ = [
    "fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn",
    "rfftn", "irfftn", "fftfreq", "rfftfreq", "fftshift", "ifftshift",
]  # fmt: skip

_MOST_FACTOR = 13

# Stockham's way: after passes of radix r1, r2, ... each `done` = r1 * r2 * ... neighbours are the transform of
# elements that lie n / done apart, and no pass has to put elements in order. A thread takes `radix` elements
# that lie n / radix apart, turns and transforms them, and puts them `done` apart.
_SOURCE = """
typedef %(real)s R;
struct alignas(2 * sizeof(R)) C { R x, y; };
constexpr int radix = %(radix)d;
constexpr bool inverse = %(inverse)d;

__device__ C operator+(C a, C b) { return {a.x + b.x, a.y + b.y}; }
__device__ C operator-(C a, C b) { return {a.x - b.x, a.y - b.y}; }
__device__ C operator*(C a, C b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }
// A quarter turn in the transform's direction.
__device__ C turned(C a) { return inverse ? C{-a.y, a.x} : C{a.y, -a.x}; }

__device__ void transform(C (&v)[radix], const C *roots, unsigned n)
{
#if %(radix)d == 2
    const C a = v[0], b = v[1];
    v[0] = a + b;
    v[1] = a - b;
#elif %(radix)d == 4
    const C a = v[0] + v[2], b = v[0] - v[2], c = v[1] + v[3], d = turned(v[1] - v[3]);
    v[0] = a + c;
    v[1] = b + d;
    v[2] = a - c;
    v[3] = b - d;
#else
    C root[radix], sum[radix];
#pragma unroll
    for (int k = 0; k < radix; ++k)
        root[k] = roots[n / radix * k];
#pragma unroll
    for (int k = 0; k < radix; ++k) {
        sum[k] = v[0];
#pragma unroll
        for (int r = 1; r < radix; ++r)
            sum[k] = sum[k] + v[r] * root[k * r %% radix];
    }
#pragma unroll
    for (int k = 0; k < radix; ++k)
        v[k] = sum[k];
#endif
}

extern "C" __global__ void __launch_bounds__(256) pass(const C *in, C *out, const C *roots, unsigned n,
    unsigned done, long long rows, R scale)
{
    const unsigned each = n / radix;
    const long long thread = blockIdx.x * 256ll + threadIdx.x, row = thread / each;
    if (row >= rows)
        return;
    const unsigned i = static_cast<unsigned>(thread - row * each), k = i %% done;
    in += row * n;
    out += row * n;
    C v[radix];
#pragma unroll
    for (int r = 0; r < radix; ++r)
        v[r] = in[i + r * each];
    const unsigned step = n / (done * radix);
#pragma unroll
    for (int r = 1; r < radix; ++r)
        v[r] = v[r] * roots[r * k * step];
    transform(v, roots, n);
    out += (i - k) * radix + k;
#pragma unroll
    for (int r = 0; r < radix; ++r)
        out[r * done] = {v[r].x * scale, v[r].y * scale};
}
"""


@context_dependent_memoize
def _pass(radix: int, single: bool, inverse: bool) -> _driver.Function:
    names = {"real": "float" if single else "double", "radix": radix}
    source = _SOURCE % {**names, "inverse": inverse}
    return SourceModule(source, no_extern_c=True).get_function("pass")


@context_dependent_memoize
def _roots(n: int, single: bool, inverse: bool):
    """exp(-2 pi i k / n) for k < n (+ for the inverse), each rounded once."""
    angles = np.arange(n) * (2 * math.pi / n)
    roots = np.exp(angles * (1j if inverse else -1j))
    return as_array(roots.astype(np.complex64 if single else np.complex128))


@functools.cache
def _radices(n: int) -> tuple[int, ...] | None:
    """The factors of a length, one for each pass; None where one is too large."""
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
    """The transforms of the rows (rows, n), complex and without gaps; in new memory."""
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
    done = 1
    for turn, radix in enumerate(radices):
        last = turn == len(radices) - 1
        out = spare[turn % 2]
        _pass(radix, single, inverse)(
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
    # With j k = (j^2 + k^2 - (k - j)^2) / 2 the transform is a convolution with the chirp.
    count, n = rows.shape
    w, spectrum = _chirp(n, rows.dtype == np.complex64, inverse)
    length = spectrum.shape[1]
    padded = zeros((count, length), rows.dtype)
    padded[:, :n] = rows * w
    product = _transform(padded, False, 1.0) * spectrum
    whole = _transform(product, True, 1.0 / length)
    return whole[:, :n] * (w * rows.dtype.type(scale))


# One axis


def _scale(norm, n: int, inverse: bool) -> float:
    if norm not in (None, "backward", "ortho", "forward"):
        raise ValueError(
            f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".'
        )
    if norm == "ortho":
        return 1 / math.sqrt(n)
    return 1 / n if inverse == (norm != "forward") else 1.0


def _complex_type(dtype) -> np.dtype:
    if dtype.kind not in "biufc":
        raise TypeError(f"a Fourier transform is not defined for elements of {dtype}")
    single = dtype in (np.float16, np.float32, np.complex64)
    return np.dtype(np.complex64 if single else np.complex128)


def _length(n, extent: int) -> int:
    n = extent if n is None else operator.index(n)
    if n < 1:
        raise ValueError(f"Invalid number of FFT data points ({n}) specified.")
    return n


def _rows(a, n: int, axis: int):
    """The array with ``axis`` last, cut or filled up with zeros to ``n``, complex and without gaps."""
    order = [i for i in range(a.ndim) if i != axis] + [axis]
    moved = a.transpose(order)
    kind = _complex_type(a.dtype)
    if moved.shape[-1] > n:
        moved = moved[..., :n]
    if moved.shape[-1] < n:
        wide = zeros((*moved.shape[:-1], n), kind)
        wide[..., : moved.shape[-1]] = moved
        return wide
    moved = moved.astype(kind, copy=False)
    return moved if moved._c_contiguous else moved.copy("C")


def _moved_back(result, axis: int):
    last = result.ndim - 1
    return result.transpose([*range(axis), last, *range(axis, last)])


def _finish(result, axis: int, out):
    result = _moved_back(result, axis)
    if out is not None:
        return _driver._array_apply("copy", result, out=out)
    return result if result._c_contiguous else result.copy("C")


def _axis_of(a, axis):
    a = as_array(a)
    return a, _indexing.normalize_axis(axis, a.ndim)


def _along(a, n, axis, norm, inverse: bool, out=None):
    a, axis = _axis_of(a, axis)
    n = _length(n, a.shape[axis])
    rows = _rows(a, n, axis)
    flat = rows._reshape(-1, n) if rows.size else rows._reshape(0, n)
    result = _transform(flat, inverse, _scale(norm, n, inverse))
    return _finish(result._reshape(rows.shape), axis, out)


def fft(a, n=None, axis=-1, norm=None, out=None):
    """The Fourier transform along ``axis``, of ``n`` elements (cut, or filled up with zeros).

    ``norm``: "backward" (None) divides the inverse by n, "forward" the transform, "ortho" both by the root.
    """
    return _along(a, n, axis, norm, False, out)


def ifft(a, n=None, axis=-1, norm=None, out=None):
    """The inverse of :func:`fft`."""
    return _along(a, n, axis, norm, True, out)


def rfft(a, n=None, axis=-1, norm=None, out=None):
    """The first n // 2 + 1 elements of the transform of real numbers; the others are their conjugates."""
    a, axis = _axis_of(a, axis)
    if a.dtype.kind == "c":
        raise TypeError(f"rfft() wants real numbers, not {a.dtype}")
    n = _length(n, a.shape[axis])
    rows = fft(a, n, axis, norm)
    half = rows[(slice(None),) * axis + (slice(0, n // 2 + 1),)]
    return (
        half.copy("C") if out is None else _driver._array_apply("copy", half, out=out)
    )


def irfft(a, n=None, axis=-1, norm=None, out=None):
    """The inverse of :func:`rfft`: ``n`` real numbers, by default 2 (m - 1) from m elements."""
    a, axis = _axis_of(a, axis)
    n = _length(2 * (a.shape[axis] - 1) if n is None else n, 0)
    half = n // 2 + 1
    rows = _rows(a, half, axis)
    whole = zeros((*rows.shape[:-1], n), rows.dtype)
    whole[..., :half] = rows
    whole[..., 0] = rows[..., 0].real
    if n % 2 == 0:
        whole[..., half - 1] = rows[..., half - 1].real
    if n > 2:
        whole[..., half:] = rows[..., (n - 1) // 2 : 0 : -1].conj()
    flat = whole._reshape(-1, n) if whole.size else whole._reshape(0, n)
    result = _transform(flat, True, _scale(norm, n, True)).real
    return _finish(result.copy("C")._reshape(whole.shape), axis, out)


_SWAPPED = {None: "forward", "backward": "forward", "forward": None, "ortho": "ortho"}


def _swapped(norm):
    if norm not in _SWAPPED:
        _scale(norm, 1, False)
    return _SWAPPED[norm]


def hfft(a, n=None, axis=-1, norm=None, out=None):
    """The transform, which is real, of numbers of which the first half is given: see :func:`irfft`."""
    a = as_array(a)
    n = 2 * (a.shape[axis] - 1) if n is None else n
    return irfft(a.conj(), n, axis, _swapped(norm), out)


def ihfft(a, n=None, axis=-1, norm=None, out=None):
    """The inverse of :func:`hfft`."""
    result = rfft(a, n, axis, _swapped(norm)).conj()
    return result if out is None else _driver._array_apply("copy", result, out=out)


# Several axes


def _shape_and_axes(a, s, axes, inverse_real: bool = False):
    if axes is None:
        axes = range(a.ndim) if s is None else range(a.ndim - len(s), a.ndim)
    axes = [_indexing.normalize_axis(one, a.ndim) for one in axes]
    lengths = [a.shape[one] for one in axes] if s is None else list(s)
    if len(lengths) != len(axes):
        raise ValueError("Shape and axes have different lengths.")
    if s is None and inverse_real:
        lengths[-1] = 2 * (a.shape[axes[-1]] - 1)
    lengths = [
        a.shape[one] if n == -1 else n for n, one in zip(lengths, axes, strict=True)
    ]
    return lengths, axes


def _over_axes(function, a, s, axes, norm, out):
    a = as_array(a)
    lengths, axes = _shape_and_axes(a, s, axes)
    for n, axis in reversed(list(zip(lengths, axes, strict=True))):
        a = function(a, n, axis, norm)
    a = a.copy() if not axes else a
    return a if out is None else _driver._array_apply("copy", a, out=out)


def fftn(a, s=None, axes=None, norm=None, out=None):
    """The transform over several axes (None: all)."""
    return _over_axes(fft, a, s, axes, norm, out)


def ifftn(a, s=None, axes=None, norm=None, out=None):
    """The inverse of :func:`fftn`."""
    return _over_axes(ifft, a, s, axes, norm, out)


def rfftn(a, s=None, axes=None, norm=None, out=None):
    """The transform of real numbers over several axes: :func:`rfft` over the last, then :func:`fft`."""
    a = as_array(a)
    lengths, axes = _shape_and_axes(a, s, axes)
    a = rfft(a, lengths[-1], axes[-1], norm)
    return _over_axes(fft, a, lengths[:-1], axes[:-1], norm, out)


def irfftn(a, s=None, axes=None, norm=None, out=None):
    """The inverse of :func:`rfftn`."""
    a = as_array(a)
    lengths, axes = _shape_and_axes(a, s, axes, inverse_real=True)
    for n, axis in list(zip(lengths, axes, strict=True))[:-1]:
        a = ifft(a, n, axis, norm)
    return irfft(a, lengths[-1], axes[-1], norm, out)


def fft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """:func:`fftn` over two axes."""
    return fftn(a, s, axes, norm, out)


def ifft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """:func:`ifftn` over two axes."""
    return ifftn(a, s, axes, norm, out)


def rfft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """:func:`rfftn` over two axes."""
    return rfftn(a, s, axes, norm, out)


def irfft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """:func:`irfftn` over two axes."""
    return irfftn(a, s, axes, norm, out)


# Frequencies


def fftfreq(n: int, d: float = 1.0, *, dtype=None, device=None):
    """The frequencies of the elements of :func:`fft`, for samples ``d`` apart, on the device."""
    check_device(device)
    return as_array(np.fft.fftfreq(n, d).astype(dtype or np.float64, copy=False))


def rfftfreq(n: int, d: float = 1.0, *, dtype=None, device=None):
    """The frequencies of the elements of :func:`rfft`."""
    check_device(device)
    return as_array(np.fft.rfftfreq(n, d).astype(dtype or np.float64, copy=False))


def _shifted(x, axes, inverse: bool):
    x = as_array(x)
    axes = range(x.ndim) if axes is None else np.atleast_1d(axes).tolist()
    shifts = [-(x.shape[i] // 2) if inverse else x.shape[i] // 2 for i in axes]
    return roll(x, tuple(shifts), tuple(axes))


def fftshift(x, axes=None):
    """The zero frequency put in the middle of ``axes`` (None: all)."""
    return _shifted(x, axes, inverse=False)


def ifftshift(x, axes=None):
    """The inverse of :func:`fftshift`."""
    return _shifted(x, axes, inverse=True)
