"""A program ends without errors, whatever objects still exist."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import is_softcuda

from pycuda import _driver

SOURCES = Path(__file__).parents[3] / "python/src"
TABLE, SOURCE = SOURCES / "python_calls.def", SOURCES / "support/thread_end.cpp"


def clean(done):
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def test_exit_with_everything_alive(run_program):
    clean(
        run_program(
            """
            import numpy as np
            import pycuda.autoinit
            import pycuda.driver as cuda
            from pycuda.tools import DeviceMemoryPool, PageLockedMemoryPool

            context = cuda.Device(0).make_context()
            context.push()
            kept = [cuda.mem_alloc(64), cuda.Stream(), cuda.Event().record(),
                    cuda.pagelocked_empty(10, "f4"), cuda.managed_zeros(10, "f4"),
                    cuda.register_host_memory(np.zeros(1000))]
            pool, host_pool = DeviceMemoryPool(), PageLockedMemoryPool()
            kept += [pool.allocate(100), host_pool.allocate((10,), "f4")]
            pool.allocate(5000).free()
            kept.append(kept)  # a cycle
            stream = cuda.Stream()
            cuda.memcpy_htod_async(kept[0], np.zeros(8), stream)
            """
        )
    )


def test_exit_with_a_context_on_the_stack(run_program):
    clean(
        run_program(
            """
            import pycuda.driver as cuda
            cuda.init()
            context = cuda.Device(0).make_context()
            """
        )
    )


def test_exit_in_a_context_of_another_thread(run_program):
    clean(
        run_program(
            """
            import threading
            import pycuda.driver as cuda
            cuda.init()
            kept = []
            def work():
                kept.append(cuda.Device(0).make_context())
                kept.append(cuda.mem_alloc(100))
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
            """
        )
    )


@pytest.mark.parametrize(
    "end", ["context.pop()", "context.detach()", "context.pop(); context.detach()"]
)
def test_the_program_may_end_the_default_context_itself(run_program, end):
    clean(run_program(f"from pycuda.autoinit import context\n{end}\n"))


def test_users_atexit_functions_may_still_work(run_program):
    clean(
        run_program(
            """
            import atexit
            import pycuda.autoinit
            import pycuda.driver as cuda
            memory = cuda.mem_alloc(16)
            atexit.register(memory.free)
            """
        )
    )


def test_autoinit_and_autoprimaryctx_are_one(run_program):
    done = run_program(
        """
        import pycuda.autoinit, pycuda.autoprimaryctx
        import pycuda.driver as cuda
        assert pycuda.autoprimaryctx.context is pycuda.autoinit.context
        assert pycuda.autoinit.device == cuda.Device(0)
        assert cuda.Context.get_current() == pycuda.autoinit.context
        """
    )
    clean(done)


def test_fork_gives_an_error_and_no_crash(run_program):
    done = run_program(
        """
        import os, sys, warnings
        import pycuda.autoinit
        import pycuda.driver as cuda
        warnings.simplefilter("ignore")  # Python 3.12 warns of fork() beside other threads
        memory = cuda.mem_alloc(16)
        pid = os.fork()
        if pid == 0:
            try:
                cuda.mem_alloc(16)
            except cuda.Error as error:
                print(error)
            sys.exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        """
    )
    clean(done)  # the child prints nothing either
    assert "fork" in done.stdout and "call pycuda.driver.init()" not in done.stdout


#: Launches kernels that are compiled for some tenths of a second, and does not wait for them.
SLOW_TO_COMPILE = """
import os, sys, warnings
os.environ["SOFTCUDA_DISABLE_CACHE"] = "1"
import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda.compiler import SourceModule
warnings.simplefilter("ignore")  # Python 3.12 warns of fork() beside other threads
lines = "".join(f"x = x * {i}.5f + y; y = sinf(x) + y * {i}.25f;\\n" for i in range(40))
module = SourceModule("".join(
    f"__global__ void f{k}(float *p) {{ float x = p[threadIdx.x], y = {k}; {lines} p[threadIdx.x] = y; }}\\n"
    for k in range(4)
))
memory = cuda.mem_alloc(4 * 32)
for k in range(4):
    module.get_function(f"f{k}")(memory, block=(32, 1, 1))
