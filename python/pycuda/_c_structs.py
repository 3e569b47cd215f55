"""Structures of C for dtypes with fields: the declaration, and a dtype with the compiler's offsets."""

from __future__ import annotations

import numpy as np

from pycuda import _driver, compiler, driver
from pycuda._c_types import dtype_to_ctype

_HEADERS = {
    "pycuda::": "#include <pycuda-complex.hpp>\n",
    "half": "#include <cuda_fp16.h>\n",
    "__nv_bfloat16": "#include <cuda_bf16.h>\n",
}


def match_dtype_to_c_struct(
    device: _driver.Device | None,
    name: str,
    dtype: np.dtype,
    context: _driver.Context | None = None,
) -> tuple[np.dtype, str]:
    """Returns ``dtype`` with the offsets and the size of the structure in C, and its declaration.

    The compiler aligns members: a ``double`` begins at a multiple of 8 bytes, a ``float4`` at one of 16.
    NumPy packs them. An array of the result has the bytes that a kernel expects.

    :param device: the device whose current context compiles; None: the current device
    :param name: the name of the structure, for :func:`get_or_register_dtype`
    :param dtype: has fields. Their types are numbers, arrays of them, or registered structures
    :param context: a context to use in place of the current one. The function has PyOpenCL's parameters
    :raises ValueError: for a dtype without fields, a name that is none in C, or a type without a name in C

    >>> dtype, declaration = match_dtype_to_c_struct(
    ...     None, "body", np.dtype([("kind", np.int8), ("mass", np.float64)]))
    >>> dtype.itemsize
    16
    >>> print(declaration)
    typedef struct {
      signed char kind;
      double mass;
    } body;
    """
    dtype = np.dtype(dtype)
    declaration = _declaration(name, dtype)
    if context is not None:
        context.push()
    try:
        current = driver.Context.get_device()
        if device is not None and device != current:
            raise ValueError(
                f"the current context is on {current!r}, not on {device!r}; pass context=, or push one of the device"
            )
        return _matched(
            _nested_declarations(dtype) + declaration, name, dtype
        ), declaration
    finally:
        if context is not None:
            driver.Context.pop()


def _fields(dtype: np.dtype) -> list[tuple[str, np.dtype]]:
    """The names and dtypes of the fields, in the order of their offsets."""
    if not dtype.names:
        raise ValueError(f"{dtype} has no fields, so no structure of C matches it")
    fields = sorted(dtype.names, key=lambda name: dtype.fields[name][1])
    for name in fields:
        if not (name.isidentifier() and name.isascii()):
            raise ValueError(f"the field {name!r} has no name in C")
    return [(name, dtype.fields[name][0]) for name in fields]


def _declaration(name: str, dtype: np.dtype) -> str:
    if not (name.isidentifier() and name.isascii()):
        raise ValueError(f"{name!r} is no name in C")
    lines = []
    for field, kind in _fields(dtype):
        sizes = "".join(f"[{size}]" for size in kind.shape)
        lines.append(f"  {dtype_to_ctype(kind.base)} {field}{sizes};\n")
    return "typedef struct {\n" + "".join(lines) + f"}} {name};"


def _nested_declarations(dtype: np.dtype) -> str:
    """Those of the structures that are fields. CUDA declares its vectors itself."""
    text = ""
    for _, kind in _fields(dtype):
        if kind.base.names and not _is_vector(kind.base):
            name = dtype_to_ctype(kind.base)
            nested = (
                _nested_declarations(kind.base) + _declaration(name, kind.base) + "\n"
            )
            if nested not in text:
                text += nested
    return text


def _is_vector(dtype: np.dtype) -> bool:
    """Whether the dtype is registered as one of CUDA's vectors, such as float4."""
    return set(dtype.names or ()) <= set("xyzw") and dtype_to_ctype(dtype)[-1] in "1234"


def _matched(declarations: str, name: str, dtype: np.dtype) -> np.dtype:
    fields = _fields(dtype)
    body = f"o[0] = sizeof({name});"
    for number, (field, _) in enumerate(fields, start=1):
        body += f" o[{number}] = (size_t)&(({name} *)0)->{field};"
    headers = "".join(text for word, text in _HEADERS.items() if word in declarations)
    module = compiler.SourceModule(
        f'{headers}{declarations}\nextern "C" __global__ void measure(size_t *o) {{ {body} }}\n',
        no_extern_c=True,
    )
    measured = np.zeros(len(fields) + 1, np.uint64)
    module.get_function("measure")(driver.Out(measured), block=(1, 1, 1))
    size, *offsets = (int(value) for value in measured)
    return np.dtype(
        {
            "names": [field for field, _ in fields],
            "formats": [kind for _, kind in fields],
            "offsets": offsets,
            "itemsize": size,
        }
    )
