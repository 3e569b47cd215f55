// error.h -- the exception of a driver call that fails.
#pragma once

#include <cuda.h>
#include <exception>

namespace softcuda::device {

/// Contains the CUresult of the failed call. Caught by api/; clients do not see it.
class Error : public std::exception {
  public:
    explicit Error(CUresult result) noexcept : result_(result) {}
    [[nodiscard]] CUresult result() const noexcept { return result_; }
    [[nodiscard]] const char *what() const noexcept override;

  private:
    CUresult result_;
};

/// Throws Error(result) unless `condition` is true.
inline void require(bool condition, CUresult result) {
    if (!condition)
        throw Error(result);
}

/// Name and text of a result, or null if there is no such result.
const char *result_name(CUresult result) noexcept;
const char *result_text(CUresult result) noexcept;

} // namespace softcuda::device
