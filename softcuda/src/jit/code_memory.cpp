// code_memory.cpp -- reserves areas, and gives their pages to objects.
#include "jit/code_memory.h"

#include "jit/llvm.h"
#include "target/code_cache.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace softcuda::jit {

namespace {

namespace jitlink = llvm::jitlink;
using llvm::orc::ExecutorAddr;
using llvm::orc::MemProt;

/// Distances in code have 32 bits, so an area is smaller than 2 GiB. Most areas never fill up.
constexpr std::uint64_t kAreaBytes = std::uint64_t{256} << 20;

std::uint64_t whole_pages(std::uint64_t bytes) {
    static const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    return (bytes + page - 1) / page * page;
}

bool protect(std::uint64_t begin, std::uint64_t bytes, int protection) {
    return ::mprotect(reinterpret_cast<void *>(begin), bytes, protection) == 0;
}

bool has(MemProt protection, MemProt bit) {
    return (static_cast<unsigned>(protection) & static_cast<unsigned>(bit)) != 0;
}

llvm::Error no_memory() {
    return llvm::createStringError(std::make_error_code(std::errc::not_enough_memory),
                                   "there is no memory for machine code");
}

} // namespace

/// A reserved range, and its free pages.
class CodeMemory::Area {
  public:
    /// Null if the system call fails.
    static std::unique_ptr<Area> reserve(std::uint64_t bytes) {
        void *begin =
            ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (begin == MAP_FAILED)
            return nullptr;
        return std::make_unique<Area>(reinterpret_cast<std::uint64_t>(begin), bytes);
    }
    Area(std::uint64_t begin, std::uint64_t bytes) : begin_(begin), bytes_(bytes) {
        const std::uint64_t code = whole_pages(bytes / 2), constants = whole_pages(bytes / 4);
        free_[0].emplace(begin, begin + code);
        free_[1].emplace(begin + code, begin + code + constants);
        free_[2].emplace(begin + code + constants, begin + bytes);
    }
    Area(const Area &) = delete;
    ~Area() { ::munmap(reinterpret_cast<void *>(begin_), bytes_); }

    /// The first free pages of a zone that are enough; 0 if there are none.
    std::uint64_t take(Zone zone, std::uint64_t bytes) {
        Ranges &free = free_.at(static_cast<std::size_t>(zone));
        const auto found = std::ranges::find_if(
            free, [&](const auto &range) { return range.second - range.first >= bytes; });
        if (found == free.end())
            return 0;
        const auto [begin, end] = *found;
        free.erase(found);
        if (begin + bytes < end)
            free.emplace(begin + bytes, end);
        return begin;
    }

    void give_back(const Pages &pages) {
        Ranges &free = free_.at(static_cast<std::size_t>(pages.zone));
        std::uint64_t begin = pages.begin, end = begin + pages.bytes;
        auto next = free.lower_bound(begin);
        if (next != free.end() && next->first == end) {
            end = next->second;
            next = free.erase(next);
        }
        if (next != free.begin())
            if (const auto before = std::prev(next); before->second == begin) {
                begin = before->first;
                free.erase(before);
            }
        free.emplace(begin, end);
    }

  private:
    using Ranges = std::map<std::uint64_t, std::uint64_t>; ///< the end by the begin

    std::uint64_t begin_, bytes_;
    std::array<Ranges, kZones> free_;
};

/// An object from the time when its pages are taken until they have their protection.
class CodeMemory::Object final : public InFlightAlloc {
  public:
    Object(CodeMemory &memory, std::vector<Pages> pages)
        : memory_(memory), pages_(std::move(pages)) {}

    void finalize(OnFinalizedFunction then) override {
        constexpr std::array kProtection = {PROT_READ | PROT_EXEC, PROT_READ,
                                            PROT_READ | PROT_WRITE};
        for (const Pages &pages : pages_) {
            if (pages.zone == Zone::Code)
                target::publish_code(pages.begin, pages.bytes);
            if (!protect(pages.begin, pages.bytes,
                         kProtection.at(static_cast<std::size_t>(pages.zone)))) {
                memory_.give_back(pages_);
                return then(no_memory());
            }
        }
        std::unique_lock lock(memory_.mutex_);
        const std::uint64_t number = ++memory_.last_object_;
        memory_.objects_.emplace(number, std::move(pages_));
        lock.unlock();
        then(FinalizedAlloc(ExecutorAddr(number)));
    }

