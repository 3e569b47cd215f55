# Install.cmake -- libpycuda for C++ programs (component "development"): headers, library, and the
# files that make find_package(pycuda) and find_package(softcuda) work. python/ installs the files of the Python package.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

if(TARGET pycuda_core)
  set(_config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/pycuda)
  install(TARGETS pycuda_core pycuda_abi EXPORT pycudaTargets COMPONENT development)
  install(DIRECTORY core/include/ abi/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    COMPONENT development)
  install(EXPORT pycudaTargets NAMESPACE pycuda:: DESTINATION ${_config_dir} COMPONENT development)
  configure_package_config_file(cmake/pycudaConfig.cmake.in ${CMAKE_BINARY_DIR}/pycudaConfig.cmake
    INSTALL_DESTINATION ${_config_dir} PATH_VARS CMAKE_INSTALL_LIBDIR)
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/pycudaConfigVersion.cmake
    COMPATIBILITY SameMajorVersion)
  install(
    FILES ${CMAKE_BINARY_DIR}/pycudaConfig.cmake ${CMAKE_BINARY_DIR}/pycudaConfigVersion.cmake
          cmake/FindCudaHeaders.cmake
    DESTINATION ${_config_dir} COMPONENT development)
endif()
if(TARGET softcuda)
  set(_config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/softcuda)
  configure_package_config_file(cmake/softcudaConfig.cmake.in ${CMAKE_BINARY_DIR}/softcudaConfig.cmake
    INSTALL_DESTINATION ${_config_dir} PATH_VARS CMAKE_INSTALL_LIBDIR)
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/softcudaConfigVersion.cmake
    COMPATIBILITY SameMajorVersion)
  install(
    FILES ${CMAKE_BINARY_DIR}/softcudaConfig.cmake ${CMAKE_BINARY_DIR}/softcudaConfigVersion.cmake
          cmake/FindCudaHeaders.cmake
    DESTINATION ${_config_dir} COMPONENT development)
  install(TARGETS softcuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
  install(TARGETS softcuda_nccl softcuda_nvml softcuda_cudart_12 softcuda_cudart_13
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development NAMELINK_SKIP)
endif()
