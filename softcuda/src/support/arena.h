// arena.h -- memory for many small arrays that are freed together.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace softcuda {

/// Allocates arrays of trivially destructible elements, and frees all of them in its destructor.
/// Moving an arena does not move its arrays.
class Arena {
  public:
    /// Returns a copy of `elements` that is valid as long as the arena.
    template <typename T> std::span<T> copy(std::span<const T> elements) {
        static_assert(std::is_trivially_destructible_v<T> && std::is_trivially_copyable_v<T>);
        if (elements.empty())
            return {};
        T *place = static_cast<T *>(allocate(elements.size_bytes(), alignof(T)));
        std::uninitialized_copy(elements.begin(), elements.end(), place);
        return {place, elements.size()};
    }

    /// Returns a copy of `text` that is valid as long as the arena.
    std::string_view copy(std::string_view text) {
        std::span<char> place = copy(std::span<const char>(text));
        return {place.data(), place.size()};
    }

  private:
    void *allocate(std::size_t bytes, std::size_t alignment);

    static constexpr std::size_t chunk_size = std::size_t{1} << 16;
    std::vector<std::unique_ptr<std::byte[]>> chunks_;
    std::byte *next_ = nullptr;
    std::size_t left_ = 0;
};

} // namespace softcuda
