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
    /// `coordinate_functions` is what find_coordinate_functions() says of the function; it is kept.
    ThreadValues(const ir::Function &function, const LaunchShape &launch,
                 const std::vector<bool> &coordinate_functions)
        : function_(function), launch_(launch), coordinate_functions_(coordinate_functions) {}

    /// Null where the value follows from something else as well. Offsets into shared memory are
    /// such values; blockIdx, parameters, what was loaded and what takes very many operations are
    /// not (analysis/coordinates.h).
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
