"""numpy's functions called on arrays of the device: ``numpy.concatenate([x, y])`` gives a GPUArray.

FUNCTIONS maps each of them to ours. The modules below have functions with numpy's names and
signatures, so that the table is made of the modules themselves.
"""

from __future__ import annotations

import inspect
from types import ModuleType

import numpy as np

from pycuda import fft as _fft
from pycuda import linalg as _linalg
from pycuda.arrays.creation import conversion, ranges
from pycuda.arrays.creation import filled as _creation
from pycuda.arrays.elementwise import comparing, elementwise
from pycuda.arrays.indexing import assigning, choosing, grids, selecting, triangles
from pycuda.arrays.interop import files
from pycuda.arrays.linalg import norms, products, vectors
from pycuda.arrays.numerics import differences, polynomials
from pycuda.arrays.own_device import on_own_device
from pycuda.arrays.reductions import functions as reduction_functions
from pycuda.arrays.reductions import scans
from pycuda.arrays.shapes import (
    applying,
    joining,
    padding,
    queries,
    repeating,
    splitting,
    views,
)
from pycuda.arrays.sorting import sets, sorting, unique
from pycuda.arrays.statistics import correlation, histograms, quantiles

MODULES = (
    views,
    joining,
    selecting,
    reduction_functions,
    applying,
    assigning,
    choosing,
    comparing,
    differences,
    elementwise,
    grids,
    padding,
    queries,
    repeating,
    splitting,
    triangles,
    unique,
    vectors,
    scans,
    sorting,
    products,
    histograms,
    quantiles,
    sets,
    correlation,
    polynomials,
    files,
)
LINALG = {
    **{
        name: getattr(_linalg, name)
        for name in (
            "solve inv det slogdet cholesky qr tensorinv tensorsolve eig eigvals eigh eigvalsh svd svdvals pinv "
            "lstsq matrix_rank cond"
        ).split()
    },
    "norm": norms.norm,
    "vector_norm": norms.vector_norm,
    "matrix_norm": norms.matrix_norm,
    "multi_dot": correlation.multi_dot,
    "matmul": products.matmul,
    "matrix_power": _linalg.matrix_power,
    "tensordot": lambda x1, x2, /, *, axes=2: products.tensordot(x1, x2, axes),
    "vecdot": products.vecdot,
    "cross": vectors.cross,
    "diagonal": lambda x, /, *, offset=0: x.diagonal(offset, -2, -1),
    "matrix_transpose": views.matrix_transpose,
    "outer": vectors.outer,
    "trace": lambda x, /, *, offset=0, dtype=None: triangles.trace(
        x, offset, -2, -1, dtype
    ),
}

FFT = {name: getattr(_fft, name) for name in _fft.__all__ if not name.endswith("freq")}


# What the modules below lend each other; no function of numpy.
_HELPERS = {"as_indices", "as_operand", "normalize_axes"}


def public_functions(module: ModuleType) -> dict:
    """The functions that a module defines (or renames), by their names in it."""
    return {
        name: value
        for name, value in vars(module).items()
        if inspect.isfunction(value)
        and not name.startswith("_")
        and name not in _HELPERS
        and value.__module__ == module.__name__
    }


# Making arrays: numpy.zeros(3, like=x). What only numpy's versions take is not passed on.


def _shaped(make):
    def function(shape, dtype=float, order="C", *, device=None):
        return make(shape, np.dtype(dtype), order=order)

    return function


def _full(shape, fill_value, dtype=None, order="C", *, device=None):
    return _creation.full(shape, fill_value, dtype, order=order)


def _arange(start, stop=None, step=None, dtype=None, *, device=None):
    if stop is None:
        start, stop = 0, start
    step = 1 if step is None else step
    if dtype is None:
        dtype = np.result_type(*(np.asarray(one).dtype for one in (start, stop, step)))
    return ranges.arange(start, stop, step, dtype=dtype)


