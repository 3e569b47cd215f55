// texture.cpp -- TextureReference and SurfaceReference, for sources that declare textures as
// variables; TextureObject and SurfaceObject, which are kernel arguments.
//
// A reference represents a variable of the module that contains a texture object (DeclaredTexture).
// Each call that changes how the texture is read creates a new object and stores its number in the
// variable, so a launch has no extra work.
#include "memory/texture.h"

#include "launch/argument_types.h"
#include "memory/cuda_array.h"
#include "memory/device_pointer.h"
#include "memory/texture_binding.h"
#include "support/bool_like.h"
#include "support/python_object.h"
#include "support/with_block.h"

#include <pycuda/array_memory.h>
#include <pycuda/copy.h>
#include <pycuda/module.h>
#include <pycuda/texture.h>
#include <pycuda/work.h>

#include <nanobind/stl/string.h>

#include <memory>
#include <optional>
#include <utility>

namespace pycuda::python {
namespace {

bool is_integer(CUarray_format format) {
    return format != CU_AD_FORMAT_FLOAT && format != CU_AD_FORMAT_HALF;
}

/// Throws unless a texture can have this dimension, for the method `what`.
void check_dimension(int dimension, const char *what) {
    if (dimension < 0 || dimension > 2)
        throw Error(what, CUDA_ERROR_INVALID_VALUE,
                    "the dimension is " + std::to_string(dimension) + ", expected 0, 1 or 2");
}

/// Stores the number of `made` in a variable of the module, instead of that of `bound`.
template <class Object>
void rebind(const Module &module, CUdeviceptr variable, std::unique_ptr<Binding<Object>> &bound,
            std::unique_ptr<Binding<Object>> made) {
    if (bound)
        bound->wait();
    const auto number = made->object().get();
    static_cast<void>(module.get()); // throws if the module was unloaded
    // In a stream of its own, which is waited for: the host does not wait for the end of a small
    // copy in the default stream, nor does a non-blocking stream with the next launch.
    const WorkOutsideCapture outside;
    Work work(ArrayContext::current()->side_stream());
    copy_to_device(variable, &number, sizeof number, work);
    bound.swap(made);
}

// TextureReference.

class TextureReference {
  public:
    TextureReference() = default;
    TextureReference(Module module, CUdeviceptr variable, const DeclaredTexture &declared)
        : module_(std::move(module)), variable_(variable), format_(declared.format),
          channels_(declared.channels), declared_(declared) {}

    void set_array(nb::object array);
    std::size_t set_address(nb::object memory, std::size_t bytes, BoolLike allow_offset);
    void set_address_2d(nb::object memory, nb::handle descriptor, std::size_t pitch);
    void set_format(int format, int channels);
    void set_address_mode(int dimension, int mode);
    void set_filter_mode(int mode);
    void set_flags(unsigned flags);

    CUdeviceptr address() const;
    nb::object array() const { return is_array() ? bound_->memory() : nb::none(); }
    nb::object address_mode(int dimension) const;
    nb::object filter_mode() const { return enum_member("filter_mode", description_.filterMode); }
    nb::tuple format() const {
        return nb::make_tuple(enum_member("array_format", format_), channels_);
    }
    unsigned flags() const { return description_.flags; }
    CUtexObject handle() const { return bound_ ? bound_->object().get() : 0; }

  private:
    bool is_bound() const { return bound_ != nullptr; }
    bool is_array() const { return is_bound() && resource_.resType == CU_RESOURCE_TYPE_ARRAY; }
    unsigned effective_flags() const;
    void fill_format(CUDA_RESOURCE_DESC &resource) const;
    void bind(CUDA_RESOURCE_DESC resource, nb::object memory);
    void update();

