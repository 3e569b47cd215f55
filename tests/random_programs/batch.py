"""Compiles many programs at once for the host and for the device, runs them, and compares bit for bit."""

from __future__ import annotations

import json
import os
import pathlib
import platform
import select
import subprocess
import sys
import time
from dataclasses import dataclass, field

import numpy as np

from .program import Program

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = HERE.parents[1] / "softcuda/src"
#: -frounding-math: else g++ makes `0.0f - (float)i` a negation, which is -0.0 for a zero.
HOST_OPTIONS = [
    "-O1",
    "-frounding-math",
    "-fwrapv",
    "-fno-strict-aliasing",
    "-ffp-contract=off",
    "-std=c++20",
    "-w",
]
#: Seconds of processor time that one kernel may take on the device, with its compilation. If the
#: machine has other work, it may take many times as long.
PATIENCE = 10
MOST_WAITING = 20
#: A process that waits for a GPU uses no processor time, and the GPU has no other work than these programs.
MOST_WAITING_FOR_GPU = 2


#: The places where a program may run: softcuda's tiers, the tier that softcuda chooses, the same for code that reads
#: the block's extents at run time, its choice with blocks that run row by row, and a GPU.
TIERS = ("regions", "fibers", "lanes", "default", "varying", "rows", "gpu")


@dataclass(frozen=True)
class Drivers:
    """The values of ``PYCUDA_DRIVER`` for softcuda's tiers and for the tier ``gpu``."""

    softcuda: str = "softcuda"
    gpu: str = "nvidia"

    def of(self, tier: str) -> str:
        return self.gpu if tier == "gpu" else self.softcuda


class BadProgramError(Exception):
    """The generator made a program that is not legal, or that a compiler does not accept."""


@dataclass
class Difference:
    """A program whose results on the device, in ``tier``, differ from those of the host."""

    program: Program
    tier: str
    symptom: str


@dataclass
class Outcome:
    compared: int = 0
    differences: list[Difference] = field(default_factory=list)
    bad: list[tuple[Program, str]] = field(default_factory=list)


def input_words() -> np.ndarray:
    """The words of ``in``, then those of the rows: small ones among random ones."""
    numbers = np.arange(4096 + 16 * 256, dtype=np.uint64) + np.uint64(1)
    with np.errstate(over="ignore"):
        state = numbers * np.uint64(0x9E3779B97F4A7C15)
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        state ^= state >> np.uint64(31)
    words = (state >> np.uint64(32)).astype(np.uint32)
    words[::3] &= 15
    return words


