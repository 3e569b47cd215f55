// driver_log.h -- the driver's log messages for clients: cuLogs*.
#pragma once

#include <cstdint>
#include <cuda.h>
#include <functional>
#include <string>
#include <vector>

namespace softcuda::device::driver_log {

enum class Level { Error, Warning };

/// Adds a message and hands it to all listeners. Any thread. Listeners may not log.
void add(Level level, const std::string &message) noexcept;

using Listener = std::function<void(Level, const std::string &)>;
[[nodiscard]] std::uint64_t listen(Listener listener);
/// False if the handle is not a listener.
bool stop_listening(std::uint64_t listener);

/// The number that the next message will have.
[[nodiscard]] std::uint32_t next() noexcept;

/// The messages from number `first` on that are still kept, a line each. A negative start means
/// all of them.
[[nodiscard]] std::vector<std::string> since(std::int64_t first);

} // namespace softcuda::device::driver_log
