// nvcc_names.cpp -- overloads and macros that nvcc has without an include, and NVRTC has otherwise.
#include "compile/source/nvcc_names.h"

#include "compile/source/source_text.h"
#include "driver/never_destroyed.h"

#include <map>
#include <span>

namespace pycuda::compile_detail {
namespace {

constexpr std::string_view renamed_pow = "pycuda_pow";

/// C++'s types: `promoted` is the floating-point type that stands for an argument, `integer` is
/// double for integer types alone. Neither has a `type` for a class, so that a source's own
/// functions of classes are not ambiguous.
constexpr std::string_view types = R"(
namespace pycuda_math {
template <class T> struct integer {};
#define PYCUDA_DOUBLE(T) template <> struct integer<T> { typedef double type; };
PYCUDA_DOUBLE(bool) PYCUDA_DOUBLE(char) PYCUDA_DOUBLE(signed char) PYCUDA_DOUBLE(unsigned char)
PYCUDA_DOUBLE(wchar_t) PYCUDA_DOUBLE(char16_t) PYCUDA_DOUBLE(char32_t) PYCUDA_DOUBLE(short)
PYCUDA_DOUBLE(unsigned short) PYCUDA_DOUBLE(int) PYCUDA_DOUBLE(unsigned) PYCUDA_DOUBLE(long)
PYCUDA_DOUBLE(unsigned long) PYCUDA_DOUBLE(long long) PYCUDA_DOUBLE(unsigned long long)
#undef PYCUDA_DOUBLE
template <class T> struct promoted : integer<T> {};
template <> struct promoted<float> { typedef float type; };
template <> struct promoted<double> { typedef double type; };
template <> struct promoted<long double> { typedef double type; };
template <class A, class B>
using of_two = decltype(typename promoted<A>::type() + typename promoted<B>::type());
template <class A, class B, class C>
using of_three = decltype(of_two<A, B>() + typename promoted<C>::type());
}
)";

/// How the overload of a function is written. %s is the function's name.
enum class Shape { Unary, Classify, Binary, Ternary, Exponent, IntPointer, Quotient, Pow };

std::string_view text_of(Shape shape) {
    switch (shape) {
    case Shape::Unary: // double, int or long, as the function of a double returns
        return "template <class A> __host__ __device__ inline auto %s(A a) -> decltype("
               "%s(typename pycuda_math::integer<A>::type())) { return %s(double(a)); }\n";
    case Shape::Classify:
        return "template <class A> __host__ __device__ inline decltype("
               "typename pycuda_math::integer<A>::type() == 0) %s(A a) "
               "{ return %s(double(a)) != 0; }\n";
    case Shape::Binary:
        return "template <class A, class B> __host__ __device__ inline pycuda_math::of_two<A, B> "
               "%s(A a, B b) { typedef pycuda_math::of_two<A, B> T; return %s(T(a), T(b)); }\n";
    case Shape::Ternary:
        return "template <class A, class B, class C> __host__ __device__ inline "
               "pycuda_math::of_three<A, B, C> %s(A a, B b, C c) { "
               "typedef pycuda_math::of_three<A, B, C> T; return %s(T(a), T(b), T(c)); }\n";
    case Shape::Exponent:
        return "template <class A> __host__ __device__ inline "
               "typename pycuda_math::integer<A>::type %s(A a, int n) "
               "{ return %s(double(a), n); }\n";
    case Shape::IntPointer:
        return "template <class A> __host__ __device__ inline "
               "typename pycuda_math::integer<A>::type %s(A a, int *n) "
               "{ return %s(double(a), n); }\n";
    case Shape::Quotient:
        return "template <class A, class B> __host__ __device__ inline pycuda_math::of_two<A, B> "
               "%s(A a, B b, int *n) { typedef pycuda_math::of_two<A, B> T; "
               "return %s(T(a), T(b), n); }\n";
    case Shape::Pow:
        return "__host__ __device__ inline float pycuda_pow(float a, float b) "
               "{ return pow(a, b); }\n"
               "__host__ __device__ inline double pycuda_pow(double a, double b) "
               "{ return pow(a, b); }\n"
               "template <class A, class B> __host__ __device__ inline pycuda_math::of_two<A, B> "
               "pycuda_pow(A a, B b) { typedef pycuda_math::of_two<A, B> T; "
               "return pow(T(a), T(b)); }\n"
               "#define pow(...) pycuda_pow(__VA_ARGS__)\n";
    }
    return {};
}

struct Group {
    Shape shape;
    std::string_view names;
};

constexpr Group groups[] = {
    {Shape::Unary, "acos acosh asin asinh atan atanh cbrt ceil cos cosh erf erfc exp exp2 expm1 "
                   "fabs floor ilogb lgamma llrint llround log log10 log1p log2 logb lrint lround "
                   "nearbyint rint round sin sinh sqrt tan tanh tgamma trunc"},
    {Shape::Classify, "isfinite isinf isnan signbit"},
    {Shape::Binary, "atan2 copysign fdim fmax fmin fmod hypot nextafter remainder"},
    {Shape::Ternary, "fma"},
    {Shape::Exponent, "ldexp scalbn"},
    {Shape::IntPointer, "frexp"},
    {Shape::Quotient, "remquo"},
    {Shape::Pow, "pow"},
};

using Table = std::map<std::string, std::string, std::less<>>; // the text of a name

Table make_functions() {
    Table functions;
    for (const Group &group : groups)
        for_each_word(group.names, [&](std::size_t, std::string_view name) {
            std::string text(text_of(group.shape));
            replace_all(text, "%s", name);
            functions.emplace(name, std::move(text));
        });
    return functions;
}

const Table &functions() { return made_once<make_functions>(); }

// Macros that GCC predefines, and so nvcc. Sources ask for them to find out the compiler and the
// machine; without them, a source would be read as one for another compiler.
struct PredefinedMacro {
    std::string_view name;
    std::string_view value;
};

// GCC's other spellings of keywords.
constexpr PredefinedMacro spellings[] = {{"__const", "const"},
                                         {"__const__", "const"},
                                         {"__signed", "signed"},
                                         {"__signed__", "signed"},
                                         {"__volatile", "volatile"}};

/// Macros whose value is 1.
constexpr std::string_view flags =
    "__linux__ __linux __gnu_linux__ linux unix __unix__ __unix __ELF__ _LP64 __LP64__ _GNU_SOURCE "
    "__EXCEPTIONS __GXX_RTTI __STDC_HOSTED__ "
#define PYCUDA_PROCESSOR_MACRO(name) name " "
#include "target/processor_macros.def"
    ;

/// Sizes, limits and the order of bytes. A header may compare them: where none is defined, all are
/// 0.
constexpr PredefinedMacro facts[] = {
    {"__CHAR_BIT__", "8"},
    {"__SCHAR_MAX__", "0x7f"},
    {"__SHRT_MAX__", "0x7fff"},
    {"__INT_MAX__", "0x7fffffff"},
    {"__LONG_MAX__", "0x7fffffffffffffffL"},
    {"__LONG_LONG_MAX__", "0x7fffffffffffffffLL"},
    {"__SIZEOF_SHORT__", "2"},
    {"__SIZEOF_INT__", "4"},
    {"__SIZEOF_LONG__", "8"},
    {"__SIZEOF_LONG_LONG__", "8"},
    {"__SIZEOF_POINTER__", "8"},
    {"__SIZEOF_SIZE_T__", "8"},
    {"__SIZEOF_FLOAT__", "4"},
    {"__SIZEOF_DOUBLE__", "8"},
    {"__SIZE_TYPE__", "unsigned long"},
    {"__PTRDIFF_TYPE__", "long"},
    {"__FLT_MANT_DIG__", "24"},
    {"__FLT_DIG__", "6"},
    {"__FLT_MAX__", "3.40282346638528859811704183484516925e+38F"},
    {"__FLT_MIN__", "1.17549435082228750796873653722224568e-38F"},
    {"__FLT_EPSILON__", "1.1920928955078125e-7F"},
    {"__DBL_MANT_DIG__", "53"},
    {"__DBL_DIG__", "15"},
    {"__DBL_MAX__", "1.79769313486231570814527423731704357e+308"},
    {"__DBL_MIN__", "2.22507385850720138309023271733240406e-308"},
    {"__DBL_EPSILON__", "2.22044604925031308084726333618164062e-16"},
    {"__ORDER_LITTLE_ENDIAN__", "1234"},
    {"__ORDER_BIG_ENDIAN__", "4321"},
    {"__ORDER_PDP_ENDIAN__", "3412"},
    {"__BYTE_ORDER__", "1234"},
    {"__FLOAT_WORD_ORDER__", "1234"},
    {"__SIZEOF_WCHAR_T__", "4"},
    {"__WCHAR_MAX__", "0x7fffffff"},
    {"__SIZEOF_PTRDIFF_T__", "8"},
    {"__SIZE_MAX__", "0xffffffffffffffffUL"},
    {"__INTMAX_MAX__", "0x7fffffffffffffffL"},
    {"__FLT_EVAL_METHOD__", "0"},
};

// nvcc has the version of its host compiler; this is one that CUDA 12 and 13 support.
constexpr std::string_view version_of_gcc =
    "#ifndef __GNUC__\n#define __GNUC__ 12\n#define __GNUC_MINOR__ 2\n"
    "#define __GNUC_PATCHLEVEL__ 0\n#define __GNUG__ 12\n#endif\n";

Table make_macros() {
    Table macros;
    const auto add = [&](const PredefinedMacro &macro) {
        std::string text = "#ifndef NAME\n#define NAME VALUE\n#endif\n";
        replace_all(text, "NAME", macro.name);
        replace_all(text, "VALUE", macro.value);
        macros.emplace(macro.name, std::move(text));
    };
    std::ranges::for_each(facts, add);
    std::ranges::for_each(spellings, add);
    add({"__SIZEOF_INT128__", "16"});
    add({"__VERSION__", "\"12.2.0\""});
    for_each_word(flags, [&](std::size_t, std::string_view name) { add({name, "1"}); });
    macros.emplace("__NVCC__", "#define __NVCC__ 1\n");
    for (const char *name : {gcc_macro, "__GNUC_MINOR__", "__GNUC_PATCHLEVEL__", "__GNUG__"})
        macros.emplace(name, version_of_gcc);
    return macros;
}

bool has(std::span<const PredefinedMacro> macros, std::string_view word) {
    return std::ranges::find(macros, word, &PredefinedMacro::name) != macros.end();
}

const Table &macros() { return made_once<make_macros>(); }

/// The declaration of a name, or the replacement header that contains the declaration.
struct Row {
    std::string declaration;
    std::string_view header;
};

using ImplicitNames = std::map<std::string_view, Row>;

constexpr std::string_view string_length = R"(
__device__ inline size_t strlen(const char *text) {
    size_t length = 0;
    while (text[length]) ++length;
    return length;
}
)";

