"""matmul, tensordot, einsum and similar functions compared with numpy: types, stacks, layouts, broadcasting."""

import numpy as np
import pytest

import pycuda
import pycuda.driver as cuda
from pycuda import _driver, gpuarray

pytestmark = pytest.mark.usefixtures("device")
TYPES = "?bBhHiIqQefdFD"


def numbers(shape, dtype, seed=0):
    """Numbers whose products are exact."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 3, shape)
    return (
        (x + 1j * rng.integers(-1, 2, shape)).astype(dtype)
        if dtype in "FD"
        else x.astype(dtype)
    )


def same(got, expected):
    expected = np.asarray(expected)
    got = got.get()
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(got, expected)


def both(*arrays):
    return [gpuarray.to_gpu(array) for array in arrays]


@pytest.mark.parametrize("dtype", TYPES)
def test_types(dtype):
    a, b = numbers((70, 33), dtype), numbers((33, 5), dtype, 1)
    x, y = both(a, b)
    same(x @ y, a @ b)
    same(x @ y[:, 0], a @ b[:, 0])
    with _driver._Kernels(own_product=True):
        same(_driver._array_product(x, y), a @ b)


@pytest.mark.parametrize(
    ("left", "right"),
    [((1, 1), (1, 1)), ((64, 16), (16, 64)), ((65, 17), (17, 129)), ((3, 200), (200, 4))]
    + [((130, 1), (1, 70)), ((2, 3, 4, 5), (3, 5, 6)), ((3, 1, 8, 9), (1, 2, 9, 7))]
    + [((5,), (5,)), ((4, 5), (5,)), ((5,), (5, 4)), ((2, 4, 5), (5,)), ((5,), (2, 5, 3))]
    + [((0, 3), (3, 4)), ((3, 0), (0, 4)), ((2, 0, 3), (3, 4)), ((0, 5, 3), (3, 4))],
)  # fmt: skip
def test_shapes(left, right):
    a, b = numbers(left, "f"), numbers(right, "f", 1)
    x, y = both(a, b)
    same(gpuarray.matmul(x, y), np.matmul(a, b))


def test_layouts_and_mixed_types():
    a, b = numbers((40, 50, 6), "i"), numbers((50, 70), "d", 1)
    x, y = both(a, b)
    views = [
        (np.s_[::-1, ::2, 0], np.s_[::-2, 3:]),
        (np.s_[:, :, ::-3], np.s_[:2, ::5]),
    ]
    same(x[views[0][0]] @ y[views[0][1]], a[views[0][0]] @ b[views[0][1]])
    same(x[views[1][0]] @ y[views[1][1]], a[views[1][0]] @ b[views[1][1]])
    same(x[:, :, 0].T @ x[:, :, 1], a[:, :, 0].T @ a[:, :, 1])
    same(y.T @ y, b.T @ b)


@pytest.mark.parametrize("dtype", ["e", "f", "d", "F"])
def test_floats_are_accurate(dtype):
    rng = np.random.default_rng(1)
    a, b = (
        rng.standard_normal(shape).astype(dtype) for shape in ((90, 700), (700, 80))
    )
    wide = np.complex128 if dtype == "F" else np.float64
    expected = (a.astype(wide) @ b.astype(wide)).astype(dtype)
    got = (gpuarray.to_gpu(a) @ gpuarray.to_gpu(b)).get()
    step = {"e": 2e-3, "f": 1e-5, "d": 1e-13, "F": 1e-5}[dtype]
    np.testing.assert_allclose(got, expected, rtol=step, atol=step * 50)


def test_out_dtype_and_stream():
    a, b = numbers((8, 9), "f"), numbers((9, 10), "f", 1)
    x, y = both(a, b)
    out = gpuarray.zeros((8, 10), np.float64)
    assert gpuarray.matmul(x, y, out) is out
    same(out, (a @ b).astype(np.float64))
    same(gpuarray.matmul(x, y, dtype=np.float64), (a @ b).astype(np.float64))
    same(np.matmul(x, y), a @ b)
    stream = cuda.Stream()
    result = gpuarray.matmul(x, y, stream=stream)
    stream.synchronize()
    same(result, a @ b)


def test_dot_inner_vdot():
    a, b, c = numbers((4, 5), "D"), numbers((5, 3), "D", 1), numbers((2, 5, 6), "D", 2)
    x, y, z = both(a, b, c)
    same(x.dot(y), a.dot(b))
    same(np.dot(x, z), np.dot(a, c))
    same(np.inner(x, x), np.inner(a, a))
    same(np.vdot(x, x), np.vdot(a, a))
    same(np.dot(z.transpose(0, 2, 1), x[0]), np.dot(c.transpose(0, 2, 1), a[0]))
    if hasattr(np, "vecdot"):
        same(np.vecdot(x, x[0]), np.vecdot(a, a[0]))


@pytest.mark.parametrize("axes", [0, 1, ([0], [1]), ([1, 0], [0, 1]), (-1, 0)])
def test_tensordot(axes):
    a, b = numbers((4, 5, 4), "i"), numbers((4, 4, 3), "i", 1)
    if axes == ([1, 0], [0, 1]):
        a = a[:, :4]
    x, y = both(a, b)
    same(gpuarray.tensordot(x, y, axes), np.tensordot(a, b, axes))


def test_kron_and_powers():
    a, b = numbers((3, 2), "i"), numbers((2, 4, 1), "f", 1)
    x, y = both(a, b)
    same(gpuarray.kron(x, y), np.kron(a, b))
    square = numbers((2, 4, 4), "q")
    for n in (0, 1, 5):
        same(
            np.linalg.matrix_power(gpuarray.to_gpu(square), n),
            np.linalg.matrix_power(square, n),
        )


@pytest.mark.parametrize(
    ("subscripts", "shapes"),
    [
        ("ij,jk->ik", [(4, 5), (5, 6)]),
        ("ij,jk", [(4, 5), (5, 6)]),
        ("ij->ji", [(4, 5)]),
        ("ii->i", [(4, 4)]),
        ("ii", [(4, 4)]),
        ("ijk->j", [(2, 3, 4)]),
        ("i,j->ij", [(3,), (4,)]),
        ("i,i", [(5,), (5,)]),
        ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]),
        ("...ij,...jk->...ik", [(2, 1, 3, 4), (6, 4, 5)]),
        ("...i->...", [(2, 3, 4)]),
        ("ij,kj,kl->il", [(2, 3), (4, 3), (4, 5)]),
        ("ab,bc,cd,de->ae", [(2, 3), (3, 4), (4, 5), (5, 2)]),
        ("iij,jk->ik", [(3, 3, 4), (4, 2)]),
        ("ij,ij->ij", [(3, 4), (3, 4)]),
        ("ijk,k,j->i", [(2, 3, 4), (4,), (3,)]),
        ("i,->i", [(3,), ()]),
    ],
)
def test_einsum(subscripts, shapes):
    arrays = [numbers(shape, "i", seed) for seed, shape in enumerate(shapes)]
    same(gpuarray.einsum(subscripts, *both(*arrays)), np.einsum(subscripts, *arrays))


def test_what_is_refused():
    x = gpuarray.zeros((2, 3), np.float32)
    with pytest.raises(
        ValueError, match="3 columns in the first, 2 rows in the second"
    ):
        x @ x
    with pytest.raises(ValueError, match=r"shapes \(5,\) and \(2, 3\) cannot be multi"):
        gpuarray.zeros(5, np.float32) @ x
    with pytest.raises(ValueError, match="at least one axis"):
        gpuarray.matmul(x, gpuarray.zeros((), np.float32))
    with pytest.raises(TypeError, match="copy it with"):
        gpuarray.matmul(x, np.zeros((3, 2), np.float32))
    with pytest.raises(ValueError, match="shape-mismatch"):
        gpuarray.tensordot(x, x, 1)
    with pytest.raises(ValueError, match="do not fit an operand"):
        gpuarray.einsum("ijk->i", x)
    with pytest.raises(ValueError, match="cannot make"):
        gpuarray.einsum("ij->k", x)


@pytest.mark.parametrize("dtype", "fdFD")
def test_a_large_matrix_times_a_vector(dtype):
    """On a CPU by NumPy's BLAS, after the work that writes the operands; in a capture by a kernel."""
    a, b = numbers((200, 150), dtype), numbers(150, dtype, 1)
    x, y = both(a, b)
    for part in (x, x[:, ::-1][:, ::-1], x.T.copy().T):
        same(part @ y, a @ b)
    same(x[::-1, 1:] @ y[1:], a[::-1, 1:] @ b[1:])
    same(y @ x.T, b @ a.T)
    stream = cuda.Stream()
    with stream:
        x *= 2  # queued in this stream
        result = x @ y
        result += 1
    stream.synchronize()
    same(result, 2 * a @ b + 1)
    if "softcuda" in cuda.get_driver_path():
        with pycuda.profile(counters=False) as profile:
            x @ y
        assert not any(event.activity == "kernel" for event in profile.events)


