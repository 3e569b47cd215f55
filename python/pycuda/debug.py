"""Run a program with its kernels compiled for debugging.

python -m pycuda.debug PROGRAM [ARGUMENTS...]
"""

import runpy
import sys

import pycuda.driver


def main() -> None:
    """Run the program of the command line with ``CUDA_DEBUGGING`` set: its kernels are compiled for a debugger.

    ``sys.argv`` is that of the program. Exits with a usage message if no program is given.
    """
    if len(sys.argv) < 2:
        sys.exit("usage: python -m pycuda.debug PROGRAM [ARGUMENTS...]")
    pycuda.driver.set_debugging()
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
