// probe.cpp -- creates a case's resource and kernel, launches, and reads the results.
#include "probe.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <dlfcn.h>
#include <stdexcept>

namespace probe {
namespace {

/// Generates the same numbers on each machine.
class Random {
  public:
    explicit Random(std::uint32_t seed) : state_(seed * 2654435761U + 12345) {}
    std::uint32_t next() {
        state_ = state_ * 1664525U + 1013904223U;
        return state_ >> 8;
    }
    float uniform() { return static_cast<float>(next()) / 16777216.0F; }

  private:
    std::uint32_t state_;
};

std::uint32_t seed_of(const Case &c) {
    std::uint32_t seed = 7;
    for (const char letter : c.name)
        seed = seed * 31 + static_cast<unsigned char>(letter);
    return seed;
}

unsigned element_bytes(const Case &c) {
    switch (c.format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
        return c.channels;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
        return 2 * c.channels;
    default:
        return 4 * c.channels;
    }
}

std::uint64_t texels(const std::array<unsigned, 3> &extent) {
    std::uint64_t count = 1;
    for (const unsigned n : extent)
        count *= std::max(1U, n);
    return count;
}

std::vector<std::byte> content(const Case &c, const std::array<unsigned, 3> &extent,
                               Random &random) {
    std::vector<std::byte> bytes(texels(extent) * element_bytes(c));
    if (c.format == CU_AD_FORMAT_FLOAT) {
        for (std::size_t i = 0; i + 4 <= bytes.size(); i += 4) {
            const float value = c.small_values ? static_cast<float>(random.next() >> 7 & 1)
                                               : random.uniform() * 20 - 10;
            std::memcpy(&bytes[i], &value, 4);
        }
    } else if (c.format == CU_AD_FORMAT_HALF) {
        for (std::size_t i = 0; i + 2 <= bytes.size(); i += 2) {
            const auto bits = static_cast<std::uint16_t>(0x3000 + (random.next() & 0x8fff));
            std::memcpy(&bytes[i], &bits, 2);
        }
    } else if (c.small_values) { // the lowest byte of each integer
        for (std::size_t i = 0; i < bytes.size(); i += element_bytes(c) / c.channels)
            bytes[i] = static_cast<std::byte>(random.next() >> 5);
    } else {
        for (std::byte &byte : bytes)
            byte = static_cast<std::byte>(random.next() >> 5);
    }
    return bytes;
}

/// Points in and around the texture; every second one is a multiple of 1/512 of a texel.
std::vector<float> coordinates(const Case &c, Random &random) {
    const bool normalized = (c.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
    std::vector<float> points;
    for (unsigned i = 0; i < kPoints * 4; i++) {
        const unsigned axis = i % 4;
        const auto n = static_cast<float>(axis < 3 ? std::max(1U, c.extent[axis]) : 4U);
        float value = random.uniform() * (n + 6) - 3;
        if (i / 4 % 2 == 0)
            value = static_cast<float>(static_cast<int>(value * 512)) / 512.0F;
        if (i / 4 % 5 == 0)
            value = std::clamp(value, 0.0F, n);
        points.push_back(normalized && axis < 3 ? value / n : value);
    }
    return points;
}

std::string source_of(const Case &c) {
    return R"(.version 7.8
.target sm_75
.address_size 64
.visible .entry k(.param .u64 handle, .param .u64 points, .param .u64 results)
{
  .reg .b32 %o<4>, %i<4>;
  .reg .s32 %r<4>;
  .reg .f32 %f<4>;
  .reg .b16 %w<4>;
  .reg .b64 %h, %p, %q, %d<4>;
  .reg .pred %p1;
  ld.param.u64 %h, [handle];
  ld.param.u64 %p, [points];
  ld.param.u64 %q, [results];
  mov.u32 %i0, %tid.x;
  mov.u32 %i1, %ctaid.x;
  mad.lo.s32 %i0, %i1, 32, %i0;
  mul.wide.u32 %d0, %i0, 16;
  add.s64 %p, %p, %d0;
  add.s64 %q, %q, %d0;
  ld.global.v4.f32 {%f0,%f1,%f2,%f3}, [%p];
  cvt.rmi.s32.f32 %r0, %f0;
  cvt.rmi.s32.f32 %r1, %f1;
  cvt.rmi.s32.f32 %r2, %f2;
  cvt.rmi.s32.f32 %r3, %f3;
  mov.b32 %o0, 0;
  mov.b32 %o1, 0;
  mov.b32 %o2, 0;
  mov.b32 %o3, 0;
)" + c.code +
           R"(
  st.global.v4.b32 [%q], {%o0,%o1,%o2,%o3};
  ret;
}
)";
}

bool is_layered(const Case &c) { return (c.array_flags & CUDA_ARRAY3D_LAYERED) != 0; }

/// A copy between a contiguous host buffer and an array.
CUDA_MEMCPY3D copy_of(const Case &c, const std::array<unsigned, 3> &extent) {
    CUDA_MEMCPY3D copy{};
    copy.WidthInBytes = std::size_t{extent[0]} * element_bytes(c);
    copy.Height = std::max(1U, extent[1]);
    copy.Depth = std::max(1U, extent[2]);
    return copy;
}

void upload(const Driver &driver, const Case &c, CUarray array,
            const std::array<unsigned, 3> &extent, Random &random) {
    const std::vector<std::byte> bytes = content(c, extent, random);
    CUDA_MEMCPY3D copy = copy_of(c, extent);
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = bytes.data();
    copy.srcPitch = copy.WidthInBytes;
    copy.srcHeight = copy.Height;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array;
    driver.call("cuMemcpy3D_v2", static_cast<const CUDA_MEMCPY3D *>(&copy));
}

std::vector<std::uint32_t> download(const Driver &driver, const Case &c, CUarray array) {
    CUDA_MEMCPY3D copy = copy_of(c, c.extent);
    std::vector<std::uint32_t> words((copy.WidthInBytes * copy.Height * copy.Depth + 3) /
                                     sizeof(std::uint32_t));
    copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.srcArray = array;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = words.data();
    copy.dstPitch = copy.WidthInBytes;
    copy.dstHeight = copy.Height;
    driver.call("cuMemcpy3D_v2", static_cast<const CUDA_MEMCPY3D *>(&copy));
    return words;
}

std::array<unsigned, 3> level_extent(const Case &c, unsigned level) {
    std::array<unsigned, 3> extent = c.extent;
    for (unsigned axis = 0; axis < 3; axis++)
        if (extent[axis] != 0 && !(axis == 2 && is_layered(c)))
            extent[axis] = std::max(1U, extent[axis] >> level);
    return extent;
}

/// The resource of the kernel, and the objects to free.
struct Resource {
    CUDA_RESOURCE_DESC description{};
    CUarray array = nullptr;
};

Resource make_resource(const Driver &driver, const Case &c, Random &random) {
    Resource made;
    CUDA_ARRAY3D_DESCRIPTOR description{};
    description.Width = c.extent[0];
    description.Height = c.extent[1];
    description.Depth = c.extent[2];
    description.Format = c.format;
    description.NumChannels = c.channels;
    description.Flags = c.array_flags;
    const auto *constant = const_cast<const CUDA_ARRAY3D_DESCRIPTOR *>(&description);
    if (c.resource == Case::Resource::Array) {
        driver.call("cuArray3DCreate_v2", &made.array, constant);
        upload(driver, c, made.array, c.extent, random);
        made.description.resType = CU_RESOURCE_TYPE_ARRAY;
        made.description.res.array.hArray = made.array;
        return made;
    }
    if (c.resource == Case::Resource::Mipmap) {
        CUmipmappedArray mipmap = nullptr;
        const unsigned levels = 3;
        driver.call("cuMipmappedArrayCreate", &mipmap, constant, levels);
        for (unsigned level = 0; level < levels; level++) {
            CUarray array = nullptr;
            driver.call("cuMipmappedArrayGetLevel", &array, mipmap, level);
            upload(driver, c, array, level_extent(c, level), random);
        }
        made.description.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
        made.description.res.mipmap.hMipmappedArray = mipmap;
        return made;
    }
    const std::vector<std::byte> bytes = content(c, c.extent, random);
    const std::size_t row = std::size_t{c.extent[0]} * element_bytes(c);
    const std::size_t pitch = c.resource == Case::Resource::Pitch ? (row + 511) / 512 * 512 : row;
    const std::size_t rows = std::max(1U, c.extent[1]);
    CUdeviceptr memory = 0;
    driver.call("cuMemAlloc_v2", &memory, pitch * rows);
    for (std::size_t y = 0; y < rows; y++)
        driver.call("cuMemcpyHtoD_v2", memory + y * pitch,
                    static_cast<const void *>(&bytes[y * row]), row);
    if (c.resource == Case::Resource::Linear) {
        made.description.resType = CU_RESOURCE_TYPE_LINEAR;
        made.description.res.linear = {memory, c.format, c.channels, row};
    } else {
        made.description.resType = CU_RESOURCE_TYPE_PITCH2D;
        made.description.res.pitch2D = {memory, c.format, c.channels, c.extent[0], rows, pitch};
    }
    return made;
}

std::uint64_t make_object(const Driver &driver, const Case &c, const Resource &resource) {
    unsigned long long object = 0;
    if (c.surface) {
        driver.call("cuSurfObjectCreate", &object, &resource.description);
        return object;
    }
    CUDA_TEXTURE_DESC texture{};
    for (CUaddress_mode &mode : texture.addressMode)
        mode = c.address;
    texture.filterMode = c.filter;
    texture.flags = c.flags;
    texture.mipmapFilterMode = c.mip_filter;
    texture.mipmapLevelBias = c.mip_bias;
    texture.minMipmapLevelClamp = c.mip_least;
    texture.maxMipmapLevelClamp = c.mip_most;
    texture.borderColor[0] = 0.25F;
    texture.borderColor[1] = -2.0F;
    texture.borderColor[2] = 1.0F;
    texture.borderColor[3] = 0.5F;
    driver.call("cuTexObjectCreate", &object, &resource.description,
                const_cast<const CUDA_TEXTURE_DESC *>(&texture),
                static_cast<const CUDA_RESOURCE_VIEW_DESC *>(nullptr));
    return object;
}

} // namespace

