// scan.cuh -- running sums (or any associative operation) in one pass over memory.
//
// A block scans a tile and needs the total of all tiles before it. Tiles publish their totals. The
// last tile of each 32 publishes the total of the 32, the last of each 1024 the total of the 1024,
// and so on:
//
//     tile 2090 = 2 * 1024 + 1 * 32 + 10
//     total before it = totals of 2 groups of 1024, then of 1 group of 32, then of 10 tiles
//
// On each level there are at most 31 nodes, which a warp reads at once; it reads those of the first
// levels together. Most have been published when a tile needs them. The usual look-back uses
// whatever prefix a predecessor has ready. Here the order of operations is always the same: sums of
// floating-point numbers do not differ between runs or devices.
//
// Blocks claim tiles through a counter. So all predecessors of a waiting tile have been started,
// and it cannot wait forever, for any order and any number of running blocks.
//
// The text before this file defines SCAN_ROLLED, as 1 if a loop is better than copies of its body.
#pragma once

namespace pycuda {

constexpr int scan_unrolled = SCAN_ROLLED ? 1 : 32; ///< for code that runs once for a tile

/// The totals, as 64-bit words with 32 bits of payload and a mark that shows that the word is
/// valid. A word is written and read as a whole, so no fences are needed.
template <class T> struct ScanNode {
    static constexpr int words = Words<T>::count;
    static constexpr unsigned long long mark = 1ull << 32;

    __device__ static void publish(unsigned long long *node, const T &value) {
        const Words<T> payload = Words<T>::of(value);
#pragma unroll
        for (int i = 0; i < words; ++i)
            reinterpret_cast<volatile unsigned long long *>(node)[i] = mark | payload.word[i];
    }
    /// The current values of the words.
    struct Words64 {
        unsigned long long word[words];
    };
    __device__ static Words64 peek(const unsigned long long *node) {
        Words64 seen;
#pragma unroll
        for (int i = 0; i < words; ++i)
            seen.word[i] = reinterpret_cast<const volatile unsigned long long *>(node)[i];
        return seen;
    }
    __device__ static bool published(const Words64 &seen) {
        bool all = true;
#pragma unroll
        for (int i = 0; i < words; ++i)
            all = all && seen.word[i] >= mark;
        return all;
    }
    __device__ static T value(const Words64 &seen) {
        Words<T> payload;
#pragma unroll
        for (int i = 0; i < words; ++i)
            payload.word[i] = static_cast<unsigned>(seen.word[i]);
        return payload.value();
    }
    /// Waits until the node has been published.
    __device__ static T wait(const unsigned long long *node) {
        Words64 seen = peek(node);
        while (!published(seen))
            seen = peek(node);
        return value(seen);
    }
};

/// Inclusive scan over the lanes of a warp.
template <class T, class Op> __device__ T scan_warp(T value, int lane, const Op &op) {
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
        const T below = shuffle_up(value, distance);
        if (lane >= distance)
            value = op(below, value);
    }
    return value;
}

