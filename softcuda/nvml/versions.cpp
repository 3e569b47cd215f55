// versions.cpp -- error texts, versions, and queries that do not concern devices.
#include "call.h"

#include <cuda.h>
#include <string>
#include <unistd.h>

using namespace softnvml;

namespace {

// The branch of NVIDIA's drivers with CUDA 13.0. There is no release number, so it is 0.
constexpr std::string_view kDriverVersion = "580.0";
constexpr std::string_view kNvmlVersion = "13.580.0";
constexpr std::string_view kDriverBranch = "r580_00";

struct ErrorText {
    int result;
    const char *text;
};

constexpr ErrorText kErrorTexts[] = {
    {0, "Success"},
    {1, "Uninitialized"},
    {2, "Invalid Argument"},
    {3, "Not Supported"},
    {4, "Insufficient Permissions"},
    {5, "Already Initialized"},
    {6, "Not Found"},
    {7, "Insufficient Size"},
    {8, "Insufficient External Power"},
    {9, "Driver Not Loaded"},
    {10, "Timeout"},
    {11, "Interrupt Request Issue"},
    {12, "NVML Shared Library Not Found"},
    {13, "Function Not Found"},
    {14, "Corrupted infoROM"},
    {15, "GPU is lost"},
    {16, "GPU requires reset"},
    {17, "GPU access blocked by the operating system"},
    {18, "Driver/library version mismatch"},
    {19, "In use by another client"},
    {20, "Insufficient Memory"},
    {21, "No data"},
    {22, "Operation not supported with ECC enabled"},
    {23, "Insufficient Resources"},
    {24, "Frequency not supported"},
    {25, "Argument version mismatch"},
    {26, "Deprecated"},
    {27, "Not ready"},
    {28, "GPU not found"},
    {29, "Invalid state"},
    {30, "Reset type not supported"},
};

nvmlReturn_t cuda_version(int *version) noexcept {
    return initialized([&] {
        require_non_null(version);
        require(cuDriverGetVersion(version) == CUDA_SUCCESS, NVML_ERROR_UNKNOWN);
    });
}

} // namespace

extern "C" __attribute__((visibility("default"))) const char *nvmlErrorString(int result) {
    for (const ErrorText &row : kErrorTexts)
        if (row.result == result)
            return row.text;
    return "Unknown Error";
}

NVML_EXPORT nvmlSystemGetDriverVersion(char *version, unsigned length) {
    return initialized([&] { give_text(kDriverVersion, version, length); });
}

NVML_EXPORT nvmlSystemGetNVMLVersion(char *version, unsigned length) {
    return guarded(
        [&] { give_text(kNvmlVersion, version, length); }); // allowed before nvmlInit(), as in NVML
}

NVML_EXPORT nvmlSystemGetCudaDriverVersion(int *version) { return cuda_version(version); }
NVML_EXPORT nvmlSystemGetCudaDriverVersion_v2(int *version) { return cuda_version(version); }

NVML_EXPORT nvmlSystemGetDriverBranch(nvmlSystemDriverBranchInfo_v1_t *info, unsigned length) {
    return initialized([&] {
        require_version(info, 1);
        require(length <= sizeof info->branch);
        give_text(kDriverBranch, info->branch, length);
    });
}

NVML_EXPORT nvmlSystemGetProcessName(unsigned pid, char *name, unsigned length) {
    return initialized([&] {
        require_non_null(name);
        require(length > 0);
        char path[4096];
        const std::string link = "/proc/" + std::to_string(pid) + "/exe";
        const ssize_t size = readlink(link.c_str(), path, sizeof path);
        require(size >= 0, NVML_ERROR_NOT_FOUND);
        // NVML truncates names.
        const auto kept = std::string_view(path, static_cast<std::size_t>(size));
        give_text(kept.substr(0, length - 1), name, length);
    });
}

NVML_EXPORT nvmlUnitGetCount(unsigned *count) {
    return initialized([&] {
        require_non_null(count);
        *count = 0;
    });
}

NVML_EXPORT nvmlGetExcludedDeviceCount(unsigned *count) {
    return initialized([&] {
        require_non_null(count);
        *count = 0;
    });
}
