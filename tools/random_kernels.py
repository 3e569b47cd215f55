#!/usr/bin/env python3
"""Generate random kernels, and compare their results in softcuda's three tiers.

    tools/random_kernels.py RUNNER LIBRARY [--count N] [--seed S] [--exact] [--keep FOLDER]

RUNNER is the program softcuda_run_tests, or softcuda_interpret_tests; LIBRARY is libsoftcuda.so. Both
are in build/release. --exact omits operations whose rounding is not specified. A
kernel's results do not depend on the order in which threads run; tests/recordings/random_kernels.py
describes the kernels. The same seed generates the same kernels. Exits with 1, and prints the
differing kernels, if there are any.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from recordings.random_kernels import Kernel  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("runner")
    parser.add_argument("library")
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--exact", action="store_true")
    parser.add_argument("--keep", help="a folder in which the kernels are left")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(options.keep or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        files = []
        for seed in range(options.seed, options.seed + options.count):
            path = folder / f"random_{seed}.ptx"
            path.write_text(Kernel(seed, options.exact).text())
            files.append(str(path))
        return subprocess.run([options.runner, options.library, *files]).returncode


if __name__ == "__main__":
    sys.exit(main())
