"""Run the parts of the test suite and print a summary. ./test starts this program after the set-up.

    ./test                      all parts, without the tests that are marked slow
    ./test fast                 the parts layers, format, types, ctest and pytest
    ./test PART...              the named parts
    ./test PART OPTIONS...      one part, with options for its tool:  ./test ctest -R parser
    ./test PYTEST ARGUMENTS...  pytest alone:  ./test tests/python/driver/test_x.py -k name
    ./test fix                  format all sources; tests nothing

Parts: layers format types ctest pytest freethreaded asan tsan install wheel docs
       cross compiles and links softcuda for 64-bit ARM, and tests the code that depends on the processor in an emulator
       (on Debian).
       These parts run only if they are named:
       slow, the Python tests that are marked slow;
       coverage, the tests again, with the lines of C++ and of Python that they run;
       libraries, the tests of softcuda's cuBLAS and so on, with these libraries under AddressSanitizer;
       checked, the Python tests with softcuda's check modes: race, then mem and init;
       arm, the tests on 64-bit ARM in an emulator (docs/arm.md);
       sdist, a build with pip from the source distribution: compiles everything again

On two idle cores with a filled compiler cache: layers, format and types take 1 minute, ctest 3, pytest 19, and
freethreaded, install, wheel, docs and cross together 9. An empty cache adds the time to compile. asan and tsan compile
everything again.

Each part's full output goes to build/test-logs/PART.log as well.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import arm_tests
import sanitized

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
LOGS = BUILD / "test-logs"
FREE_THREADED_TESTS = [
    f"tests/python/driver/test_{name}.py"
    for name in ("free_threading", "threads", "launch", "arguments", "bound_launch")
]
CPP_SUFFIXES = {".h", ".cpp", ".cuh"}
CPP_FOLDERS = ("abi", "core", "softcuda", "python", "tests", "benchmarks", "examples")


@dataclass
class Outcome:
    """How many tests of a part passed, failed and were skipped."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(
            self.passed + other.passed,
            self.failed + other.failed,
            self.skipped + other.skipped,
        )

    def __str__(self) -> str:
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.passed} passed, {self.failed} failed{skipped}"


