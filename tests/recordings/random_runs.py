"""Runs random kernels, and stores them with a hash of their results on an H200.

random_kernels.xz has the text of each, so that recordings stay valid when the generator gets
new statements. The first lines of a text describe its launch, and the hash of the buffers:

    // H200: 0123456789abcdef

tools/record_on_gpu makes the file, and compares all of it with a device.
"""

import hashlib
import lzma
import pathlib
import platform
import re

import numpy as np

import pycuda.driver as cuda

FILE = pathlib.Path(__file__).with_name("random_kernels.xz")
_START = "// Made by "
# Kernels whose results on softcuda differ from the H200's for an unknown reason (docs/exactness.md).
UNEXPLAINED = {297}
# In these, both operands of an f64 operation are NaN. On x86-64 LLVM's code returns the one that an H200 returns; it need not
# on another processor (docs/exactness.md).
TWO_NANS = {20, 31, 108, 216, 273, 280, 281}


def has_results_of_a_gpu(seed):
    """Whether the kernel with this seed must have the H200's results on this processor."""
    same_nan = seed not in TWO_NANS or platform.machine() == "x86_64"
    return same_nan and seed not in UNEXPLAINED


def read():
    """The recorded kernels' texts."""
    texts = lzma.decompress(FILE.read_bytes()).decode().split(_START)
    return [_START + text for text in texts[1:]]


def write(texts):
    """Stores the texts, which contain their recordings."""
    assert all(text.startswith(_START) and recorded(text) for text in texts)
    packed = lzma.compress("".join(texts).encode(), preset=9 | lzma.PRESET_EXTREME)
    FILE.write_bytes(packed)


def with_recording(text, result_hash):
    first, rest = text.split("\n", 1)
    return f"{first}\n// H200: {result_hash}\n{rest}"


def recorded(text):
    found = re.search(r"^// H200: (\w+)$", text, re.MULTILINE)
    return found and found[1]


def seed_of(text):
    return int(re.match(_START + r".*, seed (\d+)\.$", text, re.MULTILINE)[1])


def run(text):
    """The words of all buffers that the kernel writes, in the order of its parameters."""
    launch = re.search(
        r"^// LAUNCH: k grid (\d+) block (\d+) (\d+) (\d+)$", text, re.MULTILINE
    )
    grid, *block = map(int, launch.groups())
    function = cuda.module_from_buffer(text.encode()).get_function("k")
    buffers = [
        cuda.to_device(_initial(int(count), filling))
        for count, filling in re.findall(
            r"^// BUFFER: \w+ u32 (\d+) = (.*)$", text, re.MULTILINE
        )
    ]
    function(*buffers, block=tuple(block), grid=(grid, 1))
    return [
        cuda.from_device(buffer, buffer.size // 4, np.uint32) for buffer in buffers[1:]
    ]


def hash_results(results):
    words = b"".join(result.astype("<u4").tobytes() for result in results)
    return hashlib.sha256(words).hexdigest()[:16]


def _initial(count, filling):
    if filling == "zero":
        return np.zeros(count, np.uint32)
    _, start, step = filling.split()
    numbers = np.arange(count, dtype=np.uint64) * np.uint64(int(step))
    return (numbers + np.uint64(int(start))).astype(np.uint32)
