// handle.h -- cuBLAS's handle, the scalars of its calls, and the form of its exported functions.
#pragma once

#include "../common/emulation.h"
#include "../common/handle.h"
#include "../common/openblas.h"

#include <cstdint>

/// cublasHandle_t points to it.
struct cublasContext {
    static constexpr std::uint32_t alive = 0x5c0b1a5;

    static constexpr bool needs_openblas = true;

    std::uint32_t state = alive; ///< `alive` until cublasDestroy()
    softlib::Session session;
    int pointer_mode = 0; ///< 0: scalars are in the host's memory, 1: in the device's
    int atomics_mode = 0;
    int math_mode = 0;
    int multiprocessors = 0;
    softlib::Emulation emulation;
};

namespace softcublas {

using softlib::check_batched;
using softlib::checked;
using softlib::Complex;
using softlib::Count;
using softlib::DoubleComplex;
using softlib::extent;
using softlib::extent_of_batch;
using softlib::Failure;
using softlib::is_complex;
using softlib::narrow;
using softlib::operations;
using softlib::Real;
using softlib::require;
using softlib::Session;
using softlib::statuses;

using Handle = cublasContext *;

struct Call : softlib::HandleCall<cublasContext> {
    using HandleCall::HandleCall;

    [[nodiscard]] bool scalars_on_device() const { return handle.pointer_mode == 1; }
};

/// A scalar argument: read at the call from the host's memory, or, when the call's turn in the
/// stream comes, from the device's.
template <class T> class Scalar {
  public:
    Scalar(const Call &call, const T *address, const char *what) {
        require(address != nullptr, what);
        if (call.scalars_on_device()) {
            call.check(address, 1, what);
            device_ = address;
        } else {
            value_ = *address;
        }
    }
    [[nodiscard]] T get() const { return device_ != nullptr ? *device_ : value_; }

  private:
    const T *device_ = nullptr;
    T value_{};
};

/// Runs `work`, which writes a result to `address`: in stream order, and until its end if the
/// result is in the host's memory.
template <class Result, class Work>
void give_result(const Call &call, double operations, Result *address, Work work) {
    require(address != nullptr, "result");
    auto write = [=] { *address = work(); };
    if (!call.scalars_on_device())
        return call.handle.session.run(call.function, write);
    call.check(address, 1, "result");
    call.enqueue(operations, write);
}

/// OpenBLAS's constants for those of cuBLAS. For real elements, conjugation is no operation.
template <class T> int operation(int op) {
    require(op >= 0 && op <= 2, "operation");
    if (op == 0)
        return softlib::no_transpose;
    return op == 2 && is_complex<T> ? softlib::conjugate_transpose : softlib::transpose;
}
inline int fill(int mode) {
    require(mode == 0 || mode == 1, "fill mode");
    return mode == 0 ? softlib::lower : softlib::upper;
}
inline int diagonal(int type) {
    require(type == 0 || type == 1, "diagonal type");
    return type == 0 ? softlib::non_unit : softlib::unit;
}
inline int side_of(int mode) {
    require(mode == 0 || mode == 1, "side");
    return mode == 0 ? softlib::left : softlib::right;
}

} // namespace softcublas

/// Defines an exported function. `handle` is one of its parameters; the body sees `call`.
#define CUBLAS_DEFINE(name, parameters, ...)                                                       \
    SOFTLIB_HANDLE_FUNCTION(softcublas::Call, name, parameters, __VA_ARGS__)

/// The same with two forms: sizes of type I are int, and int64_t in the function with the suffix
/// _64.
#define CUBLAS_FORMS(name, parameters, ...)                                                        \
    namespace softcublas::of_32 {                                                                  \
    using I = int;                                                                                 \
    CUBLAS_DEFINE(name, parameters, __VA_ARGS__)                                                   \
    }                                                                                              \
    namespace softcublas::of_64 {                                                                  \
    using I = std::int64_t;                                                                        \
    CUBLAS_DEFINE(name##_64, parameters, __VA_ARGS__)                                              \
    }
