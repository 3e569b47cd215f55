"""Collections of programs that nvcc compiles: each one is built, run on softcuda, and checked by itself.

``tools/clients NAME --checkout FOLDER`` calls ``run_collection()``. The tables in tools/client_programs say
which programs run, with which arguments, and why others are excluded.

A program is copied to build/clients/NAME and built there. A file next to the copy has a hash of the sources, of
nvcc's version and of the commands, so that a second run compiles only programs that changed.
"""

from __future__ import annotations

import fnmatch
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import tomllib

ROOT = Path(__file__).resolve().parent.parent
TABLES = ROOT / "tools" / "client_programs"
BUILD_LIMIT = 300  # seconds of processor time for the compilation of one program
WAITS_FOR_PROCESSOR = 20  # a process may take this many times its limit on the clock
SOURCES = (".cu", ".cuh", ".cpp", ".c", ".h", ".hpp")
PTX_ALONE = "-arch=compute_80"


@dataclass(frozen=True)
class Collection:
    """The common properties of a checkout's programs."""

    table: str
    folders: str  # the programs' lists of sources, or their only sources: a pattern in the checkout
    name: str  # the program's name, as a part of the name of its folder or of its only source
    fails: str  # output with which a program reports that its check failed
    passes: str = ""  # output that means success; empty: the exit status decides
    includes: tuple[str, ...] = ()  # folders of the checkout
    options: tuple[str, ...] = ()  # for nvcc
    makes: bool = False  # built by its own makefile, not by one call of nvcc
    skipped_status: int | None = None  # means that the program needs another device
    result: str = ""  # a file that a run writes
    wanted: str = ""  # a file of the checkout that must have the same bytes


COLLECTIONS = {
    # NVIDIA's own run_tests.py uses only the exit status, and 2 is "waived".
    "cuda-samples": Collection(
        "cuda-samples.toml",
        "Samples/[0-6]_*/*/CMakeLists.txt",
        r"(.*)",
        r"\bFAIL(ED|URE)?\b|\b[Tt]est failed|CUDA error(?! message)",
        includes=("Common", "Common/UtilNPP"),
        skipped_status=2,
    ),
    "hecbench": Collection(
        "hecbench.toml",
        "src/*-cuda/Makefile",
        r"(.*)-cuda",
        r"\bFAIL(ED|URE)?\b|CUDA error(?! message)",
        passes=r"\bPASS(ED)?\b",
        makes=True,
    ),
    "rodinia": Collection(
        "rodinia.toml",
        "cuda/*/[Mm]akefile",
        r"(.*)",
        r"\bFAIL(ED|URE)?\b|\b[Mm]ismatch|CUDA error(?! message)",
        options=("-DcudaThreadSynchronize=cudaDeviceSynchronize",),
    ),
    # The argument of a run is the number of a kernel, which the program compares with its own CPU code.
    "llm.c": Collection(
        "llm.c.toml",
        "dev/cuda/*.cu",
        r"(.*)",
        r"^Mismatch|CUDA ERROR|cuBLAS ERROR",
        passes=r"results match",
        options=("--use_fast_math", "-lcublas", "-lcublasLt"),
    ),
    # Has the results of an NVIDIA GPU.
    "rodinia-suite": Collection(
        "rodinia-suite.toml",
        "cuda/*/Makefile",
        r"(.*)",
        r"\bFAIL(ED|URE)?\b|CUDA error(?! message)",
        options=("-DOUTPUT",),
        result="result.txt",
        wanted="nat_result.txt",
    ),
}


@dataclass(frozen=True)
class Program:
    """A program of a collection: its folder in the checkout, how to build and run it."""

    name: str
    folder: Path
    place: Path  # where it is built: its folder's path in the checkout, or a folder for its only source
    runs: tuple[str, ...] = ("",)
    sources: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    kernels: tuple[
        str, ...
    ] = ()  # files that it loads: NAME64.fatbin or .ptx, from NAME.cu
    edits: tuple[
        tuple[str, str], ...
    ] = ()  # texts of its sources and their replacements
    common_edits: tuple[
        tuple[str, str], ...
    ] = ()  # the same, for sources that have them
    passes: str = ""
    reason: str = ""  # why it is excluded


