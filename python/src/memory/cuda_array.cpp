// cuda_array.cpp -- pycuda.driver.Array, its descriptors, mipmaps, and copies to and from arrays.
#include "memory/cuda_array.h"

#include "memory/host_buffer.h"
#include "memory/python_work.h"
#include "support/bind_field.h"
#include "support/python_object.h"
#include "support/with_block.h"

#include <pycuda/driver.h>

#include <nanobind/stl/string.h>

namespace pycuda::python {
namespace {

struct Descriptor {
    CUDA_ARRAY_DESCRIPTOR value{.Width = 0, .Height = 0, .Format = {}, .NumChannels = 0};
};
struct Descriptor3D {
    CUDA_ARRAY3D_DESCRIPTOR value{};
};

/// "4 x 3, 1 channels of FLOAT".
std::string describe(std::initializer_list<std::size_t> extents, CUarray_format format,
                     unsigned channels) {
    std::string text;
    for (std::size_t extent : extents)
        if (text.empty() || extent != 0)
            text += (text.empty() ? "" : " x ") + std::to_string(extent);
    return text + ", " + std::to_string(channels) + " channels of " +
           nb::cast<std::string>(nb::str(enum_member("array_format", static_cast<int>(format))));
}

std::string represent_descriptor(const Descriptor &d) {
    return "<pycuda.driver.ArrayDescriptor " +
           describe({d.value.Width, d.value.Height}, d.value.Format, d.value.NumChannels) + ">";
}

std::string represent_descriptor(const Descriptor3D &d) {
    return "<pycuda.driver.ArrayDescriptor3D " +
           describe({d.value.Width, d.value.Height, d.value.Depth}, d.value.Format,
                    d.value.NumChannels) +
           ">";
}

template <class Bound> void bind_descriptor(nb::class_<Bound> &type) {
    using Value = decltype(Bound::value);
    type.def(nb::init<>()).def("__repr__", [](const Bound &descriptor) {
        return represent_descriptor(descriptor);
    });
    bind_field(type, "width", &Bound::value, &Value::Width, "In elements.");
    bind_field(type, "height", &Bound::value, &Value::Height, "In elements; 0 for one dimension.");
    bind_enum_field(type, "format", &Bound::value, &Value::Format, "array_format",
                    "Of one channel, a member of array_format.");
    bind_field(type, "num_channels", &Bound::value, &Value::NumChannels, "1, 2 or 4.");
}

CudaArray make_array(nb::handle descriptor) {
    if (const Descriptor * flat; nb::try_cast(descriptor, flat) && flat)
        return CudaArray(flat->value);
    if (const Descriptor3D * deep; nb::try_cast(descriptor, deep) && deep)
        return CudaArray(deep->value);
    throw_type_error("descriptor must be an ArrayDescriptor or ArrayDescriptor3D, not " +
                     name_of_type(descriptor));
}

std::string represent(const CudaArray &array) {
    if (array.freed())
        return "<pycuda.driver.Array, freed>";
    const CUDA_ARRAY3D_DESCRIPTOR d = array.description_3d();
    return "<pycuda.driver.Array " +
           describe({d.Width, d.Height, d.Depth}, d.Format, d.NumChannels) + ">";
}

/// Runs a copy for which the driver has no function with a stream in the order of the thread's
/// current stream.
template <class Copy> void copy_in_order(PythonWork &work, Copy &&copy) {
    work.get().require_running("a copy of an Array without a stream");
    if (work.stream().is_default())
        return copy();
    synchronize(work.stream());
    copy();
    synchronize(StreamRef());
}

void memcpy_dtoa(nb::handle array, std::size_t index, nb::handle src, std::size_t bytes) {
    PythonWork work({src, array});
    const CUarray to = cuda_array_of(array, "ary");
    const CUdeviceptr from = work.read(src, "src");
    copy_in_order(work, [&] { driver().cuMemcpyDtoA(to, index, from, bytes); });
}

void memcpy_atod(nb::handle dest, nb::handle array, std::size_t index, std::size_t bytes) {
    PythonWork work({dest, array});
    const CUdeviceptr to = work.write(dest, "dest");
    const CUarray from = cuda_array_of(array, "ary");
    copy_in_order(work, [&] { driver().cuMemcpyAtoD(to, from, index, bytes); });
}

void memcpy_atoa(nb::handle dest, std::size_t dest_index, nb::handle src, std::size_t src_index,
                 std::size_t bytes) {
    PythonWork work({dest, src});
    const CUarray to = cuda_array_of(dest, "dest"), from = cuda_array_of(src, "src");
    copy_in_order(work, [&] { driver().cuMemcpyAtoA(to, dest_index, from, src_index, bytes); });
}

void memcpy_htoa(nb::handle array, std::size_t index, nb::handle src) {
    PythonWork work({array});
    const CUarray to = cuda_array_of(array, "ary");
    const HostBuffer from = HostBuffer::to_read(src, "src");
    copy_in_order(work, [&] { driver().cuMemcpyHtoA(to, index, from.data(), from.size()); });
}

void memcpy_atoh(nb::handle dest, nb::handle array, std::size_t index) {
    PythonWork work({array});
    const HostBuffer to = HostBuffer::to_write(dest, "dest");
    const CUarray from = cuda_array_of(array, "ary");
    copy_in_order(work, [&] { driver().cuMemcpyAtoH(to.data(), from, index, to.size()); });
}

void bind_copies(nb::module_ &module) {
    module.def("memcpy_dtoa", memcpy_dtoa, nb::arg("ary"), nb::arg("index"), nb::arg("src"),
               nb::arg("len"),
               "Copy from device memory to a one-dimensional Array.\n\n"
               "ary: the Array.\n"
               "index: bytes from the begin of ``ary``.\n"
               "src: device memory.\n"
               "len: bytes.");
    module.def("memcpy_atod", memcpy_atod, nb::arg("dest"), nb::arg("ary"), nb::arg("index"),
               nb::arg("len"),
               "Copy from a one-dimensional Array to device memory.\n\n"
               "dest: device memory.\n"
               "ary: the Array.\n"
               "index: bytes from the begin of ``ary``.\n"
               "len: bytes.");
    module.def("memcpy_atoa", memcpy_atoa, nb::arg("dest"), nb::arg("dest_index"), nb::arg("src"),
               nb::arg("src_index"), nb::arg("len"),
               "Copy between one-dimensional Arrays.\n\n"
               "dest, src: the Arrays.\n"
               "dest_index, src_index: bytes from the begin of each.\n"
               "len: bytes.");
    for (const char *name : {"memcpy_htoa", "py_memcpy_htoa"})
        module.def(name, memcpy_htoa, nb::arg("ary"), nb::arg("index"), nb::arg("src"),
                   "Copy a host array to a one-dimensional Array.\n\n"
                   "ary: the Array.\n"
                   "index: bytes from the begin of ``ary``.\n"
                   "src: a contiguous host array. All of its bytes are copied.");
    for (const char *name : {"memcpy_atoh", "py_memcpy_atoh"})
        module.def(name, memcpy_atoh, nb::arg("dest"), nb::arg("ary"), nb::arg("index"),
                   "Copy from a one-dimensional Array to a host array.\n\n"
                   "dest: a contiguous, writable host array. All of its bytes are filled.\n"
                   "ary: the Array.\n"
                   "index: bytes from the begin of ``ary``.");
}

} // namespace

CUarray cuda_array_of(nb::handle object, const char *what) {
    const CudaArray *array = nullptr;
    if (!nb::try_cast(object, array) || !array)
        throw_type_error(std::string(what) + " must be a pycuda.driver.Array, not " +
                         name_of_type(object));
    return array->get();
}

RequireMemory require_memory_of(nb::handle memory, const char *shown_by) {
    return [memory, shown_by] {
        const CudaArray *array = nullptr;
        const MipmappedArray *mipmap = nullptr;
        const bool is_array = nb::try_cast(memory, array) && array;
        if (!is_array && !(nb::try_cast(memory, mipmap) && mipmap))
            static_cast<void>(device_address(memory, shown_by));
        else if (is_array ? array->freed() : mipmap->freed())
            throw Error(shown_by, CUDA_ERROR_INVALID_HANDLE,
                        "the " + name_of_type(memory) + " of this object was freed");
    };
}

void bind_cuda_array(nb::module_ &module) {
    nb::class_<Descriptor> flat(
        module, "ArrayDescriptor",
        "The extents and the format of an Array with one or two dimensions. All attributes start "
        "as 0.\n\n"
        "width, height: elements; a height of 0 makes an array of one dimension.\n"
        "format: the type of one channel, a member of array_format.\n"
        "num_channels: 1, 2 or 4 numbers for each element.\n\n"
        "dtype_to_array_format() finds the format of a NumPy type.\n\n"
        ">>> descriptor = cuda.ArrayDescriptor()\n"
        ">>> descriptor.width, descriptor.height, descriptor.num_channels = 16, 8, 1\n"
        ">>> descriptor.format = cuda.array_format.FLOAT\n"
        ">>> array = cuda.Array(descriptor)\n"
        ">>> array.get_descriptor().height\n"
        "8");
    bind_descriptor(flat);
    nb::class_<Descriptor3D> deep(
        module, "ArrayDescriptor3D",
        "The extents and the format of an Array of up to three dimensions, with flags. All "
        "attributes start as 0.\n\n"
        "width, height, depth: elements; 0 for a dimension that the array does not have.\n"
        "format: the type of one channel, a member of array_format.\n"
        "num_channels: 1, 2 or 4 numbers for each element.\n"
        "flags: a sum of array3d_flags. SURFACE_LDST is needed by surfaces; with ARRAY3D_LAYERED, "
        "depth counts layers.\n\n"
        ">>> descriptor = cuda.ArrayDescriptor3D()\n"
        ">>> descriptor.width, descriptor.height, descriptor.depth = 8, 4, 2\n"
        ">>> descriptor.format, descriptor.num_channels = cuda.array_format.FLOAT, 1\n"
        ">>> cuda.Array(descriptor).get_descriptor_3d().depth\n"
        "2");
    bind_descriptor(deep);
    bind_field(deep, "depth", &Descriptor3D::value, &CUDA_ARRAY3D_DESCRIPTOR::Depth,
               "The depth in elements, or the number of layers with ARRAY3D_LAYERED; 0 for fewer "
               "than three dimensions.");
    bind_field(deep, "flags", &Descriptor3D::value, &CUDA_ARRAY3D_DESCRIPTOR::Flags,
               "A sum of array3d_flags; 0 is a plain array.");

    bind_with_block(
        nb::class_<CudaArray>(module, "Array", nb::dynamic_attr(), nb::is_weak_referenceable(),
                              "Memory in the device's own layout for textures and surfaces. An "
                              "Array has no address.\n\n"
                              "descr: an ArrayDescriptor or an ArrayDescriptor3D.\n\n"
                              "Memcpy2D, Memcpy3D and the functions np_to_array() and "
                              "matrix_to_array() copy to an Array; kernels read an Array as a\n"
                              "texture or surface. The last reference frees the memory, and ``with "
                              "array:`` frees the memory at the end of the block.\n"
                              "Raises LogicError for extents or a format that the device does not "
                              "have, MemoryError if there is too little memory.\n\n"
                              ">>> array = cuda.np_to_array(np.ones((4, 8), np.float32), \"C\")\n"
                              ">>> array.get_descriptor().width, array.get_descriptor().height\n"
                              "(8, 4)")
            .def(
                "__init__",
                [](CudaArray *self, nb::handle descriptor) {
                    new (self) CudaArray(make_array(descriptor));
                },
                nb::arg("descr"))
            .def("free", &CudaArray::free, nb::lock_self(),
                 "Free the array now. Raises LogicError if the array was freed before.")
            .def(
                "get_descriptor", [](const CudaArray &a) { return Descriptor{a.description()}; },
                "Return the width, height, format and number of channels as a new "
                "ArrayDescriptor.\n\n"
                "Changes of the descriptor do not affect the array. Raises LogicError for a freed "
                "array.")
            .def(
                "get_descriptor_3d",
                [](const CudaArray &a) { return Descriptor3D{a.description_3d()}; },
                "Return the width, height, depth, format, number of channels and flags as a new "
                "ArrayDescriptor3D.\n\n"
                "Changes of the descriptor do not affect the array. Raises LogicError for a freed "
                "array.")
            .def_prop_ro("handle", handle_of<CudaArray>,
                         "The CUarray, as an int. Raises LogicError for a freed array.")
            .def("__repr__", represent),
        "free");

    bind_with_block(
        nb::class_<MipmappedArray>(module, "MipmappedArray", nb::is_weak_referenceable(),
                                   "An Array at several resolutions (mipmap levels), for textures "
                                   "that are read at several scales.\n\n"
                                   "descriptor: an ArrayDescriptor3D, the extents of level 0.\n"
                                   "levels: the number of levels. The extents of each level are "
                                   "half of those of the level before, at least 1.\n\n"
                                   "The program fills each level itself; see get_level(). A kernel "
                                   "reads the array through a TextureObject.")
            .def(
                "__init__",
                [](MipmappedArray *self, const Descriptor3D &descriptor, unsigned levels) {
                    new (self) MipmappedArray(descriptor.value, levels);
                },
                nb::arg("descriptor"), nb::arg("levels"))
            .def("__repr__",
                 [](const MipmappedArray &array) {
                     return "<pycuda.driver.MipmappedArray of " + std::to_string(array.levels()) +
                            " levels>";
                 })
            .def_prop_ro("levels", &MipmappedArray::levels,
                         "The number of levels, including level 0.")
            .def("get_level", &MipmappedArray::level, nb::arg("level"), nb::keep_alive<0, 1>(),
                 "Return the Array of one level.\n\n"
                 "level: from 0, the largest level, to levels - 1. Others raise LogicError.\n\n"
                 "The Array keeps the memory of all levels alive, and copies can fill it.")
            .def("free", &MipmappedArray::free, nb::lock_self(),
                 "Free the array with all of its levels now. Raises LogicError if the array was "
                 "freed before.")
            .def_prop_ro("handle", handle_of<MipmappedArray>,
                         "The CUmipmappedArray, as an int. Raises LogicError for a freed array."),
        "free");
    bind_copies(module);
}

} // namespace pycuda::python
