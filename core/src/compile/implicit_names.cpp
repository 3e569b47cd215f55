// implicit_names.cpp -- names that nvcc declares without an include, and NVRTC does not.
#include "implicit_names.h"
#include "source_text.h"

#include <algorithm>
#include <map>

namespace pycuda::compile_detail {
namespace {

/// The declaration of a name, or the replacement header that contains the declaration.
struct Row {
    std::string declaration;
    std::string_view header;
};

using Table = std::map<std::string_view, Row>;

constexpr std::string_view string_length = R"(
__device__ inline size_t strlen(const char *text) {
    size_t length = 0;
    while (text[length]) ++length;
    return length;
}
)";

/// Adds a row for each name in a list such as "M_PI M_E"; all rows have this header.
void add(Table &table, std::string_view header, std::string_view names) {
    while (!names.empty()) {
        const std::size_t end = std::min(names.find(' '), names.size());
        table[names.substr(0, end)] = {{}, header};
        names.remove_prefix(std::min(end + 1, names.size()));
    }
}

Table make_table() {
    Table table = {
        {"uint", {"typedef unsigned int uint;", {}}},
        {"ulong", {"typedef unsigned long ulong;", {}}},
        {"ushort", {"typedef unsigned short ushort;", {}}},
        {"u_char", {"typedef unsigned char u_char;", {}}},
        {"u_short", {"typedef unsigned short u_short;", {}}},
        {"u_int", {"typedef unsigned int u_int;", {}}},
        {"u_long", {"typedef unsigned long u_long;", {}}},
        {"u_int8_t", {"typedef unsigned char u_int8_t;", {}}},
        {"u_int16_t", {"typedef unsigned short u_int16_t;", {}}},
        {"u_int32_t", {"typedef unsigned int u_int32_t;", {}}},
        {"u_int64_t", {"typedef unsigned long long u_int64_t;", {}}},
        {"int8_t", {"typedef signed char int8_t;", {}}},
        {"int16_t", {"typedef short int16_t;", {}}},
        {"int32_t", {"typedef int int32_t;", {}}},
        {"int64_t", {"typedef long long int64_t;", {}}},
        {"uint8_t", {"typedef unsigned char uint8_t;", {}}},
        {"uint16_t", {"typedef unsigned short uint16_t;", {}}},
        {"uint32_t", {"typedef unsigned int uint32_t;", {}}},
        {"uint64_t", {"typedef unsigned long long uint64_t;", {}}},
        {"ssize_t", {"typedef long ssize_t;", {}}},
        {"time_t", {"typedef long time_t;", {}}},
        {"off_t", {"typedef long off_t;", {}}},
        {"quad_t", {"typedef long quad_t;", {}}},
        {"RAND_MAX", {"#define RAND_MAX 2147483647", {}}},
        {"strlen", {std::string(string_length), {}}},
        {"cudaGraphSetConditional",
         {"extern \"C\" __device__ void cudaGraphSetConditional(cudaGraphConditionalHandle, "
          "unsigned);",
          {}}},
    };
    add(table, "math.h",
        "M_E M_LOG2E M_LOG10E M_LN2 M_LN10 M_PI M_PI_2 M_PI_4 M_1_PI M_2_PI M_2_SQRTPI M_SQRT2 "
        "M_SQRT1_2 INFINITY NAN HUGE_VAL HUGE_VALF");
    add(table, "limits.h",
        "CHAR_BIT SCHAR_MIN SCHAR_MAX UCHAR_MAX CHAR_MIN CHAR_MAX SHRT_MIN SHRT_MAX USHRT_MAX "
        "INT_MIN INT_MAX UINT_MAX LONG_MIN LONG_MAX ULONG_MAX LLONG_MIN LLONG_MAX ULLONG_MAX");
    add(table, "stdlib.h", "EXIT_SUCCESS EXIT_FAILURE");
    add(table, "stddef.h", "offsetof __builtin_offsetof"); // NVRTC's macro uses the latter name
    add(table, "cmath",
        "std::abs std::acos std::acosh std::asin std::asinh std::atan std::atan2 std::atanh "
        "std::cbrt std::ceil std::copysign std::cos std::cosh std::erf std::erfc std::exp "
        "std::exp2 std::expm1 std::fabs std::fdim std::floor std::fma std::fmax std::fmin "
        "std::fmod std::frexp std::hypot std::ilogb std::isfinite std::isinf std::isnan "
        "std::ldexp std::lgamma std::log std::log10 std::log1p std::log2 std::lrint std::lround "
        "std::modf std::nearbyint std::nextafter std::pow std::remainder std::rint std::round "
        "std::signbit std::sin std::sinh std::sqrt std::tan std::tanh std::tgamma std::trunc");
    add(table, "cstddef", "std::size_t std::ptrdiff_t std::nullptr_t");
    add(table, "type_traits",
        "std::is_same std::is_same_v std::enable_if std::enable_if_t std::conditional "
        "std::conditional_t std::is_integral std::is_floating_point std::is_arithmetic "
        "std::is_pointer std::remove_reference std::remove_reference_t std::remove_cv_t "
        "std::decay_t std::make_unsigned_t std::make_signed_t std::true_type std::false_type "
        "std::integral_constant std::common_type std::common_type_t std::is_signed "
        "std::is_unsigned "
        "std::is_signed_v std::is_unsigned_v std::is_same_v std::is_integral_v "
        "std::is_floating_point_v std::is_arithmetic_v std::is_pointer_v std::is_convertible "
        "std::is_convertible_v std::is_base_of std::is_base_of_v std::is_trivially_copyable "
        "std::is_trivially_copyable_v std::remove_cv std::remove_const std::remove_const_t "
        "std::remove_pointer std::remove_pointer_t std::add_const std::add_pointer std::decay "
        "std::make_signed std::make_unsigned std::underlying_type std::underlying_type_t "
        "std::is_enum std::is_class std::is_void std::is_array std::is_const std::void_t "
        "std::invoke_result std::invoke_result_t std::bool_constant std::conjunction "
        "std::disjunction std::negation");
    add(table, "utility", "std::pair std::make_pair std::move std::forward std::declval");
    add(table, "limits", "std::numeric_limits");
    add(table, "cstring", "std::memcpy std::memset");
    add(table, "cstdio", "std::printf");
    return table;
}

/// Whether the row is that of macros, which a directive can ask for.
bool is_macro(const Row &row) {
    return row.header == "math.h" || row.header == "limits.h" || row.header == "stdlib.h" ||
           row.declaration.starts_with("#define");
}

const Table &known_names() {
    static const auto *table = new Table(make_table());
    return *table;
}

/// The text of NVRTC's message before a missing name, after the name, and for its namespace.
struct MissingName {
    std::string_view before;
    std::string_view after;
    std::string_view scope;
};
constexpr MissingName missing_names[] = {
    {"identifier \"", "\" is undefined", ""},
    {"namespace \"std\" has no member \"", "\"", "std::"},
};

} // namespace

