// pycuda-helpers.hpp -- numbers of double precision and complex numbers in textures and surfaces.
//
// Texels have at most four channels of 32 bits, so a double is fetched as int2 and reassembled:
//
//     texture<fp_tex_double, 1> values;
//     double x = fp_tex1Dfetch(values, i);
//
//     texel           fp_tex_double = int2    fp_tex_cfloat = uint2    fp_tex_cdouble = int4
//     is read as      double                  complex<float>           complex<double>
#pragma once

#include <pycuda-complex.hpp>
#include <pycuda-texture-references.hpp>

extern "C++" {

typedef float fp_tex_float;
typedef int2 fp_tex_double;
typedef uint2 fp_tex_cfloat;
typedef int4 fp_tex_cdouble;

namespace pycuda_texture {

// The value of a texel, and the texel of a value.
__device__ __forceinline__ double value_of(int2 texel) {
    return __hiloint2double(texel.y, texel.x);
}
__device__ __forceinline__ pycuda::complex<float> value_of(uint2 texel) {
    return pycuda::complex<float>(__uint_as_float(texel.x), __uint_as_float(texel.y));
}
__device__ __forceinline__ pycuda::complex<double> value_of(int4 texel) {
    return pycuda::complex<double>(__hiloint2double(texel.y, texel.x),
                                   __hiloint2double(texel.w, texel.z));
}
template <class T> __device__ __forceinline__ T value_of(T texel) { return texel; }

__device__ __forceinline__ int2 texel_of(double value) {
    return make_int2(__double2loint(value), __double2hiint(value));
}
__device__ __forceinline__ uint2 texel_of(pycuda::complex<float> value) {
    return make_uint2(__float_as_uint(value.real()), __float_as_uint(value.imag()));
}
__device__ __forceinline__ int4 texel_of(pycuda::complex<double> value) {
    return make_int4(__double2loint(value.real()), __double2hiint(value.real()),
                     __double2loint(value.imag()), __double2hiint(value.imag()));
}
template <class T> __device__ __forceinline__ T texel_of(T value) { return value; }

} // namespace pycuda_texture

#define PYCUDA_TEXTURE const texture<T, D, M> &t
#define PYCUDA_FP_FETCH(name, parameters, call)                                                    \
    template <class T, int D, cudaTextureReadMode M>                                               \
    __device__ __forceinline__ auto name parameters {                                              \
        return pycuda_texture::value_of(call);                                                     \
    }
PYCUDA_FP_FETCH(fp_tex1Dfetch, (PYCUDA_TEXTURE, int i), tex1Dfetch(t, i))
PYCUDA_FP_FETCH(fp_tex2D, (PYCUDA_TEXTURE, float x, float y), tex2D(t, x, y))
PYCUDA_FP_FETCH(fp_tex2DLayered, (PYCUDA_TEXTURE, float x, float y, int layer),
                tex2DLayered(t, x, y, layer))
PYCUDA_FP_FETCH(fp_tex3D, (PYCUDA_TEXTURE, float x, float y, float z), tex3D(t, x, y, z))
#undef PYCUDA_FP_FETCH
#undef PYCUDA_TEXTURE

/// The functions above support every type; this macro is kept for sources that use it.
#define PYCUDA_GENERATE_FP_TEX_FUNCS(TYPE)

/// `x` counts elements, not bytes.
template <class T, class V, int D>
__device__ __forceinline__ void
fp_surf2DLayeredwrite(T value, const surface<V, D> &s, int x, int y, int layer,
                      cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    surf2DLayeredwrite(pycuda_texture::texel_of(value), s, x * (int)sizeof(T), y, layer, mode);
}
template <class T, class V, int D>
__device__ __forceinline__ void
fp_surf2DLayeredread(T *value, const surface<V, D> &s, int x, int y, int layer,
                     cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    decltype(pycuda_texture::texel_of(*value)) texel;
    surf2DLayeredread(&texel, s, x * (int)sizeof(T), y, layer, mode);
    *value = pycuda_texture::value_of(texel);
}
template <class T, class V, int D>
__device__ __forceinline__ void
fp_surf3Dwrite(T value, const surface<V, D> &s, int x, int y, int z,
               cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    surf3Dwrite(pycuda_texture::texel_of(value), s, x * (int)sizeof(T), y, z, mode);
}
template <class T, class V, int D>
__device__ __forceinline__ void
fp_surf3Dread(T *value, const surface<V, D> &s, int x, int y, int z,
              cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    decltype(pycuda_texture::texel_of(*value)) texel;
    surf3Dread(&texel, s, x * (int)sizeof(T), y, z, mode);
    *value = pycuda_texture::value_of(texel);
}

} // extern "C++"
