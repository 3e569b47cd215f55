// event_share.cpp -- the page of a file without a name.
#include "device/event_share.h"

#include "device/error.h"

#include <chrono>
#include <cuda.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace softcuda::device {

EventShare::EventShare() : file_(memfd_create("softcuda-event", MFD_CLOEXEC)) {
    require(file_ >= 0, CUDA_ERROR_OUT_OF_MEMORY);
    if (ftruncate(file_, sizeof(Numbers)) != 0) {
        close(file_);
        throw Error(CUDA_ERROR_OUT_OF_MEMORY);
    }
    map();
}

EventShare::EventShare(int file) : file_(file) {
    struct stat status{};
    if (fstat(file, &status) != 0 || status.st_size != sizeof(Numbers)) {
        close(file);
        throw Error(CUDA_ERROR_INVALID_VALUE);
    }
    map();
}

void EventShare::map() {
    void *page = mmap(nullptr, sizeof(Numbers), PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    if (page == MAP_FAILED) {
        close(file_);
        throw Error(CUDA_ERROR_OUT_OF_MEMORY);
    }
    numbers_ =
        static_cast<Numbers *>(page); // a new file contains zeros, which are two atomics of value 0
}

EventShare::~EventShare() {
    munmap(numbers_, sizeof(Numbers));
    close(file_);
}

void EventShare::reach(std::uint64_t record) noexcept {
    std::uint64_t seen = numbers_->reached.load();
    while (seen < record && !numbers_->reached.compare_exchange_weak(seen, record)) {
    }
}

void EventShare::wait(std::uint64_t record) const {
    while (!reached(record))
        std::this_thread::sleep_for(std::chrono::microseconds(50));
}

} // namespace softcuda::device
