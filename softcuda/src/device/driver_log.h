// driver_log.h -- the driver's log messages for clients: cuLogs*.
#pragma once

#include <cstdint>
#include <cuda.h>
#include <functional>
#include <string>
#include <vector>

namespace softcuda::device::driver_log {

enum class Level { Error, Warning };

/// Adds a message and passes it to all listeners. Any thread may call. Listeners must not log.
void add(Level level, const std::string &message) noexcept;

using Listener = std::function<void(Level, const std::string &)>;
[[nodiscard]] std::uint64_t listen(Listener listener);
/// False if the handle is not a listener.
bool stop_listening(std::uint64_t listener);

/// The number of the next message.
[[nodiscard]] std::uint32_t next() noexcept;

/// The stored messages from number `first` on, one line each. A negative start means all messages.
[[nodiscard]] std::vector<std::string> since(std::int64_t first);

} // namespace softcuda::device::driver_log
