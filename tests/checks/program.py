"""Programs with planted defects: a .cu file describes what to run and what must be found.

README.md in this folder describes the comments that this module reads.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent
MODES = ("mem", "race", "init", "sync")

KINDS = {
    "mem": {
        "out-of-bounds",
        "use-after-free",
        "misaligned",
        "null",
        "double-free",
        "invalid-free",
        "leak",
    },
    "race": {
        "read-after-write",
        "write-after-read",
        "write-after-write",
        "atomic-and-plain",
    },
    "init": {"uninitialized"},
    "sync": {"divergent-barrier", "wrong-mask", "missing-syncwarp"},
}

SCALARS = {
    "char": np.int8,
    "uchar": np.uint8,
    "short": np.int16,
    "ushort": np.uint16,
    "int": np.int32,
    "unsigned": np.uint32,
    "uint": np.uint32,
    "long long": np.int64,
    "float": np.float32,
    "double": np.float64,
}


class FormatError(ValueError):
    """A comment of a planted program has wrong syntax."""


@dataclass(frozen=True)
class Array:
    """Device memory that a program allocates. ``contents`` is "" for memory that is not written."""

    name: str
    dtype: np.dtype
    count: int
    contents: str
    pooled: bool

    @property
    def bytes(self) -> int:
        return self.dtype.itemsize * self.count

    def initial(self) -> np.ndarray | None:
        """The elements that the host copies there; only these are initialised."""
        words = self.contents.split()
        if not words:
            return None
        count = self.count
        if words[0] == "first":
            count, words = int(words[1]), words[2:]
        width = int(np.prod(self.dtype.shape, dtype=int))
        if words == ["iota"]:
            values = np.arange(count * width)
        else:
            number = {"zeros": 0, "ones": 1}.get(words[0])
            values = np.full(
                count * width, float(words[0]) if number is None else number
            )
        return values.astype(self.dtype.base)


@dataclass(frozen=True)
class Free:
    name: str


@dataclass(frozen=True)
class Copy:
    target: str
    source: str
    count: int


@dataclass(frozen=True)
class Sync:
    pass


@dataclass(frozen=True)
class Wait:
    """Later work of one stream waits for the present work of another stream."""

    later: int
    earlier: int


@dataclass(frozen=True)
class Launch:
    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    shared: int
    stream: int
    arguments: tuple[int | float | tuple[str, int, str], ...]
    cooperative: bool


@dataclass
class Finding:
    """A finding that is required or allowed: one line or one pair of lines."""

    mode: str
    kind: str
    tag: str
    lines: set[int] = field(default_factory=set)
    required: bool = True

    def __str__(self) -> str:
        lines = " and ".join(str(line) for line in sorted(self.lines))
        return f"{self.mode} {self.kind} in line {lines}"


@dataclass
class Program:
    path: Path
    source: str
    steps: list[Array | Free | Copy | Sync | Wait | Launch]
    findings: list[Finding]

    @property
    def mode(self) -> str:
        return self.path.parent.name

    @property
    def name(self) -> str:
        return f"{self.mode}/{self.path.stem}"

    def expected(self, modes) -> list[Finding]:
        """The findings that are required or allowed with these modes."""
        return [finding for finding in self.findings if finding.mode in modes]

    def numbered_source(self) -> str:
        """The source with #line directives for this file's name."""
        return f'#line 1 "{self.path.name}"\n{self.source}'


def _dtype(text: str) -> np.dtype:
    if text in SCALARS:
        return np.dtype(SCALARS[text])
    vector = re.fullmatch(r"([a-z]+)([234])", text)
    if vector and vector[1] in SCALARS:
        return np.dtype((SCALARS[vector[1]], (int(vector[2]),)))
    raise FormatError(f"unknown type {text!r}")


def _size(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.strip("() ").split(","))


def _split(text: str) -> list[str]:
    """Split at the commas outside parentheses."""
    parts = re.split(r",(?![^()]*\))", text)
    return [part.strip() for part in parts if part.strip()]


def _argument(text: str):
    address = re.fullmatch(r"([A-Za-z_]\w*)\s*(?:([+-])\s*(\d+)\s*(bytes)?)?", text)
    if address:
        offset = int(address[3] or 0) * (-1 if address[2] == "-" else 1)
        return (address[1], offset, address[4] or "elements")
    if re.fullmatch(r"-?(0[xX][0-9a-fA-F]+|\d+)", text):
        return int(text, 0)
    return float(text)


def _array(keyword: str, text: str) -> Array:
    match = re.fullmatch(r"(\w+) ([a-z ]+\d?)\[(\d+)\](?: = (.+))?", text)
    if not match:
        raise FormatError(f"expected NAME TYPE[COUNT] = CONTENTS, not {text!r}")
    array = Array(
        match[1], _dtype(match[2]), int(match[3]), match[4] or "", keyword == "POOL"
    )
    array.initial()  # raises an error for unknown contents
    return array


