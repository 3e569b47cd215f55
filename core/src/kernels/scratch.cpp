// scratch.cpp -- allocates memory in the order of a stream, or waits if that is not possible.
#include "kernels/scratch.h"

#include <pycuda/driver.h>

namespace pycuda {

Scratch::Scratch(std::size_t bytes, StreamRef stream) : stream_(stream) {
    if (bytes == 0)
        return;
    if (driver().cuMemAllocAsync.available() && driver().cuMemFreeAsync.available()) {
        const CUresult result = driver().cuMemAllocAsync.status(&address_, bytes, stream.get());
        if (result != CUDA_ERROR_NOT_SUPPORTED) {
            check(result, driver().cuMemAllocAsync.name());
            return;
        }
    }
    address_ = plain_.emplace(bytes).get();
}

Scratch::~Scratch() {
    const Driver *loaded = driver_for_cleanup();
    if (loaded == nullptr || address_ == 0)
        return;
    // A failure of earlier work in the stream is reported to the code that waits for the stream.
    if (plain_)
        (void)loaded->cuStreamSynchronize.status(stream_.get());
    else
        (void)loaded->cuMemFreeAsync.status(address_, stream_.get());
}

} // namespace pycuda
