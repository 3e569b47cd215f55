"""The first use of an operation compiles without the GIL and without locks that others need."""

FROZEN = """
    import sys, threading, time
    import numpy as np
    import pycuda.autoinit
    import pycuda
    import pycuda.driver as cuda
    from pycuda import gpuarray
    from pycuda.elementwise import ElementwiseKernel

    x = gpuarray.to_gpu(np.arange(1000, dtype=np.float32))
    known = x + x
    stop, steps = threading.Event(), 0

    def step():
        global steps
        while not stop.is_set():
            time.sleep(0.001)
            steps += 1

    def first_use():
        if sys.argv[1] == "operation":
            gpuarray.hypot(x.astype(np.int16), np.float16(2))
        elif sys.argv[1] == "sort":
            gpuarray.sort(x.astype(np.int16))
        elif sys.argv[1] == "fuse":
            pycuda.fuse(lambda a: np.arctan2(a, a + 3))(x)
        else:
            ElementwiseKernel("float *x", "x[i] = erff(x[i]) + 12345")(x)

    sys.setswitchinterval(60)  # it runs only where this thread lets go of the GIL
    thread = threading.Thread(target=step)
    thread.start()
    for _ in range(2):  # only the first call compiles
        before = steps
        first_use()
        print(steps - before)
    stop.set()
    thread.join()
"""


def check(result):
    assert result.returncode == 0, result.stderr
    first, second = map(int, result.stdout.split())
    assert first >= second + 4, "another thread stood still while a kernel was compiled"


def test_other_threads_run_while_an_operation_compiles(run_program):
    check(run_program(FROZEN, "operation", PYCUDA_KERNEL_PACK="none"))


def test_other_threads_run_while_a_sort_compiles(run_program):
    check(run_program(FROZEN, "sort", PYCUDA_KERNEL_PACK="none"))


def test_other_threads_run_while_a_fused_function_compiles(run_program):
    check(run_program(FROZEN, "fuse", PYCUDA_KERNEL_PACK="none"))


def test_other_threads_run_while_an_elementwise_kernel_compiles(run_program):
    check(run_program(FROZEN, "elementwise", PYCUDA_KERNEL_PACK="none"))


TOGETHER = """
    import sys, threading
    import numpy as np
    import pycuda.autoinit
    from pycuda import gpuarray
    from pycuda.driver import Context

    context = Context.get_current()
    x = gpuarray.to_gpu(np.arange(1, 1001, dtype=np.float32))
    start = threading.Barrier(4)
    results = {}

    def use(name, function):
        context.push()
        start.wait()
        results[name] = function(x).get()
        Context.pop()

    same = lambda y: gpuarray.arctan2(y, np.float32(3))
    threads = [
        threading.Thread(target=use, args=one)
        for one in [("a", same), ("b", same), ("c", same), ("d", np.cbrt)]
    ]
    sys.stderr.write("start\\n")
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (results["a"] == results["b"]).all() and (results["a"] == results["c"]).all()
    np.testing.assert_allclose(results["d"], np.cbrt(x.get()), rtol=1e-6)
"""


def test_threads_that_want_one_operation_compile_it_once(run_program):
    result = run_program(TOGETHER, PYCUDA_KERNEL_PACK="none", PYCUDA_TRACE="1")
    assert result.returncode == 0, result.stderr
    after = result.stderr.split("start\n")[1]
    loads = [line for line in after.splitlines() if "cuModuleLoadData" in line]
    assert len(loads) == 2, "\n".join(loads)  # arctan2 and cbrt
