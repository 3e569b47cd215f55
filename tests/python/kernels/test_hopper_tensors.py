"""Copies of boxes between tensors in global memory and shared memory, with tensor maps.

test_hopper.py runs these tests on softcuda.
"""

import numpy as np
import pytest
from hopper_ptx import PTX, function_of
from hopper_tensor import box_of, encode, swizzle_bytes, tensor_map

import pycuda.driver as cuda

TENSOR = (
    PTX
    + r"""
    struct alignas(64) Map { char bytes[128]; };
    #define PLACE_1 "{%3}"
    #define PLACE_2 "{%3, %4}"
    #define PLACE_3 "{%3, %4, %5}"
    #define PLACE_4 "{%3, %4, %5, %6}"
    #define PLACE_5 "{%3, %4, %5, %6, %7}"
    struct Place { int at[5]; };
    extern __shared__ __align__(1024) char box[];
"""
)
LOAD = (
    TENSOR
    + r"""
    extern "C" __global__ void load(const __grid_constant__ Map map, Place place, char *out, int bytes)
    {
        __shared__ unsigned long long full;
        if (threadIdx.x == 0) {
            initialize(&full, 1);
            expect(&full, bytes);
            asm volatile("cp.async.bulk.tensor.DIMENSIONSd.shared::cluster.global.tile"
                         ".mbarrier::complete_tx::bytes [%0], [%1, " PLACE_DIMENSIONS "], [%2];"
                         :: "r"(shared_address(box)), "l"(&map), "r"(shared_address(&full)),
                            "r"(place.at[0]), "r"(place.at[1]), "r"(place.at[2]), "r"(place.at[3]),
                            "r"(place.at[4]) : "memory");
        }
        __syncthreads();
        wait(&full, 0);
        for (int i = threadIdx.x; i < bytes; i += blockDim.x) out[i] = box[i];
    }
"""
)
STORE = (
    TENSOR
    + r"""
    extern "C" __global__ void store(const __grid_constant__ Map map, Place place, const char *in,
                                     int bytes)
    {
        for (int i = threadIdx.x; i < bytes; i += blockDim.x) box[i] = in[i];
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (threadIdx.x == 0) {
            asm volatile("INSTRUCTION.tensor.DIMENSIONSd.global.shared::cta OPERATION.tile.bulk_group"
                         " [%0, " PLACE_DIMENSIONS "], [%1];"
                         :: "l"(&map), "r"(shared_address(box)), "r"(0),
                            "r"(place.at[0]), "r"(place.at[1]), "r"(place.at[2]), "r"(place.at[3]),
                            "r"(place.at[4]) : "memory");
            asm volatile("cp.async.bulk.commit_group;");
            wait_for_copies_out();
        }
    }
""".replace("cta OPERATION", "ctaOPERATION")
)


def place_of(begin):
    place = np.zeros(1, [("at", np.int32, 5)])
    place["at"][0, : len(begin)] = begin
    return place[0]


def map_argument(encoded):
    return encoded.view([("bytes", np.uint8, 128)])[0]


def load_box(encoded, begin, count):
    load = function_of(LOAD.replace("DIMENSIONS", str(len(begin))), "load")
    out = np.zeros(count, np.uint8)
    load(
        map_argument(encoded),
        place_of(begin),
        cuda.Out(out),
        np.int32(count),
        block=(64, 1, 1),
        shared=32768,
    )
    return out


def store_box(encoded, begin, raw, operation=""):
    source = STORE.replace("DIMENSIONS", str(len(begin)))
    instruction = "cp.reduce.async.bulk" if operation else "cp.async.bulk"
    source = source.replace("INSTRUCTION", instruction)
    store = function_of(source.replace("OPERATION", operation), "store")
    store(
        map_argument(encoded),
        place_of(begin),
        cuda.In(raw),
        np.int32(raw.size),
        block=(64, 1, 1),
        shared=32768,
    )