/// The total of all tiles before this one; undefined for tile 0. If the tile is the last of its 32,
/// 1024, ..., publishes their total; its own total has been published. Called by one whole warp.
template <class T, class Op>
__device__ T find_prefix(unsigned long long *nodes, unsigned long long tile,
                         unsigned long long tiles, const T &total, int lane, const Op &op) {
    using Node = ScanNode<T>;
    // The number of levels whose nodes are read together.
    constexpr int at_once = SCAN_ROLLED ? 0 : Node::words <= 2 ? 3 : 1;
    T own = total;
    T prefix = total;
    bool found = false;
    bool last = true; // of its 32, of its 1024, ... up to the current level
    unsigned long long *level = nodes;
    unsigned long long at = tile, level_size = tiles;
    auto up = [&] {
        level += level_size * Node::words;
        level_size = level_size / 32 + 1;
        at /= 32;
    };
    // Combines the nodes of one level. Each lane before at % 32 has one node.
    auto climb = [&](const T &node) {
        const int before = static_cast<int>(at % 32);
        T value = lane < before ? node : own;
        if (before != 0) {
            value = scan_warp(value, lane, op);
            const T sum = shuffle(value, before - 1);
            prefix = found ? op(sum, prefix) : sum;
            found = true;
        }
        up();
        last = last && before == 31;
        if (last) { // its value is now the total of the group
            own = shuffle(value, 31);
            if (lane == 0)
                Node::publish(level + at * Node::words, own);
        }
    };

    // The nodes of several levels are read at the same time, because each read takes a microsecond.
    if constexpr (at_once > 0) {
        const unsigned long long *node[at_once];
        typename Node::Words64 seen[at_once];
        bool there[at_once];
#pragma unroll
        for (int i = 0; i < at_once; ++i, up()) {
            const int before = static_cast<int>(at % 32);
            node[i] = level + (at - before + lane) * Node::words;
            there[i] = lane >= before;
        }
        level = nodes;
        at = tile;
        level_size = tiles;
        for (int joined = 0; joined < at_once;) {
#pragma unroll
            for (int i = 0; i < at_once; ++i)
                if (!there[i]) {
                    seen[i] = Node::peek(node[i]);
                    there[i] = Node::published(seen[i]);
                }
#pragma unroll
            for (int i = 0; i < at_once; ++i)
                if (joined == i && __all_sync(full_warp, there[i])) {
                    climb(lane < static_cast<int>(at % 32) ? Node::value(seen[i]) : own);
                    joined = i + 1;
                }
        }
    }
    while (at != 0) {
        T value = own;
        const int before = static_cast<int>(at % 32);
        if (lane < before)
            value = Node::wait(level + (at - before + lane) * Node::words);
        climb(value);
    }
    return prefix;
}

enum class ScanAccess { Vectors, Elements, Strided };

__device__ constexpr int scan_vector_alignment(int bytes, int least) {
    return bytes & (bytes - 1) ? least : bytes;
}
/// Neighbours in memory, accessed together if their size is a power of two.
template <class T, int Count>
struct alignas(scan_vector_alignment(Count * sizeof(T), alignof(T))) ScanVector {
    T of[Count];
};

/// Stores data that will not be read soon.
template <class Vector> __device__ void store_streaming(Vector *to, const Vector &value) {
    if (sizeof(Vector) == sizeof(uint4) && alignof(Vector) == alignof(uint4))
        __stcs(reinterpret_cast<uint4 *>(to), reinterpret_cast<const uint4 &>(value));
    else
        *to = value;
}

/// The addresses that a scan reads and writes. Strides are in bytes.
template <class T> struct ScanPlaces {
    const T *in;
    T *out;
    long long in_stride, out_stride;
    unsigned long long count;
};

/// How a tile accesses the elements of ScanPlaces: one by one, or as neighbours.
template <class T, ScanAccess Access> struct ScanElements {
    using Stored = T;
    ScanPlaces<T> places;

    /// The first of contiguous elements.
    __device__ const T *memory() const { return places.in; }
    __device__ static const T &from_memory(const T &x) { return x; }

    __device__ T get(unsigned long long i) const {
        if (Access == ScanAccess::Strided)
            return *reinterpret_cast<const T *>(reinterpret_cast<const char *>(places.in) +
                                                static_cast<long long>(i) * places.in_stride);
        return places.in[i];
    }
    __device__ void put(unsigned long long i, const T &value) const {
        if (Access == ScanAccess::Strided)
            *reinterpret_cast<T *>(reinterpret_cast<char *>(places.out) +
                                   static_cast<long long>(i) * places.out_stride) = value;
        else
            places.out[i] = value;
    }
    template <int Neighbours>
    __device__ void load(unsigned long long i, T (&values)[Neighbours]) const {
        if (Access == ScanAccess::Vectors) {
            const auto vector = *reinterpret_cast<const ScanVector<T, Neighbours> *>(places.in + i);
#pragma unroll
            for (int k = 0; k < Neighbours; ++k)
                values[k] = vector.of[k];
        } else {
#pragma unroll
            for (int k = 0; k < Neighbours; ++k)
                values[k] = get(i + k);
        }
    }
    template <int Neighbours>
    __device__ void store(unsigned long long i, const T (&values)[Neighbours]) const {
        if (Access == ScanAccess::Vectors) {
            ScanVector<T, Neighbours> vector;
#pragma unroll
            for (int k = 0; k < Neighbours; ++k)
                vector.of[k] = values[k];
            store_streaming(reinterpret_cast<ScanVector<T, Neighbours> *>(places.out + i), vector);
        } else {
#pragma unroll
            for (int k = 0; k < Neighbours; ++k)
                put(i + k, values[k]);
        }
    }
};

