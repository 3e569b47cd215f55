"""ElementwiseKernel pairs the elements of arrays with any strides as numpy does."""

import numpy as np
import pytest
from foreign_array import ForeignArray

from pycuda.elementwise import ElementwiseKernel

pytest.importorskip("hypothesis")
import hypothesis.strategies as st  # noqa: E402
from hypothesis import HealthCheck, given, settings  # noqa: E402

DIFFERENCE = ElementwiseKernel("float *y, float *x", "y[i] = x[i] - y[i]")


@st.composite
def strided_views(draw):
    """A shape of up to four axes, and for each axis a step and a position in the order of memory."""
    shape = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    steps = [draw(st.sampled_from([-2, -1, 1, 2, 3])) for _ in shape]
    order = draw(st.permutations(range(len(shape))))
    return shape, steps, order


def strided(view, seed):
    shape, steps, order = view
    base = np.random.default_rng(seed).random(
        [shape[axis] * abs(steps[axis]) for axis in order], np.float32
    )

    def change(array):
        array = np.transpose(array, np.argsort(order))
        cut = tuple(slice(None, None, step) for step in steps)
        return array[cut][tuple(slice(0, n) for n in shape)]

    return change(base), ForeignArray(base), change


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(strided_views(), st.data())
def test_any_strides(device, view, data):
    shape = view[0]
    other = (
        shape,
        data.draw(st.permutations(view[1])),
        data.draw(st.permutations(view[2])),
    )
    x, x_gpu, change_x = strided(view, 0)
    y, y_gpu, change_y = strided(other, 1)
    DIFFERENCE(y_gpu.view(change_y), x_gpu.view(change_x))
    np.testing.assert_array_equal(y_gpu.view(change_y).get(), x - y)