    std::optional<Module> module_; ///< keeps the variable alive
    CUdeviceptr variable_ = 0;
    CUarray_format format_ = CU_AD_FORMAT_FLOAT;
    int channels_ = 1;
    std::optional<DeclaredTexture> declared_;
    CUDA_RESOURCE_DESC resource_{};
    CUDA_TEXTURE_DESC description_{};
    std::unique_ptr<Binding<TextureObject>> bound_;
};

/// Whether a fetch returns integers or floats is fixed when the kernel is compiled.
unsigned TextureReference::effective_flags() const {
    if (!declared_)
        return description_.flags;
    const bool integers = is_integer(declared_->format) && declared_->reads_normalized == 0;
    const unsigned rest = description_.flags & ~unsigned{CU_TRSF_READ_AS_INTEGER};
    return integers ? rest | CU_TRSF_READ_AS_INTEGER : rest;
}

void TextureReference::fill_format(CUDA_RESOURCE_DESC &resource) const {
    if (resource.resType == CU_RESOURCE_TYPE_LINEAR) {
        resource.res.linear.format = format_;
        resource.res.linear.numChannels = static_cast<unsigned>(channels_);
    } else if (resource.resType == CU_RESOURCE_TYPE_PITCH2D) {
        resource.res.pitch2D.format = format_;
        resource.res.pitch2D.numChannels = static_cast<unsigned>(channels_);
    }
}

void TextureReference::bind(CUDA_RESOURCE_DESC resource, nb::object memory) {
    fill_format(resource);
    CUDA_TEXTURE_DESC description = description_;
    description.flags = effective_flags();
    TextureObject object(resource, description, require_memory_of(memory, "texture_reference"));
    auto made = std::make_unique<Binding<TextureObject>>(std::move(object), std::move(memory));
    if (module_)
        rebind(*module_, variable_, bound_, std::move(made));
    else
        bound_ = std::move(made);
    resource_ = resource;
}

void TextureReference::update() {
    if (handle() != 0) // throws if the memory was freed
        bind(resource_, bound_->memory());
}

void TextureReference::set_array(nb::object array) {
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = cuda_array_of(array, "array");
    bind(resource, std::move(array));
}

std::size_t TextureReference::set_address(nb::object memory, std::size_t bytes,
                                          BoolLike allow_offset) {
    const CUdeviceptr address = device_address(memory, "devptr");
    const auto alignment = static_cast<std::size_t>(
        Context::require_current().device().attribute(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT));
    const std::size_t offset = address % alignment;
    if (offset != 0 && !allow_offset)
        throw Error("texture_reference::set_address", CUDA_ERROR_INVALID_VALUE,
                    "the address is " + std::to_string(offset) + " bytes above a multiple of " +
                        std::to_string(alignment) +
                        "; pass allow_offset=True to permit the offset");
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_LINEAR;
    resource.res.linear.devPtr = address - offset;
    resource.res.linear.sizeInBytes = bytes + offset;
    bind(resource, std::move(memory));
    return offset;
}

void TextureReference::set_address_2d(nb::object memory, nb::handle descriptor, std::size_t pitch) {
    const CUdeviceptr address = device_address(memory, "devptr");
    if (!optional_attribute(descriptor, "num_channels").is_valid())
        throw_type_error("descr must be an ArrayDescriptor, not " + name_of_type(descriptor));
    format_ = CUarray_format(nb::cast<int>(descriptor.attr("format")));
    channels_ = nb::cast<int>(descriptor.attr("num_channels"));
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_PITCH2D;
    resource.res.pitch2D.devPtr = address;
    resource.res.pitch2D.width = nb::cast<std::size_t>(descriptor.attr("width"));
    resource.res.pitch2D.height = nb::cast<std::size_t>(descriptor.attr("height"));
    resource.res.pitch2D.pitchInBytes = pitch;
    bind(resource, std::move(memory));
}

void TextureReference::set_format(int format, int channels) {
    format_ = CUarray_format(format);
    channels_ = channels;
    if (!is_array()) // an array has its own format
        update();
}

void TextureReference::set_address_mode(int dimension, int mode) {
    check_dimension(dimension, "texture_reference::set_address_mode");
    description_.addressMode[dimension] = CUaddress_mode(mode);
    update();
}

void TextureReference::set_filter_mode(int mode) {
    description_.filterMode = CUfilter_mode(mode);
    update();
}

void TextureReference::set_flags(unsigned flags) {
    description_.flags = flags;
    update();
}

CUdeviceptr TextureReference::address() const {
    if (is_bound() && resource_.resType == CU_RESOURCE_TYPE_LINEAR)
        return resource_.res.linear.devPtr;
    if (is_bound() && resource_.resType == CU_RESOURCE_TYPE_PITCH2D)
        return resource_.res.pitch2D.devPtr;
    throw Error("texture_reference::get_address", CUDA_ERROR_INVALID_VALUE,
                "no memory is bound to this texture");
}

nb::object TextureReference::address_mode(int dimension) const {
    check_dimension(dimension, "texture_reference::get_address_mode");
    return enum_member("address_mode", description_.addressMode[dimension]);
}

// SurfaceReference.

class SurfaceReference {
  public:
    SurfaceReference(Module module, CUdeviceptr variable)
        : module_(std::move(module)), variable_(variable) {}

