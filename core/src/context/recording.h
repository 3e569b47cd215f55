// recording.h -- whether the driver records the work of a stream instead of running it.
#pragma once

#include <cuda.h>

namespace pycuda {

/// Unknown if the driver refuses the answer: the stream is invalid, or a stream that waits for it
/// is being captured.
enum class Recording { No, Yes, Unknown };

[[nodiscard]] Recording recording_of(CUstream stream) noexcept;

} // namespace pycuda
