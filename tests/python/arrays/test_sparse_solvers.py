"""Constructors and solvers of sparse matrices compared with SciPy's; PyCUDA's classes; errors."""

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda import gpuarray, sparse
from pycuda.sparse import cg, coordinate, linalg, operator, packeted

sp = pytest.importorskip("scipy.sparse")
pytestmark = pytest.mark.filterwarnings("error")
sp_linalg = pytest.importorskip("scipy.sparse.linalg")
from conftest import require_devices  # noqa: E402
from test_sparse import FORMATS, agree, check, matrix, numbers, ours  # noqa: E402

# Constructors


@pytest.mark.parametrize("format", [None, *FORMATS])
def test_identities_and_diagonals(device, format):
    for m, n, k in ((4, None, 0), (4, 6, 2), (6, 4, -3), (3, 3, 5), (0, 3, 0)):
        agree(sparse.eye(m, n, k, np.float32, format), np.eye(m, n, k), np.float32)
        made = sparse.eye_array(m, n, k=k, format=format)
        assert made.format == (format or "coo")
        assert not made._is_matrix and sparse.eye(m)._is_matrix
    agree(check(sparse.identity(5, format=format)), np.eye(5))
    cases = [
        (([[1.0, 2, 3], [4.0, 5]], [0, 1]), {}), (([1.0, 2, 3],), {}), (([1.0, 2, 3], 2), {}),
        (([[1], [2.0]], [0, -2]), {"shape": (5, 4)}), (([[1.0, 2]], [-1]), {"shape": (3, 5)}),
    ]  # fmt: skip
    for arguments, options in cases:
        agree(check(sparse.diags(*arguments, **options, format=format)), sp.diags(*arguments, **options))  # fmt: skip
    whole = gpuarray.arange(3, dtype=np.int16)
    agree(sparse.diags_array(whole, offsets=-1), np.diag([0, 1, 2], -1), np.int16)


def test_random_matrices(device):
    made = sparse.random(50, 40, 0.1, "csr", np.float32, rng=3)
    assert check(made).nnz == 200 and made.dtype == np.float32 and made.has_canonical_format  # fmt: skip
    agree(made, sparse.random(50, 40, 0.1, "csr", np.float32, rng=3))
    values = made.data.get()
    assert 0 <= values.min() < values.max() < 1
    ones = sparse.random(50, 40, 0.1, data_rvs=np.ones)
    assert (ones.data.get() == 1).all()
    for dtype in (np.int16, np.complex64, bool):
        assert sparse.random_array((20, 20), density=0.2, dtype=dtype).dtype == dtype
    with pytest.raises(ValueError, match="density"):
        sparse.random(3, 3, 1.5)


def test_matrices_are_joined(device):
    a, b = matrix((4, 6)), matrix((4, 6), np.float32, seed=9)
    parts = [ours(a), ours(b.tocsc())]
    agree(check(sparse.vstack(parts, "csr")), sp.vstack([a, b]))
    agree(sparse.hstack(parts), sp.hstack([a, b]))
    agree(sparse.hstack([ours(a), ours(a)], dtype=np.complex64), sp.hstack([a, a]), np.complex64)  # fmt: skip
    assert sparse.vstack([ours(a), ours(a)]).format == "csr"
    agree(sparse.bmat([[parts[0], None], [None, parts[1]]]), sp.block_diag([a, b]))
    agree(sparse.block_diag(parts, "csc"), sp.block_diag([a, b]))
    agree(sparse.kron(*parts), sp.kron(a, b))
    for k in (-2, 0, 3):
        agree(check(sparse.tril(parts[0], k, "csr")), sp.tril(a, k))
        agree(sparse.triu(parts[0], k), sp.triu(a, k))
    for mine, theirs in zip(sparse.find(parts[0]), sp.find(a), strict=True):
        assert mine.size == theirs.size
    assert sparse.issparse(parts[0]) and not sparse.issparse(a)
    with pytest.raises(ValueError, match=r"column 0 of blocks must have one width, not \[4, 6\]"):  # fmt: skip
        sparse.vstack([ours(a), ours(a).T])
    with pytest.raises(ValueError, match="row 1 of blocks must have one height, not None alone"):  # fmt: skip
        sparse.bmat([[ours(a)], [None]])