    void set_array(nb::object array, unsigned) {
        SurfaceObject object(cuda_array_of(array, "array"));
        auto made = std::make_unique<Binding<SurfaceObject>>(std::move(object), std::move(array));
        rebind(module_, variable_, bound_, std::move(made));
    }
    nb::object array() const { return bound_ ? bound_->memory() : nb::none(); }

  private:
    Module module_;
    CUdeviceptr variable_;
    std::unique_ptr<Binding<SurfaceObject>> bound_;
};

/// The variable, which must be a declared texture or surface.
template <class Declared>
CUdeviceptr find_variable(nb::handle module, const char *name, const char *what) {
    const AddressRange range = nb::cast<const Module &>(module).global(name);
    if (range.size != sizeof(Declared))
        throw Error(
            what, CUDA_ERROR_INVALID_VALUE,
            "variable '" + std::string(name) + "' has " + std::to_string(range.size) +
                " bytes and is not a texture<> or surface<> of a source that pycuda compiled");
    return range.base;
}

/// The module's reference with this name. The module keeps it, because memory stays bound when the
/// program drops the reference.
template <class Reference, class Make>
nb::object reference_of(nb::handle module, const char *name, Make &&make) {
    nb::object attributes = module.attr("__dict__");
    auto references = nb::cast<nb::dict>(attributes.attr("setdefault")("_references", nb::dict()));
    if (references.contains(name) && nb::isinstance<Reference>(nb::handle(references[name])))
        return nb::borrow(references[name]);
    return references.attr("setdefault")(name, make()); // another thread may have stored one first
}

CUDA_RESOURCE_DESC linear_resource(nb::handle memory, std::size_t bytes, int format,
                                   unsigned channels) {
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_LINEAR;
    resource.res.linear.devPtr = device_address(memory, "resource");
    resource.res.linear.format = CUarray_format(format);
    resource.res.linear.numChannels = channels;
    resource.res.linear.sizeInBytes = bytes;
    return resource;
}

CUDA_RESOURCE_DESC resource_of(nb::handle memory, std::size_t bytes, int format,
                               unsigned channels) {
    CUDA_RESOURCE_DESC resource{};
    if (const MipmappedArray * mipmap; nb::try_cast(memory, mipmap) && mipmap) {
        resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
        resource.res.mipmap.hMipmappedArray = mipmap->get();
        return resource;
    }
    if (nb::isinstance<CudaArray>(memory)) {
        resource.resType = CU_RESOURCE_TYPE_ARRAY;
        resource.res.array.hArray = cuda_array_of(memory, "resource");
        return resource;
    }
    if (bytes == 0)
        throw_value_error("a texture of device memory needs its size in bytes");
    return linear_resource(memory, bytes, format, channels);
}

CUarray_format format_of(const CUDA_RESOURCE_DESC &resource, nb::handle memory) {
    if (resource.resType == CU_RESOURCE_TYPE_LINEAR)
        return resource.res.linear.format;
    if (resource.resType == CU_RESOURCE_TYPE_ARRAY)
        return nb::cast<const CudaArray &>(memory).description_3d().Format;
    return nb::cast<const MipmappedArray &>(memory).level(0).description_3d().Format;
}

struct TextureOptions {
    nb::handle address_mode;
    int filter_mode;
    bool normalized_coordinates;
    bool normalized_float;
    bool srgb;
    unsigned max_anisotropy;
    float max_mipmap_level;
};

CUDA_TEXTURE_DESC describe(const TextureOptions &options, bool integers) {
    CUDA_TEXTURE_DESC description{};
    for (int i = 0; i < 3; ++i) {
        const bool is_list = PySequence_Check(options.address_mode.ptr()) != 0;
        if (is_list && nb::len(options.address_mode) == 0)
            throw_value_error("address_mode must have a mode for each axis, but is empty");
        nb::object mode = is_list
                              ? nb::object(options.address_mode[i % nb::len(options.address_mode)])
                              : nb::borrow(options.address_mode);
        description.addressMode[i] = CUaddress_mode(nb::cast<int>(mode));
    }
    description.filterMode = CUfilter_mode(options.filter_mode);
    description.mipmapFilterMode = CUfilter_mode(options.filter_mode);
    description.maxAnisotropy = options.max_anisotropy;
    description.maxMipmapLevelClamp = options.max_mipmap_level;
    if (options.normalized_coordinates)
        description.flags |= CU_TRSF_NORMALIZED_COORDINATES;
    if (integers && !options.normalized_float)
        description.flags |= CU_TRSF_READ_AS_INTEGER;
    if (options.srgb)
        description.flags |= CU_TRSF_SRGB;
    return description;
}

/// nanobind's keep_alive keeps the bound memory alive.
void make_texture(TextureObject *self, nb::handle memory, nb::handle address_mode, int filter_mode,
                  BoolLike normalized_coordinates, BoolLike normalized_float, BoolLike srgb,
                  unsigned max_anisotropy, std::size_t size, int format, unsigned channels) {
    const CUDA_RESOURCE_DESC resource = resource_of(memory, size, format, channels);
    const MipmappedArray *mipmap = nullptr;
    const bool has_levels = nb::try_cast(memory, mipmap) && mipmap;
    const TextureOptions options{address_mode,
                                 filter_mode,
                                 normalized_coordinates,
                                 normalized_float,
                                 srgb,
                                 max_anisotropy,
                                 has_levels ? static_cast<float>(mipmap->levels() - 1) : 0.0f};
    new (self) TextureObject(resource, describe(options, is_integer(format_of(resource, memory))),
                             require_memory_of(memory, "texture_object"));
}

template <class Object> void pack_object(const ArgumentType &, PyObject *value, Packing &packing) {
    const auto number = nb::inst_ptr<Object>(value)->get();
    if (!packing.block.try_push(&number, sizeof number, ValueKind::Unsigned))
        packing.block.reject("a " + name_of_type(value));
    packing.staged.use().keep_until_done(keep_alive(nb::borrow(value)));
}

/// What TextureObject and SurfaceObject share.
template <class Object> void bind_object(nb::class_<Object> &type, const char *handle) {
    type.def_prop_ro("handle", &Object::get, handle)
        .def("__index__", &Object::get)
        .def("close", &Object::close, nb::lock_self(),
             "Destroy the object now. Kernels that use the object must be done. A second call does "
             "nothing.");
    bind_with_block(type, "close");
    ArgumentTypes::add({reinterpret_cast<PyTypeObject *>(type.ptr()),
                        pack_object<Object>,
                        {},
                        0,
                        false,
                        nullptr,
                        true});
}

void bind_references(nb::module_ &module) {
    nb::class_<TextureReference>(module, "TextureReference", nb::dynamic_attr(),
                                 nb::is_weak_referenceable(),
                                 "A texture that a kernel's source declares as a variable. "
                                 "Module.get_texref() returns it.\n\n"
                                 "set_array() binds an Array, set_address() or set_address_2d() "
                                 "device memory. The kernel's call lists the texture\n"
                                 "reference in ``texrefs``, which keeps the bound memory alive. "
                                 "New sources take a TextureObject as an argument.")
        .def(nb::init<>())
        .def("set_array", &TextureReference::set_array, nb::lock_self(), nb::arg("array"),
             "Bind an Array, which the kernel then reads.\n\n"
             "array: the Array. Its format and number of channels become those of the texture.\n\n"
             "After Array.free(), the memory returns when other memory is bound, or when the "
             "module ends. A call that lists\n"
             "the reference in ``texrefs`` raises LogicError then.")
        .def("set_address", &TextureReference::set_address, nb::lock_self(), nb::arg("devptr"),
             nb::arg("bytes"), nb::arg("allow_offset") = false,
             "Bind device memory, which the kernel reads with tex1Dfetch.\n\n"
             "devptr: device memory.\n"
             "bytes: the size.\n"
             "allow_offset: True accepts an address that is not aligned for textures.\n\n"
             "Returns the offset in bytes that the kernel must add to its index; 0 for an aligned "
             "address.")
        .def("set_address_2d", &TextureReference::set_address_2d, nb::lock_self(),
             nb::arg("devptr"), nb::arg("descr"), nb::arg("pitch"),
             "Bind rows in device memory, which the kernel reads as a two-dimensional texture.\n\n"
             "devptr: device memory.\n"
             "descr: an ArrayDescriptor with width, height, format and channels.\n"
             "pitch: bytes from the begin of a row to the begin of the next row.")
        .def("set_format", &TextureReference::set_format, nb::lock_self(), nb::arg("format"),
             nb::arg("num_components"),
             "Set the format of device memory that is bound with set_address().\n\n"
             "format: a member of array_format.\n"
             "num_components: channels of an element: 1, 2 or 4.")
        .def("set_address_mode", &TextureReference::set_address_mode, nb::lock_self(),
             nb::arg("dim"), nb::arg("am"),
             "Set which element a read outside the texture returns, for one dimension.\n\n"
             "dim: the dimension, from 0 to 2.\n"
             "am: a member of address_mode.")
        .def("set_filter_mode", &TextureReference::set_filter_mode, nb::lock_self(), nb::arg("fm"),
             "Set how a read between elements works.\n\n"
             "fm: filter_mode.POINT reads the nearest element; LINEAR mixes the 2, 4 or 8 nearest "
             "elements, with weights of 8 bits.")
        .def("set_flags", &TextureReference::set_flags, nb::lock_self(), nb::arg("flags"),
             "Set how the texture is read.\n\n"
             "flags: a sum of TRSF_NORMALIZED_COORDINATES (coordinates from 0 to 1 instead of "
             "indices) and TRSF_READ_AS_INTEGER\n"
             "  (integers as integers, not as floats from 0 to 1). The declared type of the "
             "texture decides about the latter.")
        .def("get_address", &TextureReference::address, nb::lock_self(),
             "Return the bound address of device memory. Raises LogicError if no memory is bound.")
        .def("get_array", &TextureReference::array, nb::lock_self(),
             "Return the bound Array. Raises LogicError if no Array is bound.")
        .def("get_address_mode", &TextureReference::address_mode, nb::lock_self(), nb::arg("dim"),
             "Return the address mode of one dimension: a member of address_mode.\n\n"
             "dim: the dimension, from 0 to 2. Others raise LogicError.")
        .def(
            "get_filter_mode", &TextureReference::filter_mode, nb::lock_self(),
            "Return how a read between elements works: filter_mode.POINT or filter_mode.LINEAR.\n\n"
            "POINT reads the nearest element; see set_filter_mode().")
        .def("get_format", &TextureReference::format, nb::lock_self(),
             "Return the format as a tuple: a member of array_format, and the number of "
             "channels.\n\n"
             "Binding an Array sets both; set_format() sets both for device memory.")
        .def("get_flags", &TextureReference::flags, nb::lock_self(),
             "Return the flags, a sum of ``TRSF_`` constants; see set_flags().")
        .def_prop_ro("handle", &TextureReference::handle,
                     "The CUtexObject that the kernel uses, as an int; 0 if no memory is bound.");

    nb::class_<SurfaceReference>(module, "SurfaceReference", nb::dynamic_attr(),
                                 nb::is_weak_referenceable(),
                                 "A surface that a kernel's source declares as a variable: an "
                                 "Array that kernels read and write.\n\n"
                                 "Module.get_surfref() returns the surface, and set_array() binds "
                                 "the Array. New sources take a SurfaceObject as an\n"
                                 "argument.")
        .def("set_array", &SurfaceReference::set_array, nb::lock_self(), nb::arg("array"),
             nb::arg("flags") = 0,
             "Bind an Array, which the kernel then reads and writes.\n\n"
             "array: an Array that was made with array3d_flags.SURFACE_LDST.\n"
             "flags: must be 0.")
        .def("get_array", &SurfaceReference::array, nb::lock_self(),
             "Return the bound Array. Raises LogicError if no Array is bound.");
}

} // namespace

nb::object texture_reference_of(nb::handle module, const char *name) {
    return reference_of<TextureReference>(module, name, [&] {
        const CUdeviceptr variable = find_variable<DeclaredTexture>(module, name, "get_texref");
        DeclaredTexture declared{};
        const WorkOutsideCapture outside;
        copy_to_host(&declared, variable, sizeof declared, Work(current_stream()));
        return nb::cast(TextureReference(nb::cast<Module>(module), variable, declared));
    });
}

nb::object surface_reference_of(nb::handle module, const char *name) {
    return reference_of<SurfaceReference>(module, name, [&] {
        const CUdeviceptr variable = find_variable<DeclaredSurface>(module, name, "get_surfref");
        return nb::cast(SurfaceReference(nb::cast<Module>(module), variable));
    });
}

bool is_texture_or_surface(nb::handle argument) {
    return nb::isinstance<TextureObject>(argument) || nb::isinstance<SurfaceObject>(argument);
}

void check_texture_references(nb::handle references) {
    if (references.is_none())
        return;
    for (nb::handle item : nb::borrow<nb::iterable>(references)) {
        const TextureReference *reference = nullptr;
        if (!nb::try_cast(item, reference) || !reference)
            throw_type_error("texrefs must hold TextureReferences, not " + name_of_type(item));
        static_cast<void>(reference->handle()); // throws if its memory was freed
    }
}

void bind_texture(nb::module_ &module) {
    bind_references(module);

    nb::class_<TextureObject> texture(
        module, "TextureObject", nb::is_weak_referenceable(),
        "A texture: describes how kernels read an Array, a MipmappedArray or device memory.\n\n"
        "A kernel takes the object as an argument of type cudaTextureObject_t, and reads with "
        "tex1D(), tex2D() and their like.\n"
        "The object keeps the memory alive. ``with texture:`` closes the object at the end of the "
        "block.\n\n"
        "resource: an Array, a MipmappedArray or device memory.\n"
        "address_mode: which element a read outside the texture returns: a member of address_mode, "
        "or a sequence of three.\n"
        "filter_mode: POINT reads the nearest element, LINEAR interpolates between elements.\n"
        "normalized_coordinates: True for coordinates from 0 to 1 instead of indices.\n"
        "normalized_float: True converts integer elements to floats from 0 to 1 (unsigned) or from "
        "-1 to 1 (signed).\n"
        "srgb: True converts elements from sRGB to linear values.\n"
        "max_anisotropy: the largest ratio of anisotropic filtering.\n"
        "size: bytes of device memory. Needed for device memory only.\n"
        "format, num_channels: the element type of device memory: a member of array_format, and 1, "
        "2 or 4 channels.\n\n"
        "Raises ValueError for device memory without a size.\n\n"
        ">>> array = cuda.np_to_array(np.arange(8, dtype=np.float32).reshape(2, 4), \"C\")\n"
        ">>> texture = cuda.TextureObject(array)\n"
        ">>> read = compiler.SourceModule('''\n"
        "... __global__ void read(cudaTextureObject_t t, float *out) { *out = tex2D<float>(t, 3.f, "
        "1.f); }\n"
        "... ''').get_function(\"read\")\n"
        ">>> out = gpuarray.zeros(1, np.float32)\n"
        ">>> read(texture, out, block=(1, 1, 1))\n"
        ">>> out\n"
        "array([7.], dtype=float32)");
    texture.def("__init__", make_texture, nb::arg("resource"), nb::kw_only(),
                nb::arg("address_mode") = int{CU_TR_ADDRESS_MODE_CLAMP},
                nb::arg("filter_mode") = int{CU_TR_FILTER_MODE_POINT},
                nb::arg("normalized_coordinates") = false, nb::arg("normalized_float") = false,
                nb::arg("srgb") = false, nb::arg("max_anisotropy") = 0, nb::arg("size") = 0,
                nb::arg("format") = int{CU_AD_FORMAT_FLOAT}, nb::arg("num_channels") = 1,
                nb::keep_alive<1, 2>(), "Create the texture. The class describes the parameters.");
    bind_object(
        texture,
        "The CUtexObject, as an int: the value of a kernel argument of type cudaTextureObject_t.");

    nb::class_<SurfaceObject> surface(
        module, "SurfaceObject", nb::is_weak_referenceable(),
        "A surface: kernels read and write an Array through it, without filtering.\n\n"
        "array: an Array that was made with array3d_flags.SURFACE_LDST. The object keeps the Array "
        "alive.\n\n"
        "A kernel takes the object as an argument of type cudaSurfaceObject_t, and uses "
        "surf2Dread(), surf2Dwrite() and their\n"
        "like, whose x coordinates are in bytes. ``with surface:`` closes the object at the end of "
        "the block.");
    surface.def(
        "__init__",
        [](SurfaceObject *self, nb::handle array) {
            new (self) SurfaceObject(cuda_array_of(array, "array"),
                                     require_memory_of(array, "surface_object"));
        },
        nb::arg("array"), nb::keep_alive<1, 2>());
    bind_object(
        surface,
        "The CUsurfObject, as an int: the value of a kernel argument of type cudaSurfaceObject_t.");
}

} // namespace pycuda::python
