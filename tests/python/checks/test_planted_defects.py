"""Programs with planted defects, and correct ones, under softcuda's check modes.

tests/checks has the programs; `tools/planted_defects` prints the same as a table.
"""

import pathlib
import re
import sys

import pytest
from conftest import is_softcuda

from pycuda import compiler
from softcuda._findings import KINDS as OUR_KINDS
from softcuda._findings import parse_dicts

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent))

from checks import sanitizer  # noqa: E402
from checks.execute import OPTIONS, Server  # noqa: E402
from checks.program import (  # noqa: E402
    KINDS,
    MODES,
    FormatError,
    Seen,
    compare,
    programs,
    read,
)

PLANTED = programs(*MODES)
CLEAN = programs("clean")


def name_of(program):
    return program.name


@pytest.fixture(scope="module")
def server():
    if not is_softcuda():
        pytest.skip("only softcuda has check modes")
    with Server(PYCUDA_DRIVER="softcuda") as server:
        yield server


def check(server, program, modes):
    """The findings of these modes in a program, by its lines."""
    result = server.run(program, modes)
    assert "broken" not in result, result["broken"]
    seen = []
    for finding in parse_dicts(result["findings"]):
        lines = [
            access.line
            for access in finding.accesses
            if pathlib.PurePath(access.file).name == program.path.name
        ]
        seen.append(Seen(finding.mode, finding.kind, frozenset(lines)))
    return seen


@pytest.mark.parametrize("program", PLANTED, ids=name_of)
def test_planted_defect_is_found(server, program):
    verdict = compare(program, [program.mode], check(server, program, [program.mode]))
    assert verdict, str(verdict)


# The code for one mode differs from that for all modes: sync alone needs warps as fibers, for example. Programs take
# turns with the single modes.
@pytest.mark.parametrize("number", range(len(CLEAN)), ids=lambda i: name_of(CLEAN[i]))
def test_nothing_is_found_in_a_correct_program(server, number):
    program, alone = CLEAN[number], MODES[number % len(MODES)]
    result = server.run(program)
    assert "broken" not in result, result["broken"]
    assert result["error"] == ""
    for modes in (MODES, (alone,)):
        assert [str(seen) for seen in check(server, program, modes)] == [], modes


def test_there_are_enough_programs():
    for mode in MODES:
        assert sum(program.mode == mode for program in PLANTED) >= 30
    assert len(CLEAN) >= 30
    assert {kind: set(names) for kind, names in OUR_KINDS.items()} == KINDS
    # A leak is found when the process ends and has no line of a kernel; test_check.py tests it.
    planted = {kind for p in PLANTED for f in p.findings for kind in f.kind.split("|")}
    assert planted == set().union(*KINDS.values()) - {"leak"}


# The instructions that a finding of a mode is about.
ACCESSES = {
    "mem": "ld|st|atom|red|cp",
    "race": "ld|st|atom|red|cp",
    "init": "ld|atom|red",
    "sync": "bar|barrier|shfl|vote|match|redux|ld|st|atom|red|call",
}


def lines_with_accesses(ptx, file, mode):
    """The lines of `file` with PTX instructions that a mode checks.

    An instruction of an inlined function also has the lines of the calls at which it was inlined.
    """
    numbers = dict(re.findall(r'\.file\s+(\d+)\s+"(?:[^"]*/)?([^"/]*)"', ptx))
    callers, now, lines = {}, None, set()
    for line in ptx.splitlines():
        location = re.match(r"\s*\.loc\s+(\d+ \d+ \d+)", line.replace("\t", " "))
        if location:
            now = location[1]
            inlined = re.search(r"inlined_at (\d+ \d+ \d+)", line)
            if inlined:
                callers[now] = inlined[1]
        elif now and re.search(rf"\b({ACCESSES[mode]})\.", line):
            place, depth = now, 0
            while place and depth < 20:
                number, at, _ = place.split()
                if numbers.get(number) == file:
                    lines.add(int(at))
                place, depth = callers.get(place), depth + 1
    return lines


