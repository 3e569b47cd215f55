// kernel_signature.h -- the parameters of kernels, read from PTX and from CUDA C++ source.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pycuda/parameter.h"

namespace pycuda {

/// A kernel of a PTX module.
struct PtxEntry {
    std::string name;
    /// Places and sizes. A kind is Pointer where PTX says `.ptr`, else Unknown: a parameter's
    /// PTX type is only its size.
    std::vector<Parameter> parameters;
};

/// All kernels of a PTX text, in its order. A text that is not PTX has none.
[[nodiscard]] std::vector<PtxEntry> read_ptx_entries(std::string_view ptx);

/// A kernel as its author declared it.
struct DeclaredKernel {
    std::string name;
    bool is_template = false;
    /// A type that the text alone does not tell (a template's, a typedef's, a macro's) has
    /// kind Unknown and size 0.
    std::vector<ParameterDescription> parameters;
};

/// The kernels that a source defines or declares, as far as a reading without a preprocessor can
/// tell; what it cannot tell is unknown or missing, never an error. Where declarations of one
/// name differ, as in the branches of an #if, what differs is unknown; a kernel whose number of
/// parameters differs is missing.
[[nodiscard]] std::vector<DeclaredKernel> read_declared_kernels(std::string_view source);

/// The plain name in a C++ linker name: "scale" for "_Z5scalePfi" and for "_ZN3lib5scaleIfEEvPT_";
/// the name itself where it is not mangled.
[[nodiscard]] std::string plain_name(std::string_view linker_name);

/// The name as C++ writes it: "scale" for "_Z5scalePfi", "lib::scale<float>" for
/// "_ZN3lib5scaleIfEEvPT_"; the name itself where it is not mangled.
[[nodiscard]] std::string readable_name(const std::string &linker_name);

/// The parameters that a C++ linker name tells, with the types of templates, typedefs and overloads
/// resolved; none where the name is not mangled.
[[nodiscard]] std::vector<ParameterDescription> read_linker_name(const std::string &linker_name);

} // namespace pycuda
