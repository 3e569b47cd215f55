// kernel_signature.h -- the parameters of kernels, read from PTX and from CUDA C++ source.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pycuda/parameter.h"

namespace pycuda {

/// A kernel of a PTX module.
struct PtxEntry {
    std::string name; ///< mangled, as in the PTX
    /// Offsets and sizes. A kind is Pointer if the PTX has `.ptr`, else Unknown: the PTX type of a
    /// parameter gives only its size.
    std::vector<Parameter> parameters;
};

/// All kernels of a PTX text in order. Empty for a text that is not PTX.
[[nodiscard]] std::vector<PtxEntry> read_ptx_entries(std::string_view ptx);

/// A kernel as its author declared it.
struct DeclaredKernel {
    std::string name;         ///< without namespaces and template arguments
    bool is_template = false; ///< declared with `template <...>`
    /// A type that needs a definition from elsewhere (a template, a typedef, a macro) has kind
    /// Unknown and size 0.
    std::vector<ParameterDescription> parameters;
};

/// The kernels that a source defines or declares. The source is read without a preprocessor: facts
/// that cannot be determined are unknown or missing, never an error. If declarations of one name
/// differ, as in the branches of an #if, the differing types are unknown. A kernel whose number of
/// parameters differs is missing.
[[nodiscard]] std::vector<DeclaredKernel> read_declared_kernels(std::string_view source);

/// The plain name of a mangled C++ name: "scale" for "_Z5scalePfi" and "_ZN3lib5scaleIfEEvPT_". A
/// name that is not mangled is returned unchanged.
[[nodiscard]] std::string plain_name(std::string_view linker_name);

/// The demangled name: "scale" for "_Z5scalePfi", "lib::scale<float>" for "_ZN3lib5scaleIfEEvPT_".
/// A name that is not mangled is returned unchanged.
[[nodiscard]] std::string readable_name(const std::string &linker_name);

/// The parameters of a mangled C++ name. Types of templates, typedefs and overloads are resolved.
/// Empty for a name that is not mangled.
[[nodiscard]] std::vector<ParameterDescription> read_linker_name(const std::string &linker_name);

} // namespace pycuda
