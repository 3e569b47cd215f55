"""``python -m pycuda profile``: runs a program with softcuda's profiler."""

from __future__ import annotations

import argparse
import os

from pycuda._check_command import add_program, command_of, program_of
from softcuda._output_file import output_path
from softcuda._profiled_run import run_profiled

USAGE = """\
python -m pycuda profile [-o report.html] [--text] [--trace FILE.json] [--timeline]
                                PROGRAM [ARGUMENT...]

PROGRAM is a Python file, -m MODULE, or any other command whose kernels run through PyCUDA.
Without -o and --trace the report is printed to stderr when the program has ended.
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m pycuda profile", usage=USAGE)
    parser.add_argument(
        "-o", "--output", type=output_path, metavar="PATH", help="write a page of HTML"
    )
    parser.add_argument(
        "--text", action="store_true", help="print the report as text, also with -o"
    )
    parser.add_argument(
        "--trace",
        type=output_path,
        metavar="PATH",
        help="write the timeline for Perfetto",
    )
    parser.add_argument(
        "--timeline",
        action="store_true",
        help="record the timeline alone: kernels then run at their usual speed",
    )
    add_program(parser)
    return parser


def main(arguments: list[str]) -> int:
    """``python -m pycuda profile``; returns the program's exit status, or 2."""
    parser = _parser()
    options = parser.parse_args(arguments)
    program = program_of(options, parser)
    driver = os.environ.get("PYCUDA_DRIVER", "auto")
    if driver == "nvidia":
        parser.error(
            "a profile needs softcuda, but PYCUDA_DRIVER is nvidia; for an NVIDIA GPU there are "
            "pycuda.profile(counters=False) in the program, Nsight Systems and Nsight Compute"
        )
    environment = {"PYCUDA_DRIVER": "softcuda" if driver == "auto" else driver}
    return run_profiled(command_of(program), options, environment)
