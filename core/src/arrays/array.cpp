// array.cpp -- creates arrays, and derives their properties from the layout.
#include <pycuda/array.h>

#include <string>

namespace pycuda {
namespace {

using Allocate = std::shared_ptr<ArrayMemory> (*)(const std::shared_ptr<ArrayContext> &context,
                                                  std::size_t bytes, StreamRef stream);

/// Arrays without elements have no memory.
Array make(Allocate allocate, const std::shared_ptr<ArrayContext> &context, const Layout &layout,
           DType dtype, StreamRef stream) {
    const std::size_t bytes = layout.size() * dtype.item_size();
    if (bytes == 0)
        return {ArrayMemory::borrow(context, 0, 0, nullptr), 0, dtype, layout};
    std::shared_ptr<ArrayMemory> memory = allocate(context, bytes, stream);
    const CUdeviceptr address = memory->get();
    return {std::move(memory), address, dtype, layout};
}

} // namespace

Array Array::with_layout(const std::shared_ptr<ArrayContext> &context, const Layout &layout,
                         DType dtype, StreamRef stream) {
    return make(&ArrayMemory::allocate, context, layout, dtype, stream);
}

Array Array::scratch(const std::shared_ptr<ArrayContext> &context,
                     std::span<const std::int64_t> shape, DType dtype, StreamRef stream) {
    return make(&ArrayMemory::from_pool, context,
                Layout::contiguous(shape, dtype.item_size(), Order::C), dtype, stream);
}

Array Array::empty(const std::shared_ptr<ArrayContext> &context,
                   std::span<const std::int64_t> shape, DType dtype, Order order,
                   StreamRef stream) {
    return with_layout(context, Layout::contiguous(shape, dtype.item_size(), order), dtype, stream);
}

void Array::throw_read_only(std::string_view role) const {
    throw ReadOnlyArray(std::string(role) + " is read-only: an array of shape " +
                        shape_text(shape()) + " and strides " + shape_text(layout_.strides()) +
                        " whose flags.writeable is False");
}

void Array::describe() noexcept {
    size_ = layout_.size();
    c_contiguous_ = layout_.is_c_contiguous(dtype_.item_size());
    f_contiguous_ =
        layout_.dimensions() == 1 ? c_contiguous_ : layout_.is_f_contiguous(dtype_.item_size());
}

bool Array::is_aligned() const noexcept {
    const std::size_t alignment = pycuda::item_size(real_type(dtype_.scalar()));
    if (alignment <= 1) // bytes, and structs, which are copied as bytes
        return true;
    std::uint64_t bits = address_;
    for (std::int64_t stride : layout_.strides())
        bits |= static_cast<std::uint64_t>(stride);
    return bits % alignment == 0;
}

Layout::ByteRange Array::addresses() const noexcept {
    if (size_ == 0)
        return {};
    const Layout::ByteRange range = layout_.byte_range(item_size());
    const auto first = static_cast<std::int64_t>(address_);
    return {first + range.begin, first + range.end};
}

bool Array::may_share_bytes(const Array &other) const noexcept {
    const Layout::ByteRange a = addresses(), b = other.addresses();
    return a.begin < b.end && b.begin < a.end;
}

bool Array::may_share_memory(const Array &other) const noexcept {
    if (size_ == 0 || other.memory_ == nullptr || other.memory_->freed())
        return false;
    const Layout::ByteRange own = addresses(), seen = other.addresses();
    const auto start = static_cast<std::int64_t>(other.memory_->get());
    const std::int64_t end = start + static_cast<std::int64_t>(other.memory_->size());
    return memory_ == other.memory_ ||
           (own.begin < std::max(end, seen.end) &&
            (seen.end == 0 ? start : std::min(start, seen.begin)) < own.end);
}

} // namespace pycuda