# Solvers


def poisson(n, dtype=np.float64):
    line = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
    return (sp.kron(line, sp.eye_array(n)) + sp.kron(sp.eye_array(n), line)).tocsr().astype(dtype)  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("format", FORMATS)
def test_conjugate_gradients(device, dtype, format):
    theirs = poisson(20, dtype)
    if np.dtype(dtype).kind == "c":  # Hermitian: elements next to the diagonal times i
        turn = sp.triu(theirs, 1) * 1j + sp.tril(theirs, -1) * -1j + sp.diags_array(theirs.diagonal())  # fmt: skip
        theirs = turn.tocsr().astype(dtype)
    b = numbers(400, dtype)
    x, info = linalg.cg(ours(theirs).asformat(format), gpuarray.to_gpu(b), rtol=1e-5)
    assert info == 0 and x.dtype == dtype and x.shape == (400,)
    error = np.linalg.norm(theirs @ x.get() - b) / np.linalg.norm(b)
    assert error < 3e-5
    again, info = linalg.cg(ours(theirs), b, x0=x, rtol=1e-3)
    assert info == 0
    np.testing.assert_array_equal(again.get(), x.get())


def test_iterations_and_the_preconditioner(device):
    theirs = poisson(20) + sp.diags_array(np.linspace(0, 500, 400))
    b = numbers(400, np.float64)
    calls = []
    x, info = linalg.cg(ours(theirs.tocsr()), b, callback=lambda x: calls.append(x))
    expected = []
    sp_linalg.cg(theirs, b, callback=lambda x: expected.append(1))
    assert info == 0 and len(expected) <= len(calls) <= len(expected) + 16
    assert calls[-1] is x
    jacobi = sparse.diags(1 / theirs.diagonal())
    for M in (jacobi, linalg.aslinearoperator(jacobi), operator.DiagonalPreconditioner(gpuarray.to_gpu(1 / theirs.diagonal()))):  # fmt: skip
        fewer = []
        y, info = linalg.cg(ours(theirs.tocsr()), b, M=M, rtol=1e-8, callback=fewer.append)  # fmt: skip
        assert info == 0 and len(fewer) < len(calls)
        np.testing.assert_allclose(theirs @ y.get(), b, atol=1e-5)
    x, info = linalg.cg(ours(theirs.tocsr()), b, maxiter=3)
    assert info == 3
    x, info = linalg.cg(ours(theirs.tocsr()), 0 * b)
    assert info == 0 and not x.get().any()


def test_an_exact_solution_stays(device):
    x, info = linalg.cg(sparse.eye(5), np.arange(5.0), rtol=0, atol=0, maxiter=9)
    np.testing.assert_array_equal(x.get(), np.arange(5.0))
    assert info in (0, 9)


def test_inputs_that_are_accepted_as_matrices(device):
    theirs = poisson(5)
    b = numbers(25, np.float64)
    expected = np.linalg.solve(theirs.toarray(), b)
    mine = ours(theirs)
    matrices = [
        theirs, theirs.toarray(), gpuarray.to_gpu(theirs.toarray()), linalg.LinearOperator((25, 25), mine.dot),
        coordinate.CoordinateSpMV(theirs, np.float64),
    ]  # fmt: skip
    for one in matrices:
        x, info = linalg.cg(one, b[:, None], rtol=1e-12)
        np.testing.assert_allclose(x.get(), expected, rtol=1e-9)
    agree(linalg.aslinearoperator(mine).rmatvec(b), theirs.T @ b)
    with pytest.raises(NotImplementedError, match="rmatvec"):
        matrices[3].rmatvec(b)
    with pytest.raises(ValueError, match="expects a vector of 25"):
        matrices[3] @ b[1:]
    with pytest.raises(ValueError, match="must be square"):
        linalg.cg(mine[:5], b)
    with pytest.raises(ValueError, match=r"b must have shape \(25,\), not \(24,\)"):
        linalg.cg(mine, b[1:])
    with pytest.raises(ValueError, match="does not fit 25 unknowns"):
        linalg.cg(mine, b, M=sparse.eye(24))
    with pytest.raises(TypeError, match="not str"):
        linalg.cg("matrix", b)


