// factor_info.h -- what the older functions know of a factorisation, and the functions that make
// and ask it.
#pragma once

#include "matrix.h"

namespace softcusparse {

struct FactorState {
    /// The first row whose pivot is zero or missing; set when the stream runs.
    int zero_pivot = -1;
    bool boosted = false;
    double tolerance = 0;
    DoubleComplex boost;
};

} // namespace softcusparse

/// csrilu02Info_t, csric02Info_t, bsrsv2Info_t and bsrsm2Info_t. Work in a stream holds the state:
/// the client may destroy the info before the work begins.
struct softcusparse_factor_info {
    std::shared_ptr<softcusparse::FactorState> state =
        std::make_shared<softcusparse::FactorState>();
};

namespace softcusparse {

using Info = softcusparse_factor_info *;

/// The status of a factorisation: waits for it.
inline int zero_pivot(const Call &call, Info info, int *position) {
    require(info != nullptr && position != nullptr, "info and position");
    call.handle.session.synchronize();
    *position = info->state->zero_pivot;
    return info->state->zero_pivot >= 0 ? 9 : statuses.success; // CUSPARSE_STATUS_ZERO_PIVOT
}

} // namespace softcusparse

#define SOFTCUSPARSE_INFO(Name, name)                                                              \
    SOFTLIB_FUNCTION(cusparseCreate##Name##Info, (softcusparse::Info * info), {                    \
        softlib::require(info != nullptr, "the info's address");                                   \
        *info = std::make_unique<softcusparse_factor_info>().release();                            \
    })                                                                                             \
    SOFTLIB_FUNCTION(cusparseDestroy##Name##Info, (softcusparse::Info info), {                     \
        softlib::require(info != nullptr, "info");                                                 \
        delete info;                                                                               \
    })                                                                                             \
    SOFTLIB_EXPORT int cusparseX##name##_zeroPivot(softcusparse::Handle handle,                    \
                                                   softcusparse::Info info, int *position) {       \
        int status = softlib::statuses.success;                                                    \
        const int outcome = softlib::guarded("cusparseX" #name "_zeroPivot", [&] {                 \
            status = softcusparse::zero_pivot(                                                     \
                softcusparse::Call(handle, "cusparseX" #name "_zeroPivot"), info, position);       \
        });                                                                                        \
        return outcome != softlib::statuses.success ? outcome : status;                            \
    }
