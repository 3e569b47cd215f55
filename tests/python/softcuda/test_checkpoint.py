"""Tools lock a process that uses softcuda before they make a checkpoint of it.

The states and errors are those of an H200.
"""

import ctypes
import os
import select
import subprocess
import sys
import textwrap

import pytest

import pycuda.autoinit  # noqa: F401
import pycuda.driver as cuda

DRIVER = cuda.get_driver_path()
RUNNING, LOCKED, CHECKPOINTED = range(3)
INVALID, NOT_INITIALIZED, OPERATING_SYSTEM, ILLEGAL_STATE, NOT_READY = (
    1,
    3,
    304,
    401,
    600,
)

pytestmark = pytest.mark.skipif(
    "softcuda" not in os.path.basename(DRIVER),
    reason="softcuda is not the driver under test",
)


class LockArguments(ctypes.Structure):
    _fields_ = [
        ("milliseconds", ctypes.c_uint),
        ("reserved", ctypes.c_uint),
        ("more", ctypes.c_uint64 * 7),
    ]


class Process:
    """A process as a tool sees it. Each method returns a CUresult."""

    def __init__(self, number):
        self.number = number
        self.driver = ctypes.CDLL(DRIVER)

    def state(self):
        state = ctypes.c_int(-1)
        result = self.driver.cuCheckpointProcessGetState(
            self.number, ctypes.byref(state)
        )
        return result if result else ("state", state.value)

    def lock(self, milliseconds=0, reserved=0):
        arguments = LockArguments(milliseconds, reserved)
        return self.driver.cuCheckpointProcessLock(self.number, ctypes.byref(arguments))

    def checkpoint(self):
        return self.driver.cuCheckpointProcessCheckpoint(self.number, None)

    def restore(self):
        return self.driver.cuCheckpointProcessRestore(self.number, None)

    def unlock(self):
        return self.driver.cuCheckpointProcessUnlock(self.number, None)


# Each line of its input is answered by a line when the call is over.
TARGET = """
    import sys
    import numpy as np
    import pycuda.autoinit
    import pycuda.driver as cuda
    from pycuda.compiler import SourceModule
    module = SourceModule('''
        __global__ void wait_for(volatile int *flag) { while (*flag == 0) ; }
    ''')
    flag = cuda.managed_zeros(1, np.int32, mem_flags=cuda.mem_attach_flags.GLOBAL)
    wait = module.get_function("wait_for").prepare("P")
    address = np.intp(flag.__array_interface__["data"][0])
    print("ready", flush=True)
    for line in sys.stdin:
        if line == "kernel\\n":
            flag[0] = 0
            wait.prepared_call((1, 1), (1, 1, 1), address)
        elif line == "release\\n":
            flag[0] = 1
        else:
            cuda.mem_alloc(4096).free()
        print("done", flush=True)
"""


@pytest.fixture
def target():
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(TARGET)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
        env={
            **os.environ,
            "PYCUDA_SOFTCUDA_LIBRARY": DRIVER,
            "PYCUDA_DRIVER": "softcuda",
        },
    )
    assert process.stdout.readline() == "ready\n"
    yield process
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()


def ask(target, what="allocate"):
    target.stdin.write(what + "\n")


def answers(target, seconds=60.0):
    readable, _, _ = select.select([target.stdout], [], [], seconds)
    return bool(readable) and target.stdout.readline() == "done\n"


def test_calls_of_a_locked_process_wait(target):
    process = Process(target.pid)
    ask(target)
    assert answers(target)
    assert process.state() == ("state", RUNNING)
    assert process.lock(5000) == 0
    assert process.state() == ("state", LOCKED)
    ask(target)
    assert not answers(target, 0.3)
    assert process.checkpoint() == 0
    assert process.state() == ("state", CHECKPOINTED)
    assert process.restore() == 0
    assert process.state() == ("state", LOCKED)
    assert not answers(target, 0.1)
    assert process.unlock() == 0
    assert answers(target)


def test_each_step_needs_the_step_before_it(target):
    process = Process(target.pid)
    assert [process.unlock(), process.checkpoint(), process.restore()] == [
        ILLEGAL_STATE
    ] * 3
    assert process.lock() == 0
    assert [process.lock(10), process.restore()] == [ILLEGAL_STATE] * 2
    assert process.checkpoint() == 0
    assert [process.checkpoint(), process.unlock(), process.lock(10)] == [
        ILLEGAL_STATE
    ] * 3
    assert process.restore() == 0
    assert process.unlock() == 0


def test_a_lock_waits_for_the_work_of_the_process(target):
    process = Process(target.pid)
    ask(target, "kernel")
    assert answers(target)
    assert process.lock(100) == NOT_READY
    assert process.state() == ("state", RUNNING)
    ask(target, "release")
    assert answers(target)
    assert process.lock() == 0
    assert process.unlock() == 0


def test_a_process_locks_itself():
    process = Process(os.getpid())
    assert process.lock(5000) == 0
    assert process.state() == ("state", LOCKED)
    assert process.unlock() == 0


def test_processes_without_softcuda_are_errors(target):
    with subprocess.Popen(["sleep", "60"]) as other:
        assert Process(other.pid).state() == NOT_INITIALIZED
        other.kill()
    assert Process(other.pid).state() == OPERATING_SYSTEM
    assert Process(0).state() == OPERATING_SYSTEM
    assert Process(-1).state() == OPERATING_SYSTEM
    assert Process(target.pid).lock(10, reserved=1) == INVALID
    driver = ctypes.CDLL(DRIVER)
    assert driver.cuCheckpointProcessGetState(target.pid, None) == INVALID
    thread = ctypes.c_int(0)
    assert (
        driver.cuCheckpointProcessGetRestoreThreadId(target.pid, ctypes.byref(thread))
        == 0
    )
    assert thread.value > 0


def test_the_tool_need_not_initialise_the_driver(target):
    tool = f"""
        import ctypes
        driver = ctypes.CDLL({DRIVER!r})
        print(driver.cuCheckpointProcessLock({target.pid}, None))
        print(driver.cuCheckpointProcessUnlock({target.pid}, None))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(tool)], capture_output=True, text=True
    )
    assert done.stdout.split() == ["0", "0"]


def test_a_forked_child_is_not_its_parent():
    child = os.fork()
    if child == 0:
        import time

        time.sleep(60)
        os._exit(0)
    try:
        assert Process(child).state() == NOT_INITIALIZED
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
