// bucket_sort.cpp -- launches the kernels that sort keys by distributing them to buckets.
#include "arrays/operations/sorting.h"

#include <algorithm>
#include <bit>
#include <initializer_list>

namespace pycuda {
namespace {

constexpr std::int64_t longest = std::int64_t{1} << 31; ///< counts have 32 bits, buckets 31
constexpr std::int64_t shortest = 1 << 16;
constexpr std::int64_t most_rows = 65535;  ///< the limit of a grid
constexpr std::int64_t bucket_keys = 4096; ///< the aimed size
constexpr std::int64_t most_targets = 2048;
constexpr std::int64_t sample_keys = 8; ///< for each bucket of the aimed size
constexpr unsigned find_threads = 256;
/// Shared memory of a block that sorts a bucket: counts of two digits, and the keys twice.
constexpr unsigned room_bytes = 46 << 10;
constexpr unsigned shared_bytes = 2 * 512 * 4 + 2 * room_bytes;
/// In shorter rows, the counts would take more memory than the keys.
constexpr std::int64_t shortest_row = 512;

enum class Step : std::int32_t { Sample, Plan, Find, Count, Sum, Move, Finish, Row };

/// As BucketGeometry of sort_buckets.cuh.
struct Geometry {
    std::int64_t length, chunk;
    std::uint64_t flip;
    std::int32_t chunks, targets, sample;
    Step step;
};

Geometry geometry_of(const Sorting &work) {
    const std::int64_t processors = work.keys.context()->traits().processors;
    const std::int64_t parts =
        divide_up(std::max(processors, std::min<std::int64_t>(4 * processors, 16)), work.rows);
    const std::int64_t chunks = std::clamp<std::int64_t>(work.length / (shortest / 8), 1, parts);
    const auto buckets = static_cast<std::uint64_t>(work.length / bucket_keys);
    const std::int64_t targets =
        std::min(static_cast<std::int64_t>(std::bit_ceil(buckets)), most_targets);
    return {work.length,
            divide_up(divide_up(work.length, chunks), 4) * 4,
            work.flip,
            static_cast<std::int32_t>(chunks),
            static_cast<std::int32_t>(targets),
            static_cast<std::int32_t>(sample_keys * targets),
            Step::Sample};
}

/// The size of FoundPlan of sort_buckets.cuh: a plan, then cells of 4 bytes, then cuts, which are
/// keys.
std::int64_t plan_bytes(ScalarType type) {
    const auto key_bytes = static_cast<std::int64_t>(item_size(type));
    return divide_up(32 + most_targets / 2 * 4 + (most_targets / 2 - 1) * key_bytes, 8) * 8;
}

/// Whether the keys of a bucket can be sorted in shared memory.
bool has_room(const Sorting &work) {
    return !work.pairs && item_size(work.type()) >= 4 &&
           work.keys.context()->traits().shared_bytes >= shared_bytes;
}

const Function &sorting_kernel(const Sorting &work, LaunchConfig &config) {
    const Function &kernel = work.kernel({work.type(), SortStage::BucketSort, false, false, {}});
    config.shared_bytes = shared_bytes;
    kernel.set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared_bytes);
    return kernel;
}

} // namespace

bool fits_buckets(const Sorting &work) {
    return work.length >= shortest && work.length < longest && work.rows <= most_rows &&
           has_room(work);
}

bool rows_fit_buckets(const Sorting &work) {
    return work.length >= shortest_row &&
           work.length * static_cast<std::int64_t>(item_size(work.type())) <= room_bytes &&
           has_room(work);
}

void sort_rows_as_buckets(Sorting &work) {
    Geometry geometry{};
    geometry.length = work.length;
    geometry.flip = work.flip;
    geometry.step = Step::Row;
    const auto key_bytes = static_cast<std::int64_t>(work.keys.bytes());
    const Array space = work.scratch(key_bytes);
    KernelArguments arguments(work.use);
    for (const Array *array :
         std::initializer_list<const Array *>{&work.keys, &work.result, &space})
        arguments.add(array);
    arguments.add(LibraryAddress());
    arguments.add(LibraryAddress());
    arguments.add(geometry);
    LaunchConfig config{.grid = {sort_grid(work.rows)}, .block = {1}};
    arguments.launch(sorting_kernel(work, config), config);
}

void sort_by_buckets(Sorting &work) {
    Geometry geometry = geometry_of(work);
    const std::int64_t most = 2 * std::int64_t{geometry.targets};
    const auto key_bytes = static_cast<std::int64_t>(work.keys.bytes());
    const Array space = work.scratch(key_bytes);
    const Array plans = work.scratch(work.rows * plan_bytes(work.type()));
    const Array counts = work.scratch(work.rows * most * geometry.chunks * 4);
    const Array buckets = work.scratch(work.rows * divide_up(work.length, 4) * 8);
    for (SortStage stage : {SortStage::BucketFind, SortStage::BucketDeal})
        work.expect({work.type(), stage, false, false, {}});
    auto launch = [&](SortStage stage, Step step, std::int64_t blocks,
                      std::initializer_list<const Array *> arrays) {
        geometry.step = step;
        KernelArguments arguments(work.use);
        for (const Array *array : arrays)
            arguments.add(array);
        arguments.add(geometry);
        LaunchConfig config{
            .grid = {static_cast<unsigned>(blocks), static_cast<unsigned>(work.rows)},
            .block = {step == Step::Find ? find_threads : 1}};
        const Function &kernel = stage == SortStage::BucketSort
                                     ? sorting_kernel(work, config)
                                     : work.kernel({work.type(), stage, false, false, {}});
        arguments.launch(kernel, config);
    };
    const Array *keys = &work.keys;
    const std::initializer_list<const Array *> sorting = {keys, &work.result, &space, &plans,
                                                          &counts};
    const std::initializer_list<const Array *> dealing = {keys, &space, &plans, &buckets, &counts};
    launch(SortStage::BucketSort, Step::Sample, 1, sorting);
    launch(SortStage::BucketDeal, Step::Plan, 1, {keys, &work.result, &plans, &buckets, &counts});
    launch(SortStage::BucketFind, Step::Find, geometry.chunks, {keys, &plans, &buckets});
    launch(SortStage::BucketDeal, Step::Count, geometry.chunks, dealing);
    launch(SortStage::BucketDeal, Step::Sum, 1, dealing);
    launch(SortStage::BucketDeal, Step::Move, geometry.chunks, dealing);
    launch(SortStage::BucketSort, Step::Finish, most, sorting);
}

} // namespace pycuda
