// newer_functions_test.cpp -- the functions that wheels contain for older versions of glibc.
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

extern "C" {
int wait_for_a_piece(pthread_cond_t *, pthread_mutex_t *, clockid_t, const timespec *);
std::uint32_t arc4random();
long __isoc23_strtol(const char *, char **, int);
unsigned long long __isoc23_strtoull(const char *, char **, int);
}

namespace {

constexpr std::int64_t second = 1'000'000'000;

std::int64_t steady_now() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return second * time.tv_sec + time.tv_nsec;
}

timespec point(std::int64_t nanoseconds) {
    return {static_cast<time_t>(nanoseconds / second), static_cast<long>(nanoseconds % second)};
}

class ClockWait : public testing::Test {
  public:
    void SetUp() override { pthread_mutex_lock(&mutex_); }
    void TearDown() override { pthread_mutex_unlock(&mutex_); }
    pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition_ = PTHREAD_COND_INITIALIZER;
};

} // namespace

TEST_F(ClockWait, EndsAtTheDeadlineOfTheSteadyClock) {
    const std::int64_t deadline = steady_now() + 30'000'000;
    const timespec until = point(deadline);
    int status = 0;
    while (status == 0)
        status = wait_for_a_piece(&condition_, &mutex_, CLOCK_MONOTONIC, &until);
    EXPECT_EQ(status, ETIMEDOUT);
    EXPECT_GE(steady_now(), deadline);
    EXPECT_EQ(pthread_cond_clockwait(&condition_, &mutex_, CLOCK_MONOTONIC, &until), ETIMEDOUT);
}

TEST_F(ClockWait, LongWaitWakesUpWithinASecond) {
    const std::int64_t start = steady_now();
    const timespec until = point(start + 100 * second);
    EXPECT_EQ(wait_for_a_piece(&condition_, &mutex_, CLOCK_MONOTONIC, &until), 0);
    EXPECT_GE(steady_now() - start, second * 9 / 10);
}

TEST_F(ClockWait, EndsWithTheSignal) {
    pthread_t other{};
    pthread_create(
        &other, nullptr,
        [](void *self) -> void * {
            auto *test = static_cast<ClockWait *>(self);
            pthread_mutex_lock(&test->mutex_); // unlocked when the test waits
            pthread_cond_signal(&test->condition_);
            pthread_mutex_unlock(&test->mutex_);
            return nullptr;
        },
        this);
    const timespec until = point(steady_now() + 100 * second);
    const std::int64_t start = steady_now();
    EXPECT_EQ(wait_for_a_piece(&condition_, &mutex_, CLOCK_MONOTONIC, &until), 0);
    EXPECT_LT(steady_now() - start, second * 9 / 10);
    pthread_mutex_unlock(&mutex_);
    pthread_join(other, nullptr);
    pthread_mutex_lock(&mutex_);
}

TEST(NewerFunctions, StatFindsExistingFiles) {
    const std::string path = testing::TempDir() + "newer_functions_test";
    std::ofstream(path) << "seven ch";
    struct stat seen{};
    EXPECT_EQ(stat(path.c_str(), &seen), 0);
    EXPECT_EQ(seen.st_size, 8);
    EXPECT_EQ(fstatat(AT_FDCWD, path.c_str(), &seen, 0), 0);
    EXPECT_EQ(seen.st_size, 8);
    const int file = open(path.c_str(), O_RDONLY);
    EXPECT_EQ(fstat(file, &seen), 0);
    EXPECT_EQ(seen.st_size, 8);
    close(file);
    std::filesystem::create_symlink(path, path + ".link");
    EXPECT_EQ(lstat((path + ".link").c_str(), &seen), 0);
    EXPECT_TRUE(S_ISLNK(seen.st_mode));
    std::filesystem::remove(path + ".link");
    std::filesystem::remove(path);
    EXPECT_EQ(stat(path.c_str(), &seen), -1);
    EXPECT_EQ(errno, ENOENT);
}

TEST(NewerFunctions, NumbersAndTheRest) {
    char *end = nullptr;
    EXPECT_EQ(__isoc23_strtol("-42x", &end, 10), -42);
    EXPECT_EQ(*end, 'x');
    EXPECT_EQ(__isoc23_strtoull("ffffffffffffffff", nullptr, 16), ~0ULL);
    EXPECT_EQ(gettid(), static_cast<pid_t>(syscall(SYS_gettid)));
    EXPECT_NE((std::uint64_t{arc4random()} << 32) + arc4random(),
              (std::uint64_t{arc4random()} << 32) + arc4random());
#ifndef __SANITIZE_ADDRESS__ // its allocator keeps the numbers at 0
    EXPECT_GT(mallinfo2().uordblks, 0U);
#endif
}
