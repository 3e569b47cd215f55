// log_test.cpp -- the driver's messages, older versions of functions, batches of copies.
#include "driver_test.h"

#include <cstring>
#include <fstream>
#include <iterator>

// Versions that cuda.h does not declare with these names.
extern "C" {
CUresult cuCtxSynchronize_v2(CUcontext);
CUresult cuCtxGetDevice_v2(CUdevice *, CUcontext);
CUresult cuMemcpyBatchAsync_v2_ptsz(CUdeviceptr *, CUdeviceptr *, size_t *, size_t, void *,
                                    size_t *, size_t, CUstream);
}

namespace {

using LogTest = DriverTest;

TEST_F(LogTest, MessagesAreStoredAndReturned) {
    std::string heard;
    CUlogsCallbackHandle handle = nullptr;
    const CUlogsCallback listener = [](void *data, CUlogLevel level, char *text, size_t length) {
        EXPECT_EQ(level, CU_LOG_LEVEL_ERROR);
        static_cast<std::string *>(data)->append(text, length);
    };
    ASSERT_EQ(cuLogsRegisterCallback(listener, &heard, &handle), CUDA_SUCCESS);
    CUlogIterator before = 0, after = 0;
    ASSERT_EQ(cuLogsCurrent(&before, 0), CUDA_SUCCESS);
    CUmodule module = nullptr;
    EXPECT_EQ(cuModuleLoadData(&module, "nonsense"), CUDA_ERROR_INVALID_PTX);
    EXPECT_NE(heard.find(fake::kDiagnostic), std::string::npos) << heard;
    ASSERT_EQ(cuLogsUnregisterCallback(handle), CUDA_SUCCESS);
    EXPECT_EQ(cuLogsUnregisterCallback(handle), CUDA_ERROR_INVALID_VALUE);
    heard.clear();
    EXPECT_EQ(cuModuleLoadData(&module, "\177ELF"), CUDA_ERROR_NO_BINARY_FOR_GPU);
    EXPECT_EQ(heard, "");

    char text[2000];
    std::size_t size = sizeof text;
    after = before;
    ASSERT_EQ(cuLogsDumpToMemory(&after, text, &size, 0), CUDA_SUCCESS);
    EXPECT_EQ(after, before + 2);
    EXPECT_EQ(size, std::strlen(text) + 1);
    EXPECT_NE(std::strstr(text, "[ERROR] "), nullptr);
    EXPECT_NE(std::strstr(text, "cubin"), nullptr);
    size = 8; // no message fits
    after = before;
    ASSERT_EQ(cuLogsDumpToMemory(&after, text, &size, 0), CUDA_SUCCESS);
    EXPECT_STREQ(text, "");
    const std::string path = testing::TempDir() + "softcuda_log.txt";
    ASSERT_EQ(cuLogsDumpToFile(nullptr, path.c_str(), 0), CUDA_SUCCESS);
    std::ifstream file(path);
    EXPECT_NE(std::string(std::istreambuf_iterator<char>(file), {}).find("cubin"),
              std::string::npos);
    EXPECT_EQ(cuLogsDumpToFile(nullptr, "/nowhere/at.all", 0), CUDA_ERROR_OPERATING_SYSTEM);
}

TEST_F(LogTest, NewFormsUseTheRightContext) {
    CUdevice device = -1;
    ASSERT_EQ(cuCtxSetCurrent(nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSynchronize_v2(nullptr), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(cuCtxSynchronize_v2(context_), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxGetDevice_v2(&device, context_), CUDA_SUCCESS);
    EXPECT_EQ(device, 0);
    CUcontext current = context_;
    ASSERT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
    EXPECT_EQ(current, nullptr) << "nothing stays pushed";
    EXPECT_EQ(cuCtxSynchronize_v2(reinterpret_cast<CUcontext>(this)), CUDA_ERROR_INVALID_CONTEXT);
    ASSERT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
}

TEST_F(LogTest, BatchesCopyAllOfThem) {
    CUdeviceptr to[] = {allocate(8), allocate(8)}, from[] = {allocate(8), allocate(8)};
    std::size_t sizes[] = {8, 4};
    ASSERT_EQ(cuMemsetD32(from[0], 5, 2), CUDA_SUCCESS);
    ASSERT_EQ(cuMemsetD32(from[1], 6, 2), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyBatchAsync_v2_ptsz(to, from, sizes, 2, nullptr, nullptr, 0, nullptr),
              CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    EXPECT_EQ(read_words(to[0], 2), (std::vector<std::int32_t>{5, 5}));
    EXPECT_EQ(read_words(to[1], 2), (std::vector<std::int32_t>{6, 0}));
    EXPECT_EQ(cuMemcpyBatchAsync_v2_ptsz(to, from, sizes, 0, nullptr, nullptr, 0, nullptr),
              CUDA_ERROR_INVALID_VALUE);
}

} // namespace
