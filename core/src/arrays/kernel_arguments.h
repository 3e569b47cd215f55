// kernel_arguments.h -- the argument block of a generated kernel, laid out as C lays out a struct.
#pragma once

#include <cuda.h>

#include <cassert>
#include <cstddef>
#include <cstring>

namespace pycuda {

/// Grows on the stack; the arguments come in the order of the kernel's parameters.
class KernelArguments {
  public:
    void add(const void *value, std::size_t size, std::size_t alignment) noexcept {
        size_ = (size_ + alignment - 1) & ~(alignment - 1);
        assert(size_ + size <= sizeof bytes_);
        std::memcpy(bytes_ + size_, value, size);
        size_ += size;
    }
    template <class T> void add(const T &value) noexcept { add(&value, sizeof value, alignof(T)); }

    /// Room for `size` bytes to be filled in place.
    std::byte *reserve(std::size_t size, std::size_t alignment) noexcept {
        size_ = (size_ + alignment - 1) & ~(alignment - 1);
        assert(size_ + size <= sizeof bytes_);
        std::byte *place = bytes_ + size_;
        size_ += size;
        return place;
    }

    void *data() noexcept { return bytes_; }
    std::size_t size() const noexcept { return size_; }

  private:
    std::size_t size_ = 0;
    alignas(16) std::byte bytes_[4096];
};

} // namespace pycuda
