// host_function.h -- functions of the client that a stream calls.
#pragma once

#include "device/command.h"
#include "device/stream.h"

#include <condition_variable>
#include <cuda.h>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

namespace softcuda::device {

/// Throws Error(not permitted) in a function that a stream has called: there NVIDIA's driver
/// permits only calls for one stream or event.
void refuse_in_host_function();

/// Whether this thread runs a function that a stream has called.
[[nodiscard]] bool in_host_function() noexcept;

/// Runs a function of the client, in which refuse_in_host_function() throws.
void run_host_function(const std::function<void()> &function);

/// The thread that calls host functions, created at the first use. Host functions may block, so
/// worker threads, which run kernels, must not call them.
class HostThread {
  public:
    /// Throws std::system_error if the thread cannot be created.
    void start();
    void run_soon(std::shared_ptr<Command> command, std::function<void()> function) noexcept;

  private:
    struct Call {
        std::shared_ptr<Command> command;
        std::function<void()> function;
    };
    [[noreturn]] void loop();

    std::mutex mutex_;
    std::condition_variable call_there_;
    std::deque<Call> calls_;
    bool started_ = false;
};

/// A command that calls a function on the host thread. The function gets the context's error.
class HostFunction final : public Command {
  public:
    /// In a context that has failed, a plain host function is not called; a callback is called with
    /// the error.
    enum class OnError { Skip, Call };

    HostFunction(Context &context, std::function<void(CUresult)> function, OnError on_error)
        : Command(context), function_(std::move(function)), on_error_(on_error) {}
    void start() noexcept override;
    [[nodiscard]] bool calls_client() const noexcept override { return true; }

  private:
    [[nodiscard]] profile::Event described() const override;

    std::function<void(CUresult)> function_;
    OnError on_error_;
};

/// Puts a call of the client's function into a stream.
void enqueue_host_function(Stream &stream, std::function<void(CUresult)> function,
                           HostFunction::OnError on_error);

/// A command that runs a short function itself after the earlier commands are done.
class Action final : public Command {
  public:
    Action(Context &context, std::function<void()> action)
        : Command(context), action_(std::move(action)) {}
    void start() noexcept override;

  private:
    std::function<void()> action_;
};

/// Puts an action into a stream.
void enqueue_action(Stream &stream, std::function<void()> action);

} // namespace softcuda::device
