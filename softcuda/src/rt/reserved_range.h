// reserved_range.h -- a reserved range of addresses; its pages are made accessible on demand.
#pragma once

#include <cstddef>
#include <cstdint>

namespace softcuda::rt {

/// Owns a range of the process's address space. All of it is inaccessible at first: an access
/// outside the opened pages faults and cannot access other memory. The reservation itself uses no
/// memory. Not synchronised.
class ReservedRange {
  public:
    /// `bytes` is a multiple of the page size. Throws std::bad_alloc if the system call fails.
    explicit ReservedRange(std::uint64_t bytes);
    ReservedRange(const ReservedRange &) = delete;
    ReservedRange &operator=(const ReservedRange &) = delete;
    ~ReservedRange();

    [[nodiscard]] std::byte *begin() const noexcept { return begin_; }
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
    [[nodiscard]] bool contains(std::uint64_t address) const noexcept {
        return address - reinterpret_cast<std::uint64_t>(begin_) < size_;
    }

    /// Makes whole pages readable and writable; new pages are zero. False if the system call fails.
    [[nodiscard]] bool open(std::byte *first, std::uint64_t bytes) noexcept;

    /// Maps pages of a file, shared, over whole pages. They are inaccessible until protect(). False
    /// if the system call fails.
    [[nodiscard]] bool back(std::byte *first, std::uint64_t bytes, int file,
                            std::uint64_t offset) noexcept;

    /// Sets the access rights of whole pages. False if the system call fails.
    enum class Access { None, Read, ReadWrite };
    [[nodiscard]] bool protect(std::byte *first, std::uint64_t bytes, Access access) noexcept;

    /// Makes whole pages inaccessible and frees their memory. False if the system call fails.
    bool close(std::byte *first, std::uint64_t bytes) noexcept;

  private:
    std::byte *begin_;
    std::uint64_t size_;
};

/// The size of a page of memory, in bytes.
std::uint64_t page_size() noexcept;

/// The smallest multiple of `step`, a power of two, that is not below `value`.
constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t step) noexcept {
    return (value + step - 1) & ~(step - 1);
}

} // namespace softcuda::rt
