"""Findings of softcuda's check modes: dataclasses for their JSON text, and a report as text."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace

MODES = ("mem", "race", "init", "sync")

KINDS = {
    "mem": (
        "out-of-bounds",
        "use-after-free",
        "misaligned",
        "null",
        "double-free",
        "invalid-free",
        "leak",
    ),
    "race": (
        "read-after-write",
        "write-after-read",
        "write-after-write",
        "atomic-and-plain",
    ),
    "init": ("uninitialized",),
    "sync": ("divergent-barrier", "wrong-mask", "missing-syncwarp"),
}


@dataclass(frozen=True)
class Access:
    """An access of one thread: ``what`` is "read", "write", "atomic", "barrier" and so on.

    ``block`` and ``thread`` are indices (x, y, z); ``bytes`` is the access's size. ``kernel`` is
    the kernel's name if it is another kernel than the finding's. A copy or fill of a stream has
    ``by_command`` set: ``what`` is "copy" or "fill" then, and there is no line and no thread.
    """

    what: str
    file: str
    line: int
    block: tuple[int, ...]
    thread: tuple[int, ...]
    bytes: int
    kernel: str = ""
    by_command: bool = False

    def __str__(self) -> str:
        size = f" of {self.bytes} bytes" if self.bytes else ""
        if self.by_command:
            return f"{self.what}{size} in another stream"
        kernel = f" of kernel {self.kernel}" if self.kernel else ""
        return (
            f"{self.what}{size} at {self.file}:{self.line} "
            f"by thread {_index(self.thread)} of block {_index(self.block)}{kernel}"
        )


@dataclass(frozen=True)
class Finding:
    """A defect: one line of a kernel, or a pair of lines, and the number of occurrences.

    mode: "mem", "race", "init" or "sync".
    kind: a name of :data:`KINDS`, such as "out-of-bounds" or "read-after-write".
    space: "global", "shared", "local", or "" if the finding concerns no memory.
    array: the array in words, with its size.
    text: the message, of several lines.
    accesses: one access, or the two of a pair.
    number: its number in the list of its process; -1 in a list of several processes.
    """

    mode: str
    kind: str
    kernel: str
    count: int
    space: str
    array: str
    text: str
    accesses: tuple[Access, ...]
    number: int = field(default=-1, compare=False, repr=False)

    def __str__(self) -> str:
        return self.text or "\n".join(map(str, self.accesses))

    @property
    def key(self) -> tuple:
        """The identity of the finding: without count, threads and addresses."""
        places = tuple((a.what, a.file, a.line) for a in self.accesses)
        return self.mode, self.kind, self.kernel, self.space, places or self.text

    @property
    def term(self) -> str:
        """The words of NVIDIA's compute-sanitizer for this defect; "" if its tools do not find it."""
        return _term(self)


def _index(index: Iterable[int]) -> str:
    return "(" + ", ".join(str(number) for number in index) + ")"


def _access(value: dict) -> Access:
    return Access(
        value["what"],
        value["file"],
        value["line"],
        tuple(value["block"]),
        tuple(value["thread"]),
        value["bytes"],
        value.get("kernel", ""),
        value.get("by_command", False),
    )


def parse(text: str) -> list[Finding]:
    """The findings in a report of softcuda. Raises ValueError if the text is not a report."""
    return parse_dicts(json.loads(text)["findings"])


def parse_dicts(values: Iterable[dict]) -> list[Finding]:
    """Findings from the dictionaries of a report, or of :meth:`pycuda.check.Checks.as_dicts`."""
    return [
        Finding(**{**value, "accesses": tuple(map(_access, value["accesses"]))})
        for value in values
    ]


def since(findings: list[Finding], before: list[Finding]) -> list[Finding]:
    """The findings in addition to ``before``, with the counts of the new occurrences."""
    counts: dict[tuple, int] = {}
    for finding in before:
        counts[finding.key] = counts.get(finding.key, 0) + finding.count
    new = []
    for finding in findings:
        known = min(counts.get(finding.key, 0), finding.count)
        counts[finding.key] = counts.get(finding.key, 0) - known
        if finding.count > known:
            new.append(replace(finding, count=finding.count - known))
    return new


