// lines.cpp -- what warps do to lines of 32 words, all at once where that is enough.
//
// Nearly every access of a warp is to few lines, and nothing is wrong with it. Then a line keeps
// which words it was, by which lanes. Where order is in doubt, or too many warps share a line, its
// words are looked at one by one (races.cpp).
#include "check/block_checks.h"

#include <algorithm>
#include <bit>
#include <span>

namespace softcuda::check {

using rt::WatchKind;

namespace {

constexpr std::uint64_t kMostLines = 5; ///< of an access: 16 bytes a lane, at any place

/// Which words of each line the lanes in `mask` access, `words` each. `lines` is for those from the
/// line of `span.first` on; all in it but words, several and lanes is left as it is.
template <std::uint32_t words>
void find_words(std::span<LineAccess> lines, const LaneAddresses &addresses, std::uint32_t mask,
                std::uint64_t first) {
    const std::uint64_t begin = first / kLineBytes * kLineBytes;
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
        const std::uint64_t word = (addresses[lane] - begin) / kWordBytes;
        for (std::uint64_t at = word; at < word + words; ++at) {
            LineAccess &line = lines[at / kLineWords];
            const std::uint32_t bit = 1u << at % kLineWords;
            line.several |= line.words & bit;
            line.words |= bit;
            line.lanes[at % kLineWords] = static_cast<std::uint8_t>(lane);
        }
    }
}

/// The same in one line, of one word each.
void find_words_of_line(LineAccess &line, const LaneAddresses &addresses, std::uint32_t mask) {
    std::uint32_t words = 0, several = 0;
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
        const auto word = static_cast<std::uint32_t>(addresses[lane] / kWordBytes % kLineWords);
        const std::uint32_t bit = 1u << word;
        several |= words & bit;
        words |= bit;
        line.lanes[word] = static_cast<std::uint8_t>(lane);
    }
    line.words = words;
    line.several = several;
}

/// The same where lane i accesses word i of it.
void take_all_words(LineAccess &line) {
    line.words = ~0u;
    line.several = 0;
    for (unsigned word = 0; word < kLineWords; ++word)
        line.lanes[word] = static_cast<std::uint8_t>(word);
}

} // namespace

std::uint32_t BlockChecks::run_of(Space space) const {
    return space == Space::Shared ? shared_marks_.run : launch_.run;
}

std::uint64_t BlockChecks::window_of(Space space) const {
    return space == Space::Shared ? reinterpret_cast<std::uint64_t>(state_.shared) : 0;
}

bool BlockChecks::is_ours(std::uint32_t run, Space space) {
    if (space == Space::Shared || run == 0 || run == launch_.run || run == ordered_run_)
        return true;
    if (launch_.unordered(run))
        return false;
    ordered_run_ = run;
    return true;
}

Cell *BlockChecks::words_of(const Line &line, Space space) {
    LineMarks &marks = *line.marks;
    if (marks.run == run_of(space) || !is_ours(marks.run, space))
        marks.expand(line.cells);
    marks.by_words = true;
    marks.run = run_of(space);
    return line.cells;
}

bool BlockChecks::comes_before(const LineAccess &before, const LineAccess &now) const {
    const std::uint32_t words = before.words & now.words;
    if (words == 0 || !(before.writes || now.writes))
        return true;
    const Mark &mark = before.mark;
    if (mark.block != now.mark.block)
        return false;
    if (order_.known_to_all_lanes(now.mark.warp, mark.warp, mark.clock))
        return true;
    // Within a warp, where each lane comes back to its own words.
    if (mark.warp != now.mark.warp || ((before.several | now.several) & words) != 0)
        return false;
    for (std::uint32_t left = words; left != 0; left &= left - 1) {
        const auto word = static_cast<unsigned>(std::countr_zero(left));
        if (before.lanes[word] != now.lanes[word])
            return false;
    }
    return true;
}

bool BlockChecks::marks_line(const WarpAccess &access, const LineAccess &now, LineMarks &marks,
                             Space space) {
    const std::uint32_t run = run_of(space);
    if (marks.run != run) {
        if (!is_ours(marks.run, space))
            return false;
        marks.begin(run);
    }
    const bool one_by_one = access.site.kind != WatchKind::Load && now.several != 0;
    return !marks.by_words && !one_by_one &&
           std::all_of(marks.accesses.begin(), marks.accesses.end(),
                       [&](const LineAccess &before) { return comes_before(before, now); }) &&
           marks.add(now);
}

/// False where the words have to be looked at one by one. It does no harm if some have been marked.
bool BlockChecks::marks_lines(const WarpAccess &access, MarkedMemory::Cursor &cursor) {
    const std::optional<Space> space = space_of(access);
    if (!space || *space == Space::Local || access.site.strong || access.site.async ||
        window_of(*space) % kLineBytes != 0 || access.bytes % kWordBytes != 0 ||
        !std::has_single_bit(access.bytes) ||
        !access.addresses.are_aligned(access.mask, kWordBytes))
        return false;
    const std::uint64_t window = window_of(*space), first = access.span.first - window;
    const std::uint64_t last = access.span.last - window + access.bytes - kWordBytes;
    const std::uint64_t lines = last / kLineBytes - first / kLineBytes + 1;
    if (lines > kMostLines || (*space == Space::Shared && !shared_marks_.holds(last)))
        return false;
    // Where all lanes read one place, two stand for all.
    std::uint32_t mask = access.mask;
    if (access.span.uniform)
        mask = (mask & (~mask + 1)) | std::bit_floor(mask);
    std::array<LineAccess, kMostLines> all;
    const Mark mark = mark_of(access);
    for (LineAccess &line : std::span(all.data(), lines)) {
        line.mark = mark;
        line.words = line.several = 0;
        line.writes = access.site.kind != WatchKind::Load;
    }
    // Addresses that begin where the first line does; windows begin at a line, too.
    const LaneAddresses &addresses = access.addresses;
    const std::span<LineAccess> found(all.data(), lines);
    if (access.bytes != kWordBytes)
        access.bytes == 2 * kWordBytes ? find_words<2>(found, addresses, mask, access.span.first)
                                       : find_words<4>(found, addresses, mask, access.span.first);
    else if (lines != 1)
        find_words<1>(found, addresses, mask, access.span.first);
    else if (first % kLineBytes == 0 && addresses.are_adjacent(mask, kWordBytes))
        take_all_words(all[0]);
    else
        find_words_of_line(all[0], addresses, mask);
    std::uint64_t at = first;
    for (const LineAccess &now : found) {
        const Line line = *space == Space::Shared ? shared_marks_.line(at) : cursor.line(at);
        if (now.words != 0 && !marks_line(access, now, *line.marks, *space))
            return false;
        at = (at / kLineBytes + 1) * kLineBytes;
    }
    return true;
}

} // namespace softcuda::check
