"""The discrete Fourier transforms of pycuda.fft."""

from __future__ import annotations

import numpy as np

from pycuda.arrays.creation.conversion import as_array, put_into
from pycuda.arrays.creation.ranges import arange
from pycuda.arrays.fourier import spectra
from pycuda.arrays.fourier.transforms import (
    complex_transform,
    direct,
    transform_of_real,
    transform_to_real,
)
from pycuda.arrays.fourier.types import length_of, scale_of
from pycuda.arrays.own_device import check_device
from pycuda.arrays.registry import public
from pycuda.arrays.shapes import axes as _indexing
from pycuda.arrays.shapes.repeating import roll

# One axis


def _axis_of(a, axis):
    a = as_array(a)
    return a, _indexing.normalize_axis(axis, a.ndim)


def _over_axis(name: str, a, n, axis, norm, out):
    """fft(), ifft() or rfft()."""
    result = direct(name, a, n, (axis,), norm, out)
    if result is not None:
        return result
    a, axis = _axis_of(a, axis)
    return _transform(name, a, [length_of(n, a.shape[axis])], [axis], norm, out)


def _transform(name: str, a, lengths, axes, norm, out):
    if name != "rfft":
        return complex_transform(a, lengths, axes, norm, name == "ifft", out)
    _need_axis(axes)
    return transform_of_real(a, lengths, axes, norm, out)


@public("fft")
def fft(a, n=None, axis=-1, norm=None, out=None):
    """Compute the discrete Fourier transform along an axis: sums over m of ``a[m] exp(-2 pi i m k / n)``.

    n: the number of elements: the axis is cut, or filled up with zeros; by default its extent.
    axis: the axis, by default the last one.
    norm: "backward" (None) divides the inverse by n, "forward" this transform, "ortho" both by the root of n.
    out: an array for the result.

    The result has the shape of ``a`` with ``n`` along the axis; it is complex64 for 16-bit and 32-bit floats and
    complex64, else complex128. Raises ValueError for ``n`` below 1, a wrong axis or ``norm``, TypeError for elements
    that are not numbers.

    >>> fft.fft(gpuarray.array([1.0, 1.0, 1.0, 1.0])).get().round(6)
    array([4.+0.j, 0.+0.j, 0.+0.j, 0.+0.j])
    """
    return _over_axis("fft", a, n, axis, norm, out)


@public("fft")
def ifft(a, n=None, axis=-1, norm=None, out=None):
    """Compute the inverse of :func:`fft`, with the same parameters, types and errors.

    Returns a new array, or ``out``. ``norm`` None or "backward" divides by n.

    >>> fft.ifft(gpuarray.array([4.0, 0.0, 0.0, 0.0])).get().round(6)
    array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])
    """
    return _over_axis("ifft", a, n, axis, norm, out)


@public("fft")
def rfft(a, n=None, axis=-1, norm=None, out=None):
    """Compute the first n // 2 + 1 elements of the Fourier transform of real numbers.

    Returns complex64 for float16 and float32, else complex128. The other elements are conjugates of these.
    Parameters are those of :func:`fft`. Raises TypeError for complex numbers.

    >>> fft.rfft(gpuarray.array([1.0, 1.0, 1.0, 1.0])).get().round(6)
    array([4.+0.j, 0.+0.j, 0.+0.j])
    """
    return _over_axis("rfft", a, n, axis, norm, out)


@public("fft")
def irfft(a, n=None, axis=-1, norm=None, out=None):
    """Compute the inverse of :func:`rfft`: ``n`` real numbers, by default 2 (m - 1) from m elements.

    The imaginary parts of element 0 and, for an even ``n``, of element n / 2 are ignored. The result is float32 for
    complex64, else float64. The other parameters are those of :func:`fft`.

    >>> fft.irfft(gpuarray.array([4.0, 0.0, 0.0])).get().round(6)
    array([1., 1., 1., 1.])
    """
    a, axis = _axis_of(a, axis)
    n = length_of(2 * (a.shape[axis] - 1) if n is None else n, 0)
    return transform_to_real(a, [n], [axis], norm, out)


_SWAPPED = {None: "forward", "backward": "forward", "forward": None, "ortho": "ortho"}


def _swapped(norm):
    if norm not in _SWAPPED:
        scale_of(norm, 1, False)
    return _SWAPPED[norm]


@public("fft")
def hfft(a, n=None, axis=-1, norm=None, out=None):
    """Compute the Fourier transform, which is real, of a Hermitian signal of which the first half is given.

    Returns ``n`` real numbers along the axis, by default 2 (m - 1) for m elements. Parameters are those of
    :func:`irfft`.

    >>> fft.hfft(gpuarray.array([1.0, 1.0, 1.0])).get().round(6)
    array([4., 0., 0., 0.])
    """
    a, axis = _axis_of(a, axis)
    n = 2 * (a.shape[axis] - 1) if n is None else n
    return irfft(a.conj(), n, axis, _swapped(norm), out)


