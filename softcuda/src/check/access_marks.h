// access_marks.h -- the last accesses to each word of memory.
#pragma once

#include "check/lane_addresses.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace softcuda::check {

inline constexpr unsigned kWordBytes = 4;

/// The bytes of a word from byte `first` on, one bit each.
[[nodiscard]] constexpr std::uint32_t bytes_of_word(std::uint64_t first, std::uint64_t count) {
    return ((1u << std::min<std::uint64_t>(kWordBytes - first, count)) - 1) << first;
}

/// Calls each(offset, bytes) for each word of a range of bytes: the offset of the range's first
/// byte in the word, and the mask of the word's bytes in the range.
template <class Each> void for_each_word(std::uint64_t offset, std::uint64_t bytes, Each each) {
    const std::uint64_t end = offset + bytes;
    for (std::uint64_t at = offset; at < end; at = (at / kWordBytes + 1) * kWordBytes)
        each(at, bytes_of_word(at % kWordBytes, end - at));
}

/// One access to a word.
struct Mark {
    std::uint32_t block = 0;
    std::uint32_t clock = 0; ///< of the warp
    std::uint32_t warp : 5 = 0;
    std::uint32_t site : 22 = 0; ///< 0: no access
    std::uint32_t strong : 1 = 0;
    std::uint32_t scoped : 1 = 0; ///< strong, and not volatile
    std::uint32_t atomic : 1 = 0;
    std::uint32_t scope : 2 = 0;              ///< of a strong access: rt::WatchScope
    std::uint32_t lanes : kWordBytes * 5 = 0; ///< by byte: the lane
    std::uint32_t several : kWordBytes = 0;   ///< by byte: whether several lanes accessed it in one
                                              ///< step; `lanes` has one of them
    std::uint32_t bytes : kWordBytes = 0;     ///< of the word, one bit each

    /// The lane that accessed the first of the bytes `of`.
    [[nodiscard]] std::uint32_t lane(std::uint32_t of) const { return lanes >> shift_of(of) & 31; }
    /// The bytes of `of` that the same lane accessed as the first of them, with the same bit in
    /// `several`.
    [[nodiscard]] std::uint32_t alike(std::uint32_t of) const {
        const std::uint32_t one = of & (~of + 1);
        std::uint32_t same = 0;
        for (std::uint32_t left = of; left != 0; left &= left - 1) {
            const std::uint32_t byte = left & (~left + 1);
            if (lane(byte) == lane(one) && ((several & byte) != 0) == ((several & one) != 0))
                same |= byte;
        }
        return same;
    }
    /// Adds an access of a lane in the same step.
    void add(std::uint32_t lane, std::uint32_t of) {
        for (std::uint32_t left = of; left != 0; left &= left - 1) {
            const std::uint32_t byte = left & (~left + 1);
            if ((bytes & byte) != 0 && this->lane(byte) != lane)
                several |= byte;
            lanes = (lanes & ~(31u << shift_of(byte))) | lane << shift_of(byte);
        }
        bytes |= of;
    }
    [[nodiscard]] bool is_of_step(const Mark &other) const {
        return block == other.block && warp == other.warp && clock == other.clock;
    }

  private:
    static unsigned shift_of(std::uint32_t byte) {
        return 5 * static_cast<unsigned>(std::countr_zero(byte));
    }
};
static_assert(sizeof(Mark) == 16);

/// The recorded accesses of a word: the last write, the bytes of the write before it that the last
/// write did not overwrite, and two later reads: the latest one, and one of another warp.
struct Cell {
    std::uint32_t run =
        0; ///< the launch, or for shared memory the block, that these marks belong to
    Mark write, other_write, read, other_read;

    void add_write(Mark now);

    /// Clears the marks if they belong to another run.
    void begin(std::uint32_t present) {
        if (run != present)
            *this = {present, {}, {}, {}, {}};
    }
};

inline void Cell::add_write(Mark now) {
    const std::uint32_t bytes = now.bytes;
    Mark &before = write;
    if (before.site != 0 && (before.bytes & ~bytes) != 0) {
        if (before.is_of_step(now)) { // other lanes of the warp write the word's other bytes
            for (std::uint32_t left = before.bytes & ~bytes; left != 0; left &= left - 1)
                now.add(before.lane(left), left & (~left + 1));
        } else {
            other_write = before;
        }
    }
    write = now;
    for (Mark *older : {&other_write, &read, &other_read}) {
        older->bytes &= ~now.bytes;
        if (older->bytes == 0)
            *older = {};
    }
}

/// The words of a line, and the accesses that are recorded for the whole line.
inline constexpr unsigned kLineWords = 32, kLineBytes = kLineWords * kWordBytes;

/// The words of [begin, end), which is in one line.
[[nodiscard]] constexpr std::uint32_t words_of_line(std::uint64_t begin, std::uint64_t end) {
    const std::uint64_t first = begin / kWordBytes, count = (end - 1) / kWordBytes - first + 1;
    return static_cast<std::uint32_t>(((std::uint64_t{1} << count) - 1) << first % kLineWords);
}

/// The part of a line that a warp accesses in one step.
struct LinePart {
    std::uint32_t words = 0;   ///< one bit for each word for which the access is still recorded
    std::uint32_t several = 0; ///< words of which several lanes accessed the same byte
    std::uint32_t whole = 0;   ///< words of which all bytes are accessed
    std::uint32_t lanes = 0;   ///< that accessed this line
    std::uint8_t bytes = 0;    ///< of a lane
    bool writes = false;
    /// Lane i begins at byte (start + i * step) % 128 of the line; otherwise the offsets are in a
    /// list.
    bool in_step = false;
    std::uint8_t start = 0, step = 0;
};

