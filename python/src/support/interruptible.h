// interruptible.h -- waits for the device; Ctrl-C interrupts them.
#pragma once

#include "support/bindings.h"

#include <pycuda/error.h>
#include <pycuda/wait.h>

#include <optional>

namespace pycuda::python {

/// Runs Python's signal handlers during a wait. An exception of a handler (KeyboardInterrupt for
/// Ctrl-C) ends the wait and is kept for rethrow().
class SignalWatch {
  public:
    /// Empty in all threads except the main thread: Python runs signal handlers only there.
    KeepWaiting keep_waiting();
    /// Throws the exception of a handler, if there was one. Needs the GIL.
    void rethrow();

  private:
    bool run_handlers();
    std::optional<nb::python_error> raised_;
};

/// Calls `wait(keep_waiting)`, a function of the library that waits: the library releases the GIL
/// if the work is not done. Throws the exception of a signal handler.
template <class Wait> void wait_with_signals(Wait &&wait) {
    SignalWatch watch;
    KeepWaiting keep_waiting = watch.keep_waiting();
    try {
        wait(keep_waiting);
    } catch (const Error &) { // Interrupted, or the result of the interrupted work
        watch.rethrow();
        throw;
    }
    watch.rethrow(); // a handler raised it just before the wait succeeded
}

/// Runs signal handlers while a driver call waits that cannot be abandoned, such as a destructor's.
/// An exception of a handler is kept until the call has ended.
void handle_signals_in_driver();

/// Sets Python's error to the exception of a handler during a driver call. False if there was none.
bool raise_from_driver_wait() noexcept;

} // namespace pycuda::python
