// cuda_array.cpp -- CUDA arrays and mipmaps.
#include <pycuda/caller_lock.h>

#include <pycuda/cuda_array.h>

#include "driver/one_of.h"

#include <pycuda/driver.h>

#include <mutex>
#include <string>
#include <utility>

namespace pycuda {

CUresult detail::destroy_cuda_array(CUarray array) { return driver().cuArrayDestroy.status(array); }

CUresult detail::destroy_mipmapped_array(CUmipmappedArray array) {
    return driver().cuMipmappedArrayDestroy.status(array);
}

namespace {

std::string describe(std::size_t width, std::size_t height, std::size_t depth, int format,
                     unsigned channels) {
    return std::to_string(width) + " x " + std::to_string(height) + " x " + std::to_string(depth) +
           " elements of " + std::to_string(channels) + " channels, format " +
           std::to_string(format);
}

std::string describe(const CUDA_ARRAY3D_DESCRIPTOR &d) {
    return describe(d.Width, d.Height, d.Depth, d.Format, d.NumChannels);
}

CUarray create(const CUDA_ARRAY_DESCRIPTOR &description) {
    CUarray handle = nullptr;
    check(driver().cuArrayCreate.status(&handle, &description), "cuArrayCreate", [&] {
        return describe(description.Width, description.Height, 0, description.Format,
                        description.NumChannels);
    });
    return handle;
}

CUarray create(const CUDA_ARRAY3D_DESCRIPTOR &description) {
    CUarray handle = nullptr;
    check(driver().cuArray3DCreate.status(&handle, &description), "cuArray3DCreate",
          [&] { return describe(description); });
    return handle;
}

CUmipmappedArray create(const CUDA_ARRAY3D_DESCRIPTOR &description, unsigned levels) {
    CUmipmappedArray handle = nullptr;
    check(driver().cuMipmappedArrayCreate.status(&handle, &description, levels),
          "cuMipmappedArrayCreate",
          [&] { return describe(description) + ", " + std::to_string(levels) + " levels"; });
    return handle;
}

/// The owner of an array, which free() gives up. Its keepers may hold the memory longer.
template <class Raw, CUresult (*Destroy)(Raw)> class FreeableMemory {
  public:
    using Owner = Handle<Raw, Destroy>;
    explicit FreeableMemory(Owner owner) : owner_(std::make_shared<Owner>(std::move(owner))) {}

    /// Null after free().
    std::shared_ptr<Owner> owner() const {
        const std::lock_guard lock(mutex_);
        return owner_;
    }
    bool freed() const { return owner() == nullptr; }
    /// Returns the owner, which the caller drops: the driver must not be called under the mutex.
    std::shared_ptr<Owner> free() {
        const std::lock_guard lock(mutex_);
        return std::exchange(owner_, nullptr);
    }

  private:
    mutable CallerMutex mutex_;
    std::shared_ptr<Owner> owner_;
};

} // namespace

std::size_t bytes_of_format(CUarray_format format) noexcept {
    if (is_one_of(format, CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_SIGNED_INT8))
        return 1;
    if (is_one_of(format, CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_SIGNED_INT16,
                  CU_AD_FORMAT_HALF))
        return 2;
    return is_one_of(format, CU_AD_FORMAT_UNSIGNED_INT32, CU_AD_FORMAT_SIGNED_INT32,
                     CU_AD_FORMAT_FLOAT)
               ? 4
               : 0;
}

class MipmappedArray::Memory
    : public FreeableMemory<CUmipmappedArray, detail::destroy_mipmapped_array> {
    using FreeableMemory::FreeableMemory;
};

class CudaArray::Memory : public FreeableMemory<CUarray, detail::destroy_cuda_array> {
  public:
    explicit Memory(Owner owner, std::shared_ptr<MipmappedArray::Memory> whole = nullptr)
        : FreeableMemory(std::move(owner)), whole_(std::move(whole)) {}

    /// What a keeper holds; null if the array, or the array whose level it is, was freed.
    std::shared_ptr<const void> keep() const {
        using Parts = std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>;
        Parts parts{owner(), whole_ ? std::shared_ptr<const void>(whole_->owner()) : nullptr};
        if (!parts.first || (whole_ && !parts.second))
            return nullptr;
        return std::make_shared<const Parts>(std::move(parts));
    }

    bool freed() const { return FreeableMemory::freed() || (whole_ && whole_->freed()); }

  private:
    const std::shared_ptr<MipmappedArray::Memory> whole_; // of a level
};

CudaArray::CudaArray(std::shared_ptr<Memory> memory, Context context)
    : memory_(std::move(memory)), context_(std::move(context)) {}

CudaArray::CudaArray(const CUDA_ARRAY_DESCRIPTOR &description)
    : context_(Context::require_current()) {
    memory_ = std::make_shared<Memory>(Memory::Owner::adopt(create(description), context_));
}

CudaArray::CudaArray(const CUDA_ARRAY3D_DESCRIPTOR &description)
    : context_(Context::require_current()) {
    memory_ = std::make_shared<Memory>(Memory::Owner::adopt(create(description), context_));
}

CudaArray CudaArray::borrow(CUarray handle, Context context) {
    auto memory = std::make_shared<Memory>(Memory::Owner::borrow(handle, context));
    return CudaArray(std::move(memory), std::move(context));
}

CUarray CudaArray::get() const {
    const auto owner = memory_->owner();
    if (!owner || freed())
        throw Error("array::get", CUDA_ERROR_INVALID_HANDLE, "the array was freed before");
    return owner->live("array");
}

bool CudaArray::freed() const noexcept { return memory_->freed(); }

std::shared_ptr<const void> CudaArray::keep() const {
    static_cast<void>(get());
    return memory_->keep();
}

CUDA_ARRAY_DESCRIPTOR CudaArray::description() const {
    return driver().cuArrayGetDescriptor.value(get());
}

CUDA_ARRAY3D_DESCRIPTOR CudaArray::description_3d() const {
    return driver().cuArray3DGetDescriptor.value(get());
}

void CudaArray::free() {
    if (!memory_->free())
        throw Error("array::free", CUDA_ERROR_INVALID_HANDLE, "the array was freed before");
}

MipmappedArray::MipmappedArray(const CUDA_ARRAY3D_DESCRIPTOR &description, unsigned levels)
    : context_(Context::require_current()), levels_(levels) {
    memory_ = std::make_shared<Memory>(Memory::Owner::adopt(create(description, levels), context_));
}

CUmipmappedArray MipmappedArray::get() const {
    const auto owner = memory_->owner();
    if (!owner)
        throw Error("mipmapped_array", CUDA_ERROR_INVALID_HANDLE,
                    "the mipmapped array was freed before");
    return owner->live("mipmapped array");
}

bool MipmappedArray::freed() const noexcept { return memory_->freed(); }

void MipmappedArray::free() {
    if (!memory_->free())
        throw Error("mipmapped_array::free", CUDA_ERROR_INVALID_HANDLE,
                    "the mipmapped array was freed before");
}

CudaArray MipmappedArray::level(unsigned level) const {
    CUarray handle = nullptr;
    check(driver().cuMipmappedArrayGetLevel.status(&handle, get(), level),
          "cuMipmappedArrayGetLevel",
          [&] { return "level " + std::to_string(level) + " of " + std::to_string(levels_); });
    using Level = CudaArray::Memory;
    return CudaArray(std::make_shared<Level>(Level::Owner::borrow(handle, context()), memory_),
                     context());
}

} // namespace pycuda
