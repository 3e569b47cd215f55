"""Findings as Python objects and as text, without a driver."""

import json

import pytest

from pycuda import _check_command
from softcuda import _checked_run, _findings

TEXT = json.dumps(
    {
        "modes": ["race", "mem"],
        "findings": [
            {
                "mode": "race",
                "kind": "read-after-write",
                "kernel": "reverse",
                "count": 12,
                "space": "shared",
                "array": "shared variable `tile` (1024 bytes)",
                "text": "race: read-after-write in shared memory, 30 times\n    kernel.cu:5: write\n",
                "accesses": [
                    {
                        "what": "write",
                        "file": "kernel.cu",
                        "line": 5,
                        "block": [0, 0, 0],
                        "thread": [3, 0, 0],
                        "bytes": 4,
                    },
                    {
                        "what": "read",
                        "file": "kernel.cu",
                        "line": 6,
                        "block": [0, 0, 0],
                        "thread": [252, 0, 0],
                        "bytes": 4,
                    },
                ],
            },
            {
                "mode": "mem",
                "kind": "out-of-bounds",
                "kernel": "fill",
                "count": 1,
                "space": "global",
                "array": "",
                "text": "",
                "accesses": [
                    {
                        "what": "write",
                        "file": "kernel.cu",
                        "line": 9,
                        "block": [1, 0, 0],
                        "thread": [0, 2, 0],
                        "bytes": 8,
                    }
                ],
            },
        ],
    }
)


def test_parse():
    race, outside = _findings.parse(TEXT)
    assert (race.mode, race.kind, race.kernel, race.count) == (
        "race",
        "read-after-write",
        "reverse",
        12,
    )
    assert race.accesses[1].thread == (252, 0, 0) and race.accesses[0].line == 5
    assert str(race).endswith("kernel.cu:5: write\n")
    assert (
        str(outside)
        == "write of 8 bytes at kernel.cu:9 by thread (0, 2, 0) of block (1, 0, 0)"
    )
    assert _findings.parse(_findings.as_json(["race"], [race, outside])) == [
        race,
        outside,
    ]


def test_terms_are_those_of_compute_sanitizer():
    race, outside = _findings.parse(TEXT)
    assert race.term == "Race reported between Write access and Read access"
    assert outside.term == "Invalid __global__ write of size 8 bytes"


@pytest.mark.parametrize("mode", _findings.KINDS)
def test_each_kind_has_a_term(mode):
    race, _ = _findings.parse(TEXT)
    for kind in _findings.KINDS[mode]:
        assert _findings.replace(race, mode=mode, kind=kind).term


def test_a_race_in_global_memory_has_no_term():
    race, _ = _findings.parse(TEXT)
    assert _findings.replace(race, space="global").term == ""


def test_report_is_by_mode_and_without_colours():
    findings = _findings.parse(TEXT)
    text = _findings.report(findings)
    assert text.index("Invalid use of memory (mem)") < text.index("Races (race)")
    assert "read-after-write in kernel reverse, 12 times  [Race reported" in text
    assert "\n    kernel.cu:5: write\n" in text and "30 times" not in text
    assert "out-of-bounds in kernel fill, once" in text
    assert text.endswith("2 findings") and "\x1b" not in text
    assert "\x1b[31mread-after-write\x1b[0m" in _findings.report(findings, colour=True)
    assert _findings.report([]) == "0 findings"


def test_since_and_merge():
    race, outside = _findings.parse(TEXT)
    more = _findings.replace(race, count=15, text="other")
    assert _findings.since([more, outside], [race]) == [
        _findings.replace(more, count=3),
        outside,
    ]
    assert _findings.since([race], [race]) == []
    assert _findings.merge([[race], [outside, more]]) == [
        _findings.replace(race, count=27),
        outside,
    ]


def test_modes_of_a_command_line():
    assert _checked_run.modes_in("sync,mem") == ("mem", "sync")
    assert _checked_run.modes_in("all") == ("mem", "race", "init", "sync")
    for wrong in ("", "memory", "mem,,race", "mem race"):
        with pytest.raises(ValueError, match="expected mem, race, init, sync or all"):
            _checked_run.modes_in(wrong)


def test_commands_of_python_files_are_run_by_this_python():
    command = _check_command.command_of
    assert command(["a.py", "1"])[1:] == ["a.py", "1"]
    assert command(["-m", "a"])[1:] == ["-m", "a"]
    assert command(["./a.out", "-m"]) == ["./a.out", "-m"]
