"""Lists and host arrays as arguments of array functions: copied to the device, or refused with a clear error."""

import numpy as np
import pytest

from pycuda import fft, gpuarray, linalg

pytestmark = pytest.mark.usefixtures("device")

ROWS = [[4.0, 1.0], [1.0, 3.0]]
#: As in NumPy, the argument of from_dlpack() must have the method __dlpack__(). The result of get_array_module()
#: depends on the type of its arguments.
PROTOCOLS = {"from_dlpack", "get_array_module"}


def public_functions():
    for module in (gpuarray, linalg, fft):
        for name in sorted(vars(module)):
            function = getattr(module, name)
            if name[0] != "_" and callable(function) and not isinstance(function, type):
                if name not in PROTOCOLS:
                    yield f"{module.__name__}.{name}", function


def call(function, value, count):
    """Its result, or its exception."""
    try:
        return function(*[value] * count)
    except Exception as error:
        return error


def shapes(result):
    """The shapes and dtypes of a result or of its parts."""
    if isinstance(result, (tuple, list)):
        return [shapes(one) for one in result]
    return getattr(result, "shape", None), getattr(result, "dtype", None)


@pytest.mark.parametrize("make", [list, np.array], ids=["list", "ndarray"])
def test_all_functions_take_them_or_say_why_not(make):
    tried = 0
    for name, function in public_functions():
        for count in (1, 2, 3):
            expected = call(function, gpuarray.to_gpu(np.array(ROWS)), count)
            if isinstance(expected, Exception):
                continue
            result = call(function, make(ROWS), count)
            if isinstance(result, Exception):
                assert isinstance(result, TypeError), f"{name}: {result!r}"
            else:
                assert shapes(result) == shapes(expected), name
            tried += 1
            break
    assert tried > 250


@pytest.mark.parametrize("name", ["place", "putmask", "fill_diagonal"])
def test_a_function_that_changes_an_array_wants_one_of_the_device(name):
    function = getattr(gpuarray, name)
    with pytest.raises(TypeError, match=rf"{name}\(\) changes an array of the device"):
        function(
            np.array(ROWS), *[np.array(ROWS)] * (1 if name == "fill_diagonal" else 2)
        )
