// checked_memory.cpp -- allocations, blocks of pools, and the memory that copies and fills write.
#include "device/checked_memory.h"

#include "check/finding.h"
#include "device/address_space.h"
#include "device/context.h"
#include "device/error.h"
#include "device/registry.h"
#include "device/system.h"

#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>
#include <stdexcept>
#include <unordered_map>

namespace softcuda::device::checked_memory {
namespace {

std::atomic<std::uint32_t> generation{1}; ///< the number of times that checking of reads began

bool checks(unsigned modes) { return (check::modes() & modes) != 0; }

/// Memory that the host can write only by driver calls.
bool is_inaccessible_to_host(const Allocation &allocation) {
    const MemoryKind kind = allocation.kind;
    if (allocation.is_host() || allocation.is_managed())
        return false;
    return kind == MemoryKind::Device || kind == MemoryKind::Pool || kind == MemoryKind::Heap;
}

/// The parts of allocations that a pool has allocated.
class Blocks {
  public:
    struct Block {
        std::uint64_t end = 0;
        bool taken = false;
    };

    void mark(std::uint64_t address, std::uint64_t bytes, bool taken) {
        std::lock_guard lock(mutex_);
        any_ = true;
        if (!taken) {
            if (const auto found = blocks_.find(address); found != blocks_.end())
                found->second.taken = false;
            return;
        }
        drop(address, address + bytes);
        blocks_[address] = {address + bytes, true};
    }

    void forget(std::uint64_t begin, std::uint64_t end) {
        if (!any_.load(std::memory_order_relaxed))
            return;
        std::lock_guard lock(mutex_);
        drop(begin, end);
    }

    /// The last block that begins before `address` and ends in [begin, end) or later.
    std::optional<std::pair<std::uint64_t, Block>> before(std::uint64_t address,
                                                          std::uint64_t begin) {
        if (!any_.load(std::memory_order_relaxed))
            return std::nullopt;
        std::lock_guard lock(mutex_);
        auto found = blocks_.upper_bound(address);
        if (found == blocks_.begin())
            return std::nullopt;
        --found;
        if (found->first < begin)
            return std::nullopt;
        return *found;
    }

    /// For [begin, end): the allocated blocks, and whether there are other blocks.
    struct Within {
        bool any_given_out_or_back = false;
        std::vector<std::pair<std::uint64_t, std::uint64_t>> taken;
    };
    Within within(std::uint64_t begin, std::uint64_t end) {
        Within found;
        std::lock_guard lock(mutex_);
        for (auto at = blocks_.lower_bound(begin); at != blocks_.end() && at->first < end; ++at) {
            found.any_given_out_or_back = true;
            if (at->second.taken)
                found.taken.emplace_back(at->first, at->second.end);
        }
        return found;
    }

  private:
    void drop(std::uint64_t begin, std::uint64_t end) {
        auto first = blocks_.lower_bound(begin);
        if (first != blocks_.begin() && std::prev(first)->second.end > begin)
            --first;
        while (first != blocks_.end() && first->first < end)
            first = blocks_.erase(first);
    }

