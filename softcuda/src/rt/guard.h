// guard.h -- calls that return if the called code faults or is interrupted.
//
//     Guard guard(&stop);
//     if (guard.run([&] { entry(...); }) != Guard::Exit::Returned)
//         report(guard.fault());
//
// A fault (SIGSEGV, SIGBUS, SIGFPE, SIGILL, or scu_fault) ends the call with a jump out of it, past
// any destructors: only generated code and plain memory copies may run inside. Signals outside a
// guard are passed to the previous handler.
#pragma once

#include "rt/fiber.h"
#include "rt/kernel_abi.h"
#include "target/float_environment.h"

#include <atomic>
#include <csetjmp>
#include <cstdint>

namespace softcuda::rt {

/// The known facts about a fault.
struct FaultReport {
    enum class Direction { Unknown, Read, Write };

    Fault kind = Fault::IllegalAddress;
    bool address_known = false;
    std::uint64_t address = 0;
    Direction direction = Direction::Unknown;
    int lane = -1;  ///< of the warp; -1 if unknown
    int signal = 0; ///< the signal of the fault; 0 for scu_fault
    std::uint64_t code =
        0; ///< in generated code: a byte after the start of the instruction; 0: none
    char detail[192] = ""; ///< a description with details, or empty
};

class Guard {
  public:
    enum class Exit { Returned, Faulted, Interrupted };

    /// While `*interrupt` is true, a call of interrupt_thread() ends run(). May be null.
    explicit Guard(const std::atomic<bool> *interrupt = nullptr) noexcept;
    Guard(const Guard &) = delete;
    Guard &operator=(const Guard &) = delete;

    /// Calls body(). Guards nest; a fault ends the innermost.
    template <class Body> Exit run(Body &&body) {
        outer_ = current();
        const FloatState floats = FloatState::current(); // handlers of signals have their own
        if (sigsetjmp(jump_, 0) == 0) {
            enter();
            body();
            leave();
            return Exit::Returned;
        }
        leave();
        floats.restore();
        return exit_;
    }

    [[nodiscard]] const FaultReport &fault() const noexcept { return fault_; }

    /// Ends the calling thread's innermost guarded call.
    [[noreturn]] static void fail(const FaultReport &fault) noexcept;

    /// Ends the calling thread's innermost guarded call if it is to be interrupted.
    static void poll_interrupt() noexcept;

    /// For a scope that must not be left by a jump. A fault inside is a defect of this library, and
    /// is passed to the previous handler.
    class Uninterrupted {
      public:
        Uninterrupted() noexcept : guard_(current()) { set(false); }
        Uninterrupted(const Uninterrupted &) = delete;
        ~Uninterrupted() { set(true); }

      private:
        void set(bool armed) noexcept {
            if (guard_)
                guard_->armed_ = armed;
        }
        Guard *guard_;
    };

  private:
    friend struct SignalHandlers;

    static Guard *current() noexcept;
    void enter() noexcept;
    void leave() noexcept;

    sigjmp_buf jump_;
    Guard *outer_ = nullptr;
    const std::atomic<bool> *interrupt_;
    volatile bool armed_ = false;
    Exit exit_ = Exit::Returned;
    FaultReport fault_;
};

/// Installs the handlers, and gives the calling thread a stack for them. Call before run(), each
/// time: programs and libraries install their own handlers at any time, which know nothing of
/// guards and may need the stack that has overflowed. To find such a handler takes a system call,
/// except in a ClientCall that soon follows another one. Throws std::bad_alloc.
void prepare_thread_for_guards();

/// As above, for a thread that takes over work: if any thread has looked at the handlers in the
/// last microseconds, this one does not. The client's thread has looked when it passed the work on.
void prepare_worker_for_guards();

/// The time from the client's call to its return, on one thread. The client cannot have replaced a
/// handler since the thread's previous ClientCall if less time has passed than a system call takes.
class ClientCall {
  public:
    ClientCall() noexcept;
    ClientCall(const ClientCall &) = delete;
    ~ClientCall();
};

/// Makes thread `thread_id` of this process leave its guarded call, if it currently runs generated
/// code and its guard allows the interrupt; otherwise does nothing. Repeat the call until the
/// thread has left.
void interrupt_thread(int thread_id) noexcept;

/// For code that switches stacks: the calling thread's current stack. An access shortly below is a
/// stack overflow, and no frame is above. Null: the thread's own stack.
void watch_stack(const StackRange *stack) noexcept;

/// Copies like memcpy; false if the copy faults.
[[nodiscard]] bool guarded_copy(void *destination, std::uint64_t source,
                                std::size_t bytes) noexcept;

} // namespace softcuda::rt
