// print.h -- the IR as text, for people, dumps and tests; parse_ir.h reads it back.
//
//     kernel scale {
//       .parameters 0:8:8 8:4:4 bytes 12
//     entry:
//       %0 = special.tid.x
//       %1 = load_param.b64 [0]
//       %2 = mul_wide.u32 %0, i32 4
//       %3 = add.s64 %1, %2
//       %4 = load.global.f32 [%3]
//       store.global.f32 [%3 + 16], %4
//       exit
//     }
//
// Words after the opcode stand in a fixed order: the operation of its kind (an atomic's, a
// comparison's), then attributes that differ from the default: order, scope, space, rounding,
// precision, flags, vector width, type, source type. A result's class follows it (`%5:i32`) where
// the opcode and its type do not tell. Constants carry their class: `i32 -1`, `f32 0.5`, `f64
// 0x7ff8000000000000`.
#pragma once

#include "ir/ir.h"

#include <string>

namespace softcuda::ir {

enum class Locations { Omit, Print }; ///< `!file:line:column` after each instruction

[[nodiscard]] std::string to_text(const Module &module, Locations locations = Locations::Omit);
[[nodiscard]] std::string to_text(const Function &function, Locations locations = Locations::Omit);
[[nodiscard]] std::string to_text(const Block &block, Locations locations = Locations::Omit);
[[nodiscard]] std::string to_text(const Instruction &instruction,
                                  Locations locations = Locations::Omit);
[[nodiscard]] std::string to_text(const Value &value);

/// The operation word that every use of `opcode` shows (an atomic's `add`, cmp's `lt`); else empty.
[[nodiscard]] std::string_view mode_text(Opcode opcode, const Attributes &attributes);

} // namespace softcuda::ir