/// The number of a tile, claimed for this block. Each tile is claimed once, in rising order.
__device__ inline unsigned long long claim_tile(unsigned long long *counter) {
    __shared__ unsigned long long claimed;
    if (threadIdx.x == 0)
        claimed = atomicAdd(counter, 1ull);
    __syncthreads();
    return claimed;
}

/// Scans a thread's elements values[row][k] and those of the lanes before it. Neighbours k are
/// contiguous in memory, rows are 32 * Neighbours apart. Afterwards before[row] is the total of the
/// elements before the thread's neighbours in the warp; it is undefined in row 0 of lane 0. Returns
/// the warp's total.
template <class T, int Rows, int Neighbours, class Op>
__device__ T scan_rows(T (&values)[Rows][Neighbours], T (&before)[Rows], int lane, const Op &op) {
    T scanned[Rows];
#pragma unroll
    for (int row = 0; row < Rows; ++row) {
#pragma unroll
        for (int k = 1; k < Neighbours; ++k)
            values[row][k] = op(values[row][k - 1], values[row][k]);
        scanned[row] = scan_warp(values[row][Neighbours - 1], lane, op);
    }
    T carry = values[0][0];
#pragma unroll
    for (int row = 0; row < Rows; ++row) {
        const T below = shuffle_up(scanned[row], 1);
        const T row_total = shuffle(scanned[row], 31);
        before[row] = lane == 0 ? carry : row == 0 ? below : op(carry, below);
        carry = row == 0 ? row_total : op(carry, row_total);
    }
    return carry;
}

/// The elements of a warp: `first` is the lane's first, of `count` in all. `whole`: no element of
/// the tile is past the end.
struct ScanSpan {
    unsigned long long first, count;
    bool whole;
};

/// A thread's part of tile `tile`.
template <int Rows, int Neighbours, int Threads> struct ScanPart {
    using Index = unsigned long long;
    static constexpr Index tile_size = static_cast<Index>(Threads) * Rows * Neighbours;
    int lane, warp;
    Index start, tiles; ///< the tile's first element, and the number of tiles
    ScanSpan span;

    __device__ ScanPart(Index tile, Index count)
        : lane(threadIdx.x % 32), warp(threadIdx.x / 32), start(tile * tile_size),
          tiles((count + tile_size - 1) / tile_size),
          span{start + warp * (32 * Rows * Neighbours) + lane * Neighbours, count,
               start + tile_size <= count} {}
};

/// The results of a row of scan_rows(): `before_warp` is the total before the warp, if `anything`
/// comes before it. Exclusive scans return `neutral` for the first element.
template <bool Exclusive, class T, int Neighbours, class Op>
__device__ void finish_row(const T (&values)[Neighbours], const T &before, bool own, bool anything,
                           const T &before_warp, const T &neutral, const Op &op,
                           T (&result)[Neighbours]) {
    T prefix = before; // defined if `own`
    if (anything)
        prefix = own ? op(before_warp, before) : before_warp;
    const bool has_prefix = anything || own;
#pragma unroll
    for (int k = 0; k < Neighbours; ++k) {
        if (Exclusive && k == 0)
            result[k] = has_prefix ? prefix : neutral;
        else {
            const T &value = values[Exclusive ? k - 1 : k];
            result[k] = has_prefix ? op(prefix, value) : value;
        }
    }
}

