// not_supported.cpp -- fallbacks for functions of the driver API that are not implemented.
//
// A weak definition for each row of driver.def. If another file of this library defines the
// function, the linker uses that definition. The fallback ignores its arguments, which C's calling
// convention allows. cuda.h must not be included here.

#pragma GCC visibility push(default)

namespace {

constexpr int kNotSupported = 801; // CUDA_ERROR_NOT_SUPPORTED

} // namespace

#define PYCUDA_FUNCTION(name, symbol, version)                                                     \
    extern "C" __attribute__((weak)) int symbol() { return kNotSupported; }
#define PYCUDA_EXPORT PYCUDA_FUNCTION
#define PYCUDA_PER_THREAD PYCUDA_FUNCTION
#include "abi/driver.def"

// Functions of cudaGL.h, cudaVDPAU.h and cudaEGL.h, which are not in driver.def: there is no
// display. Some programs look up these names when they start, even if they do not call the
// functions (Dr.Jit).
#define GRAPHICS_FUNCTION(symbol)                                                                  \
    extern "C" __attribute__((weak)) int symbol() { return kNotSupported; }
GRAPHICS_FUNCTION(cuGLCtxCreate)
GRAPHICS_FUNCTION(cuGLCtxCreate_v2)
GRAPHICS_FUNCTION(cuGLGetDevices)
GRAPHICS_FUNCTION(cuGLGetDevices_v2)
GRAPHICS_FUNCTION(cuGLInit)
GRAPHICS_FUNCTION(cuGLMapBufferObject)
GRAPHICS_FUNCTION(cuGLMapBufferObject_v2)
GRAPHICS_FUNCTION(cuGLMapBufferObject_v2_ptds)
GRAPHICS_FUNCTION(cuGLMapBufferObjectAsync)
GRAPHICS_FUNCTION(cuGLMapBufferObjectAsync_v2)
GRAPHICS_FUNCTION(cuGLMapBufferObjectAsync_v2_ptsz)
GRAPHICS_FUNCTION(cuGLRegisterBufferObject)
GRAPHICS_FUNCTION(cuGLSetBufferObjectMapFlags)
GRAPHICS_FUNCTION(cuGLUnmapBufferObject)
GRAPHICS_FUNCTION(cuGLUnmapBufferObjectAsync)
GRAPHICS_FUNCTION(cuGLUnregisterBufferObject)
GRAPHICS_FUNCTION(cuGraphicsGLRegisterBuffer)
GRAPHICS_FUNCTION(cuGraphicsGLRegisterImage)
GRAPHICS_FUNCTION(cuGraphicsVDPAURegisterOutputSurface)
GRAPHICS_FUNCTION(cuGraphicsVDPAURegisterVideoSurface)
GRAPHICS_FUNCTION(cuVDPAUCtxCreate)
GRAPHICS_FUNCTION(cuVDPAUCtxCreate_v2)
GRAPHICS_FUNCTION(cuVDPAUGetDevice)
GRAPHICS_FUNCTION(cuEGLStreamConsumerAcquireFrame)
GRAPHICS_FUNCTION(cuEGLStreamConsumerConnect)
GRAPHICS_FUNCTION(cuEGLStreamConsumerConnectWithFlags)
GRAPHICS_FUNCTION(cuEGLStreamConsumerDisconnect)
GRAPHICS_FUNCTION(cuEGLStreamConsumerReleaseFrame)
GRAPHICS_FUNCTION(cuEGLStreamProducerConnect)
GRAPHICS_FUNCTION(cuEGLStreamProducerDisconnect)
GRAPHICS_FUNCTION(cuEGLStreamProducerPresentFrame)
GRAPHICS_FUNCTION(cuEGLStreamProducerReturnFrame)
GRAPHICS_FUNCTION(cuEventCreateFromEGLSync)
GRAPHICS_FUNCTION(cuGraphicsEGLRegisterImage)
GRAPHICS_FUNCTION(cuGraphicsResourceGetMappedEglFrame)

#pragma GCC visibility pop
