// counts.cpp -- the functions that profiled kernels call.
#include "rt/counts.h"

#include "rt/resident_block.h"

namespace {

softcuda::rt::BlockCounter &counter_of(softcuda::rt::WorkerState *worker) {
    return *static_cast<softcuda::rt::BlockCounter *>(worker->counter);
}

} // namespace

softcuda::rt::LineCounts *scu_count_begin(softcuda::rt::WorkerState *worker,
                                          const softcuda::rt::CountTable *table) {
    softcuda::rt::LineCounts *lines = counter_of(worker).lines_of(*table);
    if (!lines)
        softcuda::rt::ResidentBlock::fail_without_counters();
    return lines;
}

void scu_count_access(softcuda::rt::WorkerState *worker, const softcuda::rt::CountTable *table,
                      std::uint32_t access, std::uint32_t mask, const std::uint64_t *addresses) {
    counter_of(worker).access(*table, access, mask, addresses);
}