class Workshop:
    """A folder in which batches are compiled and run."""

    def __init__(
        self,
        folder: pathlib.Path,
        threads: pathlib.Path | None = None,
        drivers: Drivers | None = None,
    ):
        self.folder = folder
        self.drivers = drivers or Drivers()
        folder.mkdir(parents=True, exist_ok=True)
        input_words().tofile(folder / "input")
        self.threads = threads or compile_threads(folder)
        self.seconds = dict.fromkeys(("host compiler", "host", "device compiler"), 0.0)

    # ---- the host --------------------------------------------------------------------------

    def host_results(
        self, programs: list[Program], extra: tuple[str, ...] = ()
    ) -> list[np.ndarray | str]:
        """Each program's memory at its end, or the reason why it is not legal."""
        try:
            runs = [
                self._host_run(order) for order in self._host_compile(programs, extra)
            ]
        except BadProgramError as error:
            if len(programs) == 1:
                return [str(error)]
            return [self.host_results([program], extra)[0] for program in programs]
        results: list[np.ndarray | str] = []
        for one, other in zip(*runs, strict=True):
            if isinstance(one, str) or isinstance(other, str):
                results.append(one if isinstance(one, str) else other)
            elif np.array_equal(one, other):
                results.append(one)
            else:
                results.append(
                    "depends on the order of threads, or on an undefined value"
                )
        return results

    def _host_compile(self, programs, extra) -> list[list]:
        start = time.monotonic()
        source, binary = self.folder / "host.cpp", self.folder / "host"
        table = "".join(program.host_row() for program in programs)
        source.write_text(
            '#include "language.h"\n'
            + "".join(program.text() for program in programs)
            + f"extern const host::Program random_programs[] = {{\n{table}}};\n"
            + f"extern const unsigned random_program_count = {len(programs)};\n"
        )
        command = [
            "g++",
            *HOST_OPTIONS,
            *extra,
            f"-I{HERE}",
            source,
            self.threads,
            "-o",
            binary,
        ]
        made = subprocess.run(command, capture_output=True, text=True)
        self.seconds["host compiler"] += time.monotonic() - start
        if made.returncode != 0:
            raise BadProgramError("g++: " + first_error(made.stderr))
        return [
            [binary, self.folder / "input", self.folder / f"host{order}", str(order)]
            for order in (0, 1)
        ]

    def _host_run(self, command) -> list[np.ndarray | str]:
        start = time.monotonic()
        ran = subprocess.run(command, capture_output=True, text=True)
        self.seconds["host"] += time.monotonic() - start
        if ran.returncode != 0:
            raise BadProgramError(f"the host's program failed: {ran.stderr}")
        words, results, at = np.fromfile(command[2], np.uint32), [], 0
        while at < len(words):
            status, count = words[at : at + 2]
            at += 2
            results.append(
                words[at : at + count]
                if status == 0
                else f"host: status {status:#x} {ran.stderr[-200:]}"
            )
            at += int(count)
        return results

    # ---- the device ------------------------------------------------------------------------

    def device_compile(self, programs: list[Program], driver: str) -> pathlib.Path:
        """PTX for softcuda, a cubin for a GPU."""
        start = time.monotonic()
        source = self.folder / "device.cu"
        image = self.folder / f"image_{pathlib.Path(driver).name}"
        language = (HERE / "language.h").read_text()
        source.write_text(language + "".join(program.text() for program in programs))
        command = [sys.executable, HERE / "run_on_device.py", "compile", source, image]
        made = subprocess.run(
            command, capture_output=True, text=True, env=environment(driver)
        )
        self.seconds["device compiler"] += time.monotonic() - start
        if made.returncode != 0:
            raise BadProgramError("NVRTC: " + first_error(made.stderr))
        return image

    def device_results(
        self, programs: list[Program], image: pathlib.Path, tier: str, patience=PATIENCE
    ) -> list[np.ndarray | str]:
        """Each program's memory at its end, or its error."""
        start = time.monotonic()
        jobs, output = self.folder / "jobs", self.folder / f"device_{tier}"
        jobs.write_text(
            json.dumps(
                [[p.name, p.shape.grid, p.shape.block, p.words()] for p in programs]
            )
        )
        output.write_bytes(b"")
        results: list[np.ndarray | str] = []
        while len(results) < len(programs):
            self._run_from(
                len(results), image, jobs, output, tier, patience, programs, results
            )
        self.seconds[tier] = self.seconds.get(tier, 0.0) + time.monotonic() - start
        return results

    def results_by_tier(
        self, programs, image, tier, patience
    ) -> list[np.ndarray | str]:
        """As `device_results`. Programs that wait run in the tier that softcuda chooses, instead of in a tier in
        which a lane may not wait for another (docs/tiers.md)."""
        if tier not in ("regions", "fibers"):
            return self.device_results(programs, image, tier, patience)
        results: list = [None] * len(programs)
        for waits, chosen in ((False, tier), (True, "default")):
            places = [
                i for i, program in enumerate(programs) if program.waits() == waits
            ]
            some = [programs[i] for i in places]
            for i, result in zip(
                places, self.device_results(some, image, chosen, patience), strict=True
            ):
                results[i] = result
        return results

    def _run_from(
        self, first, image, jobs, output, tier, patience, programs, results
    ) -> None:
        """One process: until all kernels have run, or one fails."""
        before = output.stat().st_size
        command = [
            sys.executable,
            HERE / "run_on_device.py",
            "run",
            image,
            self.folder / "input",
            jobs,
            output,
            str(first),
        ]
        log = open(self.folder / f"stderr_{tier}", "w+")
        child = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=log,
            env=environment(self.drivers.of(tier), tier),
        )
        symptom, done = None, first
        pending = b""
        used, since = 0.0, time.monotonic()
        most = patience * (MOST_WAITING_FOR_GPU if tier == "gpu" else MOST_WAITING)
        while symptom is None:
            ready, _, _ = select.select([child.stdout], [], [], 1.0)
            if not ready:
                waited = time.monotonic() - since
                if processor_seconds(child.pid) - used > patience or waited > most:
                    symptom = f"hangs: no result in {patience} s"
                    child.kill()
                continue
            used, since = processor_seconds(child.pid), time.monotonic()
            data = os.read(child.stdout.fileno(), 65536)
            if not data:
                break
            *lines, pending = (pending + data).split(b"\n")
            for line in lines:
                word, index, *rest = line.decode().split(" ", 2)
                if word == "end":
                    done = int(index) + 1
                elif word == "error":
                    symptom = rest[0]
        status = child.wait()
        counts = [sum(program.words()) for program in programs[first:done]]
        with open(output, "r+b") as file:
            file.seek(before)
            for count in counts:
                results.append(np.frombuffer(file.read(4 * count), np.uint32))
            file.truncate(file.tell())
        if len(results) < len(programs):
            if symptom is None:
                log.seek(0)
                last = (log.read().strip().splitlines() or [""])[-1]
                symptom = f"the process ends with status {status}: {last[:200]}"
            results.append(symptom)
        log.close()

    # ---- both ------------------------------------------------------------------------------

    def compare(
        self, programs: list[Program], tiers: list[str], patience=PATIENCE
    ) -> Outcome:
        """Runs all programs on the host and in each tier."""
        outcome = Outcome()
        expected = self.host_results(programs)
        outcome.bad = [
            (p, e)
            for p, e in zip(programs, expected, strict=True)
            if isinstance(e, str)
        ]
        legal = [
            (p, e)
            for p, e in zip(programs, expected, strict=True)
            if not isinstance(e, str)
        ]
        if legal:
            self._compare_legal(
                [p for p, _ in legal], [e for _, e in legal], tiers, patience, outcome
            )
        return outcome

    def _compare_legal(self, programs, expected, tiers, patience, outcome) -> None:
        try:
            images = {
                driver: self.device_compile(programs, driver)
                for driver in {self.drivers.of(tier) for tier in tiers}
            }
        except BadProgramError as error:
            if len(programs) == 1:
                outcome.bad.append((programs[0], str(error)))
                return
            for program, words in zip(programs, expected, strict=True):
                self._compare_legal([program], [words], tiers, patience, outcome)
            return
        for tier in tiers:
            image = images[self.drivers.of(tier)]
            results = self.results_by_tier(programs, image, tier, patience)
            for program, wanted, result in zip(
                programs, expected, results, strict=True
            ):
                symptom = describe(program, wanted, result)
                if symptom:
                    outcome.differences.append(Difference(program, tier, symptom))
        outcome.compared += len(programs)