def array(object, dtype=None, *, copy=True, order="K", subok=False, ndmin=0):
    """An array on the device: a copy, or with ``copy=None`` the array itself if it fits."""
    on_host = not hasattr(object, "dtype") and not conversion.holds_arrays(object)
    if dtype is not None and on_host:
        # Numbers become this type at once: by way of another, large ones would be rounded.
        object = np.asarray(object, dtype)
    result = conversion.as_array(object)
    fits = dtype is None or np.dtype(dtype) == result.dtype
    if not fits:
        if copy is False:
            raise ValueError("another type needs a copy, which copy=False forbids")
        result = result.astype(dtype)
    elif copy and result is object:
        result = result.copy(order)
    elif copy is False and result is not object:
        raise ValueError("what lives on the host cannot be used without a copy")
    if result.ndim < ndmin:
        result = result._reshape((1,) * (ndmin - result.ndim) + result.shape)
    return result


def asarray(a, dtype=None, order=None, *, device=None, copy=None):
    """The array itself where it lies on the device with that type, else a copy there."""
    return array(a, dtype, copy=copy)


asanyarray = asarray


def ascontiguousarray(a, dtype=None):
    """The array, or a copy in C order."""
    result = asarray(a, dtype)
    return result if result._c_contiguous else result.copy("C")


def asfortranarray(a, dtype=None):
    """The array, or a copy in Fortran order."""
    result = asarray(a, dtype)
    return result if result._f_contiguous else result.copy("F")


def _like(make):
    def function(prototype, dtype=None, order="K", subok=True, shape=None, *, device=None):  # fmt: skip
        return make(_creation.empty_as(prototype, order, dtype, type(prototype), shape))

    return function


def _full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None, *, device=None):  # fmt: skip
    return _creation.empty_as(a, order, dtype, type(a), shape).fill(fill_value)


def _eye(N, M=None, k=0, dtype=float, order="C", *, device=None):
    return _creation.eye(N, M, k, dtype, order)


def _linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):  # fmt: skip
    parts = num - 1 if endpoint else num
    if not all(np.ndim(one) == 0 for one in (start, stop)):
        raise TypeError("linspace() on the device wants numbers, not arrays")
    start, stop = (one.item() if hasattr(one, "item") else one for one in (start, stop))
    result = ranges.linspace(start, stop, num, endpoint, dtype)
    if retstep:
        return result, (stop - start) / parts if parts > 0 else float("nan")
    return result


CREATION = {
    "zeros": _shaped(_creation.zeros),
    "ones": _shaped(_creation.ones),
    "empty": _shaped(_creation.empty),
    "full": _full,
    "arange": _arange,
    "eye": _eye,
    "identity": lambda n, dtype=None: _creation.identity(n, dtype or float),
    "linspace": _linspace,
    "array": array,
    "asarray": asarray,
    "asanyarray": asarray,
    "ascontiguousarray": ascontiguousarray,
    "asfortranarray": asfortranarray,
    "zeros_like": _like(lambda result: result.fill(0)),
    "ones_like": _like(lambda result: result.fill(1)),
    "empty_like": _like(lambda result: result),
    "full_like": _full_like,
}


def named_functions() -> dict:
    """All functions with numpy's signatures, by numpy's names."""
    functions = dict(CREATION, copy=conversion.copy, astype=conversion.astype)
    functions.update(logspace=ranges.logspace, geomspace=ranges.geomspace)
    for module in MODULES:
        functions.update(public_functions(module))
    for alias, name in (
        ("concat", "concatenate"), ("row_stack", "vstack"), ("around", "round"),
        ("amin", "min"), ("amax", "max"),
    ):  # fmt: skip
        functions[alias] = functions[name]
    return functions


def _table() -> dict:
    table = {}
    for namespace, functions in (
        (np, named_functions()),
        (np.linalg, LINALG),
        (np.fft, FFT),
    ):
        for name, ours in functions.items():
            if hasattr(namespace, name):
                table[getattr(namespace, name)] = ours
    return table


FUNCTIONS = _table()


def array_function(self, func, types, args, kwargs):
    """``numpy.func(...)`` with an array of the device among its arguments."""
    ours = FUNCTIONS.get(func)
    if ours is None:
        name = f"{func.__module__}.{func.__name__}"
        raise TypeError(
            f"{name}() has no version for GPUArray; call it with get() of the array, on the "
            "host (docs/numpy_functions.md lists what there is)"
        )
    return _on_device_of(self, ours, args, kwargs)


@on_own_device
def _on_device_of(array, ours, args, kwargs):
    return ours(*args, **kwargs)
