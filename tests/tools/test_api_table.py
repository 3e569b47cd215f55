"""The table of PyCUDA's names: it is current, and tells names with and without tests apart."""

import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import api_table  # noqa: E402


def test_the_table_is_current():
    assert api_table.make_table(ROOT) == (ROOT / api_table.TABLE).read_text(), (
        "run tools/api_table.py"
    )


def test_every_name_has_a_test():
    tests = api_table.read_tests(ROOT)
    names = api_table.read_names(ROOT)
    assert len(names) > 350
    assert [n for n in names if api_table.test_of(*n, tests) is None] == []


def test_a_name_without_a_test_is_told(tmp_path):
    (tmp_path / "tests/python").mkdir(parents=True)
    (tmp_path / "tests/api_names.txt").write_text(
        "# a comment\npkg.mod: used Class.method missing\n"
    )
    (tmp_path / "tests/python/test_a.py").write_text(
        "from pkg import used\n\ndef test_first():\n    Class().method()\n"
    )
    table = api_table.make_table(tmp_path)
    assert "3 names, 2 with a test." in table
    assert "| `Class.method` | `test_a::test_first` |" in table
    assert "| `used` | `test_a` |" in table
    assert "| `missing` | none |" in table


def test_what_a_header_has_is_tested_with_the_header(tmp_path):
    (tmp_path / "tests/python").mkdir(parents=True)
    (tmp_path / "tests/api_names.txt").write_text("some.hpp: pow\n")
    elsewhere = tmp_path / "tests/python/test_a.py"
    elsewhere.write_text("def test_numbers():\n    pow(2, 3)\n")
    assert "| `pow` | none |" in api_table.make_table(tmp_path)
    elsewhere.write_text("def test_numbers():\n    '#include <some.hpp> pow'\n")
    assert "| `pow` | `test_a::test_numbers` |" in api_table.make_table(tmp_path)
