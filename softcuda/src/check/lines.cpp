// lines.cpp -- checks a warp's access to a line of 32 words as a whole, if that is sufficient.
//
// Nearly every access of a warp is to few lines, and nothing is wrong with it. Then a line keeps
// which words it was, by which lanes. If the order is unknown, or too many warps share a line, its
// words are looked at one by one (races.cpp).
#include "check/block_checks.h"

#include <bit>

namespace softcuda::check {

using rt::WatchKind;

namespace {

/// The words of a line that lanes access: all, those of which several lanes access one byte, and
/// those of which all bytes are accessed.
struct AccessedWords {
    std::uint32_t all = 0, several = 0, whole = 0;
};

/// As std::has_single_bit(), which is a call if the processor may not have this instruction.
constexpr bool has_one_bit(std::uint32_t bits) { return bits != 0 && (bits & (bits - 1)) == 0; }

/// Byte by byte, if `lanes` have parts of words or share them.
AccessedWords words_by_bytes(std::uint32_t lanes, std::uint32_t bytes, const PlacesInLine &places) {
    AccessedWords found;
    std::array<std::uint8_t, kLineWords> seen{};
    for (std::uint32_t left = lanes; left != 0; left &= left - 1)
        for_each_word(
            places[std::countr_zero(left)], bytes, [&](std::uint64_t at, std::uint32_t of_word) {
                const std::uint64_t word = at / kWordBytes;
                found.all |= 1u << word;
                found.several |= std::uint32_t{(seen[word] & of_word) != 0} << word;
                seen[word] |= static_cast<std::uint8_t>(of_word);
                found.whole |= std::uint32_t{seen[word] == (1u << kWordBytes) - 1} << word;
            });
    return found;
}

/// Of lanes that access one place.
AccessedWords words_of_place(std::uint32_t lanes, std::uint32_t bytes, std::uint64_t place) {
    const auto all = static_cast<std::uint32_t>(((std::uint64_t{1} << bytes / kWordBytes) - 1)
                                                << place % kLineBytes / kWordBytes);
    return {all, (lanes & (lanes - 1)) != 0 ? all : 0, all};
}

AccessedWords words_of_lanes(std::uint32_t lanes, std::uint32_t bytes, const PlacesInLine &places) {
    if (has_one_bit(lanes) && bytes >= kWordBytes)
        return words_of_place(lanes, bytes, places[std::countr_zero(lanes)]);
    if (bytes < kWordBytes)
        return words_by_bytes(lanes, bytes, places);
    const LaneWords found = check::words_of(places, lanes, bytes / kWordBytes);
    return found.shared ? words_by_bytes(lanes, bytes, places)
                        : AccessedWords{found.words, 0, found.words};
}

/// The words of lanes with adjacent addresses; the first lane is at `address`.
AccessedWords words_of_row(std::uint32_t lanes, std::uint32_t bytes, std::uint64_t address) {
    const unsigned first = address % kLineBytes / kWordBytes;
    std::uint64_t left = lanes >> std::countr_zero(lanes);
    AccessedWords found;
    if (bytes < kWordBytes) {
        const unsigned of_word = kWordBytes / bytes, all = (1u << of_word) - 1;
        left <<= address % kWordBytes / bytes;
        for (unsigned word = first; left != 0; left >>= of_word, ++word) {
            found.all |= std::uint32_t{(left & all) != 0} << word;
            found.whole |= std::uint32_t{(left & all) == all} << word;
        }
        return found;
    }
    const unsigned words = bytes / kWordBytes;
    for (std::uint64_t word = first; left != 0; left >>= 1, word += words)
        if (left & 1)
            found.all |= static_cast<std::uint32_t>(((std::uint64_t{1} << words) - 1) << word);
    found.whole = found.all;
    return found;
}

} // namespace

std::uint32_t BlockChecks::run_of(Space space) const {
    return space == Space::Shared ? owner_->shared_marks_.run : launch_.run;
}

std::uint64_t BlockChecks::window_of(Space space) const {
    return space == Space::Shared ? reinterpret_cast<std::uint64_t>(owner_->state_.shared) : 0;
}

bool BlockChecks::is_ours(std::uint32_t run, Space space) {
    if (space == Space::Shared || run == 0 || run == launch_.run)
        return true;
    const bool early = is_early();
    if (run == ordered_run_ && !early)
        return true;
    if (unordered(run))
        return false;
    if (!early)
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

/// The lanes of `lanes`, at `places` and with this number of bytes, that access one of `words`.
std::uint32_t lanes_of_words(std::uint32_t lanes, std::uint32_t bytes, const PlacesInLine &places,
                             std::uint32_t words) {
    std::uint32_t begins = words; // of accesses that hold one of them
    for (unsigned word = 1; word < bytes / kWordBytes; ++word)
        begins |= words >> word;
    return lanes & lanes_of(places, begins);
}

/// Whether each of `lanes`, now at `places`, accesses the same bytes as before.
[[gnu::noinline]] bool come_back(const LinePart &before, const PlacesInLine &list,
                                 std::uint32_t lanes, const PlacesInLine &places) {
    return (lanes & ~(before.lanes & equal_lanes(places_of(before, list), places))) == 0;
}

} // namespace

/// Whether the earlier access is ordered before the access `mark` of `now`, in all of its words.
[[gnu::always_inline]] inline bool BlockChecks::comes_before(const LineMarks &marks,
                                                             unsigned number, const Mark &mark,
                                                             const LinePart &now,
                                                             const PlacesInLine &list) const {
    const Mark &earlier = marks.accesses[number].mark;
    const LinePart &before = marks.accesses[number].part;
    const std::uint32_t words = before.words & now.words;
    if (words == 0 || !(before.writes || now.writes))
        return true;
    // Without the mode race, only the lanes of one warp are compared.
    if (!finds_races_ && (earlier.warp != mark.warp || earlier.block != mark.block))
        return true;
    if (earlier.atomic && mark.atomic &&
        (earlier.block == mark.block ||
         (reaches(earlier.block, earlier.scope) && reaches(earlier.block, mark.scope))))
        return true;
    if (earlier.block != mark.block)
        return false;
    if (order_.known_to_all_lanes(mark.warp, earlier.warp, earlier.clock))
        return true;
    // Within a warp, if each lane accesses the same bytes as before.
    if (earlier.warp != mark.warp || ((before.several | now.several) & words) != 0 ||
        before.bytes != now.bytes)
        return false;
    const bool all = words == now.words;
    if (all && before.in_step && now.in_step && before.start == now.start &&
        before.step == now.step)
        return (now.lanes & ~before.lanes) == 0;
    PlacesInLine places = list;
    if (now.in_step)
        find_places(now.start, now.step, places);
    return come_back(before, marks.lists[number],
                     all ? now.lanes : lanes_of_words(now.lanes, now.bytes, places, words), places);
}

/// False if the words must be checked one by one.
[[gnu::always_inline]] inline bool BlockChecks::marks_line(const Mark &mark, const LinePart &now,
                                                           const PlacesInLine &list,
                                                           LineMarks &marks, Space space) {
    const std::uint32_t run = run_of(space);
    if (marks.run != run) {
        if (!is_ours(marks.run, space))
            return false;
        marks.begin(run);
    }
    // Stores of several lanes to one word may store the same.
    if (marks.by_words || (now.writes && !mark.atomic && now.several != 0))
        return false;
    for (std::uint32_t left = now.writes ? marks.used : marks.writes; left != 0; left &= left - 1)
        if (!comes_before(marks, static_cast<unsigned>(std::countr_zero(left)), mark, now, list))
            return false;
    return marks.add(mark, now, list);
}

/// Calls each(part, line) for the lines that the lanes in `mask` access. A part should stay in
/// registers: its members are written one by one, and a wide load of them from memory would stall.
template <class Each>
[[gnu::always_inline]] inline void
BlockChecks::for_each_line(std::uint32_t bytes, bool writes, const LaneAddresses &addresses,
                           std::uint32_t mask, const AddressSpan &span, Space space,
                           PlacesInLine &list, Each each) {
    const bool row = addresses.are_adjacent(bytes);
    const bool in_one_line = span.first / kLineBytes == span.last / kLineBytes;
    const bool in_step = !addresses.list();
    if (!in_step)
        find_places(addresses.list(), list);
    // If all lanes access one address, two lanes represent all of them.
    if (span.uniform)
        mask = (mask & (~mask + 1)) | std::bit_floor(mask);
    while (mask != 0) {
        const std::uint64_t address = addresses[static_cast<unsigned>(std::countr_zero(mask))];
        const std::uint32_t lanes = in_one_line ? mask : addresses.in_line(mask);
        AccessedWords words;
        if (row && bytes == kWordBytes) {
            words.all = words.whole = lanes >> std::countr_zero(lanes)
                                                   << address % kLineBytes / kWordBytes;
        } else if (row) {
            words = words_of_row(lanes, bytes, address);
        } else if (span.uniform && bytes >= kWordBytes) {
            words = words_of_place(lanes, bytes, address);
        } else {
            if (in_step)
                find_places(addresses.first(), addresses.step(), list);
            words = words_of_lanes(lanes, bytes, list);
        }
        const LinePart now{.words = words.all,
                           .several = words.several,
                           .whole = words.whole,
                           .lanes = lanes,
                           .bytes = static_cast<std::uint8_t>(bytes),
                           .writes = writes,
                           .in_step = in_step,
                           .start = static_cast<std::uint8_t>(in_step ? addresses.first() : 0),
                           .step = static_cast<std::uint8_t>(in_step ? addresses.step() : 0)};
        each(now, space == Space::Shared ? owner_->shared_marks_.line(address - window_of(space))
                                         : cursor_.line(address));
        mask &= ~lanes;
    }
}

/// Whether it is of whole lines' parts: each lane in one space and, by its alignment, in one line.
bool BlockChecks::is_of_lines(const WarpAccess &access) const {
    return access.space && (!access.site.strong || access.site.kind == WatchKind::Atomic) &&
           !access.site.async && window_of(*access.space) % kLineBytes == 0 &&
           access.bytes <= kLineBytes && has_one_bit(access.bytes) &&
           access.addresses.are_aligned(access.mask, access.bytes) &&
           (access.space != Space::Shared ||
            owner_->shared_marks_.holds(access.span.last - window_of(Space::Shared)));
}

void BlockChecks::mark_words(const WarpAccess &access, const Line &line, Space space,
                             std::uint32_t lanes) {
    if (access.span.uniform && access.site.kind != WatchKind::Load)
        lanes = access.mask;
    for (; lanes != 0; lanes &= lanes - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(lanes));
        mark_words(access, line, space, lane, access.addresses[lane] - window_of(space),
                   access.bytes);
    }
}

