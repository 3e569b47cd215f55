// texture.h -- the references that a Module gives for textures and surfaces its source declares.
#pragma once

#include "bindings.h"

namespace pycuda::python {

/// A TextureReference of the variable `name` of a Module. Throws where it is none.
nb::object texture_reference_of(nb::handle module, const char *name);
nb::object surface_reference_of(nb::handle module, const char *name);

/// Throws TypeError unless every item of texrefs= is a TextureReference, or it is None.
void check_texture_references(nb::handle references);

} // namespace pycuda::python
