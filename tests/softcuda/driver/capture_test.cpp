// capture_test.cpp -- what a capture and a host function forbid. An H200 (driver 580) gave all
// results.
#include "driver_test.h"

#include <chrono>
#include <ctime>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>

namespace {

using Call = std::function<CUresult()>;

class CaptureTest : public DriverTest {
  protected:
    void SetUp() override {
        DriverTest::SetUp();
        for (CUstream *stream : {&stream_, &other_})
            ASSERT_EQ(cuStreamCreate(stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
        for (CUevent *event : {&event_, &reached_, &fresh_})
            ASSERT_EQ(cuEventCreate(event, 0), CUDA_SUCCESS);
        ASSERT_EQ(cuEventRecord(reached_, other_), CUDA_SUCCESS);
        ASSERT_EQ(cuStreamSynchronize(other_), CUDA_SUCCESS);
        word_ = allocate(64);
        ASSERT_EQ(cuGraphCreate(&graph_, 0), CUDA_SUCCESS);
        ASSERT_EQ(cuGraphInstantiateWithFlags(&exec_, graph_, 0), CUDA_SUCCESS);
    }

    void begin(CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL) {
        ASSERT_EQ(cuStreamBeginCapture(stream_, mode), CUDA_SUCCESS);
    }

    CUresult end() {
        CUgraph graph = nullptr;
        return cuStreamEndCapture(stream_, &graph);
    }

    /// The results of a call in a capture, and of the capture's end.
    void expect(const Call &call, CUstreamCaptureMode mode, CUresult wanted, CUresult wanted_end) {
        begin(mode);
        EXPECT_EQ(call(), wanted);
        EXPECT_EQ(end(), wanted_end);
    }

    static CUmemoryPool default_pool() {
        CUmemoryPool pool = nullptr;
        EXPECT_EQ(cuDeviceGetDefaultMemPool(&pool, 0), CUDA_SUCCESS);
        return pool;
    }

    /// Calls that an active capture forbids.
    std::vector<Call> unsafe_calls() {
        return {
            [this] { return cuMemAlloc(&made_, 64); },
            [] { return cuMemFree(0); },
            [this] { return cuMemHostAlloc(&host_, 64, 0); },
            [] { return cuMemFreeHost(nullptr); },
            [this] { return cuMemAllocManaged(&made_, 64, CU_MEM_ATTACH_GLOBAL); },
            [this] { return cuMemAllocAsync(&made_, 64, other_); },
            [this] { return cuStreamQuery(other_); },
            [this] { return cuStreamSynchronize(other_); },
            [this] { return cuEventQuery(reached_); },
            [this] { return cuEventSynchronize(fresh_); },
            [] { return cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 2048); },
            [this] { return cuGraphInstantiateWithFlags(&exec_, graph_, 0); },
            [] { return cuDeviceSetMemPool(0, default_pool()); },
            [] {
                CUmemLocation here{.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
                return cuMemSetMemPool(&here, CU_MEM_ALLOCATION_TYPE_PINNED, default_pool());
            },
        };
    }

    CUstream stream_ = nullptr, other_ = nullptr;
    CUevent event_ = nullptr, reached_ = nullptr, fresh_ = nullptr;
    CUdeviceptr word_ = 0, made_ = 0;
    void *host_ = nullptr;
    CUgraph graph_ = nullptr;
    CUgraphExec exec_ = nullptr;
};

TEST_F(CaptureTest, UnsafeCallsInvalidateIt) {
    for (const Call &call : unsafe_calls()) {
        for (const auto mode : {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL})
            expect(call, mode, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                   CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        expect(call, CU_STREAM_CAPTURE_MODE_RELAXED, CUDA_SUCCESS, CUDA_SUCCESS);
    }
}

TEST_F(CaptureTest, OtherCallsDoNot) {
    std::vector<char> bytes(64);
    const std::vector<Call> calls = {
        [&] { return cuMemcpyHtoD(word_, bytes.data(), 64); },
        [&] { return cuMemcpyDtoHAsync(bytes.data(), word_, 64, other_); },
        [&] { return cuMemsetD8(word_, 0, 64); },
        [&] { return cuEventRecord(fresh_, other_); },
        [&] { return cuLaunchHostFunc(other_, [](void *) {}, nullptr); },
        [&] { return cuGraphLaunch(exec_, other_); },
        [&] { return cuModuleLoadData(&module_, fake::kImage); },
        [&] { return cuStreamWaitEvent(stream_, event_, 0); }, // it was never recorded
    };
    for (const Call &call : calls)
        expect(call, CU_STREAM_CAPTURE_MODE_GLOBAL, CUDA_SUCCESS, CUDA_SUCCESS);
}

TEST_F(CaptureTest, AThreadChoosesWhichCapturesForbidItsCalls) {
    const auto in_thread = [&](CUstreamCaptureMode capture, CUstreamCaptureMode own) {
        begin(capture);
        CUresult result{};
        std::thread([&] {
            cuCtxSetCurrent(context_);
            cuThreadExchangeStreamCaptureMode(&own);
            result = cuMemAlloc(&made_, 64);
        }).join();
        EXPECT_EQ(end(), result == CUDA_SUCCESS ? result : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        return result;
    };
    constexpr auto global = CU_STREAM_CAPTURE_MODE_GLOBAL;
    constexpr auto local = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    EXPECT_EQ(in_thread(global, global), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    EXPECT_EQ(in_thread(global, local), CUDA_SUCCESS);
    EXPECT_EQ(in_thread(local, global), CUDA_SUCCESS);
    begin(global);
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    ASSERT_EQ(cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
    EXPECT_EQ(cuMemAlloc(&made_, 64), CUDA_SUCCESS);
    ASSERT_EQ(cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
    EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_RELAXED);
    EXPECT_EQ(end(), CUDA_SUCCESS);
}

TEST_F(CaptureTest, GraphsAreNotLaunchedIntoIt) {
    for (const auto call : {cuGraphLaunch, cuGraphUpload})
        expect([&] { return call(exec_, stream_); }, CU_STREAM_CAPTURE_MODE_RELAXED,
               CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(CaptureTest, ItsEventsAreInvalidAfterIt) {
    float milliseconds = 0;
    begin(CU_STREAM_CAPTURE_MODE_RELAXED);
    ASSERT_EQ(cuEventRecord(event_, stream_), CUDA_SUCCESS);
    EXPECT_EQ(cuEventElapsedTime(&milliseconds, reached_, event_), CUDA_ERROR_CAPTURED_EVENT);
    EXPECT_EQ(end(), CUDA_SUCCESS);
    EXPECT_EQ(cuEventQuery(event_), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuEventSynchronize(event_), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuEventElapsedTime(&milliseconds, event_, reached_), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuStreamWaitEvent(other_, event_, 0), CUDA_ERROR_INVALID_VALUE);
    expect([&] { return cuStreamWaitEvent(stream_, event_, 0); }, CU_STREAM_CAPTURE_MODE_RELAXED,
           CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    ASSERT_EQ(cuEventRecord(event_, other_), CUDA_SUCCESS);
    EXPECT_EQ(cuEventSynchronize(event_), CUDA_SUCCESS);
}

TEST_F(CaptureTest, AQueryOfTheLegacyStreamTellsThatItCannotBeUsed) {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    ASSERT_EQ(cuStreamIsCapturing(nullptr, &status), CUDA_SUCCESS);
    CUstream blocking = nullptr; // the legacy stream waits for it
    ASSERT_EQ(cuStreamCreate(&blocking, CU_STREAM_DEFAULT), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamBeginCapture(blocking, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamIsCapturing(nullptr, &status), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    EXPECT_EQ(cuStreamGetCaptureInfo(nullptr, &status, nullptr, nullptr, nullptr, nullptr, nullptr),
              CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    CUgraph captured = nullptr;
    EXPECT_EQ(cuStreamEndCapture(blocking, &captured), CUDA_SUCCESS); // it is still valid
    EXPECT_EQ(cuGraphDestroy(captured), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamIsCapturing(nullptr, &status), CUDA_SUCCESS);
    EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_NONE);
    EXPECT_EQ(cuStreamDestroy(blocking), CUDA_SUCCESS);
}

TEST_F(CaptureTest, OtherStreamsAndThreadsCannotEndIt) {
    CUgraph graph = nullptr;
    begin(CU_STREAM_CAPTURE_MODE_RELAXED);
    ASSERT_EQ(cuEventRecord(event_, stream_), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamWaitEvent(other_, event_, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamEndCapture(other_, &graph), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    EXPECT_EQ(end(), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    // The legacy stream cannot join.
    begin(CU_STREAM_CAPTURE_MODE_RELAXED);
    ASSERT_EQ(cuEventRecord(event_, stream_), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamWaitEvent(nullptr, event_, 0), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    EXPECT_EQ(end(), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    // A stream that joined and did nothing need not be joined back.
    begin(CU_STREAM_CAPTURE_MODE_RELAXED);
    ASSERT_EQ(cuEventRecord(event_, stream_), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamWaitEvent(other_, event_, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuMemsetD8Async(word_, 0, 0, other_), CUDA_SUCCESS);
    EXPECT_EQ(end(), CUDA_SUCCESS);
    begin(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    std::thread([&] {
        cuCtxSetCurrent(context_);
        EXPECT_EQ(cuStreamEndCapture(stream_, &graph), CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    }).join();
    EXPECT_EQ(end(), CUDA_ERROR_ILLEGAL_STATE) << "the other thread has ended it";
}

/// The results of calls in a host function.
struct Inside {
    std::vector<Call> calls;
    std::vector<CUresult> results;

    static void CUDA_CB run(void *self) {
        auto &inside = *static_cast<Inside *>(self);
        for (const Call &call : inside.calls)
            inside.results.push_back(call());
    }
    static void CUDA_CB run_callback(CUstream, CUresult, void *self) { run(self); }
};

TEST_F(CaptureTest, HostFunctionsMayOnlyUseStreamsAndEvents) {
    CUcontext current = nullptr;
    CUstreamCaptureStatus status{};
    int count = 0;
    const CUfunction append = function("append");
    void *parameters[] = {&word_, &count};
    const std::vector<Call> refused = {
        [&] { return cuMemAlloc(&made_, 64); },
        [&] { return cuMemFree(word_); },
        [&] { return cuCtxGetCurrent(&current); },
        [&] { return cuCtxSetCurrent(context_); },
        [&] { return cuCtxSynchronize(); },
        [&] { return cuDeviceGetCount(&count); },
        [&] { return cuMemcpyHtoDAsync(word_, &count, 4, other_); },
        [&] { return cuEventRecord(fresh_, nullptr); },
        [&] { return cuGraphCreate(&graph_, 0); },
        [&] { return cuLaunchKernel(append, 1, 1, 1, 1, 1, 1, 0, other_, parameters, nullptr); },
    };
    const std::vector<Call> permitted = {
        [&] { return cuStreamQuery(other_); },
        [&] { return cuEventQuery(reached_); },
        [&] { return cuEventRecord(fresh_, other_); },
        [&] { return cuStreamWaitEvent(other_, reached_, 0); },
        [&] { return cuMemsetD8Async(word_, 0, 4, other_); },
        [&] { return cuGraphLaunch(exec_, other_); },
        [&] { return cuLaunchHostFunc(other_, [](void *) {}, nullptr); },
        [&] { return cuStreamIsCapturing(other_, &status); },
    };
    Inside inside{refused, {}}, outside{permitted, {}};
    ASSERT_EQ(cuLaunchHostFunc(stream_, Inside::run, &inside), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamAddCallback(stream_, Inside::run_callback, &inside, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuLaunchHostFunc(stream_, Inside::run, &outside), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
    EXPECT_EQ(inside.results, std::vector<CUresult>(2 * refused.size(), CUDA_ERROR_NOT_PERMITTED));
    EXPECT_EQ(outside.results, std::vector<CUresult>(permitted.size(), CUDA_SUCCESS));
    EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS) << "outside of host functions";
}

// With a search for each node, this would take a quarter of a minute.
TEST_F(CaptureTest, TheTimeOfALongChainIsLinear) {
    constexpr int kNodes = 32768;
    const std::clock_t begun = std::clock(); // processor time, because other programs may run
    begin();
    for (int i = 0; i < kNodes; i++)
        ASSERT_EQ(cuMemsetD8Async(word_, static_cast<unsigned char>(i), 4, stream_), CUDA_SUCCESS);
    CUgraph graph = nullptr, clone = nullptr;
    ASSERT_EQ(cuStreamEndCapture(stream_, &graph), CUDA_SUCCESS);
    CUgraphExec exec = nullptr;
    ASSERT_EQ(cuGraphInstantiate(&exec, graph, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphClone(&clone, graph), CUDA_SUCCESS);
    CUgraphExecUpdateResultInfo info{};
    ASSERT_EQ(cuGraphExecUpdate(exec, clone, &info), CUDA_SUCCESS);
    EXPECT_LT(std::clock() - begun, 5 * CLOCKS_PER_SEC);
    EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphDestroy(clone), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
}

TEST_F(CaptureTest, TheLegacyStreamIsRefusedInEveryModeWhileABlockingStreamCaptures) {
    CUstream blocking = nullptr;
    ASSERT_EQ(cuStreamCreate(&blocking, CU_STREAM_DEFAULT), CUDA_SUCCESS);
    for (CUstreamCaptureMode mode :
         {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
          CU_STREAM_CAPTURE_MODE_RELAXED}) {
        CUgraph graph = nullptr;
        CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
        ASSERT_EQ(cuStreamBeginCapture(blocking, mode), CUDA_SUCCESS);
        EXPECT_EQ(cuStreamIsCapturing(nullptr, &status), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
        ASSERT_EQ(cuStreamEndCapture(blocking, &graph), CUDA_SUCCESS) << "a question does no harm";
        EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
        ASSERT_EQ(cuStreamBeginCapture(blocking, mode), CUDA_SUCCESS);
        EXPECT_EQ(cuMemsetD8Async(word_, 1, 4, nullptr), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
        EXPECT_EQ(cuStreamEndCapture(blocking, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        ASSERT_EQ(cuStreamBeginCapture(blocking, mode), CUDA_SUCCESS);
        EXPECT_EQ(cuEventRecord(event_, nullptr), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
        EXPECT_EQ(cuStreamEndCapture(blocking, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    }
}

TEST_F(CaptureTest, AVerboseDrawingHasTheNodesParameters) {
    begin();
    ASSERT_EQ(cuMemsetD32Async(word_, 258, 16, stream_), CUDA_SUCCESS);
    ASSERT_EQ(cuMemcpyDtoDAsync(word_ + 4, word_, 4, stream_), CUDA_SUCCESS);
    CUgraph graph = nullptr;
    ASSERT_EQ(cuStreamEndCapture(stream_, &graph), CUDA_SUCCESS);
    const std::string path = testing::TempDir() + "drawing.dot";
    const auto drawing = [&](unsigned flags) {
        EXPECT_EQ(cuGraphDebugDotPrint(graph, path.c_str(), flags), CUDA_SUCCESS);
        std::ifstream file(path);
        return std::string(std::istreambuf_iterator<char>(file), {});
    };
    const std::string plain = drawing(0), fill = "value 258 of 4 bytes", copy = "4 bytes x 1 x 1";
    EXPECT_NE(plain.find("memset"), std::string::npos);
    EXPECT_EQ(plain.find(fill), std::string::npos);
    const std::string fills = drawing(CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS);
    EXPECT_NE(fills.find(fill), std::string::npos);
    EXPECT_EQ(fills.find(copy), std::string::npos);
    const std::string verbose = drawing(CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE);
    EXPECT_NE(verbose.find(fill), std::string::npos);
    EXPECT_NE(verbose.find(copy), std::string::npos);
    EXPECT_NE(verbose.find("handle 0x"), std::string::npos);
    EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
}

} // namespace
