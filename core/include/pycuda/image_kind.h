// image_kind.h -- the forms that device code comes in.
#pragma once

namespace pycuda {

/// What a compilation makes and a driver loads. Drivers in software take only Ptx.
enum class ImageKind { Ptx, Cubin, Fatbin, LtoIr };

} // namespace pycuda
