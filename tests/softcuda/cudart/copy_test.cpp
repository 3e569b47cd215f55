// copy_test.cpp -- copies and fills of all kinds.
#include "cudart_test.h"

#include <numeric>

namespace {

using CopyTest = CudartTest;

std::vector<int> count_to(int n) {
    std::vector<int> values(static_cast<std::size_t>(n));
    std::iota(values.begin(), values.end(), 0);
    return values;
}

TEST_F(CopyTest, TheDriverMayDetermineTheDirection) {
    const std::vector<int> from = count_to(10);
    int *memory = make(from);
    std::vector<int> to(10);
    ASSERT_OK(cudaMemcpy(to.data(), memory, 40, cudaMemcpyDefault));
    EXPECT_EQ(to, from);
    EXPECT_EQ(cudaMemcpy(to.data(), memory, 40, static_cast<cudaMemcpyKind>(9)),
              cudaErrorInvalidMemcpyDirection);
    EXPECT_EQ(cudaMemcpy(nullptr, memory, 40, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    EXPECT_OK(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyDeviceToHost));
}

TEST_F(CopyTest, LinesKeepTheirPitch) {
    void *memory = nullptr;
    std::size_t pitch = 0;
    ASSERT_OK(cudaMallocPitch(&memory, &pitch, 12, 4));
    EXPECT_GE(pitch, 12U);
    const std::vector<int> from = count_to(12);
    ASSERT_OK(cudaMemcpy2D(memory, pitch, from.data(), 12, 12, 4, cudaMemcpyHostToDevice));
    ASSERT_OK(cudaMemset2D(static_cast<char *>(memory) + pitch, pitch, 0xff, 4, 2));
    std::vector<int> to(12);
    ASSERT_OK(
        cudaMemcpy2DAsync(to.data(), 12, memory, pitch, 12, 4, cudaMemcpyDeviceToHost, nullptr));
    ASSERT_OK(cudaStreamSynchronize(nullptr));
    EXPECT_EQ(to, (std::vector<int>{0, 1, 2, -1, 4, 5, -1, 7, 8, 9, 10, 11}));
    EXPECT_EQ(cudaMemcpy2D(memory, 8, from.data(), 12, 12, 4, cudaMemcpyHostToDevice),
              cudaErrorInvalidPitchValue);
}

TEST_F(CopyTest, BoxesAreCopiedAndFilled) {
    cudaPitchedPtr box{};
    ASSERT_OK(cudaMalloc3D(&box, {8, 3, 2}));
    std::vector<int> from = count_to(12);
    cudaMemcpy3DParms copy{};
    copy.srcPtr = {from.data(), 8, 8, 3};
    copy.dstPtr = box;
    copy.extent = {8, 3, 2};
    copy.kind = cudaMemcpyHostToDevice;
    ASSERT_OK(cudaMemcpy3D(&copy));
    ASSERT_OK(cudaMemset3D(box, 0xff, {4, 2, 2}));
    std::vector<int> to(12);
    copy.srcPtr = box;
    copy.dstPtr = {to.data(), 8, 8, 3};
    copy.kind = cudaMemcpyDeviceToHost;
    ASSERT_OK(cudaMemcpy3DAsync(&copy, nullptr));
    ASSERT_OK(cudaDeviceSynchronize());
    EXPECT_EQ(to, (std::vector<int>{-1, 1, -1, 3, 4, 5, -1, 7, -1, 9, 10, 11}));
    copy.srcPtr.ptr = nullptr;
    EXPECT_EQ(cudaMemcpy3D(&copy), cudaErrorInvalidValue);
}

TEST_F(CopyTest, ArraysCountElementsAndBytes) {
    const cudaChannelFormatDesc format =
        cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindSigned);
    cudaArray_t array = nullptr;
    ASSERT_OK(cudaMallocArray(&array, &format, 4, 3, 0));
    cudaChannelFormatDesc found{};
    cudaExtent extent{};
    unsigned flags = 1;
    ASSERT_OK(cudaArrayGetInfo(&found, &extent, &flags, array));
    EXPECT_EQ(found.x, 32);
    EXPECT_EQ(found.f, cudaChannelFormatKindSigned);
    EXPECT_EQ(extent.height, 3U);
    std::vector<int> from = count_to(12);
    ASSERT_OK(cudaMemcpy2DToArray(array, 0, 0, from.data(), 16, 16, 3, cudaMemcpyHostToDevice));
    cudaMemcpy3DParms copy{};
    std::vector<int> to(4);
    copy.srcArray = array;
    copy.srcPos = {1, 1, 0};
    copy.dstPtr = {to.data(), 8, 8, 2};
    copy.extent = {2, 2, 1}; // in elements, because one side is an array
    copy.kind = cudaMemcpyDeviceToHost;
    ASSERT_OK(cudaMemcpy3D(&copy));
    EXPECT_EQ(to, (std::vector<int>{5, 6, 9, 10}));
    ASSERT_OK(cudaMemcpy2DFromArray(to.data(), 8, array, 8, 0, 8, 2, cudaMemcpyDeviceToHost));
    EXPECT_EQ(to, (std::vector<int>{2, 3, 6, 7}));
    EXPECT_EQ(cudaMemcpy2DFromArray(to.data(), 8, nullptr, 8, 0, 8, 2, cudaMemcpyDeviceToHost),
              cudaErrorInvalidResourceHandle);
    ASSERT_OK(cudaFreeArray(array));
}

extern "C" {
cudaError_t cudaMemcpyToArray(cudaArray_t, std::size_t, std::size_t, const void *, std::size_t,
                              cudaMemcpyKind);
cudaError_t cudaMemcpyFromArray(void *, cudaArray_const_t, std::size_t, std::size_t, std::size_t,
                                cudaMemcpyKind);
}

TEST_F(CopyTest, OldCopiesContinueInTheNextLine) {
    const cudaChannelFormatDesc format =
        cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindSigned);
    cudaArray_t array = nullptr;
    ASSERT_OK(cudaMallocArray(&array, &format, 4, 3, 0));
    const std::vector<int> zero(12);
    ASSERT_OK(cudaMemcpyToArray(array, 0, 0, zero.data(), 48, cudaMemcpyHostToDevice));
    const std::vector<int> from = {1, 2, 3, 4, 5, 6, 7};
    ASSERT_OK(cudaMemcpyToArray(array, 8, 0, from.data(), 28, cudaMemcpyHostToDevice));
    std::vector<int> to(12);
    ASSERT_OK(cudaMemcpyFromArray(to.data(), array, 0, 0, 48, cudaMemcpyDeviceToHost));
    EXPECT_EQ(to, (std::vector<int>{0, 0, 1, 2, 3, 4, 5, 6, 7, 0, 0, 0}));
    ASSERT_OK(cudaFreeArray(array));
}

TEST_F(CopyTest, ChannelsThatDoNotFitAreNamed) {
    cudaArray_t array = nullptr;
    for (const cudaChannelFormatDesc &wrong :
         {cudaChannelFormatDesc{8, 16, 0, 0, cudaChannelFormatKindUnsigned},
          cudaChannelFormatDesc{8, 8, 8, 0, cudaChannelFormatKindUnsigned},
          cudaChannelFormatDesc{8, 0, 0, 8, cudaChannelFormatKindUnsigned},
          cudaChannelFormatDesc{8, 0, 0, 0, cudaChannelFormatKindFloat},
          cudaChannelFormatDesc{0, 0, 0, 0, cudaChannelFormatKindSigned}})
        EXPECT_EQ(cudaMallocArray(&array, &wrong, 4, 4, 0), cudaErrorInvalidChannelDescriptor);
}

} // namespace
