// print_buffer.h -- what kernels printed, until the client synchronises.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace softcuda::device {

/// Collects the output of printf in kernels. It comes out in the order of launches and, within one,
/// of blocks, whatever order they ran in. Any thread may call any function.
class PrintBuffer {
  public:
    void add(std::uint64_t launch, std::uint64_t block, std::string_view text);

    /// Writes what is there to C's stdout and flushes that.
    void flush();

    /// Bytes that may wait here; what comes beyond is written out at once.
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
