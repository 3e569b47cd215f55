"""Copies of a kernel's arguments in memory that the measuring processes share.

One file without a name holds, for each array, its content and the result that variants are compared with:

    | x: content | x: result | y: content | y: result | ...

A process maps the file, and copies the contents to its own device memory. So the caller's arrays are never written.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from pycuda import driver

_ALIGNMENT = 4096


class ArraySpec(NamedTuple):
    """An array in the file. ``content`` and ``result`` are offsets in bytes; ``nbytes`` is the size.

    dtype: of the elements, as a text for numpy; None for memory without a type.
    is_compared: whether the result of a variant matters. name: of a variable of the module, else "".
    """

    content: int
    result: int
    nbytes: int
    dtype: str | None
    is_compared: bool
    name: str = ""


class Setup(NamedTuple):
    """The data that a measuring process receives once. ``arguments`` has an ArraySpec for each array, else a value."""

    device: int
    file_bytes: int
    arguments: tuple[object, ...]
    constants: tuple[ArraySpec, ...]
    tolerance: float | None


def _host_copy(argument: object, number: int) -> tuple[np.ndarray, bool] | None:
    """The bytes of an array argument, and whether results are compared. None for a value."""
    if isinstance(argument, driver.ArgumentHandler):
        if not isinstance(argument, (driver.In, driver.Out)):
            kind = type(argument).__name__
            raise TypeError(
                f"argument {number} is a {kind}; expected an array, a number, In, Out or InOut"
            )
        array = np.asarray(argument.array)
        is_read = isinstance(argument, driver.In)
        flat = _flat(array, number) if is_read else np.zeros(array.size, array.dtype)
        return flat, isinstance(argument, driver.Out)
    if isinstance(argument, np.ndarray) and argument.ndim:
        return _flat(argument, number), True
    if hasattr(argument, "__cuda_array_interface__"):
        from pycuda import gpuarray

        array = gpuarray.asarray(argument)
        if not array.flags.forc:
            raise TypeError(
                f"argument {number} is a view with gaps, strides {array.strides}; pass a copy"
            )
        return array.get().reshape(-1, order="A"), True
    size = getattr(argument, "size", None)
    if (
        isinstance(size, int)
        and hasattr(argument, "__int__")
        and not _is_value(argument)
    ):
        return driver.from_device(argument, size, np.uint8), True
    if isinstance(argument, int) and _is_address(argument):
        raise TypeError(
            f"argument {number} is an address, {argument:#x}, whose size is unknown; "
            "pass the array or the allocation"
        )
    return None


def _is_value(argument: object) -> bool:
    return isinstance(argument, (np.generic, np.ndarray, int, float, complex, bytes))


def _is_address(number: int) -> bool:
    if number < 1 << 32:
        return False
    try:
        driver.mem_get_address_range(number)
    except driver.Error:
        return False
    return True


def _flat(array: np.ndarray, number: int) -> np.ndarray:
    if array.dtype.hasobject:
        raise TypeError(f"argument {number} has Python objects, dtype {array.dtype}")
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        raise TypeError(
            f"argument {number} is a view with gaps, strides {array.strides}; pass a copy"
        )
    return array.reshape(-1, order="A")


def _dtype_text(dtype: np.dtype) -> str | None:
    """The text from which numpy makes the dtype; None for one that has fields."""
    return dtype.str if dtype.names is None and dtype.kind in "biufc" else None


class SharedArguments:
    """The arguments of the kernel, and the variables of its module, in a file that processes share.

    expected: the right contents of the array arguments after the kernel, with None for each other argument;
        None if the first variant decides.
    """

    def __init__(
        self,
        arguments: Sequence[object],
        constants: Mapping[str, object],
        expected: Sequence[object] | None,
        tolerance: float | None,
    ) -> None:
        copies = [_host_copy(a, i + 1) for i, a in enumerate(arguments)]
        variables = {n: np.ascontiguousarray(v) for n, v in constants.items()}
        self.file_bytes = 0
        specs: list[object] = []
        for argument, copy in zip(arguments, copies, strict=True):
            if copy is None:
                if not _is_value(argument):
                    kind = type(argument).__name__
                    raise TypeError(
                        f"argument {len(specs) + 1} is a {kind}; expected an array, a number, In, Out or InOut"
                    )
                specs.append(argument)
            else:
                specs.append(self._place(copy[0], copy[1]))
        named = tuple(self._place(v, False, name) for name, v in variables.items())
        self._file = _unnamed_file()
        self._file.truncate(max(self.file_bytes, 1))
        self._memory = mmap.mmap(self._file.fileno(), max(self.file_bytes, 1))
        for spec, copy in zip(specs, copies, strict=True):
            if copy is not None:
                self._write(spec.content, copy[0])
        for spec, variable in zip(named, variables.values(), strict=True):
            self._write(spec.content, variable)
        if expected is not None:
            specs = self._write_expected(specs, expected)
        self.setup = Setup(
            driver.Context.get_device().handle,
            self.file_bytes,
            tuple(specs),
            named,
            tolerance,
        )
        #: Whether there is a result that variants are compared with.
        self.has_result = expected is not None

    def _place(self, array: np.ndarray, is_compared: bool, name: str = "") -> ArraySpec:
        room = -(-array.nbytes // _ALIGNMENT) * _ALIGNMENT
        content, result = self.file_bytes, self.file_bytes + room
        self.file_bytes += 2 * room if is_compared else room
        dtype = _dtype_text(array.dtype)
        return ArraySpec(content, result, array.nbytes, dtype, is_compared, name)

    def _write(self, offset: int, array: np.ndarray) -> None:
        if array.nbytes:
            flat = array.reshape(-1).view(np.uint8)
            np.frombuffer(self._memory, np.uint8, flat.nbytes, offset)[:] = flat

    def _write_expected(self, specs: list, expected: Sequence[object]) -> list:
        if len(expected) != len(specs):
            raise ValueError(
                f"expected has {len(expected)} entries for {len(specs)} arguments; use None where nothing is expected"
            )
        adapted = []
        for number, (spec, wanted) in enumerate(zip(specs, expected, strict=True), 1):
            if isinstance(spec, ArraySpec):
                spec = spec._replace(is_compared=wanted is not None)
            if wanted is not None:
                if not isinstance(spec, ArraySpec):
                    raise ValueError(
                        f"expected has an entry for argument {number}, which is no array"
                    )
                wanted = wanted.get() if hasattr(wanted, "get") else np.asarray(wanted)
                if spec.dtype:
                    wanted = wanted.astype(spec.dtype, copy=False)
                if wanted.nbytes != spec.nbytes:
                    raise ValueError(
                        f"expected has {wanted.nbytes} bytes for argument {number}, which has {spec.nbytes}"
                    )
                self._write(spec.result, np.ascontiguousarray(wanted))
            adapted.append(spec)
        return adapted

    def fileno(self) -> int:
        """The descriptor of the file, which a child process inherits."""
        return self._file.fileno()

    def close(self) -> None:
        """Free the memory."""
        self._memory.close()
        self._file.close()


def _unnamed_file():
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("pycuda.tune"), "r+b", buffering=0)
    return tempfile.TemporaryFile(buffering=0)


def differences(
    result: np.ndarray,
    reference: np.ndarray,
    dtype: str | None,
    tolerance: float | None,
) -> str:
    """How a result differs from the reference; an empty text if it does not. Both are bytes.

    tolerance: the largest allowed difference, relative to the element plus a hundredth of the largest finite element. None
        is the square root of the type's precision, which is 0.03 for half, 3e-4 for float and 1e-8 for double.
    """
    if np.array_equal(_words(result), _words(reference)):
        return ""
    if dtype is None or np.dtype(dtype).kind not in "fc":
        step = np.dtype(dtype or np.uint8)
        one, other = result.view(step), reference.view(step)
        at = int(np.flatnonzero(one != other)[0])
        return f"element {at} is {one[at]}, not {other[at]}"
    one, other = result.view(dtype), reference.view(dtype)
    if tolerance is None:
        tolerance = float(np.sqrt(np.finfo(dtype).eps))
    wide = np.result_type(one.dtype, np.float64)
    with np.errstate(all="ignore"):
        one, other = one.astype(wide), other.astype(wide)
        finite = np.isfinite(other)
        scale = float(np.max(np.abs(other[finite]), initial=0.0))
        equal = (one == other) | (np.isnan(one) & np.isnan(other))
        allowed = tolerance * (np.abs(other) + scale / 100)
        wrong = ~(equal | (np.abs(one - other) <= allowed))
    if not wrong.any():
        return ""
    at = int(np.flatnonzero(wrong)[0])
    return f"element {at} is {one[at]:.6g}, not {other[at]:.6g}"


def _words(data: np.ndarray) -> np.ndarray:
    return data.view(np.uint64) if data.nbytes % 8 == 0 else data
