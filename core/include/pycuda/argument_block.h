// argument_block.h -- a kernel's arguments, checked and packed in the kernel's layout.
//
//     ArgumentBlock block(function);
//     block.push_pointer(memory.get());
//     if (!block.try_push(&x, sizeof x, ValueKind::Float))
//         block.reject("a float64");             // ArgumentError: names index and both sides
//     launch(function, config, block);
//
// Lives on the stack and allocates nothing for blocks up to 4 KiB.
#pragma once

#include <pycuda/error.h>
#include <pycuda/function.h>
#include <pycuda/parameter.h>

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

namespace pycuda {

/// An argument that does not match the kernel's parameter, or a wrong number of arguments.
class ArgumentError : public Error {
  public:
    /// `index` counts from 0; for a wrong number of arguments it is this number.
    ArgumentError(const std::string &kernel, std::size_t index, std::string explanation);
    /// The name of the kernel.
    const std::string &kernel() const noexcept { return kernel_; }
    /// The number of the argument, from 0.
    std::size_t index() const noexcept { return index_; }

  private:
    std::string kernel_;
    std::size_t index_;
};

/// Whether an argument of kind `given` may be passed to a parameter of kind `wanted` of the same
/// size. Signed and unsigned match; an address matches an integer of its size.
constexpr bool kinds_agree(ValueKind wanted, ValueKind given) noexcept {
    if (wanted == given || wanted == ValueKind::Unknown || given == ValueKind::Unknown ||
        wanted == ValueKind::Bytes || given == ValueKind::Bytes)
        return true;
    auto integral = [](ValueKind kind) {
        return kind == ValueKind::Signed || kind == ValueKind::Unsigned ||
               kind == ValueKind::Pointer;
    };
    return integral(wanted) && integral(given);
}

/// The argument block of one launch. The function must outlive it.
class ArgumentBlock {
  public:
    /// Blocks of up to this many bytes need no allocation.
    static constexpr std::size_t inline_bytes = 4096;

    /// An empty block for one launch of `function`. Throws std::bad_alloc.
    explicit ArgumentBlock(const Function &function)
        : function_(function), layout_(function.layout()), bytes_(inline_storage_) {
        if (layout_.block_size() > inline_bytes) [[unlikely]]
            allocate();
    }
    ArgumentBlock(const ArgumentBlock &) = delete;
    ArgumentBlock &operator=(const ArgumentBlock &) = delete;

    /// The next parameter; null if there are no more parameters, or if the layout is unknown.
    const Parameter *next_parameter() const noexcept {
        return next_ < layout_.count() ? layout_.data() + next_ : nullptr;
    }
    /// The number of arguments so far.
    std::size_t count() const noexcept { return next_; }

    /// Adds an argument without a conversion. False if its size or kind does not match, or if there
    /// are too many arguments; then call reject().
    [[nodiscard]] bool try_push(const void *value, std::size_t size, ValueKind kind) noexcept {
        const Parameter *parameter = next_parameter();
        if (parameter == nullptr) [[unlikely]]
            return try_append(value, size);
        if (parameter->size != size || !kinds_agree(parameter->kind, kind)) [[unlikely]] {
            // The bits of a 16-bit float, from callers that have no type for it.
            if (parameter->size != size || size != 2 || kind != ValueKind::Unsigned)
                return false;
        }
        std::memcpy(bytes_ + parameter->offset, value, size);
        ++next_;
        return true;
    }

    /// As try_push() for an address.
    [[nodiscard]] bool try_push_pointer(CUdeviceptr address) noexcept {
        return try_push(&address, sizeof address, ValueKind::Pointer);
    }

    /// A number without a fixed size, such as a Python int: converted to the parameter's type.
    /// False if the parameter's kind is unknown, or if the value does not fit.
    [[nodiscard]] bool try_push_integer(std::int64_t value) noexcept;
    /// As above for a value without a sign.
    [[nodiscard]] bool try_push_integer(std::uint64_t value) noexcept;
    /// As above for a real number; only a floating-point parameter accepts it.
    [[nodiscard]] bool try_push_real(double value) noexcept;

    /// As try_push_pointer(), but throws ArgumentError, which names the parameter, if the parameter
    /// takes no address.
    void push_pointer(CUdeviceptr address) {
        if (!try_push_pointer(address)) [[unlikely]]
            reject("a device pointer");
    }

    /// Throws the ArgumentError for the next argument; `given` describes the argument: "a float64".
    [[noreturn]] void reject(std::string_view given) const;

    /// Throws ArgumentError if `given` is not the number of the kernel's parameters.
    void check_count(std::size_t given) const {
        if (given != layout_.count() && layout_.known()) [[unlikely]]
            reject_count(given);
    }

    /// The finished block. Throws ArgumentError if arguments are missing.
    std::byte *data() {
        check_count(next_);
        return bytes_;
    }
    /// The size of the block in bytes. For an unknown layout, the bytes that were pushed so far.
    std::size_t size() const noexcept { return layout_.known() ? layout_.block_size() : end_; }

  private:
    void allocate();
    bool try_append(const void *value, std::size_t size) noexcept;
    [[noreturn]] void reject_count(std::size_t given) const;

    const Function &function_;
    const ParameterLayout &layout_;
    std::byte *bytes_;
    std::size_t next_ = 0;
    std::size_t end_ = 0; // of a block whose layout is unknown
    std::unique_ptr<std::byte[]> heap_storage_;
    alignas(16) std::byte inline_storage_[inline_bytes];
};

} // namespace pycuda
