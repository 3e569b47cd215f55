// include_scan.cpp -- finds the files that a source includes, without a preprocessor.
#include "compile/source/include_scan.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "compile/source/file_scope_constants.h"
#include "compile/source/gnu_extensions.h"
#include "compile/source/host_library_headers.h"
#include "compile/source/nvcc_names.h"
#include "compile/source/source_text.h"
#include "compile/source/standard_headers.h"
#include "compile/source/texture_shim.h"

namespace pycuda::compile_detail {
namespace {

using Owner = IncludeDirectory::Owner;

std::string folder_of(const std::string &path) {
    std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, slash);
}

/// The path without "." and "x/..", or unchanged where the shorter path is another file, because x
/// is a link to a folder.
std::string shortened(const std::string &path) {
    if (path.find("/.") == std::string::npos)
        return path;
    const std::string shorter = std::filesystem::path(path).lexically_normal();
    return identify(shorter) == identify(path) ? shorter : path;
}

bool is_cuda(Owner owner) { return owner == Owner::Toolkit || owner == Owner::Library; }

class Scanner {
  public:
    Scanner(const std::vector<IncludeDirectory> &path, HeaderChanges changes)
        : path_(path), changes_(changes) {
        scan_.dependencies.recorded_ns = now_ns();
    }

    IncludeScan run(std::string_view source, const std::string &source_directory) {
        scan_text(source, {source_directory, Owner::User}, TextRole::Source);
        while (!pending_.empty()) {
            Header header = std::move(pending_.back());
            pending_.pop_back();
            read_header(header);
        }
        list_adapted();
        return std::move(scan_);
    }

  private:
    struct Header {
        std::string path;
        Owner owner;
        TextRole role;
        bool remembered; // recorded as a dependency
    };

    void scan_text(std::string_view text, const IncludeDirectory &folder, TextRole role) {
        text = without_byte_order_mark(text);
        const bool is_user = folder.owner == Owner::User;
        const bool includes = text.find("include") != std::string_view::npos ||
                              text.find("import") != std::string_view::npos;
        if (!is_user && !includes)
            return;
        const std::string blanked = blank_comments_and_strings(text);
        if (is_user) {
            const bool asks = find_nvcc_names(blanked, role, scan_.nvcc_names);
            scan_.has_header_for_gcc |= asks && role == TextRole::ProgramHeader;
            scan_.implicit_macros.merge(implicit_macros_asked_for(blanked));
            scan_.macros.add(blanked);
        }
        if (includes)
            for (const IncludeDirective &include : find_includes(text, blanked))
                resolve(include, folder, role);
    }

    /// `from` is the role of the text with the directive.
    void resolve(const IncludeDirective &include, const IncludeDirectory &folder, TextRole from) {
        if (include.form == IncludeDirective::Form::Computed) {
            scan_.incomplete |= folder.owner == Owner::User;
            return;
        }
        if (folder.owner == Owner::User) {
            const std::string_view name = include.name;
            const std::string_view library = host_library_of(name);
            if (!library.empty())
                scan_.host_libraries.insert(library);
            scan_.has_large_library |= library == "Thrust" || name.starts_with("cub/") ||
                                       name.starts_with("cooperative_groups");
        }
        const bool is_library = from == TextRole::Library || changes_.headers_are_libraries ||
                                include.form != IncludeDirective::Form::Quoted ||
                                !host_library_of(include.name).empty();
        const TextRole role = is_library ? TextRole::Library : TextRole::ProgramHeader;
        if (include.name.starts_with('/')) {
            try_file(include.name, folder.owner, folder, {include.name, role});
            return;
        }
        if (include.form == IncludeDirective::Form::Quoted &&
            try_file(folder.path + "/" + include.name, folder.owner, folder, {include.name, role}))
            return;
        const char *stand_in = standard_header(include.name);
        const bool skips_cuda = stand_in && !is_readable_by_nvrtc(include.name);
        for (const IncludeDirectory &directory : path_)
            if (!(skips_cuda && is_cuda(directory.owner)) &&
                try_file(directory.path + "/" + include.name, directory.owner, folder,
                         {include.name, role}))
                return;
        if (folder.owner == Owner::User)
            scan_.unresolved_of_user.insert(include.name);
        if (scan_.unresolved.insert(include.name).second && stand_in)
            scan_text(stand_in, {"", Owner::Toolkit}, TextRole::Library);
    }

    struct Included {
        const std::string &name;
        TextRole role;
    };

    /// Whether the file, which a file in `from` includes, exists. Queues the file if it exists,
    /// else records it as absent.
    bool try_file(const std::string &written, Owner owner, const IncludeDirectory &from,
                  const Included &as) {
        const std::string path = shortened(written);
        names_[path].insert(as.name);
        auto known = exists_.find(path);
        if (known != exists_.end())
            return known->second;
        const bool exists = stamp_file(path).has_value();
        exists_.emplace(path, exists);
        const bool remembered = !(is_cuda(from.owner) && is_cuda(owner));
        if (exists && is_new(path))
            pending_.push_back({path, owner, as.role, remembered});
        else if (!exists && remembered)
            scan_.dependencies.files.push_back({path, true, {}, {}});
        return exists;
    }

