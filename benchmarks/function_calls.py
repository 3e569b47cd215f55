"""The calls of every_function.py: one for each public function of arrays, and for methods, operators and indices.

The arguments of a function are guessed from its parameters. Functions for which the guess is wrong are rows of
ARGUMENTS. Operands are named as in _OPERANDS.
"""

import inspect

import numpy as np

from pycuda.arrays import registry
from pycuda.arrays.protocols import all_functions  # noqa: F401 -- fills the registry
from pycuda.arrays.ufuncs.universal_functions import UniversalFunction


class Operands:
    """The operands of calls on about ``count`` elements, made by ``array`` from NumPy's arrays at their first use.

    strided: every second element of arrays of twice the size; else contiguous.
    host: a dict of NumPy's arrays, which several libraries share.
    """

    def __init__(self, array, count, dtype="f4", strided=False, host=None) -> None:
        self._array, self._strided = array, strided
        self._dtype = np.dtype(dtype)
        self._host = {} if host is None else host
        self.n, self.side = count, max(int(count**0.5), 2)

    def __getattr__(self, name: str):
        if name not in _OPERANDS:
            raise AttributeError(name)
        if name not in self._host:
            random = np.random.default_rng(list(_OPERANDS).index(name))
            maker = _Maker(random, self._dtype, self.n, self.side)
            self._host[name] = _OPERANDS[name](maker)
        host = self._host[name]
        if self._strided and name not in ("edges", "sorted", "coefficients"):
            wide = np.zeros((*host.shape[:-1], 2 * host.shape[-1]), host.dtype)
            wide[..., ::2] = host
            made = self._array(wide)[..., ::2]
        else:
            made = self._array(host)
        setattr(self, name, made)
        return made

    def __getitem__(self, name: str):
        """A name in a text of arguments."""
        try:
            return getattr(self, name)
        except AttributeError:
            raise KeyError(name) from None


