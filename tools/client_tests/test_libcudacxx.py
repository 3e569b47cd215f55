"""libcu++'s tests in their NVRTC mode: a draw of those that the suite supports in this mode.

CLIENT_CHECKOUT is a checkout of NVIDIA/cccl. A test is a program whose main() runs as a kernel of one block, as in
libcudacxx/test/utils/nvidia/nvrtc. It fails if an assertion of it fails, the driver does not compile its PTX, or
compilation by the driver and the run take more than 20 seconds of the processor. LIBCUDACXX_SEED and
LIBCUDACXX_COUNT choose another draw; a count of 0 is all tests.
"""

import os
import random
import re
import resource
import signal
from pathlib import Path

import pytest

import pycuda.driver as cuda
from pycuda.compiler import compile

LIBRARY = Path(os.environ["CLIENT_CHECKOUT"]) / "libcudacxx"
FOLDER = LIBRARY / "test/libcudacxx"
SEED = int(os.environ.get("LIBCUDACXX_SEED", 1))
COUNT = int(os.environ.get("LIBCUDACXX_COUNT", 320))
SECONDS = 20
ARCH = 90

#: Around the text of a test, as the suite's own wrapper of NVRTC.
BEFORE = "__host__ __device__ int fake_main(int argc, char **argv);\n#define main fake_main\n"
AFTER = '\nextern "C" __global__ void main_kernel() { fake_main(0, nullptr); }\n'

#: What the suite calls this configuration: NVRTC, C++20, sm_90.
FEATURES = {"nvrtc", "c++20", "true", "*", "linux"}


def has(feature: str) -> bool:
    """Whether the configuration has a feature, which may be negated."""
    feature = feature.strip(" ()")
    return (
        feature[1:].strip(" ()") not in FEATURES
        if feature.startswith("!")
        else feature in FEATURES
    )


def any_condition(text: str, word: str) -> bool:
    """Whether one condition in the lines `// word: a, b && c, d || e` holds."""
    lines = re.findall(rf"^// {word}:(.*)$", text, re.MULTILINE)
    conditions = [c for line in lines for c in re.split(r",|\|\|", line)]
    return any(all(map(has, c.split("&&"))) for c in conditions)


def is_supported(path: Path) -> bool:
    text = path.read_text(errors="replace")
    excluded = any_condition(text, "UNSUPPORTED") or any_condition(text, "XFAIL")
    needs = re.search(r"^// REQUIRES:", text, re.MULTILINE) is not None
    return not excluded and (not needs or any_condition(text, "REQUIRES"))


def draw() -> list[str]:
    paths = sorted(p for p in FOLDER.rglob("*.pass.cpp") if is_supported(p))
    chosen = (
        random.Random(SEED).sample(paths, min(COUNT, len(paths))) if COUNT else paths
    )
    return [str(p.relative_to(FOLDER)) for p in sorted(chosen)]


def number(text: str, name: str, normal: int) -> int:
    """The number that the test assigns to a variable of the suite."""
    found = re.search(rf"\b{name}\s*=\s*(\d+)", text)
    return int(found[1]) if found else normal


@pytest.fixture(autouse=True)
def context():
    """A context for each test, since a failed kernel costs it."""
    cuda.init()
    made = cuda.Device(0).make_context()
    yield made
    made.pop()
    made.detach()


class TooLong(Exception):
    """The kernel did not end."""


def stop(*_):
    raise TooLong(f"no end within {SECONDS} s of the processor")


def processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


@pytest.mark.parametrize("path", draw())
def test_program(path):
    text = (FOLDER / path).read_text(errors="replace")
    definitions = re.findall(
        r"^// ADDITIONAL_COMPILE_DEFINITIONS:(.*)$", text, re.MULTILINE
    )
    options = ["-std=c++20", "-default-device", "-w", "-DTEST_COMPILER_NVRTC"]
    options += [f"-D{name.strip()}" for line in definitions for name in line.split()]
    folders = [
        LIBRARY / "include",
        LIBRARY / "test/support",
        FOLDER,
        (FOLDER / path).parent,
    ]
    try:
        image = compile(
            BEFORE + text + AFTER, no_extern_c=True, arch=f"compute_{ARCH}", options=options,
            include_dirs=[str(folder) for folder in folders],
        )  # fmt: skip
    except cuda.CompileError as error:
        pytest.skip("NVRTC does not compile it: " + str(error).strip()[-300:])
    before = signal.signal(signal.SIGPROF, stop)
    begin = processor_seconds()
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        module = cuda.module_from_buffer(image)
        module.get_function("main_kernel")(
            block=(number(text, "cuda_thread_count", 1), 1, 1),
            shared=number(text, "cuda_block_shmem_size", 0),
        )
        cuda.Context.synchronize()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    taken = processor_seconds() - begin
    assert taken < SECONDS, f"took {taken:.1f} s of the processor"
