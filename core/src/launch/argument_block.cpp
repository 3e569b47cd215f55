// argument_block.cpp -- packs kernel arguments: the slow paths and the errors.
#include <pycuda/argument_block.h>

#include "launch/half.h"

#include <pycuda/kernel_signature.h>
#include <pycuda/launch.h>

#include <limits>

namespace pycuda {
namespace {

std::string plural(std::size_t count, const char *noun) {
    return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

/// "float (4 bytes)", as far as the layout is known.
std::string describe_wanted(const ParameterLayout &layout, std::size_t index) {
    const Parameter &parameter = layout[index];
    const std::string &type = layout.type(index);
    if (!type.empty())
        return type + " (" + plural(parameter.size, "byte") + ")";
    return detail::describe_value(parameter.kind, parameter.size);
}

/// Whether an integer parameter of `size` bytes holds the value.
bool fits_signed(std::int64_t value, std::size_t size) {
    if (size >= 8)
        return size == 8;
    const std::int64_t half = std::int64_t{1} << (8 * size - 1);
    return value >= -half && value < half;
}

bool fits_unsigned(std::uint64_t value, std::size_t size) {
    return size == 8 || (size < 8 && value >> (8 * size) == 0);
}

bool is_reference(const ParameterLayout &layout, std::size_t index) {
    return layout.type(index).ends_with('&');
}

bool is_number_size(std::size_t size) { return size == 1 || size == 2 || size == 4 || size == 8; }

} // namespace

ArgumentError::ArgumentError(const std::string &kernel, std::size_t index, std::string explanation)
    : Error("function::launch_kernel", CUDA_ERROR_INVALID_VALUE,
            "kernel '" + readable_name(kernel) + "'" + std::move(explanation)),
      kernel_(kernel), index_(index) {}

std::string detail::describe_value(ValueKind kind, std::size_t size) {
    if (kind == ValueKind::Unknown)
        return plural(size, "byte");
    const char *name = kind == ValueKind::Pointer    ? "a pointer"
                       : kind == ValueKind::Signed   ? "an integer"
                       : kind == ValueKind::Unsigned ? "an unsigned integer"
                       : kind == ValueKind::BFloat16 ? "bfloat16"
                       : kind == ValueKind::Bytes    ? "a struct"
                       : size == 2                   ? "half"
                       : size == 4                   ? "float"
                                                     : "double";
    return std::string(name) + " of " + plural(size, "byte");
}

bool ArgumentBlock::try_push_integer(std::int64_t value) noexcept {
    const Parameter *parameter = next_parameter();
    if (!parameter || !is_number_size(parameter->size))
        return false;
    switch (parameter->kind) {
    case ValueKind::Signed:
        return fits_signed(value, parameter->size) &&
               try_push(&value, parameter->size,
                        ValueKind::Signed); // little-endian: the low bytes come first
    case ValueKind::Unsigned:
    case ValueKind::Pointer:
        return value >= 0 && try_push_integer(static_cast<std::uint64_t>(value));
    case ValueKind::Float:
    case ValueKind::BFloat16:
        return try_push_real(static_cast<double>(value));
    default:
        return false;
    }
}

bool ArgumentBlock::try_push_integer(std::uint64_t value) noexcept {
    const Parameter *parameter = next_parameter();
    if (!parameter || !is_number_size(parameter->size))
        return false;
    switch (parameter->kind) {
    case ValueKind::Signed:
        return value <= std::uint64_t{std::numeric_limits<std::int64_t>::max()} &&
               try_push_integer(static_cast<std::int64_t>(value));
    case ValueKind::Pointer:
        if (is_reference(layout_, next_))
            return false; // the caller means the value, not an address
        [[fallthrough]];
    case ValueKind::Unsigned:
        return fits_unsigned(value, parameter->size) &&
               try_push(&value, parameter->size, ValueKind::Unsigned);
    case ValueKind::Float:
    case ValueKind::BFloat16:
        return try_push_real(static_cast<double>(value));
    default:
        return false;
    }
}

bool ArgumentBlock::try_push_real(double value) noexcept {
    const Parameter *parameter = next_parameter();
    if (!parameter)
        return false;
    if (parameter->kind == ValueKind::BFloat16) {
        std::uint16_t bits = detail::to_bfloat16(static_cast<float>(value));
        return try_push(&bits, sizeof bits, ValueKind::BFloat16);
    }
    if (parameter->kind != ValueKind::Float)
        return false;
    if (parameter->size == 8)
        return try_push(&value, sizeof value, ValueKind::Float);
    const float single = static_cast<float>(value);
    if (parameter->size == 4)
        return try_push(&single, sizeof single, ValueKind::Float);
    std::uint16_t bits = detail::to_half(value);
    return try_push(&bits, sizeof bits, ValueKind::Float);
}

void ArgumentBlock::reject(std::string_view given) const {
    std::string got = ", got " + std::string(given);
    if (!layout_.known())
        throw ArgumentError(function_.name(), next_,
                            ", argument " + std::to_string(next_) +
                                ": the driver does not report the kernel's parameters, so expected "
                                "a value with a type and size, such as numpy.int32(1)" +
                                got);
    if (next_ >= layout_.count())
        throw ArgumentError(function_.name(), next_,
                            " takes " + plural(layout_.count(), "argument") + got +
                                " as argument " + std::to_string(next_));
    std::string text = ", argument " + std::to_string(next_) + ": expected " +
                       describe_wanted(layout_, next_) + got;
    if (is_reference(layout_, next_))
        text += " (a reference: pass an address, as for a pointer: a GPUArray, a "
                "DeviceAllocation, or pycuda.driver.In(numpy.array(1, numpy.int32)) with the type "
                "of the value)";
    else if (layout_[next_].kind == ValueKind::Unknown)
        text += " (" +
                (layout_.type(next_).empty() ? std::string("the kernel's source")
                                             : "the definition of " + layout_.type(next_)) +
                " is not known, so pass a value of exactly this size; in Python: for a struct, a "
                "scalar of numpy.dtype([...], align=True), else numpy.int32, numpy.float32, ...)";
    throw ArgumentError(function_.name(), next_, text);
}

void ArgumentBlock::reject_count(std::size_t given) const {
    std::string text =
        " takes " + plural(layout_.count(), "argument") + ", got " + std::to_string(given);
    if (given < layout_.count()) {
        text += "; argument " + std::to_string(given) + ", " + describe_wanted(layout_, given) +
                ", is missing";
    }
    throw ArgumentError(function_.name(), given, text);
}

void ArgumentBlock::allocate() {
    heap_storage_ = std::make_unique_for_overwrite<std::byte[]>(layout_.block_size() + 16);
    auto address = reinterpret_cast<std::uintptr_t>(heap_storage_.get());
    bytes_ = heap_storage_.get() + (16 - address % 16) % 16;
}

/// If the driver does not report the layout: C's rules, each value is aligned to its size.
bool ArgumentBlock::try_append(const void *value, std::size_t size) noexcept {
    if (layout_.known() || size == 0)
        return false;
    std::size_t alignment = size % 16 == 0 ? 16 : size & (~size + 1);
    std::size_t offset = (end_ + alignment - 1) / alignment * alignment;
    if (offset + size > inline_bytes)
        return false;
    std::memcpy(bytes_ + offset, value, size);
    end_ = offset + size;
    ++next_;
    return true;
}

} // namespace pycuda
