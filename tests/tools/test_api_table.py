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
    assert [name for _, name in names if api_table.test_of(name, tests) is None] == []


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
