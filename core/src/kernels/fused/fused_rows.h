// fused_rows.h -- a fused program as one kernel, if its reductions have the same axes.
//
//     softmax of rows:   a team of threads computes a row
//                        v1 = max(x)            over the row, joined by shuffles and shared memory
//                        v2 = sum(exp(x - v1))  over the row again, which is in the cache
//                        y  = exp(x - v1) / v2
//
// A row has the elements of one output of the reductions. It must fit the cache, so long rows are
// computed stage by stage instead (fused_program.h). The team depends on the shape only, so all
// devices add in the same order.
#pragma once

#include "arrays/expression_launch.h"
#include "arrays/reduction_source.h"
#include "kernels/user/user_variants.h"

#include <pycuda/fused_program.h>

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pycuda {

/// The distance between neighbouring elements of an array along a row, or from row to row.
enum class RowStep : std::uint8_t {
    Any,   ///< passed to the kernel
    Dense, ///< one element
    Same,  ///< zero
};

inline constexpr std::size_t max_row_walkers = 12;

/// All that the kernel depends on in addition to the program and its types.
struct RowVariant {
    int team = 32;        ///< threads of a row: 1, 32, 256, or 8
    bool columns = false; ///< of a team of 8: neighbouring threads have neighbouring rows
    bool rolled = false;
    bool wide_index = false;   ///< 64-bit
    int kept = 0, reduced = 1; ///< axes, after merging
    std::size_t walkers = 0;
    /// Of each walker: a result or an array.
    std::array<RowStep, max_row_walkers> row_step{}, element_step{};

    bool operator==(const RowVariant &) const = default;
    std::size_t rows_of_block() const noexcept {
        return columns ? 32 : static_cast<std::size_t>(256 / team);
    }
};

/// A program with all types known. Values are numbered as in FusedProgram.
struct TypedRows {
    std::vector<ScalarType> values;
    std::vector<TypedExpression> expressions; ///< of the stages
    std::vector<ReductionVariant> reductions; ///< of the stages; unused for elementwise ones
    mutable UsedKernels<RowVariant> used = {};
};

/// Which stages a program has, and which of its values are stored.
struct RowStages {
    int arrays;
    std::vector<FusedStage> stages;
    std::vector<int> results;
    std::vector<int> first_value = {}; ///< of each stage
    std::vector<int> walked = {};      ///< arrays that are read

    /// Whether the stage reads arrays. Others compute one value for each row.
    bool reads_arrays(const FusedStage &stage) const noexcept;
    /// The number of an array among the walkers, which begin with the results.
    std::size_t walker_of(int array) const noexcept;
};

/// The axes of a reduction, as bits. Throws std::out_of_range for an axis that does not exist.
std::uint32_t fused_axes(const FusedReduction &reduction, int dimensions);

/// The CUDA C++ of a kernel "run". Its parameters are: the results, the arrays, the numbers of each
/// stage's expression and its divisor if any, then Geometry: rows, elements of a row, the extents
/// of kept and reduced axes, and for each kept, then each reduced axis the strides of all walkers.
std::string fused_rows_source(const RowStages &program, const TypedRows &types,
                              const RowVariant &variant);

/// Any thread may call run().
class FusedRows {
  public:
    /// Null if the stages cannot be one kernel whatever the shapes are.
    static std::shared_ptr<FusedRows> of(int arrays, const std::vector<FusedStage> &stages,
                                         const std::vector<int> &results);

    /// The program's results; nothing if the shapes do not allow one kernel.
    std::optional<std::vector<Array>> run(std::span<const Array *const> arrays, StreamRef stream);

    /// Why run() returns nothing for these arrays; empty if it returns the results.
    std::string obstacle(std::span<const Array *const> arrays);

  private:
    explicit FusedRows(RowStages program) : program_(std::move(program)) {}
    const TypedRows &typed(std::span<const Array *const> arrays);
    Function kernel(const TypedRows &types, const RowVariant &variant);

    RowStages program_;
    std::string text_; ///< identifies the program
    CallerMutex mutex_;
    std::deque<TypedRows> known_;
};

} // namespace pycuda
