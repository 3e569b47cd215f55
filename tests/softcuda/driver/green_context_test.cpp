// green_context_test.cpp -- parts of a device's multiprocessors.
#include "driver_test.h"

#include <algorithm>
#include <set>

namespace {

class GreenContextTest : public DriverTest {
  protected:
    void SetUp() override {
        DriverTest::SetUp();
        ASSERT_EQ(cuDeviceGetDevResource(0, &all_, CU_DEV_RESOURCE_TYPE_SM), CUDA_SUCCESS);
    }

    CUdevResource part_of_one() {
        CUdevResource part{};
        unsigned groups = 1;
        EXPECT_EQ(cuDevSmResourceSplitByCount(&part, &groups, &all_, nullptr, kAlone, 1),
                  CUDA_SUCCESS);
        return part;
    }

    CUgreenCtx make(CUdevResource part) {
        CUdevResourceDesc description = nullptr;
        EXPECT_EQ(cuDevResourceGenerateDesc(&description, &part, 1), CUDA_SUCCESS);
        CUgreenCtx green = nullptr;
        EXPECT_EQ(cuGreenCtxCreate(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM),
                  CUDA_SUCCESS);
        return green;
    }

    /// The number of workers that run a grid of `blocks` blocks in `stream`.
    std::size_t workers_of(CUstream stream) {
        constexpr unsigned blocks = 60;
        const CUdeviceptr slots = allocate(blocks * 4);
        EXPECT_EQ(launch("spread", blocks, 32, stream, slots), CUDA_SUCCESS);
        EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
        const std::vector<std::int32_t> words = read_words(slots, blocks);
        return std::set<std::int32_t>(words.begin(), words.end()).size();
    }

