// device_code.cpp -- types, conversions and functions for generated kernels, in CUDA C++.
//
// Values are loaded in their stored type, converted to the type of the operation, computed in that
// type (16-bit floats in float), and converted back. No CUDA header is included, because it would
// take longer to compile than the rest.
#include "arrays/device_code.h"

#include "arrays/kernel_choice.h"

#include "arrays/device/complex.cuh.h"
#include "arrays/device/functions.cuh.h"
#include "arrays/device/types.cuh.h"

#include <pycuda/device_traits.h>

#include <algorithm>
#include <cctype>
#include <unordered_set>
#include <vector>

namespace pycuda {
namespace {

// The code is divided into parts at the lines "//: name". A part is added to a kernel only if its
// name occurs in the kernel or in another added part. Unused code would only take time to compile.

struct Part {
    std::string_view name; ///< empty: always needed
    std::string_view code;
};
using Parts = std::vector<Part>;

Parts parts_of(std::string_view library) {
    constexpr std::string_view marker = "//: ";
    Parts parts;
    std::string_view name;
    while (!library.empty()) {
        const std::size_t next = library.find(marker);
        parts.push_back({name, library.substr(0, next)});
        if (next == std::string_view::npos)
            break;
        library.remove_prefix(next + marker.size());
        const std::size_t line = library.find('\n');
        name = library.substr(0, line);
        library.remove_prefix(line + 1);
    }
    return parts;
}

using Names = std::unordered_set<std::string_view>;

void add_identifiers(Names &names, std::string_view code) {
    auto is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    for (auto begin = code.begin(); begin != code.end();) {
        begin = std::find_if(begin, code.end(), is_letter);
        const auto end = std::find_if_not(begin, code.end(), is_letter);
        if (begin != end)
            names.emplace(begin, end);
        begin = end;
    }
}

/// The parts that `kernel` uses, in their order.
std::string used_parts(std::span<const Parts *const> libraries, std::string_view kernel) {
    Names names = {""};
    add_identifiers(names, kernel);
    std::unordered_set<const Part *> used;
    for (bool grown = true; grown;) {
        grown = false;
        for (const Parts *parts : libraries)
            for (const Part &part : *parts)
                if (names.contains(part.name) && used.insert(&part).second) {
                    add_identifiers(names, part.code);
                    grown = true;
                }
    }
    std::string code;
    for (const Parts *parts : libraries)
        for (const Part &part : *parts)
            if (used.contains(&part))
                code += part.code;
    return code;
}

} // namespace

std::string with_prelude(std::string_view kernel) {
    static const Parts types = parts_of(device_code::types_cuh);
    static const Parts functions = parts_of(device_code::functions_cuh);
    static const Parts complex = parts_of(device_code::complex_cuh);
    std::vector<const Parts *> libraries = {&types, &functions};
    for (ScalarType type : {ScalarType::Complex64, ScalarType::Complex128})
        if (libraries.size() == 2 && kernel.find(cuda_name(type)) != std::string_view::npos)
            libraries.push_back(&complex);
    return used_parts(libraries, kernel) + std::string(kernel);
}

std::string compute_name(ScalarType type) {
    if (type == ScalarType::Float16 || type == ScalarType::BFloat16)
        return "float";
    return std::string(cuda_name(type));
}

bool is_rolled() {
    const KernelForm form = kernel_choice.form;
    return form == KernelForm::Chosen ? runs_on_host() : form == KernelForm::Rolled;
}

} // namespace pycuda
