// process_state.cpp -- the page with a process's state, and how it is found.
#include "device/process_state.h"

#include "device/error.h"
#include "device/host_function.h"

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <new>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace softcuda::device {
namespace {

constexpr std::uint64_t kMark = 0x31'61'64'75'63'74'66'73; // "sftcuda1"
constexpr char kShownName[] = "/memfd:softcuda-process";   ///< as /proc/PID/fd shows the file
constexpr const char *kName = kShownName + sizeof "/memfd:" - 1;
constexpr auto kLookAgain = std::chrono::microseconds(200);

/// Another process may change the word, so std::atomic's own waiting is not enough.
void wait_for_change(std::atomic<std::uint32_t> &word, std::uint32_t from) noexcept {
    syscall(SYS_futex, &word, FUTEX_WAIT, from, nullptr, nullptr, 0);
}

void wake_all(std::atomic<std::uint32_t> &word) noexcept {
    syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void *new_page(std::size_t bytes) noexcept {
    const int file = memfd_create(kName, MFD_CLOEXEC); // stays open: tools find it
    if (file >= 0 && ftruncate(file, static_cast<off_t>(bytes)) == 0) {
        void *page = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (page != MAP_FAILED)
            return page;
    }
    if (file >= 0)
        close(file);
    return nullptr;
}

} // namespace

std::atomic<ProcessState::Page *> ProcessState::own_{nullptr};

void ProcessState::publish() noexcept {
    static Page hidden{}; // if no page can be shared
    void *const memory = new_page(sizeof(Page));
    Page *const page = memory ? static_cast<Page *>(memory) : &hidden;
    page->process = getpid();
    page->mark = kMark;
    own_.store(page, std::memory_order_release);
}

std::shared_ptr<ProcessState> ProcessState::map(int process, const char *file) {
    char target[64] = "";
    if (readlink(file, target, sizeof target - 1) < 0 ||
        !std::string_view(target).starts_with(kShownName))
        return nullptr;
    const int opened = open(file, O_RDWR | O_CLOEXEC);
    if (opened < 0)
        return nullptr;
    struct stat status{};
    void *page = MAP_FAILED;
    if (fstat(opened, &status) == 0 && status.st_size == sizeof(Page))
        page = mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
    close(opened);
    if (page == MAP_FAILED)
        return nullptr;
    std::shared_ptr<ProcessState> found(new ProcessState(process, static_cast<Page *>(page)));
    // A forked child also has the files of its parent.
    return found->page_->mark == kMark && found->page_->process == process ? found : nullptr;
}

std::shared_ptr<ProcessState> ProcessState::find(int process) {
    const std::string folder = "/proc/" + std::to_string(process) + "/fd";
    DIR *const files = process > 0 ? opendir(folder.c_str()) : nullptr;
    require(files != nullptr, CUDA_ERROR_OPERATING_SYSTEM);
    std::shared_ptr<ProcessState> found;
    while (const dirent *entry = found ? nullptr : readdir(files))
        if (entry->d_name[0] != '.')
            found = map(process, (folder + "/" + entry->d_name).c_str());
    closedir(files);
    require(found != nullptr, CUDA_ERROR_NOT_INITIALIZED);
    return found;
}

ProcessState::~ProcessState() { munmap(page_, sizeof(Page)); }

CUprocessState ProcessState::get() const noexcept {
    return static_cast<CUprocessState>(page_->state.load());
}

void ProcessState::lock(std::optional<std::chrono::milliseconds> limit) {
    change(CU_PROCESS_STATE_RUNNING, CU_PROCESS_STATE_LOCKED);
    const auto begin = std::chrono::steady_clock::now();
    while (page_->unfinished.load(std::memory_order_acquire) != 0) {
        std::this_thread::sleep_for(kLookAgain);
        const bool late = limit && std::chrono::steady_clock::now() - begin >= *limit;
        if (!late && kill(process_, 0) == 0)
            continue;
        change(CU_PROCESS_STATE_LOCKED, CU_PROCESS_STATE_RUNNING);
        throw Error(late ? CUDA_ERROR_NOT_READY : CUDA_ERROR_OPERATING_SYSTEM);
    }
}

void ProcessState::change(CUprocessState from, CUprocessState to) {
    auto expected = static_cast<std::uint32_t>(from);
    require(page_->state.compare_exchange_strong(expected, static_cast<std::uint32_t>(to)),
            CUDA_ERROR_ILLEGAL_STATE);
    wake_all(page_->state);
}

// Host functions belong to the work that is completed.
void ProcessState::wait() noexcept {
    if (in_host_function())
        return;
    std::atomic<std::uint32_t> &state = own().state;
    for (std::uint32_t now = state.load(); now != CU_PROCESS_STATE_RUNNING; now = state.load())
        wait_for_change(state, now);
}

} // namespace softcuda::device
