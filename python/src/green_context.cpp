// green_context.cpp -- pycuda.driver.SmResource and GreenContext.
#include "bindings.h"

#include "python_object.h"

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
                           "Some multiprocessors of a device; see get_sm_resource().")
        .def_prop_ro("count", &SmResource::count, "How many multiprocessors.")
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
               "The multiprocessors of a Device, or those that a Context may use.");

    nb::class_<GreenContext>(
        module, "GreenContext", nb::is_weak_referenceable(),
        "A context that owns a part of a device's multiprocessors.\n\n"
        "Kernels in its streams run on those and on no others, so that they neither disturb nor\n"
        "wait for kernels elsewhere. It lives as long as it or one of its streams is referred "
        "to.\n\n"
        ">>> (some,), rest = get_sm_resource(device).split(16, 1)\n"
        ">>> green = GreenContext(device, some)\n"
        ">>> with green.context:\n"
        "...     kernel(a_gpu, block=(256, 1, 1), stream=green.create_stream())")
        .def(nb::init<const Device &, const SmResource &>(), nb::arg("device"), nb::arg("resource"))
        .def_prop_ro(
            "context", [](const GreenContext &green) { return green.context(); },
            nb::keep_alive<0, 1>(), "The same as a Context, to be pushed or used in `with`.")
        .def("__repr__",
             [](const GreenContext &green) {
                 return "<pycuda.driver.GreenContext of " +
                        std::to_string(green.resource().count()) + " multiprocessors>";
             })
        .def_prop_ro("resource", &GreenContext::resource, "Its multiprocessors.")
        .def_prop_ro(
            "handle",
            [](const GreenContext &green) { return reinterpret_cast<std::uintptr_t>(green.get()); },
            "The CUgreenCtx, as an int.")
        .def("create_stream", &GreenContext::create_stream, nb::arg("priority") = 0,
             nb::keep_alive<0, 1>(),
             "A Stream whose kernels run on its multiprocessors. It does not wait for the default "
             "stream, nor that for it.");
}

} // namespace pycuda::python
