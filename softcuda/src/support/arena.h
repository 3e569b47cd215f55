// arena.h -- memory for many small arrays that live and die together.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace softcuda {

/// Hands out arrays of trivially destructible elements; frees all of them when it dies.
/// Moving an arena leaves what it handed out in place.
class Arena {
  public:
    /// A copy of `elements` that lives as long as the arena.
    template <typename T> std::span<T> copy(std::span<const T> elements) {
        static_assert(std::is_trivially_destructible_v<T> && std::is_trivially_copyable_v<T>);
        if (elements.empty())
            return {};
        T *place = static_cast<T *>(allocate(elements.size_bytes(), alignof(T)));
        std::uninitialized_copy(elements.begin(), elements.end(), place);
        return {place, elements.size()};
    }

    /// A copy of `text` that lives as long as the arena.
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
