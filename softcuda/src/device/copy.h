// copy.h -- copies and fills of memory in one to three dimensions.
#pragma once

#include "device/address_space.h"

#include <cstdint>

namespace softcuda::device {

/// The kind of memory on one side of a copy, which decides how it is checked.
enum class Side {
    Host,   ///< the client's memory: cannot be checked before it is accessed
    Device, ///< must be in one allocation
    Either, ///< device memory if the address is in an allocation, else the client's
};

/// A box of bytes to copy. Rows are `pitch` bytes apart, slices `slice` bytes.
struct Copy {
    struct End {
        std::uint64_t address = 0;
        std::uint64_t pitch = 0;
        std::uint64_t slice = 0;
        /// The address of row `y` of slice `z`.
        [[nodiscard]] std::uint64_t row(std::uint64_t y, std::uint64_t z) const noexcept {
            return address + y * pitch + z * slice;
        }
    };
    End destination;
    End source;
    std::uint64_t width = 0; ///< bytes
    std::uint64_t height = 1;
    std::uint64_t depth = 1;

    [[nodiscard]] bool empty() const noexcept { return width == 0 || height == 0 || depth == 0; }
};

/// A plane of elements of 1, 2 or 4 bytes to set to one value.
struct Fill {
    std::uint64_t address = 0;
    std::uint64_t pitch = 0;
    std::uint32_t value = 0;
    unsigned element_bytes = 1;
    std::uint64_t width = 0; ///< elements
    std::uint64_t height = 1;

    [[nodiscard]] bool empty() const noexcept { return width == 0 || height == 0; }
};

/// Throws Error(invalid value) if a side that must be device memory is not, or is too short.
void check_copy(const AddressSpace &memory, const Copy &copy, Side destination, Side source);
void check_fill(const AddressSpace &memory, const Fill &fill);

/// A copy or fill is divided into pieces of about `kPieceBytes`, which several threads process in
/// any order.
inline constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 20;
[[nodiscard]] std::uint64_t piece_count(const Copy &copy);
[[nodiscard]] std::uint64_t piece_count(const Fill &fill);
void run_pieces(const Copy &copy, std::uint64_t first, std::uint64_t count);
void run_pieces(const Fill &fill, std::uint64_t first, std::uint64_t count);

} // namespace softcuda::device
