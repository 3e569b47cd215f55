// written_bytes.cpp -- a byte for each byte.
#include "check/written_bytes.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <sys/mman.h>

namespace softcuda::check {
namespace {

constexpr std::uint8_t kWritten = 255;

bool all_written(const std::uint8_t *bytes, std::uint64_t count) {
    return std::all_of(bytes, bytes + count, [](std::uint8_t byte) { return byte == kWritten; });
}

} // namespace

void WrittenWindow::write(std::uint64_t offset, std::uint64_t bytes) {
    if (offset < bytes_.size())
        std::memset(&bytes_[offset], kWritten, std::min(bytes, bytes_.size() - offset));
}

bool WrittenWindow::is_written(std::uint64_t offset, std::uint64_t bytes) const {
    return offset >= bytes_.size() ||
           all_written(&bytes_[offset], std::min(bytes, bytes_.size() - offset));
}

void WrittenMemory::cover(std::uint64_t begin, std::uint64_t bytes) {
    std::lock_guard lock(mutex_);
    if (range_)
        return;
    auto range = std::make_unique<rt::ReservedRange>(bytes);
    if (!range->open(range->begin(), bytes))
        throw std::bad_alloc();
    begin_ = begin;
    range_ = range.release();
}

bool WrittenMemory::covers(std::uint64_t address, std::uint64_t bytes) const {
    const rt::ReservedRange *range = range_;
    return range && address - begin_ < range->size() && bytes <= range->size() - (address - begin_);
}

std::uint64_t WrittenMemory::address_of_bytes(std::uint64_t address) const {
    return reinterpret_cast<std::uint64_t>(range_.load()->begin()) + (address - begin_);
}

void WrittenMemory::clear(std::uint64_t address, std::uint64_t bytes) {
    if (!covers(address, bytes))
        return;
    // Whole pages are given back to the system: they read as zero.
    const std::uint64_t page = rt::page_size(), begin = address_of_bytes(address);
    const std::uint64_t end = begin + bytes;
    const std::uint64_t first = std::min(rt::round_up(begin, page), end);
    const std::uint64_t last = std::max(end / page * page, first);
    std::memset(bytes_of(address), 0, first - begin);
    if (first != last && madvise(reinterpret_cast<void *>(first), last - first, MADV_DONTNEED) != 0)
        std::memset(reinterpret_cast<void *>(first), 0, last - first);
    std::memset(reinterpret_cast<void *>(last), 0, end - last);
}

void WrittenMemory::write(std::uint64_t address, std::uint64_t bytes) {
    if (covers(address, bytes))
        std::memset(bytes_of(address), kWritten, bytes);
}

bool WrittenMemory::is_written(std::uint64_t address, std::uint64_t bytes) const {
    return !covers(address, bytes) || all_written(bytes_of(address), bytes);
}

void WrittenMemory::copy(std::uint64_t destination, std::uint64_t source, std::uint64_t bytes) {
    if (!covers(destination, bytes))
        return;
    if (covers(source, bytes))
        std::memmove(bytes_of(destination), bytes_of(source), bytes);
    else
        write(destination, bytes);
}

} // namespace softcuda::check
