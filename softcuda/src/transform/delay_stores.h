// delay_stores.h -- stores after loads that they do not change, if a test at run time says so.
#pragma once

#include "ir/ir.h"

namespace softcuda::transform {

/// A pointer may lead anywhere, so each store may change what the next load reads, and accesses of
/// adjacent elements cannot be joined (warp/join_loads.h). A basic block with such accesses gets
/// two versions of them. One branch compares the pointers, which all threads share:
///
///     %a = load [%in + 3 * i]                   branch apart(%in, %out), fast, slow
///     store [%out + 3 * i], %a                fast:
///     %b = load [%in + 3 * i + 1]               %a, %b = load 2 elements [%in + 3 * i]
///     store [%out + 3 * i + 1], %b        =>    store 2 elements [%out + 3 * i], %a, %b
///                                             slow:
///                                               as before
///
/// In the first version, stores follow all loads, and equal loads are one. The difference of two
/// addresses must be a sum of values that all threads share. Loops have a preheader and one latch
/// (ir::canonicalize_loops()).
void delay_stores(ir::Function &function);

} // namespace softcuda::transform