def _launch(text: str) -> Launch:
    match = re.fullmatch(r"(cooperative )?(\w+)<<<(.+)>>>\((.*)\)", text)
    if not match:
        raise FormatError(f"expected KERNEL<<<...>>>(...), not {text!r}")
    sizes = [*_split(match[3]), "0", "0"]
    return Launch(
        match[2],
        _size(sizes[0]),
        _size(sizes[1]),
        int(sizes[2]),
        int(sizes[3]) if len(sizes) > 4 else 0,
        tuple(_argument(part) for part in _split(match[4])),
        bool(match[1]),
    )


def _copy(text: str) -> Copy:
    match = re.fullmatch(r"(\w+) <- (\w+), (\d+)", text)
    if not match:
        raise FormatError(f"expected TARGET <- SOURCE, COUNT, not {text!r}")
    return Copy(match[1], match[2], int(match[3]))


def _wait(text: str) -> Wait:
    match = re.fullmatch(r"(\d+) <- (\d+)", text)
    if not match:
        raise FormatError(f"expected STREAM <- STREAM, not {text!r}")
    return Wait(int(match[1]), int(match[2]))


_STATEMENTS = {
    "ARRAY": lambda text: _array("ARRAY", text),
    "POOL": lambda text: _array("POOL", text),
    "FREE": Free,
    "COPY": _copy,
    "SYNC": lambda text: Sync(),
    "WAIT": _wait,
    "LAUNCH": _launch,
}


def _read_findings(number: int, line: str, known: dict) -> None:
    comment = re.search(r"// ((?:FINDS|MAY) .*)$", line)
    if not comment:
        return
    required = True
    for part in comment[1].split(";"):
        words = part.split()
        if words[0] in ("FINDS", "MAY"):
            required = words.pop(0) == "FINDS"
        mode, kind, tag = (*words, "")[:3]
        if len(words) > 3 or not set(kind.split("|")) <= KINDS.get(mode, set()):
            raise FormatError(f"line {number}: no finding {part.strip()!r}")
        key = (mode, kind, tag, required)
        known.setdefault(key, Finding(*key[:3], required=required)).lines.add(number)


def read(path: Path) -> Program:
    """Read a program. Raises FormatError with the line of a comment that does not follow README.md."""
    source = path.read_text()
    steps, findings = [], {}
    for number, line in enumerate(source.splitlines(), 1):
        statement = re.match(r"// ([A-Z]{4,})\b ?(.*)", line)
        if statement and statement[1] in _STATEMENTS:
            try:
                steps.append(_STATEMENTS[statement[1]](statement[2].strip()))
            except ValueError as error:
                raise FormatError(f"{path}:{number}: {error}") from error
        else:
            _read_findings(number, line, findings)
    program = Program(path, source, steps, list(findings.values()))
    _check(program)
    return program


def _check(program: Program) -> None:
    def refuse(what):
        raise FormatError(f"{program.path}: {what}")

    if not any(isinstance(step, Launch) for step in program.steps):
        refuse("no LAUNCH")
    required = [f for f in program.findings if f.required]
    if program.mode == "clean" and program.findings:
        refuse("a finding in a correct program")
    if program.mode in MODES and not any(f.mode == program.mode for f in required):
        refuse(f"no finding of mode {program.mode}")
    for finding in program.findings:
        if finding.mode == "race" and len(finding.lines) > 2:
            refuse(f"more than two lines for {finding}; name the pairs with #tags")


def programs(*modes: str) -> list[Program]:
    """All programs of these folders ("clean" is one), or of all folders if none is named."""
    return [
        read(path)
        for mode in modes or (*MODES, "clean")
        for path in sorted((FOLDER / mode).glob("*.cu"))
    ]


# -- comparing --------------------------------------------------------------------------------

_ONE_KIND = {"write-after-read": "read-after-write"}


@dataclass(frozen=True)
class Seen:
    """A finding of a tool: ``lines`` are the lines of the program that it reports."""

    mode: str
    kind: str
    lines: frozenset[int]

    def __str__(self) -> str:
        lines = " and ".join(str(line) for line in sorted(self.lines)) or "?"
        return f"{self.mode} {self.kind} in line {lines}"


def matches(expected: Finding, seen: Seen) -> bool:
    """Whether a tool's finding is the expected one."""
    kinds = {_ONE_KIND.get(kind, kind) for kind in expected.kind.split("|")}
    if expected.mode != seen.mode or _ONE_KIND.get(seen.kind, seen.kind) not in kinds:
        return False
    if seen.mode == "race":
        return seen.lines == expected.lines
    return bool(seen.lines & expected.lines)


@dataclass
class Verdict:
    """The planted defects that a tool missed, and its reports of defects that are not planted."""

    missed: list[Finding]
    surplus: list[Seen]

    def __bool__(self) -> bool:
        return not self.missed and not self.surplus

    def __str__(self) -> str:
        lines = [f"not found: {finding}" for finding in self.missed]
        return "\n".join(lines + [f"not planted: {seen}" for seen in self.surplus])


def compare(program: Program, modes, seen: list[Seen]) -> Verdict:
    """Compares what was found in a program with these modes with what is planted there."""
    expected = program.expected(modes)
    return Verdict(
        [e for e in expected if e.required and not any(matches(e, s) for s in seen)],
        [s for s in seen if not any(matches(e, s) for e in expected)],
    )