def test_a_recorded_matrix_times_a_vector():
    x, y = both(np.ones((200, 150), np.float32), np.ones(150, np.float32))
    _ = x @ y
    stream = cuda.Stream()
    with cuda.capture(stream) as recording, stream:
        result = x @ y
    graph = recording.graph.instantiate()
    y.fill(2)
    cuda.Context.synchronize()
    graph.launch(stream)
    stream.synchronize()
    assert (result.get() == 300).all()


EINSUMS = [
    ("ij,j->i", (4, 5), (5,)), ("i,j->ij", (4,), (5,)), ("ij,ij->ij", (4, 5), (4, 5)),
    ("ij,kl,mn->ikm", (2, 3), (4, 5), (6, 7)), ("i,i,i->i", (4,), (4,), (4,)), ("a,b,c,d->abcd", (2,), (3,), (4,), (5,)),
    ("iij,jk->k", (3, 3, 4), (4, 2)), ("...ij,...jk", (3, 4, 5), (5, 2)), ("...,...", (3, 1), (3, 4)),
]  # fmt: skip


@pytest.mark.parametrize("optimize", [True, False, ["einsum_path", (0, 1)]], ids=str)
@pytest.mark.parametrize("case", EINSUMS, ids=lambda case: case[0])
def test_plans_of_einsum(case, optimize):
    subscripts, *shapes = case
    if isinstance(optimize, list) and len(shapes) != 2:
        pytest.skip("the path is for two operands")
    for dtype in ("i4", "f8"):  # a plan serves all types
        hosts = [numbers(shape, dtype, i) for i, shape in enumerate(shapes)]
        expected = np.einsum(subscripts, *hosts)
        for _ in range(2):  # the second call follows the kept plan
            same(np.einsum(subscripts, *both(*hosts), optimize=optimize), expected)
