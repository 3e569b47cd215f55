// half_type.h -- the 16-bit float that functions take and return as LLVM's calls do.
#pragma once

namespace softcuda::target {

/// In a vector register. GCC has `_Float16` in C++ for ARM since its version 13 only.
#if defined(__aarch64__)
using Half = __fp16;
#else
__extension__ using Half = _Float16;
#endif

} // namespace softcuda::target
