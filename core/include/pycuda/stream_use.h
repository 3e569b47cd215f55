// stream_use.h -- work in a stream that uses the memory of arrays.
//
//     StreamUse use(stream);
//     launch(kernel, {grid, block, 0, use.stream()}, use.address(x), use.address(y), n);
#pragma once

#include <pycuda/array.h>
#include <pycuda/array_memory.h>
#include <pycuda/stream.h>

#include <cuda.h>

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

namespace pycuda {

/// Gives the addresses of arrays to work that is put into one stream while this lives. Their memory
/// is kept from its pool until that work is done, even if the arrays are gone sooner. Only a
/// StreamUse returns an array's address, so work on arrays cannot be launched without it.
///
/// Costs nothing if the memory was allocated for this stream. For one thread.
class [[nodiscard]] StreamUse {
  public:
    explicit StreamUse(StreamRef stream = current_stream()) noexcept
        : stream_(stream.is_default() ? StreamRef() : stream) {}
    StreamUse(StreamUse &&) noexcept = default;
    StreamUse &operator=(StreamUse &&) = delete;
    /// Records the end of the work, where the memory of another stream was used.
    ~StreamUse() {
        if (!away_.empty()) [[unlikely]]
            record();
    }

    StreamRef stream() const noexcept { return stream_; }

    /// Of the array's first element; 0 where it has none. Throws Error (invalid handle) where the
    /// memory has been freed.
    CUdeviceptr address(const Array &array) {
        note(array.memory());
        return array.unrecorded_address();
    }
    /// Of the start of the memory.
    CUdeviceptr address(const std::shared_ptr<ArrayMemory> &memory) {
        note(memory);
        return memory->get();
    }

  private:
    void note(const std::shared_ptr<ArrayMemory> &memory) {
        if (memory == nullptr)
            return;
        if (memory->is_at_home(stream_.get())) [[likely]]
            memory->is_fresh_.store(false, std::memory_order_relaxed);
        else
            note_away(memory);
    }
    void note_away(const std::shared_ptr<ArrayMemory> &memory);
    void record() noexcept;

    StreamRef stream_;
    std::vector<std::shared_ptr<ArrayMemory>> away_; ///< whose home is another stream
};

} // namespace pycuda
