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

import inspect
from collections.abc import Sequence

import numpy as np

from pycuda import _driver
from pycuda._c_types import Argument, ScalarArg, VectorArg, dtype_to_ctype
from pycuda._kernel_arguments import parse_arguments
from pycuda.compiler import SourceModule
from pycuda.tools import context_dependent_memoize

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
    name: str = "kernel",
    keep: bool = False,
    options: Sequence[str] | None = None,
    **texts: str,
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


def get_elwise_module(*given, **named) -> SourceModule:
    """``get_elwise_module(arguments, operation, name="kernel", keep=False, options=None, **texts)``: the module of an
    elementwise kernel with parameters ``arguments`` and ``size_t n``.

    ``texts`` contains ``preamble``, ``loop_prep`` and ``after_loop``.
    """
    return _make_module(_ALL, *given, **named)[0]


def get_elwise_range_module(*given, **named) -> SourceModule:
    """As :func:`get_elwise_module`, for a kernel with parameters ``long start, stop, step`` instead of ``n``."""
    return _make_module(_RANGE, *given, **named)[0]


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
        way, arguments, operation, name, keep, options, **texts
    )
    function = module.get_function(name)
    function.prepare("".join(argument.struct_char for argument in declared))
    return module, function, declared


def get_elwise_kernel(*given, **named) -> _driver.Function:
    """The prepared Function of an elementwise kernel; parameters as of :func:`get_elwise_module`.

    >>> x = gpuarray.array([1, 2], np.float32)
    >>> twice = get_elwise_kernel("float *x", "x[i] *= 2", "twice")
    >>> twice.prepared_call(x._grid, x._block, x.gpudata, x.size)
    >>> x
    array([2., 4.], dtype=float32)
    """
    return get_elwise_kernel_and_types(*given, **named)[1]


def _vectors(**dtypes: object) -> list[Argument]:
    return [VectorArg(np.dtype(dtype), name) for name, dtype in dtypes.items()]


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


def get_binary_minmax_kernel(func, dtype_x, dtype_y, dtype_z, use_scalar):
    """(x, y, z), y a number with ``use_scalar``: ``func`` is "min" or "max"."""
    if func not in ("min", "max"):
        raise ValueError(f'func must be "min" or "max", not {func!r}')
    if np.dtype(dtype_z).kind == "f":
        func = f"f{func}"
    make = globals()[f"get_binary_func_{'scalar_' if use_scalar else ''}kernel"]
    return make(func, dtype_x, dtype_y, dtype_z)


def _pow_of(*dtypes) -> str:
    kinds = {np.dtype(dtype).kind for dtype in dtypes}
    return "pycuda::pow" if "c" in kinds else "pow"


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
def get_unary_func_kernel(func_name, in_dtype, out_dtype=None):
    """(y, z): ``z[i] = func_name(y[i])``"""
    arguments = _vectors(y=in_dtype, z=in_dtype if out_dtype is None else out_dtype)
    return get_elwise_kernel(arguments, f"z[i] = {func_name}(y[i])", "unary_func")


