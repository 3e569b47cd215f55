// pycuda-texture-references.hpp -- texture and surface references for compilers without them.
//
// CUDA 12 removed `texture<float, 2> t;` and `surface<void, 2> s;`. Here they are classes that
// contain a texture or surface object; pycuda.driver.TextureReference and SurfaceReference set it.
// PyCUDA includes this file if a source declares such variables. The layout of the classes is that
// of pycuda::DeclaredTexture and DeclaredSurface in libpycuda.
#pragma once

#if !defined(__CUDACC_VER_MAJOR__) || __CUDACC_VER_MAJOR__ >= 12

extern "C++" {

#ifndef cudaTextureType1D
#define cudaTextureType1D 0x01
#define cudaTextureType2D 0x02
#define cudaTextureType3D 0x03
#define cudaTextureTypeCubemap 0x0C
#define cudaTextureType1DLayered 0xF1
#define cudaTextureType2DLayered 0xF2
#define cudaTextureTypeCubemapLayered 0xFC
#endif
#ifndef cudaSurfaceType1D
#define cudaSurfaceType1D 0x01
#define cudaSurfaceType2D 0x02
#define cudaSurfaceType3D 0x03
#define cudaSurfaceTypeCubemap 0x0C
#define cudaSurfaceType1DLayered 0xF1
#define cudaSurfaceType2DLayered 0xF2
#define cudaSurfaceTypeCubemapLayered 0xFC
#endif

namespace pycuda_texture {

/// The array format and the number of channels of a texel type, and its type as normalised float.
template <class T> struct texel;

#define PYCUDA_TEXEL(type, code, count, real)                                                      \
    template <> struct texel<type> {                                                               \
        enum { format = code, channels = count };                                                  \
        typedef real normalized;                                                                   \
    };
#define PYCUDA_TEXELS(scalar, stem, code)                                                          \
    PYCUDA_TEXEL(scalar, code, 1, float)                                                           \
    PYCUDA_TEXEL(stem##1, code, 1, float1)                                                         \
    PYCUDA_TEXEL(stem##2, code, 2, float2)                                                         \
    PYCUDA_TEXEL(stem##4, code, 4, float4)

PYCUDA_TEXELS(unsigned char, uchar, 0x01)
PYCUDA_TEXELS(unsigned short, ushort, 0x02)
PYCUDA_TEXELS(unsigned int, uint, 0x03)
PYCUDA_TEXELS(signed char, char, 0x08)
PYCUDA_TEXELS(short, short, 0x09)
PYCUDA_TEXELS(int, int, 0x0a)
PYCUDA_TEXELS(float, float, 0x20)
PYCUDA_TEXEL(char, 0x08, 1, float)
#undef PYCUDA_TEXELS
#undef PYCUDA_TEXEL

/// What a fetch returns: the texel, or with cudaReadModeNormalizedFloat its value as float.
template <class T, bool Normalized> struct fetched {
    typedef T type;
};
template <class T> struct fetched<T, true> {
    typedef typename texel<T>::normalized type;
};

} // namespace pycuda_texture

template <class T, int Dimensions = cudaTextureType1D,
          cudaTextureReadMode Mode = cudaReadModeElementType>
struct texture {
    typedef typename pycuda_texture::fetched<T, Mode == cudaReadModeNormalizedFloat>::type fetched;

    __host__ __device__ constexpr texture(int = 0, cudaTextureFilterMode = cudaFilterModePoint,
                                          cudaTextureAddressMode = cudaAddressModeClamp)
        : object(0), format(pycuda_texture::texel<T>::format),
          channels(pycuda_texture::texel<T>::channels),
          reads_normalized(Mode == cudaReadModeNormalizedFloat), dimensions(Dimensions) {}

    cudaTextureObject_t object;
    int format, channels, reads_normalized, dimensions;
};

template <class T = void, int Dimensions = cudaSurfaceType1D> struct surface {
    __host__ __device__ constexpr surface() : object(0), dimensions(Dimensions) {}

    cudaSurfaceObject_t object;
    int dimensions;
};

// Fetches. D is not checked, because old programs used other dimensions that the hardware allowed.
#define PYCUDA_FETCH(function, parameters, arguments)                                              \
    template <class T, int D, cudaTextureReadMode M>                                               \
    __device__ __forceinline__ typename texture<T, D, M>::fetched function parameters {            \
        return ::function<typename texture<T, D, M>::fetched> arguments;                           \
    }
#define PYCUDA_TEXTURE const texture<T, D, M> &t

PYCUDA_FETCH(tex1Dfetch, (PYCUDA_TEXTURE, int x), (t.object, x))
PYCUDA_FETCH(tex1D, (PYCUDA_TEXTURE, float x), (t.object, x))
PYCUDA_FETCH(tex2D, (PYCUDA_TEXTURE, float x, float y), (t.object, x, y))
PYCUDA_FETCH(tex3D, (PYCUDA_TEXTURE, float x, float y, float z), (t.object, x, y, z))
PYCUDA_FETCH(tex1DLayered, (PYCUDA_TEXTURE, float x, int layer), (t.object, x, layer))
PYCUDA_FETCH(tex2DLayered, (PYCUDA_TEXTURE, float x, float y, int layer), (t.object, x, y, layer))
PYCUDA_FETCH(texCubemap, (PYCUDA_TEXTURE, float x, float y, float z), (t.object, x, y, z))
PYCUDA_FETCH(texCubemapLayered, (PYCUDA_TEXTURE, float x, float y, float z, int layer),
             (t.object, x, y, z, layer))
PYCUDA_FETCH(tex1DLod, (PYCUDA_TEXTURE, float x, float level), (t.object, x, level))
PYCUDA_FETCH(tex2DLod, (PYCUDA_TEXTURE, float x, float y, float level), (t.object, x, y, level))
PYCUDA_FETCH(tex3DLod, (PYCUDA_TEXTURE, float x, float y, float z, float level),
             (t.object, x, y, z, level))
PYCUDA_FETCH(tex2DGrad, (PYCUDA_TEXTURE, float x, float y, float2 dx, float2 dy),
             (t.object, x, y, dx, dy))
#undef PYCUDA_FETCH
#undef PYCUDA_TEXTURE

// Surfaces: a function that returns the element, one that stores it through a pointer, and a write.
#define PYCUDA_SURFACE(dimension, coordinates, names)                                              \
    template <class T, class V, int D>                                                             \
    __device__ __forceinline__ T surf##dimension##read(                                            \
        const surface<V, D> &s, PYCUDA_UNPACK coordinates,                                         \
        cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                                     \
        return ::surf##dimension##read<T>(s.object, PYCUDA_UNPACK names, mode);                    \
    }                                                                                              \
    template <class T, class V, int D>                                                             \
    __device__ __forceinline__ void surf##dimension##read(                                         \
        T *value, const surface<V, D> &s, PYCUDA_UNPACK coordinates,                               \
        cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                                     \
        *value = ::surf##dimension##read<T>(s.object, PYCUDA_UNPACK names, mode);                  \
    }                                                                                              \
    template <class T, class V, int D>                                                             \
    __device__ __forceinline__ void surf##dimension##write(                                        \
        T value, const surface<V, D> &s, PYCUDA_UNPACK coordinates,                                \
        cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                                     \
        ::surf##dimension##write<T>(value, s.object, PYCUDA_UNPACK names, mode);                   \
    }
#define PYCUDA_UNPACK(...) __VA_ARGS__

PYCUDA_SURFACE(1D, (int x), (x))
PYCUDA_SURFACE(2D, (int x, int y), (x, y))
PYCUDA_SURFACE(3D, (int x, int y, int z), (x, y, z))
PYCUDA_SURFACE(1DLayered, (int x, int layer), (x, layer))
PYCUDA_SURFACE(2DLayered, (int x, int y, int layer), (x, y, layer))
#undef PYCUDA_SURFACE
#undef PYCUDA_UNPACK

} // extern "C++"

#endif
