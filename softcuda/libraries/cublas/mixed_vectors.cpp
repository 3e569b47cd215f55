// mixed_vectors.cpp -- level 1 with element types as arguments: cublasDotEx, cublasNrm2Ex and so
// on.
//
// Elements are converted to double or complex double, and results are rounded once.
#include "../common/element.h"
#include "handle.h"

#include <cmath>

namespace softcublas {
namespace {

using softlib::ElementType;
using softlib::is_complex_type;
using softlib::size_of;
using Size = std::int64_t;

ElementType type_of(int type) {
    const auto found = static_cast<ElementType>(type);
    if (size_of(found) == 0)
        throw Failure(statuses.not_supported, "the element type " + std::to_string(type));
    return found;
}

/// An element at an address, in any of the element types.
DoubleComplex load(ElementType type, const void *address) {
    double parts[2] = {};
    softlib::widen(type, address, parts, is_complex_type(type) ? 2 : 1);
    return {parts[0], parts[1]};
}
void store(ElementType type, DoubleComplex value, void *address) {
    const double parts[2] = {value.real(), value.imag()};
    softlib::narrow_to(type, parts, address, is_complex_type(type) ? 2 : 1);
}

/// n elements with a stride, which may be negative as in BLAS.
template <class Void> class Elements {
  public:
    Elements(const Call &call, Size n, Void *first, int type, Size stride, const char *what)
        : type_(type_of(type)), first_(first), stride_(stride) {
        call.bytes(first, extent(n, stride) * size_of(type_), what);
        if (stride < 0 && n > 0)
            start_ = (1 - narrow(n)) * stride;
    }
    [[nodiscard]] DoubleComplex get(Size i) const { return load(type_, address(i)); }
    void set(Size i, DoubleComplex value) const { store(type_, value, address(i)); }
    [[nodiscard]] ElementType type() const { return type_; }

  private:
    [[nodiscard]] Void *address(Size i) const {
        using Byte = std::conditional_t<std::is_const_v<Void>, const char, char>;
        return static_cast<Byte *>(first_) +
               (start_ + i * stride_) * static_cast<Size>(size_of(type_));
    }
    ElementType type_;
    Void *first_;
    Size stride_, start_ = 0;
};
using Input = Elements<const void>;
using Output = Elements<void>;

/// A scalar of any type, of the host or, when the call's turn comes, of the device.
class AnyScalar {
  public:
    AnyScalar(const Call &call, const void *address, int type, const char *what)
        : type_(type_of(type)) {
        require(address != nullptr, what);
        if (call.scalars_on_device()) {
            call.bytes(address, size_of(type_), what);
            device_ = address;
        } else {
            value_ = load(type_, address);
        }
    }
    [[nodiscard]] DoubleComplex get() const {
        return device_ != nullptr ? load(type_, device_) : value_;
    }

