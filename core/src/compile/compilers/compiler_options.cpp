// compiler_options.cpp -- translates nvcc's options to NVRTC's options.
#include "compile/compilers/compiler_options.h"

#include <filesystem>
#include <utility>

#include "compile/source/source_text.h"
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

/// Options of one form and use: their long names, and the short names if these differ.
struct Group {
    Use use;
    Form form;
    std::string_view names;
};

constexpr Group groups[] = {
    {Use::Include, Form::Joined, "include-path/I"},
    {Use::Include, Form::Value, "system-include/isystem"},
    {Use::Define, Form::Joined, "define-macro/D"},
    {Use::Undefine, Form::Joined, "undefine-macro/U"},
    {Use::PreInclude, Form::Value, "pre-include/include"},
    {Use::Arch, Form::Value, "gpu-architecture/arch"},
    {Use::Code, Form::Value, "gpu-code/code"},
    {Use::Gencode, Form::Value, "generate-code/gencode"},
    {Use::Ptxas, Form::Value, "ptxas-options/Xptxas"},
    {Use::ResourceUsage, Form::Flag, "resource-usage/res-usage"},
    {Use::RelaxedConstexpr, Form::Flag, "expt-relaxed-constexpr"},
    {Use::Frontend, Form::Value, "Xcudafe"},
    {Use::Deprecated, Form::Flag, "Wno-deprecated-declarations"},
    {Use::Keep, Form::Flag, "keep save-temps"},
    {Use::PrecompiledHeaders, Form::Flag, "pch"},
    {Use::Pass, Form::Value,
     "std ftz prec-div prec-sqrt fmad maxrregcount dopt Ofast-compile/Ofc "
     "optimization-info/opt-info warning-as-error/Werror relocatable-device-code/rdc diag-error "
     "diag-suppress diag-warn brief-diagnostics/brief-diag jump-table-density/jtd "
     "device-stack-protector frandom-seed split-compile time fdevice-time-trace"},
    {Use::Pass, Form::Flag,
     "use_fast_math device-debug/G generate-line-info/lineinfo disable-warnings/w restrict "
     "extra-device-vectorization device-c/dc device-w/dw extensible-whole-program/ewp "
     "dlink-time-opt/dlto gen-opt-lto display-error-number/err-no "
     "no-display-error-number/no-err-no device-as-default-execution-space/default-device"},
    // -O is for host code: ptxas has its own option. With -e, the image also has the other kernels.
    {Use::Drop, Form::Joined, "optimize/O library/l library-path/L"},
    {Use::Drop, Form::Flag,
     "debug/g profile/pg m64 allow-unsupported-compiler no-exceptions/noeh extended-lambda "
     "expt-extended-lambda jobserver verbose/v objdir-as-tempdir/objtemp clean-targets/clean "
     "no-compress forward-unknown-to-host-compiler forward-unknown-to-host-linker "
     "forward-unknown-opts use-local-env Wno-deprecated-gpu-targets Wreorder "
     "Wdefault-stream-launch Wmissing-launch-bounds Wext-lambda-captures-this"},
    {Use::Drop, Form::Value,
     "machine/m compiler-options/Xcompiler linker-options/Xlinker archive-options/Xarchive "
     "nvlink-options/Xnvlink compiler-bindir/ccbin archiver-binary/arbin cudart cudadevrt "
     "libdevice-directory/ldir target-directory/target-dir x ftemplate-depth "
     "ftemplate-backtrace-limit default-stream entries/e threads/t keep-dir compress-mode"},
    {Use::Nvcc, Form::Flag,
     "source-in-ptx/src-in-ptx keep-device-functions compile-as-tools-patch/astoolspatch "
     "relocatable-ptx/reloc-ptx"},
    {Use::Nvcc, Form::Value, "options-file/optf sanitize"},
    {Use::Refuse, Form::Value, "output-file/o output-directory/odir dependency-output/MF"},
    {Use::Refuse, Form::Flag,
     "compile/c cubin ptx fatbin cuda optix-ir ltoir preprocess/E generate-dependencies/M "
     "generate-nonsystem-dependencies/MM generate-dependencies-with-compile/MD device-link/dlink "
     "link lib shared run dryrun"},
};

/// An option that matches a rule, with its value if both are in one word.
struct Match {
    Rule rule;
    std::optional<std::string> value = {};
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
            return Match{rule};
        if (rule.form != Form::Flag && (rest[0] == '=' || rest[0] == ' '))
            return Match{rule, std::string(trimmed(rest.substr(1)))};
        if (rule.form == Form::Joined && name == rule.short_name && one_dash)
            return Match{rule, std::string(rest)};
    }
    return std::nullopt;
}

std::optional<Match> find_rule(std::string_view word) {
    std::optional<Match> match;
    // Whole names first: the joined option -l would match -lineinfo.
    for (bool joined : {false, true})
        for (const Group &group : groups)
            if ((group.form == Form::Joined) == joined)
                for_each_piece(group.names, " ", [&](std::string_view names) {
                    const std::size_t slash = names.find('/');
                    const std::string_view own = names.substr(0, slash);
                    if (!match)
                        match = match_rule({own, slash == none ? own : names.substr(slash + 1),
                                            group.form, group.use},
                                           word);
                });
    return match;
}

class Translator {
  public:
    explicit Translator(const std::vector<std::string> &words) : words_(words) {}

    CompilerOptions run() {
        for (; at_ < words_.size(); ++at_)
            translate_word(std::string(trimmed(words_[at_])));
        choose_generated_code();
        return std::move(options_);
    }

  private:
    void translate_word(const std::string &word) {
        if (word.empty())
            return;
        std::optional<Match> match;
        if (word[0] == '-' && word != "-")
            match = find_rule(word);
        if (!match) {
            options_.nvrtc.push_back(word);
            return;
        }
        if (!match->value && match->rule.form != Form::Flag) {
            if (++at_ == words_.size())
                throw CompileError("compiler option '" + word + "' needs a value");
            match->value = trimmed(words_[at_]);
        }
        apply(match->rule, word, match->value.value_or(""));
    }

    void apply(const Rule &rule, const std::string &word, const std::string &value) {
        switch (rule.use) {
        case Use::Pass:
            return pass(rule, value);
        case Use::Drop:
            return;
        case Use::Nvcc:
            return options_.only_nvcc.push_back(word);
        case Use::Refuse:
            throw CompileError(
                "compiler option '" + word +
                "' selects the output format; set the target (cubin, ptx or fatbin) instead");
        case Use::Include:
            return options_.include_dirs.push_back(
                std::filesystem::absolute(value).lexically_normal());
        case Use::PreInclude:
            options_.pre_includes.push_back(value);
            return pass(rule, value);
        case Use::Define:
            return options_.nvrtc.push_back("-D" + value);
        case Use::Undefine:
            return options_.nvrtc.push_back("-U" + value);
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
            return generated_.push_back(value);
        case Use::Ptxas:
            return add_ptxas_options(value);
        case Use::ResourceUsage:
            return add_ptxas_options("-v");
        case Use::RelaxedConstexpr: // a superset of the option: functions without an
                                    // device
            return options_.nvrtc.push_back("--device-as-default-execution-space");
        case Use::Frontend:
            return add_frontend_option(value);
        case Use::Deprecated:
            return options_.nvrtc.push_back("--diag-suppress=1444");
        case Use::Keep:
            options_.keep = true;
            break;
        case Use::PrecompiledHeaders:
            options_.wants_precompiled_headers = true;
            return pass(rule, value);
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
