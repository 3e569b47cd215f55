"""The tables of benchmarks/against."""

import importlib.machinery
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import is_softcuda

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"


def load(name):
    loader = importlib.machinery.SourceFileLoader(name, str(BENCHMARKS / name))
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_loader(name, loader)
    )
    loader.exec_module(module)
    return module


def test_the_worst_row_comes_first():
    against = load("against")
    before = {"same": 1.0, "slower": 2e-6, "faster": 4e-3, "gone": 1.0}
    now = {"same": 1.0, "slower": 3e-6, "faster": 1e-3, "new": 1.0}
    rows = against.compare(before, now)
    assert [row[0] for row in rows] == ["slower", "same", "faster"]
    assert against.table(rows, "abc").splitlines() == [
        "| | abc | now | ratio |",
        "|---|---:|---:|---:|",
        "| slower | 2 µs | 3 µs | 1.50 |",
        "| same | 1 s | 1 s | 1.00 |",
        "| faster | 4 ms | 1 ms | 0.25 |",
    ]


def test_the_table_of_the_corpus_is_read():
    page = (BENCHMARKS.parent / "docs/benchmarks_record.md").read_text()
    rows = load("against_side.py").read_corpus(page)
    assert rows["corpus floydwarshall"] == pytest.approx(14.19e-3)


@pytest.mark.skipif(not is_softcuda(), reason="benchmarks/against measures softcuda")
def test_launches_are_measured():
    done = subprocess.run(
        [sys.executable, BENCHMARKS / "against_side.py", "launches"],
        env={**os.environ, "AGAINST_CLOCK": "process", "SOFTCUDA_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout.splitlines()[-1])
    assert {"launch", "bound launch and a wait", "launch, 16 threads"} <= set(rows)
    assert all(0 < seconds < 1 for seconds in rows.values())
