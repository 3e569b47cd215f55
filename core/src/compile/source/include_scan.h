// include_scan.h -- which files a source includes, found without a preprocessor.
//
// NVRTC cannot list the files that it read, so the cache needs its own list. The scan is
// conservative: it follows every #include, including those that an #if disables. It also records
// the paths at which a header was searched but not found, because a file that appears there later
// would be found first. The cache then only checks whether these files have changed. A file is read
// once, however many names it has: headers that include each other by "../" have endless ones.
//
// Of CUDA's own headers, only those that the user's files name are recorded. The hundreds of
// headers that these include change only together, with a new CUDA, and checking each would take
// longer than the rest of a cache hit.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compile/source/dependency.h"
#include "compile/source/host_functions.h"
#include "compile/source/host_library_headers.h"
#include "compile/source/source_text.h"

namespace pycuda::compile_detail {

/// One folder of the include path.
struct IncludeDirectory {
    enum class Owner {
        User,
        Kernels, ///< our own headers
        Toolkit, ///< CUDA's headers
        Library, ///< CUDA's headers that need no stand-ins, so need no scan: CCCL, and all that
                 ///< NVRTC itself unpacked
    };
    std::string path; ///< absolute
    Owner owner = Owner::User;
};

/// A user's header whose text must be changed before it can be compiled.
struct AdaptedHeader {
    std::string name;   ///< as an #include writes it
    std::string folder; ///< the folder of the file, for its own includes
    std::string text;
    bool has_textures = false;
};

struct IncludeScan {
    DependencyList dependencies;
    /// Names that were not found in any folder.
    std::set<std::string, std::less<>> unresolved;
    /// Those of them that a file of the user's includes.
    std::set<std::string, std::less<>> unresolved_of_user;
    /// The names under which the user's files are included.
    std::set<std::string, std::less<>> included;
    /// Headers that declare textures (texture_shim.h), have attributes behind structs
    /// (gnu_extensions.h), or are changed by HeaderChanges, by each name that they are included
    /// with. A name that stands for two of them is left out.
    std::vector<AdaptedHeader> adapted;
    /// The words of the source and of the user's headers that nvcc_names.h has a part for.
    std::set<std::string, std::less<>> nvcc_names;
    /// Whether a header of the program asks for GCC, Linux or the processor (TextRole).
    bool has_header_for_gcc = false;
    /// The macros of nvcc that a directive of the source or of a user's header asks for: M_PI of
    /// `#ifndef M_PI`.
    std::set<std::string> implicit_macros;
    /// The macros of the source and of the user's headers for functions.
    SpecifierMacros macros;
    /// What was removed from the user's headers, and later from the source.
    RemovedHostCode removed;
    /// The libraries of host_library_headers.h that a user's file includes.
    std::set<std::string_view> host_libraries;
    /// Whether a user's file includes one of CUDA's libraries of templates: Thrust, CUB,
    /// cooperative groups.
    bool has_large_library = false;
    /// Whether a user's file has `#include MACRO`, so that the list may be incomplete.
    bool incomplete = false;
};

/// What is changed in the user's headers in addition to textures and attributes.
struct HeaderChanges {
    bool fold_constants = false;                   ///< file_scope_constants.h
    bool replace_gnu_extensions = false;           ///< gnu_extensions.h
    const HostCode *host_code = nullptr;           ///< host_functions.h
    const HostVariables *host_variables = nullptr; ///< host_library_headers.h
    bool headers_are_libraries = false;            ///< those of the program, too (TextRole)
};

/// Scans `source`, a file of `source_directory`. A header that
/// standard_header() stands in for counts as unresolved unless a folder of the user's has it.
[[nodiscard]] IncludeScan scan_includes(std::string_view source,
                                        const std::string &source_directory,
                                        const std::vector<IncludeDirectory> &path,
                                        HeaderChanges changes = {});

/// Whose folder has the header, or nothing. `including_directory` is the including file's.
[[nodiscard]] const IncludeDirectory *
find_include_owner(const IncludeDirective &include, const IncludeDirectory &including_directory,
                   const std::vector<IncludeDirectory> &path);

/// Whether NVRTC's log has an error in a header of the user's that misses a name of the host's C++
/// library.
[[nodiscard]] bool is_about_host_library(std::string_view log,
                                         const std::vector<IncludeDirectory> &path);

/// Whether the first error of NVRTC's log is in one of CUDA's own headers.
[[nodiscard]] bool is_in_cuda_header(std::string_view log,
                                     const std::vector<IncludeDirectory> &path);

} // namespace pycuda::compile_detail
