"""gpuarray compared with numpy: results of the same call, for many shapes, strides and types."""

import numpy as np
import pytest
from like_numpy import hypothesis, settings

from pycuda import gpuarray

st = pytest.importorskip("hypothesis.strategies")
npst = pytest.importorskip("hypothesis.extra.numpy")

# Hundreds of kernels are compiled the first time.
pytestmark = [
    pytest.mark.usefixtures("device"),
    pytest.mark.slow,
    pytest.mark.timeout(600),
]
TYPES = ["?", "u1", "i4", "f4", "c8"]


def values(dtype, shape):
    """Numbers that are exact in every type, without NaN and infinities."""
    small = st.integers(0, 1 if dtype == "?" else 7)
    return npst.arrays(dtype, shape, elements=small.map(np.dtype(dtype).type))


@st.composite
def strided(draw, shape):
    """An array of a type in TYPES, perhaps transposed, reversed or with gaps."""
    dtype = draw(st.sampled_from(TYPES))
    order = draw(st.permutations(range(len(shape))))
    steps = [draw(st.sampled_from([1, 1, -1, 2, -2])) for _ in shape]
    full = [n * abs(step) for n, step in zip(shape, steps, strict=True)]
    whole = draw(values(dtype, tuple(full[axis] for axis in order)))
    whole = whole.transpose(np.argsort(order))
    index = tuple(slice(None, None, step) for step in steps)
    return whole, index


def both(whole, index):
    return whole[index], gpuarray.to_gpu(whole)[index]


def agree(result, expected):
    result = result.get()
    assert (result.dtype, result.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(result, expected, rtol=1e-6)


@st.composite
def operands(draw):
    shapes = draw(
        npst.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=5)
    )
    return [draw(strided(shape)) for shape in shapes.input_shapes]


@pytest.mark.parametrize("name", ["add", "multiply", "less", "maximum", "divide"])
@settings
@hypothesis.given(pair=operands())
def test_elementwise(name, pair):
    (a, x), (b, y) = (both(*operand) for operand in pair)
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(a, b)
    agree(getattr(gpuarray, name)(x, y), np.asarray(expected))


@pytest.mark.parametrize("name", ["sum", "max", "any", "argmin"])
@settings
@hypothesis.given(data=st.data())
def test_reductions(name, data):
    shape = data.draw(npst.array_shapes(min_dims=1, max_dims=3, max_side=40))
    a, x = both(*data.draw(strided(shape)))
    axis = data.draw(st.sampled_from([None, *range(len(shape))]))
    agree(getattr(x, name)(axis), np.asarray(getattr(a, name)(axis)))


@settings
@hypothesis.given(data=st.data())
def test_indexing(data):
    shape = data.draw(npst.array_shapes(min_dims=1, max_dims=3, max_side=5))
    a, x = both(*data.draw(strided(shape)))
    index = data.draw(
        st.one_of(
            npst.basic_indices(shape, allow_newaxis=True),
            npst.integer_array_indices(shape),
            npst.arrays(np.bool_, shape),
        )
    )
    agree(x[index], np.asarray(a[index]))
    a, x = a.copy(), x.copy()
    a[index] = 1
    x[index] = 1
    agree(x, a)


@settings
@hypothesis.given(data=st.data())
def test_reshape(data):
    shape = data.draw(npst.array_shapes(min_dims=1, max_dims=3, max_side=4))
    a, x = both(*data.draw(strided(shape)))
    axes = data.draw(st.permutations(range(len(shape))))
    agree(x.transpose(axes), a.transpose(axes))
    agree(x.transpose(axes).reshape(-1), a.transpose(axes).reshape(-1))
    agree(x.reshape(-1, shape[0]), a.reshape(-1, shape[0]))
