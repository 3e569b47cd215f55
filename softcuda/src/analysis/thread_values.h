// thread_values.h -- integers that depend only on a thread's index, computed for every thread.
#pragma once

#include "analysis/range.h"
#include "ir/ir.h"

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace softcuda::analysis {

/// By thread of a block: tid.x varies fastest.
using PerThread = std::vector<std::uint64_t>;

class ThreadValues {
  public:
    /// `coordinate_functions` is the result of find_coordinate_functions() for the function. This
    /// object keeps it.
    ThreadValues(const ir::Function &function, const LaunchShape &launch,
                 const std::vector<bool> &coordinate_functions)
        : function_(function), launch_(launch), coordinate_functions_(coordinate_functions) {}

    /// Null if the value depends on other data, such as blockIdx, parameters and loaded values, or
    /// on very many operations (analysis/coordinates.h). Offsets into shared memory usually depend
    /// only on the thread's index.
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
