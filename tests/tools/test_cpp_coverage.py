"""tools/cpp_coverage.py: a line has run if it ran in any object file."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import cpp_coverage  # noqa: E402


def test_counts_of_two_programs(tmp_path, monkeypatch, capsys):
    if not shutil.which("gcov") or not shutil.which("g++"):
        pytest.skip("there is no gcov")
    source = tmp_path / "core/src/arrays/half.h"
    source.parent.mkdir(parents=True)
    source.write_text(
        "inline int half(int x) {\n"
        "    if (x % 2)\n"
        "        return -1;\n"
        "    return x / 2;\n"
        "}\n"
    )
    for name, argument in (("odd", 3), ("even", 4)):
        folder = tmp_path / "build" / name
        folder.mkdir(parents=True)
        (folder / "main.cpp").write_text(
            f'#include "{source}"\nint main() {{ return half({argument}) == 0; }}\n'
        )
        command = ["g++", "--coverage", "-O0", "-o", "program", "main.cpp"]
        subprocess.run(command, cwd=folder, check=True)
        subprocess.run(["./program"], cwd=folder, check=True)
    monkeypatch.setattr(cpp_coverage, "ROOT", tmp_path)
    objects = sorted(tmp_path.rglob("*.gcda"))
    assert len(objects) == 2
    one = cpp_coverage.merge(objects[:1], tmp_path)["core/src/arrays/half.h"]
    both = cpp_coverage.merge(objects, tmp_path)["core/src/arrays/half.h"]
    assert [one[line] for line in (2, 3, 4)] == [True, False, True]  # of "even"
    assert [both[line] for line in (2, 3, 4)] == [True, True, True]
    lines = {"core/src/arrays/half.h": {2: True, 3: False, 4: True, 5: True}}
    rows = cpp_coverage.report(lines)
    assert rows[1].split() == ["core/src/arrays", "4", "3", "75.0", "%"]
    assert rows[-1].split() == ["core/src/arrays/half.h", "1"]


def test_names_relative_to_the_folder_of_the_build():
    """ccache makes the names of sources relative."""
    root, build = cpp_coverage.ROOT, cpp_coverage.ROOT / "build/freethreaded"
    name = cpp_coverage.source_name
    assert name("../../core/src/init.cpp", build) == "core/src/init.cpp"
    assert name(f"{root}/core/src/init.cpp", build) == "core/src/init.cpp"
    assert name("/usr/include/stdio.h", build) == "/usr/include/stdio.h"
