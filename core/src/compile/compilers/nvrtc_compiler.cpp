// nvrtc_compiler.cpp -- compiles with NVRTC, with workarounds for sources that only nvcc accepts.
//
// A source that nvcc accepts can fail in NVRTC for the following reasons. Each reason has a remedy,
// which is tried once if the log names the reason:
//
//   a CUDA header is not on this machine      unpack the headers that NVRTC contains
//   templates in the user's own headers       move all headers outside the extern "C" wrap
//   functions without __device__              compile them for the device
//   main() and other functions of the host    remove those that fail (host_functions.h)
//   names that nvcc declares by itself         declare them (nvcc_names.h)
//   a header of the host                      replace it by an empty header, or by CUDA's
//   `register`                                remove the word, as C++17 does
//   names with letters such as ö              write them in ASCII
//   extensions of GCC                         write them in standard C++ (gnu_extensions.h)
//   constants computed from constants         declare them constexpr (file_scope_constants.h)
//   own overloads of pow and its like         leave ours out (nvcc_names.h)
//   a header that asks for GCC, Linux or a    define their macros
//   processor
//
// Thrust, Eigen and Random123 have the remedies of host_library_headers.h from the start, other
// headers of the user's if they have functions without __device__ and miss names of std.
// If the source still fails for such a reason, NeedsNvcc is thrown.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "compile/compilers/architecture.h"
#include "compile/compilers/compile_job.h"
#include "compile/compilers/host_code_includes.h"
#include "compile/compilers/nvrtc_attempt.h"
#include "compile/compilers/nvrtc_kept_files.h"
#include "compile/compilers/nvrtc_library.h"
#include "compile/compilers/nvrtc_messages.h"
#include "compile/compilers/precompiled_headers.h"
#include "compile/compilers/subprocess.h"
#include "compile/source/file_scope_constants.h"
#include "compile/source/gnu_extensions.h"
#include "compile/source/host_functions.h"
#include "compile/source/host_library_headers.h"
#include "compile/source/nvcc_names.h"
#include "compile/source/source_text.h"
#include "compile/source/standard_headers.h"
#include "compile/source/texture_shim.h"

namespace fs = std::filesystem;

namespace pycuda::compile_detail {
namespace {

using Status = NvrtcOutcome::Status;

// "the command line options do not match", "PCH creation disabled because #line directive".
constexpr std::string_view messages_about_precompiled_headers = "629,630,20283";
// "incompatible redefinition of macro": INFINITY, of <cmath> and of CUDA's C++ library.
constexpr const char *messages_of_host_libraries = "--diag-suppress=47";

// What C++ has since C++20, and GCC before.
constexpr std::string_view auto_parameter = "error: \"auto\" is not allowed here";
constexpr std::string_view lambda_in_type = "a lambda is not allowed in an unevaluated expression";

/// Each attempt reads all headers. Sources that compile need fewer.
constexpr int most_attempts = 32;

const std::string prefix_of_taken_name = "./";

/// A folder that is removed when the process ends.
std::string folder_of_this_process() {
    static const auto *folder = new TemporaryDirectory;
    static const int registered = std::atexit([] { delete folder; });
    return registered == 0 ? folder->path() : "";
}

/// Adds a header before the source.
void include_before(NvrtcJob &nvrtc, const std::string &name, const char *text) {
    nvrtc.headers.emplace(name, text);
    nvrtc.options.push_back("--pre-include=" + name);
}

void add_once(std::vector<std::string> &options, const char *option) {
    if (std::ranges::find(options, option) == options.end())
        options.emplace_back(option);
}

class NvrtcCompilation {
  public:
    explicit NvrtcCompilation(const CompileJob &job)
        : job_(job), library_(NvrtcLibrary::open(find_nvrtc())),
          requested_(requested_architecture(job)),
          architecture_(
              choose_architecture(requested_, library_.architectures(), library_.name())) {
        bundled_folder_ = folder_for_bundled_headers();
        attempt_.with_bundled_headers = fs::exists(bundled_folder_ + "/.nvrtc_headers_version");
    }

    CompileOutcome run() {
        NvrtcOutcome outcome = compile_with_remedies();
        if (outcome.status == Status::Failed && scan_.has_header_for_gcc) {
            start_again();
            attempt_.headers_are_libraries = true;
            outcome = compile_with_remedies();
        }
        if (outcome.status != Status::Ok)
            fail(has_only_errors_of_kernels(outcome.log) ? outcome : first_);
        return finish(std::move(outcome));
    }

