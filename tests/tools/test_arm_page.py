"""docs/arm.md says of each relaxed atomic why it does not rely on the order of x86-64."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_names_each_file_with_relaxed_atomics():
    page = (ROOT / "docs/arm.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w/.]+\.(?:cpp|h))`", page))
    relaxed = re.compile(r"memory_order(_|::)relaxed|__ATOMIC_RELAXED")
    for folder in ("softcuda", "core", "python/src"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".cpp", ".h") and relaxed.search(
                path.read_text(encoding="utf-8")
            ):
                name = path.relative_to(ROOT).as_posix()
                assert name.removeprefix("softcuda/src/") in named, (
                    f"{name}: read its relaxed atomics, and name it in docs/arm.md"
                )
