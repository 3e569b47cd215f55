"""docs/numpy_functions.md and the table of docs/migration.md list exactly the existing functions."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[3]


def tool_named(name: str):
    spec = importlib.util.spec_from_file_location(name, ROOT / f"tools/{name}.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool


def test_table_is_current():
    table = (ROOT / "docs/numpy_functions.md").read_text()
    version = ".".join(np.__version__.split(".")[:2])
    if f"NumPy {version} " not in table:
        pytest.skip(f"the table is of another NumPy than {version}")
    table_now = tool_named("numpy_functions").make_table()
    assert table_now == table, "run ./run tools/numpy_functions.py"


def test_table_of_scipy_is_current():
    tool = tool_named("scipy_functions")
    page = tool.PAGE.read_text()
    assert tool.page_with(tool.make_table()) == page, (
        "run ./run tools/scipy_functions.py"
    )
    assert "erf" in tool.own_names("special") and "kv" not in tool.own_names("special")
