"""Elementwise kernels as Functions, for programs that launch PyCUDA's own kernels.

Each ``get_...()`` returns a prepared :class:`pycuda.driver.Function`, one for each context and set of types.
Its docstring lists its arguments; the number of elements is the last one:

>>> x = gpuarray.array([1, 2, 3], np.float32)
>>> scale = get_pow_kernel(np.float32)
>>> scale.prepared_call(x._grid, x._block, 2, x.gpudata, x.gpudata, x.size)
>>> x
array([1., 4., 9.], dtype=float32)

New programs write ``x ** 2``, or an :class:`pycuda.elementwise.ElementwiseKernel`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pycuda import _driver
from pycuda._c_types import Argument, ScalarArg, VectorArg, dtype_to_ctype
from pycuda._kernel_arguments import parse_arguments
from pycuda.compiler import SourceModule
from pycuda.tools import context_dependent_memoize

__all__ = [
    "get_arange_kernel",
    "get_axpbyz_kernel",
    "get_axpbz_kernel",
    "get_binary_func_kernel",
    "get_binary_func_scalar_kernel",
    "get_binary_minmax_kernel",
    "get_binary_op_kernel",
    "get_conj_kernel",
    "get_copy_kernel",
    "get_elwise_kernel",
    "get_elwise_kernel_and_types",
    "get_elwise_module",
    "get_elwise_range_module",
    "get_fill_kernel",
    "get_fmod_kernel",
    "get_frexp_kernel",
    "get_if_positive_kernel",
    "get_imag_kernel",
    "get_ldexp_kernel",
    "get_linear_combination_kernel",
    "get_logical_not_kernel",
    "get_modf_kernel",
    "get_pow_array_kernel",
    "get_pow_kernel",
    "get_put_kernel",
    "get_rdivide_elwise_kernel",
    "get_real_kernel",
    "get_reverse_kernel",
    "get_scalar_op_kernel",
    "get_take_kernel",
    "get_take_put_kernel",
    "get_unary_func_kernel",
    "get_where_kernel",
]

_SOURCE = """
#include <pycuda-complex.hpp>
{preamble}
extern "C" __global__ void {name}({parameters})
{{
    unsigned tid = threadIdx.x;
    {index} total_threads = ({index})gridDim.x * blockDim.x;
    {index} cta_start = ({index})blockDim.x * blockIdx.x;
    {index} i;
    {loop_prep};
    {loop}
    {{
        {operation};
    }}
    {after_loop};
}}
"""

_ALL = (
    "unsigned long",
    [ScalarArg(np.uintp, "n")],
    "for (i = cta_start + tid; i < n; i += total_threads)",
)
_RANGE = (
    "long",
    [ScalarArg(np.int_, name) for name in ("start", "stop", "step")],
    "for (i = start + (cta_start + tid) * step; step < 0 ? i > stop : i < stop;"
    " i += total_threads * step)",
)


def _make_module(
    way: tuple[str, list[Argument], str],
    arguments: str | Sequence[Argument | str],
    operation: str,
    name: str,
    keep: bool,
    options: Sequence[str] | None,
    texts: dict[str, str],
) -> tuple[SourceModule, list[Argument]]:
    index, extra, loop = way
    declared = parse_arguments(arguments)
    names = [argument.name for argument in declared]
    declared += [argument for argument in extra if argument.name not in names]
    source = _SOURCE.format(
        index=index,
        loop=loop,
        name=name,
        operation=operation,
        parameters=", ".join(argument.declarator() for argument in declared),
        **{"preamble": "", "loop_prep": "", "after_loop": "", **texts},
    )
    # The templates of complex.hpp, and possibly a preamble, are C++.
    return SourceModule(source, options=options, keep=keep, no_extern_c=True), declared


def get_elwise_module(
    arguments: str | Sequence[Argument | str],
    operation: str,
    name: str = "kernel",
    keep: bool = False,
    options: Sequence[str] | None = None,
    **texts: str,
) -> SourceModule:
    """The module of an elementwise kernel with parameters ``arguments`` and ``size_t n``.

    ``texts`` contains ``preamble``, ``loop_prep`` and ``after_loop``.
    """
    return _make_module(_ALL, arguments, operation, name, keep, options, texts)[0]


def get_elwise_range_module(
    arguments: str | Sequence[Argument | str],
    operation: str,
    name: str = "kernel",
    keep: bool = False,
    options: Sequence[str] | None = None,
    **texts: str,
) -> SourceModule:
    """As :func:`get_elwise_module`, for a kernel with parameters ``long start, stop, step`` instead of ``n``."""
    return _make_module(_RANGE, arguments, operation, name, keep, options, texts)[0]


def get_elwise_kernel_and_types(
    arguments: str | Sequence[Argument | str],
    operation: str,
    name: str = "kernel",
    keep: bool = False,
    options: Sequence[str] | None = None,
    use_range: bool = False,
    **texts: str,
) -> tuple[SourceModule, _driver.Function, list[Argument]]:
    """(module, prepared Function, all of its arguments)."""
    way = _RANGE if use_range else _ALL
    module, declared = _make_module(
        way, arguments, operation, name, keep, options, texts
    )
    function = module.get_function(name)
    function.prepare("".join(argument.struct_char for argument in declared))
    return module, function, declared


def get_elwise_kernel(
    arguments: str | Sequence[Argument | str],
    operation: str,
    name: str = "kernel",
    keep: bool = False,
    options: Sequence[str] | None = None,
    **texts: str,
) -> _driver.Function:
    """The prepared Function of an elementwise kernel.

    >>> x = gpuarray.array([1, 2], np.float32)
    >>> twice = get_elwise_kernel("float *x", "x[i] *= 2", "twice")
    >>> twice.prepared_call(x._grid, x._block, x.gpudata, x.size)
    >>> x
    array([2., 4.], dtype=float32)
    """
    return get_elwise_kernel_and_types(
        arguments, operation, name, keep, options, **texts
    )[1]


def _vectors(**dtypes: object) -> list[Argument]:
    return [VectorArg(np.dtype(dtype), name) for name, dtype in dtypes.items()]


def _scalar(name: str, dtype: object) -> Argument:
    return ScalarArg(np.dtype(dtype), name)


def _element(name: str, is_scalar: bool) -> str:
    """The text of an operand: an element, or the only element of an array without dimensions."""
    return f"{name}[0]" if is_scalar else f"{name}[i]"


@context_dependent_memoize
def get_copy_kernel(dtype_dest, dtype_src):
    """(dest, src): ``dest[i] = src[i]``"""
    arguments = _vectors(dest=dtype_dest, src=dtype_src)
    return get_elwise_kernel(arguments, "dest[i] = src[i]", "copy")


@context_dependent_memoize
def get_put_kernel(dtype, idx_dtype, vec_count=1):
    """(idx, dest0 ..., src0 ...): ``dest0[idx[i]] = src0[i]``, and so on for ``vec_count`` pairs"""
    numbers = range(vec_count)
    arguments = [
        VectorArg(np.dtype(idx_dtype), "gmem_dest_idx"),
        *_vectors(**{f"dest{k}": dtype for k in numbers}),
        *_vectors(**{f"src{k}": dtype for k in numbers}),
    ]
    stores = "; ".join(f"dest{k}[gmem_dest_idx[i]] = src{k}[i]" for k in numbers)
    return get_elwise_kernel(arguments, stores, "put")


def _fetching_kernel(dtype, arguments, operation, name, vec_count):
    """A kernel with ``arguments`` that also reads from the textures ``tex_src0`` ..."""
    texture = f"texture<{dtype_to_ctype(dtype, with_fp_tex_hack=True)}, 1>"
    names = [f"tex_src{k}" for k in range(vec_count)]
    lines = [
        "#include <pycuda-helpers.hpp>",
        *(f"{texture} {each};" for each in names),
    ]
    module, kernel, _ = get_elwise_kernel_and_types(
        arguments, operation, name, preamble="\n".join(lines)
    )
    return kernel, [module.get_texref(each) for each in names]


@context_dependent_memoize
def get_take_kernel(dtype, idx_dtype, vec_count=1):
    """(idx, dest0 ...): ``dest0[i] = src0[idx[i]]``, and so on. Also returns the ``vec_count`` texture references
    to which the sources must first be bound, with their ``bind_to_texref_ext()``"""
    numbers = range(vec_count)
    arguments = [
        VectorArg(np.dtype(idx_dtype), "idx"),
        *_vectors(**{f"dest{k}": dtype for k in numbers}),
    ]
    stores = [f"dest{k}[i] = fp_tex1Dfetch(tex_src{k}, idx[i])" for k in numbers]
    return _fetching_kernel(dtype, arguments, "; ".join(stores), "take", vec_count)


@context_dependent_memoize
def get_take_put_kernel(dtype, idx_dtype, with_offsets, vec_count=1):
    """(dest_idx, src_idx, dest0 ..., offset0 ...): ``dest0[dest_idx[i]] = src0[src_idx[i] + offset0]``, and
    so on. Also returns the texture references of the sources, as :func:`get_take_kernel`. Without
    ``with_offsets`` there are no offsets."""
    numbers = range(vec_count)
    arguments = [
        *_vectors(gmem_dest_idx=idx_dtype, gmem_src_idx=idx_dtype),
        *_vectors(**{f"dest{k}": dtype for k in numbers}),
    ]
    if with_offsets:
        arguments += [ScalarArg(np.dtype(idx_dtype), f"offset{k}") for k in numbers]
    stores = []
    for k in numbers:
        place = "gmem_src_idx[i]" + (f" + offset{k}" if with_offsets else "")
        stores.append(f"dest{k}[gmem_dest_idx[i]] = fp_tex1Dfetch(tex_src{k}, {place})")
    return _fetching_kernel(dtype, arguments, "; ".join(stores), "take_put", vec_count)


@context_dependent_memoize
def get_linear_combination_kernel(summand_descriptors, dtype_z):
    """(a0, x0, a1, x1 ..., z): ``z[i] = a0 * x0[i] + a1 * x1[i] ...``, and a list of textures.

    ``summand_descriptors`` is a tuple of (whether the factor is an array of one element, the
    factor's dtype, the vector's dtype). Such a factor is not an argument: it is read through the next
    texture of the list, to which the program binds the array with ``bind_to_texref_ext()``.
    """
    preamble, loop_prep, arguments, summands = [], [], [], []
    textures = []
    for k, (on_device, dtype_a, dtype_x) in enumerate(summand_descriptors):
        if on_device:
            texel = dtype_to_ctype(dtype_a, with_fp_tex_hack=True)
            preamble.append(f"texture<{texel}, 1, cudaReadModeElementType> tex_a{k};")
            value = f"fp_tex1Dfetch(tex_a{k}, 0)"
            loop_prep.append(f"{dtype_to_ctype(dtype_a)} a{k} = {value}")
            textures.append(f"tex_a{k}")
        else:
            arguments.append(ScalarArg(np.dtype(dtype_a), f"a{k}"))
        arguments.append(VectorArg(np.dtype(dtype_x), f"x{k}"))
        summands.append(f"a{k} * x{k}[i]")
    arguments += _vectors(z=dtype_z)
    module = get_elwise_module(
        arguments,
        f"z[i] = {' + '.join(summands)}",
        "linear_combination",
        preamble="\n".join(["#include <pycuda-helpers.hpp>", *preamble]),
        loop_prep="; ".join(loop_prep),
    )
    references = [module.get_texref(name) for name in textures]
    types = [*arguments, ScalarArg(np.uintp, "n")]
    function = module.get_function("linear_combination")
    function.prepare("".join(one.struct_char for one in types), texrefs=references)
    return function, references


@context_dependent_memoize
def get_axpbyz_kernel(dtype_x, dtype_y, dtype_z, x_is_scalar=False, y_is_scalar=False):
    """(a, x, b, y, z): ``z[i] = a * x[i] + b * y[i]``"""
    x, y, z = _vectors(x=dtype_x, y=dtype_y, z=dtype_z)
    arguments = [_scalar("a", dtype_x), x, _scalar("b", dtype_y), y, z]
    sum_of = f"a * {_element('x', x_is_scalar)} + b * {_element('y', y_is_scalar)}"
    return get_elwise_kernel(arguments, f"z[i] = {sum_of}", "axpbyz")


@context_dependent_memoize
def get_axpbz_kernel(dtype_x, dtype_z):
    """(a, x, b, z): ``z[i] = a * x[i] + b``"""
    x, z = _vectors(x=dtype_x, z=dtype_z)
    arguments = [_scalar("a", dtype_z), x, _scalar("b", dtype_z), z]
    return get_elwise_kernel(arguments, "z[i] = a * x[i] + b", "axpb")


@context_dependent_memoize
def get_binary_op_kernel(
    dtype_x, dtype_y, dtype_z, operator, x_is_scalar=False, y_is_scalar=False
):
    """(x, y, z): ``z[i] = x[i] <operator> y[i]``"""
    x, y = _element("x", x_is_scalar), _element("y", y_is_scalar)
    arguments = _vectors(x=dtype_x, y=dtype_y, z=dtype_z)
    return get_elwise_kernel(arguments, f"z[i] = {x} {operator} {y}", "binary_op")


@context_dependent_memoize
def get_rdivide_elwise_kernel(dtype_x, dtype_z):
    """(x, y, z) with a number y: ``z[i] = y / x[i]``"""
    x, z = _vectors(x=dtype_x, z=dtype_z)
    return get_elwise_kernel(
        [x, _scalar("y", dtype_z), z], "z[i] = y / x[i]", "rdivide"
    )


@context_dependent_memoize
def get_binary_func_kernel(
    func, dtype_x, dtype_y, dtype_z, x_is_scalar=False, y_is_scalar=False
):
    """(x, y, z): ``z[i] = func(x[i], y[i])``"""
    x, y = _element("x", x_is_scalar), _element("y", y_is_scalar)
    arguments = _vectors(x=dtype_x, y=dtype_y, z=dtype_z)
    return get_elwise_kernel(arguments, f"z[i] = {func}({x}, {y})", f"{func}_kernel")


@context_dependent_memoize
def get_binary_func_scalar_kernel(func, dtype_x, dtype_y, dtype_z):
    """(x, y, z) with a number y: ``z[i] = func(x[i], y)``"""
    x, z = _vectors(x=dtype_x, z=dtype_z)
    arguments = [x, _scalar("y", dtype_y), z]
    return get_elwise_kernel(arguments, f"z[i] = {func}(x[i], y)", f"{func}_kernel")


def get_binary_minmax_kernel(func, dtype_x, dtype_y, dtype_z, use_scalar):
    """(x, y, z), y a number with ``use_scalar``: ``func`` is "min" or "max"."""
    if func not in ("min", "max"):
        raise ValueError(f'func must be "min" or "max", not {func!r}')
    if np.dtype(dtype_z).kind == "f":
        func = f"f{func}"
    make = get_binary_func_scalar_kernel if use_scalar else get_binary_func_kernel
    return make(func, dtype_x, dtype_y, dtype_z)


@context_dependent_memoize
def get_fill_kernel(dtype):
    """(a, z): ``z[i] = a``"""
    arguments = [_scalar("a", dtype), *_vectors(z=dtype)]
    return get_elwise_kernel(arguments, "z[i] = a", "fill")


@context_dependent_memoize
def get_reverse_kernel(dtype):
    """(y, z): ``z[i] = y[n - 1 - i]``"""
    return get_elwise_kernel(
        _vectors(y=dtype, z=dtype), "z[i] = y[n - 1 - i]", "reverse"
    )


def _part_kernel(part, dtype, result):
    arguments = _vectors(y=dtype, z=result)
    return get_elwise_kernel(arguments, f"z[i] = pycuda::{part}(y[i])", part)


@context_dependent_memoize
def get_real_kernel(dtype, real_dtype):
    """(y, z): ``z[i] = real(y[i])``"""
    return _part_kernel("real", dtype, real_dtype)


@context_dependent_memoize
def get_imag_kernel(dtype, real_dtype):
    """(y, z): ``z[i] = imag(y[i])``"""
    return _part_kernel("imag", dtype, real_dtype)


@context_dependent_memoize
def get_conj_kernel(dtype, conj_dtype):
    """(y, z): ``z[i] = conj(y[i])``"""
    return _part_kernel("conj", dtype, conj_dtype)


@context_dependent_memoize
def get_arange_kernel(dtype):
    """(z, start, step): ``z[i] = start + i * step``"""
    ctype = dtype_to_ctype(dtype)
    arguments = [*_vectors(z=dtype), _scalar("start", dtype), _scalar("step", dtype)]
    return get_elwise_kernel(arguments, f"z[i] = start + ({ctype})i * step", "arange")


def _pow_of(*dtypes) -> str:
    kinds = {np.dtype(dtype).kind for dtype in dtypes}
    return "pycuda::pow" if "c" in kinds else "pow"


@context_dependent_memoize
def get_pow_kernel(dtype):
    """(value, y, z): ``z[i] = pow(y[i], value)``"""
    arguments = [_scalar("value", dtype), *_vectors(y=dtype, z=dtype)]
    return get_elwise_kernel(
        arguments, f"z[i] = {_pow_of(dtype)}(y[i], value)", "pow_method"
    )


@context_dependent_memoize
def get_pow_array_kernel(dtype_x, dtype_y, dtype_z, is_base_array, is_exp_array):
    """(x, y, z), x and y arrays or numbers: ``z[i] = pow(x, y)``"""
    arguments = [
        (VectorArg if is_base_array else ScalarArg)(np.dtype(dtype_x), "x"),
        (VectorArg if is_exp_array else ScalarArg)(np.dtype(dtype_y), "y"),
        VectorArg(np.dtype(dtype_z), "z"),
    ]
    x, y = ("x", "x[i]")[bool(is_base_array)], ("y", "y[i]")[bool(is_exp_array)]
    power = f"{_pow_of(dtype_x, dtype_y)}({x}, {y})"
    return get_elwise_kernel(arguments, f"z[i] = {power}", "pow_method")


@context_dependent_memoize
def get_fmod_kernel():
    """(arg, mod, z) of float: ``z[i] = fmod(arg[i], mod[i])``"""
    arguments = "float *arg, float *mod, float *z"
    return get_elwise_kernel(arguments, "z[i] = fmod(arg[i], mod[i])", "fmod_kernel")


@context_dependent_memoize
def get_modf_kernel():
    """(x, intpart, fracpart) of float"""
    arguments = "float *x, float *intpart, float *fracpart"
    return get_elwise_kernel(
        arguments, "fracpart[i] = modf(x[i], &intpart[i])", "modf_kernel"
    )


@context_dependent_memoize
def get_frexp_kernel():
    """(x, significand, exponent) of float"""
    return get_elwise_kernel(
        "float *x, float *significand, float *exponent",
        "int power = 0; significand[i] = frexp(x[i], &power); exponent[i] = power",
        "frexp_kernel",
    )


@context_dependent_memoize
def get_ldexp_kernel():
    """(sig, expt, z) of float: ``z[i] = ldexp(sig[i], int(expt[i]))``"""
    arguments = "float *sig, float *expt, float *z"
    return get_elwise_kernel(
        arguments, "z[i] = ldexp(sig[i], int(expt[i]))", "ldexp_kernel"
    )


@context_dependent_memoize
def get_unary_func_kernel(func_name, in_dtype, out_dtype=None):
    """(y, z): ``z[i] = func_name(y[i])``"""
    arguments = _vectors(y=in_dtype, z=in_dtype if out_dtype is None else out_dtype)
    return get_elwise_kernel(arguments, f"z[i] = {func_name}(y[i])", "unary_func")


def _choice_kernel(comparison, crit_dtype, dtype, name):
    arguments = _vectors(crit=crit_dtype, then_=dtype, else_=dtype, result=dtype)
    operation = f"result[i] = crit[i] {comparison} 0 ? then_[i] : else_[i]"
    return get_elwise_kernel(arguments, operation, name)


@context_dependent_memoize
def get_if_positive_kernel(crit_dtype, dtype):
    """Make the kernel ``result[i] = crit[i] > 0 ? then_[i] : else_[i]``; arguments: crit, ``then_``, ``else_``, result."""
    return _choice_kernel(">", crit_dtype, dtype, "if_positive")


@context_dependent_memoize
def get_where_kernel(crit_dtype, dtype):
    """Make the kernel ``result[i] = crit[i] != 0 ? then_[i] : else_[i]``; arguments: crit, ``then_``, ``else_``, result."""
    return _choice_kernel("!=", crit_dtype, dtype, "if_positive")


@context_dependent_memoize
def get_scalar_op_kernel(dtype_x, dtype_a, dtype_y, operator):
    """(x, a, y): ``y[i] = x[i] <operator> a``"""
    x, y = _vectors(x=dtype_x, y=dtype_y)
    return get_elwise_kernel(
        [x, _scalar("a", dtype_a), y], f"y[i] = x[i] {operator} a", "scalarop_kernel"
    )


@context_dependent_memoize
def get_logical_not_kernel(dtype_x, dtype_out):
    """(x, out): ``out[i] = x[i] == 0``"""
    arguments = _vectors(x=dtype_x, out=dtype_out)
    return get_elwise_kernel(arguments, "out[i] = x[i] == 0", "logical_not")