def compile_threads(folder: pathlib.Path) -> pathlib.Path:
    """host_threads.cpp, with softcuda's switch of stacks, as an object, which batches share."""
    made = folder / "host_threads.o"
    switch = f"{platform.machine()}/switch_stack.cpp"
    command = [
        "g++",
        "-O2",
        "-std=c++20",
        f"-I{SOURCES}",
        "-include",
        SOURCES / "target" / switch,
    ]
    command += ["-c", HERE / "host_threads.cpp", "-o", made]
    subprocess.run(command, check=True)
    return made


def environment(driver: str, tier: str | None = None) -> dict[str, str]:
    """For a child process: its driver, a tier of softcuda, no caches on disk.

    Two threads run kernels, unless ``SOFTCUDA_THREADS`` is set: many processes share the machine.
    """
    settings = {
        "SOFTCUDA_THREADS": "2",
        **os.environ,
        "PYCUDA_DRIVER": driver,
        "SOFTCUDA_DISABLE_CACHE": "1",
        "PYCUDA_DISABLE_CACHE": "1",
        "PYCUDA_QUIET": "1",
    }
    if tier in ("regions", "fibers", "lanes"):
        settings["SOFTCUDA_TIER"] = tier
    if tier == "varying":
        settings["SOFTCUDA_BLOCK_SHAPES"] = "0"
    if tier == "rows":
        settings["SOFTCUDA_BLOCK_GROUPS"] = tier
    return settings


def processor_seconds(process: int) -> float:
    """The processor time that all threads of a process have used."""
    try:
        fields = (
            pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
        )
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def first_error(log: str) -> str:
    lines = [line for line in log.splitlines() if "error" in line]
    return (lines or log.strip().splitlines()[-1:] or ["no message"])[0][:300]


def describe(
    program: Program, wanted: np.ndarray, result: np.ndarray | str
) -> str | None:
    """A description of the difference; None if both are equal."""
    if isinstance(result, str):
        return result
    if np.array_equal(wanted, result):
        return None
    start = 0
    for name, count in zip(
        ("scratch", "flags", "sums", "out"), program.words(), strict=True
    ):
        places = np.flatnonzero(
            wanted[start : start + count] != result[start : start + count]
        )
        if len(places):
            at = int(places[0])
            got, right = int(result[start + at]), int(wanted[start + at])
            return f"{name}[{at}] is {got:#x}, not {right:#x}; {len(places)} of {count} words of {name} differ"
        start += count
    raise AssertionError("the words differ, but in no buffer")
