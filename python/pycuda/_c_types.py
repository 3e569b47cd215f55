"""The registry of ``dtype_to_ctype``: names of C types and their numpy dtypes."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable

import numpy as np

NAME_TO_DTYPE: dict[str, np.dtype] = {}
DTYPE_TO_NAME: dict[np.dtype, str] = {}


class TypeNameNotKnown(ValueError, RuntimeError):
    """No dtype is registered for a name. (In PyCUDA, one function raises ValueError and another RuntimeError.)"""


def get_or_register_dtype(
    names: str | Iterable[str], dtype: np.dtype | type | None = None
) -> np.dtype:
    """The dtype registered under ``names`` (one or several); registers ``dtype`` if the names are new.

    :func:`dtype_to_ctype` returns the first name. Raises ValueError if a name is registered for
    another dtype, TypeNameNotKnown if no dtype is registered or given.

    >>> get_or_register_dtype("my_pair", np.dtype([("a", "f4"), ("b", "f4")])).itemsize
    8
    """
    return register_in(NAME_TO_DTYPE, DTYPE_TO_NAME, names, dtype)


# numpy's name -> the type in C.
_C_NAMES = {
    "float16": "half",
    "float32": "float",
    "float64": "double",
    "int8": "signed char",
    "int16": "short",
    "int32": "int",
    "int64": "long long",
    "uint8": "unsigned char",
    "uint16": "unsigned short",
    "uint32": "unsigned int",
    "uint64": "unsigned long long",
    "complex64": "pycuda::complex<float>",
    "complex128": "pycuda::complex<double>",
}


def _advice_for(name: str) -> str:
    if name in _C_NAMES:
        return f"; numpy's {name} is {_C_NAMES[name]} in C, and an array is a pointer: {_C_NAMES[name]} *x"
    if name.split()[0:1] == ["raw"]:
        return "; an array is a pointer: float *x"
    return ""


def register_in(
    name_to_dtype: dict[str, np.dtype],
    dtype_to_name: dict[np.dtype, str],
    names: str | Iterable[str],
    dtype: np.dtype | type | None,
) -> np.dtype:
    """As :func:`get_or_register_dtype`, in a registry of these two dictionaries."""
    names = [names] if isinstance(names, str) else list(names)
    if dtype is None:
        for name in names:
            if name in name_to_dtype:
                return name_to_dtype[name]
        raise TypeNameNotKnown(f"unknown type {names[0]!r}" + _advice_for(names[0]))
    dtype = np.dtype(dtype)
    for name in names:
        known = name_to_dtype.setdefault(name, dtype)
        if known != dtype:
            raise ValueError(
                f"the name {name!r} is already registered for {known}, not {dtype}"
            )
    dtype_to_name.setdefault(dtype, names[0])
    return name_to_dtype[names[0]]


def register_dtype(
    dtype: np.dtype | type, c_names: str | Iterable[str], alias_ok: bool = False
) -> None:
    """Deprecated spelling of :func:`get_or_register_dtype`."""
    warnings.warn(
        "register_dtype() is deprecated; use get_or_register_dtype() instead",
        DeprecationWarning,
        stacklevel=2,
    )
    dtype = np.dtype(dtype)
    if not alias_ok and dtype in DTYPE_TO_NAME:
        raise ValueError(f"{dtype} is already registered as {DTYPE_TO_NAME[dtype]!r}")
    get_or_register_dtype(c_names, dtype)


def dtype_to_ctype(dtype: np.dtype | type, with_fp_tex_hack: bool = False) -> str:
    """The name of a dtype in CUDA C++. Raises ValueError if the dtype is not registered.

    ``with_fp_tex_hack`` returns the names in pycuda-helpers.hpp for fetches from textures.

    >>> dtype_to_ctype(np.float32)
    'float'
    """
    if dtype is None:
        raise ValueError("dtype must not be None")
    dtype = np.dtype(dtype)
    if with_fp_tex_hack and dtype in _TEXTURE_NAMES:
        return _TEXTURE_NAMES[dtype]
    if dtype.name == "bfloat16":  # from ml_dtypes, which may not be installed
        return "__nv_bfloat16"
    try:
        return DTYPE_TO_NAME[dtype]
    except KeyError:
        raise ValueError(
            f"unable to map dtype '{dtype}'; register a name with get_or_register_dtype()"
        ) from None


C_TYPES = {
    dtype: names.split(", ")
    for dtype, names in {
        np.bool_: "bool",
        np.int8: "signed char, char, int8_t",
        np.uint8: "unsigned char, uint8_t",
        np.int16: "short, short int, signed short, signed short int, short signed int, int16_t",
        np.uint16: "unsigned short, unsigned short int, short unsigned int, short unsigned, uint16_t",
        np.int32: "int, signed int, signed, int32_t",
        np.uint32: "unsigned, unsigned int, uint32_t",
        np.int64: "long, long int, signed long, signed long int, long signed int, long long, long long int, "
        "signed long long, int64_t, ptrdiff_t",
        np.uint64: "unsigned long, unsigned long int, long unsigned int, unsigned long long, unsigned long long int, "
        "uint64_t, size_t",
        np.float16: "half, __half",
        np.float32: "float",
        np.float64: "double",
        np.complex64: "pycuda::complex<float>",
        np.complex128: "pycuda::complex<double>",
    }.items()
}
for _dtype, _names in C_TYPES.items():
    get_or_register_dtype(_names, _dtype)

_TEXTURE_NAMES = {
    np.dtype(np.float64): "fp_tex_double",
    np.dtype(np.complex64): "fp_tex_cfloat",
    np.dtype(np.complex128): "fp_tex_cdouble",
}


class Argument:
    """An argument of a kernel: ``dtype`` and ``name``."""

    def __init__(self, dtype: np.dtype | type, name: str) -> None:
        self.dtype = np.dtype(dtype)
        self.name = name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.dtype})"

    def __eq__(self, other: object) -> bool:
        return (
            type(self) is type(other)
            and self.dtype == other.dtype
            and self.name == other.name
        )

    def __hash__(self) -> int:
        return hash((type(self), self.dtype, self.name))


class VectorArg(Argument):
    """A pointer to elements of ``dtype``."""

    struct_char = "P"

    def declarator(self) -> str:
        """``float *x``"""
        return f"{dtype_to_ctype(self.dtype)} *{self.name}"


class ScalarArg(Argument):
    """A value of ``dtype``."""

    @property
    def struct_char(self) -> str:
        """The format of the value for ``Function.prepare``."""
        if self.dtype.char == "V":
            return f"{self.dtype.itemsize}s"
        return self.dtype.char

    def declarator(self) -> str:
        """``float x``"""
        return f"{dtype_to_ctype(self.dtype)} {self.name}"


# Strings, which `re` compiles at the first use: few programs declare arguments.
COMMENT = r"//[^\n]*|/\*[\s\S]*?\*/"
_QUALIFIERS = r"\b(const|volatile|restrict|__restrict__|__restrict)\b"
_DECLARATION = (
    r"^(?P<type>.*?)(?P<pointer>[*\s]*)(?P<name>\w+)\s*(?P<array>(\[\w*\]\s*)*)$"
)


def parse_c_arg(c_arg: str) -> Argument:
    """Parse a declaration such as ``const float *x``.

    Raises ValueError if it cannot be parsed, or if the type is unknown.

    >>> parse_c_arg("const float *x")
    VectorArg('x', float32)
    """
    type_name, name, is_vector = split_declaration(c_arg)
    return (VectorArg if is_vector else ScalarArg)(
        get_or_register_dtype(type_name), name
    )


def split_declaration(c_arg: str) -> tuple[str, str, bool]:
    """Split a declaration into type, name, and whether it is a pointer or an array.

    >>> split_declaration("const float *x")
    ('float', 'x', True)
    """
    text = " ".join(re.sub(f"{COMMENT}|{_QUALIFIERS}", " ", c_arg).split())
    match = re.match(_DECLARATION, text)
    if match is None or not match["type"].strip():
        raise ValueError(
            f"cannot read the argument {c_arg!r}: expected a type and a name"
        )
    depth = match["pointer"].count("*") + match["array"].count("[")
    if depth > 1:
        raise ValueError(f"cannot read the argument {c_arg!r}: pointers to pointers")
    return match["type"].strip(), match["name"], depth == 1


def get_arg_type(c_arg: str) -> str:
    """The format of a declared argument for ``Function.prepare``."""
    return parse_c_arg(c_arg).struct_char


def real_type(dtype: np.dtype) -> np.dtype:
    """The type of the real part of a complex dtype; other dtypes are returned unchanged."""
    return np.dtype(dtype.type(0).real.dtype) if dtype.kind == "c" else dtype