/// Adds a row for each name in a list such as "M_PI M_E"; all rows have this header.
void add(ImplicitNames &table, std::string_view header, std::string_view names) {
    for_each_piece(names, " ", [&](std::string_view name) { table[name] = {{}, header}; });
}

void add_macros(ImplicitNames &table, std::string_view names_and_values) {
    std::string_view name;
    for_each_piece(names_and_values, " ", [&](std::string_view piece) {
        if (!name.empty())
            table[name] = {"#define " + std::string(name) + " " + std::string(piece), {}};
        name = name.empty() ? piece : std::string_view();
    });
}

void add_types(ImplicitNames &table, const std::string &type, std::string_view names) {
    for_each_piece(names, " ", [&](std::string_view name) {
        table[name] = {"typedef " + type + " " + std::string(name) + ";", {}};
    });
}

ImplicitNames make_implicit_names() {
    ImplicitNames table = {
        {"strlen", {std::string(string_length), {}}},
        {"alloca", {"#define alloca(size) __builtin_alloca(size)", {}}},
        {"cudaGraphSetConditional",
         {"extern \"C\" __device__ void cudaGraphSetConditional(cudaGraphConditionalHandle, "
          "unsigned);",
          {}}},
    };
    add_macros(table,
               "RAND_MAX 2147483647 EOF (-1) BUFSIZ 8192 CLOCKS_PER_SEC 1000000 PATH_MAX 4096 "
               "FP_NAN 0 FP_INFINITE 1 FP_ZERO 2 FP_SUBNORMAL 3 FP_NORMAL 4 MATH_ERRNO 1 "
               "MATH_ERREXCEPT 2 BYTE_ORDER 1234 LITTLE_ENDIAN 1234 BIG_ENDIAN 4321 "
               "PDP_ENDIAN 3412 __BYTE_ORDER 1234 __LITTLE_ENDIAN 1234 __BIG_ENDIAN 4321 "
               "__PDP_ENDIAN 3412 __FLOAT_WORD_ORDER 1234 __WORDSIZE 64");
    add_types(table, "signed char", "int8_t");
    add_types(table, "short", "int16_t");
    add_types(table, "int", "int32_t");
    add_types(table, "long", "ssize_t time_t off_t quad_t");
    add_types(table, "long long", "int64_t");
    add_types(table, "unsigned char", "u_char u_int8_t uint8_t");
    add_types(table, "unsigned short", "ushort u_short u_int16_t uint16_t");
    add_types(table, "unsigned int", "uint u_int u_int32_t uint32_t");
    add_types(table, "unsigned long", "ulong u_long");
    add_types(table, "unsigned long long", "u_int64_t uint64_t");
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
           row.header == "stddef.h" || row.declaration.starts_with("#define");
}