# get_<name>_kernel(parameters): the kernel's arguments, "*" before vectors, each with its type or with the parameter that
# is its type; the statement, with texts of parameters in braces; the kernel's name. {x} is the index of x, which is 0 if x
# is an array of one element.
_KERNELS = (
    ("arange", "dtype", "*z:dtype start:dtype step:dtype", "z[i] = start + ({dtype})i * step", "arange"),
    ("axpbyz", "dtype_x dtype_y dtype_z x_is_scalar=False y_is_scalar=False", "a:dtype_x *x:dtype_x b:dtype_y *y:dtype_y *z:dtype_z", "z[i] = a * x[{x}] + b * y[{y}]", "axpbyz"),
    ("axpbz", "dtype_x dtype_z", "a:dtype_z *x:dtype_x b:dtype_z *z:dtype_z", "z[i] = a * x[i] + b", "axpb"),
    ("binary_func", "func dtype_x dtype_y dtype_z x_is_scalar=False y_is_scalar=False", "*x:dtype_x *y:dtype_y *z:dtype_z", "z[i] = {func}(x[{x}], y[{y}])", "{func}_kernel"),
    ("binary_func_scalar", "func dtype_x dtype_y dtype_z", "*x:dtype_x y:dtype_y *z:dtype_z", "z[i] = {func}(x[i], y)", "{func}_kernel"),
    ("binary_op", "dtype_x dtype_y dtype_z operator x_is_scalar=False y_is_scalar=False", "*x:dtype_x *y:dtype_y *z:dtype_z", "z[i] = x[{x}] {operator} y[{y}]", "binary_op"),
    ("conj", "dtype conj_dtype", "*y:dtype *z:conj_dtype", "z[i] = pycuda::conj(y[i])", "conj"),
    ("copy", "dtype_dest dtype_src", "*dest:dtype_dest *src:dtype_src", "dest[i] = src[i]", "copy"),
    ("fill", "dtype", "a:dtype *z:dtype", "z[i] = a", "fill"),
    ("fmod", "", "*arg:f *mod:f *z:f", "z[i] = fmod(arg[i], mod[i])", "fmod_kernel"),
    ("frexp", "", "*x:f *significand:f *exponent:f", "int power = 0; significand[i] = frexp(x[i], &power); exponent[i] = power", "frexp_kernel"),
    ("if_positive", "crit_dtype dtype", "*crit:crit_dtype *then_:dtype *else_:dtype *result:dtype", "result[i] = crit[i] > 0 ? then_[i] : else_[i]", "if_positive"),
    ("imag", "dtype real_dtype", "*y:dtype *z:real_dtype", "z[i] = pycuda::imag(y[i])", "imag"),
    ("ldexp", "", "*sig:f *expt:f *z:f", "z[i] = ldexp(sig[i], int(expt[i]))", "ldexp_kernel"),
    ("logical_not", "dtype_x dtype_out", "*x:dtype_x *out:dtype_out", "out[i] = x[i] == 0", "logical_not"),
    ("modf", "", "*x:f *intpart:f *fracpart:f", "fracpart[i] = modf(x[i], &intpart[i])", "modf_kernel"),
    ("pow", "dtype", "value:dtype *y:dtype *z:dtype", "z[i] = {pow}(y[i], value)", "pow_method"),
    ("rdivide_elwise", "dtype_x dtype_z", "*x:dtype_x y:dtype_z *z:dtype_z", "z[i] = y / x[i]", "rdivide"),
    ("real", "dtype real_dtype", "*y:dtype *z:real_dtype", "z[i] = pycuda::real(y[i])", "real"),
    ("reverse", "dtype", "*y:dtype *z:dtype", "z[i] = y[n - 1 - i]", "reverse"),
    ("scalar_op", "dtype_x dtype_a dtype_y operator", "*x:dtype_x a:dtype_a *y:dtype_y", "y[i] = x[i] {operator} a", "scalarop_kernel"),
    ("where", "crit_dtype dtype", "*crit:crit_dtype *then_:dtype *else_:dtype *result:dtype", "result[i] = crit[i] != 0 ? then_[i] : else_[i]", "if_positive"),
)  # fmt: skip


def _maker(name, parameters, arguments, operation, kernel):
    """``get_<name>_kernel`` of a row of the table."""
    words = parameters.replace("=False", "").split()
    defaults = [
        False if "=" in one else inspect.Parameter.empty for one in parameters.split()
    ]
    signature = inspect.Signature([
        inspect.Parameter(one, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default)
        for one, default in zip(words, defaults, strict=True)
    ])  # fmt: skip
    declared = [one.partition(":")[::2] for one in arguments.split()]

    @context_dependent_memoize
    def make(*given):
        values = dict(zip(words, given, strict=True))
        types = {word: values[word] for word in words if "dtype" in word}
        texts = {**values, **{word: dtype_to_ctype(one) for word, one in types.items()}}
        texts["pow"] = _pow_of(*types.values())
        texts |= {one: 0 if values.get(f"{one}_is_scalar") else "i" for one in "xy"}
        return get_elwise_kernel(
            [
                (VectorArg if one.startswith("*") else ScalarArg)(np.dtype(types.get(kind, kind)), one.lstrip("*"))
                for one, kind in declared
            ],
            operation.format(**texts),
            kernel.format(**texts),
        )  # fmt: skip

    def function(*given, **keywords):
        bound = signature.bind(*given, **keywords)
        bound.apply_defaults()
        return make(*bound.args)

    function.__name__ = function.__qualname__ = f"get_{name}_kernel"
    function.__signature__ = signature
    names = ", ".join(one.lstrip("*") for one, _ in declared)
    shown = operation.replace("{x}", "i").replace("{y}", "i")
    function.__doc__ = f"Make the kernel ``{shown}``; arguments: ``{names}``."
    return function


for _row in _KERNELS:
    globals()[f"get_{_row[0]}_kernel"] = _maker(*_row)
__all__ = [name for name in globals() if name.startswith("get_")]
