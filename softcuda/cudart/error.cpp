// error.cpp -- the calling thread's last error, and the names of errors.
#include "error.h"
#include "call.h"

#include <algorithm>
#include <iterator>

namespace softcudart {
namespace {

thread_local cudaError_t last_error = cudaSuccess;

struct Row {
    int code;
    const char *name;
    const char *text; ///< null: the text of the driver
};

constexpr Row kRows[] = {
#define CUDART_ERROR(name, code, text) {code, #name, text},
#include "errors.def"
};

const Row *find(cudaError_t error) noexcept {
    const Row *row =
        std::ranges::find(kRows, static_cast<int>(error), [](const Row &row) { return row.code; });
    return row == std::end(kRows) ? nullptr : row;
}

/// Errors that make the context unusable; reading them does not reset them.
bool is_sticky(cudaError_t error) noexcept {
    switch (error) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
        return true;
    default:
        return false;
    }
}

constexpr const char *kUnknown = "unrecognized error code";

} // namespace

cudaError_t remember(cudaError_t error) noexcept {
    if (error != cudaSuccess)
        last_error = error;
    return error;
}

void forget_error() noexcept { last_error = cudaSuccess; }

int refuse() noexcept { return remember(cudaErrorNotSupported); }

} // namespace softcudart

using namespace softcudart;

cudaError_t cudaGetLastError() {
    const cudaError_t error = last_error;
    if (!is_sticky(error))
        last_error = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError() { return last_error; }

const char *cudaGetErrorName(cudaError_t error) {
    const Row *row = find(error);
    return row ? row->name : kUnknown;
}

const char *cudaGetErrorString(cudaError_t error) {
    const Row *row = find(error);
    if (!row)
        return kUnknown;
    const char *text = row->text;
    if (!text && cuGetErrorString(static_cast<CUresult>(error), &text) != CUDA_SUCCESS)
        return kUnknown;
    return text;
}
