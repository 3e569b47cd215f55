// old_launch_test.cpp -- the launch functions of CUDA 3 and older.
#include "driver_test.h"

namespace {

using OldLaunchTest = DriverTest;

TEST_F(OldLaunchTest, LaunchesWithTheDescription) {
    const CUdeviceptr memory = allocate(4);
    const CUfunction store = function("store");
    ASSERT_EQ(cuFuncSetBlockShape(store, 1, 1, 1), CUDA_SUCCESS);
    ASSERT_EQ(cuFuncSetSharedSize(store, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuParamSetSize(store, 12), CUDA_SUCCESS);
    CUdeviceptr argument = memory;
    ASSERT_EQ(cuParamSetv(store, 0, &argument, sizeof argument), CUDA_SUCCESS);
    ASSERT_EQ(cuParamSeti(store, 8, 7), CUDA_SUCCESS);
    ASSERT_EQ(cuLaunch(store), CUDA_SUCCESS);
    EXPECT_EQ(read_words(memory, 1).front(), 7);
    // Settings stay for the next launch.
    ASSERT_EQ(cuParamSetf(store, 8, 1.0F), CUDA_SUCCESS);
    ASSERT_EQ(cuLaunchGrid(store, 1, 1), CUDA_SUCCESS);
    EXPECT_EQ(read_words(memory, 1).front(), 0x3f800000);
    CUstream stream = nullptr;
    ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    ASSERT_EQ(cuParamSeti(store, 8, 9), CUDA_SUCCESS);
    ASSERT_EQ(cuLaunchGridAsync(store, 1, 1, stream), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    EXPECT_EQ(read_words(memory, 1).front(), 9);
}

TEST_F(OldLaunchTest, GridsHaveTwoDimensions) {
    const CUdeviceptr counter = allocate(4);
    const CUfunction count = function("count");
    CUdeviceptr argument = counter;
    ASSERT_EQ(cuFuncSetBlockShape(count, 32, 2, 1), CUDA_SUCCESS);
    ASSERT_EQ(cuParamSetSize(count, 8), CUDA_SUCCESS);
    ASSERT_EQ(cuParamSetv(count, 0, &argument, sizeof argument), CUDA_SUCCESS);
    ASSERT_EQ(cuLaunchGrid(count, 5, 3), CUDA_SUCCESS);
    EXPECT_EQ(read_words(counter, 1).front(), 15);
}

TEST_F(OldLaunchTest, MissingOrWrongSettingsAreErrors) {
    const CUfunction store = function("store");
    EXPECT_EQ(cuLaunch(store), CUDA_ERROR_INVALID_VALUE) << "no block shape";
    EXPECT_EQ(cuFuncSetBlockShape(store, 0, 1, 1), CUDA_ERROR_INVALID_VALUE);
    ASSERT_EQ(cuFuncSetBlockShape(store, 1, 1, 1), CUDA_SUCCESS);
    EXPECT_EQ(cuLaunch(store), CUDA_ERROR_INVALID_VALUE) << "no parameters";
    ASSERT_EQ(cuParamSetSize(store, 8), CUDA_SUCCESS);
    EXPECT_EQ(cuLaunch(store), CUDA_ERROR_INVALID_VALUE) << "too few bytes of them";
    EXPECT_EQ(cuLaunchGrid(store, 0, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuParamSetSize(store, 1 << 20), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuParamSeti(store, -4, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuParamSeti(store, 32764, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuParamSetv(store, 0, nullptr, 4), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuParamSetTexRef(store, CU_PARAM_TR_DEFAULT, nullptr), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_EQ(cuFuncSetBlockShape(nullptr, 1, 1, 1), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_EQ(cuLaunch(nullptr), CUDA_ERROR_INVALID_HANDLE);
}

} // namespace