  private:
    ElementType type_;
    const void *device_ = nullptr;
    DoubleComplex value_;
};

/// Runs `work`, whose result is a number of the type at `address`.
template <class Work>
void give_number(const Call &call, Size n, void *address, int result_type, Work work) {
    const ElementType type = type_of(result_type);
    require(address != nullptr, "result");
    auto write = [=] { store(type, work(), address); };
    if (!call.scalars_on_device())
        return call.run(write);
    call.bytes(address, size_of(type), "result");
    call.enqueue(operations(4, n), write);
}

enum class Conjugate { No, Yes };

void dot(const Call &call, Conjugate conjugate, Size n, const void *x, int type_x, Size incx,
         const void *y, int type_y, Size incy, void *result, int result_type) {
    const Input first(call, n, x, type_x, incx, "x"), second(call, n, y, type_y, incy, "y");
    give_number(call, n, result, result_type, [=] {
        DoubleComplex sum;
        for (Size i = 0; i < n; ++i) {
            const DoubleComplex value = first.get(i);
            sum += (conjugate == Conjugate::Yes ? std::conj(value) : value) * second.get(i);
        }
        return sum;
    });
}

void norm(const Call &call, Size n, const void *x, int type_x, Size incx, void *result,
          int result_type) {
    const Input elements(call, incx > 0 ? n : 0, x, type_x, incx, "x");
    give_number(call, n, result, result_type, [=] {
        double largest = 0, sum = 0;
        for (Size i = 0; incx > 0 && i < n; ++i)
            largest = std::max(largest, std::abs(elements.get(i)));
        for (Size i = 0; incx > 0 && largest > 0 && i < n; ++i)
            sum += std::norm(elements.get(i) / largest);
        return DoubleComplex(largest * std::sqrt(sum));
    });
}

double size_of_element(DoubleComplex value) {
    return std::abs(value.real()) + std::abs(value.imag());
}

void sum_of_sizes(const Call &call, Size n, const void *x, int type_x, Size incx, void *result,
                  int result_type) {
    const Input elements(call, incx > 0 ? n : 0, x, type_x, incx, "x");
    give_number(call, n, result, result_type, [=] {
        double sum = 0;
        for (Size i = 0; incx > 0 && i < n; ++i)
            sum += size_of_element(elements.get(i));
        return DoubleComplex(sum);
    });
}

enum class Extreme { Largest, Smallest };

/// The first place, from 1 on, of the extreme element; 0 for no elements.
template <class I>
void place_of(const Call &call, Extreme extreme, Size n, const void *x, int type_x, Size incx,
              I *result) {
    const Input elements(call, incx > 0 ? n : 0, x, type_x, incx, "x");
    give_result(call, operations(n), result, [=] {
        Size place = 0;
        double best = 0;
        for (Size i = 0; incx > 0 && i < n; ++i) {
            const double size = size_of_element(elements.get(i));
            if (place == 0 || (extreme == Extreme::Largest ? size > best : size < best)) {
                place = i + 1;
                best = size;
            }
        }
        return static_cast<I>(place);
    });
}

void scale(const Call &call, Size n, const void *alpha, int type_alpha, void *x, int type_x,
           Size incx) {
    const AnyScalar factor(call, alpha, type_alpha, "alpha");
    if (n <= 0 || incx <= 0)
        return;
    const Output elements(call, n, x, type_x, incx, "x");
    call.enqueue(operations(4, n), [=] {
        const DoubleComplex by = factor.get();
        for (Size i = 0; i < n; ++i)
            elements.set(i, by * elements.get(i));
    });
}

void axpy(const Call &call, Size n, const void *alpha, int type_alpha, const void *x, int type_x,
          Size incx, void *y, int type_y, Size incy) {
    const AnyScalar factor(call, alpha, type_alpha, "alpha");
    const Input first(call, n, x, type_x, incx, "x");
    const Output second(call, n, y, type_y, incy, "y");
    if (n > 0)
        call.enqueue(operations(4, n), [=] {
            const DoubleComplex by = factor.get();
            for (Size i = 0; i < n; ++i)
                second.set(i, by * first.get(i) + second.get(i));
        });
}

void copy(const Call &call, Size n, const void *x, int type_x, Size incx, void *y, int type_y,
          Size incy) {
    require(type_x == type_y, "equal element types");
    const Input first(call, n, x, type_x, incx, "x");
    const Output second(call, n, y, type_y, incy, "y");
    if (n > 0)
        call.enqueue(operations(4, n), [=] {
            for (Size i = 0; i < n; ++i)
                second.set(i, first.get(i));
        });
}

void swap(const Call &call, Size n, void *x, int type_x, Size incx, void *y, int type_y,
          Size incy) {
    require(type_x == type_y, "equal element types");
    const Output first(call, n, x, type_x, incx, "x"), second(call, n, y, type_y, incy, "y");
    if (n > 0)
        call.enqueue(operations(4, n), [=] {
            for (Size i = 0; i < n; ++i) {
                const DoubleComplex kept = first.get(i);
                first.set(i, second.get(i));
                second.set(i, kept);
            }
        });
}

void rotate(const Call &call, Size n, void *x, int type_x, Size incx, void *y, int type_y,
            Size incy, const void *c, const void *s, int type_cs) {
    const ElementType of_s = type_of(type_cs);
    // The cosine is real.
    const int type_c = of_s == ElementType::Complex64    ? 0
                       : of_s == ElementType::Complex128 ? 1
                                                         : type_cs;
    const AnyScalar cosine(call, c, type_c, "c"), sine(call, s, type_cs, "s");
    const Output first(call, n, x, type_x, incx, "x"), second(call, n, y, type_y, incy, "y");
    if (n > 0)
        call.enqueue(operations(4, n), [=] {
            const double by = cosine.get().real();
            const DoubleComplex with = sine.get();
            for (Size i = 0; i < n; ++i) {
                const DoubleComplex a = first.get(i), b = second.get(i);
                first.set(i, by * a + with * b);
                second.set(i, by * b - std::conj(with) * a);
            }
        });
}

} // namespace
} // namespace softcublas

