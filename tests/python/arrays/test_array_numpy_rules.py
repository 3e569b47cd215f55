"""Statements that NumPy's arrays and those of the device must agree about: values, types, shapes, views, errors.

Each is a difference that tools/random_arrays once found. ``X`` is an array of the type before the statement,
``b0`` is the memory that it is a view of.
"""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent))

from random_arrays.case import difference  # noqa: E402

pytestmark = pytest.mark.usefixtures("device")

SETUP = """
b0 = const(range(12), '{}', (12,))
X = view(b0, 0, (12,), (1,))
M = view(b0, 0, (3, 4), (4, 1))
Z = view(b0, 2, (), ())
E = view(b0, 0, (0, 4), (4, 1))
mask = const([1, 0, 0, 1, 1, 0, 1, 0, 0, 0, 1, 1], '?', (3, 4))
"""


def statements(text: str) -> list[tuple[str, str]]:
    """Pairs of a type and a statement; a type applies to the lines below it, too."""
    dtype, found = "", []
    for line in text.strip().splitlines():
        before, bar, behind = line.partition("|")
        dtype = before.strip() or dtype if bar else dtype
        found.append((dtype, (behind if bar else line).strip()))
    return found


def check(dtype: str, statement: str) -> None:
    lines = [*SETUP.format(dtype).strip().splitlines(), *statement.split("; ")]
    found = difference(lines)
    assert not found, found


ELEMENTS = """
i4 | X[0] = 1e10
   | X[0] = np.nan
   | X[...] = float('inf')
   | X[0] = 1j
   | X[1:] = 2.75
   | X[...] = view(b0, 0, (1, 1, 12), (12, 12, 1))
   | M[[0, 2]] = const(range(8), 'i4', (1, 2, 4))
   | X[[]] = const([1, 2], 'i4', (2,))
   | X[const(range(12), 'i8', (12,))] = X[::-1]
   | np.put(X, [0, 1], [1.5, 2.5])
   | np.put(X, [0], 2**40)
   | np.place(X, X > 3, const([1.5], 'f8', (1,)))
   | np.place(X, X > 3, [1.5])
   | np.place(X, X > 3, np.float64(1.5))
   | np.putmask(M, X > 3, M)
   | np.putmask(X, mask[0], 1)
   | np.put_along_axis(M, const([[1, 2]], 'i8', (1, 2)), 1, None)
   | np.copyto(X, 1.5)
   | np.copyto(X, 2**40)
   | np.copyto(X, 1, casting='no')
   | np.copyto(X, True, casting='no')
   | E[...] = 2**40
   | X[4:2] = 1j
   | E[...] = np.nan
   | np.copyto(X, view(b0, 4, (1, 1), (1, 1)), where=X > 3)
   | r = np.full_like(X, 1.5)
   | r = np.insert(X, 0, 1j)
   | r = X.flat[1:3]
   | np.put(E, const([], 'u1', (0,)), 1, mode='clip')
   | r = E + 2**40
   | np.put(Z, [0, 0], [6, 6])
   | np.put(Z, [1], [5, 6])
   | np.put(E, [0], [])
   | np.put(X, [99], [])
   | np.put(Z, [0, -1, 3], [5, 6], mode='wrap')
   | np.put(Z, [], [5, 6])
   | np.place(Z, Z == 2, [5, 6])
   | np.fill_diagonal(M, 1j)
   | np.fill_diagonal(M, [1j, 2])
   | np.fill_diagonal(M, 2**40)
   | np.fill_diagonal(M, 1.5)
   | np.fill_diagonal(M, [])
   | np.fill_diagonal(M, [7, 8])
   | np.fill_diagonal(view(b0, 0, (6, 2), (2, 1)), [7, 8, 9], wrap=True)
   | np.fill_diagonal(view(b0, 0, (6, 2), (1, 6)), 7, wrap=True)
   | M[[3], 2:1] = 1
   | M[const([], 'i8', (0, 1)), [[9]]] = 1
   | r = M[[3], 2:1]
   | r = M[const([], 'i8', (0, 1)), [[9]]]
u1 | X[...] = -1
   | r = E - 1000
   | r = np.insert(X, 0, np.float32(-2))
   | r = np.select([X > 3], [X], -1)
   | r = np.select([X > 3], [np.uint8(7)], 300)
f4 | r = np.full_like(X, 1j)
   | np.copyto(X, 1.5, casting='no')
   | np.copyto(X, 1, casting='safe')
   | np.copyto(X, 1j, casting='same_kind')
u2 | X[4:2] = -1
c8 | X[0] = 1j
   | np.copyto(X, 1.5, casting='no')
"""


