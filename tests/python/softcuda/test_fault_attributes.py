"""The error of a kernel that failed describes the failure: LogicError's attributes on softcuda."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from conftest import is_softcuda

from pycuda import driver

pytestmark = pytest.mark.skipif(not is_softcuda(), reason="softcuda tells what failed")

NAMES = "file line kernel block thread address access allocation variable parameter"

SOURCE = """\
__constant__ int steps[4];
__device__ int counters[8];
__global__ void fail(float *out, const float *in, int what, const int *where)
{
    __shared__ int tile[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i;
    __syncthreads();
    if (what == 1)
        out[i + 100000000] = 1; // LINE far
    if (what == 2)
        out[i] = in[where[i] + 100000000]; // LINE gather
    if (what == 3)
        counters[where[i] + 100000000] = i; // LINE global
    if (what == 4)
        out[i] = tile[where[i] + 1000000]; // LINE shared
    if (what == 5)
        asm("trap;"); // LINE trap
    if (what == 6)
        *(float *)((char *)out + 1) = i; // LINE misaligned
    if (what == 7)
        atomicAdd(out + 100000000, 1.f); // LINE atomic
    if (what == 8)
        (what == 8 ? out : (float *)in)[i + 100000000] = 1; // LINE chosen
}
"""

PROGRAM = f"""
import json, sys
import numpy as np
import pycuda.autoinit
from pycuda import driver, gpuarray
from pycuda.compiler import SourceModule
options = ["-G"] if "-G" in sys.argv else None
fail = SourceModule({SOURCE!r}, options=options).get_function("fail")
out, source = driver.mem_alloc(256), driver.mem_alloc(512)
where = gpuarray.zeros(64, np.int32)
try:
    fail(out, source, np.int32(sys.argv[1]), where, block=(32, 1, 1), grid=(2, 1))
    driver.Context.synchronize()
except driver.LogicError as error:
    words = {{name: getattr(error, name) for name in {NAMES!r}.split()}}
    print(json.dumps(words | {{"text": str(error), "class": type(error).__name__,
                              "out": int(out), "source": int(source)}}))
except driver.LaunchError as error:
    words = {{name: getattr(error, name) for name in {NAMES!r}.split()}}
    print(json.dumps(words | {{"text": str(error), "class": type(error).__name__}}))
"""


def line_of(name: str) -> int:
    return 1 + next(
        n for n, line in enumerate(SOURCE.splitlines()) if f"// LINE {name}" in line
    )


def failure(what: int, *arguments: str) -> dict:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(what), *arguments],
        env={**os.environ, "PYCUDA_DRIVER": "softcuda"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def test_a_write_out_of_bounds_has_all_attributes():
    error = failure(1)
    assert error["class"] == "LogicError"
    assert error["kernel"] == "fail"
    assert error["file"].endswith("kernel.cu")
    assert error["line"] == line_of("far")
    assert error["block"] in ([0, 0, 0], [1, 0, 0])
    assert error["access"] == "write"
    assert error["parameter"] == 0
    base, size = error["allocation"]
    assert base > 0 and size > 0
    lane = (error["address"] - error["out"] - 400000000) // 4
    assert 0 <= lane < 64
    if error["thread"] is not None:
        assert error["thread"][1:] == [0, 0] and 0 <= error["thread"][0] < 32
    assert f"kernel.cu:{line_of('far')}" in error["text"]
    assert "through parameter 0" in error["text"]


def test_of_several_pointers_on_a_line_none_is_named_for_a_far_address():
    error = failure(2)
    assert (error["line"], error["access"]) == (line_of("gather"), "read")
    assert error["parameter"] is None


@pytest.mark.parametrize(
    ("what", "place", "variable"), [(3, "global", "counters"), (4, "shared", "tile")]
)
def test_a_variable_is_named(what, place, variable):
    error = failure(what)
    assert error["line"] == line_of(place)
    assert error["variable"] in (variable, None)
    assert error["parameter"] is None
    if what == 3:
        assert error["variable"] == variable
        assert f"through `{variable}`" in error["text"]


def test_a_trap_has_a_position_but_no_address():
    error = failure(5)
    assert error["line"] == line_of("trap")
    assert error["address"] is error["allocation"] is error["variable"] is None


def test_a_misaligned_write_names_its_allocation():
    error = failure(6)
    assert error["line"] == line_of("misaligned")
    assert error["address"] % 4 == 1
    assert error["allocation"] == [error["out"], 256]
    assert error["parameter"] == 0


def test_an_atomic_names_its_pointer():
    error = failure(7)
    assert error["line"] == line_of("atomic")
    assert error["parameter"] == 0


def test_the_parameters_name_is_known_from_debug_data():
    error = failure(1, "-G")
    assert (error["variable"], error["parameter"]) == ("out", 0)
    assert "through `out` (parameter 0)" in error["text"]


@pytest.mark.parametrize("queue", ["None", "driver.Stream()"])
def test_an_array_of_in_out_is_named_by_its_argument(queue, run_program):
    """Small arrays share a block of memory, so the nearest allocation does not say which array it was."""
    done = run_program(
        f"""
        import numpy as np
        import pycuda.autoinit
        from pycuda import driver
        from pycuda.compiler import SourceModule

        module = SourceModule(
            "__global__ void fill(float *a, int n, float *b) {{ b[n + threadIdx.x] = *a; }}"
        )
        a, b = np.zeros(100, np.float32), np.zeros(50, np.float32)
        try:
            module.get_function("fill")(
                driver.In(a), 1_000_050, driver.InOut(b), block=(1, 1, 1), stream={queue}
            )
        except driver.LogicError as error:
            print(error)
        """,
        PYCUDA_DRIVER="softcuda",
    )
    assert (
        "after the launch of kernel 'fill', whose argument 2 is an array of 200 bytes; "
        "the address is 4000000 bytes after its end" in done.stdout
    ), done.stdout + done.stderr


def test_other_errors_have_no_attributes():
    with pytest.raises(driver.LogicError) as caught:
        driver.Device(99)
    assert all(getattr(caught.value, name) is None for name in NAMES.split())
    assert all(getattr(driver.Error, name) is None for name in NAMES.split())
