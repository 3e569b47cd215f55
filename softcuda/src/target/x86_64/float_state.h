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

    /// To nearest, denormals kept, all exceptions masked, no flags.
    static void set_standard() noexcept {
        const std::uint32_t vector = 0x1f80;
        const std::uint16_t x87 = 0x037f;
        asm volatile("ldmxcsr %0\n\tfldcw %1" : : "m"(vector), "m"(x87));
    }

    /// Makes this the calling thread's state again.
    void restore() const noexcept {
        // A flag of an exception that the thread does not mask would end the process later.
        std::uint16_t status = 0;
        asm volatile("fnstsw %0" : "=m"(status));
        if ((status & ~x87_status_ & kX87Flags) != 0)
            clear_flags();
        asm volatile("ldmxcsr %0\n\tfldcw %1" : : "m"(vector_), "m"(x87_control_));
    }

  private:
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
};

} // namespace softcuda
