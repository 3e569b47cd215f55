// pass_times.cpp -- reads the clock of the thread.
#include "compiler/pass_times.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>

namespace softcuda::compiler {

namespace {

double thread_milliseconds() {
    std::timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

} // namespace

PassTimes::PassTimes(Print print, std::string title)
    : prints_(print == Print::Yes), title_(std::move(title)) {
    if (prints_)
        last_ = thread_milliseconds();
}

PassTimes::~PassTimes() {
    if (!prints_)
        return;
    std::string line = "softcuda: times of " + title_ + ":";
    for (const auto &[name, milliseconds] : times_) {
        std::array<char, 32> text{};
        std::snprintf(text.data(), text.size(), " %.2f", milliseconds);
        line += (line.back() == ':' ? " " : ", ") + name + text.data();
    }
    std::fprintf(stderr, "%s\n", line.c_str());
}

void PassTimes::passed(std::string_view name) {
    if (!prints_)
        return;
    const double now = thread_milliseconds();
    const auto found = std::ranges::find(times_, name, &std::pair<std::string, double>::first);
    if (found == times_.end())
        times_.emplace_back(name, now - last_);
    else
        found->second += now - last_;
    last_ = now;
}

} // namespace softcuda::compiler
