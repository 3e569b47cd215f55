// host_function.cpp -- the host thread and its queue.
#include "device/host_function.h"

#include "device/context.h"
#include "device/error.h"
#include "device/graphs/capture.h"
#include "device/system.h"
#include "target/float_environment.h"

#include <thread>

namespace softcuda::device {
namespace {

thread_local bool runs_host_function = false;

} // namespace

bool in_host_function() noexcept { return runs_host_function; }

void refuse_in_host_function() { require(!runs_host_function, CUDA_ERROR_NOT_PERMITTED); }

void run_host_function(const std::function<void()> &function) {
    const StandardFloats standard; // the host thread inherited those of the thread that started it
    runs_host_function = true;     // on the host thread, which runs one function at a time
    function();
    runs_host_function = false;
}

void HostThread::start() {
    std::lock_guard lock(mutex_);
    if (started_)
        return;
    std::thread([this] { loop(); }).detach();
    started_ = true;
}

void HostThread::run_soon(std::shared_ptr<Command> command,
                          std::function<void()> function) noexcept {
    {
        std::lock_guard lock(mutex_);
        calls_.push_back({std::move(command), std::move(function)});
    }
    call_there_.notify_one();
}

void HostThread::loop() {
    const Schedule::DriverThread mine;
    std::unique_lock lock(mutex_);
    for (;;) {
        call_there_.wait(lock, [&] { return !calls_.empty(); });
        const Call call = std::move(calls_.front());
        calls_.pop_front();
        lock.unlock();
        call.function();
        System::get().timeline().finish(*call.command);
        lock.lock();
    }
}

void HostFunction::start() noexcept {
    order_before_host(); // the function may wake a thread of the client
    System &system = System::get();
    const CUresult error = context().sticky_error();
    if (error != CUDA_SUCCESS && on_error_ == OnError::Skip)
        return system.timeline().finish(*this);
    system.host_thread().run_soon(shared_from_this(), [this, error] {
        note_begin();
        function_(error);
    });
}

profile::Event HostFunction::described() const {
    return {.activity = profile::Activity::HostFunction, .name = "host function"};
}

void enqueue_host_function(Stream &stream, std::function<void(CUresult)> function,
                           HostFunction::OnError on_error) {
    if (on_error == HostFunction::OnError::Call)
        capture::forbid(stream); // callbacks cannot be captured, but host functions can
    System &system = System::get();
    system.host_thread().start();
    auto command = std::make_shared<HostFunction>(stream.context(), std::move(function), on_error);
    if (system.timeline().append(stream, command))
        command->start();
}

void Action::start() noexcept {
    order_before_host(); // other threads may wait for the memory that it writes or frees
    action_();
    action_ = nullptr; // streams keep their last command, so this releases its objects
    ask_host();
    System::get().timeline().finish(*this);
}

void enqueue_action(Stream &stream, std::function<void()> action) {
    auto command = std::make_shared<Action>(stream.context(), std::move(action));
    if (System::get().timeline().append(stream, command))
        command->start();
}

} // namespace softcuda::device
