"""Runs programs under schedules, and makes a program that fails smaller."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from .program import STREAMS, Generator, InvalidError, Step, text_of

#: Part of each text: what all programs need.
PREAMBLE = (Path(__file__).parent / "preamble.py").read_text()
PATIENCE = 120


def program(seed: int, count: int, devices: int, nccl: bool) -> list[Step]:
    return Generator(seed, devices, nccl).steps(count)


def body_of(steps: list[Step], devices: int, nccl: bool) -> str:
    """A program without its preamble. Raises InvalidError."""
    streams = [s for s in STREAMS if s.device < devices]
    lines = [f"device{i} = cuda.Device({i})" for i in range(devices)]
    lines += [f"{s.name} = stream_of({s.device}, {s.name[:-1]!r})" for s in streams]
    lines += ["comms = nccl.all_devices()"] if nccl and devices > 1 else []
    lines += [
        "seen, seen_by_host = [], []",
        "p0, p1 = (cuda.pagelocked_zeros(480, np.float64) for _ in range(2))",
        "q0, q1 = np.zeros(480), np.zeros(480)",
    ]
    return text_of(steps, "\n".join(lines) + "\n")


@dataclass
class Failure:
    """A program that failed: the steps, the seed of a schedule, what it printed."""

    steps: list[Step]
    schedule: int
    output: str


def symptom_of(output: str) -> str:
    """The type of the exception that ended a program, or its last line."""
    names = re.findall(r"^([A-Za-z_.]+(?:Error|Exception))\b", output, re.MULTILINE)
    return names[-1] if names else output.rsplit("\n", 1)[-1]


class Batch:
    """How programs run: on how many devices, with NCCL or without."""

    def __init__(self, folder: Path, devices: int = 2, nccl: bool = True):
        self.folder, self.devices, self.nccl = folder, devices, nccl

    def text(self, steps: list[Step]) -> str:
        more = "from pycuda import nccl\n" if self.nccl and self.devices > 1 else ""
        return PREAMBLE + more + "\n\n" + body_of(steps, self.devices, self.nccl)

    def run(
        self, text: str, schedule: int | None, patience: int = PATIENCE
    ) -> tuple[int, str]:
        """The exit status and the output of a text in a process of its own, which has so many seconds."""
        name = self.folder / f"{abs(hash((text, schedule)))}.py"
        name.write_text(text)
        environment = {**os.environ, "SOFTCUDA_DEVICES": str(self.devices)}
        environment.pop("SOFTCUDA_SCHEDULE", None)
        if schedule is not None:
            environment["SOFTCUDA_SCHEDULE"] = str(schedule)
        try:
            done = subprocess.run(
                [sys.executable, name],
                env=environment,
                capture_output=True,
                text=True,
                timeout=patience,
            )
        except subprocess.TimeoutExpired:
            return 124, f"the program does not end within {patience} s"
        finally:
            name.unlink()
        return done.returncode, (done.stdout + done.stderr).strip()

    def many(self, seeds, count: int, schedule: int) -> dict[int, str]:
        """The seeds of the programs that fail when all of them run in one process, with what they printed. A crash fails
        all of the rest."""
        bodies = [
            body_of(
                program(seed, count, self.devices, self.nccl), self.devices, self.nccl
            )
            for seed in seeds
        ]
        text = (
            self.text([])
            + "\n"
            + RUN_ALL.format(programs=dict(zip(seeds, bodies, strict=True)))
        )
        # The first programs of a process compile their kernels.
        status, output = self.run(text, schedule, PATIENCE + 30 * len(bodies))
        if status not in (0, 1):
            return dict.fromkeys(seeds, f"exit status {status}\n{output[-4000:]}")
        parts = re.split(r"^(passed|failed) (\d+)$", output, flags=re.MULTILINE)[1:]
        results = zip(parts[::3], parts[1::3], parts[2::3], strict=True)
        return {
            int(seed): text for verdict, seed, text in results if verdict == "failed"
        }

    def attempt(
        self, steps: list[Step], schedules, symptom: str = ""
    ) -> Failure | None:
        """The first failure of the program under these schedules, with this symptom if one is given; None also if the
        steps are invalid."""
        try:
            text = self.text(steps)
        except InvalidError:
            return None
        for schedule in schedules:
            status, output = self.run(text, schedule)
            if status != 0 and symptom in ("", symptom_of(output)):
                return Failure(steps, schedule, output)
        return None

    def shrink(self, failure: Failure, jobs: int = 2) -> Failure:
        """A failure with fewer steps: drops halves, quarters ... single steps, as long as one schedule of some fails."""
        schedules = [failure.schedule, *range(3)]
        symptom = symptom_of(failure.output)
        size = max(len(failure.steps) // 2, 1)
        with ThreadPoolExecutor(jobs) as pool:
            while size:
                starts = range(0, len(failure.steps), size)
                tries = [
                    failure.steps[:i] + failure.steps[i + size :]
                    for i in reversed(starts)
                ]
                smaller = next(
                    filter(
                        None,
                        pool.map(lambda s: self.attempt(s, schedules, symptom), tries),
                    ),
                    None,
                )
                if smaller:
                    failure = smaller
                    size = min(size, max(len(failure.steps) // 2, 1))
                else:
                    size //= 2
        return failure


#: Runs the programs one after the other in one process, each with names of its own.
RUN_ALL = """
import sys, traceback

failed = False
for seed, body in {programs!r}.items():
    try:
        exec(body, dict(globals()))
        print("passed", seed, flush=True)
    except BaseException:
        failed = True
        print("failed", seed)
        traceback.print_exc(file=sys.stdout)
raise SystemExit(failed)
"""
