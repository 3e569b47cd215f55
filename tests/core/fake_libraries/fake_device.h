// fake_device.h -- what the fake libraries need of a device whose memory is the host's: softcuda.
#pragma once

#include <cuda.h>

#include <complex>

namespace fake {

/// A handle of a library: the stream of its calls. Calls wait for the stream, then compute.
struct Handle {
    CUstream stream = nullptr;
    int wait() const { return cuStreamSynchronize(stream) == CUDA_SUCCESS ? 0 : 6; }
};

/// Calls `work` with a number of the type that a cudaDataType names. 3, an invalid value, for
/// another type.
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
