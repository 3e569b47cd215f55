"""What kernels print is shown when a wait for them ends."""

import pytest

PROGRAM = """
import os, numpy as np, pycuda.autoinit, pycuda.driver as cuda
from pycuda.compiler import SourceModule
say = SourceModule('__global__ void say(int n) { printf("kernel %d\\\\n", n); }').get_function("say")
stream, event = cuda.Stream(cuda.stream_flags.NON_BLOCKING), cuda.Event()
waits = {
    "stream": lambda: stream.synchronize(),
    "event": lambda: event.record(stream).synchronize(),
    "context": lambda: cuda.Context.synchronize(),
    "own stream's context": lambda: pycuda.autoinit.context.synchronize(),
}
for number, (name, wait) in enumerate(waits.items()):
    say(np.int32(number), block=(1, 1, 1), stream=stream)
    wait()
    os.write(1, f"{name} {number}\\n".encode())
"""


@pytest.mark.usefixtures("device")
def test_a_wait_shows_what_kernels_printed(run_program):
    done = run_program(PROGRAM)
    assert done.returncode == 0, done.stderr
    expected = []
    names = ["stream", "event", "context", "own stream's context"]
    for number, name in enumerate(names):
        expected += [f"kernel {number}", f"{name} {number}"]
    assert done.stdout.splitlines() == expected
