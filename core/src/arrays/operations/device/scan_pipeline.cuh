// scan_pipeline.cuh -- long scans on devices that copy in bulk to shared memory (sm_90 and later).
//
// The total before a tile is known only microseconds after the tile has been read. To keep the
// memory busy meanwhile, a block holds many tiles in shared memory, and its warps have roles:
//
//     loader      claims tiles, and copies each to a stage of shared memory
//     reducers    combine the elements of a tile as soon as it is copied
//     publisher   publishes its total
//     finders     wait for the totals of the tiles before it; each processes every third tile
//     scanners    scan the tile, starting at that total, and write the results
//
//     a stage:  empty -> full -> summed -> told -> known -> empty     (barriers in shared memory)
//
// All lanes of a warp arrive, not one lane after __syncwarp(): this is no slower, and
// compute-sanitizer recognises no other order between their reads and the next copy.
//
// Tiles, and the order of operations within and between them, are those of scan_tile(), so results
// have the same bits. Blocks claim tiles in rising order and finish them in that order, so the
// first unfinished tile does not wait for other tiles.
#pragma once

namespace pycuda {

/// A barrier of shared memory (mbarrier), with one phase for each time that a stage is used.
struct StageBarrier {
    unsigned long long state;

    __device__ unsigned address() const {
        return static_cast<unsigned>(__cvta_generic_to_shared(&state));
    }
    __device__ void init(unsigned arrivals) {
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address()), "r"(arrivals));
    }
    __device__ void arrive() {
        asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(address()) : "memory");
    }
    /// Arrives; the phase ends when this many bytes have been copied, too.
    __device__ void arrive_expecting(unsigned bytes) {
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(address()),
                     "r"(bytes)
                     : "memory");
    }
    /// Waits until the phase of this parity has ended.
    __device__ void wait(unsigned parity) const {
        asm volatile("{\n"
                     ".reg .pred over;\n"
                     "again:\n"
                     "mbarrier.try_wait.parity.shared.b64 over, [%0], %1;\n"
                     "@!over bra again;\n"
                     "}" ::"r"(address()),
                     "r"(parity)
                     : "memory");
    }
};

/// Starts a copy of memory that will not be read again; both addresses are aligned to 16 bytes.
__device__ inline void copy_in_bulk(void *to, const void *from, unsigned bytes,
                                    const StageBarrier &done) {
    unsigned long long policy;
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 ".L2::cache_hint [%0], [%1], %2, [%3], %4;" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(to))),
                 "l"(from), "r"(bytes), "r"(done.address()), "l"(policy)
                 : "memory");
}

/// `Scans` describes the scans: their number, the number of their tiles and elements, the elements
/// (contiguous, aligned to 16 bytes) and the nodes. Run it with blocks of `threads`, at most one
/// for each tile, with `shared_bytes` of dynamic shared memory.
template <class T, int Rows, int Neighbours, int Stages, bool Exclusive, class Scans, class Op>
struct ScanPipeline {
    using Elements = typename Scans::Elements;
    using Stored = typename Elements::Stored;
    static constexpr int scanners = 8, reducers = 4, finders = 3;
    static constexpr int threads = 32 * (scanners + reducers + 2 + finders);
    static constexpr unsigned long long tile_size = 32ull * scanners * Rows * Neighbours;

    struct Stage {
        StageBarrier empty, full, summed, told, known;
        long long scan; ///< the scan of the tile; -1: no more tiles
        unsigned long long tile;
        Storage<T, scanners> totals;
        Storage<T, 1> total, before;
    };
    Scans scans;
    unsigned long long *counter;
    T neutral;
    Op op;
    Stage *stages;
    Stored *memory; ///< the elements of all stages
    int lane;

    __device__ const Stored *elements_of(int stage) const { return memory + stage * tile_size; }

    __device__ static unsigned long long first_of(const Stage &stage) {
        return stage.tile * tile_size;
    }
    /// True if no element of the tile is past the end.
    __device__ bool is_whole(const Stage &stage) const {
        return first_of(stage) + tile_size <= scans.count();
    }

