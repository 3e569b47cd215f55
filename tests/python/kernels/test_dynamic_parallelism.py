"""Kernels that launch kernels, compiled from CUDA C++ and linked with the runtime for device code."""

import numpy as np
import pytest
from conftest import is_softcuda

import pycuda.driver as cuda
from pycuda.compiler import DynamicModule, DynamicSourceModule


@pytest.fixture
def linked(device, able):
    """Compile and link a source, or skip if there is no compiler or no linker."""

    def make(source, **options):
        return link(able, lambda: DynamicSourceModule(source, **options))

    return make


def link(able, attempt):
    try:
        return able("launches by kernels", attempt)
    except OSError as missing:
        pytest.skip(f"no cudadevrt: {missing}")


def run(function, words, *arguments, block=(32, 1, 1), grid=(1, 1)):
    """Launch with a zeroed array of int32 as the first argument and return the array."""
    memory = cuda.mem_alloc(4 * words)
    cuda.memset_d32(memory, 0, words)
    function(memory, *arguments, block=block, grid=grid)
    cuda.Context.synchronize()
    result = np.empty(words, np.int32)
    cuda.memcpy_dtoh(result, memory)
    return result


def test_a_module_without_launches_by_kernels(linked):
    module = linked(
        "__global__ void square(int *a) { a[threadIdx.x] = threadIdx.x * threadIdx.x; }"
    )
    assert run(module.get_function("square"), 32).tolist() == [i * i for i in range(32)]


def test_each_thread_launches_a_grid(linked):
    module = linked("""
        __global__ void add(int *a, int n) { atomicAdd(&a[threadIdx.x], n); }
        __global__ void parent(int *a) { add<<<2, 64>>>(a, threadIdx.x); }
    """)
    result = run(module.get_function("parent"), 64)
    assert result.tolist() == [2 * sum(range(32))] * 64


def test_launches_of_a_block_are_in_order(linked):
    module = linked("""
        __global__ void append(int *list, int n) { list[++list[0]] = n; }
        __global__ void parent(int *list) {
            append<<<1, 1, 0, cudaStreamTailLaunch>>>(list, 8);
            append<<<1, 1>>>(list, 1);
            append<<<1, 1, 0, cudaStreamTailLaunch>>>(list, 9);
            append<<<1, 1>>>(list, 2);
        }
    """)
    result = run(module.get_function("parent"), 8, block=(1, 1, 1))
    assert result[:5].tolist() == [4, 1, 2, 8, 9]


def test_fire_and_forget_ends_before_its_parent(linked):
    module = linked("""
        __global__ void child(int *a) { atomicAdd(a, 1); }
        __global__ void parent(int *a) { child<<<3, 32, 0, cudaStreamFireAndForget>>>(a); }
    """)
    assert run(module.get_function("parent"), 1, grid=(4, 1))[0] == 3 * 32 * 32 * 4


def test_recursion(linked):
    module = linked("""
        __global__ void tree(int *leaves, int depth) {
            if (depth == 0) {
                atomicAdd(leaves, 1);
                return;
            }
            tree<<<1, 2>>>(leaves, depth - 1);
        }
    """)
    result = run(module.get_function("tree"), 1, np.int32(6), block=(2, 1, 1))
    assert result[0] == 2**7


def test_streams_and_events(linked):
    module = linked("""
        __global__ void append(int *list, int n) { list[++list[0]] = n; }
        __global__ void parent(int *list) {
            cudaStream_t stream;
            cudaEvent_t event;
            cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
            cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
            append<<<1, 1, 0, stream>>>(list, 1);
            cudaEventRecord(event, stream);
            cudaStreamWaitEvent(0, event, 0);
            append<<<1, 1>>>(list, 2);
            cudaEventDestroy(event);
            cudaStreamDestroy(stream);
            list[7] = cudaGetLastError();
        }
    """)
    result = run(module.get_function("parent"), 8, block=(1, 1, 1))
    assert result[:3].tolist() == [2, 1, 2]
    assert result[7] == 0


