// access_marks.h -- who accessed each word of memory last.
#pragma once

#include "check/lane_addresses.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace softcuda::check {

inline constexpr unsigned kWordBytes = 4;

/// In place of a clock: a copy that nobody has waited for.
inline constexpr std::uint32_t kUnderWay = (1u << 22) - 1;

/// Those of a word from the `first` on, a bit each.
[[nodiscard]] constexpr std::uint32_t bytes_of_word(std::uint64_t first, std::uint64_t count) {
    return ((1u << std::min<std::uint64_t>(kWordBytes - first, count)) - 1) << first;
}

/// Calls each(offset, bytes) for the words of a run of bytes: where it begins in each of them, and
/// which bytes of the word it has.
template <class Each> void for_each_word(std::uint64_t offset, std::uint64_t bytes, Each each) {
    const std::uint64_t end = offset + bytes;
    for (std::uint64_t at = offset; at < end; at = (at / kWordBytes + 1) * kWordBytes)
        each(at, bytes_of_word(at % kWordBytes, end - at));
}

/// One access to a word.
struct Mark {
    std::uint32_t block = 0;
    std::uint32_t clock : 22 = 0; ///< of the warp
    std::uint32_t warp : 5 = 0;
    std::uint32_t several : 4 = 0; ///< by byte: lanes of the warp at once; `lanes` has one of them
    std::uint32_t site : 22 = 0;   ///< 0: there was none
    std::uint32_t bytes : 4 = 0;   ///< of the word: a bit each
    std::uint32_t strong : 1 = 0;
    std::uint32_t atomic : 1 = 0;
    std::uint32_t device : 1 = 0; ///< where strong: for all blocks, not its own alone
    std::array<std::uint8_t, kWordBytes> lanes{}; ///< by byte

    /// That accessed the first of `of`, bytes of the word.
    [[nodiscard]] std::uint32_t lane(std::uint32_t of) const { return lanes[std::countr_zero(of)]; }
    /// Those of `of` that the lane of the first has, with others or alone as it.
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
    /// A lane accesses these bytes in the same step.
    void add(std::uint32_t lane, std::uint32_t of) {
        for (std::uint32_t left = of; left != 0; left &= left - 1) {
            const std::uint32_t byte = left & (~left + 1);
            if ((bytes & byte) != 0 && this->lane(byte) != lane)
                several |= byte;
            lanes[std::countr_zero(left)] = static_cast<std::uint8_t>(lane);
        }
        bytes |= of;
    }
    [[nodiscard]] bool is_of_step(const Mark &other) const {
        return block == other.block && warp == other.warp && clock == other.clock;
    }
};

/// A word's last write, what is left of the one before it where that wrote other bytes, and two of
/// the reads after them: the latest, and one of another warp.
struct Cell {
    std::uint32_t run = 0; ///< of what launch, or block for shared memory
    Mark write, other_write, read, other_read;

    void add_write(Mark now);

    /// Forgets what is of another run.
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

/// The words of a line, and what is known of all of them at once.
inline constexpr unsigned kLineWords = 32, kLineBytes = kLineWords * kWordBytes;

/// The part of a line that a warp accesses at once.
struct LinePart {
    std::uint32_t words = 0;   ///< a bit each, of those for which it still counts
    std::uint32_t several = 0; ///< those of which several lanes accessed one byte
    std::uint32_t whole = 0;   ///< those all of whose bytes it accesses
    std::uint32_t lanes = 0;   ///< that accessed this line
    std::uint8_t bytes = 0;    ///< of a lane
    bool writes = false;
    /// Lane i begins (start + i * step) % 128 bytes into the line; else its places are in a list.
    bool in_step = false;
    std::uint8_t start = 0, step = 0;
};

/// Who accessed it.
struct LineAccess {
    Mark mark; ///< without bytes and lanes
    LinePart part;

    [[nodiscard]] bool is_of(const Mark &warp) const {
        return mark.block == warp.block && mark.warp == warp.warp;
    }
};

/// Equal for equal warps, and rarely for others.
[[nodiscard]] inline std::uint32_t tag_of(const Mark &mark) { return mark.block * 32 + mark.warp; }

/// Of each lane; `list` where it is not in step.
[[nodiscard]] inline PlacesInLine places_of(const LinePart &access, const PlacesInLine &list) {
    if (!access.in_step)
        return list;
    PlacesInLine places;
    find_places(access.start, access.step, places);
    return places;
}

/// A few accesses stand for the cells of a line's words: until writes are too many; of reads, three
/// at least of the latest. A word's writes among them are of one warp and one clock, and older than
/// the reads.
struct alignas(64) LineMarks { // the first access is in one cache line with what is before it
    std::uint32_t run = 0;     ///< as in Cell
    bool by_words = false;     ///< the words' cells say it
    std::uint8_t oldest = 0;   ///< the next of the accesses to go
    std::uint8_t used = 0;     ///< of the accesses, a bit each: the others mean nothing
    std::uint8_t writes = 0;   ///< those of them that write
    std::array<std::uint32_t, 4> warps{}; ///< tag_of() each
    std::array<LineAccess, 4> accesses;
    std::array<PlacesInLine, 4> lists; ///< of the accesses that are not in step

    void begin(std::uint32_t present) {
        run = present;
        by_words = false;
        used = writes = 0;
    }
    /// Adds an access, in the place of those that need not be known any more. False where there is
    /// no room, or where only words can tell.
    [[nodiscard]] bool add(const Mark &mark, const LinePart &part, const PlacesInLine &list);
    /// Writes all of it into the words' cells.
    void expand(Cell *cells);
};

[[gnu::always_inline]] inline bool LineMarks::add(const Mark &mark, const LinePart &part,
                                                  const PlacesInLine &list) {
    // A write makes all before it forgotten, a read the same warp's earlier ones.
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
    // Each member by itself: what was just written in parts is slow to read as a whole.
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

/// Of a window, whose block forgets what all of its warps know: it begins another run then.
struct MarkedWindow {
    std::vector<LineMarks> lines;
    std::vector<Cell> cells;
    std::uint32_t run = 0;

    void begin_run() {
        if (++run != 0)
            return;
        std::fill(lines.begin(), lines.end(), LineMarks{}); // none has a number that comes again
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
    /// That `offset` is in, which it holds.
    [[nodiscard]] Line line(std::uint64_t offset) {
        const std::uint64_t number = offset / kLineBytes;
        return {&lines[number], &cells[number * kLineWords]};
    }
};

} // namespace softcuda::check
