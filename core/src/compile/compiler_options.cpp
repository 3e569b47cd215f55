// compiler_options.cpp -- translates nvcc's options to NVRTC's options.
#include "compiler_options.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "pycuda/compile_error.h"

namespace pycuda::compile_detail {
namespace {

/// How an option takes its value.
enum class Form {
    Flag,  // --restrict
    Value, // --std=c++17, --std c++17
    Joined // -Ifoo, -I foo, -I=foo; the long name as Value
};

/// What the translation does with an option.
enum class Use {
    Pass,   // passed to NVRTC under its long name
    Drop,   // concerns the host compiler, the linker or nvcc itself
    Nvcc,   // device code depends on it and NVRTC has no such option
    Refuse, // selects the output, which the request determines
    Include,
    PreInclude,
    Define,
    Undefine,
    Arch,
    Code,
    Gencode,
    Ptxas,
    ResourceUsage,
    RelaxedConstexpr,
    Frontend, // -Xcudafe
    Deprecated,
    Keep,
    PrecompiledHeaders,
};

struct Rule {
    std::string_view long_name;
    std::string_view short_name;
    Form form;
    Use use;
};

constexpr Rule rules[] = {
    {"include-path", "I", Form::Joined, Use::Include},
    {"system-include", "isystem", Form::Value, Use::Include},
    {"define-macro", "D", Form::Joined, Use::Define},
    {"undefine-macro", "U", Form::Joined, Use::Undefine},
    {"pre-include", "include", Form::Value, Use::PreInclude},
    {"gpu-architecture", "arch", Form::Value, Use::Arch},
    {"gpu-code", "code", Form::Value, Use::Code},
    {"generate-code", "gencode", Form::Value, Use::Gencode},
    {"ptxas-options", "Xptxas", Form::Value, Use::Ptxas},
    {"resource-usage", "res-usage", Form::Flag, Use::ResourceUsage},
    {"expt-relaxed-constexpr", "expt-relaxed-constexpr", Form::Flag, Use::RelaxedConstexpr},
    {"Xcudafe", "Xcudafe", Form::Value, Use::Frontend},
    {"Wno-deprecated-declarations", "Wno-deprecated-declarations", Form::Flag, Use::Deprecated},
    {"keep", "keep", Form::Flag, Use::Keep},
    {"save-temps", "save-temps", Form::Flag, Use::Keep},
    {"pch", "pch", Form::Flag, Use::PrecompiledHeaders},

    {"std", "std", Form::Value, Use::Pass},
    {"use_fast_math", "use_fast_math", Form::Flag, Use::Pass},
    {"ftz", "ftz", Form::Value, Use::Pass},
    {"prec-div", "prec-div", Form::Value, Use::Pass},
    {"prec-sqrt", "prec-sqrt", Form::Value, Use::Pass},
    {"fmad", "fmad", Form::Value, Use::Pass},
    {"maxrregcount", "maxrregcount", Form::Value, Use::Pass},
    {"device-debug", "G", Form::Flag, Use::Pass},
    {"generate-line-info", "lineinfo", Form::Flag, Use::Pass},
    {"dopt", "dopt", Form::Value, Use::Pass},
    {"Ofast-compile", "Ofc", Form::Value, Use::Pass},
    {"optimization-info", "opt-info", Form::Value, Use::Pass},
    {"disable-warnings", "w", Form::Flag, Use::Pass},
    {"warning-as-error", "Werror", Form::Value, Use::Pass},
    {"restrict", "restrict", Form::Flag, Use::Pass},
    {"extra-device-vectorization", "extra-device-vectorization", Form::Flag, Use::Pass},
    {"relocatable-device-code", "rdc", Form::Value, Use::Pass},
    {"device-c", "dc", Form::Flag, Use::Pass},
    {"device-w", "dw", Form::Flag, Use::Pass},
    {"extensible-whole-program", "ewp", Form::Flag, Use::Pass},
    {"dlink-time-opt", "dlto", Form::Flag, Use::Pass},
    {"gen-opt-lto", "gen-opt-lto", Form::Flag, Use::Pass},
    {"display-error-number", "err-no", Form::Flag, Use::Pass},
    {"no-display-error-number", "no-err-no", Form::Flag, Use::Pass},
    {"diag-error", "diag-error", Form::Value, Use::Pass},
    {"diag-suppress", "diag-suppress", Form::Value, Use::Pass},
    {"diag-warn", "diag-warn", Form::Value, Use::Pass},
    {"brief-diagnostics", "brief-diag", Form::Value, Use::Pass},
    {"jump-table-density", "jtd", Form::Value, Use::Pass},
    {"device-stack-protector", "device-stack-protector", Form::Value, Use::Pass},
    {"frandom-seed", "frandom-seed", Form::Value, Use::Pass},
    {"split-compile", "split-compile", Form::Value, Use::Pass},
    {"time", "time", Form::Value, Use::Pass},
    {"fdevice-time-trace", "fdevice-time-trace", Form::Value, Use::Pass},
    {"device-as-default-execution-space", "default-device", Form::Flag, Use::Pass},

    {"optimize", "O", Form::Joined, Use::Drop}, // for host code; ptxas has its own option
    {"debug", "g", Form::Flag, Use::Drop},
    {"profile", "pg", Form::Flag, Use::Drop},
    {"m64", "m64", Form::Flag, Use::Drop},
    {"machine", "m", Form::Value, Use::Drop},
    {"compiler-options", "Xcompiler", Form::Value, Use::Drop},
    {"linker-options", "Xlinker", Form::Value, Use::Drop},
    {"archive-options", "Xarchive", Form::Value, Use::Drop},
    {"nvlink-options", "Xnvlink", Form::Value, Use::Drop},
    {"compiler-bindir", "ccbin", Form::Value, Use::Drop},
    {"allow-unsupported-compiler", "allow-unsupported-compiler", Form::Flag, Use::Drop},
    {"archiver-binary", "arbin", Form::Value, Use::Drop},
    {"library", "l", Form::Joined, Use::Drop},
    {"library-path", "L", Form::Joined, Use::Drop},
    {"cudart", "cudart", Form::Value, Use::Drop},
    {"cudadevrt", "cudadevrt", Form::Value, Use::Drop},
    {"libdevice-directory", "ldir", Form::Value, Use::Drop},
    {"target-directory", "target-dir", Form::Value, Use::Drop},
    {"x", "x", Form::Value, Use::Drop},
    {"no-exceptions", "noeh", Form::Flag, Use::Drop},
    {"ftemplate-depth", "ftemplate-depth", Form::Value, Use::Drop},
    {"ftemplate-backtrace-limit", "ftemplate-backtrace-limit", Form::Value, Use::Drop},
    {"extended-lambda", "extended-lambda", Form::Flag, Use::Drop},
    {"expt-extended-lambda", "expt-extended-lambda", Form::Flag, Use::Drop},
    {"default-stream", "default-stream", Form::Value, Use::Drop},
    {"entries", "e", Form::Value, Use::Drop}, // the image then also contains the other kernels
    {"threads", "t", Form::Value, Use::Drop},
    {"jobserver", "jobserver", Form::Flag, Use::Drop},
    {"verbose", "v", Form::Flag, Use::Drop},
    {"keep-dir", "keep-dir", Form::Value, Use::Drop},
    {"objdir-as-tempdir", "objtemp", Form::Flag, Use::Drop},
    {"clean-targets", "clean", Form::Flag, Use::Drop},
    {"no-compress", "no-compress", Form::Flag, Use::Drop},
    {"compress-mode", "compress-mode", Form::Value, Use::Drop},
    {"forward-unknown-to-host-compiler", "forward-unknown-to-host-compiler", Form::Flag, Use::Drop},
    {"forward-unknown-to-host-linker", "forward-unknown-to-host-linker", Form::Flag, Use::Drop},
    {"forward-unknown-opts", "forward-unknown-opts", Form::Flag, Use::Drop},
    {"use-local-env", "use-local-env", Form::Flag, Use::Drop},
    {"Wno-deprecated-gpu-targets", "Wno-deprecated-gpu-targets", Form::Flag, Use::Drop},
    {"Wreorder", "Wreorder", Form::Flag, Use::Drop},
    {"Wdefault-stream-launch", "Wdefault-stream-launch", Form::Flag, Use::Drop},
    {"Wmissing-launch-bounds", "Wmissing-launch-bounds", Form::Flag, Use::Drop},
    {"Wext-lambda-captures-this", "Wext-lambda-captures-this", Form::Flag, Use::Drop},

    {"source-in-ptx", "src-in-ptx", Form::Flag, Use::Nvcc},
    {"keep-device-functions", "keep-device-functions", Form::Flag, Use::Nvcc},
    {"options-file", "optf", Form::Value, Use::Nvcc},
    {"sanitize", "sanitize", Form::Value, Use::Nvcc},
    {"compile-as-tools-patch", "astoolspatch", Form::Flag, Use::Nvcc},
    {"relocatable-ptx", "reloc-ptx", Form::Flag, Use::Nvcc},

    {"output-file", "o", Form::Value, Use::Refuse},
    {"output-directory", "odir", Form::Value, Use::Refuse},
    {"compile", "c", Form::Flag, Use::Refuse},
    {"cubin", "cubin", Form::Flag, Use::Refuse},
    {"ptx", "ptx", Form::Flag, Use::Refuse},
    {"fatbin", "fatbin", Form::Flag, Use::Refuse},
    {"cuda", "cuda", Form::Flag, Use::Refuse},
    {"optix-ir", "optix-ir", Form::Flag, Use::Refuse},
    {"ltoir", "ltoir", Form::Flag, Use::Refuse},
    {"preprocess", "E", Form::Flag, Use::Refuse},
    {"generate-dependencies", "M", Form::Flag, Use::Refuse},
    {"generate-nonsystem-dependencies", "MM", Form::Flag, Use::Refuse},
    {"generate-dependencies-with-compile", "MD", Form::Flag, Use::Refuse},
    {"dependency-output", "MF", Form::Value, Use::Refuse},
    {"device-link", "dlink", Form::Flag, Use::Refuse},
    {"link", "link", Form::Flag, Use::Refuse},
    {"lib", "lib", Form::Flag, Use::Refuse},
    {"shared", "shared", Form::Flag, Use::Refuse},
    {"run", "run", Form::Flag, Use::Refuse},
    {"dryrun", "dryrun", Form::Flag, Use::Refuse},
};

std::string_view trim(std::string_view text) {
    std::size_t begin = text.find_first_not_of(" \t\n");
    if (begin == std::string_view::npos)
        return {};
    return text.substr(begin, text.find_last_not_of(" \t\n") - begin + 1);
}

/// Calls `visit` for each part of `text` between separators.
template <class Visit>
void for_each_piece(std::string_view text, std::string_view separators, Visit visit) {
    while (!text.empty()) {
        std::size_t end = std::min(text.find_first_of(separators), text.size());
        if (end > 0)
            visit(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

/// An option that matches a rule, with its value if both are in one word.
struct Match {
    const Rule *rule = nullptr;
    std::optional<std::string> value;
};

/// Whether the word is the option of `rule`. nvcc requires two dashes before a long name and one
/// before a short name. This function accepts one or two dashes, except for joined values, which
/// follow one dash.
std::optional<Match> match_rule(const Rule &rule, std::string_view word) {
    const bool one_dash = !word.starts_with("--");
    std::string_view body = word.substr(one_dash ? 1 : 2);
    for (std::string_view name : {rule.long_name, rule.short_name}) {
        if (!body.starts_with(name))
            continue;
        std::string_view rest = body.substr(name.size());
        if (rest.empty())
            return Match{&rule, std::nullopt};
        if (rule.form != Form::Flag && (rest[0] == '=' || rest[0] == ' '))
            return Match{&rule, std::string(trim(rest.substr(1)))};
        if (rule.form == Form::Joined && name == rule.short_name && one_dash)
            return Match{&rule, std::string(rest)};
    }
    return std::nullopt;
}

Match find_rule(std::string_view word) {
    // Whole names first: the joined option -l would match -lineinfo.
    for (bool joined : {false, true})
        for (const Rule &rule : rules)
            if ((rule.form == Form::Joined) == joined)
                if (std::optional<Match> match = match_rule(rule, word))
                    return *match;
    return {};
}

class Translator {
  public:
    explicit Translator(const std::vector<std::string> &words) : words_(words) {}

    CompilerOptions run() {
        for (; at_ < words_.size(); ++at_)
            translate_word(std::string(trim(words_[at_])));
        choose_generated_code();
        return std::move(options_);
    }

  private:
    void translate_word(const std::string &word) {
        if (word.empty())
            return;
        Match match = word[0] == '-' && word != "-" ? find_rule(word) : Match{};
        if (!match.rule) {
            options_.nvrtc.push_back(word);
            return;
        }
        if (!match.value && match.rule->form != Form::Flag) {
            if (++at_ == words_.size())
                throw CompileError("compiler option '" + word + "' needs a value");
            match.value = trim(words_[at_]);
        }
        apply(*match.rule, word, match.value.value_or(""));
    }

    void apply(const Rule &rule, const std::string &word, const std::string &value) {
        switch (rule.use) {
        case Use::Pass:
            pass(rule, value);
            break;
        case Use::Drop:
            break;
        case Use::Nvcc:
            options_.only_nvcc.push_back(word);
            break;
        case Use::Refuse:
            throw CompileError(
                "compiler option '" + word +
                "' selects the output format; set the target (cubin, ptx or fatbin) instead");
        case Use::Include:
            options_.include_dirs.push_back(std::filesystem::absolute(value).lexically_normal());
            break;
        case Use::PreInclude:
            options_.pre_includes.push_back(value);
            pass(rule, value);
            break;
        case Use::Define:
            options_.nvrtc.push_back("-D" + value);
            break;
        case Use::Undefine:
            options_.nvrtc.push_back("-U" + value);
            break;
        case Use::Arch:
            options_.arch = value == "native" ? "" : value;
            options_.names_architecture = true;
            break;
        case Use::Code:
            options_.code = value;
            options_.names_architecture = true;
            break;
        case Use::Gencode:
            options_.names_architecture = true;
            generated_.push_back(value);
            break;
        case Use::Ptxas:
            add_ptxas_options(value);
            break;
        case Use::ResourceUsage:
            add_ptxas_options("-v");
            break;
        case Use::RelaxedConstexpr: // a superset of the option: functions without an
                                    // device
            options_.nvrtc.push_back("--device-as-default-execution-space");
            break;
        case Use::Frontend:
            add_frontend_option(value);
            break;
        case Use::Deprecated:
            options_.nvrtc.push_back("--diag-suppress=1444");
            break;
        case Use::Keep:
            options_.keep = true;
            break;
        case Use::PrecompiledHeaders:
            options_.wants_precompiled_headers = true;
            pass(rule, value);
            break;
        }
    }

    void pass(const Rule &rule, const std::string &value) {
        std::string option = "--" + std::string(rule.long_name);
        options_.nvrtc.push_back(rule.form == Form::Flag ? option : option + "=" + value);
    }

    void add_ptxas_options(const std::string &value) {
        for_each_piece(value, ", \t", [this](std::string_view piece) {
            options_.nvrtc.push_back("--ptxas-options=" + std::string(piece));
            options_.wants_ptxas_report |= piece == "-v" || piece == "--verbose" ||
                                           piece.starts_with("-warn-") ||
                                           piece.starts_with("--warn-");
        });
    }

    // nvcc and NVRTC spell options with dashes; the front end spells its options with underscores.
    void add_frontend_option(const std::string &value) {
        constexpr std::pair<std::string_view, std::string_view> spellings[] = {
            {"--diag_suppress=", "--diag-suppress="},
            {"--diag_error=", "--diag-error="},
            {"--diag_warning=", "--diag-warn="},
            {"--display_error_number", "--display-error-number"}};
        for_each_piece(value, " \t", [&](std::string_view piece) {
            for (auto [frontend, nvrtc] : spellings)
                if (piece.starts_with(frontend)) {
                    std::string_view rest = piece.substr(frontend.size());
                    options_.nvrtc.push_back(std::string(nvrtc) + std::string(rest));
                    return;
                }
            options_.only_nvcc.push_back("-Xcudafe " + std::string(piece));
        });
    }

    /// A single -gencode names the architecture. Several name the devices on which a program may
    /// run. The device is known here, so several are ignored.
    void choose_generated_code() {
        if (generated_.size() != 1)
            return;
        std::string_view specification = generated_.front(), key = "arch";
        for_each_piece(specification, ",", [&](std::string_view piece) {
            std::size_t equals = piece.find('=');
            if (equals != std::string_view::npos)
                key = piece.substr(0, equals);
            std::string_view value =
                equals == std::string_view::npos ? piece : piece.substr(equals + 1);
            for_each_piece(value, "[]\"'", [&](std::string_view name) {
                if (key == "arch")
                    options_.arch = name;
                else if (options_.code.empty() || name.starts_with("sm_"))
                    options_.code = name;
            });
        });
    }

    const std::vector<std::string> &words_;
    std::size_t at_ = 0;
    CompilerOptions options_;
    std::vector<std::string> generated_;
};

} // namespace

CompilerOptions translate_options(const std::vector<std::string> &options) {
    return Translator(options).run();
}

} // namespace pycuda::compile_detail
