"""Runs a program with softcuda's check modes, and prints the findings."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from softcuda import _findings
from softcuda._output_file import output_path, write_or_explain


def modes_in(text: str) -> tuple[str, ...]:
    """The modes in a text such as "mem,race". Raises ValueError for an unknown mode."""
    names = text.split(",")
    unknown = [name for name in names if name not in (*_findings.MODES, "all")]
    if unknown:
        raise ValueError(
            f"unknown check mode {unknown[0]!r}; expected "
            + ", ".join(_findings.MODES)
            + " or all, separated by commas"
        )
    return tuple(m for m in _findings.MODES if m in names or "all" in names)


def modes_argument(text: str) -> tuple[str, ...]:
    """As :func:`modes_in`, for argparse."""
    try:
        return modes_in(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that all programs with check modes have."""
    parser.add_argument(
        "--json",
        type=output_path,
        metavar="PATH",
        help="write the findings as JSON, too",
    )
    parser.add_argument(
        "--suppress",
        metavar="FILE",
        help="patterns of findings to leave out: mode:kind:kernel:file:line, with *",
    )
    parser.add_argument(
        "--destroy-on-device-error",
        choices=("context", "kernel"),
        default="context",
        help="the effect of a failing kernel: the end of its context (default), as without checks, or only of itself",
    )
    parser.add_argument(
        "--no-leaks",
        dest="leaks",
        action="store_false",
        help="do not report memory that is never freed",
    )
    parser.add_argument(
        "--error-exitcode",
        type=int,
        default=1,
        metavar="N",
        help="exit status if there is a finding (default 1); 0: the program's own",
    )


def run_checked(
    command: list[str],
    modes: tuple[str, ...],
    options: argparse.Namespace,
    environment: dict[str, str],
) -> int:
    """Run ``command`` with these modes and print the findings; returns the exit status."""
    environment = {**os.environ, **environment}
    if options.suppress:
        path = Path(options.suppress).absolute()
        if not path.is_file():
            print(f"there is no file of suppressions {path}", file=sys.stderr)
            return 2
        environment["SOFTCUDA_CHECK_SUPPRESS"] = str(path)
    environment["SOFTCUDA_CHECK_DESTROY"] = options.destroy_on_device_error
    environment["SOFTCUDA_CHECK_LEAKS"] = "yes" if options.leaks else "no"
    with tempfile.TemporaryDirectory(prefix="softcuda-check-") as folder:
        # Each process of the program writes its own report: softcuda replaces %p by the process
        # number.
        environment["SOFTCUDA_CHECK_JSON"] = os.path.join(folder, "%p.json")
        status = run(command, environment)
        reports = [path.read_text() for path in sorted(Path(folder).glob("*.json"))]
    if not reports:
        print(
            "softcuda: no findings to report; the program did not load softcuda, or did not end normally",
            file=sys.stderr,
        )
        return status
    findings = _findings.merge(map(_findings.parse, reports))
    if options.json:
        is_written = write_or_explain(
            options.json, _findings.as_json(modes, findings) + "\n"
        )
        status = status or (0 if is_written else 2)
    print(_findings.report(findings, colour=has_colours(sys.stderr)), file=sys.stderr)
    return options.error_exitcode or status if findings else status


def run(command: list[str], environment: dict[str, str]) -> int:
    """The exit status as in a shell: 128 plus the signal's number after a signal."""
    try:
        process = subprocess.Popen(command, env=environment)
    except OSError as error:
        sys.exit(f"{command[0]}: {error.strerror}")
    # Ctrl-C also reaches the program. Its findings so far must then be printed.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        status = process.wait()
    finally:
        signal.signal(signal.SIGINT, before)
    return status if status >= 0 else 128 - status


def has_colours(stream) -> bool:
    """Whether a stream is a terminal whose user has not disabled colours."""
    return stream.isatty() and not os.environ.get("NO_COLOR")
