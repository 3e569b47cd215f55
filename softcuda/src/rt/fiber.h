// fiber.h -- a computation with its own stack, which yields cooperatively.
//
//     Fiber fiber;
//     fiber.start(stack, bytes, body, argument);     nothing runs yet
//     resume(caller, fiber)                          runs body(argument) ...
//     resume(fiber, caller)                          ... until it executes this; and so on
//
// A switch saves the registers that a called function must keep, and the stack pointer: about two
// nanoseconds. The floating-point modes are those of the thread. A fiber always runs on the thread
// on which it began. A body never returns: its last action is a resume() of another fiber.
#pragma once

#include "target/switch_stack.h"

#include <cstddef>
#include <cstdint>

#if defined(__SANITIZE_ADDRESS__)
#define SOFTCUDA_ASAN_FIBERS 1
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#define SOFTCUDA_TSAN_FIBERS 1
#include <sanitizer/tsan_interface.h>
#endif

namespace softcuda::rt {

/// The addresses of a stack.
struct StackRange {
    std::uint64_t begin = 0; ///< the lowest
    std::uint64_t end = 0;
};

class Fiber {
  public:
    using Body = void (*)(void *argument);

    Fiber() = default;
    Fiber(const Fiber &) = delete;
    Fiber &operator=(const Fiber &) = delete;
    ~Fiber();

    /// The next resume() begins body(argument) on this stack. A body that ran there before is
    /// abandoned. `stack` is the lowest address; it and `bytes` are multiples of 16.
    void start(std::byte *stack, std::size_t bytes, Body body, void *argument) noexcept;

    /// Makes this fiber represent the calling thread itself, on the thread's stack.
    void adopt_thread() noexcept;

    [[nodiscard]] StackRange stack() const noexcept {
        const auto begin = reinterpret_cast<std::uint64_t>(stack_);
        return {begin, begin + stack_bytes_};
    }

  private:
    friend void resume(Fiber &from, Fiber &to) noexcept;
    friend void arrive_by_jump(Fiber &from, Fiber &to) noexcept;

    void *stack_pointer_ = nullptr;
    std::byte *stack_ = nullptr;
    std::size_t stack_bytes_ = 0;
#if defined(SOFTCUDA_ASAN_FIBERS)
    void *fake_stack_ = nullptr;
#endif
#if defined(SOFTCUDA_TSAN_FIBERS)
    void *tsan_fiber_ = nullptr;
    bool owns_tsan_fiber_ = false;
#endif
};

/// Suspends the running fiber `from` and continues `to`. Returns when another fiber resumes `from`.
inline void resume(Fiber &from, Fiber &to) noexcept {
#if defined(SOFTCUDA_ASAN_FIBERS)
    __sanitizer_start_switch_fiber(&from.fake_stack_, to.stack_, to.stack_bytes_);
#endif
#if defined(SOFTCUDA_TSAN_FIBERS)
    __tsan_switch_to_fiber(to.tsan_fiber_, 0);
#endif
    scu_switch_stack(&from.stack_pointer_, to.stack_pointer_);
#if defined(SOFTCUDA_ASAN_FIBERS)
    __sanitizer_finish_switch_fiber(from.fake_stack_, nullptr, nullptr);
#endif
}

/// A longjmp from a fiber to the thread's own stack must be announced to the sanitizers: call these
/// before and after the jump.
void prepare_jump() noexcept;
void arrive_by_jump(Fiber &from, Fiber &to) noexcept;

} // namespace softcuda::rt