@pytest.mark.parametrize("dtype, statement", statements(ELEMENTS))
def test_elements_are_set_as_in_numpy(dtype, statement):
    check(dtype, statement)


def test_indices_in_any_order_read_before_they_write(device):
    """More elements than one thread writes: the order of writes is not defined."""
    lines = [
        "b0 = base(1, 100_000, 'i4')",
        "order = const(list(range(99_999, -1, -1)), 'i8', (100_000,))",
        "b0[order] = b0",
    ]
    assert not difference(lines)


OUT = """
f8 | O = const([0], 'i4', ()); np.sum(X, out=O); r = O
   | O = const([0] * 8, 'f8', (2, 4)); r = np.sum(M, axis=0, out=O)
   | O = const([0], 'i4', ()); r = np.mean(X, out=O)
   | O = const([0], 'i4', ()); r = np.std(X, out=O)
   | O = const([0], 'i4', ()); r = np.var(X, out=O)
   | O = const([0], 'i4', ()); r = np.nanstd(X, out=O)
   | O = const([0], 'u8', ()); r = np.argmax(X, out=O)
   | O = const([0], 'i2', ()); r = np.argmax(X, out=O)
   | O = const([0], 'i4', ()); r = np.ptp(X, out=O)
   | O = const([0, 0], 'i4', (2,)); r = np.quantile(X, 0.25, out=O)
   | O = const([0], 'i4', ()); r = np.median(X, out=O)
   | O = const([0], 'i4', ()); r = np.nanmedian(X, out=O)
   | O = const([0], 'i4', (1,)); r = np.take(X, const([3], 'i8', (1,)), out=O)
   | r = np.take(X, const(range(12), 'i8', (12,)), out=X[::-1])
   | O = const([0] * 12, 'i4', (12,)); r = np.fft.ihfft(X, out=O)
   | r = np.max(X, initial=20)
   | r = np.max(E, axis=0, initial=1, out=X[:4])
   | r = np.max(X, where=X > 2)
   | r = np.nanmin(X, where=X > 2)
i1 | O = const([0], 'i1', ()); r = np.sum(X * 30, out=O)
   | O = const([0], 'i4', ()); r = np.mean(X, out=O)
   | O = const([0] * 12, 'i2', (12,)); r = np.cumsum(X * 30, out=O)
   | O = const([0] * 12, 'f4', (12,)); r = np.cumsum(X, out=O)
   | O = const([0] * 12, 'i2', (12,)); r = np.cumulative_sum(X, include_initial=True, out=O)
   | r = np.sum(X, initial=1.5)
   | r = np.max(X, initial=300)
   | r = np.max(X, initial=1.5)
   | r = np.max(X, initial=1j)
   | r = np.choose(X % 2, [X, X[::-1]], out=X)
   | r = np.mean(X, dtype='i4')
   | r = np.std(X, dtype='i4')
c16 | r = np.fft.fft(X, out=X[::-1])
   | r = np.fft.fft(X[:4], out=X[1:5])
   | r = np.fft.fft(X, out=M)
"""


@pytest.mark.parametrize("dtype, statement", statements(OUT))
def test_results_are_put_into_out_as_in_numpy(dtype, statement):
    check(dtype, statement)


