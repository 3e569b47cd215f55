// driver_log.cpp -- stores the latest messages.
#include "device/driver_log.h"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>

namespace softcuda::device::driver_log {
namespace {

constexpr std::size_t kKept = 100; // the number in CUDA's manual

struct Log {
    std::mutex mutex;
    std::deque<std::string> lines;
    std::uint32_t next = 0;
    std::map<std::uint64_t, Listener> listeners;
    std::uint64_t next_listener = 1;
};

Log &the_log() {
    static auto *const log = new Log;
    return *log;
}

} // namespace

void add(Level level, const std::string &message) noexcept {
    try {
        Log &log = the_log();
        std::map<std::uint64_t, Listener> listeners;
        {
            std::lock_guard lock(log.mutex);
            log.lines.push_back((level == Level::Error ? "[ERROR] " : "[WARNING] ") + message);
            log.next++;
            if (log.lines.size() > kKept)
                log.lines.pop_front();
            listeners = log.listeners;
        }
        for (const auto &[number, listener] : listeners)
            listener(level, message);
    } catch (const std::exception &) {
        // Out of memory for a message: the client gets only the result.
    }
}

std::uint64_t listen(Listener listener) {
    Log &log = the_log();
    std::lock_guard lock(log.mutex);
    log.listeners.emplace(log.next_listener, std::move(listener));
    return log.next_listener++;
}

bool stop_listening(std::uint64_t listener) {
    Log &log = the_log();
    std::lock_guard lock(log.mutex);
    return log.listeners.erase(listener) == 1;
}

std::uint32_t next() noexcept {
    Log &log = the_log();
    std::lock_guard lock(log.mutex);
    return log.next;
}

std::vector<std::string> since(std::int64_t first) {
    Log &log = the_log();
    std::lock_guard lock(log.mutex);
    const std::int64_t oldest = static_cast<std::int64_t>(log.next - log.lines.size());
    const std::int64_t skipped = std::max<std::int64_t>(0, first - oldest);
    if (skipped >= static_cast<std::int64_t>(log.lines.size()))
        return {};
    return {log.lines.begin() + skipped, log.lines.end()};
}

} // namespace softcuda::device::driver_log
