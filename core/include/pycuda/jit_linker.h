// jit_linker.h -- linking with NVIDIA's nvJitLink: with optimisation over all pieces (LTO).
#pragma once

#include <cuda.h>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "pycuda/compile_error.h"
#include "pycuda/compute_capability.h"
#include "pycuda/image_kind.h"

namespace pycuda {

namespace detail {
struct JitLink;
}

/// nvJitLink was not found. The message names the package to install.
class JitLinkerNotFound : public CompileError {
  public:
    /// As those of CompileError.
    using CompileError::CompileError;
};

/// Links pieces of device code to one image. Needs the library libnvJitLink, which is opened at the
/// first use. Needs neither a driver nor a GPU. Use one object in one thread at a time.
class JitLinker {
  public:
    /// The kind of a piece of code, with nvJitLink's numbers.
    enum class Input { Cubin = 1, Ptx, LtoIr, Fatbin, Object, Library, Any = 10 };

    /// What the linked image is for.
    struct Target {
        ComputeCapability device; ///< the compute capability
        /// Ptx if the driver loads PTX. nvJitLink can then link LTO IR only.
        ImageKind image = ImageKind::Cubin;
    };

    /// The result of finish().
    struct Linked {
        std::string image; ///< a cubin, or PTX if the target asks for it
        std::string log;   ///< the messages of "-verbose"
    };

    /// `options` are nvJitLink's, such as "-lto", "-O3", "-maxrregcount=32"; the options of the
    /// target are added. Throws JitLinkerNotFound, and CompileError for an unknown option.
    explicit JitLinker(const Target &target, std::vector<std::string> options = {});

    /// The linker keeps no reference to `data`. Throws CompileError if it cannot read the data.
    void add_data(std::span<const std::byte> data, Input kind, const std::string &name);
    /// As add_data() for the content of a file. Throws CompileError, which names the file.
    void add_file(const std::filesystem::path &path, Input kind);

    /// Links all pieces and returns the image. Can be called once. Throws CompileError, with the
    /// names of undefined symbols.
    Linked finish();

    /// The name and version: "nvJitLink 13.5". Throws JitLinkerNotFound.
    static std::string version();

  private:
    std::shared_ptr<detail::JitLink> link_; ///< that of all copies
};

} // namespace pycuda
