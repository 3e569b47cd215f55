// host_code_includes.cpp -- the includes of sources that only nvcc compiles.
#include "compile/compilers/host_code_includes.h"

#include "compile/source/source_text.h"
#include "compile/source/standard_headers.h"
#include "driver/never_destroyed.h"

#include <pycuda/caller_lock.h>

#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>

namespace pycuda::compile_detail {
namespace {

struct Known {
    CallerMutex mutex;
    std::set<std::string> keys;
};

Known &known() { return never_destroyed<Known>(); }

/// The includes of the source, the folders and the options; empty if the source has no includes.
std::string key_of(const CompileJob &job) {
    const std::string &source = job.request.source;
    std::string key; // with the version of the verdicts: later versions compile more by NVRTC
    for (const IncludeDirective &include :
         find_includes(source, blank_comments_and_strings(source)))
        if (!include.only_asks)
            key += source.substr(include.line_begin, include.line_end - include.line_begin) + '\n';
    if (key.empty())
        return key;
    for (const IncludeDirectory &directory : job.include_path)
        key += directory.path + '\n';
    for (const std::string &option : job.options.nvrtc)
        key += option + '\n';
    return key + "6\n" + job.source_directory + '\n' + job.compiler_identity;
}

/// The file that says that a source with these includes has host code; empty if there is no store.
std::string file_of_verdict(const CompileJob &job, const std::string &key) {
    return job.verdict_store.empty() ? "" : job.verdict_store + "/" + to_hex(sha256(key));
}

/// The file of the first error in NVRTC's log: `file(line): error: ...`.
std::string_view file_of_error(std::string_view log) {
    const std::size_t error = log.find("): error");
    if (error == std::string_view::npos)
        return {};
    const std::size_t line_begin = log.rfind('\n', error) + 1; // 0 if there is no earlier line
    const std::string_view line = log.substr(line_begin, error - line_begin);
    return line.substr(0, line.rfind('('));
}

/// How many #if the text begins, without those that it ends.
int conditions_begun(std::string_view blanked) {
    int begun = 0;
    while (!blanked.empty()) {
        std::string_view line = trimmed(take_line(blanked));
        if (!line.starts_with('#'))
            continue;
        line.remove_prefix(std::min(line.find_first_not_of("# \t"), line.size()));
        begun += int{line.starts_with("if")} - int{line.starts_with("endif")};
    }
    return begun;
}

} // namespace

std::vector<std::string> host_headers_of(std::string_view source) {
    const std::string blanked = blank_comments_and_strings(source);
    std::vector<std::string> names;
    std::size_t position = 0;
    int begun = 0;
    for (const IncludeDirective &include : find_includes(source, blanked)) {
        if (include.line_begin > position)
            begun += conditions_begun(
                std::string_view(blanked).substr(position, include.line_begin - position));
        position = std::max(position, include.line_begin);
        if (begun == 0 && !include.only_asks && is_host_header(include.name))
            names.push_back(include.name);
    }
    return names;
}

void remember_host_code(const CompileJob &job, const CompileError &failure) {
    const std::string_view file = file_of_error(failure.standard_error());
    std::string key = key_of(job);
    if (file.empty() || file == job.request.name || key.empty())
        return;
    if (const std::string path = file_of_verdict(job, key); !path.empty()) {
        std::error_code failed; // then the next process asks NVRTC again
        std::filesystem::create_directories(job.verdict_store, failed);
        std::ofstream(path).put('\n');
    }
    std::scoped_lock lock(known().mutex);
    known().keys.insert(std::move(key));
}

bool is_known_host_code(const CompileJob &job) {
    const std::string key = key_of(job);
    if (key.empty())
        return false;
    if (const std::string path = file_of_verdict(job, key); !path.empty() && stamp_file(path))
        return true;
    std::scoped_lock lock(known().mutex);
    return known().keys.contains(key);
}

} // namespace pycuda::compile_detail