    /// False if the file was queued before, under another name in the same folder. A link in
    /// another folder is new: its quoted includes are searched there.
    bool is_new(const std::string &path) {
        const std::optional<FileIdentity> file = identify(path);
        const std::optional<FileIdentity> folder = identify(folder_of(path));
        return file && folder && queued_.emplace(*file, *folder).second;
    }

    void read_header(const Header &header) {
        if (header.owner == Owner::Library && !header.remembered)
            return;
        std::optional<FileContent> content = read_file(header.path);
        if (!content) { // the compiler will report the error, and nothing is cached
            scan_.incomplete = true;
            return;
        }
        if (header.remembered)
            scan_.dependencies.files.push_back(
                {header.path, false, content->stamp, sha256(content->text)});
        if (header.owner == Owner::User)
            adapt(header.path, content->text);
        if (header.owner != Owner::Library)
            scan_text(content->text, {folder_of(header.path), header.owner}, header.role);
    }

    void adapt(const std::string &path, const std::string &text) {
        AdaptedHeader header{"", folder_of(path), std::string(without_byte_order_mark(text))};
        if (std::optional<std::string> textures = adapt_texture_declarations(header.text)) {
            header.text = std::move(*textures);
            header.has_textures = true;
        }
        write_for_nvrtc(header.text);
        if (changes_.replace_gnu_extensions)
            if (std::optional<std::string> standard = replace_gnu_extensions(header.text))
                header.text = std::move(*standard);
        if (changes_.fold_constants)
            header.text = fold_constants(header.text).text;
        if (changes_.host_variables)
            header.text = replace_host_variables(header.text, names_in_messages(path),
                                                 *changes_.host_variables);
        if (changes_.host_code && !changes_.host_code->errors.empty())
            for (const std::string &file : names_in_messages(path))
                header.text =
                    remove_host_code(header.text, file, *changes_.host_code, scan_.removed);
        if (header.text != text)
            adapted_.emplace(path, std::move(header));
    }

    /// A header that was changed before has the name of its #include in messages, not its path.
    std::set<std::string> names_in_messages(const std::string &path) const {
        std::set<std::string> files = names_.at(path);
        files.insert(path);
        return files;
    }

    void list_adapted() {
        std::map<std::string, int> files_of; // by name
        for (const auto &[path, names] : names_)
            if (exists_[path])
                for (const std::string &name : names) {
                    ++files_of[name];
                    scan_.included.insert(name);
                }
        for (const auto &[path, header] : adapted_)
            for (const std::string &name : names_[path])
                if (files_of[name] == 1) {
                    scan_.adapted.push_back(header);
                    scan_.adapted.back().name = name;
                }
    }

    const std::vector<IncludeDirectory> &path_;
    HeaderChanges changes_;
    std::vector<Header> pending_;
    std::map<std::string, std::set<std::string>> names_; // of a path, in #include directives
    std::map<std::string, AdaptedHeader> adapted_;       // in #include directives, by path
    std::map<std::string, bool> exists_;
    std::set<std::pair<FileIdentity, FileIdentity>> queued_; // a file and its folder
    IncludeScan scan_;
};

} // namespace

IncludeScan scan_includes(std::string_view source, const std::string &source_directory,
                          const std::vector<IncludeDirectory> &path, HeaderChanges changes) {
    return Scanner(path, changes).run(source, source_directory);
}

const IncludeDirectory *find_include_owner(const IncludeDirective &include,
                                           const IncludeDirectory &including_directory,
                                           const std::vector<IncludeDirectory> &path) {
    if (include.form == IncludeDirective::Form::Quoted &&
        stamp_file(including_directory.path + "/" + include.name))
        return &including_directory;
    for (const IncludeDirectory &directory : path)
        if (stamp_file(directory.path + "/" + include.name))
            return &directory;
    return nullptr;
}

bool is_about_host_library(std::string_view log, const std::vector<IncludeDirectory> &path) {
    constexpr std::string_view messages[] = {"error: namespace \"std\" has no member",
                                             "error: name followed by \"::\" must be a class"};
    while (!log.empty()) {
        const std::string_view line = take_line(log);
        const auto has_file = [line](const IncludeDirectory &directory) {
            return directory.owner == IncludeDirectory::Owner::User &&
                   line.starts_with(directory.path + "/");
        };
        if (says_any(line, messages) && std::ranges::any_of(path, has_file))
            return true;
    }
    return false;
}

bool is_in_cuda_header(std::string_view log, const std::vector<IncludeDirectory> &path) {
    const std::string_view file = log.substr(0, log.find("): error"));
    const std::string_view name = file.substr(file.rfind('\n') + 1); // 0 in the first line
    return std::ranges::any_of(path, [name](const IncludeDirectory &directory) {
        return is_cuda(directory.owner) && name.starts_with(directory.path);
    });
}

} // namespace pycuda::compile_detail