  private:
    NvrtcOutcome compile_with_remedies() {
        NvrtcOutcome outcome = first_ = compile();
        for (int attempt = 1; outcome.status == Status::Failed && attempt < most_attempts &&
                              apply_remedy(outcome.log);
             ++attempt) {
            outcome = compile();
            if (attempt_.keeps_meaning())
                first_ = outcome;
        }
        return outcome;
    }

    void start_again() {
        const bool with_bundled_headers = attempt_.with_bundled_headers;
        attempt_ = {};
        attempt_.with_bundled_headers = with_bundled_headers;
        host_code_ = {};
        host_variables_ = {};
        needs_host_library_ = false;
    }

    /// Whether the source has host code, and the log has errors of other code that nvcc has, too.
    bool has_only_errors_of_kernels(const std::string &log) const {
        const bool may_know_name = says(log, "\" is undefined") && host_header(log).empty();
        return !host_code_.definitions.empty() && !may_know_name && // nvcc's own includes
               !misses_one_of(scan_.removed, log) && !nvcc_may_accept(log) &&
               !says(log, "namespace \"std\"");
    }

    /// A header that is replaced although the log may miss its declarations; empty if there is
    /// none.
    std::string host_header(const std::string &log) const {
        for (const std::string &name : scan_.unresolved)
            if (is_library_header(name) && may_miss_library(log))
                return name;
        return attempt_.host_headers.empty() || !may_miss_declarations(log)
                   ? ""
                   : *attempt_.host_headers.begin();
    }

    std::string folder_for_bundled_headers() const {
        if (job_.header_store.empty())
            return {};
        std::string version = library_.name().substr(library_.name().rfind(' ') + 1);
        return job_.header_store + "/nvrtc-" + version + "-" +
               to_hex(sha256(job_.compiler_identity)).substr(0, 16);
    }

    std::vector<IncludeDirectory> include_path() const {
        std::vector<IncludeDirectory> path = job_.include_path;
        if (attempt_.with_bundled_headers)
            for (const char *below : {"", "/cccl"})
                path.push_back({bundled_folder_ + below, IncludeDirectory::Owner::Library});
        return path;
    }

    /// Machine code, or PTX with ptxas's report, requires a real architecture. NVRTC then returns
    /// the PTX too.
    Architecture compiled_architecture() const {
        Architecture compiled = architecture_;
        if (requested_.target == ImageKind::Ptx && job_.options.wants_ptxas_report)
            compiled.kind = Architecture::Kind::Real;
        return compiled;
    }

    NvrtcOutcome compile() {
        const std::vector<IncludeDirectory> path = include_path();
        scan_ =
            scan_includes(job_, path,
                          {attempt_.with_constants_folded, attempt_.with_gnu_extensions_replaced,
                           &host_code_, attempt_.with_host_library ? &host_variables_ : nullptr,
                           attempt_.headers_are_libraries});
        if (job_.request.builtins == Builtins::All)
            attempt_.implicit_names.merge(scan_.implicit_macros);
        for (const std::string &name : host_headers_of(job_.request.source))
            if (scan_.unresolved.contains(name)) // no folder of the user has one
                attempt_.host_headers.insert(name);
        if (!scan_.host_libraries.empty())
            attempt_.with_host_library = attempt_.for_device_by_default = true;

        NvrtcJob nvrtc{adapted_source(),
                       name_for_nvrtc(),
                       {"--gpu-architecture=" + compiled_architecture().name()},
                       {},
                       job_.request.name_expressions};
        nvrtc.options.insert(nvrtc.options.end(), job_.options.nvrtc.begin(),
                             job_.options.nvrtc.end());
        if (job_.request.target == ImageKind::LtoIr)
            add_once(nvrtc.options, "--dlink-time-opt");
        if (job_.request.builtins == Builtins::Minimal && library_.has_minimal_builtins())
            nvrtc.options.push_back("--minimal");
        add_line_information(nvrtc.options);
        if (attempt_.for_device_by_default)
            nvrtc.options.push_back("--device-as-default-execution-space");
        for (const IncludeDirectory &directory : path)
            nvrtc.options.push_back("-I" + directory.path);
        for (const std::string &name : scan_.unresolved)
            if (const char *text = standard_header(name))
                nvrtc.headers.emplace(name, text);
        for (const std::string &name : attempt_.stand_ins)
            nvrtc.headers.emplace(name, standard_header(name));
        for (const std::string &name : attempt_.host_headers) {
            const char *text = attempt_.with_headers_of_cuda ? header_of_cuda(name) : nullptr;
            const bool is_empty = !text || attempt_.missing_headers_of_cuda.contains(name);
            nvrtc.headers.insert_or_assign(name, is_empty ? "" : text);
        }
        if (attempt_.without_register)
            nvrtc.options.push_back("--define-macro=register=");
        if (attempt_.with_int128)
            add_once(nvrtc.options, "--device-int128");
        add_adapted_headers(nvrtc);
        if (attempt_.with_cpp20)
            add_once(nvrtc.options, "--std=c++20");
        add_host_library(nvrtc);
        add_nvcc_names(nvrtc);
        add_gnu_extensions(nvrtc);
        add_implicit_names(nvrtc);
        add_precompiled_header_folder(nvrtc.options);

        command_line_ = {"nvrtc"};
        command_line_.insert(command_line_.end(), nvrtc.options.begin(), nvrtc.options.end());
        command_line_.push_back(job_.request.name);
        NvrtcOutcome outcome = library_.compile(nvrtc);
        restore_names(outcome.log);
        if (nvrtc.name != job_.request.name)
            replace_all(outcome.log, nvrtc.name, job_.request.name);
        if (job_.keep)
            kept_in_ =
                keep_files({kept_in_, stem_of(job_.request.name), command_line_, nvrtc, outcome});
        return outcome;
    }

