// copy_team_test.cpp -- jobs of several threads for one team of copying threads.
#include "memory/copy_team.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace pycuda::detail {
namespace {

constexpr std::size_t chunk = 4096, chunks = 32;

CopyTeam &team() {
    setenv("PYCUDA_COPY_THREADS", "3", 1); // read once, when the team is created
    return *CopyTeam::instance();
}

/// Copies chunk by chunk, with a few chunks allowed at a time.
void copy(std::vector<char> &to, const std::vector<char> &from) {
    std::vector<std::atomic<bool>> done(chunks);
    CopyTeam::Job job(team(), [&](std::size_t number) {
        std::memcpy(to.data() + number * chunk, from.data() + number * chunk, chunk);
        done[number].store(true, std::memory_order_release);
    });
    std::size_t allowed = 0;
    for (std::size_t finished = 0; finished < chunks;) {
        if (allowed < chunks && allowed < finished + 5) {
            job.allow(1);
            ++allowed;
        }
        if (done[finished].load(std::memory_order_acquire))
            ++finished;
        else
            job.help();
    }
}

TEST(CopyTeam, CopiesForSeveralThreads) {
    std::vector<std::thread> threads;
    std::atomic<int> wrong = 0;
    for (int thread = 0; thread < 3; ++thread)
        threads.emplace_back([&wrong, thread] {
            std::vector<char> from(chunk * chunks), to(chunk * chunks);
            for (int round = 0; round < 50; ++round) {
                std::memset(from.data(), round + thread, from.size());
                copy(to, from);
                wrong += to != from;
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_EQ(wrong, 0);
}

TEST(CopyTeam, DropsWorkThatNoHelperHasStarted) {
    std::atomic<int> copied = 0;
    {
        CopyTeam::Job job(team(), [&](std::size_t) { ++copied; });
        job.allow(1000);
    }
    const int at_the_end = copied;
    EXPECT_LE(at_the_end, 1000);
    std::vector<char> from(chunk * chunks, 'x'), to(chunk * chunks);
    copy(to, from); // chunk numbers continue after the last job
    EXPECT_EQ(to, from);
    EXPECT_EQ(copied, at_the_end);
}

TEST(CopyTeam, WakesHelpers) {
    std::vector<char> from(chunk * chunks, 'y'), to(chunk * chunks);
    for (int round = 0; round < 3; ++round) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2)); // until the helpers sleep
        copy(to, from);
    }
    EXPECT_EQ(to, from);
}

} // namespace
} // namespace pycuda::detail
