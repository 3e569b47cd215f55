"""Print the options and folders with which a build links programs to softcuda.

    softcuda-config --ldflags       -LFOLDER, for a linker or for nvcc
    softcuda-config --libdir        FOLDER: it has libcudart_static.a, libcudart.so, libcuda.so
    softcuda-config --toolkit       a folder in the form of a CUDA toolkit, for CUDA_PATH and similar variables

nvcc links programs with the static CUDA runtime by default, and NVIDIA's does not work with softcuda. In
these folders libcudart_static.a is softcuda's, so programs work that were compiled with

    nvcc $(softcuda-config --ldflags) -arch=compute_80 program.cu
    NVCC_PREPEND_FLAGS=$(softcuda-config --ldflags) make
    CUDA_PATH=$(softcuda-config --toolkit) pip install --no-binary=cupy cupy
    cmake -DCMAKE_CUDA_COMPILER=$(softcuda-config --toolkit)/bin/nvcc ...

Such a program finds the runtime, libcudart.so, when it starts: softcuda's under softcuda-exec.
"""

from __future__ import annotations

import argparse
import sys

from softcuda import _link


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="softcuda-config",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--ldflags", action="store_true")
    which.add_argument("--libdir", action="store_true")
    which.add_argument(
        "--toolkit",
        nargs="?",
        const="",
        metavar="FOLDER",
        help="made from the toolkit in FOLDER; by default from the one of nvcc",
    )
    parser.add_argument(
        "--cuda",
        type=int,
        choices=(12, 13),
        default=13,
        help="the compiler's version of CUDA, for --ldflags and --libdir (default 13)",
    )
    options = parser.parse_args(arguments)
    try:
        if options.toolkit is not None:
            print(_link.toolkit_folder(options.toolkit or None))
        else:
            folder = _link.link_folder(options.cuda)
            print(f"-L{folder}" if options.ldflags else folder)
    except FileNotFoundError as error:
        print(f"softcuda-config: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
