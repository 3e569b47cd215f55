// transfer.cpp -- copies and fills on their way into a stream.
#include "api/transfer.h"

namespace softcuda::api {

CUresult start_copy(const device::Copy &copy, device::Side destination, device::Side source,
                    CUstream, Wait) noexcept {
    return with_context([&](device::Context &) {
        check_copy(device::System::get().memory(), copy, destination, source);
        run_pieces(copy, 0, piece_count(copy));
    });
}

CUresult start_fill(const device::Fill &fill, CUstream, Wait) noexcept {
    return with_context([&](device::Context &) {
        check_fill(device::System::get().memory(), fill);
        run_pieces(fill, 0, piece_count(fill));
    });
}

} // namespace softcuda::api
