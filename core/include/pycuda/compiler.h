// compiler.h -- CUDA C++ to PTX or machine code, at run time.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pycuda/compile_error.h"
#include "pycuda/compute_capability.h"
#include "pycuda/error.h"
#include "pycuda/image_kind.h"

namespace pycuda {

/// Which compiler runs. Auto is NVRTC in this process, or nvcc for tasks that NVRTC cannot do (host
/// code, a fatbin, options that only nvcc has).
enum class CompilerChoice { Auto, Nvrtc, Nvcc };

/// How names of the source appear in the image. C wraps the source in extern "C", so that a kernel
/// is found by its plain name; Cxx compiles the source unchanged (templates, namespaces).
enum class Linkage { C, Cxx };

/// Which of the names that NVRTC knows without #include a source may use. Minimal compiles faster:
/// no textures, surfaces, kernel launches and types of the runtime API. If the compiler has no such
/// choice, all names are available.
enum class Builtins { All, Minimal };

/// Whether a compilation may use the caches in memory and on disk.
enum class CacheUse { Default, Off };

/// The images of this library's package that may replace machine code of a compiler. The driver may
/// refuse them; see load_compiled(). A request for PTX accepts PTX of the package always.
struct PackagedImages {
    /// The newest major version of CUDA whose machine code the driver loads; 0: no machine code.
    int newest_cuda = 0;
    bool ptx = false; ///< which the driver compiles to machine code
};

/// One compilation. Only `source` must be set.
struct CompileRequest {
    /// CUDA C++.
    std::string source;
    /// The file's name in messages.
    std::string name = "kernel.cu";

    /// Options in the syntax of nvcc: "-I dir", "--ptxas-options=-v", "-std=c++17", ...
    std::vector<std::string> options = {};
    /// Folders of #include, searched after the -I folders of `options`.
    std::vector<std::string> include_dirs = {};

    /// The architecture: "sm_86", "compute_86", "sm_90a"; empty is the architecture of `device`.
    std::string arch = {};
    /// nvcc's -code. If both are set, the image is for `code`.
    std::string code = {};
    /// The compute capability of the device. Without `device` and `arch`, the image is for the
    /// oldest architecture that the compiler supports.
    std::optional<ComputeCapability> device = {};
    /// The kind of code to make; Driver::image_kind() is the one that the driver loads.
    ImageKind target = ImageKind::Cubin;

    Linkage linkage = Linkage::C;      ///< how names appear in the image
    Builtins builtins = Builtins::All; ///< the names that need no #include
    /// Names such as "scale<float, 4>" to be instantiated; see CompileResult::lowered_names.
    /// NVRTC only, with Linkage::Cxx.
    std::vector<std::string> name_expressions = {};

    CompilerChoice compiler = CompilerChoice::Auto; ///< which compiler runs
    /// The program that CompilerChoice::Nvcc starts: a path, or a name that is searched in PATH.
    std::string nvcc = "nvcc";

    /// Keep the compiler's input and output in a folder, CompileResult::kept_in. The cache is then
    /// not used.
    bool keep = false;

    PackagedImages packaged = {}; ///< images that may replace a compilation

    /// Off disables both caches, in memory and on disk.
    CacheUse cache = CacheUse::Default;
    /// The folder of the cache on disk; empty means $PYCUDA_CACHE_DIR, or else
    /// $XDG_CACHE_HOME/pycuda/compiler-cache-v2. Created if missing.
    std::filesystem::path cache_dir = {};
};

/// The origin of an image; Package: compiled when this library was built.
enum class ImageOrigin { Compiler, MemoryCache, DiskCache, Package };

/// The image that compile() returns, and its origin.
struct CompileResult {
    /// PTX text or the bytes of a cubin, as cuModuleLoadData takes them.
    std::string image;
    /// The kind of `image`: the requested kind, or Ptx if the compiler is older than the device or
    /// the package has nothing else.
    ImageKind kind = ImageKind::Cubin;
    /// The target architecture: "sm_86" or "compute_86".
    std::string arch;
    /// Warnings and ptxas's output; empty if there are no messages.
    std::string log;
    /// The compiler and its arguments; empty for an image of the package.
    std::vector<std::string> command_line;
    ImageOrigin origin = ImageOrigin::Compiler; ///< where the image comes from
    /// The mangled name in the image of each name expression.
    std::vector<std::pair<std::string, std::string>> lowered_names;
    /// With CompileRequest::keep, the folder of the compiler's files.
    std::string kept_in;
};

/// Compiles the source, or returns the image from the cache in memory or on disk. Needs no driver
/// and no GPU. Any thread may call. Throws CompileError.
[[nodiscard]] CompileResult compile(const CompileRequest &request);

/// All images of the package that the driver supports.
[[nodiscard]] PackagedImages packaged_images();

/// The next image of a request whose image of the package the driver has refused, for `reason`: the
/// package's PTX after its machine code, then a compiler's. PYCUDA_TRACE=1 shows the reason.
[[nodiscard]] CompileResult compile_refused(CompileRequest &request, const CompileResult &refused,
                                            std::string_view reason);

/// Calls load(compiled), and again with the next image while the driver refuses one of the package.
template <class Load>
auto load_compiled(CompileRequest request, CompileResult &compiled, const Load &load) {
    for (;;) {
        try {
            return load(compiled);
        } catch (const Error &refusal) {
            if (compiled.origin != ImageOrigin::Package)
                throw;
            compiled = compile_refused(request, compiled, refusal.what());
        }
    }
}

/// Chooses the compiler as PyCUDA's parameter `nvcc` does: "nvcc", its default, lets this library
/// choose, "nvrtc" is NVRTC, and any other value is the program.
void choose_compiler(CompileRequest &request, const std::string &nvcc);

/// Adds a folder in which NVRTC and the CUDA headers are searched, after $PYCUDA_NVRTC, $CUDA_HOME
/// and $CUDA_PATH, and before the system's folders. It may be a Python site-packages folder (with
/// nvidia/... in it), a toolkit's root, or a folder with the library. Takes effect with the next
/// compile() unless NVRTC is already loaded.
void add_search_directory(const std::filesystem::path &directory);

/// The folder with the headers that libpycuda ships to kernels; the last -I of each compilation.
void set_kernel_header_directory(const std::filesystem::path &directory);

/// Clears the cache in memory; the cache on disk is not changed.
void clear_memory_cache();

} // namespace pycuda
