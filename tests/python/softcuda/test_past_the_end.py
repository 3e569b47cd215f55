"""Accesses just past the end of an array: the message, and SOFTCUDA_SLACK."""

from __future__ import annotations

import re

import pytest
from conftest import is_softcuda

pytestmark = pytest.mark.skipif(
    not is_softcuda(), reason="a GPU rarely notices an access just past an array"
)

ARRAY = """
import sys
import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda import gpuarray
from pycuda.compiler import SourceModule
write = SourceModule("__global__ void write(float *x, long long i) { x[i] = 1; }").get_function("write")
def try_to_write(x, i):
    try:
        write(x, np.int64(i), block=(1, 1, 1))
        cuda.Context.synchronize()
    except cuda.LogicError:
        sys.exit(1)
"""
TEN_FLOATS = ARRAY + "try_to_write(gpuarray.zeros(10, np.float32), int(sys.argv[1]))"

MEMORY = {
    "memory": "x = cuda.mem_alloc(40)",
    "managed memory": "managed = cuda.managed_zeros(10, np.float32, mem_flags=cuda.mem_attach_flags.GLOBAL)\n"
    "x = np.uintp(managed.base.get_device_pointer())",
    "pinned memory": "pinned = cuda.pagelocked_zeros(10, np.float32, mem_flags=cuda.host_alloc_flags.DEVICEMAP)\n"
    "x = np.uintp(pinned.base.get_device_pointer())",
    "memory pool": "import pycuda.tools; x = pycuda.tools.DeviceMemoryPool().allocate(40)",
}


def distance_of(text):
    found = re.search(r"(\d+) bytes? after the 40-byte allocation", text)
    assert found, text
    return int(found[1])


def test_the_message_names_the_array_and_the_way_out(run_program):
    done = run_program(TEN_FLOATS, "500")
    assert done.returncode == 1
    assert distance_of(done.stderr) == 490 * 4
    assert "SOFTCUDA_CHECK=mem finds" in done.stderr
    slack = re.search(r"SOFTCUDA_SLACK=(\d+) permits it", done.stderr)
    again = run_program(TEN_FLOATS, "500", SOFTCUDA_SLACK=slack[1])
    assert again.returncode == 0, again.stderr


def test_a_block_that_a_smaller_array_uses_again(run_program):
    program = ARRAY + "x = gpuarray.zeros(41, np.int8); del x\n"
    done = run_program(program + "try_to_write(gpuarray.zeros(10, np.float32), 500)")
    assert distance_of(done.stderr) == 490 * 4


def test_an_access_before_an_array_names_the_arrays_size(run_program):
    """The pool's block is larger than the array."""
    done = run_program(
        ARRAY + "try_to_write(cuda.InOut(np.zeros(1000, np.float32)), -1)"
    )
    assert "4 bytes before the 4000-byte allocation" in done.stderr, done.stderr


def test_an_access_far_away_gets_no_advice(run_program):
    done = run_program(TEN_FLOATS, "1000000000")
    assert done.returncode == 1
    assert "SOFTCUDA_SLACK" not in done.stderr


@pytest.mark.parametrize("kind", MEMORY)
def test_room_behind_each_kind_of_memory(kind, run_program):
    program = f"{ARRAY}\n{MEMORY[kind]}\nfor i in (10, 500, 2057): try_to_write(x, i)"
    assert run_program(program).returncode == 1
    done = run_program(program, SOFTCUDA_SLACK="8K")
    assert done.returncode == 0, done.stderr
    assert run_program(
        program + "\ntry_to_write(x, 9000)", SOFTCUDA_SLACK="8K"
    ).returncode


def test_allocations_of_kernels_and_many_allocations(run_program):
    """Both lie close together in memory, without inaccessible pages between them."""
    source = """
    __global__ void kernel(int *wrong) {
        int *x = (int *)malloc(40), *y = (int *)malloc(40);
        for (int i = 10; i < 266; i++) x[i] = y[i] = 7;
        for (int k = 0; k < 64; k++) {
            int *z = (int *)malloc(40 + k);
            for (int i = 0; i < 10; i++) z[i] = 1;
        }
        for (int i = 10; i < 266; i++) *wrong += x[i] != 7 || y[i] != 7;
    }"""
    done = run_program(
        f"{ARRAY}\nkernel = SourceModule({source!r}).get_function('kernel')\n"
        "wrong = gpuarray.zeros(1, np.int32)\n"
        "kernel(wrong, block=(1, 1, 1))\n"
        "some = [cuda.mem_alloc(40) for _ in range(17000)]\n"
        "for x in some: try_to_write(x, 265)\n"
        "for i in range(0, 17000, 999):\n"
        "    cuda.memset_d32(some[i], i, 10)\n"
        "print(wrong.get()[0], all(cuda.from_device(some[i], 10, np.int32)[9] == i for i in range(0, 17000, 999)))",
        SOFTCUDA_SLACK="1K",
        SOFTCUDA_MEMORY="1G",
    )
    assert done.stdout.split() == ["0", "True"], done.stderr


def test_slack_hides_nothing_from_the_check(run_program):
    done = run_program(TEN_FLOATS, "10", SOFTCUDA_SLACK="4096", SOFTCUDA_CHECK="mem")
    assert "0 bytes after the" in done.stderr and "40-byte" in done.stderr


def test_slack_is_no_memory_of_the_device(run_program):
    program = ARRAY + "x = cuda.mem_alloc(1000)\nprint(cuda.mem_get_info())"
    first = run_program(program, SOFTCUDA_MEMORY="1G")
    second = run_program(program, SOFTCUDA_MEMORY="1G", SOFTCUDA_SLACK="1M")
    assert first.stdout and first.stdout == second.stdout


@pytest.mark.parametrize("wrong", ["many", "-1", "2G"])
def test_a_wrong_slack(wrong, run_program):
    done = run_program(ARRAY, SOFTCUDA_SLACK=wrong)
    assert done.returncode != 0
    assert "SOFTCUDA_SLACK" in done.stderr
