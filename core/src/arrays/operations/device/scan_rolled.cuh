// scan_rolled.cuh -- scans of tiles in short loops, if threads are lanes of a CPU's cores.
//
// scan_tile() holds a thread's elements in registers while it waits for the total before the tile.
// A CPU has few registers, but its caches hold the tile; and code that is unrolled for each element
// takes seconds to compile. Here a tile is read twice, row after row: once for its total, and again
// for the results. Tiles, and the order of operations, are those of scan_tile(), so results have
// the same bits.
#pragma once

namespace pycuda {

/// The rows of one warp's part of a tile.
template <class T, int Neighbours, class Elements> struct ScanRows {
    const Elements &elements;
    const ScanSpan &span;
    const T &filler; ///< replaces elements past the end; results do not depend on it
    const int lane;

    __device__ unsigned long long first(int row) const {
        return span.first + row * (32 * Neighbours);
    }
    /// Whether no element of the row is past the end, and whether all are.
    __device__ bool whole(int row) const {
        return span.whole || first(row) - lane * Neighbours + 32 * Neighbours <= span.count;
    }
    __device__ bool empty(int row) const {
        return !span.whole && first(row) - lane * Neighbours >= span.count;
    }
    __device__ void read(int row, T (&values)[Neighbours]) const {
        if (whole(row))
            return elements.load(first(row), values);
#pragma unroll
        for (int k = 0; k < Neighbours; ++k)
            values[k] = first(row) + k < span.count ? elements.get(first(row) + k) : filler;
    }
    __device__ void write(int row, const T (&values)[Neighbours]) const {
        if (whole(row))
            return elements.store(first(row), values);
#pragma unroll
        for (int k = 0; k < Neighbours; ++k)
            if (first(row) + k < span.count)
                elements.put(first(row) + k, values[k]);
    }
};

/// As scan_tile(). The result may have the address of the elements: a row is written after it was
/// read twice.
template <class T, int Rows, int Neighbours, int Threads, bool Exclusive, class Elements, class Op>
__device__ void scan_tile_rolled(const Elements &elements, unsigned long long count,
                                 unsigned long long tile, unsigned long long *nodes,
                                 const T &neutral, const Op &op) {
    const ScanPart<Rows, Neighbours, Threads> part(tile, count);
    const int lane = part.lane, warp = part.warp;
    const T filler = elements.get(part.start);
    const ScanRows<T, Neighbours, Elements> rows{elements, part.span, filler, lane};

    T carry = filler; // in lane 0 the total of the rows so far
#pragma unroll 1
    for (int row = 0; row < Rows && !rows.empty(row); ++row) {
        T values[Neighbours];
        rows.read(row, values);
        T total = values[0];
#pragma unroll
        for (int k = 1; k < Neighbours; ++k)
            total = op(total, values[k]);
#pragma unroll
        for (int distance = 1; distance < 32; distance *= 2)
            total = op(total, shuffle_down(total, distance));
        carry = row == 0 ? total : op(carry, total);
    }
    const T before_warp =
        find_before_warp<Threads / 32>(carry, nodes, tile, part.tiles, warp, lane, op);
    const bool anything = tile != 0 || warp != 0;

#pragma unroll 1
    for (int row = 0; row < Rows && !rows.empty(row); ++row) {
        T values[Neighbours], result[Neighbours];
        rows.read(row, values);
#pragma unroll
        for (int k = 1; k < Neighbours; ++k)
            values[k] = op(values[k - 1], values[k]);
        const T scanned = scan_warp(values[Neighbours - 1], lane, op);
        const T below = shuffle_up(scanned, 1);
        const T row_total = shuffle(scanned, 31);
        const T before = lane == 0 ? carry : row == 0 ? below : op(carry, below);
        carry = row == 0 ? row_total : op(carry, row_total);
        finish_row<Exclusive>(values, before, row != 0 || lane != 0, anything, before_warp, neutral,
                              op, result);
        rows.write(row, result);
    }
}

} // namespace pycuda
