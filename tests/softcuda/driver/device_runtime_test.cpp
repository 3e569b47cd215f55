// device_runtime_test.cpp -- kernels that launch kernels, and other calls of device code to the
// runtime.
#include "driver_test.h"

#include <cstring>

namespace {

using softcuda::DeviceCall;

class DeviceRuntimeTest : public DriverTest {
  protected:
    using List = std::vector<std::int32_t>;

    void SetUp() override {
        DriverTest::SetUp();
        list_ = allocate(256);
        ASSERT_EQ(cuMemsetD8(list_, 0, 256), CUDA_SUCCESS);
    }

    List appended() {
        EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
        List words = read_words(list_, 20);
        words.resize(static_cast<std::size_t>(words[0]) + 1);
        return {words.begin() + 1, words.end()};
    }

    CUdeviceptr list_ = 0;
};

TEST_F(DeviceRuntimeTest, ChildrenRunInTheOrderOfTheirStreamsAndTailLaunchesLast) {
    for (int i = 0; i < 20; i++) {
        ASSERT_EQ(cuMemsetD8(list_, 0, 256), CUDA_SUCCESS);
        ASSERT_EQ(launch("launch_appends", 1, 1, nullptr, list_, address_of("append")),
                  CUDA_SUCCESS);
        ASSERT_EQ(launch("append", 1, 1, nullptr, list_, 10), CUDA_SUCCESS);
        EXPECT_EQ(appended(), (List{1, 2, 3, 8, 9, 10}));
    }
}

TEST_F(DeviceRuntimeTest, AKernelIsDoneWhenItsChildrenAre) {
    CUstream stream = nullptr;
    CUevent event = nullptr;
    ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    ASSERT_EQ(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
    ASSERT_EQ(launch("launch_appends", 1, 1, stream, list_, address_of("append_slowly")),
              CUDA_SUCCESS);
    ASSERT_EQ(cuEventRecord(event, stream), CUDA_SUCCESS);
    EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY);
    ASSERT_EQ(cuEventSynchronize(event), CUDA_SUCCESS);
    EXPECT_EQ(read_words(list_, 1).front(), 5);
}

TEST_F(DeviceRuntimeTest, ChildrenLaunchChildren) {
    const std::uint64_t itself = address_of("launch_itself");
    ASSERT_EQ(cuMemcpyHtoD(list_ + 120, &itself, 8), CUDA_SUCCESS);
    ASSERT_EQ(launch("launch_itself", 1, 1, nullptr, list_, 9), CUDA_SUCCESS);
    EXPECT_EQ(appended(), (List{9, 8, 7, 6, 5, 4, 3, 2, 1, 0}));
}

TEST_F(DeviceRuntimeTest, AFaultOfAChildIsTheContexts) {
    ASSERT_EQ(launch("launch_appends", 1, 1, nullptr, list_, address_of("misaligned")),
              CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_MISALIGNED_ADDRESS);
    EXPECT_NE(last_fault().find("misaligned"), std::string::npos) << last_fault();
}

TEST_F(DeviceRuntimeTest, WrongLaunchesAreTheCallersErrors) {
    const std::uint64_t store = address_of("store");
    EXPECT_EQ(call(DeviceCall::GetParameterBufferV2, store, 1, 1, 1, 1025, 1, 1, 0), 0U);
    EXPECT_EQ(call(DeviceCall::GetParameterBufferV2, 8, 1, 1, 1, 1, 1, 1, 0), 0U) << "no kernel";
    EXPECT_NE(call(DeviceCall::GetParameterBufferV2, store, 1, 1, 1, 1, 1, 1, 0), 0U);
    EXPECT_EQ(call(DeviceCall::LaunchDeviceV2, list_, 0), 1U) << "no buffer";
    EXPECT_EQ(call(DeviceCall::LaunchDevice, store, list_, 1, 1, 1, 1, 1, 1, 0, 0), 1U);
    EXPECT_EQ(call(DeviceCall::LaunchDevice, store, list_, 0, 1, 1, 1, 1, 1, 0, 0), 9U);
    EXPECT_EQ(call(DeviceCall::StreamDestroy, 77), 400U);
    EXPECT_EQ(call(DeviceCall::EventRecord, 77, 0), 400U);
    EXPECT_EQ(call(DeviceCall::MemsetAsync, list_, 0, 1 << 20, 0), 1U);
    EXPECT_EQ(call(DeviceCall::MemcpyAsync, list_, list_ + 8, 8, 1, 0), 21U) << "host to device";
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
}

TEST_F(DeviceRuntimeTest, MemoryIsCopiedAndSetInStreamOrder) {
    const std::int32_t values[] = {1, 2, 3, 4};
    ASSERT_EQ(cuMemcpyHtoD(list_, values, sizeof values), CUDA_SUCCESS);
    EXPECT_EQ(call(DeviceCall::MemcpyAsync, list_ + 64, list_, 16, 3, 0), 0U);
    EXPECT_EQ(call(DeviceCall::MemsetAsync, list_, 0xff, 8, 0), 0U);
    EXPECT_EQ(call(DeviceCall::Memset2DAsync, list_ + 128, 16, 1, 4, 2, 0), 0U);
    EXPECT_EQ(call(DeviceCall::Memcpy2DAsync, list_ + 192, 8, list_ + 64, 8, 4, 2, 3, 0), 0U);
    const List words = read_words(list_, 64);
    EXPECT_EQ((List{words[16], words[17], words[18], words[19]}), (List{1, 2, 3, 4}));
    EXPECT_EQ((List{words[0], words[1], words[2]}), (List{-1, -1, 3}));
    EXPECT_EQ((List{words[32], words[33], words[36], words[37]}),
              (List{0x01010101, 0, 0x01010101, 0}));
    EXPECT_EQ((List{words[48], words[49], words[50]}), (List{1, 0, 3}));
}

TEST_F(DeviceRuntimeTest, QuestionsAreAnswered) {
    EXPECT_EQ(call(DeviceCall::DeviceGetAttribute, list_, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0), 0U);
    EXPECT_EQ(read_words(list_, 1).front(), 32);
    EXPECT_EQ(call(DeviceCall::DeviceGetAttribute, list_, 1, 99), 101U);
    EXPECT_EQ(call(DeviceCall::GetDeviceCount, list_), 0U);
    EXPECT_EQ(read_words(list_, 1).front(), 1);
    EXPECT_EQ(call(DeviceCall::DeviceGetLimit, list_, CU_LIMIT_STACK_SIZE), 0U);
    EXPECT_EQ(read_words(list_, 1).front(), 1024);
    EXPECT_EQ(call(DeviceCall::FuncGetAttributes, list_, address_of("use_shared")), 0U);
    EXPECT_EQ(read_words(list_, 1).front(), 1024) << "bytes of shared memory";
    EXPECT_EQ(read_words(list_, 8)[6], 1024) << "threads of a block";
    EXPECT_EQ(call(DeviceCall::Malloc, list_, 100), 0U);
    EXPECT_NE(read_words(list_, 1).front(), 0);
    EXPECT_EQ(call(DeviceCall::Malloc, list_, std::uint64_t{1} << 40), 2U);
    EXPECT_EQ(call(DeviceCall::GetLastError), 0U) << "another thread's errors are its own";
    EXPECT_EQ(call(DeviceCall::GetDevice, 0), 1U) << "null";
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    const std::uint64_t bad = 100;
    ASSERT_EQ(cuMemcpyHtoD(list_, &bad, sizeof bad), CUDA_SUCCESS);
    EXPECT_EQ(launch("call_runtime", 1, 1, nullptr, static_cast<unsigned>(DeviceCall::GetDevice),
                     list_, list_ + 128),
              CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS) << "the word 100 is no address";
}

TEST(DeviceCallTest, NamesOfBothKindsAreFound) {
    using softcuda::device_call_named;
    EXPECT_EQ(device_call_named("__cudaCDP2LaunchDeviceV2_ptsz"), DeviceCall::LaunchDeviceV2);
    EXPECT_EQ(device_call_named("cudaGetParameterBufferV2"), DeviceCall::GetParameterBufferV2);
    EXPECT_FALSE(device_call_named("cudaDeviceSynchronize"));
    EXPECT_FALSE(device_call_named("GetDevice"));
    EXPECT_EQ(softcuda::words_of(DeviceCall::LaunchDevice), 10U);
}

} // namespace
