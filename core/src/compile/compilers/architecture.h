// architecture.h -- the GPU architecture that an image is for.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pycuda/compiler.h"

namespace pycuda::compile_detail {

/// "sm_90a" is {90, "a", Real}; "compute_86" is {86, "", Virtual}.
struct Architecture {
    enum class Kind {
        Virtual, ///< PTX: compute_86
        Real     ///< machine code: sm_86
    };
    int number = 0;
    std::string suffix; ///< "a" or "f" for code that only one GPU or one family runs
    Kind kind = Kind::Real;

    [[nodiscard]] std::string name() const;
    bool operator==(const Architecture &) const = default;
};

/// Throws CompileError for a text that is not an architecture.
[[nodiscard]] Architecture parse_architecture(std::string_view text);

struct RequestedArchitecture {
    std::string arch;
    std::string code;
    std::optional<ComputeCapability> device;
    ImageKind target = ImageKind::Cubin;
};

/// Chooses the architecture for a compiler that supports the architectures in `supported`
/// (ascending). For a device that is newer than the compiler, the result is PTX for the newest
/// supported architecture, which the driver compiles. Throws CompileError if the device is too old,
/// or if a named architecture is not supported.
[[nodiscard]] Architecture choose_architecture(const RequestedArchitecture &requested,
                                               const std::vector<int> &supported,
                                               std::string_view compiler_name);

} // namespace pycuda::compile_detail
