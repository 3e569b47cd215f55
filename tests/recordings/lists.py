"""Reads recordings: a line for each instruction, its operands, and the hash of its results.

    add.rn.f32 =f32 f32 f32 : 0123456789abcdef
    vadd.u32.u32.u32.min =u32 ~u32 ~u32 u32 : 0123456789abcdef : differs

The word `differs` marks a line whose result differs in softcuda; a comment above the lines has the
reason.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Row:
    """One line; `hash` is None before the first recording."""

    instruction: object
    hash: str | None = None
    differs: bool = False


def read(lines, make):
    """The rows of a recording, or of a list without hashes; `make` makes an instruction from its text."""
    rows = []
    for line in lines:
        if not line.strip() or line.startswith("#"):
            continue
        text, *rest = line.strip().split(" : ")
        rows.append(Row(make(text), rest[0] if rest else None, "differs" in rest[1:]))
    return rows
