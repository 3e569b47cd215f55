// polled_wait.h -- streams that wait for a change of memory.
#pragma once

#include "device/command.h"
#include "device/stream.h"

#include <functional>

namespace softcuda::device {

/// A command that is done once `ready()` is true. One thread, started at the first use, polls for
/// all such commands, because changes of memory give no notification. An interrupt of the context
/// ends it.
class PolledWait final : public Command {
  public:
    PolledWait(Context &context, std::function<bool()> ready);
    void start() noexcept override;

    /// Whether the wait is over. Called by the polling thread.
    [[nodiscard]] bool over() noexcept;

  private:
    [[nodiscard]] profile::Event described() const override;

    std::function<bool()> ready_;
    std::uint64_t interrupts_;
};

/// Makes later work of `stream` wait until `ready()` returns true; it must not block. Throws
/// std::system_error if the thread cannot be created.
void enqueue_wait(Stream &stream, std::function<bool()> ready);

} // namespace softcuda::device
