// managed_memory.cpp -- hints for the location of managed memory, and queries of the hints.
//
// Host and devices share the same memory, so its location never matters. Hints are checked, stored
// and returned.
#include "api/call.h"
#include "api/default_stream.h"
#include "device/graphs/capture.h"
#include "device/range_advice.h"

#include <algorithm>
#include <span>
#include <sys/syscall.h>
#include <unistd.h>

using namespace softcuda;
using device::RangeAdvice;
using Hints = RangeAdvice::Hints;

namespace {

int current_node() {
    unsigned processor = 0, node = 0;
    syscall(SYS_getcpu, &processor, &node, nullptr);
    return static_cast<int>(node);
}

/// A place in stored form: with a node's number, and without a number for the host. Throws Error.
CUmemLocation checked(const device::System &system, const CUmemLocation &location) {
    switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        static_cast<void>(system.device(location.id));
        return location;
    case CU_MEM_LOCATION_TYPE_HOST:
        return {.type = location.type, .id = CU_DEVICE_CPU};
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
        device::require(location.id >= 0, CUDA_ERROR_INVALID_VALUE);
        return location;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
        return {.type = CU_MEM_LOCATION_TYPE_HOST_NUMA, .id = current_node()};
    default:
        throw device::Error(CUDA_ERROR_INVALID_VALUE);
    }
}

/// A place as the functions before CUDA 12.2 name it.
CUmemLocation location_of(CUdevice place) {
    if (place == CU_DEVICE_CPU)
        return {.type = CU_MEM_LOCATION_TYPE_HOST, .id = 0};
    return {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = place};
}

/// The number of a device or the host in the set of accessors.
int accessor(const device::System &system, const CUmemLocation &location) {
    device::require(location.type == CU_MEM_LOCATION_TYPE_DEVICE ||
                        location.type == CU_MEM_LOCATION_TYPE_HOST,
                    CUDA_ERROR_INVALID_VALUE);
    return checked(system, location).id;
}

template <class Change>
void change(device::System &system, CUdeviceptr address, std::size_t bytes, Change apply) {
    system.memory().advice(address, bytes)->change(address, address + bytes, apply);
}

void advise(device::System &system, CUdeviceptr address, std::size_t bytes, CUmem_advise advice,
            const CUmemLocation &location) {
    const auto apply = [&](auto &&set) { change(system, address, bytes, set); };
    switch (advice) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY:
        return apply([](Hints &hints) { hints.read_mostly = true; });
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
        return apply([](Hints &hints) { hints.read_mostly = false; });
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
        return apply(
            [place = checked(system, location)](Hints &hints) { hints.preferred = place; });
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
        return apply([](Hints &hints) { hints.preferred = {}; });
    case CU_MEM_ADVISE_SET_ACCESSED_BY:
        return apply(
            [who = accessor(system, location)](Hints &hints) { hints.accessed_by.insert(who); });
    case CU_MEM_ADVISE_UNSET_ACCESSED_BY:
        return apply(
            [who = accessor(system, location)](Hints &hints) { hints.accessed_by.erase(who); });
    default:
        throw device::Error(CUDA_ERROR_INVALID_VALUE);
    }
}

void prefetch(device::System &system, CUdeviceptr address, std::size_t bytes,
              const CUmemLocation &location) {
    change(system, address, bytes,
           [place = checked(system, location)](Hints &hints) { hints.prefetched = place; });
}

/// The ordinal of a device or of the host; a node has none.
int ordinal_in(const CUmemLocation &place) {
    const bool has_number =
        place.type == CU_MEM_LOCATION_TYPE_DEVICE || place.type == CU_MEM_LOCATION_TYPE_HOST;
    return has_number ? place.id : CU_DEVICE_INVALID;
}

int id_in(const CUmemLocation &place) {
    return place.type == CU_MEM_LOCATION_TYPE_INVALID ? CU_DEVICE_INVALID : place.id;
}

int number_of(const Hints &hints, CUmem_range_attribute attribute) {
    switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
        return hints.read_mostly;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
        return ordinal_in(hints.preferred);
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
        return ordinal_in(hints.prefetched);
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
        return hints.preferred.type;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
        return id_in(hints.preferred);
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
        return hints.prefetched.type;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
        return id_in(hints.prefetched);
    default:
        throw device::Error(CUDA_ERROR_INVALID_VALUE);
    }
}

void give(void *data, std::size_t bytes, CUmem_range_attribute attribute, const Hints &hints) {
    api::require_non_null(data);
    const std::span numbers(static_cast<int *>(data), bytes / sizeof(int));
    device::require(!numbers.empty() && bytes % sizeof(int) == 0, CUDA_ERROR_INVALID_VALUE);
    if (attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY) {
        std::ranges::fill(numbers, CU_DEVICE_INVALID);
        const auto count = std::min(numbers.size(), hints.accessed_by.size());
        std::copy_n(hints.accessed_by.begin(), count, numbers.begin());
        return;
    }
    device::require(numbers.size() == 1, CUDA_ERROR_INVALID_VALUE);
    numbers.front() = number_of(hints, attribute);
}