const ImplicitNames &known_names() { return made_once<make_implicit_names>(); }

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

bool find_nvcc_names(std::string_view blanked, TextRole role,
                     std::set<std::string, std::less<>> &names) {
    bool has_more_than_library = false;
    for_each_word(blanked, [&](std::size_t, std::string_view word) {
        const bool is_for_all = functions().contains(word) || word == "__NVCC__" ||
                                has(spellings, word) || has(facts, word);
        const bool is_more = !is_for_all && macros().contains(word);
        has_more_than_library |= is_more && role != TextRole::Library;
        if (is_for_all || (is_more && role != TextRole::Library))
            names.emplace(word);
    });
    return has_more_than_library;
}

void add_processor_macros(std::set<std::string, std::less<>> &names) {
#define PYCUDA_PROCESSOR_MACRO(name) names.emplace(name);
#include "target/processor_macros.def"
}

std::string declare_nvcc_names(const std::set<std::string, std::less<>> &names) {
    std::string declarations, definitions;
    for (const std::string &name : names) {
        if (auto function = functions().find(name); function != functions().end())
            declarations += function->second;
        if (auto macro = macros().find(name); macro != macros().end())
            definitions += macro->second;
    }
    if (!declarations.empty())
        definitions += std::string(types) + declarations;
    return definitions;
}