"""


def test_exit_while_kernels_are_compiled(run_program):
    done = run_program(SLOW_TO_COMPILE)
    assert done.returncode == 0, done.stderr
    # On a slow machine the work takes longer than the end of the program waits.
    assert done.stderr == "" or "gave up unfinished work" in done.stderr


@pytest.mark.slow
def test_a_forked_process_exits_while_kernels_are_compiled(run_program):
    done = run_program(
        SLOW_TO_COMPILE
        + """
pid = os.fork()
if pid == 0:
    sys.exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
cuda.Context.synchronize()
"""
    )
    clean(done)


@pytest.mark.parametrize("told", [True, False])
def test_a_kernels_failure_is_reported_once(run_program, told):
    done = run_program(
        """
        import sys
        import pycuda.autoinit
        import pycuda.driver as cuda
        from pycuda.compiler import SourceModule
        module = SourceModule("__global__ void f(int *p) { *p = 1; }")
        module.get_function("f")(None, block=1)
        if sys.argv[1] == "True":
            try:
                cuda.Context.synchronize()
            except cuda.Error as error:
                print(error)
        """,
        str(told),
    )
    assert done.returncode == 0
    assert ("illegal" in done.stdout) is told
    assert ("unfinished work failed at exit" in done.stderr) is not told


ENDLESS = """
import sys
import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda import _exit
from pycuda.compiler import SourceModule
from pycuda.tools import context_dependent_memoize

_exit.PATIENCE = 0.3
module = SourceModule("__global__ void f(volatile int *go_on) { while (*go_on); }")
go_on = cuda.to_device(np.ones(1, np.int32))
memory = context_dependent_memoize(lambda: cuda.mem_alloc(100))()
module.get_function("f")(go_on, block=(32, 1, 1), grid=(8, 1))
"""


@pytest.mark.parametrize("end, code", [("pass", 0), ("sys.exit(3)", 3), ("1 / 0", 1)])
def test_an_endless_kernel_ends_with_the_process(run_program, end, code):
    done = run_program(ENDLESS + end, timeout=30)
    assert done.returncode == code
    assert "gave up unfinished work" in done.stderr
    assert ("ZeroDivisionError" in done.stderr) is (end == "1 / 0")


def test_after_ctrl_c_the_last_line_advises_no_wait(run_program):
    done = run_program(ENDLESS + "raise KeyboardInterrupt", timeout=30)
    assert "KeyboardInterrupt" in done.stderr
    assert done.stderr.endswith(
        "pycuda: work was still running after Ctrl-C, and ends with the program\n"
    )


@pytest.mark.skipif(not is_softcuda(), reason="a GPU's kernel cannot be ended")
def test_a_kernel_that_ctrl_c_ends_is_no_failure(run_program):
    """softcuda ends the kernel, and its result is a failed launch, which would look like a defect of the kernel."""
    done = run_program(
        ENDLESS
        + "import os, signal, threading\n"
        + "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        + "threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        + "cuda.Context.synchronize()",
        timeout=30,
    )
    assert "KeyboardInterrupt" in done.stderr
    assert done.stderr.endswith("pycuda: Ctrl-C ended the kernel that was running\n")
    assert "unfinished work failed" not in done.stderr


def test_an_endless_kernel_in_an_own_context_ends_with_the_process(run_program):
    source = ENDLESS.replace("import pycuda.autoinit\n", "").replace(
        "module =", "cuda.init(); context = cuda.Device(0).make_context(); module ="
    )
    clean(run_program(source, timeout=30))


def test_an_interrupt_ends_the_wait_at_exit(run_program):
    source = ENDLESS.replace("PATIENCE = 0.3", "PATIENCE = 100.0")
    interrupt = """
import signal, threading
signal.signal(signal.SIGINT, signal.default_int_handler)
timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
timer.daemon = True
timer.start()
"""
    assert run_program(source + interrupt, timeout=30).returncode == 0


#: What a daemon thread does when the program ends: it waits in a call, or asks for the GIL.
DAEMONS = {
    "launches and waits": "spin(memory, block=(32, 1, 1)); context.synchronize()",
    "array expressions": "(gpuarray.arange(1000, dtype=np.float32) * 2).get()",
    "copies": "cuda.memcpy_htod(memory, host); cuda.memcpy_dtoh(host, memory)",
    "large copies": "cuda.memcpy_dtoh(large_host, large)",
    "fills": "cuda.memset_d32(memory, 0, 32)",
    "allocations": "cuda.mem_alloc(1 << 20).free(); cuda.pagelocked_empty(1 << 16, 'u1')",
    "compilations": "compile('__global__ void f() {}  // ' + str(next(numbers)), target='ptx')",
    "events": "event.record(); event.synchronize(); event.query()",
    "streams": "s = cuda.Stream(); s.synchronize(); s.close()",
    "modules": "cuda.module_from_buffer(image).get_function('f')",
    "host functions": "cuda.launch_host_func(lambda: next(numbers), stream); stream.synchronize()",
    "an allocator of Python": "gpuarray.empty(10, np.float32, allocator=lambda n: cuda.mem_alloc(n))",
    "user kernels": "twice(a, a); total(a).get()",
    "foreign types": "try: a + Other()\n        except TypeError: pass",
}

DAEMON_PROGRAM = """
import itertools, sys, threading, time
import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda import gpuarray
from pycuda.compiler import SourceModule, compile
from pycuda.elementwise import ElementwiseKernel
from pycuda.reduction import ReductionKernel

