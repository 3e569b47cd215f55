// cudart_test.h -- a fixture with a program whose device code is registered like that of a
// compiler.
#pragma once

#include <cuda_runtime_api.h>

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

extern "C" {
void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaUnregisterFatBinary(void **);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *,
                            void *, void *, int *);
void __cudaRegisterVar(void **, char *, char *, const char *, int, std::size_t, int, int);
void __cudaRegisterManagedVar(void **, void **, char *, const char *, int, std::size_t, int, int);
char __cudaInitModule(void **);
unsigned __cudaPushCallConfiguration(dim3, dim3, std::size_t, cudaStream_t);
cudaError_t __cudaPopCallConfiguration(dim3 *, dim3 *, std::size_t *, void *);
}

#define EXPECT_CUDA(expected, call) EXPECT_EQ(expected, call) << cudaGetErrorString(call)
#define ASSERT_OK(call) ASSERT_EQ(cudaSuccess, call)
#define EXPECT_OK(call) EXPECT_EQ(cudaSuccess, call)

/// The addresses of stubs and variables; they are not dereferenced.
inline char add_stub;
inline char wait_stub;
inline char table_shadow[16];
inline int *managed_pointer;

/// The struct that nvcc writes: {magic number, version, device code, name of a file}.
struct Wrapper {
    int magic = 0x466243b1;
    int version = 1;
    const void *code;
    const void *file = nullptr;
};

/// add(int *values, int n, int step): values[i] += step + table[i % 4] + managed;
inline constexpr const char *kProgram = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .const .align 4 .b8 table[16];
.visible .global .attribute(.managed) .align 4 .u32 managed = 7;
.visible .entry add(.param .u64 values, .param .u32 n, .param .u32 step) {
    .reg .pred %p<2>;
    .reg .b32 %r<14>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [values];
    ld.param.u32 %r1, [n];
    ld.param.u32 %r2, [step];
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ntid.x;
    mov.u32 %r5, %tid.x;
    mad.lo.s32 %r6, %r3, %r4, %r5;
    setp.ge.s32 %p1, %r6, %r1;
    @%p1 bra done;
    mul.wide.s32 %rd2, %r6, 4;
    cvta.to.global.u64 %rd3, %rd1;
    add.s64 %rd4, %rd3, %rd2;
    and.b32 %r7, %r6, 3;
    mul.wide.u32 %rd5, %r7, 4;
    mov.u64 %rd6, table;
    add.s64 %rd7, %rd6, %rd5;
    ld.const.u32 %r8, [%rd7];
    ld.global.u32 %r9, [managed];
    ld.global.u32 %r10, [%rd4];
    add.s32 %r11, %r10, %r2;
    add.s32 %r12, %r11, %r8;
    add.s32 %r13, %r12, %r9;
    st.global.u32 [%rd4], %r13;
done:
    ret;
}
)";

class CudartTest : public testing::Test {
  protected:
    void SetUp() override {
        wrapper_.code = kProgram;
        handle_ = __cudaRegisterFatBinary(&wrapper_);
        __cudaRegisterFunction(handle_, &add_stub, nullptr, "add", -1, nullptr, nullptr, nullptr,
                               nullptr, nullptr);
        __cudaRegisterFunction(handle_, &wait_stub, nullptr, "there_is_no_such_kernel", -1, nullptr,
                               nullptr, nullptr, nullptr, nullptr);
        __cudaRegisterVar(handle_, table_shadow, nullptr, "table", 0, 16, 1, 0);
        __cudaRegisterManagedVar(handle_, reinterpret_cast<void **>(&managed_pointer), nullptr,
                                 "managed", 0, 4, 0, 0);
        __cudaRegisterFatBinaryEnd(handle_);
        ASSERT_OK(cudaSetDevice(0));
    }

    void TearDown() override {
        EXPECT_OK(cudaDeviceReset());
        __cudaUnregisterFatBinary(handle_);
        cudaGetLastError();
    }

    /// Launches add() for the array. If the managed variable has not been set, 7 is added, too.
    static cudaError_t add(int *values, int n, int step, cudaStream_t stream = nullptr) {
        void *arguments[] = {&values, &n, &step};
        const unsigned blocks = (static_cast<unsigned>(n) + 31) / 32;
        return cudaLaunchKernel(&add_stub, dim3{blocks, 1, 1}, dim3{32, 1, 1}, arguments, 0,
                                stream);
    }

    static int *make(const std::vector<int> &values) {
        void *memory = nullptr;
        EXPECT_OK(cudaMalloc(&memory, values.size() * 4));
        EXPECT_OK(cudaMemcpy(memory, values.data(), values.size() * 4, cudaMemcpyHostToDevice));
        return static_cast<int *>(memory);
    }

    static std::vector<int> read(const int *memory, std::size_t count) {
        std::vector<int> values(count);
        EXPECT_OK(cudaMemcpy(values.data(), memory, count * 4, cudaMemcpyDeviceToHost));
        return values;
    }

    Wrapper wrapper_;
    void **handle_ = nullptr;
};
