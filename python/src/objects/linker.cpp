// linker.cpp -- pycuda.driver.Linker: links several images of device code to one module.
#include "support/bindings.h"

#include "memory/host_buffer.h"
#include "support/bool_like.h"
#include "support/python_object.h"

#include <pycuda/driver.h>
#include <pycuda/jit_linker.h>
#include <pycuda/module.h>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace pycuda::python {
namespace {

/// The type of LTO IR: CU_JIT_INPUT_NVVM, which cuda.h deprecates.
constexpr int jit_input_ltoir = 5;

/// Options of the driver's linker, with buffers for its log. cuLinkCreate keeps their addresses
/// until cuLinkDestroy.
class LinkOptions {
  public:
    LinkOptions(nb::handle options, bool verbose) {
        add(CU_JIT_INFO_LOG_BUFFER, info_.data());
        add(CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, info_.size());
        add(CU_JIT_ERROR_LOG_BUFFER, error_.data());
        add(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, error_.size());
        add(CU_JIT_LOG_VERBOSE, std::uintptr_t{verbose});
        if (options.is_none())
            return;
        for (nb::handle pair : nb::borrow<nb::iterable>(options))
            add(CUjit_option(nb::cast<int>(nb::object(pair[0]))),
                nb::cast<std::uintptr_t>(nb::object(pair[1])));
    }
    LinkOptions(const LinkOptions &) = delete;
    LinkOptions &operator=(const LinkOptions &) = delete;

    unsigned count() const { return static_cast<unsigned>(names_.size()); }
    CUjit_option *names() { return names_.data(); }
    void **values() { return values_.data(); }
    std::string info() const { return info_.data(); }
    std::string error() const { return error_.data(); }

  private:
    void add(CUjit_option name, void *value) {
        names_.push_back(name);
        values_.push_back(value);
    }
    void add(CUjit_option name, std::uintptr_t value) {
        add(name, reinterpret_cast<void *>(value));
    }
    std::vector<CUjit_option> names_;
    std::vector<void *> values_;
    std::array<char, 32768> info_{};
    std::array<char, 32768> error_{};
};

/// A link that is not complete. It uses the context that was current when it began.
class Linker {
  public:
    Linker(nb::object message_handler, nb::handle options, bool verbose)
        : handler_(std::move(message_handler)), context_(Context::require_current()),
          options_(options, verbose) {
        driver().cuLinkCreate(options_.count(), options_.names(), options_.values(), &state_);
    }
    Linker(const Linker &) = delete;
    Linker &operator=(const Linker &) = delete;
    ~Linker() { destroy(); }

    void add_data(nb::handle data, int type, const std::string &name) {
        HostBuffer bytes = HostBuffer::to_read(data, "data");
        run("cuLinkAddData", [&] {
            return driver().cuLinkAddData.status(require(), CUjitInputType(type), bytes.data(),
                                                 bytes.size(), name.c_str(), 0, nullptr, nullptr);
        });
    }

    void add_file(const std::string &path, int type) {
        run(
            "cuLinkAddFile",
            [&] {
                return driver().cuLinkAddFile.status(require(), CUjitInputType(type), path.c_str(),
                                                     0, nullptr, nullptr);
            },
            path);
    }

    Module link_module() {
        void *image = nullptr;
        std::size_t size = 0;
        run("cuLinkComplete",
            [&] { return driver().cuLinkComplete.status(require(), &image, &size); });
        Module module = Module::load({static_cast<const std::byte *>(image), size});
        if (!handler_.is_none())
            handler_(true, options_.info(), options_.error());
        destroy(); // the linker owns the image
        return module;
    }

  private:
    CUlinkState require() const {
        if (state_ == nullptr)
            throw Error("linker", CUDA_ERROR_INVALID_HANDLE, "link_module() was called before");
        return state_;
    }

    /// Calls the driver and passes the linker's log to the handler. Adds the log to an error, or
    /// else the text `what`.
    template <class Call>
    void run(const char *function, Call &&call, const std::string &what = {}) {
        const CUresult result = call();
        if (result == CUDA_SUCCESS)
            return;
        if (!handler_.is_none())
            handler_(false, options_.info(), options_.error());
        const std::string said = options_.error();
        throw Error(function, result, said.empty() ? what : said);
    }

    void destroy() noexcept {
        if (state_ == nullptr)
            return;
        detail::run_cleanup(
            context_, "cuLinkDestroy",
            [](void *state) {
                return driver().cuLinkDestroy.status(static_cast<CUlinkState>(state));
            },
            state_);
        state_ = nullptr;
    }

    nb::object handler_;
    Context context_;
    LinkOptions options_;
    CUlinkState state_ = nullptr;
};

/// nvJitLink's number of a jit_input_type.
JitLinker::Input input_named(int type) {
    using enum JitLinker::Input;
    constexpr std::pair<int, JitLinker::Input> inputs[] = {
        {CU_JIT_INPUT_CUBIN, Cubin},      {CU_JIT_INPUT_PTX, Ptx},
        {CU_JIT_INPUT_FATBINARY, Fatbin}, {CU_JIT_INPUT_OBJECT, Object},
        {CU_JIT_INPUT_LIBRARY, Library},  {jit_input_ltoir, LtoIr}};
    for (const auto &[number, input] : inputs)
        if (number == type)
            return input;
    throw_value_error("input_type must be one of jit_input_type, not " + std::to_string(type));
}

/// nvJitLink with the interface of the driver's Linker, for the current context's device.
class PythonJitLinker {
  public:
    PythonJitLinker(std::vector<std::string> options, nb::object message_handler)
        : handler_(std::move(message_handler)),
          linker_({Context::require_current().device().compute_capability(), driver().image_kind()},
                  std::move(options)) {}