def test_memory_and_questions(linked):
    module = linked("""
        __global__ void parent(int *a) {
            int *memory = nullptr, device = -1, threads = 0, blocks = 0;
            a[0] = cudaMalloc((void **)&memory, 64);
            memory[3] = 5;
            a[1] = memory[3];
            a[2] = cudaFree(memory);
            cudaGetDevice(&device);
            a[3] = device;
            cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerBlock, device);
            a[4] = threads;
            cudaFuncAttributes attributes;
            a[5] = cudaFuncGetAttributes(&attributes, (const void *)parent);
            a[6] = attributes.maxThreadsPerBlock;
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                &blocks, (const void *)parent, 128, 0);
            a[7] = blocks > 0;
            a[8] = a[9] = a[10] = 7;
            a[12] = cudaMemsetAsync(a + 8, 0, 4, 0);
            a[13] = cudaMemcpyAsync(a + 10, a + 8, 8, cudaMemcpyDeviceToDevice, 0);
        }
    """)
    result = run(module.get_function("parent"), 14, block=(1, 1, 1))
    assert result[12:].tolist() == [0, 0]
    assert result[[0, 1, 2, 3, 5, 7]].tolist() == [0, 5, 0, 0, 0, 1]
    assert result[4] == 1024
    assert 0 < result[6] <= 1024
    assert result[8:12].tolist() == [0, 7, 0, 7]


def test_memory_is_set_to_a_value(linked):
    """NVIDIA's device runtime of CUDA 13.0 sets zeros here, whatever the value."""
    if not is_softcuda():
        pytest.skip("the GPU's device runtime sets zeros")
    module = linked(
        "__global__ void parent(int *a) { cudaMemsetAsync(a + 1, 1, 8, 0); }"
    )
    result = run(module.get_function("parent"), 4, block=(1, 1, 1))
    assert result.tolist() == [0, 0x01010101, 0x01010101, 0]


def test_a_wrong_launch_is_reported_to_its_thread(linked):
    module = linked("""
        __global__ void child() {}
        __global__ void parent(int *a) {
            child<<<1, 2048>>>();
            a[0] = cudaPeekAtLastError();
            a[1] = cudaGetLastError();
            a[2] = cudaGetLastError();
            const char *name = cudaGetErrorName(cudaErrorInvalidConfiguration);
            a[3] = name[0] == 'c' && name[4] == 'E';
        }
    """)
    result = run(module.get_function("parent"), 4, block=(1, 1, 1))
    assert result.tolist() == [9, 9, 0, 1]


def test_structs_and_shared_memory_reach_the_child(linked):
    module = linked("""
        struct Job { char tag; double scale; int *to; };
        __global__ void child(Job job, short n) {
            extern __shared__ double room[];
            room[threadIdx.x] = job.scale * threadIdx.x + job.tag;
            __syncthreads();
            job.to[threadIdx.x] = (int)room[blockDim.x - 1 - threadIdx.x] + n;
        }
        __global__ void parent(int *a) { child<<<1, 64, 64 * sizeof(double)>>>({3, 2.0, a}, 1); }
    """)
    result = run(module.get_function("parent"), 64, block=(1, 1, 1))
    assert result.tolist() == [2 * (63 - i) + 4 for i in range(64)]


def test_kernels_of_other_sources_and_pointers_to_kernels(device, able):
    child = 'extern "C" __global__ void child(int *a, int n) { a[0] = n; }'
    parent = """
        extern "C" __global__ void child(int *a, int n);
        typedef void (*Kernel)(int *, int);
        __device__ Kernel kernels[2] = {nullptr, child};
        extern "C" __global__ void parent(int *a) { kernels[1]<<<1, 1>>>(a, 42); }
    """

    def both():
        module = DynamicModule().add_source(child, name="child.ptx")
        return (
            module.add_source(parent, name="parent.ptx").add_stdlib("cudadevrt").link()
        )

    module = link(able, both)
    assert run(module.get_function("parent"), 1, block=(1, 1, 1))[0] == 42
