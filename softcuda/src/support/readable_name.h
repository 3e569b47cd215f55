// readable_name.h -- names of kernels and variables as a person knows them.
#pragma once

#include <string>

namespace softcuda {

/// The C++ name of a linker's name of the Itanium ABI, with parameters; other names are unchanged.
/// Throws std::bad_alloc.
[[nodiscard]] std::string demangled(const std::string &linker_name);

/// "lib::scale<float>" for "_ZN3lib5scaleIfEEvPT_i": without the result and the parameters. Other
/// names, such as those of extern "C", are unchanged. Throws std::bad_alloc.
[[nodiscard]] std::string readable_name(const std::string &linker_name);

} // namespace softcuda
