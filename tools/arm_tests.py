"""The tests that ./test arm runs: programs for 64-bit ARM in an emulator (docs/arm.md).

arm_tests.py prepare [GROUP...]     runs the part of the tests that needs this machine's build, and no emulator
arm_tests.py prepared [GROUP...]    runs the rest; neither a compiler nor a build for x86-64 is needed
arm_tests.py compare FILE FILE      whether two files of tests/recordings/check.py --write are equal
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/aarch64"
UNOPTIMIZED = ROOT / "build/aarch64-unoptimized"
SYSROOT = ROOT / "build/aarch64-sysroot"
PACKAGES = ROOT / "build/aarch64-python"
PYTHON = SYSROOT / "usr/bin/python3.11"
RESULTS = BUILD / "results"
LIBRARY = BUILD / "softcuda/libsoftcuda.so"
HOST_BUILD = ROOT / "build/release"
HOST_LIBRARY = HOST_BUILD / "softcuda/libsoftcuda.so"
TESTS = ROOT / "tests/softcuda"
CHECK = ROOT / "tests/recordings/check.py"

#: Programs of tests/softcuda, and what else must be built.
TEXT_TESTS = {
    "softcuda_ptx_tests": (["errors", TESTS / "errors"], ["parse", TESTS / "parse"]),
    "softcuda_ir_tests": ([TESTS / "passes", TESTS / "analyses", TESTS / "lower"],),
}
FAMILIES = ("integer", "logic", "float", "half", "convert", "approx")
TARGETS = (
    *("softcuda", "softcuda_target_test", "softcuda_run_tests"),
    *("softcuda_elementwise_test", *TEXT_TESTS, "runtime"),
)
#: The emulator's processors: all extensions, and nothing beyond ARMv8.0.
PROCESSORS = ("max", "cortex-a53")
#: LLVM in the emulator takes nearly all of the time: a kernel needs 1 to 30 seconds. So the processors share kernels.
#: On each of them, the elementwise tests take each N-th form of the operations. `max` tests code without extensions, too.
ELEMENTWISE_EVERY = {"max": 4, "cortex-a53": 16}
#: Into how many tests the kernels of tests/softcuda/run are divided: each process compiles slowly at first.
KERNEL_TESTS = 8


class Recordings(NamedTuple):
    """A list of recordings of an H200: into how many parts it is divided, and which of them run on each processor."""

    parts: int
    chosen: dict[str, range]


RECORDINGS = {
    "programs": Recordings(1, {"max": range(1), "cortex-a53": range(1)}),
    "matrices": Recordings(8, {"max": range(0, 8, 2), "cortex-a53": range(1, 2)}),
    "instructions": Recordings(
        12, {"max": range(0, 12, 2), "cortex-a53": range(1, 12, 2)}
    ),
    "random": Recordings(32, {"max": range(0, 32, 8), "cortex-a53": range(5, 32, 8)}),
}
#: The parts of random kernels run with these settings in turn, so that each processor compiles for all tiers.
RANDOM_KERNELS_RUN_IN = (
    {},
    {"SOFTCUDA_TIER": "fibers"},
    {"SOFTCUDA_TIER": "lanes"},
    {"SOFTCUDA_BLOCK_SHAPES": "0"},
)
#: Random programs of at most this many lines, written as PTX: 504 of these seeds make one. So many seeds are one test.
SEEDS, LINES, OF_ONE_TEST = 1824, 45, 76
#: Python's tests of kernels. A program in the emulator cannot start another one, so these start none. The files of a row
#: run in one process, because it takes 13 seconds of processor time to start one.
PYTHON_TESTS = {
    "functions and shared memory": (
        *("test_nan_bits", "test_divergent_loops", "test_shared_counts", "test_launch"),
        *("test_local_memory", "test_address_spaces", "test_random_flow"),
    ),
    # Each needs most of the addresses that a process in the emulator may have.
    "called functions": ("test_called_functions",),
    "barriers": ("test_barrier_in_function",),
    "dynamic parallelism": ("test_dynamic_parallelism",),
    "textures": ("test_textures",),
    "copies": ("test_hopper_copies", "test_hopper_tensors"),
    "arrays": ("test_cumath", "test_scan_kernel", "test_elementwise_strides"),
    "captures": ("test_captures",),
    "gallery": ("test_gallery",),
}
#: Of these files not what compiles or runs longest: beginnings of the names of tests.
PYTHON_LEFT_OUT = {
    "test_cumath": (
        *("test_functions[D-", "test_functions[d-a", "test_functions[d-sinh"),
        *("test_functions[d-cosh", "test_functions[d-tan", "test_functions[d-log10"),
        *(f"test_integers_give_numpys_types[{kind}]" for kind in "bBhHIQ"),
        "test_pairs[e]",
    ),
    "test_captures": ("test_a_captured_program_gives_the_same_results",),
    "test_gallery": ("test_mandelbrot", "test_life"),
}
TUTORIALS = ("doublify", "multiply_them", "manual_context", "calculate_pi")
ZLUDA = "tools/client_tests/test_zluda_ptx.py"
#: ZLUDA's tests that fail on x86-64, too (docs/clients.md).
ZLUDA_FAILS = (
    *("vector8_extract", "vote_ballot_nosync"),
    *("ldmatrix", "mma_m16n8k16_f32_bf16_bf16_f32_2x"),
)
#: What no test is for.
LEFT_OUT = (
    "the closed libraries, and programs that start other programs",
    "elementwise: three of four forms on max, 15 of 16 on cortex-a53",
    "kernels: in each tier either code for the block's shape or for all; on cortex-a53 seven of eight such combinations",
    "recordings: instructions of the other processor; three of eight parts of matrices; random kernels: 24 of 32 parts",
    "programs: seven of eight combinations of tier and block shape",
    "on cortex-a53: text, python, zluda, programs",
    "test_kernel_memory",
    *(f"{file}: {', '.join(names)}" for file, names in PYTHON_LEFT_OUT.items()),
)
NO_ZLUDA = "ZLUDA's values: CLIENT_CHECKOUT must name a checkout of vosen/ZLUDA"
#: Seconds of processor time for a command in the emulator, and seconds after which it must be a deadlock.
PATIENCE, DEADLOCK = 1200, 7200
#: Seconds of processor time for each core after which no test starts: other programs on the machine change nothing.
LIMIT = 3300


@dataclass(frozen=True)
class Case:
    """One test: commands that must all succeed, one after another.

    `preparations` come first. They need a build for x86-64, and leave files in RESULTS.
    """

    name: str
    commands: tuple[tuple[str, ...], ...]
    environment: dict[str, str] = field(default_factory=dict)
    preparations: tuple[tuple[str, ...], ...] = ()


def emulated(processor: str, program: Path, *arguments: str | Path) -> tuple[str, ...]:
    """The command that runs a program for ARM.

    The emulator visits each page of memory that is only reserved, so softcuda must not reserve terabytes.
    """
    limits = ["timeout", "-s", "KILL", DEADLOCK]
    limits += ["prlimit", "--as=12000000000", f"--cpu={PATIENCE}"]
    emulator = ["qemu-aarch64-static", "-cpu", processor, "-L", SYSROOT]
    return tuple(str(word) for word in (*limits, *emulator, program, *arguments))


def python(processor: str, *arguments: str | Path) -> tuple[str, ...]:
    """The command that runs Debian's Python for ARM, with its packages and the module."""
    path = f"PYTHONPATH={BUILD / 'python'}:{PACKAGES}"
    return "env", path, *emulated(processor, PYTHON, *arguments)