    /// NVRTC takes `#include "kernel.cu"` for the source itself if that has this name.
    std::string name_for_nvrtc() const {
        const bool is_taken = scan_.included.contains(job_.request.name);
        return is_taken ? prefix_of_taken_name + job_.request.name : job_.request.name;
    }

    std::string adapted_source() {
        std::string source = job_.request.source;
        if (!host_code_.errors.empty())
            source = remove_host_code(source, job_.request.name, host_code_, scan_.removed);
        if (attempt_.with_names_in_ascii)
            source = with_names_in_ascii(source).value_or(source);
        if (attempt_.with_gnu_extensions_replaced)
            source = replace_gnu_extensions(source).value_or(source);
        if (attempt_.with_constants_folded) {
            folded_ = fold_constants(source, attempt_.host_variables);
            source = folded_.text;
        }
        return prepare_source(job_, source, attempt_.headers_outside_wrap,
                              precompiles() ? Precompile::Yes : Precompile::No);
    }

    /// PTX of a user's source gets line information: softcuda reports the line at which a kernel
    /// fails.
    void add_line_information(std::vector<std::string> &options) const {
        const bool is_own = job_.request.builtins == Builtins::Minimal;
        const bool has_more = std::ranges::find(options, "--device-debug") != options.end();
        if (requested_.target == ImageKind::Ptx && !is_own && !has_more)
            add_once(options, "--generate-line-info");
    }

    /// Passes the changed texts of headers, which replace the files.
    void add_adapted_headers(NvrtcJob &nvrtc) const {
        const std::string before_all = std::string("--pre-include=") + texture_reference_header;
        for (const AdaptedHeader &header : scan_.adapted) {
            nvrtc.headers.emplace(header.name, header.text.c_str());
            nvrtc.options.push_back("-I" + header.folder);
            if (header.has_textures)
                add_once(nvrtc.options, before_all.c_str());
        }
    }

    /// Adds the headers that the libraries need, those of the host among them.
    void add_host_library(NvrtcJob &nvrtc) {
        if (!attempt_.with_host_library)
            return;
        const auto is_users = [&](const std::string &name) {
            return std::ranges::any_of(job_.include_path, [&](const IncludeDirectory &directory) {
                return directory.owner == IncludeDirectory::Owner::User &&
                       stamp_file(directory.path + "/" + name);
            });
        };
        for (const std::string &name : names_of_host_headers())
            if (!is_users(name)) {
                const char *text = standard_header(name);
                nvrtc.headers.emplace(name, text ? text : "");
            }
        include_before(nvrtc, host_library_header, text_of_host_library_header());
        nvrtc.options.push_back(messages_of_host_libraries);
        if (scan_.host_libraries.contains("Random123")) { // reads the headers that it has for GCC
            scan_.nvcc_names.emplace(gcc_macro);
            add_processor_macros(scan_.nvcc_names);
        }
        if (!scan_.host_libraries.contains("Thrust"))
            return;
        nvrtc.headers.emplace(thrust_bad_alloc_header, text_of_thrust_bad_alloc_header());
        include_before(nvrtc, thrust_header, text_of_thrust_header());
    }