    void add_data(nb::handle data, int type, const std::string &name) {
        const HostBuffer bytes = HostBuffer::to_read(data, "data");
        run([&] {
            linker_.add_data({static_cast<const std::byte *>(bytes.data()), bytes.size()},
                             input_named(type), name);
        });
    }

    void add_file(const std::string &path, int type) {
        run([&] { linker_.add_file(path, input_named(type)); });
    }

    nb::bytes link() {
        const JitLinker::Linked linked = run([&] {
            nb::gil_scoped_release release;
            return linker_.finish();
        });
        if (!handler_.is_none())
            handler_(true, linked.log, "");
        return nb::bytes(linked.image.data(), linked.image.size());
    }

    Module link_module() {
        const nb::bytes image = link();
        return Module::load({reinterpret_cast<const std::byte *>(image.c_str()), image.size()});
    }

  private:
    /// Runs `step`; passes the reason of a failure to the handler.
    template <class Step> auto run(Step &&step) -> decltype(step()) {
        try {
            return step();
        } catch (const CompileError &error) {
            if (!handler_.is_none())
                handler_(false, "", error.what());
            throw;
        }
    }

    nb::object handler_;
    JitLinker linker_;
};

/// The methods that both linkers have.
template <class AnyLinker>
void bind_steps(nb::class_<AnyLinker> &type, const std::string &refusal) {
    type.def("add_data", &AnyLinker::add_data, nb::lock_self(), nb::arg("data"),
             nb::arg("input_type"), nb::arg("name") = "unknown",
             ("Add a piece of code.\n\n"
              "data: bytes, or another buffer.\n"
              "input_type: the kind of the code, a member of jit_input_type.\n"
              "name: the name of the code in messages.\n\n" +
              refusal)
                 .c_str())
        .def("add_file", &AnyLinker::add_file, nb::lock_self(), nb::arg("filename"),
             nb::arg("input_type"),
             "Add a file, such as a library of the toolkit.\n\n"
             "filename: the path.\n"
             "input_type: the kind of the file, a member of jit_input_type.")
        .def("link_module", &AnyLinker::link_module, nb::lock_self(),
             "Link all pieces, and load the result. Returns a Module.\n\n"
             "Can be called once. An error has the messages of the linker, such as the names of "
             "undefined functions.");
}

void bind_jit_linker(nb::module_ &module) {
    nb::class_<PythonJitLinker> type(
        module, "JitLinker",
        "Links pieces of device code with NVIDIA's nvJitLink, which can optimise over all pieces "
        "(LTO).\n\n"
        "options: options of nvJitLink, such as \"-lto\", \"-O3\" or \"-maxrregcount=32\". The "
        "architecture of the current context's\n"
        "  device is added.\n"
        "message_handler: called as ``message_handler(success, info, error)`` with nvJitLink's "
        "messages; None ignores them.\n\n"
        "The first use opens the library. Raises CompileError if no nvJitLink is found, and for an "
        "unknown option.\n\n"
        ">>> linker = cuda.JitLinker([\"-lto\"])\n"
        ">>> linker.add_data(compiler.compile(source, target=\"ltoir\"), "
        "cuda.jit_input_type.LTOIR, \"a\")\n"
        ">>> module = linker.link_module()");
    type.def(nb::init<std::vector<std::string>, nb::object>(),
             nb::arg("options") = std::vector<std::string>(),
             nb::arg("message_handler") = nb::none(),
             "Create the linker. The class describes the parameters.")
        .def("link", &PythonJitLinker::link, nb::lock_self(),
             "Link all pieces, and return the image as bytes: a cubin, or PTX if the driver in use "
             "loads PTX.\n\n"
             "Can be called once, and not after link_module(). Raises CompileError with the "
             "messages of nvJitLink, such as the names\n"
             "of undefined functions.");
    bind_steps(type, "Raises CompileError if nvJitLink cannot read the code.");
    module.def("nvjitlink_version", &JitLinker::version,
               "Return the name and version of the nvJitLink library in use, such as \"nvJitLink "
               "13.5\".\n\n"
               "The first call opens the library. Raises CompileError if no nvJitLink is found.");
}

} // namespace

void bind_linker(nb::module_ &module) {
    bind_jit_linker(module);
    nb::class_<Linker> type(module, "Linker",
                            "Links pieces of device code to one Module, by the driver.\n\n"
                            "message_handler: called as ``message_handler(success, info, error)`` "
                            "with the linker's messages; None prints nothing.\n"
                            "options: pairs of a jit_option and an int.\n"
                            "log_verbose: True asks the linker for more messages.\n\n"
                            "A GPU's driver links cubins, PTX and libraries of the toolkit; "
                            "softcuda's links PTX. JitLinker uses nvJitLink instead,\n"
                            "and optimises over all pieces. link_module() may be called once.\n\n"
                            ">>> ptx = compiler.compile(\"__global__ void nop() {}\", "
                            "target=\"ptx\", arch=\"compute_75\")\n"
                            ">>> linker = cuda.Linker()\n"
                            ">>> linker.add_data(ptx, cuda.jit_input_type.PTX, \"nop.ptx\")\n"
                            ">>> linker.link_module().function_names()\n"
                            "['nop']");
    type.def(
        "__init__",
        [](Linker *self, nb::object message_handler, nb::handle options, BoolLike log_verbose) {
            new (self) Linker(std::move(message_handler), options, log_verbose);
        },
        nb::arg("message_handler") = nb::none(), nb::arg("options") = nb::none(),
        nb::arg("log_verbose") = false, "Create the linker. The class describes the parameters.");
    bind_steps(type, "Raises LogicError if the driver cannot read the code.");
}

} // namespace pycuda::python
