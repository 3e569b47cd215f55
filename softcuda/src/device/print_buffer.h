// print_buffer.h -- output of kernels, stored until the client synchronises.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace softcuda::device {

/// Collects the output of printf in kernels. It is printed in the order of launches, and within a
/// launch in the order of thread blocks, independently of the order of execution. Any thread may
/// call any function.
class PrintBuffer {
  public:
    void add(std::uint64_t launch, std::uint64_t block, std::string_view text);

    /// Writes the buffered text to C's stdout and flushes stdout.
    void flush();

    /// The size of the buffer in bytes; more text is written immediately.
    void set_capacity(std::size_t bytes);

  private:
    struct Line {
        std::uint64_t launch;
        std::uint64_t block;
        std::string text;
    };
    void write_locked();

    std::mutex mutex_;
    std::atomic<std::size_t> bytes_{0};
    std::size_t capacity_ = std::size_t{1} << 20;
    std::vector<Line> lines_;
};

} // namespace softcuda::device