@dataclass
class Outcome:
    """The result of a program: passed, failed, not built, skipped by itself, or excluded."""

    result: str
    why: str = ""
    build_seconds: float = 0
    run_seconds: float = 0


def words_of(value: object) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def sources_in(listing: Path) -> tuple[str, ...]:
    """The sources that a CMakeLists.txt names for its program."""
    found = re.search(r"add_executable\(\s*\S+([^)]*)\)", listing.read_text())
    return tuple(found.group(1).split()) if found else ()


def reason_to_leave_out(name: str, patterns: dict[str, str]) -> str:
    for pattern, reason in patterns.items():
        if fnmatch.fnmatchcase(name, pattern):
            return reason
    return ""


def read_programs(collection: Collection, checkout: Path) -> list[Program]:
    """All programs of the checkout, in the order of their names."""
    table = tomllib.loads((TABLES / collection.table).read_text())
    named = table.get("programs", {})
    programs = []
    common_edits = tuple((old, new) for old, new in table.get("edits", ()))
    for listing in sorted(checkout.glob(collection.folders)):
        alone = listing.suffix == ".cu"
        full_name = listing.stem if alone else listing.parent.name
        name = re.fullmatch(collection.name, full_name).group(1)
        place = listing.parent.relative_to(checkout)
        entry = named.get(name)
        if not isinstance(entry, dict):
            entry = {} if entry is None else {"runs": entry}
        reason = ""
        if name not in named:
            reason = reason_to_leave_out(name, table.get("left_out", {}))
        sources = words_of(entry.get("sources", listing.name if alone else ()))
        if not sources and not collection.makes:
            sources = sources_in(listing)
            if not sources and not reason:
                continue
        programs.append(
            Program(
                name,
                listing.parent,
                place / name if alone else place,
                words_of(entry.get("runs", "")),
                sources,
                tuple(entry.get("options", "").split()),
                words_of(entry.get("kernels", ())),
                tuple((old, new) for old, new in entry.get("edits", ())),
                common_edits,
                entry.get("passes", collection.passes),
                reason,
            )
        )
    return sorted(programs, key=lambda program: program.name)


def nvcc_version() -> str:
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        sys.exit("clients: there is no nvcc on the path")
    return subprocess.run(
        [nvcc, "--version"], capture_output=True, text=True, check=True
    ).stdout


def copy_to_build(program: Program, build: Path) -> Path:
    """A copy of the program's folder, with links to the neighbouring folders that its files name."""
    folder = build / program.place
    shutil.rmtree(folder, ignore_errors=True)
    if folder.is_symlink():
        folder.unlink()
    shutil.copytree(program.folder, folder, symlinks=True)
    text = "\n".join(
        path.read_text(errors="replace")
        for path in folder.rglob("*")
        if path.suffix in SOURCES or path.name in ("Makefile", "CMakeLists.txt")
    )
    for name in set(re.findall(r"(?:\.\./)+[\w+-]+", text + " ".join(program.runs))):
        original = Path(os.path.normpath(program.folder / name))
        link = Path(os.path.normpath(folder / name))
        if original.exists() and not link.exists() and build in link.parents:
            link.symlink_to(original)
    return folder


def edit_sources(program: Program, folder: Path) -> str:
    """Reduce sizes that are constants in the sources; returns a text that no source contains."""
    sources = [path for path in folder.rglob("*") if path.suffix in SOURCES]
    for old, new in program.edits:
        found = [path for path in sources if old in path.read_text(errors="replace")]
        if not found:
            return old
        for path in found:
            path.write_text(path.read_text().replace(old, new))
    for path in sources:
        text = path.read_text(errors="surrogateescape")
        for old, new in program.common_edits:
            text = text.replace(old, new)
        path.write_text(text, errors="surrogateescape")
    return ""


def build_commands(
    collection: Collection, program: Program, checkout: Path
) -> list[list[str]]:
    if collection.makes:
        words = ["CC=nvcc -cudart shared", "ARCH=compute_80", *program.options]
        return [["make", "program=program", *words, "program"]]
    includes = [f"-I{checkout / folder}" for folder in collection.includes]
    options = ["-std=c++17", "-O2", "--extended-lambda", *collection.options]
    common = ["nvcc", PTX_ALONE, *options, *includes]
    commands = []
    for kernel in map(Path, program.kernels):
        form = kernel.suffix.replace(".", "-")
        source = kernel.stem.removesuffix("64") + ".cu"
        commands.append([*common, form, "-o", kernel.name, source])
    link = ["-cudart", "shared", *program.options, "-o", "program", *program.sources]
    return [*commands, [*common, *link, "-lcuda"]]


