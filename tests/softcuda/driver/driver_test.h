// driver_test.h -- a fixture with a primary context and the fake program loaded.
#pragma once

#include "fake_program.h"
#include "support/device_call.h"

#include <cuda.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

extern "C" {
const char *scuImageKind();
CUresult scuCtxInterrupt(CUcontext);
void scuAskWhileWaiting(int (*)(), pthread_t);
int scuKnowsAddress(CUdeviceptr);
std::size_t scuLastFaultMessage(char *, std::size_t);
}

#if defined(__SANITIZE_THREAD__)
/// TSan delays signals until a thread calls an intercepted function, which kernels never do.
#define SKIP_UNDER_TSAN() GTEST_SKIP() << "TSan holds back asynchronous signals"
#else
#define SKIP_UNDER_TSAN() static_cast<void>(0)
#endif

class DriverTest : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
        ASSERT_EQ(cuDevicePrimaryCtxRetain(&context_, 0), CUDA_SUCCESS);
        ASSERT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
        ASSERT_EQ(cuModuleLoadData(&module_, fake::kImage), CUDA_SUCCESS);
    }

    void TearDown() override {
        cuDevicePrimaryCtxReset(0);
        cuCtxSetCurrent(nullptr);
        cuDevicePrimaryCtxRelease(0);
    }

    CUfunction function(const char *name) {
        CUfunction result = nullptr;
        EXPECT_EQ(cuModuleGetFunction(&result, module_, name), CUDA_SUCCESS) << name;
        return result;
    }

    /// The value of a kernel's name in device code of this module.
    std::uint64_t address_of(const char *kernel) {
        CUdeviceptr place = 0;
        std::uint64_t first = 0;
        EXPECT_EQ(cuModuleGetGlobal(&place, nullptr, module_, "first_function"), CUDA_SUCCESS);
        EXPECT_EQ(cuMemcpyDtoH(&first, place, sizeof first), CUDA_SUCCESS);
        return first + fake::function_offset(kernel);
    }

    /// Launches with one-dimensional grid and blocks.
    template <class... Arguments>
    CUresult launch(const char *name, unsigned blocks, unsigned threads, CUstream stream,
                    Arguments... arguments) {
        void *pointers[] = {static_cast<void *>(&arguments)..., nullptr};
        return cuLaunchKernel(function(name), blocks, 1, 1, threads, 1, 1, 0, stream, pointers,
                              nullptr);
    }

    CUdeviceptr allocate(std::size_t bytes) {
        CUdeviceptr result = 0;
        EXPECT_EQ(cuMemAlloc(&result, bytes), CUDA_SUCCESS);
        return result;
    }

    std::vector<std::int32_t> read_words(CUdeviceptr address, std::size_t count) {
        std::vector<std::int32_t> words(count);
        EXPECT_EQ(cuMemcpyDtoH(words.data(), address, count * 4), CUDA_SUCCESS);
        return words;
    }

    /// Page-locked memory that kernels can access, initialised with 0.
    std::int32_t *mapped_word() {
        void *pointer = nullptr;
        EXPECT_EQ(cuMemHostAlloc(&pointer, 4, CU_MEMHOSTALLOC_DEVICEMAP), CUDA_SUCCESS);
        return static_cast<std::int32_t *>(pointer);
    }

    /// The result of one call of the CUDA runtime by a kernel of one thread.
    template <class... Words> std::uint64_t call(softcuda::DeviceCall call, Words... given) {
        const CUdeviceptr memory = allocate(256);
        const std::uint64_t words[] = {(std::uint64_t)(given)..., 0};
        EXPECT_EQ(cuMemcpyHtoD(memory, words, sizeof words), CUDA_SUCCESS);
        EXPECT_EQ(launch("call_runtime", 1, 1, nullptr, static_cast<unsigned>(call), memory,
                         memory + 128),
                  CUDA_SUCCESS);
        std::uint64_t result = ~std::uint64_t{0};
        EXPECT_EQ(cuMemcpyDtoH(&result, memory + 128, 8), CUDA_SUCCESS);
        return result;
    }

    static std::string last_fault() {
        char text[1024] = "";
        scuLastFaultMessage(text, sizeof text);
        return text;
    }

    CUcontext context_ = nullptr;
    CUmodule module_ = nullptr;
};

/// Ends a kernel that waits for `flag`.
inline void release_flag(std::int32_t *flag) { __atomic_store_n(flag, 1, __ATOMIC_RELEASE); }
