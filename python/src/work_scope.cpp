// device_scope.cpp -- runs an operation on the device of its arrays.
#include "device_scope.h"

#include "errors.h"
#include "python_object.h"

#include <pycuda/driver.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace pycuda::python {
namespace {

std::string name_of(const ArrayContext &context) {
    return "cuda:" + std::to_string(context.context().device().get());
}

/// `with _InContext(context):` a ContextScope for the Python part of an operation.
class InContext {
  public:
    explicit InContext(Context context) : context_(std::move(context)) {}
    InContext(const InContext &) = delete;
    InContext &operator=(const InContext &) = delete;
    void enter() { scopes_.emplace_back(std::make_unique<ContextScope>(context_)); }
    void exit() { scopes_.pop_back(); }

  private:
    Context context_;
    std::vector<std::unique_ptr<ContextScope>> scopes_;
};

bool belongs_to(StreamRef stream, const Context &context) {
    CUcontext own = nullptr;
    return stream.is_default() ||
           (driver().cuStreamGetCtx.status(stream.get(), &own) == CUDA_SUCCESS &&
            own == context.get());
}

} // namespace

ContextScope::ContextScope(const Context &context) : context_(context) {
    if (!belongs_to(current_stream(), context))
        stream_.emplace(StreamRef());
}

void bind_device_scope(nb::module_ &module) {
    nb::class_<InContext>(module, "_InContext",
                          "with _InContext(context): its device, and a stream of it, are current.")
        .def(nb::init<Context>(), nb::arg("context"))
        .def("__enter__", &InContext::enter)
        .def("__exit__", [](InContext &self, nb::args) { self.exit(); });
}

void DeviceScope::check_same_device(const ArrayContext &other) const {
    // Contexts of one device share their addresses.
    if (home_->context().device() == other.context().device())
        return;
    throw_value_error("the arrays of one operation must be on one device, not on " +
                      name_of(*home_) + " and " + name_of(other) +
                      "; copy one of them with to_device()");
}

void DeviceScope::enter_home() {
    CUcontext current = nullptr;
    driver().cuCtxGetCurrent(&current);
    if (current == home_->context().get()) [[likely]]
        return;
    // A context that was released cannot be made current; the operation itself reports the error.
    if (home_->context().usable())
        scope_.emplace(home_->context());
}

} // namespace pycuda::python
