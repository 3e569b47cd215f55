"""ARM's model of memory permits no outcome that PTX forbids, with the fences of softcuda's code."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from arm_litmus import TESTS, Litmus, Model, herd_text, translate  # noqa: E402

LLC = Path(os.environ.get("LLC", "/usr/lib/llvm-19/bin/llc"))
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


@pytest.mark.parametrize("name", BY_NAME)
def test_herds_labels_are_of_one_thread_each(name):
    labels = re.findall(r"\b(L\d+):", herd_text(BY_NAME[name], lse=False))
    assert len(labels) == len({*labels}) == str(BY_NAME[name].threads).count("cas")


def test_a_failed_herd_is_an_error(tmp_path):
    command = [sys.executable, ROOT / "tools/arm_litmus.py", "--herd", "false"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode != 0 and "herd7 failed" in done.stderr


# What code generation writes for PTX (emit_memory.cpp, emit_atomic.cpp), and the instructions of the translation.
PIECES = {
    "load": ("%a = load i32, ptr %p, align 4", "ldr", "ldr"),
    "ld.acquire": (
        "%a = load i32, ptr %p, align 4\nfence acquire",
        "ldr dmb-ishld",
        "",
    ),
    "st.release": ("fence release\nstore i32 %v, ptr %p, align 4", "dmb-ish str", ""),
    "fence": ("fence seq_cst", "dmb-ish", ""),
    "exch": ("%a = atomicrmw xchg ptr %p, i32 %v seq_cst", "ldaxr stlxr", "swpal"),
    "add": ("%a = atomicrmw add ptr %p, i32 %v seq_cst", "ldaxr stlxr", "ldaddal"),
    "cas": (
        "%a = cmpxchg ptr %p, i32 %e, i32 %v seq_cst seq_cst",
        "ldaxr stlxr",
        "casal",
    ),
    "a long one": ("%a = load i64, ptr %p, align 1", "ldr", ""),
}


@pytest.mark.skipif(not LLC.exists(), reason="needs llc of LLVM 19")
@pytest.mark.parametrize("lse", [False, True], ids=["neon", "lse"])
def test_llvm_makes_the_instructions_of_the_translation(lse):
    functions = [
        f"define void @f{i}(ptr %p, i32 %v, i32 %e) {{\n{code}\nret void\n}}\n"
        for i, (code, _, _) in enumerate(PIECES.values())
    ]
    command = [LLC, "-mtriple=aarch64-linux-gnu", *(["-mattr=+lse"] if lse else [])]
    # Results are kept: loads that nobody reads are left out.
    text = re.sub(r"(%a = load) (i\d+)", r"\1 volatile \2", "".join(functions))
    done = subprocess.run(
        command, input=text, capture_output=True, text=True, check=True
    )
    made = re.findall(r"^f\d+:(.*?)^\tret$", done.stdout, re.MULTILINE | re.DOTALL)
    assert len(made) == len(PIECES)
    for (name, (_, plain, with_lse)), body in zip(PIECES.items(), made, strict=True):
        found = re.findall(
            r"^\t(ldr|str|dmb|ld\w*xr|st\w*xr|swp\w*|ldadd\w*|cas\w*)\t(.*)$",
            body,
            re.M,
        )
        words = [f"{word}-{rest}" if word == "dmb" else word for word, rest in found]
        wanted = (with_lse or plain) if lse else plain
        assert " ".join(words) == wanted, name
