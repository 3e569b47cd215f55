// error.h -- how a driver call that fails leaves the device layer.
#pragma once

#include <cuda.h>
#include <exception>

namespace softcuda::device {

/// Carries the CUresult of the call that fails. Caught by api/, never seen by a client.
class Error : public std::exception {
  public:
    explicit Error(CUresult result) noexcept : result_(result) {}
    [[nodiscard]] CUresult result() const noexcept { return result_; }
    [[nodiscard]] const char *what() const noexcept override;

  private:
    CUresult result_;
};

/// Throws Error(result) unless `condition` holds.
inline void require(bool condition, CUresult result) {
    if (!condition)
        throw Error(result);
}

/// Name and text of a result, or null when there is no such result.
const char *result_name(CUresult result) noexcept;
const char *result_text(CUresult result) noexcept;

} // namespace softcuda::device
