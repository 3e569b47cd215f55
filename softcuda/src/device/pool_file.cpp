// pool_file.cpp -- allocates and frees pages of a file without a name.
#include "device/pool_file.h"

#include "device/error.h"
#include "rt/reserved_range.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace softcuda::device {
namespace {

/// The content of the first page.
struct Header {
    char maker[8] = {'s', 'o', 'f', 't', 'p', 'o', 'o', 'l'};
    std::int32_t device = 0;
};

} // namespace

PoolFile::PoolFile(int device) : device_(device), is_own_(true), size_(rt::page_size()) {
    file_ = memfd_create("softcuda pool", MFD_CLOEXEC);
    Header header;
    header.device = device;
    if (file_ < 0 || ftruncate(file_, static_cast<off_t>(size_)) != 0 ||
        pwrite(file_, &header, sizeof header, 0) != static_cast<ssize_t>(sizeof header)) {
        close(file_);
        throw Error(CUDA_ERROR_OUT_OF_MEMORY);
    }
    identify();
}

PoolFile::PoolFile(int file, int device, Imported) : file_(file), device_(device) { identify(); }

void PoolFile::identify() {
    struct stat status{};
    if (fstat(file_, &status) == 0)
        id_ = status.st_ino;
}

std::shared_ptr<PoolFile> PoolFile::import(int file) {
    Header header;
    const Header wanted;
    require(fcntl(file, F_GET_SEALS) >= 0 && // only files in memory have seals
                pread(file, &header, sizeof header, 0) == static_cast<ssize_t>(sizeof header) &&
                std::memcmp(header.maker, wanted.maker, sizeof wanted.maker) == 0,
            CUDA_ERROR_INVALID_VALUE);
    const int own = fcntl(file, F_DUPFD_CLOEXEC, 0);
    require(own >= 0, CUDA_ERROR_OPERATING_SYSTEM);
    return std::shared_ptr<PoolFile>(new PoolFile(own, header.device, Imported{}));
}

PoolFile::~PoolFile() { close(file_); }

std::uint64_t PoolFile::take(std::uint64_t bytes) {
    std::lock_guard lock(mutex_);
    const auto found =
        std::ranges::find_if(free_, [&](const auto &range) { return range.second >= bytes; });
    if (found != free_.end()) {
        const auto [offset, size] = *found;
        free_.erase(found);
        if (size > bytes)
            free_.emplace(offset + bytes, size - bytes);
        return offset;
    }
    require(bytes <= static_cast<std::uint64_t>(INT64_MAX) - size_ &&
                ftruncate(file_, static_cast<off_t>(size_ + bytes)) == 0,
            CUDA_ERROR_OUT_OF_MEMORY);
    size_ += bytes;
    return size_ - bytes;
}

void PoolFile::give_back(std::uint64_t offset, std::uint64_t bytes) noexcept {
    // The pages' memory is returned to the system, and the pages read as zeros. If the system
    // refuses, the pages must not be reused.
    if (fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                  static_cast<off_t>(bytes)) != 0)
        return;
    std::lock_guard lock(mutex_);
    auto place = free_.emplace(offset, bytes).first;
    if (const auto next = std::next(place);
        next != free_.end() && next->first == place->first + place->second) {
        place->second += next->second;
        free_.erase(next);
    }
    if (place == free_.begin())
        return;
    const auto before = std::prev(place);
    if (before->first + before->second == place->first) {
        before->second += place->second;
        free_.erase(place);
    }
}

bool PoolFile::contains(std::uint64_t offset, std::uint64_t bytes) const noexcept {
    struct stat status{};
    const bool known = fstat(file_, &status) == 0;
    const auto size = static_cast<std::uint64_t>(status.st_size);
    return known && bytes <= size && offset <= size - bytes;
}

} // namespace softcuda::device
