// used_bytes.h -- the bytes of values that a program computes with, and does not only copy.
//
//     struct S { char c; int i; };      three bytes of padding, which nobody writes
//     r[t] = p[t];                      loads and stores them: no byte is used
//     o[t] = p[t].c;                    may load a whole word, and uses its first byte
//
// A byte is used if it is an operand of an operation that computes. Stores, shuffles, phis and
// selections copy. A mask, a shift by bytes and a conversion from a narrow type use some of the
// bytes.
#pragma once

#include "ir/ir.h"

#include <cstdint>
#include <vector>

namespace softcuda::analysis {

/// By Value::id: a bit for each used byte, up to 16 of a value.
[[nodiscard]] std::vector<std::uint16_t> find_used_bytes(const ir::Function &function);

} // namespace softcuda::analysis
