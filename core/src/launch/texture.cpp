// texture.cpp -- texture objects and surface objects.
#include <pycuda/texture.h>

#include <pycuda/driver.h>

#include <string>
#include <utility>

namespace pycuda {

CUresult detail::destroy_texture_object(CUtexObject object) {
    return driver().cuTexObjectDestroy.status(object);
}

CUresult detail::destroy_surface_object(CUsurfObject object) {
    return driver().cuSurfObjectDestroy.status(object);
}

void detail::throw_closed_object(const char *what) {
    throw Error(std::string(what) + "_object", CUDA_ERROR_INVALID_HANDLE,
                "the " + std::string(what) + " was closed before");
}

namespace {

CUtexObject create(const CUDA_RESOURCE_DESC &resource, const CUDA_TEXTURE_DESC &texture) {
    return driver().cuTexObjectCreate.value(&resource, &texture, nullptr);
}

CUsurfObject create(CUarray array) {
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
    return driver().cuSurfObjectCreate.value(&resource);
}

} // namespace

TextureObject::TextureObject(const CUDA_RESOURCE_DESC &resource, const CUDA_TEXTURE_DESC &texture,
                             RequireMemory require_memory)
    : ShownMemory(Owner::adopt(create(resource, texture), Context::require_current()), "texture",
                  std::move(require_memory)) {}

SurfaceObject::SurfaceObject(CUarray array, RequireMemory require_memory)
    : ShownMemory(Owner::adopt(create(array), Context::require_current()), "surface",
                  std::move(require_memory)) {}

} // namespace pycuda
