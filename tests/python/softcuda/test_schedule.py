"""SOFTCUDA_SCHEDULE shows an order of streams that a program forgot, and changes no other program."""

import re
from pathlib import Path

import pytest
from conftest import is_softcuda

pytestmark = pytest.mark.skipif(
    not is_softcuda(), reason="only softcuda has a schedule"
)

PAGE = Path(__file__).parents[3] / "docs" / "finding_defects.md"
SEEDS = range(10)


def forgotten():
    """The program of the page that forgets an order."""
    programs = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    (program,) = (text for text in programs if "second.synchronize()" in text)
    return program


def results(run_program, program, seeds=SEEDS):
    """What the program prints with each seed."""
    for seed in seeds:
        done = run_program(program, SOFTCUDA_SCHEDULE=str(seed))
        assert done.returncode == 0, done.stderr
        yield done.stdout


def test_the_page(run_program):
    program = forgotten()
    assert run_program(program).stdout == "256\n"
    assert set(results(run_program, program)) == {"0\n", "256\n"}


def test_an_event_mends_the_program_of_the_page(run_program):
    copy = "cuda.memcpy_dtoh_async(result"
    wait = "second.wait_for_event(cuda.Event().record(first))\n"
    program = forgotten().replace(copy, wait + copy)
    assert set(results(run_program, program, range(4))) == {"256\n"}


def test_arrays_keep_their_results(run_program):
    """Arrays, temporaries that are freed early, and reductions, in several streams with events."""
    program = """
import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda import gpuarray
import pycuda.cumath

streams = [cuda.Stream() for _ in range(3)]
x = gpuarray.to_gpu(np.arange(1000, dtype=np.float64))
done = cuda.Event().record()
for i in range(12):
    stream = streams[i % 3]
    stream.wait_for_event(done)
    with stream:
        x = (x + i) * 2 - x[::-1]
        x = x / (abs(x).max() + 1)
        if i % 4 == 0:
            y = x.get()
        done = cuda.Event().record(stream)
done.synchronize()
print(x.get().sum().hex(), y.sum().hex())
"""
    usual = run_program(program)
    assert usual.returncode == 0, usual.stderr
    assert set(results(run_program, program, range(4))) == {usual.stdout}


def test_a_texture_reference_is_set_for_every_stream(run_program):
    program = """
import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda.compiler import SourceModule

module = SourceModule(r'''
texture<float, 1, cudaReadModeElementType> numbers;
__global__ void read(float *z) { z[threadIdx.x] = tex1Dfetch(numbers, threadIdx.x); }
''')
read, numbers = module.get_function("read"), module.get_texref("numbers")
stream = cuda.Stream(cuda.stream_flags.NON_BLOCKING)
result = cuda.pagelocked_zeros(4, np.float32)
on_device = cuda.mem_alloc(16)
memories = [cuda.to_device(np.full(4, k, np.float32)) for k in (1, 2)]
cuda.Context.synchronize()
for memory in memories:
    numbers.set_address(memory, 16)
    read(on_device, block=(4, 1, 1), stream=stream)
    cuda.memcpy_dtoh_async(result, on_device, stream)
    stream.synchronize()
    print(result)
    cuda.Context.synchronize()
"""
    usual = run_program(program)
    assert usual.stdout == "[1. 1. 1. 1.]\n[2. 2. 2. 2.]\n", usual.stderr
    assert set(results(run_program, program, range(4))) == {usual.stdout}
