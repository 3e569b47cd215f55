"""The registry of array functions. A function is declared once, by ``@public`` at its definition.

The declaration says under which names programs find the function. All of these are made from the registry:
the functions of :mod:`pycuda.gpuarray`, :mod:`pycuda.linalg`, :mod:`pycuda.fft` and :mod:`pycuda.array_api`,
NumPy's dispatch (``__array_function__``, ``__array_ufunc__``), the type stubs (tools/type_stubs.py) and the
table docs/numpy_functions.md.
"""

from __future__ import annotations

import inspect
from collections import namedtuple

import numpy as np

from pycuda.arrays.own_device import on_own_device

TYPE_CHECKING = False  # type checkers take it as True; `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    Function = TypeVar("Function", bound=Callable)


class Entry(
    namedtuple(
        "_Entry", "function namespace name numpy module array_api aliases pycuda"
    )
):
    """One declaration: a function and the names under which programs find it."""

    __slots__ = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The function's names in its namespace, aliases included."""
        return (self.name, *self.aliases)

    @property
    def api_names(self) -> tuple[str, ...]:
        """The function's names in the array API."""
        if isinstance(self.array_api, str):
            return tuple(self.array_api.split())
        return (self.name,) if self.array_api else ()


ENTRIES: list[Entry] = []
# numpy.lib.stride_tricks has functions of arrays that numpy itself lacks.
_STRIDE_TRICKS = np.lib.stride_tricks


def public(
    namespace: str = "", *, name: str = "", numpy: bool = True, module: bool = True,
    array_api: bool | str = False, aliases: str = "", pycuda: str = "",
) -> Callable[[Function], Function]:  # fmt: skip
    """Declare the decorated function, and wrap it: it runs in the context of its arrays.

    namespace: "" for numpy, pycuda.gpuarray and array_api themselves; "linalg" or "fft" for their parts.
    name: the function's public name, by default its own.
    numpy: whether NumPy's function of this name (and of the aliases) calls this function for arrays of the
        device. A NumPy that does not have the name yet is no error.
    module: whether pycuda.gpuarray, pycuda.linalg or pycuda.fft has the function.
    array_api: whether the array API has the function; a text if it has other names there.
    aliases: other names, for NumPy and the module, separated by blanks.
    pycuda: the parameters that pycuda.gpuarray takes by position, if PyCUDA's order is another than NumPy's.
        ``new=old`` renames one. All other parameters are keywords there.
    """

    def declare(function: Function) -> Function:
        if not isinstance(function, on_own_device):  # else an earlier declaration has
            function = on_own_device(function)
        add(
            function, namespace, name or function.__name__, numpy, module, array_api,
            tuple(aliases.split()), pycuda,
        )  # fmt: skip
        return function

    return declare


def add(function, namespace, name, numpy, module, array_api, aliases=(), pycuda=""):
    """Declare a function without a decorator. Used for the universal functions, which are made by a call."""
    ENTRIES.append(
        Entry(function, namespace, name, numpy, module, array_api, aliases, pycuda)
    )


def _reordered(entry: Entry):
    """Wrap a function: its positional parameters are those of PyCUDA."""
    function = entry.function
    pairs = [part.partition("=") for part in entry.pycuda.split()]
    order = [(new, old or new) for new, _, old in pairs]
    old_names = dict(order)
    renamed = {new for new, old in order if new != old}
    signature = inspect.signature(function)
    same = 0  # as many arguments have the same place and meaning in both
    for (_, old), parameter in zip(order, signature.parameters.values(), strict=False):
        if old != parameter.name or parameter.kind is parameter.KEYWORD_ONLY:
            break
        same += 1

    def called(*args, **kwargs):
        if len(args) <= same and renamed.isdisjoint(kwargs):
            return function(*args, **kwargs)
        if len(args) > len(order):
            raise TypeError(
                f"{entry.name}() takes at most {len(order)} arguments by position, not {len(args)}"
            )
        given = {old_names.get(key, key): value for key, value in kwargs.items()}
        for (new, old), value in zip(order, args, strict=False):
            if old in given:
                raise TypeError(f"{entry.name}() got two values for {new!r}")
            given[old] = value
        return function(**given)

    called.__name__ = called.__qualname__ = entry.name
    called.__module__ = "pycuda.gpuarray"
    called.__doc__ = function.__doc__
    parameters = dict(signature.parameters)
    by_place = [
        parameters.pop(old).replace(
            name=new, kind=inspect.Parameter.POSITIONAL_OR_KEYWORD
        )
        for new, old in order
    ]
    by_name = [
        one
        if one.kind is one.VAR_KEYWORD
        else one.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for one in parameters.values()
    ]
    called.__signature__ = inspect.Signature(
        by_place + by_name, return_annotation=signature.return_annotation
    )
    return called


def module_functions(namespace: str = "") -> dict:
    """The functions of pycuda.gpuarray (namespace ""), pycuda.linalg or pycuda.fft by their names.

    Sorted by name, because the order of ENTRIES depends on the order in which modules are loaded.
    """
    found = {}
    for entry in ENTRIES:
        if entry.namespace == namespace and entry.module:
            function = _reordered(entry) if entry.pycuda else entry.function
            found.update(dict.fromkeys(entry.names, function))
    return dict(sorted(found.items()))


def array_api_functions() -> dict:
    """The functions of the array API's main namespace by their names."""
    found = {
        name: entry.function
        for entry in ENTRIES
        if not entry.namespace
        for name in entry.api_names
    }
    return dict(sorted(found.items()))


def functions_like_numpy() -> dict:
    """The functions with NumPy's names, signatures and meaning, by their names in ``numpy``."""
    return {
        name: entry.function
        for entry in ENTRIES
        if entry.numpy and not entry.namespace
        for name in entry.names
    }


def numpy_functions() -> dict:
    """A dict from NumPy's functions, including numpy.linalg and numpy.fft, to PyCUDA's functions."""
    table = {}
    for entry in ENTRIES:
        if not entry.numpy:
            continue
        owner = getattr(np, entry.namespace) if entry.namespace else np
        for name in entry.names:
            theirs = getattr(owner, name, None) or getattr(_STRIDE_TRICKS, name, None)
            if theirs is not None:
                table[theirs] = entry.function
    return table
