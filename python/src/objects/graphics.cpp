// graphics.cpp -- buffers and images of OpenGL as device memory: the classes of pycuda.gl.
//
// The driver's OpenGL functions are looked up at their first use, so that this file does not depend
// on OpenGL. RegisteredObject owns a resource. RegisteredMapping is the time for which the resource
// belongs to CUDA instead of OpenGL.
#include "support/bindings.h"

#include "memory/cuda_array.h"
#include "memory/device_pointer.h"

#include <pycuda/device_traits.h>
#include <pycuda/driver.h>
#include <pycuda/handle.h>

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <memory>

namespace pycuda::python {
namespace {

using RegisterBuffer = CUresult(CUDAAPI *)(CUgraphicsResource *, unsigned buffer, unsigned flags);
using RegisterImage = CUresult(CUDAAPI *)(CUgraphicsResource *, unsigned image, unsigned target,
                                          unsigned flags);

void *find_function(const char *name) {
    void *function = nullptr;
    constexpr int since = 3000;
    if (driver().cuGetProcAddress.status(name, &function, since, CU_GET_PROC_ADDRESS_DEFAULT,
                                         nullptr) != CUDA_SUCCESS)
        return nullptr;
    return function;
}

/// A function of the driver for OpenGL.
/// A driver without GPUs has the functions, but no display: they are not supported.
bool have_opengl() {
    return driver_for_cleanup() && !runs_on_host() &&
           find_function("cuGraphicsGLRegisterBuffer") != nullptr;
}

template <class Function> Function opengl_function(const char *name) {
    if (void *function = have_opengl() ? find_function(name) : nullptr)
        return reinterpret_cast<Function>(function);
    throw Error(name, CUDA_ERROR_NOT_SUPPORTED,
                "the driver " + driver().path() +
                    " does not support sharing of objects with OpenGL");
}

CUresult unregister(CUgraphicsResource resource) {
    return driver().cuGraphicsUnregisterResource.status(resource);
}

/// An OpenGL object that CUDA may map.
class RegisteredObject {
  public:
    RegisteredObject(unsigned gl_handle, CUgraphicsResource resource)
        : gl_handle_(gl_handle), resource_(Owner::adopt(resource, Context::require_current())) {}

    unsigned gl_handle() const noexcept { return gl_handle_; }
    CUgraphicsResource get() const {
        if (resource_.get() == nullptr)
            throw Error("registered_object", CUDA_ERROR_INVALID_HANDLE,
                        "OpenGL's object " + std::to_string(gl_handle_) + " was unregistered");
        return resource_.get();
    }
    const Context &context() const noexcept { return resource_.context(); }
    void close() {
        check(unregister(get()), "cuGraphicsUnregisterResource");
        resource_.release();
    }
    void set_map_flags(unsigned flags) const {
        driver().cuGraphicsResourceSetMapFlags(get(), flags);
    }

  private:
    using Owner = Handle<CUgraphicsResource, unregister>;
    unsigned gl_handle_;
    Owner resource_;
};

struct RegisteredBuffer : RegisteredObject {
    using RegisteredObject::RegisteredObject;
};
struct RegisteredImage : RegisteredObject {
    using RegisteredObject::RegisteredObject;
};

/// The time for which CUDA, not OpenGL, uses a registered object.
class RegisteredMapping {
  public:
    RegisteredMapping(std::shared_ptr<RegisteredObject> object, StreamRef stream)
        : object_(std::move(object)), stream_(stream) {
        CUgraphicsResource resource = object_->get();
        driver().cuGraphicsMapResources(1, &resource, stream.get());
    }
    RegisteredMapping(const RegisteredMapping &) = delete;
    RegisteredMapping &operator=(const RegisteredMapping &) = delete;
    ~RegisteredMapping() {
        if (mapped_)
            detail::run_cleanup(
                object_->context(), "cuGraphicsUnmapResources",
                [](void *self) { return static_cast<RegisteredMapping *>(self)->end(); }, this);
    }

    void unmap(StreamRef stream) {
        if (!mapped_)
            throw Error("registered_mapping::unmap", CUDA_ERROR_INVALID_HANDLE,
                        "the object was unmapped before");
        stream_ = stream;
        check(end(), "cuGraphicsUnmapResources");
    }
    StreamRef stream() const noexcept { return stream_; }

    nb::tuple device_pointer() const {
        CUdeviceptr address = 0;
        std::size_t size = 0;
        driver().cuGraphicsResourceGetMappedPointer(&address, &size, object_->get());
        return nb::make_tuple(address, size);
    }
    CudaArray array(unsigned index, unsigned level) const {
        CUarray array = nullptr;
        driver().cuGraphicsSubResourceGetMappedArray(&array, object_->get(), index, level);
        return CudaArray::borrow(array, object_->context());
    }