def hash_of(program: Program, commands: list[list[str]]) -> str:
    state = hashlib.sha256(nvcc_version().encode())
    state.update(repr(commands).encode())
    for edit in program.edits + program.common_edits:
        state.update(repr(edit).encode())
    for path in sorted(program.folder.rglob("*")):
        if path.is_file():
            state.update(str(path.relative_to(program.folder)).encode() + b"\0")
            state.update(path.read_bytes())
    return state.hexdigest()


@dataclass(frozen=True)
class Ended:
    """The end of a process: its status (negative for a signal), and its processor time in seconds."""

    status: int
    seconds: float


def run_logged(
    command: list[str], folder: Path, log: Path, limit: int, environment: dict[str, str]
) -> Ended:
    """Run a command with at most ``limit`` seconds of processor time; its output is added to the log."""
    with log.open("ab") as output:
        output.write(f"$ {' '.join(command)}\n".encode())
        output.flush()
        process = subprocess.Popen(
            ["prlimit", f"--cpu={limit}:{limit + 5}", *command],
            cwd=folder,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        last = time.monotonic() + limit * WAITS_FOR_PROCESSOR
        while True:
            done, status, used = os.wait4(process.pid, os.WNOHANG)
            if done:
                break
            if time.monotonic() > last:  # it sleeps, or one of its children does
                os.killpg(process.pid, signal.SIGXCPU)
            time.sleep(0.02)
        process.returncode = os.waitstatus_to_exitcode(status)
        return Ended(process.returncode, used.ru_utime + used.ru_stime)


def build(
    collection: Collection, program: Program, checkout: Path, home: Path, log: Path
) -> tuple[Path, str, float]:
    """The folder of the built program, the reason if it could not be built, and the seconds for it."""
    commands = build_commands(collection, program, checkout)
    folder = home / program.place
    stamp = home / f"{program.name}.built"
    wanted = hash_of(program, commands)
    if (folder / "program").exists() and stamp.exists():
        known, seconds = stamp.read_text().split()
        if known == wanted:
            return folder, "", float(seconds)
    stamp.unlink(missing_ok=True)
    folder = copy_to_build(program, home)
    log.unlink(missing_ok=True)
    unknown = edit_sources(program, folder)
    if unknown:
        return folder, f"no source contains {unknown!r}", 0
    used = 0.0
    for command in commands:
        ended = run_logged(command, folder, log, BUILD_LIMIT, {})
        used += ended.seconds
        if ended.status == -signal.SIGXCPU:
            return folder, f"nvcc took more than {BUILD_LIMIT} s", used
        if ended.status != 0:
            return folder, first_error(log), used
    stamp.write_text(f"{wanted} {used:.1f}")
    return folder, "", used


def first_error(log: Path) -> str:
    for line in log.read_text(errors="replace").splitlines():
        if re.search(r"\berror\b|undefined reference|fatal", line):
            return line.strip()[:160]
    return "its build failed"


def judge(
    collection: Collection, program: Program, status: int, text: str, limit: int
) -> Outcome:
    """The result that follows from a run's status and output."""
    if status == -signal.SIGXCPU:
        return Outcome("failed", f"no end within {limit} s of processor time")
    if status == collection.skipped_status:
        return Outcome("skipped", last_line(text))
    if status < 0:
        return Outcome("failed", f"signal {-status}: {last_line(text)}")
    said = re.search(f".*(?:{collection.fails}).*", text)
    if said:
        return Outcome("failed", said.group(0).strip()[:160])
    if status != 0:
        return Outcome("failed", f"status {status}: {last_line(text)}")
    if program.passes and not re.search(program.passes, text):
        return Outcome("failed", f"no word that its check passed: {last_line(text)}")
    return Outcome("passed")


def difference(collection: Collection, folder: Path) -> str:
    """How the file of the result differs from the wanted one; empty if it does not."""
    if not collection.result:
        return ""
    result = folder / collection.result
    if not result.exists():
        return f"wrote no {collection.result}"
    if result.read_bytes() == (folder / collection.wanted).read_bytes():
        return ""
    return f"{collection.result} differs from {collection.wanted}"


def last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:160] if lines else "nothing printed"


