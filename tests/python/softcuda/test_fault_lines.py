"""A kernel that fails on softcuda names the line of the source, for every failure and in every tier."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from conftest import is_softcuda

SOURCE = """\
__device__ float twice(const float *p, int i)
{
    return p[i] * 2; // LINE read
}
__global__ void fail(float *a, int what, int *q)
{
    int i = threadIdx.x;
    float s = 0;
    for (int k = 0; k < 3; k++)
        s += twice(a, i + k);
    __syncthreads();
    if (what == 1)
        *((int *)((char *)q + 1)) = (int)s; // LINE misaligned
    if (what == 2)
        a[q[i] * 1000000] = s; // LINE far
    if (what == 3)
        asm("trap;"); // LINE trap
    if (what == 4)
        s = twice((float *)(size_t)s, 0);
    if (what == 5)
        atomicAdd(a + 1000000000LL, 1.f); // LINE atomic
    if (what == 6 && i == 40)
        a[-300000000LL - i] = s; // LINE before
    a[i] = s;
}
"""

PROGRAM = f"""
import sys
import numpy as np
import pycuda.autoinit
from pycuda import driver, gpuarray
from pycuda.compiler import SourceModule
fail = SourceModule({SOURCE!r}).get_function("fail")
a, q = gpuarray.zeros(66, np.float32), gpuarray.zeros(64, np.int32) + 1
try:
    fail(a, np.int32(sys.argv[1]), q, block=(64, 1, 1))
    driver.Context.synchronize()
except driver.LogicError:
    pass
"""


def line_of(name: str) -> int:
    return 1 + next(
        n for n, line in enumerate(SOURCE.splitlines()) if f"// LINE {name}" in line
    )


@pytest.mark.skipif(not is_softcuda(), reason="softcuda names lines")
@pytest.mark.parametrize("tier", ["regions", "fibers", "lanes"])
@pytest.mark.parametrize(
    ("what", "place"),
    [
        (1, "misaligned"),
        (2, "far"),
        (3, "trap"),
        (4, "read"),
        (5, "atomic"),
        (6, "before"),
    ],
)
def test_the_line_is_named(what: int, place: str, tier: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(what)],
        env={**os.environ, "PYCUDA_DRIVER": "softcuda", "SOFTCUDA_TIER": tier},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert f"kernel `fail` failed at kernel.cu:{line_of(place)} in block" in done.stderr


INLINED = """
.version 8.0
.target sm_80
.address_size 64
.entry fail()
{
    .reg .b64 %a;
    mov.u64 %a, 8;
    .loc 2 40 1, function_name $inner, inlined_at 2 30 5
    .loc 2 30 5, function_name $outer, inlined_at 1 7 9
    .loc 2 90 1, function_name $inner, inlined_at 2 91 1
    .loc 2 91 1, function_name $outer, inlined_at 2 90 1
    .loc LINE
    st.global.u64 [%a], %a;
    ret;
}
.file 1 "/home/me/kernel.cu"
.file 2 "/usr/local/cuda/include/header.h"
.section .debug_str
{
$inner:
.b8 102,0
$outer:
.b8 103,0
}
"""

LOAD = """
import sys
import pycuda.autoinit
from pycuda import driver
try:
    driver.module_from_buffer(sys.argv[1].encode()).get_function("fail")(block=(1, 1, 1))
    driver.Context.synchronize()
except driver.LogicError:
    pass
"""


@pytest.mark.skipif(not is_softcuda(), reason="softcuda names lines")
@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("2 40 1, function_name $inner, inlined_at 2 30 5", "kernel.cu:7"),
        ("2 41 1, function_name $inner, inlined_at 1 9 1", "kernel.cu:9"),
        ("1 11 1, function_name $inner, inlined_at 1 9 1", "kernel.cu:11"),
        # No compiler writes calls in a circle.
        ("2 90 1, function_name $inner, inlined_at 2 91 1", "header.h:9"),
    ],
)
def test_a_header_s_fault_is_at_the_call(line: str, named: str) -> None:
    """The call is a line of the user's file, however deep CUDA's headers call each other."""
    done = subprocess.run(
        [sys.executable, "-c", LOAD, INLINED.replace("LINE", line)],
        env={**os.environ, "PYCUDA_DRIVER": "softcuda"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert f"kernel `fail` failed at {named}" in done.stderr
