"""pycuda.linalg compared with numpy.linalg: sizes around the panels, stacks, types, errors."""

import numpy as np
import pytest

from pycuda import gpuarray, linalg
from pycuda.arrays.linalg import lapack

pytestmark = [
    pytest.mark.usefixtures("device"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # numpy of NaN
]

RNG = np.random.default_rng(8)


def numbers(shape, dtype):
    x = RNG.normal(size=shape) + 1j * RNG.normal(size=shape)
    return (x if np.dtype(dtype).kind == "c" else 5 * x.real).astype(dtype)


def check(call, *arrays):
    result = call(*(gpuarray.to_gpu(one) for one in arrays))
    expected = call(*arrays)
    if not isinstance(expected, tuple):
        result, expected = (result,), (expected,)
    for one, other in zip(result, expected, strict=True):
        assert isinstance(one, gpuarray.GPUArray)
        other = np.asarray(other)
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        limit = 2e-3 if one.dtype in (np.float32, np.complex64) else 1e-9
        np.testing.assert_allclose(one.get(), other, rtol=limit, atol=limit)


# Less than one panel of 32 columns, one panel, and several.
@pytest.mark.parametrize("n", [1, 5, 33, 100])
@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
def test_solve_and_determinants(n, dtype):
    a = numbers((n, n), dtype) + np.eye(n, dtype=dtype) * np.dtype(dtype).type(n)
    check(np.linalg.solve, a, numbers(n, dtype))
    check(np.linalg.solve, a, numbers((n, 3), dtype))
    check(np.linalg.inv, a)
    check(np.linalg.slogdet, a)
    if n <= 5:
        check(np.linalg.det, a)


@pytest.mark.parametrize("n", [4, 70])
@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
def test_cholesky(n, dtype):
    a = numbers((2, n, n), dtype)
    a = a @ a.conj().swapaxes(1, 2) + np.eye(n, dtype=dtype) * np.dtype(dtype).type(n)
    check(np.linalg.cholesky, a)
    check(lambda a: np.linalg.cholesky(a, upper=True), a[0])


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
@pytest.mark.parametrize(
    "shape", [(5, 5), (40, 7), (3, 9), (2, 1, 6, 4), (1, 1), (0, 3, 3), (4, 0)]
)
def test_qr(shape, dtype):
    a = numbers(shape, dtype)
    for mode in ("reduced", "complete"):
        check(lambda a: tuple(np.linalg.qr(a, mode)), a)  # noqa: B023
    check(lambda a: np.linalg.qr(a, "r"), a)


def test_qr_of_triangular_matrices():
    check(lambda a: tuple(np.linalg.qr(a)), np.triu(numbers((5, 5), "f8")))
    check(lambda a: tuple(np.linalg.qr(a)), np.zeros((4, 3)))


@pytest.mark.parametrize(
    ("first", "second"),
    [((3, 4, 4), (3, 4, 2)), ((4, 4), (5, 2, 4, 1)), ((2, 1, 4, 4), (3, 4, 6)),
     ((0, 4, 4), (0, 4, 2)), ((3, 0, 0), (3, 0, 2)), ((4, 4), (4, 0))],
)  # fmt: skip
def test_stacks(first, second):
    a, b = numbers(first, "f8"), numbers(second, "f8")
    check(np.linalg.solve, a, b)
    check(np.linalg.inv, a)
    check(np.linalg.det, a)
    check(np.linalg.slogdet, a)


def test_pivots_and_other_types():
    rows = np.array([[0, 2, 1], [4, 0, 3], [0, 0, 5]])
    for dtype in ("i4", "u1", "f4"):
        check(np.linalg.solve, rows.astype(dtype), np.arange(3))
        check(np.linalg.det, rows.astype(dtype))
    check(np.linalg.det, np.array([[1.0, 2], [2, 4]]))
    check(np.linalg.slogdet, np.zeros((2, 3, 3)))
    check(
        np.linalg.solve, numbers((40, 40), "f8")[::-1].T, numbers((40, 2), "f4")[::-1]
    )
    check(np.linalg.det, np.array([[1.0, np.nan], [2, 4]]))


def test_tensors():
    a = numbers((2, 3, 6), "f8")
    check(np.linalg.tensorsolve, a, numbers((2, 3), "f8"))
    check(np.linalg.tensorinv, a)
    check(lambda a: np.linalg.matrix_power(a, -3), numbers((4, 4), "f8"))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda a: linalg.solve(a * 0, a), "Singular matrix"),
        (lambda a: linalg.inv(gpuarray.to_gpu(np.ones((2, 3, 3)))), "Singular matrix"),
        (lambda a: linalg.cholesky(-a), "not positive definite"),
        (lambda a: linalg.det(a[:2]), "must be square"),
        (lambda a: linalg.inv(a[0]), "1-dimensional array given"),
        (lambda a: linalg.qr(a[0]), "1-dimensional array given"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(linalg.LinAlgError, match=message):
        call(gpuarray.to_gpu(np.eye(3)))
    with pytest.raises(TypeError, match="float16 is unsupported"):
        linalg.inv(gpuarray.zeros((2, 2), np.float16))
    with pytest.raises(ValueError, match=r"of shape \(2, 1\) does not fit"):
        linalg.solve(gpuarray.to_gpu(np.eye(3)), [1.0, 2.0])


def test_qr_of_small_and_large_numbers():
    a = numbers((6, 4), "f4")
    for scale in (1e-35, 1e30):  # their squares do not fit in float32
        q, r = linalg.qr(gpuarray.to_gpu(a * np.float32(scale)))
        expected = np.linalg.qr(a.astype("f8"))
        np.testing.assert_allclose(q.get(), expected[0], atol=2e-6)
        np.testing.assert_allclose(r.get() / scale, expected[1], atol=1e-4)


@pytest.mark.parametrize("n", [1, 100, 8192, 8193, 10000])
def test_order_of_rows_after_exchanges(n):
    """The pivots of getrf become an order of rows, which moves rows and moves them back."""
    rng = np.random.default_rng(n)
    pivots = np.stack([rng.integers(np.arange(n), n) + 1 for _ in range(2)])
    expected = np.tile(np.arange(n), (2, 1))
    for rows, exchanges in zip(expected, pivots, strict=True):
        for i, other in enumerate(exchanges - 1):
            rows[[i, other]] = rows[[other, i]]
    order = lapack._order_of_rows(gpuarray.to_gpu(pivots), np.dtype(np.float64))
    np.testing.assert_array_equal(order.get(), expected)
    sides = rng.normal(size=(2, 3, n))
    moved = lapack._with_rows_moved(gpuarray.to_gpu(sides), order, back=False)
    np.testing.assert_array_equal(
        moved.get(), np.take_along_axis(sides, expected[:, None], 2)
    )
    back = lapack._with_rows_moved(moved, order, back=True)
    np.testing.assert_array_equal(back.get(), sides)