  private:
    CUresult end() {
        mapped_ = false;
        CUgraphicsResource resource = object_->get();
        return driver().cuGraphicsUnmapResources.status(1, &resource, stream_.get());
    }
    std::shared_ptr<RegisteredObject> object_;
    StreamRef stream_;
    bool mapped_ = true;
};

std::shared_ptr<RegisteredBuffer> register_buffer(unsigned handle, unsigned flags) {
    CUgraphicsResource resource = nullptr;
    check(opengl_function<RegisterBuffer>("cuGraphicsGLRegisterBuffer")(&resource, handle, flags),
          "cuGraphicsGLRegisterBuffer",
          [&] { return "OpenGL's buffer " + std::to_string(handle); });
    return std::make_shared<RegisteredBuffer>(handle, resource);
}

std::shared_ptr<RegisteredImage> register_image(unsigned handle, unsigned target, unsigned flags) {
    CUgraphicsResource resource = nullptr;
    check(opengl_function<RegisterImage>("cuGraphicsGLRegisterImage")(&resource, handle, target,
                                                                      flags),
          "cuGraphicsGLRegisterImage", [&] { return "OpenGL's image " + std::to_string(handle); });
    return std::make_shared<RegisteredImage>(handle, resource);
}

void bind_registered(nb::module_ &module) {
    nb::class_<RegisteredObject>(module, "RegisteredObject", nb::is_weak_referenceable(),
                                 "An OpenGL object that is registered with CUDA. Base class of "
                                 "RegisteredBuffer and RegisteredImage.\n\n"
                                 "map() gives the object to CUDA, and unmap() of the mapping gives "
                                 "it back to OpenGL. The last reference ends the\n"
                                 "registration.")
        .def("gl_handle", &RegisteredObject::gl_handle,
             "Return OpenGL's name of the object, as an int.")
        .def("unregister", &RegisteredObject::close, nb::lock_self(),
             "End the registration: only OpenGL can use the object afterwards.\n\n"
             "Raises LogicError if the object was unregistered before.")
        .def("set_map_flags", &RegisteredObject::set_map_flags, nb::lock_self(), nb::arg("flags"),
             "Set how CUDA will access the object while it is mapped.\n\n"
             "flags: a member of graphics_map_flags: NONE, READ_ONLY or WRITE_DISCARD. Applies to "
             "the next map().\n\n"
             "Raises LogicError for an unregistered object.")
        .def(
            "map",
            [](std::shared_ptr<RegisteredObject> self, nb::handle stream) {
                return std::make_shared<RegisteredMapping>(std::move(self), stream_ref(stream));
            },
            nb::lock_self(), nb::arg("stream") = nb::none(),
            "Map the object for CUDA. Returns a RegisteredMapping.\n\n"
            "stream: a Stream; by default the thread's current stream. Work of the stream runs "
            "after earlier work of OpenGL.\n\n"
            "OpenGL must not use the object until the mapping is unmapped. Raises LogicError for "
            "an unregistered object.");

    nb::class_<RegisteredBuffer, RegisteredObject>(
        module, "RegisteredBuffer",
        "An OpenGL buffer object, registered with CUDA.\n\n"
        "gl_handle: OpenGL's name of the buffer, in OpenGL's current context.\n"
        "flags: a member of graphics_map_flags.\n\n"
        "Raises LogicError if the driver does not support sharing with OpenGL, or if the buffer "
        "does not exist.")
        .def(nb::new_(&register_buffer), nb::arg("gl_handle"),
             nb::arg("flags") = unsigned{CU_GRAPHICS_MAP_RESOURCE_FLAGS_NONE});

    nb::class_<RegisteredImage, RegisteredObject>(
        module, "RegisteredImage",
        "An OpenGL texture or renderbuffer, registered with CUDA.\n\n"
        "gl_handle: OpenGL's name of the image, in OpenGL's current context.\n"
        "target: the kind of the image, OpenGL's constant, such as GL_TEXTURE_2D.\n"
        "flags: a member of graphics_map_flags.\n\n"
        "Raises LogicError if the driver does not support sharing with OpenGL, or if the image "
        "does not exist.")
        .def(nb::new_(&register_image), nb::arg("gl_handle"), nb::arg("target"),
             nb::arg("flags") = unsigned{CU_GRAPHICS_MAP_RESOURCE_FLAGS_NONE});
}

} // namespace

void bind_graphics(nb::module_ &module) {
    bind_registered(module);

    nb::class_<RegisteredMapping>(module, "RegisteredMapping", nb::is_weak_referenceable(),
                                  "The mapping of an OpenGL object: CUDA may use the object until "
                                  "unmap(), and OpenGL must not.\n\n"
                                  "RegisteredObject.map() makes the mapping.")
        .def(
            "unmap",
            [](RegisteredMapping &self, nb::object stream) {
                self.unmap(stream.is_none() ? self.stream() : stream_ref(stream));
            },
            nb::lock_self(), nb::arg("stream") = nb::none(),
            "End the mapping, so that OpenGL can use the object again.\n\n"
            "stream: a Stream; by default the stream of map(). OpenGL's work runs after the "
            "stream's earlier work.\n\n"
            "Raises LogicError if the object was unmapped before.")
        .def("device_ptr_and_size", &RegisteredMapping::device_pointer, nb::lock_self(),
             "Return the device address and the size in bytes of a mapped buffer, as a tuple of "
             "ints.\n\n"
             "The address is valid until unmap(). Raises LogicError for an image.")
        .def("array", &RegisteredMapping::array, nb::lock_self(), nb::arg("index"),
             nb::arg("level"),
             "Return the Array of a mapped image.\n\n"
             "index: the face of a cube map, or the layer.\n"
             "level: the mipmap level; 0 is the largest.\n\n"
             "The Array is valid until unmap(). Raises LogicError for a buffer.");

    module.def(
        "have_gl_ext", have_opengl,
        "Return whether the driver in use supports sharing of objects with OpenGL.\n\n"
        "False before the first use of the driver, and for softcuda. pycuda.gl has the functions.");
}

} // namespace pycuda::python
