// access_marks.cpp -- pages of cells.
#include "check/access_marks.h"

#include <bit>
#include <unistd.h>

namespace softcuda::check {

namespace {

/// A quarter of the machine's memory.
std::uint64_t most_pages() {
    static const std::uint64_t most = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                                      static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) / 4 /
                                      sizeof(MarkedMemory::Page);
    return most;
}

} // namespace

void LineMarks::begin(std::uint32_t present) {
    run = present;
    by_words = false;
    for (LineAccess &access : accesses)
        access.words = 0;
}

bool LineMarks::add(const LineAccess &access) {
    LineAccess *free = nullptr;
    for (LineAccess &other : accesses) {
        // A write makes all before it forgotten, a read the same warp's earlier ones.
        if (access.writes || (!other.writes && other.is_of(access.mark)))
            other.words &= ~access.words;
        if (other.words == 0)
            free = &other;
    }
    const auto count = static_cast<std::uint8_t>(accesses.size());
    for (std::uint8_t tried = 0; !free && !access.writes && tried < count; ++tried) {
        LineAccess &other = accesses[oldest];
        oldest = static_cast<std::uint8_t>((oldest + 1) % count);
        if (!other.writes)
            free = &other;
    }
    if (free)
        *free = access;
    return free != nullptr;
}

void LineMarks::expand(Cell *cells) {
    if (by_words)
        return;
    by_words = true;
    for (unsigned word = 0; word < kLineWords; ++word)
        cells[word] = {run, {}, {}, {}};
    for (const LineAccess &access : accesses)
        for (std::uint32_t left = access.words; left != 0; left &= left - 1) {
            const auto word = static_cast<unsigned>(std::countr_zero(left));
            Mark mark = access.mark;
            mark.lane = access.lanes[word];
            mark.several = access.several >> word & 1;
            Cell &cell = cells[word];
            if (!access.writes && cell.read.site != 0)
                cell.other_read = cell.read;
            (access.writes ? cell.write : cell.read) = mark;
        }
}

Line MarkedMemory::Cursor::line(std::uint64_t address) {
    const std::uint64_t number = address / kPageBytes;
    if (number != number_) {
        Shard &shard = memory_.shards_[number % kShards];
        if (lock_.owns_lock())
            lock_.unlock();
        lock_ = std::unique_lock(shard.mutex);
        const auto found = shard.pages.find(number);
        if (found != shard.pages.end()) {
            page_ = found->second.get();
        } else {
            if (++memory_.pages_ > most_pages()) { // what was long ago is forgotten
                memory_.pages_ -= shard.pages.size();
                shard.pages.clear();
            }
            std::unique_ptr<Page> &made = shard.pages[number];
            made = std::make_unique<Page>();
            page_ = made.get();
        }
        constexpr std::size_t kMostRuns = 16;
        std::vector<std::uint32_t> &runs = page_->runs;
        if (std::find(runs.rbegin(), runs.rend(), run_) == runs.rend()) {
            if (runs.size() == kMostRuns)
                runs.erase(runs.begin());
            runs.push_back(run_);
        }
        number_ = number;
    }
    return page_->line(address);
}

void MarkedMemory::clear(std::uint64_t begin, std::uint64_t bytes) {
    if (pages_ == 0)
        return;
    for_each_page(begin, begin + bytes, [](Page &page, std::uint64_t first, std::uint64_t last) {
        for (std::uint64_t word = first / kWordBytes; word * kWordBytes < last; ++word)
            page.cell(word * kWordBytes) = {};
    });
}

} // namespace softcuda::check
