"""Reduces a program: finds a small one with the same difference.

An edit removes a statement, replaces a statement with its inner statements, or replaces an
expression with a part of it or a literal. Many edited programs are compiled and compared at
once. A program that has become illegal is found by the host, which runs it twice (batch.py).
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

from .batch import BadProgramError, Workshop
from .program import Program
from .tree import Block, Expr, Node, walk_blocks, walk_nodes

#: The number of programs that are compiled and compared at once.
AT_ONCE = 24
_TYPE = r"(?:u8|i8|u16|i16|u32|i32|u64|i64|f32|f64|bool|Pair|Word|void)\b"
_DECLARED = re.compile(
    rf"(?:\b{_TYPE}[ &*(]*|, (?!{_TYPE})|SHARED\(\w+, )\b([A-Za-z]+\d+)\b"
)
_FRESH = re.compile(r"\b(?:v|c|m|l|r|j|n|p|w|s|d|loc|sh|g|fun|table)\d+\b")
_serial = itertools.count(1)


@dataclass(frozen=True)
class Edit:
    what: str
    number: int
    argument: int = 0


class Reducer:
    """``kind`` of symptom: a value, an error, a hang or a dead process; the reduced program must have the same one."""

    def __init__(
        self, workshop: Workshop, tier: str, symptom: str, patience: int = 10, say=print
    ):
        self.workshop, self.tier, self.kind = workshop, tier, kind_of(symptom)
        self.patience = 3 if self.kind == "hangs" else patience
        self.say, self.best = say, None

    def reduce(self, program: Program, most_rounds: int = 60) -> Program:
        best = program.copy()
        if best.shape.grid != (1, 1, 1):
            best = self._best_of(best, [smaller_grid(best)])
        passes = [statement_edits, unwrap_edits, expression_edits]
        at, rounds = 0, 0
        while at < len(passes) and rounds < most_rounds:
            before = len(best.text())
            best, used = self._round(best, passes[at])
            rounds += used
            after = len(best.text())
            self.best = best
            self.say(f"  {passes[at].__name__}: {before} -> {after} characters")
            at = at + 1 if after == before else (0 if at else at)
        return best

    def _round(self, program: Program, edits_of) -> tuple[Program, int]:
        """Tries all edits of one kind, some at once; applies together those that preserve the difference."""
        groups = edits_of(program)
        working: list[list[Edit]] = []
        best, rounds = program, 0
        for start in range(0, len(groups), AT_ONCE):
            some = groups[start : start + AT_ONCE]
            candidates = [apply(program, group) for group in some]
            rounds += 1
            for group, candidate, keeps in zip(
                some, candidates, self._keep(candidates), strict=True
            ):
                if keeps:
                    working.append(group)
                    best = min(best, candidate, key=lambda p: len(p.text()))
        if len(working) > 1:
            rounds += 1
            halves = [
                working,
                working[::2],
                working[1::2],
                working[: len(working) // 2],
                working[len(working) // 2 :],
            ]
            together = [
                apply(program, [edit for group in part for edit in group])
                for part in halves
            ]
            best = self._best_of(best, together)
        return best, rounds

    def _best_of(self, best: Program, candidates: list[Program]) -> Program:
        for candidate, keeps in zip(candidates, self._keep(candidates), strict=True):
            if keeps:
                best = min(best, candidate, key=lambda p: len(p.text()))
        return best

    def _keep(self, candidates: list[Program]) -> list[bool]:
        """Which of the programs are legal and still differ."""
        for candidate in candidates:
            candidate.rename(10_000_000 + next(_serial))
        likely = [
            candidate
            for candidate in candidates
            if names_are_declared(candidate.text())
        ]
        if not likely:
            return [False] * len(candidates)
        try:
            outcome = self.workshop.compare(likely, [self.tier], self.patience)
        except BadProgramError:
            return [False] * len(candidates)
        found = {
            d.program.name
            for d in outcome.differences
            if kind_of(d.symptom) == self.kind
        }
        return [candidate.name in found for candidate in candidates]


def kind_of(symptom: str) -> str:
    for word in (
        "hangs",
        "process ends",
        "refuses",
        "illegal memory access",
        "stack",
        "misaligned",
        "launch failed",
    ):
        if word in symptom:
            return word
    return "value" if "words of" in symptom else symptom[:40]


def smaller_grid(program: Program) -> Program:
    result = program.copy()
    result.shape.grid = (1, 1, 1)
    return result


def names_are_declared(text: str) -> bool:
    """False if a name is used that nothing declares: an edit can remove a declaration."""
    text = text.split("{\n", 1)[1]  # without the namespace
    declared = set(_DECLARED.findall(text))
    labels = set(re.findall(r"\b([LB]\d+):", text))
    return (
        set(_FRESH.findall(text)) <= declared
        and set(re.findall(r"goto (\w+)", text)) <= labels
    )


# ---- edits ---------------------------------------------------------------------------------


def bodies(program: Program) -> list[Block]:
    return [program.body, *(function.body for function in program.functions)]


def statement_edits(program: Program) -> list[list[Edit]]:
    """Edits that remove statements: first long sequences, then single ones."""
    groups: list[list[Edit]] = []
    for body in bodies(program):
        for block in walk_blocks(body):
            free = [
                Edit("remove", node.number)
                for node in block.nodes
                if removable(node, program)
            ]
            size = len(free)
            while size >= 1:
                groups += [
                    free[start : start + size] for start in range(0, len(free), size)
                ]
                size //= 2
    return sorted(groups, key=len, reverse=True)


def removable(node: Node, program: Program) -> bool:
    """Edits that remove unused declarations."""
    if not node.pinned:
        return True
    names = set(
        _DECLARED.findall(
            "".join(str(part) for part in node.parts if not isinstance(part, Block))
        )
    )
    if not names:
        return False
    text = program.text()
    used_at_the_end = {var.name for var in program.variables}
    return all(
        len(re.findall(rf"\b{name}\b", text))
        <= (1 if name not in used_at_the_end else 3)
        for name in names
    )


def unwrap_edits(program: Program) -> list[list[Edit]]:
    """Edits that replace a statement with its inner statements, or empty inner blocks."""
    groups = []
    for body in bodies(program):
        for node in walk_nodes(body):
            for place, block in enumerate(node.blocks()):
                if block.nodes:
                    groups.append([Edit("unwrap", node.number, place)])
    return groups


def expression_edits(program: Program) -> list[list[Edit]]:
    """Edits that replace an expression with a part of the same type, or with a literal."""
    groups = []
    for body in bodies(program):
        for node in walk_nodes(body):
            for expression in node.expressions():
                groups += edits_of_expression(expression, 0)
    return groups


def edits_of_expression(expression: Expr, depth: int) -> list[list[Edit]]:
    groups = []
    if len(str(expression)) > 6:
        groups.append([Edit("literal", expression.number)])
        for place, inner in enumerate(expression.inner()):
            if inner.kind == expression.kind:
                groups.append([Edit("part", expression.number, place)])
    for inner in expression.inner():
        groups += edits_of_expression(inner, depth + 1)
    return groups


LITERALS = {"bool": "true", "f32": "1.0f", "f64": "1.0", "u32": "1u", "u64": "1ull"}


def apply(program: Program, edits: list[Edit]) -> Program:
    """A copy of the program with the edits."""
    result = program.copy()
    wanted = {(edit.what, edit.number): edit for edit in edits}
    for body in bodies(result):
        for block in list(walk_blocks(body)):
            nodes = []
            for node in block.nodes:
                if ("remove", node.number) in wanted:
                    continue
                if edit := wanted.get(("unwrap", node.number)):
                    nodes += node.blocks()[edit.argument].nodes
                    continue
                node.parts = [
                    edited(part, wanted) if isinstance(part, Expr) else part
                    for part in node.parts
                ]
                nodes.append(node)
            block.nodes = nodes
    gone = {
        name
        for name in (var.name for var in result.variables)
        if not declared_in(result.body, name)
    }
    result.variables = [var for var in result.variables if var.name not in gone]
    return result


def declared_in(body: Block, name: str) -> bool:
    return any(
        name in _DECLARED.findall(str(part))
        for node in body.nodes
        for part in node.parts
        if isinstance(part, str)
    )


def edited(expression: Expr, wanted: dict) -> Expr:
    if ("literal", expression.number) in wanted:
        text = LITERALS.get(expression.kind, f"({expression.kind})1")
        return Expr([text], expression.kind, expression.level)
    if edit := wanted.get(("part", expression.number)):
        return expression.inner()[edit.argument]
    expression.parts = [
        edited(part, wanted) if isinstance(part, Expr) else part
        for part in expression.parts
    ]
    return expression
