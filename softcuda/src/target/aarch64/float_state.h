// float_state.h -- FPCR and FPSR: denormals (FZ, FZ16), rounding, default NaN, exceptions.
#pragma once

#include <cstdint>

namespace softcuda {

/// The modes and flags of the calling thread at one time.
class FloatState {
  public:
    [[nodiscard]] static FloatState current() noexcept {
        FloatState state;
        asm volatile("mrs %0, fpcr\n\tmrs %1, fpsr" : "=r"(state.modes_), "=r"(state.flags_));
        return state;
    }

    /// Sets the standard modes: to nearest, denormals kept, NaNs propagated, all exceptions masked.
    /// The state of the calling thread is this one.
    void replace_by_standard() const noexcept {
        if (modes_ != 0)
            asm volatile("msr fpcr, xzr" : : : "memory");
    }

    /// Makes this the calling thread's state again.
    void restore() const noexcept {
        asm volatile("msr fpcr, %0\n\tmsr fpsr, %1" : : "r"(modes_), "r"(flags_) : "memory");
    }

  private:
    std::uint64_t modes_ = 0, flags_ = 0;
};

} // namespace softcuda
