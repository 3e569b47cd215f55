"""Singular values, eigenvalues of Hermitian matrices, and related functions, compared with numpy.linalg."""

import numpy as np
import pytest

from pycuda import gpuarray, linalg

pytestmark = pytest.mark.usefixtures("device")

RNG = np.random.default_rng(5)
SHAPES = [(1, 1), (2, 2), (5, 3), (3, 5), (33, 40), (36, 36), (4, 3, 3), (2, 3, 5, 6)]
EMPTY = [(0, 3), (3, 0), (0, 4, 4), (2, 0, 0)]
# Without full rank: the columns of U and V without a singular value must be computed, too.
SINGULAR = [
    np.zeros((4, 3)),
    np.ones((6, 6)),
    np.diag([3.0, 0, 0, 2]),
    np.outer(np.arange(7.0), np.arange(9.0)),
    np.array([[0.0, 1], [0, 0]]),
    np.diag([1.0, 1e-30, 1e-200]),
]


def numbers(shape, dtype="f8"):
    x = RNG.normal(size=shape) + 1j * RNG.normal(size=shape)
    return (x if np.dtype(dtype).kind == "c" else x.real).astype(dtype)


def adjoint(x):
    return x.conj().swapaxes(-1, -2)


def check_svd(a, **options):
    u, s, vh = (x.get() for x in linalg.svd(gpuarray.to_gpu(a), **options))
    expected = np.linalg.svd(a, **options)
    for one, other in zip((u, s, vh), expected, strict=True):
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
    limit = 100 * np.finfo(s.dtype).eps
    scale = max(1e-300, abs(expected[1]).max(initial=0))
    np.testing.assert_allclose(s, expected[1], rtol=0, atol=limit * scale)
    k = s.shape[-1]
    again = (u[..., :k] * s[..., None, :]) @ vh[..., :k, :]
    np.testing.assert_allclose(again, a, rtol=0, atol=limit * scale)
    for orthonormal in (adjoint(u) @ u, vh @ adjoint(vh)):
        identity = np.broadcast_to(np.eye(orthonormal.shape[-1]), orthonormal.shape)
        np.testing.assert_allclose(orthonormal, identity, rtol=0, atol=limit)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
def test_svd(dtype):
    for shape in SHAPES:
        check_svd(numbers(shape, dtype))
    check_svd(numbers((7, 4), dtype), full_matrices=False)
    check_svd(numbers((4, 7), dtype), full_matrices=False)


def test_svd_of_stacks_without_elements_and_other_types():
    for shape in EMPTY:
        check_svd(np.zeros(shape))
        check_svd(np.zeros(shape), full_matrices=False)
    check_svd(np.arange(12).reshape(3, 4))
    check_svd(numbers((3, 6, 5)).swapaxes(0, 2)[::-1])


@pytest.mark.parametrize("k", range(len(SINGULAR)))
def test_svd_without_full_rank(k):
    check_svd(SINGULAR[k])
    check_svd(SINGULAR[k], full_matrices=False)
    check_svd(SINGULAR[k].T.astype(np.complex64))


def test_extreme_sizes_and_small_singular_values():
    check_svd(numbers((5, 5)) * 1e200)
    check_svd((numbers((5, 4)) * 1e-30).astype("f4"))
    graded = np.diag([1.0, 1e-8, 1e-14]) @ np.array([[2.0, 1, 0], [1, 2, 1], [0, 1, 2]])
    s = linalg.svdvals(gpuarray.to_gpu(graded)).get()
    assert abs(s.prod() / 4e-22 - 1) < 1e-12  # the determinant: all of them are precise


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
def test_eigh(dtype):
    for shape in ((1, 1), (2, 2), (33, 33), (40, 40), (4, 3, 3), (0, 0), (2, 0, 3, 3)):
        a = numbers(shape, dtype)
        for uplo in "LU":
            values, vectors = linalg.eigh(gpuarray.to_gpu(a), uplo)
            expected = np.linalg.eigh(a, uplo)
            w, v = values.get(), vectors.get()
            assert (w.shape, w.dtype) == (expected[0].shape, expected[0].dtype)
            assert (v.shape, v.dtype) == (expected[1].shape, expected[1].dtype)
            limit = 100 * np.finfo(w.dtype).eps * abs(expected[0]).max(initial=1)
            np.testing.assert_allclose(w, expected[0], rtol=0, atol=limit)
            again = (v * w[..., None, :]) @ adjoint(v)
            whole = (expected[1] * expected[0][..., None, :]) @ adjoint(expected[1])
            np.testing.assert_allclose(again, whole, rtol=0, atol=limit)


def test_eigh_of_equal_and_opposite_eigenvalues():
    swap = np.array([[0.0, 1], [1, 0]])  # -1 and 1: the same singular value twice
    for a in (swap, np.kron(swap, np.eye(3)), np.zeros((3, 3)), np.eye(4) * -2):
        w, v = (x.get() for x in np.linalg.eigh(gpuarray.to_gpu(a)))
        np.testing.assert_allclose(w, np.linalg.eigvalsh(a), atol=1e-14)
        np.testing.assert_allclose(a @ v, v * w, atol=1e-14)
        np.testing.assert_allclose(v.T @ v, np.eye(len(a)), atol=1e-14)
    values = np.linalg.eigvalsh(gpuarray.to_gpu(swap * 1e200)).get()
    np.testing.assert_allclose(values, [-1e200, 1e200])


