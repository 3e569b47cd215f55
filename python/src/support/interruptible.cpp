// interruptible.cpp -- runs Python's signal handlers while the device works.
//
// If possible, a binding waits itself and throws the exception of a signal handler. But some calls
// wait in the driver (freeing memory, unloading modules, copies between arrays ...), some of them
// in destructors, which cannot throw. The driver calls a function of ours during such a wait. An
// exception of a handler is kept and becomes Python's error when the call has ended: it replaces
// the error of the call, or is raised by a pending call of the interpreter, which runs as soon as
// Python code runs.
#include "support/interruptible.h"

#include <pycuda/init.h>

#include <atomic>
#include <memory>
#include <utility>

namespace pycuda::python {
namespace {

std::atomic<unsigned long> main_thread{0};

/// Not a static local variable, whose guard would be locked while Python runs.
unsigned long main_thread_ident() {
    if (main_thread == 0)
        main_thread = nb::cast<unsigned long>(
            nb::module_::import_("threading").attr("main_thread")().attr("ident"));
    return main_thread;
}

bool in_main_thread() { return PyThread_get_thread_ident() == main_thread_ident(); }

/// The exception of a handler during a wait of the driver. Used only by the main thread with the
/// GIL.
std::unique_ptr<nb::python_error> kept;

int raise_kept(void *) { return raise_from_driver_wait() ? -1 : 0; }

/// Other threads may need the GIL for work that the driver waits for: host functions in streams.
void let_others_run() {
    PyThreadState *state = PyEval_SaveThread();
    PyEval_RestoreThread(state);
}

/// Acquires the GIL, and records whether this thread already held it (PyGILState_Check() is not in
/// the stable ABI).
class Gil {
  public:
    Gil() noexcept : before_(PyGILState_Ensure()) {}
    ~Gil() { PyGILState_Release(before_); }
    Gil(const Gil &) = delete;
    Gil &operator=(const Gil &) = delete;
    [[nodiscard]] bool was_held() const noexcept { return before_ == PyGILState_LOCKED; }

  private:
    PyGILState_STATE before_;
};

/// Called by the driver in the main thread, with or without the GIL.
int keep_waiting_in_driver() {
    if (finalizing() || !Py_IsInitialized())
        return 1;
    const Gil gil;
    nb::error_scope error_on_the_way; // the pending error of the code around the call
    if (gil.was_held())
        let_others_run();
    if (PyErr_CheckSignals() == 0)
        return 1;
    kept = std::make_unique<nb::python_error>();
    Py_AddPendingCall(raise_kept, nullptr);
    return 0;
}

} // namespace

KeepWaiting SignalWatch::keep_waiting() {
    if (!in_main_thread())
        return {};
    return [this] { return run_handlers(); };
}

bool SignalWatch::run_handlers() {
    nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() == 0)
        return true;
    raised_.emplace();
    return false;
}

void SignalWatch::rethrow() {
    if (raised_)
        throw *std::exchange(raised_, std::nullopt);
}

void handle_signals_in_driver() {
    ask_while_waiting(keep_waiting_in_driver, static_cast<pthread_t>(main_thread_ident()));
}

bool raise_from_driver_wait() noexcept {
    if (kept == nullptr || !in_main_thread())
        return false;
    std::exchange(kept, nullptr)->restore();
    return true;
}

} // namespace pycuda::python