bool conflicts_with_nvcc_names(std::string_view log) {
    // `using cuda::std::pow;`: all calls are renamed, and so are the functions of headers.
    if (log.find("has no member \"pow\"") != none)
        return true;
    constexpr std::string_view phrase = "more than one instance of overloaded function \"";
    for (std::size_t at = log.find(phrase); at != none; at = log.find(phrase, at + 1)) {
        std::string_view name = log.substr(at + phrase.size());
        name = name.substr(0, name.find('"'));
        if (const std::size_t scope = name.rfind("::"); scope != none)
            name.remove_prefix(scope + 2);
        if (functions().contains(name))
            return true;
    }
    return false;
}

void restore_names(std::string &log) { replace_all(log, renamed_pow, "pow"); }

std::set<std::string> implicit_macros_asked_for(std::string_view blanked) {
    std::set<std::string> names;
    while (!blanked.empty()) {
        std::string_view line = trimmed(take_line(blanked));
        if (!line.starts_with('#'))
            continue;
        line = trimmed(line.substr(1));
        if (!line.starts_with("if") && !line.starts_with("elif"))
            continue;
        for_each_word(line, [&](std::size_t, std::string_view word) {
            const auto known = known_names().find(word);
            if (known != known_names().end() && is_macro(known->second))
                names.emplace(word);
        });
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
