// float_environment.h -- the floating-point modes and flags of the calling thread.
//
// A thread has modes that change every result: denormals flushed to zero (FTZ, DAZ), the rounding
// direction, the precision of the x87 unit, and exceptions that end the process. A library that was
// built with -ffast-math sets some of them for the thread that loads it, and new threads inherit
// them. Kernels, and the compiler that folds constants for them, must not depend on these modes:
//
//     const StandardFloats standard;     the modes of a GPU, until the end of the scope
//     entry(...);
#pragma once

#include <cstdint>

#if !defined(__x86_64__)
#include <cfenv>
#endif

namespace softcuda {

/// The modes and flags of the calling thread at one time.
class FloatState {
  public:
    [[nodiscard]] static FloatState current() noexcept {
        FloatState state;
#if defined(__x86_64__)
        asm volatile("stmxcsr %0\n\tfnstcw %1\n\tfnstsw %2"
                     : "=m"(state.vector_), "=m"(state.x87_control_), "=m"(state.x87_status_));
#else
        std::fegetenv(&state.environment_);
#endif
        return state;
    }

    /// To nearest, denormals kept, all exceptions masked, no flags.
    static void set_standard() noexcept {
#if defined(__x86_64__)
        const std::uint32_t vector = 0x1f80;
        const std::uint16_t x87 = 0x037f;
        asm volatile("ldmxcsr %0\n\tfldcw %1" : : "m"(vector), "m"(x87));
#else
        std::fesetenv(FE_DFL_ENV);
#endif
    }

    /// Makes this the calling thread's state again.
    void restore() const noexcept {
#if defined(__x86_64__)
        // A flag of an exception that the thread does not mask would end the process later.
        std::uint16_t status = 0;
        asm volatile("fnstsw %0" : "=m"(status));
        if ((status & ~x87_status_ & kX87Flags) != 0)
            clear_flags();
        asm volatile("ldmxcsr %0\n\tfldcw %1" : : "m"(vector_), "m"(x87_control_));
#else
        std::fesetenv(&environment_);
#endif
    }

  private:
#if defined(__x86_64__)
    static constexpr std::uint16_t kX87Flags = 0x3f;

    /// Restores the x87 flags; an instruction for this alone does not exist.
    void clear_flags() const noexcept {
        std::uint32_t environment[7]; // control, status, tags, the last instruction
        asm volatile("fnstenv %0" : "=m"(environment));
        environment[1] = (environment[1] & ~std::uint32_t{kX87Flags}) | (x87_status_ & kX87Flags);
        asm volatile("fldenv %0" : : "m"(environment));
    }

    std::uint32_t vector_ = 0;
    std::uint16_t x87_control_ = 0, x87_status_ = 0;
#else
    std::fenv_t environment_{};
#endif
};

/// The calling thread computes in the standard modes for a scope, and in its own ones afterwards.
class [[nodiscard]] StandardFloats {
  public:
    StandardFloats() noexcept : before_(FloatState::current()) { FloatState::set_standard(); }
    StandardFloats(const StandardFloats &) = delete;
    ~StandardFloats() { before_.restore(); }

  private:
    FloatState before_;
};

} // namespace softcuda
