// written_bytes.cpp -- one flag byte for each byte of memory.
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

/// They read as zero; the system has their memory back.
void clear_pages(std::byte *first, std::uint64_t bytes) {
    if (bytes != 0 && madvise(first, bytes, MADV_DONTNEED) != 0)
        std::memset(first, 0, bytes);
}

} // namespace

void WrittenWindow::reset(std::uint64_t bytes) {
    constexpr std::uint64_t kFew = std::uint64_t{64} * 1024;
    size_ = bytes;
    if (bytes <= kFew) {
        few_.assign(bytes, 0);
        bytes_ = few_.data();
        return;
    }
    const std::uint64_t pages = rt::round_up(bytes, rt::page_size());
    if (!range_ || range_->size() < pages) {
        range_ = std::make_unique<rt::ReservedRange>(pages);
        if (!range_->open(range_->begin(), pages))
            throw std::bad_alloc();
    } else {
        clear_pages(range_->begin(), pages);
    }
    bytes_ = reinterpret_cast<std::uint8_t *>(range_->begin());
}

void WrittenWindow::write(std::uint64_t offset, std::uint64_t bytes) {
    if (offset < size_)
        std::memset(bytes_ + offset, kWritten, std::min(bytes, size_ - offset));
}

bool WrittenWindow::is_written(std::uint64_t offset, std::uint64_t bytes) const {
    return offset >= size_ || all_written(bytes_ + offset, std::min(bytes, size_ - offset));
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
    const std::uint64_t page = rt::page_size(), begin = address_of_bytes(address);
    const std::uint64_t end = begin + bytes;
    const std::uint64_t first = std::min(rt::round_up(begin, page), end);
    const std::uint64_t last = std::max(end / page * page, first);
    std::memset(bytes_of(address), 0, first - begin);
    clear_pages(reinterpret_cast<std::byte *>(first), last - first);
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
