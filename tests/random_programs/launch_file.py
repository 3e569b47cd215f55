"""Writes programs as launch files: PTX with a launch in comments (tests/softcuda/launch_file.h)."""

from __future__ import annotations

import pathlib

from .batch import Workshop, input_words
from .program import Program

#: The arguments that `run_on_device.py` passes after the buffers.
SCALARS = ["u32:5", "u32:19", "u32:-5", "u32:0xFFFFFFF5", "u64:-3"]
SCALARS.append("u64:0xFFFFFFFFFFFFFFF3")


def write(workshop: Workshop, program: Program, folder: pathlib.Path) -> pathlib.Path:
    """The program as ``folder/program_SEED.ptx``. Raises BadProgramError if NVRTC does not compile it."""
    ptx = workshop.device_compile([program], workshop.drivers.softcuda).read_text()
    words = input_words()
    counts = program.words()
    names = [f"out{n}" for n in range(len(counts))]
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
        f"// COMPARE: {' '.join(names)}",
    ]
    path = folder / f"program_{program.seed}.ptx"
    path.write_text("\n".join(lines) + "\n" + ptx)
    return path
