// tensor_map_test.cpp -- descriptions of tensors.
#include "driver_test.h"
#include "support/tensor_map.h"

#include <cstring>

namespace {

using softcuda::TensorMap;

/// The arguments of cuTensorMapEncodeTiled, of a tensor of 64 x 32 floats.
struct Request {
    CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    cuuint32_t rank = 2;
    std::uint64_t address = 4096;
    cuuint64_t extents[6] = {64, 32, 1, 1, 1, 1};
    cuuint64_t strides[5] = {256, 16, 16, 16, 16};
    cuuint32_t box[6] = {32, 8, 1, 1, 1, 1}, steps[6] = {1, 1, 1, 1, 1, 1};
    CUtensorMapInterleave interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;
    CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
    CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;

    CUresult encode(CUtensorMap *out) const {
        return cuTensorMapEncodeTiled(out, type, rank, reinterpret_cast<void *>(address), extents,
                                      strides, box, steps, interleave, swizzle,
                                      CU_TENSOR_MAP_L2_PROMOTION_NONE, fill);
    }
};

TEST(TensorMapTest, HasTheRequestedValues) {
    CUtensorMap map;
    Request request;
    request.swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
    request.steps[1] = 3;
    ASSERT_EQ(request.encode(&map), CUDA_SUCCESS);
    TensorMap held;
    std::memcpy(static_cast<void *>(&held), &map, sizeof held);
    EXPECT_EQ(held.find_fault(), nullptr);
    EXPECT_EQ(held.address, 4096);
    EXPECT_EQ(held.box_bytes(), 32 * 3 * 4); // 8 rows in steps of 3
    EXPECT_EQ(held.row_pitch(), 128);
    ASSERT_EQ(cuTensorMapReplaceAddress(&map, reinterpret_cast<void *>(8192)), CUDA_SUCCESS);
    std::memcpy(static_cast<void *>(&held), &map, sizeof held);
    EXPECT_EQ(held.address, 8192);
}

TEST(TensorMapTest, InvalidValuesAreErrors) {
    CUtensorMap map;
    const auto result_of = [&](auto change) {
        Request request;
        change(request);
        return request.encode(&map);
    };
    EXPECT_EQ(Request().encode(nullptr), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(result_of([](Request &r) { r.rank = 0; }), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(result_of([](Request &r) { r.rank = 6; }), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(result_of([](Request &r) { r.address = 4104; }), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(result_of([](Request &r) { r.extents[1] = 0; }), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(result_of([](Request &r) { r.extents[0] = cuuint64_t{1} << 33; }),
              CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(result_of([](Request &r) { r.strides[0] = 257; }), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(result_of([](Request &r) { r.box[1] = 257; }), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(result_of([](Request &r) { r.box[1] = 65536 + 8; }), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(result_of([](Request &r) { r.steps[1] = 9; }), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(result_of([](Request &r) { r.swizzle = CU_TENSOR_MAP_SWIZZLE_64B; }),
              CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(result_of([](Request &r) { r.interleave = CU_TENSOR_MAP_INTERLEAVE_16B; }),
              CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(result_of([](Request &r) { r.type = CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B; }),
              CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(result_of([](Request &r) { r.type = static_cast<CUtensorMapDataType>(99); }),
              CUDA_ERROR_INVALID_VALUE);
    std::memset(static_cast<void *>(&map), 1, sizeof map);
    EXPECT_EQ(cuTensorMapReplaceAddress(&map, nullptr), CUDA_ERROR_INVALID_VALUE);
}

} // namespace