    std::mutex mutex_;
    std::atomic<bool> any_{false};
    std::map<std::uint64_t, Block> blocks_;
};

Blocks &blocks() {
    static auto *const blocks = new Blocks;
    return *blocks;
}

struct Notes {
    std::mutex mutex;
    std::unordered_map<std::uint64_t, std::string> of;
};

Notes &notes() {
    static auto *const notes = new Notes;
    return *notes;
}

std::string note_of(std::uint64_t address) {
    std::lock_guard lock(notes().mutex);
    const auto found = notes().of.find(address);
    return found == notes().of.end() ? "" : ", allocated at " + found->second;
}

bool may_leak(MemoryKind kind) {
    return kind == MemoryKind::Device || kind == MemoryKind::Host || kind == MemoryKind::Managed ||
           kind == MemoryKind::Pool;
}

/// After a kernel has failed in a context, its memory cannot be freed.
bool is_broken(Context *context) {
    const std::shared_ptr<Context> found = registry<Context>().find(context);
    return found && found->sticky_error() != CUDA_SUCCESS;
}

void report_leak(std::uint64_t address, std::uint64_t bytes) {
    check::Finding finding;
    finding.mode = check::Mem;
    finding.kind = check::Kind::Leak;
    finding.array = std::to_string(bytes) + " bytes" + note_of(address);
    finding.detail = std::to_string(bytes) + " bytes were not freed" + note_of(address);
    check::add(finding);
}

class Map final : public check::MemoryMap {
  public:
    std::optional<Piece> find(std::uint64_t address) override {
        const std::optional<Allocation> found = System::get().memory().find(address);
        if (!found)
            return std::nullopt;
        Piece piece{found->address, found->address + found->size,
                    found->knows_writes == generation.load(std::memory_order_relaxed),
                    found->kind != MemoryKind::Heap};
        const auto block = blocks().before(address, piece.begin);
        if (!block) { // no pool's block, or one that was allocated while the mode was off
            piece.end = piece.begin + AddressSpace::requested_bytes(*found);
            return address < piece.end ? std::optional(piece) : std::nullopt;
        }
        const auto &[begin, what] = *block;
        if (!what.taken || address >= what.end)
            return std::nullopt;
        piece.begin = begin;
        piece.end = what.end;
        return piece;
    }

    std::string describe(std::uint64_t address) override {
        const AddressSpace &memory = System::get().memory();
        const std::optional<Allocation> found = memory.find(address);
        if (!found)
            return memory.describe(address);
        const auto block = blocks().before(address, found->address);
        if (!block)
            return memory.describe(address) + note_of(found->address);
        const auto &[begin, what] = *block;
        const std::string size = std::to_string(what.end - begin) + "-byte allocation";
        if (address >= what.end)
            return std::to_string(address - what.end) + " bytes after the " + size + note_of(begin);
        return std::to_string(address - begin) + " bytes into the " + size + note_of(begin) +
               (what.taken ? "" : ", which was freed");
    }

    check::Addresses device_memory() override {
        const AddressSpace &memory = System::get().memory();
        return {memory.arena_base(), memory.arena_base() + memory.arena_size()};
    }
};

} // namespace

check::MemoryMap &map() {
    static auto *const map = new Map;
    return *map;
}

void set_modes(unsigned modes) {
    if ((modes & check::Init) && !checks(check::Init))
        ++generation;
    check::set_modes(modes);
    begin();
}

void allocated(Allocation &allocation) {
    if (checks(check::Race))
        check::forget_accesses(allocation.address, allocation.size);
    if (!checks(check::Init) || !is_inaccessible_to_host(allocation))
        return;
    const AddressSpace &memory = System::get().memory();
    check::Memory::of_process().written.cover(memory.arena_base(), memory.arena_size());
    allocation.knows_writes = generation;
    check::Memory::of_process().written.clear(allocation.address, allocation.size);
}

void freed(const Allocation &allocation) {
    blocks().forget(allocation.address, allocation.address + allocation.size);
    if (allocation.knows_writes != 0)
        check::Memory::of_process().written.clear(allocation.address, allocation.size);
    if (checks(check::kAllModes)) {
        std::lock_guard lock(notes().mutex);
        notes().of.erase(allocation.address);
    }
}

void refused_free(std::uint64_t address) {
    if (!checks(check::Mem) || address == 0)
        return;
    const std::string where = System::get().memory().describe(address);
    check::Finding finding;
    finding.mode = check::Mem;
    finding.kind = where.find("freed") != std::string::npos ? check::Kind::DoubleFree
                                                            : check::Kind::InvalidFree;
    finding.space = "global";
    finding.array = where;
    finding.detail = "the program frees an address at which no allocation begins";
    check::add(finding);
}

namespace {

/// The ranges of memory that a copy or fill accesses, if they are few.
class Ranges {
  public:
    Ranges(const char *what, const check::CommandOrder &order)
        : by_(std::make_shared<check::Accessor>(
              check::Accessor{.what = what, .order = order, .overlap = {}})) {}