    static constexpr unsigned kAlone = 1; // CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING
    CUdevResource all_{};
};

TEST_F(GreenContextTest, GroupsArePairsByDefault) {
    const unsigned pair = std::min(2U, all_.sm.smCount);
    EXPECT_EQ(all_.sm.minSmPartitionSize, pair);
    EXPECT_EQ(all_.sm.smCoscheduledAlignment, pair);
    for (const unsigned least : {0U, 1U, pair}) {
        CUdevResource part{};
        unsigned groups = 1;
        ASSERT_EQ(cuDevSmResourceSplitByCount(&part, &groups, &all_, nullptr, 0, least),
                  CUDA_SUCCESS);
        EXPECT_EQ(part.sm.smCount, pair) << least;
    }
    EXPECT_EQ(part_of_one().sm.smCount, 1U);
    unsigned groups = 1;
    EXPECT_EQ(cuDevSmResourceSplitByCount(nullptr, &groups, &all_, nullptr, 4, 1),
              CUDA_ERROR_INVALID_VALUE)
        << "an unknown flag";
}

TEST_F(GreenContextTest, ResourcesAreSplit) {
    int multiprocessors = 0;
    ASSERT_EQ(cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0),
              CUDA_SUCCESS);
    const auto count = static_cast<unsigned>(multiprocessors);
    EXPECT_EQ(all_.sm.smCount, count);
    unsigned groups = 0;
    ASSERT_EQ(cuDevSmResourceSplitByCount(nullptr, &groups, &all_, nullptr, kAlone, 1),
              CUDA_SUCCESS);
    ASSERT_EQ(groups, count);
    std::vector<CUdevResource> parts(groups);
    CUdevResource rest{};
    ASSERT_EQ(cuDevSmResourceSplitByCount(parts.data(), &groups, &all_, &rest, kAlone, 1),
              CUDA_SUCCESS);
    EXPECT_EQ(rest.type, CU_DEV_RESOURCE_TYPE_INVALID);
    EXPECT_EQ(parts.back().sm.smCount, 1U);
    CUdevResourceDesc description = nullptr;
    EXPECT_EQ(cuDevResourceGenerateDesc(&description, parts.data(), groups), CUDA_SUCCESS);
    CUdevResource twice[] = {all_, parts.front()};
    EXPECT_EQ(cuDevResourceGenerateDesc(&description, twice, 2),
              CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
    EXPECT_EQ(cuDevSmResourceSplitByCount(nullptr, &groups, &all_, nullptr, 0, count + 1),
              CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
    CUdevResource made_up{};
    made_up.type = CU_DEV_RESOURCE_TYPE_SM;
    made_up.sm.smCount = 1;
    EXPECT_EQ(cuDevResourceGenerateDesc(&description, &made_up, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuDevResourceGenerateDesc(&description, &rest, 1), CUDA_ERROR_INVALID_RESOURCE_TYPE);
}

TEST_F(GreenContextTest, StreamsUseNoMoreThanTheirPart) {
    if (all_.sm.smCount < 2)
        GTEST_SKIP() << "one processor is never more than its part";
    const CUgreenCtx green = make(part_of_one());
    CUstream stream = nullptr;
    ASSERT_EQ(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0), CUDA_SUCCESS);
    EXPECT_EQ(workers_of(stream), 1U);
    CUgreenCtx found = nullptr;
    EXPECT_EQ(cuStreamGetGreenCtx(stream, &found), CUDA_SUCCESS);
    EXPECT_EQ(found, green);
    EXPECT_EQ(cuStreamGetGreenCtx(nullptr, &found), CUDA_SUCCESS);
    EXPECT_EQ(found, nullptr);
    CUcontext context = nullptr;
    ASSERT_EQ(cuCtxFromGreenCtx(&context, green), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxPushCurrent(context), CUDA_SUCCESS);
    EXPECT_EQ(workers_of(nullptr), 1U); // the null stream belongs to the green context
    CUstream own = nullptr;
    ASSERT_EQ(cuStreamCreate(&own, 0), CUDA_SUCCESS);
    EXPECT_EQ(workers_of(own), 1U);
    EXPECT_EQ(cuStreamDestroy(own), CUDA_SUCCESS);
    CUcontext popped = nullptr;
    ASSERT_EQ(cuCtxPopCurrent(&popped), CUDA_SUCCESS);
    EXPECT_EQ(popped, context);
    EXPECT_EQ(workers_of(nullptr), all_.sm.smCount);
    EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
    EXPECT_EQ(cuGreenCtxDestroy(green), CUDA_SUCCESS);
    EXPECT_EQ(cuGreenCtxDestroy(green), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(GreenContextTest, ItIsThePrimaryContextWithLess) {
    const CUgreenCtx green = make(part_of_one());
    CUcontext context = nullptr, now = nullptr;
    ASSERT_EQ(cuCtxFromGreenCtx(&context, green), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxGetCurrent(&now), CUDA_SUCCESS);
    EXPECT_EQ(now, context);
    CUdevResource resource{};
    ASSERT_EQ(cuCtxGetDevResource(context, &resource, CU_DEV_RESOURCE_TYPE_SM), CUDA_SUCCESS);
    EXPECT_EQ(resource.sm.smCount, 1U);
    const CUdeviceptr memory = allocate(4);
    ASSERT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
    ASSERT_EQ(cuGreenCtxDestroy(green), CUDA_SUCCESS);
    ASSERT_EQ(launch("store", 1, 1, nullptr, memory, 3), CUDA_SUCCESS); // the memory is still valid
    EXPECT_EQ(read_words(memory, 1).front(), 3);
    EXPECT_EQ(cuCtxPushCurrent(context), CUDA_ERROR_INVALID_CONTEXT);
    ASSERT_EQ(cuCtxGetDevResource(context_, &resource, CU_DEV_RESOURCE_TYPE_SM), CUDA_SUCCESS);
    EXPECT_EQ(resource.sm.smCount, all_.sm.smCount);
}

TEST_F(GreenContextTest, EventsOfAllItsStreams) {
    const CUgreenCtx green = make(all_);
    std::int32_t *flag = mapped_word();
    CUstream first = nullptr, second = nullptr;
    ASSERT_EQ(cuGreenCtxStreamCreate(&first, green, CU_STREAM_NON_BLOCKING, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuGreenCtxStreamCreate(&second, green, CU_STREAM_NON_BLOCKING, 0), CUDA_SUCCESS);
    CUevent event = nullptr, whole = nullptr;
    ASSERT_EQ(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
    ASSERT_EQ(cuEventCreate(&whole, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
    ASSERT_EQ(launch("wait_for", 1, 1, first, flag), CUDA_SUCCESS);
    ASSERT_EQ(cuGreenCtxRecordEvent(green, event), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxRecordEvent(context_, whole), CUDA_SUCCESS);
    EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY);
    EXPECT_EQ(cuEventQuery(whole), CUDA_ERROR_NOT_READY);
    ASSERT_EQ(cuGreenCtxWaitEvent(green, event), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamQuery(second), CUDA_ERROR_NOT_READY);
    release_flag(flag);
    EXPECT_EQ(cuEventSynchronize(whole), CUDA_SUCCESS);
    EXPECT_EQ(cuEventSynchronize(event), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamSynchronize(second), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxWaitEvent(context_, event), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    ASSERT_EQ(cuGreenCtxDestroy(green), CUDA_SUCCESS);
}

TEST_F(GreenContextTest, EventsOfDestroyedStreams) {
    const CUgreenCtx green = make(all_);
    std::int32_t *flag = mapped_word();
    CUstream stream = nullptr;
    ASSERT_EQ(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0), CUDA_SUCCESS);
    CUevent event = nullptr, whole = nullptr;
    ASSERT_EQ(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
    ASSERT_EQ(cuEventCreate(&whole, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
    ASSERT_EQ(launch("wait_for", 1, 1, stream, flag), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
    ASSERT_EQ(cuGreenCtxRecordEvent(green, event), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxRecordEvent(context_, whole), CUDA_SUCCESS);
    EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY);
    EXPECT_EQ(cuEventQuery(whole), CUDA_ERROR_NOT_READY);
    release_flag(flag);
    EXPECT_EQ(cuEventSynchronize(event), CUDA_SUCCESS);
    EXPECT_EQ(cuEventSynchronize(whole), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    ASSERT_EQ(cuGreenCtxDestroy(green), CUDA_SUCCESS);
}

} // namespace