class _Maker:
    """What the operands are made of."""

    def __init__(self, random, dtype, count: int, side: int) -> None:
        self.random, self.dtype, self.n, self.side = random, dtype, count, side
        self.floats = dtype if dtype.kind == "f" else np.dtype(np.float32)
        self.few = max(count // 64, 2)

    def numbers(self, *shape):
        if self.dtype.kind in "iu":
            return self.random.integers(1, 100, shape).astype(self.dtype)
        values = self.random.random(shape, np.float32) + np.float32(0.1)
        return values.astype(self.dtype, copy=False)

    def whole(self, low: int, high: int, count: int, dtype="i8"):
        return self.random.integers(low, high, count, dtype)

    def square(self, factor: int):
        diagonal = factor * self.side * np.eye(self.side, dtype=self.floats)
        return self.numbers(self.side, self.side).astype(self.floats) + diagonal

    def positive(self):
        square = self.square(2)
        return square + square.T


_OPERANDS = {
    "x": lambda o: o.numbers(o.n),
    "y": lambda o: o.numbers(o.n) * 2,
    "m": lambda o: o.numbers(o.side, o.side),
    "k": lambda o: o.numbers(o.side, o.side),
    "row": lambda o: o.numbers(o.side),
    "rows": lambda o: o.numbers(o.n // 3 + 1, 3),
    "more_rows": lambda o: o.numbers(o.n // 3 + 1, 3),
    "wide_rows": lambda o: o.numbers(o.few, 64),
    "cube": lambda o: o.numbers(o.few, 8, 8),
    "image": lambda o: o.numbers(o.side // 2 * 2, o.side // 2 * 2),
    "taps": lambda o: o.numbers(101),
    "square": lambda o: o.square(1),
    "positive": lambda o: o.positive(),
    "whole": lambda o: o.whole(0, 1000, o.n, "i4"),
    "other": lambda o: o.whole(1, 30, o.n, "i4"),
    "small": lambda o: o.whole(0, 255, o.n, "u1"),
    "bits": lambda o: o.whole(0, 2, o.n).astype(bool),
    "mask": lambda o: o.random.random(o.n, np.float32) > 0.5,
    "i": lambda o: o.whole(0, o.n, max(o.n // 4, 1)),
    "few": lambda o: o.whole(0, 100, o.n),
    "row_i": lambda o: o.whole(0, o.few, o.few),
    "counts": lambda o: o.whole(0, 4, o.n),
    "edges": lambda o: np.linspace(0.1, 1.1, 257).astype(o.floats),
    "sorted": lambda o: np.sort(o.numbers(o.few)),
    "z": lambda o: (o.numbers(o.n) + 1j * o.numbers(o.n)).astype(np.complex64),
    "coefficients": lambda o: np.array([1.0, -6.0, 11.0, -6.0, 0.5], o.floats),
}


#: Arguments, in operands' names, of functions for which those of `guessed()` do not fit.
ARGUMENTS = {
    "append": "x, y",
    "apply_along_axis": "lambda r: r.sum(), 0, m[:8, :8]",
    "apply_over_axes": "np.sum, cube, [1, 2]",
    "arange": "n",
    "argpartition": "x, n // 2",
    "array_split": "x, 3",
    "average": "x, weights=y",
    "bincount": "whole",
    "block": "[x, y]",
    "broadcast_arrays": "m, row",
    "broadcast_to": "row, (side, side)",
    "choose": "bits * 1, [x, y]",
    "clip": "x, 0.2, 0.7",
    "column_stack": "[x, y]",
    "compress": "mask, x",
    "concatenate": "[x, y]",
    "convolve": "x, taps",
    "copyto": "y, x",
    "corrcoef": "wide_rows[:16]",
    "correlate": "x, taps",
    "cov": "wide_rows[:16]",
    "cross": "rows, more_rows",
    "delete": "x, [1, 5, 7]",
    "diag": "row",
    "diagflat": "row",
    "diagonal": "m",
    "diag_indices_from": "square",
    "digitize": "x, edges",
    "dot": "m, k",
    "dsplit": "cube, 2",
    "dstack": "[m, k]",
    "einsum": "'ij,j->i', m, row",
    "empty": "n",
    "expand_dims": "x, 0",
    "extract": "mask, x",
    "eye": "side",
    "fill_diagonal": "square, 1",
    "flip": "x",
    "fliplr": "m",
    "flipud": "m",
    "full": "n, 2.5",
    "full_like": "x, 2.5",
    "geomspace": "1, 1000, n",
    "histogram": "x, 100",
    "histogram2d": "x, y, 32",
    "histogramdd": "rows, 8",
    "hsplit": "x, 2",
    "hstack": "[x, y]",
    "identity": "side",
    "indices": "(side, side)",
    "inner": "x, y",
    "insert": "x, [1, 5], 3",
    "interp": "x, edges, edges",
    "intersect1d": "whole, other",
    "isin": "whole, other[:1000]",
    "ix_": "row_i, row_i",
    "kron": "row, row",
    "lexsort": "(whole, other)",
    "linspace": "0, 1, n",
    "logspace": "0, 2, n",
    "matmul": "m, k",
    "matvec": "m, row",
    "meshgrid": "row, row",
    "moveaxis": "cube, 0, 2",
    "nan_to_num": "x",
    "ones": "n",
    "outer": "row, row",
    "pad": "m, 1",
    "packbits": "bits",
    "partition": "x, n // 2",
    "percentile": "x, 30",
    "piecewise": "x, [mask], [1, 2]",
    "nanpercentile": "x, 30",
    "quantile": "x, 0.3",
    "nanquantile": "x, 0.3",
    "permute_dims": "cube, (2, 0, 1)",
    "place": "y, mask, x",
    "polyfit": "x, y, 2",
    "polyval": "coefficients, x",
    "put": "y, i, 1",
    "put_along_axis": "y, i, 1, 0",
    "putmask": "y, mask, x",
    "ravel_multi_index": "(few, few), (100, 100)",
    "repeat": "x, counts",
    "reshape": "x, (-1, 1)",
    "resize": "x, 2 * n",
    "roll": "x, 1000",
    "rollaxis": "cube, 2",
    "roots": "coefficients",
    "searchsorted": "sorted, x",
    "select": "[mask, bits], [x, y]",
    "setdiff1d": "whole, other",
    "setxor1d": "whole, other",
    "split": "x, 2",
    "stack": "[x, y]",
    "swapaxes": "cube, 0, 2",
    "take": "x, i",
    "take_along_axis": "x, i, 0",
    "tensordot": "m, k, 1",
    "tile": "x, 2",
    "trace": "m",
    "transpose": "m",
    "tri": "side",
    "trim_zeros": "bits",
    "tril": "m",
    "triu": "m",
    "tril_indices": "side",
    "tril_indices_from": "square",
    "triu_indices": "side",
    "triu_indices_from": "square",
    "union1d": "whole, other",
    "unpackbits": "small",
    "unique": "whole",
    "unique_all": "whole",
    "unique_counts": "whole",
    "unique_inverse": "whole",
    "unique_values": "whole",
    "unravel_index": "few, (10, 10)",
    "unstack": "cube[:16]",
    "vander": "row, 5",
    "vecdot": "wide_rows, wide_rows",
    "vecmat": "row, m",
    "vsplit": "m[:2], 2",
    "vstack": "[x, y]",
    "where": "mask, x, y",
    "zeros": "n",
    "bartlett": "n",
    "blackman": "n",
    "hamming": "n",
    "hanning": "n",
    "kaiser": "n, 8.6",
    "sliding_window_view": "x, 16",
    "sort_complex": "x",
    "astype": "x, 'f8'",
    "real_if_close": "z",
    "matrix_power": "square, 3",
    "topk": "x, 10",
    "special.erfinv": "x / 2",
    "special.logit": "x / 2",
    "special.ndtri": "x / 2",
    "linalg.cholesky": "positive",
    "linalg.cond": "square",
    "linalg.cross": "rows, more_rows",
    "linalg.diagonal": "m",
    "linalg.eigh": "positive",
    "linalg.eigvalsh": "positive",
    "linalg.lstsq": "square, row",
    "linalg.matmul": "m, k",
    "linalg.matrix_power": "square, 3",
    "linalg.multi_dot": "[m, k, m]",
    "linalg.outer": "row, row",
    "linalg.solve": "square, row",
    "linalg.tensordot": "m, k, axes=1",
    "linalg.tensorinv": "square[:16, :16].reshape(4, 4, 4, 4)",
    "linalg.tensorsolve": "square, row",
    "linalg.trace": "m",
    "linalg.vecdot": "wide_rows, wide_rows",
    "fft.ihfft": "x",
    "fft.rfft": "x",
    "fft.rfft2": "m",
    "fft.rfftn": "cube",
    "fft.fft": "z",
    "fft.ifft": "z",
    "fft.hfft": "z",
    "fft.irfft": "z",
}

#: Functions that are not measured, each with the reason.
LEFT_OUT = {
    "array2string": "returns text",
    "array_repr": "returns text",
    "array_str": "returns text",
    "save": "writes a file",
    "savetxt": "writes a file",
    "savez": "writes a file",
    "savez_compressed": "writes a file",
    "load": "reads a file",
    "from_dlpack": "takes an object of another library",
    "array": "copies from the host",
    "asarray": "copies from the host",
    "to_gpu": "copies from the host",
    "to_gpu_async": "copies from the host",
    "asnumpy": "copies to the host",
    "mask_indices": "takes a function of Python",
    "get_array_module": "returns a module",
    "ndim": "returns a number of the host",
    "shape": "returns numbers of the host",
    "size": "returns a number of the host",
    "finfo": "returns facts about a type",
    "iinfo": "returns facts about a type",
    "can_cast": "returns facts about types",
    "result_type": "returns facts about types",
    "iscomplexobj": "returns facts about a type",
    "isrealobj": "returns facts about a type",
    "may_share_memory": "compares addresses",
    "shares_memory": "compares addresses",
    "splay": "returns a launch configuration",
    "multi_put": "a function of PyCUDA without a peer",
    "multi_take": "a function of PyCUDA without a peer",
    "multi_take_put": "a function of PyCUDA without a peer",
    "subset_dot": "a function of PyCUDA without a peer",
    "subset_max": "a function of PyCUDA without a peer",
    "subset_min": "a function of PyCUDA without a peer",
    "subset_sum": "a function of PyCUDA without a peer",
    "if_positive": "a function of PyCUDA without a peer",
    "fft.fftfreq": "makes few numbers",
    "fft.rfftfreq": "makes few numbers",
    "linalg.eig": "no peer on a GPU, and minutes for large matrices",
    "linalg.eigvals": "no peer on a GPU, and minutes for large matrices",
}

#: Universal functions whose operands are integers.
INTEGERS = set(
    """bitwise_and bitwise_or bitwise_xor bitwise_count bitwise_invert bitwise_not invert left_shift
    right_shift bitwise_left_shift bitwise_right_shift gcd lcm""".split()
)

#: Operators, methods and indices, in the words of NumPy and CuPy; torch has its own words or None.
MORE = {
    "x[i]": (lambda np, d: d.x[d.i], lambda t, d: d.x[d.i]),
    "x[i] = 1": (lambda np, d: d.y.__setitem__(d.i, 1), lambda t, d: d.y.__setitem__(d.i, 1)),
    "rows[i]": (lambda np, d: d.wide_rows[d.row_i], lambda t, d: d.wide_rows[d.row_i]),
    "x[mask]": (lambda np, d: d.x[d.mask], lambda t, d: d.x[d.mask]),
    "x[mask] = 1": (lambda np, d: d.y.__setitem__(d.mask, 1), lambda t, d: d.y.__setitem__(d.mask, 1)),
    "x[::-1] + x": (lambda np, d: d.x[::-1] + d.x, lambda t, d: t.flip(d.x, [0]) + d.x),
    "m + row": (lambda np, d: d.m + d.row, lambda t, d: d.m + d.row),
    "m + column": (lambda np, d: d.m + d.row[:, None], lambda t, d: d.m + d.row[:, None]),
    "m.T copied": (lambda np, d: d.m.T.copy(), lambda t, d: d.m.T.contiguous()),
    "x += 1": (lambda np, d: d.y.__iadd__(1), lambda t, d: d.y.__iadd__(1)),
    "add.at": (lambda np, d: np.add.at(d.y, d.few, d.x), lambda t, d: d.y.index_add_(0, d.few, d.x)),
    "add.at of many": (lambda np, d: np.add.at(d.y, d.i, 1), None),
    "add.at of rows": (
        lambda np, d: np.add.at(d.wide_rows, d.row_i, d.wide_rows),
        lambda t, d: d.wide_rows.index_add_(0, d.row_i, d.wide_rows.clone()),
    ),
    "maximum.at": (lambda np, d: np.maximum.at(d.y, d.few, d.x), None),
    "bincount, weights": (
        lambda np, d: np.bincount(d.few, d.x),
        lambda t, d: t.bincount(d.few, d.x),
    ),
    "histogram, weights": (lambda np, d: np.histogram(d.x, 64, weights=d.x), None),
    "sum of 3": (lambda np, d: d.rows.sum(1), lambda t, d: d.rows.sum(1)),
    "mean of 2 x 2": (
        lambda np, d: d.image.reshape(len(d.image) // 2, 2, -1, 2).mean((1, 3)),
        lambda t, d: d.image.reshape(len(d.image) // 2, 2, -1, 2).mean((1, 3)),
    ),
    "max of middle axis": (lambda np, d: d.cube.max(1), lambda t, d: d.cube.amax(1)),
    "sum, axis 0": (lambda np, d: d.m.sum(0), lambda t, d: d.m.sum(0)),
    "sum, axis 1": (lambda np, d: d.m.sum(1), lambda t, d: d.m.sum(1)),
    "median, axis 1": (lambda np, d: np.median(d.wide_rows, 1), lambda t, d: t.median(d.wide_rows, 1)),
    "sort, axis 1": (lambda np, d: np.sort(d.wide_rows, 1), lambda t, d: t.sort(d.wide_rows, 1)),
    "sort, rows of 8": (
        lambda np, d: np.sort(d.x[: d.n // 8 * 8].reshape(-1, 8), 1),
        lambda t, d: t.sort(d.x[: d.n // 8 * 8].reshape(-1, 8), 1),
    ),
    "median, rows of 8": (
        lambda np, d: np.median(d.x[: d.n // 8 * 8].reshape(-1, 8), 1),
        lambda t, d: t.median(d.x[: d.n // 8 * 8].reshape(-1, 8), 1),
    ),
    "uint8 @ row": (lambda np, d: d.small[: d.n // 8 * 8].reshape(-1, 8) @ d.other[:8], None),
    "softmax": (
        lambda np, d: (e := np.exp(d.m - d.m.max(1, keepdims=True))) / e.sum(1, keepdims=True),
        lambda t, d: t.softmax(d.m, 1),
    ),
    "var, axis 1": (lambda np, d: d.m.var(1), lambda t, d: d.m.var(1, correction=0)),
    "z.real + z.imag": (lambda np, d: d.z.real + d.z.imag, lambda t, d: d.z.real + d.z.imag),
    "np.real(z) + np.imag(z)": (
        lambda np, d: np.real(d.z) + np.imag(d.z),
        lambda t, d: t.real(d.z) + t.imag(d.z),
    ),
}  # fmt: skip

_GUESSES = {
    "x1": "x", "x2": "y", "a1": "x", "a2": "y", "ar1": "whole", "ar2": "other", "b": "y", "y": "y",
}  # fmt: skip
_OF_MATRICES = {
    "atleast_3d", "matrix_transpose", "rot90", "linalg.cond", "linalg.matrix_norm", "linalg.matrix_transpose",
    "fft.fft2", "fft.fftn", "fft.ifft2", "fft.ifftn", "fft.irfft2", "fft.irfftn",
}  # fmt: skip
_OF_SQUARES = {"linalg"}


def name_of(entry) -> str:
    return f"{entry.namespace}.{entry.name}" if entry.namespace else entry.name


def guessed(entry) -> str:
    """The arguments of a function by its parameters."""
    name = name_of(entry)
    if isinstance(entry.function, UniversalFunction):
        if entry.name in ("ldexp",):
            return "x, other"
        pair = ("other", "other") if entry.name in INTEGERS else ("x", "y")
        return ", ".join(pair[: entry.function.nin])
    parameters = inspect.signature(entry.function).parameters.values()
    required = [
        one.name
        for one in parameters
        if one.default is one.empty
        and one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
    ] or ["x"]
    first = (
        "m"
        if name in _OF_MATRICES
        else "square"
        if entry.namespace == "linalg"
        else "x"
    )
    return ", ".join([first, *(_GUESSES.get(one, "x") for one in required[1:])])


def arguments(text: str, data, np) -> tuple[tuple, dict]:
    """The arguments that a text describes, for the operands of one library."""
    return eval(  # noqa: S307 -- texts of this file
        f"_given({text})",
        {"_given": lambda *args, **kwargs: (args, kwargs), "np": np},
        data,
    )


def function_calls() -> dict[str, str]:
    """The names of all functions that are measured, with the texts of their arguments."""
    calls = {}
    for entry in registry.ENTRIES:
        name = name_of(entry)
        if name not in LEFT_OUT and (entry.module or entry.numpy):
            calls.setdefault(name, ARGUMENTS.get(name) or guessed(entry))
    return dict(sorted(calls.items()))


def group_of(entry) -> str:
    """The group of a function: its namespace, or the folder of its definition."""
    if isinstance(entry.function, UniversalFunction) and not entry.namespace:
        return "ufuncs"
    folders = entry.function.__module__.removeprefix("pycuda.arrays.").split(".")
    return entry.namespace or folders[0]


def function_groups() -> dict[str, str]:
    """The groups of all functions that are measured, by the functions' names."""
    groups = dict.fromkeys(MORE, "operators")
    for entry in registry.ENTRIES:
        groups.setdefault(name_of(entry), group_of(entry))
    return {one: groups[one] for one in (*MORE, *function_calls())}
