"""gdb stops in kernels, and shows a variable's value in each lane: python -m pycuda gdb."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import is_softcuda

pytestmark = [
    pytest.mark.skipif(not is_softcuda(), reason="kernels of softcuda run on the CPU"),
    pytest.mark.skipif(not shutil.which("gdb"), reason="gdb is not installed"),
]

KERNELS = """\
struct Pair { float first; int second[2]; };
enum Colour { Red, Green = 5 };
__device__ int table[4] = {10, 20, 30, 40};

__device__ int square(int value)
{
    int result = value * value; // LINE square
    return result; // LINE result
}

extern "C" __global__ void work(int *out, int n, Pair pair)
{
    __shared__ int tile[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int t = threadIdx.x;
    double half = i / 2.0; // LINE half
    bool even = i % 2 == 0;
    Colour colour = even ? Red : Green;
    short small = (short)-i;
    Pair copy = pair;
    copy.second[1] += i;
    tile[t] = i;
    __syncthreads();
    int other = tile[t ^ 1];
    if (t < 5) {
        other += 100; // LINE then
    } else {
        other += square(i); // LINE else
    }
    for (int k = 0; k < 3; ++k) {
        int twice = 2 * k;
        other += twice; // LINE loop
    }
    if (i < n)
        out[i] = other + (int)half + small + colour + copy.second[0]; // LINE end
}
"""

OTHER = """\
extern "C" __global__ void work(int *out)
{
    int mine = 7 * threadIdx.x;
    out[threadIdx.x] = mine; // LINE other
}
"""

PROGRAM = f"""
import sys
import struct
import threading
import numpy as np
import pycuda.autoinit
from pycuda import driver, gpuarray
from pycuda.compiler import SourceModule

def pair():
    kind = np.dtype([("first", np.float32), ("second", np.int32, 2)])
    return np.frombuffer(struct.pack("fii", 1.5, 7, 9), kind)[0]

def work(blocks=1, threads=40):
    module = SourceModule({KERNELS!r}, no_extern_c=True, options=OPTIONS)
    out = gpuarray.zeros(64, np.int32)
    module.get_function("work")(out, np.int32(64), pair(), block=(threads, 1, 1), grid=(blocks, 1))
    return out.get()

def other():
    module = SourceModule({OTHER!r}, no_extern_c=True)
    out = gpuarray.zeros(32, np.int32)
    module.get_function("work")(out, block=(32, 1, 1))
    driver.Context.synchronize()

OPTIONS = ["-G"] if "-G" in sys.argv else None
for name in sys.argv[1:]:
    if name in globals():
        print(name, globals()[name](), flush=True)
print("the end", flush=True)
"""


def line_of(name: str, source: str = KERNELS) -> int:
    return 1 + next(
        n for n, line in enumerate(source.splitlines()) if f"// LINE {name}" in line
    )


def gdb(
    program: Path, *commands: str, arguments: tuple[str, ...] = ("work",), **environment
) -> str:
    """What gdb and the program print."""
    words = [word for command in commands for word in ("--ex", command)]
    line = [sys.executable, "-m", "pycuda", "gdb", "--batch", *words]
    done = subprocess.run(
        [*line, str(program), *arguments],
        env={**os.environ, "SOFTCUDA_THREADS": "2", **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )
    return done.stdout + done.stderr


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


def lanes_in(text: str, name: str) -> list[str]:
    """The words of `cuda print name`, by lane."""
    if found := re.search(rf"^{re.escape(name)} = (\S+) in all lanes$", text, re.M):
        return [found[1]] * 32
    rows = text[text.index(f"{name} =\n") :].splitlines()[1:]
    words: list[str] = []
    for row in rows:
        if not row.startswith("  lane "):
            break
        assert int(row[7:].split(":")[0]) == len(words)
        words += row.split(":", 1)[1].split()
    return words


def in_parentheses(value: object) -> str:
    return f"({value})"


def test_a_breakpoint_at_a_line_stops_and_bt_names_the_kernel(program):
    line = line_of("half")
    text = gdb(program, f"break kernel.cu:{line}", "run", "bt", "list")
    assert f"Breakpoint 1 (kernel.cu:{line}) pending" in text
    assert re.search(rf"#0  work \(.*n=64.*\) at \S+/kernel\.cu:{line}$", text, re.M)
    assert "WarpScheduler" in text or "scu_begin_fiber" in text
    assert f"{line}\t    double half = i / 2.0;" in text


def test_a_variable_has_a_value_in_each_lane(program):
    text = gdb(
        program,
        f"break kernel.cu:{line_of('then')}",
        "run",
        *(f"cuda print {name}" for name in ("i", "t", "half", "even", "small")),
        *(f"cuda print {name}" for name in ("colour", "copy.second[1]", "other")),
        *("cuda print threadIdx.x", "cuda print ((int *)tile)[3]", "cuda print n"),
        "cuda print table[1]",
        "cuda print pair.first",
    )

    def shown(values) -> list[str]:  # lanes 0 to 4 are active
        return [
            str(v) if lane < 5 else in_parentheses(v) for lane, v in enumerate(values)
        ]

    lanes = range(32)
    assert lanes_in(text, "i") == shown(lanes)
    assert lanes_in(text, "t") == shown(lanes)
    assert lanes_in(text, "threadIdx.x") == shown(lanes)
    assert lanes_in(text, "half") == shown(f"{i / 2:g}" for i in lanes)
    assert lanes_in(text, "even") == shown(
        "true" if i % 2 == 0 else "false" for i in lanes
    )
    assert lanes_in(text, "small") == shown(-i for i in lanes)
    assert lanes_in(text, "colour") == shown("Green" if i % 2 else "Red" for i in lanes)
    assert lanes_in(text, "copy.second[1]") == shown(9 + i for i in lanes)
    assert lanes_in(text, "other") == shown(i ^ 1 for i in lanes)
    assert lanes_in(text, "((int *)tile)[3]") == ["3"] * 32
    assert lanes_in(text, "n") == ["64"] * 32
    assert lanes_in(text, "table[1]") == ["20"] * 32
    assert lanes_in(text, "pair.first") == ["1.5"] * 32


def test_after_a_divergent_branch_the_mask_is_that_of_the_side(program):
    text = gdb(
        program,
        f"break kernel.cu:{line_of('then')}",
        f"break kernel.cu:{line_of('else')}",
        f"break kernel.cu:{line_of('end')}",
        "run",
        *["continue"] * 5,
    )
    stops = re.findall(r"warp (\d): (\d+) of (\d+) lanes active, mask (0x\w+)", text)
    # Threads 0 to 39 in two warps; no thread of the second warp is below 5.
    assert sorted(stops) == [
        ("0", "27", "32", "0xffffffe0"),
        ("0", "32", "32", "0xffffffff"),
        ("0", "5", "32", "0x0000001f"),
        ("1", "8", "8", "0x000000ff"),
        ("1", "8", "8", "0x000000ff"),
    ]


def test_a_called_function_has_its_own_frame(program):
    text = gdb(
        program,
        f"break kernel.cu:{line_of('result')}",
        "run",
        "bt",
        "cuda print result",
        "up",
        "cuda print i",
        "info locals",
    )
    assert re.search(r"#0  square \(value=\d+\)", text)
    assert re.search(
        rf"#1  0x\w+ in work \(.*kernel\.cu:{line_of('else')}$", text, re.M
    )
    results = lanes_in(text, "result")
    places = lanes_in(text, "i")
    plain = [int(word.strip("()")) for word in places]
    active = [k for k, word in enumerate(results) if not word.startswith("(")]
    assert active and all(int(results[k]) == plain[k] ** 2 for k in active)


def test_loops_are_passed_line_by_line(program):
    text = gdb(
        program,
        f"break kernel.cu:{line_of('loop')}",
        "run",
        "print k",
        "next",
        "next",
        "next",
        "print k",
        "print twice",
        arguments=("work",),
        SOFTCUDA_THREADS="1",
    )
    assert re.search(r"^\$1 = 0$", text, re.M)
    assert re.search(r"^\$2 = 1$", text, re.M)


def test_the_chosen_lane_is_the_one_that_print_shows(program):
    text = gdb(
        program,
        f"break kernel.cu:{line_of('else')}",
        "run",
        "print threadIdx",
        "cuda lane 7",
        "print i - threadIdx.x",
        "print threadIdx.x",
        "print $lane()",
        "cuda lane 99",
        "cuda lanes",
    )
    assert "; lane 0 is not active]" in text or "warp 1" in text
    assert "lane 7, thread (" in text
    assert re.search(r"^\$2 = 0$", text, re.M)
    assert re.search(r"^\$4 = 7$", text, re.M)
    assert "there is no lane 99" in text
    assert re.search(r"^\* lane  7  thread \(\d+, 0, 0\)  active$", text, re.M)


def test_conditions_of_breakpoints_may_be_about_any_lane(program):
    text = gdb(
        program,
        f'break kernel.cu:{line_of("end")} if $any_lane("i == 37")',
        "run",
        "cuda block",
    )
    assert "warp 1: 8 of 8 lanes active" in text


def test_two_modules_are_distinguished(program):
    text = gdb(
        program,
        f"break kernel.cu:{line_of('other', OTHER)}",
        "run",
        "cuda print mine",
        "bt 1",
        arguments=("other", "work"),
    )
    assert lanes_in(text, "mine") == [str(7 * k) for k in range(32)]


def test_an_unloaded_module_leaves_the_debugger(program):
    """The list of objects, which begins in the third word of the descriptor, is empty then."""
    source = program.read_text().replace(
        'print("the end"', "gpuarray.zeros(4, np.int32).get(); print(os.getppid()"
    )
    program.write_text("import os\n" + source)
    first = "print ((unsigned long *)&__jit_debug_descriptor)[2] != 0"
    text = gdb(
        program,
        f"break kernel.cu:{line_of('other', OTHER)}",
        "run",
        first,
        "break getppid",
        "continue",
        first,
        arguments=("other",),
    )
    assert re.search(r"^\$1 = (1|true)$", text, re.M), text
    assert re.search(r"^\$2 = (0|false)$", text, re.M), text


def test_threads_that_launch_at_once_stop_at_their_lines(program):
    source = program.read_text().replace(
        "    if name in globals():",
        """    if name == "threads":
        def launch():
            context.push()
            work()
            context.pop()
        context = pycuda.autoinit.context
        threads = [threading.Thread(target=launch) for _ in range(3)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
    elif name in globals():""",
    )
    program.write_text(source)
    line = line_of("half")
    text = gdb(
        program,
        f"break kernel.cu:{line}",
        "run",
        *["continue"] * 6,
        arguments=("threads",),
    )
    # Three modules, each with a block of two warps.
    assert len(re.findall(rf"hit Breakpoint 1.*kernel\.cu:{line}$", text, re.M)) == 6
    assert "the end" in text


def test_code_that_replaces_unloaded_code_stops_too(program):
    line = line_of("half")
    text = gdb(
        program,
        f"break kernel.cu:{line}",
        "run",
        *["continue"] * 8,
        arguments=("work",) * 4,
    )
    # Each load makes a new module, which is unloaded before the next load.
    assert len(re.findall(rf"hit Breakpoint 1.*kernel\.cu:{line}$", text, re.M)) == 8
    assert "the end" in text


def test_all_threads_in_kernels_are_listed(program):
    source = program.read_text().replace("def work(blocks=1", "def work(blocks=8")
    program.write_text(source.replace("gpuarray.zeros(64", "gpuarray.zeros(640"))
    text = gdb(
        program,
        f"break kernel.cu:{line_of('half')}",
        "run",
        "continue",
        "continue",
        "cuda threads",
    )
    assert re.search(
        r"^\* thread \d+: work at kernel\.cu:\d+, block \(\d, 0, 0\), warp \d",
        text,
        re.M,
    )


def test_code_without_variables_has_lanes_and_parameters(program):
    """SOFTCUDA_DEBUG=1 alone: the compiler makes fast code with line information."""
    line = line_of("other", OTHER)
    source = program.read_text().replace(
        "import sys\n", "import os, sys\nos.environ.pop('PYCUDA_DEBUG_SOURCES')\n", 1
    )
    program.write_text(source)
    words = ["--all", "--ex", f"break kernel.cu:{line}", "--ex", "run"]
    words += ["--ex", "cuda print threadIdx.x", "--ex", "print param0 != 0"]
    done = subprocess.run(
        [sys.executable, "-m", "pycuda", "gdb", "--batch", *words, program, "other"],
        capture_output=True,
        text=True,
        timeout=300,
    )
    text = done.stdout
    assert lanes_in(text, "threadIdx.x") == [str(k) for k in range(32)], text
    assert re.search(r"^\$1 = true$", text, re.M)


def test_code_for_a_debugger_gives_the_same_results(program):
    def results(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, str(program), "work", *arguments],
            capture_output=True,
            text=True,
            check=True,
            timeout=300,
        )
        return done.stdout

    assert results("-G") == results()


def test_commands_outside_of_kernels_are_an_error(program):
    text = gdb(
        program, "cuda print i", "break main", "run", "cuda block", "cuda threads"
    )
    assert "does not run a kernel that was compiled for a debugger" in text
    assert "no thread is in a kernel" in text


def test_a_missing_gdb_is_named():
    done = subprocess.run(
        [sys.executable, "-m", "pycuda", "gdb", "--gdb", "no-such-gdb", "x.py"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert "there is no no-such-gdb" in done.stderr


def test_the_page(tmp_path):
    """The program of docs/debugging.md, and what the page shows of its lanes."""
    page = (Path(__file__).parents[3] / "docs" / "debugging.md").read_text()
    (source,) = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    path = tmp_path / "collatz.py"
    path.write_text(source + "print(out[26], out[96])\n")
    stop = re.search(r"\(gdb\) (break .*)", page)[1]
    text = gdb(
        *(path, stop, "run", "cuda print value", "delete", "continue"),
        arguments=(),
        SOFTCUDA_THREADS="1",
    )
    shown = re.sub("^    ", "", page[page.index("    value =\n") :], flags=re.M)
    assert lanes_in(text, "value") == lanes_in(shown, "value")
    assert "111 118" in text  # as known for 27 and 97
