// nvcc_compiler.cpp -- compiling with nvcc in a process of its own.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "architecture.h"
#include "compile_job.h"
#include "subprocess.h"

namespace fs = std::filesystem;

namespace pycuda::compile_detail {
namespace {

const char *ending_of(ImageKind kind) {
    switch (kind) {
    case ImageKind::Ptx:
        return "ptx";
    case ImageKind::Cubin:
        return "cubin";
    case ImageKind::Fatbin:
        return "fatbin";
    case ImageKind::LtoIr:
        return "ltoir";
    }
    return "";
}

/// The files that a make rule "target : file file \<newline> file" names after its colon.
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

class NvccCompilation {
  public:
    NvccCompilation(const CompileJob &job, const std::string &nvcc)
        : job_(job), nvcc_(nvcc),
          scan_(scan_includes(job.request.source, job.working_directory, job.include_path)) {
        if (!job.request.name_expressions.empty())
            throw CompileError("name expressions need NVRTC; nvcc was asked for");
        file_name_ = stem_of(job.request.name) + ".cu";
        image_name_ = stem_of(job.request.name) + "." + ending_of(job.request.target);
        choose_architecture_options();
        if (job.keep)
            directory_.keep();
    }

    CompileOutcome run() {
        std::ofstream(in_directory(file_name_), std::ios::binary) << prepare_source(job_, false);
        const std::vector<std::string> command = command_line();
        ProcessResult process;
        try {
            process = run_process(command, directory_.path());
        } catch (const std::system_error &error) {
            fail("nvcc could not be run: " + std::string(error.what()), command, {});
        }
        std::optional<FileContent> image = read_file(in_directory(image_name_));
        if (process.status != 0 || !image)
            fail("nvcc compilation of " + in_directory(file_name_) + " failed", command, process);

        CompileOutcome outcome;
        outcome.result.image = std::move(image->text);
        outcome.result.kind = job_.request.target;
        outcome.result.arch = architecture_;
        outcome.result.log = process.standard_output + process.standard_error;
        outcome.result.command_line = command;
        outcome.result.kept_in = job_.keep ? directory_.path() : "";
        outcome.dependencies = dependencies();
        outcome.cacheable = outcome.dependencies.stamps_match();
        return outcome;
    }

  private:
    std::string in_directory(const std::string &name) const {
        return directory_.path() + "/" + name;
    }

    /// -arch and -code as they were wished for; nvcc itself knows what goes together.
    void choose_architecture_options() {
        ArchitectureWish wish = wished_architecture(job_);
        if (wish.arch.empty() && wish.code.empty() && wish.device)
            wish.arch = Architecture{wish.device->number(), "", Architecture::Kind::Real}.name();
        if (!wish.arch.empty())
            architecture_options_.push_back("-arch=" + wish.arch);
        if (!wish.code.empty())
            architecture_options_.push_back("-code=" + wish.code);
        architecture_ = wish.code.empty() ? wish.arch : wish.code;
    }

    std::vector<std::string> command_line() const {
        std::vector<std::string> words = {nvcc_,
                                          std::string("--") + ending_of(job_.request.target)};
        words.insert(words.end(), job_.request.options.begin(), job_.request.options.end());
        const bool options_choose = !job_.options.arch.empty() || !job_.options.code.empty();
        if (!options_choose || !job_.request.arch.empty() || !job_.request.code.empty())
            words.insert(words.end(), architecture_options_.begin(), architecture_options_.end());
        if (job_.keep)
            words.push_back("--keep");
        // Relative folders in the options mean the caller's, and nvcc runs in another.
        for (const IncludeDirectory &directory : job_.include_path)
            if (directory.owner == IncludeDirectory::Owner::User ||
                directory.owner == IncludeDirectory::Owner::Kernels)
                words.push_back("-I" + directory.path);
        if (!job_.working_directory.empty())
            words.push_back("-I" + job_.working_directory);
        words.insert(words.end(), {"-MD", "-MF", "dependencies", "-o", image_name_, file_name_});
        return words;
    }

    /// What nvcc says it read, beside what our own scan found; that knows also where a header
    /// was looked for in vain.
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

    [[noreturn]] void fail(const std::string &message, const std::vector<std::string> &command,
                           const ProcessResult &process) const {
        CompileError error(message, command, process.standard_output, process.standard_error);
        error.kept_in = job_.keep ? directory_.path() : "";
        throw error;
    }

    const CompileJob &job_;
    const std::string &nvcc_;
    IncludeScan scan_;
    TemporaryDirectory directory_;
    std::string file_name_;
    std::string image_name_;
    std::vector<std::string> architecture_options_;
    std::string architecture_;
};

} // namespace

CompileOutcome compile_with_nvcc(const CompileJob &job, const std::string &nvcc) {
    return NvccCompilation(job, nvcc).run();
}

} // namespace pycuda::compile_detail
