"""Importing is cheap: no driver call, no numpy."""

import pytest


def test_import_does_not_use_the_driver(run_program):
    done = run_program(
        """
        import sys
        import pycuda.driver, pycuda.compiler, pycuda.tools
        assert "numpy" not in sys.modules
        maps = open("/proc/self/maps").read()
        assert "libcuda" not in maps and "libsoftcuda" not in maps
        """,
        PYCUDA_DRIVER="/nowhere/libcuda.so",
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("driver", ["/nowhere/libcuda.so", "auto"])
def test_no_driver_at_all(run_program, driver):
    done = run_program(
        """
        import pycuda.driver as cuda
        try:
            cuda.init()
        except cuda.Error as error:
            print(error)
        """,
        PYCUDA_DRIVER=driver,
        PYCUDA_SOFTCUDA_LIBRARY="/nowhere/libsoftcuda.so",
        CUDA_VISIBLE_DEVICES="",
    )
    assert done.returncode == 0, done.stderr
    assert "/nowhere/lib" in done.stdout
    assert "no such file" in done.stdout.lower() or "cannot open" in done.stdout


def test_versions_do_not_initialise_the_driver(run_program):
    done = run_program(
        """
        import os
        import pycuda.driver as cuda
        assert cuda.get_driver_version() > 0
        child = os.fork()  # a child can use CUDA, since its parent has not yet
        if child == 0:
            cuda.init()
            os._exit(0 if cuda.Device.count() > 0 else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        try:
            cuda.Device(0)
        except cuda.Error as error:
            print(error)
        """
    )
    assert done.returncode == 0, done.stderr
    assert "call pycuda.driver.init() first" in done.stdout


def test_auto_decides_at_init(run_program):
    done = run_program(
        """
        import pycuda.driver as cuda
        before = cuda.get_driver_path()
        cuda.init()
        print(cuda.Device.count() > 0, before == cuda.get_driver_path())
        """,
        PYCUDA_DRIVER="auto",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "True True\n"


@pytest.mark.parametrize(
    "module", ["array_api", "fft", "linalg", "random", "sparse", "fusion", "scan"]
)
def test_each_module_of_arrays_works_alone(run_program, module):
    """Arrays have their methods, whichever module a program imports first."""
    done = run_program(f"""
        import pycuda.autoprimaryctx
        import pycuda.{module}
        from pycuda.arrays.creation.filled import zeros
        print(zeros(2).fill(1).get(), type(zeros(2)).__name__)
    """)
    assert (done.stdout, done.stderr) == ("[1. 1.] GPUArray\n", "")
