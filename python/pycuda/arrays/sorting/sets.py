"""Sets of elements: unions, intersections, differences, and which elements are in one."""

import numpy as np

from pycuda import _device_code, _driver
from pycuda.arrays.creation.conversion import as_array, fitting_integers, wide_integers
from pycuda.arrays.creation.filled import empty, zeros
from pycuda.arrays.indexing.items import take_known
from pycuda.arrays.indexing.selecting import flatnonzero
from pycuda.arrays.registry import public
from pycuda.arrays.shapes.joining import concatenate
from pycuda.arrays.sorting.small_sets import choose, is_small
from pycuda.arrays.sorting.sorting import _argsort, _sort, searchsorted
from pycuda.arrays.sorting.unique import unique
from pycuda.arrays.ufuncs.universal_functions import UFUNCS


@public()
def union1d(ar1, ar2):
    """Find the elements that are in at least one of two arrays: sorted, each once, a vector.

    ar1, ar2: arrays of any shapes, whose elements can be sorted.

    The result has the common type of both. The number of its elements is known only when the device is done, so the call
    waits for it.

    >>> gpuarray.union1d(gpuarray.array([3, 1]), gpuarray.array([2, 3]))
    array([1, 2, 3])
    """
    return unique(concatenate((as_array(ar1), as_array(ar2)), axis=None))


@public()
def isin(element, test_elements, assume_unique=False, invert=False, *, kind=None):
    """Test for each element whether it is in a set.

    element: the array. test_elements: the set, an array or a list.
    assume_unique: accepted for NumPy's signature; the result does not depend on it.
    invert: True tests whether the element is not in the set.
    kind: accepted for NumPy's signature: None, "sort" or "table". The set is always sorted.

    >>> gpuarray.isin(gpuarray.array([1, 2, 3]), [3, 5])
    array([False, False,  True])
    """
    if kind not in (None, "sort", "table"):
        raise ValueError(f"kind must be None, 'sort' or 'table', not {kind!r}")
    wide = wide_integers(element)
    if wide is not None:
        return _isin_of_wide(wide, as_array(test_elements), invert)
    element, wide = as_array(element), wide_integers(test_elements)
    if wide is not None:
        values, fits = fitting_integers(wide, element.dtype)
        test_elements = values[fits]
    test = as_array(test_elements)._ravel()
    common = np.result_type(element.dtype, test.dtype)
    element, test = element.astype(common, copy=False), test.astype(common, copy=False)
    if test.size == 0:
        return zeros(element.shape, np.bool_).fill(bool(invert))
    test = _sort(test, 0)
    if test.size <= _MOST_MEMBERS and common.kind in "biuf" and common != np.float16:
        return _members(element, test, invert)
    place = searchsorted(test, element)
    # An element above all others is not equal to the last one, which stands behind the end.
    found = take_known(concatenate((test, test[-1:])), place)
    return UFUNCS["not_equal" if invert else "equal"](found, element)


_MOST_MEMBERS = 2048


def _members(element, test, invert):
    """:func:`isin` of a sorted set that fits shared memory."""
    element = element if element._c_contiguous else element.copy("C")
    found = empty(element.shape, np.bool_)
    if element.size:
        most = 32 * _driver.Context.get_device().multiprocessor_count
        _device_code.kernel("members", "members", "T most", test.dtype, _MOST_MEMBERS)(
            element, element.size, test, test.size, found, bool(invert),
            block=(256, 1, 1), grid=(min(-(-element.size // 256), most), 1),
        )  # fmt: skip
    return found


def _isin_of_wide(wide, test, invert):
    """:func:`isin` of Python ints of which some fit no dtype, and are in no set."""
    values, fits = fitting_integers(wide, test.dtype)
    found = isin(values, test) & as_array(fits)
    return ~found if invert else found


def _joined_if_small(a, b):
    """Both vectors as one, if :func:`choose` supports it, else None."""
    common = np.result_type(a.dtype, b.dtype)
    if not is_small(common, a.size + b.size):
        return None
    if common.kind == "f" and any(
        one.dtype.kind in "iu" and one.dtype.itemsize == 8 for one in (a, b)
    ):
        return None  # different integers may become equal floats
    return concatenate((a, b))


@public()
def intersect1d(ar1, ar2, assume_unique=False, return_indices=False):
    """Find the elements that are in both arrays: sorted, each once, a vector.

    assume_unique: whether neither array has an element twice, which saves a pass.
    return_indices: True returns (elements, their first indices in ``ar1``, those in ``ar2``).

    >>> gpuarray.intersect1d(gpuarray.array([3, 1, 2]), gpuarray.array([2, 3]))
    array([2, 3])
    """
    a, b = as_array(ar1)._ravel(), as_array(ar2)._ravel()
    if not assume_unique:
        if not return_indices and (joined := _joined_if_small(a, b)) is not None:
            return choose(joined, "both", a.size)[0]
        a, first_a = unique(a, return_index=True)
        b, first_b = unique(b, return_index=True)
    joined = concatenate((a, b))
    order = _argsort(joined, 0)
    ordered = take_known(joined, order)
    twice = flatnonzero(ordered[1:] == ordered[:-1])
    values = take_known(ordered, twice)
    if not return_indices:
        return values
    in_a, in_b = take_known(order, twice), take_known(order, twice + 1) - a.size
    if not assume_unique:
        in_a, in_b = take_known(first_a, in_a), take_known(first_b, in_b)
    return values, in_a, in_b


@public()
def setdiff1d(ar1, ar2, assume_unique=False):
    """Find the elements of ``ar1`` that are not in ``ar2``: sorted, each once, a vector.

    assume_unique: whether neither array has an element twice; the result keeps the order of ``ar1`` then.

    >>> gpuarray.setdiff1d(gpuarray.array([3, 1, 2]), gpuarray.array([2]))
    array([1, 3])
    """
    if not assume_unique:
        a = as_array(ar1)._ravel()
        if a.size and wide_integers(ar2) is None:
            joined = _joined_if_small(a, as_array(ar2)._ravel())
            if joined is not None and joined.dtype == a.dtype:
                return choose(joined, "first_only", a.size)[0]
    a = as_array(ar1)._ravel() if assume_unique else unique(as_array(ar1))
    return a[isin(a, ar2, invert=True)]


@public()
def setxor1d(ar1, ar2, assume_unique=False):
    """Find the elements that are in exactly one of two arrays: sorted, each once, a vector.

    ar1, ar2: arrays of any shapes; the result has their common type.
    assume_unique: whether neither array has an element twice, which saves a pass.

    >>> gpuarray.setxor1d(gpuarray.array([3, 1]), gpuarray.array([2, 3]))
    array([1, 2])
    """
    a, b = as_array(ar1)._ravel(), as_array(ar2)._ravel()
    if not assume_unique:
        if (small := _joined_if_small(a, b)) is not None:
            return choose(small, "either", a.size)[0]
        a, b = unique(a), unique(b)
    joined = _sort(concatenate((a, b)), 0)
    if joined.size == 0:
        return joined
    alone = zeros(joined.size + 1, np.bool_).fill(True)
    alone[1:-1] = joined[1:] != joined[:-1]
    return joined[alone[1:] & alone[:-1]]
