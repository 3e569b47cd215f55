// linker.cpp -- pycuda.driver.Linker: several pieces of device code become one module.
#include "bindings.h"

#include "host_buffer.h"
#include "python_object.h"

#include <pycuda/driver.h>
#include <pycuda/module.h>

#include <nanobind/stl/string.h>

#include <array>
#include <string>
#include <vector>

namespace pycuda::python {
namespace {

/// Options of the driver's linker with room for its words. Their addresses go to cuLinkCreate,
/// which keeps them until cuLinkDestroy.
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

/// A link under way. Everything happens in the context that was current when it began.
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
        run("cuLinkAddFile", [&] {
            return driver().cuLinkAddFile.status(require(), CUjitInputType(type), path.c_str(), 0,
                                                 nullptr, nullptr);
        });
    }

    Module link_module() {
        void *image = nullptr;
        std::size_t size = 0;
        run("cuLinkComplete",
            [&] { return driver().cuLinkComplete.status(require(), &image, &size); });
        Module module = Module::load({static_cast<const std::byte *>(image), size});
        if (!handler_.is_none())
            handler_(true, options_.info(), options_.error());
        destroy(); // the image belongs to it
        return module;
    }

  private:
    CUlinkState require() const {
        if (state_ == nullptr)
            throw Error("linker", CUDA_ERROR_INVALID_HANDLE, "link_module() was called before");
        return state_;
    }

    /// Calls the driver; tells the handler, and adds the linker's words to the error.
    template <class Call> void run(const char *function, Call &&call) {
        const CUresult result = call();
        if (result == CUDA_SUCCESS)
            return;
        if (!handler_.is_none())
            handler_(false, options_.info(), options_.error());
        throw Error(function, result, options_.error());
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

} // namespace

void bind_linker(nb::module_ &module) {
    nb::class_<Linker>(module, "Linker", "Links pieces of device code to one Module.")
        .def(
            "__init__",
            [](Linker *self, nb::object message_handler, nb::handle options, bool log_verbose) {
                new (self) Linker(std::move(message_handler), options, log_verbose);
            },
            nb::arg("message_handler") = nb::none(), nb::arg("options") = nb::none(),
            nb::arg("log_verbose") = false,
            "`options` are pairs of jit_option and int; `message_handler(success, info, error)` "
            "is called with the linker's words.")
        .def("add_data", &Linker::add_data, nb::arg("data"), nb::arg("input_type"),
             nb::arg("name") = "unknown")
        .def("add_file", &Linker::add_file, nb::arg("filename"), nb::arg("input_type"))
        .def("link_module", &Linker::link_module, "The Module of all that was added; once only.");
}

} // namespace pycuda::python
