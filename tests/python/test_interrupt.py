"""Ctrl-C while a kernel never ends: KeyboardInterrupt, soon, wherever the program waits."""

import os
import signal
import subprocess
import sys
import time

import pytest
from conftest import is_softcuda

# A GPU cannot end a running kernel: there the program ends it, once it was interrupted.
# A shell starts background jobs, such as a CI run, with SIGINT ignored; Python keeps it so.
PROGRAM = """
import signal

signal.signal(signal.SIGINT, signal.default_int_handler)

import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda.compiler import SourceModule

forever = SourceModule('''
    __global__ void forever(volatile int *stop, int *out) { while (*stop == 0); *out = 1; }
''').get_function("forever")
stop = cuda.pagelocked_zeros(1, np.int32, mem_flags=cuda.host_alloc_flags.DEVICEMAP)
host = np.zeros(1, np.int32)
out = cuda.to_device(host)
how = {"block": (1, 1, 1), "grid": (BLOCKS, 1)}
try:
    WAIT
except KeyboardInterrupt:
    print("interrupted", flush=True)
finally:
    stop[0] = 1
"""

LAUNCH = "forever(stop, out, **how); print('running', flush=True); "
WAITS = {
    "context": LAUNCH + "cuda.Context.synchronize()",
    "copy": LAUNCH + "cuda.memcpy_dtoh(host, out)",
    "event": LAUNCH + "cuda.Event().record().synchronize()",
    "other stream": (
        "stream = cuda.Stream(cuda.stream_flags.NON_BLOCKING); "
        "forever(stop, out, stream=stream, **how); print('running', flush=True); "
        "cuda.Context.synchronize()"
    ),
    "out": "print('running', flush=True); forever(stop, cuda.InOut(host), **how)",
}


@pytest.mark.parametrize("blocks", [1, 64])
@pytest.mark.parametrize("wait", WAITS)
def test_interrupt(tmp_path, wait, blocks):
    program = tmp_path / "program.py"
    program.write_text(
        PROGRAM.replace("WAIT", WAITS[wait]).replace("BLOCKS", str(blocks))
    )
    env = dict(os.environ)
    if is_softcuda():
        env.setdefault("PYCUDA_DRIVER", "softcuda")
    process = subprocess.Popen(
        [sys.executable, program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=env,
    )
    try:
        assert process.stdout.readline() == "running\n", process.stderr.read()
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        start = time.monotonic()
        assert process.stdout.readline() == "interrupted\n"
        assert time.monotonic() - start < 1
    finally:
        process.kill()
        process.wait()