/// Writes the results of scan_rows().
template <bool Exclusive, bool Whole, class T, int Rows, int Neighbours, class Elements, class Op>
__device__ void store_rows(const Elements &elements, const ScanSpan &span,
                           const T (&values)[Rows][Neighbours], const T (&before)[Rows], int lane,
                           bool anything, const T &before_warp, const T &neutral, const Op &op) {
#pragma unroll
    for (int row = 0; row < Rows; ++row) {
        T result[Neighbours];
        finish_row<Exclusive>(values[row], before[row], row != 0 || lane != 0, anything,
                              before_warp, neutral, op, result);
        const unsigned long long at = span.first + row * (32 * Neighbours);
        if (Whole) {
            elements.store(at, result);
        } else {
#pragma unroll
            for (int k = 0; k < Neighbours; ++k)
                if (at + k < span.count)
                    elements.put(at + k, result[k]);
        }
    }
}

/// The total before a warp of a block that scans `tile`; undefined for the first warp of tile 0.
/// `warp_total`, needed in lane 0, is the total of the warp's elements. Publishes the tile's total
/// unless it is the only tile, whose `nodes` are null. Called by the whole block.
template <int Warps, class T, class Op>
__device__ T find_before_warp(const T &warp_total, unsigned long long *nodes,
                              unsigned long long tile, unsigned long long tiles, int warp, int lane,
                              const Op &op) {
    __shared__ Storage<T, Warps> totals;
    __shared__ Storage<T, 1> before_tile;
    if (lane == 0)
        totals.data()[warp] = warp_total;
    __syncthreads();
    T before_warp = totals.data()[0];
    for (int i = 1; i < warp; ++i)
        before_warp = op(before_warp, totals.data()[i]);
    if (nodes == nullptr)
        return before_warp;
    if (warp == 0) {
        T total = totals.data()[0];
#pragma unroll scan_unrolled
        for (int i = 1; i < Warps; ++i)
            total = op(total, totals.data()[i]);
        if (lane == 0)
            ScanNode<T>::publish(nodes + tile * ScanNode<T>::words, total);
        const T prefix = find_prefix(nodes, tile, tiles, total, lane, op);
        if (lane == 0)
            before_tile.data()[0] = prefix;
    }
    __syncthreads();
    if (tile != 0)
        before_warp = warp == 0 ? before_tile.data()[0] : op(before_tile.data()[0], before_warp);
    return before_warp;
}

/// Scans tile `tile` of `count` elements. `nodes` are those of this scan's tiles, initially zero;
/// null if there is one tile.
template <class T, int Rows, int Neighbours, int Threads, bool Exclusive, class Elements, class Op>
__device__ void scan_tile(const Elements &elements, unsigned long long count,
                          unsigned long long tile, unsigned long long *nodes, const T &neutral,
                          const Op &op) {
    const ScanPart<Rows, Neighbours, Threads> part(tile, count);
    const ScanSpan &span = part.span;
    T values[Rows][Neighbours];
    if (span.whole) {
#pragma unroll
        for (int row = 0; row < Rows; ++row)
            elements.load(span.first + row * (32 * Neighbours), values[row]);
    } else { // elements past the end are not used; they can have any value
        const T filler = elements.get(part.start);
#pragma unroll
        for (int row = 0; row < Rows; ++row)
#pragma unroll
            for (int k = 0; k < Neighbours; ++k) {
                const unsigned long long at = span.first + row * (32 * Neighbours) + k;
                values[row][k] = at < count ? elements.get(at) : filler;
            }
    }

    T before[Rows];
    const T warp_total = scan_rows(values, before, part.lane, op);
    const T before_warp = find_before_warp<Threads / 32>(warp_total, nodes, tile, part.tiles,
                                                         part.warp, part.lane, op);
    const bool anything = tile != 0 || part.warp != 0;
    if (span.whole)
        store_rows<Exclusive, true>(elements, span, values, before, part.lane, anything,
                                    before_warp, neutral, op);
    else
        store_rows<Exclusive, false>(elements, span, values, before, part.lane, anything,
                                     before_warp, neutral, op);
}

} // namespace pycuda