BOXES = [
    # shape outermost first; where the box begins, its extents and steps innermost first
    ((100,), (0,), (64,), None),
    ((100,), (80,), (32,), None),
    ((100,), (-8,), (32,), None),
    ((20, 40), (4, 3), (16, 8), None),
    ((20, 40), (32, 16), (16, 8), None),
    ((20, 40), (-4, -3), (16, 8), None),
    ((20, 40), (100, 3), (16, 4), None),
    ((20, 40), (8, 1), (16, 8), (1, 2)),
    ((6, 7, 16), (4, 5, 1), (8, 4, 3), None),
    ((6, 7, 16), (0, 1, 0), (16, 5, 6), (1, 3, 2)),
    ((3, 4, 5, 8), (0, -1, 2, 1), (8, 3, 4, 2), None),
    ((2, 3, 4, 5, 8), (4, 2, 1, -1, 1), (4, 4, 2, 3, 2), None),
    ((2, 3, 4, 5, 8), (0, 0, 0, 0, 0), (8, 5, 4, 3, 2), (1, 2, 1, 2, 1)),
]


def random_tensor(shape, dtype, seed=1):
    random = np.random.default_rng(seed)
    return random.integers(0, 200, shape).astype(dtype)


@pytest.mark.parametrize("shape, begin, box, steps", BOXES)
def test_boxes_have_zeros_outside_the_tensor(hopper, shape, begin, box, steps):
    tensor = random_tensor(shape, np.int32)
    memory = cuda.to_device(tensor)
    wanted = box_of(tensor, begin, box, steps)
    encoded = tensor_map(memory, tensor, box, steps=steps)
    out = load_box(encoded, begin, wanted.nbytes)
    assert (out.view(np.int32).reshape(wanted.shape) == wanted).all()


@pytest.mark.parametrize("shape, begin, box, steps", BOXES)
def test_boxes_are_stored_within_the_tensor(hopper, shape, begin, box, steps):
    if steps or min(begin) < 0:
        pytest.skip("steps and negative coordinates are for loads")
    tensor = random_tensor(shape, np.int32)
    memory = cuda.to_device(tensor)
    new = 1000 + np.arange(np.prod(box), dtype=np.int32).reshape(box[::-1])
    store_box(tensor_map(memory, tensor, box), begin, new.view(np.uint8).reshape(-1))
    out = np.empty_like(tensor)
    cuda.memcpy_dtoh(out, memory)
    indices = np.indices(tensor.shape)
    offsets = [n - b for n, b in zip(indices, begin[::-1], strict=True)]
    inside = np.all(
        [(o >= 0) & (o < e) for o, e in zip(offsets, box[::-1], strict=True)], axis=0
    )
    wanted = tensor.copy()
    wanted[inside] = new[tuple(o[inside] for o in offsets)]
    assert (out == wanted).all()


