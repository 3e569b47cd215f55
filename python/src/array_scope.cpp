// array_scope.cpp -- the stream and the allocator of a thread's array operations, within a scope.
#include "array_scope.h"

#include "array_allocation.h"
#include "array_object.h"
#include "device_pointer.h"

#include <pycuda/driver.h>

#include <utility>

namespace pycuda::python {
namespace {

thread_local PyObject *allocator_of_thread = nullptr; // kept alive by the scope

/// _Using(stream, allocator): applies the parameters `stream=` and `allocator=` of a function to
/// all operations in it.
class Using {
  public:
    Using(nb::object stream, nb::object allocator)
        : stream_(std::move(stream)), allocator_(std::move(allocator)) {}

    void enter() {
        if (!stream_.is_none())
            stream_scope_.emplace(stream_ref(stream_));
        allocator_scope_.emplace(allocator_);
    }
    void exit() {
        allocator_scope_.reset();
        stream_scope_.reset();
    }

  private:
    nb::object stream_, allocator_;
    std::optional<StreamScope> stream_scope_;
    std::optional<PythonAllocatorScope> allocator_scope_;
};

} // namespace

std::shared_ptr<void> keep_alive(nb::object object) {
    return {object.release().ptr(), [](void *kept) {
                if (driver_for_cleanup() == nullptr)
                    return;
                nb::gil_scoped_acquire acquire;
                Py_DECREF(static_cast<PyObject *>(kept));
            }};
}

PyObject *allocator_of_scope() noexcept {
    return allocator_of_thread == nullptr || is_default_allocator(allocator_of_thread)
               ? nullptr
               : allocator_of_thread;
}

PythonAllocatorScope::PythonAllocatorScope(nb::handle allocator) {
    if (!allocator.is_valid() || allocator.is_none()) [[likely]]
        return;
    if (!PyCallable_Check(allocator.ptr()))
        throw nb::type_error("allocator must be a function that takes a number of bytes");
    allocator_ = nb::borrow(allocator);
    outer_ = std::exchange(allocator_of_thread, allocator.ptr());
    scope_.emplace(is_default_allocator(allocator) ? nullptr : static_cast<ArrayAllocator *>(this));
}

PythonAllocatorScope::~PythonAllocatorScope() {
    if (scope_)
        allocator_of_thread = outer_;
}

nb::handle PythonAllocatorScope::inherited(std::span<const nb::handle> objects) noexcept {
    if (allocator_of_thread != nullptr)
        return {};
    for (nb::handle object : objects)
        if (is_array(object) && array_object(object).allocator != nullptr)
            return array_object(object).allocator;
    return {};
}

/// The allocator knows no streams, so the memory belongs to the default stream. The allocator may
/// create arrays itself; these do not use the allocator.
std::shared_ptr<ArrayMemory>
PythonAllocatorScope::allocate(const std::shared_ptr<ArrayContext> &context, std::size_t bytes,
                               StreamRef) {
    const AllocatorScope pools(nullptr);
    PyObject *const mine = std::exchange(allocator_of_thread, nullptr);
    struct Restore {
        PyObject *allocator;
        ~Restore() { allocator_of_thread = allocator; }
    } restore{mine};
    nb::object owner = allocator_(bytes);
    const CUdeviceptr address = device_address(owner, "what the allocator returns");
    return ArrayMemory::borrow(context, address, bytes, keep_alive(std::move(owner)));
}

void bind_array_scope(nb::module_ &module) {
    nb::class_<Using>(module, "_Using",
                      "with _Using(stream, allocator): array operations of this thread use the "
                      "stream, and new arrays memory of the allocator. None leaves it as it is.")
        .def(nb::init<nb::object, nb::object>(), nb::arg("stream").none(),
             nb::arg("allocator").none() = nb::none())
        .def("__enter__", &Using::enter)
        .def("__exit__", [](Using &self, nb::args) { self.exit(); });
}

} // namespace pycuda::python