Hints hints_of(device::System &system, CUdeviceptr address, std::size_t bytes) {
    return system.memory().advice(address, bytes)->common(address, address + bytes);
}

/// The ranges of a batch: equal numbers of addresses and sizes.
struct Ranges {
    const CUdeviceptr *addresses;
    const std::size_t *sizes;
    std::size_t count;
};

void check_ranges(device::System &system, const Ranges &ranges, unsigned long long flags) {
    api::require_non_null(ranges.addresses, ranges.sizes);
    device::require(ranges.count > 0 && flags == 0, CUDA_ERROR_INVALID_VALUE);
    for (std::size_t i = 0; i < ranges.count; i++)
        static_cast<void>(system.memory().advice(ranges.addresses[i], ranges.sizes[i]));
}

/// The places of ranges: places[k] applies from range `first[k]` on.
void check_places(const CUmemLocation *places, const std::size_t *first, std::size_t count,
                  std::size_t ranges) {
    api::require_non_null(places, first);
    device::require(count > 0 && count <= ranges && first[0] == 0, CUDA_ERROR_INVALID_VALUE);
    for (std::size_t i = 1; i < count; i++)
        device::require(first[i] > first[i - 1] && first[i] < ranges, CUDA_ERROR_INVALID_VALUE);
}

} // namespace

#undef cuMemAdvise
#undef cuMemPrefetchAsync
SCU_EXPORT CUresult CUDAAPI cuMemAdvise_v2(CUdeviceptr address, std::size_t bytes,
                                           CUmem_advise advice, CUmemLocation location) {
    return api::with_system<api::InCapture::Refused>(
        [&](device::System &system) { advise(system, address, bytes, advice, location); });
}

SCU_EXPORT CUresult CUDAAPI cuMemAdvise(CUdeviceptr address, std::size_t bytes, CUmem_advise advice,
                                        CUdevice place) {
    return cuMemAdvise_v2(address, bytes, advice, location_of(place));
}

SCU_EXPORT CUresult CUDAAPI cuMemPrefetchAsync_v2(CUdeviceptr address, std::size_t bytes,
                                                  CUmemLocation location, unsigned int flags,
                                                  CUstream stream) {
    return api::with_context_of(stream, [&](device::Context &context) {
        device::capture::forbid(*api::find_stream(context, stream)); // no node moves memory
        device::require(flags == 0, CUDA_ERROR_INVALID_VALUE);
        prefetch(device::System::get(), address, bytes, location);
    });
}

SCU_EXPORT CUresult CUDAAPI cuMemPrefetchAsync(CUdeviceptr address, std::size_t bytes,
                                               CUdevice place, CUstream stream) {
    return cuMemPrefetchAsync_v2(address, bytes, location_of(place), 0, stream);
}

CUresult cuMemPrefetchBatchAsync(CUdeviceptr *addresses, std::size_t *sizes, std::size_t count,
                                 CUmemLocation *places, std::size_t *first, std::size_t place_count,
                                 unsigned long long flags, CUstream) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &system) {
        check_ranges(system, {addresses, sizes, count}, flags);
        check_places(places, first, place_count, count);
        std::size_t place = 0;
        for (std::size_t i = 0; i < count; i++) {
            if (place + 1 < place_count && first[place + 1] == i)
                place++;
            prefetch(system, addresses[i], sizes[i], places[place]);
        }
    });
}

// Discarded memory may have any value, so it keeps its value.
CUresult cuMemDiscardBatchAsync(CUdeviceptr *addresses, std::size_t *sizes, std::size_t count,
                                unsigned long long flags, CUstream) {
    return api::with_system<api::InCapture::Permitted>(
        [&](device::System &system) { check_ranges(system, {addresses, sizes, count}, flags); });
}

CUresult cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr *addresses, std::size_t *sizes,
                                           std::size_t count, CUmemLocation *places,
                                           std::size_t *first, std::size_t place_count,
                                           unsigned long long flags, CUstream stream) {
    return cuMemPrefetchBatchAsync(addresses, sizes, count, places, first, place_count, flags,
                                   stream);
}

CUresult cuMemRangeGetAttribute(void *data, std::size_t bytes, CUmem_range_attribute attribute,
                                CUdeviceptr address, std::size_t count) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &system) {
        give(data, bytes, attribute, hints_of(system, address, count));
    });
}

CUresult cuMemRangeGetAttributes(void **data, std::size_t *bytes, CUmem_range_attribute *attributes,
                                 std::size_t attribute_count, CUdeviceptr address,
                                 std::size_t count) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &system) {
        api::require_non_null(data, bytes, attributes);
        device::require(attribute_count > 0, CUDA_ERROR_INVALID_VALUE);
        const Hints hints = hints_of(system, address, count);
        for (std::size_t i = 0; i < attribute_count; i++)
            give(data[i], bytes[i], attributes[i], hints);
    });
}
