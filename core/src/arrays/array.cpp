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

bool Array::may_share_bytes(const Array &other) const noexcept {
    if (size_ == 0 || other.size_ == 0)
        return false;
    const Layout::ByteRange a = layout_.byte_range(item_size());
    const Layout::ByteRange b = other.layout_.byte_range(other.item_size());
    const auto a_start = static_cast<std::int64_t>(address_);
    const auto b_start = static_cast<std::int64_t>(other.address_);
    return a_start + a.begin < b_start + b.end && b_start + b.begin < a_start + a.end;
}

} // namespace pycuda
