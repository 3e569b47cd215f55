"""Reads recordings: a line for each instruction, its operands, and the hash of its results.

    add.rn.f32 =f32 f32 f32 : 0123456789abcdef
    vadd.u32.u32.u32.min =u32 ~u32 ~u32 u32 : 0123456789abcdef : differs

The word `differs` marks where softcuda gives something else, for a reason that a comment above the
lines says.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Row:
    """One line; `hash` is None where nothing has been recorded yet."""

    instruction: object
    hash: str | None = None
    differs: bool = False


def read(lines, make):
    """The rows of a recording, or of a bare list; `make` makes an instruction of its text."""
    rows = []
    for line in lines:
        if not line.strip() or line.startswith("#"):
            continue
        text, *rest = line.strip().split(" : ")
        rows.append(Row(make(text), rest[0] if rest else None, "differs" in rest[1:]))
    return rows