def run_program(
    collection: Collection, program: Program, folder: Path, log: Path, limit: int
) -> Outcome:
    """All runs of a program, up to the first that does not pass."""
    log.unlink(missing_ok=True)
    library = ROOT / "build/release/softcuda/libsoftcuda.so"
    environment = {
        # The build's packages, because softcuda_libraries has its libraries only there.
        "PYTHONPATH": str(ROOT / "build/release/python"),
        "PYCUDA_SOFTCUDA_LIBRARY": os.environ.get(
            "PYCUDA_SOFTCUDA_LIBRARY", str(library)
        ),
    }
    outcome = Outcome("failed", "never ran")
    used = 0.0
    for arguments in program.runs:
        before = log.stat().st_size if log.exists() else 0
        command = [sys.executable, "-m", "softcuda.exec", "./program"]
        command += arguments.split()
        ended = run_logged(command, folder, log, limit, environment)
        used += ended.seconds
        text = log.read_bytes()[before:].decode(errors="replace")
        text = text.split("\n", 1)[1]  # without the command
        outcome = judge(collection, program, ended.status, text, limit)
        if outcome.result != "passed":
            break
        if why := difference(collection, folder):
            outcome = Outcome("failed", why)
            break
    outcome.run_seconds = used
    return outcome


def try_program(
    collection: Collection, program: Program, checkout: Path, home: Path, limit: int
) -> Outcome:
    if program.reason:
        return Outcome("left out", program.reason)
    logs = home / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    folder, why, seconds = build(
        collection, program, checkout, home, logs / f"{program.name}.build.log"
    )
    if why:
        outcome = Outcome("not built", why)
    else:
        outcome = run_program(
            collection, program, folder, logs / f"{program.name}.log", limit
        )
    outcome.build_seconds = seconds
    print(f"{program.name}: {outcome}", file=sys.stderr, flush=True)
    return outcome


def print_results(results: dict[str, Outcome]) -> None:
    """Markdown: the counts, the programs that do not pass, and the excluded ones by reason."""
    order = ("passed", "failed", "not built", "skipped", "left out")
    print("| " + " | ".join(order) + " |")
    print("|" + "---:|" * len(order))
    counts = Counter(outcome.result for outcome in results.values())
    print("| " + " | ".join(str(counts[name]) for name in order) + " |")
    print("\n| program | result | seconds | what it says |")
    print("|---|---|---:|---|")
    for name, outcome in sorted(results.items()):
        if outcome.result not in ("passed", "left out"):
            said = outcome.why.replace("|", "\\|")
            print(f"| {name} | {outcome.result} | {outcome.run_seconds:.1f} | {said} |")
    print("\n| left out | reason |")
    print("|---:|---|")
    reasons = Counter(o.why for o in results.values() if o.result == "left out")
    for reason, count in reasons.most_common():
        print(f"| {count} | {reason} |")
    used = [o for o in results.values() if o.result == "passed"]
    build, run = (
        sum(o.build_seconds for o in used),
        sum(o.run_seconds for o in used),
    )
    print(f"\nThose that passed: {build:.0f} s of nvcc, {run:.0f} s to run. Slowest:")
    for name, outcome in sorted(results.items(), key=lambda i: -i[1].run_seconds)[:5]:
        print(f"- {name}: {outcome.run_seconds:.1f} s")


def run_collection(
    name: str,
    checkout: Path,
    home: Path,
    only: str,
    limit: int,
    jobs: int,
) -> int:
    """Build and run the programs that match the pattern; the status is 1 if any does not pass.

    limit: seconds of processor time for one run. jobs: how many programs are built and run at a time.
    """
    collection = COLLECTIONS[name]
    programs = [
        program
        for program in read_programs(collection, checkout)
        if fnmatch.fnmatchcase(program.name, only)
    ]
    with ThreadPoolExecutor(jobs) as pool:
        outcomes = pool.map(
            lambda program: try_program(collection, program, checkout, home, limit),
            programs,
        )
        results = dict(
            zip((program.name for program in programs), outcomes, strict=True)
        )
    print_results(results)
    bad = {"failed", "not built"}
    return 1 if any(outcome.result in bad for outcome in results.values()) else 0
