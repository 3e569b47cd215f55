"""``python -m pycuda check``: runs a program with softcuda's check modes."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable

from softcuda import _findings
from softcuda._checked_run import add_options, modes_argument, run_checked

USAGE = """\
python -m pycuda check [--modes MODES] [--json PATH] [--suppress FILE] [--error-exitcode N]
                              PROGRAM [ARGUMENT...]

PROGRAM is a Python file, -m MODULE, or any other command whose kernels run through PyCUDA.
The findings are printed to stderr when the program has ended.
"""


def add_program(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that name the program, for :func:`program_of`."""
    rest = argparse.REMAINDER
    parser.add_argument("-m", dest="module", nargs=rest, help=argparse.SUPPRESS)
    parser.add_argument("-c", dest="code", nargs=rest, help=argparse.SUPPRESS)
    parser.add_argument("program", nargs=rest)


def program_of(
    options: argparse.Namespace, parser: argparse.ArgumentParser
) -> list[str]:
    """The program and its arguments; exits with an error if there is none."""
    program = [a for i, a in enumerate(options.program) if i or a != "--"]
    for option, given in (("-m", options.module), ("-c", options.code)):
        if given:
            program = [option, *given]
    if not program:
        parser.error("which program?")
    return program


def command_of(program: list[str]) -> list[str]:
    """The command line: this Python runs a Python file, or -m MODULE."""
    is_python = program[0] in ("-m", "-c") or program[0].endswith(".py")
    return [sys.executable, *program] if is_python else program


def check_driver_setting(refuse: Callable[[str], None]) -> None:
    """Calls ``refuse`` with a message if the environment selects NVIDIA's driver."""
    if os.environ.get("PYCUDA_DRIVER") == "nvidia":
        refuse("check modes need softcuda, but PYCUDA_DRIVER is nvidia")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m pycuda check", usage=USAGE)
    parser.add_argument(
        "--modes",
        type=modes_argument,
        default=_findings.MODES,
        help="check modes, separated by commas: mem, race, init, sync; all by default",
    )
    add_options(parser)
    add_program(parser)
    return parser


def main(arguments: list[str]) -> int:
    """``python -m pycuda check``; returns the exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    program = program_of(options, parser)
    check_driver_setting(parser.error)
    environment = {"PYCUDA_CHECK": ",".join(options.modes)}
    return run_checked(command_of(program), options.modes, options, environment)
