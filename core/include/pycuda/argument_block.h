// argument_block.h -- a kernel's arguments, checked and laid out as the kernel wants them.
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

/// An argument that the kernel cannot take, or the wrong number of them.
class ArgumentError : public Error {
  public:
    /// `index` counts from 0; of a wrong count it is the number of arguments given.
    ArgumentError(const std::string &kernel, std::size_t index, std::string explanation);
    const std::string &kernel() const noexcept { return kernel_; }
    std::size_t index() const noexcept { return index_; }

  private:
    std::string kernel_;
    std::size_t index_;
};

/// Whether bytes that mean `given` may be passed where the kernel wants `wanted`, sizes being
/// equal. Signedness is no obstacle; an address is an integer of its size.
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
    static constexpr std::size_t inline_bytes = 4096;

    explicit ArgumentBlock(const Function &function)
        : function_(function), layout_(function.layout()), bytes_(inline_storage_) {
        if (layout_.block_size() > inline_bytes) [[unlikely]]
            allocate();
    }
    ArgumentBlock(const ArgumentBlock &) = delete;
    ArgumentBlock &operator=(const ArgumentBlock &) = delete;

    /// The next parameter; null where the kernel takes no more, or nothing is known of it.
    const Parameter *next_parameter() const noexcept {
        return next_ < layout_.count() ? layout_.data() + next_ : nullptr;
    }
    /// How many arguments there are so far.
    std::size_t count() const noexcept { return next_; }

    /// Takes the next argument as it is. False where size or kind do not fit, or there is one too
    /// many; then call reject().
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

    [[nodiscard]] bool try_push_pointer(CUdeviceptr address) noexcept {
        return try_push(&address, sizeof address, ValueKind::Pointer);
    }

    /// A number without a size of its own, such as a Python int: converted to what the kernel
    /// wants. False where its kind is unknown, or the value does not fit.
    [[nodiscard]] bool try_push_integer(std::int64_t value) noexcept;
    [[nodiscard]] bool try_push_integer(std::uint64_t value) noexcept;
    /// The same for a real number; only a floating-point parameter takes it.
    [[nodiscard]] bool try_push_real(double value) noexcept;

    void push_pointer(CUdeviceptr address) {
        if (!try_push_pointer(address)) [[unlikely]]
            reject("a device pointer");
    }

    /// Throws the ArgumentError for the next argument; `given` says what came, "a float64".
    [[noreturn]] void reject(std::string_view given) const;

    /// Throws ArgumentError where `given` arguments are not what the kernel takes.
    void check_count(std::size_t given) const {
        if (given != layout_.count() && layout_.known()) [[unlikely]]
            reject_count(given);
    }

    /// The finished block. Throws ArgumentError where arguments are missing.
    std::byte *data() {
        check_count(next_);
        return bytes_;
    }
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
