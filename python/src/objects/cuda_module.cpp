// cuda_module.cpp -- pycuda.driver.Module: device code in a context.
#include "support/bindings.h"

#include "launch/function.h"
#include "memory/host_buffer.h"
#include "memory/texture.h"
#include "support/python_object.h"
#include "support/with_block.h"

#include <pycuda/error.h>
#include <pycuda/kernel_signature.h>
#include <pycuda/module.h>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace pycuda::python {
namespace {

nb::object get_function(nb::handle module, const std::string &name) {
    return wrap_function(nb::cast<const Module &>(module).function(name), module);
}

nb::tuple get_global(const Module &module, const std::string &name) {
    AddressRange range = module.global(name);
    return nb::make_tuple(range.base, range.size);
}

std::string represent(const Module &module) {
    std::string names;
    for (const std::string &name : module.function_names())
        names += (names.empty() ? "" : ", ") + name;
    return "<pycuda.driver.Module with " + (names.empty() ? "no kernels" : names) + ">";
}

void tell(nb::handle message_handler, bool success, const JitLog &log) {
    if (!message_handler.is_none())
        message_handler(success, log.info, log.error);
}

/// Loading may compile, so other threads can run meanwhile.
Module load(nb::handle image, const JitOptions &options, nb::handle message_handler) {
    HostBuffer bytes = HostBuffer::to_read(image, "buffer");
    JitLog log;
    try {
        Module module = [&] {
            nb::gil_scoped_release release;
            return Module::load({static_cast<const std::byte *>(bytes.data()), bytes.size()},
                                options, &log);
        }();
        tell(message_handler, true, log);
        return module;
    } catch (const Error &) {
        tell(message_handler, false, log);
        throw;
    }
}

Module module_from_buffer(nb::handle buffer,
                          const std::vector<std::pair<int, std::uintptr_t>> &options,
                          nb::handle message_handler) {
    JitOptions jit_options;
    for (auto [option, value] : options)
        jit_options.emplace_back(CUjit_option(option), value);
    return load(buffer, jit_options, message_handler);
}

Module module_from_file(nb::handle filename) {
    nb::object path = made(PyOS_FSPath(filename.ptr()));
    nb::object bytes =
        nb::isinstance<nb::bytes>(path) ? path : made(PyUnicode_EncodeFSDefault(path.ptr()));
    std::string name = nb::cast<nb::bytes>(bytes).c_str();
    nb::gil_scoped_release release;
    return Module::load_file(name);
}

} // namespace

void bind_module(nb::module_ &module) {
    bind_with_block(
        nb::class_<Module>(module, "Module", nb::dynamic_attr(), nb::is_weak_referenceable(),
                           "Device code that is loaded into a context: kernels and variables.\n\n"
                           "SourceModule compiles and loads a source. module_from_file() and "
                           "module_from_buffer() load PTX, a cubin or a fatbin. The\n"
                           "last reference to the module and its kernels unloads the code, and "
                           "``with module:`` unloads it at the end of the block.\n\n"
                           ">>> ptx = compiler.compile(\"__global__ void nop() {}\", "
                           "target=\"ptx\", arch=\"compute_75\")\n"
                           ">>> module = cuda.module_from_buffer(ptx)\n"
                           ">>> module.function_names()\n"
                           "['nop']")
            .def("get_function", get_function, nb::arg("name"),
                 nb::sig("def get_function(self, name: str) -> Function"),
                 "The kernel with a name.\n\n"
                 "name: the name in the image: for a C++ function without ``extern \"C\"`` the "
                 "mangled name.\n\n"
                 "Raises LogicError, which lists the module's kernels, if there is no such kernel.")
            .def("get_global", get_global, nb::arg("name"),
                 "The address and the size in bytes of a __device__ or __constant__ variable.\n\n"
                 "Raises LogicError if the module has no such variable.")
            .def("get_texref", texture_reference_of, nb::arg("name"),
                 nb::sig("def get_texref(self, name: str) -> TextureReference"),
                 "Return a texture reference that the source declares as a variable: a "
                 "TextureReference.\n\n"
                 "name: the variable's name.\n\n"
                 "CUDA 12 removed texture references from CUDA C++; PTX can still declare them, "
                 "and so can sources for pycuda.compiler.\n"
                 "Raises LogicError for another name.")
            .def("get_surfref", surface_reference_of, nb::arg("name"),
                 nb::sig("def get_surfref(self, name: str) -> SurfaceReference"),
                 "Return a surface reference that the source declares as a variable: a "
                 "SurfaceReference.\n\n"
                 "name: the variable's name. Raises LogicError for another name.")
            .def("close", &Module::close, nb::lock_self(),
                 "Unload the module now. The call waits for its kernels.\n\n"
                 "Functions raise LogicError for a closed module, its kernels and its textures.")
            .def("__repr__", represent)
            .def("function_names", &Module::function_names,
                 "Return the names of the module's kernels in the image, as a list; the names of "
                 "C++ functions are mangled.")
            .def(
                "_describe",
                [](const Module &loaded, const std::string &source) {
                    loaded.describe_from_source(source);
                },
                "Describes the parameters of the kernels, as a CUDA C++ source declares them."),
        "close");

    module.def("module_from_file", module_from_file, nb::arg("filename"),
               "Load a file with a cubin, a fatbin or PTX into the current context.\n\n"
               "filename: the path.\n\n"
               "Raises RuntimeError if the file does not exist, and LogicError if the driver "
               "cannot load its contents.");
    module.def("module_from_buffer", module_from_buffer, nb::arg("buffer"),
               nb::arg("options") = nb::make_tuple(), nb::arg("message_handler") = nb::none(),
               "Load a cubin, a fatbin or PTX into the current context.\n\n"
               "buffer: the image as bytes.\n"
               "options: pairs of a jit_option and an int.\n"
               "message_handler: is called as ``message_handler(success, info, error)`` with the "
               "messages of the compiler.\n\n"
               "Raises LogicError if the driver cannot load the image.");
}

} // namespace pycuda::python
