// options.cpp -- reads options by a table of their names.
#include "options.h"

#include "failure.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>

namespace softlink {
namespace {

using std::string_view;

enum class Value { None, Needed };

struct Row {
    string_view name;
    Value value;
    int since; ///< CUDA's major version
    void (*set)(Options &, string_view value);
};

Failure unsupported(string_view option, string_view value, string_view supported) {
    return Failure(NVJITLINK_ERROR_UNRECOGNIZED_OPTION,
                   "unsupported value of " + std::string(option) + ": " + std::string(value) +
                       ". Only " + std::string(supported) + " are supported.");
}

std::optional<unsigned> number_in(string_view text) {
    unsigned number = 0;
    const char *end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

void set_most_registers(Options &options, string_view value) {
    const std::optional<unsigned> number = number_in(value);
    if (!number)
        throw unsupported("-maxrregcount", value, "numbers");
    options.most_registers = *number;
}

/// The architectures of NVIDIA's nvJitLink 12.9 and 13.5.
constexpr std::array kArchitectures = {50, 52, 53, 60, 61,  62,  70,  72,  75,  80, 86,
                                       87, 88, 89, 90, 100, 101, 103, 110, 120, 121};

void set_architecture(Options &options, string_view value) {
    const std::string text = "-arch=" + std::string(value);
    options.is_virtual = value.starts_with("compute_");
    const bool is_prefixed = options.is_virtual || value.starts_with("sm_");
    value.remove_prefix(value.find('_') + 1);
    if (!is_prefixed || value.empty() || value.front() < '0' || value.front() > '9')
        throw Failure(NVJITLINK_ERROR_UNRECOGNIZED_OPTION,
                      "ERROR NVJITLINK_ERROR_UNRECOGNIZED_OPTION: missing option value (" + text +
                          ")");
    if (value.ends_with('a') || value.ends_with('f')) // code for one architecture, or a family
        value.remove_suffix(1);
    const std::optional<unsigned> number = number_in(value);
    if (!number ||
        std::ranges::find(kArchitectures, static_cast<int>(*number)) == kArchitectures.end())
        throw Failure(NVJITLINK_ERROR_UNRECOGNIZED_ARCH, "unrecognized architecture: " + text);
    options.architecture = static_cast<int>(*number);
}

void check_level(Options &, string_view value) {
    if (value != "0" && value != "3")
        throw unsupported("-O", value, "0 and 3");
}

void check_fast_compile(Options &, string_view value) {
    constexpr std::array<string_view, 4> kLevels = {"0", "min", "mid", "max"};
    if (std::ranges::find(kLevels, value) == kLevels.end())
        throw unsupported("--Ofast-compile (-Ofc)", value, "0, min, mid, and max");
}

/// The options of ptxas that have no effect here, in their long and short form.
constexpr string_view kPtxasOptions[] = {"O",
                                         "opt-level",
                                         "Ofast-compile",
                                         "Ofc",
                                         "allow-expensive-optimizations",
                                         "annotate",
                                         "astoolspatch",
                                         "compile-as-tools-patch",
                                         "compiler-annotations",
                                         "def-load-cache",
                                         "dlcm",
                                         "def-store-cache",
                                         "dscm",
                                         "device-debug",
                                         "g",
                                         "device-function-maxrregcount",
                                         "func-maxrregcount",
                                         "device-stack-protector",
                                         "disable-optimizer-constants",
                                         "disable-optimizer-consts",
                                         "disable-warnings",
                                         "w",
                                         "dont-merge-basicblocks",
                                         "no-bb-merge",
                                         "extensible-whole-program",
                                         "ewp",
                                         "fmad",
                                         "force-load-cache",
                                         "flcm",
                                         "force-store-cache",
                                         "fscm",
                                         "g-tensor-memory-access-check",
                                         "g-tmem-access-check",
                                         "gno-tensor-memory-access-check",
                                         "gno-tmem-access-check",
                                         "generate-line-info",
                                         "lineinfo",
                                         "legacy-bar-warp-wide-behavior",
                                         "make-errors-visible-at-exit",
                                         "maxntid",
                                         "minnctapersm",
                                         "optimize-float-atomics",
                                         "opt-fp-atomics",
                                         "override-directive-values",
                                         "position-independent-code",
                                         "pic",
                                         "preserve-relocs",
                                         "register-usage-level",
                                         "regUsageLevel",
                                         "return-at-end",
                                         "ret-end",
                                         "sanitize",
                                         "sp-bounds-check",
                                         "split-compile",
                                         "suppress-async-bulk-multicast-advisory-warning",
                                         "suppress-debug-info",
                                         "suppress-double-demote-warning",
                                         "suppress-sparse-mma-advisory-info",
                                         "suppress-stack-size-warning",
                                         "warn-on-double-precision-use",
                                         "warn-double-usage",
                                         "warn-on-local-memory-usage",
                                         "warn-lmem-usage",
                                         "warn-on-spills",
                                         "warn-spills",
                                         "warning-as-error",
                                         "Werror"};

/// One word of -Xptxas: -v, -O3, --opt-level=3. A word without a dash is the value of the word
/// before it.
void read_ptxas_word(Options &options, string_view word) {
    if (!word.starts_with('-'))
        return;
    word.remove_prefix(word.starts_with("--") ? 2 : 1);
    const std::size_t equals = word.find('=');
    const string_view name = word.substr(0, equals);
    const bool is_level = name.size() == 2 && name[0] == 'O' && name[1] >= '0' && name[1] <= '4';
    if (name == "v" || name == "verbose")
        options.verbose = true;
    else if (name == "maxrregcount" && equals != string_view::npos)
        set_most_registers(options, word.substr(equals + 1));
    else if (!is_level && std::ranges::find(kPtxasOptions, name) == std::end(kPtxasOptions) &&
             options.unknown_ptxas_option.empty())
        options.unknown_ptxas_option = name;
}

/// -Xptxas=-v,-O3 and -Xptxas="-v -O3" both have two words.
void read_ptxas_options(Options &options, string_view value) {
    while (!value.empty()) {
        const std::size_t end = std::min(value.find_first_of(", "), value.size());
        read_ptxas_word(options, value.substr(0, end));
        value.remove_prefix(std::min(end + 1, value.size()));
    }
}

void no_effect(Options &, string_view) {}

template <bool Options::*flag> void set_flag(Options &options, string_view) {
    options.*flag = true;
}

// Only LTO-IR is affected by the options after -Xptxas. -kernels-used and its like permit the
// removal of other symbols, and do not demand it.
constexpr Row kRows[] = {
    {"-arch", Value::Needed, 12, set_architecture},
    {"-maxrregcount", Value::Needed, 12, set_most_registers},
    {"-time", Value::None, 12, set_flag<&Options::time>},
    {"-verbose", Value::None, 12, set_flag<&Options::verbose>},
    {"-lto", Value::None, 12, set_flag<&Options::lto>},
    {"-ptx", Value::None, 12, set_flag<&Options::ptx>},
    {"-r", Value::None, 13, set_flag<&Options::relocatable>},
    {"-Ofc", Value::Needed, 12, check_fast_compile},
    {"-g", Value::None, 12, no_effect},
    {"-lineinfo", Value::None, 12, no_effect},
    {"-no-cache", Value::None, 12, no_effect},
    {"-Xptxas", Value::Needed, 12, read_ptxas_options},
    {"-ftz", Value::Needed, 12, no_effect},
    {"-prec-div", Value::Needed, 12, no_effect},
    {"-prec-sqrt", Value::Needed, 12, no_effect},
    {"-fma", Value::Needed, 12, no_effect},
    {"-kernels-used", Value::Needed, 12, no_effect},
    {"-variables-used", Value::Needed, 12, no_effect},
    {"-optimize-unused-variables", Value::None, 12, no_effect},
    {"-split-compile", Value::Needed, 12, no_effect},
    {"-split-compile-extended", Value::Needed, 12, no_effect},
    {"-jump-table-density", Value::Needed, 12, no_effect},
    {"-Xnvvm", Value::Needed, 12, no_effect},
    {"-nvvm-latest", Value::None, 13, no_effect},
    {"-device-stack-protector", Value::Needed, 13, no_effect},
};

void read_option(Options &options, string_view word, int major) {
    if (word.size() == 3 && word.starts_with("-O")) {
        check_level(options, word.substr(2));
        return;
    }
    const std::size_t equals = word.find('=');
    const string_view name = word.substr(0, equals);
    const auto row = std::ranges::find(kRows, name, &Row::name);
    const bool has_value = equals != string_view::npos;
    if (row == std::end(kRows) || row->since > major || has_value != (row->value == Value::Needed))
        throw Failure(NVJITLINK_ERROR_UNRECOGNIZED_OPTION,
                      "unrecognized option: " + std::string(word));
    const string_view value = has_value ? word.substr(equals + 1) : string_view();
    if (has_value && value.empty())
        throw Failure(NVJITLINK_ERROR_UNRECOGNIZED_OPTION,
                      "ERROR NVJITLINK_ERROR_UNRECOGNIZED_OPTION: missing option value (" +
                          std::string(word) + ")");
    row->set(options, value);
}

} // namespace

Options read_options(std::span<const char *const> words, int major) {
    Options options;
    for (const char *word : words) {
        require(word != nullptr, NVJITLINK_ERROR_NULL_INPUT);
        read_option(options, word, major);
        options.given.emplace_back(word);
    }
    require(options.architecture != 0, NVJITLINK_ERROR_MISSING_ARCH);
    if (options.ptx && !options.lto)
        throw Failure(NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS, "ERROR: -ptx requires -lto");
    if (options.is_virtual && !options.ptx)
        throw Failure(NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS, "ERROR: virtual arch requires -ptx");
    return options;
}

} // namespace softlink
