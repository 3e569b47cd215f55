// version.h -- the difference between the libraries of CUDA 12 and 13.
#pragma once

namespace softcublas {

/// 120902 for 12.9.2.
extern const int version;
extern const int cuda_version;

} // namespace softcublas
