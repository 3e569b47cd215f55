// progress_line.h -- a line on the terminal while a slow task runs, with the elapsed time.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace pycuda::compile_detail {

/// For a scope: after the time `patience`, the terminal shows the line "pycuda: TASK ... 3 s",
/// which is erased at the end. Prints nothing if the descriptor is not a terminal, or if TERM is
/// "dumb".
class ProgressLine {
  public:
    static constexpr int standard_error = 2;
    explicit ProgressLine(std::string task, int descriptor = standard_error,
                          std::chrono::milliseconds patience = std::chrono::seconds(1));
    ~ProgressLine();
    ProgressLine &operator=(ProgressLine &&) = delete; // no copies either

  private:
    void show() noexcept;

    std::string task_;
    int descriptor_;
    std::chrono::milliseconds patience_;
    std::mutex mutex_;
    std::condition_variable ended_;
    bool is_ended_ = false;
    std::thread thread_;
};

} // namespace pycuda::compile_detail
