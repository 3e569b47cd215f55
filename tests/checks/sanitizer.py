"""Runs planted programs under NVIDIA's compute-sanitizer, and reads its output."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from checks.program import Program, Seen

TOOLS = {
    "mem": "memcheck",
    "race": "racecheck",
    "init": "initcheck",
    "sync": "synccheck",
}

#: The first line of each message, and our name for the finding. The first pattern that matches is used.
_MESSAGES = {
    "mem": [
        (r"Invalid __\w+__ \w+ of size", "out-of-bounds"),
        (r"Malloc/Free [Ee]rror.*[Dd]ouble free", "double-free"),
        (r"Malloc/Free [Ee]rror", "invalid-free"),
        (r"Leaked .*bytes", "leak"),
    ],
    "race": [
        (r"Race reported between Atomic|and Atomic access", "atomic-and-plain"),
        (r"Race reported between Write access.*", "write-after-write"),
        (r"Race reported between Read access.*", "read-after-write"),
    ],
    "init": [(r"Uninitialized __\w+__ memory read", "uninitialized")],
    "sync": [
        (r"Barrier error detected\. Divergent thread", "divergent-barrier"),
        (r"Barrier error detected", "wrong-mask"),
    ],
}

#: Our name for an "Invalid access" of memcheck, by the line that gives the reason.
_REASONS = [
    (r"misaligned", "misaligned"),
    (r"Address 0x0 ", "null"),
    (r"freed|after free|use.after", "use-after-free"),
]


def read_messages(text: str, mode: str, program: Program) -> list[Seen]:
    """The messages of one tool about lines of this program."""
    seen = []
    for message in _messages(text):
        kind = _kind(message, mode)
        if kind:
            place = re.escape(program.path.name) + r":(\d+)"
            # After the access come the backtraces of the host and of an allocation.
            device = re.split(r"Saved host backtrace|Host Frame", message)[0]
            lines = frozenset(int(line) for line in re.findall(place, device))
            seen.append(Seen(mode, kind, lines))
    return seen


def _messages(text: str) -> list[str]:
    """Each message begins in a line that is not indented after the equals signs."""
    lines = [
        line.removeprefix("=========")
        for line in text.splitlines()
        if line.startswith("=========")
    ]
    messages: list[str] = []
    for line in lines:
        if line.startswith("  ") and messages:
            messages[-1] += "\n" + line
        else:
            messages.append(line)
    return messages


def _kind(message: str, mode: str) -> str:
    kinds = (kind for pattern, kind in _MESSAGES[mode] if re.search(pattern, message))
    kind = next(kinds, "")
    if kind == "out-of-bounds":
        for pattern, reason in _REASONS:
            if re.search(pattern, message):
                return reason
    if kind == "write-after-write" and re.search(r"and Read access", message):
        return "read-after-write"
    return kind


def run(
    program: Program, mode: str, command: str, timeout: float
) -> tuple[list[Seen], str]:
    """The findings of a tool in a program, and its whole output."""
    execute = Path(__file__).with_name("execute.py")
    arguments = [command, "--tool", TOOLS[mode], "--print-limit", "10000"]
    if mode == "race":
        arguments += ["--racecheck-report", "analysis"]
    try:
        done = subprocess.run(
            [*arguments, sys.executable, str(execute), str(program.path)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=timeout,
            env={**os.environ, "PYCUDA_DRIVER": "nvidia"},
        )
        text = done.stdout
    except subprocess.TimeoutExpired as expired:
        text = (expired.stdout or b"").decode(errors="replace") + "\nno end in time"
    return read_messages(text, mode, program), text
