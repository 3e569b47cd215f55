// walk_tiles.cuh -- strided elements, if some operands are contiguous along another axis than the
// results.
//
// Example: a matrix and a transposed matrix. Neighbours in the result are far apart in the
// transposed operand. So a block processes a tile of TILE x TILE elements of the last two axes.
// Warps read the crossed operands along the axis before the last, write them to shared memory, and
// read them from there along the last axis.
//
//     result (y, x)   threads along x           crossed operand (x, y)   threads go along y
//
// CROSSED(X) and DIRECT(X) are the operands of the two kinds.
#pragma once

constexpr int block_rows = block / TILE, tile_rows = TILE / block_rows;

#define AT_XY(name)                                                                                \
    (*(type_##name *)((char *)name + (offset_##name + y * g.stride[AXES - 2][walker_##name] +      \
                                      x * g.stride[AXES - 1][walker_##name])))
#define TILE_OF(name) __shared__ type_##name tile_##name[TILE][TILE + 1];
#define LOAD_CROSSED(name) tile_##name[threadIdx.x][along] = AT_XY(name);
#define ARRAY(name) type_##name array_##name[tile_rows];
#define LOAD(name) array_##name[u] = AT_XY(name);
#define LOADED(name) array_##name[u]
#define LOAD_TILE(name) array_##name[u] = tile_##name[along][threadIdx.x];
#define STORE_XY(name) AT_XY(name) = results.name;
/// Runs the rest of its arguments for each row `along` of the tile that a thread has, if the
/// element (y, x) is inside of the array.
#define EACH_ROW(coordinate, ...)                                                                  \
    _Pragma("unroll") for (int u = 0; u < tile_rows; ++u) {                                        \
        const int along = threadIdx.y + u * block_rows;                                            \
        const Index coordinate;                                                                    \
        if (x < width && y < height) {                                                             \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

extern "C" __global__ void __launch_bounds__(block) KERNEL(PARAMETERS, Geometry g) {
    BEGIN;
    CROSSED(TILE_OF)
    const Index width = g.extent[AXES - 1], height = g.extent[AXES - 2];
    const Index across = (width + TILE - 1) / TILE, down = (height + TILE - 1) / TILE;
    Index tile = blockIdx.x;
    const Index left = tile % across * TILE;
    tile /= across;
    const Index top = tile % down * TILE;
    WALKED(OFFSET)
#if AXES > 2
    FOR_EACH_AXIS(tile / down, AXES - 3, g.extent, WALKED(ADVANCE))
#endif
    {
        const Index y = top + threadIdx.x;
        EACH_ROW(x = left + along, CROSSED(LOAD_CROSSED))
    }
    const Index x = left + threadIdx.x;
    OPERANDS(ARRAY)
    EACH_ROW(y = top + along, DIRECT(LOAD))
    __syncthreads();
    EACH_ROW(y = top + along, CROSSED(LOAD_TILE) EVALUATE(0, LOADED, AT_XY, STORE_XY))
}