using softcublas::Conjugate;
using softcublas::Extreme;
using softcublas::Handle;

// The type in which a function computes is an argument; double is at least as exact as each of
// them.
CUBLAS_FORMS(cublasDotEx,
             (Handle handle, I n, const void *x, int type_x, I incx, const void *y, int type_y,
              I incy, void *result, int result_type, int),
             dot(call, Conjugate::No, n, x, type_x, incx, y, type_y, incy, result, result_type))
CUBLAS_FORMS(cublasDotcEx,
             (Handle handle, I n, const void *x, int type_x, I incx, const void *y, int type_y,
              I incy, void *result, int result_type, int),
             dot(call, Conjugate::Yes, n, x, type_x, incx, y, type_y, incy, result, result_type))
CUBLAS_FORMS(cublasNrm2Ex,
             (Handle handle, I n, const void *x, int type_x, I incx, void *result, int result_type,
              int),
             norm(call, n, x, type_x, incx, result, result_type))
CUBLAS_FORMS(cublasAsumEx,
             (Handle handle, I n, const void *x, int type_x, I incx, void *result, int result_type,
              int),
             sum_of_sizes(call, n, x, type_x, incx, result, result_type))
CUBLAS_FORMS(cublasIamaxEx, (Handle handle, I n, const void *x, int type_x, I incx, I *result),
             place_of(call, Extreme::Largest, n, x, type_x, incx, result))
CUBLAS_FORMS(cublasIaminEx, (Handle handle, I n, const void *x, int type_x, I incx, I *result),
             place_of(call, Extreme::Smallest, n, x, type_x, incx, result))
CUBLAS_FORMS(cublasScalEx,
             (Handle handle, I n, const void *alpha, int type_alpha, void *x, int type_x, I incx,
              int),
             scale(call, n, alpha, type_alpha, x, type_x, incx))
CUBLAS_FORMS(cublasAxpyEx,
             (Handle handle, I n, const void *alpha, int type_alpha, const void *x, int type_x,
              I incx, void *y, int type_y, I incy, int),
             axpy(call, n, alpha, type_alpha, x, type_x, incx, y, type_y, incy))
CUBLAS_FORMS(cublasCopyEx,
             (Handle handle, I n, const void *x, int type_x, I incx, void *y, int type_y, I incy),
             copy(call, n, x, type_x, incx, y, type_y, incy))
CUBLAS_FORMS(cublasSwapEx,
             (Handle handle, I n, void *x, int type_x, I incx, void *y, int type_y, I incy),
             swap(call, n, x, type_x, incx, y, type_y, incy))
CUBLAS_FORMS(cublasRotEx,
             (Handle handle, I n, void *x, int type_x, I incx, void *y, int type_y, I incy,
              const void *c, const void *s, int type_cs, int),
             rotate(call, n, x, type_x, incx, y, type_y, incy, c, s, type_cs))
