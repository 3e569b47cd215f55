// stream_test.cpp -- the order of work in streams.
#include "driver_test.h"

#include "device/context.h"
#include "device/system.h"

#include <atomic>
#include <chrono>
#include <thread>

namespace {

class StreamTest : public DriverTest {
  protected:
    void SetUp() override {
        DriverTest::SetUp();
        list_ = allocate(4096);
        flag_ = mapped_word();
    }

    CUstream stream(unsigned flags = CU_STREAM_DEFAULT) {
        CUstream result = nullptr;
        EXPECT_EQ(cuStreamCreate(&result, flags), CUDA_SUCCESS);
        return result;
    }

    void append(CUstream stream, int value) {
        ASSERT_EQ(launch("append", 1, 1, stream, list_, value), CUDA_SUCCESS);
    }
    void append_slowly(CUstream stream, int value) {
        ASSERT_EQ(launch("append_slowly", 1, 1, stream, list_, value), CUDA_SUCCESS);
    }

    /// Waits for all work and returns the appended values, in order.
    std::vector<std::int32_t> appended() {
        EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
        std::vector<std::int32_t> words = read_words(list_, 1024);
        return {words.begin() + 1, words.begin() + 1 + words[0]};
    }

    CUdeviceptr list_ = 0;
    std::int32_t *flag_ = nullptr;
};

using Words = std::vector<std::int32_t>;

TEST_F(StreamTest, AStreamIsAQueue) {
    CUstream s = stream();
    append_slowly(s, 1);
    for (int i = 2; i <= 50; i++)
        append(s, i);
    Words expected(50);
    for (int i = 0; i < 50; i++)
        expected[static_cast<std::size_t>(i)] = i + 1;
    EXPECT_EQ(appended(), expected);
}

TEST_F(StreamTest, LegacyStreamWaitsForBlockingStreamsAndTheyForIt) {
    CUstream a = stream(), b = stream();
    append_slowly(a, 1);
    append_slowly(nullptr, 2);
    append(b, 3);
    EXPECT_EQ(appended(), (Words{1, 2, 3}));
}

TEST_F(StreamTest, LegacyStreamDoesNotWaitForNonBlockingStreams) {
    CUstream s = stream(CU_STREAM_NON_BLOCKING);
    ASSERT_EQ(launch("wait_for", 1, 1, s, flag_), CUDA_SUCCESS);
    append(s, 2);
    append(nullptr, 1);
    ASSERT_EQ(cuStreamSynchronize(nullptr), CUDA_SUCCESS);
    release_flag(flag_);
    EXPECT_EQ(appended(), (Words{1, 2}));
}

TEST_F(StreamTest, BlockingStreamsDoNotWaitForEachOther) {
    CUstream a = stream(), b = stream();
    ASSERT_EQ(launch("wait_for", 1, 1, a, flag_), CUDA_SUCCESS);
    append(a, 2);
    append(b, 1);
    ASSERT_EQ(cuStreamSynchronize(b), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamQuery(a), CUDA_ERROR_NOT_READY);
    EXPECT_EQ(cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY);
    release_flag(flag_);
    EXPECT_EQ(appended(), (Words{1, 2}));
    EXPECT_EQ(cuStreamQuery(a), CUDA_SUCCESS);
}

TEST_F(StreamTest, DestroyedStreamStillBlocksTheLegacyStream) {
    CUstream a = stream();
    append_slowly(a, 1);
    ASSERT_EQ(cuStreamDestroy(a), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamSynchronize(a), CUDA_ERROR_INVALID_HANDLE);
    append(nullptr, 2);
    EXPECT_EQ(appended(), (Words{1, 2}));
}

TEST_F(StreamTest, PerThreadStreamsAreBlockingStreams) {
    append_slowly(CU_STREAM_PER_THREAD, 1);
    append_slowly(CU_STREAM_LEGACY, 2);
    append(CU_STREAM_PER_THREAD, 3);
    EXPECT_EQ(appended(), (Words{1, 2, 3}));
}

TEST_F(StreamTest, AThreadsStreamEndsWithTheThread) {
    const auto streams = [&] {
        return softcuda::device::System::get()
            .timeline()
            .streams(*softcuda::device::current_context::get())
            .size();
    };
    const std::size_t before = streams();
    for (int i = 0; i < 20; i++)
        std::thread([&] {
            ASSERT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
            ASSERT_EQ(launch("count", 1, 1, CU_STREAM_PER_THREAD, list_), CUDA_SUCCESS);
        }).join();
    ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    EXPECT_EQ(streams(), before) << "a stream that ended stays until its work is done";
    EXPECT_EQ(read_words(list_, 1)[0], 20) << "their work is done all the same";
}

TEST_F(StreamTest, PerThreadFormsUseThePerThreadStream) {
    using Launch = decltype(&cuLaunchKernel);
    Launch per_thread = nullptr;
    ASSERT_EQ(cuGetProcAddress("cuLaunchKernel", reinterpret_cast<void **>(&per_thread), 12000,
                               CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, nullptr),
              CUDA_SUCCESS);
    CUstream other = stream();
    ASSERT_EQ(launch("wait_for", 1, 1, other, flag_), CUDA_SUCCESS);
    int value = 1;
    void *arguments[] = {&list_, &value};
    ASSERT_EQ(per_thread(function("append"), 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr),
              CUDA_SUCCESS);
    // The legacy stream would wait for `other`.
    EXPECT_EQ(cuStreamSynchronize(CU_STREAM_PER_THREAD), CUDA_SUCCESS);
    release_flag(flag_);
    EXPECT_EQ(appended(), (Words{1}));
}

TEST_F(StreamTest, EventsOrderStreams) {
    CUstream a = stream(CU_STREAM_NON_BLOCKING), b = stream(CU_STREAM_NON_BLOCKING);
    CUevent event = nullptr;
    ASSERT_EQ(cuEventCreate(&event, CU_EVENT_DEFAULT), CUDA_SUCCESS);
    append_slowly(a, 1);
    ASSERT_EQ(cuEventRecord(event, a), CUDA_SUCCESS);
    EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY);
    ASSERT_EQ(cuStreamWaitEvent(b, event, 0), CUDA_SUCCESS);
    append(b, 2);
    EXPECT_EQ(appended(), (Words{1, 2}));
    EXPECT_EQ(cuEventQuery(event), CUDA_SUCCESS);
    EXPECT_EQ(cuEventDestroy(event), CUDA_SUCCESS);
    EXPECT_EQ(cuEventDestroy(event), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(StreamTest, EventsAreTimed) {
    CUstream s = stream();
    CUevent begin = nullptr, end = nullptr;
    ASSERT_EQ(cuEventCreate(&begin, CU_EVENT_DEFAULT), CUDA_SUCCESS);
    ASSERT_EQ(cuEventCreate(&end, CU_EVENT_DEFAULT), CUDA_SUCCESS);
    float milliseconds = 0;
    EXPECT_EQ(cuEventElapsedTime(&milliseconds, begin, end), CUDA_ERROR_INVALID_HANDLE);
    ASSERT_EQ(cuEventRecord(begin, s), CUDA_SUCCESS);
    ASSERT_EQ(launch("wait_for", 1, 1, s, flag_), CUDA_SUCCESS);
    ASSERT_EQ(cuEventRecord(end, s), CUDA_SUCCESS);
    EXPECT_EQ(cuEventElapsedTime(&milliseconds, begin, end), CUDA_ERROR_NOT_READY);
    ASSERT_EQ(cuEventSynchronize(begin), CUDA_SUCCESS);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    release_flag(flag_);
    ASSERT_EQ(cuEventSynchronize(end), CUDA_SUCCESS);
    ASSERT_EQ(cuEventElapsedTime(&milliseconds, begin, end), CUDA_SUCCESS);
    EXPECT_GE(milliseconds, 4.9F);
    EXPECT_LT(milliseconds, 1000.F);
}

TEST_F(StreamTest, HostFunctionsRunInOrderAndMayBlock) {
    CUstream s = stream();
    static std::atomic<int> seen{0};
    static std::atomic<bool> go{false};
    seen = 0;
    go = false;
    append(s, 1);
    ASSERT_EQ(cuLaunchHostFunc(
                  s,
                  [](void *word) {
                      while (!go)
                          std::this_thread::yield();
                      seen = *static_cast<std::int32_t *>(word);
                  },
                  reinterpret_cast<void *>(list_)),
              CUDA_SUCCESS);
    append(s, 2);
    CUstream other = stream();
    append(other, 3); // not delayed
    ASSERT_EQ(cuStreamSynchronize(other), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
    go = true;
    EXPECT_EQ(appended(), (Words{1, 3, 2}));
    EXPECT_EQ(seen, 2); // the list had two entries at that time
}

TEST_F(StreamTest, CopiesToPageableMemoryAreDoneWhenTheyReturn) {
    CUstream s = stream(CU_STREAM_NON_BLOCKING);
    append_slowly(s, 77);
    std::int32_t words[2] = {0, 0};
    ASSERT_EQ(cuMemcpyDtoHAsync(words, list_, 8, s), CUDA_SUCCESS);
    EXPECT_EQ(words[1], 77);
}

TEST_F(StreamTest, LongChainsOfMarksDoNotOverflowTheStack) {
    CUstream s = stream();
    CUevent event = nullptr;
    ASSERT_EQ(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
    ASSERT_EQ(launch("wait_for", 1, 1, s, flag_), CUDA_SUCCESS);
    for (int i = 0; i < 50000; i++)
        ASSERT_EQ(cuEventRecord(event, s), CUDA_SUCCESS);
    release_flag(flag_);
    EXPECT_EQ(cuStreamSynchronize(s), CUDA_SUCCESS);
}

TEST_F(StreamTest, PrioritiesAreClamped) {
    int least = 1, greatest = 1;
    ASSERT_EQ(cuCtxGetStreamPriorityRange(&least, &greatest), CUDA_SUCCESS);
    EXPECT_LT(greatest, least);
    CUstream s = nullptr;
    ASSERT_EQ(cuStreamCreateWithPriority(&s, CU_STREAM_NON_BLOCKING, -1000), CUDA_SUCCESS);
    int priority = 0;
    ASSERT_EQ(cuStreamGetPriority(s, &priority), CUDA_SUCCESS);
    EXPECT_EQ(priority, greatest);
}

TEST_F(StreamTest, ManyThreadsLaunchIntoManyStreams) {
    const CUdeviceptr counter = allocate(4);
    constexpr int threads = 8, rounds = 300;
    std::vector<std::thread> all;
    std::atomic<int> failures{0};
    for (int t = 0; t < threads; t++)
        all.emplace_back([&, t] {
            failures += cuCtxSetCurrent(context_) != CUDA_SUCCESS;
            CUstream own = nullptr;
            failures += cuStreamCreate(&own, CU_STREAM_DEFAULT) != CUDA_SUCCESS;
            for (int i = 0; i < rounds; i++) {
                CUstream target = t % 3 == 0 ? nullptr : own;
                failures += launch("count", 3, 32, target, counter) != CUDA_SUCCESS;
                if (i % 50 == 0)
                    failures += cuStreamSynchronize(target) != CUDA_SUCCESS;
            }
            failures += cuStreamDestroy(own) != CUDA_SUCCESS;
        });
    for (std::thread &thread : all)
        thread.join();
    EXPECT_EQ(failures, 0);
    ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    EXPECT_EQ(read_words(counter, 1).front(), threads * rounds * 3);
}

TEST_F(StreamTest, WaitsForAWord) {
    CUstream a = stream(CU_STREAM_NON_BLOCKING), b = stream(CU_STREAM_NON_BLOCKING);
    const CUdeviceptr word = allocate(16);
    ASSERT_EQ(cuStreamWaitValue32(a, word, 7, CU_STREAM_WAIT_VALUE_EQ), CUDA_SUCCESS);
    append(a, 2);
    ASSERT_EQ(cuStreamWaitValue64(b, word + 8, 5, CU_STREAM_WAIT_VALUE_GEQ), CUDA_SUCCESS);
    append(b, 4);
    EXPECT_EQ(cuStreamQuery(a), CUDA_ERROR_NOT_READY);
    CUstream c = stream(CU_STREAM_NON_BLOCKING);
    append(c, 1);
    ASSERT_EQ(cuStreamWriteValue32(c, word, 7, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamSynchronize(a), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamQuery(b), CUDA_ERROR_NOT_READY);
    append(c, 3);
    ASSERT_EQ(cuStreamWriteValue64(c, word + 8, 6, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER),
              CUDA_SUCCESS);
    EXPECT_EQ(appended(), (Words{1, 2, 3, 4}));
}

TEST_F(StreamTest, ABatchOfWordsIsDoneInOrder) {
    const CUdeviceptr word = allocate(8);
    CUstreamBatchMemOpParams operations[3]{};
    operations[0].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    operations[0].writeValue.address = word;
    operations[0].writeValue.value = 12;
    operations[1].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    operations[1].waitValue.address = word;
    operations[1].waitValue.value = 8;
    operations[1].waitValue.flags = CU_STREAM_WAIT_VALUE_AND;
    operations[2].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    operations[2].writeValue.address = word + 4;
    operations[2].writeValue.value = 9;
    ASSERT_EQ(cuStreamBatchMemOp(stream(), 3, operations, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    EXPECT_EQ(read_words(word, 2), (Words{12, 9}));
    operations[2].writeValue.address = word + 6; // not a multiple of 4, so no operation runs
    operations[0].writeValue.value = 1;
    EXPECT_EQ(cuStreamBatchMemOp(nullptr, 3, operations, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(read_words(word, 1), (Words{12}));
    EXPECT_EQ(cuStreamWaitValue32(nullptr, 64, 1, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuStreamWaitValue32(nullptr, word, 1, 4), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(StreamTest, AWaitForAWordIsInterrupted) {
    const CUdeviceptr word = allocate(4);
    ASSERT_EQ(cuStreamWaitValue32(nullptr, word, 1, CU_STREAM_WAIT_VALUE_EQ), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY);
    ASSERT_EQ(scuCtxInterrupt(context_), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
}

TEST_F(StreamTest, AttributesAreStored) {
    CUstream a = stream(), b = stream();
    CUstreamAttrValue value{};
    ASSERT_EQ(cuStreamGetAttribute(a, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value),
              CUDA_SUCCESS);
    EXPECT_EQ(value.syncPolicy, CU_SYNC_POLICY_AUTO);
    value.syncPolicy = CU_SYNC_POLICY_YIELD;
    ASSERT_EQ(cuStreamSetAttribute(a, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value),
              CUDA_SUCCESS);
    value.priority = -1;
    ASSERT_EQ(cuStreamSetAttribute(a, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamCopyAttributes(b, a), CUDA_SUCCESS);
    int priority = 0;
    ASSERT_EQ(cuStreamGetPriority(b, &priority), CUDA_SUCCESS);
    EXPECT_EQ(priority, -1);
    ASSERT_EQ(cuStreamGetAttribute(b, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value),
              CUDA_SUCCESS);
    EXPECT_EQ(value.syncPolicy, CU_SYNC_POLICY_YIELD);
    EXPECT_EQ(cuStreamGetAttribute(b, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value),
              CUDA_ERROR_INVALID_VALUE);
}

TEST_F(StreamTest, CallsAboutAStreamNeedNoCurrentContext) {
    CUstream stream = nullptr;
    CUevent event = nullptr;
    ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    ASSERT_EQ(cuEventCreate(&event, 0), CUDA_SUCCESS);
    const CUdeviceptr memory = allocate(16);
    const CUfunction store = function("store");
    CUcontext context = nullptr;
    ASSERT_EQ(cuCtxPopCurrent(&context), CUDA_SUCCESS);
    CUcontext none = context;
    ASSERT_EQ(cuCtxGetCurrent(&none), CUDA_SUCCESS);
    ASSERT_EQ(none, nullptr);
    int word = 5;
    CUdeviceptr address = memory, more = 0;
    void *parameters[] = {&address, &word};
    EXPECT_EQ(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr),
              CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyDtoDAsync(memory + 4, memory, 4, stream), CUDA_SUCCESS);
    EXPECT_EQ(cuMemsetD32Async(memory + 8, 6, 1, stream), CUDA_SUCCESS);
    EXPECT_EQ(cuMemAllocAsync(&more, 64, stream), CUDA_SUCCESS);
    EXPECT_EQ(cuMemFreeAsync(more, stream), CUDA_SUCCESS);
    EXPECT_EQ(cuEventRecord(event, stream), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamWaitEvent(stream, event, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
    CUgraph graph = nullptr;
    EXPECT_EQ(cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    // A default stream belongs to a context.
    EXPECT_EQ(cuEventRecord(event, nullptr), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(cuStreamSynchronize(CU_STREAM_PER_THREAD), CUDA_ERROR_INVALID_CONTEXT);
    ASSERT_EQ(cuCtxGetCurrent(&none), CUDA_SUCCESS);
    EXPECT_EQ(none, nullptr);
    ASSERT_EQ(cuCtxPushCurrent(context), CUDA_SUCCESS);
    EXPECT_EQ(read_words(memory, 3), (std::vector<std::int32_t>{5, 5, 6}));
}

} // namespace
