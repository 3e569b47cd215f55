"""Show softcuda's version, library, devices and settings, as programs see them.

python -m softcuda              print all of this; the exit status is 1 if softcuda cannot start
python -m softcuda --library    print the path of libsoftcuda.so alone
python -m softcuda --path       print a folder in which the libraries have the file names of NVIDIA's libraries
"""

from __future__ import annotations

import argparse
import os
import sys

import softcuda


def _line(name: str, value: object) -> None:
    print(f"{name:18} {value}")


def _show() -> int:
    _line("softcuda", f"{softcuda.__version__}, {os.path.dirname(softcuda.__file__)}")
    try:
        _line("library", softcuda.library())
        found = softcuda.devices()
    except (OSError, RuntimeError) as error:
        _line("error", error)
        found = []
    for device in found:
        major, minor = device.compute_capability
        _line(
            f"device {device.number}",
            f"{device.name}, compute capability {major}.{minor}, {device.multiprocessors} multiprocessors, "
            f"{device.memory / (1 << 30):.1f} GiB",
        )
    for name in sorted(os.environ):
        if name.startswith("SOFTCUDA_") or name == "PYCUDA_SOFTCUDA_LIBRARY":
            _line(f"${name}", os.environ[name])
    return 0 if found else 1


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m softcuda",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--library", action="store_true")
    which.add_argument("--path", action="store_true")
    options = parser.parse_args(arguments)
    if not (options.library or options.path):
        return _show()
    try:
        print(softcuda.library() if options.library else softcuda.loader_folder())
    except FileNotFoundError as error:
        print(f"softcuda: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