def pytest(processor: str, *arguments: str | Path) -> tuple[str, ...]:
    options = ("-m", "pytest", "-q", "-ra", "-p", "no:cacheprovider", "--timeout", "0")
    return python(processor, *options, *arguments)


def target_test(processor: str, build: Path = BUILD) -> Iterator[Case]:
    program = build / "tests/softcuda/softcuda_target_test"
    yield Case("target", (emulated(processor, program),))


def kernels(processor: str) -> Iterator[Case]:
    """The kernels of tests/softcuda/run: each in every tier, without extensions each in one of the tiers."""
    runner = BUILD / "tests/softcuda/softcuda_run_tests"
    variants = "--half" if processor == PROCESSORS[0] else "--one"
    files = sorted((TESTS / "run").glob("*.ptx"))
    for part in range(KERNEL_TESTS):
        command = emulated(
            processor, runner, variants, str(part), LIBRARY, *files[part::KERNEL_TESTS]
        )
        yield Case(f"kernels {part + 1} of {KERNEL_TESTS}", (command,))


def text_tests(processor: str) -> Iterator[Case]:
    for program, runs in TEXT_TESTS.items():
        for arguments in runs:
            command = emulated(
                processor, BUILD / "tests/softcuda" / program, *arguments
            )
            yield Case(f"{program} {arguments[0]}", (command,))


