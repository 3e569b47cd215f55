// handle.h -- cuSPARSE's handle, and the form of its exported functions.
//
// Buffers of the device are accepted and not used: their size is 8 bytes.
#pragma once

#include "../common/element.h"
#include "../common/handle.h"
#include "../common/openblas.h"

#include <cstdint>
#include <string>

/// cusparseHandle_t points to it.
struct cusparseContext {
    static constexpr std::uint32_t alive = 0x5c5a25e;

    std::uint32_t state = alive; ///< `alive` until cusparseDestroy()
    softlib::Session session;
    int pointer_mode = 0; ///< CUSPARSE_POINTER_MODE_HOST or _DEVICE
};

namespace softcusparse {

using softlib::Complex;
using softlib::Count;
using softlib::DoubleComplex;
using softlib::ElementType;
using softlib::extent;
using softlib::extent_of_batch;
using softlib::Failure;
using softlib::is_complex;
using softlib::Real;
using softlib::require;
using softlib::statuses;

using Handle = cusparseContext *;

[[noreturn]] inline void not_supported(const std::string &what) {
    throw Failure(statuses.not_supported, what + " is not supported");
}

/// alpha or beta, a number of the compute type: of the host, or on the device.
template <class T> class Scalar {
  public:
    Scalar(const void *address, ElementType type, bool on_device) : type_(type) {
        if (on_device)
            address_ = address;
        else
            value_ = read(address);
    }
    T get() const { return address_ != nullptr ? read(address_) : value_; }

  private:
    T read(const void *address) const {
        T value{};
        softlib::widen(type_, address, reinterpret_cast<Real<T> *>(&value), is_complex<T> ? 2 : 1);
        return value;
    }

    T value_{};
    const void *address_ = nullptr;
    ElementType type_;
};

struct Call : softlib::HandleCall<cusparseContext> {
    using HandleCall::HandleCall;

    bool scalars_on_device() const { return handle.pointer_mode == 1; }
    template <class T> Scalar<T> scalar(const void *address, int type) const {
        require(address != nullptr, "a scalar's address");
        const auto element = static_cast<ElementType>(type);
        if (scalars_on_device())
            bytes(address, static_cast<std::int64_t>(softlib::size_of(element)), "a scalar");
        return {address, element, scalars_on_device()};
    }
    /// Puts a count where `address` says, which the pointer mode places.
    template <class Work> void give_count(int *address, Work &&work) const {
        require(address != nullptr, "the count's address");
        if (scalars_on_device()) {
            check(address, 1, "the count");
            enqueue(1e6, [=] { *address = work(); });
        } else {
            run([=] { *address = work(); });
        }
    }
};

inline void check_operation(int op) { require(op >= 0 && op <= 2, "operation"); }
inline void give_size(std::size_t *size) {
    require(size != nullptr, "the size's address");
    *size = 8;
}
inline void give_size(int *size) {
    require(size != nullptr, "the size's address");
    *size = 8;
}

template <class T> T conjugate(T value) {
    if constexpr (is_complex<T>)
        return std::conj(value);
    else
        return value;
}

/// Calls `action` with a value of the type in which sums are computed.
template <class Action> auto with_compute_type(int type, Action action) {
    switch (static_cast<ElementType>(type)) {
    case ElementType::Float32:
    case ElementType::Float16:
    case ElementType::BFloat16:
        return action(float{});
    case ElementType::Float64:
    case ElementType::Int32:
        return action(double{});
    case ElementType::Complex64:
    case ElementType::Complex32:
    case ElementType::ComplexBFloat16:
        return action(Complex{});
    case ElementType::Complex128:
        return action(DoubleComplex{});
    default:
        not_supported("the compute type");
    }
}

} // namespace softcusparse

/// Defines an exported function. `handle` is one of its parameters; the body sees `call`.
#define CUSPARSE_DEFINE(name, parameters, ...)                                                     \
    SOFTLIB_HANDLE_FUNCTION(softcusparse::Call, name, parameters, __VA_ARGS__)
