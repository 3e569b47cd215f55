// nvcc_compiler.cpp -- compiles with nvcc in another process.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "compile/compilers/architecture.h"
#include "compile/compilers/compile_job.h"
#include "compile/compilers/subprocess.h"

namespace fs = std::filesystem;

namespace pycuda::compile_detail {
namespace {

/// The files after the colon of a make rule "target : file file \<newline> file".
std::vector<std::string> read_make_rule(const std::string &rule) {
    std::vector<std::string> files;
    std::string file;
    const std::size_t colon = rule.find(" :");
    for (std::size_t i = colon == std::string::npos ? rule.size() : colon + 2; i < rule.size();
         ++i) {
        const bool escaped = rule[i] == '\\' && i + 1 < rule.size();
        if (escaped && rule[i + 1] == ' ')
            file += rule[++i];
        else if (escaped || rule[i] == ' ' || rule[i] == '\n') {
            if (!file.empty())
                files.push_back(std::move(file));
            file.clear();
        } else
            file += rule[i];
    }
    if (!file.empty())
        files.push_back(file);
    return files;
}

/// 75, 80, ... from the lines "compute_75", "compute_80", ...
std::vector<int> read_architectures(const std::string &list) {
    std::vector<int> numbers;
    std::istringstream lines(list);
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with("compute_"))
            numbers.push_back(parse_architecture(line).number);
    std::ranges::sort(numbers);
    return numbers;
}

// nvcc 13 reports "Unsupported gpu architecture 'sm_130'", older versions "Value 'sm_130' is not
// defined for option 'gpu-architecture'".
bool names_an_unknown_architecture(const std::string &message) {
    return message.find("gpu architecture") != std::string::npos ||
           message.find("gpu-architecture") != std::string::npos;
}

class NvccCompilation {
  public:
    NvccCompilation(const CompileJob &job, const std::string &nvcc)
        : job_(job), nvcc_(nvcc), kind_(job.request.target),
          scan_(scan_includes(job, job.include_path)) {
        if (!job.request.name_expressions.empty())
            throw CompileError("name expressions need NVRTC, but nvcc was requested");
        file_name_ = stem_of(job.request.name) + ".cu";
        choose_architecture_options();
        if (job.keep)
            directory_.keep();
    }

    CompileOutcome run() {
        std::ofstream(in_directory(file_name_), std::ios::binary)
            << prepare_source(job_, job_.request.source, false, Precompile::No);
        ProcessResult process = start();
        if (process.status != 0 && is_for_the_device_alone_ &&
            names_an_unknown_architecture(process.standard_error)) {
            clamp_architecture();
            process = start();
        }
        std::optional<FileContent> image = read_file(in_directory(image_name()));
        if (process.status != 0 || !image)
            fail("nvcc compilation of " + in_directory(file_name_) + " failed", process);

        CompileOutcome outcome;
        outcome.result.image = std::move(image->text);
        outcome.result.kind = kind_;
        outcome.result.arch = architecture_;
        outcome.result.log = process.standard_output + process.standard_error;
        outcome.result.command_line = command_line_;
        outcome.result.kept_in = job_.keep ? directory_.path() : "";
        outcome.dependencies = dependencies();
        outcome.cacheable = outcome.dependencies.stamps_match();
        return outcome;
    }

  private:
    std::string in_directory(const std::string &name) const {
        return directory_.path() + "/" + name;
    }

    std::string image_name() const { return stem_of(job_.request.name) + "." + name_of(kind_); }

    ProcessResult start() {
        command_line_ = command_line();
        try {
            return run_process(command_line_, directory_.path());
        } catch (const std::system_error &error) {
            fail("nvcc could not be run: " + std::string(error.what()), {});
        }
    }

    /// Passes the requested -arch and -code on; nvcc checks the combination.
    void choose_architecture_options() {
        RequestedArchitecture requested = requested_architecture(job_);
        is_for_the_device_alone_ = requested.arch.empty() && requested.code.empty() &&
                                   requested.device && !job_.options.names_architecture;
        if (is_for_the_device_alone_)
            requested.arch =
                Architecture{requested.device->number(), "", Architecture::Kind::Real}.name();
        architecture_ = requested.code.empty() ? requested.arch : requested.code;
        const bool only_in_options = job_.options.names_architecture && job_.request.arch.empty() &&
                                     job_.request.code.empty();
        if (only_in_options)
            return; // already in the options
        if (!requested.arch.empty())
            architecture_options_.push_back("-arch=" + requested.arch);
        if (!requested.code.empty())
            architecture_options_.push_back("-code=" + requested.code);
    }

    /// If this nvcc does not support the device: PTX for the newest architecture that it supports.
    void clamp_architecture() {
        const ProcessResult list = run_process({nvcc_, "--list-gpu-arch"}, directory_.path());
        const std::vector<int> supported = read_architectures(list.standard_output);
        if (supported.empty())
            return; // the second run then fails for the same reason and reports it
        const Architecture chosen =
            choose_architecture(requested_architecture(job_), supported, "nvcc");
        architecture_ = chosen.name();
        architecture_options_ = {"-arch=" + architecture_};
        if (chosen.kind == Architecture::Kind::Virtual)
            kind_ = ImageKind::Ptx;
    }

    std::vector<std::string> command_line() const {
        std::vector<std::string> words = {nvcc_, std::string("--") + name_of(kind_)};
        words.insert(words.end(), job_.request.options.begin(), job_.request.options.end());
        words.insert(words.end(), architecture_options_.begin(), architecture_options_.end());
        if (job_.keep)
            words.push_back("--keep");
        // Relative folders in the options are relative to the caller's current folder. nvcc runs in
        // another folder.
        for (const IncludeDirectory &directory : job_.include_path)
            if (directory.owner == IncludeDirectory::Owner::User ||
                directory.owner == IncludeDirectory::Owner::Kernels)
                words.push_back("-I" + directory.path);
        if (!job_.source_directory.empty())
            words.push_back("-I" + job_.source_directory);
        words.insert(words.end(), {"-MD", "-MF", "dependencies", "-o", image_name(), file_name_});
        return words;
    }

    /// The files that nvcc read according to nvcc, and the files that our scan found. Only the scan
    /// knows the paths at which a header was searched but not found.
    DependencyList dependencies() {
        DependencyList list = std::move(scan_.dependencies);
        std::optional<FileContent> rule = read_file(in_directory("dependencies"));
        for (const std::string &path : read_make_rule(rule ? rule->text : "")) {
            if (path.starts_with(directory_.path()) || path == file_name_)
                continue;
            if (std::optional<FileContent> content = read_file(path))
                list.files.push_back({path, false, content->stamp, sha256(content->text)});
        }
        return list;
    }

    [[noreturn]] void fail(const std::string &message, const ProcessResult &process) const {
        CompileError error(message, command_line_, process.standard_output, process.standard_error);
        error.kept_in = job_.keep ? directory_.path() : "";
        throw error;
    }

    const CompileJob &job_;
    const std::string &nvcc_;
    ImageKind kind_;
    IncludeScan scan_;
    TemporaryDirectory directory_;
    std::string file_name_;
    std::vector<std::string> architecture_options_;
    std::string architecture_;
    bool is_for_the_device_alone_ = false;
    std::vector<std::string> command_line_;
};

} // namespace

CompileOutcome compile_with_nvcc(const CompileJob &job, const std::string &nvcc) {
    return NvccCompilation(job, nvcc).run();
}

} // namespace pycuda::compile_detail
