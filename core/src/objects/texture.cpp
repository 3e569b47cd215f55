// texture.cpp -- texture objects and surface objects.
#include <pycuda/texture.h>

#include <pycuda/driver.h>

#include <utility>

namespace pycuda {

CUresult detail::destroy_texture_object(CUtexObject object) {
    return driver().cuTexObjectDestroy.status(object);
}

CUresult detail::destroy_surface_object(CUsurfObject object) {
    return driver().cuSurfObjectDestroy.status(object);
}

namespace {

CUtexObject create(const CUDA_RESOURCE_DESC &resource, const CUDA_TEXTURE_DESC &texture) {
    CUtexObject object = 0;
    driver().cuTexObjectCreate(&object, &resource, &texture, nullptr);
    return object;
}

CUsurfObject create(CUarray array) {
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
    CUsurfObject object = 0;
    driver().cuSurfObjectCreate(&object, &resource);
    return object;
}

} // namespace

TextureObject::TextureObject(const CUDA_RESOURCE_DESC &resource, const CUDA_TEXTURE_DESC &texture,
                             RequireMemory require_memory)
    : handle_(Handle<CUtexObject, detail::destroy_texture_object>::adopt(
          create(resource, texture), Context::require_current())),
      require_memory_(std::move(require_memory)) {}

SurfaceObject::SurfaceObject(CUarray array, RequireMemory require_memory)
    : handle_(Handle<CUsurfObject, detail::destroy_surface_object>::adopt(
          create(array), Context::require_current())),
      require_memory_(std::move(require_memory)) {}

CUtexObject TextureObject::get() const {
    if (handle_.get() == 0)
        throw Error("texture_object", CUDA_ERROR_INVALID_HANDLE, "the texture was closed before");
    if (require_memory_)
        require_memory_();
    return handle_.live("texture");
}

CUsurfObject SurfaceObject::get() const {
    if (handle_.get() == 0)
        throw Error("surface_object", CUDA_ERROR_INVALID_HANDLE, "the surface was closed before");
    if (require_memory_)
        require_memory_();
    return handle_.live("surface");
}

} // namespace pycuda
