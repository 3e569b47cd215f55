// switch_stack.h -- the switch from one stack to another.
#pragma once

#include <cstddef>

/// Saves the callee-saved registers on the stack, stores the stack pointer in *save, and returns on
/// the other stack, which has the same layout. Usually both sides have called from the same point,
/// at the same call depth, so the processor predicts this return and the following ones correctly.
extern "C" void scu_switch_stack(void **save, void *stack_pointer);

namespace softcuda::target {

/// Prepares a stack that ends at `top`, a multiple of 16: the first switch to the returned stack
/// pointer calls body(argument), which must not return.
[[nodiscard]] std::byte *prepare_stack(std::byte *top, void (*body)(void *argument),
                                       void *argument) noexcept;

} // namespace softcuda::target
