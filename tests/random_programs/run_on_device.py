"""Runs the kernels of one module on a device, and writes the memory after each.

    run_on_device.py compile SOURCE IMAGE
    run_on_device.py run IMAGE INPUT JOBS OUTPUT FIRST

JOBS is a JSON list of [kernel, grid, block, words of each buffer]. Before and after each kernel a
line goes to stdout: "begin INDEX", and "end INDEX" or "error INDEX MESSAGE". After an error the
process ends, because the context may be destroyed; the caller continues with the next kernel.
"""

import json
import pathlib
import sys

import numpy as np

import pycuda.autoprimaryctx  # noqa: F401
import pycuda.compiler
import pycuda.driver as cuda

OPTIONS = ["-fmad=false", "-std=c++17", "-diag-suppress=177,128,111,550,186,68,1215"]


def compile_source(source, image):
    text = pathlib.Path(source).read_text()
    # Packed 16-bit types need sm_90, which softcuda runs with any compute capability.
    software = "softcuda" in cuda.get_driver_path()
    target = {"target": "ptx", "arch": "sm_90"} if software else {}
    made = pycuda.compiler.compile(text, options=OPTIONS, no_extern_c=True, **target)
    pathlib.Path(image).write_bytes(made)


def run(image, input_file, jobs, output, first):
    # A GPU's default of 1 KB is too little for functions that call themselves.
    cuda.Context.set_limit(cuda.limit.STACK_SIZE, 16384)
    words = np.fromfile(input_file, np.uint32)
    data = cuda.to_device(words)
    rows = np.array(
        [int(data) + 4 * (4096 + row * 256 + 128) for row in range(16)], np.uint64
    )
    rows = cuda.to_device(rows)
    scalars = [
        np.int32(5),
        np.int32(19),
        np.int32(-5),
        np.uint32(0xFFFFFFF5),
        np.int64(-3),
    ]
    scalars.append(np.uint64(0xFFFFFFFFFFFFFFF3))
    module = cuda.module_from_buffer(pathlib.Path(image).read_bytes())
    jobs = json.loads(pathlib.Path(jobs).read_text())
    with open(output, "ab") as results:
        for index in range(first, len(jobs)):
            name, grid, block, counts = jobs[index]
            print("begin", index, flush=True)
            try:
                buffers = [cuda.mem_alloc(4 * count) for count in counts]
                for buffer, count in zip(buffers, counts, strict=True):
                    cuda.memset_d32(buffer, 0, count)
                kernel = module.get_function(name)
                kernel(
                    data, rows, *buffers, *scalars, grid=tuple(grid), block=tuple(block)
                )
                cuda.Context.synchronize()
                for buffer, count in zip(buffers, counts, strict=True):
                    cuda.from_device(buffer, count, np.uint32).tofile(results)
            except cuda.Error as error:
                print("error", index, str(error).splitlines()[0], flush=True)
                sys.exit(4)
            results.flush()
            print("end", index, flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "compile":
        compile_source(*sys.argv[2:])
    else:
        run(*sys.argv[2:6], int(sys.argv[6]))