    /// Ignores the client's pageable memory, because no kernel accesses it.
    void add(std::uint64_t address, std::uint64_t bytes, bool writes) {
        if (bytes != 0 && System::get().memory().find(address))
            ranges_.push_back({address, address + bytes, writes, by_});
    }
    void check() const { check::check_transfer(ranges_, map()); }

  private:
    std::shared_ptr<const check::Accessor> by_;
    std::vector<check::Range> ranges_;
};

constexpr std::uint64_t kMostRows = 256;

void check_order(const Copy &copy, const check::CommandOrder &order) {
    if (copy.height * copy.depth > kMostRows)
        return;
    Ranges ranges("copy", order);
    for (std::uint64_t z = 0; z < copy.depth; ++z)
        for (std::uint64_t y = 0; y < copy.height; ++y) {
            ranges.add(copy.source.row(y, z), copy.width, false);
            ranges.add(copy.destination.row(y, z), copy.width, true);
        }
    ranges.check();
}

void check_order(const Fill &fill, const check::CommandOrder &order) {
    if (fill.height > kMostRows)
        return;
    Ranges ranges("fill", order);
    for (std::uint64_t y = 0; y < fill.height; ++y)
        ranges.add(fill.address + y * fill.pitch, fill.width * fill.element_bytes, true);
    ranges.check();
}

} // namespace

void copied(const Copy &copy, const check::CommandOrder *order) {
    if (order)
        check_order(copy, *order);
    if (!checks(check::Init))
        return;
    check::WrittenMemory &memory = check::Memory::of_process().written;
    const auto source = map().find(copy.source.address);
    const bool follows = source && source->knows_writes;
    for (std::uint64_t z = 0; z < copy.depth; ++z)
        for (std::uint64_t y = 0; y < copy.height; ++y) {
            if (follows)
                memory.copy(copy.destination.row(y, z), copy.source.row(y, z), copy.width);
            else
                memory.write(copy.destination.row(y, z), copy.width);
        }
}

void filled(const Fill &fill, const check::CommandOrder *order) {
    if (order)
        check_order(fill, *order);
    for (std::uint64_t y = 0; y < fill.height && checks(check::Init); ++y)
        written(fill.address + y * fill.pitch, fill.width * fill.element_bytes);
}

void written(std::uint64_t address, std::uint64_t bytes) {
    if (checks(check::Init))
        check::Memory::of_process().written.write(address, bytes);
}

void mark_block(std::uint64_t address, std::uint64_t bytes, bool taken) {
    if (checks(check::Mem | check::Race | check::Sync))
        blocks().mark(address, bytes, taken);
    if (checks(check::Init))
        check::Memory::of_process().written.clear(address, bytes);
    if (checks(check::Race))
        check::forget_accesses(address, bytes);
}

void find_leaks(const Context *context) {
    if (!checks(check::Mem) || !check::finds_leaks())
        return;
    for (const Allocation &allocation : System::get().memory().allocations(context)) {
        if (!may_leak(allocation.kind) || is_broken(allocation.context))
            continue;
        const auto pieces =
            blocks().within(allocation.address, allocation.address + allocation.size);
        if (pieces.any_given_out_or_back) {
            for (const auto &[begin, end] : pieces.taken)
                report_leak(begin, end - begin);
        } else {
            report_leak(allocation.address, allocation.size);
        }
    }
}

/// Runs at the end of the process, where exceptions are not allowed.
static void find_all_leaks() {
    try {
        find_leaks(nullptr);
    } catch (const Error &) { // the driver was not initialised, so there is no memory
    }
}

void begin() {
    try {
        if (check::modes() != 0)
            check::report_at_exit(find_all_leaks);
    } catch (const std::invalid_argument
                 &wrong) { // a wrong setting must not disable the checks silently
        std::fprintf(stderr, "softcuda: SOFTCUDA_CHECK: %s\n", wrong.what());
        throw Error(CUDA_ERROR_INVALID_VALUE);
    }
}

void note_allocation(std::uint64_t address, std::string where) {
    std::lock_guard lock(notes().mutex);
    notes().of[address] = std::move(where);
}

} // namespace softcuda::device::checked_memory
