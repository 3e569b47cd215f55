"""Importing is light: no driver call, no numpy."""

import pytest


def test_import_touches_no_driver(run_program):
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
