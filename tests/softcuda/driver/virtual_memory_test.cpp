// virtual_memory_test.cpp -- address ranges and physical memory: reserve, create, map, access,
// share.
#include "driver_test.h"

#include <numeric>
#include <unistd.h>

namespace {

constexpr std::size_t kPart = std::size_t{2} << 20;

class VirtualMemoryTest : public DriverTest {
  protected:
    static CUmemAllocationProp
    properties(CUmemAllocationHandleType handles = CU_MEM_HANDLE_TYPE_NONE) {
        CUmemAllocationProp wanted{};
        wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
        wanted.requestedHandleTypes = handles;
        wanted.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
        return wanted;
    }

    static CUmemGenericAllocationHandle
    create(std::size_t bytes = kPart, CUmemAllocationHandleType handles = CU_MEM_HANDLE_TYPE_NONE) {
        const CUmemAllocationProp wanted = properties(handles);
        CUmemGenericAllocationHandle result = 0;
        EXPECT_EQ(cuMemCreate(&result, bytes, &wanted, 0), CUDA_SUCCESS);
        return result;
    }

    static CUdeviceptr reserve(std::size_t bytes) {
        CUdeviceptr result = 0;
        EXPECT_EQ(cuMemAddressReserve(&result, bytes, 0, 0, 0), CUDA_SUCCESS);
        return result;
    }

    static CUresult allow(CUdeviceptr address, std::size_t bytes,
                          CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE) {
        const CUmemAccessDesc wanted = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
                                        .flags = flags};
        return cuMemSetAccess(address, bytes, &wanted, 1);
    }
};

