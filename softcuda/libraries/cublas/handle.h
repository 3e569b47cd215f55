// handle.h -- cuBLAS's handle, the scalars of its calls, and the form of its exported functions.
#pragma once

#include "../common/call.h"
#include "../common/openblas.h"
#include "../common/session.h"

#include <cstdint>

/// cublasHandle_t points to it.
struct cublasContext {
    static constexpr std::uint32_t alive = 0x5c0b1a5;

    std::uint32_t state = alive; ///< `alive` until cublasDestroy()
    softlib::Session session;
    int pointer_mode = 0; ///< 0: scalars are in the host's memory, 1: in the device's
    int atomics_mode = 0;
    int math_mode = 0;
    int multiprocessors = 0;
};

namespace softcublas {

using softlib::Complex;
using softlib::DoubleComplex;
using softlib::Failure;
using softlib::is_complex;
using softlib::Real;
using softlib::require;
using softlib::Session;
using softlib::statuses;

using Handle = cublasContext *;

/// Throws Failure(not initialised) for a null or destroyed handle.
inline cublasContext &checked(Handle handle) {
    if (handle == nullptr || handle->state != cublasContext::alive)
        throw Failure(statuses.not_initialized, "");
    return *handle;
}

/// The name of the running function for messages, and its handle.
struct Call {
    cublasContext &handle;
    const char *function;

    Call(Handle handle, const char *function) : handle(checked(handle)), function(function) {}

    /// Puts `work` into the handle's stream. `operations` is the number of multiplications, about.
    template <class Work> void enqueue(double operations, Work &&work) const {
        handle.session.enqueue(function, std::forward<Work>(work), operations);
    }
    [[nodiscard]] bool scalars_on_device() const { return handle.pointer_mode == 1; }

    /// Throws Failure unless the device can use `count` elements from `address`.
    template <class T> void check(const T *address, std::int64_t count, const char *what) const {
        if (count > 0)
            handle.session.check_memory(address, static_cast<std::size_t>(count) * sizeof(T), what);
    }
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

/// The product of sizes, for Call::enqueue().
template <class... Sizes> double operations(Sizes... sizes) {
    return (static_cast<double>(sizes) * ...);
}

/// The number of elements from the first to the last of a matrix or a vector.
inline std::int64_t extent(std::int64_t rows, std::int64_t columns, std::int64_t leading) {
    return rows > 0 && columns > 0 ? (columns - 1) * leading + rows : 0;
}
inline std::int64_t extent(std::int64_t n, std::int64_t stride) {
    return n > 0 ? 1 + (n - 1) * (stride < 0 ? -stride : stride) : 0;
}

/// Throws Failure unless an address of a batch, read while the stream runs, has this many elements.
template <class T> void check_batched(const T *data, std::int64_t count, const char *what) {
    if (count > 0 && !softlib::is_readable(data, static_cast<std::size_t>(count) * sizeof(T)))
        throw Failure(statuses.execution_failed,
                      std::string(what) + " of a batch is no memory of a device");
}

/// The number for OpenBLAS, whose integers have 32 bits. Throws Failure(not supported).
inline int narrow(std::int64_t value) {
    if (value != static_cast<int>(value))
        throw Failure(statuses.not_supported, "more than 2^31 - 1 elements in one dimension");
    return static_cast<int>(value);
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
    SOFTLIB_EXPORT int name parameters {                                                           \
        return softlib::guarded(#name, [&] {                                                       \
            const softcublas::Call call(handle, #name);                                            \
            __VA_ARGS__;                                                                           \
        });                                                                                        \
    }

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