@pytest.mark.parametrize("swizzle", [0, 32, 64, 128])
@pytest.mark.parametrize("dtype", ["u1", "f2", "f4", "f8"])
def test_swizzles(hopper, swizzle, dtype):
    """A swizzle exchanges chunks of 16 bytes, in loads and stores alike."""
    size = np.dtype(dtype).itemsize
    box = ((swizzle or 128) // size, 24)
    tensor = random_tensor((40, 256), dtype)
    memory = cuda.to_device(tensor)
    encoded = tensor_map(memory, tensor, box, swizzle=swizzle)
    begin = (16 // size * 3, 5)
    wanted = box_of(tensor, begin, box)
    raw = swizzle_bytes(wanted.view(np.uint8).reshape(-1), swizzle)
    assert (load_box(encoded, begin, wanted.nbytes) == raw).all()

    store_box(encoded, (0, 0), raw)
    out = np.empty_like(tensor)
    cuda.memcpy_dtoh(out, memory)
    tensor[: box[1], : box[0]] = wanted
    assert (out == tensor).all()


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_boxes_have_nan_outside_the_tensor(hopper, dtype):
    tensor = random_tensor((10, 16), dtype)
    memory = cuda.to_device(tensor)
    encoded = tensor_map(memory, tensor, (16, 8), nan=True)
    wanted = box_of(tensor, (8, 6), (16, 8), fill=np.nan)
    out = load_box(encoded, (8, 6), wanted.nbytes).view(dtype).reshape(wanted.shape)
    assert np.array_equal(out, wanted, equal_nan=True)
    assert (out[np.isnan(out)].view(np.uint16) == 0x7FF7).all()


# f32 values, and the tf32 values that an H100 loads.
ROUNDED = {
    0x3F801000: 0x3F800000,  # half way: to even
    0x3F803000: 0x3F804000,
    0x3F801001: 0x3F802000,
    0xBF800FFF: 0xBF800000,
    0x7F7FFFFF: 0x7F800000,
    0x7F800000: 0x7F800000,
    0xFFDA9DA6: 0x7FFFE000,  # NaN
    0x00473C8F: 0x00474000,  # denormal
}


@pytest.mark.parametrize("flushed", [False, True])
@pytest.mark.parametrize("dtype", ["f4", "tf32"])
def test_loads_round_to_tf32_and_flush_nothing(hopper, dtype, flushed):
    tensor = np.array(list(ROUNDED), np.uint32)
    wanted = list(ROUNDED.values()) if dtype == "tf32" else tensor
    memory = cuda.to_device(tensor)
    name = dtype + "_ftz" if flushed else dtype
    result, encoded = encode(memory, name, tensor.shape, (), tensor.shape)
    assert result == 0
    assert (load_box(encoded, (0,), 32).view(np.uint32) == wanted).all()


@pytest.mark.parametrize(
    "operation, dtype",
    [("add", "f4"), ("add", "f2"), ("min", "i4"), ("max", "u8"), ("xor", "u4")],
)
def test_boxes_are_reduced_into_the_tensor(hopper, operation, dtype):
    tensor = random_tensor((12, 32), dtype)
    memory = cuda.to_device(tensor)
    new = random_tensor((8, 16), dtype, seed=2)
    encoded = tensor_map(memory, tensor, (16, 8))
    store_box(encoded, (24, 6), new.view(np.uint8).reshape(-1), "." + operation)
    out = np.empty_like(tensor)
    cuda.memcpy_dtoh(out, memory)
    combine = {
        "add": np.add,
        "min": np.minimum,
        "max": np.maximum,
        "xor": np.bitwise_xor,
    }[operation]
    tensor[6:, 24:] = combine(tensor[6:, 24:], new[:6, :8])
    assert (out == tensor).all()


def test_sums_of_f32_keep_denormals(hopper):
    tensor = np.full(8, 0x00000003, np.uint32)
    memory = cuda.to_device(tensor)
    result, encoded = encode(memory, "f4", tensor.shape, (), tensor.shape)
    assert result == 0
    store_box(encoded, (0,), np.full(8, 5, np.uint32).view(np.uint8), ".add")
    out = np.empty_like(tensor)
    cuda.memcpy_dtoh(out, memory)
    assert (out == 8).all()


def test_a_map_in_device_memory_and_multicast(hopper):
    load = function_of(
        TENSOR
        + r"""
        extern "C" __global__ void load(const Map *map, float *out)
        {
            __shared__ unsigned long long full;
            const unsigned rank = cluster_rank();
            if (threadIdx.x == 0) initialize(&full, 1), expect(&full, 2 * 2048);
            asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" :: "l"(map) : "memory");
            meet();
            if (threadIdx.x == 0) {
                asm volatile("prefetch.tensormap [%0];" :: "l"(map));
                // Each block loads a half, for both.
                asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
                             ".multicast::cluster [%0], [%1, {%3, %4}], [%2], %5;"
                             :: "r"(shared_address(box + rank * 2048)), "l"(map),
                                "r"(shared_address(&full)), "r"(0), "r"(rank * 16), "h"((short)3)
                             : "memory");
            }
            wait(&full, 0);
            for (int i = threadIdx.x; i < 1024; i += blockDim.x)
                out[blockIdx.x * 1024 + i] = ((float *)box)[i];
            meet();
        }
        """,
        "load",
        arch="sm_90a",
    )
    tensor = random_tensor((32, 32), np.float32)
    memory = cuda.to_device(tensor)
    encoded = cuda.to_device(tensor_map(memory, tensor, (32, 16)))
    out = np.zeros((2, 32, 32), np.float32)
    load(
        encoded,
        cuda.Out(out),
        block=(64, 1, 1),
        grid=(2, 1),
        cluster=(2, 1, 1),
        shared=4096,
    )
    assert (out == tensor).all()


def test_maps_that_cannot_be(hopper):
    memory = cuda.mem_alloc(65536)
    good = {
        "address": int(memory),
        "dtype": "f4",
        "extents": (64, 64),
        "strides": (256,),
        "box": (16, 16),
    }
    assert encode(**good)[0] == 0
    invalid = 1
    for change in [
        {"address": int(memory) + 8},
        {"extents": (64, 0)},
        {"strides": (264,)},
        {"strides": (1 << 40,)},
        {"box": (16, 257)},
        {"box": (0, 16)},
        {"box": (6, 16)},
        {"steps": (1, 9)},
        {"steps": (1, 0)},
        {"swizzle": 32},
    ]:
        assert encode(**(good | change))[0] == invalid, change
    assert encode(**(good | {"dtype": "i4", "nan": True}))[0] == invalid


def test_a_kernel_changes_a_map(hopper):
    """A map of another tensor is changed in shared memory and copied back, as grouped products do."""
    change = function_of(
        TENSOR
        + r"""
        extern "C" __global__ void change(Map *map, const void *tensor)
        {
            __shared__ alignas(128) Map own;
            own.bytes[threadIdx.x] = map->bytes[threadIdx.x];
            own.bytes[threadIdx.x + 32] = map->bytes[threadIdx.x + 32];
            own.bytes[threadIdx.x + 64] = map->bytes[threadIdx.x + 64];
            own.bytes[threadIdx.x + 96] = map->bytes[threadIdx.x + 96];
            __syncwarp();
            if (threadIdx.x == 0) {
                const unsigned at = shared_address(&own);
                #define REPLACE(field, type, constraint, value)                                        \
                    asm volatile("tensormap.replace.tile." field ".shared::cta.b1024." type ", %1;"    \
                                 :: "r"(at), constraint(value) : "memory")
                REPLACE("global_address", "b64 [%0]", "l", tensor);
                REPLACE("global_dim", "b32 [%0], 0", "r", 48);
                REPLACE("global_dim", "b32 [%0], 1", "r", 10);
                REPLACE("global_stride", "b64 [%0], 0", "l", 48ull * 4);
                REPLACE("box_dim", "b32 [%0], 1", "r", 4);
                REPLACE("element_stride", "b32 [%0], 1", "r", 2);
                asm volatile("tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%0], 0;"
                             :: "r"(at) : "memory");
            }
            __syncwarp();
            asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu"
                         ".sync.aligned [%0], [%1], 128;"
                         :: "l"(map), "r"(shared_address(&own)) : "memory");
        }
        """,
        "change",
        arch="sm_90a",
    )
    first, second = (
        random_tensor((20, 64), np.int32),
        random_tensor((10, 48), np.int32, 9),
    )
    memory = [cuda.to_device(first), cuda.to_device(second)]
    encoded = cuda.to_device(tensor_map(memory[0], first, (16, 8), swizzle=64))
    change(encoded, memory[1], block=(32, 1, 1))
    out = np.zeros(128, np.uint8)
    cuda.memcpy_dtoh(out, encoded)
    wanted = box_of(second, (40, 5), (16, 4), (1, 2))
    raw = load_box(out, (40, 5), wanted.nbytes)
    assert (raw.view(np.int32).reshape(wanted.shape) == wanted).all()