def elementwise(processor: str) -> Iterator[Case]:
    program = BUILD / "tests/softcuda/softcuda_elementwise_test"
    every = ("--every", str(ELEMENTWISE_EVERY[processor]))
    for family in FAMILIES:
        command = emulated(processor, program, *every, family)
        yield Case(f"elementwise {family}", (command,))


def recordings(processor: str) -> Iterator[Case]:
    """Equal to an H200 where the manual defines the bits, and equal to x86-64 in all bits.

    Neither comparison has the results of which two operands of type f64 are NaN (Instruction.repeatable_threads).

    The approximations are those of AVX2: AVX-512 starts from other estimates.
    """
    for what, (count, chosen) in RECORDINGS.items():
        for turn, part in enumerate(chosen[processor]):
            here, there = (
                RESULTS / f"{what}-{part}-{processor}{suffix}"
                for suffix in ("-host", "")
            )
            options = ["--every", count, "--first", part, what, "--write"]
            words = [str(word) for word in (CHECK, *options)]
            host = ("env", "SOFTCUDA_ISA=avx2", f"PYCUDA_DRIVER={HOST_LIBRARY}")
            yield Case(
                f"recordings {what} {part + 1} of {count}",
                (
                    python(processor, *words, there),
                    (sys.executable, __file__, "compare", str(here), str(there)),
                ),
                RANDOM_KERNELS_RUN_IN[turn % 4] if what == "random" else {},
                preparations=((*host, sys.executable, *words, str(here)),),
            )


def random_programs(processor: str) -> Iterator[Case]:
    """Programs that are compiled here; their results on ARM, each in one of the tiers, must be those of plain C++."""
    runner = BUILD / "tests/softcuda/softcuda_run_tests"
    for first in range(1, SEEDS + 1, OF_ONE_TEST):
        folder = RESULTS / f"random-programs-{first}"
        make = ["env", f"PYTHONPATH={HOST_BUILD / 'python'}", sys.executable]
        make += [ROOT / "tools/random_programs", "--seed", first]
        make += ["--count", OF_ONE_TEST, "--lines", LINES, "--write", folder]
        yield Case(
            f"random programs of seeds {first} to {first + OF_ONE_TEST - 1}",
            (emulated(processor, runner, "--one", str(first), LIBRARY, folder),),
            preparations=(tuple(map(str, make)),),
        )


def zluda(processor: str) -> Iterator[Case]:
    """ZLUDA's PTX tests with values, if the environment names a checkout."""
    if "CLIENT_CHECKOUT" not in os.environ:
        return
    left_out = [f"--deselect={ZLUDA}::test_kernel[{name}]" for name in ZLUDA_FAILS]
    settings = {"CLIENT_DRIVER": str(LIBRARY)}
    yield Case("zluda", (pytest(processor, *left_out, ZLUDA),), settings)