    /// Adds a header before the source, with what nvcc has for words of the source.
    void add_nvcc_names(NvrtcJob &nvrtc) {
        if (!attempt_.with_nvcc_names || job_.request.builtins == Builtins::Minimal)
            return;
        if (attempt_.with_gcc_macros)
            scan_.nvcc_names.insert({gcc_macro, "__linux__"});
        if (attempt_.with_processor_macros)
            add_processor_macros(scan_.nvcc_names);
        if (attempt_.without_gcc_macros)
            scan_.nvcc_names.erase(gcc_macro);
        nvcc_names_ = declare_nvcc_names(scan_.nvcc_names);
        if (!nvcc_names_.empty())
            include_before(nvrtc, "pycuda-nvcc-names.h", nvcc_names_.c_str());
    }

    void add_gnu_extensions(NvrtcJob &nvrtc) const {
        if (attempt_.with_gnu_extensions_replaced)
            include_before(nvrtc, gnu_extension_header, text_of_gnu_extension_header());
    }

    /// Adds a header before the source. It declares the names that the last attempt missed.
    void add_implicit_names(NvrtcJob &nvrtc) {
        if (attempt_.implicit_names.empty())
            return;
        declared_ = declare_implicit_names(attempt_.implicit_names);
        include_before(nvrtc, "pycuda-implicit-names.h", declared_.text.c_str());
        for (const std::string &header : declared_.headers)
            if (!scan_.unresolved.contains(header))
                nvrtc.headers.emplace(header, standard_header(header));
    }

    /// Whether the user requests precompiled headers, or the source's headers are large.
    bool precompiles() const {
        return job_.options.wants_precompiled_headers ||
               (library_.has_precompiled_headers() && !job_.cache.empty() &&
                job_.request.builtins == Builtins::All && has_large_headers(scan_));
    }

    void add_precompiled_header_folder(std::vector<std::string> &options) const {
        if (!precompiles())
            return;
        library_.allow_large_precompiled_headers();
        if (!job_.options.wants_precompiled_headers) {
            std::string headers;
            for (const std::string &option : options)
                headers += option + '\n';
            for (const Dependency &file : scan_.dependencies.files)
                headers += file.path + '\n';
            const std::string folder = folder_for_precompiled_headers(job_.cache, headers);
            if (folder.empty())
                return;
            options.insert(options.end(),
                           {"--pch", "--pch-dir=" + folder, "--pch-messages=false",
                            "--diag-suppress=" + std::string(messages_about_precompiled_headers)});
            return;
        }
        for (const std::string &option : options)
            if (option.find("-pch-dir") != std::string::npos)
                return;
        options.push_back("--pch-dir=" + folder_of_this_process());
    }

