"""What ./test arm runs, without an emulator: the lists of its tests, and what becomes of their commands."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import arm_tests  # noqa: E402
from arm_tests import Case, run_one  # noqa: E402


def always():
    return True


def test_each_kernel_runs_on_both_processors():
    tests = arm_tests.all_tests(["kernels"])
    files = sorted(map(str, (ROOT / "tests/softcuda/run").glob("*.ptx")))
    assert len(files) > 50
    for processor, variants in (("max", "--half"), ("cortex-a53", "--one")):
        commands = [
            test.commands[0] for test in tests if test.name.endswith(f"({processor})")
        ]
        assert {variants in command for command in commands} == {True}
        run = [
            word for command in commands for word in command if word.endswith(".ptx")
        ]
        assert sorted(run) == files


def test_results_of_this_processor_are_compared_with_those_of_the_emulator():
    tests = arm_tests.all_tests(["recordings"])
    assert len(tests) == sum(
        len(chosen)
        for _, parts in arm_tests.RECORDINGS.values()
        for chosen in parts.values()
    )
    for test in tests:
        (host,) = test.preparations
        assert f"PYCUDA_DRIVER={arm_tests.HOST_LIBRARY}" in host
        # The file that x86-64 writes is the first of those that are compared.
        assert test.commands[-1][-2] == host[-1]


def test_all_recorded_instructions_run_on_one_of_the_processors():
    count, chosen = arm_tests.RECORDINGS["instructions"]
    assert sorted(part for parts in chosen.values() for part in parts) == [
        *range(count)
    ]


def test_preparations_alone_need_no_emulator_and_the_rest_no_build_for_this_processor():
    for test in arm_tests.all_tests([]):
        assert not [
            word for command in test.preparations for word in command if "qemu" in word
        ]
        words = [word for command in test.commands for word in command]
        assert not [word for word in words if str(arm_tests.HOST_BUILD) in word]


def test_preparations_are_the_first_commands_of_a_test():
    failing = Case("t", (("echo", "no"),), preparations=(("sh", "-c", "exit 4"),))
    _, state, text, _ = run_one(failing, always)
    assert state == "failed" and text.endswith("status 4")
    passing = Case("t", (("echo", "two"),), preparations=(("echo", "one"),))
    assert run_one(passing, always).text.endswith("two")


def test_the_named_files_are_there():
    names = [name for row in arm_tests.PYTHON_TESTS.values() for name in row]
    assert set(arm_tests.PYTHON_LEFT_OUT) <= set(names)
    for name in names:
        (file,) = (ROOT / "tests/python").glob(f"*/{name}.py")
        text = file.read_text()
        assert not re.search("subprocess|sys.executable", text), name
    for name in arm_tests.TUTORIALS:
        assert (ROOT / f"examples/tutorials/{name}.py").exists(), name
    page = (ROOT / "docs/arm.md").read_text()
    assert all(f"| `{group}` |" in page for group in arm_tests.GROUPS)


def test_an_unknown_group_is_named():
    with pytest.raises(SystemExit, match="there is no kernel; there are target, text"):
        arm_tests.all_tests(["kernel"])


def test_a_failed_command_ends_its_test():
    test = Case(
        "t", (("echo", "one"), ("sh", "-c", "echo two; exit 3"), ("echo", "no"))
    )
    _, state, text, _ = run_one(test, always)
    assert state == "failed" and text.endswith("two\nstatus 3") and "no" not in text


def test_a_passed_test_shows_its_last_line_and_its_settings_hold():
    command = ("sh", "-c", "echo first; echo $SETTING $SOFTCUDA_ARCH")
    _, state, text, _ = run_one(Case("t", (command,), {"SETTING": "yes"}), always)
    assert state == "passed" and text == "0 s of processor time; yes 90"


def test_processor_time_is_that_of_all_processes_of_all_commands():
    spin = "import time\nwhile time.process_time() < 0.8: pass"
    command = ("sh", "-c", f"{sys.executable} -c '{spin}'; true")
    _, state, text, seconds = run_one(Case("t", (command, command)), always)
    assert state == "passed" and int(text.split()[0]) >= 1 and seconds > 1.5


def test_nothing_starts_when_the_processor_time_is_used(monkeypatch, tmp_path):
    spin = "import time\nwhile time.process_time() < 0.3: pass"
    tests = [Case(f"t{i}", ((sys.executable, "-c", spin),)) for i in range(9)]
    monkeypatch.setattr(arm_tests, "LIMIT", 0.1)
    monkeypatch.setattr(arm_tests, "RESULTS", tmp_path)
    monkeypatch.setattr(arm_tests.os, "sched_getaffinity", lambda process: {0})
    shown = []
    counts = arm_tests.run_all(tests, shown.append)
    # The worker may take the next test before the first one is counted.
    assert 1 <= counts["passed"] <= 2 and counts["passed"] + counts["skipped"] == 9
    assert any(
        re.fullmatch(r"0\.\d minutes of processor time\n", line) for line in shown
    )


@pytest.mark.parametrize(
    ("second", "status", "shown"),
    [
        ("a : 1\nb : 2\n", 0, "2 and 2 results of two builds compared, 0 differ"),
        ("a : 1\nb : 3\n", 1, "b : 2 | b : 3"),
        ("a : 1\n", 1, "2 and 1 results"),
    ],
)
def test_results_of_two_builds_are_compared(tmp_path, second, status, shown):
    files = tmp_path / "here", tmp_path / "there"
    files[0].write_text("a : 1\nb : 2\n")
    files[1].write_text(second)
    command = [sys.executable, ROOT / "tools/arm_tests.py", "compare", *files]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == status and shown in done.stdout + done.stderr
