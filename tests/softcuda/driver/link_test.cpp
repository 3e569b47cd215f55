// link_test.cpp -- the linker's functions. The result of linking is tested in image/.
#include "driver_test.h"

#include <cstring>

namespace {

using LinkTest = DriverTest;

TEST_F(LinkTest, LinkedCodeCanBeLoaded) {
    CUlinkState link = nullptr;
    ASSERT_EQ(cuLinkCreate(0, nullptr, nullptr, &link), CUDA_SUCCESS);
    std::string text = fake::kImage;
    ASSERT_EQ(cuLinkAddData(link, CU_JIT_INPUT_PTX, text.data(), text.size() + 1, "first", 0,
                            nullptr, nullptr),
              CUDA_SUCCESS);
    void *image = nullptr;
    std::size_t bytes = 0;
    ASSERT_EQ(cuLinkComplete(link, &image, &bytes), CUDA_SUCCESS);
    EXPECT_EQ(bytes, std::strlen(static_cast<char *>(image)) + 1);
    CUmodule module = nullptr;
    ASSERT_EQ(cuModuleLoadData(&module, image), CUDA_SUCCESS);
    ASSERT_EQ(cuLinkDestroy(link), CUDA_SUCCESS);
    EXPECT_EQ(cuLinkDestroy(link), CUDA_ERROR_INVALID_HANDLE);
    CUfunction function = nullptr;
    EXPECT_EQ(cuModuleGetFunction(&function, module, "add"), CUDA_SUCCESS);
}

TEST_F(LinkTest, FailuresAreReportedInTheClientsBuffer) {
    char log[256] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
    CUlinkState link = nullptr;
    ASSERT_EQ(cuLinkCreate(2, options, values, &link), CUDA_SUCCESS);
    void *image = nullptr;
    EXPECT_EQ(cuLinkComplete(link, &image, nullptr), CUDA_ERROR_INVALID_VALUE) << "no input";
    std::string text = "nonsense", machine_code = "\177ELF and so on";
    EXPECT_EQ(cuLinkAddData(link, CU_JIT_INPUT_CUBIN, machine_code.data(), machine_code.size(),
                            "code", 0, nullptr, nullptr),
              CUDA_ERROR_NO_BINARY_FOR_GPU);
    EXPECT_NE(std::strstr(log, "cubin"), nullptr) << log;
    EXPECT_EQ(cuLinkAddData(link, CU_JIT_INPUT_LIBRARY, text.data(), text.size(), "lib", 0, nullptr,
                            nullptr),
              CUDA_ERROR_INVALID_IMAGE);
    EXPECT_NE(std::strstr(log, "truncated"), nullptr) << log;
    EXPECT_EQ(cuLinkAddFile(link, CU_JIT_INPUT_PTX, "/nowhere/at.all", 0, nullptr, nullptr),
              CUDA_ERROR_FILE_NOT_FOUND);
    ASSERT_EQ(cuLinkAddData(link, CU_JIT_INPUT_PTX, text.data(), text.size(), "second", 0, nullptr,
                            nullptr),
              CUDA_SUCCESS);
    EXPECT_EQ(cuLinkComplete(link, &image, nullptr), CUDA_ERROR_INVALID_PTX);
    EXPECT_NE(std::strstr(log, "second"), nullptr) << log;
    ASSERT_EQ(cuLinkDestroy(link), CUDA_SUCCESS);
}

TEST_F(LinkTest, AModuleReportsNoMoreRegistersThanItMayHave) {
    CUjit_option option = CU_JIT_MAX_REGISTERS;
    void *most = reinterpret_cast<void *>(std::uintptr_t{20});
    CUmodule module = nullptr;
    ASSERT_EQ(cuModuleLoadDataEx(&module, fake::kImage, 1, &option, &most), CUDA_SUCCESS);
    CUfunction add = nullptr;
    ASSERT_EQ(cuModuleGetFunction(&add, module, "add"), CUDA_SUCCESS);
    int registers = 0;
    ASSERT_EQ(cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, add), CUDA_SUCCESS);
    EXPECT_EQ(registers, 20);
    ASSERT_EQ(cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function("add")),
              CUDA_SUCCESS);
    EXPECT_EQ(registers, 32) << "another module of the same code";
    EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
}

} // namespace