    /// Changes `attempt_` so that the next attempt may succeed; false if no remedy is left.
    bool apply_remedy(const std::string &log) {
        needs_host_library_ |= is_about_host_library(log, job_.include_path);
        const std::string header = missing_header(log);
        if (standard_header(header) && !scan_.unresolved.contains(header) &&
            attempt_.stand_ins.insert(header).second)
            return true;
        if (is_host_header(header) && add_host_headers(header))
            return true;
        if (!header.empty() && !attempt_.with_bundled_headers && install_bundled_headers())
            return attempt_.with_bundled_headers = true;
        if (header.starts_with("cuda/std/")) { // this libcu++ has no such header
            const std::string name = header.substr(9);
            if (attempt_.with_headers_of_cuda && header_of_cuda(name) &&
                attempt_.missing_headers_of_cuda.insert(name).second)
                return true;
            if (standard_header(name) && attempt_.host_headers.insert(name).second)
                return true;
        }
        if (says(log, "\"register\" storage class specifier is not allowed") &&
            !attempt_.without_register)
            return attempt_.without_register = true;
        if (says(log, "\"--device-int128\" flag") && !attempt_.with_int128)
            return attempt_.with_int128 = true;
        if (attempt_.with_host_library && host_variables_.add(log))
            return true;
        if (add_names(missing_implicit_names(log)))
            return true;
        if (attempt_.with_nvcc_names && conflicts_with_nvcc_names(log)) {
            attempt_.with_nvcc_names = false;
            return true;
        }
        if (says(log, "#error directive") && !attempt_.without_gcc_macros) {
            if (!scan_.nvcc_names.contains(gcc_macro))
                return attempt_.with_gcc_macros = true;
            if (!attempt_.with_processor_macros)
                return attempt_.with_processor_macros = true;
        }
        if (says(log, "GCC system_header") && scan_.nvcc_names.contains(gcc_macro))
            return attempt_.without_gcc_macros = true;
        if (says(log, "error: unrecognized token") && !attempt_.with_names_in_ascii &&
            with_names_in_ascii(job_.request.source))
            return attempt_.with_names_in_ascii = true;
        const bool may_be_extension = may_be_gnu_extension(log) || says(log, lambda_in_type) ||
                                      says(log, auto_parameter) ||
                                      says(job_.request.source, "__VA_OPT__");
        if (may_be_extension && replace_extensions(log))
            return true;
        if (needs_constants(log) && !attempt_.with_constants_folded)
            return attempt_.with_constants_folded = true;
        if (attempt_.with_constants_folded && add_host_variables(log))
            return true;
        if (says(log, "may not have extern \"C\" linkage") && !attempt_.headers_outside_wrap &&
            says(job_.request.source, "include"))
            return attempt_.headers_outside_wrap = true;
        if (is_host_code(log) && job_.has_nvcc && is_in_cuda_header(log, job_.include_path))
            return false; // NVRTC would read the headers for seconds more, and fail
        if (is_host_code(log) && !attempt_.for_device_by_default) {
            host_code_.add_definitions(log);
            host_code_.macros = scan_.macros;
            if (needs_host_library_)
                attempt_.with_host_library = attempt_.with_headers_of_cuda = true;
            else
                host_code_.add_unknown_names(log);
            return attempt_.for_device_by_default = true;
        }
        if (attempt_.for_device_by_default &&
            (host_code_.add_errors(log) ||
             (scan_.removed.has_class && host_code_.add_errors_of_classes(log))))
            return true;
        return may_miss_declarations(log) && !attempt_.with_headers_of_cuda &&
               std::ranges::any_of(attempt_.host_headers, header_of_cuda) &&
               (attempt_.with_headers_of_cuda = true);
    }

    /// Adds the others that the source includes, too: each would be an attempt more.
    bool add_host_headers(const std::string &missing) {
        const std::size_t before = attempt_.host_headers.size();
        attempt_.host_headers.insert(missing);
        for (const std::string &name : scan_.unresolved_of_user)
            if (is_host_header(name))
                attempt_.host_headers.insert(name);
        return attempt_.host_headers.size() > before;
    }

    /// False if the source has nothing left to replace.
    bool replace_extensions(const std::string &log) {
        const auto names_standard = [](const std::string &option) {
            return option.find("-std") != std::string::npos;
        };
        const bool needs_cpp20 = has_designators(job_.request.source) ||
                                 says(job_.request.source, "__VA_OPT__") ||
                                 says(log, lambda_in_type) || says(log, auto_parameter);
        if (!attempt_.with_cpp20 && needs_cpp20 &&
            std::ranges::none_of(job_.options.nvrtc, names_standard))
            return attempt_.with_cpp20 = true;
        if (attempt_.with_gnu_extensions_replaced)
            return false;
        return attempt_.with_gnu_extensions_replaced = true;
    }

    /// False if the log names no constant that is still declared.
    bool add_host_variables(const std::string &log) {
        const std::size_t before = attempt_.host_variables.size();
        attempt_.host_variables.merge(find_host_variables(folded_, log, job_.request.name));
        return attempt_.host_variables.size() > before;
    }

    /// False if no name is new: then the declarations do not help.
    bool add_names(const std::set<std::string> &names) {
        const std::size_t before = attempt_.implicit_names.size();
        attempt_.implicit_names.insert(names.begin(), names.end());
        return attempt_.implicit_names.size() > before;
    }

    /// Unpacks to the cache's folder, so that the next process has the headers. If that folder
    /// cannot be written, unpacks to a folder for this process.
    bool install_bundled_headers() {
        std::error_code failed; // if this fails, the next call fails too
        if (!bundled_folder_.empty() && fs::create_directories(bundled_folder_, failed)) {
            if (library_.install_headers(bundled_folder_))
                return true;
            fs::remove(bundled_folder_, failed);
        }
        bundled_folder_ = folder_of_this_process();
        return library_.install_headers(bundled_folder_);
    }

