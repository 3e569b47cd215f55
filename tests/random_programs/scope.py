"""The variables, arrays and threads that a statement of a random program may use at its position."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace

#: How uniform a value is, and how uniform the set of threads at a position is.
BLOCK, WARP, LANE = 2, 1, 0

INTEGERS = ["u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64"]
BITS = {
    "u8": 8,
    "i8": 8,
    "u16": 16,
    "i16": 16,
    "u32": 32,
    "i32": 32,
    "u64": 64,
    "i64": 64,
}


@dataclass
class Var:
    """A variable. ``level``: how uniform its value always is."""

    name: str
    kind: str
    level: int = LANE
    writable: bool = True


@dataclass
class Index:
    """An expression of type i32 that is never below ``low`` or above ``high``."""

    text: str
    low: int
    high: int
    level: int = LANE


@dataclass
class Array:
    """Elements that can be read at any place, or (``writable``) that belong to the thread.

    ``first`` is the lowest index that exists: a pointer into the middle of a row has a negative one.
    """

    text: str
    kind: str
    first: int
    count: int
    level: int = BLOCK
    writable: bool = False

    @property
    def last(self) -> int:
        return self.first + self.count - 1


@dataclass
class Shape:
    """A launch."""

    block: tuple[int, int, int]
    grid: tuple[int, int, int]

    @property
    def threads(self) -> int:
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def blocks(self) -> int:
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def warps(self) -> int:
        return (self.threads + 31) // 32


@dataclass
class Scope:
    """``level``: how uniform the set of threads here is.

    ``mask``: text of a u32 with exactly the lanes of this warp that are here together, or None if
    that is not known. ``fuel``: how many more loop rounds the threads may run here.
    ``exits``: exits of loops and functions, each with the level that the leaving threads must have.
    ``threads_ended``: some threads of the block may have ended.
    """

    shape: Shape
    vars: list[Var] = field(default_factory=list)
    indices: list[Index] = field(default_factory=list)
    arrays: list[Array] = field(default_factory=list)
    pairs: list[str] = field(default_factory=list)
    level: int = BLOCK
    mask: str | None = None
    depth: int = 0
    fuel: int = 64
    exits: list[tuple[str, int]] = field(default_factory=list)
    is_kernel: bool = True
    threads_ended: bool = False

    def inner(self, **changes) -> Scope:
        """An inner scope: its additions are not visible outside."""
        copies = {
            "vars": list(self.vars),
            "indices": list(self.indices),
            "arrays": list(self.arrays),
            "pairs": list(self.pairs),
            "exits": list(self.exits),
            "depth": self.depth + 1,
        }
        return replace(self, **(copies | changes))

    def of_kind(self, kind: str, level: int) -> list[Var]:
        return [var for var in self.vars if var.kind == kind and var.level >= level]

    def writable(self) -> list[Var]:
        """Variables whose level does not change if the threads here write to them."""
        return [var for var in self.vars if var.writable and var.level <= self.level]


class Draw(random.Random):
    """A seeded source of choices, and of fresh names. ``features``: what this program may use."""

    def __init__(self, seed: int):
        super().__init__(seed)
        self.names = 0
        self.features: set[str] = set()

    def fresh(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def chance(self, probability: float) -> bool:
        return self.random() < probability

    def has(self, feature: str) -> bool:
        return feature in self.features
