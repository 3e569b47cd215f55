// large_stack.h -- a stack for code that needs more of it than a thread may have.
#pragma once

#include "rt/fiber.h"
#include "rt/reserved_range.h"

#include <cstdint>
#include <memory>

namespace softcuda::rt {

/// Used by one thread at a time. Costs nothing until the first provide() of more than 0 bytes.
class LargeStack {
  public:
    /// Makes it at least so large. Pages cost memory from their first use on. False when there are
    /// no addresses.
    [[nodiscard]] bool provide(std::uint64_t bytes) noexcept;

    /// Calls body() on this stack. provide() has returned true for more than 0 bytes. Where body()
    /// is left by a jump to the thread's own stack, left_by_jump() must be called.
    template <class Body> void run(Body &body) noexcept {
        call([](void *to_call) { (*static_cast<Body *>(to_call))(); }, &body);
    }
    void left_by_jump() noexcept;

  private:
    void call(Fiber::Body body, void *argument) noexcept;
    static void begin(void *stack) noexcept;

    std::unique_ptr<ReservedRange> range_; ///< a closed guard, then the stack
    StackRange stack_;
    Fiber thread_, fiber_;
    Fiber::Body body_ = nullptr;
    void *argument_ = nullptr;
};

} // namespace softcuda::rt
