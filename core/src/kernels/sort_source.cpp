// sort_source.cpp -- the CUDA C++ of the kernels for sorting.
#include "arrays/define.h"
#include "arrays/device_code.h"
#include "kernels/sorting.h"

#include "kernels/device/select.cuh.h"
#include "kernels/device/select_held.cuh.h"
#include "kernels/device/sort.cuh.h"
#include "kernels/device/sort_buckets.cuh.h"
#include "kernels/device/sort_keys.cuh.h"
#include "kernels/device/sort_serial.cuh.h"
#include "kernels/device/sort_short.cuh.h"

#include <algorithm>

namespace pycuda {
namespace {

const char *unsigned_of(std::size_t size) {
    return size == 1   ? "unsigned char"
           : size == 2 ? "unsigned short"
           : size == 4 ? "unsigned"
                       : "unsigned long long";
}

const char *infinity_of(ScalarType type) {
    switch (type) {
    case ScalarType::Float16:
        return "0x7c00";
    case ScalarType::BFloat16:
        return "0x7f80";
    case ScalarType::Float32:
        return "0x7f800000";
    case ScalarType::Float64:
        return "0x7ff0000000000000";
    default:
        return "0";
    }
}

std::string bucket_kernel(SortStage stage) {
    switch (stage) {
    case SortStage::BucketFind:
        return R"(
extern "C" __global__ void __launch_bounds__(256) KERNEL(const U *keys,
        const pycuda::FoundPlan *plans, unsigned short *buckets, pycuda::BucketGeometry g) {
    pycuda::find_buckets(keys, plans, buckets, g);
}
)";
    case SortStage::BucketDeal:
        return R"(
extern "C" __global__ void __launch_bounds__(1) KERNEL(const U *keys, U *space,
        pycuda::FoundPlan *plans, const unsigned short *buckets, unsigned *counts,
        pycuda::BucketGeometry g) {
    pycuda::deal_keys(keys, space, plans, buckets, counts, g);
}
)";
    default:
        return R"(
extern "C" __global__ void __launch_bounds__(1) KERNEL(const U *keys, U *result, U *space,
        const pycuda::FoundPlan *plans, const unsigned *counts, pycuda::BucketGeometry g) {
    pycuda::sort_buckets(keys, result, space, plans, counts, g);
}
)";
    }
}

std::string serial_kernel(const SortVariant &variant) {
    const std::string word = variant.wide ? "unsigned long long" : "unsigned";
    const std::string types = std::string(variant.pairs ? "true" : "false") + ", " + word;
    const std::string start = "typedef " + word +
                              " W;\nextern \"C\" __global__ void "
                              "__launch_bounds__(1) KERNEL(";
    switch (variant.stage) {
    case SortStage::SerialCount:
        return start +
               "const U *keys, const long long *order, W *counts, pycuda::SerialGeometry g) {\n"
               "    pycuda::serial_count<" +
               types + ">(keys, order, counts, g);\n}\n";
    case SortStage::SerialSum:
        return start + "W *counts, pycuda::SerialGeometry g) {\n"
                       "    pycuda::serial_sum(counts, g);\n}\n";
    case SortStage::SerialMove:
        return start +
               "const U *keys, U *keys_out, const void *values, void *values_out,\n"
               "        const W *counts, pycuda::SerialGeometry g) {\n    pycuda::serial_move<" +
               types + ">(keys, keys_out, values, values_out, counts, g);\n}\n";
    default:
        return start +
               "const U *keys, U *result, const long long *order, long long *places,\n"
               "        U *key_space, W *value_space, pycuda::SerialGeometry g) {\n"
               "    pycuda::serial_row<" +
               types + ">(keys, result, order, places, key_space, value_space, g);\n}\n";
    }
}

std::string select_kernel(const SortVariant &variant) {
    const std::string start =
        "extern \"C\" __global__ void __launch_bounds__(SORT_THREADS) KERNEL(const U *keys, ";
    switch (variant.stage) {
    case SortStage::SelectCount:
        return start + "const pycuda::Sought *sought, unsigned *counts, pycuda::SelectGeometry g) "
                       "{\n    pycuda::count_part(keys, sought, counts, g);\n}\n";
    case SortStage::SelectChoose:
        return "extern \"C\" __global__ void __launch_bounds__(SORT_THREADS) KERNEL(\n"
               "        const unsigned *counts, pycuda::Sought *sought, U *out,\n"
               "        pycuda::SelectGeometry g) {\n"
               "    pycuda::choose_part(counts, sought, out, g);\n}\n";
    case SortStage::SelectRow:
        return start + "pycuda::Sought *sought, U *out, pycuda::SelectGeometry g) {\n"
                       "    pycuda::select_row(keys, sought, out, g);\n}\n";
    case SortStage::PartCount:
        return start + "const pycuda::Sought *sought, unsigned long long *counts,\n"
                       "        pycuda::SelectGeometry g) {\n"
                       "    pycuda::count_tiles(keys, sought, counts, g);\n}\n";
    default:
        return start + "const pycuda::Sought *sought, const unsigned long long *ends,\n        " +
               (variant.pairs ? "long long" : "U") +
               " *out, pycuda::SelectGeometry g) {\n"
               "    pycuda::write_tile(keys, sought, ends, out, g);\n}\n";
    }
}

