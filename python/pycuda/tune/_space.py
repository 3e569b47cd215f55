"""The variants of a kernel: block shapes, macros and template arguments, and the launch of each."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

#: More variants than this are refused: listing them would take minutes.
MOST_VARIANTS = 200_000

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


class Configuration(Mapping):
    """One choice of a block shape, macros and template arguments. Read-only.

    ``configuration.block`` is the block shape, a tuple of three ints. Each macro and template argument is an item and an
    attribute: ``configuration["TILE"]`` and ``configuration.TILE``.
    """

    def __init__(self, values: Mapping[str, object]) -> None:
        object.__setattr__(self, "_values", dict(values))

    def __getitem__(self, name: str) -> object:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __hash__(self) -> int:
        return hash(tuple(self._values.items()))

    def __getattr__(self, name: str) -> object:
        try:
            return self._values[name]
        except KeyError:
            known = ", ".join(self._values)
            raise AttributeError(
                f"the configuration has no {name!r}; it has {known}"
            ) from None

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a configuration cannot be changed")

    def __reduce__(self) -> tuple[object, ...]:
        return Configuration, (self._values,)

    @property
    def threads(self) -> int:
        """Threads of a block."""
        x, y, z = self._values["block"]
        return x * y * z

    def __repr__(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in self._values.items())


class Launch(NamedTuple):
    """The parameters of a launch of a configuration, without the arguments.

    defines: of the compiler, such as ``("-DTILE=4",)``. kernel: the name, with its template arguments.
    source: the text. grid, block: (x, y, z). shared: bytes of dynamic shared memory of a block.
    """

    source: str
    defines: tuple[str, ...]
    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int

    @property
    def code(self) -> tuple[str, tuple[str, ...], str]:
        """The parts on which the compiled code depends."""
        return self.source, self.defines, self.kernel


def _is_int(value: object) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, bool)


def shape_of(value: object, what: str) -> tuple[int, int, int]:
    """Three numbers of at least 1, from an int or a tuple of up to three. ValueError names ``what``."""
    numbers = (value,) if _is_int(value) else value
    if (
        not isinstance(numbers, (tuple, list))
        or not 1 <= len(numbers) <= 3
        or not all(_is_int(number) for number in numbers)
    ):
        raise TypeError(f"{what} must be an int or up to three ints, not {value!r}")
    x, y, z = (*(number.__index__() for number in numbers), 1, 1)[:3]
    if min(x, y, z) < 1:
        raise ValueError(f"{what} must be at least 1 in each direction, not {value!r}")
    return x, y, z


def _block_choices(block: object) -> list[tuple[int, int, int]]:
    """The block shapes: of an int, a tuple, a list of these, or a dict with lists for x, y and z."""
    if isinstance(block, Mapping):
        unknown = set(block) - set("xyz")
        if unknown or not block:
            raise ValueError(
                f'block has the directions "x", "y" and "z", not {sorted(block)}'
            )
        sides = [
            list(_choices(block.get(side, [1]), f"block {side}")) for side in "xyz"
        ]
        return [shape_of(shape, "block") for shape in itertools.product(*sides)]
    if isinstance(block, tuple) or _is_int(block):
        return [shape_of(block, "block")]
    return [shape_of(shape, "block") for shape in _choices(block, "block")]


def _choices(values: object, name: str) -> list:
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise TypeError(f"{name} must be a list of values, such as [{values!r}]")
    found = list(dict.fromkeys(values))
    if not found:
        raise ValueError(f"{name} has no value: an empty list")
    return found


def macro(name: str, value: object) -> str:
    """The option of the compiler that defines a macro."""
    if isinstance(value, bool):
        value = int(value)
    if not isinstance(value, (str, int, float)) and not _is_int(value):
        raise TypeError(f"the macro {name} must be a number or a text, not {value!r}")
    return f"-D{name}={value}"


class Space:
    """All variants that a caller allows, in the caller's order.

    The last choice changes fastest. ``restrict`` removes variants; ``most_threads`` is the device's limit of a block.
    """

    def __init__(
        self,
        source: str | Callable[[Configuration], str],
        kernel: str,
        block: object,
        grid: object,
        defines: Mapping[str, object],
        template: Mapping[str, Sequence],
        restrict: Sequence[Callable[[Configuration], object]],
        shared: object,
        most_threads: int,
    ) -> None:
        self._source, self._kernel = source, kernel
        self._grid, self._shared = grid, shared
        self._template = tuple(template)
        self._macros = dict(defines)
        free = {name: v for name, v in defines.items() if not callable(v)}
        _check_names(defines, template)
        choices = {"block": _block_choices(block)}
        for name, values in {**free, **template}.items():
            choices[name] = _choices(values, name)
        self.parameters = {n: v for n, v in choices.items() if len(v) > 1}
        count = 1
        for values in choices.values():
            count *= len(values)
        if count > MOST_VARIANTS:
            raise ValueError(
                f"{count} combinations are too many, at most {MOST_VARIANTS} are listed; remove values"
            )
        every = (
            Configuration(dict(zip(choices, chosen, strict=True)))
            for chosen in itertools.product(*choices.values())
        )
        fits = [c for c in every if c.threads <= most_threads]
        self.configurations = [
            c for c in fits if all(_call(rule, c, "restrict") for rule in restrict)
        ]
        if not self.configurations:
            reason = (
                f"restrict refuses all of {len(fits)} combinations"
                if fits
                else f"all {count} have more than {most_threads} threads in a block"
            )
            raise ValueError(f"no variant remains: {reason}")

    def launch(self, configuration: Configuration) -> Launch:
        """The source, the compiler's options and the launch parameters of a configuration."""
        defines = []
        for name, value in self._macros.items():
            if callable(value):
                value = _call(value, configuration, f"the macro {name}")
            else:
                value = configuration[name]
            if value is not None:
                defines.append(macro(name, value))
        kernel = self._kernel
        if self._template:
            words = (_template_word(configuration[name]) for name in self._template)
            kernel += f"<{', '.join(words)}>"
        grid = self._grid
        if callable(grid):
            grid = _call(grid, configuration, "grid")
        shared = self._shared
        if callable(shared):
            shared = _call(shared, configuration, "shared")
        if not _is_int(shared) or shared < 0:
            raise TypeError(f"shared must be a number of bytes, not {shared!r}")
        source = self._source
        if callable(source):
            source = str(_call(source, configuration, "the source"))
        return Launch(
            source,
            tuple(defines),
            kernel,
            shape_of(grid, "grid"),
            configuration.block,
            int(shared),
        )