std::set<std::string> implicit_macros_asked_for(std::string_view blanked) {
    std::set<std::string> names;
    while (!blanked.empty()) {
        const std::size_t end = std::min(blanked.find('\n'), blanked.size());
        std::string_view line = blanked.substr(0, end);
        blanked.remove_prefix(std::min(end + 1, blanked.size()));
        line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
        if (!line.starts_with('#'))
            continue;
        line.remove_prefix(1);
        line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
        if (!line.starts_with("if") && !line.starts_with("elif"))
            continue;
        for (std::size_t at = 0; at < line.size();) {
            std::size_t stop = at;
            while (stop < line.size() && is_word(line[stop]))
                ++stop;
            const auto known = known_names().find(line.substr(at, stop - at));
            if (known != known_names().end() && is_macro(known->second))
                names.emplace(known->first);
            at = std::max(stop, at + 1);
        }
    }
    return names;
}

std::set<std::string> missing_implicit_names(std::string_view log) {
    std::set<std::string> names;
    for (const MissingName &missing : missing_names) {
        for (std::size_t at = log.find(missing.before); at != std::string_view::npos;
             at = log.find(missing.before, at + 1)) {
            const std::string_view rest = log.substr(at + missing.before.size());
            const std::string_view name = rest.substr(0, rest.find('"'));
            const std::string full = std::string(missing.scope) + std::string(name);
            if (rest.substr(name.size()).starts_with(missing.after) && known_names().contains(full))
                names.insert(full);
        }
    }
    return names;
}

ImplicitDeclarations declare_implicit_names(const std::set<std::string> &names) {
    ImplicitDeclarations result;
    for (const std::string &name : names) {
        const Row &row = known_names().at(name);
        if (row.header.empty())
            result.text += std::string(row.declaration) + "\n";
        else if (result.headers.emplace(row.header).second)
            result.text += "#include <" + std::string(row.header) + ">\n";
    }
    return result;
}

} // namespace pycuda::compile_detail