/// The thread of the access.
struct LineAccess {
    Mark mark; ///< without bytes and lanes
    LinePart part;

    [[nodiscard]] bool is_of(const Mark &warp) const {
        return mark.block == warp.block && mark.warp == warp.warp;
    }
};

/// A hash of the warp: equal for equal warps, rarely equal for different warps.
[[nodiscard]] inline std::uint32_t tag_of(const Mark &mark) { return mark.block * 32 + mark.warp; }

/// The offset of a lane in the line; `list` is used if the lanes have no constant step.
[[nodiscard]] inline PlacesInLine places_of(const LinePart &access, const PlacesInLine &list) {
    if (!access.in_step)
        return list;
    PlacesInLine places;
    find_places(access.start, access.step, places);
    return places;
}

/// Up to four accesses replace the cells of the line's words, until there are too many writes. At
/// least three of the latest reads are kept. All writes of a word among them have the same warp and
/// clock, and are older than the reads.
struct alignas(64) LineMarks { // the first access shares a cache line with the data before it
    std::uint32_t run = 0;     ///< as in Cell
    bool by_words = false;     ///< the accesses are recorded in the cells of the words
    std::uint8_t oldest = 0;   ///< the next access to replace
    std::uint8_t used = 0;     ///< valid accesses, one bit each
    std::uint8_t writes = 0;   ///< the writes among them
    std::array<std::uint32_t, 4> warps{}; ///< tag_of() each
    std::array<LineAccess, 4> accesses;
    std::array<PlacesInLine, 4> lists; ///< of the accesses without a constant step

    void begin(std::uint32_t present) {
        run = present;
        by_words = false;
        used = writes = 0;
    }
    /// Adds an access, and replaces accesses that are not needed any more. False if there is no
    /// room, or if the access must be recorded by words.
    [[nodiscard]] bool add(const Mark &mark, const LinePart &part, const PlacesInLine &list);
    /// Moves all accesses to the cells of the words.
    void expand(Cell *cells);
};

[[gnu::always_inline]] inline bool LineMarks::add(const Mark &mark, const LinePart &part,
                                                  const PlacesInLine &list) {
    // A write replaces all earlier accesses, a read replaces earlier reads of the same warp.
    const std::uint32_t tag = tag_of(mark);
    for (std::uint32_t left = part.writes ? used : used & ~writes; left != 0; left &= left - 1) {
        const auto number = static_cast<unsigned>(std::countr_zero(left));
        if (!part.writes && warps[number] != tag)
            continue;
        LineAccess &other = accesses[number];
        if (part.writes || other.is_of(mark))
            other.part.words &= ~part.whole;
        if (part.writes && other.part.writes && (other.part.words & part.words) != 0 &&
            !other.mark.is_of_step(mark))
            return false; // each wrote some of a word's bytes
        if (other.part.words == 0) {
            used &= static_cast<std::uint8_t>(~(1u << number));
            writes &= used;
        }
    }
    constexpr unsigned kCount = std::tuple_size_v<decltype(accesses)>;
    auto free = static_cast<unsigned>(std::countr_one(used));
    for (unsigned tried = 0; free >= kCount && !part.writes && tried < kCount; ++tried) {
        if ((writes >> oldest & 1) == 0)
            free = oldest;
        oldest = (oldest + 1) % kCount;
    }
    if (free >= kCount)
        return false;
    warps[free] = tag;
    accesses[free].mark = mark;
    // Each member separately: a wide load of data that was just written in parts is slow.
    LinePart &to = accesses[free].part;
    to.words = part.words;
    to.several = part.several;
    to.whole = part.whole;
    to.lanes = part.lanes;
    to.bytes = part.bytes;
    to.writes = part.writes;
    to.in_step = part.in_step;
    to.start = part.start;
    to.step = part.step;
    if (!part.in_step)
        lists[free] = list;
    used |= static_cast<std::uint8_t>(1u << free);
    writes |= static_cast<std::uint8_t>(std::uint32_t{part.writes} << free);
    return true;
}

struct Line {
    LineMarks *marks;
    Cell *cells;
};

/// The marks of a shared-memory window. After a barrier of all warps, the block begins a new run,
/// which clears the marks.
struct MarkedWindow {
    std::vector<LineMarks> lines;
    std::vector<Cell> cells;
    std::uint32_t run = 0;

    void begin_run() {
        if (++run != 0)
            return;
        std::fill(lines.begin(), lines.end(), LineMarks{}); // no old number may be used again
        std::fill(cells.begin(), cells.end(), Cell{});
        run = 1;
    }

    void resize(std::uint64_t bytes) {
        lines.resize((bytes + kLineBytes - 1) / kLineBytes);
        cells.resize(lines.size() * kLineWords);
    }
    [[nodiscard]] bool holds(std::uint64_t offset) const {
        return offset / kWordBytes < cells.size();
    }
    /// The line that contains `offset`, which must be inside the window.
    [[nodiscard]] Line line(std::uint64_t offset) {
        const std::uint64_t number = offset / kLineBytes;
        return {&lines[number], &cells[number * kLineWords]};
    }
};

} // namespace softcuda::check
