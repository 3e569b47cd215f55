// array_scan.cuh -- running sums along one axis of arrays, by one of five methods.
//
//   columns    neighbours in memory belong to different scans: one thread for each scan
//   warps      many short scans: one warp for each scan, 32 elements at a time
//   blocks     scans of one tile: one block for each scan
//   tiles      long scans: one block for each tile; see scan.cuh
//   pipeline   the same on devices with bulk copies; see scan_pipeline.cuh
//
// The text before this file defines the types A (in memory), L (converted to), T (computed in), O
// (in memory), SCAN_JOIN, which joins a and b, and ARRAY_SCAN_AXES, the number of axes that are not
// scanned. ARRAY_SCAN_TILE is scan_tile or scan_tile_rolled. One METHOD_* is defined.
#pragma once

namespace pycuda {

constexpr int array_scan_axes = ARRAY_SCAN_AXES;

struct ArrayScanGeometry {
    long long rows, length, tiles, row_nodes, in_step, out_step;
    long long extent[array_scan_axes], stride[array_scan_axes][2];
};

/// The addresses of a row's elements, and their conversions.
template <bool Vectors> struct ArrayScanElements {
    using Stored = A;
    const char *in;
    char *out;
    long long in_step, out_step;

    __device__ ArrayScanElements(const A *from, O *to, const ArrayScanGeometry &g, long long row)
        : in(reinterpret_cast<const char *>(from)), out(reinterpret_cast<char *>(to)),
          in_step(g.in_step),
          out_step(g.out_step){FOR_EACH_AXIS(row, array_scan_axes - 1, g.extent,
                                             {
                                                 in += at * g.stride[axis][0];
                                                 out += at * g.stride[axis][1];
                                             })} /// The first of contiguous elements.
              __device__ const A
              * memory() const {
        return reinterpret_cast<const A *>(in);
    }
    __device__ static T from_memory(A x) { return array_convert<T>(array_convert<L>(x)); }
    __device__ static O to_memory(T x) { return array_convert<O>(x); }

    __device__ T get(long long i) const {
        return from_memory(*reinterpret_cast<const A *>(in + i * in_step));
    }
    __device__ void put(long long i, T value) const {
        *reinterpret_cast<O *>(out + i * out_step) = to_memory(value);
    }
    template <int Neighbours> __device__ void load(long long i, T (&values)[Neighbours]) const {
        if (Vectors) {
            const auto pack = reinterpret_cast<const Pack<A, Neighbours> *>(in)[i / Neighbours];
#pragma unroll
            for (int k = 0; k < Neighbours; ++k)
                values[k] = from_memory(pack.v[k]);
        } else {
#pragma unroll
            for (int k = 0; k < Neighbours; ++k)
                values[k] = get(i + k);
        }
    }
    template <int Neighbours>
    __device__ void store(long long i, const T (&values)[Neighbours]) const {
        if (Vectors) {
            Pack<O, Neighbours> pack;
#pragma unroll
            for (int k = 0; k < Neighbours; ++k)
                pack.v[k] = to_memory(values[k]);
            store_streaming(reinterpret_cast<Pack<O, Neighbours> *>(out) + i / Neighbours, pack);
        } else {
#pragma unroll
            for (int k = 0; k < Neighbours; ++k)
                put(i + k, values[k]);
        }
    }
};

template <class Op>
__device__ void scan_columns(const A *in, O *out, const ArrayScanGeometry &g, const Op &op) {
    const long long row = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (row >= g.rows)
        return;
    const ArrayScanElements<false> elements(in, out, g, row);
    constexpr int ahead = 8; // loads in flight
    T total = elements.get(0);
    elements.put(0, total);
    long long i = 1;
    for (; i + ahead <= g.length; i += ahead) {
        T values[ahead];
        elements.load(i, values);
#pragma unroll
        for (int k = 0; k < ahead; ++k)
            values[k] = total = op(total, values[k]);
        elements.store(i, values);
    }
    for (; i < g.length; ++i) {
        total = op(total, elements.get(i));
        elements.put(i, total);
    }
}

template <class Op>
__device__ void scan_warps(const A *in, O *out, const ArrayScanGeometry &g, const Op &op) {
    const int lane = threadIdx.x % 32;
    const long long row = static_cast<long long>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= g.rows)
        return;
    const ArrayScanElements<false> elements(in, out, g, row);
    T before = elements.get(0);
    for (long long first = 0; first < g.length; first += 32) {
        const long long i = first + lane;
        T value = elements.get(i < g.length ? i : first);
        value = scan_warp(value, lane, op);
        if (first != 0)
            value = op(before, value);
        if (i < g.length)
            elements.put(i, value);
        before = shuffle(value, 31);
    }
}

template <int Rows, int Neighbours, bool Vectors, class Op>
__device__ void scan_blocks(const A *in, O *out, const ArrayScanGeometry &g, const Op &op) {
    const ArrayScanElements<Vectors> elements(in, out, g, blockIdx.x);
    ARRAY_SCAN_TILE<T, Rows, Neighbours, 256, false>(elements, g.length, 0, nullptr, T(0), op);
}

/// `nodes`: the counter of claimed tiles, then row_nodes words for each row.
template <int Rows, int Neighbours, bool Vectors, class Op>
__device__ void scan_tiles(const A *in, O *out, const ArrayScanGeometry &g,
                           unsigned long long *nodes, const Op &op) {
    const long long claimed = static_cast<long long>(claim_tile(nodes));
    const long long row = claimed / g.tiles;
    const ArrayScanElements<Vectors> elements(in, out, g, row);
    ARRAY_SCAN_TILE<T, Rows, Neighbours, 256, false>(elements, g.length, claimed - row * g.tiles,
                                                     nodes + 1 + row * g.row_nodes, T(0), op);
}

/// The scans of an array, for a ScanPipeline.
struct ArrayScans {
    using Elements = ArrayScanElements<true>;
    const A *in;
    O *out;
    const ArrayScanGeometry &g;
    unsigned long long *first_nodes;

    __device__ long long scans() const { return g.rows; }
    __device__ long long tiles() const { return g.tiles; }
    __device__ unsigned long long count() const { return g.length; }
    __device__ Elements elements(long long scan) const { return {in, out, g, scan}; }
    __device__ unsigned long long *nodes(long long scan) const {
        return first_nodes + scan * g.row_nodes;
    }
};

} // namespace pycuda

struct Join {
    __device__ T operator()(T a, T b) const { return T(SCAN_JOIN); }
};

extern "C" __global__ void __launch_bounds__(SCAN_BOUNDS)
    KERNEL(const A *in, O *out, unsigned long long *nodes, pycuda::ArrayScanGeometry g) {
#if defined METHOD_columns
    pycuda::scan_columns(in, out, g, Join());
#elif defined METHOD_warps
    pycuda::scan_warps(in, out, g, Join());
#elif defined METHOD_blocks
    pycuda::scan_blocks<SCAN_ROWS, SCAN_NEIGHBOURS, SCAN_VECTORS>(in, out, g, Join());
#elif defined METHOD_tiles
    pycuda::scan_tiles<SCAN_ROWS, SCAN_NEIGHBOURS, SCAN_VECTORS>(in, out, g, nodes, Join());
#else
    pycuda::scan_pipeline<T, SCAN_ROWS, SCAN_NEIGHBOURS, SCAN_STAGES, false>(
        pycuda::ArrayScans{in, out, g, nodes + 1}, nodes, T(0), Join());
#endif
}
