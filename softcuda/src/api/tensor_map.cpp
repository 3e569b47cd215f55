// tensor_map.cpp -- descriptions of tensors for instructions that copy boxes of them.
#include "support/tensor_map.h"

#include "api/call.h"
#include "device/driver_log.h"

#include <cstring>
#include <string>

using namespace softcuda;

namespace {

constexpr std::uint64_t kAlignment = 64;

void require_place(const CUtensorMap *map) {
    device::require(map && reinterpret_cast<std::uint64_t>(map) % kAlignment == 0,
                    CUDA_ERROR_INVALID_VALUE);
}

void log(const char *function, const char *fault) {
    device::driver_log::add(device::driver_log::Level::Error, std::string(function) + ": " + fault);
}

/// Throws Error, and logs the reason, if the map cannot be used.
void require_usable(const TensorMap &map, const char *function) {
    const char *fault = map.find_fault();
    if (fault)
        log(function, fault);
    device::require(!fault, CUDA_ERROR_INVALID_VALUE);
}

} // namespace

CUresult cuTensorMapEncodeTiled(CUtensorMap *out, CUtensorMapDataType type, cuuint32_t rank,
                                void *address, const cuuint64_t *extents, const cuuint64_t *strides,
                                const cuuint32_t *box, const cuuint32_t *steps,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
    return api::guarded([&] {
        require_place(out);
        device::require(rank >= 1 && rank <= TensorMap::kMostDimensions && extents && box &&
                            steps && (rank == 1 || strides),
                        CUDA_ERROR_INVALID_VALUE);
        device::require(type <= CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B &&
                            interleave <= CU_TENSOR_MAP_INTERLEAVE_32B &&
                            swizzle <= CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B &&
                            promotion <= CU_TENSOR_MAP_L2_PROMOTION_L2_256B &&
                            fill <= CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA,
                        CUDA_ERROR_INVALID_VALUE);
        const bool known = type <= CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ &&
                           interleave == CU_TENSOR_MAP_INTERLEAVE_NONE &&
                           swizzle <= CU_TENSOR_MAP_SWIZZLE_128B;
        if (!known)
            log("cuTensorMapEncodeTiled", "interleaved layouts, packed types and swizzles of "
                                          "compute capability 10.0 are not available");
        device::require(known, CUDA_ERROR_NOT_SUPPORTED);
        TensorMap map;
        map.address = reinterpret_cast<std::uint64_t>(address);
        map.rank = static_cast<std::uint8_t>(rank);
        map.type = static_cast<TensorType>(type);
        map.swizzle = static_cast<TensorSwizzle>(swizzle);
        map.fills_with_nan = fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
        for (unsigned d = 0; d < rank; d++) {
            map.extents[d] = fitting<std::uint32_t>(extents[d]);
            map.box[d] = fitting<std::uint16_t>(box[d]);
            map.steps[d] = fitting<std::uint8_t>(steps[d]);
            if (d > 0)
                map.strides[d - 1] = strides[d - 1];
        }
        require_usable(map, "cuTensorMapEncodeTiled");
        std::memcpy(out, &map, sizeof map);
    });
}

CUresult cuTensorMapReplaceAddress(CUtensorMap *out, void *address) {
    return api::guarded([&] {
        require_place(out);
        TensorMap map;
        std::memcpy(static_cast<void *>(&map), out, sizeof map);
        map.address = reinterpret_cast<std::uint64_t>(address);
        require_usable(map, "cuTensorMapReplaceAddress");
        std::memcpy(out, &map, sizeof map);
    });
}
