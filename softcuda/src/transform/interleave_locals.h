// interleave_locals.h -- interleaves the local memory of the threads of a warp.
#pragma once

#include "analysis/range.h"
#include "ir/ir.h"

namespace softcuda::transform {

/// Lays out a kernel's local memory so that all lanes' elements with the same index are adjacent,
/// as on a GPU: an access with an index that is equal in all lanes is then one vector access.
/// Sets Function::local_granule to the size of the largest element, and splits accesses of several
/// elements. Addresses in the IR are still offsets into a thread's own memory; code generation
/// computes the interleaved place at each access.
///
/// Does nothing if a pointer to local memory may be used as a generic address, if the kernel calls
/// functions, if an access might be misaligned, or if most indices differ between lanes. Returns
/// true: the following passes run in any case.
bool interleave_locals(ir::Function &function, const analysis::LaunchShape &launch);

} // namespace softcuda::transform
