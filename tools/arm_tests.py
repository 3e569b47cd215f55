"""The tests of softcuda that ./test arm runs, compiled for 64-bit ARM, in an emulator (docs/arm.md)."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/aarch64"
SYSROOT = ROOT / "build/aarch64-sysroot"
LIBRARY = BUILD / "softcuda/libsoftcuda.so"

TARGETS = ("softcuda", "softcuda_target_test", "softcuda_run_tests")
#: The emulator's processors: all extensions, and nothing beyond ARMv8.0.
PROCESSORS = ("max", "cortex-a53")
#: Whole kernels whose results are known to be right in the emulator; each runs in every tier.
KERNELS = (
    "invalid_singles invalid_doubles invalid_sums convert_singles convert_doubles limits_of_words "
    "limits_of_long_words rounding_modes atomics_of_halves newer_atomics lock_by_count"
).split()
#: Recordings of an H200: what is compared, and each how many of them.
RECORDINGS = {"programs": 1}
#: Other tests that ./test arm leaves out, besides kernels.
LEFT_OUT = (
    "other recordings: curand, instructions, matrices, random kernels",
    "Python, libpycuda and the closed libraries",
)
#: Seconds for one of the commands, and after which none starts.
PATIENCE, LIMIT = 900, 3600


def emulated(processor: str, program: Path, *arguments: str | Path) -> list[str]:
    """The command that runs a program for ARM.

    The emulator visits each page of memory that is only reserved, so softcuda must not reserve terabytes.
    """
    libraries = SYSROOT / "usr/lib/aarch64-linux-gnu"
    path = f"LD_LIBRARY_PATH={libraries / 'blas'}:{libraries / 'lapack'}"  # NumPy's
    limits = ["timeout", "-s", "KILL", PATIENCE, "prlimit", "--as=12000000000"]
    emulator = ["qemu-aarch64-static", "-cpu", processor, "-L", SYSROOT, "-E", path]
    return [str(word) for word in (*limits, *emulator, program, *arguments)]


def skipped() -> list[str]:
    """What no command tests, one line each."""
    every = {path.stem for path in (ROOT / "tests/softcuda/run").glob("*.ptx")}
    kernels = sorted(every.difference(KERNELS))
    return [
        f"{len(kernels)} of {len(every)} kernels of tests/softcuda/run: {' '.join(kernels)}",
        *LEFT_OUT,
    ]


def commands(processor: str) -> list[list[str]]:
    """Each is one test."""
    kernels = [ROOT / f"tests/softcuda/run/{name}.ptx" for name in KERNELS]
    folder = BUILD / "tests/softcuda"
    tests = [
        emulated(processor, folder / "softcuda_target_test"),
        *(
            emulated(processor, folder / "softcuda_run_tests", LIBRARY, kernel)
            for kernel in kernels
        ),
    ]
    python = SYSROOT / "usr/bin/python3.11"
    check = ROOT / "tests/recordings/check.py"
    for what, every in RECORDINGS.items():
        tests.append(emulated(processor, python, check, what, "--every", str(every)))
    return tests


#: For all commands.
ENVIRONMENT = {
    "PYCUDA_DRIVER": str(LIBRARY),
    "SOFTCUDA_ARCH": "90",
    "SOFTCUDA_DISABLE_CACHE": "1",
}
