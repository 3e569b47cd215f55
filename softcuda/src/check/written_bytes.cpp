// written_bytes.cpp -- bits.
#include "check/written_bytes.h"

#include <algorithm>

namespace softcuda::check {
namespace {

std::uint64_t ones(std::uint64_t count) {
    return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

/// Calls each(word, bits) for the bits [first, first + count).
template <class Each> void for_each_word(std::uint64_t first, std::uint64_t count, Each each) {
    while (count > 0) {
        const std::uint64_t shift = first % 64, here = std::min(count, 64 - shift);
        each(first / 64, ones(here) << shift);
        first += here;
        count -= here;
    }
}

} // namespace

void WrittenWindow::write(std::uint64_t offset, std::uint64_t bytes) {
    for_each_word(offset, bytes, [&](std::uint64_t word, std::uint64_t bits) {
        if (word < bits_.size())
            bits_[word] |= bits;
    });
}

bool WrittenWindow::is_written(std::uint64_t offset, std::uint64_t bytes) const {
    bool all = true;
    for_each_word(offset, bytes, [&](std::uint64_t word, std::uint64_t bits) {
        all &= word >= bits_.size() || (bits_[word] & bits) == bits;
    });
    return all;
}

template <class Each>
void WrittenMemory::for_each_page(std::uint64_t address, std::uint64_t bytes, Each each) {
    while (bytes > 0) {
        const std::uint64_t page = address / kPageBytes, first = address % kPageBytes;
        const std::uint64_t here = std::min(bytes, kPageBytes - first);
        Shard &shard = shards_[page % kShards];
        {
            std::lock_guard lock(shard.mutex);
            each(shard.pages, page, first, here);
        }
        address += here;
        bytes -= here;
    }
}

void WrittenMemory::clear(std::uint64_t address, std::uint64_t bytes) {
    for_each_page(address, bytes, [](auto &pages, auto page, auto first, auto count) {
        const auto found = pages.find(page);
        if (found == pages.end())
            return;
        for_each_word(first, count, [&](auto word, auto bits) { (*found->second)[word] &= ~bits; });
        if (count == kPageBytes)
            pages.erase(found);
    });
}

void WrittenMemory::write(std::uint64_t address, std::uint64_t bytes) {
    for_each_page(address, bytes, [](auto &pages, auto page, auto first, auto count) {
        std::unique_ptr<Page> &found = pages[page];
        if (!found)
            found = std::make_unique<Page>();
        for_each_word(first, count, [&](auto word, auto bits) { (*found)[word] |= bits; });
    });
}

bool WrittenMemory::is_written(std::uint64_t address, std::uint64_t bytes) {
    bool all = true;
    for_each_page(address, bytes, [&](auto &pages, auto page, auto first, auto count) {
        const auto found = pages.find(page);
        for_each_word(first, count, [&](auto word, auto bits) {
            all &= found != pages.end() && ((*found->second)[word] & bits) == bits;
        });
    });
    return all;
}

void WrittenMemory::copy(std::uint64_t destination, std::uint64_t source, std::uint64_t bytes) {
    // Byte by byte only where a run of equal bytes ends.
    std::uint64_t begin = 0;
    while (begin < bytes) {
        const bool written = is_written(source + begin, 1);
        std::uint64_t end = begin + 1;
        for (std::uint64_t stride = kPageBytes; stride > 0;) {
            const std::uint64_t length = std::min(stride, bytes - end);
            const bool same = length > 0 && (written ? is_written(source + end, length)
                                                     : !any_written(source + end, length));
            if (same)
                end += length;
            else
                stride = length <= 1 ? 0 : length / 2;
        }
        if (written)
            write(destination + begin, end - begin);
        else
            clear(destination + begin, end - begin);
        begin = end;
    }
}

bool WrittenMemory::any_written(std::uint64_t address, std::uint64_t bytes) {
    bool any = false;
    for_each_page(address, bytes, [&](auto &pages, auto page, auto first, auto count) {
        const auto found = pages.find(page);
        for_each_word(first, count, [&](auto word, auto bits) {
            any |= found != pages.end() && ((*found->second)[word] & bits) != 0;
        });
    });
    return any;
}

} // namespace softcuda::check
