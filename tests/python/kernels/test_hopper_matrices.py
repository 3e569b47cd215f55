"""Products of warp groups (wgmma).

All values are small whole numbers, so that sums are exact in every order of additions.
test_hopper.py runs these tests on softcuda.
"""

import numpy as np
import pytest
from hopper_matrix import multiply
from hopper_ptx import PTX, function_of
from hopper_tensor import tensor_map

import pycuda.driver as cuda


def bits_of(values, ptx_type):
    """Small whole numbers as the bits of a type."""
    if ptx_type in ("s8", "u8"):
        return values.astype(np.int8).view(np.uint8)
    if ptx_type == "f16":
        return values.astype(np.float16).view(np.uint16)
    floats = values.astype(np.float32)
    if ptx_type == "bf16":
        return (floats.view(np.uint32) >> 16).astype(np.uint16)
    if ptx_type == "tf32":
        return floats.view(np.uint32)
    half = floats.astype(np.float16).view(np.uint16)
    if ptx_type == "e5m2":
        return (half >> 8).astype(np.uint8)
    # e4m3: a bias of 7 instead of 15; zero stays zero.
    magnitude = (half & 0x7FFF) >> 7
    magnitude = np.where(magnitude == 0, 0, magnitude - (8 << 3))
    return (half >> 8 & 0x80 | magnitude).astype(np.uint8)


SIZES = {
    "f16": 16,
    "bf16": 16,
    "tf32": 8,
    "e4m3": 32,
    "e5m2": 32,
    "s8": 32,
    "u8": 32,
}


def check(d_type, a_type, b_type, columns, **options):
    depth = SIZES[a_type]
    random = np.random.default_rng(columns)
    a = random.integers(0 if a_type == "u8" else -4, 5, (64, depth))
    b = random.integers(0 if b_type == "u8" else -4, 5, (columns, depth))
    dtype = {"f32": np.float32, "f16": np.float16, "s32": np.int32}[d_type]
    start = random.integers(-8, 9, (64, columns)).astype(dtype)
    transposed = options.get("transposed", (False, False))
    from_registers = options.get("from_registers", False)
    if d_type == "s32":
        numbers = ()
    else:
        numbers = (1, 1)
        if depth == 16:
            turns = transposed[1:] if from_registers else transposed
            numbers += tuple(int(turn) for turn in turns)
    instruction = f"m64n{columns}k{depth}.{d_type}.{a_type}.{b_type}"
    out = multiply(
        instruction,
        bits_of(a, a_type),
        bits_of(b, b_type),
        start,
        options=numbers,
        **options,
    )
    assert (out == a @ b.T + start).all()


TYPES = [
    ("f32", "f16", "f16"),
    ("f16", "f16", "f16"),
    ("f32", "bf16", "bf16"),
    ("f32", "tf32", "tf32"),
    ("f32", "e4m3", "e4m3"),
    ("f32", "e5m2", "e4m3"),
    ("f16", "e4m3", "e5m2"),
    ("s32", "s8", "s8"),
    ("s32", "u8", "s8"),
    ("s32", "s8", "u8"),
]


@pytest.mark.parametrize("from_registers", [False, True])
@pytest.mark.parametrize("types", TYPES)
def test_types(hopper, types, from_registers):
    check(*types, 16, from_registers=from_registers)
    check(*types, 96, from_registers=from_registers, swizzles=(128, 128))


@pytest.mark.parametrize("columns", [8, 24, 64, 128, 256])
def test_columns(hopper, columns):
    check("f32", "f16", "f16", columns, swizzles=(128, 128))
    check("f16", "f16", "f16", columns, swizzles=(64, 64))
    check("s32", "s8", "s8", columns, swizzles=(32, 32))


