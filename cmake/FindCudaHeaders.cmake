# FindCudaHeaders.cmake -- cuda.h from the toolkit or from the nvidia-cuda-runtime wheel.
# Only the header is used, and only at build time: nothing links against CUDA.
#
#   CudaHeaders::CudaHeaders   an INTERFACE target with the include directory
#   CUDA_HEADERS_DIR           the folder of cuda.h; set it to select one

set(_hints ${CUDA_HEADERS_DIR} $ENV{CUDA_HOME}/include $ENV{CUDA_PATH}/include)
find_package(Python 3.9 COMPONENTS Interpreter QUIET)
if(Python_EXECUTABLE)
  # All of sys.path: while pip builds a wheel, the packages for the build are outside site-packages.
  execute_process(
    COMMAND ${Python_EXECUTABLE} -c
      "import os, sys; print(';'.join(os.path.join(p, 'nvidia/cu13/include') for p in sys.path if p))"
    OUTPUT_VARIABLE _wheels OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  list(APPEND _hints ${_wheels})
endif()
find_path(CUDA_HEADERS_DIR cuda.h HINTS ${_hints} PATHS /usr/local/cuda/include /usr/include)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CudaHeaders REQUIRED_VARS CUDA_HEADERS_DIR
  REASON_FAILURE_MESSAGE "install the wheel nvidia-cuda-runtime (version 13) or a CUDA toolkit")
if(CudaHeaders_FOUND AND NOT TARGET CudaHeaders::CudaHeaders)
  add_library(CudaHeaders::CudaHeaders INTERFACE IMPORTED)
  target_include_directories(CudaHeaders::CudaHeaders SYSTEM INTERFACE ${CUDA_HEADERS_DIR})
endif()