class Other:
    def __radd__(self, other):
        sum(range(2000))
        return NotImplemented

spin = SourceModule(
    "__global__ void spin(float *a) {{ for (int i = 0; i < 20000; i++) a[threadIdx.x] += 1; }}"
).get_function("spin")
image = compile("extern \\"C\\" __global__ void f() {{}}", no_extern_c=True)
context = pycuda.autoinit.context
memory, host = cuda.mem_alloc(4 * 32), np.zeros(32, np.float32)
large, large_host = cuda.mem_alloc(1 << 24), np.zeros(1 << 22, np.float32)
numbers, event, stream = itertools.count(), cuda.Event(), cuda.Stream()
a = gpuarray.zeros(100, np.float32)
twice = ElementwiseKernel("float *z, float *x", "z[i] = 2 * x[i]")
total = ReductionKernel(np.float32, "0", "a + b")
begun = threading.Barrier(4)

def work():
    context.push()
    begun.wait()
    while True:
        {work}

for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
begun.wait()
time.sleep(0.2)
sys.exit(4)
"""


@pytest.mark.parametrize("work", DAEMONS)
def test_a_daemon_thread_ends_with_the_process(run_program, work):
    done = run_program(DAEMON_PROGRAM.format(work=DAEMONS[work]))
    assert done.returncode == 4, done.stderr
    assert done.stderr == ""


SUB_INTERPRETER = """
try:
    import _interpreters as interpreters
except ImportError:  # before Python 3.13
    import _xxsubinterpreters as interpreters

run = getattr(interpreters, "exec", None) or interpreters.run_string

def try_to_import():
    program = ("try:\\n    import pycuda.driver\\n"
               "except ImportError as error:\\n    assert 'interpreter' in str(error), error\\n"
               "else:\\n    raise AssertionError('no error')")
    failure = run(interpreters.create(), program)
    assert failure is None, failure

try_to_import()
import pycuda.autoinit
try_to_import()
"""


def test_a_sub_interpreter_is_refused(run_program):
    clean(run_program(SUB_INTERPRETER))


#: Names of functions of Python's C API that may run Python code or acquire the GIL.
MAY_RUN_PYTHON = re.compile(
    "Call|Attr|Iter|Import|IsTrue|RichCompare|Repr|_Str$|Warn|Eval|FSPath|PyNumber_|AsDouble|AsLong|"
    "PySequence_|PyObject_(Get|Set|Del)Item|PyDict_(Set|Del)Item$|GILState_Ensure|RestoreThread"
)
NEVER_RUN_PYTHON = {
    *("PyEval_SaveThread", "PyCallable_Check", "PySequence_Check", "PyMem_Calloc"),
    *("PyObject_GenericSetAttr", "Py_AddPendingCall", "PyImport_GetModuleDict"),
}


def test_functions_that_may_end_a_daemon_thread_are_in_the_table():
    nm = shutil.which("nm")
    if nm is None:
        pytest.skip("no nm")
    command = [nm, "-D", "--undefined-only", _driver.__file__]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    used = set(re.findall(r" U (_?Py(?!Exc_)\w+)", listed))
    rows = re.findall(r"^PYTHON_CALL\([^,]*, *(\w+)", TABLE.read_text(), re.MULTILINE)
    assert "PyEval_RestoreThread" in used
    variadic = re.findall(
        r"^extern .C. .*__wrap_(Py\w+)", SOURCE.read_text(), re.MULTILINE
    )
    risky = set(filter(MAY_RUN_PYTHON.search, used)) - NEVER_RUN_PYTHON
    assert risky - set(rows) - set(variadic) == set()
