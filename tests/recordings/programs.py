"""Runs the kernels of tests/recordings/kernels and compares their output with that of an H200.

Comments in a file describe the launch, with random words in `in` and zeros in `out`, and the
hash of `out`:

    // RUN: block 64 grid 2 in 512 out 5120
    // H200: 0123456789abcdef
"""

import hashlib
import pathlib
import re

import numpy as np

import pycuda.driver as cuda

from . import values

FOLDER = pathlib.Path(__file__).with_name("kernels")


def files():
    return sorted(FOLDER.glob("*.ptx"))


def recorded(text):
    found = re.search(r"^// H200: (\w+)$", text, re.MULTILINE)
    return found and found[1]


def run(text):
    """The words that the kernel `k` wrote."""
    launch = re.search(
        r"^// RUN: block (\d+) grid (\d+) in (\d+) out (\d+)$", text, re.MULTILINE
    )
    block, grid, words_in, words_out = map(int, launch.groups())
    data = (values.splitmix(words_in, words_in) >> np.uint64(32)).astype(np.uint32)
    out = cuda.mem_alloc(4 * words_out)
    cuda.memset_d32(out, 0, words_out)
    function = cuda.module_from_buffer(text.encode()).get_function("k")
    function(cuda.to_device(data), out, block=(block, 1, 1), grid=(grid, 1))
    result = np.empty(words_out, np.uint32)
    cuda.memcpy_dtoh(result, out)
    return result


def hash_result(result):
    return hashlib.sha256(result.astype("<u4").tobytes()).hexdigest()[:16]
