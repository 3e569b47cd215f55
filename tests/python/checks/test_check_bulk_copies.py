"""Races with bulk copies, which a thread starts and others wait for."""

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
typedef unsigned long long u64;
__device__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void init(u64 *bar, int n) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(at(bar)), "r"(n) : "memory");
}
__device__ void load(int *tile, const int *from, u64 *bar) {
    asm volatile("{ .reg .b64 s; mbarrier.arrive.expect_tx.shared.b64 s, [%0], 512; }" :: "r"(at(bar)) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 512, [%2];"
                 :: "r"(at(tile)), "l"(from), "r"(at(bar)) : "memory");
}
__device__ void wait(u64 *bar, int parity) {
    int done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.s32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(at(bar)), "r"(parity) : "memory");
}
__device__ void store(int *to, const int *tile) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;" :: "l"(to), "r"(at(tile)) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
#define TILE __shared__ __align__(128) int tile[128]; __shared__ u64 bar; int t = threadIdx.x; \
    if (t == 0) init(&bar, 1); __syncthreads();

extern "C" __global__ void waited(int *in, int *out) {
    TILE if (t == 0) load(tile, in, &bar);
    wait(&bar, 0);
    out[t] = tile[127 - t];
}
extern "C" __global__ void not_waited(int *in, int *out) {
    TILE if (t == 0) load(tile, in, &bar);
    __syncthreads();
    out[t] = tile[127 - t];
}
extern "C" __global__ void only_one_waits(int *in, int *out) {
    TILE if (t == 0) { load(tile, in, &bar); wait(&bar, 0); }
    out[t] = tile[127 - t];
}
extern "C" __global__ void one_waits_for_all(int *in, int *out) {
    TILE if (t == 0) { load(tile, in, &bar); wait(&bar, 0); }
    __syncthreads();
    out[t] = tile[127 - t];
}
extern "C" __global__ void tiles(int *in, int *out) {
    TILE for (int i = 0; i < 4; ++i) {
        if (t == 0) load(tile, in + 128 * i, &bar);
        wait(&bar, i & 1);
        out[128 * i + t] = tile[127 - t];
        __syncthreads();
    }
}
extern "C" __global__ void tiles_too_early(int *in, int *out) {
    TILE for (int i = 0; i < 4; ++i) {
        if (t == 0) load(tile, in + 128 * i, &bar);
        wait(&bar, i & 1);
        out[128 * i + t] = tile[127 - t];
    }
}
extern "C" __global__ void stored(int *in, int *out) {
    TILE tile[t] = in[t];
    __syncthreads();
    if (t == 0) { store(out, tile); asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }
    __syncthreads();
    tile[t] = 0;
}
extern "C" __global__ void overwritten(int *in, int *out) {
    TILE tile[t] = in[t];
    __syncthreads();
    if (t == 0) store(out, tile);
    __syncthreads();
    tile[t] = 0;
}
extern "C" __global__ void read_back(int *in, int *out) {
    TILE tile[t] = in[t];
    __syncthreads();
    if (t == 0) { store(out, tile); asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
    __syncthreads();
    in[t] = out[127 - t];
}
extern "C" __global__ void read_back_early(int *in, int *out) {
    TILE tile[t] = in[t];
    __syncthreads();
    if (t == 0) { store(out, tile); asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }
    __syncthreads();
    in[t] = out[127 - t];
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
found = {{}}
for line in '''{KERNELS}'''.split("__global__ void ")[1:]:
    name = line.split("(")[0]
    data, out = cuda.to_device(np.arange(512, dtype=np.int32)), cuda.mem_alloc(2048)
    with pycuda.check("race") as checks:
        module.get_function(name)(data, out, block=(128, 1, 1))
    found[name] = sorted({{f.kind for f in checks.findings}})
print(json.dumps(found))
"""

EXPECTED = {
    "waited": [],
    "not_waited": ["read-after-write"],
    "only_one_waits": ["read-after-write"],
    "one_waits_for_all": [],
    "tiles": [],
    "tiles_too_early": ["write-after-read"],
    "stored": [],
    "overwritten": ["write-after-read"],
    "read_back": [],
    "read_back_early": ["read-after-write"],
}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bulk")
    (folder / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "program.py"], capture_output=True, text=True, timeout=120, cwd=folder,
        env={**os.environ, "PYCUDA_DRIVER": "softcuda", "SOFTCUDA_ARCH": "90"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("kernel", EXPECTED)
def test_races_of_a_bulk_copy(found, kernel):
    assert found[kernel] == EXPECTED[kernel]