@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
def test_norms(device, dtype):
    theirs = matrix((20, 30), dtype)
    mine = ours(theirs)
    for ord in (None, "fro", 1, -1, np.inf, -np.inf):
        agree(linalg.norm(mine, ord), sp_linalg.norm(theirs, ord))
    for axis in (0, 1):
        agree(linalg.norm(mine, axis=axis), np.linalg.norm(theirs.toarray(), axis=axis))
        agree(linalg.norm(mine, 1, axis), np.linalg.norm(theirs.toarray(), 1, axis))
    with pytest.raises(NotImplementedError):
        linalg.norm(mine, 2)
    with pytest.raises(TypeError, match="sparse"):
        linalg.norm(theirs)


# PyCUDA's classes


@pytest.mark.parametrize("is_symmetric", [True, False])
def test_packets(device, is_symmetric):
    theirs = poisson(15, np.float32)
    if not is_symmetric:
        theirs = sp.triu(theirs).tocsr()
    shuffle = np.random.default_rng(4).permutation(225)
    theirs = theirs[shuffle][:, shuffle]
    spmv = packeted.PacketedSpMV(theirs, is_symmetric, np.float32)
    assert spmv.shape == (225, 225) and spmv.dtype == np.float32
    x, y = numbers(225, np.float32), numbers(225, np.float32)
    px = spmv.permute(gpuarray.to_gpu(x))
    agree(spmv.unpermute(px), x)
    agree(spmv.unpermute(spmv(px)), theirs @ x)
    py = spmv.permute(gpuarray.to_gpu(y))
    assert spmv(px, py) is py
    agree(spmv.unpermute(py), theirs @ x + y)
    rows = spmv._matrix.tocoo()
    assert abs(rows.row - rows.col).max().get() < 40  # 200 and more before reordering
    with pytest.raises(ValueError, match="square"):
        packeted.PacketedSpMV(theirs[:9], is_symmetric, np.float32)
    with pytest.raises(TypeError, match="float32"):
        spmv(px.astype(np.float64))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_program_that_solves_as_with_pycuda(device, dtype, capsys):
    theirs = poisson(12, dtype)
    b = numbers(144, dtype)
    spmv = packeted.PacketedSpMV(theirs, True, dtype)
    pool = cuda.PageLockedMemoryPool()
    precon = operator.DiagonalPreconditioner(spmv.permute(gpuarray.to_gpu((1 / theirs.diagonal()).astype(dtype))))  # fmt: skip
    tolerance = 1e-5 if dtype == np.float32 else 1e-10
    for start in (None, gpuarray.zeros(144, dtype)):
        x, iterations, residuals = cg.solve_pkt_with_cg(
            spmv, gpuarray.to_gpu(b), precon, start, tol=tolerance, pagelocked_allocator=pool.allocate
        )  # fmt: skip
        assert 0 < residuals <= iterations < 300
        error = np.linalg.norm(theirs @ x.get() - b) / np.linalg.norm(b)
        assert error < 100 * tolerance
    with pytest.raises(cg.ConvergenceError):
        cg.solve_pkt_with_cg(spmv, gpuarray.to_gpu(b), max_iterations=2, debug=True)
    assert "iteration 0: energy" in capsys.readouterr().out