@public("fft")
def ihfft(a, n=None, axis=-1, norm=None, out=None):
    """Compute the inverse of :func:`hfft`: n // 2 + 1 complex numbers from n real ones; parameters as of :func:`rfft`.

    a: an array of real numbers; TypeError for complex ones.
    n: the number of elements of ``a`` that count: the axis is cut, or filled up with zeros.
    axis, norm, out: as of :func:`fft`; "backward" (None) divides by n.

    The result has n // 2 + 1 elements along the axis, and is complex64 for 16-bit and 32-bit floats, else complex128.

    >>> fft.ihfft(gpuarray.array([4.0, 0.0, 0.0, 0.0])).real.get().round(6)
    array([1., 1., 1.])
    """
    a, axis = _axis_of(a, axis)
    n = length_of(n, a.shape[axis])
    scale = scale_of(_swapped(norm), n, False)
    return put_into(out, spectra.conjugate(rfft(a, n, axis), scale), "same_kind")


# Several axes


def _shape_and_axes(a, s, axes, inverse_real: bool = False):
    if axes is None:
        axes = range(-a.ndim if s is None else -len(s), 0)
    axes = [_indexing.normalize_axis(one, a.ndim) for one in axes]
    lengths = [a.shape[one] for one in axes] if s is None else list(s)
    if len(lengths) != len(axes):
        raise ValueError("Shape and axes have different lengths.")
    if s is None and inverse_real:
        lengths[-1] = 2 * (a.shape[axes[-1]] - 1)
    lengths = [
        a.shape[one] if n == -1 else n for n, one in zip(lengths, axes, strict=True)
    ]
    return [length_of(n, 0) for n in lengths], axes


def _over_axes(name: str, a, s, axes, norm, out):
    """fftn(), ifftn() or rfftn()."""
    if s is None:
        result = direct(name, a, None, axes, norm, out)
        if result is not None:
            return result
    a = as_array(a)
    return _transform(name, a, *_shape_and_axes(a, s, axes), norm, out)


@public("fft")
def fftn(a, s=None, axes=None, norm=None, out=None):
    """Compute the Fourier transform over several axes.

    s: the lengths along ``axes``; -1 is the extent of the axis.
    axes: the axes; None takes all, or the last ones if ``s`` is given.
    norm, out: as of :func:`fft`, with the number of all elements of a transform as n.

    Returns complex64 for float16, float32 and complex64, else complex128. Raises ValueError if ``s`` and ``axes`` have
    different lengths.

    >>> fft.fftn(gpuarray.ones((2, 2))).get().round(6)
    array([[4.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]])
    """
    return _over_axes("fft", a, s, axes, norm, out)


@public("fft")
def ifftn(a, s=None, axes=None, norm=None, out=None):
    """Compute the inverse of :func:`fftn`, with the same parameters.

    Returns complex numbers as :func:`fft` does. Raises ValueError if ``s`` and ``axes`` have different lengths.

    >>> fft.ifftn(gpuarray.ones((2, 2))).get().round(6)
    array([[1.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]])
    """
    return _over_axes("ifft", a, s, axes, norm, out)


@public("fft")
def rfftn(a, s=None, axes=None, norm=None, out=None):
    """Compute the Fourier transform of real numbers over several axes: :func:`rfft` over the last, then :func:`fft`.

    The result has s // 2 + 1 elements along the last axis. Parameters are those of :func:`fftn`. Raises TypeError
    for complex numbers, IndexError for no axes.

    >>> fft.rfftn(gpuarray.ones((2, 4))).shape
    (2, 3)
    """
    return _over_axes("rfft", a, s, axes, norm, out)


@public("fft")
def irfftn(a, s=None, axes=None, norm=None, out=None):
    """Compute the inverse of :func:`rfftn`; the last of ``s`` is 2 (m - 1) by default. Parameters as of :func:`fftn`.

    s: the extents of the result along ``axes``; the last one is 2 (m - 1) by default, with m elements of ``a``.
    axes: the axes, by default the last ``len(s)``, or all. The last of them becomes real.

    Returns float32 for complex64, else float64. Imaginary parts that a real signal does not have are ignored.

    >>> fft.irfftn(gpuarray.ones((2, 3))).shape
    (2, 4)
    """
    a = as_array(a)
    lengths, axes = _shape_and_axes(a, s, axes, inverse_real=True)
    _need_axis(axes)
    return transform_to_real(a, lengths, axes, norm, out)


def _need_axis(axes) -> None:
    if not axes:
        raise IndexError("a transform of real numbers expects at least one axis")


