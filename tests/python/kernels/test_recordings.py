"""Results of single instructions, compared bit for bit with those of an NVIDIA H200.

The recordings, and how they are made, are in tests/recordings; tools/record_on_gpu makes new ones.
This test runs a part of the recorded random kernels and of the instructions in LARGE; tools/record_on_gpu with
`--check` runs all.
On a mismatch, run that with --raw and --only on both devices and compare the arrays.
"""

import pathlib
import re
import sys

import numpy as np
import pytest
from marks import slow

import pycuda.driver as cuda

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent))

from recordings import (  # noqa: E402
    instructions,
    lists,
    matrices,
    programs,
    random_runs,
    values,
)

FAMILIES = {
    "add sub mul": r"^(add|sub|mul|mul24)\.",
    "multiply and add": r"^(mad|mad24|fma|sad|dp[24]a)\.",
    "carry": r"^(addc|subc|madc)\.",
    "division and roots": r"^(div|rem|rcp|sqrt|rsqrt)\.",
    "functions": r"^(sin|cos|lg2|ex2|tanh)\.",
    "signs and choice": r"^(abs|neg|min|max|copysign|testp|selp|slct)\.",
    "bits": r"^(popc|clz|bfind|fns|brev|bfe|bfi|szext|bmsk)\.",
    "logic": r"^(and|or|xor|not|cnot|lop3|shf|shl|shr|prmt|mov)\.",
    "conversion": r"^cvt",
    "set": r"^set\.",
    "setp": r"^setp\.",
    "video": r"^v(add|sub|absdiff|min|max|shl|shr|mad|set)\.",
    "video lanes": r"^v\w+[24]\.",
}


LARGE = ("set", "setp", "video", "video lanes", "wmma.mma", "mma.sp")


def parameters(names):
    """The large groups are slow."""
    return [
        pytest.param(name, marks=[pytest.mark.slow] * (name in LARGE)) for name in names
    ]


def share(rows, name):
    """Every fifth row of a large group."""
    return rows[::5] if name in LARGE else rows


def rows_of(module, make):
    return lists.read(module.FILE.read_text().splitlines(), make)


def check(rows, module, run_all):
    """Each row's hash must be the recorded one, except for known differences."""
    wrong = []
    for row, (instruction, results) in zip(
        rows, run_all([row.instruction for row in rows]), strict=True
    ):
        same = module.hash_results(instruction, results) == row.hash
        if same == row.differs and "NVIDIA" not in cuda.Device(0).name():
            wrong.append(f"{instruction}: {'no longer differs' if same else 'differs'}")
    assert not wrong, f"{len(wrong)} of {len(rows)}:\n" + "\n".join(wrong)


def test_two_nans_alone_are_left_out_of_what_every_processor_computes():
    for line in ("mul.rp.f64 =f64 f64 f64", "fma.rz.f64 =f64 f64 f64 f64"):
        instruction = instructions.Instruction(line)
        nans = sum(
            np.isnan(values.inputs("f64", position).view(np.float64)).astype(int)
            for position in range(len(instruction.sources))
        )
        assert {0, 1, 2} <= set(nans)
        (results,) = instructions.repeatable(instruction, nans[None])
        assert sorted(results) == sorted(nans[nans < 2])
    for line in ("mul.rp.f32 =f32 f32 f32", "ex2.approx.f32 =f32 f32"):
        instruction = instructions.Instruction(line)
        assert instruction.repeatable_threads().all()


INSTRUCTIONS = [
    row
    for row in rows_of(instructions, instructions.Instruction)
    if row.hash != instructions.REFUSED  # accepted by softcuda alone
]
MATRICES = rows_of(matrices, matrices.MatrixInstruction)


def test_families_are_complete():
    missed = [
        str(row.instruction)
        for row in INSTRUCTIONS
        if sum(
            bool(re.search(pattern, str(row.instruction)))
            for pattern in FAMILIES.values()
        )
        != 1
    ]
    assert not missed


@pytest.mark.parametrize("family", parameters(FAMILIES))
def test_instructions(device, family):
    rows = [
        row for row in INSTRUCTIONS if re.search(FAMILIES[family], str(row.instruction))
    ]
    check(share(rows, family), instructions, instructions.run_all)


@pytest.mark.parametrize("kind", parameters(["wmma.mma", "mma.sync", "mma.sp"]))
def test_matrices(device, kind):
    rows = [row for row in MATRICES if row.instruction.spelling.startswith(kind)]
    check(share(rows, kind), matrices, matrices.run_all)


@pytest.mark.parametrize("program", programs.files(), ids=lambda file: file.stem)
def test_programs(device, program):
    text = program.read_text()
    assert programs.recorded(text) == programs.hash_result(programs.run(text))


RANDOM_KERNELS = random_runs.read()[::8] if random_runs.FILE.exists() else []
RANDOM_KERNELS = RANDOM_KERNELS[::4] + slow(
    text for i, text in enumerate(RANDOM_KERNELS) if i % 4
)


@pytest.mark.cuda_check_allow("sync")  # lanes diverge before a barrier
@pytest.mark.parametrize("text", RANDOM_KERNELS, ids=random_runs.seed_of)
def test_random_kernels(request, device, text):
    if not random_runs.has_results_of_a_gpu(random_runs.seed_of(text)):
        request.applymarker(pytest.mark.xfail(reason="see docs/exactness.md"))
    assert random_runs.recorded(text) == random_runs.hash_results(random_runs.run(text))