class Part:
    """One part while it runs: its log, and the commands that write to it.

    quiet: the output goes to the log alone, because another part runs at the same time.
    """

    def __init__(self, name: str, options: list[str], quiet: bool = False):
        self.name = name
        self.options = options
        self.quiet = quiet
        LOGS.mkdir(parents=True, exist_ok=True)
        self.log = (LOGS / f"{name}.log").open("w", encoding="utf-8")

    def run(self, *command: str | Path, **environment: str) -> int:
        """Run a command, shows and logs its output; returns its exit status."""
        words = [str(word) for word in command]
        self.show(f"$ {' '.join(words)}\n")
        process = subprocess.Popen(
            words,
            cwd=ROOT,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        assert process.stdout is not None
        for line in process.stdout:
            self.show(line)
        return process.wait()

    def check(self, *command: str | Path, **environment: str) -> Outcome:
        """A command that is one test: passed if its exit status is 0."""
        return (
            Outcome(passed=1)
            if self.run(*command, **environment) == 0
            else Outcome(failed=1)
        )

    def show(self, text: str) -> None:
        if not self.quiet:
            sys.stdout.write(text)
            sys.stdout.flush()
        self.log.write(text)

    def build(self, preset: str, *arguments: str) -> bool:
        return self.run(ROOT / "tools/build", preset, *arguments) == 0


def read_junit(path: Path, status: int) -> Outcome:
    """The counts of a JUnit file; a failure of the tool without a failed test counts as one."""
    outcome = Outcome()
    if path.exists():
        for case in ElementTree.parse(path).getroot().iter("testcase"):
            tags = {child.tag for child in case}
            if tags & {"failure", "error"} or case.get("status") == "fail":
                outcome.failed += 1
            elif "skipped" in tags or case.get("status") in ("notrun", "disabled"):
                outcome.skipped += 1
            else:
                outcome.passed += 1
    if status != 0 and outcome.failed == 0:
        outcome.failed = 1
    return outcome


def cpp_files() -> list[str]:
    """The C++ files that git tracks or does not ignore."""
    command = [
        "git",
        "ls-files",
        "--cached",
        "--others",
        "--exclude-standard",
        "--",
        *CPP_FOLDERS,
    ]
    names = subprocess.run(
        command, cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    files = [
        ROOT / name for name in names.splitlines() if Path(name).suffix in CPP_SUFFIXES
    ]
    return [str(file) for file in files if file.exists()]


def tool(name: str) -> str:
    """A program of the Python environment that runs this."""
    return str(Path(sys.executable).parent / name)


def layers(part: Part) -> Outcome:
    return part.check(sys.executable, "tools/check_layers.py")


def format_sources(part: Part) -> Outcome:
    """ruff's rules and formats; the log names each file that ./test fix would change."""
    outcome = part.check(tool("ruff"), "check")
    outcome += part.check(tool("ruff"), "format", "--check")
    if files := cpp_files():
        outcome += part.check(tool("clang-format"), "--dry-run", "-Werror", *files)
    return outcome


def types(part: Part) -> Outcome:
    """mypy on the stub and on a program that uses it; pyproject.toml lists the files."""
    if not part.build("release"):
        return Outcome(failed=1)
    return part.check(tool("mypy"), *part.options)


def fix_formats() -> int:
    status = subprocess.call([tool("ruff"), "check", "--fix"], cwd=ROOT)
    status |= subprocess.call([tool("ruff"), "format"], cwd=ROOT)
    if files := cpp_files():
        status |= subprocess.call([tool("clang-format"), "-i", *files], cwd=ROOT)
    return status


def run_ctest(
    part: Part,
    preset: str,
    *options: str,
    prefix: tuple[str, ...] = (),
    environment: dict[str, str] | None = None,
) -> Outcome:
    """The C++ tests of build/`preset`, started with `prefix` (another program's command)."""
    report = LOGS / f"{part.name}.xml"
    report.unlink(missing_ok=True)
    status = part.run(
        *prefix,
        *("ctest", "--test-dir", BUILD / preset, "--output-on-failure"),
        *("--output-junit", report, "--timeout", "900", "-j", str(os.cpu_count() or 2)),
        *options,
        *part.options,
        **(environment or {}),
    )
    return read_junit(report, status)


def ctest(part: Part) -> Outcome:
    if not part.build("release", "-DPYCUDA_TESTS=ON"):
        return Outcome(failed=1)
    return run_ctest(part, "release")


def pytest(part: Part) -> Outcome:
    return run_pytest(part, part.options or [*in_processes(), "-m", "not slow"])


def slow(part: Part) -> Outcome:
    """The tests marked slow: the same rules with more values, other projects' suites, waits of half a minute."""
    return run_pytest(part, [*in_processes(), "-m", "slow", *part.options])


def run_pytest(part: Part, options: list[str]) -> Outcome:
    # Through ./run, as a user starts a program: this tests ./run, too. `true` is no Python program, so the
    # libraries for programs other than those with pycuda are built, too.
    if part.run(ROOT / "run", "true") != 0:
        return Outcome(failed=1)
    outcome = Outcome()
    for driver in drivers():
        outcome += call_pytest(part, ROOT / "run", "-ra", *options, **driver)
    return outcome


def call_pytest(part: Part, *words: str | Path, **environment: str) -> Outcome:
    report = LOGS / f"{part.name}.xml"
    report.unlink(missing_ok=True)
    command = (words[0], "-m", "pytest", "-q", f"--junitxml={report}", *words[1:])
    status = part.run(*command, **environment)
    return read_junit(report, 0 if status == 5 else status)  # 5: none selected


def python_counts() -> dict[str, str]:
    """The settings for coverage.py, with an empty folder for its data."""
    data = LOGS / "python-coverage"
    shutil.rmtree(data, ignore_errors=True)
    data.mkdir()
    return {"COVERAGE_FILE": str(data / "lines")}


def show_python_lines(part: Part, settings: dict[str, str], *options: str) -> Outcome:
    measure = [sys.executable, "-m", "coverage"]
    outcome = part.check(*measure, "combine", "--quiet", **settings)
    return outcome + part.check(*measure, "report", *options, **settings)


def forget_cpp_lines(build: Path) -> None:
    for counts in build.rglob("*.gcda"):
        counts.unlink()


def show_cpp_lines(part: Part, build: Path) -> Outcome:
    return part.check(sys.executable, "tools/cpp_coverage.py", build)


def drivers() -> list[dict[str, str]]:
    """The settings of the runs of pytest: with a GPU, the tests run on softcuda as well.

    A PYCUDA_DRIVER in the environment selects one driver. Without libsoftcuda.so there is only the GPU.
    """
    softcuda = BUILD / "release/softcuda/libsoftcuda.so"
    if os.environ.get("PYCUDA_DRIVER") or not softcuda.exists():
        return [{}]
    ask = "import pycuda.driver as d; d.init(); print(d.get_driver_path())"
    found = subprocess.run(
        [ROOT / "run", "-c", ask],
        env={**os.environ, "PYCUDA_QUIET": "1"},
        stdout=subprocess.PIPE,
        text=True,
    )
    if found.returncode != 0 or "softcuda" in found.stdout:
        return [{}]
    return [{"PYCUDA_DRIVER": "softcuda"}, {"PYCUDA_DRIVER": "nvidia"}]


def freethreaded(part: Part) -> Outcome:
    """Tests of threads in a Python without a GIL, which tools/free_threaded_python downloads."""
    command = [ROOT / "tools/free_threaded_python"]
    found = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if found.returncode == 3:
        part.show(
            "skipped: there is no Python without a GIL and none can be obtained\n"
        )
        return Outcome(skipped=1)
    if found.returncode != 0:
        return Outcome(failed=1)
    python, build = found.stdout.strip(), BUILD / "freethreaded"
    steps = (
        [
            *("cmake", "-S", ROOT, "-B", build, "-G", "Ninja"),
            *("-DCMAKE_BUILD_TYPE=Release", "-DPYCUDA_SOFTCUDA=OFF"),
            f"-DPython_EXECUTABLE={python}",
        ],
        ["cmake", "--build", build, "--target", "runtime"],
    )
    if not part.build("release"):
        return Outcome(failed=1)
    if any(part.run(*step, **same_compiler()) for step in steps):
        return Outcome(failed=1)
    # softcuda does not depend on Python, and is already in the folder that this build searches.
    (build / "softcuda").unlink(missing_ok=True)
    (build / "softcuda").symlink_to("../release/softcuda")
    tests = part.options or FREE_THREADED_TESTS
    return call_pytest(part, python, "-ra", *tests, PYTHONPATH=str(build / "python"))


def in_processes() -> list[str]:
    """Options for as many processes as there are processors, if pytest-xdist is installed.

    The processes share kernels in the cache on disk. More than eight would mostly wait
    for memory and for the device's own threads.
    """
    count = min(len(os.sched_getaffinity(0)), 8)
    if count < 2 or not importlib.util.find_spec("xdist"):
        return []
    return ["-n", str(count), "--dist", "worksteal"]


def asan(part: Part) -> Outcome:
    """softcuda's tests under AddressSanitizer and UndefinedBehaviorSanitizer."""
    if not part.build("asan", "-DPYCUDA_TESTS=ON", "--", "tests/softcuda/all"):
        return Outcome(failed=1)
    # Excluded, because generated code has no sanitizer: the same tests again without a pass, and
    # many values for instructions that other tests compile.
    return run_ctest(part, "asan/tests/softcuda", "-LE", "again|values")


def tsan(part: Part) -> Outcome:
    """The tests labelled `threads` under ThreadSanitizer."""
    if not part.build("tsan", "-DPYCUDA_TESTS=ON", "--", "thread_tests"):
        return Outcome(failed=1)
    # Some kernels have a memory layout that GCC 12's runtime does not support.
    fixed = ("setarch", platform.machine(), "-R") if shutil.which("setarch") else ()
    return run_ctest(part, "tsan/tests/softcuda", "-L", "threads", prefix=fixed)


def libraries(part: Part) -> Outcome:
    """The Python tests of softcuda's cuBLAS and so on, with these libraries under sanitizers."""
    builds = ("release", "runtime"), (sanitized.PRESET, "softcuda_libraries")
    if not all(part.build(preset, "--", target) for preset, target in builds):
        return Outcome(failed=1)
    tests = part.options or sanitized.TESTS
    return call_pytest(part, sys.executable, *tests, **sanitized.environment())


def install(part: Part) -> Outcome:
    """Install libpycuda, then build and run C++ programs that use it only with find_package(): examples/cpp, and the
    programs of docs/cpp.md."""
    if not part.build("release", "-DPYCUDA_TESTS=ON"):
        return Outcome(failed=1)
    prefix, build = BUILD / "installed", BUILD / "install-test"
    for folder in (prefix, build):
        shutil.rmtree(folder, ignore_errors=True)
    steps = (
        [
            *("cmake", "--install", BUILD / "release"),
            *("--component", "development", "--prefix", prefix),
        ],
        [
            *("cmake", "-S", ROOT / "examples/cpp", "-B", build, "-G", "Ninja"),
            *("-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_PREFIX_PATH={prefix}"),
            f"-DPython_EXECUTABLE={sys.executable}",
        ],
        ["cmake", "--build", build],
    )
    for step in steps:
        if part.run(*step) != 0:
            return Outcome(failed=1)
    outcome = run_ctest(part, "install-test", environment=nvrtc_setting())
    page = (sys.executable, "tools/cpp_page.py", prefix, BUILD / "install-test-page")
    return outcome + part.check(*page, **nvrtc_setting())


def nvrtc_setting() -> dict[str, str]:
    """The folder in which a C++ program finds NVRTC: the wheel's, unless a toolkit is in use."""
    packages = Path(sysconfig.get_path("purelib"))
    if (packages / "nvidia/cu13").exists():
        return {"PYCUDA_NVRTC": str(packages)}
    return {}


def same_compiler() -> dict[str, str]:
    """The name of build/release's compiler: with another name, ccache finds no results."""
    cache = BUILD / "release/CMakeCache.txt"
    found = cache.exists() and re.search(
        r"^CMAKE_CXX_COMPILER:\w+=(.+)$", cache.read_text(), re.MULTILINE
    )
    return {"CXX": found[1]} if found else {}


def wheel(part: Part) -> Outcome:
    """The wheels of softcuda and, for this Python, of pycuda: built, checked, installed, tried."""
    # Kernels for one GPU: each takes a minute of processor time.
    return part.check(ROOT / "run", "tools/wheel", "--gpus", "90", *part.options)


def sdist(part: Part) -> Outcome:
    """pip builds both packages from the source distribution in an empty environment; a tutorial runs."""
    folder = BUILD / "sdist-test"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    make = (
        f"from scikit_build_core.build import build_sdist; build_sdist({str(folder)!r})"
    )
    if part.run(sys.executable, "-c", make) != 0:
        return Outcome(failed=1)
    (archive,) = folder.glob("pycuda-*.tar.gz")
    python = folder / "venv/bin/python"
    settings = {"PYTHONPATH": "", "PYCUDA_CACHE_DIR": str(folder / "cache")}
    settings |= same_compiler()
    outcome = Outcome(passed=1)
    for step in (
        [sys.executable, "-m", "venv", folder / "venv"],
        [
            *(python, "-m", "pip", "install", "-v", archive),
            f"softcuda @ {archive.as_uri()}#subdirectory=softcuda",
        ],
        [python, ROOT / "examples/tutorials/calculate_pi.py"],
    ):
        if part.run(*step, **settings) != 0:
            return outcome + Outcome(failed=1)
        outcome.passed += 1
    return outcome


def docs(part: Part) -> Outcome:
    """Make the site; a browser, if there is one, opens its pages."""
    outcome = part.check(ROOT / "run", "tools/docs_site.py", PYCUDA_DRIVER="softcuda")
    if outcome.failed:
        return outcome
    return outcome + part.check(sys.executable, "tools/check_site.py", *part.options)


def coverage(part: Part) -> Outcome:
    """The tests that are not slow, in a build with counters; the log ends with tables of the lines that they run.

    gcov counts the lines of core, softcuda and the Python module; coverage.py counts those of the package.
    With options, only pytest is started, with these options.
    """
    targets = ["--", "runtime"] if part.options else []
    if not part.build("coverage", "-DPYCUDA_TESTS=ON", *targets):
        return Outcome(failed=1)
    build = BUILD / "coverage"
    forget_cpp_lines(build)
    outcome = Outcome()
    if not part.options:
        outcome += run_ctest(part, "coverage", "-LE", "again")
    settings = python_counts() | {"PYTHONPATH": str(build / "python")}
    tests = part.options or [*in_processes(), "-m", "not slow"]
    measure = [sys.executable, "-m", "coverage", "run", "-m", "pytest", "-q", *tests]
    outcome += part.check(*measure, **settings)
    outcome += show_python_lines(part, settings, "--skip-covered", "--show-missing")
    return outcome + show_cpp_lines(part, build)


def checked(part: Part) -> Outcome:
    """The Python tests with softcuda's check modes: the package's and the tests' kernels have no findings."""
    outcome = Outcome()
    for modes in ("race", "mem,init"):
        tests = part.options or [*in_processes(), "-m", "not slow"]
        words = (ROOT / "run", f"--cuda-check={modes}", *tests)
        outcome += call_pytest(part, *words, PYCUDA_DRIVER="softcuda")
    return outcome


def cross(part: Part) -> Outcome:
    """softcuda for 64-bit ARM compiles and links; the tests of what depends on the processor."""
    system = platform.freedesktop_os_release()
    if (system["ID"], system.get("VERSION_ID")) != ("debian", "12"):
        part.show("tools/cross needs the packages of Debian 12\n")
        return Outcome(skipped=1)
    # Without optimisation: half of the compiler's time. ./test arm tests the optimised library.
    targets = ("softcuda", "softcuda_target_test")
    outcome = part.check(ROOT / "tools/cross", "aarch64-unoptimized", *targets)
    if outcome.failed:
        return outcome
    for processor in arm_tests.PROCESSORS:
        (test,) = arm_tests.target_test(processor, arm_tests.UNOPTIMIZED)
        outcome += part.check(*test.commands[0])
    return outcome


def arm(part: Part) -> Outcome:
    """Tests of softcuda and pycuda, compiled for 64-bit ARM, in the emulator; options are names of groups."""
    # For what runs here: the results of x86-64.
    if not part.build("release", "--", "runtime"):
        return Outcome(failed=1)
    if part.run(ROOT / "tools/cross", "aarch64", *arm_tests.TARGETS) != 0:
        return Outcome(failed=1)
    return Outcome(**arm_tests.run_all(arm_tests.all_tests(part.options), part.show))


PARTS: dict[str, Callable[[Part], Outcome]] = {
    "layers": layers,
    "format": format_sources,
    "types": types,
    "ctest": ctest,
    "pytest": pytest,
    "slow": slow,
    "freethreaded": freethreaded,
    "asan": asan,
    "tsan": tsan,
    "install": install,
    "wheel": wheel,
    "sdist": sdist,
    "docs": docs,
    "coverage": coverage,
    "checked": checked,
    "libraries": libraries,
    "cross": cross,
    "arm": arm,
}
ON_REQUEST = ("slow", "coverage", "checked", "libraries", "arm", "sdist")
FAST = ("layers", "format", "types", "ctest", "pytest")
#: Parts that keep one processor busy for a part of their time, or wait for downloads. Two of them run at the same time,
#: after the others and in this order. Their builds take turns.
TWO_AT_A_TIME = (
    *("asan", "freethreaded", "cross", "wheel", "tsan", "docs", "types", "install"),
)


def choose(arguments: list[str]) -> tuple[list[str], list[str]]:
    """The parts to run, and the options for them."""
    if not arguments:
        return [name for name in PARTS if name not in ON_REQUEST], []
    if arguments[0] == "fast":
        return list(FAST), arguments[1:]
    count = next(
        (i for i, word in enumerate(arguments) if word not in PARTS), len(arguments)
    )
    if count == 0:
        return ["pytest"], arguments
    return arguments[:count], arguments[count:]


def main(arguments: list[str]) -> int:
    if arguments == ["fix"]:
        return fix_formats()
    names, options = choose(arguments)
    if options and len(names) != 1:
        print(
            f"options ({' '.join(options)}) need exactly one part, not {' '.join(names)}"
        )
        return 2
    together = [name for name in TWO_AT_A_TIME if name in names]
    if len(together) < 2 or len(os.sched_getaffinity(0)) < 2:
        together = []
    total, summary = Outcome(), []

    def run(name: str) -> tuple[Outcome, float]:
        start = time.monotonic()
        part = Part(name, options, quiet=name in together)
        with part.log:
            outcome = PARTS[name](part)
        return outcome, time.monotonic() - start

    def report(name: str, outcome: Outcome, seconds: float) -> None:
        nonlocal total
        total += outcome
        summary.append(f"{name:12} {outcome!s:36} {seconds:6.1f} s")

    for name in names:
        if name not in together:
            print(f"\n=== {name}", flush=True)
            report(name, *run(name))
    if together:
        print(f"\n=== {', '.join(together)}: two at a time", flush=True)
    with ThreadPoolExecutor(2) as pool:
        for name, result in zip(together, pool.map(run, together), strict=True):
            print(f"\n=== {name}", flush=True)
            sys.stdout.write((LOGS / f"{name}.log").read_text(encoding="utf-8"))
            report(name, *result)
    print("\n" + "\n".join(summary))
    print(total)
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
