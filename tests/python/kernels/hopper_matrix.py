"""Products of warp groups for tests: matrices in shared memory, and which lanes have which sums.

The layouts are given in chunks of 16 bytes, as CUTLASS describes them (mma_sm90_desc.hpp),
and a row of a matrix has two chunks: 32 bytes of k.
"""

import numpy as np
from hopper_ptx import PTX, function_of

import pycuda.driver as cuda

MODES = {0: 0, 128: 1, 64: 2, 32: 3}


def k_major(rows, swizzle):
    """The positions of the chunks [row, 0..1], and the leading and the stride offset, all in chunks."""
    row, chunk = np.indices((rows, 2))
    wide = max(swizzle // 16, 1)
    if swizzle == 0:
        leading, stride = 8, 16
        return row % 8 + row // 8 * stride + chunk * leading, leading, stride
    stride = 8 * wide
    return row % 8 * wide + row // 8 * stride + chunk, 1, stride


def mn_major(rows, swizzle):
    """The same for chunks [8 rows, k] of a transposed matrix of 16-bit elements."""
    group, k = np.indices((rows // 8, 16))
    wide = max(swizzle // 16, 1)
    if swizzle == 0:
        leading, stride = rows, 8
        return k % 8 + k // 8 * leading + group * stride, leading, stride
    leading, stride = 16 * wide, 8 * wide
    place = group % wide + group // wide * leading + k % 8 * wide + k // 8 * stride
    return place, leading, stride


def image_of(matrix, swizzle, transposed):
    """Bytes of shared memory with a matrix [row, k], and its descriptor for bytes that begin at address 0."""
    rows = len(matrix)
    places, leading, stride = (mn_major if transposed else k_major)(rows, swizzle)
    wide = max(swizzle // 16, 1)
    places = places ^ (places >> 3 & (wide - 1))
    chunks = (
        np.ascontiguousarray(
            matrix.reshape(rows // 8, 8, 16).transpose(0, 2, 1)
            if transposed
            else matrix
        )
        .view(np.uint8)
        .reshape(*places.shape, 16)
    )
    image = np.zeros(((places.max() // 64 + 1) * 64, 16), np.uint8)
    image[places] = chunks
    return image, leading << 16 | stride << 32 | MODES[swizzle] << 62


def a_registers(matrix):
    """The registers [warp, lane, register] in which the lanes have A; a row of A has 32 bytes."""
    words = np.ascontiguousarray(matrix).view(np.uint32).reshape(4, 2, 8, 2, 4)
    # warp, half of rows, row, half of k, word -> warp, (row, word), (half of k, half of rows)
    return np.ascontiguousarray(words.transpose(0, 2, 4, 3, 1)).reshape(4, 32, 4)


def sums_of_lanes(matrix):
    """A matrix of 64 rows as [thread, element] of the lanes that have its sums; below is the inverse."""
    columns = matrix.shape[1]
    parts = matrix.reshape(4, 2, 8, columns // 8, 4, 2).transpose(0, 2, 4, 3, 1, 5)
    return np.ascontiguousarray(parts).reshape(128, columns // 2)


def matrix_of_sums(sums):
    columns = sums.shape[1] * 2
    parts = sums.reshape(4, 8, 4, columns // 8, 2, 2).transpose(0, 4, 1, 3, 2, 5)
    return np.ascontiguousarray(parts).reshape(64, columns)


SOURCE = (
    PTX
    + r"""
    extern "C" __global__ void product(const uint4 *image, int chunks, unsigned long long a,
                                       unsigned long long b, const uint4 *registers, int scale,
                                       TYPE *sums)
    {
        extern __shared__ __align__(1024) uint4 room[];
        for (int i = threadIdx.x; i < chunks; i += blockDim.x) room[i] = image[i];
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        const unsigned long long begin = shared_address(room) >> 4;
        a += begin, b += begin;
        const uint4 x = registers[threadIdx.x];
        TYPE d[COUNT];
        for (int i = 0; i < COUNT; i++) d[i] = sums[threadIdx.x * COUNT + i];
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        asm volatile("{ .reg .pred p; setp.ne.b32 p, SCALE, 0;"
                     "wgmma.mma_async.sync.aligned.INSTRUCTION {SUMS}, FACTOR, DESCRIPTOR, p OPTIONS; }"
                     : OUTPUTS
                     : "l"(a), "l"(b), "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w), "r"(scale));
        asm volatile("wgmma.commit_group.sync.aligned;");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        for (int i = 0; i < COUNT; i++) sums[threadIdx.x * COUNT + i] = d[i];
    }
"""
)


def product_function(instruction, count, dtype, from_registers, options):
    letter = "f" if dtype == np.float32 else "r"
    source = SOURCE.replace("TYPE", "float" if letter == "f" else "unsigned")
    factor = "{%A2, %A3, %A4, %A5}" if from_registers else "%A0"
    for name, text in {
        "COUNT": str(count),
        "INSTRUCTION": instruction,
        "SUMS": ", ".join(f"%{i}" for i in range(count)),
        "OUTPUTS": ", ".join(f'"+{letter}"(d[{i}])' for i in range(count)),
        "FACTOR": factor,
        "DESCRIPTOR": "%A1",
        "SCALE": "%A6",
        "OPTIONS": "".join(f", {option}" for option in options),
    }.items():
        source = source.replace(name, text)
    for n in range(7):
        source = source.replace(f"%A{n}", f"%{count + n}")
    return function_of(source, "product", arch="sm_90a")


def multiply(
    instruction,
    a,
    b,
    start,
    swizzles=(0, 0),
    transposed=(False, False),
    from_registers=False,
    options=(),
    scale=1,
):
    """D = A B^T + start with one instruction; a [64, k] and b [n, k] are bits of 32 bytes a row."""
    images, descriptors, first = [], [], 0
    for matrix, swizzle, turned in zip((a, b), swizzles, transposed, strict=True):
        image, descriptor = image_of(matrix, swizzle, turned)
        images.append(image)
        descriptors.append(descriptor + first)
        first += len(image)
    image = np.concatenate(images)
    sums = sums_of_lanes(start)
    out = sums.view(np.uint32).copy() if start.dtype == np.float16 else sums.copy()
    function = product_function(
        instruction, out.shape[1], out.dtype, from_registers, options
    )
    function(
        cuda.In(image),
        np.int32(len(image)),
        np.uint64(descriptors[0]),
        np.uint64(descriptors[1]),
        cuda.In(a_registers(a)),
        np.int32(scale),
        cuda.InOut(out),
        block=(128, 1, 1),
        shared=image.nbytes,
    )
    return matrix_of_sums(out.view(start.dtype).reshape(sums.shape))
