// fault_test.cpp -- kernels that fail: an error code and a message, never a crash.
#include "driver_test.h"

#include "rt/guard.h"

#include <chrono>
#include <csignal>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

class FaultTest : public DriverTest {
  protected:
    /// The error persists until the context is reset; then everything works again.
    void expect_sticky(CUresult error) {
        EXPECT_EQ(cuCtxSynchronize(), error);
        CUdeviceptr memory = 0;
        EXPECT_EQ(cuMemAlloc(&memory, 4), error);
        EXPECT_EQ(cuCtxSynchronize(), error);
        ASSERT_EQ(cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
        ASSERT_EQ(cuMemAlloc(&memory, 4), CUDA_SUCCESS);
        ASSERT_EQ(cuModuleLoadData(&module_, fake::kImage), CUDA_SUCCESS);
        ASSERT_EQ(launch("store", 1, 1, nullptr, memory, 8), CUDA_SUCCESS);
        EXPECT_EQ(read_words(memory, 1).front(), 8);
    }

    /// Whether the last message contains all of `parts`.
    static testing::AssertionResult message_has(std::initializer_list<std::string> parts) {
        const std::string message = last_fault();
        for (const std::string &part : parts)
            if (message.find(part) == std::string::npos)
                return testing::AssertionFailure()
                       << "no \"" << part << "\" in \"" << message << '"';
        return testing::AssertionSuccess();
    }
};

TEST_F(FaultTest, InvalidWriteNamesTheNearestAllocation) {
    const CUdeviceptr memory = allocate(1024); // ends at the end of its page
    ASSERT_EQ(launch("store", 1, 1, nullptr, memory + 1036, 1), CUDA_SUCCESS);
    expect_sticky(CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT_TRUE(message_has({"kernel `store` failed in block (0,0,0)", "illegal address writing",
                             "12 bytes after the 1024-byte allocation"}));
}

TEST_F(FaultTest, InvalidRead) {
    const CUdeviceptr memory = allocate(4096); // starts at the start of its page
    ASSERT_EQ(launch("load", 1, 1, nullptr, memory - 8, memory), CUDA_SUCCESS);
    expect_sticky(CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT_TRUE(
        message_has({"illegal address reading", "8 bytes before the 4096-byte allocation"}));
}

TEST_F(FaultTest, UseAfterFree) {
    const CUdeviceptr memory = allocate(64);
    ASSERT_EQ(cuMemFree(memory), CUDA_SUCCESS);
    ASSERT_EQ(launch("store", 1, 1, nullptr, memory + 8, 1), CUDA_SUCCESS);
    expect_sticky(CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT_TRUE(message_has({"8 bytes into the 64-byte allocation", "which was freed"}));
}

TEST_F(FaultTest, NullPointer) {
    ASSERT_EQ(launch("store", 1, 1, nullptr, CUdeviceptr{0}, 1), CUDA_SUCCESS);
    expect_sticky(CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT_TRUE(message_has({"writing 0x0, a null pointer"}));
}

TEST_F(FaultTest, AddressThatNoPointerCanHave) {
    ASSERT_EQ(launch("store", 1, 1, nullptr, CUdeviceptr{0xdead000000000000}, 1), CUDA_SUCCESS);
    expect_sticky(CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(FaultTest, CheckedAddressOutsideTheArena) {
    static int host = 0;
    ASSERT_EQ(launch("check_store", 1, 1, nullptr, reinterpret_cast<CUdeviceptr>(&host), 1),
              CUDA_SUCCESS);
    expect_sticky(CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT_EQ(host, 0);
    EXPECT_TRUE(
        message_has({"lane 5", "writing", "memory of the program that was not registered"}));
}

TEST_F(FaultTest, MisalignedAddress) {
    ASSERT_EQ(launch("misaligned", 1, 32, nullptr), CUDA_SUCCESS);
    expect_sticky(CUDA_ERROR_MISALIGNED_ADDRESS);
    EXPECT_TRUE(message_has({"misaligned address at 0x1001", "lane 3"}));
}

TEST_F(FaultTest, TrapInOneOfManyBlocks) {
    ASSERT_EQ(launch("trap", 100, 32, nullptr), CUDA_SUCCESS);
    expect_sticky(CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_TRUE(message_has({"kernel `trap`", "trap"}));
}

TEST_F(FaultTest, DivisionByZero) {
    ASSERT_EQ(launch("divide", 1, 1, nullptr), CUDA_SUCCESS);
    expect_sticky(CUDA_ERROR_ILLEGAL_INSTRUCTION);
}

TEST_F(FaultTest, StackOverflow) {
    ASSERT_EQ(launch("overflow", 1, 1, nullptr), CUDA_SUCCESS);
    expect_sticky(CUDA_ERROR_HARDWARE_STACK_ERROR);
    EXPECT_TRUE(message_has({"stack overflow"}));
}

TEST_F(FaultTest, UnreachableBarrier) {
    ASSERT_EQ(launch("unreachable_barrier", 1, 64, nullptr), CUDA_SUCCESS);
    expect_sticky(CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_TRUE(message_has({"barrier that others cannot reach"}));
}

TEST_F(FaultTest, SharedMemoryOverrun) {
    ASSERT_EQ(launch("shared_overrun", 1, 32, nullptr), CUDA_SUCCESS);
    expect_sticky(CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT_TRUE(message_has({"bytes after the block's", "bytes of shared memory"}));
}

TEST_F(FaultTest, AssertionPrintsCudasLine) {
    testing::internal::CaptureStderr();
    ASSERT_EQ(launch("fail_assert", 1, 64, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ASSERT);
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_NE(text.find("a.cu:7: void f(): block: [0,0,0], thread: [36,0,0] Assertion `x < 3` "
                        "failed.\n"),
              std::string::npos)
        << text;
    expect_sticky(CUDA_ERROR_ASSERT);
}

TEST_F(FaultTest, LaterWorkOfAFailedContextIsDropped) {
    const CUdeviceptr memory = allocate(4);
    std::int32_t *flag = mapped_word();
    CUstream stream = nullptr;
    ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_DEFAULT), CUDA_SUCCESS);
    ASSERT_EQ(launch("wait_for", 1, 1, stream, flag), CUDA_SUCCESS);
    ASSERT_EQ(launch("trap", 1, 1, stream), CUDA_SUCCESS);
    for (int i = 0; i < 100; i++)
        ASSERT_EQ(launch("store", 1, 1, stream, memory, i), CUDA_SUCCESS);
    release_flag(flag);
    EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_LAUNCH_FAILED);
    expect_sticky(CUDA_ERROR_LAUNCH_FAILED);
}

TEST_F(FaultTest, EndlessKernelIsInterrupted) {
    SKIP_UNDER_TSAN();
    const CUdeviceptr memory = allocate(4);
    ASSERT_EQ(launch("spin", 8, 32, nullptr), CUDA_SUCCESS);
    ASSERT_EQ(launch("store", 1, 1, nullptr, memory, 1), CUDA_SUCCESS); // waits, and is dropped
    EXPECT_EQ(cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_EQ(scuCtxInterrupt(context_), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS); // reported once
    EXPECT_TRUE(message_has({"kernel `spin` was interrupted"}));
    EXPECT_EQ(read_words(memory, 1).front(), 0);
    ASSERT_EQ(launch("store", 1, 1, nullptr, memory, 2), CUDA_SUCCESS);
    EXPECT_EQ(read_words(memory, 1).front(), 2);
}

TEST_F(FaultTest, WaitingThreadIsFreedByAnInterrupt) {
    SKIP_UNDER_TSAN();
    ASSERT_EQ(launch("spin", 1, 32, nullptr), CUDA_SUCCESS);
    std::thread interrupter([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        EXPECT_EQ(scuCtxInterrupt(context_), CUDA_SUCCESS);
    });
    EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED); // may run the kernel on this thread
    interrupter.join();
}

std::atomic<int> questions{0};
int give_up_at_third() { return ++questions < 3; }

TEST_F(FaultTest, ClientCanCancelAWait) {
    SKIP_UNDER_TSAN();
    questions = 0;
    scuAskWhileWaiting(give_up_at_third, pthread_self());
    const CUdeviceptr memory = allocate(4);
    ASSERT_EQ(launch("spin", 64, 32, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
    EXPECT_GE(questions, 3); // more on a busy machine, because the kernel does not end at once
    EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED); // reported once
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    scuAskWhileWaiting(nullptr, {});
}

TEST_F(FaultTest, CancelledWaitInterruptsItsContext) {
    SKIP_UNDER_TSAN();
    CUcontext other = nullptr;
    ASSERT_EQ(cuCtxCreate_v4(&other, nullptr, 0, 0), CUDA_SUCCESS);
    CUmodule module = nullptr;
    CUfunction spin = nullptr;
    CUevent event = nullptr;
    ASSERT_EQ(cuModuleLoadData(&module, fake::kImage), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleGetFunction(&spin, module, "spin"), CUDA_SUCCESS);
    ASSERT_EQ(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
    ASSERT_EQ(cuLaunchKernel(spin, 4, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr), CUDA_SUCCESS);
    ASSERT_EQ(cuEventRecord(event, nullptr), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamWaitEvent(nullptr, event, 0), CUDA_SUCCESS);
    questions = 0;
    scuAskWhileWaiting(give_up_at_third, pthread_self());
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS); // no work of its own has failed
    EXPECT_GE(questions, 3);
    scuAskWhileWaiting(nullptr, {});
    ASSERT_EQ(cuCtxSetCurrent(other), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED); // reported once
    EXPECT_EQ(cuCtxDestroy(other), CUDA_SUCCESS);
}

TEST_F(FaultTest, FunctionInAStreamContinuesAfterACancelledWait) {
    questions = 0;
    scuAskWhileWaiting(give_up_at_third, pthread_self());
    const CUdeviceptr memory = allocate(4);
    std::atomic<bool> go_on = false;
    const auto wait = [](void *flag) { static_cast<std::atomic<bool> *>(flag)->wait(false); };
    ASSERT_EQ(cuLaunchHostFunc(nullptr, wait, &go_on), CUDA_SUCCESS);
    EXPECT_EQ(cuMemFree(memory), CUDA_ERROR_NOT_READY); // the memory is not freed
    EXPECT_TRUE(scuKnowsAddress(memory));
    scuAskWhileWaiting(nullptr, {});
    go_on = true;
    go_on.notify_all();
    EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
}

TEST_F(FaultTest, CallbackRunsOnlyInItsThread) {
    questions = 0;
    scuAskWhileWaiting(give_up_at_third, pthread_self());
    std::int32_t *flag = mapped_word();
    ASSERT_EQ(launch("wait_for", 1, 1, nullptr, flag), CUDA_SUCCESS);
    std::thread other([&] {
        EXPECT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
        EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    release_flag(flag);
    other.join();
    EXPECT_EQ(questions, 0);
    scuAskWhileWaiting(nullptr, {});
}

TEST_F(FaultTest, ResetEndsAnEndlessKernel) {
    SKIP_UNDER_TSAN();
    ASSERT_EQ(launch("spin", 100, 32, nullptr), CUDA_SUCCESS);
    ASSERT_EQ(cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
}

TEST_F(FaultTest, InterruptOfAnIdleContextIsHarmless) {
    ASSERT_EQ(scuCtxInterrupt(context_), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    EXPECT_EQ(scuCtxInterrupt(reinterpret_cast<CUcontext>(this)), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(FaultTest, ForeignFaultsReachTheForeignHandler) {
    ASSERT_EQ(launch("needs_32", 1, 32, nullptr), CUDA_SUCCESS); // installs our handlers
    ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    const pid_t child = fork();
    if (child == 0) {
        close(2); // a sanitizer would write its report here
        std::signal(SIGALRM, SIG_DFL);
        raise(SIGSEGV);
        _exit(0); // not reached
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) != 0);
}

/// A program's handler, on the stack that overflowed, as signal() installs it.
void end_process(int) { _exit(42); }

TEST_F(FaultTest, HandlersOfTheProgramDoNotGetKernelsFaults) {
    ASSERT_EQ(launch("needs_32", 1, 32, nullptr), CUDA_SUCCESS); // installs our handlers
    ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    struct sigaction before{};
    sigaction(SIGSEGV, nullptr, &before);
    for (int round = 0; round < 3; round++) {
        std::signal(SIGSEGV, end_process);
        ASSERT_EQ(launch("store", 1, 1, nullptr, CUdeviceptr{64}, 1), CUDA_SUCCESS);
        expect_sticky(CUDA_ERROR_ILLEGAL_ADDRESS);
        std::signal(SIGSEGV, end_process);
        ASSERT_EQ(launch("overflow", 1, 1, nullptr), CUDA_SUCCESS);
        expect_sticky(CUDA_ERROR_HARDWARE_STACK_ERROR);
    }
    sigaction(SIGSEGV, &before, nullptr);
}

// Launches that follow each other at once do not look whether a handler was replaced.
TEST_F(FaultTest, AHandlerThatIsInstalledBetweenQuickLaunchesIsNoticed) {
    struct sigaction before{};
    sigaction(SIGSEGV, nullptr, &before);
    for (int round = 0; round < 30; round++) {
        const CUfunction store = function("store");
        CUdeviceptr memory = allocate(64), wild = 64;
        int value = round;
        void *good[] = {&memory, &value}, *bad[] = {&wild, &value};
        for (int i = 0; i < 100; i++)
            ASSERT_EQ(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, nullptr, good, nullptr),
                      CUDA_SUCCESS);
        std::signal(SIGSEGV, end_process);
        ASSERT_EQ(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, nullptr, bad, nullptr), CUDA_SUCCESS);
        expect_sticky(CUDA_ERROR_ILLEGAL_ADDRESS);
    }
    sigaction(SIGSEGV, &before, nullptr);
}

/// A handler that calls the handler that it replaced.
struct sigaction replaced_by_chain{};
int chained = 0;
void chain(int signal, siginfo_t *info, void *context) {
    if (++chained > 3)
        _exit(1); // a cycle of handlers
    if (replaced_by_chain.sa_flags & SA_SIGINFO)
        replaced_by_chain.sa_sigaction(signal, info, context);
}

TEST_F(FaultTest, AChainOfHandlersTerminates) {
    ASSERT_EQ(launch("needs_32", 1, 32, nullptr), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    const pid_t child = fork();
    if (child == 0) {
        close(2);
        std::signal(SIGALRM, SIG_DFL);
        struct sigaction action{};
        action.sa_sigaction = chain;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        sigaction(SIGSEGV, &action, &replaced_by_chain);
        softcuda::rt::prepare_thread_for_guards(); // as before a launch
        raise(SIGSEGV);
        _exit(0); // not reached
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) > 1) << status;
}

TEST_F(FaultTest, AKernelWithALargeFrameRuns) {
    const CUdeviceptr out = allocate(64);
    ASSERT_EQ(launch("use_stack", 1, 1, nullptr, out), CUDA_SUCCESS);
    EXPECT_EQ(read_words(out, 1).front(), 2);
    ASSERT_EQ(launch("fail_on_stack", 1, 1, nullptr, out, CUdeviceptr{64}), CUDA_SUCCESS);
    expect_sticky(CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(FaultTest, AForkedChildGetsAnError) {
    const pid_t child = fork();
    if (child == 0) {
        CUdeviceptr memory = 0;
        const bool told = cuMemAlloc(&memory, 4) == CUDA_ERROR_NOT_INITIALIZED &&
                          cuInit(0) == CUDA_ERROR_NOT_INITIALIZED &&
                          cuCtxSynchronize() == CUDA_ERROR_NOT_INITIALIZED;
        _exit(told ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
}

TEST_F(FaultTest, ManyFaultsInARow) {
    for (int i = 0; i < 20; i++) {
        ASSERT_EQ(launch("store", 1, 1, nullptr, CUdeviceptr{64}, 1), CUDA_SUCCESS);
        ASSERT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
        ASSERT_EQ(cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
        ASSERT_EQ(cuModuleLoadData(&module_, fake::kImage), CUDA_SUCCESS);
    }
}

} // namespace
