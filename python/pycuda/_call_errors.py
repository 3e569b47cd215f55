"""Error messages for calls with arguments that a function of :mod:`pycuda._driver` does not accept.

The functions are bound by nanobind, which reports such a call with signatures of C++. Each of them calls
:func:`explain` instead, which finds the first argument that does not fit.
"""

from __future__ import annotations

import re

_KINDS = {
    "int": "an int",
    "float": "a number",
    "str": "a str",
    "bytes": "bytes",
    "bool": "a truth value",
    "list": "a list",
    "tuple": "a tuple",
    "dict": "a dict",
    "None": "None",
}


def explain(function, args: list, kwargs: dict) -> str:
    """The message for ``function(*args, **kwargs)``, which no overload accepts."""
    name, methods = _name_of(function, args), "method" in type(function).__name__
    complaints = []
    for signature in function.__nb_signature__:
        parameters = _parameters(signature[0])
        if parameters is None:
            continue
        given = list(args)
        if methods and parameters and parameters[0].name == "self":
            parameters, given = parameters[1:], given[1:]
        complaints.append(_complaint(parameters, given, kwargs))
    best = max(complaints, default=(0, "cannot take these arguments"))
    return f"{name} {best[1]}"


def _name_of(function, args: list) -> str:
    if not function.__name__:  # the setter of an attribute
        members = ((cls, item) for cls in type(args[0]).__mro__ for item in vars(cls).items())  # fmt: skip
        return next(
            f"{cls.__name__}.{name}"
            for cls, (name, member) in members
            if getattr(member, "fset", None) is function
        )
    name = getattr(function, "__qualname__", None) or function.__name__
    if name.startswith("_"):  # called by a function of the package
        return "the call"
    return name.removesuffix(".__init__") + "()"


class _Parameter:
    def __init__(self, text: str) -> None:
        text, has_default, _ = _split_at(text, "=")
        name, _, kind = _split_at(text, ":")
        self.name, self.kind = name.strip(), kind.strip()
        self.has_default = bool(has_default)
        unnamed = re.fullmatch(r"arg\d*", self.name)
        self.takes_none = bool(unnamed) or "None" in _kinds(self.kind)
        self.gathers = self.name.startswith("*")
        self.name = self.name.lstrip("*")


def _split_at(text: str, mark: str) -> tuple[str, str, str]:
    """``str.partition`` outside of brackets."""
    depth = 0
    for i, letter in enumerate(text):
        depth += (letter in "[(") - (letter in "])")
        if letter == mark and not depth:
            return text[:i], mark, text[i + 1 :]
    return text, "", ""


def _parameters(signature: str) -> list[_Parameter] | None:
    """The parameters in ``def name(self, x: int, y: str = ...) -> None``."""
    found = re.search(r"def \w*\((.*)\)\s*(->.*)?:?\s*$", signature, re.DOTALL)
    if found is None:
        return None
    parameters, rest = [], found[1]
    while rest.strip():
        part, _, rest = _split_at(rest, ",")
        if part.strip() not in ("/", "*"):
            parameters.append(_Parameter(part))
    return parameters


def _complaint(parameters, args: list, kwargs: dict) -> tuple[int, str]:
    """The number of parameters that fit the call, and the error of the next one."""
    known = {one.name for one in parameters}
    gathers = any(one.gathers for one in parameters)
    if len(args) > len(parameters) and not gathers:
        return 0, f"takes {_count(len(parameters))}, got {len(args)}"
    for name in kwargs:
        if name not in known and not gathers:
            return (
                0,
                f"has no argument {name!r}; its arguments are {_listed(known, parameters)}",
            )
    for place, one in enumerate(parameters):
        if one.gathers:
            continue
        if place < len(args):
            if one.name in kwargs:
                return place, f"got its argument {one.name!r} twice"
            value = args[place]
        elif one.name in kwargs:
            value = kwargs[one.name]
        elif one.has_default:
            continue
        else:
            return place, f"needs the argument {one.name!r}"
        if not _fits(value, one.kind):
            return place + 1, f"{_wanted(one)}, not {_described(value)}"
        if value is None and not one.takes_none:
            return place + 1, f"got None as {one.name!r}"
    if any(value is None for value in (*args, *kwargs.values())):
        return len(parameters), "got None where a value is expected"
    return len(parameters), "cannot take these values: " + ", ".join(
        [_described(one) for one in args]
        + [f"{name}={_described(one)}" for name, one in kwargs.items()]
    )


def _count(number: int) -> str:
    return "no arguments" if number == 0 else f"{number} argument{'s' * (number > 1)}"


def _listed(known, parameters) -> str:
    return ", ".join(one.name for one in parameters if one.name in known) or "none"


def _described(value) -> str:
    kind = type(value)
    if value is None:
        return "None"
    if isinstance(value, (bool, int, float, str)) and len(text := repr(value)) <= 40:
        return f"{text} ({kind.__name__})"
    return kind.__name__


def _kinds(kind: str) -> list[str]:
    """The alternatives in ``str | None``."""
    kinds, rest = [], kind
    while rest:
        part, _, rest = _split_at(rest, "|")
        kinds.append(part.strip())
    return kinds


def _wanted(parameter) -> str:
    kinds = [
        _KINDS.get(_bare(kind), f"a {_bare(kind)}")
        for kind in _kinds(parameter.kind)
        if kind != "None"
    ]
    name = parameter.name
    if name.startswith("arg") and name[3:].isdigit() or not name:
        return "wants " + " or ".join(kinds)
    return f"wants {' or '.join(kinds)} as {name!r}"


def _bare(kind: str) -> str:
    """``Stream`` for ``pycuda._driver.Stream``, ``list`` for ``collections.abc.Sequence[int]``."""
    bare = kind.split("[")[0].rsplit(".", 1)[-1]
    return {"Sequence": "list", "CapsuleType": "capsule"}.get(bare, bare)


def _fits(value, kind: str) -> bool:
    """Whether the value may be of the kind; True if that is unknown."""
    return any(_fits_one(value, _bare(one)) for one in _kinds(kind)) or not kind


def _fits_one(value, kind: str) -> bool:
    if kind == "None":
        return value is None
    if kind == "int":
        return hasattr(type(value), "__index__")
    if kind == "float":
        return hasattr(type(value), "__float__") or hasattr(type(value), "__index__")
    if kind in ("str", "bytes", "tuple", "dict"):
        return isinstance(
            value, {"str": str, "bytes": bytes, "tuple": tuple, "dict": dict}[kind]
        )
    if kind == "list":
        return isinstance(value, (list, tuple))
    if kind in ("object", "handle", "bool", "Callable", "args", "kwargs", "Any"):
        return True
    from pycuda import _driver

    wanted = getattr(_driver, kind, None)
    return isinstance(value, wanted) if isinstance(wanted, type) else True
