// lines.cpp -- what warps do to lines of 32 words, all at once where that is enough.
//
// Nearly every access of a warp is to few lines, and nothing is wrong with it. Then a line keeps
// which words it was, by which lanes. Where order is in doubt, or too many warps share a line, its
// words are looked at one by one (races.cpp).
#include "check/block_checks.h"

#include <bit>

namespace softcuda::check {

using rt::WatchKind;

namespace {

/// Byte by byte, where lanes have parts of words or share them.
void find_bytes(LineAccess &line) {
    std::array<std::uint8_t, kLineWords> seen{};
    for (std::uint32_t left = line.lanes; left != 0; left &= left - 1)
        for_each_word(line.place_of[std::countr_zero(left)], line.bytes,
                      [&](std::uint64_t at, std::uint32_t bytes) {
                          const std::uint64_t word = at / kWordBytes;
                          line.several |= std::uint32_t{(seen[word] & bytes) != 0} << word;
                          seen[word] |= static_cast<std::uint8_t>(bytes);
                          line.whole |= std::uint32_t{seen[word] == (1u << kWordBytes) - 1} << word;
                      });
}

void find_words(LineAccess &line) {
    const LaneWords found = check::words_of(line.place_of, line.lanes, line.bytes / kWordBytes);
    line.words = found.words;
    line.several = line.whole = 0;
    if (line.bytes < kWordBytes || found.shared)
        find_bytes(line);
    else
        line.whole = line.words;
}

/// The words of lanes that lie side by side; the first of `line.lanes` is at `address`.
void find_words_of_row(LineAccess &line, std::uint64_t address) {
    const unsigned first = address % kLineBytes / kWordBytes;
    std::uint64_t left = line.lanes >> std::countr_zero(line.lanes);
    line.several = 0;
    if (line.bytes == kWordBytes) {
        line.words = line.whole = static_cast<std::uint32_t>(left) << first;
        return;
    }
    line.words = line.whole = 0;
    if (line.bytes < kWordBytes) {
        const unsigned of_word = kWordBytes / line.bytes, all = (1u << of_word) - 1;
        left <<= address % kWordBytes / line.bytes;
        for (unsigned word = first; left != 0; left >>= of_word, ++word) {
            line.words |= std::uint32_t{(left & all) != 0} << word;
            line.whole |= std::uint32_t{(left & all) == all} << word;
        }
        return;
    }
    const unsigned words = line.bytes / kWordBytes;
    for (std::uint64_t word = first; left != 0; left >>= 1, word += words)
        if (left & 1)
            line.words |= static_cast<std::uint32_t>(((std::uint64_t{1} << words) - 1) << word);
    line.whole = line.words;
}

/// The words of lanes that access one place.
void find_words_of_place(LineAccess &line, std::uint64_t address) {
    const unsigned words = line.bytes / kWordBytes;
    line.words = line.whole = static_cast<std::uint32_t>(((std::uint64_t{1} << words) - 1)
                                                         << address % kLineBytes / kWordBytes);
    line.several = (line.lanes & (line.lanes - 1)) != 0 ? line.words : 0;
}

/// The lanes from that of `address` on that lie in its line, of lanes that lie side by side.
std::uint32_t row_in_line(std::uint32_t lanes, std::uint64_t address, std::uint32_t bytes) {
    const std::uint64_t end = static_cast<unsigned>(std::countr_zero(lanes)) +
                              (kLineBytes - address % kLineBytes) / bytes;
    return end >= rt::kWarpSize ? lanes : lanes & ((1u << end) - 1);
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

namespace {

/// The lanes that access one of `words`.
std::uint32_t lanes_of_words(const LineAccess &line, std::uint32_t words) {
    std::uint32_t begins = words; // of accesses that hold one of them
    for (unsigned word = 1; word < line.bytes / kWordBytes; ++word)
        begins |= words >> word;
    return lanes_of(line.place_of, begins);
}

} // namespace

bool BlockChecks::comes_before(const LineAccess &before, const LineAccess &now) const {
    const std::uint32_t words = before.words & now.words;
    if (words == 0 || !(before.writes || now.writes))
        return true;
    const Mark &mark = before.mark;
    if (mark.atomic && now.mark.atomic &&
        (mark.block == now.mark.block || (mark.device && now.mark.device)))
        return true;
    if (mark.block != now.mark.block)
        return false;
    if (order_.known_to_all_lanes(now.mark.warp, mark.warp, mark.clock))
        return true;
    // Within a warp, where each lane comes back to its own bytes.
    if (mark.warp != now.mark.warp || ((before.several | now.several) & words) != 0 ||
        before.bytes != now.bytes)
        return false;
    const std::uint32_t lanes =
        words == now.words ? now.lanes : now.lanes & lanes_of_words(now, words);
    return (lanes & ~(before.lanes & equal_lanes(before.place_of, now.place_of))) == 0;
}

/// False where the words have to be looked at one by one.
bool BlockChecks::marks_line(const LineAccess &now, LineMarks &marks, Space space) {
    const std::uint32_t run = run_of(space);
    if (marks.run != run) {
        if (!is_ours(marks.run, space))
            return false;
        marks.begin(run);
    }
    // Stores of several lanes to one word may store the same.
    if (marks.by_words || (now.writes && !now.mark.atomic && now.several != 0))
        return false;
    for (std::uint32_t left = marks.used; left != 0; left &= left - 1)
        if (!comes_before(marks.accesses[std::countr_zero(left)], now))
            return false;
    return marks.add(now);
}

/// Whether it is of whole lines' parts: each lane in one space and, by its alignment, in one line.
bool BlockChecks::is_of_lines(const WarpAccess &access) const {
    return access.space && (!access.site.strong || access.site.kind == WatchKind::Atomic) &&
           !access.site.async && window_of(*access.space) % kLineBytes == 0 &&
           access.bytes <= kLineBytes && std::has_single_bit(access.bytes) &&
           access.addresses.are_aligned(access.mask, access.bytes) &&
           (access.space != Space::Shared ||
            shared_marks_.holds(access.span.last - window_of(Space::Shared)));
}

void BlockChecks::mark_lines(const WarpAccess &access) {
    const Space space = *access.space;
    const std::uint64_t window = window_of(space);
    // Where all lanes access one place, two stand for all.
    std::uint32_t left = access.mask;
    if (access.span.uniform)
        left = (left & (~left + 1)) | std::bit_floor(left);
    LineAccess now;
    now.mark = access.mark;
    now.bytes = static_cast<std::uint8_t>(access.bytes);
    now.writes = access.site.kind != WatchKind::Load;
    const LaneAddresses &addresses = access.addresses;
    addresses.find_places(now.place_of);
    const bool in_one_line = access.span.first / kLineBytes == access.span.last / kLineBytes;
    while (left != 0) {
        const std::uint64_t address = addresses[static_cast<unsigned>(std::countr_zero(left))];
        if (addresses.are_adjacent(access.bytes)) {
            now.lanes = row_in_line(left, address, access.bytes);
            find_words_of_row(now, address);
        } else {
            now.lanes = in_one_line ? left : left & addresses.in_line(address);
            if (access.span.uniform && access.bytes >= kWordBytes)
                find_words_of_place(now, address);
            else
                find_words(now);
        }
        const Line line =
            space == Space::Shared ? shared_marks_.line(address - window) : cursor_.line(address);
        if (!marks_line(now, *line.marks, space))
            for (std::uint32_t lanes = now.writes && access.span.uniform ? access.mask : now.lanes;
                 lanes != 0; lanes &= lanes - 1) {
                const auto lane = static_cast<std::uint32_t>(std::countr_zero(lanes));
                mark_words(access, line, space, lane, addresses[lane] - window, access.bytes);
            }
        left &= ~now.lanes;
    }
}

} // namespace softcuda::check
