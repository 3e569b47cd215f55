"""Runs a program with softcuda's profiler, and writes the record."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

from softcuda import _profile_data, _profile_html, _profile_text, _profile_trace
from softcuda._checked_run import has_colours, run
from softcuda._output_file import write_or_explain
from softcuda._profile_data import Record


def _read(folder: Path) -> list[Record]:
    """The records of all processes of the program."""
    records = []
    for path in sorted(folder.glob("*.json")):
        sources = path.with_suffix(".sources")
        known = json.loads(sources.read_text()) if sources.exists() else {}
        records.append(_profile_data.parse(path.read_text(), **known))
    return records


def _write(record: Record, options: argparse.Namespace) -> bool:
    """Write the files and the text. If a file cannot be written, print the text instead and return False."""
    files = (
        (options.output, _profile_html.page),
        (options.trace, _profile_trace.as_json),
    )
    wanted = [(path, text_of) for path, text_of in files if path]
    written = []
    for path, text_of in wanted:
        if write_or_explain(path, text_of(record)):
            written.append(path)
            print(f"softcuda: wrote {path}", file=sys.stderr)
    if options.text or not written:
        text = _profile_text.report(record, colour=has_colours(sys.stderr))
        print(text, file=sys.stderr)
    return len(written) == len(wanted)


def run_profiled(
    command: list[str], options: argparse.Namespace, environment: dict[str, str]
) -> int:
    """Run ``command`` and write its profile, with the options of ``python -m pycuda profile``: ``output``,
    ``text``, ``trace`` and ``timeline``."""
    with tempfile.TemporaryDirectory(prefix="softcuda-profile-") as folder:
        # Each process of the program writes its own report: softcuda replaces %p by the process
        # number.
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
            "softcuda: no profile; the program did not load softcuda, or did not end normally",
            file=sys.stderr,
        )
        return status or 2
    is_written = _write(_profile_data.merge(records), options)
    return status or (0 if is_written else 2)
