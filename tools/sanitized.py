"""How ./test libraries runs the tests of softcuda's cuBLAS and so on under sanitizers.

Only these libraries are compiled with AddressSanitizer and UndefinedBehaviorSanitizer (PYCUDA_SANITIZE_LIBRARIES).
Python, pycuda and softcuda are those of build/release: the sanitized libraries find softcuda already loaded. The
sanitizers' runtime must be loaded before all others, so the loader gets its path.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

BUILD = Path(__file__).resolve().parent.parent / "build"
PRESET = "libraries-asan"
TESTS = ["tests/python/libraries"]
RUNTIMES = ("libasan.so", "libubsan.so", "libstdc++.so.6")
OPTIONS = (
    "detect_leaks=0",  # Python keeps memory until it ends; test_objects_are_freed counts the libraries' own
    "quarantine_size_mb=1",  # test_objects_are_freed measures the process
    "handle_segv=0",  # softcuda handles the signals of its kernels
    "handle_sigbus=0",
    "handle_sigfpe=0",
    "allow_user_segv_handler=1",
)


def runtime(name: str) -> str:
    """The path of a library of the compiler."""
    command = ["g++", f"-print-file-name={name}"]
    return subprocess.run(
        command, capture_output=True, text=True, check=True
    ).stdout.strip()


def environment() -> dict[str, str]:
    """The variables of the tests' process. The first folder has the package softcuda_libraries alone."""
    folders = [BUILD / PRESET / "python", BUILD / "release/python"]
    return {
        "PYTHONPATH": os.pathsep.join(map(str, folders)),
        "PYCUDA_SOFTCUDA_LIBRARY": str(BUILD / "release/softcuda/libsoftcuda.so"),
        "LD_PRELOAD": ":".join(map(runtime, RUNTIMES)),
        "ASAN_OPTIONS": ":".join(OPTIONS),
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }
