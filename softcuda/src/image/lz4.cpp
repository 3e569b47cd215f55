// lz4.cpp -- LZ4's block format.
//
//     token  | extra literal length | literals | offset (2 bytes) | extra match length | token ...
//
// A token's upper half is the number of literals, its lower half the match's length less 4; 15
// means that bytes follow to be added, up to one that is not 255. A block ends with literals. The
// format is this small, so there is no need of a library that users would have to install.
#include "image/lz4.h"

#include <cstdint>
#include <cstring>

namespace softcuda::image {
namespace {

class Unpacker {
  public:
    Unpacker(std::span<const std::byte> from, std::span<std::byte> to) noexcept
        : from_(from), to_(to) {}

    bool run() noexcept {
        while (read_ < from_.size()) {
            const auto token = std::to_integer<std::size_t>(from_[read_++]);
            if (!copy_literals(token >> 4))
                return false;
            if (read_ == from_.size())
                return written_ == to_.size();
            if (!copy_match(token & 15))
                return false;
        }
        return false; // there is no block without a token
    }

  private:
    /// Adds the bytes that follow a length of 15.
    bool extend(std::size_t &length) noexcept {
        if (length != 15)
            return true;
        for (;;) {
            if (read_ == from_.size() || length > to_.size())
                return false;
            const auto more = std::to_integer<std::size_t>(from_[read_++]);
            length += more;
            if (more != 255)
                return true;
        }
    }

    bool copy_literals(std::size_t length) noexcept {
        if (!extend(length) || length > from_.size() - read_ || length > to_.size() - written_)
            return false;
        if (length != 0)
            std::memcpy(&to_[written_], &from_[read_], length);
        read_ += length;
        written_ += length;
        return true;
    }

    bool copy_match(std::size_t length) noexcept {
        if (from_.size() - read_ < 2)
            return false;
        const std::size_t offset = std::to_integer<std::size_t>(from_[read_]) |
                                   std::to_integer<std::size_t>(from_[read_ + 1]) << 8;
        read_ += 2;
        if (!extend(length))
            return false;
        length += 4;
        if (offset == 0 || offset > written_ || length > to_.size() - written_)
            return false;
        for (std::size_t i = 0; i < length; i++, written_++) // the match may overlap its copy
            to_[written_] = to_[written_ - offset];
        return true;
    }

    std::span<const std::byte> from_;
    std::span<std::byte> to_;
    std::size_t read_ = 0, written_ = 0;
};

} // namespace

bool unpack_lz4(std::span<const std::byte> from, std::span<std::byte> to) noexcept {
    return Unpacker(from, to).run();
}

} // namespace softcuda::image
