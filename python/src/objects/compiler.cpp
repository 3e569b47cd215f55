// compiler.cpp -- run-time compilation for pycuda.compiler.
#include "support/bindings.h"

#include "support/bool_like.h"
#include "support/python_object.h"

#include <pycuda/compiler.h>
#include <pycuda/context.h>
#include <pycuda/driver_calls.h>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace pycuda::python {
namespace {

ImageKind kind_named(const std::string &target) {
    if (std::optional<ImageKind> kind = image_kind_named(target))
        return *kind;
    throw_value_error("target must be \"cubin\", \"ptx\", \"fatbin\" or \"ltoir\", not \"" +
                      target + "\"");
}

const char *name_of(ImageOrigin origin) {
    switch (origin) {
    case ImageOrigin::Compiler:
        return "compiler";
    case ImageOrigin::MemoryCache:
        return "memory cache";
    case ImageOrigin::DiskCache:
        return "disk cache";
    case ImageOrigin::Package:
        return "package";
    }
    return "";
}

/// None: the default folder. False: no cache. Otherwise a folder.
void choose_cache(CompileRequest &request, nb::handle cache_dir) {
    if (cache_dir.is_none())
        return;
    if (cache_dir.ptr() == Py_False)
        request.cache = CacheUse::Off;
    else
        request.cache_dir = nb::cast<std::string>(nb::str(cache_dir));
}

/// The compute capability of the current context's device; empty if there is no driver, init() was
/// not called, or there is no context. Code can be compiled in these cases, too.
std::optional<ComputeCapability> current_capability() {
    if (!has_current_context())
        return std::nullopt;
    return Context::require_current().device().compute_capability();
}

CompileResult compile_source(std::string source, const std::string &nvcc,
                             std::vector<std::string> options, BoolLike keep, BoolLike no_extern_c,
                             std::string arch, std::string code, nb::handle cache_dir,
                             std::vector<std::string> include_dirs, const std::string &target,
                             std::vector<std::string> name_expressions,
                             const CompileResult *refused, const std::string &refusal) {
    CompileRequest request;
    request.name_expressions = std::move(name_expressions);
    request.source = std::move(source);
    request.options = std::move(options);
    request.include_dirs = std::move(include_dirs);
    request.arch = std::move(arch);
    request.code = std::move(code);
    request.linkage = no_extern_c ? Linkage::Cxx : Linkage::C;
    request.keep = keep;
    choose_compiler(request, nvcc);
    choose_cache(request, cache_dir);
    request.device = current_capability();
    // Programs for PyCUDA load a compiled "cubin", whatever image the driver loads.
    const bool to_load = target == "image" || (target == "cubin" && request.device.has_value());
    request.target = to_load ? loaded_image_kind() : kind_named(target);
    if (target == "image")
        request.packaged = packaged_images();
    nb::gil_scoped_release release;
    return refused ? compile_refused(request, *refused, refusal) : compile(request);
}

nb::bytes image_of(const CompileResult &result) {
    return nb::bytes(result.image.data(), result.image.size());
}

nb::dict lowered_names(const CompileResult &result) {
    nb::dict names;
    for (const auto &[expression, name] : result.lowered_names)
        names[expression.c_str()] = name;
    return names;
}

} // namespace

void bind_compiler(nb::module_ &module) {
    nb::class_<CompileResult>(
        module, "CompileResult",
        "The result of compile_source(): device code, the compiler's messages, and the origin of "
        "the code.\n\n"
        "SourceModule and compile() are built on compile_source(). All attributes are read-only.")
        .def_prop_ro(
            "image", image_of,
            "The device code as bytes: a cubin, a fatbin, LTO IR or PTX text; see ``kind``.")
        .def_prop_ro(
            "kind", [](const CompileResult &result) { return name_of(result.kind); },
            "The kind of the image: \"cubin\", \"ptx\", \"fatbin\" or \"ltoir\".")
        .def_ro("arch", &CompileResult::arch,
                "The target architecture, such as \"sm_86\" for a cubin or \"compute_86\" for PTX.")
        .def_ro("log", &CompileResult::log,
                "The messages of the compiler and of ptxas, such as warnings.")
        .def_ro("command_line", &CompileResult::command_line,
                "The compiler and its arguments, as one command line.")
        .def_prop_ro(
            "origin", [](const CompileResult &result) { return name_of(result.origin); },
            "The origin of the image: \"compiler\", \"memory cache\", \"disk cache\", or "
            "\"package\" for code that is shipped with pycuda.")
        .def_prop_ro("lowered_names", lowered_names,
                     "The mangled names in the image: a dict with the name expressions as keys.")
        .def_ro("kept_in", &CompileResult::kept_in,
                "The folder of the compiler's files if ``keep`` was True, else an empty text.");

    module.def(
        "compile_source", compile_source, nb::arg("source"), nb::arg("nvcc"), nb::arg("options"),
        nb::arg("keep"), nb::arg("no_extern_c"), nb::arg("arch"), nb::arg("code"),
        nb::arg("cache_dir").none(), nb::arg("include_dirs"), nb::arg("target"),
        nb::arg("name_expressions"), nb::arg("refused") = nb::none(), nb::arg("refusal") = "",
        "Compile CUDA C++. Returns a CompileResult. pycuda.compiler.compile() has the "
        "meaning of the parameters.\n\n"
        "target: \"cubin\", \"ptx\", \"fatbin\", \"ltoir\", or \"image\" for the kind that "
        "the driver in use loads. An \"image\" may be of the package.\n\n"
        "refused: an earlier result from the package that the driver has refused, for the "
        "reason ``refusal``. The result is then another one. PYCUDA_TRACE=1 shows the reason."
        "\n\n"
        "Raises CompileError with the compiler's messages.");
    module.def(
        "add_compiler_directory", [](const std::string &path) { add_search_directory(path); },
        nb::arg("path"),
        "Add a folder in which NVRTC and the CUDA headers are searched.\n\n"
        "path: the folder, such as a CUDA toolkit or a ``site-packages/nvidia`` folder. Folders "
        "that were added are searched\n"
        "after CUDA_HOME and before the system's folders.");
    module.def(
        "set_kernel_header_directory",
        [](const std::string &path) { set_kernel_header_directory(path); }, nb::arg("path"),
        "Set the folder of the CUDA C++ headers that pycuda provides to kernels.\n\n"
        "path: the folder. ``import pycuda`` sets the folder of the package.");
    module.def(
        "_hint_for_refused_ptx", [](const std::string &log) { return hint_for_refused_ptx(log); },
        "What to change if the driver refuses PTX with this log, or an empty text.");
    module.def(
        "clear_memory_cache", clear_memory_cache,
        "Forget the compiled images that this process keeps in memory. The cache on disk stays.\n\n"
        "The next compilation of each source reads the disk, or compiles.");
}

} // namespace pycuda::python
