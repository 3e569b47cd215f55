# Prebuilt.cmake -- libpycuda, softcuda, the kernels and the type stubs from a build folder, for tools/wheel.
#
# They do not depend on Python: one build is enough for the wheels of all versions. The folder is
# PYCUDA_PREBUILT, with the target wheel_libraries built. SoftcudaPackage.cmake takes softcuda from there.

# An interface instead of an imported library: the compiler's command is then that of build/release, and
# ccache finds the objects.
add_library(pycuda_core INTERFACE)
add_library(pycuda::pycuda ALIAS pycuda_core)
target_include_directories(pycuda_core INTERFACE ${PROJECT_SOURCE_DIR}/core/include)
target_compile_features(pycuda_core INTERFACE cxx_std_20)
target_link_libraries(pycuda_core INTERFACE
  ${PYCUDA_PREBUILT}/core/libpycuda.a pycuda_abi Threads::Threads ${CMAKE_DL_LIBS})

foreach(_name IN ITEMS kernels.pack gpu_kernels.pack _driver.pyi gpuarray.pyi linalg.pyi fft.pyi array_api.pyi)
  install(FILES ${PYCUDA_PREBUILT}/python/pycuda/${_name} DESTINATION pycuda COMPONENT python)
endforeach()