def test_parts_of_pycudas_solver(device):
    state = cg.CGStateContainer(operator.IdentityOperator(np.float64, 3))
    x, y = gpuarray.to_gpu(np.arange(3.0)), gpuarray.to_gpu(np.ones(3))
    out = gpuarray.zeros(3, np.float64)
    assert state.lc2(2, x, gpuarray.to_gpu(np.float64(3)), y, out) is out
    agree(out, 2 * np.arange(3.0) + 3)
    agree(state.guarded_div(y, x), [0, 1, 0.5])
    with pytest.raises(NotImplementedError):
        _ = operator.OperatorBase().shape
    spmv = coordinate.CoordinateSpMV(matrix((9, 5), np.float32), np.float32)
    theirs = matrix((9, 5), np.float32)
    z = gpuarray.to_gpu(np.ones(9, np.float32))
    agree(spmv(gpuarray.to_gpu(numbers(5, np.float32)), z), theirs @ numbers(5, np.float32) + 1)  # fmt: skip


# Errors

WRONG = {
    "indices of the shape": (lambda: sparse.csr_array(([1.0], [3], [0, 1]), (1, 3)), ValueError, "from 0 to 2"),
    "negative": (lambda: sparse.csr_array(([1.0], [-1], [0, 1]), (1, 3)), ValueError, "from 0 to 2"),
    "falling": (lambda: sparse.csr_array(([1.0, 2], [0, 1], [0, 2, 1, 2]), (3, 3)), ValueError, "must rise"),
    "not all elements": (lambda: sparse.csr_array(([1.0, 2], [0, 1], [0, 1]), (1, 3)), ValueError, "must rise from 0 to 2"),
    "pointers": (lambda: sparse.csc_array(([1.0], [0], [0, 1]), (3, 3)), ValueError, r"expected \(4,\)"),
    "lengths": (lambda: sparse.csr_array(([1.0, 2], [0], [0, 1])), ValueError, "data and indices must have the same shape"),
    "no pointers": (lambda: sparse.csr_array(([], [], []), (0, 0)), ValueError, "at least one"),
    "wide indices": (lambda: sparse.csr_array(([1.0], [1 << 40], [0, 1])), ValueError, "indices are int32"),
    "floating indices": (lambda: sparse.coo_array(([1.0], ([0.5], [0]))), ValueError, "row must be integers"),
    "row": (lambda: sparse.coo_array(([1.0], ([5], [0])), (3, 3)), ValueError, "rows must be from 0 to 2"),
    "coordinates": (lambda: sparse.coo_array(([1.0], ([5, 6], [0])), (9, 9)), ValueError, "the same length, not 2, 1 and 1"),
    "no shape": (lambda: sparse.coo_array(([], ([], []))), ValueError, "must be given"),
    "float16": (lambda: sparse.csr_array(np.zeros((2, 2), np.float16)), TypeError, "not float16"),
    "three axes": (lambda: sparse.csr_array(np.zeros((2, 2, 2))), ValueError, "two axes"),
    "shape": (lambda: sparse.csr_array(np.eye(2), (3, 3)), ValueError, r"not \(3, 3\)"),
    "negative shape": (lambda: sparse.csr_array((-1, 3)), ValueError, "extents must be"),
    "vector": (lambda: sparse.eye(3) @ np.zeros(4), ValueError, "3 columns, 4 rows"),
    "matrix": (lambda: sparse.eye(3) @ sparse.eye(4), ValueError, "3 columns, 4 rows"),
    "number": (lambda: sparse.eye(3) @ 2, ValueError, "multiply by a number with"),
    "sum": (lambda: sparse.eye(3) + sparse.eye(4), ValueError, "must have the same shape"),
    "dense sum": (lambda: sparse.eye(3) + 1, NotImplementedError, "dense"),
    "equal": (lambda: sparse.eye(3) == sparse.eye(3), NotImplementedError, "nnz"),
    "less": (lambda: sparse.eye(3, dtype=complex) < sparse.eye(3), TypeError, "no order"),
    "bool": (lambda: sparse.eye(3, dtype=bool) - sparse.eye(3, dtype=bool), TypeError, "bool"),
    "truth": (lambda: bool(sparse.eye(3)), ValueError, "ambiguous"),
    "length": (lambda: len(sparse.eye(3)), TypeError, "ambiguous"),
    "format": (lambda: sparse.eye(3).asformat("bsr"), ValueError, "'bsr'"),
    "order": (lambda: sparse.eye(3).toarray("K"), ValueError, "not 'K'"),
    "axis": (lambda: sparse.eye(3).sum(2), ValueError, "axis"),
    "diagonal": (lambda: sparse.eye(3).diagonal(3), ValueError, "outside"),
    "offset": (lambda: sparse.diags([[1.0], [2.0]], [0, 0]), ValueError, "must be distinct"),
    "long diagonal": (lambda: sparse.diags([[1.0, 2, 3]], [0], (2, 2)), ValueError, "does not fit diagonal 0"),
    "broadcast": (lambda: sparse.eye(3).multiply(np.ones((2, 3))), ValueError, r"\(2, 3\) does not broadcast to \(3, 3\)"),
    "new axis": (lambda: sparse.eye(3, format="csr")[None], IndexError, "rows and columns"),
    "three indices": (lambda: sparse.eye(3, format="csr")[:, :, 0], IndexError, "rows and columns"),
    "no iterations": (lambda: linalg.cg(sparse.eye(3), np.ones(3), maxiter=0), ValueError, "at least 1, not 0"),
    "coo item": (lambda: sparse.eye(3)[0], TypeError, "tocsr"),
    "power": (lambda: sparse.eye_array(3).power(0), ValueError, "above 0"),
    "text": (lambda: sparse.eye(3) + "a", TypeError, "unsupported operand"),
    "product with text": (lambda: sparse.eye_array(3) * "a", TypeError, "a matrix, an array or a number"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_bad_input_is_an_error(device, name):
    call, error, words = WRONG[name]
    with pytest.raises(error, match=words):
        call()


def test_memory_that_was_freed_is_an_error(device):
    mine = ours(matrix((10, 10)))
    x = gpuarray.to_gpu(np.ones(10))
    mine @ x
    mine.data.gpudata.free()
    with pytest.raises(cuda.LogicError, match="free"):
        mine @ x


def test_devices(run_program):
    require_devices(2)
    done = run_program(
        """
        import numpy as np
        import pycuda.driver as cuda
        from pycuda import gpuarray, sparse
        cuda.init()
        first, second = (cuda.Device(i).retain_primary_context() for i in (0, 1))
        with first:
            a = sparse.csr_array(np.eye(4))
            x = gpuarray.to_gpu(np.arange(4.0))
        with second:
            y = gpuarray.to_gpu(np.arange(4.0))
            b = sparse.csr_array(np.eye(4))
            assert (a @ x).get().tolist() == [0, 1, 2, 3]
            assert (a + a).sum(0).get().tolist() == [2, 2, 2, 2]
            for operand in (y, b):
                try:
                    a @ operand
                except ValueError as error:
                    print(error)
        """,
        SOFTCUDA_DEVICES="2",
    )  # fmt: skip
    assert done.stderr == ""
    assert (
        done.stdout.splitlines()
        == ["the operands are on different devices, 0 and 1"] * 2
    )


def test_without_scipy(run_program):
    done = run_program(
        """
        import sys
        sys.modules["scipy"] = sys.modules["scipy.sparse"] = None
        import numpy as np
        import pycuda.autoinit
        from pycuda import sparse
        a = sparse.random(9, 9, 0.5, "csr") + sparse.eye(9)
        assert (a @ a.T).sum().get() > 0
        try:
            a.get()
        except ImportError:
            print("no SciPy")
        """
    )
    assert done.stdout == "no SciPy\n", done.stderr
