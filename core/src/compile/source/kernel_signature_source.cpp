// kernel_signature_source.cpp -- reads the parameters of kernels from CUDA C++ source.
//
// The reader has no preprocessor and does not expand templates. It searches __global__, takes the
// name before the next parameter list, and splits the list at its commas. It looks up unknown types
// among the source's simple typedefs and macros. A parameter whose type differs between two
// declarations of one name (in two branches of an #if, for example) becomes unknown.
#include <cxxabi.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <set>

#include "compile/source/source_text.h"
#include "driver/never_destroyed.h"
#include "pycuda/kernel_signature.h"

namespace pycuda {
namespace {

using namespace compile_detail;
using Words = std::vector<std::string>;

/// Identifiers and single punctuation characters; "::" is one word.
Words split_words(std::string_view text) {
    Words words;
    for (std::size_t at = 0; at < text.size();) {
        std::string_view word = word_at(text, at);
        if (word.empty())
            word = text.substr(at, text.substr(at, 2) == "::" ? 2 : 1);
        if (!is_space(word[0]))
            words.emplace_back(word);
        at += word.size();
    }
    return words;
}

bool is_identifier(const std::string &word) { return is_word(word[0]) && !is_digit(word[0]); }

// ---- types ----------------------------------------------------------------------------------

struct ValueType {
    ValueKind kind = ValueKind::Unknown;
    std::uint32_t size = 0;
    std::uint32_t alignment = 0;
    bool operator==(const ValueType &) const = default;
};

using TypeTable = std::map<std::string, ValueType, std::less<>>;

/// float4 and similar types. One, two and four numbers are aligned to the whole size, at most 16
/// bytes; three numbers to one number.
void add_vectors(TypeTable &table, const std::string &base, std::uint32_t size) {
    for (std::uint32_t lanes = 1; lanes <= 4; ++lanes)
        table[base + std::to_string(lanes)] = {ValueKind::Bytes, size * lanes,
                                               lanes == 3 ? size : std::min(size * lanes, 16u)};
}

TypeTable make_type_table() {
    struct Numbers {
        ValueKind kind;
        std::uint32_t size;
        std::string_view names;
    };
    constexpr ValueKind s = ValueKind::Signed, u = ValueKind::Unsigned, f = ValueKind::Float;
    constexpr Numbers numbers[] = {
        {s, 1, "char,signed char,int8_t"},
        {u, 1, "unsigned char,uchar,uint8_t,bool"},
        {s, 2, "short,int16_t"},
        {u, 2, "unsigned short,ushort,uint16_t"},
        {s, 4, "int,int32_t,wchar_t"},
        {u, 4, "unsigned,uint,uint32_t"},
        {s, 8, "long,long long,int64_t,intptr_t,ptrdiff_t,ssize_t,intmax_t,clock_t"},
        {u, 8,
         "unsigned long,unsigned long long,ulong,uint64_t,size_t,uintptr_t,uintmax_t,"
         "cudaTextureObject_t,cudaSurfaceObject_t,CUdeviceptr"},
        {f, 2, "half,__half"},
        {f, 4, "float"},
        {f, 8, "double"},
        {ValueKind::BFloat16, 2, "__nv_bfloat16,nv_bfloat16"}};
    TypeTable table;
    for (const auto &[kind, size, names] : numbers)
        for_each_piece(names, ",", [&](std::string_view name) {
            table[std::string(name)] = {kind, size, size};
        });
    table["half2"] = table["__half2"] = table["__nv_bfloat162"] = {ValueKind::Bytes, 4, 4};
    table["dim3"] = {ValueKind::Bytes, 12, 4};
    table["cuComplex"] = table["cuFloatComplex"] = {ValueKind::Bytes, 8, 8};
    table["cuDoubleComplex"] = {ValueKind::Bytes, 16, 16};
    table["pycuda::complex<float>"] = {ValueKind::Bytes, 8, 4};
    table["pycuda::complex<double>"] = {ValueKind::Bytes, 16, 8};
    for (const char *base : {"char", "uchar"})
        add_vectors(table, base, 1);
    for (const char *base : {"short", "ushort"})
        add_vectors(table, base, 2);
    for (const char *base : {"int", "uint", "float"})
        add_vectors(table, base, 4);
    for (const char *base : {"long", "ulong", "longlong", "ulonglong", "double"})
        add_vectors(table, base, 8);
    return table;
}

const TypeTable &known_types() { return made_once<make_type_table>(); }

/// "unsigned long" for "long unsigned int" and its other spellings; other names unchanged.
std::string usual_spelling(const Words &words) {
    auto count = [&](std::string_view word) { return std::ranges::count(words, word); };
    const bool is_unsigned = count("unsigned") > 0;
    const auto longs = count("long");
    static const std::set<std::string, std::less<>> parts = {"unsigned", "signed", "long",
                                                             "short",    "int",    "char"};
    const bool is_integer =
        std::ranges::all_of(words, [](const auto &word) { return parts.contains(word); });
    std::string name;
    if (!is_integer || words.empty()) {
        for (const std::string &word : words)
            name += word;
        return name.starts_with("std::") ? name.substr(5) : name;
    }
    if (count("char"))
        name = "char";
    else if (count("short"))
        name = "short";
    else if (longs)
        name = longs > 1 ? "long long" : "long";
    if (name == "char")
        return is_unsigned ? "unsigned char" : "signed char";
    if (name.empty())
        return is_unsigned ? "unsigned" : "int";
    return is_unsigned ? "unsigned " + name : name;
}

/// A declared type, without its name: "const float *" is {{"float"}, 1}.
struct Declarator {
    Words base;
    int pointers = 0;
    bool understood = true;
};

bool is_qualifier(const std::string &word) {
    static const std::set<std::string, std::less<>> qualifiers = {
        "const",      "volatile",  "restrict", "__restrict", "__restrict__",      "struct",
        "class",      "enum",      "union",    "typename",   "__grid_constant__", "__constant__",
        "__device__", "__global__"};
    return qualifiers.contains(word);
}

// ---- typedefs and macros of the source --------------------------------------------------------

/// Simple names of types: `typedef float real;`, `using real = float;`, `#define real float`. The
/// value of a name with two different meanings is empty.
using Aliases = std::map<std::string, std::optional<Words>, std::less<>>;

void add_alias(Aliases &aliases, const std::string &name, Words meaning) {
    auto [place, is_new] = aliases.emplace(name, meaning);
    if (!is_new && place->second != meaning)
        place->second.reset();
}

bool is_type_text(const Words &words) {
    return !words.empty() && std::ranges::all_of(words, [](const std::string &word) {
        return is_identifier(word) || word == "*" || word == "::" || word == "<" || word == ">";
    });
}

/// The text after the `keyword` at `at`, up to `end_mark`.
std::string_view rest_until(std::string_view text, std::size_t at, std::size_t keyword_size,
                            char end_mark) {
    std::size_t begin = at + keyword_size;
    return text.substr(begin, std::min(text.find(end_mark, begin), text.size()) - begin);
}

Aliases find_aliases(std::string_view text) {
    Aliases aliases;
    for_each_place(text, "typedef", [&](std::size_t at) {
        Words words = split_words(rest_until(text, at, 7, ';'));
        if (words.size() < 2 || !is_type_text(words) || !is_identifier(words.back()))
            return;
        std::string name = std::move(words.back());
        words.pop_back();
        add_alias(aliases, name, std::move(words));
    });
    for_each_place(text, "using", [&](std::size_t at) {
        Words words = split_words(rest_until(text, at, 5, ';'));
        if (words.size() < 3 || words[1] != "=")
            return;
        add_alias(aliases, words[0], Words(words.begin() + 2, words.end()));
    });
    for_each_place(text, "enum", [&](std::size_t at) {
        Words words = split_words(rest_until(text, at, 4, '{'));
        if (!words.empty() && (words[0] == "class" || words[0] == "struct"))
            words.erase(words.begin());
        const std::size_t colon = std::ranges::find(words, ":") - words.begin();
        if (words.empty() || !is_identifier(words[0]) || (colon != 1 && colon != words.size()))
            return; // without a name, or not a definition
        const Words stored(words.begin() + std::min(colon + 1, words.size()), words.end());
        if (words.size() == 1)
            add_alias(aliases, words[0], {"int"});
        else if (colon == 1 && is_type_text(stored))
            add_alias(aliases, words[0], stored);
    });
    for_each_place(text, "define", [&](std::size_t at) {
        Words words = split_words(rest_until(text, at, 6, '\n'));
        if (words.size() >= 2 && is_type_text(words))
            add_alias(aliases, words[0], Words(words.begin() + 1, words.end()));
        else if (!words.empty()) // a macro that is not a type; types that use it are unknown
            add_alias(aliases, words[0], {"?"});
    });
    return aliases;
}

Declarator read_declarator(const Words &words, const Aliases &aliases, int depth = 0) {
    Declarator result;
    for (const std::string &word : words) {
        auto alias = aliases.find(word);
        if (word == "*" || word == "&") // a reference is passed as an address, too
            ++result.pointers;
        else if (is_qualifier(word))
            continue;
        else if (alias != aliases.end()) {
            if (!alias->second || depth == 8) {
                result.understood = false;
                continue;
            }
            Declarator meant = read_declarator(*alias->second, aliases, depth + 1);
            result.understood &= meant.understood;
            result.pointers += meant.pointers;
            result.base.insert(result.base.end(), meant.base.begin(), meant.base.end());
        } else if (word == "(" || word == "[" || word == "." || word == "?")
            result.understood = false;
        else
            result.base.push_back(word);
    }
    return result;
}

// ---- declarations -----------------------------------------------------------------------------

std::vector<std::string_view> split_at_commas(std::string_view list) {
    std::vector<std::string_view> pieces;
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t at = 0; at < list.size(); ++at) {
        if (std::string_view("(<[{").find(list[at]) != std::string_view::npos)
            ++depth;
        else if (std::string_view(")>]}").find(list[at]) != std::string_view::npos)
            --depth;
        else if (list[at] == ',' && depth == 0) {
            pieces.push_back(list.substr(begin, at - begin));
            begin = at + 1;
        }
    }
    pieces.push_back(list.substr(begin));
    return pieces;
}

/// "const float *" from its words.
std::string spell(const Words &words) {
    std::string text;
    for (const std::string &word : words) {
        const bool joins = word == "::" || word == "<" || word == ">" || word == "," ||
                           text.ends_with("::") || text.ends_with('<') ||
                           (word == "*" && text.ends_with('*'));
        text += text.empty() || joins ? word : " " + word;
    }
    return text;
}

/// Removes the parameter's name, and replaces `[]` by a pointer.
void drop_name(Words &words) {
    int arrays = 0;
    while (!words.empty() && words.back() == "]") {
        while (!words.empty() && words.back() != "[")
            words.pop_back();
        if (!words.empty())
            words.pop_back();
        ++arrays;
    }
    const bool may_be_name = words.size() > 1 && is_identifier(words.back()) &&
                             !is_qualifier(words.back()) && words[words.size() - 2] != "::";
    const bool follows_type =
        may_be_name && std::ranges::any_of(words.begin(), words.end() - 1, [](const auto &word) {
            return is_identifier(word) && !is_qualifier(word);
        });
    const bool is_type_word = !words.empty() && known_types().contains(words.back());
    if (follows_type && !is_type_word)
        words.pop_back();
    if (arrays > 0)
        words.push_back("*");
}

ParameterDescription describe(std::string_view text, const Aliases &aliases) {
    Words words = split_words(text);
    if (auto equals = std::ranges::find(words, "="); equals != words.end())
        words.erase(equals, words.end());
    drop_name(words);
    ParameterDescription parameter;
    parameter.type = spell(words);
    const Declarator declarator = read_declarator(words, aliases);
    if (!declarator.understood)
        return parameter;
    auto found = known_types().find(usual_spelling(declarator.base));
    const ValueType type = found == known_types().end() ? ValueType{} : found->second;
    if (declarator.pointers == 0) {
        parameter.kind = type.kind;
        parameter.size = type.size;
        parameter.alignment = type.alignment;
        return parameter;
    }
    parameter.kind = ValueKind::Pointer;
    parameter.size = parameter.alignment = 8;
    const ValueType element = declarator.pointers == 1 ? type : ValueType{ValueKind::Pointer, 8, 8};
    parameter.element_kind = element.kind;
    parameter.element_size = static_cast<std::uint16_t>(element.size);
    return parameter;
}

std::vector<ParameterDescription> describe_list(std::string_view list, const Aliases &aliases) {
    std::vector<ParameterDescription> parameters;
    Words words = split_words(list);
    if (words.empty() || (words.size() == 1 && words[0] == "void"))
        return parameters;
    for (std::string_view piece : split_at_commas(list))
        parameters.push_back(describe(piece, aliases));
    return parameters;
}

/// Whether the declaration that contains `at` begins with `template`.
bool is_in_template(std::string_view text, std::size_t at) {
    std::size_t begin = text.find_last_of(";{}", at);
    begin = begin == none ? 0 : begin;
    return has_word(text.substr(begin, at - begin), "template");
}

/// The type parameters of a template: "T" and "U" of `template <class T, typename U>`.
Aliases with_template_parameters(std::string_view text, std::size_t at, Aliases aliases) {
    std::size_t begin = text.rfind("template", at);
    Words words = split_words(text.substr(begin, at - begin));
    for (std::size_t i = 0; i + 1 < words.size(); ++i)
        if (words[i] == "class" || words[i] == "typename")
            aliases[words[i + 1]] = std::nullopt;
    return aliases;
}

/// Reads the kernel whose __global__ ends at `at`; empty if the declaration is not understood.
std::optional<DeclaredKernel> read_kernel(std::string_view text, std::size_t at,
                                          const Aliases &aliases) {
    std::string name;
    while (at < text.size()) {
        const char c = text[at];
        if (is_word(c)) {
            name = word_at(text, at);
            at += name.size();
        } else if (c == '(') {
            const std::size_t close = closing_bracket(text, at);
            if (close == none || name.empty() || !is_identifier(name))
                return std::nullopt;
            if (!name.starts_with("__")) {
                DeclaredKernel kernel{name, false, {}};
                kernel.parameters = describe_list(text.substr(at + 1, close - at - 1), aliases);
                return kernel;
            }
            at = close + 1; // __launch_bounds__(256)
        } else if (is_space(c) || c == '[' || c == ']' || c == ':')
            ++at;
        else
            return std::nullopt;
    }
    return std::nullopt;
}

/// Compares with another declaration of the same kernel with the same number of parameters.
/// Parameters that differ become unknown.
void merge(DeclaredKernel &first, const DeclaredKernel &second) {
    for (std::size_t i = 0; i < first.parameters.size(); ++i) {
        ParameterDescription &mine = first.parameters[i];
        const ParameterDescription &other = second.parameters[i];
        if (mine.kind != other.kind || mine.size != other.size)
            mine = {mine.type, 0, 0};
        else if (mine.element_kind != other.element_kind ||
                 mine.element_size != other.element_size) {
            mine.element_kind = ValueKind::Unknown;
            mine.element_size = 0;
        }
    }
}

/// The kernels read so far, and the names that two kernels with different numbers of parameters
/// share.
struct KernelList {
    void add(DeclaredKernel kernel) {
        auto known = std::ranges::find(kernels, kernel.name, &DeclaredKernel::name);
        if (known == kernels.end())
            kernels.push_back(std::move(kernel));
        else if (known->parameters.size() == kernel.parameters.size())
            merge(*known, kernel);
        else
            ambiguous.insert(kernel.name);
    }

