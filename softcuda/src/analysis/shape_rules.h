// shape_rules.h -- the shape of an instruction's results, from the shapes of its operands.
#pragma once

#include "analysis/shape.h"

#include <optional>

namespace softcuda::analysis {

/// The best shape that describes both values.
[[nodiscard]] Shape meet(const Shape &a, const Shape &b, PatternTable &patterns);

/// threadIdx.x, .y or .z (dimension 0, 1, 2) of every warp of a block.
[[nodiscard]] Shape thread_index_shape(const LaunchShape &launch, unsigned dimension,
                                       PatternTable &patterns);

/// Transfer functions for the values of one function. The caller handles phis, because they depend
/// on control flow.
class ShapeRules {
  public:
    ShapeRules(const LaunchShape &launch, const std::vector<Range> &ranges,
               std::vector<Shape> &shapes, PatternTable &patterns);

    /// Unknown as long as an operand is.
    [[nodiscard]] Shape evaluate(const ir::Instruction &instruction, const ir::Value &result) const;

    [[nodiscard]] Shape operand(const ir::Value *value) const;

  private:
    [[nodiscard]] Shape of_lanes(const ir::Instruction &i, const ir::Value &result) const;
    [[nodiscard]] Shape special(const ir::Instruction &i) const;
    [[nodiscard]] Shape symbol(const ir::Instruction &i) const;
    [[nodiscard]] Shape sum(const Shape &a, const Shape &b, int sign, unsigned bits) const;
    [[nodiscard]] Shape scaled(const Shape &a, std::int64_t factor, unsigned bits) const;
    [[nodiscard]] Shape widened(const ir::Instruction &i) const;
    [[nodiscard]] Shape bitwise(const ir::Instruction &i) const;
    [[nodiscard]] Shape compared(const ir::Instruction &i) const;
    [[nodiscard]] Shape selected(const ir::Instruction &i) const;
    [[nodiscard]] Shape arithmetic(const ir::Instruction &i) const;
    [[nodiscard]] Shape convergent(const ir::Instruction &i, const ir::Value &result) const;
    [[nodiscard]] Shape divided(const ir::Instruction &i) const;
    [[nodiscard]] std::optional<Shape> of_quotients(const ir::Instruction &i) const;
    [[nodiscard]] Shape flat(const ir::Instruction &i) const;

    LaunchShape launch_;
    const std::vector<Range> &ranges_;
    std::vector<Shape> &shapes_;
    PatternTable &patterns_;
};

} // namespace softcuda::analysis
