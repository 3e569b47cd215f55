// nvrtc_messages.cpp -- what NVRTC's log says about a source.
#include "nvrtc_messages.h"

#include <algorithm>

namespace pycuda::compile_detail {

bool says(const std::string &log, std::string_view phrase) {
    return log.find(phrase) != std::string::npos;
}

std::string missing_header(const std::string &log) {
    constexpr std::string_view phrase = " open source file \"";
    std::size_t at = log.find(phrase);
    if (at == std::string::npos)
        return {};
    at += phrase.size();
    return log.substr(at, log.find('"', at) - at);
}

std::string advice_for(const std::string &header) {
    for (std::string_view library : {"cuda/", "cub/", "thrust/", "nv/"})
        if (header.starts_with(library))
            return "; it is in the wheel nvidia-cuda-cccl";
    if (header.starts_with("curand"))
        return "; it is in the wheel nvidia-curand";
    if (header.starts_with("cuda_"))
        return "; it is in the wheel nvidia-cuda-runtime";
    return "; include_dirs names the folders of a program's own headers";
}

std::string header_for_nvcc(const std::string &log) {
    if (says(log, "not supported when compiling with NVRTC"))
        return "a header does not support NVRTC, only nvcc";
    const std::string first_line = log.substr(0, log.find("): error"));
    return says(first_line, "/thrust/") ? "Thrust has host code, which only nvcc can compile" : "";
}

std::string unknown_parameter_type(const std::string &log) {
    constexpr std::string_view before = "error: identifier \"", after = "\" is undefined";
    std::size_t at = log.find("error: attribute \"__global__\" does not apply here");
    if (at != std::string::npos)
        at = log.find(before, at);
    if (at == std::string::npos)
        return {};
    at += before.size();
    const std::size_t end = log.find('"', at);
    return log.substr(std::min(end, log.size())).starts_with(after) ? log.substr(at, end - at) : "";
}

bool is_host_code(const std::string &log) { return says(log, "not allowed in JIT mode"); }

} // namespace pycuda::compile_detail
