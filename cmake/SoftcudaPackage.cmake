# SoftcudaPackage.cmake -- the Python package softcuda: a separate distribution (softcuda/pyproject.toml).
#
# In a build, build/<preset>/python/softcuda holds links to the Python files and to the libraries, even to
# those that are not built yet. The component "softcuda" of an installation is the content of the wheel. The
# Python files exist without the libraries as well: pycuda imports them.

set(_libraries)
if(PYCUDA_PREBUILT)
  foreach(_name IN ITEMS libsoftcuda.so libnccl.so.2 libnvidia-ml.so.1 libcudart.so.12 libcudart.so.13
      libnvJitLink.so.12 libnvJitLink.so.13 libsoftcuda_preload.so)
    list(APPEND _libraries ${PYCUDA_PREBUILT}/softcuda/portable/${_name})
  endforeach()
  foreach(_name IN ITEMS libcudart_static_12.a libcudart_static_13.a libcuda_names.so)
    list(APPEND _libraries ${PYCUDA_PREBUILT}/softcuda/${_name})
  endforeach()
  install(FILES ${_libraries} DESTINATION softcuda COMPONENT softcuda)
elseif(TARGET softcuda)
  foreach(_target IN ITEMS softcuda softcuda_nccl softcuda_nvml softcuda_cudart_12 softcuda_cudart_13
      softcuda_nvjitlink_12 softcuda_nvjitlink_13 softcuda_preload)
    install(TARGETS ${_target} LIBRARY DESTINATION softcuda COMPONENT softcuda NAMELINK_SKIP)
    list(APPEND _libraries ${CMAKE_BINARY_DIR}/softcuda/$<TARGET_SONAME_FILE_NAME:${_target}>)
  endforeach()
  foreach(_target IN ITEMS softcuda_cudart_static_12 softcuda_cudart_static_13 softcuda_link_driver)
    install(FILES $<TARGET_FILE:${_target}> DESTINATION softcuda COMPONENT softcuda)
    list(APPEND _libraries ${CMAKE_BINARY_DIR}/softcuda/$<TARGET_FILE_NAME:${_target}>)
  endforeach()
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/softcuda/ DESTINATION softcuda COMPONENT softcuda
  FILES_MATCHING PATTERN "*.py" PATTERN "py.typed")

list(JOIN _libraries "," _libraries)
add_custom_target(softcuda_package ALL
  COMMAND ${CMAKE_COMMAND} -DFROM=${PROJECT_SOURCE_DIR}/python/softcuda
    -DTO=${CMAKE_BINARY_DIR}/python/softcuda -DLIBRARIES=${_libraries}
    -P ${PROJECT_SOURCE_DIR}/cmake/link_package.cmake
  COMMENT "Linking the Python files of softcuda into build" VERBATIM)

# The package softcuda_libraries, another distribution (softcuda/libraries/pyproject.toml): the component
# "softcuda_libraries". In a build, build/<preset>/python/softcuda_libraries holds links to the libraries.
set(_libraries "")
if(PYCUDA_PREBUILT)
  file(GLOB _libraries ${PYCUDA_PREBUILT}/softcuda/portable/libraries/*.so.*)
  install(FILES ${_libraries} DESTINATION softcuda_libraries COMPONENT softcuda_libraries)
elseif(TARGET softcuda_libraries)
  get_property(_targets GLOBAL PROPERTY SOFTCUDA_LIBRARIES)
  foreach(_target IN LISTS _targets)
    install(FILES $<TARGET_FILE:${_target}> DESTINATION softcuda_libraries COMPONENT softcuda_libraries)
    list(APPEND _libraries $<TARGET_FILE:${_target}>)
  endforeach()
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/softcuda_libraries/ DESTINATION softcuda_libraries
  COMPONENT softcuda_libraries FILES_MATCHING PATTERN "*.py")
if(TARGET softcuda_libraries)
  list(JOIN _libraries "," _libraries)
  add_custom_target(softcuda_libraries_package ALL
    COMMAND ${CMAKE_COMMAND} -DFROM=${PROJECT_SOURCE_DIR}/python/softcuda_libraries
      -DTO=${CMAKE_BINARY_DIR}/python/softcuda_libraries -DLIBRARIES=${_libraries}
      -P ${PROJECT_SOURCE_DIR}/cmake/link_package.cmake
    COMMENT "Linking the Python files of softcuda_libraries into build" VERBATIM)
  add_dependencies(softcuda_libraries softcuda_libraries_package)
endif()
