// interruptible.h -- waiting for the device without the GIL, and with Ctrl-C.
#pragma once

#include "bindings.h"

#include <pycuda/error.h>
#include <pycuda/wait.h>

#include <optional>

namespace pycuda::python {

/// Lets signal handlers of Python run during a wait. What a handler raises (Ctrl-C's
/// KeyboardInterrupt) ends the wait and is kept for rethrow().
class SignalWatch {
  public:
    /// Empty in all threads but the main one: Python runs signal handlers there only.
    KeepWaiting keep_waiting();
    /// Throws what a handler raised, if one did. Needs the GIL.
    void rethrow();

  private:
    bool run_handlers();
    std::optional<nb::python_error> raised_;
};

/// Calls `wait(keep_waiting)` with the GIL released. Throws what a signal handler raised.
template <class Wait> void wait_without_gil(Wait &&wait) {
    SignalWatch watch;
    KeepWaiting keep_waiting = watch.keep_waiting();
    try {
        nb::gil_scoped_release release;
        wait(keep_waiting);
    } catch (const Error &) { // Interrupted, or what became of the work that was stopped
        watch.rethrow();
        throw;
    }
    watch.rethrow(); // raised in the last moment of a wait that then succeeded
}

/// Lets handlers run while a call of the driver waits that cannot be given up, such as a
/// destructor's. What a handler raises is kept until the call is over.
void handle_signals_in_driver();

/// Sets Python's error to what a handler raised in a call of the driver. False if none did.
bool raise_from_driver_wait() noexcept;

} // namespace pycuda::python