METHODS = """
i1 | r = np.bitwise_count(const([-128, 127, -1, 0], 'i1', (4,)))
   | r = np.bitwise_count(const([-2**15, 2**15 - 1], 'i2', (2,)))
   | r = np.bitwise_count(const([-2**31, 2**31 - 1], 'i4', (2,)))
   | r = np.bitwise_count(const([-2**63, 2**63 - 1], 'i8', (2,)))
   | r = np.arctan2(X, const(range(12), 'u1', (12,)))
   | r = np.copysign(X, const(range(12), 'u2', (12,)))
   | r = np.hypot(const(range(12), 'i2', (12,)), const(range(12), 'u2', (12,)))
   | r = np.logaddexp(X, 1)
   | r = np.heaviside(mask, 1)
   | r = np.add.reduce(X * 30, dtype='f4')
   | r = np.add.reduce(X * 30, dtype='i1')
   | O = const([0], 'i1', ()); r = np.add.reduce(X * 30, out=O)
   | r = np.add.reduce(M, where=mask)
   | r = np.add.reduce(M, where=None)
   | r = (np.sum(M, where=None), np.nanmax(X, where=None, initial=-1), np.all(M, where=None))
   | r = np.maximum.reduce(M, where=mask)
   | r = np.maximum.reduce(M, where=mask, initial=3)
   | r = np.maximum.reduce(M, axis=None, initial=None)
   | r = np.maximum.reduce(E, initial=None)
   | r = np.add.reduce(E, initial=None)
   | r = np.gcd.reduce(M[:1] - 20)
   | r = np.gcd.reduce(M, axis=(0, 1), initial=6)
   | r = np.gcd.reduce(M, axis=1, initial=-6, where=M > 3)
   | r = np.bitwise_and.reduce(M, axis=())
   | r = np.bitwise_or.reduce(M, axis=1, where=mask)
   | r = np.subtract.reduce(M, axis=1, where=mask, initial=0)
   | r = np.subtract.reduce(M, axis=1, where=mask)
   | r = np.subtract.reduce(M, axis=(0, 1))
   | r = np.subtract.reduce(E, axis=1)
   | r = np.equal.reduce(X)
   | r = np.divide.reduce(X)
   | r = np.logical_and.reduce(M, axis=1, dtype='i4')
   | r = np.logical_or.reduce(M, axis=1, initial=True)
   | r = np.logical_xor.reduce(M, axis=0)
   | r = np.add.reduce(Z)
   | r = np.add.accumulate(X * 30, dtype='f4')
   | r = np.add.accumulate(M, axis=None)
   | r = np.add.accumulate(M, axis=(1,))
   | r = np.add.accumulate(Z)
   | r = np.logical_and.accumulate(X)
   | r = np.divide.accumulate(X)
   | r = np.minimum.accumulate(X, dtype='f4')
   | O = const([0] * 12, 'i4', (12,)); r = np.subtract.accumulate(X, out=O)
   | r = np.add.reduceat(Z, [0])
   | r = np.add.reduceat(X, [[0, 1]])
   | r = np.logical_or.reduceat(X, [0, 4])
   | O = const([0] * 2, 'i2', (2,)); r = np.add.reduceat(X * 30, [0, 4], out=O)
   | np.add.at(X, [0, 0, 1], 0.75)
   | r = np.negative.reduce(X)
f8 | r = np.hypot.reduce(-X[:1])
   | r = np.hypot.reduce(M, axis=1, initial=2)
   | r = np.fmax.reduce(M, axis=1, where=mask, initial=-1)
   | r = np.hypot.reduce(E, where=mask)
   | r = np.hypot.reduce(M, axis=(), where=mask, initial=-1.5)
   | r = np.hypot.reduce(M, axis=1, where=M > 3, initial=-1.5)
   | r = np.add.reduce(E, where=mask)
   | r = np.nanmax(E, where=mask, initial=0)
   | r = np.max(E, axis=0, where=mask, initial=0)
   | r = np.bitwise_or.reduce(X)
"""


@pytest.mark.parametrize("dtype, statement", statements(METHODS))
def test_methods_of_ufuncs(dtype, statement):
    check(dtype, statement)


