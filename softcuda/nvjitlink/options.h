// options.h -- the options of nvJitLinkCreate().
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace softlink {

/// The options that have an effect here. The others concern machine code or LTO-IR: they are
/// checked as NVIDIA's library checks them, and `given` passes them to NVIDIA's library if there is
/// LTO-IR.
struct Options {
    int architecture = 0;    ///< 86 for -arch=sm_86; 0 if it is missing
    bool is_virtual = false; ///< -arch=compute_86
    bool lto = false;
    bool ptx = false;
    bool relocatable = false;
    bool verbose = false;
    bool time = false;
    unsigned most_registers = 0;      ///< 0: no limit
    std::string unknown_ptxas_option; ///< the first one in -Xptxas, which PTX then fails with
    std::vector<std::string> given;   ///< all of them, as text
};

/// Throws Failure(unrecognised option, missing or unrecognised architecture, incompatible options).
[[nodiscard]] Options read_options(std::span<const char *const> words, int major);

} // namespace softlink
