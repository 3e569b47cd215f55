// texture.h -- references for textures and surfaces that the source of a Module declares.
#pragma once

#include "support/bindings.h"

namespace pycuda::python {

/// A TextureReference for the variable `name` of a Module. Throws if the variable is not a texture.
nb::object texture_reference_of(nb::handle module, const char *name);
nb::object surface_reference_of(nb::handle module, const char *name);

/// Whether an argument is a TextureObject or a SurfaceObject, which a kernel in flight needs.
bool is_texture_or_surface(nb::handle argument);

/// Throws TypeError unless `references` is None or all its items are TextureReferences, and Error
/// if the memory of one was freed.
void check_texture_references(nb::handle references);

} // namespace pycuda::python
