// readable_name.h -- the name of a kernel as a person knows it.
#pragma once

#include <string>

namespace softcuda {

/// "lib::scale<float>" for "_ZN3lib5scaleIfEEvPT_i": without the result and the parameters. Other
/// names, such as those of extern "C", are unchanged. Throws std::bad_alloc.
[[nodiscard]] std::string readable_name(const std::string &linker_name);

} // namespace softcuda
