"""Kernels of different streams that wait for each other while they run."""

import numpy as np
import pytest
from conftest import is_softcuda

import pycuda.driver as cuda
from pycuda.compiler import SourceModule

pytestmark = pytest.mark.usefixtures("device")

SOURCE = r"""
__device__ void wait_until(volatile int *flag, int value) {
    while (*flag != value) { }
    __threadfence();
}

// All threads wait.
extern "C" __global__ void wait_for(int *flag, int value, int *count) {
    wait_until(flag, value);
    if (threadIdx.x == 0)
        atomicAdd(count, 1);
}

extern "C" __global__ void set(int *flag, int value) { atomicExch(flag, value); }

// One waits for an odd number, and the other for an even one.
extern "C" __global__ void pass(int *flag, int parity, int rounds) {
    for (int i = 0; i < rounds; i++) {
        wait_until(flag, 2 * i + parity);
        atomicExch(flag, 2 * i + parity + 1);
    }
}
"""


def zeros(count):
    return cuda.to_device(np.zeros(count, np.int32))


@pytest.fixture
def module(device):
    module = SourceModule(SOURCE, no_extern_c=True)
    if not is_softcuda():
        # NVIDIA's driver loads a function at its first launch, and waits for all kernels before.
        zero, one = np.int32(0), {"block": (1, 1, 1)}
        module.get_function("wait_for")(zeros(1), zero, zeros(1), **one)
        module.get_function("set")(zeros(1), zero, **one)
        module.get_function("pass")(zeros(1), zero, zero, **one)
        cuda.Context.synchronize()
    return module


def value_of(memory):
    return int(cuda.from_device(memory, 1, np.int32)[0])


# On a CPU more threads than there are, on a GPU no more than are resident.
@pytest.mark.parametrize("blocks", [1, 2, 64])
def test_blocks_wait_for_a_kernel_of_another_stream(module, blocks):
    first, second = cuda.Stream(), cuda.Stream()
    flag, count = zeros(1), zeros(1)
    module.get_function("wait_for")(
        flag, np.int32(1), count, block=(64, 1, 1), grid=(blocks, 1), stream=first
    )
    module.get_function("set")(flag, np.int32(1), block=(1, 1, 1), stream=second)
    first.synchronize()
    assert value_of(count) == blocks


def test_a_chain_of_kernels_that_wait_for_later_ones(module):
    # A GPU has 8 queues (CUDA_DEVICE_MAX_CONNECTIONS); streams that share one wait for each other.
    length = 12 if is_softcuda() else 4
    streams = [cuda.Stream() for _ in range(length)]
    flags = [zeros(1) for _ in range(length + 1)]
    count = zeros(1)
    wait, set_flag = module.get_function("wait_for"), module.get_function("set")
    for i, stream in enumerate(streams):
        wait(flags[i + 1], np.int32(1), count, block=(32, 1, 1), stream=stream)
        set_flag(flags[i], np.int32(1), block=(1, 1, 1), stream=stream)
    set_flag(flags[length], np.int32(1), block=(1, 1, 1), stream=cuda.Stream())
    for stream in streams:
        stream.synchronize()
    assert [value_of(flag) for flag in flags] == [1] * (length + 1)
    assert value_of(count) == length


def test_two_kernels_take_turns(module):
    rounds, flag = np.int32(20), zeros(1)
    streams = [cuda.Stream(), cuda.Stream()]
    for parity, stream in enumerate(streams):
        module.get_function("pass")(
            flag, np.int32(parity), rounds, block=(1, 1, 1), stream=stream
        )
    for stream in streams:
        stream.synchronize()
    assert value_of(flag) == 2 * rounds


ONE_THREAD = (
    """
import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda.compiler import SourceModule
module = SourceModule('''"""
    + SOURCE
    + """''', no_extern_c=True)
flag, count = (cuda.to_device(np.zeros(1, np.int32)) for _ in range(2))
first, second = cuda.Stream(), cuda.Stream()
module.get_function("wait_for")(flag, np.int32(1), count, block=(64, 1, 1), grid=(8, 1), stream=first)
module.get_function("set")(flag, np.int32(1), block=(1, 1, 1), stream=second)
cuda.Context.synchronize()
print(cuda.from_device(count, 1, np.int32)[0])
"""
)


@pytest.mark.skipif(not is_softcuda(), reason="about softcuda's threads")
def test_with_one_thread(run_program):
    done = run_program(ONE_THREAD, SOFTCUDA_THREADS="1")
    assert done.stdout.strip() == "8", done.stderr


#: The only slot belongs to a thread that waits, and helps as soon as it has launched.
HELPED = """
import threading, time
import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda.compiler import SourceModule
module = SourceModule('''""" + SOURCE + """''', no_extern_c=True)
wait, set_flag = module.get_function("wait_for"), module.get_function("set")
flag, count = (cuda.to_device(np.zeros(1, np.int32)) for _ in range(2))
first, second = cuda.Stream(), cuda.Stream()
def launch(value):
    wait(flag, np.int32(value), count, block=(64, 1, 1), grid=(8, 1), stream=first)
    first.synchronize()
def launch_in_thread():
    pycuda.autoinit.context.push()
    time.sleep(0.2)
    launch(1)
    pycuda.autoinit.context.pop()
launch(0)
thread = threading.Thread(target=launch_in_thread)
thread.start()
time.sleep(0.5)
set_flag(flag, np.int32(1), block=(1, 1, 1), stream=second)
thread.join()
print(cuda.from_device(count, 1, np.int32)[0])
"""  # fmt: skip


@pytest.mark.skipif(not is_softcuda(), reason="about softcuda's threads")
def test_while_a_waiting_thread_helps(run_program):
    done = run_program(HELPED, SOFTCUDA_THREADS="1", timeout=20)
    assert done.stdout.strip() == "16", done.stderr
