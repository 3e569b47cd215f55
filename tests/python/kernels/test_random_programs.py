"""Random CUDA C++ programs on the device, compared with the same programs as plain C++ on the host.

`tools/random_programs` runs any number of them; this test runs a fixed part.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import pycuda.driver as cuda

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent))

from random_programs import launch_file  # noqa: E402
from random_programs.batch import Workshop  # noqa: E402
from random_programs.program import Program  # noqa: E402
from random_programs.reduce import Reducer  # noqa: E402

TIERS = ["regions", "fibers", "lanes", "varying", "rows"]
pytestmark = pytest.mark.skipif(
    not shutil.which("g++"), reason="the host's side needs g++"
)


def differences(folder, seeds, tier):
    cuda.init()
    if "softcuda" not in cuda.get_driver_path():
        tier = "gpu"
    outcome = Workshop(folder).compare([Program(seed) for seed in seeds], [tier])
    assert not outcome.bad, [(p.seed, why) for p, why in outcome.bad]
    assert outcome.compared == len(seeds)
    return {d.program.seed: d.symptom for d in outcome.differences}


@pytest.mark.parametrize("tier", TIERS)
def test_random_programs(tmp_path, tier):
    assert differences(tmp_path, range(5), tier) == {}


@pytest.mark.slow
@pytest.mark.parametrize("tier", TIERS)
def test_many_random_programs(tmp_path, tier):
    assert differences(tmp_path, range(100, 125), tier) == {}


def test_interpreters_agree_with_compiled_code(tmp_path):
    """Interpreters of the IR and of the warp program: softcuda_interpret_tests, which CMake builds."""
    cuda.init()
    library = pathlib.Path(cuda.get_driver_path()).resolve()
    runner = library.parent.parent / "tests/softcuda/softcuda_interpret_tests"
    if not runner.exists():
        pytest.skip(f"there is no {runner}")
    workshop = Workshop(tmp_path)
    programs = [Program(seed) for seed in range(500, 506)]
    files = launch_file.write(workshop, programs, tmp_path)
    ran = subprocess.run(
        [runner, library, *files],
        capture_output=True,
        text=True,
        env={**os.environ, "SOFTCUDA_ARCH": "90"},
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "6 files: 6 run as warp programs, 6 by the reference" in ran.stdout


def test_launch_files_expect_the_results_of_the_host(tmp_path):
    """softcuda_run_tests, which CMake builds, runs each file in one of the tiers, or in half of the variants."""
    cuda.init()
    library = pathlib.Path(cuda.get_driver_path()).resolve()
    runner = library.parent.parent / "tests/softcuda/softcuda_run_tests"
    if not runner.exists():
        pytest.skip(f"there is no {runner}")
    (file,) = launch_file.write(Workshop(tmp_path), [Program(500)], tmp_path)
    wrong = tmp_path / "wrong.ptx"
    right = re.search(r"^// EXPECT: out3 = (\d+)", file.read_text(), re.M)
    wrong.write_text(
        f"{file.read_text()[: right.start(1)]}{int(right[1]) ^ 1}{file.read_text()[right.end(1) :]}"
    )
    environment = {**os.environ, "SOFTCUDA_ARCH": "90"}
    for variants, path, status in (
        ("--one", file, 0),
        ("--half", file, 0),
        ("--one", wrong, 1),
        ("--half", wrong, 1),
    ):
        command = [runner, variants, "2", library, path]
        ran = subprocess.run(command, capture_output=True, text=True, env=environment)
        assert ran.returncode == status, ran.stdout + ran.stderr
    assert f"out3[0] is {right[1]}, expected {int(right[1]) ^ 1}" in ran.stdout


def test_same_seed_makes_the_same_program():
    assert Program(5).text() == Program(5).text()
    assert Program(5).text() != Program(6).text()


@pytest.mark.parametrize("seed", [267, 349])
def test_loops_that_wait_by_weak_loads_have_a_fence(seed):
    loops = re.findall(r"while \(.*__ldcv.*", Program(seed).text())
    assert loops
    assert all("__threadfence();" in loop for loop in loops), loops


def test_host_reports_dependence_on_the_order_of_threads(tmp_path):
    program = Program(1)
    program.body.nodes[1].parts.append("\nsums[50] = (u32)gid;")
    results = Workshop(tmp_path).host_results([program])
    if program.shape.threads * program.shape.blocks > 1:
        assert "order of threads" in results[0]


def test_host_reports_undefined_values(tmp_path):
    program = Program(1)
    program.shape.block = (16, 1, 1)
    program.body.nodes[-1].parts.append("\nsum += __shfl_sync(0xffffu, sum, 20);")
    assert "undefined value" in Workshop(tmp_path).host_results([program])[0]


class OneProgramDiffers(Workshop):
    """A workshop whose device computes one statement wrongly."""

    def device_compile(self, programs, driver):
        return None

    def device_results(self, programs, image, tier, patience=0):
        wrong = []
        for program, words in zip(programs, self.host_results(programs), strict=True):
            words = words.copy()
            if "wrong_here" in program.text():
                words[-1] ^= 1
            wrong.append(words)
        return wrong


@pytest.mark.slow
def test_reducer_keeps_only_the_difference(tmp_path):
    workshop = OneProgramDiffers(tmp_path)
    program = Program(8)
    program.body.nodes[-1].parts.append(" /* wrong_here */")
    small = Reducer(workshop, "regions", "out[0]: 1 of 8 words of out differ").reduce(
        program
    )
    assert "wrong_here" in small.text()
    assert len(small.text()) < len(program.text()) / 2
    assert workshop.compare([small], ["regions"]).differences