AXES = """
f4 | r = np.squeeze(Z, 0)
   | r = np.squeeze(Z, 1)
   | r = np.argsort(Z)
   | r = np.lexsort(X[:3])
   | r = np.take(Z, 0)
   | r = np.take(Z, [0, 0], axis=0)
   | r = np.repeat(Z, 2, axis=0)
   | r = np.gradient(M, axis=(0,))
   | r = np.take_along_axis(M, const([[1]], 'i8', (1, 1)), axis=None)
   | r = np.apply_along_axis(np.sum, 0, E)
   | r = np.sum(Z, axis=0)
   | r = np.sum(Z, axis=-1)
   | r = np.sum(Z, axis=(0,))
   | r = np.max(Z, axis=1)
   | r = np.mean(Z, axis=0)
   | r = np.apply_over_axes(np.sum, Z, 0)
   | r = np.apply_over_axes(np.sum, M, (0, -1, 1, 0))
   | r = np.apply_over_axes(np.sum, M, 2)
   | r = np.cumulative_sum(Z)
   | r = np.swapaxes(M, 0, 5)
   | r = M.swapaxes(0, 5)
   | r = M.swapaxes((0, 1), 1)
   | r = np.partition(E, 3, axis=0)
   | r = np.argpartition(E, 3, axis=0)
   | r = np.partition(E, 5)
   | r = X.mT
   | r = np.correlate(M, M)
   | r = np.convolve(X, M)
   | r = np.transpose(M, ())
   | r = np.unravel_index(const([3], 'i8', (1,)), 7)
   | r = np.unravel_index(const([0], 'i8', (1,)), ())
   | r = np.unravel_index(const([[], []], 'u1', (2, 0)), ())
   | r = np.ravel_multi_index((const([3], 'i8', (1,)),), 7)
   | r = M.transpose(())
   | r = M.transpose(None)
   | r = np.permute_dims(M, axes=[])
   | r = view(b0, 0, (3, 0), (1, 1)).view('u1')
   | r = view(b0, 0, (3, 0), (1, 1)).view('f8')
   | r = view(b0, 0, (2, 0, 3), (3, 3, 1)).view('f8')
   | r = view(b0, 0, (2, 0, 3), (3, 3, 1)).view('i2')
   | r = E.view('f8')
   | r = E.T.view('f8')
   | r = Z.view('i1')
   | r = view(b0, 0, (2, 1), (1, 2)).view('i1')
   | r = view(b0, 0, (3, 4), (1, 3)).T.view('i1')
   | r = view(b0, 0, (1,), (7,)).view('i2')
   | r = view(b0, 0, (3, 1), (1, 0)).view('i2')
"""


@pytest.mark.parametrize("dtype, statement", statements(AXES))
def test_axes(dtype, statement):
    check(dtype, statement)


