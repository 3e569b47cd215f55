"""Products of arrays; see pycuda.gpuarray. All of them are made of products of matrices.

On a GPU, cuBLAS (the wheel nvidia-cublas, or a toolkit) multiplies floats if it is installed. Kernels of this package
compute all other products.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections import Counter

import numpy as np
from numpy.linalg import LinAlgError

from pycuda import _driver
from pycuda._driver import ArrayBase
from pycuda._driver import _array_apply as _apply
from pycuda.arrays.creation.conversion import as_array
from pycuda.arrays.registry import public
from pycuda.arrays.shapes import axes as _axes
from pycuda.arrays.shapes.views import broadcast_to


def _finish(result, out, stream=None):
    if isinstance(out, tuple):  # of numpy's ufuncs
        (out,) = out
    if out is None:
        return result
    return _apply("copy", result, out=out, stream=stream)


def _product(a, b, dtype=None, stream=None):
    for factor in (a, b) if dtype is not None else ():
        if not np.can_cast(factor.dtype, dtype, "same_kind"):
            raise TypeError(
                f"a factor of {factor.dtype} cannot be cast to {np.dtype(dtype)}"
            )
    return _driver._array_product(
        a, b, None if dtype is None else np.dtype(dtype), stream
    )


@public(array_api=True)
@public("linalg")
def matmul(x1, x2, /, out=None, *, dtype=None, stream=None):
    """Multiply matrices, or stacks of matrices, which are broadcast.

    x1: an array (..., n, k), or a vector of k elements, which is a row.
    x2: an array (..., k, m), or a vector of k elements, which is a column.
    out: an array for the result. dtype: the type of the products and sums; TypeError if it is of a lower kind.
    stream: the stream of the work, by default the current one.

    Returns an array (..., n, m). 16-bit floats are added in float32. By cuBLAS for floats on a GPU if the library
    is found, else by tiles in shared memory. Raises ValueError for shapes that do not fit and for numbers,
    TypeError for arrays of the host.

    >>> gpuarray.matmul(gpuarray.array([[1, 2], [3, 4]]), gpuarray.array([1, 1]))
    array([3, 7])
    """
    for factor in (x1, x2):
        if not isinstance(factor, ArrayBase):
            raise TypeError(
                f"matmul() expects arrays of the device, not {type(factor).__name__}; copy it with "
                "pycuda.gpuarray.to_gpu() first"
            )
    a, b = x1, x2
    if a.ndim == 0 or b.ndim == 0:
        raise ValueError(
            "matmul() expects arrays of at least one axis; multiply numbers with *"
        )
    rows = b.shape[0 if b.ndim == 1 else -2]
    if a.shape[-1] != rows:
        raise ValueError(
            f"arrays of shapes {a.shape} and {b.shape} cannot be multiplied: "
            f"{a.shape[-1]} columns in the first, {rows} rows in the second"
        )
    left, right = a.ndim == 1, b.ndim == 1
    a = a[None, :] if left else a
    b = b[:, None] if right else b
    result = _product(a, b, dtype, stream)
    shape = list(result.shape)
    if right:
        del shape[-1]
    if left:
        del shape[-1 if right else -2]
    return _finish(result._reshape(shape), out, stream)


@public(module=False)
def dot(a, b, out=None):
    """Multiply as numpy.dot does: sum over the last axis of ``a`` and the last but one of ``b``.

    out: an array for the result.

    ``pycuda.gpuarray.dot`` has PyCUDA's meaning instead: all elements of two arrays of one shape.

    >>> gpuarray.array([[1, 2], [3, 4]]).dot(gpuarray.array([1, 1]))
    array([3, 7])
    """
    a, b = as_array(a), as_array(b)
    if a.ndim == 0 or b.ndim == 0:
        return _finish(a * b, out)
    if a.ndim <= 2 and b.ndim <= 2:
        return matmul(a, b, out)
    return _finish(tensordot(a, b, ((a.ndim - 1,), (max(b.ndim - 2, 0),))), out)


@public(module=False)
def vdot(a, b):
    """Add up the products of all elements, those of ``a`` conjugated. Raises ValueError for two sizes.

    a, b: arrays with equally many elements, of any shapes; they are read in C order.

    Returns an array without axes, of the common type of both.

    >>> np.vdot(gpuarray.array([1j, 2]), gpuarray.array([1j, 3]))
    array(7.+0.j)
    """
    a, b = as_array(a)._ravel(), as_array(b)._ravel()
    if a.size != b.size:
        raise ValueError(
            f"cannot reshape array of size {a.size} into shape ({b.size},)"
        )
    return matmul(a.conj(), b)


@public()
def inner(a, b):
    """Sum products over the last axes of both arrays; of numbers, their product.

    a, b: arrays whose last axes have the same extent. The other axes of ``a``, then those of ``b``, are the result's.

    Raises ValueError if the extents of the last axes differ.

    >>> gpuarray.inner(gpuarray.array([1, 2]), gpuarray.array([3, 4]))
    array(11)
    """
    a, b = as_array(a), as_array(b)
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    return tensordot(a, b, ((a.ndim - 1,), (b.ndim - 1,)))


@public(array_api=True)
@public("linalg")
def vecdot(x1, x2, /, out=None, *, axis=-1, dtype=None):
    """Sum the products over one axis of two arrays that are broadcast; elements of ``x1`` are conjugated.

    x1, x2: arrays of the same extent along the axis; ValueError for others.
    out: an array for the result. axis: the axis, by default the last one.
    dtype: the type of the products and sums.

    >>> gpuarray.vecdot(gpuarray.array([[1, 2], [3, 4]]), gpuarray.array([1, 1]))
    array([3, 7])
    """
    a, b = as_array(x1), as_array(x2)
    a = _moved_last(a, axis).conj()
    b = _moved_last(b, axis)
    return _finish(_product(a[..., None, :], b[..., :, None], dtype)[..., 0, 0], out)


@public()
def matvec(x1, x2, /, out=None, *, dtype=None):
    """Multiply matrices (..., n, k) and vectors (..., k), which are broadcast. Returns an array (..., n).

    x1, x2: the matrices and the vectors.
    out: an array for the result. dtype: the type of the products and sums. Raises ValueError for shapes that do not fit.

    >>> gpuarray.matvec(gpuarray.array([[1, 2], [3, 4]]), gpuarray.array([1, 1]))
    array([3, 7])
    """
    a, b = as_array(x1), as_array(x2)
    if a.ndim < 2 or b.ndim < 1:
        raise ValueError(
            f"matvec() expects a matrix and a vector, not shapes {a.shape} and {b.shape}"
        )
    return _finish(_product(a, b[..., :, None], dtype)[..., 0], out)


@public()
def vecmat(x1, x2, /, out=None, *, dtype=None):
    """Multiply vectors (..., k), conjugated, and matrices (..., k, m), which are broadcast. Returns (..., m).

    x1, x2: the vectors and the matrices.
    out: an array for the result. dtype: the type of the products and sums. Raises ValueError for shapes that do not fit.

    >>> gpuarray.vecmat(gpuarray.array([1, 1]), gpuarray.array([[1, 2], [3, 4]]))
    array([4, 6])
    """
    a, b = as_array(x1), as_array(x2)
    if a.ndim < 1 or b.ndim < 2:
        raise ValueError(
            f"vecmat() expects a vector and a matrix, not shapes {a.shape} and {b.shape}"
        )
    return _finish(_product(a.conj()[..., None, :], b, dtype)[..., 0, :], out)


def check_matrices(a) -> None:
    if a.ndim < 2:
        raise LinAlgError(
            f"{a.ndim}-dimensional array given. Array must be at least two-dimensional"
        )


def check_square(a) -> None:
    check_matrices(a)
    if a.shape[-1] != a.shape[-2]:
        raise LinAlgError("Last 2 dimensions of the array must be square")


@public(numpy=False)
@public("linalg")
def matrix_power(a, n: int):
    """Raise square matrices (..., n, n) to an integer power, by repeated squaring.

    n: the power; the inverse is taken for a negative one.

    Returns matrices of the shape and dtype of ``a``; of float64 for integers with a negative power. Raises
    LinAlgError for matrices that are not square, and for a singular one with a negative power.

    >>> gpuarray.matrix_power(gpuarray.array([[1, 1], [0, 1]]), 3)
    array([[1, 3],
           [0, 1]])
    """
    n, a = operator.index(n), as_array(a)
    check_square(a)
    if n < 0:
        from pycuda.arrays.linalg.factoring import (
            inv,  # imported here, because loading takes a millisecond
        )

        n, a = -n, inv(a)
    if n == 0:
        result = _driver._array_empty(a.shape, a.dtype, None, "C", type(a)).fill(0)
        result.diagonal(0, -2, -1).fill(1)
        return result
    if n == 3:  # NumPy's order of products: it decides where infinities become NaN
        return matmul(matmul(a, a), a)
    result = None
    while True:
        if n & 1:
            result = a if result is None else matmul(result, a)
        n >>= 1
        if n == 0:
            return result.copy() if result is a else result
        a = matmul(a, a)


def _moved_last(a, axis):
    axis = _axes.normalize_axis(axis, a.ndim)
    return a.transpose([i for i in range(a.ndim) if i != axis] + [axis])


def _axes_pair(a, b, axes):
    if isinstance(axes, (int, np.integer)):
        count = operator.index(axes)
        return list(range(a.ndim - count, a.ndim)), list(range(count))
    first, second = axes
    first = [first] if isinstance(first, (int, np.integer)) else list(first)
    second = [second] if isinstance(second, (int, np.integer)) else list(second)
    return (
        [_axes.normalize_axis(axis, a.ndim) for axis in first],
        [_axes.normalize_axis(axis, b.ndim) for axis in second],
    )


@public(array_api=True)
@public("linalg")
def tensordot(a, b, axes=2):
    """Sum products over several axes of two arrays.

    axes: the number of last axes of ``a`` and first axes of ``b``, or a list of axes for each.

    The other axes of ``a`` come first in the result, then those of ``b``. Raises ValueError if extents differ.

    >>> gpuarray.tensordot(gpuarray.array([[1, 2], [3, 4]]), gpuarray.array([[1, 0], [0, 1]]), axes=2)
    array(5)
    """
    a, b = as_array(a), as_array(b)
    first, second = _axes_pair(a, b, axes)
    if [a.shape[i] for i in first] != [b.shape[i] for i in second]:
        raise ValueError("shape-mismatch for sum")
    kept_a = [i for i in range(a.ndim) if i not in first]
    kept_b = [i for i in range(b.ndim) if i not in second]
    length = math.prod(a.shape[i] for i in first)
    shape = [a.shape[i] for i in kept_a] + [b.shape[i] for i in kept_b]
    rows = math.prod(a.shape[i] for i in kept_a)
    columns = math.prod(b.shape[i] for i in kept_b)
    left = a.transpose(kept_a + first)._reshape(rows, length)
    right = b.transpose(second + kept_b)._reshape(length, columns)
    return _product(left, right)._reshape(shape)


@public()
def kron(a, b):
    """Compute the Kronecker product: each element of ``a`` times all of ``b``, in its place.

    a, b: arrays of any shapes; the one with fewer axes gets axes of extent 1 in front.

    The extents of the result are the products of those of ``a`` and ``b``; its dtype is the common one.

    >>> gpuarray.kron(gpuarray.array([1, 10]), gpuarray.array([1, 2]))
    array([ 1,  2, 10, 20])
    """
    a, b = as_array(a), as_array(b)
    ndim = max(a.ndim, b.ndim)
    a = a._reshape((1,) * (ndim - a.ndim) + a.shape)
    b = b._reshape((1,) * (ndim - b.ndim) + b.shape)
    wide_a = a._reshape([n for extent in a.shape for n in (extent, 1)])
    wide_b = b._reshape([n for extent in b.shape for n in (1, extent)])
    shape = [m * n for m, n in zip(a.shape, b.shape, strict=True)]
    return (wide_a * wide_b)._reshape(shape)


# Einstein's summation


def _parse(subscripts: str, operands) -> tuple[list[str], str]:
    """Return the letters of each operand and of the result. An ellipsis is replaced by unused letters, whose axes
    are broadcast."""
    text = subscripts.replace(" ", "")
    if text.count("->") > 1 or any(c not in ",.->" and not c.isalpha() for c in text):
        raise ValueError(f"einsum() does not understand the subscripts {subscripts!r}")
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(operands):
        raise ValueError(
            f"einsum(): {len(terms)} subscripts for {len(operands)} operands"
        )
    most = max(
        (op.ndim - len(t.replace("...", "")) for t, op in zip(terms, operands, strict=True) if "..." in t),
        default=0,
    )  # fmt: skip
    hidden = _hidden_letters(set(left), most)
    expanded = []
    for term, operand in zip(terms, operands, strict=True):
        count = operand.ndim - len(term.replace("...", ""))
        term = term.replace("...", hidden[most - count : most] if count else "")
        if len(term) != operand.ndim or "." in term:
            raise ValueError(
                f"einsum(): subscripts {term!r} do not fit an operand of {operand.ndim} axes"
            )
        expanded.append(term)
    if not arrow:
        counts = Counter("".join(expanded))
        shown = hidden
        return expanded, shown + "".join(
            sorted(c for c, n in counts.items() if n == 1 and c not in shown)
        )
    right = right.replace("...", hidden)
    if len(set(right)) != len(right) or not set(right) <= set("".join(expanded)):
        raise ValueError(f"einsum() cannot make {right!r} of {','.join(terms)!r}")
    return expanded, right


def _hidden_letters(used: set, count: int) -> str:
    """Choose letters for the axes of an ellipsis."""
    letters = (
        c for c in map(chr, range(0x100, 0x180)) if c.isalpha() and c not in used
    )
    return "".join(itertools.islice(letters, count))


def _take_diagonals(a, term: str):
    """Replace two axes with the same letter by their diagonal."""
    letters = "".join(dict.fromkeys(term))
    if letters == term:
        return a, term
    shape, strides = [], []
    for letter in letters:
        places = [i for i, c in enumerate(term) if c == letter]
        if len({a.shape[i] for i in places}) != 1:
            raise ValueError(f"einsum(): the axes {letter!r} have different extents")
        shape.append(a.shape[places[0]])
        strides.append(sum(a.strides[i] for i in places))
    return a._view(0, shape, strides), letters


def _sum_away(a, term: str, wanted: set):
    axes = tuple(i for i, c in enumerate(term) if c not in wanted)
    if axes:
        a = a.sum(axis=axes, dtype=a.dtype)
        term = "".join(c for c in term if c in wanted)
    return a, term


def _contract(a, left: str, b, right: str, wanted: set):
    """Contract two operands by a product of matrices. Letters of both operands are axes of the stack if the result has
    them; else they are summed over. Letters of one operand are its rows or columns."""
    a, left = _sum_away(a, left, wanted | set(right))
    b, right = _sum_away(b, right, wanted | set(left))
    common = [c for c in left if c in right]
    stack = [c for c in common if c in wanted]
    gone = [c for c in common if c not in wanted]
    rows = [c for c in left if c not in right]
    columns = [c for c in right if c not in left]
    extents = {}
    for array, term in ((a, left), (b, right)):
        for c, n in zip(term, array.shape, strict=True):
            if extents.get(c, 1) not in (1, n) and n != 1:
                raise ValueError(
                    f"einsum(): axis {c!r} has extents {extents[c]} and {n}"
                )
            extents[c] = max(extents.get(c, 1), n) if n else 0

    def arranged(array, term, *groups):
        """Reorder the axes by groups. Each group becomes one axis, except the first one, the stack."""
        order = [c for group in groups for c in group]
        array = array.transpose([term.index(c) for c in order])
        array = broadcast_to(array, [extents[c] for c in order])
        sizes = [math.prod(extents[c] for c in group) for group in groups[1:]]
        return array._reshape([extents[c] for c in groups[0]] + sizes)

    result = _product(
        arranged(a, left, stack, rows, gone), arranged(b, right, stack, gone, columns)
    )
    term = stack + rows + columns
    return result._reshape([extents[c] for c in term]), "".join(term)


@public()
def einsum(subscripts, /, *operands, out=None, dtype=None, optimize="greedy"):
    """Compute a sum of products in Einstein's notation.

    subscripts: a letter for each axis of each operand and of the result, as "ij,jk->ik"; "..." are further axes.
        A letter that is not in the result is summed over.
    out: an array for the result. dtype: the type of the products and sums.
    optimize: as of numpy.einsum_path, which finds the order in which operands are contracted in pairs.

    Raises ValueError for subscripts that do not fit the operands.

    >>> x = gpuarray.array([[1, 2], [3, 4]])
    >>> gpuarray.einsum("ij,ij->i", x, x)
    array([ 5, 25])
    """
    if not isinstance(subscripts, str):
        raise TypeError("einsum() on the device expects its subscripts as a str")
    arrays = [as_array(operand) for operand in operands]
    terms, wanted = _parse(subscripts, arrays)
    kind = (
        np.result_type(*(array.dtype for array in arrays))
        if dtype is None
        else np.dtype(dtype)
    )
    arrays = [array.astype(kind, copy=False) for array in arrays]
    pairs = [_take_diagonals(a, t) for a, t in zip(arrays, terms, strict=True)]
    for place in _order(pairs, wanted, optimize):
        chosen = [pairs[i] for i in place]
        pairs = [pair for i, pair in enumerate(pairs) if i not in place]
        letters = set(wanted).union(*(term for _, term in pairs))
        while len(chosen) > 1:
            (a, left), (b, right) = chosen[:2]
            still = letters.union(*(term for _, term in chosen[2:]))
            chosen[:2] = [_contract(a, left, b, right, still)]
        pairs.append(chosen[0])
    ((result, term),) = pairs
    result, term = _sum_away(result, term, set(wanted))
    result = result.transpose([term.index(c) for c in wanted])
    return _finish(result, out) if out is not None else result


def _order(pairs, wanted: str, optimize):
    """The order of the contractions, which NumPy determines from the shapes."""
    if len(pairs) < 3 or optimize is False:
        return [tuple(range(len(pairs)))]
    # NumPy accepts ASCII letters only.
    letters = dict.fromkeys("".join(term for _, term in pairs))
    alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    if len(letters) > len(alphabet):
        return [tuple(range(len(pairs)))]
    plain = str.maketrans(dict(zip(letters, alphabet, strict=False)))
    text = ",".join(term.translate(plain) for _, term in pairs)
    stand_ins = [np.broadcast_to(np.empty(()), array.shape) for array, _ in pairs]
    path, _ = np.einsum_path(
        f"{text}->{wanted.translate(plain)}", *stand_ins,
        optimize="greedy" if optimize is True else optimize,
    )  # fmt: skip
    return path[1:]
