"""Random operands of array functions, as Python text."""

from __future__ import annotations

import math
import random

import numpy as np

#: The dtypes, with the weight of each.
DTYPES = {
    "?": 4, "i1": 2, "i2": 1, "i4": 4, "i8": 4, "u1": 2, "u2": 1, "u4": 1, "u8": 2,
    "f2": 2, "f4": 5, "f8": 5, "c8": 2, "c16": 2,
}  # fmt: skip
EXTENTS = (0, 1, 1, 2, 2, 3, 3, 4, 5, 7)
LONG_EXTENTS = (33, 70, 257, 1000)


def base_values(seed: int, count: int, dtype: str) -> np.ndarray:
    """The elements of a buffer."""
    rng = np.random.default_rng(seed)
    kind = np.dtype(dtype)
    special = seed % 4 == 0
    if kind.kind == "b":
        return rng.integers(0, 2, count).astype(bool)
    if kind.kind in "iu":
        low = 0 if kind.kind == "u" else -4
        values = rng.integers(low, 9, count).astype(kind)
        if special and count:
            info = np.iinfo(kind)
            places = rng.integers(0, count, max(count // 3, 1))
            values[places] = rng.choice([info.min, info.max, info.max - 1], len(places))
        return values
    if kind.kind == "c":
        real = base_values(seed, count, f"f{kind.itemsize // 2}")
        return (real + 1j * real[::-1]).astype(kind)
    values = (rng.integers(-12, 24, count) / 4).astype(kind)
    if special and count:
        places = rng.integers(0, count, max(count // 3, 1))
        values[places] = rng.choice(
            [np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-3], len(places)
        )
    return values


class Operands:
    """Makes random operands. Each method returns Python text; its statements and values are in ``lines`` and ``host``.

    host: the names and values of NumPy's side.
    names: the arrays that statements may use; the oldest comes first.
    """

    def __init__(self, seed: int, host: dict) -> None:
        self.rng = random.Random(seed)
        self.host = host
        self.lines: list[str] = []
        self.bases: list[str] = []
        self.names: list[str] = []
        self.x = None  # the first array of the current call
        self.axis_value = None

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def run(self, line: str) -> None:
        self.lines.append(line)
        exec(line, self.host)

    # Shapes and types

    def dtype_name(self, kinds: str = "biufc") -> str:
        names = [name for name in DTYPES if np.dtype(name).kind in kinds]
        return self.rng.choices(names, [DTYPES[name] for name in names])[0]

    def shape(self, least: int = 0, most: int = 4) -> tuple[int, ...]:
        ndim = self.rng.choices(range(5), (2, 5, 5, 3, 1))[0]
        ndim = min(max(ndim, least), most)
        shape = [self.rng.choice(EXTENTS) for _ in range(ndim)]
        if shape and self.chance(0.7):
            shape = [max(n, 1) for n in shape]
        if shape and self.chance(0.08):
            shape[self.rng.randrange(ndim)] = self.rng.choice(LONG_EXTENTS)
        return tuple(shape)

    def broadcasting(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """A shape that broadcasts with ``shape``, or rarely does not."""
        if self.chance(0.02):
            return self.shape()
        shape = [1 if self.chance(0.2) else n for n in shape]
        while shape and self.chance(0.15):
            shape.pop(0)
        if self.chance(0.08) and len(shape) < 4:
            shape.insert(0, self.rng.choice((1, 2, 3)))
        return tuple(shape)

    # Arrays

    def array(
        self, shape=None, dtype=None, kinds="biufc", may_repeat=True, share=0.3
    ) -> str:
        """A new view of a new buffer or, with the probability ``share``, of an old one. ``may_repeat`` allows stride 0."""
        shape = self.shape() if shape is None else shape
        old = [
            name
            for name in self.bases
            if self.host[name].dtype.kind in kinds
            and (dtype is None or self.host[name].dtype == dtype)
        ]
        if old and self.chance(share):
            base = self.rng.choice(old)
            steps = self._steps(shape, may_repeat)
            offset = self._place_inside(shape, steps, self.host[base].size)
            if offset is not None:
                return self._view(base, offset, shape, steps)
        steps = self._steps(shape, may_repeat)
        low, high = reach(shape, steps)
        before, behind = self.rng.choice((0, 0, 0, 1, 3)), self.rng.choice((0, 0, 2))
        base = f"b{len(self.bases)}"
        self.bases.append(base)
        count = before + high - low + 1 + behind
        name = dtype or self.dtype_name(kinds)
        name = np.dtype(name).str[1:] if name != "?" else "?"
        name = "?" if name == "b1" else name
        self.run(f"{base} = base({self.rng.randrange(10**6)}, {count}, {name!r})")
        return self._view(base, before - low, shape, steps)

    def _view(self, base, offset, shape, steps) -> str:
        name = f"a{len(self.names)}"
        self.names.append(name)
        self.run(f"{name} = view({base}, {offset}, {shape}, {steps})")
        return name

    def _steps(self, shape, may_repeat: bool) -> tuple[int, ...]:
        """Strides in elements: dense in some order of axes, perhaps with gaps, reversed, repeated."""
        order = list(range(len(shape)))
        style = self.rng.choices(("C", "F", "mixed", "wild"), (5, 2, 2, 4))[0]
        if style == "F":
            order.reverse()
        elif style != "C":
            self.rng.shuffle(order)
        steps, step = [0] * len(shape), 1
        for axis in reversed(order):
            if style == "wild" and self.chance(0.3):
                step *= self.rng.choice((1, 2, 3))
            steps[axis] = step
            step *= max(shape[axis], 1)
            if style == "wild" and self.chance(0.25):
                steps[axis] = -steps[axis]
            if may_repeat and style == "wild" and self.chance(0.12):
                steps[axis] = 0
        return tuple(steps)

    def _place_inside(self, shape, steps, size):
        low, high = reach(shape, steps)
        if high - low >= size:
            return None
        return self.rng.randint(-low, size - 1 - high)

    def any_array(self, kinds="biufc", least=0, most=4) -> str:
        """An old or new array."""
        old = [
            name
            for name in self.names
            if isinstance(self.host[name], np.ndarray)
            and self.host[name].dtype.kind in kinds
            and least <= self.host[name].ndim <= most
            and self.host[name].size < 4000
        ]
        if old and self.chance(0.4):
            return self.rng.choice(old)
        return self.array(self.shape(least, most), None, kinds)

    def like(self, kinds="biufc", same_type=0.5, exact=False) -> str:
        """An array that broadcasts with ``x``, mostly of its type."""
        self.x = self.x or self.array()
        x = np.asarray(self.host[self.x])
        shape = x.shape if exact or self.chance(0.6) else self.broadcasting(x.shape)
        if self.chance(same_type) and x.dtype.kind in kinds:
            return self.array(shape, x.dtype.str[1:].replace("b1", "?"), kinds)
        return self.array(shape, None, kinds)

    # Numbers

    def number(self, kinds="biufc") -> str:
        values = ["0", "1", "2", "3", "-1", "7"]
        if "f" in kinds:
            values += ["0.5", "-1.5", "2.0", "1e10"]
        if "b" in kinds:
            values += ["True", "False"]
        if "c" in kinds:
            values += ["1j", "(1+2j)"]
        value = self.rng.choice(values)
        if self.chance(0.25):
            name = self.dtype_name(kinds)
            kind = np.dtype(name)
            if kind.kind == "u" or kind.kind == "b":
                value = self.rng.choice(("0", "1", "3"))
            elif kind.kind == "i":
                value = self.rng.choice(("0", "1", "-2", "3"))
            elif kind.kind == "f":
                value = self.rng.choice(("0.5", "-2", "3"))
            return f"np.{kind.name}({value})"
        return value

    def operand(self, kinds="biufc") -> str:
        """An array that broadcasts with ``x``, or a number."""
        return self.number(kinds) if self.chance(0.25) else self.like(kinds)

    def flag(self) -> str:
        return self.rng.choice(("True", "False"))

    def small(self) -> str:
        return str(self.rng.randint(-3, 4))

    def count(self) -> str:
        return str(self.rng.randint(0, 4))

    # Axes

    def ndim(self) -> int:
        return np.ndim(self.host[self.x])

    def one_axis(self) -> str:
        n = self.ndim()
        if self.chance(0.03):
            return str(self.rng.choice((n, -n - 1, 99)))
        return str(self.rng.randrange(-n, n)) if n else self.rng.choice(("0", "-1"))

    def axis(self) -> str:
        return "None" if self.chance(0.2) else self.one_axis()

    def axes(self) -> str:
        n = self.ndim()
        if n and self.chance(0.35):
            chosen = self.rng.sample(range(n), self.rng.randint(0, n))
            chosen = [one - n if self.chance(0.3) else one for one in chosen]
            if chosen and self.chance(0.03):
                chosen.append(chosen[0])
            return str(tuple(chosen))
        return self.axis()

    def two_axes(self) -> str:
        n = max(self.ndim(), 1)
        if self.chance(0.05):
            return str((self.rng.randrange(-n, n), self.rng.randrange(-n, n)))
        return str(tuple(self.rng.sample(range(-n, n), 2)))

    def permutation(self) -> str:
        order = list(range(self.ndim()))
        self.rng.shuffle(order)
        order = [one - len(order) if self.chance(0.2) else one for one in order]
        if self.chance(0.05):
            order = order[1:]
        return "None" if self.chance(0.1) else str(tuple(order))

    # Other arguments

    def mask(self) -> str:
        if self.chance(0.05):
            return self.rng.choice(("True", "False"))
        x = np.asarray(self.host[self.x])
        shape = x.shape if self.chance(0.6) else self.broadcasting(x.shape)
        return self.array(shape, "?")

    def type_(self) -> str:
        name = self.dtype_name()
        return self.rng.choice(
            (f"np.{np.dtype(name).name.replace('bool', 'bool_')}", repr(name))
        )

    def casting(self) -> str:
        return repr(self.rng.choice(("no", "equiv", "safe", "same_kind", "unsafe")))

    def order(self) -> str:
        return repr(self.rng.choice("CFAK"))

    def order_cf(self) -> str:
        return repr(self.rng.choice("CFA" if self.chance(0.3) else "CF"))

    def index_mode(self) -> str:
        return repr(self.rng.choice(("raise", "wrap", "clip")))

    def new_shape(self) -> str:
        """A shape for reshape()."""
        size = int(np.size(self.host[self.x]))
        left, shape = size, []
        for _ in range(self.rng.randint(0, 3)):
            divisors = [n for n in range(1, left + 1) if left % n == 0][:12] or [0]
            shape.append(self.rng.choice(divisors))
            left = left // shape[-1] if shape[-1] else 0
        shape.append(left)
        self.rng.shuffle(shape)
        if self.chance(0.2):
            shape[self.rng.randrange(len(shape))] = -1
        if self.chance(0.04):
            shape.append(self.rng.choice((2, 0, -1)))
        return str(tuple(shape)) if self.chance(0.9) else str(left)

    def wider_shape(self) -> str:
        shape = list(np.shape(self.host[self.x]))
        shape = [self.rng.choice((1, 2, 3)) if n == 1 else n for n in shape]
        while self.chance(0.3) and len(shape) < 5:
            shape.insert(0, self.rng.choice((0, 1, 2, 3)))
        if self.chance(0.05) and shape:
            shape[-1] += 1
        return str(tuple(shape))

    def some_shape(self) -> str:
        return str(self.shape()) if self.chance(0.9) else self.count()

    def indices(self, extent=None, shape=None, bad=0.04) -> str:
        """An array or list of ints for an axis."""
        if extent is None:
            extent = int(np.size(self.host[self.x])) if self.x else 12
        shape = self.shape(0, 2) if shape is None else shape
        if extent == 0 and self.chance(0.9):
            shape = (0,)
        name = f"i{len(self.lines)}"
        kind = self.rng.choice(("i8", "i8", "i4", "u1", "i2"))
        low = 0 if kind == "u1" else -extent
        values = np.array(
            [self.rng.randrange(low, max(extent, low + 1)) for _ in range(math.prod(shape))],
            np.int64,
        ).reshape(shape)  # fmt: skip
        if values.size and self.chance(bad):
            values.flat[self.rng.randrange(values.size)] = extent + 1
        values = values.astype(kind)
        if self.chance(0.3):
            return str(values.tolist())
        self.run(f"{name} = const({values.tolist()}, {kind!r}, {shape})")
        return name

    def indices_of_axis(self) -> str:
        """After ``axis`` was drawn: indices for that axis."""
        x = np.asarray(self.host[self.x])
        axis = self.axis_value
        extent = x.size
        if axis is not None and -x.ndim <= axis < x.ndim:
            extent = x.shape[axis]
        return self.indices(extent)


def reach(shape, steps) -> tuple[int, int]:
    """The lowest and the highest element that a view accesses, counted from its first one."""
    low = high = 0
    for n, step in zip(shape, steps, strict=True):
        span = max(n - 1, 0) * step
        low, high = low + min(span, 0), high + max(span, 0)
    return low, high
