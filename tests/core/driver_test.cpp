// driver_test.cpp -- the table of functions: an old driver, a forked process, the end of the
// process.
#include "fake_fixture.h"

#include "driver/trace.h"

#include <pycuda/caller_lock.h>

#include <sys/wait.h>
#include <unistd.h>

#include <thread>

namespace pycuda {
namespace {

using testing::HasSubstr;

TEST(Driver, HasItsPath) {
    EXPECT_EQ(driver().path(), FAKE_DRIVER);
    EXPECT_EQ(driver_version(), 12020);
    EXPECT_EQ(driver().image_kind(), ImageKind::Cubin);
    EXPECT_STREQ(driver().cuMemAlloc.name(), "cuMemAlloc");
}

TEST(Driver, ThrowsOrReturnsTheResult) {
    CUdevice device = 0;
    EXPECT_EQ(driver().cuDeviceGet.status(&device, 7), CUDA_ERROR_INVALID_DEVICE);
    EXPECT_EQ(message_of([&] { driver().cuDeviceGet(&device, 7); }),
              "cuDeviceGet failed: invalid device ordinal");
    EXPECT_EQ(message_of([] { Device(7); }),
              "cuDeviceGet failed: invalid device ordinal - device 7 of 1");
}

TEST(Driver, ErrorNamesTheVersionWithAMissingFunction) {
    EXPECT_TRUE(driver().cuInit.available());
    EXPECT_FALSE(driver().cuFuncGetParamInfo.available());
    std::string text =
        message_of([] { (void)driver().cuFuncGetParamInfo.status(nullptr, 0, nullptr, nullptr); });
    EXPECT_THAT(text, HasSubstr("(CUDA 12.2) has no cuFuncGetParamInfo"));
    EXPECT_THAT(text, HasSubstr("which CUDA 12.4 introduced"));
}

TEST(Driver, IsAnErrorInAForkedChild) {
    init(); // in the parent
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    pid_t child = fork();
    if (child == 0) {
        std::string text = message_of([] { Device::count(); });
        bool inert = driver_for_cleanup() == nullptr;
        text += inert ? " [inert]" : " [calls the driver]";
        ssize_t written = write(pipe_ends[1], text.data(), text.size());
        _exit(written < 0);
    }
    char buffer[512];
    ssize_t length = read(pipe_ends[0], buffer, sizeof buffer);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_GT(length, 0);
    std::string said(buffer, static_cast<std::size_t>(length));
    EXPECT_THAT(said, HasSubstr("CUDA was initialised before fork"));
    EXPECT_THAT(said, HasSubstr("spawn"));
    EXPECT_THAT(said, HasSubstr("[inert]"));
    EXPECT_EQ(Device::count(), 1); // the parent can continue
}

int releases = 0;

/// How often a call of the driver releases the caller's lock.
template <class Call> int releases_of(Call &&call) {
    releases = 0;
    set_caller_lock({[]() -> void * { return &++releases; }, [](void *) {}});
    call();
    set_caller_lock({});
    return releases;
}

TEST(Driver, CallsReleaseTheCallersLockWhileTheDriverMayNeedIt) {
    const auto ask = [] { (void)Device::count(); };
    const auto wait = [] { (void)driver().cuCtxSynchronize.status(); };
    EXPECT_EQ(releases_of(ask), 0);
    EXPECT_EQ(releases_of(wait), 1);
    const CallerLockUse use;
    EXPECT_EQ(releases_of(ask), 1);
    EXPECT_EQ(releases_of(wait), 1);
}

CUresult add(int *result, int left, const char *) {
    *result += left;
    return CUDA_ERROR_NOT_FOUND;
}

TEST(Trace, PrintsACallAndItsResult) {
    int result = 1;
    testing::internal::CaptureStderr();
    EXPECT_EQ(trace::call("cuAdd", &add, &result, 41, static_cast<const char *>("name")),
              CUDA_ERROR_NOT_FOUND);
    std::string line = testing::internal::GetCapturedStderr();
    EXPECT_EQ(result, 42);
    EXPECT_THAT(line, testing::MatchesRegex("pycuda: cuAdd\\(0x[0-9a-f]+, 41, \"name\"\\) = "
                                            "CUDA_ERROR_NOT_FOUND  [0-9.]+ us\n"));
}

class Waiting : public FakeDevice {
  protected:
    ~Waiting() override { fake().stream_is_busy = false; }
};

TEST_F(Waiting, EndsWhenTheStreamIsDone) {
    fake().stream_is_busy = true;
    int asked = 0;
    synchronize(StreamRef(), [&] {
        fake().stream_is_busy = ++asked < 3;
        return true;
    });
    EXPECT_EQ(asked, 3);
}

TEST_F(Waiting, CanBeCancelled) {
    fake().stream_is_busy = true;
    int interrupts = fake().interrupts;
    EXPECT_THROW(synchronize(StreamRef(), [] { return false; }), Interrupted);
    EXPECT_EQ(fake().interrupts, interrupts + 1);
}

TEST_F(Waiting, RethrowsExceptionsOfTheCallback) {
    fake().stream_is_busy = true;
    EXPECT_THROW(synchronize(StreamRef(), []() -> bool { throw 7; }), int);
}

using Finalizing = FakeDevice;

TEST_F(Finalizing, MakesDestructorsInert) {
    GTEST_FLAG_SET(death_test_style,
                   "threadsafe"); // in a separate process, because it cannot be undone
    EXPECT_EXIT(
        {
            const FakeDriver &records = fake();
            auto memory = std::make_unique<DeviceMemory>(64);
            auto module = std::make_unique<Module>(load("code"));
            auto context = std::make_unique<Context>(context_);
            std::size_t used = records.memory_used;
            set_finalizing();
            memory.reset();
            module.reset();
            context.reset();
            bool inert = records.memory_used == used && records.modules_unloaded == 0;
            std::_Exit(inert ? 0 : 1);
        },
        testing::ExitedWithCode(0), "");
}

} // namespace
} // namespace pycuda
