// array_fixture.h -- creates arrays with given elements, and reads their elements, for tests.
#pragma once

#include "arrays/kernel_choice.h"
#include "device_fixture.h"

#include <pycuda/array.h>
#include <pycuda/array_operation.h>
#include <pycuda/array_reduction.h>
#include <pycuda/copy.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <numeric>
#include <type_traits>
#include <vector>

namespace pycuda {

using Numbers = std::vector<std::int64_t>;

template <class T> ScalarType type_of() {
    if constexpr (std::is_same_v<T, float>)
        return ScalarType::Float32;
    else if constexpr (std::is_same_v<T, double>)
        return ScalarType::Float64;
    else if constexpr (std::is_same_v<T, std::int64_t>)
        return ScalarType::Int64;
    else if constexpr (std::is_same_v<T, std::int8_t>)
        return ScalarType::Int8;
    else if constexpr (std::is_same_v<T, std::uint16_t>)
        return ScalarType::UInt16;
    else
        return ScalarType::UInt8;
}

/// The result of `work` with kernels of this form.
template <class Work> auto in_form(KernelForm form, Work &&work) {
    const KernelChoiceScope scope({.form = form});
    return work();
}

class DeviceArrays : public OnDevice {
  protected:
    static constexpr StreamRef stream = {}; ///< of all operations
    template <class T>
    Array array(const std::vector<T> &values, const Numbers &shape,
                ScalarType type = type_of<T>()) {
        Array made = Array::empty(ArrayContext::current(), shape, type, Order::C, stream);
        copy_to_device(made.ptr(), values.data(), made.bytes());
        return made;
    }
    Array ramp(const Numbers &shape) {
        std::vector<float> values(of(shape).size());
        std::iota(values.begin(), values.end(), 0.0f);
        return array(values, shape);
    }
    static Layout of(const Numbers &shape) { return Layout::contiguous(shape, 4); }

    /// The elements in C order, for every layout.
    template <class T> std::vector<T> values(const Array &from) {
        Array dense =
            Array::empty(ArrayContext::current(), from.shape(), from.dtype(), Order::C, stream);
        assign(dense, from, Casting::Unsafe, stream);
        std::vector<T> result(dense.size());
        if (dense.size() != 0)
            copy_to_host(result.data(), dense.ptr(), dense.bytes());
        return result;
    }
    static Array transposed(const Array &x) {
        return x.view(x.layout().transposed(std::array{1, 0}));
    }
    static Array apply_to(Operation operation, std::initializer_list<Operand> operands,
                          const ApplyOptions &options = {.stream = stream}) {
        return apply(operation, {operands.begin(), operands.size()}, options);
    }
    static Array reduce_one(Reduction reduction, const Array &x,
                            const ReduceOptions &options = {.stream = stream}) {
        const Array *inputs[] = {&x};
        return reduce(reduction, inputs, options);
    }
};

} // namespace pycuda