TEST_F(VirtualMemoryTest, ACopySpansNeighbouringMappings) {
    std::size_t free_before = 0, free_then = 0, total = 0;
    ASSERT_EQ(cuMemGetInfo(&free_before, &total), CUDA_SUCCESS);
    const CUdeviceptr range = reserve(3 * kPart);
    const CUmemGenericAllocationHandle first = create(), second = create();
    ASSERT_EQ(cuMemMap(range, kPart, 0, first, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuMemMap(range + kPart, kPart, 0, second, 0), CUDA_SUCCESS);
    ASSERT_EQ(allow(range, 2 * kPart), CUDA_SUCCESS);
    std::vector<int> in(kPart / 2), out(kPart / 2); // both parts
    std::iota(in.begin(), in.end(), 3);
    ASSERT_EQ(cuMemcpyHtoD(range, in.data(), 2 * kPart), CUDA_SUCCESS);
    ASSERT_EQ(cuMemcpyDtoH(out.data(), range, 2 * kPart), CUDA_SUCCESS);
    EXPECT_EQ(in, out);
    EXPECT_EQ(cuMemcpyHtoD(range + 4, in.data(), 2 * kPart), CUDA_ERROR_INVALID_VALUE);
    ASSERT_EQ(cuMemGetInfo(&free_then, &total), CUDA_SUCCESS);
    EXPECT_EQ(free_before - free_then, 2 * kPart);

    EXPECT_EQ(cuMemRelease(first), CUDA_SUCCESS); // the mapping keeps the memory
    EXPECT_EQ(cuMemRelease(first), CUDA_ERROR_INVALID_VALUE);
    ASSERT_EQ(cuMemcpyDtoH(out.data(), range, 4), CUDA_SUCCESS);
    EXPECT_EQ(out[0], 3);
    EXPECT_EQ(cuMemAddressFree(range, 3 * kPart), CUDA_ERROR_INVALID_VALUE); // still mapped
    EXPECT_EQ(cuMemUnmap(range, kPart / 2), CUDA_ERROR_INVALID_VALUE);       // not a whole mapping
    EXPECT_EQ(cuMemUnmap(range, 2 * kPart), CUDA_SUCCESS);
    EXPECT_EQ(cuMemRelease(second), CUDA_SUCCESS);
    EXPECT_EQ(cuMemAddressFree(range, 3 * kPart), CUDA_SUCCESS);
    ASSERT_EQ(cuMemGetInfo(&free_then, &total), CUDA_SUCCESS);
    EXPECT_EQ(free_before, free_then);
}

TEST_F(VirtualMemoryTest, OneMemoryAtTwoAddresses) {
    const CUmemGenericAllocationHandle memory = create(2 * kPart);
    const CUdeviceptr range = reserve(4 * kPart);
    ASSERT_EQ(cuMemMap(range, 2 * kPart, 0, memory, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuMemMap(range + 2 * kPart, kPart, kPart, memory, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuMemMap(range + kPart, kPart, 0, memory, 0),
              CUDA_ERROR_INVALID_VALUE); // already mapped
    EXPECT_EQ(cuMemMap(range + 3 * kPart, 2 * kPart, 0, memory, 0), CUDA_ERROR_INVALID_VALUE);
    ASSERT_EQ(allow(range, 3 * kPart), CUDA_SUCCESS);
    ASSERT_EQ(cuMemsetD32(range + kPart + 8, 77, 1), CUDA_SUCCESS);
    EXPECT_EQ(read_words(range + 2 * kPart + 8, 1)[0], 77);

    CUmemGenericAllocationHandle again = 0;
    ASSERT_EQ(cuMemRetainAllocationHandle(&again, reinterpret_cast<void *>(range + 100)),
              CUDA_SUCCESS);
    EXPECT_EQ(again, memory);
    EXPECT_EQ(cuMemRelease(again), CUDA_SUCCESS);
    EXPECT_EQ(cuMemRelease(memory), CUDA_SUCCESS);
    EXPECT_EQ(cuMemUnmap(range, 3 * kPart), CUDA_SUCCESS);
    EXPECT_EQ(cuMemAddressFree(range, 4 * kPart), CUDA_SUCCESS);
}

TEST_F(VirtualMemoryTest, AccessIsAsItWasSet) {
    const CUdeviceptr range = reserve(kPart);
    const CUmemGenericAllocationHandle memory = create();
    ASSERT_EQ(cuMemMap(range, kPart, 0, memory, 0), CUDA_SUCCESS);
    const CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
    unsigned long long flags = 99;
    ASSERT_EQ(cuMemGetAccess(&flags, &here, range), CUDA_SUCCESS);
    EXPECT_EQ(flags, CU_MEM_ACCESS_FLAGS_PROT_NONE);
    int word = 5;
    EXPECT_EQ(cuMemcpyHtoD(range, &word, 4), CUDA_ERROR_INVALID_VALUE);
    ASSERT_EQ(allow(range, kPart, CU_MEM_ACCESS_FLAGS_PROT_READ), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyDtoH(&word, range, 4), CUDA_SUCCESS);
    EXPECT_EQ(word, 0);
    EXPECT_EQ(allow(range, 2 * kPart), CUDA_ERROR_INVALID_VALUE);
    ASSERT_EQ(allow(range, kPart), CUDA_SUCCESS);
    ASSERT_EQ(cuMemGetAccess(&flags, &here, range), CUDA_SUCCESS);
    EXPECT_EQ(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    EXPECT_EQ(cuMemsetD32(range, 1, 4), CUDA_SUCCESS);
    EXPECT_EQ(cuMemUnmap(range, kPart), CUDA_SUCCESS);
    EXPECT_EQ(cuMemRelease(memory), CUDA_SUCCESS);
    EXPECT_EQ(cuMemAddressFree(range, kPart), CUDA_SUCCESS);
}

TEST_F(VirtualMemoryTest, ADescriptorIsTheSameMemory) {
    const CUmemGenericAllocationHandle memory =
        create(kPart, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    int file = -1;
    ASSERT_EQ(
        cuMemExportToShareableHandle(&file, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
        CUDA_SUCCESS);
    CUmemGenericAllocationHandle imported = 0;
    ASSERT_EQ(cuMemImportFromShareableHandle(
                  &imported, reinterpret_cast<void *>(static_cast<std::intptr_t>(file)),
                  CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
              CUDA_SUCCESS);
    close(file);
    const CUdeviceptr range = reserve(2 * kPart);
    ASSERT_EQ(cuMemMap(range, kPart, 0, memory, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuMemMap(range + kPart, kPart, 0, imported, 0), CUDA_SUCCESS);
    ASSERT_EQ(allow(range, 2 * kPart), CUDA_SUCCESS);
    ASSERT_EQ(cuMemsetD32(range + 16, 12, 1), CUDA_SUCCESS);
    EXPECT_EQ(read_words(range + kPart + 16, 1)[0], 12);
    EXPECT_EQ(cuMemUnmap(range, 2 * kPart), CUDA_SUCCESS);
    EXPECT_EQ(cuMemRelease(memory), CUDA_SUCCESS);
    EXPECT_EQ(cuMemRelease(imported), CUDA_SUCCESS);
    EXPECT_EQ(cuMemAddressFree(range, 2 * kPart), CUDA_SUCCESS);
    EXPECT_EQ(cuMemImportFromShareableHandle(&imported, nullptr,
                                             CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
              CUDA_ERROR_INVALID_VALUE); // standard input is not memory
}

TEST_F(VirtualMemoryTest, WrongArgumentsAreErrors) {
    CUdeviceptr range = 0;
    EXPECT_EQ(cuMemAddressReserve(&range, 1000, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemAddressReserve(&range, kPart, 12345, 0, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemAddressReserve(&range, std::size_t{1} << 60, 0, 0, 0), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_EQ(cuMemAddressFree(4096, kPart), CUDA_ERROR_INVALID_VALUE);
    CUmemAllocationProp wanted = properties();
    CUmemGenericAllocationHandle memory = 0;
    EXPECT_EQ(cuMemCreate(&memory, 100, &wanted, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemCreate(&memory, std::size_t{1} << 50, &wanted, 0), CUDA_ERROR_OUT_OF_MEMORY);
    wanted.location.id = 99;
    EXPECT_EQ(cuMemCreate(&memory, kPart, &wanted, 0), CUDA_ERROR_INVALID_DEVICE);
    EXPECT_EQ(cuMemRelease(12345), CUDA_ERROR_INVALID_VALUE);
    memory = create();
    EXPECT_EQ(cuMemMap(allocate(kPart), kPart, 0, memory, 0), CUDA_ERROR_INVALID_VALUE);
    int file = -1;
    EXPECT_EQ(
        cuMemExportToShareableHandle(&file, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
        CUDA_ERROR_INVALID_VALUE); // not created as shareable
    EXPECT_EQ(cuMemRelease(memory), CUDA_SUCCESS);
}

TEST_F(VirtualMemoryTest, SharedMemoryKeepsItsContents) {
    const CUdeviceptr memory = allocate(400);
    ASSERT_EQ(cuMemsetD32(memory, 9, 100), CUDA_SUCCESS);
    CUipcMemHandle handle, again;
    ASSERT_EQ(cuIpcGetMemHandle(&handle, memory), CUDA_SUCCESS);
    ASSERT_EQ(cuIpcGetMemHandle(&again, memory + 4), CUDA_SUCCESS);
    EXPECT_EQ(std::string(handle.reserved, sizeof handle),
              std::string(again.reserved, sizeof again));
    EXPECT_EQ(read_words(memory, 100), std::vector<std::int32_t>(100, 9));
    CUdeviceptr opened = 0;
    EXPECT_EQ(cuIpcOpenMemHandle(&opened, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
              CUDA_ERROR_INVALID_CONTEXT); // in the same process
    handle.reserved[0] = 'x';
    EXPECT_EQ(cuIpcOpenMemHandle(&opened, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
              CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuIpcCloseMemHandle(memory), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuIpcGetMemHandle(&handle, 12345), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
}

TEST_F(VirtualMemoryTest, PoolsAreShared) {
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    properties.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
    CUmemoryPool pool = nullptr, other = nullptr;
    ASSERT_EQ(cuMemPoolCreate(&pool, &properties), CUDA_SUCCESS);
    int file = -1;
    const auto type = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    ASSERT_EQ(cuMemPoolExportToShareableHandle(&file, pool, type, 0), CUDA_SUCCESS);
    void *handle = reinterpret_cast<void *>(static_cast<std::intptr_t>(file));
    ASSERT_EQ(cuMemPoolImportFromShareableHandle(&other, handle, type, 0), CUDA_SUCCESS);
    ASSERT_EQ(close(file), 0);

    const CUdeviceptr of_no_pool = allocate(4);
    std::size_t before = 0, after = 0, total = 0;
    ASSERT_EQ(cuMemGetInfo(&before, &total), CUDA_SUCCESS);
    // The second allocation reuses freed pages, which contain zeros again.
    CUdeviceptr first = 0, second = 0;
    ASSERT_EQ(cuMemAllocFromPoolAsync(&first, 9000, pool, nullptr), CUDA_SUCCESS);
    ASSERT_EQ(cuMemsetD8(first, 5, 9000), CUDA_SUCCESS);
    ASSERT_EQ(cuMemFreeAsync(first, nullptr), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAllocFromPoolAsync(&first, 400, pool, nullptr), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAllocFromPoolAsync(&second, 400, pool, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(read_words(second, 100), std::vector<std::int32_t>(100, 0));

    CUmemPoolPtrExportData data{};
    ASSERT_EQ(cuMemPoolExportPointer(&data, second), CUDA_SUCCESS);
    CUdeviceptr mapped = 0;
    EXPECT_EQ(cuMemPoolImportPointer(&mapped, pool, &data), CUDA_ERROR_INVALID_VALUE)
        << "not an imported pool";
    ASSERT_EQ(cuMemPoolImportPointer(&mapped, other, &data), CUDA_SUCCESS);
    ASSERT_NE(mapped, second);
    ASSERT_EQ(launch("store", 1, 1, nullptr, mapped, 123), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    EXPECT_EQ(read_words(second, 1).front(), 123);
    ASSERT_EQ(cuMemGetInfo(&after, &total), CUDA_SUCCESS);
    EXPECT_EQ(before - after, 800U) << "what is imported counts for the one who exported it";

    CUdeviceptr none = 0;
    EXPECT_EQ(cuMemAllocFromPoolAsync(&none, 400, other, nullptr), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemPoolExportPointer(&data, of_no_pool), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemPoolImportFromShareableHandle(&other, nullptr, type, 0),
              CUDA_ERROR_INVALID_VALUE);
    ASSERT_EQ(cuMemFreeAsync(mapped, nullptr), CUDA_SUCCESS);
    ASSERT_EQ(cuMemFreeAsync(second, nullptr), CUDA_SUCCESS);
    ASSERT_EQ(cuMemFreeAsync(first, nullptr), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    ASSERT_EQ(cuMemGetInfo(&after, &total), CUDA_SUCCESS);
    EXPECT_EQ(after, before);
    EXPECT_EQ(cuMemPoolDestroy(other), CUDA_SUCCESS);
    EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_SUCCESS);
}

} // namespace