    /// Calls `work(stage, parity)` for this role's tiles: every `step`th, starting with `turn`,
    /// until the last tile.
    template <class Work> __device__ void each_tile(int turn, int step, Work &&work) {
        for (;; turn += step) {
            const int stage = turn % Stages;
            const unsigned parity = turn / Stages % 2;
            stages[stage].full.wait(parity);
            if (stages[stage].scan < 0)
                return;
            work(stage, parity);
        }
    }

    __device__ void load() {
        const long long all = scans.scans() * scans.tiles();
        int ends = 0; // one for each finder
        for (int turn = 0; ends < finders; ++turn) {
            Stage &stage = stages[turn % Stages];
            stage.empty.wait(turn / Stages % 2 ^ 1);
            long long claimed = all;
            if (ends == 0)
                claimed = static_cast<long long>(atomicAdd(counter, 1ull));
            stage.scan = claimed < all ? claimed / scans.tiles() : -1;
            stage.tile = claimed - stage.scan * scans.tiles();
            if (claimed < all)
                start_copy(stage, memory + turn % Stages * tile_size);
            else {
                stage.full.arrive();
                ++ends;
            }
        }
    }
    __device__ void start_copy(Stage &stage, Stored *to) {
        const Stored *from = scans.elements(stage.scan).memory() + first_of(stage);
        const unsigned count =
            static_cast<unsigned>(is_whole(stage) ? tile_size : scans.count() - first_of(stage));
        const unsigned bytes = count * sizeof(Stored) / 16 * 16;
        for (unsigned i = bytes / sizeof(Stored); i < count; ++i)
            to[i] = from[i]; // the last elements of a scan, less than 16 bytes
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        stage.full.arrive_expecting(bytes);
        if (bytes != 0)
            copy_in_bulk(to, from, bytes, stage.full);
    }

    /// The elements of one lane of scanner `warp`, of `count` in the tile. Elements past the end
    /// are not used; they can have any value.
    template <bool Whole>
    __device__ void read_rows(const Stored *from, unsigned long long count, int warp,
                              T (&values)[Rows][Neighbours]) const {
#pragma unroll
        for (int row = 0; row < Rows; ++row) {
            const unsigned at = ((warp * Rows + row) * 32 + lane) * Neighbours;
            const auto vector =
                *reinterpret_cast<const ScanVector<Stored, Neighbours> *>(from + at);
#pragma unroll
            for (int k = 0; k < Neighbours; ++k)
                values[row][k] =
                    Elements::from_memory(Whole || at + k < count ? vector.of[k] : from[0]);
        }
    }
    __device__ void read_rows(int number, int warp, T (&values)[Rows][Neighbours]) const {
        const Stage &stage = stages[number];
        if (is_whole(stage))
            read_rows<true>(elements_of(number), tile_size, warp, values);
        else
            read_rows<false>(elements_of(number), scans.count() - first_of(stage), warp, values);
    }

    __device__ void reduce(int reducer) {
        each_tile(0, 1, [&](int number, unsigned) {
            Stage &stage = stages[number];
            for (int warp = reducer; warp < scanners; warp += reducers) {
                const T total = total_of_warp(number, warp);
                if (lane == 0)
                    stage.totals.data()[warp] = total;
            }
            stage.summed.arrive();
        });
    }
    /// In lane 0: the total that scan_rows() computes, with the same operations.
    __device__ T total_of_warp(int number, int warp) const {
        T values[Rows][Neighbours], totals[Rows];
        read_rows(number, warp, values);
#pragma unroll
        for (int row = 0; row < Rows; ++row) {
            totals[row] = values[row][0];
#pragma unroll
            for (int k = 1; k < Neighbours; ++k)
                totals[row] = op(totals[row], values[row][k]);
        }
#pragma unroll
        for (int distance = 1; distance < 32; distance *= 2)
#pragma unroll
            for (int row = 0; row < Rows; ++row)
                totals[row] = op(totals[row], shuffle_down(totals[row], distance));
        T carry = totals[0];
#pragma unroll
        for (int row = 1; row < Rows; ++row)
            carry = op(carry, totals[row]);
        return carry;
    }

    __device__ void publish() {
        each_tile(0, 1, [&](int number, unsigned parity) {
            Stage &stage = stages[number];
            stage.summed.wait(parity);
            T total = stage.totals.data()[0];
#pragma unroll
            for (int warp = 1; warp < scanners; ++warp)
                total = op(total, stage.totals.data()[warp]);
            if (lane == 0) {
                ScanNode<T>::publish(scans.nodes(stage.scan) + stage.tile * ScanNode<T>::words,
                                     total);
                stage.total.data()[0] = total;
            }
            stage.told.arrive();
        });
    }

