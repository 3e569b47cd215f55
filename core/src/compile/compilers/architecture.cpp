// architecture.cpp -- the GPU architecture that an image is for.
#include "compile/compilers/architecture.h"

#include <algorithm>
#include <charconv>

#include "pycuda/compile_error.h"

namespace pycuda::compile_detail {
namespace {

std::string with_dot(int number) {
    return std::to_string(number / 10) + "." + std::to_string(number % 10);
}

std::string list(const std::vector<int> &numbers) {
    std::string text;
    for (int number : numbers)
        text += (text.empty() ? "sm_" : ", sm_") + std::to_string(number);
    return text;
}

/// The requested architecture, before the compiler's supported architectures are considered.
Architecture requested_architecture(const RequestedArchitecture &requested,
                                    const std::vector<int> &supported) {
    if (!requested.code.empty())
        return parse_architecture(requested.code);
    if (!requested.arch.empty())
        return parse_architecture(requested.arch);
    return {requested.device ? requested.device->number() : supported.front(), "",
            Architecture::Kind::Real};
}

[[noreturn]] void throw_too_old(const Architecture &wanted, const std::vector<int> &supported,
                                std::string_view compiler_name) {
    throw CompileError(std::string(compiler_name) + " compiles for compute capability " +
                       with_dot(supported.front()) + " and newer, but " + with_dot(wanted.number) +
                       " was requested; use an older compiler: the wheel nvidia-cuda-nvrtc-cu12 "
                       "compiles for 5.0 and newer");
}

} // namespace

std::string Architecture::name() const {
    return (kind == Kind::Real ? "sm_" : "compute_") + std::to_string(number) + suffix;
}

Architecture parse_architecture(std::string_view text) {
    Architecture architecture;
    std::string_view digits = text;
    if (text.starts_with("sm_"))
        digits.remove_prefix(3);
    else if (text.starts_with("compute_")) {
        digits.remove_prefix(8);
        architecture.kind = Architecture::Kind::Virtual;
    } else
        digits = text.substr(0, 0);
    auto [rest, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), architecture.number);
    architecture.suffix.assign(rest, digits.data() + digits.size());
    const bool suffix_is_known =
        architecture.suffix.empty() || architecture.suffix == "a" || architecture.suffix == "f";
    if (digits.empty() || error != std::errc() || architecture.number < 10 || !suffix_is_known)
        throw CompileError("'" + std::string(text) +
                           "' is not a GPU architecture; expected one such as sm_86, sm_90a or "
                           "compute_86");
    return architecture;
}

Architecture choose_architecture(const RequestedArchitecture &requested,
                                 const std::vector<int> &supported,
                                 std::string_view compiler_name) {
    Architecture wanted = requested_architecture(requested, supported);
    if (requested.target == ImageKind::Ptx)
        wanted.kind = Architecture::Kind::Virtual;
    if (std::ranges::binary_search(supported, wanted.number))
        return wanted;
    if (wanted.number < supported.front())
        throw_too_old(wanted, supported, compiler_name);

    // The device is newer than the compiler. The driver compiles PTX for every newer device.
    const bool is_the_device = requested.device && requested.device->number() >= wanted.number;
    if (!is_the_device && !(requested.arch.empty() && requested.code.empty()))
        throw CompileError(std::string(compiler_name) + " does not support the architecture " +
                           wanted.name() + "; it supports " + list(supported));
    int newest_below = *std::prev(std::ranges::upper_bound(supported, wanted.number));
    return {newest_below, "", Architecture::Kind::Virtual};
}

} // namespace pycuda::compile_detail
