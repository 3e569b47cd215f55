"""Run a program on softcuda, a CUDA driver in software, instead of NVIDIA's driver.

    softcuda-exec PROGRAM [ARGUMENT...]
    softcuda-exec --check=MODES [--json=PATH] [--suppress=FILE] [--error-exitcode=N] PROGRAM ...
    softcuda-exec --profile=PATH PROGRAM ...

The program can be any program that uses the CUDA driver API through libcuda.so.1, or the CUDA runtime API through
libcudart.so.12 or libcudart.so.13: in C++, or in Python with Numba or cuda.core. softcuda-config prints the options with
which a build links softcuda's runtime in place of the static one. NVML, libnvidia-ml.so.1, describes the same devices. The
program is not changed. A folder in which softcuda's libraries have these names is the first one in the loader's path
(LD_LIBRARY_PATH), and a small library that loads softcuda's nvJitLink is preloaded (LD_PRELOAD); nothing else changes.

--check finds defects in the program's kernels. MODES are mem, race, init and sync, separated by commas, or
all. The findings are printed at the end, and the exit status is 1 if there are any.

--profile shows why the program's kernels are slow, as a page of HTML, or as text on stderr if PATH is "-".
Line numbers are those of the source if the program was compiled with -lineinfo, else those of the PTX code.
"""

from __future__ import annotations

import argparse
import os
import sys

from softcuda import _checked_run, _profiled_run
from softcuda._loader import loader_environment
from softcuda._output_file import output_path


def parse(arguments: list[str]) -> argparse.Namespace:
    """The options before the program's name. Later arguments belong to the program."""
    parser = argparse.ArgumentParser(
        prog="softcuda-exec",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--check", type=_checked_run.modes_argument, metavar="MODES", default=()
    )
    _checked_run.add_options(parser)
    parser.add_argument(
        "--profile",
        type=lambda text: text if text == "-" else output_path(text),
        metavar="PATH",
    )
    parser.add_argument("program", nargs=argparse.REMAINDER)
    options = parser.parse_args(arguments)
    if not options.program:
        parser.error("which program?")
    if not options.check and (options.json or options.suppress):
        parser.error("--json and --suppress go with --check")
    if "mem" not in options.check and options.destroy_on_device_error == "kernel":
        parser.error("--destroy-on-device-error=kernel needs --check=mem")
    if options.check and options.profile:
        parser.error("--check and --profile each need a run of their own")
    return options


def main() -> None:
    """Replace this process by the program, or run the program and print the findings."""
    options = parse(sys.argv[1:])
    try:
        loader = loader_environment()
    except FileNotFoundError as error:
        sys.exit(f"softcuda-exec: {error}")
    if options.check:
        environment = {**loader, "SOFTCUDA_CHECK": ",".join(options.check)}
        sys.exit(
            _checked_run.run_checked(
                options.program, options.check, options, environment
            )
        )
    if options.profile:
        is_text = options.profile == "-"
        wanted = argparse.Namespace(
            output=None if is_text else options.profile,
            text=is_text,
            trace=None,
            timeline=False,
        )
        sys.exit(_profiled_run.run_profiled(options.program, wanted, loader))
    os.environ.update(loader)
    try:
        os.execvp(options.program[0], options.program)
    except OSError as error:
        sys.exit(f"softcuda-exec: {options.program[0]}: {error.strerror}")


if __name__ == "__main__":
    main()
