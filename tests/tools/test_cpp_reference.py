"""The headers of libpycuda: pycuda.h includes all of them, and tools/cpp_reference.py describes all of them."""

import re
import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import cpp_reference  # noqa: E402

FOLDER = ROOT / "core/include/pycuda"
HEADERS = sorted(
    path.stem for path in FOLDER.glob("*.h") if path.stem != cpp_reference.UMBRELLA
)


def test_one_header_includes_all_others():
    text = (FOLDER / "pycuda.h").read_text()
    assert re.findall(r"^#include <pycuda/(\w+)\.h>$", text, re.MULTILINE) == HEADERS


def test_each_header_is_in_one_group():
    grouped = [
        name
        for group in cpp_reference.GROUPS.values()
        for name in cpp_reference.names(group)
    ]
    assert sorted(grouped) == HEADERS


@pytest.fixture(scope="module")
def pages():
    if not shutil.which("doxygen"):
        pytest.skip("doxygen is not installed")
    return cpp_reference.pages()


def test_the_pages_have_the_declarations_of_the_headers(pages):
    memory = pages["memory.rst"]
    assert ".. cpp:class:: DeviceMemory\n" in memory
    assert ".. cpp:function:: explicit DeviceMemory(std::size_t bytes)\n" in memory
    assert "template <std::ranges::contiguous_range Range> DeviceMemory to_device(" in (
        memory
    )
    assert "free the memory" not in memory and "Frees the memory now, or when" in memory
    assert "throw_freed" not in memory  # private
    assert "detail::" not in re.sub(r":source:`.*?`", "", pages["devices.rst"])
    assert ".. cpp:enumerator:: Keep\n" in pages["arrays.rst"]


def test_each_name_of_a_table_is_described(pages):
    rows = re.findall(
        r"^   \* - (.*)\n     - (.*)$", "".join(pages.values()), re.MULTILINE
    )
    assert len(rows) > 400
    assert [name for name, text in rows if not text or text.startswith("Values:")] == []


def test_each_declaration_has_a_link_to_its_line(pages):
    found = re.findall(r":source:`(\S+)#L(\d+)`", "".join(pages.values()))
    assert len(found) > 150
    for path, line in found:
        text = (ROOT / path).read_text().splitlines()[int(line) - 1]
        assert text.strip() and not text.lstrip().startswith("//"), (path, line)
