// float_bits.h -- facts about the bits of floats: denormal numbers, and NaNs.
#pragma once

#include "ir/ir.h"

#include <vector>

namespace softcuda::analysis {

/// Facts about the values of a function that are floats. Both hold for every lane.
///
///     %1 = mul.ftz.f32 %a, %b        never denormal, may be a new NaN
///     %2 = phi [%1, x], [1.0, y]     never denormal, may be a new NaN: copies of %1 and 1.0
///     %3 = load.global.f32 [%p]      neither
class FloatBits {
  public:
    FloatBits() = default; ///< of nothing, to be assigned to
    explicit FloatBits(const ir::Function &function);

    /// True if the value is an f32 and certainly not denormal: `.ftz` need not flush it.
    [[nodiscard]] bool never_denormal(const ir::Value &value) const;
    /// True if the value may be a NaN that an operation has made, and not only bits that were
    /// loaded or moved. The bits of such a NaN differ between NVIDIA's hardware and the host's
    /// processor.
    [[nodiscard]] bool may_be_new_nan(const ir::Value &value) const;
    /// True if the operation that makes the value must give a NaN the bits of NVIDIA's hardware at
    /// once, because later code cannot tell a new NaN from other bits:
    ///
    ///     %1 = add.f32 %a, %b
    ///     %2 = phi [%1, x], [%3, y]      %3 may be a NaN with a payload
    ///     store [%p], %2
    [[nodiscard]] bool is_made_canonical(const ir::Value &value) const;

  private:
    class Copies;
    void find_canonical(const ir::Function &function, const Copies &copies,
                        const std::vector<const ir::Value *> &nans,
                        const std::vector<const ir::Value *> &payloads);

    std::vector<bool> may_be_denormal_, may_be_new_nan_, made_canonical_; ///< by Value::id
};

} // namespace softcuda::analysis