std::string select_source(const SortVariant &variant) {
    return define("SELECT_RANKS", std::max(variant.tile.items, 1u)) +
           define("SELECT_EQUAL", variant.pairs ? "true" : "false") +
           define("SELECT_UNROLL",
                  runs_on_host() ? "_Pragma(\"unroll 1\")" : "_Pragma(\"unroll\")") +
           define("SELECT_AHEAD", runs_on_host() ? 1 : 8) + std::string(device_code::select_cuh) +
           select_kernel(variant);
}

std::string group_of(const SortVariant &variant) {
    return define("HELD", 1u << variant.tile.items) + define("GROUP", variant.group);
}

std::string short_source(const SortVariant &variant) {
    return group_of(variant) + std::string(device_code::sort_short_cuh) +
           "extern \"C\" __global__ void __launch_bounds__(SORT_THREADS) KERNEL(\n"
           "        const U *keys_in, U *keys_out, const long long *order, long long *values_out,\n"
           "        long long rows, pycuda::ShortGeometry g) {\n    pycuda::sort_short<" +
           (variant.pairs ? "true" : "false") +
           ">(keys_in, keys_out, order, values_out, rows, g);\n}\n";
}

std::string held_source(const SortVariant &variant) {
    return group_of(variant) + std::string(device_code::select_held_cuh) +
           "extern \"C\" __global__ void __launch_bounds__(SORT_THREADS) KERNEL(const U *keys, U "
           "*out,\n"
           "        pycuda::HeldGeometry g) {\n    pycuda::select_held(keys, out, g);\n}\n";
}

std::string kernel_of(const SortVariant &variant) {
    constexpr const char *rankings[] = {"Late", "Late", "Early", "Marks"};
    const std::string items = std::to_string(variant.tile.items);
    const std::string pairs = variant.pairs ? "true" : "false";
    const std::string start =
        "extern \"C\" __global__ void __launch_bounds__(SORT_THREADS) KERNEL(";
    switch (variant.stage) {
    case SortStage::Count:
        return start +
               "const A *keys, unsigned long long *counts, pycuda::SortGeometry g) {\n"
               "    pycuda::count_digits<" +
               pairs + ">(keys, counts, g);\n}\n";
    case SortStage::Plan:
        return start + "const unsigned long long *counts, unsigned *plans,\n"
                       "        pycuda::SortGeometry g) {\n"
                       "    pycuda::plan_passes(counts, plans, g);\n}\n";
    case SortStage::Pass: {
        const std::string word = variant.wide ? "unsigned long long" : "unsigned";
        return start +
               "pycuda::SortMemory memory, const unsigned long long *counts,\n"
               "        const unsigned *plans, unsigned long long *states,\n"
               "        pycuda::SortGeometry g) {\n    pycuda::sort_tile<" +
               items + ", pycuda::Ranking::" + rankings[static_cast<int>(variant.tile.ranking)] +
               ", " + pairs + ", " + word + ", " + word +
               ">(memory, counts, plans, states, g);\n}\n";
    }
    case SortStage::Small:
        return start +
               "const A *keys_in, A *keys_out, const long long *order, long long *values_out,\n"
               "        pycuda::SortGeometry g) {\n    pycuda::sort_small<" +
               items + ", " + pairs + ">(keys_in, keys_out, order, values_out, g);\n}\n";
    case SortStage::BucketSort:
    case SortStage::BucketFind:
    case SortStage::BucketDeal:
        return bucket_kernel(variant.stage);
    default:
        return serial_kernel(variant);
    }
}

} // namespace

std::string_view sort_kernel_name(SortStage stage) noexcept {
    constexpr std::string_view names[] = {
        "sort_count",        "sort_plan",        "sort_pass",         "sort_small",
        "sort_serial_count", "sort_serial_sum",  "sort_serial_move",  "sort_serial_row",
        "sort_bucket",       "sort_find_bucket", "sort_deal_buckets", "select_count",
        "select_choose",     "select_row",       "partition_count",   "partition_write",
        "select_held",       "sort_short"};
    static_assert(std::size(names) == static_cast<std::size_t>(SortStage::SortShort) + 1);
    return names[static_cast<std::size_t>(stage)];
}

std::string sort_source(const SortVariant &variant) {
    const std::string bits = unsigned_of(item_size(variant.type));
    const TypeClass kind = type_class(variant.type);
    const std::string code =
        type_alias("A", bits) + type_alias("U", bits) +
        define("SORT_KIND", kind == TypeClass::Float    ? "pycuda::SortFloat"
                            : kind == TypeClass::Signed ? "pycuda::SortSigned"
                                                        : "pycuda::SortUnsigned") +
        define("SORT_INFINITY", infinity_of(variant.type)) +
        define("SORT_THREADS", variant.tile.threads == 0 ? 256u : variant.tile.threads) +
        define("SORT_SERIAL_BITS", serial_bits(variant.type)) +
        std::string(device_code::sort_keys_cuh);
    if (variant.stage == SortStage::SelectHeld)
        return code + held_source(variant);
    if (variant.stage == SortStage::SortShort)
        return code + short_source(variant);
    if (variant.stage >= SortStage::SelectCount)
        return code + select_source(variant);
    return code +
           (variant.stage >= SortStage::BucketSort    ? std::string(device_code::sort_buckets_cuh)
            : variant.stage >= SortStage::SerialCount ? std::string(device_code::sort_serial_cuh)
                                                      : std::string(device_code::sort_cuh)) +
           kernel_of(variant);
}

} // namespace pycuda