def _template_word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _call(function: Callable, configuration: Configuration, what: str) -> object:
    try:
        return function(configuration)
    except Exception as error:
        name = type(error).__name__
        raise ValueError(
            f"{what} raised {name} for the variant {configuration}: {error}"
        ) from error


def _check_names(defines: Mapping, template: Mapping) -> None:
    for name in (*defines, *template):
        if not isinstance(name, str) or not _IDENTIFIER.fullmatch(name):
            raise ValueError(
                f"{name!r} is not a valid name of a macro or a template parameter"
            )
        if name in ("block", "threads"):
            raise ValueError(f"{name!r} names the block in a configuration; rename it")
        if name in defines and name in template:
            raise ValueError(f"{name!r} is both a macro and a template parameter")


_TEXT = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL
)
_KERNEL = re.compile(
    r"__global__\b(?:[^;{}()]|__\w+__\s*\((?:[^()]|\([^()]*\))*\))*?\b([A-Za-z_]\w*)\s*\("
)


def kernels_in(source: str) -> list[str]:
    """The names of the kernels that a source defines, in order."""
    text = _TEXT.sub(" ", source)
    text = re.sub(r"__launch_bounds__\s*\((?:[^()]|\([^()]*\))*\)", " ", text)
    return list(dict.fromkeys(_KERNEL.findall(text)))
