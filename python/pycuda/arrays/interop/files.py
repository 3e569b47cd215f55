"""Arrays in files, in numpy's format, and as text."""

from __future__ import annotations

import numpy as np

from pycuda._driver import ArrayBase
from pycuda.arrays.creation.conversion import to_gpu
from pycuda.arrays.registry import public


def _to_host(value):
    return value.get() if isinstance(value, ArrayBase) else value


@public()
def save(file, arr, allow_pickle: bool = True) -> None:
    """Write an array to a file (a name, or an open file) as numpy.save does."""
    np.save(file, _to_host(arr), allow_pickle)


@public()
def savez(file, *args, **kwds) -> None:
    """Write several arrays to one file as numpy.savez does."""
    _save_all(np.savez, file, args, kwds)


@public()
def savez_compressed(file, *args, **kwds) -> None:
    """The same, compressed."""
    _save_all(np.savez_compressed, file, args, kwds)


def _save_all(write, file, args, kwds) -> None:
    write(
        file,
        *(_to_host(value) for value in args),
        **{name: _to_host(value) for name, value in kwds.items()},
    )


@public()
def savetxt(fname, X, *args, **kwds) -> None:
    """Write an array as text, as numpy.savetxt does."""
    np.savetxt(fname, _to_host(X), *args, **kwds)


@public()
def load(file, mmap_mode=None, allow_pickle: bool = False, **kwargs):
    """An array from a file that numpy.save or :func:`save` wrote; of savez, a dict of arrays.

    ``mmap_mode="r"`` lets a large file go to the device without a copy in memory first.
    """
    loaded = np.load(file, mmap_mode, allow_pickle, **kwargs)
    if isinstance(loaded, np.ndarray):
        return to_gpu(loaded)
    with loaded:
        return {name: to_gpu(loaded[name]) for name in loaded.files}


@public()
def array_repr(arr, *args, **kwargs) -> str:
    """The array as numpy.array_repr writes it."""
    return np.array_repr(arr.get(), *args, **kwargs)


@public()
def array_str(a, *args, **kwargs) -> str:
    """The array as numpy.array_str writes it."""
    return np.array_str(a.get(), *args, **kwargs)


@public()
def array2string(a, *args, **kwargs) -> str:
    """The array as numpy.array2string writes it."""
    return np.array2string(a.get(), *args, **kwargs)
