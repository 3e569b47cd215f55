// array.cpp -- making arrays, and what is known of one from its layout.
#include <pycuda/array.h>

namespace pycuda {
namespace {

Array make(const std::shared_ptr<ArrayContext> &context, const Layout &layout, DType dtype,
           StreamRef stream) {
    const std::size_t bytes = layout.size() * dtype.item_size();
    if (bytes == 0)
        return {ArrayMemory::borrow(context, 0, 0, nullptr), 0, dtype, layout};
    std::shared_ptr<ArrayMemory> memory = ArrayMemory::allocate(context, bytes, stream);
    const CUdeviceptr address = memory->get();
    return {std::move(memory), address, dtype, layout};
}

} // namespace

Array Array::empty(const std::shared_ptr<ArrayContext> &context,
                   std::span<const std::int64_t> shape, DType dtype, Order order,
                   StreamRef stream) {
    return make(context, Layout::contiguous(shape, dtype.item_size(), order), dtype, stream);
}

Array Array::empty_like(const std::shared_ptr<ArrayContext> &context, const Layout &layout,
                        DType dtype, StreamRef stream) {
    const std::array<int, Layout::max_dimensions> axes = layout.axes_in_memory_order();
    Layout dense = layout;
    std::int64_t stride = static_cast<std::int64_t>(dtype.item_size());
    for (int i = layout.dimensions() - 1; i >= 0; --i) {
        dense.set(axes[i], layout.extent(axes[i]), stride);
        stride *= std::max<std::int64_t>(layout.extent(axes[i]), 1);
    }
    return make(context, dense, dtype, stream);
}

void Array::describe() noexcept {
    size_ = layout_.size();
    c_contiguous_ = layout_.is_c_contiguous(dtype_.item_size());
    f_contiguous_ =
        layout_.dimensions() == 1 ? c_contiguous_ : layout_.is_f_contiguous(dtype_.item_size());
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
