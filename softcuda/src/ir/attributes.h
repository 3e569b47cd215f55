// attributes.h -- operations of the IR, and the attributes that are not values.
#pragma once

#include "ir/types.h"

#include <cstdint>
#include <string_view>

namespace softcuda::ir {

enum class Opcode : std::uint8_t {
#define IR_OPCODE(Name, ...) Name,
#include "ir/opcodes.def"
#undef IR_OPCODE
};

/// The row of an operation in the opcode table.
struct OpcodeInfo {
    std::string_view name;
    std::string_view signature; ///< see opcodes.def
    int operands;               ///< -1: any number
    int results;
    bool pure, reads, writes, convergent, terminator;
};
[[nodiscard]] const OpcodeInfo &info(Opcode opcode);
[[nodiscard]] bool from_text(std::string_view word, Opcode &out);

/// Opcode::CopyGroup: this value ends a group of asynchronous copies; other values are the number
/// of groups that may still be pending after the wait.
inline constexpr std::uint32_t kCommitCopies = ~0u;

/// The attributes of an operation, which are not values. Members that an opcode does not use have
/// their defaults, and the text form omits them.
struct Attributes {
    Scalar type = Scalar::None;
    Scalar source_type = Scalar::None;
    Space space = Space::Generic;
    Rounding rounding = Rounding::None;
    Precision precision = Precision::Exact;
    Compare compare = Compare::Eq;
    Test test = Test::Finite;
    AtomicOp atomic = AtomicOp::Add;
    ShuffleMode shuffle = ShuffleMode::Up;
    VoteMode vote = VoteMode::All;
    MatchMode match = MatchMode::Any;
    Order order = Order::Weak;
    Scope scope = Scope::System;
    BarrierReduction reduction = BarrierReduction::And;
    PrmtMode prmt = PrmtMode::Bytes;
    Special special = Special::None;
    std::uint8_t vector = 1; ///< elements of a vector load or store
    bool ftz = false;        ///< flush denormal inputs and results to zero of the same sign
    bool saturate = false;   ///< floats: clamp to [0, 1], NaN to 0; integers: clamp
    bool satfinite = false;  ///< cvt, mma: to the largest number instead of infinity or overflow
    bool nan = false;        ///< min/max: NaN if an operand is
    bool xorsign_abs = false;
    bool relu = false;
    bool high = false;           ///< mul24.hi, dp2a.hi
    bool wrap = false;           ///< shf/bmsk/...: amount modulo the width instead of clamped
    bool shift_amount = false;   ///< bfind
    bool invariant = false;      ///< ld.global.nc: memory does not change during the kernel
    bool apart = false;          ///< a barrier at which a warp's lanes may arrive separately
    bool async = false;          ///< a store that is complete after a copy_group has waited for it
    bool no_fuse = false;        ///< mul/add with an explicit rounding: never contracted
    std::int64_t offset = 0;     ///< bytes, added to the address; parameter offset of LoadParam
    std::uint32_t symbol = 0;    ///< variable (by space) or function index
    std::uint32_t immediate = 0; ///< lop3's table, envreg's number, a MatrixForm, alignment
    bool operator==(const Attributes &) const = default;
};

} // namespace softcuda::ir
