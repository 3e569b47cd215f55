// runtime_call.cpp -- dispatches the instructions that generated code executes by a function call.
#include "support/runtime_operation.h"

#include "rt/bulk_copy.h"
#include "rt/cluster.h"
#include "rt/kernel_abi.h"
#include "rt/load_factor.h"
#include "rt/tensor_copy.h"
#include "rt/tensor_map_field.h"

#include <cstring>

using namespace softcuda::rt;
using softcuda::RuntimeOperation;

namespace {

/// The operands and results of one lane.
class LaneCells {
  public:
    LaneCells(std::byte *cells, unsigned lane) : cells_(cells), lane_(lane) {}

    template <class T> [[nodiscard]] T get(unsigned cell) const {
        T value;
        std::memcpy(&value, cells_ + cell * kRuntimeCell + lane_ * sizeof value, sizeof value);
        return value;
    }
    template <class T> void put(unsigned cell, T value) const {
        std::memcpy(cells_ + cell * kRuntimeCell + lane_ * sizeof value, &value, sizeof value);
    }

  private:
    std::byte *cells_;
    unsigned lane_;
};

void copy(const LaneCaller &caller, std::uint32_t variant, const LaneCells &cells) {
    const softcuda::BulkForm form = softcuda::BulkForm::unpack(variant);
    BulkCopy copy{.to = cells.get<std::uint64_t>(0),
                  .from = cells.get<std::uint64_t>(1),
                  .bytes = cells.get<std::uint32_t>(2)};
    unsigned next = 3;
    if (form.arrives)
        copy.barrier = cells.get<std::uint64_t>(next++);
    if (form.multicast || form.masked)
        copy.mask = cells.get<std::uint32_t>(next);
    copy_in_bulk(caller, form, copy);
}

void store(const LaneCaller &caller, std::uint32_t variant, const LaneCells &cells) {
    const softcuda::BulkForm form = softcuda::BulkForm::unpack(variant);
    const std::uint32_t each = softcuda::bytes_of(form.element.type);
    std::byte values[4 * sizeof(std::uint64_t)];
    for (unsigned n = 0; n < form.count; n++)
        if (each == sizeof(std::uint64_t)) {
            const auto value = cells.get<std::uint64_t>(2 + n);
            std::memcpy(values + n * each, &value, each);
        } else {
            const auto value = cells.get<std::uint32_t>(2 + n);
            std::memcpy(values + n * each, &value, each);
        }
    store_asynchronously(caller, form, cells.get<std::uint64_t>(0), cells.get<std::uint64_t>(1),
                         values, each * form.count);
}

TensorPlace place_of(const softcuda::BulkForm &form, const LaneCells &cells, unsigned map,
                     unsigned first) {
    TensorPlace place{.map = cells.get<std::uint64_t>(map)};
    for (unsigned d = 0; d < form.count; d++)
        place.begin[d] = cells.get<std::int32_t>(first + d);
    return place;
}

void load_tensor(const LaneCaller &caller, std::uint32_t variant, const LaneCells &cells) {
    const softcuda::BulkForm form = softcuda::BulkForm::unpack(variant);
    const std::uint32_t mask = form.multicast ? cells.get<std::uint32_t>(3 + form.count) : 0;
    load_box(caller, form, place_of(form, cells, 1, 3), cells.get<std::uint64_t>(0),
             cells.get<std::uint64_t>(2), mask);
}

void store_tensor(const LaneCaller &caller, std::uint32_t variant, const LaneCells &cells) {
    const softcuda::BulkForm form = softcuda::BulkForm::unpack(variant);
    store_box(caller, form, place_of(form, cells, 0, 2), cells.get<std::uint64_t>(1));
}

void load_matrix(const LaneCaller &caller, std::uint32_t variant, const LaneCells &cells) {
    const softcuda::FactorForm form = softcuda::FactorForm::unpack(variant);
    FactorRegisters registers;
    load_factor(caller, form, cells.get<std::uint64_t>(0), registers);
    for (unsigned r = 0; r < form.registers; r++)
        cells.put(1 + r, registers[r]);
}

void run_lane(const LaneCaller &caller, std::uint32_t word, unsigned lane, const LaneCells &cells) {
    WorkerState *const worker = caller.worker();
    const std::uint32_t variant = word >> 8;
    switch (static_cast<RuntimeOperation>(word & 0xff)) {
    case RuntimeOperation::BulkCopy:
        return copy(caller, variant, cells);
    case RuntimeOperation::AsyncStore:
        return store(caller, variant, cells);
    case RuntimeOperation::ReplaceField:
        return replace_field(caller, softcuda::TensorMapField::unpack(variant),
                             cells.get<std::uint64_t>(0), cells.get<std::uint64_t>(1));
    case RuntimeOperation::LoadFactor:
        return load_matrix(caller, variant, cells);
    case RuntimeOperation::TensorLoad:
        return load_tensor(caller, variant, cells);
    case RuntimeOperation::TensorStore:
        return store_tensor(caller, variant, cells);
    case RuntimeOperation::MapRank:
        return cells.put(
            2, map_rank(worker, cells.get<std::uint64_t>(0), cells.get<std::uint32_t>(1), lane));
    case RuntimeOperation::RankOf:
        return cells.put(1, rank_of(worker, cells.get<std::uint64_t>(0)));
    case RuntimeOperation::FromCluster:
        return cells.put(1, from_cluster_address(worker, cells.get<std::uint32_t>(0), lane));
    case RuntimeOperation::ToCluster:
        return cells.put(1, to_cluster_address(worker, cells.get<std::uint64_t>(0)));
    case RuntimeOperation::IsClusterShared:
        return cells.put(1,
                         std::uint32_t{cluster_contains(worker, cells.get<std::uint64_t>(0), 1)});
    }
}

} // namespace

// Nothing here owns anything: a fault may jump out.
void scu_runtime_call(WorkerState *worker, const LaunchFrame *frame, void *sites,
                      std::uint32_t word, std::uint32_t mask, std::byte *cells) {
    for (; mask != 0; mask &= mask - 1) {
        const auto lane = static_cast<unsigned>(__builtin_ctz(mask));
        run_lane(LaneCaller(worker, frame, sites, lane), word, lane, LaneCells(cells, lane));
    }
}
