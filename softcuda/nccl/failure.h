// failure.h -- an error: NCCL's result code and a message.
#pragma once

#include "nccl_api.h"

#include <stdexcept>
#include <string>

namespace softnccl {

class Failure : public std::runtime_error {
  public:
    Failure(ncclResult_t result, const std::string &what)
        : std::runtime_error(what), result_(result) {}
    [[nodiscard]] ncclResult_t result() const noexcept { return result_; }

  private:
    ncclResult_t result_;
};

/// Throws Failure (unhandled CUDA error) for a failed call of the driver.
inline void check_driver(CUresult result, const char *function) {
    if (result == CUDA_SUCCESS)
        return;
    const char *name = nullptr;
    cuGetErrorName(result, &name);
    throw Failure(ncclUnhandledCudaError,
                  std::string(function) + " failed: " + (name ? name : "unknown error"));
}

} // namespace softnccl
