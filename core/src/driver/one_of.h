// one_of.h -- whether a value is in a short list.
#pragma once

namespace pycuda {

/// is_one_of(operation, Operation::Add, Operation::Subtract)
template <class T, class... Values>
constexpr bool is_one_of(const T &value, const Values &...values) noexcept {
    return ((value == values) || ...);
}

} // namespace pycuda
