"""Ctrl-C while a kernel never ends: KeyboardInterrupt soon, wherever the program waits.

Also if a host function in a stream sleeps, and at the end of a program.
"""

import os
import signal
import subprocess
import sys
import time

import pytest
from conftest import is_softcuda

# A GPU cannot end a running kernel: there an interrupted program ends it.
# A shell starts background jobs, such as a CI run, with SIGINT ignored; Python does not change this.
PROGRAM = """
import gc
import signal
import time

signal.signal(signal.SIGINT, signal.default_int_handler)

import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda.compiler import SourceModule

SOURCE = '''
    __global__ void forever(volatile int *stop, int *out) { while (*stop == 0); *out = 1; }
'''
module = SourceModule(SOURCE)
forever = module.get_function("forever")
stop = cuda.pagelocked_zeros(1, np.int32, mem_flags=cuda.host_alloc_flags.DEVICEMAP)
host = np.zeros(1, np.int32)
out = cuda.to_device(host)
how = {"block": (1, 1, 1), "grid": (BLOCKS, 1)}


def sleep():
    print("running", flush=True)
    time.sleep(1.5)


try:
    WAIT
except KeyboardInterrupt:
    print("interrupted", flush=True)
    LATER
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
    "graph": (
        "stream = cuda.Stream(); cuda.begin_capture(stream); "
        "forever(stop, out, stream=stream, **how); "
        "graph = cuda.end_capture(stream).instantiate(); "
        "graph.launch(stream); print('running', flush=True); stream.synchronize()"
    ),
    "function": "cuda.launch_host_func(sleep); cuda.Context.synchronize()",
}
# Waits inside the driver; softcuda asks there whether to continue.
DRIVER_WAITS = {
    "free": LAUNCH + "out.free()",
    "destructor": LAUNCH + "del out; print(end='')",
    "collection": LAUNCH
    + "cycle = [out]; cycle.append(cycle); del out, cycle; gc.collect()",
    "pool": (
        "from pycuda.tools import DeviceMemoryPool; pool = DeviceMemoryPool(); "
        "block = pool.allocate(100); " + LAUNCH + "block.free(); pool.free_held()"
    ),
    "pinned": "pinned = cuda.pagelocked_empty(8, 'f4'); "
    + LAUNCH
    + "pinned.base.free()",
    "module": LAUNCH + "module.close()",
    "copy on device": LAUNCH + "cuda.memcpy_dtod(out, out, 4)",
    "fill": LAUNCH + "cuda.memset_d8(out, 0, 4)",
    "function, free": "cuda.launch_host_func(sleep); out.free()",
    "context": (
        "context = cuda.Device(0).make_context(); "
        "stop = cuda.pagelocked_zeros(1, np.int32, mem_flags=cuda.host_alloc_flags.DEVICEMAP); "
        "forever = SourceModule(SOURCE).get_function('forever'); "
        "forever(stop, stop, **how); print('running', flush=True); del stop, forever; "
        "context.pop(); context.detach()"
    ),
}


@pytest.mark.parametrize("blocks", [1, 64])
@pytest.mark.parametrize("wait", WAITS)
def test_interrupt(tmp_path, wait, blocks):
    check_interrupt(tmp_path, WAITS[wait], blocks)


@pytest.mark.parametrize("wait", DRIVER_WAITS)
def test_interrupt_inside_the_driver(tmp_path, wait):
    if not is_softcuda():
        pytest.skip("NVIDIA's driver waits unasked")
    check_interrupt(tmp_path, DRIVER_WAITS[wait], 64)


def test_the_device_works_after_an_interrupt_inside_the_driver(tmp_path):
    if not is_softcuda():
        pytest.skip("NVIDIA's driver waits unasked")
    later = """
    try:
        cuda.Context.synchronize()
    except cuda.LaunchError:
        pass  # of the kernel that was stopped; told once
    stop[0] = 1
    again = cuda.to_device(host)
    forever(stop, again, **how)
    cuda.memcpy_dtoh(host, again)
    print(host[0], flush=True)
"""
    assert check_interrupt(tmp_path, LAUNCH + "out.free()", 64, later) == "1\n"


def check_interrupt(tmp_path, wait, blocks, later="    pass"):
    """The first line that the program prints `later`, after the interrupt."""
    program = tmp_path / "program.py"
    source = PROGRAM.replace("WAIT", wait).replace("BLOCKS", str(blocks))
    program.write_text(source.replace("    LATER", later))
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
        return process.stdout.readline()
    finally:
        process.kill()
        process.wait()


@pytest.mark.slow
@pytest.mark.parametrize("quiet", [{}, {"PYCUDA_QUIET": "1"}, {"SOFTCUDA_QUIET": "1"}])
@pytest.mark.skipif(not is_softcuda(), reason="softcuda knows which kernel runs")
def test_an_endless_kernel_is_named_once(tmp_path, quiet):
    """A beginner sees why the program does not continue, and how to stop it."""
    program = tmp_path / "program.py"
    wait = LAUNCH + "cuda.Context.synchronize()"
    source = PROGRAM.replace("WAIT", wait).replace("BLOCKS", "64")
    program.write_text(source.replace("LATER", "pass"))
    env = {"PYCUDA_DRIVER": "softcuda", **os.environ}
    env = {name: env[name] for name in env if not name.endswith("_QUIET")} | quiet
    process = subprocess.Popen(
        [sys.executable, program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=env,
    )
    try:
        assert process.stdout.readline() == "running\n"
        time.sleep(25)
        process.send_signal(signal.SIGINT)
        _, text = process.communicate(timeout=20)
    finally:
        process.kill()
        process.wait()
    lines = [line for line in text.splitlines() if "has been running" in line]
    assert len(lines) == (0 if quiet else 1), text
    if lines:
        assert "kernel `forever`" in lines[0] and "Ctrl-C" in lines[0]
