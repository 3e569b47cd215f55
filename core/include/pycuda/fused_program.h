// fused_program.h -- elementwise operations and reductions in a few kernels.
//
//     softmax of rows:   stage 0   3 = max(x, axis 1)
//                        stage 1   4 = sum(exp(x - 3), axis 1)
//                        stage 2   exp(x - 3) / 4
//
// Each stage is one pass over its arrays: a fusion, or a reduction whose elements a fusion
// computes. Results of reductions are arrays with which later stages broadcast. If all reductions
// have the same axes, and a row of elements fits the cache, all stages are one kernel, which reads
// the arrays once (kernels/fused/fused_rows.h).
#pragma once

#include <pycuda/array_fusion.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pycuda {

class FusedRows;

/// The reduction of a stage's result, as reduce() or a mean does it.
struct FusedReduction {
    Reduction reduction;                       ///< the operation
    std::optional<std::vector<int>> axes = {}; ///< negative ones count from the end; empty: all
    bool keep_axes = false;                    ///< whether reduced axes are kept with length 1
    std::optional<ScalarType> dtype = {};      ///< of the computation
    /// If set, the result is divided by the number of elements minus this number.
    std::optional<double> mean_of_less = {};
};

/// One value of a program: an elementwise expression of earlier values, then perhaps its
/// reduction.
struct FusedStage {
    Fusion fusion;           ///< the expression of the stage
    std::vector<int> inputs; ///< values: the program's arrays, then the results of earlier stages
    std::optional<FusedReduction> reduction = {}; ///< of its first result; empty: none
};

/// A sequence of stages. Any thread may call run().
class FusedProgram {
  public:
    /// `results` are values that stages compute. Throws std::invalid_argument for values that do
    /// not exist.
    FusedProgram(int arrays, std::vector<FusedStage> stages, std::vector<int> results);

    /// New arrays, one for each result. Throws as Fusion::run() and reduce(), and std::out_of_range
    /// for an axis that an array does not have.
    std::vector<Array> run(std::span<const Array *const> arrays, StreamRef stream) const;

    /// The number of stages.
    int stage_count() const noexcept { return static_cast<int>(stages_.size()); }
    /// Why these arrays need a kernel for each stage; empty if one kernel computes all.
    std::string obstacle(std::span<const Array *const> arrays) const;

  private:
    int arrays_;
    std::vector<FusedStage> stages_;
    std::vector<int> results_;
    std::shared_ptr<FusedRows> rows_; ///< null if the stages cannot be one kernel
};

} // namespace pycuda