Driver::Driver(const char *path) : library_(dlopen(path, RTLD_NOW)) {
    if (!library_)
        throw std::runtime_error(dlerror());
}

void *Driver::find(const char *symbol) const {
    void *function = dlsym(library_, symbol);
    if (!function)
        throw std::runtime_error(std::string("the driver has no ") + symbol);
    return function;
}

void Driver::check(CUresult result, const char *symbol) {
    if (result != CUDA_SUCCESS)
        throw std::runtime_error(std::string(symbol) + " returned " + std::to_string(result));
}

std::vector<std::uint32_t> run(const Driver &driver, const Case &c) {
    Random random(seed_of(c));
    const Resource resource = make_resource(driver, c, random);
    std::uint64_t object = make_object(driver, c, resource);
    const std::vector<float> points = coordinates(c, random);
    CUdeviceptr device_points = 0, results = 0;
    const std::size_t bytes = points.size() * sizeof(float);
    driver.call("cuMemAlloc_v2", &device_points, bytes);
    driver.call("cuMemAlloc_v2", &results, bytes);
    driver.call("cuMemcpyHtoD_v2", device_points, static_cast<const void *>(points.data()), bytes);

    CUmodule module = nullptr;
    CUfunction kernel = nullptr;
    const std::string source = source_of(c);
    driver.call("cuModuleLoadData", &module, static_cast<const void *>(source.c_str()));
    driver.call("cuModuleGetFunction", &kernel, module, "k");
    void *arguments[] = {&object, &device_points, &results};
    driver.call("cuLaunchKernel", kernel, kPoints / 32, 1U, 1U, 32U, 1U, 1U, 0U, CUstream{nullptr},
                static_cast<void **>(arguments), static_cast<void **>(nullptr));
    driver.call("cuCtxSynchronize");
    std::vector<std::uint32_t> words(points.size());
    driver.call("cuMemcpyDtoH_v2", static_cast<void *>(words.data()), results, bytes);
    driver.call("cuModuleUnload", module);
    driver.call("cuMemFree_v2", device_points);
    driver.call("cuMemFree_v2", results);
    return c.show_array ? download(driver, c, resource.array) : words;
}

} // namespace probe
