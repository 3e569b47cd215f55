// device_memory.cpp -- device memory and managed memory.
#include <pycuda/memory.h>

#include "driver/block_marks.h"
#include "memory/address_range.h"
#include "memory/freed.h"

#include <pycuda/caller_lock.h>
#include <pycuda/driver.h>
#include <pycuda/handle.h>

#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace pycuda {
namespace {

CUresult free_address(void *address) {
    return driver().cuMemFree.status(*static_cast<CUdeviceptr *>(address));
}

std::string describe_shortage(std::size_t bytes) {
    std::string text = "requested " + std::to_string(bytes) + " bytes";
    std::size_t free = 0;
    std::size_t total = 0;
    if (driver().cuMemGetInfo.status(&free, &total) == CUDA_SUCCESS)
        text += ", " + std::to_string(free) + " of " + std::to_string(total) + " are free";
    return text;
}

void check_allocation(CUresult result, const char *function, std::size_t bytes) {
    check(result, function, [&] {
        return result == CUDA_ERROR_OUT_OF_MEMORY ? describe_shortage(bytes)
                                                  : "requested " + std::to_string(bytes) + " bytes";
    });
}

CUdeviceptr allocate(const Context &context, std::size_t bytes) {
    ScopedContext scope(context);
    CUdeviceptr address = 0;
    check_allocation(driver().cuMemAlloc.status(&address, bytes), "cuMemAlloc", bytes);
    return address;
}

/// Reports the program's line that allocated the memory to a driver that looks for leaks. Throws
/// the exception of a signal handler that runs meanwhile.
void note_if_marking(CUdeviceptr address) {
    if (detail::marks_blocks.load(std::memory_order_relaxed)) [[unlikely]]
        detail::note_allocation(address);
}

DeviceMemory allocate_managed(std::size_t bytes, unsigned attach) {
    Context context = Context::require_current();
    CUdeviceptr address = 0;
    check_allocation(driver().cuMemAllocManaged.status(&address, bytes, attach),
                     "cuMemAllocManaged", bytes);
    return DeviceMemory::adopt(address, bytes, std::move(context));
}

} // namespace

DeviceMemory::DeviceMemory(std::size_t bytes) : DeviceMemory(Context::require_current(), bytes) {}

DeviceMemory::DeviceMemory(const Context &context, std::size_t bytes)
    : DeviceMemory(allocate(context, bytes), bytes, context, true) {
    note_if_marking(address_); // if this throws, the destructor frees the memory
}

DeviceMemory::DeviceMemory(CUdeviceptr address, std::size_t bytes, Context context, bool owned)
    : address_(address), bytes_(bytes), context_(std::move(context)), owned_(owned) {}

DeviceMemory DeviceMemory::adopt(CUdeviceptr address, std::size_t bytes, Context context) {
    DeviceMemory memory(address, bytes, std::move(context), true);
    note_if_marking(address);
    return memory;
}

DeviceMemory DeviceMemory::borrow(CUdeviceptr address, std::size_t bytes, Context context) {
    return DeviceMemory(address, bytes, std::move(context), false);
}

DeviceMemory::DeviceMemory(DeviceMemory &&other) noexcept
    : address_(std::exchange(other.address_, 0)), bytes_(other.bytes_),
      context_(std::move(other.context_)), owned_(other.owned_),
      freed_address_(other.freed_address_), kept_(std::move(other.kept_)) {}

DeviceMemory &DeviceMemory::operator=(DeviceMemory &&other) noexcept {
    if (this != &other) {
        reset();
        address_ = std::exchange(other.address_, 0);
        bytes_ = other.bytes_;
        context_ = std::move(other.context_);
        owned_ = other.owned_;
        freed_address_ = other.freed_address_;
        kept_ = std::move(other.kept_);
    }
    return *this;
}

DeviceMemory::~DeviceMemory() { reset(); }

void DeviceMemory::reset() noexcept {
    kept_.reset();
    if (address_ != 0 && owned_)
        detail::run_cleanup(context_, "cuMemFree", free_address, &address_);
    address_ = 0;
}

void DeviceMemory::free() {
    if (freed())
        throw_freed("device_allocation::free");
    freed_address_ = std::exchange(address_, 0);
    if (kept_ != nullptr)
        return kept_.reset();
    if (!owned_ || !context_.usable())
        return; // the memory was freed with its context
    ScopedContext scope(context_);
    check(free_address(&freed_address_), "cuMemFree");
}

std::shared_ptr<const void> DeviceMemory::keep() {
    static_cast<void>(get());
    static CallerMutex mutex;
    const std::lock_guard lock(mutex);
    if (kept_ == nullptr) {
        kept_ = std::make_shared<DeviceMemory>(DeviceMemory(address_, bytes_, context_, owned_));
        owned_ = false;
    }
    return kept_;
}

CUdeviceptr DeviceMemory::release() {
    if (kept_ != nullptr)
        throw std::logic_error("memory that other objects keep cannot be released");
    CUdeviceptr address = get();
    freed_address_ = std::exchange(address_, 0);
    return address;
}

void DeviceMemory::throw_freed(const char *function) const {
    detail::throw_use_of_freed(function,
                               detail::describe_memory("device memory", freed_address_, bytes_));
}

PitchedMemory allocate_pitched(std::size_t width, std::size_t height, unsigned access_bytes) {
    Context context = Context::require_current();
    CUdeviceptr address = 0;
    std::size_t pitch = 0;
    check_allocation(driver().cuMemAllocPitch.status(&address, &pitch, width, height, access_bytes),
                     "cuMemAllocPitch", width * height);
    return {DeviceMemory::adopt(address, pitch * height, std::move(context)), pitch};
}

namespace detail {

std::optional<AddressRange> find_address_range(CUdeviceptr address) {
    AddressRange range;
    CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                                        CU_POINTER_ATTRIBUTE_RANGE_SIZE};
    void *results[] = {&range.base, &range.size};
    if (driver().cuPointerGetAttributes.status(2, attributes, results, address) != CUDA_SUCCESS ||
        range.size == 0) // not the driver's memory
        return std::nullopt;
    return range;
}

} // namespace detail

AddressRange address_range(CUdeviceptr address) {
    if (const std::optional<AddressRange> found = detail::find_address_range(address))
        return *found;
    AddressRange range; // for the driver's error
    driver().cuMemGetAddressRange(&range.base, &range.size, address);
    return range;
}

ManagedMemory::ManagedMemory(std::size_t bytes, unsigned attach)
    : memory_(allocate_managed(bytes, attach)), hold_(memory_.context()) {}

void ManagedMemory::attach(unsigned attach, StreamRef stream) const {
    driver().cuStreamAttachMemAsync(stream.get(), get(), 0, attach);
}

} // namespace pycuda
