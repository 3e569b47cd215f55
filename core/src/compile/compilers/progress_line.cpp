// progress_line.cpp -- shows on a terminal that a task is slow, and the elapsed time.
#include "compile/compilers/progress_line.h"

#include <cstdlib>
#include <string_view>
#include <system_error>

#include <unistd.h>

namespace pycuda::compile_detail {
namespace {

using Clock = std::chrono::steady_clock;

bool is_terminal(int descriptor) {
    const char *kind = std::getenv("TERM");
    return ::isatty(descriptor) == 1 && !(kind && std::string_view(kind) == "dumb");
}

/// Ignores errors: the task continues if the terminal was closed.
void put(int descriptor, const std::string &text) noexcept {
    [[maybe_unused]] const ssize_t written = ::write(descriptor, text.data(), text.size());
}

} // namespace

ProgressLine::ProgressLine(std::string task, int descriptor, std::chrono::milliseconds patience)
    : task_(std::move(task)), descriptor_(descriptor), patience_(patience) {
    if (!is_terminal(descriptor))
        return;
    try {
        thread_ = std::thread([this] { show(); });
    } catch (const std::system_error &) {
        // Without a thread there is no progress line; the task runs all the same.
    }
}

ProgressLine::~ProgressLine() {
    if (!thread_.joinable())
        return;
    {
        std::scoped_lock lock(mutex_);
        is_ended_ = true;
    }
    ended_.notify_one();
    thread_.join();
}

void ProgressLine::show() noexcept {
    const Clock::time_point start = Clock::now();
    std::unique_lock lock(mutex_);
    if (ended_.wait_for(lock, patience_, [this] { return is_ended_; }))
        return;
    const std::string to_line_start = "\r\x1b[K"; // carriage return, erase the line
    while (!is_ended_) {
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - start);
        put(descriptor_,
            to_line_start + "pycuda: " + task_ + " ... " + std::to_string(seconds.count()) + " s");
        ended_.wait_for(lock, std::chrono::seconds(1), [this] { return is_ended_; });
    }
    put(descriptor_, to_line_start);
}

} // namespace pycuda::compile_detail