    [[noreturn]] void fail(const NvrtcOutcome &outcome) const {
        std::string message = "nvrtc compilation of " + job_.request.name + " failed";
        if (outcome.status == Status::BadOption) {
            std::string reason = outcome.log.substr(0, outcome.log.find('\n'));
            if (std::size_t colon = reason.find("error: "); colon != std::string::npos)
                reason = reason.substr(colon + 7);
            throw_error<NeedsNvcc>(message + ": " + library_.name() + " says: " + reason, outcome);
        }
        if (!scan_.host_libraries.empty() && job_.has_nvcc)
            throw_error<NeedsNvcc>(message +
                                       ": NVRTC cannot compile a part of the source, which "
                                       "uses " +
                                       std::string(*scan_.host_libraries.begin()),
                                   outcome);
        const std::string hint = hint_for_mistake(job_.request.source, outcome.log);
        if (std::string type = unknown_parameter_type(outcome.log);
            !type.empty() && host_header(outcome.log).empty())
            throw_error<UnknownType>(message + ": '" + type +
                                         "', the type of a kernel's parameter, is not declared" +
                                         (hint.empty() ? "" : "; " + hint),
                                     outcome);
        if (!hint.empty() && host_header(outcome.log).empty())
            throw_error<CompileError>(message + ": " + hint, outcome);
        const std::string for_nvcc =
            ", which only nvcc can compile" + hint_for_host_name(outcome.log);
        if (is_host_code(outcome.log))
            throw_error<NeedsNvcc>(message + ": the source contains host code" + for_nvcc, outcome);
        if (std::string header = missing_header(outcome.log); !header.empty())
            throw_error<NeedsNvcc>(
                message + ": header '" + header + "' was not found" + advice_for(header), outcome);
        if (std::string header = host_header(outcome.log); !header.empty())
            throw_error<NeedsNvcc>(message + ": " + first_message(outcome.log) + "; <" + header +
                                       "> is a header for host code" + for_nvcc,
                                   outcome);
        if (std::string reason = header_for_nvcc(outcome.log); !reason.empty())
            throw_error<NeedsNvcc>(message + ": " + reason, outcome);
        if (std::string likely = hint_for_refused_text(job_.request.source, outcome.log);
            !likely.empty())
            message += ": " + likely;
        throw_error<RefusedText>(message, outcome);
    }

    template <class ErrorType>
    [[noreturn]] void throw_error(const std::string &message, const NvrtcOutcome &outcome) const {
        ErrorType error(message, command_line_, "", outcome.log);
        error.kept_in = kept_in_;
        throw error;
    }

    CompileOutcome finish(NvrtcOutcome outcome) {
        CompileOutcome compiled;
        CompileResult &result = compiled.result;
        if (!outcome.lto_ir.empty() && outcome.cubin.empty()) {
            result.kind = ImageKind::LtoIr;
            result.image = std::move(outcome.lto_ir);
        } else if (architecture_.kind == Architecture::Kind::Virtual) {
            result.kind = ImageKind::Ptx;
            result.image = std::move(outcome.ptx);
        } else {
            result.kind = ImageKind::Cubin;
            result.image = std::move(outcome.cubin);
            compiled.ptx = std::move(outcome.ptx);
            compiled.cuda = library_.major_version();
        }
        result.arch = architecture_.name();
        result.log = std::move(outcome.log);
        result.command_line = std::move(command_line_);
        result.lowered_names = std::move(outcome.lowered_names);
        result.kept_in = kept_in_;
        compiled.dependencies = std::move(scan_.dependencies);
        compiled.cacheable = !scan_.incomplete && compiled.dependencies.stamps_match();
        return compiled;
    }

    const CompileJob &job_;
    const NvrtcLibrary &library_;
    RequestedArchitecture requested_;
    Architecture architecture_;
    std::string bundled_folder_;
    Attempt attempt_;
    NvrtcOutcome first_; // the failure of the source as written, without remedies
    IncludeScan scan_;
    ImplicitDeclarations declared_; // of the current attempt
    std::string nvcc_names_;        // of the current attempt
    FoldedConstants folded_;        // of the current attempt
    HostCode host_code_;            // that failed in an attempt for the device
    HostVariables host_variables_;  // in headers of a host's library
    bool needs_host_library_ = false;
    std::vector<std::string> command_line_;
    std::string kept_in_;
};

} // namespace

CompileOutcome compile_with_nvrtc(const CompileJob &job) { return NvrtcCompilation(job).run(); }

} // namespace pycuda::compile_detail