def merge(lists: Iterable[list[Finding]]) -> list[Finding]:
    """Merge the findings of several processes to one list."""
    merged: dict[tuple, Finding] = {}
    for finding in (finding for findings in lists for finding in findings):
        known = merged.get(finding.key)
        count = finding.count + (known.count if known else 0)
        merged[finding.key] = replace(known or finding, count=count, number=-1)
    return list(merged.values())


def as_json(modes: Iterable[str], findings: list[Finding]) -> str:
    """The text that :func:`parse` reads."""
    values = [asdict(finding) for finding in findings]
    return json.dumps({"modes": list(modes), "findings": values}, indent=1)


# -- the words of compute-sanitizer -----------------------------------------------------------


def _invalid_access(finding: Finding) -> str:
    access = finding.accesses[0] if finding.accesses else None
    if access is None:
        return ""
    space = f"__{finding.space or 'global'}__"
    return f"Invalid {space} {access.what} of size {access.bytes} bytes"


def _race(finding: Finding) -> str:
    # racecheck checks only shared memory.
    if finding.space != "shared" or len(finding.accesses) != 2:
        return ""
    first, second = (_RACE_WORDS.get(a.what, a.what) for a in finding.accesses)
    return f"Race reported between {first} access and {second} access"


def _uninitialized(finding: Finding) -> str:
    size = finding.accesses[0].bytes if finding.accesses else 0
    space = f"__{finding.space or 'global'}__"
    return f"Uninitialized {space} memory read of size {size} bytes"


_RACE_WORDS = {"read": "Read", "write": "Write", "atomic": "Atomic"}

_TERMS = {
    "out-of-bounds": _invalid_access,
    "use-after-free": _invalid_access,
    "misaligned": _invalid_access,
    "null": _invalid_access,
    "double-free": lambda finding: "Malloc/Free Error encountered: Double free",
    "invalid-free": lambda finding: (
        "Malloc/Free Error encountered: Invalid pointer to free"
    ),
    "leak": lambda finding: "Leaked bytes",
    "uninitialized": _uninitialized,
    "divergent-barrier": lambda finding: (
        "Barrier error detected. Divergent thread(s) in block"
    ),
    "wrong-mask": lambda finding: "Barrier error detected. Invalid arguments",
    "missing-syncwarp": _race,
    **dict.fromkeys(KINDS["race"], _race),
}


def _term(finding: Finding) -> str:
    words = _TERMS.get(finding.kind)
    return words(finding) if words else ""


# -- the report -------------------------------------------------------------------------------

_TITLES = {
    "mem": "Invalid use of memory",
    "race": "Races",
    "init": "Reads of uninitialised memory",
    "sync": "Barriers and masks",
}
_BOLD, _RED, _GREY, _PLAIN = "\x1b[1m", "\x1b[31m", "\x1b[90m", "\x1b[0m"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def number_of(findings: list[Finding]) -> str:
    """ "1 finding", "3 findings"."""
    return f"{len(findings)} finding" + ("" if len(findings) == 1 else "s")


def _details(finding: Finding) -> list[str]:
    """The lines of the message after its first line, which the report replaces by its own heading."""
    lines = str(finding).splitlines()
    if lines[0].startswith(f"{finding.mode}: {finding.kind}"):
        lines = lines[1:]
    return textwrap.dedent("\n".join(lines)).splitlines()


def _describe(finding: Finding, paint) -> list[str]:
    kernel = f" in kernel {finding.kernel}" if finding.kernel else ""
    head = paint(_RED, finding.kind) + f"{kernel}, {_times(finding.count)}"
    if finding.term:
        head += "  " + paint(_GREY, f"[{finding.term}]")
    return [f"  {head}"] + [f"    {line}" for line in _details(finding)]


def report(findings: list[Finding], colour: bool = False) -> str:
    """The findings as text: by mode, then by kernel, the most frequent first.

    Brackets contain the words of NVIDIA's compute-sanitizer for the same defect.
    """

    def paint(style: str, text: str) -> str:
        return f"{style}{text}{_PLAIN}" if colour else text

    lines = []
    for mode in MODES:
        ordered = sorted(
            (finding for finding in findings if finding.mode == mode),
            key=lambda finding: (finding.kernel, -finding.count),
        )
        if ordered:
            lines += [paint(_BOLD, f"{_TITLES[mode]} ({mode})")]
        for finding in ordered:
            lines += [*_describe(finding, paint), ""]
    return "\n".join([*lines, number_of(findings)])