    void abandon(OnAbandonedFunction then) override {
        memory_.give_back(pages_);
        then(llvm::Error::success());
    }

  private:
    CodeMemory &memory_;
    std::vector<Pages> pages_;
};

CodeMemory::CodeMemory() = default;
CodeMemory::~CodeMemory() = default;

std::vector<CodeMemory::Pages> CodeMemory::take(const Bytes &wanted) {
    std::vector<Pages> taken;
    std::unique_lock lock(mutex_);
    const auto take_from = [&](Area &area) {
        for (std::size_t zone = 0; zone < kZones; ++zone) {
            if (wanted.at(zone) == 0)
                continue;
            const std::uint64_t begin = area.take(Zone(zone), wanted.at(zone));
            if (begin == 0) {
                for (const Pages &pages : std::exchange(taken, {}))
                    area.give_back(pages);
                return false;
            }
            taken.push_back({&area, Zone(zone), begin, wanted.at(zone)});
        }
        return true;
    };
    if (std::ranges::none_of(areas_, [&](const auto &area) { return take_from(*area); })) {
        const std::uint64_t largest = std::ranges::max(wanted);
        std::unique_ptr<Area> area = Area::reserve(std::max(kAreaBytes, 4 * largest));
        if (!area || !take_from(*area))
            return {};
        areas_.push_back(std::move(area));
    }
    lock.unlock();
    for (const Pages &pages : taken)
        if (!protect(pages.begin, pages.bytes, PROT_READ | PROT_WRITE)) {
            give_back(taken);
            return {};
        }
    return taken;
}

void CodeMemory::give_back(const std::vector<Pages> &taken) {
    for (const Pages &pages : taken) {
        // If a call fails, the pages stay as they are; there is no other effect.
        (void)protect(pages.begin, pages.bytes, PROT_NONE);
        (void)::madvise(reinterpret_cast<void *>(pages.begin), pages.bytes, MADV_DONTNEED);
    }
    const std::lock_guard lock(mutex_);
    for (const Pages &pages : taken)
        pages.area->give_back(pages);
}

void CodeMemory::allocate(const jitlink::JITLinkDylib *, jitlink::LinkGraph &graph,
                          OnAllocatedFunction then) {
    jitlink::BasicLayout layout(graph);
    const auto zone_of = [](const auto &group) {
        const MemProt protection = group.getMemProt();
        return has(protection, MemProt::Exec)    ? Zone::Code
               : has(protection, MemProt::Write) ? Zone::Variables
                                                 : Zone::Constants;
    };
    Bytes wanted{};
    for (const auto &[group, segment] : layout.segments())
        wanted.at(static_cast<std::size_t>(zone_of(group))) +=
            whole_pages(segment.ContentSize + segment.ZeroFillSize);
    std::vector<Pages> pages = take(wanted);
    if (pages.empty() && wanted != Bytes{})
        return then(no_memory());
    Bytes next{};
    for (const Pages &one : pages)
        next.at(static_cast<std::size_t>(one.zone)) = one.begin;
    for (auto &[group, segment] : layout.segments()) {
        std::uint64_t &begin = next.at(static_cast<std::size_t>(zone_of(group)));
        segment.Addr = ExecutorAddr(begin);
        segment.WorkingMem = reinterpret_cast<char *>(begin); // new pages are zero
        begin += whole_pages(segment.ContentSize + segment.ZeroFillSize);
    }
    auto object = std::make_unique<Object>(*this, std::move(pages));
    if (llvm::Error error = layout.apply()) {
        object->abandon([](llvm::Error none) { llvm::consumeError(std::move(none)); });
        return then(std::move(error));
    }
    then(std::move(object));
}

void CodeMemory::deallocate(std::vector<FinalizedAlloc> objects, OnDeallocatedFunction then) {
    for (FinalizedAlloc &object : objects) {
        std::unique_lock lock(mutex_);
        const std::vector<Pages> pages = objects_.extract(object.release().getValue()).mapped();
        lock.unlock();
        give_back(pages);
    }
    then(llvm::Error::success());
}

} // namespace softcuda::jit
