// thread_values.h -- integers that follow from a thread's index alone, computed for every thread.
#pragma once

#include "analysis/range.h"
#include "ir/ir.h"

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace softcuda::analysis {

/// By thread of a block: tid.x runs fastest.
using PerThread = std::vector<std::uint64_t>;

class ThreadValues {
  public:
    /// `coordinate_functions` is the result of find_coordinate_functions() for the function. This
    /// object keeps it.
    ThreadValues(const ir::Function &function, const LaunchShape &launch,
                 const std::vector<bool> &coordinate_functions)
        : function_(function), launch_(launch), coordinate_functions_(coordinate_functions) {}

    /// Null if the value depends on anything else. Offsets into shared memory usually depend only
    /// on the thread's index. blockIdx, parameters, loaded values and values of very many
    /// operations do not (analysis/coordinates.h).
    const PerThread *of(const ir::Value *value) const;

  private:
    std::optional<PerThread> compute(const ir::Value *value) const;
    [[nodiscard]] std::optional<PerThread> index(ir::Special special) const;
    std::optional<PerThread> evaluate(const ir::Instruction &i) const;

    const ir::Function &function_;
    LaunchShape launch_;
    const std::vector<bool> &coordinate_functions_;
    mutable std::unordered_map<const ir::Value *, std::optional<PerThread>> known_; ///< so far
};

} // namespace softcuda::analysis