def with_python(processor: str) -> Iterator[Case]:
    settings = {
        "PYCUDA_CACHE_DIR": str(RESULTS / "cache"),
        # Not that of this machine, in /usr/local/cuda.
        "PYCUDA_NVRTC": str(PACKAGES / "nvidia/cu13/lib/libnvrtc.so.13"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    for name in TUTORIALS:
        command = python(processor, ROOT / f"examples/tutorials/{name}.py")
        yield Case(f"tutorial {name}", (command,), settings)
    for row, names in PYTHON_TESTS.items():
        files, left_out = [], []
        for name in names:
            (file,) = (ROOT / "tests/python").glob(f"*/{name}.py")
            files.append(file)
            left_out += [
                f"--deselect={file.relative_to(ROOT)}::{test}"
                for test in PYTHON_LEFT_OUT.get(name, ())
            ]
        command = pytest(processor, "-m", "not slow", *left_out, *files)
        yield Case(f"pytest {row}", (command,), settings)


#: In the order in which they start; the processor without extensions comes last.
GROUPS: dict[str, Callable[[str], Iterator[Case]]] = {
    "target": target_test,
    "text": text_tests,
    "kernels": kernels,
    "elementwise": elementwise,
    "python": with_python,
    "zluda": zluda,
    "recordings": recordings,
    "programs": random_programs,
}
#: For all tests.
ENVIRONMENT = {
    "PYCUDA_DRIVER": str(LIBRARY),
    "SOFTCUDA_ARCH": "90",
    "SOFTCUDA_DISABLE_CACHE": "1",
    # As many tests run at a time as there are cores, so a test needs few threads of its own.
    "SOFTCUDA_THREADS": "2",
    # The addresses that a test needs must not depend on the number of cores.
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",
}


def all_tests(names: list[str]) -> list[Case]:
    """The tests of the named groups, or of all, on both processors: first what the processors have in common."""
    unknown = set(names) - set(GROUPS)
    if unknown:
        raise SystemExit(
            f"./test arm: there is no {', '.join(sorted(unknown))}; there are {', '.join(GROUPS)}"
        )
    tests = []
    for processor in PROCESSORS:
        for name, group in GROUPS.items():
            # Generated code differs without extensions; the compiler's own tests do not.
            if (names and name not in names) or (
                processor != PROCESSORS[0]
                and name in ("text", "python", "zluda", "programs")
            ):
                continue
            for test in group(processor):
                full = f"{test.name} ({processor})"
                tests.append(replace(test, name=full))
    return tests


def run_command(
    command: tuple[str, ...], environment: dict[str, str]
) -> tuple[int, str, float]:
    """Its exit status, what it printed, and its seconds of processor time."""
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        child = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        return child.returncode, output.read(), usage.ru_utime + usage.ru_stime


class Result(NamedTuple):
    """What became of a test: "passed", "failed" or "skipped", what its commands printed, and their processor time."""

    test: Case
    state: str
    text: str
    seconds: float = 0.0


def run_one(test: Case, may_start: Callable[[], bool]) -> Result:
    if not may_start():
        return Result(test, "skipped", "the time is over")
    environment = {**os.environ, **ENVIRONMENT, **test.environment}
    seconds, printed = 0.0, ""
    for command in (*test.preparations, *test.commands):
        status, printed, used = run_command(command, environment)
        seconds += used
        if status != 0:
            text = f"$ {' '.join(command)}\n{printed}status {status}"
            return Result(test, "failed", text, seconds)
    last = (printed.strip().splitlines() or [""])[-1]
    text = f"{seconds:.0f} s of processor time; {last}"
    return Result(test, "passed", text, seconds)


def run_all(tests: list[Case], show: Callable[[str], None]) -> dict[str, int]:
    """Run the tests, two at a time on two cores; how many passed, failed and were skipped."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    cores = len(os.sched_getaffinity(0))
    used = 0.0

    def may_start() -> bool:
        return used < LIMIT * cores

    with ThreadPoolExecutor(cores) as pool:
        running = [pool.submit(run_one, test, may_start) for test in tests]
        for done in as_completed(running):
            test, state, text, seconds = done.result()
            counts[state] += 1
            used += seconds
            show(f"{state}: {test.name}: {text}\n")
    show(f"{used / 60:.1f} minutes of processor time\n")
    left_out = (
        *LEFT_OUT,
        *((NO_ZLUDA,) if "CLIENT_CHECKOUT" not in os.environ else ()),
    )
    for line in left_out:
        show(f"not run: {line}\n")
    return counts


def compare(first: Path, second: Path) -> int:
    one, other = (path.read_text().splitlines() for path in (first, second))
    different = [f"{a} | {b}" for a, b in zip(one, other, strict=False) if a != b]
    print("\n".join(different[:20]))
    print(
        f"{len(one)} and {len(other)} results of two builds compared, {len(different)} differ"
    )
    return 1 if different or not one or len(one) != len(other) else 0


def main(arguments: list[str]) -> int:
    match arguments:
        case ["compare", first, second]:
            return compare(Path(first), Path(second))
        case ["prepare", *names]:
            tests = [
                replace(test, commands=())
                for test in all_tests(names)
                if test.preparations
            ]
        case ["prepared", *names]:
            tests = [replace(test, preparations=()) for test in all_tests(names)]
        case _:
            raise SystemExit(__doc__)
    counts = run_all(tests, lambda text: print(text, end="", flush=True))
    print(", ".join(f"{count} {state}" for state, count in counts.items()))
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
