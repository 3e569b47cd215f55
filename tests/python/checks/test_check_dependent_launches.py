"""Races of a launch with the launch before it, which need not have ended (programmatic dependent launch)."""

import json
import os
import subprocess
import sys

import pytest
from conftest import is_softcuda

pytestmark = pytest.mark.skipif(
    not is_softcuda(), reason="only softcuda has check modes"
)

KERNELS = r"""
#define WAIT asm volatile("griddepcontrol.wait;" ::: "memory")
#define LAUNCH asm volatile("griddepcontrol.launch_dependents;" ::: "memory")
#define I int t = threadIdx.x, i = blockIdx.x * 128 + t
extern "C" {
__global__ void write(int *x) { I; LAUNCH; x[i] = i; }
__global__ void write_and_end(int *x) { I; x[i] = i; }
__global__ void read(const int *x, int *y) { I; y[i] = x[511 - i]; }
__global__ void wait_and_read(const int *x, int *y) { I; WAIT; y[i] = x[511 - i]; }
__global__ void wait_late(const int *x, int *y) { I; int v = x[511 - i]; WAIT; y[i] = v; }
__global__ void overwrite(int *x) { I; x[i] = 0; }
__global__ void overwrite_late(int *x) { I; WAIT; x[i] = 0; }
// One thread waits for all threads of the block.
__global__ void one_waits(const int *x, int *y) { I; if (t == 0) WAIT; __syncthreads(); y[i] = x[511 - i]; }
__global__ void one_waits_for_itself(const int *x, int *y) { I; if (t == 0) WAIT; y[i] = x[511 - i]; }
// Allows the next launch to begin before, or after, it has waited for the launch before.
__global__ void pass_on_early(int *z) { I; LAUNCH; WAIT; z[i] = i; }
__global__ void pass_on_late(int *z) { I; WAIT; LAUNCH; z[i] = i; }
// Reads what it has written itself, before it waits.
__global__ void own(int *y) { I; y[i] = i; __syncthreads(); int v = y[i ^ 1]; __syncthreads(); WAIT; y[i] = v; }
// A flag orders the two launches.
__global__ void write_and_flag(int *x, int *flags) {
    I; x[i] = i; __threadfence(); __syncthreads(); if (t == 0) atomicAdd(flags, 1); LAUNCH;
}
}
"""

PROGRAM = f"""
import json
import numpy as np
import pycuda
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda.compiler import SourceModule

module = SourceModule(r'''{KERNELS}''', nvcc="nvrtc", no_extern_c=True)
kernels = {{}}
stream = cuda.Stream()
x, y, z = (cuda.to_device(np.zeros(512, np.int32)) for _ in range(3))
arrays = {{"x": x, "y": y, "z": z}}

def run(text):
    for launch in text.split(" "):
        if launch == "host":
            stream.synchronize()
        elif launch == "fill":
            cuda.memset_d32_async(int(x), 7, 512, stream)
        else:
            early, launch = launch.startswith("+"), launch.removeprefix("+")
            name, arguments = launch.rstrip(")").split("(")
            function = module.get_function(name)
            function(*(arrays[a] for a in arguments.split(",")), grid=(4, 1), block=(128, 1, 1),
                     stream=stream, programmatic=early)
    stream.synchronize()

found = []
for text in json.loads(input()):
    with pycuda.check("race") as checks:
        run(text)
    found.append(sorted({{finding.kind for finding in checks.findings}}))
print(json.dumps(found))
"""

READ_AFTER_WRITE, WRITE_AFTER_READ = ["read-after-write"], ["write-after-read"]
# Launches in one stream; those with + may begin before the one before them has ended.
EXPECTED = {
    "write(x) read(x,y)": [],
    "write(x) +wait_and_read(x,y)": [],
    "write(x) +read(x,y)": READ_AFTER_WRITE,
    "write(x) +wait_late(x,y)": READ_AFTER_WRITE,
    # without griddepcontrol.launch_dependents, the launch begins at the end of the one before it
    "write_and_end(x) +read(x,y)": [],
    "write(x) host +read(x,y)": [],
    "write(x) fill +read(x,y)": [],
    "fill write(z) +read(x,y)": [],
    "write(x) +one_waits(x,y)": [],
    "write(x) +one_waits_for_itself(x,y)": READ_AFTER_WRITE,
    "pass_on_early(y) +overwrite_late(y)": [],
    "write(y) +overwrite(y)": ["write-after-write"],
    "write(x) +pass_on_late(z) +read(x,y)": [],
    "write(x) +pass_on_early(z) +read(x,y)": READ_AFTER_WRITE,
    "write(x) +pass_on_early(z) +wait_and_read(x,y)": [],
    "write(x) +own(y)": [],
    "write(x) +read(z,y) wait_and_read(x,z)": [],
    # the previous launch reads
    "pass_on_early(z) wait_and_read(x,y) +overwrite(x)": [],
}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dependent")
    (folder / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "program.py"], capture_output=True, text=True, timeout=120, cwd=folder,
        input=json.dumps(list(EXPECTED)),
        env={**os.environ, "PYCUDA_DRIVER": "softcuda", "SOFTCUDA_ARCH": "90"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return dict(zip(EXPECTED, json.loads(done.stdout), strict=True))


@pytest.mark.parametrize("launches", EXPECTED)
def test_races_with_the_launch_before(found, launches):
    assert found[launches] == EXPECTED[launches]
