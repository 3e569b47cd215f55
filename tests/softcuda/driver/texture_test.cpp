// texture_test.cpp -- arrays, their copies, and texture objects, without kernels.
#include "driver_test.h"

#include <numeric>

namespace {

class TextureTest : public DriverTest {
  protected:
    static CUarray make_array(std::size_t width, std::size_t height, std::size_t depth,
                              unsigned flags = 0) {
        CUDA_ARRAY3D_DESCRIPTOR description{};
        description.Width = width;
        description.Height = height;
        description.Depth = depth;
        description.Format = CU_AD_FORMAT_SIGNED_INT32;
        description.NumChannels = 1;
        description.Flags = flags;
        CUarray array = nullptr;
        EXPECT_EQ(cuArray3DCreate(&array, &description), CUDA_SUCCESS);
        return array;
    }
};

TEST_F(TextureTest, ArraysDescribeThemselves) {
    CUarray array = make_array(5, 4, 3, CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST);
    CUDA_ARRAY3D_DESCRIPTOR full{};
    ASSERT_EQ(cuArray3DGetDescriptor(&full, array), CUDA_SUCCESS);
    EXPECT_EQ(full.Width, 5U);
    EXPECT_EQ(full.Height, 4U);
    EXPECT_EQ(full.Depth, 3U);
    EXPECT_EQ(full.Format, CU_AD_FORMAT_SIGNED_INT32);
    EXPECT_EQ(full.NumChannels, 1U);
    EXPECT_EQ(full.Flags, unsigned{CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST});
    CUDA_ARRAY_DESCRIPTOR flat{};
    ASSERT_EQ(cuArrayGetDescriptor(&flat, array), CUDA_SUCCESS);
    EXPECT_EQ(flat.Height, 4U);
    ASSERT_EQ(cuArrayDestroy(array), CUDA_SUCCESS);
    EXPECT_EQ(cuArrayDestroy(array), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(TextureTest, InvalidArraysAreErrors) {
    CUarray array = nullptr;
    CUDA_ARRAY3D_DESCRIPTOR description{};
    description.Format = CU_AD_FORMAT_FLOAT;
    description.NumChannels = 1;
    EXPECT_EQ(cuArray3DCreate(&array, &description), CUDA_ERROR_INVALID_VALUE) << "no width";
    description.Width = 8;
    description.NumChannels = 3;
    EXPECT_EQ(cuArray3DCreate(&array, &description), CUDA_ERROR_INVALID_VALUE) << "3 channels";
    description.NumChannels = 1;
    description.Height = 4;
    description.Depth = 6;
    description.Flags = CUDA_ARRAY3D_CUBEMAP;
    EXPECT_EQ(cuArray3DCreate(&array, &description), CUDA_ERROR_INVALID_VALUE) << "no square";
    description.Flags = 0;
    description.Width = std::size_t{1} << 20;
    EXPECT_EQ(cuArray3DCreate(&array, &description), CUDA_ERROR_INVALID_VALUE) << "too wide";
    description.Width = 8;
    description.Format = static_cast<CUarray_format>(0x11);
    EXPECT_EQ(cuArray3DCreate(&array, &description), CUDA_ERROR_INVALID_VALUE) << "no format";
    EXPECT_EQ(cuArray3DCreate(&array, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(TextureTest, ABoxIsCopiedIntoTheMiddleOfAnArrayAndBack) {
    CUarray array = make_array(6, 5, 4);
    std::vector<std::int32_t> zeros(6 * 5 * 4), box(2 * 3 * 2), all(6 * 5 * 4, -1);
    std::iota(box.begin(), box.end(), 1);
    CUDA_MEMCPY3D whole{};
    whole.srcMemoryType = CU_MEMORYTYPE_HOST;
    whole.srcHost = zeros.data();
    whole.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    whole.dstArray = array;
    whole.WidthInBytes = 24;
    whole.Height = 5;
    whole.Depth = 4;
    ASSERT_EQ(cuMemcpy3D(&whole), CUDA_SUCCESS);
    CUDA_MEMCPY3D part = whole;
    part.srcHost = box.data();
    part.WidthInBytes = 8;
    part.Height = 3;
    part.Depth = 2;
    part.dstXInBytes = 4;
    part.dstY = 1;
    part.dstZ = 2;
    ASSERT_EQ(cuMemcpy3D(&part), CUDA_SUCCESS);
    CUDA_MEMCPY3D back{};
    back.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    back.srcArray = array;
    back.dstMemoryType = CU_MEMORYTYPE_HOST;
    back.dstHost = all.data();
    back.WidthInBytes = 24;
    back.Height = 5;
    back.Depth = 4;
    ASSERT_EQ(cuMemcpy3D(&back), CUDA_SUCCESS);
    for (int z = 0; z < 4; z++)
        for (int y = 0; y < 5; y++)
            for (int x = 0; x < 6; x++) {
                const bool inside = x >= 1 && x < 3 && y >= 1 && y < 4 && z >= 2;
                const int wanted = inside ? 1 + (x - 1) + 2 * (y - 1) + 6 * (z - 2) : 0;
                EXPECT_EQ(all[static_cast<std::size_t>(x + 6 * y + 30 * z)], wanted);
            }
    part.dstZ = 3; // one slice too many
    EXPECT_EQ(cuMemcpy3D(&part), CUDA_ERROR_INVALID_VALUE);
    part.dstZ = 0;
    part.dstXInBytes = 2; // in the middle of a texel
    EXPECT_EQ(cuMemcpy3D(&part), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(TextureTest, LinesAreCopiedBetweenArraysAndMemory) {
    CUarray first = make_array(8, 0, 0), second = make_array(8, 0, 0);
    const CUdeviceptr memory = allocate(32);
    std::vector<std::int32_t> values(8), got(8);
    std::iota(values.begin(), values.end(), 10);
    ASSERT_EQ(cuMemcpyHtoA(first, 0, values.data(), 32), CUDA_SUCCESS);
    ASSERT_EQ(cuMemcpyAtoA(second, 4, first, 0, 28), CUDA_SUCCESS);
    ASSERT_EQ(cuMemcpyAtoD(memory, second, 0, 32), CUDA_SUCCESS);
    EXPECT_EQ(read_words(memory, 8), (std::vector<std::int32_t>{0, 10, 11, 12, 13, 14, 15, 16}));
    ASSERT_EQ(cuMemcpyDtoA(first, 8, memory, 8), CUDA_SUCCESS);
    ASSERT_EQ(cuMemcpyAtoH(got.data(), first, 0, 32), CUDA_SUCCESS);
    EXPECT_EQ(got, (std::vector<std::int32_t>{10, 11, 0, 10, 14, 15, 16, 17}));
    EXPECT_EQ(cuMemcpyAtoH(got.data(), first, 8, 32), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemcpyHtoAAsync(first, 0, values.data(), 32, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyAtoHAsync(got.data(), first, 0, 32, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    EXPECT_EQ(got, values);
}

TEST_F(TextureTest, AMipmapWithoutTexelsIsAnError) {
    CUmipmappedArray mipmap = nullptr;
    CUDA_ARRAY3D_DESCRIPTOR description{};
    description.Format = CU_AD_FORMAT_FLOAT;
    description.NumChannels = 1;
    EXPECT_EQ(cuMipmappedArrayCreate(&mipmap, &description, 1), CUDA_ERROR_INVALID_VALUE);
    // Destroying the context destroys all of its objects.
    EXPECT_EQ(cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
}

TEST_F(TextureTest, MipmapsHalveToOneTexel) {
    CUDA_ARRAY3D_DESCRIPTOR description{};
    description.Width = 12;
    description.Height = 3;
    description.Format = CU_AD_FORMAT_FLOAT;
    description.NumChannels = 1;
    CUmipmappedArray mipmap = nullptr;
    ASSERT_EQ(cuMipmappedArrayCreate(&mipmap, &description, 99), CUDA_SUCCESS);
    const std::size_t widths[] = {12, 6, 3, 1}, heights[] = {3, 1, 1, 1};
    for (unsigned level = 0; level < 4; level++) {
        CUarray array = nullptr;
        CUDA_ARRAY3D_DESCRIPTOR of_level{};
        ASSERT_EQ(cuMipmappedArrayGetLevel(&array, mipmap, level), CUDA_SUCCESS);
        ASSERT_EQ(cuArray3DGetDescriptor(&of_level, array), CUDA_SUCCESS);
        EXPECT_EQ(of_level.Width, widths[level]);
        EXPECT_EQ(of_level.Height, heights[level]);
    }
    CUarray none = nullptr;
    EXPECT_EQ(cuMipmappedArrayGetLevel(&none, mipmap, 4), CUDA_ERROR_INVALID_VALUE);
    ASSERT_EQ(cuMipmappedArrayDestroy(mipmap), CUDA_SUCCESS);
    EXPECT_EQ(cuMipmappedArrayGetLevel(&none, mipmap, 0), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(TextureTest, ObjectsReturnTheirDescriptions) {
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = make_array(4, 4, 0);
    CUDA_TEXTURE_DESC texture{};
    texture.addressMode[0] = CU_TR_ADDRESS_MODE_MIRROR;
    texture.flags = CU_TRSF_NORMALIZED_COORDINATES;
    CUtexObject object = 0;
    ASSERT_EQ(cuTexObjectCreate(&object, &resource, &texture, nullptr), CUDA_SUCCESS);
    CUDA_RESOURCE_DESC same_resource{};
    CUDA_TEXTURE_DESC same_texture{};
    CUDA_RESOURCE_VIEW_DESC view{};
    ASSERT_EQ(cuTexObjectGetResourceDesc(&same_resource, object), CUDA_SUCCESS);
    ASSERT_EQ(cuTexObjectGetTextureDesc(&same_texture, object), CUDA_SUCCESS);
    EXPECT_EQ(same_resource.res.array.hArray, resource.res.array.hArray);
    EXPECT_EQ(same_texture.addressMode[0], CU_TR_ADDRESS_MODE_MIRROR);
    EXPECT_EQ(cuTexObjectGetResourceViewDesc(&view, object), CUDA_ERROR_INVALID_VALUE);
    CUsurfObject surface = 0;
    EXPECT_EQ(cuSurfObjectCreate(&surface, &resource), CUDA_SUCCESS)
        << "an H200 does not require the array's flag for surfaces";
    EXPECT_EQ(cuSurfObjectDestroy(surface), CUDA_SUCCESS);
    EXPECT_EQ(cuSurfObjectDestroy(object), CUDA_ERROR_INVALID_VALUE) << "it is a texture";
    ASSERT_EQ(cuTexObjectDestroy(object), CUDA_SUCCESS);
    EXPECT_EQ(cuTexObjectDestroy(object), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuTexObjectDestroy(0), CUDA_SUCCESS);
    EXPECT_EQ(cuSurfObjectDestroy(0), CUDA_SUCCESS);
    texture.filterMode = CU_TR_FILTER_MODE_LINEAR;
    ASSERT_EQ(cuTexObjectCreate(&object, &resource, &texture, nullptr), CUDA_SUCCESS)
        << "an H200 filters integers, too";
    EXPECT_EQ(cuTexObjectDestroy(object), CUDA_SUCCESS);
}

TEST_F(TextureTest, ReferencesStoreTheirSettings) {
    CUtexref reference = nullptr;
    ASSERT_EQ(cuTexRefCreate(&reference), CUDA_SUCCESS);
    CUarray array = nullptr;
    EXPECT_EQ(cuTexRefGetArray(&array, reference), CUDA_ERROR_INVALID_VALUE) << "none is bound";
    ASSERT_EQ(cuTexRefSetArray(reference, make_array(4, 0, 0), CU_TRSA_OVERRIDE_FORMAT),
              CUDA_SUCCESS);
    ASSERT_EQ(cuTexRefSetFlags(reference, CU_TRSF_READ_AS_INTEGER), CUDA_SUCCESS);
    ASSERT_EQ(cuTexRefSetAddressMode(reference, 0, CU_TR_ADDRESS_MODE_BORDER), CUDA_SUCCESS);
    CUaddress_mode mode{};
    ASSERT_EQ(cuTexRefGetAddressMode(&mode, reference, 0), CUDA_SUCCESS);
    EXPECT_EQ(mode, CU_TR_ADDRESS_MODE_BORDER);
    EXPECT_EQ(cuTexRefSetFilterMode(reference, static_cast<CUfilter_mode>(7)),
              CUDA_ERROR_INVALID_VALUE);
    CUfilter_mode filter{};
    ASSERT_EQ(cuTexRefGetFilterMode(&filter, reference), CUDA_SUCCESS);
    EXPECT_EQ(filter, CU_TR_FILTER_MODE_POINT) << "a change that fails leaves all as it was";
    ASSERT_EQ(cuTexRefGetArray(&array, reference), CUDA_SUCCESS);
    EXPECT_NE(array, nullptr);
    const CUdeviceptr memory = allocate(512);
    std::size_t offset = 7;
    ASSERT_EQ(cuTexRefSetAddress(&offset, reference, memory + 16, 64), CUDA_SUCCESS);
    EXPECT_EQ(offset, 16U);
    ASSERT_EQ(cuTexRefDestroy(reference), CUDA_SUCCESS);
    EXPECT_EQ(cuTexRefDestroy(reference), CUDA_ERROR_INVALID_HANDLE);
}

} // namespace
