// texture_test.cpp -- texture and surface objects. Tests of kernels that read them are in
// tests/python/softcuda/test_runtime_api.py.
#include "cudart_test.h"

namespace {

class TextureTest : public CudartTest {
  protected:
    void SetUp() override {
        CudartTest::SetUp();
        format_ = cudaCreateChannelDesc(8, 8, 8, 8, cudaChannelFormatKindUnsigned);
        ASSERT_OK(cudaMallocArray(&array_, &format_, 16, 16, cudaArraySurfaceLoadStore));
        resource_.resType = cudaResourceTypeArray;
        resource_.res.array.array = array_;
        texture_.addressMode[0] = cudaAddressModeMirror;
        texture_.filterMode = cudaFilterModeLinear;
        texture_.readMode = cudaReadModeNormalizedFloat;
        texture_.normalizedCoords = 1;
        texture_.borderColor[2] = 0.5F;
    }

    cudaChannelFormatDesc format_{};
    cudaArray_t array_ = nullptr;
    cudaResourceDesc resource_{};
    cudaTextureDesc texture_{};
};

TEST_F(TextureTest, ATextureDescribesItself) {
    cudaTextureObject_t object = 0;
    ASSERT_OK(cudaCreateTextureObject(&object, &resource_, &texture_, nullptr));
    cudaResourceDesc resource{};
    cudaTextureDesc texture{};
    ASSERT_OK(cudaGetTextureObjectResourceDesc(&resource, object));
    ASSERT_OK(cudaGetTextureObjectTextureDesc(&texture, object));
    EXPECT_EQ(resource.res.array.array, array_);
    EXPECT_EQ(texture.addressMode[0], cudaAddressModeMirror);
    EXPECT_EQ(texture.readMode, cudaReadModeNormalizedFloat);
    EXPECT_EQ(texture.normalizedCoords, 1);
    EXPECT_EQ(texture.sRGB, 0);
    EXPECT_EQ(texture.borderColor[2], 0.5F);
    EXPECT_OK(cudaDestroyTextureObject(object));
    cudaSurfaceObject_t surface = 0;
    ASSERT_OK(cudaCreateSurfaceObject(&surface, &resource_));
    EXPECT_OK(cudaDestroySurfaceObject(surface));
}

// As on an H200 with driver 580.
TEST_F(TextureTest, SurfacesNeedNoFlagOfTheArray) {
    ASSERT_OK(cudaMallocArray(&resource_.res.array.array, &format_, 8, 8, cudaArrayDefault));
    cudaSurfaceObject_t surface = 0;
    ASSERT_OK(cudaCreateSurfaceObject(&surface, &resource_));
    EXPECT_OK(cudaDestroySurfaceObject(surface));
    resource_.resType = cudaResourceTypeLinear;
    EXPECT_EQ(cudaCreateSurfaceObject(&surface, &resource_), cudaErrorInvalidChannelDescriptor);
}

TEST_F(TextureTest, IntegersAreNotBlended) {
    cudaTextureObject_t object = 0;
    texture_.readMode = cudaReadModeElementType;
    EXPECT_EQ(cudaCreateTextureObject(&object, &resource_, &texture_, nullptr),
              cudaErrorInvalidFilterSetting);
    void *memory = nullptr;
    ASSERT_OK(cudaMalloc(&memory, 1024));
    resource_.resType = cudaResourceTypeLinear;
    resource_.res.linear.devPtr = memory;
    resource_.res.linear.desc = {32, 0, 0, 0, cudaChannelFormatKindSigned};
    resource_.res.linear.sizeInBytes = 1024;
    texture_ = {};
    texture_.readMode = cudaReadModeNormalizedFloat;
    EXPECT_EQ(cudaCreateTextureObject(&object, &resource_, &texture_, nullptr),
              cudaErrorInvalidNormSetting);
    texture_.readMode = cudaReadModeElementType;
    ASSERT_OK(cudaCreateTextureObject(&object, &resource_, &texture_, nullptr));
    cudaResourceDesc resource{};
    ASSERT_OK(cudaGetTextureObjectResourceDesc(&resource, object));
    EXPECT_EQ(resource.res.linear.desc.x, 32);
    EXPECT_EQ(resource.res.linear.sizeInBytes, 1024U);
    EXPECT_OK(cudaDestroyTextureObject(object));
}

} // namespace
