// float_environment.h -- the floating-point modes and flags of the calling thread.
//
// A thread has modes that change every result: denormals flushed to zero, the rounding direction,
// and exceptions that end the process. A library that was built with -ffast-math sets some of them
// for the thread that loads it, and new threads inherit them. Kernels, and the compiler that folds
// constants for them, must not depend on these modes:
//
//     const StandardFloats standard;     the modes of a GPU, until the end of the scope
//     entry(...);
#pragma once

#if defined(__x86_64__)
#include "target/x86_64/float_state.h"
#elif defined(__aarch64__)
#include "target/aarch64/float_state.h"
#else
#error "this processor has no folder in target/"
#endif

namespace softcuda {

/// The calling thread computes in the standard modes for a scope, and in its own ones afterwards.
class [[nodiscard]] StandardFloats {
  public:
    StandardFloats() noexcept : before_(FloatState::current()) { before_.replace_by_standard(); }
    StandardFloats(const StandardFloats &) = delete;
    ~StandardFloats() { before_.restore(); }

  private:
    FloatState before_;
};

} // namespace softcuda
