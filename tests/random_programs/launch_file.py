"""Writes programs as launch files: PTX with a launch in comments (tests/softcuda/launch_file.h)."""

from __future__ import annotations

import itertools
import pathlib

import numpy as np

from .batch import BadProgramError, Workshop, input_words
from .program import Program

#: The arguments that `run_on_device.py` passes after the buffers.
SCALARS = ["u32:5", "u32:19", "u32:-5", "u32:0xFFFFFFF5", "u64:-3"]
SCALARS.append("u64:0xFFFFFFFFFFFFFFF3")


def write(
    workshop: Workshop, programs: list[Program], folder: pathlib.Path
) -> list[pathlib.Path]:
    """Each program as ``folder/program_SEED.ptx``, with the results of C++ on the host as the expected ones.

    Raises BadProgramError if NVRTC does not compile a program, or if it is not legal.
    """
    return [
        _write_one(workshop, program, wanted, folder)
        for program, wanted in zip(
            programs, workshop.host_results(programs), strict=True
        )
    ]


def _runs(words: np.ndarray) -> str:
    """The words of an EXPECT line."""
    runs = [(word, len(list(equal))) for word, equal in itertools.groupby(words)]
    return " ".join(f"{word}*{n}" if n > 1 else str(word) for word, n in runs)


def _write_one(
    workshop: Workshop,
    program: Program,
    wanted: np.ndarray | str,
    folder: pathlib.Path,
) -> pathlib.Path:
    if isinstance(wanted, str):
        raise BadProgramError(f"seed {program.seed}: {wanted}")
    ptx = workshop.device_compile([program], workshop.drivers.softcuda).read_text()
    words = input_words()
    counts = program.words()
    names = [f"out{n}" for n in range(len(counts))]
    results = np.split(wanted, np.cumsum(counts)[:-1])
    grid, block = (
        " ".join(map(str, extent))
        for extent in (program.shape.grid, program.shape.block)
    )
    lines = [
        f"// Made by tools/random_programs, seed {program.seed}.",
        f"// LAUNCH: {program.name} grid {grid} block {block}",
        f"// BUFFER: data u32 {len(words)} = {' '.join(map(str, words))}",
        "// BUFFER: rows u64 16 = at data 16896 1024",
        *(
            f"// BUFFER: {name} u32 {count} = zero"
            for name, count in zip(names, counts, strict=True)
        ),
        f"// ARGS: data rows {' '.join(names)} {' '.join(SCALARS)}",
        *(
            f"// EXPECT: {name} = {_runs(result)}"
            for name, result in zip(names, results, strict=True)
        ),
    ]
    path = folder / f"program_{program.seed}.ptx"
    path.write_text("\n".join(lines) + "\n" + ptx)
    return path
