"""docs/numpy_functions.md lists exactly the existing functions."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_table_is_current():
    table = (ROOT / "docs/numpy_functions.md").read_text()
    version = ".".join(np.__version__.split(".")[:2])
    if f"NumPy {version} " not in table:
        pytest.skip(f"the table is of another NumPy than {version}")
    path = ROOT / "tools/numpy_functions.py"
    spec = importlib.util.spec_from_file_location("numpy_functions", path)
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert tool.make_table() == table, "run ./run tools/numpy_functions.py"
