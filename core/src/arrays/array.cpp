// array.cpp -- creates arrays, and derives their properties from the layout.
#include <pycuda/array.h>

#include "memory/address_range.h"

#include <pycuda/driver.h>

#include <algorithm>
#include <atomic>
#include <string>

namespace pycuda {
namespace {

using Allocate = std::shared_ptr<ArrayMemory> (*)(const std::shared_ptr<ArrayContext> &context,
                                                  std::size_t bytes, StreamRef stream);

/// Arrays without elements have no memory.
Array make(Allocate allocate, const std::shared_ptr<ArrayContext> &context, const Layout &layout,
           DType dtype, StreamRef stream) {
    const auto bytes = static_cast<std::size_t>(layout.byte_range(dtype.item_size()).end);
    if (bytes == 0)
        return {ArrayMemory::borrow(context, 0, 0, nullptr), 0, dtype, layout};
    std::shared_ptr<ArrayMemory> memory = allocate(context, bytes, stream);
    const CUdeviceptr address = memory->address();
    return {std::move(memory), address, dtype, layout};
}

/// A range of addresses.
struct Extent {
    __int128 begin = 0, end = 0;
};

/// The memory around an address: of the array, or what the driver knows.
Extent memory_around(const ArrayMemory &memory, CUdeviceptr address) {
    if (memory.size() != 0)
        return {memory.address(), static_cast<__int128>(memory.address()) + memory.size()};
    const std::optional<AddressRange> found = detail::find_address_range(address);
    if (!found)
        return {};
    return {found->base, static_cast<__int128>(found->base) + found->size};
}

const char *name_of(Array::SetAttribute attribute) noexcept {
    switch (attribute) {
    case Array::SetAttribute::Shape:
        return "shape";
    case Array::SetAttribute::Dtype:
        return "dtype";
    case Array::SetAttribute::Gpudata:
        return "gpudata";
    default:
        return "strides";
    }
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

void Array::throw_without_memory() const {
    throw std::invalid_argument("an array of shape " + shape_text(shape()) +
                                " was not initialised: it has no memory");
}

Array Array::with_attribute(const Layout &layout, DType dtype, SetAttribute attribute) const {
    Array changed(memory_, address_, dtype, layout);
    changed.writable_ = writable_;
    changed.set_attribute_ = attribute;
    return changed;
}

Array Array::with_memory(std::shared_ptr<ArrayMemory> memory, CUdeviceptr address) const {
    Array changed(std::move(memory), address, dtype_, layout_);
    changed.writable_ = writable_;
    changed.set_attribute_ =
        set_attribute_ == SetAttribute::AxesOfStrides ? set_attribute_ : SetAttribute::Gpudata;
    return changed;
}

void Array::check_attributes() const {
    std::atomic_ref<SetAttribute> attribute(set_attribute_);
    const SetAttribute last = attribute.load(std::memory_order_relaxed);
    const auto refuse = [&](const std::string &why) {
        throw std::invalid_argument("the array cannot be used, because " +
                                    std::string(name_of(last)) + " was set: " + why);
    };
    const std::string layout = "shape " + shape_text(shape());
    if (last == SetAttribute::AxesOfStrides)
        refuse("the number of strides is not that of the axes of " + layout);
    if (size_ != 0) {
        if (memory_ == nullptr || address_ == 0)
            refuse("it is None, and the array of " + layout + " has no memory");
        const Layout::ByteRange range = layout_.byte_range(item_size());
        const Extent wanted = {static_cast<__int128>(address_) + range.begin,
                               static_cast<__int128>(address_) + range.end};
        const Extent held = memory_around(*memory_, address_);
        if (wanted.begin < held.begin || wanted.end > held.end)
            refuse(held.end == 0
                       ? "the driver knows no memory at this address"
                       : layout + ", strides " + shape_text(layout_.strides()) + " and dtype " +
                             dtype_.name() + " address bytes " +
                             std::to_string(static_cast<std::int64_t>(wanted.begin - held.begin)) +
                             " to " +
                             std::to_string(static_cast<std::int64_t>(wanted.end - held.begin)) +
                             " of memory of " +
                             std::to_string(static_cast<std::int64_t>(held.end - held.begin)) +
                             " bytes");
    }
    attribute.store(SetAttribute::None, std::memory_order_relaxed);
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
