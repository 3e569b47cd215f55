// thread_values.h -- integers that follow from a thread's index alone, computed for every thread.
#pragma once

#include "codegen/kernel_plan.h"

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace softcuda::codegen {

/// By thread of a block: tid.x runs fastest.
using PerThread = std::vector<std::uint64_t>;

class ThreadValues {
  public:
    explicit ThreadValues(const KernelPlan &plan) : plan_(plan) {}

    /// Null where the value follows from something else as well. Offsets into shared memory are
    /// such values; blockIdx, parameters, what was loaded and what takes very many operations are
    /// not (analysis/coordinates.h).
    const PerThread *of(const ir::Value *value);

  private:
    std::optional<PerThread> compute(const ir::Value *value);
    [[nodiscard]] std::optional<PerThread> index(ir::Special special) const;
    std::optional<PerThread> convert(const ir::Instruction &i);
    std::optional<PerThread> compare(const ir::Instruction &i);
    std::optional<PerThread> combine(const ir::Instruction &i);

    const KernelPlan &plan_;
    std::unordered_map<const ir::Value *, std::optional<PerThread>> known_;
};

} // namespace softcuda::codegen
