"""Runs a program under softcuda's profile, and writes what was recorded."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

from pycuda import _profile_data, _profile_html, _profile_text, _profile_trace
from pycuda._check_command import (
    add_program,
    command_of,
    has_colours,
    program_of,
    run,
)
from pycuda._profile_data import Record

USAGE = """\
python -m pycuda profile [-o report.html] [--text] [--trace FILE.json] [--timeline]
                                PROGRAM [ARGUMENT...]

PROGRAM is a Python file, -m MODULE, or any other command whose kernels run through PyCUDA.
Without -o and --trace the report is printed to stderr when the program has ended.
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m pycuda profile", usage=USAGE)
    parser.add_argument("-o", "--output", metavar="PATH", help="write a page of HTML")
    parser.add_argument(
        "--text", action="store_true", help="print the report as text, also with -o"
    )
    parser.add_argument(
        "--trace", metavar="PATH", help="write the timeline for Perfetto"
    )
    parser.add_argument(
        "--timeline",
        action="store_true",
        help="record the timeline alone: kernels then run at their usual speed",
    )
    add_program(parser)
    return parser


def _read(folder: Path) -> list[Record]:
    """The records of all processes of the program."""
    records = []
    for path in sorted(folder.glob("*.json")):
        sources = path.with_suffix(".sources")
        texts = json.loads(sources.read_text()) if sources.exists() else {}
        records.append(_profile_data.parse(path.read_text(), texts))
    return records


def _write(record: Record, options: argparse.Namespace) -> None:
    if options.output:
        _profile_html.write(record, options.output)
        print(f"pycuda profile: {options.output}", file=sys.stderr)
    if options.trace:
        _profile_trace.write(record, options.trace)
        print(f"pycuda profile: {options.trace}", file=sys.stderr)
    if options.text or not (options.output or options.trace):
        text = _profile_text.report(record, colour=has_colours(sys.stderr))
        print(text, file=sys.stderr)


def run_profiled(
    command: list[str], options: argparse.Namespace, environment: dict[str, str]
) -> int:
    """Run ``command`` and write what was recorded, as :func:`_parser`'s options say."""
    with tempfile.TemporaryDirectory(prefix="pycuda-profile-") as folder:
        # Each process of the program has a report of its own: its number is put for %p.
        environment = {
            **os.environ,
            **environment,
            "SOFTCUDA_PROFILE": "timeline" if options.timeline else "all",
            "SOFTCUDA_PROFILE_JSON": os.path.join(folder, "%p.json"),
            "PYCUDA_PROFILE_SOURCES": os.path.join(folder, "%p.sources"),
        }
        status = run(command, environment)
        records = _read(Path(folder))
    if not records:
        print(
            "pycuda profile: no report; the program did not load softcuda, or did not end normally",
            file=sys.stderr,
        )
        return status or 2
    _write(_profile_data.merge(records), options)
    return status


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
