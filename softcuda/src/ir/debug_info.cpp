// debug_info.cpp -- sizes of types, and the scope at a statement.
#include "ir/debug_info.h"

namespace softcuda::ir {

std::uint64_t DebugFunction::bytes_of(std::uint32_t type) const {
    std::uint64_t count = 1;
    // A damaged text may have types that consist of each other.
    for (std::size_t hops = 0; types && type < types->size() && hops <= types->size(); ++hops) {
        const DebugType &t = (*types)[type];
        switch (t.kind) {
        case DebugType::Kind::Typedef:
        case DebugType::Kind::Const:
        case DebugType::Kind::Volatile:
            break;
        case DebugType::Kind::Array:
            for (std::uint64_t extent : t.extents)
                count *= extent;
            break;
        default:
            return count * t.bytes;
        }
        type = t.target;
    }
    return 0;
}

// Inner scopes come after the scopes that contain them.
std::uint32_t DebugFunction::scope_at(std::uint32_t statement) const {
    for (std::size_t i = scopes.size(); i-- > 1;)
        if (scopes[i].begin <= statement && statement < scopes[i].end)
            return static_cast<std::uint32_t>(i);
    return 0;
}

std::string plain_name(const std::string &name) {
    if (!name.starts_with("_Z"))
        return name;
    for (std::size_t digits = 1; digits <= 3 && digits < name.size(); ++digits)
        for (std::size_t length = 1; length + digits < name.size(); ++length) {
            const std::size_t at = name.size() - length - digits;
            const std::string number = std::to_string(length);
            if (number.size() == digits && name.compare(at, digits, number) == 0 &&
                (at == 0 || name[at - 1] < '0' || name[at - 1] > '9'))
                return name.substr(at + digits);
        }
    return name;
}

} // namespace softcuda::ir
