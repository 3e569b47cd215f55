// array_scope.cpp -- the stream and the allocator of a thread's array operations, within a scope.
#include "arrays/array_scope.h"

#include "arrays/array_allocation.h"
#include "arrays/array_object.h"
#include "memory/device_pointer.h"
#include "support/python_object.h"

#include <pycuda/driver_calls.h>
#include <pycuda/kept_objects.h>

#include <nanobind/stl/string.h>

#include <string>
#include <utility>

namespace pycuda::python {
namespace {

thread_local PyObject *allocator_of_thread = nullptr; // kept alive by the scope

/// The deleter of keep_alive().
struct Release {
    void operator()(void *kept) const {
        if (!driver_is_usable())
            return;
        nb::gil_scoped_acquire acquire;
        Py_DECREF(static_cast<PyObject *>(kept));
    }
    void operator()(HostBuffer *kept) const {
        if (!driver_is_usable())
            return;
        nb::gil_scoped_acquire acquire;
        delete kept;
    }
};

/// The deleter of keep_lender().
struct ReleaseAfterWork {
    Context context;

    void operator()(void *kept) const {
        if (driver_is_usable())
            release_after_default_stream({kept, Release()}, context);
    }
};

} // namespace

std::shared_ptr<void> keep_alive(nb::object object) { return {object.release().ptr(), Release()}; }

std::shared_ptr<void> keep_alive(HostBuffer buffer) {
    return std::shared_ptr<HostBuffer>(new HostBuffer(std::move(buffer)), Release());
}

std::shared_ptr<void> keep_lender(nb::object owner, const Context &context) {
    return {owner.release().ptr(), ReleaseAfterWork{context}};
}

PyObject *kept_object(const std::shared_ptr<void> &owner) noexcept {
    if (!std::get_deleter<Release>(owner) && !std::get_deleter<ReleaseAfterWork>(owner))
        return nullptr;
    auto *object = static_cast<PyObject *>(owner.get());
    return PyCapsule_CheckExact(object) ? nullptr : object; // a capsule owns a tensor of DLPack
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
    const CUdeviceptr address = device_address(owner, "the result of the allocator");
    if (!device_of(address))
        throw_value_error("the allocator returned " + nb::cast<std::string>(nb::repr(owner)) +
                          ", which is not memory that the device can access");
    return ArrayMemory::borrow(context, address, bytes, keep_alive(std::move(owner)));
}

} // namespace pycuda::python
