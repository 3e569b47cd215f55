// unwritten_reads.cpp -- reads of memory that the launch does not write (check/unwritten_memory.h).
#include "check/block_checks.h"

#include <algorithm>
#include <bit>

namespace softcuda::check {

// In a program with several streams, these reads are checked as any other: an unordered launch may
// write, or have written, the memory.
bool BlockChecks::reads_unwritten(rt::WatchSite &site, std::uint32_t mask,
                                  const LaneAddresses &addresses, rt::WatchPiece *piece) {
    if (site.read_slot == 0 || !only_orders_ || (finds_races_ && CommandCounter::several_streams()))
        return false;
    const Addresses memory = launch_.unwritten_memory.of(site);
    const AddressSpan span = addresses.span(mask);
    const std::uint64_t end = span.last + std::uint64_t{site.bytes} * site.count;
    const ReadWords &reads = Memory::of_process().reads;
    if (!memory.holds(span.first, end) || (finds_races_ && !reads.covers(span.last)))
        return false;
    if (finds_races_)
        record_read(site, mask, addresses, span);
    if (piece)
        *piece = {.begin = memory.begin,
                  .places = memory.end - memory.begin - site.bytes * site.count + 1,
                  .written = reinterpret_cast<std::uint64_t>(&launch_.read_record)};
    return true;
}

void BlockChecks::record_read(rt::WatchSite &site, std::uint32_t mask,
                              const LaneAddresses &addresses, const AddressSpan &span) {
    const std::uint32_t bytes = site.bytes * site.count;
    ReadWords &reads = Memory::of_process().reads;
    Reader reader{.block = block_,
                  .site = number_of(site),
                  .warp = state_.warp_index,
                  .lane = static_cast<std::uint32_t>(std::countr_zero(mask))};
    const auto add = [&](std::uint64_t begin, std::uint64_t end) {
        for (std::uint64_t at = begin, next = 0; at < end; at = next) {
            next = std::min(end, (at / kLineBytes + 1) * kLineBytes);
            reads.add(at, words_of_line(at, next), launch_.run, reader);
        }
    };
    const std::uint32_t lanes = mask >> std::countr_zero(mask);
    if (span.uniform || ((lanes & (lanes + 1)) == 0 && addresses.are_adjacent(bytes)))
        return add(span.first, span.last + bytes);
    for (std::uint32_t left = mask; left != 0;) {
        const auto next = [&] { return addresses[static_cast<unsigned>(std::countr_zero(left))]; };
        reader.lane = static_cast<std::uint32_t>(std::countr_zero(left));
        const std::uint64_t begin = next();
        std::uint64_t end = begin;
        do { // neighbours that read the next place, or the same place, are added together
            end = next() + bytes;
            left &= left - 1;
        } while (left != 0 && (next() == end || next() == end - bytes));
        add(begin, end);
    }
}

bool BlockChecks::may_be_read(const AddressSpan &span, std::uint32_t bytes) {
    constexpr std::uint64_t kMostLines = 64;
    if (!finds_races_ || !CommandCounter::several_streams())
        return false;
    const ReadWords &reads = Memory::of_process().reads;
    const std::uint64_t last = span.last + bytes - 1;
    if (!reads.covers(span.first) || !reads.covers(last))
        return false;
    if (last / kLineBytes - span.first / kLineBytes > kMostLines)
        return true;
    for (std::uint64_t line = span.first / kLineBytes; line <= last / kLineBytes; ++line)
        if (!is_ours(reads.at(std::max(span.first, line * kLineBytes)).run, Space::Global))
            return true;
    return false;
}

void BlockChecks::check_unwritten_reads(const WarpAccess &access) {
    const ReadWords &reads = Memory::of_process().reads;
    if (!finds_races_ || access.site.kind == rt::WatchKind::Load || access.space != Space::Global ||
        !CommandCounter::several_streams() || !reads.covers(access.span.first) ||
        !reads.covers(access.span.last + access.bytes - 1))
        return;
    for (std::uint32_t left = access.mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
        const std::uint64_t end = access.addresses[lane] + access.bytes;
        for (std::uint64_t at = access.addresses[lane], next = 0; at < end; at = next) {
            next = std::min(end, (at / kLineBytes + 1) * kLineBytes);
            const ReadWords::Read read = reads.at(at);
            if ((read.words & words_of_line(at, next)) == 0 || is_ours(read.run, Space::Global))
                continue;
            const std::shared_ptr<const Accessor> other = unordered(read.run);
            if (!other || launch_.is_known(Kind::WriteAfterRead, read.reader.site, access.number))
                continue;
            FoundAccess first = access_of(read.reader, *other);
            if (other->what != launch_.kernel)
                first.kernel = other->what;
            report_unordered(access, Kind::WriteAfterRead, read.reader.site, lane, std::move(first),
                             at);
        }
    }
}

} // namespace softcuda::check
