"""Starts gdb with a program, its kernels compiled for debugging, and the commands for lanes."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import softcuda
from pycuda import _check_command

USAGE = """\
python -m pycuda gdb [--all] [--gdb PATH] [--ex COMMAND]... [--batch] PROGRAM [ARGUMENT...]

PROGRAM is a Python file, -m MODULE, or any other program of the CUDA driver or runtime API.
Kernels run on softcuda, and `break kernel.cu:12` stops in them. `help cuda` in gdb lists the commands
that show the lanes of a warp.
"""

EXTENSION = Path(__file__).absolute().parent / "_gdb" / "extension.py"


def gdb_command(
    gdb: str, commands: list[str], batch: bool, program: list[str]
) -> list[str]:
    """The command line that starts gdb with the extension, and then runs ``commands``."""
    line = [gdb, "-q"]
    if batch:
        line.append("-batch")
    # Before its compilation, the file of a kernel is unknown. gdb must not ask about that.
    for command in ("set breakpoint pending on", f"source {EXTENSION}", *commands):
        line += ["-ex", command]
    return [*line, "--args", *program]


def environment_for(program: list[str], every: bool, sources: str) -> dict[str, str]:
    """The environment variables for the program. ``sources`` is a folder for the kernels' sources."""
    changed = {"PYCUDA_DRIVER": "softcuda", "PYCUDA_DEBUG_SOURCES": sources}
    is_python = _check_command.command_of(program) != program
    if not is_python:
        changed["LD_LIBRARY_PATH"] = softcuda.loader_path()
    if every or not is_python:
        changed["SOFTCUDA_DEBUG"] = "1"
    return changed


def main(arguments: list[str]) -> int:
    """``python -m pycuda gdb``; returns gdb's exit status."""
    parser = argparse.ArgumentParser(prog="python -m pycuda gdb", usage=USAGE)
    parser.add_argument(
        "--all",
        action="store_true",
        help="stop in kernels that were not compiled with -G, too: those of arrays, say. They have lines and lanes, "
        "but no variables, and are slow",
    )
    parser.add_argument("--gdb", default="gdb", metavar="PATH", help="another gdb")
    parser.add_argument(
        "--ex", action="append", default=[], metavar="COMMAND", help="a command of gdb"
    )
    parser.add_argument(
        "--batch", action="store_true", help="end when the commands are done"
    )
    parser.add_argument("program", nargs=argparse.REMAINDER)
    options = parser.parse_args(arguments)
    program = [a for i, a in enumerate(options.program) if i or a != "--"]
    if not program:
        parser.error("which program?")
    if os.environ.get("PYCUDA_DRIVER") == "nvidia":
        parser.error(
            "this needs softcuda, but PYCUDA_DRIVER is nvidia; there is cuda-gdb"
        )
    if not shutil.which(options.gdb):
        parser.error(
            f"there is no {options.gdb}; install gdb, or name one by --gdb PATH"
        )
    with tempfile.TemporaryDirectory(prefix="pycuda-gdb-") as sources:
        environment = environment_for(program, options.all, sources)
        line = gdb_command(
            options.gdb,
            options.ex,
            options.batch,
            _check_command.command_of(program),
        )
        # gdb handles Ctrl-C, and stops the program.
        process = subprocess.Popen(line, env={**os.environ, **environment})
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                continue
