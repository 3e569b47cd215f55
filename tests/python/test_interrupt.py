"""Ctrl-C while a kernel never ends: KeyboardInterrupt, soon, wherever the program waits."""

import os
import signal
import subprocess
import sys
import time

import pytest
from conftest import is_softcuda

PROGRAM = """
import sys
import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda.compiler import SourceModule

forever = SourceModule('''
    __global__ void forever(volatile int *p) { while (p[0] == 0); }
''').get_function("forever")
host = np.zeros(1, np.int32)
flag = cuda.to_device(host)
print("ready", flush=True)
try:
    WAIT
except KeyboardInterrupt:
    print("interrupted", flush=True)
    import os
    os._exit(0)
"""

LAUNCH = (
    "forever(flag, block=(1, 1, 1), grid=(BLOCKS, 1)); print('running', flush=True); "
)
WAITS = {
    "context": LAUNCH + "cuda.Context.synchronize()",
    "copy": LAUNCH + "cuda.memcpy_dtoh(host, flag)",
    "event": LAUNCH + "cuda.Event().record().synchronize()",
    "out": "print('running', flush=True); forever(cuda.InOut(host), block=1, grid=(BLOCKS, 1))",
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
        assert process.stdout.readline() == "ready\n", process.stderr.read()
        assert process.stdout.readline() == "running\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        start = time.monotonic()
        assert process.stdout.readline() == "interrupted\n"
        assert time.monotonic() - start < 1
    finally:
        process.kill()
        process.wait()
