// device.cpp -- pycuda.driver.Device.
#include "support/bindings.h"

#include "objects/pushed_contexts.h"
#include "support/errors.h"
#include "support/python_object.h"

#include <pycuda/context.h>
#include <pycuda/device.h>
#include <pycuda/primary_context.h>

#include <nanobind/operators.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cctype>

namespace pycuda::python {
namespace {

nb::object attribute_class() {
    return nb::module_::import_("pycuda._driver").attr("device_attribute");
}

/// COMPUTE_MODE is returned as a member of its enum, other attributes as an int.
nb::object attribute_value(int attribute, int value) {
    if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_MODE)
        return enum_member("compute_mode", value);
    return nb::int_(value);
}

nb::object get_attribute(const Device &device, int attribute) {
    return attribute_value(attribute, device.attribute(CUdevice_attribute(attribute)));
}

/// All attributes that the driver supports.
nb::dict get_attributes(const Device &device) {
    nb::dict attributes;
    nb::dict members = nb::borrow<nb::dict>(attribute_class().attr("values"));
    for (auto [number, member] : members) {
        int attribute = nb::cast<int>(number);
        if (auto value = device.attribute_if_known(CUdevice_attribute(attribute)))
            attributes[member] = attribute_value(attribute, *value);
    }
    return attributes;
}

/// device.warp_size: any attribute by its name, in upper or lower case.
nb::object attribute_by_name(const Device &device, const std::string &name) {
    std::string upper = name;
    std::transform(upper.begin(), upper.end(), upper.begin(),
                   [](unsigned char letter) { return std::toupper(letter); });
    nb::dict names = nb::borrow<nb::dict>(attribute_class().attr("names"));
    if (name.starts_with("_") || !names.contains(upper.c_str()))
        throw nb::attribute_error(("Device has no attribute '" + name + "'").c_str());
    return get_attribute(device, nb::cast<int>(nb::object(names[upper.c_str()])));
}

nb::tuple compute_capability(const Device &device) {
    ComputeCapability capability = device.compute_capability();
    return nb::make_tuple(capability.major, capability.minor);
}

nb::bytes uuid(const Device &device) {
    auto bytes = device.uuid();
    return nb::bytes(bytes.data(), bytes.size());
}

Context make_context(const Device &device, unsigned flags) {
    nb::gil_scoped_release release;
    Context context = Context::create(device, flags);
    push_and_keep(context);
    return context;
}

Context retain_primary_context(const Device &device) {
    nb::gil_scoped_release release;
    return Context::primary(device);
}

void reset_primary_context_without_gil(const Device &device) {
    nb::gil_scoped_release release;
    reset_primary_context(device);
}

/// `with device:` makes the device's primary context current in the block.
nb::object enter_block(nb::object self) {
    push_and_keep(retain_primary_context(nb::cast<const Device &>(self)));
    return self;
}

void exit_block(const Device &, nb::args) { pop_and_let_go(); }

std::string represent(const Device &device) {
    return "<pycuda.driver.Device " + std::to_string(device.get()) + ": " + device.name() + ">";
}

} // namespace

