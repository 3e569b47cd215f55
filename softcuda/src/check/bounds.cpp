// bounds.cpp -- accesses outside allocated memory.
#include "check/block_checks.h"

#include <bit>

namespace softcuda::check {
namespace {

constexpr std::uint64_t kNullPage = 4096;

std::string variable_text(std::uint32_t number, const rt::WatchSite &site) {
    return "variable `" + text_of(number).array + "` of " +
           std::to_string(site.array_end - site.array_begin) + " bytes";
}

/// "12 bytes after".
std::string distance(std::int64_t offset, std::int64_t begin, std::int64_t end) {
    return offset < begin ? std::to_string(begin - offset) + " bytes before "
                          : std::to_string(offset - end) + " bytes after the end of ";
}

} // namespace

const MemoryMap::Piece *BlockChecks::piece_of(std::uint64_t address) {
    MemoryMap::Piece &piece = pieces_[address / 4096 % kPieces];
    if (address - piece.begin < piece.end - piece.begin)
        return &piece;
    const std::optional<MemoryMap::Piece> found = launch_.memory.find(address);
    if (!found)
        return nullptr;
    piece = *found;
    return &piece;
}

bool BlockChecks::is_within_bounds(const WarpAccess &access) {
    const std::optional<Space> space = access.space;
    if (!space || *space == Space::Local ||
        (access.aligns && !access.addresses.are_aligned(access.mask, access.bytes)))
        return false;
    std::uint64_t first = access.span.first, last = access.span.last, begin = 0, end = 0;
    if (*space == Space::Shared) {
        first = place_of(access, first).offset;
        last = place_of(access, last).offset;
        begin = access.site.array ? access.site.array_begin : 0;
        end = access.site.array ? access.site.array_end : launch_.shared_bytes;
    } else if (const MemoryMap::Piece *piece = piece_of(first)) {
        begin = piece->begin;
        end = piece->end;
    }
    return begin <= first && first <= last && last < end && access.bytes <= end - last;
}

void BlockChecks::check_bounds(const WarpAccess &access) {
    if (is_within_bounds(access))
        return;
    for (std::uint32_t left = access.mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
        const std::uint64_t address = access.addresses[lane];
        const Place place = place_of(access, address);
        if (access.aligns && address % access.bytes != 0)
            report_bounds(access, lane, Kind::Misaligned,
                          place.space == Space::Global   ? "global"
                          : place.space == Space::Shared ? "shared"
                                                         : "local",
                          "an address that is no multiple of " + std::to_string(access.bytes));
        if (place.space == Space::Global)
            check_global(access, lane, address);
        else
            check_window(access, lane, place.space, place.offset);
    }
}

void BlockChecks::check_window(const WarpAccess &access, std::uint32_t lane, Space space,
                               std::uint64_t offset) {
    const rt::WatchSite &site = access.site;
    const bool shared = space == Space::Shared;
    const char *name = shared ? "shared" : "local";
    std::uint64_t base = 0;
    if (!shared) { // each thread has its own
        const std::uint64_t each =
            launch_.local_bytes / (std::uint64_t{launch_.frame.block[0]} * launch_.frame.block[1] *
                                   launch_.frame.block[2]);
        base = each * thread(lane);
    }
    const auto at = static_cast<std::int64_t>(offset - base);
    const auto size = static_cast<std::int64_t>(access.bytes);
    if (site.array) {
        const auto begin = static_cast<std::int64_t>(site.array_begin),
                   end = static_cast<std::int64_t>(site.array_end);
        if (at < begin || at + size > end)
            report_bounds(access, lane, Kind::OutOfBounds, name,
                          distance(at, begin, end) + variable_text(access.number, site));
        return;
    }
    const auto end = static_cast<std::int64_t>(shared ? launch_.shared_bytes : launch_.local_bytes);
    if (static_cast<std::int64_t>(offset) < 0 || static_cast<std::int64_t>(offset) + size > end)
        report_bounds(access, lane, Kind::OutOfBounds, name,
                      distance(static_cast<std::int64_t>(offset), 0, end) + "the block's " +
                          std::to_string(end) + " bytes");
}

void BlockChecks::check_global(const WarpAccess &access, std::uint32_t lane,
                               std::uint64_t address) {
    const MemoryMap::Piece *piece = piece_of(address);
    if (piece && address + access.bytes <= piece->end)
        return;
    const std::uint64_t wrong = piece ? piece->end : address; // the first byte that is outside
    const std::string where = launch_.memory.describe(wrong);
    Kind kind = Kind::OutOfBounds;
    if (address < kNullPage)
        kind = Kind::Null;
    else if (where.find("freed") != std::string::npos)
        kind = Kind::UseAfterFree;
    report_bounds(access, lane, kind, "global", where);
}

void BlockChecks::check_free(const WarpAccess &access) {
    for (std::uint32_t left = access.mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
        const std::uint64_t address = access.addresses[lane];
        bool twice = false; // two lanes free one address
        for (std::uint32_t before = access.mask & ((1u << lane) - 1); before != 0;
             before &= before - 1)
            twice |= access.addresses[std::countr_zero(before)] == address;
        const std::optional<MemoryMap::Piece> piece = launch_.memory.find(address);
        if (address == 0 || (piece && piece->begin == address && !twice))
            continue;
        const std::string where = launch_.memory.describe(address);
        const bool freed = twice || where.find("freed") != std::string::npos;
        report_bounds(access, lane, freed ? Kind::DoubleFree : Kind::InvalidFree, "global", where);
    }
    pieces_.fill({});
}

void BlockChecks::report_bounds(const WarpAccess &access, std::uint32_t lane, Kind kind,
                                const char *space, std::string array) {
    if (launch_.is_known(kind, access.number, 0))
        return;
    Finding finding;
    finding.mode = Mem;
    finding.space = space;
    finding.array = std::move(array);
    finding.accesses = {found(access, lane)};
    launch_.tell(kind, access.number, 0, finding);
}

} // namespace softcuda::check
