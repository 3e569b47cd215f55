"""tools/run_tests.py: every failure must appear in the last line."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent.parent / "tools"))

import run_tests
from run_tests import Outcome


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], ([p for p in run_tests.PARTS if p not in run_tests.ON_REQUEST], [])),
        (["fast"], (list(run_tests.FAST), [])),
        (["asan", "tsan"], (["asan", "tsan"], [])),
        (["ctest", "-R", "parser"], (["ctest"], ["-R", "parser"])),
        (["tests/x.py", "-k", "name"], (["pytest"], ["tests/x.py", "-k", "name"])),
    ],
)
def test_choice_of_parts(arguments, expected):
    assert run_tests.choose(arguments) == expected


def test_options_for_several_parts_are_an_error(capsys):
    assert run_tests.main(["asan", "tsan", "-R", "x"]) == 2
    assert "need exactly one part" in capsys.readouterr().out


CTEST = """<testsuite>
<testcase name="a" status="run"/>
<testcase name="b" status="fail"><failure message=""/></testcase>
<testcase name="c" status="notrun"><skipped message=""/></testcase>
</testsuite>"""

PYTEST = """<testsuites><testsuite>
<testcase name="a"/>
<testcase name="b"><failure message="x"/></testcase>
<testcase name="c"><error message="x"/></testcase>
<testcase name="d"><skipped message="x"/></testcase>
</testsuite></testsuites>"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (CTEST, Outcome(passed=1, failed=1, skipped=1)),
        (PYTEST, Outcome(passed=1, failed=2, skipped=1)),
    ],
)
def test_counts_of_a_junit_file(tmp_path, text, expected):
    path = tmp_path / "report.xml"
    path.write_text(text)
    assert run_tests.read_junit(path, 1) == expected


def test_tool_that_fails_without_a_failed_test_counts(tmp_path):
    path = tmp_path / "report.xml"
    assert run_tests.read_junit(path, 1) == Outcome(failed=1)
    path.write_text('<testsuite><testcase name="a" status="run"/></testsuite>')
    assert run_tests.read_junit(path, 139) == Outcome(passed=1, failed=1)


def test_exit_status_and_closing_line(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(run_tests, "LOGS", tmp_path)
    good, bad = Outcome(passed=3, skipped=1), Outcome(passed=1, failed=1)
    monkeypatch.setattr(
        run_tests, "PARTS", {"one": lambda part: good, "two": lambda part: bad}
    )
    assert run_tests.main(["one"]) == 0
    assert run_tests.main(["one", "two"]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "4 passed, 1 failed, 1 skipped"


def test_command_that_fails_is_a_failed_test(monkeypatch, tmp_path, capfd):
    monkeypatch.setattr(run_tests, "LOGS", tmp_path)
    part = run_tests.Part("part", [])
    assert part.check("true") == Outcome(passed=1)
    assert part.check("sh", "-c", "echo said; exit 3") == Outcome(failed=1)
    assert "said" in capfd.readouterr().out


def test_cross_links_before_it_runs_tests(monkeypatch, tmp_path):
    monkeypatch.setattr(run_tests, "LOGS", tmp_path)
    monkeypatch.setattr(
        run_tests.platform,
        "freedesktop_os_release",
        lambda: {"ID": "debian", "VERSION_ID": "12"},
    )
    ran = []
    monkeypatch.setattr(
        run_tests.Part, "run", lambda part, *command: ran.append(command) or status
    )
    status = 1
    assert run_tests.cross(run_tests.Part("cross", [])) == Outcome(failed=1)
    assert len(ran) == 1
    status = 0
    assert run_tests.cross(run_tests.Part("cross", [])) == Outcome(passed=3)
    assert ran[1] == ran[0]
    program = str(
        run_tests.BUILD / "aarch64-unoptimized/tests/softcuda/softcuda_target_test"
    )
    assert [command[-1] for command in ran[2:]] == [program] * 2


def test_arm_names_what_the_time_did_not_allow(monkeypatch, tmp_path, capfd):
    monkeypatch.setattr(run_tests, "LOGS", tmp_path)
    monkeypatch.setattr(run_tests.arm_tests, "LIMIT", 0)
    monkeypatch.setattr(run_tests.arm_tests, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(run_tests.Part, "run", lambda part, *command: 0)
    outcome = run_tests.arm(run_tests.Part("arm", []))
    assert outcome.skipped > 0 and outcome.passed == outcome.failed == 0
    lines = capfd.readouterr().out.splitlines()
    assert outcome.skipped == sum(line.startswith("skipped: ") for line in lines)
    assert any("kernels 1 of 8 (max)" in line for line in lines)
    left_out = [line for line in lines if line.startswith("not run: ")]
    assert any("closed libraries" in line for line in left_out)


@pytest.mark.parametrize(
    ("library", "chosen", "printed", "expected"),
    [
        ("libsoftcuda.so", "", "libcuda.so.1", ["softcuda", "nvidia"]),
        ("libsoftcuda.so", "", "/x/softcuda/libsoftcuda.so", [None]),
        ("libsoftcuda.so", "nvidia", "libcuda.so.1", [None]),
        ("libother.so", "", "libcuda.so.1", [None]),
    ],
    ids=["GPU", "no GPU", "a driver is chosen", "built without softcuda"],
)
def test_with_a_gpu_the_tests_run_on_softcuda_as_well(
    monkeypatch, tmp_path, library, chosen, printed, expected
):
    folder = tmp_path / "build/release/softcuda"
    folder.mkdir(parents=True)
    (folder / library).touch()
    (tmp_path / "run").write_text(f"#!/bin/sh\necho {printed}\n")
    (tmp_path / "run").chmod(0o755)
    monkeypatch.setattr(run_tests, "ROOT", tmp_path)
    monkeypatch.setattr(run_tests, "BUILD", tmp_path / "build")
    monkeypatch.setenv("PYCUDA_DRIVER", chosen)
    assert [one.get("PYCUDA_DRIVER") for one in run_tests.drivers()] == expected
