"""Arrays in files, in numpy's format, and as text."""

from __future__ import annotations

import numpy as np

from pycuda._driver import ArrayBase
from pycuda.arrays.creation.conversion import as_array, to_gpu
from pycuda.arrays.registry import public


def _to_host(value):
    return value.get() if isinstance(value, ArrayBase) else value


@public()
def save(file, arr, allow_pickle: bool = True) -> None:
    """Write an array to a file in NumPy's format, as numpy.save does.

    file: a name, to which ".npy" is appended if necessary, or an open binary file.
    arr: an array of the device or of the host.
    allow_pickle: as of numpy.save, for host arrays of objects.

    >>> file = io.BytesIO()
    >>> gpuarray.save(file, gpuarray.array([1, 2]))
    >>> len(file.getvalue())
    144
    """
    np.save(file, _to_host(arr), allow_pickle)


@public()
def savez(file, *args, **kwds) -> None:
    """Write several arrays to one file, as numpy.savez does; keywords name the arrays.

    file: a path, to which ".npz" is added where it is missing, or an open file.
    args: arrays, which are named arr_0, arr_1 ...
    kwds: arrays by their names.

    The arrays are copied to the host; numpy.load reads the file. Raises ValueError for a keyword
    arr_0 beside an unnamed array.

    >>> file = io.BytesIO()
    >>> gpuarray.savez(file, x=gpuarray.array([1, 2]))
    >>> np.load(io.BytesIO(file.getvalue()))["x"]
    array([1, 2])
    """
    _save_all(np.savez, file, args, kwds)


@public()
def savez_compressed(file, *args, **kwds) -> None:
    """Write several arrays to one compressed file; parameters as of :func:`savez`.

    The host compresses the copies of the arrays, which takes much longer than :func:`savez`.

    >>> file = io.BytesIO()
    >>> gpuarray.savez_compressed(file, x=gpuarray.array([1, 2]))
    >>> np.load(io.BytesIO(file.getvalue()))["x"]
    array([1, 2])
    """
    _save_all(np.savez_compressed, file, args, kwds)


def _save_all(write, file, args, kwds) -> None:
    write(
        file,
        *(_to_host(value) for value in args),
        **{name: _to_host(value) for name, value in kwds.items()},
    )


@public()
def savetxt(fname, X, *args, **kwds) -> None:
    """Write a vector or a matrix as text; parameters as of numpy.savetxt.

    fname: a path, compressed if it ends with ".gz", or an open file.
    X: a vector, one element a line, or a matrix, one row a line; ValueError for more axes.
    args, kwds: as of numpy.savetxt, such as ``fmt="%.3f"`` and ``delimiter=","``.

    The array is copied to the host; numpy.loadtxt reads the file.

    >>> file = io.StringIO()
    >>> gpuarray.savetxt(file, gpuarray.array([[1, 2], [3, 4]]), fmt="%d")
    >>> print(file.getvalue().strip())
    1 2
    3 4
    """
    np.savetxt(fname, _to_host(X), *args, **kwds)


@public()
def load(file, mmap_mode=None, allow_pickle: bool = False, **kwargs):
    """Read arrays from a file that numpy.save, numpy.savez, or the functions of these names in ``gpuarray`` wrote.

    file: a name or an open binary file.
    mmap_mode: "r" maps the file, so that a large file is copied to the device without another copy in host memory.
    allow_pickle: as of numpy.load.

    Returns a device array, or a dict of device arrays if the file contains several.

    >>> file = io.BytesIO()
    >>> np.save(file, [1, 2])
    >>> gpuarray.load(io.BytesIO(file.getvalue()))
    array([1, 2])
    """
    loaded = np.load(file, mmap_mode, allow_pickle, **kwargs)
    if isinstance(loaded, np.ndarray):
        return to_gpu(loaded)
    with loaded:
        return {name: to_gpu(loaded[name]) for name in loaded.files}


@public()
def array_repr(arr, *args, **kwargs) -> str:
    """Write an array as text as ``repr`` does; parameters as of numpy.array_repr.

    arr: an array, which is copied to the host.
    args, kwargs: as of numpy.array_repr: ``max_line_width``, ``precision``, ``suppress_small``.

    >>> gpuarray.array_repr(gpuarray.array([1.23456, 2.0]), precision=2)
    'array([1.23, 2.  ])'
    """
    return np.array_repr(as_array(arr).get(), *args, **kwargs)


@public()
def array_str(a, *args, **kwargs) -> str:
    """Write the elements as text as ``str`` does; parameters as of numpy.array_str.

    The array is copied to the host. Further arguments are those of numpy.array_str, such as ``precision``.

    >>> gpuarray.array_str(gpuarray.array([1.23456, 2.0]), precision=2)
    '[1.23 2.  ]'
    """
    return np.array_str(as_array(a).get(), *args, **kwargs)


@public()
def array2string(a, *args, **kwargs) -> str:
    """Write the elements as text; parameters as of numpy.array2string.

    a: an array, which is copied to the host.
    args, kwargs: as of numpy.array2string, such as ``precision``, ``separator`` and ``threshold``.

    >>> gpuarray.array2string(gpuarray.array([1, 2]), separator=", ")
    '[1, 2]'
    """
    return np.array2string(as_array(a).get(), *args, **kwargs)
