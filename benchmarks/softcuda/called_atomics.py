"""Atomics of kernels with many of them: beyond 64, each is a call of a function and not code in its place.

    ./run benchmarks/softcuda/called_atomics.py [COUNT...]

For each kind of atomic and each count: the processor time of the compilation, and the time of one atomic of one
thread, on one thread of the processor.
"""

import os
import sys
import time

os.environ.setdefault("PYCUDA_DRIVER", "softcuda")
os.environ.setdefault("SOFTCUDA_THREADS", "1")

import pycuda.autoinit  # noqa: E402, F401
import pycuda.driver as cuda  # noqa: E402
from pycuda.compiler import SourceModule  # noqa: E402

ROW, SCATTERED = "p + ((t + %d) & 65535)", "p + ((t * 7919 + %d * 331) & 65535)"
KINDS = {
    "adjacent addresses": f"atomicAdd({ROW}, t);",
    "scattered addresses": f"atomicAdd({SCATTERED}, t);",
    "one address": "atomicAdd(p + %d, t);",
    "floats": f"atomicAdd((float *)({SCATTERED}), 1.5f);",
    "result used": f"s += atomicAdd({SCATTERED}, t);",
    "maximum": f"atomicMax({SCATTERED}, t);",
    "compare and swap": f"s += atomicCAS({SCATTERED}, s, t);",
    "shared memory": "atomicAdd(shared + ((t * 7 + %d * 3) & 1023), t);",
}
SOURCE = """
__global__ void k(int *p) {
  __shared__ int shared[1024];
  int t = threadIdx.x + blockIdx.x * blockDim.x, s = 0;
  if (t < 0) shared[t] = 0;
  ATOMICS
  if (s == 123456789) p[0] = shared[t & 1023];
}"""
THREADS, BLOCKS, ROUNDS = 256, 256, 7


def measure(statement: str, count: int) -> tuple[float, float]:
    """Seconds of the compilation, and nanoseconds of an atomic."""
    source = SOURCE.replace("ATOMICS", "\n".join(statement % i for i in range(count)))
    kernel = SourceModule(source).get_function("k")
    memory = cuda.mem_alloc(65536 * 4)
    cuda.memset_d32(memory, 0, 65536)

    def seconds() -> float:
        begin = time.process_time()
        kernel(memory, block=(THREADS, 1, 1), grid=(BLOCKS, 1))
        cuda.Context.synchronize()
        return time.process_time() - begin

    first = seconds()
    best = min(seconds() for _ in range(ROUNDS))
    return first - best, best / (THREADS * BLOCKS * count) * 1e9


def main() -> None:
    counts = [int(count) for count in sys.argv[1:]] or [64, 65]
    print(
        "| kind | "
        + " | ".join(f"{count}: s to compile, ns" for count in counts)
        + " |"
    )
    print("|---|" + "---:|" * len(counts))
    for kind, statement in KINDS.items():
        cells = (measure(statement, count) for count in counts)
        print(
            f"| {kind} | " + " | ".join(f"{s:.2f}, {ns:.2f}" for s, ns in cells) + " |",
            flush=True,
        )


if __name__ == "__main__":
    main()