void BlockChecks::mark_lines(const WarpAccess &access) {
    const Space space = *access.space;
    PlacesInLine list;
    for_each_line(access.bytes, access.site.kind != WatchKind::Load, access.addresses, access.mask,
                  access.span, space, list, [&](const LinePart &now, const Line &line) {
                      if (!marks_line(access.mark, now, list, *line.marks, space))
                          mark_words(access, line, space, now.lanes);
                  });
}

// The usual access, by the shortest way: check() would come to the same.
bool BlockChecks::marks_at_once(rt::WatchSite &site, std::uint32_t mask,
                                const LaneAddresses &addresses, const std::byte *values) {
    const std::uint32_t bytes = site.bytes * site.count, warp = state_.warp_index;
    const bool shared = site.space == rt::WatchSpace::Shared;
    if (!only_orders_ || (!shared && site.space != rt::WatchSpace::Global) ||
        (site.kind != WatchKind::Load && site.kind != WatchKind::Store) || site.strong ||
        site.async || strong_reads_[warp].mask != 0 || (shared && phase_reads_.only_reads()) ||
        bytes > kLineBytes || !has_one_bit(bytes) || !addresses.are_aligned(mask, bytes))
        return false;
    const Space space = shared ? Space::Shared : Space::Global;
    const std::uint64_t window = window_of(space);
    const AddressSpan span = addresses.span(mask);
    if (!shared && site.kind == WatchKind::Store && may_be_read(span, bytes))
        return false;
    if (shared ? window % kLineBytes != 0 || !shared_marks_.holds(span.last - window)
               : conflicts_with_transfer(site, span, bytes))
        return false;
    PlacesInLine list;
    Mark mark = mark_of(site, number_of(site), warp, order_.clock(warp));
    asm("" : "+m"(mark)); // is in memory from here on: it is long written when it is copied
    for_each_line(bytes, site.kind == WatchKind::Store, addresses, mask, span, space, list,
                  [&](const LinePart &now, const Line &line) {
                      if (!marks_line(mark, now, list, *line.marks, space))
                          mark_words(
                              warp_access(site, mask, addresses, values, warp, order_.clock(warp)),
                              line, space, now.lanes);
                  });
    cursor_.release();
    return true;
}

} // namespace softcuda::check
