// library_call.cpp -- counts the calls of libraries, and stops them when the process ends.
#include "driver/library_call.h"

#include <pthread.h>

#include <condition_variable>
#include <mutex>
#include <thread>

namespace pycuda {
namespace {

struct Calls {
    std::mutex mutex;
    std::condition_variable changed;
    int running = 0;
    std::thread::id ending; // the thread that ends the process; no thread before that
};

/// Never destroyed: threads wait in it while the process ends. A forked process has its own,
/// because the calls of the other threads do not go on there.
Calls *instance = nullptr;

Calls &calls() {
    static const int registered = [] {
        instance = new Calls;
        return ::pthread_atfork(nullptr, nullptr, [] { instance = new Calls; });
    }();
    static_cast<void>(registered);
    return *instance;
}

} // namespace

LibraryCall::LibraryCall() noexcept {
    std::unique_lock lock(calls().mutex);
    calls().changed.wait(lock, [] {
        return calls().ending == std::thread::id() || calls().ending == std::this_thread::get_id();
    });
    ++calls().running;
}

LibraryCall::~LibraryCall() {
    std::scoped_lock lock(calls().mutex);
    --calls().running;
    calls().changed.notify_all();
}

void end_library_calls() noexcept {
    std::unique_lock lock(calls().mutex);
    calls().ending = std::this_thread::get_id();
    calls().changed.wait(lock, [] { return calls().running == 0; });
}

} // namespace pycuda