VALUES = """
c8 | r = np.isposinf(X)
   | r = np.isneginf(X)
   | X[3] = -np.inf; X[4] = complex(1, np.inf); X[5] = complex(np.inf, np.inf); r = np.sign(X)
   | r = (X * 0) ** (1 + 1j)
   | X[1] = complex(np.inf, 1.26); X[2] = complex(1.26, -np.inf); r = np.round(X, 1)
   | r = np.round(X * (1.26 + 2.34j), 1, out=X[::-1])
   | r = np.round(X * (126 + 234j), -1)
   | r = np.absolute(X, dtype='f2')
   | r = np.absolute(X, dtype='f8')
   | r = np.absolute(X, dtype='f2', casting='unsafe')
   | r = np.absolute(X, dtype='i4', casting='unsafe')
c16 | r = np.absolute(X, dtype='f4', casting='same_kind')
   | r = np.absolute(X, dtype='f4', casting='unsafe')
   | r = np.absolute(X, dtype='f8', casting='no')
f2 | r = np.angle(X)
   | X[0] = -np.inf; X[1] = -0.0; X **= 0.5
   | X **= 2
   | X **= X
   | r = np.fft.irfft(X)
   | r = np.quantile(X, np.float64(0.3))
   | r = np.quantile(X, 0.3)
   | r = np.quantile(X, [0.3])
f8 | X[5] = np.inf; r = np.gradient(X)
   | X[5] = np.inf; r = np.quantile(X, 0)
   | r = np.percentile(X, 101)
   | r = np.percentile(X, 29)
   | r = np.var(X, ddof=13)
   | r = np.std(M, axis=1, ddof=6)
   | r = np.nanquantile(E, 0.25, axis=0)
   | r = np.linalg.norm(Z, ord=1)
   | r = np.cov(M[:1], rowvar=False)
   | r = np.corrcoef(M[:1] + X[:4] ** 2, rowvar=False)
   | r = np.cov(X, rowvar=False)
   | r = np.cov(M, M[:, :2] * 2, rowvar=False)
   | X[1] = 1e150; X[2] = -1e200; X[0] = 1e10; r = np.linalg.matrix_power(view(b0, 0, (2, 2), (2, 1)), 3)
   | X[1] = np.inf; X[2] = 0; r = np.linalg.matrix_power(view(b0, 0, (2, 2), (2, 1)), 3)
   | r = np.ravel(view(b0, 0, (6,), (2,)))
   | r = np.ravel(view(b0, 0, (6, 1), (2, 1)))
   | r = bool(E)
   | r = int(X)
   | r = float(E)
   | r = complex(X)
   | r = np.select([mask, ~mask], [M, 1])
i4 | r = np.histogram(X % 2, bins='fd', range=(0, 3))
   | r = np.histogram(X[:2], bins='doane', range=(0, 5))
   | r = np.histogram(X * 0, bins='auto')
   | r = np.histogram(X * X, bins='stone')
   | r = np.histogram(X, bins='auto', range=(2, 7))
   | r = np.select([mask], [M], 1.5)
   | r = np.select([mask[0]], [X[:4]], M)
   | r = np.quantile(X, 1)
   | r = np.nanquantile(X, [0, 1])
   | r = np.quantile(X, 1, method='weibull')
   | r = np.percentile(X, 100)
u1 | r = np.quantile(X, np.float32(0.5))
   | r = np.percentile(X, np.float16(50))
   | r = np.quantile(X, np.float16(0.5), method='lower')
   | r = np.average(X + 200, weights=X + 200)
   | r = np.average(M + 200, axis=1, weights=M[0] + 200, returned=True)
   | r = np.isclose(X, -1)
   | r = X % const([255] * 12, 'u1', (12,))
?  | X[0] = 1j
   | r = np.quantile(X, 0.5, method='nearest')
   | r = np.quantile(X, 1)
   | r = np.quantile(X, 1, method='hazen')
   | r = np.round(X)
   | r = np.round(X, 1)
   | r = np.quantile(X, 0.5)
   | r = np.sort_complex(X)
   | r = np.histogram2d(X, X, bins=4)
   | r = np.histogram2d(X, X[:1])
i8 | r = np.histogram2d(X + (2**63 - 13), X - 2**63)
   | r = np.histogramdd([X + (2**63 - 13), X], bins=4)
   | r = np.histogram2d(M, M)
   | r = np.histogram2d(X, X, bins=[[0, 5]])
   | r = np.histogram2d(X, X, bins=[[0, 5, 9], [2, 3, 8, 12]])
   | r = np.histogramdd(M, bins=[2, [0, 5, 9], 1, 3], density=True)
   | r = np.histogram2d(Z, Z)
   | r = np.cov(Z, Z)
   | r = np.cov(Z, Z, rowvar=False)
   | r = np.vecdot(M, X[:4], dtype='f8')
   | r = np.vecdot(M, X[:4], out=X[:3])
   | r = np.matvec(M, X[:4], dtype='f4')
   | r = np.vecmat(X[:3], M, dtype='i4')
   | r = np.matmul(X, X, dtype='?')
   | r = np.tri(3, -2, like=X)
   | r = np.arange(3, dtype='?', like=X)
   | r = np.full(3, 1, order='A', like=X)
   | r = np.interp(X, const([3], "f8", (1,)), const([7], "f8", (1,)))
f2 | r = np.fft.irfftn(M)
   | r = np.fft.irfftn(M, axes=[1])
   | r = np.fft.irfft(M)
f8 | r = np.nan_to_num(X, nan=1j)
   | r = np.interp(X / X[:1], const([3], "f8", (1,)), const([7], "f8", (1,)))
   | r = np.ldexp(X, const([2**31 - 1, -(2**31), 2**32, -(2**40)] * 3, 'i8', (12,)))
   | r = np.ldexp(X, const([2**31 - 1, -(2**31), 3, 1100] * 3, 'i4', (12,)))
   | r = np.ldexp(X, 2**40)
f4 | r = np.sort_complex(X)
   | r = np.median(X[:3] * 3e37 + 3e38)
   | r = np.median(X[:1] + 3e38, axis=0)
i2 | r = np.sort_complex(X)
   | r = np.median(X[:3])
i4 | r = np.digitize(X, [11, 3, 1, 0])
   | r = np.digitize(X, [11, 3, 1, 0], right=True)
   | r = np.digitize(X, [5, 5, 2], right=True)
   | r = np.digitize(X, [0, 1, 1, 3], right=True)
   | r = np.pad(E, 1, 'mean')
   | r = np.pad(E, 1, 'linear_ramp')
   | r = np.pad(E, [(0, 0), (1, 2)], 'mean')
   | r = M[None, [1, 2], ..., [0, 1]]
   | r = M[None, [1, 2], ..., 1]
   | r = M[None, [1, 2], [0, 1], ...]
   | r = M[..., None, [1, 2], [0, 1]]
   | M[None, [1, 2], ..., [0, 1]] = const([5, 6], 'i4', (2, 1))
"""


@pytest.mark.parametrize("dtype, statement", statements(VALUES))
def test_values(dtype, statement):
    check(dtype, statement)
