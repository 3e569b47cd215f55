"""Types of C as numpy dtypes: the registry of pycuda.tools, and separate registries."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from pycuda import _c_types
from pycuda._c_types import DTYPE_TO_NAME as DTYPE_TO_NAME
from pycuda._c_types import NAME_TO_DTYPE as NAME_TO_DTYPE
from pycuda._c_types import TypeNameNotKnown as TypeNameNotKnown
from pycuda._c_types import dtype_to_ctype as dtype_to_ctype
from pycuda._c_types import get_or_register_dtype as get_or_register_dtype
from pycuda._c_types import register_dtype as register_dtype


class DTypeRegistry:
    """Names of C types and their dtypes."""

    def __init__(self) -> None:
        self.name_to_dtype: dict[str, np.dtype] = {}
        self.dtype_to_name: dict[np.dtype, str] = {}

    def get_or_register_dtype(
        self, names: str | Iterable[str], dtype: np.dtype | type | None = None
    ) -> np.dtype:
        """As :func:`pycuda.tools.get_or_register_dtype`, in this registry."""
        return _c_types.register_in(
            self.name_to_dtype, self.dtype_to_name, names, dtype
        )

    def dtype_to_ctype(self, dtype: np.dtype | type) -> str:
        """The first name of a registered dtype. Raises ValueError for other dtypes."""
        dtype = np.dtype(dtype)
        try:
            return self.dtype_to_name[dtype]
        except KeyError:
            raise ValueError(f"unable to map dtype '{dtype}'") from None


class _GlobalRegistry(DTypeRegistry):
    """The registry that pycuda.tools uses."""

    def __init__(self) -> None:
        self.name_to_dtype = NAME_TO_DTYPE
        self.dtype_to_name = DTYPE_TO_NAME


TYPE_REGISTRY = _GlobalRegistry()


def _fill_dtype_registry(respect_windows: bool, include_bool: bool = True) -> None:
    """Register the types of C in the registry of pycuda.tools, which already contains them."""
    fill_registry_with_c_types(TYPE_REGISTRY, respect_windows, include_bool)


def fill_registry_with_c_types(
    reg: DTypeRegistry, respect_windows: bool, include_bool: bool = True
) -> None:
    """Register C's types, with their sizes on this machine."""
    for dtype, names in _c_types.C_TYPES.items():
        if dtype is np.bool_ and not include_bool:
            continue
        own = [name for name in names if not name.endswith("_t") and "::" not in name]
        if own and dtype is not np.float16:
            reg.get_or_register_dtype(own, dtype)


def fill_registry_with_opencl_c_types(reg: DTypeRegistry) -> None:
    """Register OpenCL's names: uchar, ushort, uint, ulong and the signed types."""
    for names, dtype in (
        (["char", "signed char"], np.int8),
        (["uchar", "unsigned char"], np.uint8),
        (["short", "signed short"], np.int16),
        (["ushort", "unsigned short"], np.uint16),
        (["int", "signed int"], np.int32),
        (["uint", "unsigned int", "unsigned"], np.uint32),
        (["long", "signed long"], np.int64),
        (["ulong", "unsigned long"], np.uint64),
        (["half"], np.float16),
        (["float"], np.float32),
        (["double"], np.float64),
    ):
        reg.get_or_register_dtype(names, dtype)


def fill_registry_with_c99_stdint_types(reg: DTypeRegistry) -> None:
    """Register bool, int8_t to uint64_t, and size_t."""
    reg.get_or_register_dtype("bool", np.bool_)
    for bits in (8, 16, 32, 64):
        reg.get_or_register_dtype(f"int{bits}_t", np.dtype(f"int{bits}"))
        reg.get_or_register_dtype(f"uint{bits}_t", np.dtype(f"uint{bits}"))
    reg.get_or_register_dtype("size_t", np.uint64)


def fill_registry_with_c99_complex_types(reg: DTypeRegistry) -> None:
    """Register C's complex numbers."""
    reg.get_or_register_dtype("float complex", np.complex64)
    reg.get_or_register_dtype("double complex", np.complex128)


def parse_c_arg_backend(
    c_arg: str,
    scalar_arg_factory: Callable,
    vec_arg_factory: Callable,
    name_to_dtype: Callable[[str], np.dtype] | DTypeRegistry | None = None,
) -> object:
    """Parse a declaration and return the result of ``scalar_arg_factory(dtype, name)`` or ``vec_arg_factory``.

    >>> from pycuda.tools import ScalarArg, VectorArg
    >>> parse_c_arg_backend("float *x", ScalarArg, VectorArg)
    VectorArg('x', float32)
    """
    if isinstance(name_to_dtype, DTypeRegistry):
        name_to_dtype = name_to_dtype.get_or_register_dtype
    type_name, name, is_vector = _c_types.split_declaration(c_arg)
    dtype = (name_to_dtype or get_or_register_dtype)(type_name)
    return (vec_arg_factory if is_vector else scalar_arg_factory)(dtype, name)
