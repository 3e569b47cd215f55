"""Run a program with its kernels compiled for debugging.

python -m pycuda.debug PROGRAM [ARGUMENTS...]
"""

import runpy
import sys

import pycuda.driver


def main() -> None:
    """Start the program that the command line names."""
    if len(sys.argv) < 2:
        sys.exit("usage: python -m pycuda.debug PROGRAM [ARGUMENTS...]")
    pycuda.driver.set_debugging()
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
