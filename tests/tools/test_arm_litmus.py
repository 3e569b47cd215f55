"""ARM's model of memory permits no outcome that PTX forbids, with the fences of softcuda's code."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from arm_litmus import TESTS, Litmus, Model, herd_text, translate  # noqa: E402

BY_NAME = {test.name: test for test in TESTS}


@pytest.mark.parametrize("lse", [False, True], ids=["neon", "lse"])
@pytest.mark.parametrize("name", BY_NAME)
def test_outcome_is_permitted_if_ptx_allows_it(name, lse):
    assert Model(BY_NAME[name], lse).permits() == (not BY_NAME[name].forbidden)


def needs_fences():
    """The tests whose threads have no order but that of fences."""
    return [
        test.name
        for test in TESTS
        if test.forbidden
        and re.search("fence|acquire|release", " ".join(test.threads))
        and "atom" not in " ".join(test.threads)
    ]


@pytest.mark.parametrize("name", needs_fences())
def test_without_fences_each_outcome_is_permitted(name):
    assert Model(BY_NAME[name], lse=False, fences=False).permits()


def test_an_atomic_instruction_orders_its_neighbours_but_not_itself():
    threads = ("atom.exch r0 x 1; ld r1 y", "atom.exch r0 y 1; ld r1 x")
    itself = Litmus("SB-atomics", threads, "0:r1=0 1:r1=0", forbidden=False)
    assert Model(itself, lse=True).permits() and Model(itself, lse=False).permits()
    threads = ("st x 1; atom.exch r0 z 1; ld r1 y", "st y 1; atom.exch r0 m 1; ld r1 x")
    neighbours = Litmus("SB-between", threads, "0:r1=0 1:r1=0")
    assert not Model(neighbours, lse=True).permits()
    assert Model(neighbours, lse=False).permits()


def test_translates_as_the_page_says():
    kinds = [
        (step.kind, step.order)
        for step in translate("st.release x 1; ld.acquire r0 y; fence")
    ]
    assert kinds == [
        *(("fence", "ISH"), ("store", ""), ("load", ""), ("fence", "ISHLD")),
        ("fence", "ISH"),
    ]
    text = herd_text(BY_NAME["MP-release-acquire"], lse=False)
    assert "DMB ISHLD" in text and "exists (1:X0=1 /\\ 1:X1=0)" in text


def test_a_failed_herd_is_an_error(tmp_path):
    command = [sys.executable, ROOT / "tools/arm_litmus.py", "--herd", "false"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode != 0 and "herd7 failed" in done.stderr
