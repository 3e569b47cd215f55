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

/// Returns the addresses of arrays for work that is queued in one stream in the scope of this
/// object. Their memory is not returned to its pool before this work is done, even if the arrays
/// are destroyed earlier. Only a StreamUse returns an array's address, so work on arrays cannot be
/// launched without it.
///
/// Costs nothing if the memory was allocated for this stream. For one thread.
class [[nodiscard]] StreamUse {
  public:
    explicit StreamUse(StreamRef stream = current_stream()) noexcept
        : stream_(stream.is_default() ? StreamRef() : stream) {}
    StreamUse(StreamUse &&) noexcept = default;
    StreamUse &operator=(StreamUse &&) = delete;
    /// Records the end of the work if memory of another stream was used.
    ~StreamUse() {
        if (!away_.empty()) [[unlikely]]
            record();
    }

    StreamRef stream() const noexcept { return stream_; }

    /// The address of the array's first element; 0 for an array without elements. Throws Error
    /// (invalid handle) if the memory was freed.
    CUdeviceptr address(const Array &array) {
        note(array.memory());
        return array.unrecorded_address();
    }
    /// The address of the start of the memory.
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
    std::vector<std::shared_ptr<ArrayMemory>> away_; ///< memory whose home is another stream
};

} // namespace pycuda
