"""The class GPUArray; see pycuda.gpuarray."""

from __future__ import annotations

import warnings

import numpy as np

from pycuda import _driver
from pycuda._driver import ArrayBase, _Work
from pycuda._driver import _array_apply as apply
from pycuda.arrays.array_class.algorithms import AlgorithmMethods
from pycuda.arrays.array_class.copying import CopyMethods
from pycuda.arrays.array_class.flags import ArrayFlags, Derived
from pycuda.arrays.array_class.numbers import NumberMethods
from pycuda.arrays.array_class.parts import PartMethods
from pycuda.arrays.array_class.private import PrivateMethods
from pycuda.arrays.creation.conversion import check_equal, from_foreign, to_gpu_async
from pycuda.arrays.creation.filled import empty_as, filled, splay
from pycuda.arrays.indexing import items as _items
from pycuda.arrays.interop import textures as _textures
from pycuda.arrays.interop.exchange import ExchangeMethods
from pycuda.arrays.own_device import methods_on_own_device
from pycuda.arrays.shapes import axes as _axes


@methods_on_own_device
class GPUArray(
    ArrayBase,
    AlgorithmMethods,
    CopyMethods,
    ExchangeMethods,
    NumberMethods,
    PartMethods,
    PrivateMethods,
):
    """An array on the device: elements of ``dtype`` in the given ``shape``.

    shape: the extents of the axes, a tuple or one int.
    dtype: the type of the elements: bool, integers, floats of 16 to 64 bits, complex numbers, or structs.
    allocator: a function that returns memory for a number of bytes, by default the context's pool.
    base: an object that is kept alive as long as the array.
    gpudata: existing memory: a DeviceAllocation or an address. The array is on the device of this memory.
    strides: the distances between elements along each axis, in bytes; by default the elements have no gaps.
    order: "C" (the last axis is contiguous in memory) or "F" (the first axis is), without ``strides``.

    Arithmetic follows NumPy: broadcasting, types by NEP 50. Operations return before the device is done;
    :meth:`get` waits. Operations run on the array's device, in the current stream.

    >>> x = gpuarray.GPUArray((2, 2), np.float32).fill(3)
    >>> x + 1
    array([[4., 4.],
           [4., 4.]], dtype=float32)
    """

    __slots__ = ()
    __module__ = "pycuda.gpuarray"  # where programs and pickles find it
    __array_priority__ = 100

    def __init__(
        self,
        shape,
        dtype=np.float64,
        allocator=None,
        base=None,
        gpudata=None,
        strides=None,
        order: str = "C",
    ) -> None:
        _driver._array_init(
            self, shape, dtype, allocator, base, gpudata, strides, order
        )

    def __array__(self, dtype=None, copy=None):
        raise TypeError(
            "a GPUArray is not converted to a numpy array implicitly; call get()"
        )

    # Properties

    @Derived
    def flags(self) -> ArrayFlags:
        """The order of the elements in memory: an object with ``c_contiguous``, ``f_contiguous``, ``forc`` and ``writeable``.

        ``flags.writeable = False`` makes the array read-only; see :meth:`setflags`.

        >>> gpuarray.zeros((2, 3)).T.flags.f_contiguous
        True
        """
        return ArrayFlags(self)

    @property
    def T(self) -> GPUArray:
        """A view with the axes in reverse order.

        >>> gpuarray.array([[1, 2], [3, 4]]).T
        array([[1, 3],
               [2, 4]])
        """
        return _driver._transpose(self, None)

    @property
    def mT(self) -> GPUArray:
        """A view with the last two axes exchanged: matrices transposed.

        >>> gpuarray.zeros((5, 2, 3)).mT.shape
        (5, 3, 2)
        """
        return _driver._matrix_transpose(self)

    @property
    def __cuda_array_interface__(self) -> dict:
        return {
            "shape": self.shape,
            "strides": self.strides,
            "data": (self.ptr if self.size else 0, not self._writable),
            "typestr": self.dtype.str,
            "descr": self.dtype.descr,
            "stream": _driver._stream_number(self),
            "version": 3,
        }

    @Derived
    def _grid(self) -> tuple[int, int]:
        return splay(self.size)[0]

    @Derived
    def _block(self) -> tuple[int, int, int]:
        return splay(self.size)[1]

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __repr__(self) -> str:
        return repr(self.get())

    def __str__(self) -> str:
        return str(self.get())

    def __format__(self, spec: str) -> str:
        return format(self.item() if self.ndim == 0 else self.get(), spec)

    # Between host and device

    def set(self, ary, async_: bool = False, stream=None, **kwargs) -> None:
        """Copy a host array, or another device array, to this array.

        ary: an array of the same shape and dtype. Another shape of the same size is a warning.
        async_: True returns before the copy is done; a host array is kept alive until then.
        stream: the stream of the copy, by default the current one.

        Raises ValueError for another size or dtype.

        >>> x = gpuarray.zeros(2)
        >>> x.set(np.array([1.0, 2.0]))
        >>> x
        array([1., 2.])
        """
        async_ = kwargs.pop("async", async_)
        if kwargs:
            raise TypeError(f"set() got an unexpected keyword {next(iter(kwargs))!r}")
        on_device = isinstance(ary, ArrayBase)
        if not on_device:
            ary = np.asarray(ary)
        check_equal(ary.size, self.size, "ary and self must be the same size")
        check_equal(ary.dtype, self.dtype, "ary and self must have the same dtype")
        if ary.shape != self.shape:
            warnings.warn("Setting array from one with different shape.", stacklevel=2)
            ary = ary.reshape(self.shape)
        if self.size == 0:
            return
        if on_device or not _driver._array_is_dense(self):
            with _Work(stream):
                _driver._array_assign(self, ary if on_device else to_gpu_async(ary))
            return
        if ary.strides != self.strides:
            ordered = np.ndarray(self.shape, self.dtype, strides=self.strides)
            ordered[...] = ary
            ary = ordered
        _driver._array_set_bytes(self, ary, stream)
        if stream is not None and not async_:
            stream.synchronize()

    def set_async(self, ary, stream=None) -> None:
        """:meth:`set` that returns before the copy is done.

        ary: an array of the host of the same shape and dtype. If its memory is page-locked, it must stay as it is until the
            stream has done the copy; other memory is read before the call returns.
        stream: the stream of the copy, by default the current one.

        Raises TypeError or ValueError for an array that does not fit.

        >>> x = gpuarray.zeros(2)
        >>> x.set_async(np.array([1.0, 2.0]))
        >>> x
        array([1., 2.])
        """
        self.set(ary, async_=True, stream=stream)

    def get(
        self,
        ary=None,
        pagelocked: bool = False,
        async_: bool = False,
        stream=None,
        **kwargs,
    ) -> np.ndarray:
        """Copy the elements to the host. The call returns when the copy is done.

        ary: a host array for the elements, of the same size and dtype; by default a new one.
        pagelocked: True makes the new array in page-locked memory, which the device copies to directly.
        async_: True returns before the copy is done.
        stream: the stream of the copy, by default the current one.

        Raises ValueError for an ``ary`` of another size, TypeError for another dtype.

        >>> gpuarray.array([1, 2]).get()
        array([1, 2])
        """
        async_ = kwargs.pop("async", async_)
        if kwargs:
            raise TypeError(f"get() got an unexpected keyword {next(iter(kwargs))!r}")
        source = self
        if not (self._c_contiguous or _driver._array_is_dense(self)):
            source = GPUArray.copy(self, stream=stream)
        target = ary
        if ary is None:
            ary = target = self._new_host_array(source, pagelocked)
        else:
            target = self._check_target(ary, source)
        if self.size:
            _driver._array_get_bytes(source, target, stream)
            if stream is not None and not (async_ and target is ary):
                stream.synchronize()
            if target is not ary:
                ary[...] = target.reshape(ary.shape)
        return ary

    def _new_host_array(self, source, pagelocked: bool):
        if not pagelocked and source._c_contiguous:
            return np.empty(self.shape, self.dtype)
        if not pagelocked:
            return np.ndarray(self.shape, self.dtype, strides=source.strides)
        from pycuda.driver import pagelocked_empty

        order = "F" if source._f_contiguous and not source._c_contiguous else "C"
        host = pagelocked_empty(self.shape, self.dtype, order=order)
        return host if host.strides == source.strides else np.empty_like(host)

    def _check_target(self, ary, source):
        if not isinstance(ary, np.ndarray):
            raise TypeError(f"ary must be a NumPy array, not {type(ary).__name__}")
        check_equal(self.size, ary.size, "self and ary must be the same size")
        check_equal(
            self.dtype, ary.dtype, "self and ary must have the same dtype", TypeError
        )
        if ary.shape != self.shape:
            warnings.warn(
                "get() between arrays of different shape is deprecated",
                DeprecationWarning,
                stacklevel=3,
            )
        elif ary.strides == source.strides:
            return ary
        return np.ndarray(self.shape, self.dtype, strides=source.strides)

    def get_async(self, stream=None, ary=None) -> np.ndarray:
        """:meth:`get` that returns before the copy is done, if ``ary`` is in page-locked memory.

        stream: the stream of the copy.
        ary: the host array, for example from ``pycuda.driver.pagelocked_empty()``. Synchronize the stream before you
            read it. A new array, and one in ordinary memory, is complete when this method returns, as in PyCUDA.

        >>> stream = cuda.Stream()
        >>> host = cuda.pagelocked_empty(2, np.int64)
        >>> gpuarray.array([1, 2]).get_async(stream, host) is host
        True
        >>> stream.synchronize()
        >>> host
        array([1, 2])
        """
        return self.get(ary, async_=True, stream=stream)

    def item(self, *index):
        """Copy one element to the host, as a Python number.

        index: nothing for the only element, a flat index in C order, or an index for each axis.

        Raises ValueError or IndexError for an array of several elements without an index and for an index outside.

        >>> gpuarray.array([[1, 2], [3, 4]]).item(2)
        3
        """
        if len(index) == 1 and not isinstance(index[0], tuple) and self.ndim != 1:
            index = tuple(int(i) for i in np.unravel_index(index[0], self.shape))
        elif len(index) == 1 and isinstance(index[0], tuple):
            (index,) = index
        return (self[index] if index else self).get().item()

    def tolist(self) -> list:
        """Copy all elements to the host, as nested lists of Python numbers.

        An array without axes gives a number. The call waits for the device.

        >>> gpuarray.array([[1, 2], [3, 4]]).tolist()
        [[1, 2], [3, 4]]
        """
        return self.get().tolist()

    # Copies and views

    def copy(self, order: str = "K", stream=None) -> GPUArray:
        """Copy the array.

        order: "K" keeps the order of the axes in memory; "C", "F" and "A" (as this array) make it contiguous.
        stream: the stream of the work, by default the current one.

        >>> x = gpuarray.zeros(2)
        >>> y = x.copy().fill(1)
        >>> x
        array([0., 0.])
        """
        if stream is not None:
            with _Work(stream):
                return GPUArray.copy(self, order)
        result = empty_as(self, order, None, type(self))
        _driver._array_assign(result, self)
        return result

    def astype(self, dtype, stream=None, copy: bool = True) -> GPUArray:
        """Convert the elements to ``dtype``.

        stream: the stream of the work, by default the current one.
        copy: False returns the array itself if it has the type already.

        >>> gpuarray.array([1.7, -1.7]).astype(np.int32)
        array([ 1, -1], dtype=int32)
        """
        if not copy and np.dtype(dtype) == self.dtype:
            return self
        if stream is not None:
            with _Work(stream):
                return GPUArray.astype(self, dtype)
        result = empty_as(self, "K", dtype, type(self))
        _driver._array_assign(result, self)
        return result

    def fill(self, value, stream=None) -> GPUArray:
        """Set all elements to ``value``, a number or an array that is broadcast. Returns the array itself.

        stream: the stream of the work, by default the current one.

        >>> gpuarray.empty(2, np.int32).fill(7)
        array([7, 7], dtype=int32)
        """
        if stream is None:
            return filled(self, value)
        with _Work(stream):
            return filled(self, value)

    def _assign(self, value) -> None:
        if not isinstance(value, ArrayBase):
            if isinstance(value, (np.ndarray, list, tuple, np.void)):
                value = to_gpu_async(np.asarray(value, self.dtype))
            elif self.dtype.kind == "V":
                value = to_gpu_async(np.array(value, self.dtype))
            elif not isinstance(value, (int, float, complex, np.generic)):
                lent = from_foreign(value)
                value = value if lent is None else lent
        _driver._array_assign(self, value)

    def setflags(self, write: bool | None = None) -> None:
        """Set ``flags.writeable``; None leaves the flag as it is.

        Raises ValueError for True on a view of an array that is read-only.

        >>> x = gpuarray.zeros(3)
        >>> x.setflags(write=False)
        >>> x.flags.writeable
        False
        """
        if write is not None:
            self._writable = write

    def _view(self, offset: int, shape, strides, dtype=None) -> GPUArray:
        return _driver._array_view(self, offset, shape, strides, dtype)

    def view(self, dtype=None) -> GPUArray:
        """View the same memory with another dtype.

        The extent of the axis that is last in memory changes with the size of the elements. Raises ValueError if it
        does not divide, or if that axis has gaps.

        >>> gpuarray.array([1.0], np.float32).view(np.uint32)
        array([1065353216], dtype=uint32)
        """
        if dtype is None:
            return self._view(0, self.shape, self.strides)
        dtype = np.dtype(dtype)
        old, new = self.itemsize, dtype.itemsize
        shape, strides = list(self.shape), list(self.strides)
        if old != new:
            axis = self.ndim - 1
            if self.size and not self._c_contiguous:
                axis = _axes.last_axis_in_memory(self)
            if axis < 0 or not new or shape[axis] * old % new:
                raise ValueError("new type not compatible with array")
            if strides[axis] != old and shape[axis] != 1 and self.size:
                raise ValueError("new type not compatible with array")
            shape[axis] = shape[axis] * old // new
            strides[axis] = new
        return self._view(0, shape, strides, dtype)

    def reshape(self, *shape, order: str = "C", copy=None) -> GPUArray:
        """View the same memory with another shape, one of whose extents may be -1; as in PyCUDA.

        order: "C" or "F", the order of the result; "A" is the order of this array.
        copy: True always copies, False raises ValueError if a copy is necessary.

        The elements are taken in the order of memory. This differs from NumPy if the two orders differ:
        ``numpy.reshape(a, shape, order)`` keeps NumPy's order of the elements, and copies if necessary. An array with
        gaps is copied first.

        >>> gpuarray.array([1, 2, 3, 4]).reshape(2, -1)
        array([[1, 2],
               [3, 4]])
        """
        if len(shape) == 1:
            (shape,) = shape
        if order == "A":
            order = "F" if self._f_contiguous and not self._c_contiguous else "C"
        if order not in ("C", "F"):
            raise ValueError(f"order must be 'C', 'F' or 'A', not {order!r}")
        if copy or not (self._c_contiguous or self._f_contiguous):
            return self._reshape(shape, order=order, copy=copy)
        if not (self._f_contiguous if order == "F" else self._c_contiguous):
            shape = _driver._complete_shape(shape, self.size)
            strides = _axes.contiguous_strides(shape, self.dtype.itemsize, order)
            return _driver._array_view(self, 0, shape, strides, None)
        return _driver._reshape(self, shape, order)

    def ravel(self, order: str | None = None) -> GPUArray:
        """Return all elements along one axis, in the order of memory: a view if possible, else a copy.

        order: "C", "F", "A" or "K" gives the elements in NumPy's order instead.

        >>> gpuarray.array([[1, 2], [3, 4]]).T.ravel()
        array([1, 2, 3, 4])
        """
        return self.reshape(self.size) if order is None else self._ravel(order)

    # With NumPy's order of elements; for NumPy's functions and inside this package.

    def _reshape(self, *shape, order: str = "C", copy=None) -> GPUArray:
        """As numpy.reshape(): a view where the memory allows it, else a copy."""
        if len(shape) == 1:
            (shape,) = shape
        if order == "A":
            order = "F" if self._f_contiguous and not self._c_contiguous else "C"
        result = None if copy else _driver._reshape(self, shape, order)
        if result is None:
            if copy is False:
                raise ValueError("this shape needs a copy, but copy is False")
            result = _driver._reshape(GPUArray.copy(self, order), shape, order)
        return result

    def _ravel(self, order: str = "C") -> GPUArray:
        """As numpy.ravel()."""
        if order in "KA" and self._f_contiguous and not self._c_contiguous:
            order = "F"
        return self._reshape(self.size, order="F" if order == "F" else "C")

    def flatten(self, order: str = "C") -> GPUArray:
        """Copy all elements along one axis, in ``order`` "C" or "F".

        In C order the last index runs fastest, in Fortran order the first. Returns a new vector; :meth:`ravel` copies only
        where it must.

        >>> gpuarray.array([[1, 2], [3, 4]]).flatten("F")
        array([1, 3, 2, 4])
        """
        return self.copy(order)._reshape(self.size, order=order)

    def squeeze(self, axis=None) -> GPUArray:
        """View the array without axes of extent 1: all of them, or those of ``axis``.

        Raises ValueError for an axis of another extent.

        >>> gpuarray.zeros((1, 3)).squeeze().shape
        (3,)
        """
        return _driver._squeeze(self, axis)

    def transpose(self, *order, axes=None) -> GPUArray:
        """View the array with the axes in another order, by default reversed.

        order: the order, as several ints or one tuple; ``axes`` is another name.

        Raises ValueError unless the order is a permutation of the axes.

        >>> gpuarray.zeros((2, 3, 4)).transpose(2, 0, 1).shape
        (4, 2, 3)
        """
        axes = order or (axes,)
        if len(axes) == 1 and not isinstance(axes[0], (int, np.integer)):
            axes = axes[0]
        return _driver._transpose(self, axes)

    def swapaxes(self, axis1: int, axis2: int) -> GPUArray:
        """View the array with two axes exchanged.

        axis1, axis2: the axes; negative ones count from the end.

        Nothing is copied. Raises numpy.exceptions.AxisError for an axis that the array does not have.

        >>> gpuarray.zeros((2, 3)).swapaxes(0, 1).shape
        (3, 2)
        """
        return _driver._swapaxes(self, axis1, axis2)

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> GPUArray:
        """View the diagonal of two axes, which becomes the last axis.

        offset: which diagonal: 0 is the main one, positive ones are above it.

        >>> gpuarray.array([[1, 2], [3, 4]]).diagonal()
        array([1, 4])
        """
        return _driver._diagonal(self, offset, axis1, axis2)

    # The base class implements x[index] for ints, slices, None and an ellipsis.
    _get_item = _items.get_item
    _set_item = _items.set_item

    def __contains__(self, value) -> bool:
        return bool((self == value).any())

    def reverse(self, stream=None) -> GPUArray:
        """Copy the array with all elements in reverse order of memory.

        stream: the stream of the work, by default the current one.

        >>> gpuarray.array([1, 2, 3]).reverse()
        array([3, 2, 1])
        """
        with _Work(stream):
            result = empty_as(self, "K", None, type(self))
            _driver._array_assign(result._ravel("K"), self._ravel("K")[::-1])
        return result

    bind_to_texref = _textures.bind_to_texref
    bind_to_texref_ext = _textures.bind_to_texref_ext

    # Arithmetic without operators

    def __divmod__(self, other) -> tuple[GPUArray, GPUArray]:
        return self // other, self % other

    def __rdivmod__(self, other) -> tuple[GPUArray, GPUArray]:
        return other // self, other % self

    def mul_add(self, selffac, other, otherfac, add_timer=None, stream=None, out=None):
        """Compute ``selffac * self + otherfac * other`` in one pass.

        selffac, otherfac: numbers. other: an array that is broadcast.
        add_timer: called as ``add_timer(bytes, seconds)`` with the bytes that were moved and the time; the call waits then.
        stream: the stream of the work, by default the current one. out: an array for the result.

        >>> gpuarray.array([1, 2]).mul_add(10, gpuarray.array([3, 4]), 1)
        array([13, 24])
        """
        if add_timer is None:
            return apply("mul_add", self, selffac, other, otherfac, out=out, stream=stream)  # fmt: skip
        start, end = _driver.Event(), _driver.Event()
        with _Work(stream):
            start.record()
            out = apply("mul_add", self, selffac, other, otherfac, out=out)
            end.record()
        end.synchronize()
        add_timer(3 * self.nbytes, start.time_till(end) * 1e-3)
        return out


_driver._register_array_class(GPUArray)
