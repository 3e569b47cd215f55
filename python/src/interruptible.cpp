// interruptible.cpp -- running Python's signal handlers while the device works.
//
// Where it can, a binding waits itself, and throws what a handler raised. But memory that is freed,
// modules that are unloaded, copies between arrays ... wait inside the driver, some of them in
// destructors, from where nothing can be thrown. The driver asks during such a wait; what a handler
// raises is kept and becomes Python's error when the call is over: in place of the error that the
// call ended with, or as a pending call of the interpreter, which runs as soon as Python code does.
#include "interruptible.h"

#include <pycuda/init.h>

#include <atomic>
#include <memory>
#include <utility>

namespace pycuda::python {
namespace {

std::atomic<unsigned long> main_thread{0};

/// Not a static local: its guard would be held while Python runs.
unsigned long main_thread_ident() {
    if (main_thread == 0)
        main_thread = nb::cast<unsigned long>(
            nb::module_::import_("threading").attr("main_thread")().attr("ident"));
    return main_thread;
}

bool in_main_thread() { return PyThread_get_thread_ident() == main_thread_ident(); }

/// What a handler raised while the driver waited. Only the main thread uses it, with the GIL.
std::unique_ptr<nb::python_error> kept;

int raise_kept(void *) { return raise_from_driver_wait() ? -1 : 0; }

/// Other threads may need the GIL for what the driver waits for: functions in streams.
void let_others_run() {
    PyThreadState *state = PyEval_SaveThread();
    PyEval_RestoreThread(state);
}

/// Takes the GIL, and knows whether this thread had it (PyGILState_Check() is not in the stable
/// ABI).
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

/// Asked by the driver, in the main thread, with the GIL or without.
int keep_waiting_in_driver() {
    if (finalizing() || !Py_IsInitialized())
        return 1;
    const Gil gil;
    nb::error_scope error_on_the_way; // of the code that the call is a part of
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
