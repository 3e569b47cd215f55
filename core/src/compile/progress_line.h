// progress_line.h -- tells on a terminal that something takes long, and for how long already.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace pycuda::compile_detail {

/// While it lives: once `patience` is over, "pycuda: WHAT ... 3 s" on one line of the terminal,
/// which vanishes at the end. Silent where the descriptor is no terminal, or TERM is "dumb".
class ProgressLine {
  public:
    static constexpr int standard_error = 2;
    explicit ProgressLine(std::string what, int descriptor = standard_error,
                          std::chrono::milliseconds patience = std::chrono::seconds(1));
    ~ProgressLine();
    ProgressLine(const ProgressLine &) = delete;
    ProgressLine &operator=(const ProgressLine &) = delete;

  private:
    void show() noexcept;

    std::string what_;
    int descriptor_;
    std::chrono::milliseconds patience_;
    std::mutex mutex_;
    std::condition_variable ended_;
    bool is_ended_ = false;
    std::thread thread_;
};

} // namespace pycuda::compile_detail
