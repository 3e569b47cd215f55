// memory_test.cpp -- allocation, copies, fills and queries about pointers.
#include "driver_test.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <numeric>

namespace {

using MemoryTest = DriverTest;

TEST_F(MemoryTest, CopiesThereAndBack) {
    const CUdeviceptr memory = allocate(400);
    std::vector<int> in(100), out(100);
    std::iota(in.begin(), in.end(), 7);
    ASSERT_EQ(cuMemcpyHtoD(memory, in.data(), 400), CUDA_SUCCESS);
    ASSERT_EQ(cuMemcpyDtoH(out.data(), memory, 400), CUDA_SUCCESS);
    EXPECT_EQ(in, out);
}

TEST_F(MemoryTest, CopiesInManyPieces) {
    constexpr std::size_t count = std::size_t{5} << 20;
    const CUdeviceptr a = allocate(count), b = allocate(count);
    std::vector<unsigned char> in(count), out(count);
    for (std::size_t i = 0; i < count; i++)
        in[i] = static_cast<unsigned char>(i * 31 >> 3);
    ASSERT_EQ(cuMemcpyHtoD(a, in.data(), count), CUDA_SUCCESS);
    ASSERT_EQ(cuMemcpyDtoDAsync(b, a, count, nullptr), CUDA_SUCCESS);
    ASSERT_EQ(cuMemcpyDtoH(out.data(), b, count), CUDA_SUCCESS);
    EXPECT_EQ(in, out);
}

TEST_F(MemoryTest, ACopyPastItsAllocationIsAnError) {
    const CUdeviceptr memory = allocate(400);
    std::vector<char> host(500);
    EXPECT_EQ(cuMemcpyHtoD(memory, host.data(), 401), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemcpyDtoH(host.data(), memory + 1, 400), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemcpyDtoH(host.data(), memory + 1, 399), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyHtoD(0x1000, host.data(), 4), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(MemoryTest, AnUnreadableHostPointerIsAnError) {
    const CUdeviceptr memory = allocate(4096);
    const auto *nowhere = reinterpret_cast<const void *>(std::uintptr_t{0x10000});
    EXPECT_EQ(cuMemcpyHtoD(memory, nowhere, 4096), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
}

TEST_F(MemoryTest, DoubleFreeAndUnknownPointers) {
    const CUdeviceptr memory = allocate(16);
    EXPECT_EQ(cuMemFree(memory + 8), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
    EXPECT_EQ(cuMemFree(memory), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemFree(0), CUDA_SUCCESS);
    EXPECT_EQ(cuMemFree(12345), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(MemoryTest, OutOfMemoryIsAgainstTheDevicesSize) {
    std::size_t free = 0, total = 0;
    ASSERT_EQ(cuMemGetInfo(&free, &total), CUDA_SUCCESS);
    CUdeviceptr memory = 0;
    EXPECT_EQ(cuMemAlloc(&memory, free + 1), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_EQ(cuMemAlloc(&memory, SIZE_MAX), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_EQ(cuMemAlloc(&memory, 0), CUDA_ERROR_INVALID_VALUE);
    ASSERT_EQ(cuMemAlloc(&memory, free / 2), CUDA_SUCCESS);
    std::size_t rest = 0;
    ASSERT_EQ(cuMemGetInfo(&rest, &total), CUDA_SUCCESS);
    EXPECT_EQ(rest, free - free / 2);
    EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
    ASSERT_EQ(cuMemGetInfo(&rest, &total), CUDA_SUCCESS);
    EXPECT_EQ(rest, free);
}

TEST_F(MemoryTest, ManySmallAllocationsAreDistinctAndAligned) {
    constexpr int count = 20000; // more than the allocations with separate pages
    std::vector<CUdeviceptr> all;
    for (int i = 0; i < count; i++) {
        all.push_back(allocate(4));
        ASSERT_EQ(all.back() % 256, 0U);
        ASSERT_EQ(cuMemsetD32(all.back(), static_cast<unsigned>(i), 1), CUDA_SUCCESS);
    }
    for (int i = 0; i < count; i += 997)
        EXPECT_EQ(read_words(all[static_cast<std::size_t>(i)], 1).front(), i);
    for (const CUdeviceptr memory : all)
        ASSERT_EQ(cuMemFree(memory), CUDA_SUCCESS);
}

TEST_F(MemoryTest, CopiesABoxOutOfAPitchedPlane) {
    CUdeviceptr plane = 0;
    std::size_t pitch = 0;
    ASSERT_EQ(cuMemAllocPitch(&plane, &pitch, 100, 10, 4), CUDA_SUCCESS);
    EXPECT_EQ(pitch % 512, 0U);
    std::vector<unsigned char> in(100 * 10), out(20 * 3, 0);
    std::iota(in.begin(), in.end(), static_cast<unsigned char>(0));
    CUDA_MEMCPY2D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = in.data();
    copy.srcPitch = 100;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = plane;
    copy.dstPitch = pitch;
    copy.WidthInBytes = 100;
    copy.Height = 10;
    ASSERT_EQ(cuMemcpy2D(&copy), CUDA_SUCCESS);
    CUDA_MEMCPY2D back{};
    back.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    back.srcDevice = plane;
    back.srcPitch = pitch;
    back.srcXInBytes = 5;
    back.srcY = 2;
    back.dstMemoryType = CU_MEMORYTYPE_HOST;
    back.dstHost = out.data();
    back.dstPitch = 20;
    back.WidthInBytes = 20;
    back.Height = 3;
    ASSERT_EQ(cuMemcpy2D(&back), CUDA_SUCCESS);
    for (std::size_t y = 0; y < 3; y++)
        for (std::size_t x = 0; x < 20; x++)
            ASSERT_EQ(out[y * 20 + x], in[(y + 2) * 100 + x + 5]);
}

TEST_F(MemoryTest, CopiesABoxInThreeDimensions) {
    constexpr std::size_t w = 8, h = 5, d = 4;
    const CUdeviceptr memory = allocate(w * h * d);
    std::vector<unsigned char> in(w * h * d), out(3 * 2 * 2);
    std::iota(in.begin(), in.end(), static_cast<unsigned char>(0));
    ASSERT_EQ(cuMemcpyHtoD(memory, in.data(), in.size()), CUDA_SUCCESS);
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = memory;
    copy.srcPitch = w;
    copy.srcHeight = h;
    copy.srcXInBytes = 1;
    copy.srcY = 2;
    copy.srcZ = 1;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = out.data();
    copy.WidthInBytes = 3;
    copy.Height = 2;
    copy.Depth = 2;
    ASSERT_EQ(cuMemcpy3D(&copy), CUDA_SUCCESS);
    for (std::size_t z = 0; z < 2; z++)
        for (std::size_t y = 0; y < 2; y++)
            for (std::size_t x = 0; x < 3; x++)
                EXPECT_EQ(out[(z * 2 + y) * 3 + x], in[((z + 1) * h + y + 2) * w + x + 1]);
}

TEST_F(MemoryTest, FillsWithEachWidth) {
    const CUdeviceptr memory = allocate(64);
    ASSERT_EQ(cuMemsetD8(memory, 0xab, 64), CUDA_SUCCESS);
    ASSERT_EQ(cuMemsetD16(memory + 8, 0x1234, 2), CUDA_SUCCESS);
    ASSERT_EQ(cuMemsetD32(memory + 16, 0xdeadbeef, 1), CUDA_SUCCESS);
    const std::vector<std::int32_t> words = read_words(memory, 16);
    EXPECT_EQ(static_cast<unsigned>(words[0]), 0xababababU);
    EXPECT_EQ(static_cast<unsigned>(words[2]), 0x12341234U);
    EXPECT_EQ(static_cast<unsigned>(words[4]), 0xdeadbeefU);
    EXPECT_EQ(static_cast<unsigned>(words[5]), 0xababababU);
    EXPECT_EQ(cuMemsetD32(memory + 2, 0, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemsetD8(memory, 0, 65), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(MemoryTest, FillsAPlane) {
    const CUdeviceptr memory = allocate(256);
    ASSERT_EQ(cuMemsetD2D32(memory, 64, 5, 3, 4), CUDA_SUCCESS);
    const std::vector<std::int32_t> words = read_words(memory, 64);
    for (std::size_t i = 0; i < 64; i++)
        EXPECT_EQ(words[i], i % 16 < 3 ? 5 : 0);
}

TEST_F(MemoryTest, NewMemoryIsZero) {
    for (int round = 0; round < 3; round++) {
        const CUdeviceptr memory = allocate(4096);
        EXPECT_EQ(read_words(memory, 1024), std::vector<std::int32_t>(1024));
        ASSERT_EQ(cuMemsetD8(memory, 0xff, 4096), CUDA_SUCCESS);
        ASSERT_EQ(cuMemFree(memory), CUDA_SUCCESS);
    }
}

TEST_F(MemoryTest, KernelsReachRegisteredHostMemoryOnly) {
    static std::int32_t word = 0;
    ASSERT_EQ(cuMemHostRegister(&word, 4, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuMemHostRegister(&word, 4, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    CUdeviceptr address = 0;
    ASSERT_EQ(cuMemHostGetDevicePointer(&address, &word, 0), CUDA_SUCCESS);
    ASSERT_EQ(launch("check_store", 1, 1, nullptr, address, 42), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    EXPECT_EQ(word, 42);
    ASSERT_EQ(cuMemHostUnregister(&word), CUDA_SUCCESS);
    EXPECT_EQ(cuMemHostUnregister(&word), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    ASSERT_EQ(launch("check_store", 1, 1, nullptr, address, 43), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT_EQ(word, 42);
}

TEST_F(MemoryTest, PointerAttributes) {
    const CUdeviceptr memory = allocate(100);
    CUmemorytype type{};
    ASSERT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory + 50),
              CUDA_SUCCESS);
    EXPECT_EQ(type, CU_MEMORYTYPE_DEVICE);
    CUdeviceptr start = 0;
    std::size_t size = 0;
    ASSERT_EQ(cuMemGetAddressRange(&start, &size, memory + 99), CUDA_SUCCESS);
    EXPECT_EQ(start, memory);
    EXPECT_EQ(size, 100U);
    EXPECT_EQ(cuMemGetAddressRange(&start, &size, memory + 100), CUDA_ERROR_NOT_FOUND);

    CUdeviceptr managed = 0;
    ASSERT_EQ(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
    int is_managed = 0;
    ASSERT_EQ(cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, managed),
              CUDA_SUCCESS);
    EXPECT_EQ(is_managed, 1);

    const int local = 0;
    const auto foreign = reinterpret_cast<CUdeviceptr>(&local);
    EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, foreign),
              CUDA_ERROR_INVALID_VALUE);
    CUcontext owner = context_;
    CUpointer_attribute names[] = {CU_POINTER_ATTRIBUTE_CONTEXT};
    void *values[] = {&owner};
    EXPECT_EQ(cuPointerGetAttributes(1, names, values, foreign), CUDA_SUCCESS);
    EXPECT_EQ(owner, nullptr);
}

TEST_F(MemoryTest, StreamOrderedMemory) {
    CUstream stream = nullptr;
    ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    CUdeviceptr memory = 0;
    ASSERT_EQ(cuMemAllocAsync(&memory, 1024, stream), CUDA_SUCCESS);
    CUmemoryPool pool = nullptr;
    ASSERT_EQ(cuDeviceGetDefaultMemPool(&pool, 0), CUDA_SUCCESS);
    cuuint64_t used = 0;
    ASSERT_EQ(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used), CUDA_SUCCESS);
    EXPECT_EQ(used, 1024U);
    std::int32_t *flag = mapped_word();
    ASSERT_EQ(launch("wait_for", 1, 1, stream, flag), CUDA_SUCCESS);
    ASSERT_EQ(launch("store", 1, 1, stream, memory, 3), CUDA_SUCCESS);
    ASSERT_EQ(cuMemFreeAsync(memory, stream), CUDA_SUCCESS);
    release_flag(flag);
    ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    ASSERT_EQ(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used), CUDA_SUCCESS);
    EXPECT_EQ(used, 0U);
    EXPECT_EQ(cuMemFreeAsync(memory, stream), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(MemoryTest, PoolsOfTheHostAndOfManagedMemory) {
    struct Wanted {
        CUmemAllocationType type;
        CUmemLocationType location;
        CUmemorytype memory;
        int managed;
    };
    for (const Wanted &wanted :
         {Wanted{CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_LOCATION_TYPE_HOST, CU_MEMORYTYPE_HOST, 0},
          Wanted{CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_LOCATION_TYPE_HOST_NUMA, CU_MEMORYTYPE_HOST,
                 0},
          Wanted{CU_MEM_ALLOCATION_TYPE_MANAGED, CU_MEM_LOCATION_TYPE_NONE, CU_MEMORYTYPE_DEVICE,
                 1},
          Wanted{CU_MEM_ALLOCATION_TYPE_MANAGED, CU_MEM_LOCATION_TYPE_DEVICE, CU_MEMORYTYPE_DEVICE,
                 1}}) {
        CUmemPoolProps properties{};
        properties.allocType = wanted.type;
        properties.location.type = wanted.location;
        CUmemoryPool pool = nullptr, found = nullptr;
        ASSERT_EQ(cuMemPoolCreate(&pool, &properties), CUDA_SUCCESS);
        ASSERT_EQ(cuMemGetMemPool(&found, &properties.location, wanted.type), CUDA_SUCCESS);
        EXPECT_NE(found, pool);
        ASSERT_EQ(cuMemSetMemPool(&properties.location, wanted.type, pool), CUDA_SUCCESS);
        ASSERT_EQ(cuMemGetMemPool(&found, &properties.location, wanted.type), CUDA_SUCCESS);
        EXPECT_EQ(found, pool);

        std::size_t free_before = 0, free_after = 0, total = 0;
        ASSERT_EQ(cuMemGetInfo(&free_before, &total), CUDA_SUCCESS);
        CUdeviceptr memory = 0;
        ASSERT_EQ(cuMemAllocFromPoolAsync(&memory, 4096, pool, nullptr), CUDA_SUCCESS);
        ASSERT_EQ(cuMemGetInfo(&free_after, &total), CUDA_SUCCESS);
        EXPECT_EQ(free_before == free_after, wanted.memory == CU_MEMORYTYPE_HOST);
        unsigned type = 0;
        int managed = -1;
        EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory),
                  CUDA_SUCCESS);
        EXPECT_EQ(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, memory),
                  CUDA_SUCCESS);
        EXPECT_EQ(type, static_cast<unsigned>(wanted.memory));
        EXPECT_EQ(managed, wanted.managed);
        ASSERT_EQ(cuMemFreeAsync(memory, nullptr), CUDA_SUCCESS);
        ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
        EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_SUCCESS);
        ASSERT_EQ(cuMemGetMemPool(&found, &properties.location, wanted.type), CUDA_SUCCESS);
        EXPECT_EQ(cuMemPoolDestroy(found), CUDA_ERROR_INVALID_VALUE); // the default pool
    }
}

TEST_F(MemoryTest, InvalidPoolsAreErrors) {
    CUmemoryPool pool = nullptr;
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED; // without a location
    EXPECT_EQ(cuMemPoolCreate(&pool, &properties), CUDA_ERROR_INVALID_VALUE);
    properties.location = {.type = CU_MEM_LOCATION_TYPE_HOST_NUMA, .id = 1};
    EXPECT_EQ(cuMemPoolCreate(&pool, &properties), CUDA_ERROR_INVALID_VALUE);
    properties.location = {.type = CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, .id = 0};
    EXPECT_EQ(cuMemPoolCreate(&pool, &properties), CUDA_ERROR_INVALID_VALUE);
    properties.location = {.type = CU_MEM_LOCATION_TYPE_HOST, .id = 0};
    properties.usage = 2;
    EXPECT_EQ(cuMemPoolCreate(&pool, &properties), CUDA_ERROR_NOT_SUPPORTED);
    properties.usage = 0;
    properties.allocType = CU_MEM_ALLOCATION_TYPE_MANAGED;
    properties.maxSize = 4096;
    EXPECT_EQ(cuMemPoolCreate(&pool, &properties), CUDA_ERROR_INVALID_VALUE);
    // A pool can be the current pool only of its own location.
    properties.maxSize = 0;
    ASSERT_EQ(cuMemPoolCreate(&pool, &properties), CUDA_SUCCESS);
    EXPECT_EQ(cuDeviceSetMemPool(0, pool), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemSetMemPool(&properties.location, CU_MEM_ALLOCATION_TYPE_PINNED, pool),
              CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_SUCCESS);
}

static CUresult make_pool_of_4096_bytes(CUmemoryPool *pool) {
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.maxSize = 4096;
    return cuMemPoolCreate(pool, &properties);
}

TEST_F(MemoryTest, APoolAllocatesNoMoreThanItsMaximum) {
    CUmemoryPool pool = nullptr;
    ASSERT_EQ(make_pool_of_4096_bytes(&pool), CUDA_SUCCESS);
    CUdeviceptr first = 0, second = 0, nothing = 1;
    EXPECT_EQ(cuMemAllocFromPoolAsync(&first, 3000, pool, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuMemAllocFromPoolAsync(&second, 1097, pool, nullptr), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_EQ(cuMemAllocFromPoolAsync(&second, 1096, pool, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuMemAllocFromPoolAsync(&nothing, 0, pool, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(nothing, 0U);
    EXPECT_EQ(cuMemFreeAsync(first, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuMemFreeAsync(second, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_SUCCESS);
}

TEST_F(MemoryTest, APoolCountsWhatIsFreedWithoutAStream) {
    CUmemoryPool pool = nullptr;
    ASSERT_EQ(make_pool_of_4096_bytes(&pool), CUDA_SUCCESS);
    CUdeviceptr memory = 0;
    for (int i = 0; i < 2; i++) {
        ASSERT_EQ(cuMemAllocFromPoolAsync(&memory, 4096, pool, nullptr), CUDA_SUCCESS);
        ASSERT_EQ(cuMemFree(memory), CUDA_SUCCESS);
    }
    EXPECT_EQ(cuMemFree(memory), CUDA_ERROR_INVALID_VALUE) << "freed twice";
    // The end of a context frees its memory.
    CUcontext context = nullptr;
#if CUDA_VERSION >= 13000
    ASSERT_EQ(cuCtxCreate(&context, nullptr, 0, 0), CUDA_SUCCESS);
#else
    ASSERT_EQ(cuCtxCreate(&context, 0, 0), CUDA_SUCCESS);
#endif
    ASSERT_EQ(cuMemAllocFromPoolAsync(&memory, 4096, pool, nullptr), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxDestroy(context), CUDA_SUCCESS);
    cuuint64_t used = 1;
    EXPECT_EQ(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used), CUDA_SUCCESS);
    EXPECT_EQ(used, 0U);
    EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_SUCCESS);
}

/// An attribute of a range of managed memory.
int range_number(CUmem_range_attribute attribute, CUdeviceptr memory, std::size_t bytes) {
    int number = -77;
    EXPECT_EQ(cuMemRangeGetAttribute(&number, sizeof number, attribute, memory, bytes),
              CUDA_SUCCESS);
    return number;
}

TEST_F(MemoryTest, HintsOfManagedMemoryAreStoredByPages) {
    constexpr std::size_t page = 4096;
    CUdeviceptr memory = 0;
    ASSERT_EQ(cuMemAllocManaged(&memory, 4 * page, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
    const CUmemLocation device{.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
    const CUmemLocation host{.type = CU_MEM_LOCATION_TYPE_HOST, .id = 0};
    const CUmemLocation node{.type = CU_MEM_LOCATION_TYPE_HOST_NUMA, .id = 0};
    EXPECT_EQ(range_number(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory, 4 * page), 0);
    EXPECT_EQ(range_number(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, memory, 4 * page),
              CU_DEVICE_INVALID);
    ASSERT_EQ(cuMemAdvise(memory, 4 * page, CU_MEM_ADVISE_SET_READ_MOSTLY, device), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAdvise(memory + page, 1, CU_MEM_ADVISE_UNSET_READ_MOSTLY, device), CUDA_SUCCESS);
    EXPECT_EQ(range_number(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory, page), 1);
    EXPECT_EQ(range_number(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory, page + 1), 0);
    EXPECT_EQ(range_number(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory + 2 * page, page), 1);

    ASSERT_EQ(cuMemAdvise(memory, page, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, host), CUDA_SUCCESS);
    EXPECT_EQ(range_number(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, memory, page), CU_DEVICE_CPU);
    EXPECT_EQ(range_number(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, memory, 2 * page),
              CU_DEVICE_INVALID);
    ASSERT_EQ(cuMemAdvise(memory, page, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, node), CUDA_SUCCESS);
    EXPECT_EQ(range_number(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, memory, page),
              CU_MEM_LOCATION_TYPE_HOST_NUMA);

    int accessors[3] = {7, 7, 7};
    for (const CUmemLocation &one : {device, host})
        ASSERT_EQ(cuMemAdvise(memory, page, CU_MEM_ADVISE_SET_ACCESSED_BY, one), CUDA_SUCCESS);
    EXPECT_EQ(cuMemAdvise(memory, page, CU_MEM_ADVISE_SET_ACCESSED_BY, node),
              CUDA_ERROR_INVALID_VALUE);
    ASSERT_EQ(cuMemRangeGetAttribute(accessors, sizeof accessors,
                                     CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, memory, page),
              CUDA_SUCCESS);
    EXPECT_EQ(std::vector<int>(accessors, accessors + 3),
              (std::vector<int>{CU_DEVICE_CPU, 0, CU_DEVICE_INVALID}));

    ASSERT_EQ(cuMemPrefetchAsync(memory, 2 * page, device, 0, nullptr), CUDA_SUCCESS);
    int prefetched = 7, mostly = 7;
    void *data[] = {&prefetched, &mostly};
    std::size_t sizes[] = {4, 4};
    CUmem_range_attribute attributes[] = {CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION,
                                          CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY};
    ASSERT_EQ(cuMemRangeGetAttributes(data, sizes, attributes, 2, memory, page), CUDA_SUCCESS);
    EXPECT_EQ(prefetched, 0);
    EXPECT_EQ(mostly, 1);
    EXPECT_EQ(cuMemRangeGetAttribute(&mostly, 2, attributes[1], memory, page),
              CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemRangeGetAttribute(&mostly, 4, attributes[1], memory, 4 * page + 1),
              CUDA_ERROR_INVALID_VALUE);
    ASSERT_EQ(cuMemFree(memory), CUDA_SUCCESS);
    EXPECT_EQ(cuMemRangeGetAttribute(&mostly, 4, attributes[1], memory, page),
              CUDA_ERROR_INVALID_VALUE);
    const CUdeviceptr plain = allocate(page);
    EXPECT_EQ(cuMemAdvise(plain, page, CU_MEM_ADVISE_SET_READ_MOSTLY, device),
              CUDA_ERROR_INVALID_VALUE);
}

TEST_F(MemoryTest, FindsOnlyItsOwnAddresses) {
    CUdeviceptr memory = 0;
    ASSERT_EQ(cuMemAlloc(&memory, 1000), CUDA_SUCCESS);
    EXPECT_TRUE(scuKnowsAddress(memory));
    EXPECT_TRUE(scuKnowsAddress(memory + 1000)); // an empty array at its end
    int on_the_stack = 0;
    const auto foreign = reinterpret_cast<CUdeviceptr>(&on_the_stack);
    EXPECT_FALSE(scuKnowsAddress(foreign));
    ASSERT_EQ(cuMemHostRegister(&on_the_stack, sizeof on_the_stack, 0), CUDA_SUCCESS);
    EXPECT_TRUE(scuKnowsAddress(foreign));
    ASSERT_EQ(cuMemHostUnregister(&on_the_stack), CUDA_SUCCESS);
    cuMemFree(memory);
}

TEST_F(MemoryTest, WaitsForMemoryThatStreamsWillFree) {
    std::size_t free = 0, total = 0;
    ASSERT_EQ(cuMemGetInfo(&free, &total), CUDA_SUCCESS);
    const std::size_t most = free / 4 * 3; // twice this size is too large
    const CUdeviceptr list = allocate(64);
    ASSERT_EQ(cuMemsetD32(list, 0, 16), CUDA_SUCCESS);
    CUdeviceptr first = 0, second = 0;
    ASSERT_EQ(cuMemAllocAsync(&first, most, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuMemAlloc(&second, most), CUDA_ERROR_OUT_OF_MEMORY);
    ASSERT_EQ(launch("append_slowly", 1, 1, nullptr, list, 1), CUDA_SUCCESS);
    ASSERT_EQ(cuMemFreeAsync(first, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuMemAlloc(&second, most), CUDA_SUCCESS);
    EXPECT_EQ(read_words(list, 1).front(), 1);
    EXPECT_EQ(cuMemFree(second), CUDA_SUCCESS);
}

/// The system's number of mappings of this process, of which it allows 65,530.
long mappings() {
    std::ifstream maps("/proc/self/maps");
    return std::count(std::istreambuf_iterator<char>(maps), {}, '\n');
}

TEST_F(MemoryTest, FreedMemoryHasNoMappings) {
    EXPECT_EQ(cuMemFree(allocate(100'000)), CUDA_SUCCESS);
    const long before = mappings();
    for (int i = 0; i < 300; i++)
        EXPECT_EQ(cuMemFree(allocate(100'000)), CUDA_SUCCESS);
    EXPECT_LT(mappings(), before + 50);
}

} // namespace
