// newer_functions.cpp -- functions of newer glibcs, for libraries that must run with an older one.
//
// Part of a library that is linked for an older glibc (OldGlibc.cmake). This machine's headers, its
// libstdc++.a and LLVM's archives call functions that the older glibc does not have. Each function
// here does the same with functions that are in all versions, so that one library runs with all of
// them. None is exported.

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

extern "C" {

// ---- 2.30

using ClockWait = int (*)(pthread_cond_t *, pthread_mutex_t *, clockid_t, const timespec *);

static std::int64_t nanoseconds(const timespec &time) {
    return std::int64_t{1'000'000'000} * time.tv_sec + time.tv_nsec;
}

static timespec now(clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return time;
}

/// Without the real function, waits with the wall clock, which may be changed meanwhile: so in
/// pieces of at most a second. The end of a piece before the deadline is a spurious wake-up, which
/// each caller of such a function must expect.
int wait_for_a_piece(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
                     const timespec *deadline) {
    constexpr std::int64_t second = 1'000'000'000;
    const std::int64_t left = nanoseconds(*deadline) - nanoseconds(now(clock));
    if (left <= 0)
        return ETIMEDOUT;
    const std::int64_t end = nanoseconds(now(CLOCK_REALTIME)) + std::min(left, second);
    const timespec wall{static_cast<time_t>(end / second), static_cast<long>(end % second)};
    const int status = pthread_cond_timedwait(condition, mutex, &wall);
    if (status != ETIMEDOUT)
        return status;
    return nanoseconds(now(clock)) >= nanoseconds(*deadline) ? ETIMEDOUT : 0;
}

int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
                           const timespec *deadline) {
    static const auto real =
        reinterpret_cast<ClockWait>(dlsym(RTLD_DEFAULT, "pthread_cond_clockwait"));
    return real ? real(condition, mutex, clock, deadline)
                : wait_for_a_piece(condition, mutex, clock, deadline);
}

pid_t gettid() { return static_cast<pid_t>(syscall(SYS_gettid)); }

// ---- 2.32

/// A hint to skip atomic instructions. False is right for every process.
char __libc_single_threaded = 0;

// ---- 2.33

// The kernel's structure is that of 64-bit programs. The functions that were called before take a
// version of it, which differs between processors.
static int kernel_stat(int folder, const char *path, void *result, int flags) {
    return static_cast<int>(syscall(SYS_newfstatat, folder, path, result, flags));
}

int stat(const char *path, struct stat *result) { return kernel_stat(AT_FDCWD, path, result, 0); }
int lstat(const char *path, struct stat *result) {
    return kernel_stat(AT_FDCWD, path, result, AT_SYMLINK_NOFOLLOW);
}
int fstat(int descriptor, struct stat *result) {
    return static_cast<int>(syscall(SYS_fstat, descriptor, result));
}
int fstatat(int folder, const char *path, struct stat *result, int flags) {
    return kernel_stat(folder, path, result, flags);
}
int stat64(const char *path, struct stat64 *result) {
    return kernel_stat(AT_FDCWD, path, result, 0);
}
int lstat64(const char *path, struct stat64 *result) {
    return kernel_stat(AT_FDCWD, path, result, AT_SYMLINK_NOFOLLOW);
}
int fstat64(int descriptor, struct stat64 *result) {
    return static_cast<int>(syscall(SYS_fstat, descriptor, result));
}
static_assert(sizeof(struct stat) == sizeof(struct stat64) && sizeof(long) == 8);

struct mallinfo old_mallinfo() __asm__("mallinfo"); // the header warns of this name

/// LLVM's statistics use it. The older function counts in int.
struct mallinfo2 mallinfo2() {
    const struct mallinfo old = old_mallinfo();
    const auto wide = [](int count) {
        return static_cast<std::size_t>(static_cast<unsigned>(count));
    };
    return {wide(old.arena),    wide(old.ordblks), wide(old.smblks),  wide(old.hblks),
            wide(old.hblkhd),   wide(old.usmblks), wide(old.fsmblks), wide(old.uordblks),
            wide(old.fordblks), wide(old.keepcost)};
}

// ---- 2.36

std::uint32_t arc4random() {
    std::uint32_t value = 0;
    if (getentropy(&value, sizeof value) != 0)
        std::abort(); // like glibc: there is no random number
    return value;
}

// ---- 2.38: the same functions; only the newer ones accept "0b" before binary numbers

long old_strtol(const char *, char **, int) __asm__("strtol");
unsigned long old_strtoul(const char *, char **, int) __asm__("strtoul");
long long old_strtoll(const char *, char **, int) __asm__("strtoll");
unsigned long long old_strtoull(const char *, char **, int) __asm__("strtoull");

long __isoc23_strtol(const char *text, char **end, int base) { return old_strtol(text, end, base); }
unsigned long __isoc23_strtoul(const char *text, char **end, int base) {
    return old_strtoul(text, end, base);
}
long long __isoc23_strtoll(const char *text, char **end, int base) {
    return old_strtoll(text, end, base);
}
unsigned long long __isoc23_strtoull(const char *text, char **end, int base) {
    return old_strtoull(text, end, base);
}

} // extern "C"
