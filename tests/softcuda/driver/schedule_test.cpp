// schedule_test.cpp -- what SOFTCUDA_SCHEDULE changes, and what it must not change.
//
// Each program runs in a child process, because the driver reads its settings once.
#include "fake_program.h"

#include <cuda.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using Words = std::vector<std::int32_t>;

constexpr int kSeeds = 10;
constexpr unsigned kNonBlocking = CU_STREAM_NON_BLOCKING;

void insist(CUresult result, int line) {
    if (result == CUDA_SUCCESS)
        return;
    const char *name = nullptr;
    cuGetErrorName(result, &name);
    std::fprintf(stderr, "schedule_test.cpp:%d: %s\n", line, name);
    _exit(99);
}
#define OK(call) insist(call, __LINE__)

/// A program with a list to which kernels append.
class Program {
  public:
    Program() {
        OK(cuInit(0));
        CUcontext context = nullptr;
        OK(cuDevicePrimaryCtxRetain(&context, 0));
        OK(cuCtxSetCurrent(context));
        OK(cuModuleLoadData(&module_, fake::kImage));
        OK(cuMemAlloc(&list, 4 * kWords));
        OK(cuMemsetD32(list, 0, kWords));
        OK(cuCtxSynchronize());
    }

    static CUstream stream(unsigned flags = kNonBlocking) {
        CUstream made = nullptr;
        OK(cuStreamCreate(&made, flags));
        return made;
    }
    static CUevent event() {
        CUevent made = nullptr;
        OK(cuEventCreate(&made, CU_EVENT_DISABLE_TIMING));
        return made;
    }
    static std::int32_t *page_locked(std::size_t words) {
        void *made = nullptr;
        OK(cuMemHostAlloc(&made, 4 * words, CU_MEMHOSTALLOC_DEVICEMAP));
        std::memset(made, 0, 4 * words);
        return static_cast<std::int32_t *>(made);
    }

    template <class... Arguments>
    void launch(const char *name, CUstream stream, Arguments... arguments) {
        CUfunction function = nullptr;
        OK(cuModuleGetFunction(&function, module_, name));
        void *pointers[] = {static_cast<void *>(&arguments)..., nullptr};
        OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, pointers, nullptr));
    }
    void append(CUstream stream, int value) { launch("append", stream, list, value); }
    static void order(CUstream before, CUstream after) {
        CUevent between = event();
        OK(cuEventRecord(between, before));
        OK(cuStreamWaitEvent(after, between, 0));
        OK(cuEventDestroy(between));
    }

    /// Waits for all work; the appended values.
    [[nodiscard]] Words appended() const {
        OK(cuCtxSynchronize());
        Words words(kWords);
        OK(cuMemcpyDtoH(words.data(), list, 4 * kWords));
        return {words.begin() + 1, words.begin() + 1 + words[0]};
    }

    static constexpr std::size_t kWords = 1024;
    CUdeviceptr list = 0;

  private:
    CUmodule module_ = nullptr;
};

