// sort_source.cpp -- the CUDA C++ of the kernels for sorting.
#include "arrays/device_code.h"
#include "arrays/operations/sorting.h"

#include "arrays/operations/device/select.cuh.h"
#include "arrays/operations/device/select_held.cuh.h"
#include "arrays/operations/device/sort.cuh.h"
#include "arrays/operations/device/sort_buckets.cuh.h"
#include "arrays/operations/device/sort_keys.cuh.h"
#include "arrays/operations/device/sort_serial.cuh.h"
#include "arrays/operations/device/sort_short.cuh.h"

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

/// The text that has a stage's kernel.
std::string_view text_of(SortStage stage) {
    if (stage == SortStage::SortShort)
        return device_code::sort_short_cuh;
    if (stage == SortStage::SelectHeld)
        return device_code::select_held_cuh;
    if (stage >= SortStage::SelectCount)
        return device_code::select_cuh;
    if (stage >= SortStage::BucketSort)
        return device_code::sort_buckets_cuh;
    return stage >= SortStage::SerialCount ? device_code::sort_serial_cuh : device_code::sort_cuh;
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
    constexpr const char *rankings[] = {"Late", "Late", "Early", "Marks"};
    const std::string bits = unsigned_of(item_size(variant.type));
    const TypeClass kind = type_class(variant.type);
    const bool rolled = runs_on_host();
    return type_alias("U", bits) +
           type_alias("W", variant.wide ? "unsigned long long" : "unsigned") +
           define("STAGE_" + std::string(sort_kernel_name(variant.stage)), true) +
           define("SORT_KIND", kind == TypeClass::Float    ? "pycuda::SortFloat"
                               : kind == TypeClass::Signed ? "pycuda::SortSigned"
                                                           : "pycuda::SortUnsigned") +
           define("SORT_INFINITY", infinity_of(variant.type)) +
           define("SORT_THREADS", variant.tile.threads == 0 ? 256u : variant.tile.threads) +
           define("SORT_SERIAL_BITS", serial_bits(variant.type)) +
           define("SORT_PAIRS", variant.pairs ? "true" : "false") +
           define("SORT_ITEMS", variant.tile.items) +
           define("SORT_RANKING", std::string("pycuda::Ranking::") +
                                      rankings[static_cast<int>(variant.tile.ranking)]) +
           define("HELD", 1u << (variant.tile.items & 31)) + define("GROUP", variant.group) +
           define("SELECT_RANKS", std::max(variant.tile.items, 1u)) +
           define("SELECT_OUT", variant.pairs ? "long long" : "U") +
           define("SELECT_UNROLL", rolled ? "_Pragma(\"unroll 1\")" : "_Pragma(\"unroll\")") +
           define("SELECT_AHEAD", rolled ? 1 : 8) + std::string(device_code::sort_keys_cuh) +
           std::string(text_of(variant.stage));
}

} // namespace pycuda
