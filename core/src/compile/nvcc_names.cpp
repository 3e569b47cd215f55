// nvcc_names.cpp -- overloads and macros that nvcc has without an include, and NVRTC has otherwise.
#include "nvcc_names.h"
#include "source_text.h"

#include <algorithm>
#include <iterator>
#include <map>

namespace pycuda::compile_detail {
namespace {

constexpr std::string_view renamed_pow = "pycuda_pow";

/// C++'s types: `promoted` is the floating-point type that stands for an argument, `integer` is
/// double for integer types alone. Neither has a `type` for a class, so that a source's own
/// functions of classes are not ambiguous.
constexpr std::string_view types = R"(
namespace pycuda_math {
template <class T> struct integer {};
template <> struct integer<bool> { typedef double type; };
template <> struct integer<char> { typedef double type; };
template <> struct integer<signed char> { typedef double type; };
template <> struct integer<unsigned char> { typedef double type; };
template <> struct integer<wchar_t> { typedef double type; };
template <> struct integer<char16_t> { typedef double type; };
template <> struct integer<char32_t> { typedef double type; };
template <> struct integer<short> { typedef double type; };
template <> struct integer<unsigned short> { typedef double type; };
template <> struct integer<int> { typedef double type; };
template <> struct integer<unsigned> { typedef double type; };
template <> struct integer<long> { typedef double type; };
template <> struct integer<unsigned long> { typedef double type; };
template <> struct integer<long long> { typedef double type; };
template <> struct integer<unsigned long long> { typedef double type; };
template <class T> struct promoted : integer<T> {};
template <> struct promoted<float> { typedef float type; };
template <> struct promoted<double> { typedef double type; };
template <> struct promoted<long double> { typedef double type; };
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
        return "template <class A, class B> __host__ __device__ inline decltype("
               "typename pycuda_math::promoted<A>::type() + "
               "typename pycuda_math::promoted<B>::type()) %s(A a, B b) { typedef decltype("
               "typename pycuda_math::promoted<A>::type() + "
               "typename pycuda_math::promoted<B>::type()) T; return %s(T(a), T(b)); }\n";
    case Shape::Ternary:
        return "template <class A, class B, class C> __host__ __device__ inline decltype("
               "typename pycuda_math::promoted<A>::type() + "
               "typename pycuda_math::promoted<B>::type() + "
               "typename pycuda_math::promoted<C>::type()) %s(A a, B b, C c) { typedef decltype("
               "typename pycuda_math::promoted<A>::type() + "
               "typename pycuda_math::promoted<B>::type() + "
               "typename pycuda_math::promoted<C>::type()) T; return %s(T(a), T(b), T(c)); }\n";
    case Shape::Exponent:
        return "template <class A> __host__ __device__ inline "
               "typename pycuda_math::integer<A>::type %s(A a, int n) "
               "{ return %s(double(a), n); }\n";
    case Shape::IntPointer:
        return "template <class A> __host__ __device__ inline "
               "typename pycuda_math::integer<A>::type %s(A a, int *n) "
               "{ return %s(double(a), n); }\n";
    case Shape::Quotient:
        return "template <class A, class B> __host__ __device__ inline decltype("
               "typename pycuda_math::promoted<A>::type() + "
               "typename pycuda_math::promoted<B>::type()) %s(A a, B b, int *n) { typedef decltype("
               "typename pycuda_math::promoted<A>::type() + "
               "typename pycuda_math::promoted<B>::type()) T; return %s(T(a), T(b), n); }\n";
    case Shape::Pow:
        return "__host__ __device__ inline float pycuda_pow(float a, float b) "
               "{ return pow(a, b); }\n"
               "__host__ __device__ inline double pycuda_pow(double a, double b) "
               "{ return pow(a, b); }\n"
               "template <class A, class B> __host__ __device__ inline decltype("
               "typename pycuda_math::promoted<A>::type() + "
               "typename pycuda_math::promoted<B>::type()) pycuda_pow(A a, B b) "
               "{ typedef decltype(typename pycuda_math::promoted<A>::type() + "
               "typename pycuda_math::promoted<B>::type()) T; return pow(T(a), T(b)); }\n"
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

template <class Visit> void for_each_word(std::string_view text, Visit visit) {
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = at;
        while (end < text.size() && is_word(text[end]))
            ++end;
        if (end > at)
            visit(text.substr(at, end - at));
        at = std::max(end, at + 1);
    }
}

Table make_functions() {
    Table functions;
    for (const Group &group : groups)
        for_each_word(group.names, [&](std::string_view name) {
            std::string text(text_of(group.shape));
            replace_all(text, "%s", name);
            functions.emplace(name, std::move(text));
        });
    return functions;
}

const Table &functions() {
    static const auto *table = new Table(make_functions());
    return *table;
}

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

constexpr PredefinedMacro predefined[] = {
    {"__linux__", "1"},
    {"__linux", "1"},
    {"__gnu_linux__", "1"},
    {"linux", "1"},
    {"unix", "1"},
    {"__SIZEOF_INT128__", "16"},
    {"__unix__", "1"},
    {"__unix", "1"},
    {"__ELF__", "1"},
#define PYCUDA_PROCESSOR_MACRO(name) {name, "1"},
#include "target/processor_macros.def"
    {"_LP64", "1"},
    {"__LP64__", "1"},
    {"_GNU_SOURCE", "1"},
    {"__EXCEPTIONS", "1"},
    {"__GXX_RTTI", "1"},
    {"__STDC_HOSTED__", "1"},
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
    {"__BYTE_ORDER__", "1234"},
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
    std::ranges::for_each(predefined, add);
    std::ranges::for_each(spellings, add);
    macros.emplace("__NVCC__", "#define __NVCC__ 1\n");
    for (const char *name : {gcc_macro, "__GNUC_MINOR__", "__GNUC_PATCHLEVEL__", "__GNUG__"})
        macros.emplace(name, version_of_gcc);
    return macros;
}

bool is_spelling(std::string_view word) {
    return std::ranges::find(spellings, word, &PredefinedMacro::name) != std::end(spellings);
}

const Table &macros() {
    static const auto *table = new Table(make_macros());
    return *table;
}

} // namespace

void find_nvcc_names(std::string_view blanked, TextRole role,
                     std::set<std::string, std::less<>> &names) {
    for_each_word(blanked, [&](std::string_view word) {
        const bool is_macro = macros().contains(word);
        const bool is_for_headers = word == "__NVCC__" || is_spelling(word);
        const bool is_left_out = is_macro && role == TextRole::Header && !is_for_headers;
        if (!is_left_out && (is_macro || functions().contains(word)))
            names.emplace(word);
    });
}

void add_macros_of_gcc(std::set<std::string, std::less<>> &names) {
    names.emplace(gcc_macro);
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
    if (log.find("has no member \"pow\"") != std::string_view::npos)
        return true;
    constexpr std::string_view phrase = "more than one instance of overloaded function \"";
    for (std::size_t at = log.find(phrase); at != std::string_view::npos;
         at = log.find(phrase, at + 1)) {
        std::string_view name = log.substr(at + phrase.size());
        name = name.substr(0, name.find('"'));
        if (const std::size_t scope = name.rfind("::"); scope != std::string_view::npos)
            name.remove_prefix(scope + 2);
        if (functions().contains(name))
            return true;
    }
    return false;
}

void restore_names(std::string &log) { replace_all(log, renamed_pow, "pow"); }

} // namespace pycuda::compile_detail