@public("fft")
def fft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """Compute :func:`fftn` over two axes, by default the last ones.

    s: two extents: each axis is cut, or filled up with zeros; by default those of ``a``.
    axes: two axes.
    norm: as of :func:`fft`, for the number of elements along both axes.
    out: an array for the result, of the shape that ``a`` has with the extents ``s``.

    Returns complex64 or complex128 as :func:`fft` does, and raises the errors of :func:`fftn`.

    >>> fft.fft2(gpuarray.ones((2, 2))).get().round(6)
    array([[4.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]])
    """
    return fftn(a, s, axes, norm, out)


@public("fft")
def ifft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """Compute :func:`ifftn` over two axes, by default the last ones.

    Returns complex64 for float16, float32 and complex64, else complex128. The inverse of :func:`fft2`, with its
    parameters. ``norm`` None or "backward" divides by the number of elements along both axes.

    >>> fft.ifft2(gpuarray.ones((2, 2))).get().round(6)
    array([[1.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]])
    """
    return ifftn(a, s, axes, norm, out)


@public("fft")
def rfft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """Compute :func:`rfftn` over two axes, by default the last ones; parameters as of :func:`fft2`.

    axes: two axes; along the last one the result has n // 2 + 1 elements, as of :func:`rfft`.

    >>> fft.rfft2(gpuarray.ones((2, 4))).shape
    (2, 3)
    """
    return rfftn(a, s, axes, norm, out)


@public("fft")
def irfft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """Compute :func:`irfftn` over two axes, by default the last ones.

    s: the two extents of the result; the last one is 2 (m - 1) by default, with m elements of ``a``.
    axes, norm, out: as of :func:`rfft2`, whose inverse this is. The last of the axes becomes real.

    Returns float32 for complex64, else float64.

    >>> fft.irfft2(gpuarray.ones((2, 3))).shape
    (2, 4)
    """
    return irfftn(a, s, axes, norm, out)


# Frequencies


def _frequency_step(n, d) -> float:
    if not isinstance(n, (int, np.integer)) or n < 0:
        raise ValueError(f"n must be an integer that is not negative, not {n!r}")
    return float(1.0 / (n * d))


@public("fft", numpy=False)
def fftfreq(n: int, d: float = 1.0, *, dtype=None, device=None):
    """Compute the frequencies of the elements of :func:`fft`, in cycles per unit of ``d``.

    n: the number of samples.
    d: the distance between samples.
    dtype: the type of the result, by default float64.
    device: None, or the current context's device.

    >>> fft.fftfreq(4, 0.5)
    array([ 0. ,  0.5, -1. , -0.5])
    """
    check_device(device)
    step = _frequency_step(n, d)
    counts = roll(arange(-(n // 2), n - n // 2, dtype=np.int64), -(n // 2))
    return (counts * step).astype(dtype or np.float64, copy=False)


@public("fft", numpy=False)
def rfftfreq(n: int, d: float = 1.0, *, dtype=None, device=None):
    """Compute the frequencies of the elements of :func:`rfft`; parameters as of :func:`fftfreq`.

    Returns a vector of n // 2 + 1 frequencies, from 0 to 1 / (2 d).

    >>> fft.rfftfreq(4, 0.5)
    array([0. , 0.5, 1. ])
    """
    check_device(device)
    step = _frequency_step(n, d)
    return (arange(n // 2 + 1, dtype=np.int64) * step).astype(
        dtype or np.float64, copy=False
    )


def _shifted(x, axes, inverse: bool):
    x = as_array(x)
    axes = range(x.ndim) if axes is None else np.atleast_1d(axes).tolist()
    shifts = [-(x.shape[i] // 2) if inverse else x.shape[i] // 2 for i in axes]
    if len(shifts) == 1:
        return roll(x, shifts[0], axes[0])
    return roll(x, tuple(shifts), tuple(axes))


@public("fft")
def fftshift(x, axes=None):
    """Move the zero frequency to the middle of axes: an int, several, or None for all.

    x: an array of any dtype.
    axes: an int, several, or None for all axes.

    Returns a new array, rolled by half of the extent along each axis. :func:`ifftshift` undoes this.

    >>> fft.fftshift(fft.fftfreq(4))
    array([-0.5 , -0.25,  0.  ,  0.25])
    """
    return _shifted(x, axes, inverse=False)


@public("fft")
def ifftshift(x, axes=None):
    """Move the zero frequency back to the front: the inverse of :func:`fftshift`.

    x: an array of any dtype.
    axes: an int, several, or None for all axes.

    Returns a new array. The two functions differ for axes of odd extent.

    >>> fft.ifftshift(fft.fftshift(fft.fftfreq(4)))
    array([ 0.  ,  0.25, -0.5 , -0.25])
    """
    return _shifted(x, axes, inverse=True)
