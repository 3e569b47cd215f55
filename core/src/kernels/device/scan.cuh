// scan.cuh -- running sums (or any associative operation) in one pass over memory.
//
// A block scans a tile and needs what all tiles before it add up to. Tiles publish their totals;
// the last tile of each 32 publishes the total of the 32, the last of each 1024 that of the 1024,
// and so on:
//
//     tile 2090 = 2 * 1024 + 1 * 32 + 10
//     what lies before it = totals of 2 thousands, then of 1 group of 32, then of 10 tiles
//
// Each of these is at most 31 nodes, read by a warp at once, and those of the first levels
// together: most have been published by the time that a tile gets there. Unlike the usual
// look-back, which takes whatever prefix a predecessor happens to have ready, the order of
// operations is always the same: sums of floating-point numbers do not change from run to run or
// device to device.
//
// Blocks claim tiles through a counter, so that a tile's predecessors have all been started when
// it waits for them: no order or number of blocks running at a time can make it wait forever.
#pragma once

namespace pycuda {

/// The totals, as 64-bit words of 32 bits payload and a mark that says they are there: a word is
/// written and read as a whole, so that no fences are needed.
template <class T> struct ScanNode {
    static constexpr int words = Words<T>::count;
    static constexpr unsigned long long mark = 1ull << 32;

    __device__ static void publish(unsigned long long *node, const T &value) {
        const Words<T> payload = Words<T>::of(value);
#pragma unroll
        for (int i = 0; i < words; ++i)
            reinterpret_cast<volatile unsigned long long *>(node)[i] = mark | payload.word[i];
    }
    /// The words as they are now.
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
    /// Waits until the node, of which `seen` has been read, has been published.
    __device__ static T wait(const unsigned long long *node, Words64 seen) {
        Words<T> payload;
#pragma unroll
        for (int i = 0; i < words; ++i) {
            while (seen.word[i] < mark)
                seen.word[i] = reinterpret_cast<const volatile unsigned long long *>(node)[i];
            payload.word[i] = static_cast<unsigned>(seen.word[i]);
        }
        return payload.value();
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

/// Publishes a tile's total and returns what all tiles before it add up to; for tile 0 that is
/// meaningless. Called by one whole warp.
template <class T, class Op>
__device__ T find_prefix(unsigned long long *nodes, unsigned long long tile,
                         unsigned long long tiles, const T &total, int lane, const Op &op) {
    using Node = ScanNode<T>;
    constexpr int at_once = Node::words <= 2 ? 3 : 1; // levels of which nodes are read together
    T own = total;
    T prefix = total;
    bool found = false;
    bool last = true; // of its 32, of its 1024, ... as far as it has come
    if (lane == 0)
        Node::publish(nodes + tile * Node::words, own);

    typename Node::Words64 seen[at_once];
    unsigned long long *level = nodes;
    unsigned long long at = tile, level_size = tiles;
    auto up = [&] {
        level += level_size * Node::words;
        level_size = level_size / 32 + 1;
        at /= 32;
    };
#pragma unroll
    for (int i = 0; i < at_once; ++i, up()) {
        const int before = static_cast<int>(at % 32);
        if (lane < before)
            seen[i] = Node::peek(level + (at - before + lane) * Node::words);
    }
    level = nodes;
    at = tile;
    level_size = tiles;
    auto climb = [&](const typename Node::Words64 *known) {
        const int before = static_cast<int>(at % 32);
        T value = own;
        if (lane < before) {
            const unsigned long long *node = level + (at - before + lane) * Node::words;
            value = Node::wait(node, known != nullptr ? *known : Node::peek(node));
        }
        if (before != 0) {
            value = scan_warp(value, lane, op);
            const T sum = shuffle(value, before - 1);
            prefix = found ? op(sum, prefix) : sum;
            found = true;
        }
        up();
        last = last && before == 31;
        if (last) { // its value is now the total of all of them
            own = shuffle(value, 31);
            if (lane == 0)
                Node::publish(level + at * Node::words, own);
        }
    };
#pragma unroll
    for (int i = 0; i < at_once; ++i)
        if (at != 0)
            climb(&seen[i]);
    while (at != 0)
        climb(nullptr);
    return prefix;
}

enum class ScanAccess { Vectors, Elements, Strided };

/// Whole vectors of memory, where Bytes is a power of two.
template <int Bytes> struct alignas(Bytes &(Bytes - 1) ? 1 : Bytes) ScanVector {
    unsigned char bytes[Bytes];
};

/// Where a scan reads and writes. Strides are in bytes.
template <class T> struct ScanPlaces {
    const T *in;
    T *out;
    long long in_stride, out_stride;
    unsigned long long count;
};

/// How a tile gets at the elements of ScanPlaces: one by one, or as neighbours.
template <class T, ScanAccess Access> struct ScanElements {
    ScanPlaces<T> places;

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
            const auto vector =
                *reinterpret_cast<const ScanVector<sizeof(values)> *>(places.in + i);
            memcpy(values, vector.bytes, sizeof(values));
        } else {
#pragma unroll
            for (int k = 0; k < Neighbours; ++k)
                values[k] = get(i + k);
        }
    }
    template <int Neighbours>
    __device__ void store(unsigned long long i, const T (&values)[Neighbours]) const {
        if (Access == ScanAccess::Vectors) {
            ScanVector<sizeof(values)> vector;
            memcpy(vector.bytes, values, sizeof(values));
            *reinterpret_cast<ScanVector<sizeof(values)> *>(places.out + i) = vector;
        } else {
#pragma unroll
            for (int k = 0; k < Neighbours; ++k)
                put(i + k, values[k]);
        }
    }
};

/// The number of a tile that this block has claimed: each is claimed once, in rising order.
__device__ inline unsigned long long claim_tile(unsigned long long *counter) {
    __shared__ unsigned long long claimed;
    if (threadIdx.x == 0)
        claimed = atomicAdd(counter, 1ull);
    __syncthreads();
    return claimed;
}

/// For blocks with one tile: nothing is to be done in between.
struct OneTile {
    __device__ void loaded() const {}
    __device__ void shared() const {}
};

/// Scans tile `tile` of `count` elements. `nodes` are those of this scan's tiles, all zeros at
/// first. Exclusive scans give `neutral` for the first element. Each thread calls next.loaded()
/// after its loads, and next.shared() when all have done so, before what precedes the tile is
/// known.
template <class T, int Rows, int Neighbours, int Threads, bool Exclusive, class Elements, class Op,
          class Next = OneTile>
__device__ void scan_tile(const Elements &elements, unsigned long long count,
                          unsigned long long tile, unsigned long long *nodes, const T &neutral,
                          const Op &op, const Next &next = Next()) {
    using Index = unsigned long long;
    constexpr int warps = Threads / 32;
    constexpr Index tile_size = static_cast<Index>(Threads) * Rows * Neighbours;
    __shared__ Storage<T, warps> totals;
    __shared__ Storage<T, 1> before_tile;
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;

    const Index start = tile * tile_size;
    const Index first = start + warp * (32 * Rows * Neighbours) + lane * Neighbours;
    const bool whole = start + tile_size <= count;

    // values[row][k]: neighbours in memory; rows are 32 * Neighbours apart.
    T values[Rows][Neighbours];
    if (whole) {
#pragma unroll
        for (int row = 0; row < Rows; ++row)
            elements.load(first + row * (32 * Neighbours), values[row]);
    } else { // what lies past the end is never used; any value will do
        const T filler = elements.get(start);
#pragma unroll
        for (int row = 0; row < Rows; ++row)
#pragma unroll
            for (int k = 0; k < Neighbours; ++k) {
                const Index at = first + row * (32 * Neighbours) + k;
                values[row][k] = at < count ? elements.get(at) : filler;
            }
    }

    next.loaded();

    // Within the warp. before[row]: what precedes the thread's neighbours; in row 0 of lane 0,
    // nothing does.
    T before[Rows];
    T carry = values[0][0];
#pragma unroll
    for (int row = 0; row < Rows; ++row) {
#pragma unroll
        for (int k = 1; k < Neighbours; ++k)
            values[row][k] = op(values[row][k - 1], values[row][k]);
        const T scanned = scan_warp(values[row][Neighbours - 1], lane, op);
        const T below = shuffle_up(scanned, 1);
        const T row_total = shuffle(scanned, 31);
        before[row] = lane == 0 ? carry : row == 0 ? below : op(carry, below);
        carry = row == 0 ? row_total : op(carry, row_total);
    }
    if (lane == 0)
        totals.data()[warp] = carry;
    __syncthreads();
    next.shared();

    // Before the warp, within the tile.
    T before_warp = totals.data()[0];
    for (int i = 1; i < warp; ++i)
        before_warp = op(before_warp, totals.data()[i]);
    if (warp == 0) {
        T total = totals.data()[0];
#pragma unroll
        for (int i = 1; i < warps; ++i)
            total = op(total, totals.data()[i]);
        const Index tiles = (count + tile_size - 1) / tile_size;
        const T prefix = find_prefix(nodes, tile, tiles, total, lane, op);
        if (lane == 0)
            before_tile.data()[0] = prefix;
    }
    __syncthreads();
    const bool anything = tile != 0 || warp != 0; // before this warp
    if (tile != 0)
        before_warp = warp == 0 ? before_tile.data()[0] : op(before_tile.data()[0], before_warp);

#pragma unroll
    for (int row = 0; row < Rows; ++row) {
        const bool own = row != 0 || lane != 0; // before[row] means something
        T prefix = before[row];
        if (anything)
            prefix = own ? op(before_warp, before[row]) : before_warp;
        const bool has_prefix = anything || own;
        T result[Neighbours];
#pragma unroll
        for (int k = 0; k < Neighbours; ++k) {
            if (Exclusive && k == 0)
                result[k] = has_prefix ? prefix : neutral;
            else {
                const T &value = values[row][Exclusive ? k - 1 : k];
                result[k] = has_prefix ? op(prefix, value) : value;
            }
        }
        const Index at = first + row * (32 * Neighbours);
        if (whole) {
            elements.store(at, result);
            continue;
        }
#pragma unroll
        for (int k = 0; k < Neighbours; ++k)
            if (at + k < count)
                elements.put(at + k, result[k]);
    }
}

} // namespace pycuda
