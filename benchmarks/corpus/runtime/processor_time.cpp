// processor_time.cpp -- preloaded into programs: their clocks count this process's processor time.
//
// For measurements on a machine with other work. The programs then run with one thread each.
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

extern "C" int clock_gettime(clockid_t clock, struct timespec *time) noexcept {
    const bool wall = clock == CLOCK_MONOTONIC || clock == CLOCK_REALTIME;
    return static_cast<int>(
        syscall(SYS_clock_gettime, wall ? CLOCK_PROCESS_CPUTIME_ID : clock, time));
}

extern "C" int gettimeofday(struct timeval *time, void *) noexcept {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    *time = {now.tv_sec, now.tv_nsec / 1000};
    return 0;
}