@pytest.mark.parametrize("program", PLANTED, ids=name_of)
def test_compiler_keeps_the_defect(program):
    """A defect that NVRTC optimises away cannot be found by any tool."""
    ptx = compiler.compile(
        program.numbered_source(),
        nvcc="nvrtc",
        options=OPTIONS,
        arch="sm_90",
        target="ptx",
        no_extern_c='extern "C"' in program.source,
    ).decode()
    for finding in program.findings:
        if finding.required and finding.kind not in ("double-free", "invalid-free"):
            kept = lines_with_accesses(ptx, program.path.name, finding.mode)
            assert finding.lines <= kept, str(finding)


def write(folder, text):
    path = folder / "mem" / "program.cu"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    "text, why",
    [
        ("// LAUNCH f<<<1, 1>>>()\n", "no finding of mode mem"),
        ("f(); // FINDS mem null\n", "no LAUNCH"),
        ("// LAUNCH f<<<1>>>\n", "expected KERNEL"),
        ("// ARRAY a floot[3]\n", "unknown type"),
        ("// ARRAY a float[3] = twos\n", "could not convert"),
        ("f(); // FINDS mem read-after-write\n", "no finding"),
        (
            "// LAUNCH f<<<1, 1>>>()\n// FINDS mem null\n"
            + "f(); // FINDS race write-after-write\n" * 3,
            "#tags",
        ),
    ],
)
def test_unreadable_programs_are_an_error(tmp_path, text, why):
    with pytest.raises(FormatError, match=why):
        read(write(tmp_path, text))


def test_comparing_finds_missed_and_additional_findings(tmp_path):
    program = read(
        write(
            tmp_path,
            "// LAUNCH f<<<1, 1>>>()\n"
            "a = b; // FINDS mem out-of-bounds; FINDS race read-after-write\n"
            "b = a; // FINDS race read-after-write\n",
        )
    )
    right = Seen("race", "write-after-read", frozenset({2, 3}))
    assert compare(program, ["race"], [right])
    assert not compare(program, ["race"], [])
    assert not compare(program, ["race"], [right, Seen("race", "x", frozenset({2, 3}))])
    assert not compare(program, ["race"], [Seen("race", right.kind, frozenset({2}))])
    assert compare(program, ["mem"], [Seen("mem", "out-of-bounds", frozenset({2}))])
    assert not compare(program, ["mem"], [Seen("mem", "out-of-bounds", frozenset({4}))])
    assert not compare(program, ["mem"], [Seen("mem", "null", frozenset({2}))])


MEMCHECK = """\
========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at fill(int *, int)+0x90 in /tmp/one_too_far.cu:6
=========     by thread (4,0,0) in block (0,0,0)
=========     Address 0x7f0 is out of bounds
=========     Saved host backtrace up to driver entry point at kernel launch time
=========         Host Frame: main in one_too_far.cu:99
=========
========= Invalid __shared__ read of size 16 bytes
=========     at fill(int *, int)+0x90 in one_too_far.cu:7
=========     Address 0x4 is misaligned
========= ERROR SUMMARY: 2 errors
"""
RACECHECK = """\
========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at f(int *)+0xd0 in one_too_far.cu:6
=========     and Read access at f(int *)+0x130 in one_too_far.cu:7 [64 hazards]
=========
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
"""


def test_compute_sanitizer_is_read():
    program = next(p for p in PLANTED if p.name == "mem/one_too_far")
    assert sanitizer.read_messages(MEMCHECK, "mem", program) == [
        Seen("mem", "out-of-bounds", frozenset({6})),
        Seen("mem", "misaligned", frozenset({7})),
    ]
    assert sanitizer.read_messages(RACECHECK, "race", program) == [
        Seen("race", "read-after-write", frozenset({6, 7}))
    ]
