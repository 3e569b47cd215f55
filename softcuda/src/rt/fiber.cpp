// fiber.cpp -- the begin of a fiber, and what sanitizers must know about switches.
#include "rt/fiber.h"

#include <algorithm>
#include <new>
#include <pthread.h>

namespace softcuda::rt {
namespace {

#if defined(SOFTCUDA_TSAN_FIBERS)
thread_local void *home_fiber = nullptr; ///< of the thread that adopted its own stack
#endif

#if defined(SOFTCUDA_ASAN_FIBERS)
// The fiber whose entry is being completed: the resumed side notifies the sanitizer, but a new
// fiber runs no code of this file before its body.
struct Entry {
    Fiber::Body body;
    void *argument;
};

void begin_with_sanitizer(void *raw) {
    const Entry entry = *static_cast<Entry *>(raw);
    __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
    entry.body(entry.argument);
}
#endif

} // namespace

Fiber::~Fiber() {
#if defined(SOFTCUDA_TSAN_FIBERS)
    if (owns_tsan_fiber_)
        __tsan_destroy_fiber(tsan_fiber_);
#endif
}

void Fiber::start(std::byte *stack, std::size_t bytes, Body body, void *argument) noexcept {
    stack_ = stack;
    stack_bytes_ = bytes;
    std::byte *top = stack + bytes;
#if defined(SOFTCUDA_ASAN_FIBERS)
    fake_stack_ = nullptr;
    // Frames of a warp that never returned, as after a fault, have left their marks here.
    constexpr std::size_t kDeepest = std::size_t{256} << 10;
    const std::size_t marked = std::min(bytes, kDeepest);
    __asan_unpoison_memory_region(top - marked, marked);
    top -= sizeof(Entry);
    new (top) Entry{body, argument};
    body = begin_with_sanitizer;
    argument = top;
#endif
#if defined(SOFTCUDA_TSAN_FIBERS)
    if (!owns_tsan_fiber_) {
        tsan_fiber_ = __tsan_create_fiber(0);
        owns_tsan_fiber_ = true;
    }
#endif
    stack_pointer_ = target::prepare_stack(top, body, argument);
}

void Fiber::adopt_thread() noexcept {
#if defined(SOFTCUDA_ASAN_FIBERS)
    pthread_attr_t attributes;
    void *begin = nullptr;
    std::size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &begin, &size);
        pthread_attr_destroy(&attributes);
    }
    stack_ = static_cast<std::byte *>(begin);
    stack_bytes_ = size;
#endif
#if defined(SOFTCUDA_TSAN_FIBERS)
    tsan_fiber_ = home_fiber = __tsan_get_current_fiber();
#endif
}

void arrive_by_jump([[maybe_unused]] Fiber &from, [[maybe_unused]] Fiber &to) noexcept {
#if defined(SOFTCUDA_ASAN_FIBERS)
    __sanitizer_start_switch_fiber(&from.fake_stack_, to.stack_, to.stack_bytes_);
    __sanitizer_finish_switch_fiber(to.fake_stack_, nullptr, nullptr);
#endif
}

void prepare_jump() noexcept {
#if defined(SOFTCUDA_TSAN_FIBERS)
    if (home_fiber && __tsan_get_current_fiber() != home_fiber)
        __tsan_switch_to_fiber(home_fiber, 0);
#endif
}

} // namespace softcuda::rt
