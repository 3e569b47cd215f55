// log.cpp -- the driver's messages.
#include "api/call.h"
#include "device/driver_log.h"

#include <cstring>
#include <fstream>

using namespace softcuda;
namespace driver_log = device::driver_log;

namespace {

/// The messages from an iterator on, or all for null; sets the iterator after the last one.
std::vector<std::string> read_on(CUlogIterator *iterator) {
    std::vector<std::string> lines =
        driver_log::since(iterator ? std::int64_t{*iterator} : std::int64_t{-1});
    if (iterator)
        *iterator = driver_log::next();
    return lines;
}

} // namespace

CUresult cuLogsRegisterCallback(CUlogsCallback callback, void *data, CUlogsCallbackHandle *result) {
    return api::guarded([&] {
        device::require(callback != nullptr, CUDA_ERROR_INVALID_VALUE);
        const std::uint64_t listener = driver_log::listen([=](driver_log::Level level,
                                                              const std::string &message) {
            std::string copy = message; // clients get a char *
            callback(data,
                     level == driver_log::Level::Error ? CU_LOG_LEVEL_ERROR : CU_LOG_LEVEL_WARNING,
                     copy.data(), copy.size());
        });
        if (result)
            *result = reinterpret_cast<CUlogsCallbackHandle>(listener);
    });
}

CUresult cuLogsUnregisterCallback(CUlogsCallbackHandle handle) {
    return api::guarded([&] {
        device::require(driver_log::stop_listening(reinterpret_cast<std::uint64_t>(handle)),
                        CUDA_ERROR_INVALID_VALUE);
    });
}

CUresult cuLogsCurrent(CUlogIterator *iterator, unsigned int flags) {
    return api::guarded([&] {
        api::require_non_null(iterator);
        device::require(flags == 0, CUDA_ERROR_INVALID_VALUE);
        *iterator = driver_log::next();
    });
}

CUresult cuLogsDumpToFile(CUlogIterator *iterator, const char *path, unsigned int flags) {
    return api::guarded([&] {
        api::require_non_null(path);
        device::require(flags == 0, CUDA_ERROR_INVALID_VALUE);
        std::ofstream file(path);
        device::require(file.good(), CUDA_ERROR_OPERATING_SYSTEM);
        for (const std::string &line : read_on(iterator))
            file << line << '\n';
        device::require(file.good(), CUDA_ERROR_OPERATING_SYSTEM);
    });
}

CUresult cuLogsDumpToMemory(CUlogIterator *iterator, char *buffer, std::size_t *size,
                            unsigned int flags) {
    return api::guarded([&] {
        api::require_non_null(buffer, size);
        device::require(flags == 0 && *size > 0, CUDA_ERROR_INVALID_VALUE);
        std::string text;
        const std::vector<std::string> lines = read_on(iterator);
        // If the buffer is too small, it gets the latest messages.
        for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
            if (text.size() + line->size() + 2 > *size)
                break;
            text = *line + "\n" + text;
        }
        std::memcpy(buffer, text.c_str(), text.size() + 1);
        *size = text.size() + 1;
    });
}