    std::vector<DeclaredKernel> finish() {
        std::erase_if(kernels, [this](const auto &k) { return ambiguous.contains(k.name); });
        return std::move(kernels);
    }

    std::vector<DeclaredKernel> kernels;
    std::set<std::string> ambiguous;
};

/// "void lib::scale<float>(float*, int)" for "_ZN3lib5scaleIfEEvPT_i"; "" for other names.
std::string demangle(const std::string &linker_name) {
    if (!linker_name.starts_with("_Z"))
        return "";
    int status = 0;
    std::unique_ptr<char, void (*)(void *)> text(
        abi::__cxa_demangle(linker_name.c_str(), nullptr, nullptr, &status), std::free);
    return text ? text.get() : "";
}

/// The position of the '(' of a demangled function's parameter list: the one that matches the last
/// ')'.
std::size_t parameter_list_of(std::string_view demangled) {
    int depth = 0;
    for (std::size_t at = demangled.size(); at-- > 0;) {
        depth += demangled[at] == ')' ? 1 : demangled[at] == '(' ? -1 : 0;
        if (demangled[at] == '(' && depth == 0)
            return at;
    }
    return std::string_view::npos;
}

} // namespace

std::string readable_name(const std::string &linker_name) {
    const std::string demangled = demangle(linker_name);
    const std::size_t list = parameter_list_of(demangled);
    if (list == std::string::npos)
        return linker_name;
    const std::string name = demangled.substr(0, list);
    return name.starts_with("void ") ? name.substr(5)
                                     : name; // demangled templates begin with the return type
}

std::vector<ParameterDescription> read_linker_name(const std::string &linker_name) {
    const std::string demangled = demangle(linker_name);
    const std::size_t list = parameter_list_of(demangled);
    if (list == std::string::npos)
        return {};
    const std::size_t length = demangled.rfind(')') - list - 1;
    return describe_list(std::string_view(demangled).substr(list + 1, length), {});
}

std::vector<DeclaredKernel> read_declared_kernels(std::string_view source) {
    const std::string blanked = blank_comments_and_strings(source);
    const std::string_view text = blanked;
    const Aliases aliases = find_aliases(text);
    KernelList list;
    for_each_place(text, "__global__", [&](std::size_t at) {
        const bool is_template = is_in_template(text, at);
        std::optional<DeclaredKernel> kernel = read_kernel(
            text, at + 10, is_template ? with_template_parameters(text, at, aliases) : aliases);
        if (!kernel)
            return;
        kernel->is_template = is_template;
        list.add(std::move(*kernel));
    });
    return list.finish();
}

} // namespace pycuda