/// What a program returns in a process of its own; no value if it failed.
std::optional<Words> run(const std::function<Words()> &program, std::optional<int> seed) {
    constexpr std::size_t kBytes = 8 * Program::kWords;
    void *const shared =
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    auto *const words = static_cast<std::int32_t *>(shared);
    const pid_t child = fork();
    if (child == 0) {
        if (seed)
            setenv("SOFTCUDA_SCHEDULE", std::to_string(*seed).c_str(), 1);
        else
            unsetenv("SOFTCUDA_SCHEDULE");
        alarm(60);
        const Words result = program();
        words[0] = static_cast<std::int32_t>(result.size());
        std::memcpy(words + 1, result.data(), 4 * result.size());
        _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    std::optional<Words> result;
    if (status == 0)
        result = Words(words + 1, words + 1 + words[0]);
    munmap(shared, kBytes);
    return result;
}

/// The program gives the same result without a schedule and with each seed.
void expect_constant(const std::function<Words()> &program, const Words &expected) {
    EXPECT_EQ(run(program, std::nullopt), expected);
    for (int seed = 0; seed < kSeeds; seed++)
        EXPECT_EQ(run(program, seed), expected) << "seed " << seed;
}

/// Some of the first seeds change the result, and some do not.
void expect_found(const std::function<Words()> &program, const Words &usual) {
    EXPECT_EQ(run(program, std::nullopt), usual);
    int changed = 0;
    for (int seed = 0; seed < kSeeds; seed++) {
        const std::optional<Words> result = run(program, seed);
        ASSERT_TRUE(result) << "seed " << seed;
        changed += *result != usual ? 1 : 0;
    }
    EXPECT_GT(changed, 0);
    EXPECT_LT(changed, kSeeds);
}

// ---- forgotten orders -----------------------------------------------------------------------

TEST(ScheduleTest, AForgottenEventBetweenKernelsIsSeen) {
    expect_found(
        [] {
            Program p;
            p.append(p.stream(), 1);
            p.append(p.stream(), 2);
            return p.appended();
        },
        {1, 2});
}

TEST(ScheduleTest, AForgottenEventBetweenManyKernelsIsSeen) {
    Words usual;
    for (int i = 0; i < 40; i++)
        usual.push_back(i);
    expect_found(
        [] {
            Program p;
            CUstream a = p.stream(), b = p.stream();
            for (int i = 0; i < 40; i++) {
                p.append(i % 10 < 5 ? a : b, i);
                if (i % 5 == 4 && i != 34) // the event after the 35th kernel is missing
                    i % 10 < 5 ? p.order(a, b) : p.order(b, a);
            }
            return p.appended();
        },
        usual);
}

TEST(ScheduleTest, AForgottenEventBetweenCopiesIsSeen) {
    expect_found(
        [] {
            Program p;
            CUstream a = p.stream(), b = p.stream();
            std::int32_t *from = p.page_locked(4), *to = p.page_locked(4);
            from[0] = 7;
            OK(cuMemcpyHtoDAsync(p.list, from, 16, a));
            OK(cuMemcpyDtoHAsync(to, p.list, 16, b));
            OK(cuCtxSynchronize());
            return Words{to[0]};
        },
        {7});
}

TEST(ScheduleTest, AForgottenEventAfterACopyOfPageableMemoryIsSeen) {
    expect_found(
        [] {
            Program p;
            CUstream a = p.stream(), b = p.stream();
            std::int32_t from[4] = {7, 0, 0, 0}, *to = p.page_locked(4);
            OK(cuMemcpyHtoDAsync(p.list, from, 16, a));
            from[0] = 8; // the driver has read it
            OK(cuMemcpyDtoHAsync(to, p.list, 16, b));
            OK(cuCtxSynchronize());
            return Words{to[0]};
        },
        {7});
}

TEST(ScheduleTest, AForgottenEventBetweenAFillAndAHostFunctionIsSeen) {
    expect_found(
        [] {
            Program p;
            CUstream a = p.stream(), b = p.stream();
            static std::int32_t seen;
            static CUdeviceptr list;
            list = p.list;
            OK(cuMemsetD32Async(p.list, 7, 4, a));
            OK(cuLaunchHostFunc(
                b, [](void *) { seen = *reinterpret_cast<std::int32_t *>(list); }, nullptr));
            OK(cuCtxSynchronize());
            return Words{seen};
        },
        {7});
}

TEST(ScheduleTest, AForgottenWaitOfTheHostIsSeen) {
    expect_found(
        [] {
            Program p;
            std::int32_t *word = p.page_locked(4);
            CUdeviceptr mapped = 0;
            OK(cuMemHostGetDevicePointer(&mapped, word, 0));
            p.launch("store", p.stream(), mapped, 7);
            const Words seen{*static_cast<volatile std::int32_t *>(word)};
            OK(cuCtxSynchronize());
            return seen;
        },
        {7});
}

TEST(ScheduleTest, AMissingEdgeOfAGraphIsSeen) {
    expect_found(
        [] {
            Program p;
            CUstream a = p.stream(), b = p.stream();
            OK(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
            p.order(a, b);
            p.append(a, 1);
            p.append(b, 2); // has to follow the other one
            p.order(b, a);
            CUgraph graph = nullptr;
            OK(cuStreamEndCapture(a, &graph));
            CUgraphExec exec = nullptr;
            OK(cuGraphInstantiate(&exec, graph, 0));
            OK(cuGraphLaunch(exec, a));
            return p.appended();
        },
        {1, 2});
}

TEST(ScheduleTest, MemoryThatAnotherStreamFreesTooEarlyIsSeen) {
    expect_found(
        [] {
            Program p;
            CUstream a = p.stream(), b = p.stream();
            CUdeviceptr memory = 0;
            OK(cuMemAllocAsync(&memory, 4096, a));
            OK(cuStreamSynchronize(a));
            p.launch("store", a, memory, 7);
            OK(cuMemFreeAsync(memory, b));
            return Words{cuCtxSynchronize() == CUDA_SUCCESS ? 1 : 0};
        },
        {1});
}

// ---- orders that hold -----------------------------------------------------------------------

TEST(ScheduleTest, EventsHold) {
    Words expected;
    for (int i = 0; i < 60; i++)
        expected.push_back(i);
    expect_constant(
        [] {
            Program p;
            CUstream streams[] = {p.stream(), p.stream(CU_STREAM_DEFAULT), p.stream(),
                                  CU_STREAM_LEGACY, CU_STREAM_PER_THREAD};
            for (int i = 0; i < 60; i++) {
                p.append(streams[i * i % 5], i);
                p.order(streams[i * i % 5], streams[(i + 1) * (i + 1) % 5]);
            }
            return p.appended();
        },
        expected);
}

TEST(ScheduleTest, TheLegacyStreamHolds) {
    expect_constant(
        [] {
            Program p;
            CUstream a = p.stream(CU_STREAM_DEFAULT), b = p.stream(CU_STREAM_DEFAULT);
            for (int i = 0; i < 40; i += 4) {
                p.append(a, i);
                p.append(nullptr, i + 1);
                p.append(i % 8 ? b : CU_STREAM_PER_THREAD, i + 2);
                p.append(nullptr, i + 3);
            }
            return p.appended();
        },
        [] {
            Words expected(40);
            for (int i = 0; i < 40; i++)
                expected[static_cast<std::size_t>(i)] = i;
            return expected;
        }());
}

TEST(ScheduleTest, WaitsAndQueriesOfTheHostHold) {
    expect_constant(
        [] {
            Program p;
            CUstream a = p.stream(), b = p.stream(), c = p.stream();
            CUevent passed = p.event();
            p.append(a, 1);
            OK(cuStreamSynchronize(a));
            p.append(b, 2);
            OK(cuEventRecord(passed, b));
            while (cuEventQuery(passed) == CUDA_ERROR_NOT_READY) {
            }
            p.append(c, 3);
            while (cuStreamQuery(c) == CUDA_ERROR_NOT_READY) {
            }
            p.append(a, 4);
            OK(cuEventRecord(passed, a));
            OK(cuEventSynchronize(passed));
            p.append(b, 5);
            OK(cuCtxSynchronize());
            p.append(c, 6);
            return p.appended();
        },
        {1, 2, 3, 4, 5, 6});
}

/// The host waits neither for fills of device memory, nor for copies within it, nor for the end of
/// small copies from pageable memory; a non-blocking stream does not wait for the default stream.
TEST(ScheduleTest, AForgottenWaitForACallWithoutAStreamIsSeen) {
    const auto program = [](const std::function<void(CUdeviceptr)> &call) {
        return [call] {
            Program p;
            CUstream a = p.stream();
            std::int32_t *const seen = p.page_locked(1);
            call(p.list + 4);
            OK(cuMemcpyDtoHAsync(seen, p.list + 4, 4, a));
            OK(cuStreamSynchronize(a));
            return Words{seen[0]};
        };
    };
    expect_found(program([](CUdeviceptr to) { OK(cuMemsetD32(to, 7, 1)); }), {7});
    expect_found(program([](CUdeviceptr to) {
                     OK(cuMemsetD32(to + 4, 7, 1));
                     OK(cuMemcpyDtoD(to, to + 4, 4));
                 }),
                 {7});
    expect_found(program([](CUdeviceptr to) {
                     const std::int32_t word = 7;
                     OK(cuMemcpyHtoD(to, &word, 4));
                 }),
                 {7});
}

TEST(ScheduleTest, SynchronousCallsHold) {
    expect_constant(
        [] {
            Program p;
            CUstream a = p.stream(CU_STREAM_DEFAULT);
            std::int32_t word = 0;
            p.append(a, 1);
            OK(cuMemcpyDtoH(&word, p.list + 4, 4));
            Words seen{word};
            word = 9;
            OK(cuMemcpyHtoD(p.list + 4, &word, 4));
            word = 0;
            OK(cuMemcpyDtoHAsync(&word, p.list + 4, 4, a)); // pageable
            seen.push_back(word);
            return seen;
        },
        {1, 9});
}

TEST(ScheduleTest, ValuesInMemoryHold) {
    expect_constant(
        [] {
            Program p;
            CUstream a = p.stream(), b = p.stream();
            CUdeviceptr flag = 0;
            OK(cuMemAlloc(&flag, 4));
            OK(cuMemsetD32(flag, 0, 1));
            OK(cuCtxSynchronize());
            OK(cuStreamWaitValue32(a, flag, 1, CU_STREAM_WAIT_VALUE_GEQ));
            p.append(a, 2);
            p.append(b, 1);
            OK(cuStreamWriteValue32(b, flag, 1, 0));
            return p.appended();
        },
        {1, 2});
}

TEST(ScheduleTest, EdgesOfGraphsHold) {
    expect_constant(
        [] {
            Program p;
            CUstream a = p.stream(), b = p.stream();
            OK(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
            for (int i = 0; i < 10; i++) {
                p.append(i % 2 ? b : a, i);
                i % 2 ? p.order(b, a) : p.order(a, b);
            }
            CUgraph graph = nullptr;
            OK(cuStreamEndCapture(a, &graph));
            CUgraphExec exec = nullptr;
            OK(cuGraphInstantiate(&exec, graph, 0));
            OK(cuGraphLaunch(exec, a)); // one after the other, whatever the stream
            OK(cuGraphLaunch(exec, p.stream()));
            return p.appended();
        },
        {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
}

TEST(ScheduleTest, KernelsThatWaitForEachOtherEnd) {
    expect_constant(
        [] {
            Program p;
            CUstream a = p.stream(), b = p.stream();
            std::int32_t *flags = p.page_locked(2);
            CUdeviceptr mapped = 0;
            OK(cuMemHostGetDevicePointer(&mapped, flags, 0));
            p.launch("wait_for", a, mapped);
            p.append(a, 2);
            p.append(b, 1);
            p.launch("store", b, mapped, 1);
            return p.appended();
        },
        {1, 2});
}

TEST(ScheduleTest, WorkIsDoneWithoutFurtherCalls) {
    expect_constant(
        [] {
            Program p;
            std::int32_t *word = p.page_locked(1);
            CUdeviceptr mapped = 0;
            OK(cuMemHostGetDevicePointer(&mapped, word, 0));
            for (CUstream stream : {p.stream(), p.stream(), p.stream()})
                p.append(stream, 1);
            p.launch("store", p.stream(), mapped, 7);
            while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == 0)
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            return Words{*word};
        },
        {7});
}

// ---- the seed -------------------------------------------------------------------------------

Words many_streams() {
    Program p;
    std::vector<CUstream> streams;
    for (int i = 0; i < 8; i++)
        streams.push_back(p.stream(i % 3 ? kNonBlocking : 0U));
    for (int i = 0; i < 200; i++) {
        const std::size_t one = static_cast<std::size_t>(i * 7 % 8);
        p.append(streams[one], i);
        if (i % 9 == 0)
            p.order(streams[one], streams[(one + 3) % 8]);
        if (i % 31 == 0)
            OK(cuStreamSynchronize(streams[one]));
    }
    return p.appended();
}

TEST(ScheduleTest, ASeedGivesOneOrder) {
    std::set<Words> orders;
    for (int seed = 0; seed < 5; seed++) {
        const std::optional<Words> first = run(many_streams, seed);
        ASSERT_TRUE(first);
        EXPECT_EQ(run(many_streams, seed), first) << "seed " << seed;
        orders.insert(*first);
    }
    EXPECT_EQ(orders.size(), 5U);
}

TEST(ScheduleTest, AWrongSeedIsAnError) {
    const pid_t child = fork();
    if (child == 0) {
        setenv("SOFTCUDA_SCHEDULE", "first", 1);
        _exit(cuInit(0) == CUDA_ERROR_INVALID_VALUE ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
}

} // namespace
