// matmul.cpp -- computes the product by cuBLAS's function, then what follows it element by element.
#include "matmul.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

namespace softcublaslt {
namespace {

using softcublas::Complex;
using softcublas::DoubleComplex;
using softcublas::is_complex;
using softcublas::Real;
using softlib::Failure;
using softlib::require;
using softlib::statuses;

[[noreturn]] void not_supported(const std::string &what) {
    throw Failure(statuses.not_supported, what + " is not supported");
}

/// GELU in the form with tanh, which cublasLt has.
template <class T> T gelu(T x) {
    const T inner = static_cast<T>(std::sqrt(2 / std::numbers::pi)) *
                    (x + static_cast<T>(0.044715) * x * x * x);
    return static_cast<T>(0.5) * x * (1 + std::tanh(inner));
}

template <class T> T gelu_gradient(T x) {
    const T factor = static_cast<T>(std::sqrt(2 / std::numbers::pi));
    const T cubic = static_cast<T>(0.044715);
    const T t = std::tanh(factor * (x + cubic * x * x * x));
    return static_cast<T>(0.5) * (1 + t) +
           static_cast<T>(0.5) * x * (1 - t * t) * factor * (1 + 3 * cubic * x * x);
}

/// One element of any type.
template <class T> T load(ElementType type, const void *data, std::int64_t i) {
    T value{};
    softlib::widen(type, static_cast<const char *>(data) + i * std::int64_t(softlib::size_of(type)),
                   reinterpret_cast<Real<T> *>(&value),
                   is_complex<T> && softlib::is_complex_type(type) ? 2 : 1);
    return value;
}
template <class T> void save(ElementType type, T value, void *data, std::int64_t i) {
    softlib::narrow_to(type, reinterpret_cast<const Real<T> *>(&value),
                       static_cast<char *>(data) + i * std::int64_t(softlib::size_of(type)),
                       is_complex<T> ? 2 : 1);
}

float factor(const float *address) { return address != nullptr ? *address : 1.0F; }

template <class T>
void compute(const Matmul &call, const void *alpha, const void *a, const void *b, const void *beta,
             const void *c, void *d) {
    const MatmulDescription &how = call.description;
    softcublas::Shape shape = call.shape();
    softcublas::Types types = call.types();
    const ElementType scale = types.scale;
    const ElementType of_c = call.layout_c.element(), of_d = call.layout_d.element();
    const std::int64_t m = shape.m, n = shape.n;
    const bool has_bias = (how.epilogue & Bias) != 0, gradient = (how.epilogue & BiasGradient) != 0;
    const ElementType of_bias = how.bias_element(of_d), of_auxiliary = how.auxiliary_element(of_d);

    // The product alone, in the type of its sums.
    std::vector<T> sums(static_cast<std::size_t>(m * n));
    shape.ldc = std::max<std::int64_t>(m, 1);
    types.c = types.compute;
    types.scale = types.compute;
    const T one{1}, zero{};
    softcublas::multiply(shape, types, &one, a, b, &zero, sums.data());

    const T scaled(factor(how.scale_a) * factor(how.scale_b));
    const T scale_of_c(factor(how.scale_c)), scale_of_d(factor(how.scale_d));
    const bool alphas = how.pointer_mode >= 2; // a vector with one for each row
    const bool betas = how.pointer_mode == 2;
    const T fixed_alpha = alphas ? T{} : load<T>(scale, alpha, 0);
    const T fixed_beta = betas || how.pointer_mode == 3 ? T{} : load<T>(scale, beta, 0);
    std::vector<T> sums_of_rows(gradient ? static_cast<std::size_t>(m) : 0);
    Real<T> largest{};
    for (std::int64_t column = 0; column < n; ++column)
        for (std::int64_t row = 0; row < m; ++row) {
            T value = sums[row + column * m] * scaled *
                      (alphas ? load<T>(scale, alpha, row) : fixed_alpha);
            const T keep = betas ? load<T>(scale, beta, row) : fixed_beta;
            if (keep != T{} && c == nullptr)
                throw Failure(statuses.execution_failed, "C is null, but beta is not 0");
            if (keep != T{})
                value += keep * scale_of_c * load<T>(of_c, c, call.layout_c.place(row, column));
            if (has_bias)
                value += load<T>(of_bias, how.bias, row);
            if constexpr (!is_complex<T>) {
                const std::int64_t place = row + column * how.auxiliary_leading;
                auto *const bits = static_cast<std::uint8_t *>(how.auxiliary);
                const auto bit = static_cast<std::uint8_t>(1U << (place % 8));
                if ((how.epilogue & Relu) != 0) {
                    if ((how.epilogue & Auxiliary) != 0)
                        bits[place / 8] = static_cast<std::uint8_t>(
                            value > 0 ? bits[place / 8] | bit : bits[place / 8] & ~bit);
                    value = value > 0 ? value : value != value ? value : T{};
                } else if ((how.epilogue & ReluGradient) != 0) {
                    value = (bits[place / 8] & bit) != 0 ? value : T{};
                } else if ((how.epilogue & Gelu) != 0) {
                    if ((how.epilogue & Auxiliary) != 0)
                        save(of_auxiliary, value, how.auxiliary, place);
                    value = gelu(value);
                } else if ((how.epilogue & GeluGradient) != 0) {
                    value *= gelu_gradient(load<T>(of_auxiliary, how.auxiliary, place));
                }
            }
            if (gradient)
                sums_of_rows[row] += value;
            if (how.largest_d != nullptr)
                largest = std::max<Real<T>>(largest, std::abs(value));
            save(of_d, value * scale_of_d, d, call.layout_d.place(row, column));
        }
    for (std::size_t row = 0; row < sums_of_rows.size(); ++row)
        save(of_bias, sums_of_rows[row], const_cast<void *>(how.bias),
             static_cast<std::int64_t>(row));
    if (how.largest_d != nullptr)
        *how.largest_d = static_cast<float>(largest);
}

/// A matrix by rows is the transposed matrix by columns.
int effective(int op, const Layout &layout) {
    if (layout.order == column_order)
        return op;
    if (op == 2 && softlib::is_complex_type(layout.element()))
        not_supported("a conjugated matrix in the order of rows");
    return op == 0 ? 1 : 0;
}

} // namespace

softcublas::Types Matmul::types() const {
    softcublas::Types types =
        softcublas::Types::of(layout_a.type, layout_b.type, layout_d.type, description.compute);
    // The scale's type is the description's, which cublasLt allows to differ.
    types.scale = static_cast<ElementType>(description.scale);
    if (types.compute == ElementType::Float64 && types.a == ElementType::Int8)
        return types;
    if (softlib::size_of(types.scale) == 0)
        not_supported("the scale's type");
    return types;
}

softcublas::Shape Matmul::shape() const {
    const bool plain_a = description.op_a == 0;
    const auto inner = static_cast<std::int64_t>(plain_a ? layout_a.columns : layout_a.rows);
    return {effective(description.op_a, layout_a),
            effective(description.op_b, layout_b),
            static_cast<std::int64_t>(layout_d.rows),
            static_cast<std::int64_t>(layout_d.columns),
            inner,
            layout_a.leading,
            layout_b.leading,
            std::max<std::int64_t>(static_cast<std::int64_t>(layout_d.rows), 1)};
}

void Matmul::check() const {
    const MatmulDescription &how = description;
    for (const Layout *layout : {&layout_a, &layout_b, &layout_c, &layout_d}) {
        layout->check();
        require(layout->batch == layout_d.batch || layout->batch == 1, "the numbers of matrices");
    }
    require(how.op_a >= 0 && how.op_a <= 2 && how.op_b >= 0 && how.op_b <= 2, "transa, transb");
    if (how.op_c != 0 || how.fill != 2)
        not_supported("a transposed C, or a part of D");
    if ((how.epilogue & (BiasGradientA | BiasGradientB)) != 0)
        not_supported("the epilogue BGRADA or BGRADB");
    if (std::ranges::any_of(how.scale_modes, [](int mode) { return mode != 0; }))
        not_supported("a scale for each block of a matrix");
    require(how.pointer_mode >= 0 && how.pointer_mode <= 4, "pointer mode");
    const bool complex = softlib::is_complex_type(layout_d.element());
    for (const ElementType type : {layout_c.element(), how.bias_element(layout_d.element()),
                                   how.auxiliary_element(layout_d.element())})
        if (softlib::size_of(type) == 0 || softlib::is_complex_type(type) != complex)
            not_supported("a C, a bias or an auxiliary matrix of this element type");
    if (complex && how.epilogue != Plain && how.epilogue != Bias)
        not_supported("this epilogue of complex matrices");
    require((how.epilogue & (Bias | BiasGradient)) == 0 || how.bias != nullptr, "the bias");
    require((how.epilogue & (ReluGradient | GeluGradient)) == 0 || (how.epilogue & Auxiliary) != 0,
            "a gradient's auxiliary matrix");
    require((how.epilogue & (Auxiliary)) == 0 ||
                (how.auxiliary != nullptr &&
                 how.auxiliary_leading >= static_cast<std::int64_t>(layout_d.rows)),
            "the epilogue's auxiliary matrix");
    const auto rows = [](const Layout &layout, int op) {
        return op == 0 ? layout.rows : layout.columns;
    };
    const auto columns = [](const Layout &layout, int op) {
        return op == 0 ? layout.columns : layout.rows;
    };
    require(rows(layout_a, how.op_a) == layout_d.rows &&
                columns(layout_b, how.op_b) == layout_d.columns &&
                columns(layout_a, how.op_a) == rows(layout_b, how.op_b) &&
                layout_c.rows == layout_d.rows && layout_c.columns == layout_d.columns,
            "the shapes of the matrices");
    static_cast<void>(types());
    static_cast<void>(shape());
}

void Matmul::check_memory(const softlib::Session &session, const void *a, const void *b,
                          const void *c, const void *d) const {
    const auto check = [&](const void *data, const Layout &layout, const char *what) {
        session.check_memory(data, static_cast<std::size_t>(layout.bytes().get()), what);
    };
    check(a, layout_a, "A");
    check(b, layout_b, "B");
    if (c != nullptr)
        check(c, layout_c, "C");
    check(d, layout_d, "D");
    const MatmulDescription &how = description;
    const ElementType of_bias = how.bias_element(layout_d.element());
    const auto rows = static_cast<std::int64_t>(layout_d.rows);
    const auto array = [&](const void *data, softlib::Count each, std::int64_t stride,
                           const char *what) {
        require(stride >= 0, "the stride of the bias or the auxiliary matrix");
        const softlib::Count bytes = softlib::extent_of_batch(each, stride, layout_d.batch);
        session.check_memory(data, static_cast<std::size_t>(bytes.get()), what);
    };
    const auto size_of = [](ElementType type) {
        return static_cast<std::int64_t>(softlib::size_of(type));
    };
    if ((how.epilogue & (Bias | BiasGradient)) != 0)
        array(how.bias, softlib::Count(rows) * size_of(of_bias),
              (softlib::Count(how.bias_stride) * size_of(of_bias)).get(), "the bias");
    if ((how.epilogue & Auxiliary) != 0) {
        const ElementType type = how.auxiliary_element(layout_d.element());
        const softlib::Count elements = softlib::extent(
            rows, static_cast<std::int64_t>(layout_d.columns), how.auxiliary_leading);
        const bool bits = (how.epilogue & (Relu | ReluGradient)) != 0;
        const std::int64_t stride = how.auxiliary_stride;
        array(how.auxiliary,
              bits ? softlib::Count((elements + 7).get() / 8) : elements * size_of(type),
              bits ? stride / 8 : (softlib::Count(stride) * size_of(type)).get(),
              "the auxiliary matrix");
    }
    for (const float *scale : {how.scale_a, how.scale_b, how.scale_c, how.scale_d,
                               static_cast<const float *>(how.largest_d)})
        if (scale != nullptr)
            session.check_memory(scale, sizeof(float), "a scale");
}

void Matmul::run(const void *alpha, const void *a, const void *b, const void *beta, const void *c,
                 void *d) const {
    const softcublas::Types all = types();
    const auto moved = [](const void *data, const Layout &layout, int number) {
        return static_cast<const char *>(data) +
               (layout.batch > 1 ? number : 0) * layout.stride *
                   static_cast<std::int64_t>(softlib::size_of(layout.element()));
    };
    for (int i = 0; i < layout_d.batch; ++i) {
        Matmul one = *this;
        MatmulDescription &how = one.description;
        const ElementType of_bias = how.bias_element(layout_d.element());
        if (how.bias != nullptr)
            how.bias = static_cast<const char *>(how.bias) +
                       i * how.bias_stride * static_cast<std::int64_t>(softlib::size_of(of_bias));
        if (how.auxiliary != nullptr) {
            const bool bits = (how.epilogue & (Relu | ReluGradient)) != 0;
            const ElementType type = how.auxiliary_element(layout_d.element());
            const std::int64_t elements = i * how.auxiliary_stride;
            how.auxiliary = static_cast<char *>(how.auxiliary) +
                            (bits ? elements / 8
                                  : elements * static_cast<std::int64_t>(softlib::size_of(type)));
        }
        const char *const first = moved(a, layout_a, i), *const second = moved(b, layout_b, i);
        const char *const third = c != nullptr ? moved(c, layout_c, i) : nullptr;
        char *const result = const_cast<char *>(moved(d, layout_d, i));
        switch (all.compute) {
        case ElementType::Float32:
            compute<float>(one, alpha, first, second, beta, third, result);
            break;
        case ElementType::Float64:
            compute<double>(one, alpha, first, second, beta, third, result);
            break;
        case ElementType::Complex64:
            compute<Complex>(one, alpha, first, second, beta, third, result);
            break;
        default:
            compute<DoubleComplex>(one, alpha, first, second, beta, third, result);
        }
    }
}

} // namespace softcublaslt
