// pool_place.cpp -- the places of pools, and the pools of each place.
//
// Device memory, page-locked host memory and managed memory are the same memory here. A pool's
// place only determines what attributes report about its memory, and whether the memory counts as a
// device's.
#include "device/memory_pool.h"

#include "device/device.h"
#include "device/error.h"
#include "device/registry.h"
#include "device/system.h"

#include <map>
#include <mutex>
#include <tuple>

namespace softcuda::device {
namespace {

struct Pools {
    std::shared_ptr<MemoryPool> original, current;
};

/// Places other than device memory, whose pools belong to the devices.
struct PoolTable {
    std::mutex mutex;
    std::map<std::tuple<int, int, int>, Pools> pools;

    /// Call it with the lock held.
    Pools &at(const PoolPlace &place) {
        Pools &found = pools[{place.type, place.location.type, place.location.id}];
        if (!found.original) {
            found.original = found.current = std::make_shared<MemoryPool>(place, 0);
            registry<MemoryPool>().add(found.original);
        }
        return found;
    }
};

/// Never destroyed: clients may free memory at exit.
PoolTable &pool_table() {
    static auto *const instance = new PoolTable;
    return *instance;
}

} // namespace

PoolPlace PoolPlace::of(CUmemAllocationType type, const CUmemLocation &location) {
    const bool managed = type == CU_MEM_ALLOCATION_TYPE_MANAGED;
    require(managed || type == CU_MEM_ALLOCATION_TYPE_PINNED, CUDA_ERROR_INVALID_VALUE);
    PoolPlace place{type, {}};
    place.location.type = location.type;
    switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        place.location.id = System::get().device(location.id).ordinal();
        return place;
    case CU_MEM_LOCATION_TYPE_HOST:
        return place;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA: // there is one node
        require(location.id == 0, CUDA_ERROR_INVALID_VALUE);
        return place;
    case CU_MEM_LOCATION_TYPE_NONE:
        require(managed, CUDA_ERROR_INVALID_VALUE);
        return place;
    default:
        throw Error(CUDA_ERROR_INVALID_VALUE);
    }
}

PoolPlace PoolPlace::of(const Device &device) noexcept {
    PoolPlace place;
    place.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    place.location.id = device.ordinal();
    return place;
}

ClientMemory PoolPlace::client_memory() const noexcept {
    if (type == CU_MEM_ALLOCATION_TYPE_MANAGED)
        return ClientMemory::Managed;
    return is_device_memory() ? ClientMemory::Device : ClientMemory::Host;
}

Device &PoolPlace::device() const {
    return System::get().device(location.type == CU_MEM_LOCATION_TYPE_DEVICE ? location.id : 0);
}

MemoryPool::MemoryPool(Device &device) noexcept : device_(device), place_(PoolPlace::of(device)) {}

std::shared_ptr<MemoryPool> default_pool(const PoolPlace &place) {
    if (place.is_device_memory())
        return place.device().default_pool();
    std::lock_guard lock(pool_table().mutex);
    return pool_table().at(place).original;
}

std::shared_ptr<MemoryPool> current_pool(const PoolPlace &place) {
    if (place.is_device_memory())
        return place.device().current_pool();
    std::lock_guard lock(pool_table().mutex);
    return pool_table().at(place).current;
}

void set_current_pool(const PoolPlace &place, const std::shared_ptr<MemoryPool> &pool) {
    if (place.is_device_memory())
        return place.device().set_current_pool(pool);
    std::lock_guard lock(pool_table().mutex);
    pool_table().at(place).current = pool;
}

} // namespace softcuda::device
