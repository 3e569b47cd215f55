// fake_device.h -- the common part of the fake libraries, for softcuda, whose device memory is host
// memory.
#pragma once

#include <cuda.h>

#include <atomic>
#include <complex>

namespace fake {

/// A library's handle: the stream of its calls. A call waits for the stream, then computes.
struct Handle {
    Handle() { ++live; }
    ~Handle() { --live; }
    Handle(const Handle &) = delete;
    Handle &operator=(const Handle &) = delete;

    CUstream stream = nullptr;
    inline static std::atomic<int> live{0}; ///< handles that were created and not destroyed
    int wait() const { return cuStreamSynchronize(stream) == CUDA_SUCCESS ? 0 : 6; }
};

/// Calls `work` with a number of the type in a cudaDataType. Returns 3, for an invalid value, for
/// other types.
template <class Work> int with_type(int type, Work &&work) {
    switch (type) {
    case 0:
        return work(float());
    case 1:
        return work(double());
    case 4:
        return work(std::complex<float>());
    case 5:
        return work(std::complex<double>());
    default:
        return 3;
    }
}

} // namespace fake
