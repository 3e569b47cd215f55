"""Programs as trees of text: the generator makes them, and the reducer removes pieces."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field

_numbers = itertools.count()


@dataclass
class Expr:
    """An expression. ``parts`` are texts and expressions, ``kind`` is the type's short name.

    ``level``: 2 if the value is uniform over the thread block, 1 over the warp, 0 otherwise.
    ``number`` is the same in a copy: the reducer identifies nodes with it.
    """

    parts: list[str | Expr]
    kind: str
    level: int = 0
    number: int = field(default_factory=_numbers.__next__)

    def __str__(self) -> str:
        return "".join(map(str, self.parts))

    def inner(self) -> list[Expr]:
        return [part for part in self.parts if isinstance(part, Expr)]


@dataclass
class Node:
    """A statement. ``parts`` are lines of text, expressions within a line, and blocks of statements.

    A statement whose meaning needs all of its lines (two lines that belong together) is one node.
    ``pinned`` nodes are never removed.
    """

    parts: list[str | Expr | Block]
    pinned: bool = False
    number: int = field(default_factory=_numbers.__next__)

    def blocks(self) -> list[Block]:
        return [part for part in self.parts if isinstance(part, Block)]

    def expressions(self) -> list[Expr]:
        return [part for part in self.parts if isinstance(part, Expr)]


@dataclass
class Block:
    """Statements one after another."""

    nodes: list[Node] = field(default_factory=list)
    number: int = field(default_factory=_numbers.__next__)


def walk_blocks(block: Block) -> Iterator[Block]:
    """The block and all blocks in it, the outer ones first."""
    yield block
    for node in block.nodes:
        for inner in node.blocks():
            yield from walk_blocks(inner)


def walk_nodes(block: Block) -> Iterator[Node]:
    for each in walk_blocks(block):
        yield from each.nodes


def text_of(block: Block, indent: int = 1) -> str:
    """The block's text. A Block in a node's parts is indented by one more step."""
    return "".join(_text_of_node(node, indent) for node in block.nodes)


def _text_of_node(node: Node, indent: int) -> str:
    pad = "    " * indent
    pieces: list[str] = []
    for part in node.parts:
        if isinstance(part, Block):
            pieces.append("\n" + text_of(part, indent + 1) + pad)
        else:
            pieces.append(str(part).replace("\n", "\n" + pad))
    return pad + "".join(pieces) + "\n"
