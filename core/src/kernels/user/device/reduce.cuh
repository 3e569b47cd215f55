// reduce.cuh -- a fixed tree of reductions over a block.
//
// Each thread keeps Rows x Neighbours running values. They are combined in pairs, then over the
// warp, then over the block. The order depends only on the number and the size of the elements, so
// a result is the same on every device and in every run.
#pragma once

namespace pycuda {

/// Combines values[First], ..., values[First + Count - 1] in pairs; Count is a power of two.
template <int Count, int First = 0, class T, class Op>
__device__ T join(const T *values, const Op &op) {
    if constexpr (Count == 1)
        return values[First];
    else
        return op(join<Count / 2, First>(values, op),
                  join<Count / 2, First + Count / 2>(values, op));
}

/// The reduction of all threads' values; complete in thread 0.
template <int Threads, class T, class Op> __device__ T reduce_block(T value, const Op &op) {
    constexpr int warps = Threads / 32;
    __shared__ Storage<T, warps> of_warps;
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        value = op(value, shuffle_down(value, distance));
    if (threadIdx.x % 32 == 0)
        of_warps.data()[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x < 32) {
        value = of_warps.data()[threadIdx.x % warps];
#pragma unroll
        for (int distance = warps / 2; distance > 0; distance /= 2)
            value = op(value, shuffle_down(value, distance));
    }
    return value;
}

/// The reduction of read(i) for i from 0 to n over all blocks of the grid. Thread 0 of each block
/// has the block's part. `neutral` replaces missing elements.
template <int Threads, int Rows, int Neighbours, class T, class Index, class Read, class Op>
__device__ T reduce_grid(Index n, const T &neutral, const Read &read, const Op &op) {
    constexpr int kept = Rows * Neighbours;
    constexpr Index tile = static_cast<Index>(Threads) * kept;
    T values[kept];
#pragma unroll
    for (int i = 0; i < kept; ++i)
        values[i] = neutral;
    Index start = blockIdx.x * tile;
    const Index step = gridDim.x * tile;
    const Index own = threadIdx.x * static_cast<Index>(Neighbours);
    for (; start + tile <= n; start += step) {
        T read_now[kept];
#pragma unroll
        for (int i = 0; i < kept; ++i)
            read_now[i] =
                read(start + own + (i / Neighbours) * (Threads * Neighbours) + i % Neighbours);
#pragma unroll
        for (int i = 0; i < kept; ++i)
            values[i] = op(values[i], read_now[i]);
    }
    if (start < n) {
#pragma unroll
        for (int i = 0; i < kept; ++i) {
            const Index at =
                start + own + (i / Neighbours) * (Threads * Neighbours) + i % Neighbours;
            if (at < n)
                values[i] = op(values[i], read(at));
        }
    }
    return reduce_block<Threads>(join<kept>(values, op), op);
}

} // namespace pycuda
