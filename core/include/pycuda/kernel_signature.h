// kernel_signature.h -- the parameters of kernels, read from PTX and from CUDA C++ source.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pycuda {

/// One parameter of a kernel as PTX declares it.
struct PtxParameter {
    std::size_t offset = 0;    ///< bytes from the start of the parameter block
    std::size_t size = 0;      ///< bytes
    std::size_t alignment = 0; ///< bytes
    /// PTX says so only with `.ptr`, which newer compilers write; false means "not known to be".
    bool is_pointer = false;
};

/// A kernel of a PTX module.
struct PtxEntry {
    std::string name;
    std::vector<PtxParameter> parameters;
};

/// All kernels of a PTX text, in its order. A text that is not PTX has none.
[[nodiscard]] std::vector<PtxEntry> read_ptx_entries(std::string_view ptx);

/// The types of numbers that an array can hold, as far as a declaration can be read.
enum class ScalarKind { Unknown, Void, Bool, Signed, Unsigned, Float, Complex };

/// One parameter of a kernel as its author declared it.
struct DeclaredParameter {
    std::string type; ///< "const float *", with one space between words
    std::string name; ///< may be empty
    /// Whether it is a pointer; nothing where the type is a template's or a typedef's.
    std::optional<bool> is_pointer;
    /// The parameter's own type, or what the pointer points to.
    ScalarKind kind = ScalarKind::Unknown;
    /// Bytes of that type; 0 where unknown. A float4 is 16 with kind Float.
    std::size_t size = 0;
    /// Numbers in that type: 1, or 2 to 4 for vector types.
    std::size_t lanes = 1;
};

struct DeclaredKernel {
    std::string name;
    bool is_template = false;
    std::vector<DeclaredParameter> parameters;
};

/// The kernels that a source declares, as far as a reading without a preprocessor can tell;
/// what it cannot tell is unknown, never an error. The first declaration of a name counts.
[[nodiscard]] std::vector<DeclaredKernel> read_declared_kernels(std::string_view source);

/// The plain name in a C++ linker name: "scale" for "_Z5scalePfi" and for "_ZN3lib5scaleIfEEvPT_";
/// the name itself where it is not mangled.
[[nodiscard]] std::string plain_name(std::string_view linker_name);

} // namespace pycuda
