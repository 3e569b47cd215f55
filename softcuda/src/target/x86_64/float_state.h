// float_state.h -- MXCSR and the x87 unit: denormals (FTZ, DAZ), rounding, precision, exceptions.
#pragma once

#include <cstdint>

namespace softcuda {

/// The modes and flags of the calling thread at one time.
class FloatState {
  public:
    [[nodiscard]] static FloatState current() noexcept {
        FloatState state;
        asm volatile("stmxcsr %0\n\tfnstcw %1\n\tfnstsw %2"
                     : "=m"(state.vector_), "=m"(state.x87_control_), "=m"(state.x87_status_));
        return state;
    }

    /// Sets the standard modes: to nearest, denormals kept, all exceptions masked. The state of the
    /// calling thread is this one. Loads of these registers wait for all earlier instructions, so
    /// nothing is loaded if the modes are standard.
    void replace_by_standard() const noexcept {
        if ((vector_ & ~kVectorFlags) == kStandardVector && x87_control_ == kStandardX87)
            return;
        asm volatile("ldmxcsr %0\n\tfldcw %1" : : "m"(kStandardVector), "m"(kStandardX87));
    }

    /// Makes this the calling thread's state again.
    void restore() const noexcept {
        const FloatState now = current();
        // A flag of an exception that the thread does not mask would end the process later.
        if ((now.x87_status_ & ~x87_status_ & kX87Flags) != 0)
            clear_flags();
        if (now.vector_ != vector_ || now.x87_control_ != x87_control_)
            asm volatile("ldmxcsr %0\n\tfldcw %1" : : "m"(vector_), "m"(x87_control_));
    }

  private:
    static constexpr std::uint32_t kVectorFlags = 0x3f, kStandardVector = 0x1f80;
    static constexpr std::uint16_t kX87Flags = 0x3f, kStandardX87 = 0x037f;

    /// Restores the x87 flags; an instruction for this alone does not exist.
    void clear_flags() const noexcept {
        std::uint32_t environment[7]; // control, status, tags, the last instruction
        asm volatile("fnstenv %0" : "=m"(environment));
        environment[1] = (environment[1] & ~std::uint32_t{kX87Flags}) | (x87_status_ & kX87Flags);
        asm volatile("fldenv %0" : : "m"(environment));
    }

    std::uint32_t vector_ = 0;
    std::uint16_t x87_control_ = 0, x87_status_ = 0;
};

} // namespace softcuda
