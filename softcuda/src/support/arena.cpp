// arena.cpp -- memory for many small arrays that are freed together.
#include "support/arena.h"

namespace softcuda {

void *Arena::allocate(std::size_t bytes, std::size_t alignment) {
    void *place = next_;
    if (next_ == nullptr || std::align(alignment, bytes, place, left_) == nullptr) {
        std::size_t size = bytes + alignment > chunk_size ? bytes + alignment : chunk_size;
        chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(size));
        place = chunks_.back().get();
        left_ = size;
        std::align(alignment, bytes, place, left_);
    }
    next_ = static_cast<std::byte *>(place) + bytes;
    left_ -= bytes;
    return place;
}

} // namespace softcuda
