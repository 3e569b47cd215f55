// runtime_call.cpp -- instructions that generated code leaves to a function: who does what.
#include "support/runtime_operation.h"

#include "rt/cluster.h"
#include "rt/kernel_abi.h"

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

void run_lane(WorkerState *worker, RuntimeOperation operation, unsigned lane,
              const LaneCells &cells) {
    switch (operation) {
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
void scu_runtime_call(WorkerState *worker, const LaunchFrame *, void *, std::uint32_t word,
                      std::uint32_t mask, std::byte *cells) {
    const auto operation = static_cast<RuntimeOperation>(word & 0xff);
    for (; mask != 0; mask &= mask - 1) {
        const auto lane = static_cast<unsigned>(__builtin_ctz(mask));
        run_lane(worker, operation, lane, LaneCells(cells, lane));
    }
}
