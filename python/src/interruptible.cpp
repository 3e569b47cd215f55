// interruptible.cpp -- running Python's signal handlers while the device works.
#include "interruptible.h"

#include <atomic>
#include <utility>

namespace pycuda::python {
namespace {

std::atomic<unsigned long> main_thread{0};

/// Not a static local: its guard would be held while Python runs.
bool in_main_thread() {
    if (main_thread == 0)
        main_thread = nb::cast<unsigned long>(
            nb::module_::import_("threading").attr("main_thread")().attr("ident"));
    return PyThread_get_thread_ident() == main_thread;
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

} // namespace pycuda::python
