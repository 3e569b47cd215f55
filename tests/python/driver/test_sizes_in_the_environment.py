"""Sizes in environment variables: numbers with a suffix, and an error for anything else."""

import pytest

COMPILES = """
import pycuda.autoinit
from pycuda.compiler import compile
try:
    compile("__global__ void f(int *x) { *x = 1; }", target="ptx", arch="sm_80")
except ValueError as error:
    print("ValueError", error)
else:
    print("compiled")
"""


@pytest.mark.parametrize("size", ["1G", "512m", "4096", "0", ""])
def test_a_size_has_a_suffix(run_program, tmp_path, size):
    result = run_program(
        COMPILES, PYCUDA_CACHE_SIZE=size, PYCUDA_CACHE_DIR=str(tmp_path)
    )
    assert result.stdout.strip() == "compiled", result.stderr


@pytest.mark.parametrize(
    "size", ["many", "-1", "1.5G", "1 G", "1GB", "99999999999999999999", "99999999T"]
)
def test_another_text_is_an_error(run_program, tmp_path, size):
    result = run_program(
        COMPILES, PYCUDA_CACHE_SIZE=size, PYCUDA_CACHE_DIR=str(tmp_path)
    )
    assert f"ValueError PYCUDA_CACHE_SIZE is '{size}', not a number" in result.stdout