def same(call, *arrays, limit=1e-11):
    result = call(*(gpuarray.to_gpu(x) for x in arrays))
    expected = np.asarray(call(*arrays))
    assert isinstance(result, gpuarray.GPUArray)
    assert (result.shape, result.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_allclose(result.get(), expected, rtol=limit, atol=limit)


def test_pseudo_inverses_and_ranks():
    for a in (
        numbers((4, 6)),
        numbers((3, 5, 2), "c16"),
        numbers((0, 3)),
        *SINGULAR[:4],
    ):
        same(np.linalg.pinv, a)
        same(np.linalg.matrix_rank, a)
    a = np.diag([1.0, 1e-3, 1e-9])
    for options in (
        {"rcond": 1e-2},
        {"rtol": 1e-6},
        {"rtol": None},
        {"hermitian": True},
    ):
        same(lambda a, options=options: np.linalg.pinv(a, **options), a)
    for options in ({"tol": 1e-2}, {"rtol": 1e-6}, {"hermitian": True}):
        same(lambda a, options=options: np.linalg.matrix_rank(a, **options), a)
    same(np.linalg.matrix_rank, np.array([0.0, 0]))
    same(np.linalg.matrix_rank, np.float64(3)[None])


@pytest.mark.parametrize("shape", [(0, 0), (3, 0), (0, 3), (4, 0, 0), (0, 3, 3)])
@pytest.mark.parametrize("order", [1, 2, np.inf, "fro", "nuc"])
def test_norms_of_empty_matrices(shape, order):
    x = np.zeros(shape, np.float32)
    ours, theirs = (
        np.linalg.norm(one, order, axis=(-2, -1)) for one in (gpuarray.to_gpu(x), x)
    )
    assert (ours.dtype, ours.shape) == (theirs.dtype, np.shape(theirs))
    assert np.array_equal(ours.get(), theirs)


def test_no_matrices_have_no_condition_numbers():
    assert np.linalg.cond(gpuarray.zeros((0, 3, 3))).shape == (0,)
    assert np.linalg.norm(gpuarray.zeros(0), np.inf).get() == 0


def test_conditions_and_norms():
    a = numbers((3, 4, 4), "c16")
    for p in (None, 2, -2, 1, -1, np.inf, -np.inf, "fro", "nuc"):
        same(lambda a, p=p: np.linalg.cond(a, p), a)
    same(np.linalg.cond, numbers((5, 3)))
    assert np.isinf(linalg.cond(gpuarray.zeros((2, 2))).get())
    for order in (2, -2, "nuc"):
        same(lambda a, order=order: np.linalg.norm(a, order, axis=(0, 2)), a)
        same(
            lambda a, order=order: np.linalg.matrix_norm(a, ord=order, keepdims=True), a
        )


@pytest.mark.parametrize("shape", [(6, 3), (3, 6), (4, 4), (5, 0), (0, 5)])
@pytest.mark.parametrize("columns", [(), (2,)])
def test_least_squares(shape, columns):
    for a in (numbers(shape), np.ones(shape), numbers(shape, "c8")):
        b = numbers((shape[0], *columns))
        result = np.linalg.lstsq(gpuarray.to_gpu(a), gpuarray.to_gpu(b))
        expected = np.linalg.lstsq(a, b)
        limit = 1e-4 if a.dtype == np.complex64 else 1e-11
        assert result[2] == expected[2]
        for k in (0, 1, 3):
            assert result[k].shape == expected[k].shape
            np.testing.assert_allclose(
                result[k].get(), expected[k], rtol=limit, atol=limit
            )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda a: linalg.svd(a[0]), "1-dimensional array given"),
        (lambda a: linalg.eigh(a[:2]), "must be square"),
        (lambda a: linalg.svd(a / 0), "SVD did not converge"),
        (lambda a: linalg.eigvalsh(a * np.nan), "Eigenvalues did not converge"),
        (lambda a: linalg.lstsq(a[None], a), "must be two-dimensional"),
        (lambda a: linalg.lstsq(a, a[:2]), "Incompatible dimensions"),
        (lambda a: linalg.cond(a[:0]), "not defined on empty"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(linalg.LinAlgError, match=message):
        call(gpuarray.to_gpu(np.eye(3)))
    with pytest.raises(ValueError, match="UPLO"):
        linalg.eigh(gpuarray.to_gpu(np.eye(3)), "X")
    with pytest.raises(ValueError, match="can't be both set"):
        linalg.pinv(gpuarray.to_gpu(np.eye(3)), 1e-3, rtol=1e-3)


@pytest.mark.parametrize("p", [1, "fro", np.inf])
def test_condition_of_singular_and_undefined_matrices(p):
    a = np.stack([np.ones((3, 3)), 2 * np.eye(3), np.full((3, 3), np.nan)])
    expected = [np.inf, np.linalg.cond(a[1], p), np.nan]
    got = linalg.cond(gpuarray.to_gpu(a), p).get()
    np.testing.assert_allclose(got, expected)