    __device__ void find(int finder) {
        each_tile(finder, finders, [&](int number, unsigned parity) {
            Stage &stage = stages[number];
            stage.told.wait(parity);
            const T total = stage.total.data()[0];
            const T before =
                find_prefix(scans.nodes(stage.scan), stage.tile, scans.tiles(), total, lane, op);
            if (lane == 0)
                stage.before.data()[0] = before;
            stage.known.arrive();
        });
    }

    __device__ void scan(int warp) {
        each_tile(0, 1, [&](int number, unsigned parity) {
            Stage &stage = stages[number];
            stage.known.wait(parity);
            T values[Rows][Neighbours];
            read_rows(number, warp, values);
            T before_warp = stage.totals.data()[0];
            for (int i = 1; i < warp; ++i)
                before_warp = op(before_warp, stage.totals.data()[i]);
            const T before_tile = stage.before.data()[0];
            const unsigned long long first_of_lane =
                first_of(stage) +
                (warp * Rows * 32 + lane) * static_cast<unsigned long long>(Neighbours);
            const ScanSpan span = {first_of_lane, scans.count(), is_whole(stage)};
            const Elements elements = scans.elements(stage.scan);
            const bool first_tile = stage.tile == 0;
            stage.empty.arrive();

            if (!first_tile)
                before_warp = warp == 0 ? before_tile : op(before_tile, before_warp);
            T before[Rows];
            scan_rows(values, before, lane, op);
            const bool anything = !first_tile || warp != 0;
            if (span.whole)
                store_rows<Exclusive, true>(elements, span, values, before, lane, anything,
                                            before_warp, neutral, op);
            else
                store_rows<Exclusive, false>(elements, span, values, before, lane, anything,
                                             before_warp, neutral, op);
        });
    }

    __device__ void run() {
        if (threadIdx.x == 0) {
            for (int i = 0; i < Stages; ++i) {
                stages[i].empty.init(32 * scanners);
                stages[i].full.init(1);
                stages[i].summed.init(32 * reducers);
                stages[i].told.init(32);
                stages[i].known.init(32);
            }
            asm volatile("fence.mbarrier_init.release.cluster;");
        }
        __syncthreads();
        int role = static_cast<int>(threadIdx.x) / 32;
        if (role < scanners)
            return scan(role);
        role -= scanners;
        if (role < reducers)
            return reduce(role);
        role -= reducers;
        if (role < finders)
            return find(role);
        role -= finders;
        if (role == 0)
            publish();
        else if (lane == 0)
            load();
    }
};

/// A single contiguous scan, for a ScanPipeline.
template <class T, int Rows, int Neighbours, int Threads> struct OneScan {
    using Elements = ScanElements<T, ScanAccess::Vectors>;
    ScanPlaces<T> places;
    unsigned long long *first_node;

    __device__ long long scans() const { return 1; }
    __device__ long long tiles() const {
        constexpr unsigned long long tile = 1ull * Rows * Neighbours * Threads;
        return static_cast<long long>((places.count + tile - 1) / tile);
    }
    __device__ unsigned long long count() const { return places.count; }
    __device__ Elements elements(long long) const { return {places}; }
    __device__ unsigned long long *nodes(long long) const { return first_node; }
};

/// Runs a ScanPipeline; `counter` counts claimed tiles.
template <class T, int Rows, int Neighbours, int Stages, bool Exclusive, class Scans, class Op>
__device__ void scan_pipeline(const Scans &scans, unsigned long long *counter, const T &neutral,
                              const Op &op) {
    using Pipeline = ScanPipeline<T, Rows, Neighbours, Stages, Exclusive, Scans, Op>;
    extern __shared__ __align__(128) unsigned char scan_pipeline_memory[];
    __shared__ Storage<typename Pipeline::Stage, Stages> stages;
    Pipeline{scans,
             counter,
             neutral,
             op,
             stages.data(),
             reinterpret_cast<typename Pipeline::Stored *>(scan_pipeline_memory),
             static_cast<int>(threadIdx.x % 32)}
        .run();
}

} // namespace pycuda
