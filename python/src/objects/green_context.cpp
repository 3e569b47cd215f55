// green_context.cpp -- pycuda.driver.SmResource and GreenContext.
#include "support/bindings.h"

#include "support/python_object.h"

#include <pycuda/green_context.h>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace pycuda::python {
namespace {

SmResource resource_of(nb::handle owner) {
    if (const Device * device; nb::try_cast(owner, device) && device)
        return SmResource::of(*device);
    if (const Context * context; nb::try_cast(owner, context) && context)
        return SmResource::of(*context);
    throw_type_error("owner must be a Device or a Context, not " + name_of_type(owner));
}

nb::tuple split(const SmResource &resource, unsigned least, unsigned groups) {
    if (least == 0)
        throw_value_error("least must be at least 1 multiprocessor");
    SmPartition partition = resource.split(least, groups);
    return nb::make_tuple(std::move(partition.groups), partition.remaining);
}

} // namespace

void bind_green_context(nb::module_ &module) {
    nb::class_<SmResource>(module, "SmResource",
                           "A set of multiprocessors of one device.\n\n"
                           "get_sm_resource() returns all multiprocessors of a device, and split() "
                           "divides them into groups. A GreenContext runs\n"
                           "its kernels on one group.")
        .def_prop_ro("count", &SmResource::count, "The number of multiprocessors.")
        .def("split", split, nb::arg("least"), nb::arg("groups") = 0,
             "Split into disjoint groups of multiprocessors. Returns (groups, remaining "
             "multiprocessors).\n\n"
             "least: the smallest number of multiprocessors in a group. The device rounds the "
             "number up.\n"
             "groups: the largest number of groups; 0 is as many as possible.\n\n"
             "Raises LogicError if there are too few multiprocessors for one group.")
        .def("__repr__", [](const SmResource &resource) {
            return "<pycuda.driver.SmResource of " + std::to_string(resource.count()) +
                   " multiprocessors>";
        });

    module.def("get_sm_resource", resource_of, nb::arg("owner"),
               "Return a set of multiprocessors, as an SmResource.\n\n"
               "owner: a Device, for all of its multiprocessors, or a Context, for those that the "
               "context may use.\n\n"
               "Raises TypeError for another owner. Needs a driver of CUDA 12.4 or newer.");

    nb::class_<GreenContext>(
        module, "GreenContext", nb::is_weak_referenceable(),
        "A context that owns a part of a device's multiprocessors.\n\n"
        "device: the Device.\n"
        "resource: the multiprocessors, an SmResource of the device.\n\n"
        "Kernels in the streams of this context run on its multiprocessors only. They do not "
        "compete for multiprocessors with\n"
        "kernels of other contexts. The context lives as long as a reference to it or to one of "
        "its streams.\n\n"
        ">>> (group,), rest = cuda.get_sm_resource(device).split(16, 1)\n"
        ">>> green = cuda.GreenContext(device, group)\n"
        ">>> with green.context:\n"
        "...     kernel(a_gpu, block=(256, 1, 1), stream=green.create_stream())")
        .def(nb::init<const Device &, const SmResource &>(), nb::arg("device"), nb::arg("resource"))
        .def_prop_ro(
            "context", [](const GreenContext &green) { return green.context(); },
            nb::keep_alive<0, 1>(), "This context as a Context, for push() and ``with``.")
        .def("__repr__",
             [](const GreenContext &green) {
                 return "<pycuda.driver.GreenContext of " +
                        std::to_string(green.resource().count()) + " multiprocessors>";
             })
        .def_prop_ro("resource", &GreenContext::resource,
                     "The multiprocessors of the context, as an SmResource.")
        .def_prop_ro("handle", handle_of<GreenContext>, "The CUgreenCtx, as an int.")
        .def("create_stream", &GreenContext::create_stream, nb::arg("priority") = 0,
             nb::keep_alive<0, 1>(),
             "Create a Stream whose kernels run on the multiprocessors of this context.\n\n"
             "priority: lower numbers are more urgent; 0 is the default.\n\n"
             "The stream and the default stream do not wait for each other.");
}

} // namespace pycuda::python
