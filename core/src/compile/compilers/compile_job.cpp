// compile_job.cpp -- the parts of a request that both compilers use.
#include "compile/compilers/compile_job.h"

#include <filesystem>

#include "compile/compilers/architecture.h"
#include "compile/source/source_text.h"
#include "compile/source/source_wrap.h"

namespace pycuda::compile_detail {

IncludeScan scan_includes(const CompileJob &job, const std::vector<IncludeDirectory> &path,
                          HeaderChanges changes) {
    std::string text;
    for (const std::string &header : job.options.pre_includes)
        text += "#include \"" + header + "\"\n";
    text += without_byte_order_mark(job.request.source);
    return scan_includes(text, job.source_directory, path, changes);
}

RequestedArchitecture requested_architecture(const CompileJob &job) {
    const CompileRequest &request = job.request;
    RequestedArchitecture requested{request.arch, request.code, request.device, request.target};
    if (requested.arch.empty() && requested.code.empty()) {
        requested.arch = job.options.arch;
        requested.code = job.options.code;
    }
    return requested;
}

std::string prepare_source(const CompileJob &job, std::string_view source, bool all_outside,
                           Precompile precompile) {
    const CompileRequest &request = job.request;
    source = without_byte_order_mark(source);
    const auto leading = [&](const IsOutside &is_outside) {
        return precompile == Precompile::Yes ? leading_directives(source, is_outside) : 0;
    };
    if (request.linkage == Linkage::Cxx)
        return name_source(source, request.name,
                           leading([](const IncludeDirective &) { return true; }));
    const IncludeDirectory here{job.source_directory, IncludeDirectory::Owner::User};
    auto is_outside = [&](const IncludeDirective &include) {
        if (all_outside)
            return true;
        if (include.form == IncludeDirective::Form::Computed)
            return false;
        const IncludeDirectory *owner = find_include_owner(include, here, job.include_path);
        return !owner || owner->owner != IncludeDirectory::Owner::User;
    };
    return wrap_in_extern_c(source, request.name, is_outside, leading(is_outside));
}

std::string stem_of(const std::string &name) { return std::filesystem::path(name).stem().string(); }

} // namespace pycuda::compile_detail
