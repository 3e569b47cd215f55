// reserved_range.cpp -- address ranges by mmap.
#include "rt/reserved_range.h"

#include <new>
#include <sys/mman.h>
#include <unistd.h>

namespace softcuda::rt {
namespace {

constexpr int kReserve = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

} // namespace

std::uint64_t page_size() noexcept {
    static const auto size = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    return size;
}

ReservedRange::ReservedRange(std::uint64_t bytes) : size_(bytes) {
    void *address = mmap(nullptr, bytes, PROT_NONE, kReserve, -1, 0);
    if (address == MAP_FAILED)
        throw std::bad_alloc();
    madvise(address, bytes, MADV_DONTDUMP); // only makes core dumps smaller
    begin_ = static_cast<std::byte *>(address);
}

ReservedRange::~ReservedRange() { munmap(begin_, size_); }

bool ReservedRange::open(std::byte *first, std::uint64_t bytes) noexcept {
    return mprotect(first, bytes, PROT_READ | PROT_WRITE) == 0;
}

bool ReservedRange::back(std::byte *first, std::uint64_t bytes, int file,
                         std::uint64_t offset) noexcept {
    return mmap(first, bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, file,
                static_cast<off_t>(offset)) != MAP_FAILED;
}

bool ReservedRange::protect(std::byte *first, std::uint64_t bytes, Access access) noexcept {
    const int allowed = access == Access::None   ? PROT_NONE
                        : access == Access::Read ? PROT_READ
                                                 : PROT_READ | PROT_WRITE;
    return mprotect(first, bytes, allowed) == 0;
}

bool ReservedRange::close(std::byte *first, std::uint64_t bytes) noexcept {
    // A fresh mapping over the old one drops the pages and their contents in one call.
    if (mmap(first, bytes, PROT_NONE, kReserve | MAP_FIXED, -1, 0) == MAP_FAILED)
        return false;
    // As its neighbours are, or the system keeps it apart from them: it allows 65,530 mappings.
    madvise(first, bytes, MADV_DONTDUMP);
    return true;
}

} // namespace softcuda::rt