@pytest.mark.parametrize("swizzle_b", [0, 32, 64, 128])
@pytest.mark.parametrize("swizzle_a", [0, 32, 64, 128])
@pytest.mark.parametrize("transposed", [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_layouts_in_shared_memory(hopper, transposed, swizzle_a, swizzle_b):
    turned = tuple(bool(turn) for turn in transposed)
    for kind in "f16", "bf16":
        check(
            "f32",
            kind,
            kind,
            64,
            transposed=turned,
            swizzles=(swizzle_a, swizzle_b),
        )


def test_a_from_registers_and_b_transposed(hopper):
    check(
        "f32",
        "bf16",
        "bf16",
        128,
        from_registers=True,
        transposed=(False, True),
        swizzles=(0, 128),
    )


@pytest.mark.parametrize("from_registers", [False, True])
def test_scales(hopper, from_registers):
    random = np.random.default_rng(1)
    a, b = random.integers(-4, 5, (64, 16)), random.integers(-4, 5, (32, 16))
    start = random.integers(-8, 9, (64, 32)).astype(np.float32)
    for scale, sign_a, sign_b in [(0, 1, 1), (1, -1, 1), (1, 1, -1), (0, -1, -1)]:
        turns = (0,) if from_registers else (0, 0)
        out = multiply(
            "m64n32k16.f32.f16.f16",
            bits_of(a, "f16"),
            bits_of(b, "f16"),
            start,
            from_registers=from_registers,
            scale=scale,
            options=(sign_a, sign_b, *turns),
        )
        assert (out == scale * start + sign_a * sign_b * (a @ b.T)).all()


@pytest.mark.parametrize("kind", ["e4m3", "e5m2"])
@pytest.mark.parametrize("from_c", [False, True])
def test_sums_of_8_bit_floats_have_14_bits(hopper, kind, from_c):
    """An H100 cuts products to multiples of 2 below 2^14, and so the sum."""
    a, b = np.zeros((64, 32)), np.zeros((8, 32))
    start = np.full((64, 8), 2.0**14 * from_c, np.float32)
    a[:, 0], b[:, 0] = 256 * (not from_c), 64
    a[:, 1:], b[:, 1] = 1, [1, 2, 3, 4, -1, -2, -3, 0]
    a[:, 2:], b[0, 2:] = 1, 1  # many zeros
    out = multiply(
        f"m64n8k32.f32.{kind}.{kind}",
        bits_of(a, kind),
        bits_of(b, kind),
        start,
        options=(1, 1),
    )
    assert (out - 2.0**14 == [0, 2, 2, 4, 0, -2, -2, 0]).all()


def test_single_bits(hopper):
    random = np.random.default_rng(2)
    a = random.integers(0, 256, (64, 32)).astype(np.uint8)
    b = random.integers(0, 256, (48, 32)).astype(np.uint8)
    start = random.integers(-99, 99, (64, 48)).astype(np.int32)
    out = multiply("m64n48k256.s32.b1.b1.and.popc", a, b, start, swizzles=(0, 32))
    common = np.unpackbits(a, axis=1).astype(np.int32) @ np.unpackbits(b, axis=1).T
    assert (out == common + start).all()


def test_saturated_sums(hopper):
    a, b = np.full((64, 32), 127, np.int8), np.full((8, 32), 127, np.int8)
    b[4:] = -128
    limits = np.iinfo(np.int32)
    start = np.zeros((64, 8), np.int32)
    start[:, :4] = limits.max - 1000
    start[:, 4:] = limits.min + 1000
    out = multiply(
        "m64n8k32.satfinite.s32.s8.s8", a.view(np.uint8), b.view(np.uint8), start
    )
    assert (out[:, :4] == limits.max).all() and (out[:, 4:] == limits.min).all()


def test_a_pipeline_of_tensor_copies_and_products(hopper):
    """C = A B^T of bf16: a warp loads tiles, a warp group multiplies them in steps of 16."""
    sums = ", ".join(f"%{i}" for i in range(64))
    outputs = ", ".join(f'"+f"(d[{i}])' for i in range(64))
    multiply_tiles = function_of(
        PTX
        + r"""
        struct alignas(64) Map { char bytes[128]; };
        __device__ void load(char *to, const Map *map, int x, int y, unsigned long long *barrier)
        {
            asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
                         " [%0], [%1, {%3, %4}], [%2];"
                         :: "r"(shared_address(to)), "l"(map), "r"(shared_address(barrier)), "r"(x),
                            "r"(y) : "memory");
        }
        constexpr int stages = 2, a_bytes = 64 * 128, b_bytes = 128 * 128;
        extern "C" __global__ void multiply(const __grid_constant__ Map a, const __grid_constant__ Map b,
                                            float *c, int columns, int depth)
        {
            extern __shared__ __align__(1024) char room[];
            __shared__ unsigned long long full[stages], empty[stages];
            const int row = blockIdx.y * 64, column = blockIdx.x * 128;
            if (threadIdx.x == 0)
                for (int s = 0; s < stages; s++) initialize(full + s, 1), initialize(empty + s, 128);
            __syncthreads();
            if (threadIdx.x >= 128) {
                if (threadIdx.x > 128) return;
                for (int k = 0, n = 0; k < depth; k += 64, n++) {
                    const int s = n % stages;
                    wait(empty + s, (n / stages & 1) ^ 1);
                    expect(full + s, a_bytes + b_bytes);
                    char *tiles = room + s * (a_bytes + b_bytes);
                    load(tiles, &a, k, row, full + s);
                    load(tiles + a_bytes, &b, k, column, full + s);
                }
                return;
            }
            float d[64] = {};
            for (int k = 0, n = 0; k < depth; k += 64, n++) {
                const int s = n % stages;
                wait(full + s, n / stages & 1);
                const unsigned at = shared_address(room + s * (a_bytes + b_bytes));
                const unsigned long long layout = 1ull << 62 | 64ull << 32 | 1ull << 16;
                asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
                for (int step = 0; step < 4; step++) {
                    const unsigned long long x = layout | (at + step * 32) >> 4;
                    const unsigned long long y = layout | (at + a_bytes + step * 32) >> 4;
                    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16"
                                 " {SUMS}, %64, %65, 1, 1, 1, 0, 0;" : OUTPUTS : "l"(x), "l"(y));
                }
                asm volatile("wgmma.commit_group.sync.aligned;");
                asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
                arrive(empty + s);
            }
            const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
            for (int i = 0; i < 64; i++) {
                const int y = row + warp * 16 + lane / 4 + i / 2 % 2 * 8;
                c[y * columns + column + i / 4 * 8 + lane % 4 * 2 + i % 2] = d[i];
            }
        }
        """.replace("SUMS", sums).replace("OUTPUTS", outputs),
        "multiply",
        arch="sm_90a",
    )
    shared = 2 * (64 + 128) * 128
    multiply_tiles.set_attribute(
        cuda.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, shared
    )
    random = np.random.default_rng(8)
    rows, columns, depth = 192, 256, 320
    a, b = (
        random.integers(-4, 5, (rows, depth)),
        random.integers(-4, 5, (columns, depth)),
    )
    memory = [cuda.to_device(bits_of(x, "bf16")) for x in (a, b)]
    maps = [
        tensor_map(at, bits_of(x, "bf16"), (64, tile), swizzle=128)
        for at, x, tile in zip(memory, (a, b), (64, 128), strict=True)
    ]
    out = np.zeros((rows, columns), np.float32)
    bytes_of_map = [("bytes", np.uint8, 128)]
    multiply_tiles(
        maps[0].view(bytes_of_map)[0],
        maps[1].view(bytes_of_map)[0],
        cuda.Out(out),
        np.int32(columns),
        np.int32(depth),
        block=(160, 1, 1),
        grid=(columns // 128, rows // 64),
        shared=shared,
    )
    assert (out == a @ b.T).all()