void bind_device(nb::module_ &module) {
    nb::class_<Device>(
        module, "Device", nb::dynamic_attr(), nb::is_weak_referenceable(),
        "A GPU, or a device of softcuda.\n\n"
        "ordinal: the number of the device, from 0 to Device.count() - 1.\n"
        "pci_bus_id: instead, the device's place on the bus, such as \"0000:01:00.0\".\n\n"
        "``with device:`` makes the device's primary context current in a block. Raises LogicError "
        "if there is no such\n"
        "device, or before init().\n\n"
        ">>> cuda.Device(0).get_attribute(cuda.device_attribute.WARP_SIZE)\n"
        "32")
        .def(nb::init<int>(), nb::arg("ordinal"))
        .def(nb::init<const std::string &>(), nb::arg("pci_bus_id"))
        .def_static("count", &Device::count,
                    "Return the number of devices.\n\n"
                    "CUDA_VISIBLE_DEVICES hides devices. SOFTCUDA_DEVICES sets the number of "
                    "softcuda's devices, 1 by default. Raises\n"
                    "LogicError before init().\n\n"
                    ">>> [cuda.Device(i).handle for i in range(cuda.Device.count())][0]\n"
                    "0")
        .def("name", &Device::name,
             "Return the device's name, such as \"NVIDIA H200\".\n\n"
             "A device of softcuda has the name of the CPU: \"softcuda (AMD EPYC)\".")
        .def("pci_bus_id", &Device::pci_bus_id,
             "Return the device's place on the PCI bus: \"domain:bus:device.function\", such as "
             "\"0000:01:00.0\".\n\n"
             "Device() takes this text in the place of the ordinal. The place names the device in "
             "all processes of a machine; an\n"
             "ordinal depends on CUDA_VISIBLE_DEVICES.\n\n"
             ">>> device = cuda.Device(0)\n"
             ">>> cuda.Device(device.pci_bus_id()) == device\n"
             "True")
        .def("uuid", uuid,
             "Return the 16 bytes that identify the device, as bytes.\n\n"
             "No two GPUs have the same bytes. CUDA_VISIBLE_DEVICES and nvidia-smi write them as "
             "\"GPU-\" and hexadecimal digits.\n\n"
             ">>> len(cuda.Device(0).uuid())\n"
             "16")
        .def("compute_capability", compute_capability,
             "Return the compute capability: (major, minor).\n\n"
             "The compiler makes code for ``sm_<major><minor>`` unless a program asks for another "
             "architecture. Tuples compare in\n"
             "the order of the versions.\n\n"
             ">>> cuda.Device(0).compute_capability() >= (7, 5)\n"
             "True")
        .def("total_memory", &Device::total_memory,
             "Return the size of the device's memory in bytes.\n\n"
             "mem_get_info() returns the free bytes of the current context's device.\n\n"
             ">>> 0 < cuda.mem_get_info()[0] <= cuda.Device(0).total_memory()\n"
             "True")
        .def("get_attribute", get_attribute, nb::arg("attr"),
             "The value of an attribute of the device.\n\n"
             "attr: a member of device_attribute. The attribute defines the unit: bytes, kHz, 0 or "
             "1 ...\n\n"
             "Raises LogicError for a number that is no attribute.\n\n"
             ">>> cuda.Device(0).get_attribute(cuda.device_attribute.MAX_THREADS_PER_BLOCK)\n"
             "1024")
        .def("get_attributes", get_attributes,
             "Return all attributes that the driver knows: a dict with members of device_attribute "
             "as keys.\n\n"
             "The values are ints, and the value of COMPUTE_MODE is a member of compute_mode. An "
             "attribute that is newer than the\n"
             "driver is missing. Each attribute is also an attribute of the Device, in lower case: "
             "``device.warp_size``.\n\n"
             ">>> attributes = cuda.Device(0).get_attributes()\n"
             ">>> attributes[cuda.device_attribute.WARP_SIZE] == cuda.Device(0).warp_size == 32\n"
             "True")
        .def("__getattr__", attribute_by_name, nb::arg("name"))
        .def("make_context", make_context, nb::arg("flags") = 0,
             "Make a new context on this device, and make the context current in this thread.\n\n"
             "flags: a sum of ctx_flags, such as ctx_flags.SCHED_BLOCKING_SYNC.\n\n"
             "detach() ends the context. Most programs use retain_primary_context(), whose context "
             "other libraries share.")
        .def("retain_primary_context", retain_primary_context,
             "The primary context of the device, which torch, CuPy and the CUDA runtime also "
             "use.\n\n"
             "The context does not become current: call push(), or use the context in ``with``.")
        .def("reset_primary_context", reset_primary_context_without_gil,
             "Destroy everything in the primary context of the device, for a new start.\n\n"
             "A fault of a kernel, such as an access out of bounds, leaves a context that runs no "
             "kernel any more. After this call retain_primary_context() returns a new one. All "
             "arrays, "
             "modules, streams and other objects of the old context are refused. Other libraries "
             "of the "
             "process lose their objects on this device as well.")
        .def("__enter__", enter_block)
        .def("__exit__", exit_block)
        .def("can_access_peer", &Device::can_access_peer, nb::arg("dev"),
             "Whether kernels of this device can access memory of ``dev``.\n\n"
             "Context.enable_peer_access() allows the access.")
        .def_prop_ro("handle", &Device::get,
                     "The CUdevice, as an int: the driver's number of this device.\n\n"
                     "Devices are numbered from 0.")
        .def("__hash__", [](const Device &device) { return std::hash<Device>{}(device); })
        .def(
            "__eq__", [](const Device &device, const Device &other) { return device == other; },
            nb::is_operator())
        .def(
            "__ne__", [](const Device &device, const Device &other) { return device != other; },
            nb::is_operator())
        .def("__repr__", represent);
}

} // namespace pycuda::python
