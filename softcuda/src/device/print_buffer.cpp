// print_buffer.cpp -- sorts and writes the kernels' output.
#include "device/print_buffer.h"

#include <algorithm>
#include <cstdio>
#include <tuple>

namespace softcuda::device {

void PrintBuffer::add(std::uint64_t launch, std::uint64_t block, std::string_view text) {
    std::lock_guard lock(mutex_);
    if (!lines_.empty() && lines_.back().launch == launch && lines_.back().block == block)
        lines_.back().text += text;
    else
        lines_.push_back({launch, block, std::string(text)});
    bytes_ += text.size();
    if (bytes_ > capacity_)
        write_locked();
}

void PrintBuffer::flush() {
    if (bytes_.load(std::memory_order_relaxed) == 0)
        return;
    std::lock_guard lock(mutex_);
    write_locked();
}

void PrintBuffer::set_capacity(std::size_t bytes) {
    std::lock_guard lock(mutex_);
    capacity_ = bytes;
}

void PrintBuffer::write_locked() {
    std::stable_sort(lines_.begin(), lines_.end(), [](const Line &a, const Line &b) {
        return std::tie(a.launch, a.block) < std::tie(b.launch, b.block);
    });
    for (const Line &line : lines_)
        std::fwrite(line.text.data(), 1, line.text.size(), stdout);
    std::fflush(stdout);
    lines_.clear();
    bytes_ = 0;
}

} // namespace softcuda::device
