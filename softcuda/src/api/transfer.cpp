// transfer.cpp -- checks copies and fills, and puts them into a stream.
#include "api/transfer.h"

#include "api/default_stream.h"

namespace softcuda::api {

CUresult start_copy(const device::Copy &copy, device::Side destination, device::Side source,
                    CUstream stream, device::Wait wait) noexcept {
    return outside_host_function(stream, [&](device::Context &context) {
        check_copy(device::System::get().memory(), copy, destination, source);
        enqueue(*find_stream(context, stream), copy, wait);
    });
}

CUresult start_fill(const device::Fill &fill, CUstream stream, device::Wait wait) noexcept {
    return with_context_of(stream, [&](device::Context &context) {
        check_fill(device::System::get().memory(), fill);
        enqueue(*find_stream(context, stream), fill, wait);
    });
}

} // namespace softcuda::api
